//! Publishes the worker's commits: inspects every bundle again, pushes with a lease, and offers the
//! result as one pull request (specification.md 4.14).

use std::time::Duration;

use globset::GlobSet;

use crate::adapter::repo::{self, Overlap, Present, RepositoryFacts};
use crate::adapter::store::STATE_FOLDER;
use crate::domain::id::{CommitId, SessionId};
use crate::effect::{FileDiff, PushOutcome, PushRequest, RebasedPushOutcome, RemoteError};
use crate::role::vet;

use super::context::Context;
use super::limits::Destination;
use super::prepare;

/// The reference that stores a result until somebody applies it; it is not a branch.
pub fn stored(tip: &CommitId) -> String {
    format!("refs/regreen/results/{tip}")
}

/// What has been published of a session's commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// The tip that the server has.
    pub tip: Option<CommitId>,
    /// The stored result that waits to be applied.
    pub stored: Option<CommitId>,
    /// The commit that the forge made of the result and signed.
    pub signed: Option<CommitId>,
    /// Whether the head branch is at this tip too.
    pub on_head: bool,
    /// The pull request with the fix, or the page that opens one.
    pub pull: Option<(Option<u64>, String)>,
    /// Why nothing more is published, in our own words; quotes of a server's answer are untrusted.
    pub held: Option<String>,
    /// What holds it.
    pub held_by: HeldBy,
    /// Messages for the user, in our own words.
    pub notices: Vec<String>,
}

/// Attempts to read a bundle that the worker is writing, and the time between two.
const READS: u32 = 5;
const WRITING: Duration = Duration::from_millis(200);

/// What keeps commits from being published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeldBy {
    /// The server refused them or could not be reached.
    #[default]
    Server,
    /// Commits of others are where they would go.
    Conflict,
    /// The commits themselves: a guard refused them.
    Guard,
}

impl Published {
    /// Whether a later job may publish what this one did not. What a guard refused is refused again.
    pub fn is_publishable_later(&self) -> bool {
        self.held.is_some() && self.held_by != HeldBy::Guard
    }

    /// The newest commit of the session that the server has.
    pub fn server_tip(&self) -> Option<&CommitId> {
        self.tip.as_ref().or(self.stored.as_ref())
    }
}

/// Publishes the commits of one session.
pub struct Commits<'a> {
    pub context: &'a Context<'a>,
    /// The checkout.
    pub facts: &'a RepositoryFacts,
    pub session: SessionId,
    pub branch: String,
    pub destination: Destination,
    /// Globs of the configuration that no edit may touch.
    pub protect: GlobSet,
    /// The tip of the fix branch before this run.
    pub expected: Option<CommitId>,
    pub published: Published,
    /// The combined changes of the published commits.
    pub diff: Vec<FileDiff>,
    /// The branch that holds the signed commit.
    pub offered: Option<String>,
    /// The last tip of the worker that was inspected.
    pub seen: Option<CommitId>,
    /// A tip of the worker, and the same commit rebased onto foreign commits on the server.
    pub carried: Option<(CommitId, CommitId)>,
}

impl<'a> Commits<'a> {
    /// A publisher of the commits of `session`, whose fix branch is at `expected`.
    pub fn new(
        context: &'a Context<'_>,
        session: &SessionId,
        destination: Destination,
        expected: Option<CommitId>,
        facts: &'a RepositoryFacts,
    ) -> Self {
        Self {
            context,
            facts,
            session: session.clone(),
            branch: session.branch(),
            destination,
            protect: context
                .prepared
                .settings
                .protected(None, &|file| repo::committed_text(facts, file)),
            expected,
            published: Published::default(),
            diff: Vec::new(),
            offered: None,
            seen: None,
            carried: None,
        }
    }

    /// Whether the result becomes one commit that the forge signs.
    pub fn is_signed(&self) -> bool {
        self.context.prepared.settings.signed == Some(true)
    }

