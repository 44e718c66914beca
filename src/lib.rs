//! regreen brings a red test suite back to green: it runs the tests, finds out what fails, fixes
//! it, proves the fix by running again, and keeps every step as a commit.
//!
//! The modules, called rooms, in the order of the data flow: `cli` turns arguments into a request,
//! `bot` events; `app` carries it out; `cycle` decides what happens when; `role` does the work;
//! `repair` searches for edits; `effect` declares access to the outside world, `adapter` implements
//! it; `code`, `config` and `report` are pure; `domain` holds values and decisions.

mod adapter;
mod app;
mod bot;
mod cli;
mod code;
mod config;
mod cycle;
mod domain;
mod effect;
mod repair;
mod report;
mod role;

#[cfg(any(test, feature = "internals"))]
#[doc(hidden)]
pub mod internals;

/// Runs the command line and returns the exit code: 0 gate met, 1 gate not met, 2 wrong usage or
/// configuration, 3 the environment failed.
pub fn run(arguments: impl Iterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    let arguments: Vec<_> = arguments.collect();
    if let Some(code) = adapter::launched(&arguments) {
        return code;
    }
    cli::run(arguments.into_iter(), |bundle| Box::pin(bot::run(bundle)))
}
