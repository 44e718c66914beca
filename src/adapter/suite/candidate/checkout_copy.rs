//! Copies of a checkout in which candidate edits are tried.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::adapter::host::{files, packages};
use crate::domain::proposal::EditSet;
use crate::domain::source_text;
use crate::effect::{INDEX_OF_COPIES, RunError};

use crate::adapter::suite::io_error::cannot;

/// Folders that are linked into the copy instead of copied, beside `node_modules`, whose packages are.
const LINKED: &[&str] = &[".venv", "venv", "vendor", ".bundle"];

/// Bytes in which the end of the first line is looked for.
const FIRST_LINE: u64 = 1 << 12;

/// Copies a checkout to `target`, replacing what is there; dependency folders are linked, and of a private
/// checkout the git directory is copied, with an index in which no edit of a candidate shows. Returns the real
/// path of the copy.
pub fn copy_checkout(from: &Path, target: &Path) -> Result<PathBuf, RunError> {
    let copy = || {
        files::remove_tree(target)?;
        copy_tree(from, target)?;
        target.canonicalize()
    };
    copy().map_err(cannot("copy the checkout to", target))
}

/// Brings a copy up to date; whether it was not. Build tools go by the time of what is touched.
pub fn refresh_copy(from: &Path, to: &Path) -> bool {
    let mut is_changed = false;
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            is_changed |= refresh_copy(&path, &target);
        } else {
            let text = fs::read(&path).unwrap_or_default();
            let is_same = fs::read(&target).is_ok_and(|known| known == text);
            is_changed |= !is_same && files::write(&target, &text).is_ok();
        }
    }
    is_changed
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let target = to.join(&name);
        // What Composer finds from the real path of its files would be that of the other checkout.
        let linked =
            LINKED.iter().any(|known| name == *known) && !entry.path().join("composer").is_dir();
        let is_repository = name == ".git" && kind.is_dir();
        if is_repository && !entry.path().join(INDEX_OF_COPIES).is_file() {
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, target)?;
        } else if kind.is_dir() && name == packages::FOLDER {
            packages::link_packages(&entry.path(), &target)?;
        } else if kind.is_dir() && linked {
            std::os::unix::fs::symlink(entry.path(), target)?;
        } else if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            // What was compiled before stays up to date: build tools go by the time of a file.
            fs::File::open(target)?.set_modified(entry.metadata()?.modified()?)?;
        }
    }
    let index = to.join(INDEX_OF_COPIES);
    if index.is_file() { fs::rename(&index, to.join("index")) } else { Ok(()) }
}

/// Which side of the edits is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The sources with the candidate's edits.
    After,
    /// The original texts.
    Before,
}

/// Writes one side of the edits into a copy.
pub fn write_edits(root: &Path, edits: &EditSet, side: Side) -> Result<(), RunError> {
    for edit in &edits.files {
        let file = Path::new(edit.file.as_str());
        let text = match side {
            Side::After => &edit.after,
            Side::Before => &edit.before,
        };
        let written = match text {
            Some(text) => {
                let text = with_line_ends_of(&root.join(file), text);
                let bytes = source_text::encode(&edit.file, &text);
                files::write_in_copy(root, file, &bytes.unwrap_or_else(|| text.as_bytes().to_vec()))
            }
            None => files::remove(&root.join(file)),
        };
        written.map_err(cannot("write in the copy", file))?;
    }
    Ok(())
}

/// A text with CRLF if the file has it: git may keep other line ends than a checkout has.
fn with_line_ends_of<'a>(file: &Path, text: &'a str) -> Cow<'a, str> {
    let bytes = files::read_from(file, 0, FIRST_LINE).unwrap_or_default();
    let first = bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
    if text.contains('\r') || !first.ends_with(b"\r\n") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\n', "\r\n"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "copies are made of real folders")]

    use super::*;
    use crate::domain::id::RepoPath;
    use crate::domain::proposal::FileEdit;

    #[test]
    fn a_copy_has_the_sources_links_dependencies_and_no_repository_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for file in ["src/a.py", ".git/HEAD", "node_modules/x/index.js"] {
            let path = from.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        fs::create_dir_all(to.join("stale")).unwrap();
        let copy = copy_checkout(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(copy.join("src/a.py")).unwrap(), "src/a.py");
        assert!(!copy.join(".git").exists() && !copy.join("stale").exists());
        assert!(copy.join("node_modules/x").is_symlink());
        fs::remove_dir_all(from.join(".git")).unwrap();
        fs::write(from.join(".git"), "gitdir: elsewhere").unwrap();
        let copy = copy_checkout(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(copy.join(".git")).unwrap(), "gitdir: elsewhere");
        fs::remove_file(from.join(".git")).unwrap();
        fs::create_dir(from.join(".git")).unwrap();
        for file in ["HEAD", "index", INDEX_OF_COPIES] {
            fs::write(from.join(".git").join(file), file).unwrap();
        }
        let copy = copy_checkout(&from, &to).unwrap().join(".git");
        assert_eq!(fs::read_to_string(copy.join("HEAD")).unwrap(), "HEAD");
        assert_eq!(fs::read_to_string(copy.join("index")).unwrap(), INDEX_OF_COPIES);
    }

    #[test]
    fn both_sides_of_edits_are_written_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let edit = |file: &str, before: Option<&str>, after: Option<&str>| FileEdit {
            file: RepoPath::parse(file).unwrap(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let edits = EditSet {
            files: vec![edit("a.py", Some("1"), Some("2")), edit("b.py", None, Some("3"))],
        };
        let text = |file: &str| fs::read_to_string(root.join(file)).ok();
        write_edits(root, &edits, Side::After).unwrap();
        assert_eq!((text("a.py"), text("b.py")), (Some("2".into()), Some("3".into())));
        write_edits(root, &edits, Side::Before).unwrap();
        assert_eq!((text("a.py"), text("b.py")), (Some("1".into()), None));
        fs::write(root.join("c.py"), "1\r\n2\r\n").unwrap();
        let edits = EditSet { files: vec![edit("c.py", Some("1\n2\n"), Some("1\n3\n"))] };
        write_edits(root, &edits, Side::After).unwrap();
        assert_eq!(text("c.py").as_deref(), Some("1\r\n3\r\n"));
    }
}
