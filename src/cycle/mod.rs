//! The cycles of a session: each opens it, drives a state machine step by step, and closes it.

mod drive;
mod error;
mod fix;
mod machine;
mod replay;
mod session_files;
mod test;

pub use drive::EVENTS;
pub use error::Failure;
pub use fix::SetUp;
pub use machine::{Machine, Transition};
pub use replay::{Replayed, replay};
pub use session_files::generation as production;
pub use test::{Execution, PlanSetUp, WriteTestsSetUp, plan, produce, run};

#[cfg(test)]
mod tests;
