//! `Diagnostic`: one problem in a configuration file, with its position and the source line.

use std::fmt;

/// One problem in a configuration file, displayed like a compiler error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Path of the file, or the flag or input that set the value.
    pub file: String,
    /// Line, from 1; 0 for a flag or an input, which has no lines.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what was expected.
    pub message: String,
    /// The source line, displayed above the caret.
    pub source: String,
}

impl Diagnostic {
    /// File, line, column and message for a workflow annotation, not yet escaped.
    pub fn annotation(&self) -> (&str, usize, usize, &str) {
        (&self.file, self.line, self.column, &self.message)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return write!(f, "{}: {}\n  | {}", self.file, self.message, self.source);
        }
        writeln!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        writeln!(f, "  | {}", self.source)?;
        write!(f, "  | {}^", " ".repeat(self.column.saturating_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_annotation_has_the_place() {
        let problems = crate::config::parse("gate:\n  target: 0\n", "regreen.yml").unwrap_err();
        let expected = ("regreen.yml", 2, 3, "`target` is a whole number from 1 to 100");
        assert_eq!(problems[0].annotation(), expected);
    }
}
