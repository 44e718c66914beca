//! Snapshots of sessions under `refs/regreen/sessions`: the events of each session, and the state of
//! one without a commit, so that another machine can continue it (specification.md 2.4, 8.10).

use std::path::PathBuf;
use std::time::Duration;

use globset::GlobSet;
use sha2::{Digest, Sha256};

use crate::adapter::host::files;
use crate::adapter::repo::{Bounds, RepositoryFacts, SessionFiles};
use crate::adapter::{state_root, store};
use crate::domain::event::{Ending, Event};
use crate::domain::id::{CommitId, SessionId, TreeId};
use crate::domain::integration::{Integration, IntegrationStep, Phase};
use crate::domain::session::SessionRecord;
use crate::domain::session::files::{
    EVENTS as STORED_EVENTS, INTEGRATION, LOOP, PIPELINE, RECORD, stored_name,
};
use crate::domain::test_plan::generation::{GENERATION_FILE, Generation};
use crate::domain::test_plan::pipeline::{Pipeline, PipelineStep, PipelineVerdict};
use crate::domain::test_plan::plan::{RESULTS, TestPlan};
use crate::domain::test_plan::task::TaskKind;
use crate::effect::{FetchTarget, PushOutcome, PushRequest, RemoteError};
use crate::report::integration::design_comment;
use crate::report::planning;
use crate::role::vet;

use super::context::Context;
use super::prepare::{PrepareError, Prepared};
use super::throttle::{PACE_VARIABLE, Throttle};
use super::worker::{self, EVENTS};

/// Largest events of a snapshot, in bytes.
const EVENTS_LIMIT: usize = 4 << 20;

/// Largest state of a snapshot, in bytes.
const STATE_LIMIT: usize = 16 << 20;

/// What is received of a snapshot at most, and how large its objects may be when they are unpacked.
/// Besides events and state it has new sources, of which none is larger than what GitHub takes.
const RECEIVED: usize = 128 << 20;
const BOUNDS: Bounds = Bounds { object: 100 << 20, all: 512 << 20 };

/// Folder of the session's files in a snapshot.
const STATE: &str = "state";

/// Least time between two snapshots.
const PACE: Duration = Duration::from_secs(15);

/// The reference of a session's snapshot. It is not a branch, so the forge does not list it.
fn reference(session: &SessionId) -> String {
    format!("refs/regreen/sessions/{session}")
}

/// What a snapshot holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSnapshot {
    /// Events as JSON lines.
    pub events: Vec<u8>,
    /// Files of the session folder; empty when the fix branch carries them.
    pub state: SessionFiles,
    /// Sources with written tests that are not committed yet.
    pub sources: Option<TreeId>,
}

/// Saves a snapshot on the server; an error means that the old one still holds.
pub async fn save(
    prepared: &Prepared,
    session: &SessionId,
    snapshot: &SessionSnapshot,
) -> Result<(), PrepareError> {
    let before = snapshot_commit(prepared, session).await?;
    save_on(prepared, session, snapshot, before).await
}

/// Saves a snapshot that was made from that at `before`; an error when another run saved one since.
pub async fn save_on(
    prepared: &Prepared,
    session: &SessionId,
    snapshot: &SessionSnapshot,
    before: Option<CommitId>,
) -> Result<(), PrepareError> {
    let branch = reference(session);
    let mut list = vec![(EVENTS.to_owned(), snapshot.events.clone())];
    let state = snapshot.state.iter();
    list.extend(state.map(|(name, bytes)| (format!("{STATE}/{name}"), bytes.clone())));
    let sources = snapshot.sources.as_ref();
    let not_saved = |reason: String, hint| {
        Err(PrepareError::NotSaved { session: session.clone(), reason, hint })
    };
    let holds_token = |bytes: &[u8]| prepared.redactor.finds(&String::from_utf8_lossy(bytes));
    if list.iter().any(|(_, bytes)| holds_token(bytes)) {
        let hint = "look for the test that shows it";
        return not_saved("its files show the token of this job".into(), hint);
    }
    let new = prepared.clone.record(session, &list, sources, before.as_ref())?;
    let request =
        PushRequest { branch, expected: before, new, session: session.clone(), protected: vec![] };
    match prepared.remote.push(&request).await? {
        PushOutcome::Done | PushOutcome::AlreadyThere => Ok(()),
        PushOutcome::Rejected { by, text } => not_saved(text, by.hint()),
        PushOutcome::Moved { .. } => {
            not_saved("another run saved it meanwhile".into(), "repeat the command when it ends")
        }
    }
}

