//! A check run as a value: what stands on it, and how it ended.

use super::id::{CommitId, RepoPath};

/// Longest summary or text of a check run, in bytes; GitHub counts 65,535 characters.
pub const CHECK_LIMIT: usize = 65_535;

/// Longest title of a check run or annotation, in bytes.
pub const TITLE_LIMIT: usize = 255;

/// Longest comment or description, in bytes; GitHub counts 65,536 characters.
pub const COMMENT_LIMIT: usize = 65_536;

/// Most annotations of one check run that are sent: ten requests.
pub const ANNOTATION_LIMIT: usize = 500;

/// A check run with everything that shall be on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRun {
    /// The name people require in branch rules.
    pub name: String,
    pub head_sha: CommitId,
    /// Ours: the session id.
    pub external_id: String,
    /// Where it is.
    pub status: CheckStatus,
    /// One line.
    pub title: String,
    /// Markdown, cut at [`CHECK_LIMIT`].
    pub summary: String,
    /// Markdown, cut at [`CHECK_LIMIT`]; empty for none.
    pub text: String,
    /// A page with more. GitHub replaces it for runs made with a job's token.
    pub details_url: Option<String>,
    /// All annotations of the run in an order that stays; what is beyond [`ANNOTATION_LIMIT`] is
    /// left out.
    pub annotations: Vec<Annotation>,
}

/// Where a check run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    /// Waiting.
    Queued,
    /// Running.
    InProgress,
    /// Done.
    Completed(Conclusion),
}

/// How a check run ended (specification.md 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Met.
    Success,
    /// Not met.
    Failure,
    /// Neither: stopped, planned.
    Neutral,
    /// A person must act.
    ActionRequired,
}

/// One remark at lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The file.
    pub path: RepoPath,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// How bad.
    pub level: Level,
    /// The remark, cut at [`CHECK_LIMIT`].
    pub message: String,
    /// One line, cut at 255 bytes; empty for none.
    pub title: String,
}

/// How bad an annotation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Notice,
    /// Worth a look.
    Warning,
    /// Broken.
    Failure,
}
