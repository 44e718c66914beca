//! Pushes with a lease: never forces over foreign commits, and rebases onto them at most once.

use std::collections::BTreeSet;

use git2::{Oid, Repository, Sort};

use crate::domain::commit::is_of_session;
use crate::domain::id::{CommitId, SessionId};
use crate::effect::{
    FetchTarget, GitError, PushOutcome, PushRequest, RebasedPushOutcome, Refuser, RemoteError,
};

use super::failed;
use super::git_remote::GitRemote;
use super::objects::{self, find_commit, history, message_of, name, named, oid, tree_of};
use super::pkt_line::{Advertisement, Report, one_line};
use super::transport::Sent;

/// The null object id, by which git denotes a missing reference.
const NOTHING: &str = "0000000000000000000000000000000000000000";

const COMMITS: usize = 2000;

/// How deep we search for the commit at which another person's commits leave ours.
const REBASE_DEPTH: u32 = 3200;

/// Files that are named when a rebase is refused.
const NAMED: usize = 5;

/// The full name of a branch; other references are given by their full name already.
pub fn full_name(name: &str) -> String {
    if name.starts_with("refs/") { name.to_owned() } else { format!("refs/heads/{name}") }
}

impl GitRemote {
    /// Moves a branch of the server from `expected` to `new`, then reads its tip to verify that. A
    /// branch to which somebody else added commits right after that has been moved too.
    ///
    /// A push without a readable answer may have been carried out, so it is repeated only where the
    /// branch shows that it was not.
    pub async fn push(&self, request: &PushRequest) -> Result<PushOutcome, RemoteError> {
        let reference = full_name(&request.branch);
        if !git2::Reference::is_valid_name(&reference) {
            return Err(GitError::UnknownReference { name: request.branch.clone() }.into());
        }
        if request.protected.contains(&request.branch) {
            return Err(RemoteError::Protected { branch: request.branch.clone() });
        }
        let mut attempt = 1;
        let mut before = None;
        loop {
            let offer = self.transport.list_for_push().await?;
            let old = offer.find(&reference).map(named).transpose()?;
            let before: &Option<CommitId> = before.get_or_insert_with(|| old.clone());
            if old.as_ref() == Some(&request.new) {
                let first = attempt == 1;
                return Ok(if first { PushOutcome::AlreadyThere } else { PushOutcome::Done });
            }
            if self.was_added(request, before.as_ref(), old.as_ref()).await? {
                return Ok(PushOutcome::Done);
            }
            if old != request.expected && !self.is_behind(request, old.as_ref()).await? {
                return Ok(PushOutcome::Moved { now: old });
            }
            self.check_replaced(request, old.as_ref()).await?;
            let pack = pack(self, &offer, &request.new)?;
            let from = old.as_ref().map_or(NOTHING, CommitId::as_str);
            let moved = (from, request.new.as_str(), reference.as_str());
            let error = match self.transport.send(&offer, moved, &pack).await {
                Ok(sent) => return self.outcome(request, old.as_ref(), sent).await,
                Err(error) => error,
            };
            if let Err(error) = self.transport.pause_push(error, attempt).await {
                if error.is_transient()
                    && let Ok(now) = self.head_of(&request.branch).await
                    && let Ok(true) = self.was_added(request, before.as_ref(), now.as_ref()).await
                {
                    return Ok(PushOutcome::Done);
                }
                return Err(error);
            }
            attempt += 1;
        }
    }

    /// Deletes a reference of ours that is at `at`. One that is elsewhere or gone is left alone.
    pub async fn delete(&self, reference: &str, at: &CommitId) -> Result<(), RemoteError> {
        let offer = self.transport.list_for_push().await?;
        if offer.find(reference).map(named).transpose()?.as_ref() == Some(at) {
            self.transport.send(&offer, (at.as_str(), NOTHING, reference), &[]).await?;
        }
        Ok(())
    }

