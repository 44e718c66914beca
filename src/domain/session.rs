//! `SessionRecord` (specification.md 8.2), its status, and when it can be resumed (8.11).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{Ending, Outcome};
use super::id::{CommitId, SessionId};
use super::rate::PassRate;
use super::test_plan::pipeline::{Pipeline, PipelineStep, PipelineVerdict};

/// The result of a session that failed before it changed anything; its id is free again.
pub const ABANDONED: &str = "error";

/// Default iteration limit (specification.md C-01).
pub const MAX_ITERATIONS: u32 = 10;

/// The highest iteration limit.
pub const HIGHEST_LIMIT: u32 = 50;

#[cfg(test)]
pub(crate) use tests::samples;

/// Names of the files in a session's folder (specification.md 8.1).
pub mod files {
    use std::path::{Path, PathBuf};

    use crate::domain::id::SessionId;

    /// Folder of the state root inside commits.
    pub const STATE_FOLDER: &str = ".workflow";
    /// The record of the session, as [`super::SessionRecord`].
    pub const RECORD: &str = "workflow-session.json";
    /// The options of the last run, for one that resumes the session; never in commits.
    pub const OPTIONS: &str = ".process/options.json";
    /// State of the fix loop.
    pub const LOOP: &str = ".process/iteration-state.json";
    /// State of the pipeline of a test session.
    pub const PIPELINE: &str = ".process/test-fix-state.json";
    /// All events, one per line.
    pub const EVENTS: &str = ".process/events.jsonl";
    /// All events in a bundle, one per line.
    pub const BUNDLE_EVENTS: &str = "events.jsonl";
    /// What a run has learned, in a bundle.
    pub const BUNDLED_MEMORY: &str = "memory.json";
    /// The list of tasks for people.
    pub const TODO_LIST: &str = "TODO_LIST.md";
    /// The whole change as one patch.
    pub const ALL_PATCH: &str = "patches/all.patch";
    /// How the last run ended.
    pub const OUTCOME: &str = ".process/outcome.json";
    /// Output of the last run of the whole suite.
    pub const SUITE_LOG: &str = ".process/test-output.log";
    /// The report that people read.
    pub const REPORT: &str = ".summaries/report.md";
    /// The state of an integration session, as [`crate::domain::integration::Integration`].
    pub const INTEGRATION: &str = "state.json";
    /// What an integration session found, decided and learned.
    pub const REFLECTION_LOG: &str = "reflection-log.md";
    /// The folder of everything else that an integration session writes.
    const TRACE: &str = ".trace/";

    /// The path of a file of the session in `folder`. An integration session has its log and its state
    /// there, and everything else below `.trace` (specification.md 8.1).
    pub fn file_path(folder: &Path, name: &str) -> PathBuf {
        let id = folder.file_name().map(|name| SessionId::parse(name.to_string_lossy()));
        let is_integration = id.is_some_and(|id| id.is_ok_and(|id| id.is_integration()));
        folder.join(if is_integration { integration_path(name) } else { name.to_owned() })
    }

    /// The name under which the folder of a session has a file of this name.
    pub fn stored_name(session: &SessionId, name: &str) -> String {
        if session.is_integration() { integration_path(name) } else { name.to_owned() }
    }

    /// The name of a file in the folder of an integration session.
    pub fn integration_path(name: &str) -> String {
        if [INTEGRATION, REFLECTION_LOG].contains(&name) || name.starts_with(TRACE) {
            return name.to_owned();
        }
        let name = name.strip_prefix(".process/").unwrap_or(name);
        let answer =
            name.strip_prefix("iteration-").and_then(|rest| rest.split_once("-cli-output"));
        match answer {
            Some((iteration, ending)) => format!("{TRACE}cli-{iteration}{ending}"),
            None => format!("{TRACE}{name}"),
        }
    }
}

