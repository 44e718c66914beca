//! The tests of the repository: detect the framework, run it, read what it says, try candidates.
//!
//! It does not know why tests are run, nor what an edit is for.

mod cold;
mod detect;
mod format;
mod framework;
mod run;
mod warm;

pub use detect::{Detection, detect};
pub use run::{ProjectSuite, SuiteSettings, open};