    /// The outcome of a push of a branch that was at `old`, by its current tip, not the report.
    async fn outcome(
        &self,
        request: &PushRequest,
        old: Option<&CommitId>,
        sent: Sent,
    ) -> Result<PushOutcome, RemoteError> {
        let now = self.head_of(&request.branch).await?;
        if self.was_added(request, old, now.as_ref()).await? {
            return Ok(PushOutcome::Done);
        }
        match sent.report {
            Report::Refused(reason) if now.as_ref() == old => {
                let text = one_line(&format!("{reason} {}", sent.message));
                Ok(PushOutcome::Rejected { by: refuser(&text), text })
            }
            Report::Refused(_) | Report::Moved => Ok(PushOutcome::Moved { now }),
        }
    }

    /// Whether a branch that was at `before` contains the new tip now. An older commit, which
    /// `before` contains too, is there only as the tip, as where a branch is set back.
    async fn was_added(
        &self,
        request: &PushRequest,
        before: Option<&CommitId>,
        now: Option<&CommitId>,
    ) -> Result<bool, RemoteError> {
        let Some(now) = now.filter(|now| Some(*now) != before) else { return Ok(false) };
        if now == &request.new {
            return Ok(true);
        }
        for commit in before.into_iter().chain([now]) {
            self.fetch_missing(commit).await?;
        }
        let repo = self.repo()?;
        let contains = |tip: &CommitId| -> Result<bool, RemoteError> {
            let found = repo.graph_descendant_of(oid(tip)?, oid(&request.new)?);
            Ok(tip == &request.new || found.map_err(failed("compare two histories"))?)
        };
        Ok(contains(now)? && !before.is_some_and(|before| contains(before).unwrap_or(true)))
    }

    /// Whether a push's answer was lost: the branch is at an earlier commit that `new` contains.
    async fn is_behind(
        &self,
        request: &PushRequest,
        now: Option<&CommitId>,
    ) -> Result<bool, RemoteError> {
        let Some(now) = now else { return Ok(false) };
        Ok(self.is_own_progress(request, now).await?
            && between(&self.repo()?, &request.new, now)?.is_empty())
    }

    /// Whether commits of the session alone moved a branch from `expected` to `now`.
    async fn is_own_progress(
        &self,
        request: &PushRequest,
        now: &CommitId,
    ) -> Result<bool, RemoteError> {
        for commit in request.expected.iter().chain([now]) {
            self.fetch_missing(commit).await?;
        }
        let repo = self.repo()?;
        let from = request.expected.as_ref().unwrap_or(&request.new);
        if !all_of_session(&repo, &[oid(now)?], &request.session)?
            || !all_of_session(&repo, &between(&repo, from, now)?, &request.session)?
        {
            return Ok(false);
        }
        let Some(expected) = &request.expected else { return Ok(true) };
        let after = repo.graph_descendant_of(oid(now)?, oid(expected)?);
        Ok(after.map_err(failed("compare two histories"))?)
    }

    /// Fails when the push would drop commits that are not of the session.
    async fn check_replaced(
        &self,
        request: &PushRequest,
        old: Option<&CommitId>,
    ) -> Result<(), RemoteError> {
        let Some(old) = old else { return Ok(()) };
        self.fetch_missing(old).await?;
        let repo = self.repo()?;
        if all_of_session(&repo, &between(&repo, &request.new, old)?, &request.session)? {
            return Ok(());
        }
        Err(RemoteError::Foreign { branch: request.branch.clone() })
    }

    async fn fetch_missing(&self, commit: &CommitId) -> Result<(), RemoteError> {
        if !self.has(commit)? {
            self.fetch(&FetchTarget::Commit(commit.clone()), None).await?;
        }
        Ok(())
    }

