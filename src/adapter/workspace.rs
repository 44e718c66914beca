//! A session that fixes, characterises or measures: its record, its private checkout, its suite.

use std::path::PathBuf;

use crate::domain::event::{Ending, Outcome};
use crate::domain::id::{CommitId, TreeId};
use crate::domain::request::{FixSettings, Mode};
use crate::domain::session::{SessionRecord, SessionStatus};
use crate::effect::{Clock, GitError, Observer, RunError, Store, StoreError, Worktree};

use super::host::clock::HostClock;
use super::host::sandbox::Protection;
use super::open_error::OpenError;
use super::opening::{notices, resume_archiving, write_record};
use super::paths::{scratch, state_prefix, state_root, work_root};
use super::repo::{self, Branching, RepoWorktree, RepositoryFacts, WorktreeSettings};
use super::session_choice::{ABANDONED, choose, repair_state};
use super::session_effects::SessionEffects;
use super::store::{self, STATE_FOLDER, SessionStore};
use super::suite::{self, Detection, ProjectSuite, SuiteSettings};
use super::test_code::protection;

/// Everything that belongs to one session of one repository.
pub struct Workspace<'a> {
    /// Git as it was found.
    pub facts: RepositoryFacts,
    /// The session's record.
    pub record: SessionRecord,
    /// The merge base and its sources, when a base reference was given.
    pub base: Option<(CommitId, TreeId)>,
    /// What a person should know, in our own words.
    pub notices: Vec<String>,
    /// What test code can reach, and what it cannot.
    pub protection: &'static Protection,
    /// Whether another commit is checked out than the one the session began on.
    pub moved: bool,
    /// What keeps the contract.
    pub hands: SessionEffects<'a>,
    root: PathBuf,
}

