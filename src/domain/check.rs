//! A check run as a value: its text, its annotations and its conclusion.

use super::id::{CommitId, RepoPath};

/// Longest summary or text of a check run, in bytes; GitHub counts 65,535 characters.
pub const CHECK_LIMIT: usize = 65_535;

/// Longest title of a check run or annotation, in bytes.
pub const TITLE_LIMIT: usize = 255;

/// Longest comment or description, in bytes; GitHub counts 65,536 characters.
pub const COMMENT_LIMIT: usize = 65_536;

/// Maximum number of annotations sent for one check run: ten requests.
pub const ANNOTATION_LIMIT: usize = 500;

/// The complete content that a check run should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// Name of the check, by which branch rules require it.
    pub name: String,
    pub head_sha: CommitId,
    /// The session id, by which regreen recognises its own check runs.
    pub external_id: String,
    pub status: CheckStatus,
    /// The heading, one line.
    pub title: String,
    /// The text in Markdown, cut at [`CHECK_LIMIT`].
    pub summary: String,
    /// Details in Markdown, cut at [`CHECK_LIMIT`]; empty for none.
    pub text: String,
    /// URL of a page with details. GitHub replaces it for runs made with a job's token.
    pub details_url: Option<String>,
    /// All annotations in a stable order, at most [`ANNOTATION_LIMIT`].
    pub annotations: Vec<Annotation>,
}

/// Status of a check run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    Queued,
    InProgress,
    Completed(Conclusion),
}

/// How a check run ended (specification.md 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The gate was met.
    Success,
    /// The gate was not met.
    Failure,
    /// The run was stopped, or only planned.
    Neutral,
    /// A person has to act.
    ActionRequired,
}

/// A remark at lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub path: RepoPath,
    /// The first line, from 1.
    pub start_line: u32,
    pub end_line: u32,
    pub level: Level,
    /// Text of the remark, cut at [`CHECK_LIMIT`].
    pub message: String,
    /// The heading in one line, cut at 255 bytes; empty for none.
    pub title: String,
}

/// Severity of an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Notice,
    Warning,
    Failure,
}