    /// As [`GitRemote::push`]. A branch that only the session itself moved is replaced; when another
    /// person moved it, our commits are set once on top of theirs, provided that no file is touched
    /// by both (specification.md X28). Everything stays in the local store whatever the answer is.
    pub async fn push_rebased(
        &self,
        request: &PushRequest,
    ) -> Result<RebasedPushOutcome, RemoteError> {
        let pushed = self.push(request).await?;
        if let PushOutcome::Moved { now } = &pushed
            && self.was_added(request, request.expected.as_ref(), now.as_ref()).await?
        {
            // An earlier call pushed it and did not wait for the answer.
            return Ok(RebasedPushOutcome::Plain(PushOutcome::Done));
        }
        let theirs = match pushed {
            PushOutcome::Moved { now: Some(late) }
                if self.is_own_progress(request, &late).await? =>
            {
                let again = PushRequest { expected: Some(late), ..request.clone() };
                return Ok(RebasedPushOutcome::Plain(self.push(&again).await?));
            }
            PushOutcome::Moved { now: Some(theirs) } if request.expected.is_some() => theirs,
            PushOutcome::Moved { now } => {
                let reason = match &now {
                    Some(_) => format!("someone else created the branch `{}`", request.branch),
                    None => format!("the branch `{}` was deleted", request.branch),
                };
                return Ok(RebasedPushOutcome::Stopped { now, reason });
            }
            other => return Ok(RebasedPushOutcome::Plain(other)),
        };
        self.fetch(&FetchTarget::Commit(theirs.clone()), None).await?;
        let stopped =
            |reason: String| RebasedPushOutcome::Stopped { now: Some(theirs.clone()), reason };
        let Some(fork) = self.merge_base(&request.new, &theirs, REBASE_DEPTH).await? else {
            return Ok(stopped("the branch was replaced by another history".into()));
        };
        let tip = match rebase(&self.repo()?, &request.new, &theirs, &fork, &request.session)? {
            Ok(tip) => tip,
            Err(reason) => return Ok(stopped(reason)),
        };
        let again =
            PushRequest { expected: Some(theirs.clone()), new: tip.clone(), ..request.clone() };
        let pushed = self.push(&again).await?;
        Ok(RebasedPushOutcome::OnTop { onto: theirs, tip, pushed })
    }
}

/// Classifies a rejected push by the wording of GitHub and git.
fn refuser(text: &str) -> Refuser {
    let text = text.to_ascii_lowercase();
    let has = |part: &str| text.contains(part);
    if has("refusing to allow") && has("workflow") {
        Refuser::WorkflowFiles
    } else if has("protected branch") || has("gh006") || has("gh013") || has("rule violations") {
        Refuser::Protection
    } else if has("hook declined") {
        Refuser::Hook
    } else {
        Refuser::Other
    }
}

/// Commits that are reachable from `to` but not from `from`, oldest first.
pub(super) fn between(
    repo: &Repository,
    from: &CommitId,
    to: &CommitId,
) -> Result<Vec<Oid>, GitError> {
    let order = Sort::TOPOLOGICAL | Sort::REVERSE;
    let walk = history(repo, oid(to)?, &[oid(from)?], order)?;
    let found: Result<Vec<Oid>, _> = walk.take(COMMITS + 1).collect();
    let found = found.map_err(failed("walk the history"))?;
    if found.len() > COMMITS {
        return Err(GitError::Failed {
            action: "compare two histories".into(),
            reason: format!("more than {COMMITS} commits differ"),
        });
    }
    Ok(found)
}