    /// A push of `new` to a branch that is at `expected` and not one of the `protected` ones.
    pub(super) fn request(
        &self,
        branch: &str,
        expected: Option<CommitId>,
        new: &CommitId,
        protected: Vec<String>,
    ) -> PushRequest {
        let (branch, new, session) = (branch.to_owned(), new.clone(), self.session.clone());
        PushRequest { branch, expected, new, session, protected }
    }

    /// Inspects the bundle in a folder and pushes it if it is new. `Err` is a temporary failure:
    /// try again later. A bundle that is still `growing` may be read while the worker writes it, so
    /// only what it left in the end is refused for its form.
    pub async fn publish(&mut self, bundle: &std::path::Path, growing: bool) -> Result<(), String> {
        if self.destination == Destination::Nowhere || self.published.held.is_some() {
            return Ok(());
        }
        let present = Present {
            repository: self.context.target.repository.clone(),
            head: self.context.target.head.clone(),
            base: self.context.prepared.base.clone(),
            state_folder: STATE_FOLDER.into(),
            secrets: self.context.prepared.redactor.clone(),
        };
        let scratch = prepare::folder(self.context.target).join("scratch");
        let mut attempt = 1;
        let imported = loop {
            match repo::import_bundle(self.facts, bundle, &present, &scratch) {
                Ok(imported) => break imported,
                Err(repo::BundleError::Missing(_)) => return Ok(()),
                Err(error) if growing && attempt == READS => return Err(error.to_string()),
                Err(_) if growing => self.context.clock.wait(WRITING).await,
                Err(error) => {
                    let hint = error.hint();
                    self.refuse(&format!("{error}; {hint}"));
                    return Ok(());
                }
            }
            attempt += 1;
        };
        let of = &imported.bundle.of;
        if of.session != self.session || of.branch != self.branch {
            self.refuse("they are of another session");
            return Ok(());
        }
        if self.seen.as_ref() == Some(&of.tip) || !self.is_fit(&imported.diff) {
            return Ok(());
        }
        let tip = of.tip.clone();
        self.diff = imported.diff;
        if self.destination == Destination::Stored {
            self.store(&tip).await?;
        } else {
            self.push(&tip).await?;
        }
        self.seen = Some(tip);
        Ok(())
    }

    /// Publishes the stored commit `tip`, whose changes are `diff`; `Err` is a temporary failure.
    pub async fn apply(
        &mut self,
        tip: &CommitId,
        diff: Vec<FileDiff>,
    ) -> Result<Option<CommitId>, String> {
        if !self.is_fit(&diff) {
            return Ok(None);
        }
        self.diff = diff;
        self.send(tip).await
    }

    /// Stores a result of this job, whose changes are `diff`; `Err` is a temporary failure.
    pub async fn offer_result(
        &mut self,
        tip: &CommitId,
        diff: Vec<FileDiff>,
    ) -> Result<(), String> {
        if self.is_fit(&diff) { self.store(tip).await } else { Ok(()) }
    }

    /// Whether the guards allow a change; if not, nothing more is published.
    fn is_fit(&mut self, diff: &[FileDiff]) -> bool {
        let limits = vet::VetContext {
            protect: &self.protect,
            state_root: STATE_FOLDER,
            redactor: &self.context.prepared.redactor,
            reach: self.context.prepared.settings.scope().reach_of_session(),
        };
        let broken = vet::published(diff, &limits);
        if broken.is_empty() {
            return true;
        }
        let names: Vec<String> = broken.iter().map(ToString::to_string).collect();
        self.refuse(&names.join("; "));
        false
    }

    /// Pushes a result to a reference outside of all branches.
    async fn store(&mut self, tip: &CommitId) -> Result<(), String> {
        let request = self.request(&stored(tip), None, tip, vec![]);
        match self.context.prepared.remote.push(&request).await {
            Ok(PushOutcome::Done | PushOutcome::AlreadyThere) => {
                self.published.stored = Some(tip.clone());
            }
            Ok(PushOutcome::Rejected { by, text }) => {
                self.hold(format!("the result is not stored: {text}; {}", by.hint()));
            }
            Ok(PushOutcome::Moved { .. }) => {
                self.conflict("another result is already stored under this name".into());
            }
            Err(error) if error.is_transient() => return Err(error.to_string()),
            Err(error) => self.hold_for(&error),
        }
        Ok(())
    }

