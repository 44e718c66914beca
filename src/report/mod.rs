//! State and events to text; everything foreign escaped. Pure.

pub mod characterised;
pub mod chart;
pub mod check;
pub mod comment;
mod coverage;
pub mod decision;
mod detail;
pub mod document;
pub mod estimate;
pub mod handover;
pub mod html;
pub mod issue;
pub mod job_summary;
pub mod layers;
pub mod lessons;
pub mod markdown;
pub mod mutation;
mod overview;
pub mod planning;
pub mod pull;
pub mod records;
pub mod schema;
pub mod summary;
pub mod terminal;
pub mod test_quality;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the pipeline of test generation lays out more of it")
)]
pub mod todo;
mod truncate;
pub mod validation;
pub mod view;
pub mod workflow;

#[cfg(test)]
mod tests;
