//! Inspects every object, commit and path of a bundle before any of it is imported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use git2::{Delta, ErrorCode, ObjectType, Oid, Repository, Sort};

use crate::adapter::repo::objects::{
    copy_shallow, history, message_of, name, oid, tree_of, unpack,
};
use crate::adapter::repo::{RepositoryFacts, failed, tree};
use crate::domain::commit::is_of_session;
use crate::domain::id::{CommitId, RepoPath, sha256_hex};
use crate::effect::{FileDiff, GitError};

use super::{Bundle, BundleError, BundleOf, BundledFile, COMMITS, FILE_LIMIT, FILES, Present};

const PLAIN: i32 = 0o100_644;
const EXECUTABLE: i32 = 0o100_755;
const FOLDER: i32 = 0o040_000;

/// Unpacks into a scratch store, adds the real store as its alternate, and inspects everything.
pub fn inspect(
    facts: &RepositoryFacts,
    bundle: &Bundle,
    pack: &[u8],
    present: &Present,
    scratch: &Path,
) -> Result<Vec<FileDiff>, BundleError> {
    Repository::init_bare(scratch).map_err(failed("create a scratch repository"))?;
    copy_shallow(&facts.common, scratch)?;
    let repo = Repository::open(scratch).map_err(failed("open a scratch repository"))?;
    unpack(&repo, pack).map_err(|error| BundleError::Pack(error.to_string()))?;
    let odb = repo.odb().map_err(failed("open the object store"))?;
    let mut arrived = BTreeSet::new();
    odb.foreach(|oid| {
        arrived.insert(*oid);
        true
    })
    .map_err(failed("list a pack"))?;
    for oid in &arrived {
        let (size, _) = odb.read_header(*oid).map_err(failed("read a pack"))?;
        if size > FILE_LIMIT {
            return Err(BundleError::TooLarge(format!("object {oid} has {size} bytes")));
        }
        let object = odb.read(*oid).map_err(failed("read a pack"))?;
        if present.secrets.finds(&String::from_utf8_lossy(object.data())) {
            return Err(BundleError::Secret(format!("object {oid}")));
        }
    }
    let objects = facts.common.join("objects");
    let objects = objects.to_str().ok_or_else(|| BundleError::Path("no text".into()))?;
    odb.add_disk_alternate(objects).map_err(failed("open the object store"))?;
    let commits = line(&repo, &bundle.of)?;
    if commits != bundle.commits {
        return Err(BundleError::Digest("the list of commits".into()));
    }
    let mut needed = BTreeSet::new();
    for id in &commits {
        needed.insert(oid(id)?);
        trees(&repo, tree_of(&repo, id)?.id(), &arrived, &mut needed)?;
    }
    if let Some(extra) = arrived.difference(&needed).next() {
        return Err(BundleError::ExtraObject(extra.to_string()));
    }
    if changed_files(&repo, &bundle.of)? != bundle.files {
        return Err(BundleError::Digest("a changed file".into()));
    }
    let sources = |id: &CommitId| -> Result<_, GitError> {
        let tree = tree_of(&repo, id)?.id();
        tree::id(tree::replace_folder(&repo, tree, &present.state_folder, &[])?)
    };
    Ok(tree::diff(&repo, &sources(&bundle.of.head)?, &sources(&bundle.of.tip)?)?)
}

/// Collects the new objects below a tree, and rejects names that no checkout may write.
fn trees(
    repo: &Repository,
    root: Oid,
    arrived: &BTreeSet<Oid>,
    needed: &mut BTreeSet<Oid>,
) -> Result<(), BundleError> {
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if !arrived.contains(&id) || !needed.insert(id) {
            continue;
        }
        let tree = repo.find_tree(id).map_err(|error| BundleError::Pack(error.to_string()))?;
        let mut names = BTreeSet::new();
        for entry in &tree {
            let shown = String::from_utf8_lossy(entry.name_bytes()).into_owned();
            let name = std::str::from_utf8(entry.name_bytes())
                .map_err(|_error| BundleError::Path(format!("`{shown}` is not UTF-8")))?;
            if name.contains('/') {
                return Err(BundleError::Path(format!("`{name}` is a name with a `/` in it")));
            }
            RepoPath::parse(name).map_err(|error| BundleError::Path(error.to_string()))?;
            if !names.insert(name.to_owned()) {
                return Err(BundleError::Path(format!("`{name}` is there twice")));
            }
            match entry.filemode_raw() {
                FOLDER => open.push(entry.id()),
                _ => {
                    needed.insert(entry.id());
                }
            }
        }
    }
    Ok(())
}

