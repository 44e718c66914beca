//! Results of the project's own type checkers, linters, formatters and automatic fixers.

use std::collections::BTreeMap;

use crate::domain::id::RepoPath;
use crate::domain::quality::Remark;

/// What a tool checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// Types and compilation.
    Types,
    /// The project's lint rules.
    Rules,
    /// Formatting.
    Format,
}

/// Remarks of the tools, and tools that gave no result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintReport {
    /// Remarks, with the concern that the tool checks.
    pub remarks: Vec<(Concern, Remark)>,
    /// Names of the tools that were started, whether or not they gave a result.
    pub started: Vec<String>,
    /// Tools that did not run or gave no result, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Changes that the project's own safe fixers would make.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedFiles {
    /// The new text of each file that they would change.
    pub texts: BTreeMap<RepoPath, String>,
    /// Names of the fixers that changed something, in the order in which they ran.
    pub tools: Vec<String>,
    /// Fixers that gave no result, with the reason.
    pub skipped: Vec<(String, String)>,
}
