//! Lint rules about tests, one file per category, and their shared helpers.

pub mod assertions;
pub mod body;
pub mod coverage;
pub mod doubles;
pub mod empty;
pub mod isolation;
