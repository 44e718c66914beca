//! Session files on disk: layout, locks, atomic writes, and recovery of interrupted moves.
//!
//! The state root on disk is in the git directory, so the user's files are never touched; commits
//! hold the same layout below `.workflow`.

mod archive;
mod reference_sessions;
mod session;

pub use archive::{archive, half_archived};
pub use reference_sessions::{SourceError, read_integration, read_source, sources};
pub use session::{
    SessionStore, active, archive_folder, archived, committed_files, find, forget, newest,
    parse_record, read_file, read_record, save_record, session_folder, tasks, wrote_nothing,
};

pub use crate::domain::session::files::{STATE_FOLDER, file_path};

/// Folder of the state root below the common git directory.
pub const STATE_ROOT: &str = "regreen";

/// Schema version that this build writes, and the highest it reads.
pub const SCHEMA_VERSION: u64 = 1;
