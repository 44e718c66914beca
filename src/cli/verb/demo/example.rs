//! Files of the example.

/// Path and content of each file.
pub const FILES: &[(&str, &str)] = &[];