/// What a session does, which decides how it can be continued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// Plans tests, writes them, or fixes what fails.
    #[default]
    Test,
    /// Writes characterisation tests.
    Pin,
    /// Measures the mutation score.
    Score,
    /// Writes integration tests, and fixes what they show.
    Integration,
}

display_stored_name!(SessionKind);

/// The status of a session (specification.md 5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// The session plans its tests.
    Planning,
    /// The plan is complete, and the work has not begun.
    Initialized,
    /// Running, or killed while it was running.
    Active,
    Paused,
    Completed,
    /// The gate was not met; a raised limit reopens it.
    Blocked,
}

display_stored_name!(SessionStatus);

/// State of the git repository when the session began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionGit {
    /// The merge base, when a base reference was given.
    pub base_sha: Option<CommitId>,
    pub head_sha: CommitId,
    pub branch: String,
    /// The branch the user had checked out.
    pub onto: Option<String>,
}

/// The session that a request refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SessionChoice {
    New {
        /// The id; `None` derives one from the branch or the description.
        name: Option<SessionId>,
    },
    /// The newest session that can be resumed.
    Newest,
    Resume {
        session: SessionId,
    },
}

impl SessionChoice {
    /// Whether a new session is meant.
    pub fn is_new(&self) -> bool {
        matches!(self, Self::New { .. })
    }
}

impl Default for SessionChoice {
    fn default() -> Self {
        Self::New { name: None }
    }
}

/// The session file `workflow-session.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    pub session_id: SessionId,
    /// Name of the repository's folder.
    pub project: String,
    pub description: String,
    #[serde(rename = "type", default)]
    pub kind: SessionKind,
    pub workflow_type: String,
    pub status: SessionStatus,
    /// RFC 3339, in UTC.
    pub created_at: String,
    /// RFC 3339, in UTC.
    pub resumed_at: Option<String>,
    /// Time of the end, RFC 3339.
    pub completed_at: Option<String>,
    pub max_iterations: u32,
    /// Whether a person must review the result.
    pub review_flag: bool,
    pub result: Option<String>,
    pub final_pass_rate: Option<PassRate>,
    pub mode: String,
    /// The finished session whose changes it tests; in session mode only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_session_id: Option<SessionId>,
    /// The request as the user wrote it; of a session that plans tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// State of the git repository when the session began.
    pub git: SessionGit,
}

impl SessionRecord {
    /// The record of a session that starts at `now` on the commit `head`.
    #[must_use]
    pub fn new(session_id: SessionId, head: CommitId, now: String) -> Self {
        let branch = session_id.branch();
        Self {
            session_id,
            project: String::new(),
            description: String::new(),
            kind: SessionKind::Test,
            workflow_type: "test_session".into(),
            status: SessionStatus::Active,
            created_at: now,
            resumed_at: None,
            completed_at: None,
            max_iterations: MAX_ITERATIONS,
            review_flag: false,
            result: None,
            final_pass_rate: None,
            mode: "apply".into(),
            source_session_id: None,
            input: None,
            git: SessionGit { base_sha: None, head_sha: head, branch, onto: None },
        }
    }

    /// Notes that the session continues, with a new limit if one is given.
    pub fn reopen(&mut self, limit: Option<u32>, now: String) {
        self.status = SessionStatus::Active;
        self.resumed_at = Some(now);
        self.completed_at = None;
        self.result = None;
        self.max_iterations = limit.unwrap_or(self.max_iterations);
    }

    /// Records that the session has ended.
    pub fn end(&mut self, status: SessionStatus, result: &str, now: String) {
        self.status = status;
        self.result = Some(result.to_owned());
        self.completed_at = Some(now);
    }

    /// Records how a run of the fix loop ended.
    pub fn conclude(&mut self, outcome: &Outcome, now: String) {
        let status = match outcome.result {
            Ending::Success | Ending::PartialSuccess | Ending::Planned => SessionStatus::Completed,
            Ending::Failure => SessionStatus::Blocked,
            Ending::Blocked => SessionStatus::Paused,
        };
        if status != SessionStatus::Paused {
            self.completed_at = Some(now);
        }
        self.status = status;
        self.result = Some(outcome.result.to_string());
        self.review_flag = outcome.result == Ending::PartialSuccess;
        self.final_pass_rate = outcome.last;
    }

