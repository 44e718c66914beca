//! A repository of our own beside a checkout that belongs to others: its objects are read there,
//! everything else is new. So nothing of theirs is written, no credential of theirs is near, and
//! its head is the commit under test, where a checkout for a pull request stands at a merge.

use std::path::Path;

use git2::{Oid, Repository, RepositoryInitOptions};

use crate::adapter::host::files;
use crate::domain::id::CommitId;
use crate::effect::GitError;

use super::{RepositoryFacts, discover, failed, io};

/// What the new repository begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchOf {
    /// The commit that is checked out.
    pub head: CommitId,
    /// Its branch, made there.
    pub branch: String,
    /// Further local branches and where they stand.
    pub others: Vec<(String, CommitId)>,
}

/// Makes the repository at `folder`, which is replaced, with the files of its head.
///
/// # Errors
///
/// [`GitError`] when a commit is not in `source`, or the folder cannot be written.
pub fn bench(
    source: &RepositoryFacts,
    folder: &Path,
    of: &BenchOf,
) -> Result<RepositoryFacts, GitError> {
    files::remove_folder(folder);
    files::create_folder(folder).map_err(io("create a repository of our own"))?;
    let mut options = RepositoryInitOptions::new();
    options.external_template(false).initial_head(&of.branch);
    let repo = Repository::init_opts(folder, &options).map_err(failed("create a repository"))?;
    let objects = source.common.join("objects");
    let info = repo.path().join("objects/info");
    files::create_folder(&info).map_err(io("create the list of object stores"))?;
    files::write(&info.join("alternates"), format!("{}\n", objects.display()).as_bytes())
        .map_err(io("write the list of object stores"))?;
    let shallow = files::read(&source.common.join("shallow"), 16 << 20);
    if let Some(shallow) = shallow.map_err(io("read where the history is cut"))? {
        files::write(&repo.path().join("shallow"), &shallow)
            .map_err(io("write where the history is cut"))?;
    }
    drop(repo);
    // Opened again, so that the other store is known.
    let repo = Repository::open(folder).map_err(failed("open the repository of our own"))?;
    let begun = (of.branch.clone(), of.head.clone());
    for (branch, commit) in std::iter::once(&begun).chain(&of.others) {
        let id = Oid::from_str(commit.as_str()).map_err(failed("read a commit id"))?;
        repo.find_commit(id).map_err(failed(format!("find commit {}", commit.short())))?;
        repo.reference(&format!("refs/heads/{branch}"), id, true, "regreen")
            .map_err(failed(format!("make branch {branch}")))?;
    }
    let mut checkout = git2::build::CheckoutBuilder::new();
    checkout.force();
    repo.checkout_head(Some(&mut checkout)).map_err(failed("check out the head"))?;
    discover(folder)
}

/// One file of a commit; `None` when it is not there or no plain file.
///
/// # Errors
///
/// When the commit is not in the store.
pub fn file_of(
    facts: &RepositoryFacts,
    commit: &CommitId,
    path: &str,
) -> Result<Option<Vec<u8>>, GitError> {
    let repo = super::open::reopen(facts)?;
    let id = Oid::from_str(commit.as_str()).map_err(failed("read a commit id"))?;
    let tree = repo
        .find_commit(id)
        .and_then(|commit| commit.tree())
        .map_err(failed(format!("find commit {}", commit.short())))?;
    let Ok(entry) = tree.get_path(Path::new(path)) else { return Ok(None) };
    if entry.filemode() & 0o170_000 != 0o100_000 {
        return Ok(None);
    }
    Ok(repo.find_blob(entry.id()).ok().map(|blob| blob.content().to_vec()))
}

/// The message of a commit; `None` when the commit is not in the store.
#[must_use]
pub fn message_of(facts: &RepositoryFacts, commit: &CommitId) -> Option<String> {
    let repo = super::open::reopen(facts).ok()?;
    let commit = repo.find_commit(Oid::from_str(commit.as_str()).ok()?).ok()?;
    Some(String::from_utf8_lossy(commit.message_bytes()).into_owned())
}

/// Moves a local branch, which is made when it is not there.
///
/// # Errors
///
/// When the commit is not in the store.
pub fn set_branch(facts: &RepositoryFacts, branch: &str, to: &CommitId) -> Result<(), GitError> {
    let repo = super::open::reopen(facts)?;
    let id = Oid::from_str(to.as_str()).map_err(failed("read a commit id"))?;
    repo.reference(&format!("refs/heads/{branch}"), id, true, "regreen")
        .map_err(failed(format!("move branch {branch}")))?;
    Ok(())
}
