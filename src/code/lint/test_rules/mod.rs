//! Rules about tests, one file for each family, and what they share.

pub mod assertions;
pub mod body;
pub mod coverage;
pub mod doubles;
pub mod empty;
pub mod isolation;
