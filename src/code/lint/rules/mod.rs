//! Rules about code, one file for each category.

pub mod absent_names;
pub mod imports;
pub mod mocks;
pub mod naming;
pub mod packages;
pub mod placeholder;
pub mod secrets;
