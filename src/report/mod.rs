//! State and events to text; everything foreign escaped. Pure.

pub mod chart;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
pub mod check;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
pub mod comment;
mod detail;
pub mod document;
mod fit;
pub mod forms;
pub mod handover;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
pub mod job_summary;
mod lead;
pub mod markdown;
pub mod records;
pub mod summary;
pub mod terminal;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
pub mod todo;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
pub mod view;
#[cfg_attr(not(test), expect(dead_code, reason = "the publisher calls it"))]
pub mod workflow;

#[cfg(test)]
mod tests;
