//! Git: finds the repository, keeps a private checkout, makes commits, compares trees.
//!
//! Everything local goes through libgit2, which runs no hooks, no external filters and no file system
//! monitor. It does not know what an iteration is.

mod bench;
mod bundle;
mod collect;
mod commit;
mod open;
mod pkt;
mod push;
mod remote;
mod seed;
mod sift;
mod sources;
#[cfg(test)]
mod tests;
mod transport;
mod tree;
mod worktree;

pub use bench::{Bench, BenchOf, Overlap};
pub use bundle::{BundleError, BundleOf, Present, export_bundle, import_bundle, manifest};
pub use open::{
    RepositoryFacts, SessionFiles, check_reference, discover, has_branch, read_session,
    remove_branch, tip_of,
};
pub use remote::GitRemote;
pub use seed::{recover_trees, seed};
pub use sources::{Sources, changed_since, installed, read_sources};
pub use transport::{Credential, Transport};
pub use worktree::{Branching, RepoWorktree, WorktreeSettings, remove_checkout};

use crate::effect::GitError;

/// Wraps an answer of libgit2.
fn failed(action: impl Into<String>) -> impl FnOnce(git2::Error) -> GitError {
    let action = action.into();
    move |error| GitError::Failed { action, reason: error.message().to_owned() }
}

/// Wraps an answer of the operating system.
fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> GitError {
    let action = action.into();
    move |error| GitError::Failed { action, reason: error.to_string() }
}
