//! Opens what phases 1 to 4 of a test session need: repository, suite, source session, files, a
//! checkout of its own without a branch (specification.md 3.1 phase 1).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::event::Event;
use crate::domain::id::{SessionId, TreeId};
use crate::domain::request::ToolCommands;
use crate::domain::session::files::PIPELINE;
use crate::domain::session::{SessionRecord, SessionStatus, free_id};
use crate::domain::test_plan::context::SourceSession;
use crate::domain::test_plan::entry::{PlanInput, title, wanted_id};
use crate::domain::test_plan::pipeline::{
    ConfirmPlan, Goal, Pipeline, PipelineStep, PipelineVerdict,
};
use crate::effect::{Clock, RunError, Store, StoreError, Suite, Worktree};

use super::host::clock::HostClock;
use super::open_error::OpenError;
use super::opening::{new_record, notices, write_record};
use super::paths::{self, state_prefix, state_root, work_root};
use super::repo::{self, Branching, RepoWorktree, RepositoryFacts, WorktreeSettings};
use super::session_effects::SessionEffects;
use super::store::{self, STATE_FOLDER, SessionStore};
use super::suite::{self, Detection, SuiteSettings};

/// What phases 1 to 4 are asked for.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// The repository, or a folder below it.
    pub repository: PathBuf,
    /// Overrides the detected command.
    pub test_command: Option<String>,
    /// Where the command leaves its report, as a glob.
    pub report: Option<String>,
    /// Limit of one test run.
    pub test_timeout: Duration,
    /// Globs of test files by layer.
    pub layers: BTreeMap<String, String>,
    /// Commands before the first run.
    pub setup: Vec<String>,
    /// What is asked for; `None` goes on with a session that is there.
    pub entry: Option<PlanInput>,
    /// The text of a document or description; of a source session its own description is taken.
    pub description: String,
    /// The session to go on with, or the name of a new one.
    pub session: Option<SessionId>,
    /// Whether an unfinished session for the same input is left alone.
    pub fresh: bool,
    /// How far it goes.
    pub goal: Goal,
    /// Whether a person is asked between plan and work.
    pub confirm_plan: ConfirmPlan,
    /// Whether that person has said yes.
    pub confirmed: bool,
    /// Iteration limit of the fix loop behind it.
    pub max_iterations: u32,
    /// Commands instead of the detected tools.
    pub tools: ToolCommands,
}

/// Everything that belongs to one test session of one repository.
pub struct PlanWorkspace<'a> {
    /// Git as it was found.
    pub facts: RepositoryFacts,
    /// The session's record.
    pub record: SessionRecord,
    /// Where it stands.
    pub pipeline: Pipeline,
    /// The finished session whose work it tests.
    pub source: Option<SourceSession>,
    /// The sources it plans for.
    pub tree: TreeId,
    /// Whether the suite can be started here.
    pub runnable: bool,
    /// What a person should know, in our own words.
    pub notices: Vec<String>,
    /// Whether an earlier run is continued.
    pub resumed: bool,
    /// What keeps the contract.
    pub hands: SessionEffects<'a>,
}

