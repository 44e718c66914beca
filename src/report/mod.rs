//! Renders state and events as text for every output, and escapes all foreign text. Pure.

pub mod characterisation;
pub mod chart;
pub mod check;
pub mod comment;
mod coverage;
pub mod decision;
pub mod document;
pub mod estimate;
pub mod explanation;
pub mod final_state;
mod findings;
pub mod fix_tasks;
mod folded_details;
pub mod follow_up_issues;
pub mod forge_page;
pub mod handover;
pub mod html;
pub mod integration;
pub mod job_summary;
pub mod lessons;
pub mod markdown;
pub mod markdown_page;
pub mod memory;
pub mod mutation;
mod next_steps;
pub mod outputs;
mod overview;
pub mod parts;
pub mod phrases;
pub mod planning;
pub mod pull;
pub mod reflection_log;
pub mod runner_commands;
mod scoreboard;
mod session_parts;
pub mod state_files;
mod status_line;
mod templates;
pub mod terminal;
pub mod test_quality;
pub mod todo;
mod truncate;
pub mod validation;
pub mod view;

#[cfg(test)]
mod tests;
