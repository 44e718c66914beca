//! What is kept of a session on the server beside its fix branch: its events, and the state of one
//! that has no commit yet, so that a new machine goes on with it (product.md 13.1, 2.4).

use std::path::PathBuf;
use std::time::Duration;

use globset::GlobSet;
use sha2::{Digest, Sha256};

use crate::adapter::host::files;
use crate::adapter::repo::{RepositoryFacts, SessionFiles};
use crate::adapter::{state_root, store};
use crate::domain::event::Event;
use crate::domain::id::{CommitId, SessionId, TreeId};
use crate::domain::secret::Redactor;
use crate::domain::session::SessionRecord;
use crate::domain::session::files::PIPELINE;
use crate::domain::test_plan::analysis::{RESULTS, TestAnalysis};
use crate::domain::test_plan::generation::{Generation, PRODUCTION};
use crate::domain::test_plan::pipeline::{Pipeline, PipelineStep};
use crate::domain::test_plan::task::{TestPlan, TestTask, ordered};
use crate::effect::{FetchTarget, PushRequest, Remote};
use crate::role::vet;

use super::action::Run;
use super::prepare::{Prepared, RECORD, Unprepared};
use super::worker::{self, EVENTS};

/// Events that are kept, in bytes.
const EVENTS_LIMIT: usize = 4 << 20;

/// State that is kept, in bytes.
const STATE_LIMIT: usize = 16 << 20;

/// The state of the fix loop behind the tests.
const LOOP: &str = ".process/iteration-state.json";

/// Where a record has the state of a session.
const STATE: &str = "state";

/// Least time between two times of keeping.
const PACE: Duration = Duration::from_secs(15);

/// Where a session is kept: no branch, so that nobody sees it who does not ask.
fn reference(session: &SessionId) -> String {
    format!("refs/regreen/sessions/{session}")
}

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Lines of events.
    pub events: Vec<u8>,
    /// Files of the session's folder; none where its fix branch carries them.
    pub state: SessionFiles,
    /// Sources with tests that are written and not committed yet.
    pub sources: Option<TreeId>,
}

/// Keeps it on the server.
///
/// # Errors
///
/// [`Unprepared`].
pub async fn keep(prepared: &Prepared, session: &SessionId, kept: &Kept) -> Result<(), Unprepared> {
    let branch = reference(session);
    let before = prepared.remote.head_of(&branch).await?;
    if let Some(before) = &before {
        prepared.remote.fetch(&FetchTarget::Commit(before.clone()), Some(1)).await?;
    }
    let mut list = vec![(EVENTS.to_owned(), kept.events.clone())];
    let state = kept.state.iter();
    list.extend(state.map(|(name, bytes)| (format!("{STATE}/{name}"), bytes.clone())));
    let sources = kept.sources.as_ref();
    let new = prepared.bench.record(session, &list, sources, before.as_ref())?;
    let request =
        PushRequest { branch, expected: before, new, session: session.clone(), protected: vec![] };
    // A parallel run that kept its own is as good.
    prepared.remote.push(&request).await?;
    Ok(())
}

/// The commit that keeps a session; `None` when nothing is kept of it.
async fn commit(prepared: &Prepared, session: &SessionId) -> Result<Option<CommitId>, Unprepared> {
    let Some(kept) = prepared.remote.head_of(&reference(session)).await? else { return Ok(None) };
    prepared.remote.fetch(&FetchTarget::Commit(kept.clone()), Some(1)).await?;
    Ok(Some(kept))
}

/// The events of a session as one document of lines: those kept last, else those that travel with
/// the fix branch.
///
/// # Errors
///
/// [`Unprepared`].
pub async fn events(
    prepared: &Prepared,
    session: &SessionId,
    tip: Option<&CommitId>,
) -> Result<Vec<u8>, Unprepared> {
    if let Some(kept) = commit(prepared, session).await?
        && let Some(bytes) = prepared.bench.file_of(&kept, EVENTS)?
    {
        return Ok(bytes);
    }
    let Some(tip) = tip else { return Ok(Vec::new()) };
    let files = prepared.bench.session_at(tip, store::STATE_FOLDER, session)?;
    let name = format!(".process/{EVENTS}");
    let found = files.into_iter().flatten().find(|(known, _)| *known == name);
    Ok(found.map(|(_, bytes)| bytes).unwrap_or_default())
}