impl<'a> Workspace<'a> {
    /// Finds the repository, the suite and the session, and prepares the private checkout.
    /// Nothing is created before the repository and the suite are known to be usable.
    /// An error leaves the repository as it was.
    pub async fn open(
        request: &FixSettings,
        clock: &'a HostClock,
    ) -> Result<Workspace<'a>, OpenError> {
        let facts = repo::discover(&request.repository)?;
        let command = request.test_command.as_deref();
        let (root, below) = (&facts.root, &facts.subdirectory);
        let detection = match suite::detect(root, below, command, request.report.as_deref()) {
            // The tests of a session that goes on may be on its branch only.
            Err(RunError::UnknownFramework { .. }) if !request.session.is_new() => {
                suite::detect_or_begin(root, below, command)?
            }
            other => other?,
        };
        Self::open_with(request, facts, detection, clock).await
    }

    /// The same for a suite that was detected before, or that is to be begun.
    /// An error leaves the repository as it was.
    pub async fn open_with(
        request: &FixSettings,
        facts: RepositoryFacts,
        detection: Detection,
        clock: &'a HostClock,
    ) -> Result<Workspace<'a>, OpenError> {
        let protection = protection()?;
        // What is missing may be what the set-up installs.
        if let Some(missing) = detection.missing.first().filter(|_| request.setup.is_empty()) {
            let command = detection.facts.command.clone();
            return Err(RunError::NotStarted { command, reason: missing.clone() }.into());
        }
        if let Some(reference) = &request.base {
            repo::check_reference(&facts, reference)?;
        }
        let root = state_root(&facts);
        let mut notices = notices(&facts);
        notices.extend(resume_archiving(&facts));
        let (record, restored) = choose(request, &facts, &root, clock, &mut notices)?;
        let moved = record.git.head_sha != facts.head;
        if moved {
            notices.push(format!(
                "{} moved from {} to {} since this session began; it goes on with {}, and runs a new baseline first",
                facts.branch.as_deref().unwrap_or("the head"),
                record.git.head_sha.short(),
                facts.head.short(),
                record.git.head_sha.short(),
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
        // The record comes before the branch: what a kill leaves behind is known by name.
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
                branching: if request.mode == Mode::Apply {
                    Branching::Branch
                } else {
                    Branching::Detached
                },
            },
        );
        let worktree = match worktree {
            Ok(worktree) => worktree,
            Err(error) => {
                if request.session.is_new() {
                    store::forget(&root, &record.session_id)?;
                }
                return Err(error.into());
            }
        };
        let base = match &request.base {
            Some(reference) => base_of(&worktree, reference, &mut notices).await?,
            None => None,
        };
        let scratch = scratch(&facts, &record.session_id);
        let suite = open_suite(request, detection, &store, scratch, clock)?;
        let mut workspace = Self {
            facts,
            record,
            base,
            notices,
            protection,
            moved,
            hands: SessionEffects { clock, store, worktree, suite },
            root,
        };
        workspace.record.git.base_sha = workspace.base.as_ref().map(|(commit, _)| commit.clone());
        workspace.save_record().await?;
        Ok(workspace)
    }

    /// A private folder of this session outside of every checkout.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        scratch(&self.facts, &self.record.session_id)
    }

    /// The session's folder inside commits.
    #[must_use]
    pub fn state_prefix(&self) -> String {
        state_prefix(&self.record.session_id)
    }

    /// Where the session's folder goes when it is archived.
    #[must_use]
    pub fn archive_folder(&self) -> PathBuf {
        store::archive_folder(&self.root, &self.record.session_id)
    }

    /// Writes the session's record.
    pub async fn save_record(&self) -> Result<(), StoreError> {
        write_record(&self.hands.store, &self.record).await
    }

    /// Notes how a run ended in the session's record.
    pub async fn conclude(&mut self, outcome: &Outcome) -> Result<(), StoreError> {
        self.record.status = match outcome.result {
            Ending::Success | Ending::PartialSuccess | Ending::Planned => SessionStatus::Completed,
            Ending::Failure => SessionStatus::Blocked,
            Ending::Blocked => SessionStatus::Paused,
        };
        self.record.review_flag = outcome.result == Ending::PartialSuccess;
        self.record.final_pass_rate = outcome.last;
        self.record.result = serde_json::to_value(outcome.result)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned));
        if outcome.result != Ending::Blocked {
            self.record.completed_at = Some(self.hands.clock.now());
        }
        self.save_record().await
    }

    /// Takes back a session that failed before it changed anything: no branch and no checkout
    /// stay. Its logs do, until the next session takes its name.
    pub async fn abandon(mut self) -> Result<(), OpenError> {
        let tip = self.hands.worktree.tip().await?;
        if tip != self.record.git.head_sha {
            return Ok(());
        }
        // Removing needs no room on a full disk; writing the record does.
        self.hands.worktree.remove().await?;
        repo::remove_branch(&self.facts, &self.record.git.branch, &tip)?;
        self.record.status = SessionStatus::Blocked;
        self.record.result = Some(ABANDONED.to_owned());
        self.record.completed_at = Some(self.hands.clock.now());
        self.save_record().await?;
        Ok(())
    }

    /// Removes the private checkout and, for a completed session, archives its folder. Returns
    /// the folder where the session's files are now. Never changes the result (specification.md X37).
    pub async fn finish(self) -> Result<PathBuf, OpenError> {
        let id = self.record.session_id.clone();
        let folder = self.hands.store.folder().to_owned();
        if self.record.status == SessionStatus::Paused {
            return Ok(folder);
        }
        self.hands.worktree.remove().await?;
        if self.record.status != SessionStatus::Completed {
            return Ok(folder);
        }
        Ok(store::archive(&self.root, &id, &self.hands.clock.now())?)
    }

    /// Who makes watched calls of functions.
    #[must_use]
    pub fn observer(&self) -> &dyn Observer {
        &self.hands.suite
    }

    /// Notes that the session is over, in a word of ours.
    pub async fn close(&mut self, result: &str) -> Result<(), StoreError> {
        self.record.status = SessionStatus::Completed;
        self.record.result = Some(result.to_owned());
        self.record.completed_at = Some(self.hands.clock.now());
        self.save_record().await
    }

    /// Notes that the session waits for a person's word.
    pub async fn hold(&mut self) -> Result<(), StoreError> {
        self.record.status = SessionStatus::Paused;
        self.record.result = Some("blocked".to_owned());
        self.save_record().await
    }
}

async fn base_of(
    worktree: &RepoWorktree,
    reference: &str,
    notices: &mut Vec<String>,
) -> Result<Option<(CommitId, TreeId)>, GitError> {
    let Some(commit) = worktree.merge_base(reference).await? else {
        notices.push(format!(
            "there is no merge base with `{reference}` (a shallow clone cuts history), so no failure is called introduced"
        ));
        return Ok(None);
    };
    let tree = worktree.tree_of(&commit).await?;
    Ok(Some((commit, tree)))
}

fn open_suite<'a>(
    request: &FixSettings,
    detection: Detection,
    store: &SessionStore,
    scratch: PathBuf,
    clock: &'a HostClock,
) -> Result<ProjectSuite<'a>, RunError> {
    let settings = SuiteSettings {
        timeout: request.test_timeout,
        session: store.folder().to_owned(),
        scratch,
        layers: request.layers.clone(),
        setup: request.setup.clone(),
        tools: request.tools.clone(),
    };
    suite::open(detection, settings, clock)
}
