//! The real time.
