//! Git trees: applies edits, replaces folders, lists, reads and compares files.

use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, ObjectType, Oid, Repository, Tree, TreeEntry};

use crate::domain::id::{RepoPath, TreeId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::source_text;
use crate::effect::{FileDiff, GitError, Hunk};

use super::failed;

/// Files larger than this are never read as text.
const TEXT_LIMIT: usize = 4 << 20;

pub fn find<'repo>(repo: &'repo Repository, tree: &TreeId) -> Result<Tree<'repo>, GitError> {
    let oid = Oid::from_str(tree.as_str()).map_err(failed("read a tree id"))?;
    repo.find_tree(oid).map_err(failed(format!("read tree {}", tree.short())))
}

/// The id of a tree object.
pub fn id(oid: Oid) -> Result<TreeId, GitError> {
    TreeId::parse(oid.to_string()).map_err(|error| GitError::Failed {
        action: "name a tree".into(),
        reason: error.to_string(),
    })
}

/// Whether an entry is a file and not a symbolic link.
pub fn is_plain(entry: &TreeEntry<'_>) -> bool {
    entry.kind() == Some(ObjectType::Blob) && entry.filemode() != i32::from(FileMode::Link)
}

/// Writes the tree that results from `edits` on `base`.
pub fn graft(repo: &Repository, base: &TreeId, edits: &EditSet) -> Result<TreeId, GitError> {
    let tree = find(repo, base)?;
    let mut update = TreeUpdateBuilder::new();
    for edit in &edits.files {
        add_edit(repo, &tree, edit, &mut update)?;
    }
    id(update.create_updated(repo, &tree).map_err(failed("write a tree"))?)
}

/// The mode for the new content of a file, which stays executable if it was.
fn file_mode(entry: Option<&TreeEntry<'_>>) -> FileMode {
    match entry.map(TreeEntry::filemode) {
        Some(0o100_755) => FileMode::BlobExecutable,
        Some(_) | None => FileMode::Blob,
    }
}

fn add_edit(
    repo: &Repository,
    tree: &Tree<'_>,
    edit: &FileEdit,
    update: &mut TreeUpdateBuilder,
) -> Result<(), GitError> {
    let conflict =
        |reason: &str| GitError::Conflict { file: edit.file.clone(), reason: reason.to_owned() };
    refuse_links(tree, edit)?;
    let entry = tree.get_path(Path::new(edit.file.as_str())).ok();
    match (&entry, &edit.before) {
        (None, None) => {}
        (None, Some(_)) => return Err(conflict("the file is not there")),
        (Some(_), None) => return Err(conflict("the file exists already")),
        (Some(entry), Some(before)) => {
            if !is_plain(entry) {
                return Err(conflict("it is not a plain file"));
            }
            let blob = repo.find_blob(entry.id()).map_err(failed("read a file"))?;
            if source_text::encode(&edit.file, before).is_none_or(|text| blob.content() != text) {
                return Err(conflict("its text is not the text that the edit starts from"));
            }
        }
    }
    match &edit.after {
        Some(after) => {
            let text = source_text::encode(&edit.file, after);
            let text =
                text.ok_or_else(|| conflict("its encoding lacks a character of the edit"))?;
            let blob = repo.blob(&text).map_err(failed("write a file"))?;
            update.upsert(edit.file.as_str(), blob, file_mode(entry.as_ref()));
        }
        None if entry.is_some() => drop(update.remove(edit.file.as_str())),
        None => {}
    }
    Ok(())
}

/// Refuses an edit below a link, a submodule or a plain file.
fn refuse_links(tree: &Tree<'_>, edit: &FileEdit) -> Result<(), GitError> {
    let mut folder = Path::new(edit.file.as_str()).parent();
    while let Some(path) = folder.filter(|path| !path.as_os_str().is_empty()) {
        if let Ok(entry) = tree.get_path(path)
            && entry.kind() != Some(ObjectType::Tree)
        {
            return Err(GitError::Conflict {
                file: edit.file.clone(),
                reason: format!("{} is a link, a submodule or a file", path.display()),
            });
        }
        folder = path.parent();
    }
    Ok(())
}

/// A tree with files written into it; existing files keep their mode.
pub fn with_files(
    repo: &Repository,
    base: &Tree<'_>,
    files: &[(String, Vec<u8>)],
) -> Result<Oid, GitError> {
    let write = || {
        let mut update = TreeUpdateBuilder::new();
        for (path, bytes) in files {
            let known = base.get_path(Path::new(path)).ok();
            update.upsert(path, repo.blob(bytes)?, file_mode(known.as_ref()));
        }
        update.create_updated(repo, base)
    };
    write().map_err(failed("write a tree"))
}

/// Removes one folder from a tree; with `files`, adds it again with this content.
pub fn replace_folder(
    repo: &Repository,
    tree: Oid,
    folder: &str,
    files: &[(String, Vec<u8>)],
) -> Result<Oid, GitError> {
    let base = repo.find_tree(tree).map_err(failed("read a tree"))?;
    // The folder itself, or a file in the place of one of its parents.
    let mut above = Path::new(folder).ancestors();
    let deepest = above.find_map(|path| Some((path, base.get_path(path).ok()?)));
    let mut update = TreeUpdateBuilder::new();
    if let Some((path, entry)) = deepest
        && (path == Path::new(folder) || entry.kind() != Some(ObjectType::Tree))
    {
        update.remove(path);
    }
    let without = update.create_updated(repo, &base).map_err(failed("write a tree"))?;
    let base = repo.find_tree(without).map_err(failed("read a tree"))?;
    with_files(repo, &base, files)
}

