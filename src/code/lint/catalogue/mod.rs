//! The catalogue itself. A row here and its samples in `tests/data/smells` are all that a new
//! detection of a known form needs.

mod checks;
mod issues;
mod trials;

use tree_sitter::Node;

use crate::code::language::Language::{self, Go, Java, JavaScript, Python, Rust, Tsx, TypeScript};
use crate::domain::quality::{Severity, Stage};

use super::source::Source;
use super::{Applies, Detection, Row};

const ALL: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Rust, Go, Java];
const PY: &[Language] = &[Python];
const JS: &[Language] = &[JavaScript, TypeScript, Tsx];
const TS: &[Language] = &[TypeScript, Tsx];
const RS: &[Language] = &[Rust];
const GO: &[Language] = &[Go];
const JAVA: &[Language] = &[Java];
const PY_JS: &[Language] = &[Python, JavaScript, TypeScript, Tsx];
const JS_GO: &[Language] = &[JavaScript, TypeScript, Tsx, Go];
const PY_JS_RS: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Rust];
const PY_JS_JAVA: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Java];
const PY_JS_RS_GO: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Rust, Go];
const PY_JS_GO_JAVA: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Go, Java];
const NOT_SCRIPT: &[Language] = &[Python, TypeScript, Tsx, Rust, Go, Java];

/// A row about product code.
const fn code(
    id: &'static str,
    category: &'static str,
    severity: Severity,
    issue: &'static str,
    detection: Detection,
    suggestion: &'static str,
) -> Row {
    let (stage, applies) = (Stage::Code, Applies::Code);
    Row { id, stage, category, issue, severity, applies, detection, suggestion, fixable: false }
}

const fn both(mut row: Row) -> Row {
    row.applies = Applies::Both;
    row
}

const fn fixable(mut row: Row) -> Row {
    row.fixable = true;
    row
}

/// A row about tests.
const fn test(
    id: &'static str,
    category: &'static str,
    severity: Severity,
    issue: &'static str,
    detection: Detection,
    suggestion: &'static str,
) -> Row {
    let row = code(id, category, severity, issue, detection, suggestion);
    Row { stage: Stage::Tests, applies: Applies::Tests, ..row }
}

/// Every row, in the order of the documentation.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    checks::ROWS.iter().chain(issues::ROWS).chain(trials::ROWS)
}

/// Product code proper, not a helper for tests that lies beside it.
fn proper<'a>(source: &Source<'a>, _: Node<'a>) -> bool {
    !source.is_support()
}
