//! Test generation as values: the request, the plan, its tasks, and the state of the pipeline
//! (specification.md 3.1, phases 1 to 4).

pub mod framework;
pub mod generation;
pub mod layer;
pub mod pipeline;
pub mod plan;
pub mod plan_input;
pub mod plan_run;
pub mod reader_command;
pub mod requirement;
pub mod requirement_coverage;
pub mod source_session;
pub mod task;
pub mod usage_log;
pub mod written_tests;
