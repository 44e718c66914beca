//! The session's files on disk: layout, lock, atomic writes, half-done moves finished.
//!
//! The state root on disk lies in the git directory, so the user's files are never touched; the
//! same layout travels in commits below `.workflow`.

mod session;

pub use session::{
    SessionStore, active, archive, archive_folder, find, forget, newest, session_folder,
};

/// Folder of the state root below the common git directory.
pub const STATE_ROOT: &str = "regreen";

/// Folder of the state root inside commits.
pub const STATE_FOLDER: &str = ".workflow";

/// Schema version that this build writes, and the highest it reads.
pub const SCHEMA_VERSION: u64 = 1;