/// A session that plans or writes tests and has no commit yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Unborn {
    /// Its id.
    pub session: SessionId,
    /// Its record.
    pub record: SessionRecord,
    /// Where it stands.
    pub pipeline: Pipeline,
    /// Its plan, once there is one.
    pub plan: Option<TestPlan>,
    /// Its files.
    pub files: SessionFiles,
}

/// What is kept of the state of a session; `None` without one that can go on.
///
/// # Errors
///
/// [`Unprepared`].
pub async fn unborn(
    prepared: &Prepared,
    session: &SessionId,
) -> Result<Option<Unborn>, Unprepared> {
    let Some(kept) = commit(prepared, session).await? else { return Ok(None) };
    let files = prepared.bench.files_below(&kept, STATE, STATE_LIMIT)?;
    Ok(files.and_then(|files| read(session, files)))
}

/// Whether anything is kept of a session.
///
/// # Errors
///
/// [`Unprepared`].
pub async fn is_known(prepared: &Prepared, session: &SessionId) -> Result<bool, Unprepared> {
    Ok(prepared.remote.head_of(&reference(session)).await?.is_some())
}

/// Reads the state files of a session. A file that cannot be read counts as missing.
pub fn read(session: &SessionId, files: SessionFiles) -> Option<Unborn> {
    let of = |name: &str| files.iter().find(|(known, _)| known == name).map(|(_, bytes)| bytes);
    let record: SessionRecord = serde_json::from_slice(of(RECORD)?).ok()?;
    let pipeline: Pipeline = serde_json::from_slice(of(PIPELINE)?).ok()?;
    if record.session_id != *session || pipeline.session_id != *session {
        return None;
    }
    let analysis = of(&format!("{RESULTS}.json"));
    let plan = analysis.and_then(|bytes| serde_json::from_slice::<TestAnalysis>(bytes).ok());
    let plan = plan.and_then(|analysis| {
        let found = files.iter().filter(|(name, _)| name.starts_with(".task/"));
        let mut tasks: Vec<TestTask> =
            found.filter_map(|(_, bytes)| serde_json::from_slice(bytes).ok()).collect();
        let order = ordered(&tasks).ok()?;
        tasks.sort_by_key(|task| order.iter().position(|id| *id == task.id));
        (!tasks.is_empty()).then_some(TestPlan { analysis, tasks })
    });
    Some(Unborn { session: session.clone(), record, pipeline, plan, files })
}

/// Lays the files of a session out, so that a working phase finds them.
///
/// # Errors
///
/// When the folder cannot be written, or a name is none.
pub fn lay_out(facts: &RepositoryFacts, unborn: &Unborn) -> Result<(), String> {
    let opened = store::SessionStore::open(&state_root(facts), &unborn.session);
    let restored = opened.and_then(|store| store.restore(&without_branch(unborn)));
    restored.map_err(|error| error.to_string())
}

/// The files of a session whose commits did not reach the server: it makes them again.
fn without_branch(unborn: &Unborn) -> SessionFiles {
    let mut files = unborn.files.clone();
    if unborn.pipeline.next != PipelineStep::Execute {
        return files;
    }
    let pipeline = Pipeline { next: PipelineStep::Keep, ..unborn.pipeline.clone() };
    files.retain(|(name, _)| name != LOOP && name != PIPELINE);
    if let Ok(text) = serde_json::to_vec_pretty(&pipeline) {
        files.push((PIPELINE.to_owned(), text));
    }
    files
}

/// The state files of a session on this machine.
#[must_use]
pub fn local(facts: &RepositoryFacts, session: &SessionId) -> Option<SessionFiles> {
    store::travelling_files(&store::session_folder(&state_root(facts), session)).ok()
}

/// The events of a run that later commands need, as lines.
#[must_use]
pub fn lines(bundle: &std::path::Path) -> Vec<u8> {
    let bytes = files::read(&bundle.join(EVENTS), worker::EVENTS_LIMIT).ok().flatten();
    let mut bytes = bytes.unwrap_or_default();
    let lines: Vec<String> = worker::whole_lines(&mut bytes)
        .iter()
        .filter(|event| !matches!(event, Event::Progress { .. } | Event::Step { .. }))
        .filter_map(|event| serde_json::to_string(event).ok())
        .collect();
    let text = lines.join("\n") + "\n";
    if text.len() > EVENTS_LIMIT || lines.is_empty() { Vec::new() } else { text.into_bytes() }
}

