//! Test generation as values: what is asked for, what is known, what must be tested, by which
//! tasks, and where the pipeline stands (specification.md 3.1, phases 1 to 4).

pub mod analysis;
pub mod context;
pub mod entry;
pub mod exploration;
pub mod exploration_angle;
pub mod generation;
pub mod layer;
pub mod pipeline;
pub mod requirement_coverage;
pub mod task;
pub mod usage_log;
pub mod written_tests;
