//! Parses and validates settings, Action inputs and provider definitions; performs no I/O.

mod diagnostic;
mod file;
#[cfg_attr(not(test), expect(dead_code, reason = "a test generates action.yml from the table"))]
pub mod inputs;
mod keys;
mod overrides;
pub mod prices;
pub mod providers;
mod settings;
mod table;
mod yaml_position;

pub use diagnostic::Diagnostic;
pub use file::{parse, parse_with, schema};
pub use keys::nearest;
pub use overrides::Override;
pub use settings::{CommitState, History, PartialConclusion, Publish, Settings, glob_set};
pub use table::duration;

/// Path of the configuration file in a repository.
pub const PATH: &str = ".github/regreen.yml";
