//! The tests of the repository: detect the framework, run it, read what it says, try candidates.
//!
//! It does not know why tests are run, nor what an edit is for.

mod check;
mod cold;
mod detect;
mod format;
mod framework;
#[cfg(test)]
mod recorded;
mod run;
mod types;
mod warm;

pub use detect::{Detection, detect};
pub use format::Told;
pub use run::{ProjectSuite, SuiteSettings, open};
pub use types::{Typed, types};

/// Reads a JUnit report; for the benches.
#[must_use]
pub fn parse_junit(text: &str) -> Option<Vec<Told>> {
    format::junit::parse(text).ok()
}
