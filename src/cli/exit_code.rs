//! Maps errors and session endings to exit codes, to error text, and to the `--json` document.

use crate::app::AppError;
use crate::domain::event::Ending;
use crate::report::document::{Document, Problem};
use crate::report::phrases::single_safe_line;
use crate::report::runner_commands::neutralise_commands;

pub use crate::app::exit;

/// Number of evidence lines, counted from the last one, that are printed with an error.
const EVIDENCE: usize = 15;

/// The exit code of an error.
pub fn code_of_error(error: &AppError) -> u8 {
    error.class.exit_code()
}

/// The exit code of a session's ending.
pub fn code_of_ending(ending: Ending) -> u8 {
    if ending.is_done() { exit::MET } else { exit::NOT_MET }
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
