//! Opens and closes the session of a repository: its record, its private checkout and its suite,
//! for fixing, characterising, measuring or planning tests.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::domain::checkout_gap;
use crate::domain::event::{Event, Outcome};
use crate::domain::id::{CommitId, TreeId};
use crate::domain::request::{FixSettings, Mode};
use crate::domain::session::files::{OPTIONS, PIPELINE, RECORD};
use crate::domain::session::{ABANDONED, SessionChoice, SessionKind, SessionRecord, SessionStatus};
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::test_plan::source_session::SourceSession;
use crate::effect::{
    Clock, Effects, GitError, Model, Observer, RunError, Screen, Store, StoreError, Suite,
    SuiteFacts, Worktree,
};

use super::detection_notices::describe_detection;
use super::host;
use super::host::clock::HostClock;
use super::model::ClientFolders;
use super::open_error::OpenError;
use super::paths::{scratch, state_prefix, state_root, work_root};
use super::repo::{self, Branching, RepoWorktree, RepositoryFacts, WorktreeSettings};
use super::sandbox_entry::protection;
use super::session_choice::{
    PlanRequest, Planning, choose, choose_plan, newest, newest_plan, repair_state,
};
use super::store::{self, STATE_FOLDER, SessionStore};
use super::suite::{self, Detection, ProjectSuite, SuiteSettings};
use super::useless_session::remove_killed;

/// Everything that belongs to one session of one repository.
pub struct Session<'a> {
    /// The repository as it was when the session was opened.
    pub facts: RepositoryFacts,
    pub record: SessionRecord,
    /// The merge base and its sources, when a base reference was given.
    pub base: Option<(CommitId, TreeId)>,
    /// Messages for the user, in our own words.
    pub notices: Vec<String>,
    /// Whether this run continues an earlier one.
    pub resumed: bool,
    clock: &'a HostClock,
    store: SessionStore,
    worktree: RepoWorktree,
    suite: ProjectSuite<'a>,
}

/// The starting point of a session that plans tests.
pub struct PlanStart {
    pub pipeline: Pipeline,
    /// The finished session whose work is to be tested.
    pub source: Option<SourceSession>,
    /// The tree for which tests are planned.
    pub tree: TreeId,
    /// What the suite lacks to be started here.
    pub missing: Option<String>,
}