/// Whether all of these commits belong to the session.
pub(super) fn all_of_session(
    repo: &Repository,
    commits: &[Oid],
    session: &SessionId,
) -> Result<bool, GitError> {
    for oid in commits {
        let commit = repo.find_commit(*oid).map_err(failed("read a commit"))?;
        if !is_of_session(&message_of(&commit), session) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A pack of what the server lacks; it has what it advertises, and where our history is cut.
fn pack(remote: &GitRemote, offer: &Advertisement, new: &CommitId) -> Result<Vec<u8>, GitError> {
    let known: BTreeSet<String> =
        offer.references.iter().map(|(_, id)| id.clone()).chain(remote.shallow()?).collect();
    let repo = remote.repo()?;
    let known = known.iter().filter_map(|id| Oid::from_str(id).ok());
    let known: Vec<Oid> = known.filter(|id| repo.find_commit(*id).is_ok()).collect();
    objects::pack(&repo, history(&repo, oid(new)?, &known, Sort::NONE)?)
}

/// Rebases our commits onto theirs; the inner error says why a person must decide.
fn rebase(
    repo: &Repository,
    ours: &CommitId,
    theirs: &CommitId,
    fork: &CommitId,
    session: &SessionId,
) -> Result<Result<CommitId, String>, GitError> {
    let commits = between(repo, theirs, ours)?;
    if commits.is_empty() {
        return Ok(Err("the branch holds our commits already, and more".into()));
    }
    if let Some(reason) = overlap(repo, fork, ours, theirs)? {
        return Ok(Err(reason));
    }
    cherry_pick_onto(repo, &commits, theirs, session)
}

/// Why two histories must not be combined automatically: the files that both change.
pub(super) fn overlap(
    repo: &Repository,
    fork: &CommitId,
    ours: &CommitId,
    theirs: &CommitId,
) -> Result<Option<String>, GitError> {
    let (mine, others) = (touched(repo, fork, ours)?, touched(repo, fork, theirs)?);
    let both: Vec<&str> = mine.intersection(&others).map(String::as_str).take(NAMED).collect();
    Ok((!both.is_empty())
        .then(|| format!("someone else changed {} too", one_line(&both.join(", ")))))
}

/// Applies commits, oldest first, onto another; the inner error says why a person must decide.
pub(super) fn cherry_pick_onto(
    repo: &Repository,
    commits: &[Oid],
    onto: &CommitId,
    session: &SessionId,
) -> Result<Result<CommitId, String>, GitError> {
    if !all_of_session(repo, commits, session)? {
        return Ok(Err("commits that are not of this session would be rewritten".into()));
    }
    let mut onto = find_commit(repo, onto)?;
    for id in commits {
        let commit = repo.find_commit(*id).map_err(failed("read a commit"))?;
        if commit.parent_count() != 1 {
            return Ok(Err("a merge commit cannot be rebased".into()));
        }
        let mut index = repo
            .cherrypick_commit(&commit, &onto, 0, None)
            .map_err(failed("set a commit on top of another"))?;
        if index.has_conflicts() {
            return Ok(Err("our commits conflict with the others".into()));
        }
        let tree = index.write_tree_to(repo).map_err(failed("write a tree"))?;
        let tree = repo.find_tree(tree).map_err(failed("read a tree"))?;
        let message = commit.message().map_err(failed("read a message"))?;
        let made = repo
            .commit(None, &commit.author(), &commit.committer(), message, &tree, &[&onto])
            .map_err(failed("write a commit"))?;
        onto = repo.find_commit(made).map_err(failed("read a commit"))?;
    }
    Ok(Ok(name(onto.id())?))
}

/// Paths that differ between two commits; a renamed file counts with both of its names.
fn touched(
    repo: &Repository,
    from: &CommitId,
    to: &CommitId,
) -> Result<BTreeSet<String>, GitError> {
    let diff = repo
        .diff_tree_to_tree(Some(&tree_of(repo, from)?), Some(&tree_of(repo, to)?), None)
        .map_err(failed("compare two trees"))?;
    let paths = diff.deltas().flat_map(|delta| {
        [delta.old_file().path_bytes(), delta.new_file().path_bytes()]
            .map(|path| path.map(|path| String::from_utf8_lossy(path).into_owned()))
    });
    Ok(paths.flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_known_by_their_words() {
        let table = [
            (
                "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission",
                Refuser::WorkflowFiles,
            ),
            ("protected branch hook declined error: GH006", Refuser::Protection),
            ("push declined due to repository rule violations GH013", Refuser::Protection),
            ("pre-receive hook declined no thanks", Refuser::Hook),
            ("failed to update ref", Refuser::Other),
        ];
        for (text, expected) in table {
            assert_eq!(refuser(text), expected, "{text}");
        }
    }
}
