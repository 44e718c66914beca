//! Selects the session that a request refers to: a new one, one on this machine, or one that exists
//! only on its branch.

use std::path::Path;

use crate::domain::fix_loop::FixLoop;
use crate::domain::id::{SessionId, slug};
use crate::domain::language::Language;
use crate::domain::request::{FixSettings, Mode};
use crate::domain::session::files::{LOOP, PIPELINE, RECORD, stored_name};
use crate::domain::session::{
    ABANDONED, MAX_ITERATIONS, SessionChoice, SessionKind, SessionRecord, SessionStatus, free_id,
    is_stopped_on, newest_resumable, refusal,
};
use crate::domain::test_plan::pipeline::{ConfirmPlan, Goal, Pipeline};
use crate::domain::test_plan::plan_input::{PlanInput, title, wanted_id};
use crate::domain::test_plan::source_session::SourceSession;
use crate::effect::{Clock, EffectError, RunError, Store, StoreError};

use super::host::clock::HostClock;
use super::host::redaction;
use super::open_error::OpenError;
use super::paths::state_root;
use super::repo::{self, RepositoryFacts};
use super::store::{self, STATE_FOLDER, SessionStore};
use super::suite::{self, Detection};
use super::useless_session::is_useless;

/// State files of a session that exists only on its branch.
type Restored = Option<repo::SessionFiles>;

/// Selects the session of a request; returns its state files if they exist only on its branch.
pub fn choose(
    request: &FixSettings,
    facts: &RepositoryFacts,
    root: &Path,
    clock: &HostClock,
    notices: &mut Vec<String>,
) -> Result<(SessionRecord, Restored), OpenError> {
    let limit = request.max_iterations;
    match &request.session {
        SessionChoice::Resume { session: id } => {
            let (mut record, restored) = load(facts, root, id)?;
            if let Some(reason) = refusal(&record, request.kind, limit) {
                return Err(OpenError::Resume { session: id.to_string(), reason });
            }
            record.reopen(limit, clock.now());
            Ok((record, restored))
        }
        SessionChoice::Newest => {
            let (mut record, restored) = newest(facts, root, request.kind, limit)?;
            record.reopen(limit, clock.now());
            Ok((record, restored))
        }
        SessionChoice::New { name } => {
            for id in store::active(root)? {
                let Ok((record, _)) = load(facts, root, &id) else { continue };
                if !is_stopped_on(&record, &facts.head) {
                    continue;
                }
                // Fails if that session is running: two would do the same work on one commit.
                drop(SessionStore::open(root, &id)?);
                notices.push(format!("session {id} was stopped on this commit; `regreen fix --resume {id}` resumes it"));
                break;
            }
            let on = facts.branch.clone().unwrap_or_else(|| facts.head.short().to_owned());
            // A dry run leaves the name of the branch to the run that makes one.
            let kind = if request.mode == Mode::DryRun { "dry-run-" } else { "" };
            let base = name
                .as_ref()
                .map_or_else(|| format!("WFS-test-{kind}{}", slug(&on)), ToString::to_string);
            let description = match request.kind {
                SessionKind::Integration => format!("Write integration tests on {on}"),
                _ => format!("Bring the tests of {on} back to green"),
            };
            Ok((begin(request, &base, description, (facts, root, clock))?, None))
        }
    }
}

/// The newest session that can be resumed.
pub fn newest(
    facts: &RepositoryFacts,
    root: &Path,
    kind: SessionKind,
    limit: Option<u32>,
) -> Result<(SessionRecord, Restored), OpenError> {
    let finished = !store::archived(root)?.is_empty();
    let mut why = String::from(if finished { "all are finished" } else { "there is none" });
    let (mut records, mut restored) = (Vec::new(), Vec::new());
    for id in store::active(root)? {
        match load(facts, root, &id) {
            Ok((record, files)) => {
                records.push(record);
                restored.push(files);
            }
            Err(error) => why = format!("{id}: {error}"),
        }
    }
    match newest_resumable(&records, (kind, &facts.head), limit) {
        Ok(index) => Ok((records.swap_remove(index), restored.swap_remove(index))),
        Err(last) => {
            if let Some((index, reason)) = last
                && let Some(record) = records.get(index)
            {
                why = format!("{}: {reason}", record.session_id);
            }
            Err(OpenError::NothingToResume { reason: why })
        }
    }
}

