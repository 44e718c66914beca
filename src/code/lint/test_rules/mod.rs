//! Lint rules about tests, one file per category, and their shared helpers.

pub mod assertions;
pub mod calls_and_assertions;
pub mod cheating;
pub mod claim;
pub mod copied_code;
pub mod empty;
pub mod hollow;
pub mod isolation;
pub mod missing_cases;
pub mod over_mocking;
