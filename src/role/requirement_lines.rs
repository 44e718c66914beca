//! Formats requirements as lines of a prompt.

use crate::domain::test_plan::requirement::Requirement;

/// Formats requirements for a prompt, one per line.
pub fn requirement_lines(list: &[&Requirement]) -> String {
    list.iter()
        .map(|one| format!("{} {} (line {}): {}\n", one.id, one.layer, one.line, one.text))
        .collect()
}
