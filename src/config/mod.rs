//! Text to settings, with file, line, column and expectation. Pure.

mod diagnostic;
mod file;
pub mod providers;

pub use file::{Settings, duration, parse, schema};
