//! Delivers pushed commits: pull request, signed commit, head branch, lessons.

use crate::adapter::store::STATE_FOLDER;
use crate::domain::commit;
use crate::domain::event::Outcome;
use crate::effect::{BranchCommit, ForgeError, ForgeErrorKind, NewPull, PushOutcome};
use crate::report::lessons;

use super::commits::Commits;
use super::limits::Destination;

/// The hidden first line by which the pull request of a session is found again.
pub fn fix_marker(session: &str) -> String {
    format!("<!-- regreen:fix {session} -->")
}

impl Commits<'_> {
    /// Records what the session taught, in a separate commit (specification.md 9.5).
    /// Returns whether the branch now stands on commits of others, with which nothing was tested.
    pub async fn sync(&mut self, outcome: &Outcome) -> bool {
        let (clone, now) = (&self.context.prepared.clone, self.context.clock.now());
        let date = now.get(..10).unwrap_or(&now);
        let (Some(tip), None) = (self.published.tip.clone(), &self.published.held) else {
            return false;
        };
        let read = |name: &str| {
            let bytes = clone.file_of(&tip, &format!("{STATE_FOLDER}/{name}")).ok()??;
            String::from_utf8(bytes).ok()
        };
        let files: Vec<(String, Vec<u8>)> = lessons::files(outcome, date, read)
            .into_iter()
            .map(|(name, text)| (format!("{STATE_FOLDER}/{name}"), text.into_bytes()))
            .collect();
        if files.is_empty() {
            return false;
        }
        let made = clone.with_files(&tip, &files, &commit::sync(&self.session));
        let pushed = match made {
            Ok(new) => self.send(&new).await,
            Err(error) => Err(error.to_string()),
        };
        match pushed {
            Ok(rebased) => rebased.is_some(),
            Err(error) => {
                self.note(format!("the lessons could not be recorded: {error}"));
                false
            }
        }
    }

    /// Moves the head branch itself to the published tip (`publish: head`).
    pub async fn move_head(&mut self) {
        let target = self.context.target;
        let (Some(tip), Some(branch)) = (&self.published.tip, &target.head_branch) else {
            return;
        };
        if self.destination != Destination::Head || target.foreign || self.published.on_head {
            return;
        }
        let request = self.request(branch, Some(target.head.clone()), tip, vec![]);
        // On top of newer commits it would stand untested on somebody's branch.
        let problem = match self.context.prepared.remote.push(&request).await {
            Ok(PushOutcome::Done | PushOutcome::AlreadyThere) => {
                self.published.on_head = true;
                return;
            }
            Ok(PushOutcome::Rejected { by, text }) => {
                format!("the server refused: {text}; {}", by.hint())
            }
            Ok(PushOutcome::Moved { .. }) => "it moved".into(),
            Err(error) => format!("{error}; {}", error.hint()),
        };
        self.note(format!(
            "the head branch was left alone ({problem}); the commits are on `{}`",
            self.branch
        ));
    }

    /// Makes the result one commit that the forge creates and signs, on a separate branch beside
    /// the one that shows every step.
    /// `Err` is a temporary failure.
    pub async fn sign(&mut self, title: &str) -> Result<(), ForgeError> {
        let (target, remote) = (self.context.target, &self.context.prepared.remote);
        if !self.is_signed() || self.published.tip.is_none() || self.offered.is_some() {
            return Ok(());
        }
        let branch = format!("{}-signed", self.branch);
        let problem = match remote.head_of(&branch).await {
            Err(error) => Some(error.to_string()),
            Ok(now) => {
                let protected = vec![target.default_branch.clone()];
                let request = self.request(&branch, now, &target.head, protected);
                match remote.push(&request).await {
                    Ok(PushOutcome::Done | PushOutcome::AlreadyThere) => None,
                    Ok(PushOutcome::Rejected { text, .. }) => Some(text),
                    Ok(PushOutcome::Moved { .. }) => Some("it moved".into()),
                    Err(error) => Some(error.to_string()),
                }
            }
        };
        if let Some(problem) = problem {
            self.note(format!("there is no signed commit: {problem}"));
            return Ok(());
        }
        let (mut additions, mut deletions) = (Vec::new(), Vec::new());
        for change in &self.diff {
            match &change.after {
                Some(text) => additions.push((change.file.clone(), text.clone().into_bytes())),
                None => deletions.push(change.file.clone()),
            }
        }
        let commit = BranchCommit {
            branch: branch.clone(),
            expected_head: target.head.clone(),
            headline: title.to_owned(),
            body: format!(
                "Every step is on `{}`.\n\n{}: {}",
                self.branch,
                commit::SESSION,
                self.session
            ),
            additions,
            deletions,
        };
        match self.context.forge.commit_on_branch(&commit).await {
            Ok(signed) => {
                self.offered = Some(branch);
                self.published.signed = Some(signed);
            }
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => {
                self.note(format!("there is no signed commit: {error}"));
            }
        }
        Ok(())
    }

    /// Starts a workflow on the fix branch, since a push with a job's token starts none.
    pub async fn check(&mut self) {
        let workflow = self.context.prepared.settings.check_workflow.as_ref();
        let Some(workflow) = workflow.filter(|_| self.published.tip.is_some()) else { return };
        let branch = self.offered.as_ref().unwrap_or(&self.branch);
        if let Err(error) = self.context.forge.dispatch_workflow(workflow, branch).await {
            let hint = error.hint();
            self.note(format!("`check-workflow`: {error}; {hint}"));
        }
    }

    /// Opens the pull request with the fix, or finds it; `Err` is a temporary failure.
    pub async fn open_pull(&mut self, title: &str, body: &str) -> Result<(), ForgeError> {
        let (target, forge) = (self.context.target, self.context.forge);
        if self.published.tip.is_none()
            || self.destination != Destination::Branch
            || self.published.pull.is_some()
        {
            return Ok(());
        }
        let onto = if target.foreign { None } else { target.head_branch.clone() };
        let base = onto.or_else(|| target.base_branch.clone());
        let base = base.unwrap_or_else(|| target.default_branch.clone());
        let new = NewPull {
            head: self.offered.clone().unwrap_or_else(|| self.branch.clone()),
            base: base.clone(),
            title: title.to_owned(),
            body: body.to_owned(),
            draft: false,
            marker: fix_marker(self.session.as_str()),
        };
        match forge.open_pull(&new).await {
            Ok(put) => self.published.pull = Some((Some(put.number), put.url)),
            Err(error) if error.is_transient() => return Err(error),
            Err(error) => {
                self.published.pull = Some((None, forge.compare_link(&base, &self.branch)));
                let why = match error.kind {
                    ForgeErrorKind::CreationForbidden => error.hint(),
                    _ => format!("{error}; {}", error.hint()),
                };
                self.note(format!("no pull request was opened: {why}"));
            }
        }
        Ok(())
    }
}