impl<'a> PlanWorkspace<'a> {
    /// Finds repository, suite and source, and makes or finds the session. Nothing is written
    /// before all of them are known to be usable.
    pub async fn open(
        request: &PlanRequest,
        clock: &'a HostClock,
    ) -> Result<PlanWorkspace<'a>, OpenError> {
        let facts = repo::discover(&request.repository)?;
        let root = state_root(&facts);
        let found = found(request, &facts, &root)?;
        let resumed = found.is_some();
        let source = source(request, found.as_ref().map(|(_, pipeline)| pipeline), &facts)?;
        let detection = detect(request, &facts)?;
        let mut notices = notices(&facts);
        if let Some(missing) = detection.missing.first() {
            notices.push(format!(
                "the suite cannot run here, so coverage is estimated from names: {missing}"
            ));
        }
        let runnable = detection.missing.is_empty();
        let (mut record, pipeline) = match found {
            Some(found) => found,
            None => begin(request, source.as_ref(), &facts, &root, clock),
        };
        let pipeline = pipeline.go_on(request.goal, request.confirmed);
        let store = SessionStore::open(&root, &record.session_id)?;
        if resumed {
            record.resumed_at = Some(clock.now());
        } else {
            let value = serde_json::to_value(&pipeline).unwrap_or_default();
            store.write_json(PIPELINE, &value).await?;
        }
        // The record comes last: a session without one never began.
        write_record(&store, &record).await?;
        let work = work_root(&facts);
        let state_folder = state_prefix(&record.session_id);
        let worktree = RepoWorktree::open(
            &facts,
            &WorktreeSettings {
                session: &record.session_id,
                branch: &record.git.branch,
                head: &record.git.head_sha,
                work_root: &work,
                state_folder: &state_folder,
                branching: Branching::Detached,
            },
        )?;
        let tree = worktree.tree_of(&record.git.head_sha).await?;
        let settings = SuiteSettings {
            timeout: request.test_timeout,
            session: store.folder().to_owned(),
            scratch: paths::scratch(&facts, &record.session_id),
            layers: request.layers.clone(),
            setup: request.setup.clone(),
            tools: request.tools.clone(),
        };
        let suite = suite::open(detection, settings, clock)?;
        Ok(Self {
            facts,
            record,
            pipeline,
            source,
            tree,
            runnable,
            notices,
            resumed,
            hands: SessionEffects { clock, store, worktree, suite },
        })
    }

    /// What a screen is told first.
    #[must_use]
    pub fn opened(&self) -> Event {
        let facts = self.hands.suite.facts();
        Event::Opened {
            session: self.record.session_id.to_string(),
            repository: self.facts.root.display().to_string(),
            head: self.record.git.head_sha.clone(),
            branch: self.record.git.branch.clone(),
            framework: facts.framework.to_string(),
            command: facts.command.clone(),
            resumed: self.resumed,
        }
    }

    /// The session's folder.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.hands.store.folder().to_owned()
    }

    /// A private folder of this session outside of every checkout.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        paths::scratch(&self.facts, &self.record.session_id)
    }

    /// Notes where the pipeline rests, and removes the private checkout.
    pub async fn finish(mut self, pipeline: &Pipeline) -> Result<(), OpenError> {
        self.record.status = match &pipeline.next {
            PipelineStep::Finish { verdict: PipelineVerdict::Failed { .. } } => {
                SessionStatus::Blocked
            }
            PipelineStep::Finish { verdict: PipelineVerdict::Held { .. } } => SessionStatus::Paused,
            // A session whose work has begun keeps what the work said of it.
            _ if pipeline.works() => match self.record.status {
                SessionStatus::Planning | SessionStatus::Initialized => SessionStatus::Active,
                status => status,
            },
            PipelineStep::Finish { .. } | PipelineStep::Confirm => SessionStatus::Initialized,
            _ => SessionStatus::Planning,
        };
        self.record.result = match self.record.status {
            SessionStatus::Initialized => Some("planned".to_owned()),
            SessionStatus::Paused => self.record.result,
            _ => None,
        };
        write_record(&self.hands.store, &self.record).await?;
        self.hands.worktree.remove().await?;
        Ok(())
    }

    /// Takes back a session whose request turned out to name nothing: its name is free again.
    pub async fn abandon(self) -> Result<(), OpenError> {
        self.hands.worktree.remove().await?;
        store::forget(&state_root(&self.facts), &self.record.session_id)?;
        Ok(())
    }
}

fn detect(request: &PlanRequest, facts: &RepositoryFacts) -> Result<Detection, OpenError> {
    let command = request.test_command.as_deref();
    let report = request.report.as_deref();
    let mut detected = suite::detect(&facts.root, &facts.subdirectory, command, report);
    if request.goal == Goal::Test && matches!(detected, Err(RunError::UnknownFramework { .. })) {
        // The first tests of a project need no framework that is there already.
        detected = suite::detect_or_begin(&facts.root, &facts.subdirectory, command);
    }
    match detected {
        Err(RunError::UnknownFramework { directory, .. }) => {
            let languages = suite::languages(&facts.root);
            Err(OpenError::NoFramework { directory, advice: advice(&languages) })
        }
        other => Ok(other?),
    }
}

