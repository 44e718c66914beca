//! The cycle that fixes failing tests: opens a session, drives the loop, closes it.

mod close;
mod open;
mod perform;
mod records;
mod run;

pub(super) use perform::Performer;
pub use run::{SetUp, run};
