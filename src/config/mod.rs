//! Text to settings, with file, line, column and expectation. Pure.

mod diagnostic;
mod file;
#[cfg_attr(not(test), expect(dead_code, reason = "the Action reads them; its verb comes next"))]
pub mod inputs;
mod place;
#[cfg_attr(not(test), expect(dead_code, reason = "the Action asks it; its verb comes next"))]
pub mod precedence;
pub mod providers;

pub use file::{Settings, duration, parse, schema};