/// Keeps a session that plans or writes tests while it works.
pub struct Keeper {
    session: SessionId,
    head: CommitId,
    folder: PathBuf,
    bundle: PathBuf,
    protect: GlobSet,
    redactor: Redactor,
    digest: Vec<u8>,
    tried: Option<Duration>,
    pace: Duration,
    /// Where the session stands, as far as it was read.
    pub seen: Option<Unborn>,
    /// What should be known, in our own words.
    pub notice: Option<String>,
}

impl Keeper {
    /// A keeper that has kept nothing yet.
    #[must_use]
    pub fn new(
        run: &Run<'_>,
        session: &SessionId,
        facts: &RepositoryFacts,
        bundle: PathBuf,
        protect: GlobSet,
    ) -> Self {
        let pace = run.around.get("REGREEN_PACE_MS").parse().map_or(PACE, Duration::from_millis);
        Self {
            session: session.clone(),
            head: run.target.head.clone(),
            folder: store::session_folder(&state_root(facts), session),
            bundle,
            protect,
            redactor: Redactor::new(&run.around.token),
            digest: Vec::new(),
            tried: None,
            pace,
            seen: None,
            notice: None,
        }
    }

    /// Reads where the session stands.
    pub fn look(&mut self) {
        let found = store::travelling_files(&self.folder).ok();
        if let Some(unborn) = found.and_then(|files| read(&self.session, files)) {
            self.seen = Some(unborn);
        }
    }

    /// Keeps the state when it is another than before; not more often than the pace, unless it is
    /// the `last` time. A fault is tried again the next time.
    pub async fn tick(&mut self, run: &Run<'_>, last: bool) {
        let now = run.clock.elapsed();
        let early = self.tried.is_some_and(|tried| now.saturating_sub(tried) < self.pace);
        if early && !last {
            return;
        }
        self.tried = Some(now);
        self.look();
        let Some(unborn) = &self.seen else { return };
        let digest = digest(&unborn.files);
        if digest == self.digest {
            return;
        }
        let size: usize = unborn.files.iter().map(|(_, bytes)| bytes.len()).sum();
        if size > STATE_LIMIT || unborn.files.iter().any(|(_, bytes)| self.tells(bytes)) {
            self.notice = Some("the state of this session is not kept beside its branch".into());
            return;
        }
        let kept = Kept {
            events: lines(&self.bundle),
            sources: self.sources(run, unborn),
            state: unborn.files.clone(),
        };
        match keep(run.prepared, &self.session, &kept).await {
            Ok(()) => self.digest = digest,
            Err(error) => tracing::warn!(%error, "the state of the session is kept later"),
        }
    }

    fn tells(&self, bytes: &[u8]) -> bool {
        self.redactor.finds(&String::from_utf8_lossy(bytes))
    }

    /// The sources with new tests; `None` before there are any, and for sources that could not be
    /// published.
    fn sources(&self, run: &Run<'_>, unborn: &Unborn) -> Option<TreeId> {
        let file = unborn.files.iter().find(|(name, _)| name == PRODUCTION)?;
        let production: Generation = serde_json::from_slice(&file.1).ok()?;
        let diff = run.prepared.bench.diff(&self.head, &production.tree, store::STATE_FOLDER);
        let reach = run.prepared.settings.scope().reach_of_session();
        let state = store::STATE_FOLDER;
        let broken = vet::published(&diff.ok()?, &self.protect, state, &self.redactor, reach);
        broken.is_empty().then_some(production.tree)
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
    use crate::domain::session::{SessionStatus, samples};
    use crate::domain::test_plan::entry::PlanInput;
    use crate::domain::test_plan::pipeline::{ConfirmPlan, Goal};

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
    fn what_did_not_reach_the_server_is_made_again() {
        let session = SessionId::parse("WFS-test-pr-7").unwrap();
        let laid = |next: PipelineStep| {
            let unborn = read(&session, files(next)).expect("a session");
            let files = without_branch(&unborn);
            let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
            (read(&session, files).expect("a session").pipeline.next, names)
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
    fn files_that_are_no_session_are_none() {
        let session = SessionId::parse("WFS-test-pr-7").unwrap();
        let other = SessionId::parse("WFS-test-pr-8").unwrap();
        assert_eq!(read(&other, files(PipelineStep::Generate)), None, "of another session");
        assert_eq!(read(&session, Vec::new()), None);
        let mut broken = files(PipelineStep::Generate);
        broken[1].1.truncate(10);
        assert_eq!(read(&session, broken), None);
        let whole = read(&session, files(PipelineStep::Generate)).expect("a session");
        assert_eq!(whole.plan, None, "it has not come to its plan");
    }
}