/// Which framework to add, and the command, by the language of most files.
fn advice(languages: &[String]) -> String {
    let add = match languages.first().map(String::as_str) {
        Some("Python") => "add pytest: `pip install pytest` and an empty `pytest.ini`",
        Some("JavaScript") => {
            "add a test script: `npm pkg set scripts.test='node --test'`, which needs no package"
        }
        Some("TypeScript") => {
            "add Vitest: `npm install --save-dev vitest && npm pkg set scripts.test='vitest run'`"
        }
        Some("Rust") => "add a manifest: `cargo init`",
        Some("Go") => "add a module: `go mod init example.com/name`",
        Some("Java") => "add Maven with JUnit 5: a `pom.xml` with the surefire plugin",
        Some(_) | None => "add a framework that regreen knows",
    };
    format!("{add}; or name the command with `--test-command`")
}

/// The finished session that is asked for, read from the reference project's own folder.
fn source(
    request: &PlanRequest,
    pipeline: Option<&Pipeline>,
    facts: &RepositoryFacts,
) -> Result<Option<SourceSession>, OpenError> {
    let entry = pipeline.map(|pipeline| &pipeline.entry).or(request.entry.as_ref());
    let Some(PlanInput::Session(id)) = entry else { return Ok(None) };
    Ok(Some(store::read_source(&facts.root.join(STATE_FOLDER), id)?))
}

type Found = (SessionRecord, Pipeline);

/// A session that goes on: the one that is named, else the newest for the same input and commit.
fn found(
    request: &PlanRequest,
    facts: &RepositoryFacts,
    root: &Path,
) -> Result<Option<Found>, OpenError> {
    let read = |id: &SessionId| -> Option<Found> {
        let folder = store::session_folder(root, id);
        let record = store::read_record(&folder).ok()??;
        let pipeline = store::read_file(&folder, PIPELINE).ok()??;
        Some((record, serde_json::from_value(pipeline).ok()?))
    };
    let Some(entry) = &request.entry else {
        if let Some(id) = &request.session {
            let (_, archived) = store::find(root, id)?;
            if archived {
                return Err(StoreError::Archived { session: id.to_string() }.into());
            }
            let reason = format!("{id} has no plan");
            return read(id).map(Some).ok_or(OpenError::NoSession { reason });
        }
        let newest = store::active(root)?.iter().find_map(read);
        let reason = "none was begun here".to_owned();
        return newest.map(Some).ok_or(OpenError::NoSession { reason });
    };
    if request.fresh || request.session.is_some() {
        return Ok(None);
    }
    let same = |(record, pipeline): &Found| {
        let text =
            pipeline.description == request.description || matches!(entry, PlanInput::Session(_));
        pipeline.entry == *entry && text && record.git.head_sha == facts.head
    };
    Ok(store::active(root)?.iter().filter_map(read).find(same))
}

/// A new session: its id is free in every place, so that nothing is written over.
fn begin(
    request: &PlanRequest,
    source: Option<&SourceSession>,
    facts: &RepositoryFacts,
    root: &Path,
    clock: &HostClock,
) -> Found {
    let entry =
        request.entry.clone().unwrap_or_else(|| PlanInput::Text(request.description.clone()));
    let description =
        source.map_or_else(|| request.description.clone(), |source| source.description.clone());
    let base = request
        .session
        .as_ref()
        .map_or_else(|| wanted_id(&entry, &description), ToString::to_string);
    let free = |id: &SessionId| {
        let record = store::read_record(&store::session_folder(root, id));
        // A folder without a record is what a kill left of a session that never began.
        matches!(record, Ok(None))
            && !store::archive_folder(root, id).exists()
            && !repo::has_branch(facts, &id.branch())
    };
    let session_id = free_id(&base, free);
    let mut record = new_record(&session_id, facts, clock.now());
    record.status = SessionStatus::Planning;
    record.description = title(&entry, &description);
    record.max_iterations = request.max_iterations;
    record.source_session_id = source.map(|source| source.id.clone());
    record.input = Some(entry.text().chars().take(4_000).collect());
    let pipeline =
        Pipeline::new(session_id, entry, description, request.goal, request.confirm_plan);
    (record, pipeline)
}
