//! Fetch targets, pushes and errors of a remote git repository.

use std::time::Duration;

use crate::domain::id::{CommitId, SessionId};
use crate::domain::retry::Fault;

use super::GitError;

/// What to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchTarget {
    Branch(String),
    /// Any reference by its full name, such as `refs/pull/7/head`.
    Reference(String),
    Commit(CommitId),
}

/// A branch to move to a new commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRequest {
    /// The branch on the server, or another reference by its full name.
    pub branch: String,
    /// The commit at which it must be now; `None` when it must not exist.
    pub expected: Option<CommitId>,
    pub new: CommitId,
    /// The session whose commits these are.
    pub session: SessionId,
    /// Names of branches that are never pushed to, such as the default branch.
    pub protected: Vec<String>,
}

/// The result of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The branch contains the new commit, as read back from the server. It is the tip, unless
    /// somebody else pushed on top of it at once.
    Done,
    /// The branch stood at the new commit before the push.
    AlreadyThere,
    Rejected {
        /// The rule that rejected it, as far as the message says.
        by: Refuser,
        /// Message of the server, one truncated line.
        text: String,
    },
    /// Somebody else moved or created the branch; nothing was changed.
    Moved {
        /// The present tip; `None` when the branch is gone.
        now: Option<CommitId>,
    },
}

/// The result of a push with one rebase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RebasedPushOutcome {
    Plain(PushOutcome),
    /// Our commits were rebased onto `onto`.
    OnTop {
        onto: CommitId,
        tip: CommitId,
        pushed: PushOutcome,
    },
    /// Nothing was pushed: a person must decide.
    Stopped {
        /// Tip that somebody else pushed; `None` if the branch was deleted.
        now: Option<CommitId>,
        /// The reason, written by regreen; may contain untrusted file names.
        reason: String,
    },
}

/// What rejected a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuser {
    /// GitHub refuses changed workflow files to this token.
    WorkflowFiles,
    /// A protected branch or a ruleset.
    Protection,
    Hook,
    /// Secret scanning, or another rule.
    Other,
}

impl Refuser {
    /// What the reader can do next, in one imperative clause.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::WorkflowFiles => {
                "use an App token with `workflows: write`, or apply the workflow change by hand"
            }
            Self::Protection => "let regreen push to its own branch (`publish: branch`)",
            Self::Hook => "ask who runs the server's hooks",
            Self::Other => "read what the server said",
        }
    }
}

/// Why a request to the remote repository failed.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("{address} cannot be used: {reason}")]
    Address { address: String, reason: &'static str },
    /// 401: the token is unknown.
    #[error("{address} does not accept the token")]
    Unauthorized { address: String },
    #[error("{address} forbids this: {text}")]
    Forbidden {
        address: String,
        text: String,
        /// Whether the request was a write.
        writing: bool,
    },
    #[error("{address} is not there, or hidden from this token")]
    NotFound { address: String },
    #[error("{address} has moved to {to}")]
    Redirected { address: String, to: String },
    /// A rate limit: nothing was done.
    #[error("{address} limits the rate of requests{}", .wait.map_or_else(String::new, |wait| format!(" for {} s", wait.as_secs())))]
    RateLimited { address: String, wait: Option<Duration> },
    #[error("{address} answered {status}: {text}")]
    Status { address: String, status: u16, text: String },
    /// No answer, or an incomplete one.
    #[error("{address}: {reason}")]
    Connection { address: String, reason: String },
    /// A garbled answer, or the page of a proxy or of an overloaded server.
    #[error("{address} answered what is not git's protocol: {reason}")]
    Protocol { address: String, reason: String },
    /// The server does not hand out what was asked for, such as a commit it does not have.
    #[error("{address} refuses this: {text}")]
    Refused { address: String, text: String },
    /// The server cannot do what is needed, or the request cannot be made.
    #[error("{address} cannot serve this: {reason}")]
    Unsupported { address: String, reason: String },
    #[error("`{branch}` is protected and is not pushed to")]
    Protected { branch: String },
    /// The server's tip holds commits of somebody else that `new` does not contain.
    #[error("`{branch}` holds commits that are not of this session")]
    Foreign { branch: String },
    #[error("`{name}` is not on the server")]
    NoReference { name: String },
    #[error(transparent)]
    Git(#[from] GitError),
}

impl RemoteError {
    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::Address { .. } => "use an https:// address".into(),
            Self::Unauthorized { .. } => "pass a token that is valid and not expired".into(),
            Self::Forbidden { writing: true, .. } => {
                "give the job `permissions: contents: write`".into()
            }
            Self::Forbidden { .. } => "give the job `permissions: contents: read`".into(),
            Self::NotFound { .. } => {
                "check the name, and give the token `contents: read` on this repository".into()
            }
            Self::Redirected { to, .. } => format!("git remote set-url origin '{to}'"),
            Self::RateLimited { .. } => "run again after the limit".into(),
            Self::Status { status: 500.., .. } | Self::Connection { .. } => "run again".into(),
            Self::Status { .. } | Self::Protocol { .. } | Self::Unsupported { .. } => {
                "check that the address is that of a git server".into()
            }
            Self::Protected { .. } => "let regreen push to a branch of its own".into(),
            Self::Foreign { .. } => "look at them; regreen never overwrites them".into(),
            Self::Refused { .. } => "check that the commit is on the server".into(),
            Self::NoReference { .. } => "check its name on the server".into(),
            Self::Git(error) => error.hint(),
        }
    }

    /// Whether the token may not push, which the log says once, when the server first refuses it.
    pub fn is_push_denied(&self) -> bool {
        matches!(self, Self::Forbidden { writing: true, .. })
    }

    /// The kind of failure, which decides whether the request is repeated.
    pub fn fault(&self) -> Fault {
        match self {
            Self::RateLimited { wait, .. } => Fault::Limited(*wait),
            Self::Status { status: 500.., .. } => Fault::Server,
            Self::Connection { .. } | Self::Protocol { .. } | Self::Status { status: 408, .. } => {
                Fault::Broken
            }
            Self::Address { .. }
            | Self::Unauthorized { .. }
            | Self::Forbidden { .. }
            | Self::NotFound { .. }
            | Self::Redirected { .. }
            | Self::Status { .. }
            | Self::Unsupported { .. }
            | Self::Protected { .. }
            | Self::Foreign { .. }
            | Self::NoReference { .. }
            | Self::Refused { .. }
            | Self::Git(_) => Fault::Refused,
        }
    }

    /// Whether the same request may succeed a little later.
    pub fn is_transient(&self) -> bool {
        self.fault() != Fault::Refused
    }
}
