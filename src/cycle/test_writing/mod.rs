//! The cycle that plans and writes tests: phases 2 to 5 of a test session.

mod engine_time;
mod execution;
mod format;
mod gates;
mod machine;
mod plan;
mod selection;
mod write;
mod write_task;

pub use execution::execute;
pub use plan::{PlanInputs, plan};
pub use write::{WriteTestsInputs, plan_run, write_tests};
