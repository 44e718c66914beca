//! Test generation as values: the request, its context, the requirements, the tasks, and the state
//! of the pipeline (specification.md 3.1, phases 1 to 4).

pub mod analysis;
pub mod context;
pub mod generation;
pub mod layer;
pub mod pipeline;
pub mod plan_input;
pub mod plan_run;
pub mod reader_command;
pub mod requirement_coverage;
pub mod task;
pub mod usage_log;
pub mod written_tests;
