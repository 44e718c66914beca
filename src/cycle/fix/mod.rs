//! The cycle that fixes failing tests: opens a session, drives the fix loop, and closes it.

mod close;
mod machine;
mod open;
mod perform;
mod run;
mod transition_files;

pub use machine::FixCommand;
pub use run::{FixInputs, LoopEnd, run};
