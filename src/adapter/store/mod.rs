//! The session's files on disk and on the branch.
