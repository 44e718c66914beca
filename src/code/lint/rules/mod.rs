//! Lint rules about code, one file per category.

pub mod absent_names;
pub mod imports;
pub mod mocks;
pub mod naming;
pub mod packages;
pub mod placeholder;
pub mod secrets;
