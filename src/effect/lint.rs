//! What the project's own type checkers, linters and formatters say of a checkout.

use std::collections::BTreeMap;

use crate::domain::id::RepoPath;
use crate::domain::quality::Remark;

/// What a tool is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// Do the types fit, does it build?
    Types,
    /// Are the project's own rules kept?
    Rules,
    /// Which files are not formatted?
    Format,
}

/// What the tools said, and what could not be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintReport {
    /// Remarks, with what they are about.
    pub remarks: Vec<(Concern, Remark)>,
    /// Names of the tools that were asked.
    pub asked: Vec<String>,
    /// Tools that were not asked or did not answer, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// What the project's own safe fixers make of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedFiles {
    /// The new text of each file that they would change.
    pub texts: BTreeMap<RepoPath, String>,
    /// Names of those that changed something, in the order in which they ran.
    pub tools: Vec<String>,
    /// Fixers that did not answer, with the reason.
    pub skipped: Vec<(String, String)>,
}
