//! The session record and its statuses.