    /// Updates status and result from the pipeline of a test session.
    pub fn rest_at(&mut self, pipeline: &Pipeline) {
        self.status = match &pipeline.next {
            PipelineStep::Finish { verdict: PipelineVerdict::Failed { .. } } => {
                SessionStatus::Blocked
            }
            PipelineStep::Finish { verdict: PipelineVerdict::Held { .. } } => SessionStatus::Paused,
            // A session whose work has begun keeps the result of the work, also where a kill came
            // between the end of its pipeline and its own.
            PipelineStep::Finish { verdict: PipelineVerdict::Generated } => return,
            _ if pipeline.works() => match self.status {
                SessionStatus::Planning | SessionStatus::Initialized => SessionStatus::Active,
                status => status,
            },
            PipelineStep::Finish { .. } | PipelineStep::Confirm => SessionStatus::Initialized,
            _ => SessionStatus::Planning,
        };
        self.result = match self.status {
            SessionStatus::Initialized => Some("planned".to_owned()),
            SessionStatus::Paused => self.result.take(),
            _ => None,
        };
    }
}

/// Why a session cannot be resumed by a request of this kind; `None` if it can.
pub fn refusal(record: &SessionRecord, kind: SessionKind, limit: Option<u32>) -> Option<String> {
    match record.kind {
        own if own == kind => {}
        SessionKind::Test => {
            let reason = format!("it fixes tests; `regreen fix --resume {}`", record.session_id);
            return Some(format!("{reason} continues it"));
        }
        SessionKind::Pin => {
            return Some("it writes characterisation tests; run `regreen pin` again".to_owned());
        }
        SessionKind::Score => {
            return Some("it measures a score; run `regreen score` again".to_owned());
        }
        SessionKind::Integration => {
            let command = format!("`regreen integration --continue {}`", record.session_id);
            return Some(format!("it writes integration tests; {command} continues it"));
        }
    }
    match record.status {
        SessionStatus::Planning | SessionStatus::Initialized => {
            Some("it plans tests; continue it with `regreen test`".to_owned())
        }
        SessionStatus::Completed => Some("it has met its gate".to_owned()),
        SessionStatus::Blocked
            if limit.is_none() && record.result.as_deref() == Some(ABANDONED) =>
        {
            Some("it ended before it changed anything".to_owned())
        }
        SessionStatus::Blocked if limit.is_none_or(|limit| limit <= record.max_iterations) => {
            Some(format!(
                "it ended without meeting its gate; reopen it with a `--max-iterations` above {}",
                record.max_iterations
            ))
        }
        SessionStatus::Active | SessionStatus::Paused | SessionStatus::Blocked => None,
    }
}

/// Finds the newest session that can be resumed on this commit, or else on any commit. `records`
/// are sorted, newest first.
/// `Err` holds index and reason of the last session that cannot be resumed, if there is one.
pub fn newest_resumable(
    records: &[SessionRecord],
    (kind, head): (SessionKind, &CommitId),
    limit: Option<u32>,
) -> Result<usize, Option<(usize, String)>> {
    let mut elsewhere = None;
    let mut why = None;
    for (index, record) in records.iter().enumerate() {
        match refusal(record, kind, limit) {
            Some(reason) => why = Some((index, reason)),
            None if record.git.head_sha == *head => return Ok(index),
            None => elsewhere = elsewhere.or(Some(index)),
        }
    }
    elsewhere.ok_or(why)
}

/// Whether this session was stopped on `head`, so that a new one there would repeat its work.
pub fn is_stopped_on(record: &SessionRecord, head: &CommitId) -> bool {
    record.kind == SessionKind::Test
        && record.git.head_sha == *head
        && matches!(record.status, SessionStatus::Active | SessionStatus::Paused)
}