/// The stopped session on this commit that tests this module (specification.md 2.2).
pub fn find_integration(
    facts: &RepositoryFacts,
    module: &str,
) -> Result<Option<SessionId>, StoreError> {
    let root = state_root(facts);
    let is_about = |id: &SessionId| {
        let record = store::read_record(&store::session_folder(&root, id)).ok().flatten();
        record.is_some_and(|record| {
            record.git.head_sha == facts.head
                && record.input.as_deref() == Some(module)
                && refusal(&record, SessionKind::Integration, None).is_none()
        })
    };
    Ok(store::active(&root)?.into_iter().find(is_about))
}

/// Restores a missing or unreadable state from the tip of the branch (specification.md 8.11). If
/// the tip has none, the session starts over with its baseline.
pub async fn repair_state(
    store: &SessionStore,
    facts: &RepositoryFacts,
    record: &SessionRecord,
    notices: &mut Vec<String>,
) -> Result<(), OpenError> {
    let fault = match store.read_json(LOOP).await {
        Ok(Some(value)) if serde_json::from_value::<FixLoop>(value.clone()).is_ok() => {
            return Ok(());
        }
        Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => "cannot be read",
        // A session that writes tests has no loop state before its fix loop begins.
        Ok(None) if store.read_json(PIPELINE).await?.is_some() => return Ok(()),
        Ok(None) if record.kind == SessionKind::Integration => return Ok(()),
        Ok(None) => "is missing",
        Err(error) => return Err(error.into()),
    };
    let path = store::file_path(store.folder(), LOOP);
    let branch = &record.git.branch;
    let files = repo::read_session(facts, branch, STATE_FOLDER, &record.session_id)?;
    let committed = files.iter().flatten().find(|(name, bytes)| {
        let state = || serde_json::from_slice::<FixLoop>(bytes);
        *name == stored_name(&record.session_id, LOOP)
            && state().is_ok_and(|state| state.head == record.git.head_sha)
    });
    if let Some(file) = committed {
        store.restore(std::slice::from_ref(file))?;
        repo::recover_trees(facts, branch, &record.git.head_sha, STATE_FOLDER)?;
        notices.push(format!(
            "{} {fault}; the state of the last commit of {branch} takes its place",
            path.display()
        ));
    } else if fault == "is missing" {
        notices.push(format!("{} {fault}; starting from the baseline", path.display()));
    }
    Ok(())
}

/// Reads a session's record from disk, else from its branch.
fn load(
    facts: &RepositoryFacts,
    root: &Path,
    id: &SessionId,
) -> Result<(SessionRecord, Restored), OpenError> {
    if let Some(record) = store::read_record(&store::session_folder(root, id))? {
        return Ok((record, None));
    }
    if let Ok((_, true)) = store::find(root, id) {
        return Err(StoreError::Archived { session: id.to_string() }.into());
    }
    let branch = id.branch();
    if let Some(files) = repo::read_session(facts, &branch, STATE_FOLDER, id)?
        && let Some((_, bytes)) = files.iter().find(|(name, _)| *name == stored_name(id, RECORD))
    {
        let record = store::parse_record(Path::new(&branch), bytes)?;
        return Ok((record, Some(files)));
    }
    let known = store::active(root)?.iter().map(ToString::to_string).collect();
    Err(StoreError::Missing { session: id.to_string(), known }.into())
}

