//! Creates commits on the fix branch; a commit with the same message is not created twice.

use git2::{Commit, ErrorCode, Oid, Repository, Signature, Time, Tree};

use crate::adapter::host::redaction;
use crate::domain::id::CommitId;
use crate::effect::{CommitRequest, GitError};

use super::objects::name;
use super::{failed, tree};

/// Commits of a branch that are searched for a message, at most.
const LOOKED_THROUGH: usize = 2000;

/// Commits on `branch`, or returns the commit between its tip and `head` with the same message.
pub fn commit(
    repo: &Repository,
    branch: &str,
    head: &CommitId,
    state_folder: &str,
    request: &CommitRequest,
) -> Result<CommitId, GitError> {
    let reference = format!("refs/heads/{branch}");
    let message = redaction::redact(&request.message);
    let tip = repo.refname_to_id(&reference).map_err(failed(format!("read branch {branch}")))?;
    if let Some(found) = find(repo, tip, head, &message)? {
        return name(found);
    }
    let state = request.state.iter();
    let files: Vec<_> = state.map(|file| (file.path.clone(), file.bytes.clone())).collect();
    let sources = tree::find(repo, &request.tree)?.id();
    let with_state = tree::replace_folder(repo, sources, state_folder, &files)?;
    let tree = repo.find_tree(with_state).map_err(failed("read a tree"))?;
    let parent = repo.find_commit(tip).map_err(failed("read the tip"))?;
    let author = author(repo, &request.time)?;
    let oid = repo
        .commit(None, &author, &author, &message, &tree, &[&parent])
        .map_err(failed("write a commit"))?;
    let subject = message.lines().next().unwrap_or_default();
    repo.reference_matching(&reference, oid, true, tip, &format!("commit: {subject}")).map_err(
        |error| match error.code() {
            ErrorCode::Modified => GitError::Refused {
                path: repo.path().to_owned(),
                reason: format!("branch {branch} was moved by someone else"),
                hint: "look at it, then run again with `--resume`".into(),
            },
            ErrorCode::Locked => GitError::Refused {
                path: repo.path().to_owned(),
                reason: format!("branch {branch} is locked: {}", error.message()),
                hint: format!("remove {reference}.lock when no git command runs"),
            },
            _ => failed(format!("move branch {branch}"))(error),
        },
    )?;
    name(oid)
}

/// The commit if it has this tree, else one above it that no branch has.
pub fn with_tree(repo: &Repository, commit: &Commit<'_>, tree: &Tree<'_>) -> Result<Oid, GitError> {
    if commit.tree_id() == tree.id() {
        return Ok(commit.id());
    }
    let (author, committer) = (commit.author(), commit.committer());
    repo.commit(None, &author, &committer, "Files under test", tree, &[commit])
        .map_err(failed("write a commit"))
}

fn find(
    repo: &Repository,
    tip: Oid,
    head: &CommitId,
    message: &str,
) -> Result<Option<Oid>, GitError> {
    let mut oid = tip;
    for _ in 0..LOOKED_THROUGH {
        if oid.to_string() == head.as_str() {
            return Ok(None);
        }
        let commit = repo.find_commit(oid).map_err(failed("read a commit"))?;
        if commit.message().is_ok_and(|text| text == message) {
            return Ok(Some(oid));
        }
        match commit.parent_id(0) {
            Ok(parent) => oid = parent,
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// The user's identity from git's configuration, else regreen's own.
fn author(repo: &Repository, time: &str) -> Result<Signature<'static>, GitError> {
    let seconds = time.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
    let time = Time::new(seconds, 0);
    let known = repo.signature().ok();
    let known = known.as_ref().and_then(|who| Some((who.name().ok()?, who.email().ok()?)));
    let (name, email) = known.unwrap_or(("regreen", "regreen@localhost"));
    Signature::new(name, email, &time).map_err(failed("sign a commit"))
}
