//! The changes that a program made to a folder checked out from a tree, as edits.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use git2::Repository;

use crate::adapter::host::files;
use crate::domain::agent_files::{configures_agents, is_path_of_agents};
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::effect::GitError;

use super::tree;

/// Larger files are skipped: no fix would write them.
const FILE_LIMIT: u64 = 1 << 20;

const NEW_FILES: usize = 1_000;

/// The edits that turn `target` into the content of `folder`; symbolic links are not followed.
pub fn collect(repo: &Repository, target: &TreeId, folder: &Path) -> Result<EditSet, GitError> {
    remove_special_files(folder)
        .map_err(super::io(format!("remove pipes and devices from {}", folder.display())))?;
    let known: BTreeSet<RepoPath> = tree::files(repo, target)?.into_iter().collect();
    let mut edits = Vec::new();
    for file in known.iter().filter(|file| !configures_agents(file)) {
        let before = tree::read(repo, target, file)?;
        let after = text_of(folder, file);
        let before = before.and_then(|bytes| String::from_utf8(bytes).ok());
        // A fixer must not change binaries, large files or symbolic links.
        let after = match after {
            Found::Text(after) => Some(after),
            Found::Nothing => None,
            Found::Other => continue,
        };
        if before.is_some() && before != after {
            edits.push(FileEdit { file: file.clone(), before, after });
        }
    }
    let walk = ignore::WalkBuilder::new(folder).hidden(false).require_git(false).build();
    for entry in walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
    {
        let below = entry.path().strip_prefix(folder).ok().and_then(Path::to_str);
        let Some(file) = below.and_then(|path| RepoPath::parse(path).ok()) else { continue };
        if known.contains(&file) || is_left_over(&file) || configures_agents(&file) {
            continue;
        }
        if let Found::Text(after) = text_of(folder, &file) {
            edits.push(FileEdit { file, before: None, after: Some(after) });
        }
        if edits.len() > NEW_FILES {
            break;
        }
    }
    edits.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(EditSet { files: edits })
}

/// Removes from a folder what a repository must not give an agent that works in it: the files that
/// configure coding agents, and links that lead out of the folder. Follows no symbolic links.
pub fn remove_agent_files(folder: &Path) -> io::Result<()> {
    let real = folder.canonicalize()?;
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current)? {
            let entry = entry?;
            let path = entry.path();
            let kind = entry.file_type()?;
            let is_folder = kind.is_dir();
            // A link to nothing yet could lead anywhere later.
            let leads_out = || !path.canonicalize().is_ok_and(|end| end.starts_with(&real));
            if kind.is_symlink() && leads_out() {
                files::remove(&path)?;
                continue;
            }
            // A folder whose name is no text may still contain such a file.
            let below = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy();
            match (is_path_of_agents(&below), is_folder) {
                (true, true) => files::remove_tree(&path)?,
                (true, false) => files::remove(&path)?,
                (false, true) => folders.push(path),
                (false, false) => {}
            }
        }
    }
    Ok(())
}

/// Removes what is neither a file, a folder nor a link: reading a pipe would wait for ever.
fn remove_special_files(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if !kind.is_file() && !kind.is_symlink() {
                files::remove(&entry.path())?;
            }
        }
    }
    Ok(())
}

/// Whether tools created the file as a side effect, such as a cache.
fn is_left_over(file: &RepoPath) -> bool {
    file.as_str().split('/').any(|part| {
        matches!(part, "__pycache__" | ".pytest_cache" | "node_modules" | "target" | ".git")
    })
}

enum Found {
    Text(String),
    Nothing,
    Other,
}

fn text_of(folder: &Path, file: &RepoPath) -> Found {
    let mut path = folder.to_owned();
    for part in file.as_str().split('/') {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_symlink() || meta.is_file() && meta.len() > FILE_LIMIT => {
                return Found::Other;
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Found::Nothing,
            Err(_) => return Found::Other,
        }
    }
    match fs::read(&path).map(String::from_utf8) {
        Ok(Ok(text)) => Found::Text(text),
        Ok(Err(_)) | Err(_) => Found::Other,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test plays the client that edits files")]

    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn changes_come_back_as_edits_and_links_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init(folder.path().join("repo")).unwrap();
        let mut builder = repo.treebuilder(None).unwrap();
        for (name, text) in
            [("a.py", "one\n"), ("b.py", "two\n"), ("c.py", "three\n"), ("d.py", "x")]
        {
            builder.insert(name, repo.blob(text.as_bytes()).unwrap(), 0o100_644).unwrap();
        }
        let target = tree::id(builder.write().unwrap()).unwrap();
        let there = folder.path().join("there");
        fs::create_dir_all(there.join("__pycache__")).unwrap();
        fs::write(there.join("a.py"), "changed\n").unwrap();
        fs::write(there.join("c.py"), "three\n").unwrap();
        fs::write(there.join("new.py"), "new\n").unwrap();
        fs::write(there.join("blob"), [0xff, 0xfe]).unwrap();
        fs::write(there.join("__pycache__/a.pyc"), "x").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", there.join("d.py")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", there.join("link")).unwrap();
        let pipe = there.join(".gitignore");
        files::create_pipe(&pipe).unwrap();
        let edits = collect(&repo, &target, &there).unwrap();
        let shown: Vec<String> = edits
            .files
            .iter()
            .map(|e| format!("{} {:?} {:?}", e.file, e.before.as_deref(), e.after.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                r#"a.py Some("one\n") Some("changed\n")"#,
                r#"b.py Some("two\n") None"#,
                r#"new.py None Some("new\n")"#,
            ]
        );
    }
    #[test]
    fn settings_of_agents_are_neither_shown_nor_collected() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init(folder.path().join("repo")).unwrap();
        let there = folder.path().join("there");
        let settings =
            [".claude/settings.json", "shop/.gemini/settings.json", "AGENTS.md", "shop/.env"];
        let mut edits = EditSet::default();
        for name in settings.into_iter().chain(["shop/price.py"]) {
            let path = there.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n").unwrap();
            let file = RepoPath::parse(name).unwrap();
            edits.files.push(FileEdit { file, before: None, after: Some("x\n".into()) });
        }
        std::os::unix::fs::symlink("/etc", there.join(".codex")).unwrap();
        std::os::unix::fs::symlink("/etc", there.join("out")).unwrap();
        std::os::unix::fs::symlink("nowhere", there.join("dangling")).unwrap();
        std::os::unix::fs::symlink("shop/price.py", there.join("inside")).unwrap();
        let odd = there.join(std::ffi::OsStr::from_bytes(b"odd\xff"));
        fs::create_dir_all(odd.join(".gemini")).unwrap();
        let empty = tree::id(repo.treebuilder(None).unwrap().write().unwrap()).unwrap();
        let target = tree::graft(&repo, &empty, &edits).unwrap();
        remove_agent_files(&there).unwrap();
        assert!(
            settings
                .into_iter()
                .chain([".codex", "out", "dangling"])
                .all(|name| { fs::symlink_metadata(there.join(name)).is_err() })
        );
        assert!(there.join("inside").is_symlink());
        assert!(odd.is_dir() && !odd.join(".gemini").exists());
        assert!(there.join("shop/price.py").is_file() && Path::new("/etc/passwd").is_file());
        // A client migrates or creates its own settings.
        fs::create_dir_all(there.join(".qwen")).unwrap();
        fs::write(there.join(".qwen/settings.json.orig"), "{}").unwrap();
        assert_eq!(collect(&repo, &target, &there).unwrap(), EditSet::default());
    }
}
