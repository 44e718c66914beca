//! The record of a session (product.md 8.2) and when one can be resumed (8.13).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::id::{CommitId, SessionId};
use super::rate::PassRate;

/// Where a session stands (product.md 5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// Its tests are being planned.
    Planning,
    /// Its plan is there and waits for the work.
    Initialized,
    /// At work, or killed while it was.
    Active,
    /// Stopped at a checkpoint.
    Paused,
    /// The gate was met.
    Completed,
    /// The gate was not met; a raised limit reopens it.
    Blocked,
}

/// Git as the session found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionGit {
    /// The merge base, when a base reference was given.
    pub base_sha: Option<CommitId>,
    /// The commit under test.
    pub head_sha: CommitId,
    /// The fix branch.
    pub branch: String,
    /// The branch the user had checked out.
    pub onto: Option<String>,
}

/// Which session a request means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SessionChoice {
    /// A new session.
    New {
        /// Its id; `None` derives one from the branch or the description.
        name: Option<SessionId>,
    },
    /// The newest session that can be resumed.
    Newest,
    /// The session with this id.
    Resume {
        /// The id.
        session: SessionId,
    },
}

impl SessionChoice {
    /// Whether a new session is meant.
    #[must_use]
    pub fn is_new(&self) -> bool {
        matches!(self, Self::New { .. })
    }
}

impl Default for SessionChoice {
    fn default() -> Self {
        Self::New { name: None }
    }
}

/// `workflow-session.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    /// Its id.
    pub session_id: SessionId,
    /// Name of the repository's folder.
    pub project: String,
    /// What it is for.
    pub description: String,
    /// Always `test`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Always `test_session`.
    pub workflow_type: String,
    /// Where it stands.
    pub status: SessionStatus,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub resumed_at: Option<String>,
    /// RFC 3339; when it ended.
    pub completed_at: Option<String>,
    /// Iteration limit.
    pub max_iterations: u32,
    /// Whether a person must look before it counts.
    pub review_flag: bool,
    /// How it ended.
    pub result: Option<String>,
    /// The last rate.
    pub final_pass_rate: Option<PassRate>,
    /// `apply`, `suggest` or `dry-run`.
    pub mode: String,
    /// The finished session whose work it tests; in session mode only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_session_id: Option<SessionId>,
    /// What was asked for, as it was said; of a session that plans tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Git as it found it.
    pub git: SessionGit,
}

/// Why a session cannot go on; `None` when it can.
#[must_use]
pub fn refusal(record: &SessionRecord, limit: Option<u32>) -> Option<String> {
    match record.status {
        SessionStatus::Planning | SessionStatus::Initialized => {
            Some("it plans tests; `regreen test` goes on with it".to_owned())
        }
        SessionStatus::Completed => Some("it has met its gate".to_owned()),
        SessionStatus::Blocked if limit.is_none_or(|limit| limit <= record.max_iterations) => {
            Some(format!(
                "it has ended at its limit of {} iterations; a higher `--max-iterations` reopens it",
                record.max_iterations
            ))
        }
        SessionStatus::Active | SessionStatus::Paused | SessionStatus::Blocked => None,
    }
}

#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// A session `WFS-test-pr-7` of ten iterations.
    pub fn record(status: SessionStatus, head: &CommitId) -> SessionRecord {
        SessionRecord {
            session_id: SessionId::parse("WFS-test-pr-7").unwrap(),
            project: "demo".into(),
            description: String::new(),
            kind: "test".into(),
            workflow_type: "test_session".into(),
            status,
            created_at: String::new(),
            resumed_at: None,
            completed_at: None,
            max_iterations: 10,
            review_flag: false,
            result: None,
            final_pass_rate: None,
            mode: "apply".into(),
            source_session_id: None,
            input: None,
            git: SessionGit {
                base_sha: None,
                head_sha: head.clone(),
                branch: "regreen/WFS-test-pr-7".into(),
                onto: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_goes_on_unless_it_ended() {
        let head = CommitId::parse("a".repeat(40)).unwrap();
        let record = |status| samples::record(status, &head);
        let table = [
            (SessionStatus::Planning, Some(20), false),
            (SessionStatus::Initialized, None, false),
            (SessionStatus::Active, None, true),
            (SessionStatus::Paused, None, true),
            (SessionStatus::Completed, Some(20), false),
            (SessionStatus::Blocked, None, false),
            (SessionStatus::Blocked, Some(10), false),
            (SessionStatus::Blocked, Some(11), true),
        ];
        for (status, limit, goes_on) in table {
            assert_eq!(refusal(&record(status), limit).is_none(), goes_on, "{status:?} {limit:?}");
        }
    }
}