/// The commit of the snapshot of a session, fetched; `None` without a snapshot.
pub async fn snapshot_commit(
    prepared: &Prepared,
    session: &SessionId,
) -> Result<Option<CommitId>, PrepareError> {
    let reference = reference(session);
    let Some(tip) = prepared.remote.head_of(&reference).await? else { return Ok(None) };
    let remote = prepared.remote.bounded(RECEIVED, BOUNDS);
    match remote.fetch(&FetchTarget::Commit(tip.clone()), Some(1)).await {
        Ok(_) => Ok(Some(tip)),
        // Whoever may push may have put anything there.
        Err(RemoteError::Git(error)) => {
            let reason = error.to_string();
            Err(PrepareError::Snapshot { session: session.clone(), reason, reference })
        }
        Err(error) => Err(error.into()),
    }
}

/// The events of a session as JSON lines, from its snapshot or else its branch at `tip`.
pub async fn events(
    prepared: &Prepared,
    session: &SessionId,
    tip: Option<&CommitId>,
) -> Result<Vec<u8>, PrepareError> {
    if let Some(snapshot) = snapshot_commit(prepared, session).await?
        && let Some(bytes) = prepared.clone.file_within(&snapshot, EVENTS, EVENTS_LIMIT)?
    {
        return Ok(bytes);
    }
    tip.map_or_else(|| Ok(Vec::new()), |tip| events_at(prepared, session, tip))
}

/// The events of a session in its own files at or below a commit; empty without any.
pub fn events_at(
    prepared: &Prepared,
    session: &SessionId,
    tip: &CommitId,
) -> Result<Vec<u8>, PrepareError> {
    let files = prepared.clone.session_at(tip, store::STATE_FOLDER, session)?;
    let name = stored_name(session, STORED_EVENTS);
    let found = files.into_iter().flatten().find(|(known, _)| *known == name);
    Ok(found.map(|(_, bytes)| bytes).unwrap_or_default())
}

/// A session that plans or writes tests and has no commit yet.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingSession {
    pub session: SessionId,
    pub record: SessionRecord,
    /// Its progress, when it tests a task.
    pub pipeline: Option<Pipeline>,
    /// Its progress, when it tests the boundaries of a module.
    pub integration: Option<Integration>,
    pub plan: Option<TestPlan>,
    pub files: SessionFiles,
}

impl PendingSession {
    /// The plan or the design for people who decide on it; `None` before there is one.
    pub fn describe_plan(&self) -> Option<String> {
        let design = self.integration.as_ref().and_then(design_comment);
        design.or_else(|| self.plan.as_ref().map(planning::plan_comment))
    }

    /// What the gates criticise in written tests, which hold the suite back until a person approves.
    pub fn held(&self) -> Option<&[String]> {
        match &self.pipeline.as_ref()?.next {
            PipelineStep::Finish { verdict: PipelineVerdict::Held { reasons } } => Some(reasons),
            _ => None,
        }
    }

    /// Whether there is something to plan, to write, to run or to confirm.
    pub fn has_more_to_do(&self) -> bool {
        use PipelineVerdict::{Failed, Generated, Held, NothingMissing, Planned};
        if let Some(state) = &self.integration {
            return state.checkpoint.next != IntegrationStep::Finish;
        }
        match self.pipeline.as_ref().map(|pipeline| &pipeline.next) {
            Some(PipelineStep::Finish { verdict }) => match verdict {
                Planned | Held { .. } => true,
                NothingMissing | Generated | Failed { .. } => false,
            },
            _ => true,
        }
    }
}

