//! Text to settings, with file, line, column and expectation. Pure.

mod diagnostic;
mod file;
pub mod inputs;
mod place;
pub mod precedence;
pub mod providers;

pub use diagnostic::Diagnostic;
pub use file::{Budget, Settings, duration, parse, schema};
