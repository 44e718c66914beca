//! Text to settings, with file, line, column and expectation. Pure.

mod diagnostic;
mod file;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "action.yml and the README are held to these tables by tests")
)]
pub mod inputs;
mod place;
pub mod precedence;
pub mod providers;

pub use diagnostic::Diagnostic;
pub use file::{Budget, Settings, duration, parse, schema};