/// The state in the snapshot of a session; `None` when it cannot be continued.
pub async fn pending(
    prepared: &Prepared,
    session: &SessionId,
) -> Result<Option<PendingSession>, PrepareError> {
    let Some(snapshot) = snapshot_commit(prepared, session).await? else { return Ok(None) };
    let files = prepared.clone.files_below(&snapshot, STATE, STATE_LIMIT)?;
    Ok(files.and_then(|files| parse(session, files)))
}

/// Whether a session has a snapshot.
pub async fn exists(prepared: &Prepared, session: &SessionId) -> Result<bool, PrepareError> {
    Ok(prepared.remote.head_of(&reference(session)).await?.is_some())
}

/// Parses the state files of a session. An unreadable file counts as missing.
pub fn parse(session: &SessionId, files: SessionFiles) -> Option<PendingSession> {
    let of = |name: &str| {
        let name = stored_name(session, name);
        files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes)
    };
    let record: SessionRecord = serde_json::from_slice(of(RECORD)?).ok()?;
    let (mut pipeline, mut integration) = (None::<Pipeline>, None::<Integration>);
    let id = if session.is_integration() {
        let state = serde_json::from_slice(of(INTEGRATION)?).ok()?;
        &integration.insert(state).session_id
    } else {
        let state = serde_json::from_slice(of(PIPELINE)?).ok()?;
        &pipeline.insert(state).session_id
    };
    if record.session_id != *session || id != session {
        return None;
    }
    let plan = of(&format!("{RESULTS}.json"));
    let plan = plan.and_then(|bytes| serde_json::from_slice::<TestPlan>(bytes).ok());
    let plan = plan.and_then(|plan| {
        let task = |kind: TaskKind| serde_json::from_slice(of(kind.file())?).ok();
        let tasks: Option<Vec<_>> = TaskKind::ALL.into_iter().map(task).collect();
        Some(TestPlan { tasks: tasks?, ..plan })
    });
    Some(PendingSession { session: session.clone(), record, pipeline, integration, plan, files })
}

/// Writes the files of a session to this machine, for a worker to continue it.
pub fn restore(facts: &RepositoryFacts, pending: &PendingSession) -> Result<(), String> {
    let opened = store::SessionStore::open(&state_root(facts), &pending.session);
    let restored = opened.and_then(|store| store.restore(&files_to_restore(pending)));
    restored.map_err(|error| error.to_string())
}

/// A session's files, before its commits if the server lacks those, so that it commits again.
fn files_to_restore(pending: &PendingSession) -> SessionFiles {
    let mut files = pending.files.clone();
    let (name, text) = match (&pending.pipeline, &pending.integration) {
        (Some(pipeline), _) if pipeline.next == PipelineStep::Execute => {
            let pipeline = Pipeline { next: PipelineStep::Keep, ..pipeline.clone() };
            (PIPELINE, serde_json::to_vec_pretty(&pipeline))
        }
        (_, Some(state)) if state.checkpoint.commit.is_some() => {
            let mut state = state.clone();
            (state.checkpoint.next, state.checkpoint.commit) = (IntegrationStep::Commit, None);
            (INTEGRATION, serde_json::to_vec_pretty(&state))
        }
        _ => return files,
    };
    let of = |name: &str| stored_name(&pending.session, name);
    files.retain(|(known, _)| *known != of(LOOP) && *known != of(name));
    files.extend(text.ok().map(|text| (of(name), text)));
    files
}

/// The state files of a session on this machine.
pub fn local_files(facts: &RepositoryFacts, session: &SessionId) -> Option<SessionFiles> {
    store::committed_files(&store::session_folder(&state_root(facts), session)).ok()
}

/// The events of a run that later commands need.
pub struct EventLines {
    /// JSON lines; none if they are unreadable or too long.
    pub lines: Vec<u8>,
    /// Whether every test passed at once, so that there is nothing to continue and nothing to show.
    pub green: bool,
}