/// Creates a session with an unused id; [`OpenError::SecretName`] for an unwritable name.
fn begin(
    request: &FixSettings,
    base: &str,
    description: String,
    (facts, root, clock): (&RepositoryFacts, &Path, &HostClock),
) -> Result<SessionRecord, OpenError> {
    // Its files name it, and would be redacted until nobody can read them.
    if *redaction::redact(base) != *base {
        return Err(OpenError::SecretName);
    }
    let free = |id: &SessionId| {
        let unused = match load(facts, root, id) {
            Ok((record, _)) => record.result.as_deref() == Some(ABANDONED),
            // A folder without a record is left when a session is killed before it begins.
            Err(OpenError::Effect(EffectError::Store(StoreError::Missing { .. }))) => true,
            Err(_) => false,
        };
        unused && (request.branch.is_some() || !repo::has_branch(facts, &id.branch()))
    };
    let session_id = free_id(base, free);
    // The id is free, so a folder of that name holds nothing of value.
    drop(store::forget(root, &session_id));
    let project = facts.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut record = SessionRecord::new(session_id, facts.head.clone(), clock.now());
    record.project = project;
    record.description = description;
    record.kind = request.kind;
    record.input.clone_from(&request.module);
    record.git.onto.clone_from(&facts.branch);
    record.max_iterations = request.max_iterations.unwrap_or(MAX_ITERATIONS);
    let mode = match request.mode {
        Mode::Apply => "apply",
        Mode::Suggest => "suggest",
        Mode::DryRun => "dry-run",
    };
    mode.clone_into(&mut record.mode);
    if let Some(branch) = &request.branch {
        record.git.branch.clone_from(branch);
    }
    Ok(record)
}

/// The request that phases 1 to 4 answer.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    pub run: FixSettings,
    /// The subject; `None` resumes a session.
    pub entry: Option<PlanInput>,
    /// The text of a document or description; a source session has its own.
    pub description: String,
    /// Whether to start a new session although an unfinished one has the same input.
    pub fresh: bool,
    pub goal: Goal,
    /// Whether to ask for approval between plan and work.
    pub confirm_plan: ConfirmPlan,
    /// Whether a person has approved.
    pub confirmed: bool,
    /// Whether to end without running the suite where no test is missing.
    pub only_missing: bool,
}

/// The session that was selected for a planning request.
pub struct Planning {
    pub record: SessionRecord,
    pub pipeline: Pipeline,
    pub source: Option<SourceSession>,
    pub resumed: bool,
    pub detection: Detection,
}

/// Selects or creates a session that plans tests; writes nothing.
pub fn choose_plan(
    request: &PlanRequest,
    facts: &RepositoryFacts,
    root: &Path,
    clock: &HostClock,
) -> Result<Planning, OpenError> {
    let found = find_plan(request, facts, root)?;
    let entry = found.as_ref().map(|(_, pipeline)| &pipeline.entry).or(request.entry.as_ref());
    let source = match entry {
        // Sessions of the reference project are stored in the repository itself.
        Some(PlanInput::Session(id)) => {
            Some(store::read_source(&facts.root.join(STATE_FOLDER), id)?)
        }
        Some(PlanInput::Document(_) | PlanInput::Text(_)) | None => None,
    };
    let detection = detect(request, facts)?;
    if let Some((record, pipeline)) = found {
        return Ok(Planning { record, pipeline, source, resumed: true, detection });
    }
    let entry =
        request.entry.clone().unwrap_or_else(|| PlanInput::Text(request.description.clone()));
    let description = source.as_ref().map_or(&request.description, |source| &source.description);
    let base = match &request.run.session {
        SessionChoice::New { name: Some(name) } => name.to_string(),
        _ => wanted_id(&entry, description),
    };
    let title = title(&entry, description);
    let mut record = begin(&request.run, &base, title, (facts, root, clock))?;
    record.status = SessionStatus::Planning;
    record.source_session_id = source.as_ref().map(|source| source.id.clone());
    record.input = Some(entry.text().chars().take(4_000).collect());
    let (id, description) = (record.session_id.clone(), description.clone());
    let mut pipeline = Pipeline::new(id, entry, description, request.goal, request.confirm_plan);
    pipeline.only_missing = request.only_missing;
    Ok(Planning { record, pipeline, source, resumed: false, detection })
}

