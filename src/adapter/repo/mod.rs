//! Git: finds the repository, keeps a private checkout, makes commits, compares trees.
//!
//! Everything local goes through libgit2, which runs no hooks, no external filters and no file system
//! monitor. It does not know what an iteration is.

mod bundle;
mod commit;
mod content;
mod folder_edits;
mod git_directory;
mod git_remote;
mod import_objects;
mod line_history;
mod memory_file;
mod objects;
mod open;
mod pack_limits;
mod pkt_line;
mod push;
mod remote;
mod scratch_repo;
mod sources;
#[cfg(test)]
mod tests;
mod transport;
mod tree;
mod untracked;
mod worktree;

pub use bundle::{BundleError, BundleOf, Present, export_bundle, import_bundle, manifest};
pub use git_remote::GitRemote;
pub use import_objects::{recover_trees, seed};
pub use memory_file::{
    MEMORY_REFERENCE, MemoryFile, RemoteMemory, delete_memory, read_memory, write_memory,
};
pub use open::{
    RepositoryFacts, SessionFiles, check_reference, committed_text, discover, has_branch,
    read_session, remove_branch, tip_of,
};
pub use pack_limits::Bounds;
pub use scratch_repo::{Overlap, ScratchHead, ScratchRepo};
pub use sources::{Sources, changed_since, installed, read_sources};
pub use transport::{Credential, RetryWaits, Transport};
pub use worktree::{Branching, RepoWorktree, WorktreeSettings, remove_checkout};

use crate::effect::GitError;

/// Converts an error of libgit2.
fn failed(action: impl Into<String>) -> impl FnOnce(git2::Error) -> GitError {
    let action = action.into();
    move |error| GitError::Failed { action, reason: error.message().to_owned() }
}

/// Converts an error of the operating system.
fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> GitError {
    let action = action.into();
    move |error| GitError::Failed { action, reason: error.to_string() }
}
