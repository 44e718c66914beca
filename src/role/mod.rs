//! The work: typed request to typed answer. Diagnoses, proposes, vets, selects tests.
//!
//! It runs no step of the loop by itself and decides nothing about how the loop goes on.

mod answer;
mod fixer;
mod impact;
mod prompt;
mod vet;

pub use fixer::{Fixer, FixerSettings};
pub use impact::Impact;