/// The session to resume: the named one, else the newest for the same input and commit.
fn find_plan(
    request: &PlanRequest,
    facts: &RepositoryFacts,
    root: &Path,
) -> Result<Option<(SessionRecord, Pipeline)>, OpenError> {
    let or_none =
        |found: Option<_>, reason: String| found.map(Some).ok_or(OpenError::NoSession { reason });
    match (&request.entry, &request.run.session) {
        (None, SessionChoice::Resume { session: id }) => {
            let (_, archived) = store::find(root, id)?;
            if archived {
                return Err(StoreError::Archived { session: id.to_string() }.into());
            }
            or_none(read_plan(id, root)?, format!("{id} has no plan"))
        }
        (None, SessionChoice::New { .. } | SessionChoice::Newest) => {
            or_none(newest_plan(root)?, "none was begun here".to_owned())
        }
        (Some(entry), SessionChoice::New { name: None }) if !request.fresh => {
            let same = |(record, pipeline): &(SessionRecord, Pipeline)| {
                pipeline.is_about(entry, &request.description)
                    && record.git.head_sha == facts.head
                    && !is_useless(record, pipeline, facts, root)
            };
            Ok(store::active(root)?.iter().filter_map(|id| readable_plan(id, root)).find(same))
        }
        (Some(_), _) => Ok(None),
    }
}

/// The record of a session that plans tests, with its pipeline; `None` for another one.
fn read_plan(id: &SessionId, root: &Path) -> Result<Option<(SessionRecord, Pipeline)>, StoreError> {
    let folder = store::session_folder(root, id);
    let (record, pipeline) = (store::read_record(&folder)?, store::read_file(&folder, PIPELINE)?);
    let pipeline = pipeline.and_then(|value| serde_json::from_value(value).ok());
    Ok(record.zip(pipeline))
}

/// The same, also `None` for a session that cannot be read: it does not stand in the way of others.
fn readable_plan(id: &SessionId, root: &Path) -> Option<(SessionRecord, Pipeline)> {
    read_plan(id, root).ok().flatten()
}

/// The newest session that plans tests.
pub fn newest_plan(root: &Path) -> Result<Option<(SessionRecord, Pipeline)>, StoreError> {
    Ok(store::active(root)?.iter().find_map(|id| readable_plan(id, root)))
}

fn detect(request: &PlanRequest, facts: &RepositoryFacts) -> Result<Detection, OpenError> {
    let (root, below) = (&facts.root, &facts.subdirectory);
    let (command, report) = (request.run.test_command.as_deref(), request.run.report.as_deref());
    let mut detected = suite::detect(root, below, command, report);
    if request.goal == Goal::Test && matches!(detected, Err(RunError::UnknownFramework { .. })) {
        // A project without tests may still lack a framework.
        detected = suite::detect_or_begin(root, below, command, report);
    }
    match detected {
        Err(RunError::UnknownFramework { directory, packages, .. }) if packages.is_empty() => {
            let advice = advice(suite::languages(root).first().copied());
            Err(OpenError::NoFramework { directory, advice })
        }
        other => Ok(other?),
    }
}

/// Which framework to add, and the command, by the language of most files.
fn advice(language: Option<Language>) -> String {
    let add = match language {
        Some(Language::Python) => "add pytest: `pip install pytest` and an empty `pytest.ini`",
        Some(Language::JavaScript) => {
            "add a test script: `npm pkg set scripts.test='node --test'`, which needs no package"
        }
        Some(Language::TypeScript | Language::Tsx) => {
            "add Vitest: `npm install --save-dev vitest && npm pkg set scripts.test='vitest run'`"
        }
        Some(Language::Rust) => "add a manifest: `cargo init`",
        Some(Language::Go) => "add a module: `go mod init example.com/name`",
        Some(Language::Java) => "add Maven with JUnit 5: a `pom.xml` with the surefire plugin",
        None => "add a framework that regreen knows",
    };
    format!("{add}; or name the command with `--test-command`")
}
