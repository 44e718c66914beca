//! State and events to text; everything foreign escaped. Pure.

pub mod chart;
pub mod check;
pub mod comment;
pub mod document;
mod fit;
pub mod forms;
pub mod handover;
pub mod job_summary;
pub mod markdown;
mod part;
pub mod records;
pub mod issue;
pub mod pull;
pub mod summary;
pub mod terminal;
pub mod todo;
pub mod view;
pub mod workflow;

#[cfg(test)]
mod tests;