/// The commits from `head` to `tip`: linear, of the session, and only with changes to plain files.
pub fn line(repo: &Repository, of: &BundleOf) -> Result<Vec<CommitId>, BundleError> {
    let refused = |id: Oid, reason| BundleError::Commit { commit: id.to_string(), reason };
    let (head, tip) = (oid(&of.head)?, oid(&of.tip)?);
    repo.find_commit(head).map_err(|_error| refused(head, "the head is not here"))?;
    repo.find_commit(tip).map_err(|_error| refused(tip, "the tip is not here"))?;
    let walk = history(repo, tip, &[head], Sort::TOPOLOGICAL | Sort::REVERSE)
        .map_err(|_error| refused(tip, "its history is not complete"))?;
    let mut before = head;
    let mut line = Vec::new();
    for id in walk {
        let id = id.map_err(|_error| refused(tip, "its history is not complete"))?;
        if line.len() == COMMITS {
            return Err(BundleError::TooLarge(format!("more than {COMMITS} commits")));
        }
        let found = repo.find_commit(id).map_err(failed("read a commit"))?;
        if found.parent_count() != 1 || found.parent_id(0) != Ok(before) {
            return Err(refused(id, "it does not follow the one before"));
        }
        if !is_of_session(&message_of(&found), &of.session) {
            return Err(refused(id, "it is not of the session"));
        }
        changes(repo, before, id)?;
        line.push(name(id)?);
        before = id;
    }
    if before != tip || line.is_empty() {
        return Err(refused(tip, "it does not come after the head"));
    }
    Ok(line)
}

/// Blob ids before and after; `None` where the file does not exist.
type Sides = (Option<Oid>, Option<Oid>);

/// The paths that differ between two commits, with their blobs; rejects all but plain files.
fn changes(
    repo: &Repository,
    from: Oid,
    to: Oid,
) -> Result<BTreeMap<RepoPath, Sides>, BundleError> {
    let tree = |id| {
        repo.find_commit(id)
            .and_then(|commit| commit.tree())
            .map_err(|error| BundleError::Pack(error.message().to_owned()))
    };
    let mut options = git2::DiffOptions::new();
    options.include_typechange(true);
    let diff = repo
        .diff_tree_to_tree(Some(&tree(from)?), Some(&tree(to)?), Some(&mut options))
        .map_err(|error| BundleError::Pack(error.message().to_owned()))?;
    let mut found = BTreeMap::new();
    for delta in diff.deltas() {
        let (old, new) = (delta.old_file(), delta.new_file());
        let bytes = new.path_bytes().or(old.path_bytes()).unwrap_or_default();
        let path = RepoPath::parse(String::from_utf8_lossy(bytes).into_owned())
            .map_err(|error| BundleError::Path(error.to_string()))?;
        let refused = |reason| BundleError::Kind { file: path.to_string(), reason };
        let (before, after) = (i32::from(old.mode()), i32::from(new.mode()));
        let plain = |mode| mode == PLAIN || mode == EXECUTABLE;
        let sides = match delta.status() {
            Delta::Added if after == PLAIN => (None, Some(new.id())),
            Delta::Added if after == EXECUTABLE => {
                return Err(refused("a new file must not be executable"));
            }
            Delta::Deleted if plain(before) => (Some(old.id()), None),
            Delta::Modified if plain(before) && before == after => (Some(old.id()), Some(new.id())),
            Delta::Modified if plain(before) && plain(after) => {
                return Err(refused("its mode changes"));
            }
            _ => return Err(refused("it is a link, a submodule, or becomes another kind")),
        };
        found.insert(path, sides);
        if found.len() > FILES {
            return Err(BundleError::TooLarge(format!("more than {FILES} files")));
        }
    }
    Ok(found)
}

/// The files that differ between head and tip, with digests and sizes, sorted.
pub fn changed_files(repo: &Repository, of: &BundleOf) -> Result<Vec<BundledFile>, BundleError> {
    let mut files = Vec::new();
    for (file, (before, after)) in changes(repo, oid(&of.head)?, oid(&of.tip)?)? {
        let side = |id: Option<Oid>| -> Result<Option<(String, u64)>, BundleError> {
            let Some(id) = id else { return Ok(None) };
            let missing = |error: git2::Error| match (error.code(), file.as_str()) {
                (ErrorCode::NotFound, file) => BundleError::Pack(format!("{file} is missing")),
                (_, file) => BundleError::Pack(format!("{file}: {}", error.message())),
            };
            let object = repo.find_object(id, Some(ObjectType::Blob)).map_err(missing)?;
            let blob = object.peel_to_blob().map_err(missing)?;
            if blob.size() > FILE_LIMIT {
                return Err(BundleError::TooLarge(format!("{file} has {} bytes", blob.size())));
            }
            Ok(Some((sha256_hex(blob.content()), blob.size() as u64)))
        };
        let (before, after) = (side(before)?, side(after)?);
        let bytes = after.as_ref().map_or(0, |(_, size)| *size);
        let only = |side: Option<(String, u64)>| side.map(|(digest, _)| digest);
        files.push(BundledFile { file, before: only(before), after: only(after), bytes });
    }
    Ok(files)
}