impl<'a> Session<'a> {
    /// Finds the repository, the suite and the session, and prepares the private checkout. Nothing
    /// is created before they are known to be usable; an error leaves the repository as it was.
    pub async fn open(
        request: &FixSettings,
        clock: &'a HostClock,
    ) -> Result<Session<'a>, OpenError> {
        let facts = repo::discover(&request.repository)?;
        let (command, report) = (request.test_command.as_deref(), request.report.as_deref());
        let (root, below) = (&facts.root, &facts.subdirectory);
        let detection = match suite::detect(root, below, command, report) {
            // The tests of a resumed session may exist only on its branch.
            Err(RunError::UnknownFramework { .. }) if !request.session.is_new() => {
                suite::detect_or_begin(root, below, command, report)?
            }
            other => other?,
        };
        Self::open_with(request, facts, detection, clock).await
    }

    /// Like [`Session::open`], for a suite that was detected before or has no tests yet.
    pub async fn open_with(
        request: &FixSettings,
        facts: RepositoryFacts,
        detection: Detection,
        clock: &'a HostClock,
    ) -> Result<Session<'a>, OpenError> {
        protection()?;
        // The set-up commands may install what is missing.
        if let Some(missing) = detection.missing.first().filter(|_| request.setup.is_empty()) {
            let command = detection.facts.command.clone();
            return Err(RunError::NotStarted { command, reason: missing.clone() }.into());
        }
        if let Some(reference) = &request.base {
            repo::check_reference(&facts, reference)?;
        }
        let root = state_root(&facts);
        let mut notices = facts.describe_changes();
        notices.extend(resume_archiving(&facts));
        notices.extend(describe_detection(&detection));
        let (record, restored) = choose(request, &facts, &root, clock, &mut notices)?;
        if record.git.head_sha != facts.head {
            let (began, now) = (record.git.head_sha.short(), facts.head.short());
            notices.push(format!(
                "{} moved from {began} to {now} since this session began; the session stays on {began} and runs a new baseline first",
                facts.branch.as_deref().unwrap_or("the head"),
            ));
        }
        let store = SessionStore::open(&root, &record.session_id)?;
        if let Some(files) = &restored {
            store.restore(files)?;
            let git = &record.git;
            repo::recover_trees(&facts, &git.branch, &git.head_sha, STATE_FOLDER)?;
        } else if !request.session.is_new() {
            repair_state(&store, &facts, &record, &mut notices).await?;
        }
        // The record precedes the branch, so that what a kill leaves behind can be identified.
        write_record(&store, &record).await?;
        let branching =
            if request.mode == Mode::Apply { Branching::Branch } else { Branching::Detached };
        let worktree = match open_worktree(&facts, &record, branching) {
            Ok(worktree) => worktree,
            Err(error) => {
                if request.session.is_new() {
                    store::forget(&root, &record.session_id)?;
                }
                return Err(error.into());
            }
        };
        notices.extend(missing_content(&worktree, &record).await?);
        let base = match &request.base {
            Some(reference) => base_of(&worktree, reference, &mut notices).await?,
            None => None,
        };
        let tree = worktree.tree_of(&record.git.head_sha).await?;
        let detection = with_committed(detection, request, &worktree, &tree).await?;
        let suite = open_suite(request, detection, (&facts, &store, &record), clock)?;
        let resumed = !request.session.is_new();
        let mut session =
            Self { facts, record, base, notices, resumed, clock, store, worktree, suite };
        session.record.git.base_sha = session.base.as_ref().map(|(commit, _)| commit.clone());
        session.save_record().await?;
        Ok(session)
    }

    /// Opens a session for phases 1 to 4 on a detached checkout. Writes nothing before repository,
    /// suite and source are known to be usable (specification.md 3.1 phase 1).
    pub async fn open_plan(
        request: &PlanRequest,
        clock: &'a HostClock,
    ) -> Result<(Session<'a>, PlanStart), OpenError> {
        let facts = repo::discover(&request.run.repository)?;
        let root = state_root(&facts);
        let archived = resume_archiving(&facts);
        let Planning { mut record, pipeline, source, resumed, detection } =
            choose_plan(request, &facts, &root, clock)?;
        let mut notices = facts.describe_changes();
        notices.extend(archived);
        if let Some(missing) = detection.missing.first() {
            notices.push(format!(
                "the suite cannot run here, so coverage is estimated from names: {missing}"
            ));
        }
        let missing = detection.missing.first().cloned();
        let pipeline = pipeline.resume(request.goal, request.confirmed);
        let store = SessionStore::open(&root, &record.session_id)?;
        if resumed {
            record.resumed_at = Some(clock.now());
        } else {
            let value = serde_json::to_value(&pipeline).unwrap_or_default();
            store.write_json(PIPELINE, &value).await?;
        }
        // The record is written last: a session without one never began.
        write_record(&store, &record).await?;
        let worktree = open_worktree(&facts, &record, Branching::Detached)?;
        notices.extend(missing_content(&worktree, &record).await?);
        let tree = worktree.tree_of(&record.git.head_sha).await?;
        let detection = with_committed(detection, &request.run, &worktree, &tree).await?;
        let suite = open_suite(&request.run, detection, (&facts, &store, &record), clock)?;
        let session =
            Self { facts, record, base: None, notices, resumed, clock, store, worktree, suite };
        Ok((session, PlanStart { pipeline, source, tree, missing }))
    }

    /// The options of the last run of the session that a request resumes, with this iteration limit
    /// if it raises it. `None` for a new session, for one without options, and for one that cannot
    /// be resumed, which opening it explains.
    pub fn kept_options(
        choice: &SessionChoice,
        kind: SessionKind,
        limit: Option<u32>,
        facts: &RepositoryFacts,
    ) -> Result<Option<Value>, StoreError> {
        options_of(choice, facts, |root| {
            Ok(newest(facts, root, kind, limit).ok().map(|found| found.0))
        })
    }

    /// Like [`Session::kept_options`], for a session that plans tests.
    pub fn kept_plan_options(
        choice: &SessionChoice,
        facts: &RepositoryFacts,
    ) -> Result<Option<Value>, StoreError> {
        options_of(choice, facts, |root| Ok(newest_plan(root)?.map(|found| found.0)))
    }

    /// Stores the options of this run for one that resumes the session.
    pub async fn keep_options(&self, options: &Value) -> Result<(), StoreError> {
        self.store.write_json(OPTIONS, options).await
    }

    /// The implementations of all effects for this session.
    pub fn effects<'b>(
        &'b self,
        models: &'b [Box<dyn Model>],
        screen: &'b dyn Screen,
    ) -> Effects<'b>
    where
        'a: 'b,
    {
        let Self { worktree, suite, store, clock, .. } = self;
        Effects { models, worktree, suite, observer: suite, store, clock: *clock, screen }
    }

    /// The event that opens a session that plans tests.
    pub fn opened(&self) -> Event {
        let facts = self.suite.facts();
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

    /// What was detected about the suite.
    pub fn suite_facts(&self) -> &SuiteFacts {
        self.suite.facts()
    }

    /// Whether HEAD has moved since the session began.
    pub fn moved(&self) -> bool {
        self.record.git.head_sha != self.facts.head
    }

    /// The session's folder.
    pub fn folder(&self) -> PathBuf {
        self.store.folder().to_owned()
    }

    /// A private folder of this session outside of every checkout.
    pub fn scratch(&self) -> PathBuf {
        scratch(&self.facts, &self.record.session_id)
    }

    /// The folders of clients of models, beside the scratch folder, where test code may write.
    pub fn client_folders(&self) -> ClientFolders {
        ClientFolders {
            private: self.scratch().with_file_name("clients"),
            protected: vec![self.facts.root.clone(), self.folder()],
        }
    }

    /// The session's folder inside commits.
    pub fn state_prefix(&self) -> String {
        state_prefix(&self.record.session_id)
    }

    /// Where the session's folder goes when it is archived.
    pub fn archive_folder(&self) -> PathBuf {
        store::archive_folder(&state_root(&self.facts), &self.record.session_id)
    }

    /// The observer, which calls functions and records how they behave.
    pub fn observer(&self) -> &dyn Observer {
        &self.suite
    }

    async fn save_record(&self) -> Result<(), StoreError> {
        write_record(&self.store, &self.record).await
    }

    /// Records the outcome of the fix loop.
    pub async fn record_outcome(&mut self, outcome: &Outcome) -> Result<(), StoreError> {
        self.record.conclude(outcome, self.clock.now());
        self.save_record().await
    }

    /// Records that the session is complete, with a result in our own words.
    pub async fn record_completed(&mut self, result: &str) -> Result<(), StoreError> {
        self.record.end(SessionStatus::Completed, result, self.clock.now());
        self.save_record().await
    }

    /// Records that the session waits, with why in one word.
    pub async fn record_paused(&mut self, result: &str) -> Result<(), StoreError> {
        self.record.status = SessionStatus::Paused;
        self.record.result = Some(result.to_owned());
        self.save_record().await
    }

    /// The same, without the private checkout from then on.
    pub async fn rest_paused(mut self, result: &str) -> Result<(), OpenError> {
        self.record_paused(result).await?;
        Ok(self.worktree.remove().await?)
    }

    /// Withdraws a session that failed before it changed anything: removes its branch and checkout.
    /// Its logs stay until the next session takes its name. A failure is only logged: the caller
    /// has a result or another error to show.
    pub async fn withdraw(self) {
        if let Err(error) = self.try_withdraw().await {
            tracing::warn!(%error, "a session could not be removed");
        }
    }

    async fn try_withdraw(mut self) -> Result<(), OpenError> {
        let tip = self.worktree.tip().await?;
        if tip != self.record.git.head_sha {
            return Ok(());
        }
        // The checkout goes first: on a full disk it can be removed, but no record can be written.
        self.worktree.remove().await?;
        repo::remove_branch(&self.facts, &self.record.git.branch, &tip)?;
        self.record.end(SessionStatus::Blocked, ABANDONED, self.clock.now());
        Ok(self.save_record().await?)
    }

    /// Deletes a session that leaves nothing, because its request names nothing in the repository or is
    /// answered at once; its name is free again. A failure is only logged, because the caller has
    /// something else to show.
    pub async fn delete(self) {
        let deleted = async {
            self.worktree.remove().await?;
            let git = &self.record.git;
            repo::remove_branch(&self.facts, &git.branch, &git.head_sha)?;
            Ok::<(), OpenError>(store::forget(&state_root(&self.facts), &self.record.session_id)?)
        };
        if let Err(error) = deleted.await {
            tracing::warn!(%error, "a session could not be deleted");
        }
    }

    /// Records at which step the pipeline pauses, and removes the private checkout.
    pub async fn pause(mut self, pipeline: &Pipeline) -> Result<(), OpenError> {
        self.record.rest_at(pipeline);
        self.save_record().await?;
        Ok(self.worktree.remove().await?)
    }

    /// Removes the private checkout and archives the folder of a completed session. Returns where
    /// the session's files are now. Never changes the result (specification.md X37).
    pub async fn archive(self) -> Result<PathBuf, OpenError> {
        let folder = self.folder();
        if self.record.status == SessionStatus::Paused {
            return Ok(folder);
        }
        self.worktree.remove().await?;
        if self.record.status != SessionStatus::Completed {
            return Ok(folder);
        }
        let root = state_root(&self.facts);
        Ok(store::archive(&root, &self.record.session_id, &self.clock.now())?)
    }
}

