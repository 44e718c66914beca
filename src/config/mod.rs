//! Text to settings, with file, line, column and expectation. Pure.

mod diagnostic;
mod file;
mod form;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "action.yml and the README are held to these tables by tests")
)]
pub mod inputs;
mod overlay;
mod place;
pub mod precedence;
pub mod providers;

pub use diagnostic::Diagnostic;
pub use file::{
    Budget, Commit, CommitState, History, Settings, duration, parse, parse_with, schema,
};
pub use overlay::Override;