/// The first of `base`, `base-2`, `base-3` … that is a valid id and not taken.
pub fn free_id(base: &str, mut is_free: impl FnMut(&SessionId) -> bool) -> SessionId {
    let mut number = 1;
    loop {
        let text = if number == 1 { base.to_owned() } else { format!("{base}-{number}") };
        if let Some(id) = SessionId::parse(text).ok().filter(&mut is_free) {
            return id;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) mod samples {
        use crate::domain::session::*;

        /// A session `WFS-test-pr-7` of ten iterations.
        pub fn record(status: SessionStatus, head: &CommitId) -> SessionRecord {
            let id = SessionId::parse("WFS-test-pr-7").unwrap();
            let record = SessionRecord::new(id, head.clone(), String::new());
            SessionRecord { project: "demo".into(), status, ..record }
        }
    }

    #[test]
    fn the_newest_session_of_this_commit_goes_before_a_newer_one_of_another() {
        use SessionStatus::{Active, Blocked, Completed, Paused};
        let commit = |digit: &str| CommitId::parse(digit.repeat(40)).unwrap();
        let (here, there) = (commit("a"), commit("b"));
        let table = [
            (vec![(Active, &there), (Paused, &here), (Active, &here)], Ok(1)),
            (vec![(Completed, &here), (Active, &there), (Paused, &there)], Ok(1)),
            (vec![(Completed, &here), (Blocked, &here)], Err(Some(1))),
            (vec![], Err(None)),
        ];
        for (sessions, expected) in table {
            let records: Vec<_> =
                sessions.iter().map(|(status, head)| samples::record(*status, head)).collect();
            let found = newest_resumable(&records, (SessionKind::Test, &here), None);
            assert_eq!(found.map_err(|why| why.map(|(index, _)| index)), expected, "{sessions:?}");
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let known = ["WFS-a", "WFS-a-2"];
        assert_eq!(free_id("WFS-a", |id| !known.contains(&id.as_str())).as_str(), "WFS-a-3");
        assert_eq!(free_id("WFS-b", |_| true).as_str(), "WFS-b");
    }

    #[test]
    fn only_a_session_that_fixes_is_resumed_and_stands_for_a_new_one() {
        let head = CommitId::parse("a".repeat(40)).unwrap();
        let table = [
            (SessionKind::Test, None),
            (SessionKind::Pin, Some("`regreen pin`")),
            (SessionKind::Score, Some("`regreen score`")),
            (SessionKind::Integration, Some("`regreen integration --continue WFS-test-pr-7`")),
        ];
        for (kind, reason) in table {
            let record = SessionRecord { kind, ..samples::record(SessionStatus::Active, &head) };
            let stored = serde_json::to_value(&record).unwrap();
            assert_eq!(stored["type"], kind.to_string());
            assert_eq!(serde_json::from_value::<SessionRecord>(stored).unwrap(), record);
            let refused = refusal(&record, SessionKind::Test, Some(50));
            assert_eq!(refused.is_none(), reason.is_none(), "{kind:?}");
            assert!(reason.is_none_or(|part| refused.unwrap().contains(part)), "{kind:?}");
            assert_eq!(is_stopped_on(&record, &head), kind == SessionKind::Test, "{kind:?}");
        }
    }

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
        let mut withdrawn = record(SessionStatus::Blocked);
        withdrawn.result = Some(ABANDONED.to_owned());
        let reason = refusal(&withdrawn, SessionKind::Test, None).unwrap();
        assert_eq!(reason, "it ended before it changed anything");
        for (status, limit, goes_on) in table {
            assert_eq!(
                refusal(&record(status), SessionKind::Test, limit).is_none(),
                goes_on,
                "{status:?} {limit:?}"
            );
        }
        // It may have ended before its first iteration.
        let reason = refusal(&record(SessionStatus::Blocked), SessionKind::Test, None).unwrap();
        assert!(!reason.contains("limit of") && reason.ends_with("above 10"), "{reason}");
    }
}
