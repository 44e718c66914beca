//! The cycles of a session: each opens it, drives a state machine step by step, and closes it.

mod drive;
mod error;
mod fix;
mod integration;
mod machine;
mod replay;
mod run;
mod session_files;
mod test_writing;

pub use error::Failure;
pub use fix::FixInputs;
pub use integration::{
    IntegrationInputs, adjust_integration, enter_integration, prepare_integration,
    restore_integration,
};
pub use machine::{Machine, Transition};
pub use replay::{Replayed, replay};
pub use run::{Execution, run};
pub use session_files::generation;
pub use test_writing::{PlanInputs, WriteTestsInputs, plan, write_tests};

#[cfg(test)]
mod tests;