/// The events in a bundle.
pub fn event_lines(bundle: &std::path::Path) -> EventLines {
    let bytes = files::read(&bundle.join(EVENTS), worker::EVENTS_LIMIT).ok().flatten();
    let mut bytes = bytes.unwrap_or_default();
    let events = worker::whole_lines(&mut bytes);
    let green = is_green_from_the_start(&events);
    let lines: Vec<String> = events
        .iter()
        .filter(|event| !matches!(event, Event::Progress { .. } | Event::Step { .. }))
        .filter_map(|event| serde_json::to_string(event).ok())
        .collect();
    let text = lines.join("\n") + "\n";
    let usable = text.len() <= EVENTS_LIMIT && !lines.is_empty();
    EventLines { lines: if usable { text.into_bytes() } else { Vec::new() }, green }
}

/// Whether every test passed before any change, and no test was written.
fn is_green_from_the_start(events: &[Event]) -> bool {
    events.iter().all(|event| match event {
        Event::Baseline { rate, failing, preexisting, .. } => {
            rate.is_full() && failing.is_empty() && preexisting.is_empty()
        }
        Event::Closed(outcome) => outcome.result == Ending::Success,
        Event::Tasks { .. } | Event::TestsWritten { .. } | Event::IterationStarted { .. } => false,
        _ => true,
    }) && events.iter().any(|event| matches!(event, Event::Closed(_)))
}

/// Saves snapshots of a session that plans or writes tests while it works.
pub struct SessionMirror {
    session: SessionId,
    head: CommitId,
    folder: PathBuf,
    bundle: PathBuf,
    protect: GlobSet,
    digest: Vec<u8>,
    /// Length of the saved events in bytes.
    events: usize,
    throttle: Throttle,
    /// The state of the session when it was last read.
    pub latest: Option<PendingSession>,
    /// A notice for the comment.
    pub notice: Option<String>,
}

impl SessionMirror {
    /// A mirror without a snapshot so far.
    pub fn new(
        context: &Context<'_>,
        session: &SessionId,
        facts: &RepositoryFacts,
        bundle: PathBuf,
        protect: GlobSet,
    ) -> Self {
        Self {
            session: session.clone(),
            head: context.target.head.clone(),
            folder: store::session_folder(&state_root(facts), session),
            bundle,
            protect,
            digest: Vec::new(),
            events: 0,
            throttle: Throttle::new(context.env, PACE_VARIABLE, PACE),
            latest: None,
            notice: None,
        }
    }

    /// Reads the state of the session.
    fn refresh(&mut self) {
        let found = store::committed_files(&self.folder).ok();
        // A module that nobody explored may be none, and its session is deleted again.
        let is_new = |state: &Integration| state.phase == Phase::Init;
        if let Some(pending) = found.and_then(|files| parse(&self.session, files))
            && !pending.integration.as_ref().is_some_and(is_new)
        {
            self.latest = Some(pending);
        }
    }

    /// Saves a changed snapshot at the pace, or if it is the `last` time; failures are retried.
    pub async fn save_if_changed(&mut self, context: &Context<'_>, last: bool) {
        let now = context.clock.elapsed();
        if !last && !self.throttle.is_due(now) {
            return;
        }
        self.throttle.record(now);
        self.refresh();
        let Some(pending) = &self.latest else { return };
        let digest = digest(&pending.files);
        let events = event_lines(&self.bundle).lines;
        // The state ends before the events do, which the last snapshot must hold to their end.
        if digest == self.digest && (!last || events.len() == self.events) {
            return;
        }
        let size: usize = pending.files.iter().map(|(_, bytes)| bytes.len()).sum();
        if size > STATE_LIMIT {
            self.notice = Some("the state of this session could not be saved".into());
            return;
        }
        let length = events.len();
        let snapshot = SessionSnapshot {
            events,
            sources: self.sources(context, pending),
            state: pending.files.clone(),
        };
        match save(context.prepared, &self.session, &snapshot).await {
            Ok(()) => (self.digest, self.events) = (digest, length),
            Err(error) if error.is_push_denied() => {}
            Err(error) => tracing::warn!(%error, "the state of the session is saved later"),
        }
    }

