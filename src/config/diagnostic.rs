//! What is wrong, where, and what was expected.

use std::fmt;

/// One problem of a configuration file, shown like a compiler shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what was expected.
    pub message: String,
    /// The line itself.
    pub source: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        writeln!(f, "  | {}", self.source)?;
        write!(f, "  | {}^", " ".repeat(self.column.saturating_sub(1)))
    }
}
