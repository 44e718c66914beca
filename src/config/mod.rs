//! Text to settings, with file, line, column and expectation. Pure.

mod diagnostic;
mod file;
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "action.yml and the README are held to these tables by tests")
)]
pub mod inputs;
mod keys;
mod overrides;
pub mod precedence;
pub mod providers;
mod settings;
mod yaml_position;

pub use diagnostic::Diagnostic;
pub use file::{duration, parse, parse_with, schema};
pub use overrides::Override;
pub use settings::{Budget, Commit, CommitState, History, Settings};
