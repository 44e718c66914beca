//! The cycles of a session: each opens it, drives a state machine step by step, and closes it.

mod drive;
mod error;
mod fix;
mod machine;
mod replay;
mod session_files;
mod test_writing;

pub use drive::EVENTS;
pub use error::Failure;
pub use fix::SetUp;
pub use machine::{Machine, Transition};
pub use replay::{Replayed, replay};
pub use session_files::generation as production;
pub use test_writing::{Execution, PlanSetUp, WriteTestsSetUp, plan, run, write_tests};

#[cfg(test)]
mod tests;