    /// The sources with new tests; `None` without any, or when they may not be published.
    fn sources(&self, context: &Context<'_>, pending: &PendingSession) -> Option<TreeId> {
        let tree = if let Some(state) = &pending.integration {
            state.test_inventory.as_ref().map(|_| state.checkpoint.tree.clone())?
        } else {
            let file = pending.files.iter().find(|(name, _)| name == GENERATION_FILE)?;
            serde_json::from_slice::<Generation>(&file.1).ok()?.tree
        };
        let diff = context.prepared.clone.diff(&self.head, &tree, store::STATE_FOLDER);
        let limits = vet::VetContext {
            protect: &self.protect,
            state_root: store::STATE_FOLDER,
            redactor: &context.prepared.redactor,
            reach: context.prepared.settings.scope().reach_of_session(),
        };
        let broken = vet::published(&diff.ok()?, &limits);
        broken.is_empty().then_some(tree)
    }
}

fn digest(files: &SessionFiles) -> Vec<u8> {
    let mut hash = Sha256::new();
    for (name, bytes) in files {
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    hash.finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::budget::Spending;
    use crate::domain::event::Outcome;
    use crate::domain::integration::{Checkpoint, IntegrationGoal};
    use crate::domain::rate::PassRate;
    use crate::domain::session::{SessionStatus, samples};
    use crate::domain::test_plan::pipeline::{ConfirmPlan, Goal};
    use crate::domain::test_plan::plan_input::PlanInput;
    use crate::domain::test_plan::plan_run::PlanRun;

    fn files(next: PipelineStep) -> SessionFiles {
        let head = CommitId::parse("a".repeat(40)).unwrap();
        let record = samples::record(SessionStatus::Active, &head);
        let entry = PlanInput::Text("x".into());
        let id = record.session_id.clone();
        let pipeline = Pipeline::new(id, entry, "x".into(), Goal::Test, ConfirmPlan::Never);
        let pipeline = Pipeline { next, ..pipeline };
        vec![
            (RECORD.into(), serde_json::to_vec(&record).unwrap()),
            (PIPELINE.into(), serde_json::to_vec(&pipeline).unwrap()),
            (LOOP.into(), b"{}".to_vec()),
        ]
    }

    #[test]
    fn integration_tests_that_did_not_reach_the_server_are_committed_again() {
        use IntegrationStep::{Commit, Confirm, Finish, Iterate, Validate};
        let session = SessionId::parse("ITG-pr-7").unwrap();
        let id = CommitId::parse("a".repeat(40)).unwrap();
        let record = SessionRecord::new(session.clone(), id.clone(), "2026-01-02".into());
        let laid = |next: IntegrationStep, commit: Option<CommitId>| {
            let (goal, tree) = (IntegrationGoal::Test, TreeId::parse("b".repeat(40)).unwrap());
            let checkpoint =
                Checkpoint { next, goal, confirm: true, tree, commit, events: 0, transitions: 0 };
            let subject = ("shop".into(), "2026-01-02".into());
            let state = Integration::new(session.clone(), subject, 10, checkpoint);
            vec![
                (".trace/workflow-session.json".to_owned(), serde_json::to_vec(&record).unwrap()),
                (".trace/iteration-state.json".to_owned(), b"{}".to_vec()),
                ("state.json".to_owned(), serde_json::to_vec(&state).unwrap()),
            ]
        };
        let table = [
            (Confirm, None, Confirm, 3, true),
            (Validate, None, Validate, 3, true),
            (Iterate, Some(id), Commit, 2, true),
            (Finish, None, Finish, 3, false),
        ];
        for (next, commit, expected, number, has_more) in table {
            let pending = parse(&session, laid(next, commit)).expect("a session");
            assert_eq!(pending.has_more_to_do(), has_more, "{next:?}");
            let files = files_to_restore(&pending);
            assert_eq!(files.len(), number, "{next:?}");
            let restored = parse(&session, files).expect("a session");
            let checkpoint = &restored.integration.expect("a state").checkpoint;
            assert_eq!((checkpoint.next, checkpoint.commit.as_ref()), (expected, None));
        }
        let other = SessionId::parse("ITG-pr-8").unwrap();
        assert_eq!(parse(&other, laid(Confirm, None)), None, "of another session");
    }

    #[test]
    fn commits_that_did_not_reach_the_server_are_made_again() {
        let session = SessionId::parse("WFS-test-pr-7").unwrap();
        let laid = |next: PipelineStep| {
            let pending = parse(&session, files(next)).expect("a session");
            let files = files_to_restore(&pending);
            let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
            (parse(&session, files).expect("a session").pipeline.expect("a pipeline").next, names)
        };
        let (next, names) = laid(PipelineStep::Execute);
        assert_eq!(
            (next, names),
            (PipelineStep::Keep, vec![RECORD.to_owned(), PIPELINE.to_owned()])
        );
        for step in [
            PipelineStep::Generate,
            PipelineStep::Review,
            PipelineStep::Keep,
            PipelineStep::Confirm,
        ] {
            let (next, names) = laid(step.clone());
            assert_eq!((next, names.len()), (step, 3));
        }
    }

    #[test]
    fn a_session_that_was_green_from_the_start_leaves_no_events() {
        let rate = |passed| PassRate::of(passed, 2).unwrap();
        let baseline = |passed, preexisting| Event::Baseline {
            rate: rate(passed),
            failing: Vec::new(),
            flaky: Vec::new(),
            preexisting,
        };
        let closed = |result| {
            let folder = "/r".to_owned();
            let rest = planning::Rest { branch: String::new(), folder, took: Duration::ZERO };
            let id = SessionId::parse("WFS-test-x").unwrap();
            let entry = PlanInput::Text("x".into());
            let state = Pipeline::new(id, entry, "x".into(), Goal::Test, ConfirmPlan::Never);
            let run = PlanRun {
                state,
                plan: None,
                spending: Spending::default(),
                halted: None,
                reopening_limit: None,
            };
            Event::Closed(Box::new(Outcome { result, ..planning::plan_outcome(&run, rest) }))
        };
        let table = [
            ("green", vec![baseline(2, vec![]), closed(Ending::Success)], false),
            ("no end yet", vec![baseline(2, vec![])], true),
            ("red", vec![baseline(1, vec![]), closed(Ending::Success)], true),
            ("old", vec![baseline(2, vec!["a".into()]), closed(Ending::Success)], true),
            ("flaky", vec![baseline(2, vec![]), closed(Ending::PartialSuccess)], true),
            ("written", vec![Event::Tasks { tasks: vec![] }, closed(Ending::Success)], true),
        ];
        for (why, events, expected) in table {
            let bundle = tempfile::tempdir().unwrap();
            let line = |event: &Event| serde_json::to_string(event).unwrap() + "\n";
            let text: String = events.iter().map(line).collect();
            files::write(&bundle.path().join(EVENTS), text.as_bytes()).unwrap();
            assert_eq!(!event_lines(bundle.path()).green, expected, "{why}");
        }
    }

    #[test]
    fn a_finished_plan_waits_for_nobody() {
        let session = SessionId::parse("WFS-test-pr-7").unwrap();
        let waits = |next| parse(&session, files(next)).unwrap().has_more_to_do();
        let finish = |verdict| PipelineStep::Finish { verdict };
        assert!(waits(PipelineStep::Gather) && waits(PipelineStep::Execute));
        assert!(waits(finish(PipelineVerdict::Planned)));
        assert!(waits(finish(PipelineVerdict::Held { reasons: vec![] })));
        assert!(!waits(finish(PipelineVerdict::NothingMissing)));
        assert!(!waits(finish(PipelineVerdict::Generated)));
        assert!(!waits(finish(PipelineVerdict::Failed { problems: vec![] })));
    }

    #[test]
    fn files_that_are_no_session_are_none() {
        let session = SessionId::parse("WFS-test-pr-7").unwrap();
        let other = SessionId::parse("WFS-test-pr-8").unwrap();
        assert_eq!(parse(&other, files(PipelineStep::Generate)), None, "of another session");
        assert_eq!(parse(&session, Vec::new()), None);
        let mut broken = files(PipelineStep::Generate);
        broken[1].1.truncate(10);
        assert_eq!(parse(&session, broken), None);
        let whole = parse(&session, files(PipelineStep::Generate)).expect("a session");
        assert_eq!(whole.plan, None, "it has no plan yet");
    }
}
