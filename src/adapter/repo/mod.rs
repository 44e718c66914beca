//! Git: finds the repository, keeps a private checkout, makes commits, compares trees.
//!
//! Everything local goes through libgit2, which runs no hooks, no external filters and no file system
//! monitor. It does not know what an iteration is.

#[expect(dead_code, reason = "the publisher calls it")]
mod bench;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
mod bundle;
mod collect;
mod commit;
mod open;
mod pkt;
mod push;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
mod remote;
mod seed;
mod sources;
#[cfg(test)]
mod tests;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
mod transport;
mod tree;
mod worktree;

#[expect(unused_imports, reason = "the publisher calls it")]
pub use bench::{BenchOf, bench, file_of, message_of, set_branch};
#[cfg_attr(not(test), expect(unused_imports, reason = "the publisher calls it"))]
pub use bundle::{Bundle, BundleError, BundledFile, Imported, Present, import_bundle};
pub use bundle::{BundleOf, export_bundle};
pub use open::{
    RepositoryFacts, SessionFiles, check_reference, discover, has_branch, read_session,
    remove_branch, tip_of,
};
#[cfg_attr(not(test), expect(unused_imports, reason = "the publisher calls it"))]
pub use remote::{GitRemote, remote_address};
pub use seed::seed;
pub use sources::{Sources, changed_since, installed, read_sources};
#[cfg_attr(not(test), expect(unused_imports, reason = "the publisher calls it"))]
pub use transport::{Credential, Transport, redacted};
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