/// The options of the session that a request names, or of the one that `newest` finds.
fn options_of(
    choice: &SessionChoice,
    facts: &RepositoryFacts,
    newest: impl Fn(&Path) -> Result<Option<SessionRecord>, StoreError>,
) -> Result<Option<Value>, StoreError> {
    let root = state_root(facts);
    let id = match choice {
        SessionChoice::New { .. } => None,
        SessionChoice::Resume { session } => Some(session.clone()),
        SessionChoice::Newest => newest(&root)?.map(|record| record.session_id),
    };
    let folder = id.map(|id| store::session_folder(&root, &id));
    Ok(folder.map(|folder| store::read_file(&folder, OPTIONS)).transpose()?.flatten())
}

/// Completes archiving that earlier runs began (specification.md 8.12), and removes what killed ones left. A
/// failure is reported and left to the next run; it never blocks a session.
pub fn resume_archiving(facts: &RepositoryFacts) -> Vec<String> {
    remove_killed(facts);
    let root = state_root(facts);
    let mut notices = Vec::new();
    for (id, _lock) in store::half_archived(&root) {
        let archived = repo::remove_checkout(facts, &work_root(facts), &id)
            .map_err(OpenError::from)
            .and_then(|()| Ok(store::archive(&root, &id, &host::clock::now())?));
        notices.push(match archived {
            Ok(_) => format!("session {id} was finished and is archived now"),
            Err(error) => format!("session {id} is not archived yet: {error}"),
        });
    }
    notices
}