/// A copy of `tree` whose `entry` is as in `other`, or missing as there.
pub fn with_entry_of(
    repo: &Repository,
    tree: &Tree<'_>,
    other: &Tree<'_>,
    entry: &str,
) -> Result<Oid, GitError> {
    let write = || {
        let mut builder = repo.treebuilder(Some(tree))?;
        match other.get_name(entry) {
            Some(theirs) => drop(builder.insert(entry, theirs.id(), theirs.filemode())?),
            None if tree.get_name(entry).is_some() => builder.remove(entry)?,
            None => {}
        }
        builder.write()
    };
    write().map_err(failed("write a tree"))
}

/// Plain files of a tree, sorted.
pub fn files(repo: &Repository, tree: &TreeId) -> Result<Vec<RepoPath>, GitError> {
    let tree = find(repo, tree)?;
    let mut files = Vec::new();
    tree.walk(git2::TreeWalkMode::PreOrder, |parent, entry| {
        if is_plain(entry)
            && let Ok(name) = entry.name()
            && let Ok(path) = RepoPath::parse(format!("{parent}{name}"))
        {
            files.push(path);
        }
        git2::TreeWalkResult::Ok
    })
    .map_err(failed("list a tree"))?;
    files.sort();
    Ok(files)
}

/// One plain file of a tree.
pub fn read(
    repo: &Repository,
    tree: &TreeId,
    file: &RepoPath,
) -> Result<Option<Vec<u8>>, GitError> {
    let tree = find(repo, tree)?;
    let Ok(entry) = tree.get_path(Path::new(file.as_str())) else { return Ok(None) };
    // A partial clone may lack it.
    if !is_plain(&entry) || repo.odb().is_ok_and(|odb| !odb.exists(entry.id())) {
        return Ok(None);
    }
    let blob = repo.find_blob(entry.id()).map_err(failed(format!("read {file}")))?;
    Ok(Some(blob.content().to_vec()))
}

/// Differences between two trees, by file.
pub fn diff(repo: &Repository, from: &TreeId, to: &TreeId) -> Result<Vec<FileDiff>, GitError> {
    let (from, to) = (find(repo, from)?, find(repo, to)?);
    let mut options = git2::DiffOptions::new();
    options.context_lines(3).indent_heuristic(true);
    let diff = repo
        .diff_tree_to_tree(Some(&from), Some(&to), Some(&mut options))
        .map_err(failed("compare two trees"))?;
    let mut files = Vec::new();
    for index in 0..diff.deltas().len() {
        let Some(mut patch) = git2::Patch::from_diff(&diff, index).map_err(failed("compare"))?
        else {
            continue;
        };
        let delta = patch.delta();
        let path = delta.new_file().path().or_else(|| delta.old_file().path());
        let Some(file) = path.and_then(Path::to_str).and_then(|text| RepoPath::parse(text).ok())
        else {
            continue;
        };
        let text = |oid: Oid| -> Option<String> {
            let blob = repo.find_blob(oid).ok()?;
            let small = blob.size() <= TEXT_LIMIT;
            small.then(|| source_text::decode(&file, blob.content().to_vec())).flatten()
        };
        let (before, after) = (text(delta.old_file().id()), text(delta.new_file().id()));
        let mut hunks = Vec::new();
        for number in 0..patch.num_hunks() {
            hunks.extend(changed_ranges(&patch, number)?);
        }
        let buffer = patch.to_buf().map_err(failed("write a patch"))?;
        let patch = String::from_utf8_lossy(&buffer).into_owned();
        files.push(FileDiff { file, before, after, hunks, patch });
    }
    files.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(files)
}

/// The runs of changed lines inside one hunk, without its context.
fn changed_ranges(patch: &git2::Patch<'_>, number: usize) -> Result<Vec<Hunk>, GitError> {
    let mut ranges: Vec<Hunk> = Vec::new();
    let (mut old, mut new) = (0, 0);
    let mut open = false;
    for line in 0..patch.num_lines_in_hunk(number).map_err(failed("read a hunk"))? {
        let line = patch.line_in_hunk(number, line).map_err(failed("read a hunk"))?;
        match line.origin() {
            '-' | '+' => {
                if !open {
                    let (first, _) = patch.hunk(number).map_err(failed("read a hunk"))?;
                    let old_start = if old == 0 { first.old_start() } else { old + 1 };
                    let new_start = if new == 0 { first.new_start() } else { new + 1 };
                    ranges.push(Hunk { old_start, old_lines: 0, new_start, new_lines: 0 });
                    open = true;
                }
                if let Some(range) = ranges.last_mut() {
                    if line.origin() == '-' {
                        range.old_lines += 1;
                        old = line.old_lineno().unwrap_or(old);
                    } else {
                        range.new_lines += 1;
                        new = line.new_lineno().unwrap_or(new);
                    }
                }
            }
            ' ' => {
                open = false;
                old = line.old_lineno().unwrap_or(old);
                new = line.new_lineno().unwrap_or(new);
            }
            _ => {}
        }
    }
    Ok(ranges)
}
