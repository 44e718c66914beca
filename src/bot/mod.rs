//! The bot on GitHub: turns an event into a fix, a comment and a check run.
//!
//! Working and publishing are two processes. The worker runs tests and has no token; the publisher
//! has the token, runs no tests and checks every commit again (specification.md 4.14). Pure functions
//! read and classify events; every refusal carries its reason.

mod action;
mod authority;
mod bundle;
mod command;
mod commands;
mod commits;
mod context;
mod day_budget;
mod deliver;
mod earlier_result;
mod environment;
mod error;
mod fix_branch;
mod handle_comment;
mod integration_choice;
mod job;
mod limits;
mod memory;
mod mode;
mod payload;
mod permission;
mod poll;
mod prepare;
mod publish;
mod replies;
mod run;
mod session_choice;
mod session_snapshots;
mod sessions;
mod supervise;
mod target;
mod throttle;
mod trigger;
mod worker;

#[cfg(test)]
mod tests;

pub use action::run;
