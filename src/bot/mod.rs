//! The face on GitHub: an event comes in, and a fix, a comment and a check run come of it.
//!
//! Working and publishing are two processes: the one that runs tests has no token, the one with the
//! token runs no tests and looks at every commit again (product.md 13.17). What comes in is read
//! and decided by pure functions; every refusal carries its reason.

#![expect(clippy::print_stdout, reason = "the runner reads its commands from standard output")]

mod action;
mod answer;
mod apply;
mod argv;
mod authority;
mod chores;
mod command;
mod commits;
mod issues;
mod kept;
mod limits;
mod listen;
mod mode;
mod offer;
mod payload;
mod permission;
mod prepare;
mod publish;
mod start;
mod surroundings;
mod target;
mod trigger;
mod validate;
mod watch;
mod work;
mod worker;

#[cfg(test)]
mod tests;

pub use action::run;
