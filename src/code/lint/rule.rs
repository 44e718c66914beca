//! Defines [`LintRule`]: the id, severity, texts and detection of one rule of the catalogue.

use tree_sitter::Node;

pub use crate::code::language::{GO, JAVA, JS, PY, RS};

use crate::code::language::Language::{self, Go, Java, JavaScript, Python, Rust, Tsx, TypeScript};
use crate::domain::id::RepoPath;
use crate::domain::quality::{Finding, Severity, Stage};

use super::source::{Hit, Source};

pub const ALL: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Rust, Go, Java];
pub const PY_JS: &[Language] = &[Python, JavaScript, TypeScript, Tsx];
pub const JS_GO: &[Language] = &[JavaScript, TypeScript, Tsx, Go];
pub const JS_RS_GO: &[Language] = &[JavaScript, TypeScript, Tsx, Rust, Go];
pub const PY_JS_RS: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Rust];
pub const PY_JS_RS_GO: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Rust, Go];
pub const PY_JS_JAVA: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Java];
pub const PY_JS_GO: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Go];
pub const PY_JS_GO_JAVA: &[Language] = &[Python, JavaScript, TypeScript, Tsx, Go, Java];
pub const NOT_SCRIPT: &[Language] = &[Python, TypeScript, Tsx, Rust, Go, Java];

/// The kind of code that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppliesTo {
    Code,
    Tests,
    Both,
}

/// Tree-sitter patterns with their languages; the capture `@here` marks the node to report.
pub type Patterns = &'static [(&'static [Language], &'static str)];

/// How violations of a rule are detected.
#[derive(Clone, Copy)]
pub enum Detection {
    /// By tree-sitter patterns, filtered by a function for what patterns cannot express.
    Query(Patterns, for<'a> fn(&Source<'a>, Node<'a>) -> bool),
    Function(&'static [Language], for<'a> fn(&Source<'a>) -> Vec<Hit>),
    /// By parsing: the file has a syntax error.
    Syntax(&'static [Language]),
    /// By the project's own compiler, type checker, linter or formatter, for the listed languages.
    Tool(&'static [Language]),
}

/// A rule of the catalogue.
pub struct LintRule {
    /// Its name, which reports, baselines and tests refer to.
    pub id: &'static str,
    pub stage: Stage,
    pub category: &'static str,
    /// The problem, as a sentence fragment.
    pub issue: &'static str,
    pub severity: Severity,
    /// The kind of code that it is about.
    pub applies: AppliesTo,
    pub detection: Detection,
    /// How to resolve a finding, as one imperative clause.
    pub suggestion: &'static str,
    /// Whether the project's own fixers and formatters can repair it.
    pub fixable: bool,
    /// The codes by which other tools report it, and message phrases of compilers without codes.
    pub codes: &'static [&'static str],
}

/// Builds a rule about product code: category and id, severity, problem, remedy, detection.
pub const fn code_rule(
    (category, id): (&'static str, &'static str),
    severity: Severity,
    (issue, suggestion): (&'static str, &'static str),
    detection: Detection,
) -> LintRule {
    LintRule {
        id,
        stage: Stage::Code,
        category,
        issue,
        severity,
        applies: AppliesTo::Code,
        detection,
        suggestion,
        fixable: false,
        codes: &[],
    }
}

/// Builds a rule about test code.
pub const fn test_rule(
    names: (&'static str, &'static str),
    severity: Severity,
    texts: (&'static str, &'static str),
    detection: Detection,
) -> LintRule {
    let rule = code_rule(names, severity, texts, detection);
    LintRule { stage: Stage::Tests, applies: AppliesTo::Tests, ..rule }
}

/// Builds a rule about both product code and test code.
pub const fn rule_for_all(
    names: (&'static str, &'static str),
    severity: Severity,
    texts: (&'static str, &'static str),
    detection: Detection,
) -> LintRule {
    LintRule { applies: AppliesTo::Both, ..code_rule(names, severity, texts, detection) }
}

impl LintRule {
    /// The languages that it applies to.
    pub fn languages(&self) -> Vec<Language> {
        match self.detection {
            Detection::Query(list, _) => {
                list.iter().flat_map(|(languages, _)| languages.iter().copied()).collect()
            }
            Detection::Function(list, _) | Detection::Syntax(list) | Detection::Tool(list) => {
                list.to_vec()
            }
        }
    }

    /// Builds a finding of this rule; `note` adds details to the rule's own text and may be empty.
    pub fn finding(&self, file: &RepoPath, line: u32, note: &str) -> Finding {
        let message =
            if note.is_empty() { self.issue.to_owned() } else { format!("{}: {note}", self.issue) };
        Finding {
            stage: self.stage,
            id: self.id.into(),
            category: self.category.into(),
            severity: self.severity,
            file: file.clone(),
            line,
            message,
            suggestion: self.suggestion.into(),
            auto_fixable: false,
        }
    }
}
