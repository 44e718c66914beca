//! The linter: finds problems of code and tests that the project's own tools do not report
//! (specification.md 6.3, 6.4).
//!
//! Pure functions from files to findings. What compilers, type checkers and linters report is
//! mapped to rules of the same catalogue by [`rule_of_tool_message`].

mod catalogue;
mod generated;
mod project;
mod rule;
mod rules;
mod scan;
mod source;
mod test_rules;
mod tool_rules;
mod word_lists;

#[cfg(test)]
mod tests;

pub use catalogue::{rule, rule_of_tool_message};
pub use generated::{is_generated, reason_to_leave};
pub use project::{Project, is_manifest};
pub use rule::LintRule;
pub use rules::absent_names::absent_names;
pub use scan::scan;