    /// Pushes a tip of the worker; once foreign commits lie below ours, rebased onto those.
    async fn push(&mut self, tip: &CommitId) -> Result<(), String> {
        let Some((from, onto)) = self.carried.clone() else {
            if let Some(made) = self.send(tip).await? {
                self.carried = Some((tip.clone(), made));
            }
            return Ok(());
        };
        let pair = (&from, tip);
        let made = self.context.prepared.clone.rebase_session(
            pair,
            &onto,
            &self.session,
            Overlap::Refused,
        );
        match made.map_err(|error| error.to_string())? {
            Ok(made) => {
                let again = self.send(&made).await?;
                if self.published.held.is_none() {
                    self.carried = Some((tip.clone(), again.unwrap_or(made)));
                }
            }
            Err(reason) => {
                self.conflict(reason);
            }
        }
        Ok(())
    }

    /// Pushes one commit with a lease; returns the commit that replaces it if it had to be rebased.
    pub(super) async fn send(&mut self, tip: &CommitId) -> Result<Option<CommitId>, String> {
        let target = self.context.target;
        let mut protected = vec![target.default_branch.clone()];
        protected.extend(target.base_branch.clone());
        protected.extend(target.head_branch.clone());
        let expected = self.published.tip.clone().or_else(|| self.expected.clone());
        let request = self.request(&self.branch, expected, tip, protected);
        let rebased = match self.context.prepared.remote.push_rebased(&request).await {
            Ok(rebased) => rebased,
            Err(error) if error.is_transient() => return Err(error.to_string()),
            Err(error) => {
                self.hold_for(&error);
                return Ok(None);
            }
        };
        match rebased {
            RebasedPushOutcome::Plain(pushed) => self.pushed(tip, pushed),
            RebasedPushOutcome::OnTop { onto, tip, pushed } => {
                self.pushed(&tip, pushed);
                if self.published.held.is_none() {
                    // The worker does not know those commits.
                    self.note(format!(
                        "someone pushed {} to `{}`: our commits are on top of it, and were tested without it",
                        onto.short(),
                        self.branch
                    ));
                    return Ok(Some(tip));
                }
            }
            RebasedPushOutcome::Stopped { reason, .. } => {
                self.conflict(reason);
            }
        }
        Ok(None)
    }

    fn pushed(&mut self, tip: &CommitId, pushed: PushOutcome) {
        match pushed {
            PushOutcome::Done | PushOutcome::AlreadyThere => self.published.tip = Some(tip.clone()),
            PushOutcome::Rejected { by, text } => {
                self.hold(format!("the server refused the push: {text}; {}", by.hint()));
            }
            PushOutcome::Moved { .. } => {
                let branch = &self.branch;
                self.conflict(format!("`{branch}` moved while it was pushed; it is left alone"));
            }
        }
    }

    /// Publishes nothing more, because of what the commits are.
    fn refuse(&mut self, why: &str) {
        self.published.held_by = HeldBy::Guard;
        self.hold(format!("the commits were not taken over: {why}"));
    }

    /// Publishes nothing more, because commits of others are where these would go.
    fn conflict(&mut self, why: String) {
        self.published.held_by = HeldBy::Conflict;
        self.hold(why);
    }

    /// Publishes nothing more, because the server refused a push for good.
    fn hold_for(&mut self, error: &RemoteError) {
        let why = format!("{error}; {}", error.hint());
        if error.is_push_denied() {
            // The log says it already.
            self.published.held = Some(why);
        } else {
            self.hold(why);
        }
    }

    /// Publishes nothing more, for this reason.
    pub(super) fn hold(&mut self, why: String) {
        tracing::warn!(why, "nothing more is published");
        self.published.held = Some(why);
    }

    /// Tells the user, in the comment and in the log.
    pub(super) fn note(&mut self, text: String) {
        tracing::warn!("{text}");
        self.published.notices.push(text);
    }
}