async fn write_record(store: &SessionStore, record: &SessionRecord) -> Result<(), StoreError> {
    store.write_json(RECORD, &serde_json::to_value(record).unwrap_or_default()).await
}

fn open_worktree(
    facts: &RepositoryFacts,
    record: &SessionRecord,
    branching: Branching,
) -> Result<RepoWorktree, GitError> {
    RepoWorktree::open(
        facts,
        &WorktreeSettings {
            session: &record.session_id,
            branch: &record.git.branch,
            head: &record.git.head_sha,
            work_root: &work_root(facts),
            state_folder: &state_prefix(&record.session_id),
            branching,
        },
    )
}

/// Checks out the commit under test, and says what cannot be had of it.
async fn missing_content(
    worktree: &RepoWorktree,
    record: &SessionRecord,
) -> Result<Vec<String>, GitError> {
    let tree = worktree.tree_of(&record.git.head_sha).await?;
    worktree.checkout(&tree).await?;
    Ok(checkout_gap::describe_gaps(&worktree.gaps(worktree.root())))
}

async fn base_of(
    worktree: &RepoWorktree,
    reference: &str,
    notices: &mut Vec<String>,
) -> Result<Option<(CommitId, TreeId)>, GitError> {
    let Some(commit) = worktree.merge_base(reference).await? else {
        notices.push(format!(
            "there is no merge base with `{reference}` (a shallow clone cuts history), so no failure is reported as introduced by this change"
        ));
        return Ok(None);
    };
    let tree = worktree.tree_of(&commit).await?;
    Ok(Some((commit, tree)))
}

/// Tells a suite with a pattern of reports which files the commit holds.
async fn with_committed(
    mut detection: Detection,
    request: &FixSettings,
    worktree: &RepoWorktree,
    tree: &TreeId,
) -> Result<Detection, GitError> {
    if request.report.is_some() {
        detection.keep_committed(&worktree.files(tree).await?);
    }
    Ok(detection)
}

fn open_suite<'a>(
    request: &FixSettings,
    detection: Detection,
    (facts, store, record): (&RepositoryFacts, &SessionStore, &SessionRecord),
    clock: &'a HostClock,
) -> Result<ProjectSuite<'a>, RunError> {
    let settings = SuiteSettings {
        timeout: request.test_timeout,
        session: store.folder().to_owned(),
        scratch: scratch(facts, &record.session_id),
        layers: request.layers.clone(),
        setup: request.setup.clone(),
        tools: request.tools.clone(),
    };
    suite::open(detection, settings, clock)
}
