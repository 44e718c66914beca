//! Maps errors and session endings to exit codes, to error text, and to the `--json` document.

use crate::app::{AppError, ErrorClass};
use crate::domain::event::Ending;
use crate::report::document::{Document, Problem};
use crate::report::phrases::single_safe_line;
use crate::report::runner_commands::neutralise_commands;

/// Process exit codes, which are part of the public interface.
pub mod exit {
    /// The gate is met, or the requested action was performed.
    pub const MET: u8 = 0;
    /// The gate is not met.
    pub const NOT_MET: u8 = 1;
    /// The command line or the configuration is wrong.
    pub const USAGE: u8 = 2;
    /// The environment failed: no repository, the suite cannot start, no space.
    pub const ENVIRONMENT: u8 = 3;
}

/// Number of evidence lines, counted from the last one, that are printed with an error.
const EVIDENCE: usize = 15;

/// The exit code of an error.
pub fn code_of_error(error: &AppError) -> u8 {
    match error.class {
        ErrorClass::Usage => exit::USAGE,
        ErrorClass::Environment => exit::ENVIRONMENT,
    }
}

/// The exit code of a session's ending.
pub fn code_of_ending(ending: Ending) -> u8 {
    match ending {
        Ending::Success | Ending::PartialSuccess | Ending::Planned => exit::MET,
        Ending::Failure | Ending::Blocked => exit::NOT_MET,
    }
}

/// The JSON document that `--json` prints for an error.
pub fn document(error: &AppError) -> String {
    let document = Document::from(Problem {
        message: error.message.clone(),
        hint: error.hint.clone(),
        exit_code: code_of_error(error),
    });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

/// An error as it is printed on standard error.
pub fn text(error: &AppError) -> String {
    let mut text = String::new();
    for (number, line) in error.message.lines().enumerate() {
        let start = if number == 0 { "error: " } else { "  " };
        text.push_str(&format!("{start}{}\n", neutralise_commands(line)));
    }
    let evidence: Vec<&str> = error.evidence.lines().collect();
    for line in evidence.iter().skip(evidence.len().saturating_sub(EVIDENCE)) {
        text.push_str(&format!("  | {}\n", single_safe_line(line, 200)));
    }
    text.push_str(&format!(" hint: {}\n", error.hint));
    text
}
