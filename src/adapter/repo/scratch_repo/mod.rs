//! A scratch repository that borrows the objects of the user's checkout and writes only files of
//! its own. The checkout and its credentials stay untouched, and HEAD is the commit under test,
//! where a checkout for a pull request is at a merge commit.

mod read;
mod write;

use std::path::{Path, PathBuf};

use git2::{Repository, RepositoryInitOptions};

use crate::adapter::host::files;
use crate::domain::id::CommitId;
use crate::effect::GitError;

use super::content::{self, Origin, Place};
use super::objects::{copy_shallow, find_commit, oid, tree_of};
use super::open::reopen;
use super::{GitRemote, RepositoryFacts, Transport, discover, failed, io};

pub use write::Overlap;

/// Names the checkout's own commit, so that a server knows what is here already.
const KNOWN: &str = "refs/regreen/checkout";

/// Names the commit under test.
const HEAD: &str = "refs/regreen/head";

/// Settings that decide how files are written.
const LINE_ENDS: [&str; 2] = ["core.autocrlf", "core.eol"];

/// Author of commits, with the email address of the `github-actions[bot]` account.
const NAME: &str = "regreen";
const EMAIL: &str = "41898282+github-actions[bot]@users.noreply.github.com";

/// The scratch repository.
#[derive(Clone, Debug)]
pub struct ScratchRepo {
    folder: PathBuf,
    /// The user's checkout.
    source: Option<PathBuf>,
}

/// The commits and branches to create in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchHead {
    pub head: CommitId,
    /// The local branch that is created at `head`.
    pub branch: String,
    /// Further local branches and their commits.
    pub others: Vec<(String, CommitId)>,
}

impl ScratchRepo {
    /// Replaces `folder` by an empty repository that borrows the objects of `source`.
    pub fn make(source: Option<&RepositoryFacts>, folder: &Path) -> Result<Self, GitError> {
        files::remove_folder(folder);
        files::create_folder(folder).map_err(io("create a repository of our own"))?;
        let mut options = RepositoryInitOptions::new();
        options.external_template(false);
        let repo =
            Repository::init_opts(folder, &options).map_err(failed("create a repository"))?;
        let mut config = repo.config().map_err(failed("read the settings"))?;
        for (name, value) in [("user.name", NAME), ("user.email", EMAIL)] {
            config.set_str(name, value).map_err(failed("write the settings"))?;
        }
        let root = source.map(|source| source.root.clone());
        let scratch = Self { folder: folder.to_owned(), source: root };
        let Some(source) = source else { return Ok(scratch) };
        let theirs = reopen(source)?.config().map_err(failed("read the settings"))?;
        for name in LINE_ENDS {
            if let Ok(value) = theirs.get_string(name) {
                config.set_str(name, &value).map_err(failed("write the settings"))?;
            }
        }
        let objects = source.common.join("objects");
        let info = repo.path().join("objects/info");
        files::create_folder(&info).map_err(io("create the list of object stores"))?;
        files::write(&info.join("alternates"), format!("{}\n", objects.display()).as_bytes())
            .map_err(io("write the list of object stores"))?;
        copy_shallow(&source.common, repo.path())?;
        drop(repo);
        // Reopened, so that libgit2 reads the list of alternates.
        scratch
            .repo()?
            .reference(KNOWN, oid(&source.head)?, true, "regreen")
            .map_err(failed("name the commit of the checkout"))?;
        Ok(scratch)
    }

    /// Names the commit under test, so that a server sends only what differs from it.
    pub fn name_head(&self, head: &CommitId) -> Result<(), GitError> {
        self.repo()?
            .reference(HEAD, oid(head)?, true, "regreen")
            .map(drop)
            .map_err(failed("name the commit under test"))
    }

    fn repo(&self) -> Result<Repository, GitError> {
        Repository::open(&self.folder).map_err(failed("open the repository of our own"))
    }

    /// The remote of this repository.
    pub fn remote(&self, transport: Transport) -> GitRemote {
        GitRemote { common: self.folder.join(".git"), transport, bounds: None }
    }

    /// Creates the branches and checks out the head.
    pub fn check_out(&self, of: &ScratchHead) -> Result<RepositoryFacts, GitError> {
        let repo = self.repo()?;
        let begun = (of.branch.clone(), of.head.clone());
        for (branch, commit) in std::iter::once(&begun).chain(&of.others) {
            let id = find_commit(&repo, commit)?.id();
            repo.reference(&format!("refs/heads/{branch}"), id, true, "regreen")
                .map_err(failed(format!("make branch {branch}")))?;
        }
        repo.set_head(&format!("refs/heads/{}", of.branch)).map_err(failed("set the head"))?;
        let tree = tree_of(&repo, &of.head)?;
        let origin = Origin::of(self.source.as_deref().unwrap_or(&self.folder), true)?;
        content::check_out(&repo, &tree, Place::Checkout, &origin)?;
        discover(&self.folder)
    }
}
