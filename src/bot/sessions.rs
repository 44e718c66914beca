//! The sessions of a target on the server: their names, the newest one, and their checkout.

use crate::adapter::repo::{RepositoryFacts, ScratchHead};
use crate::domain::id::{CommitId, SessionId};
use crate::domain::session::SessionKind;
use crate::effect::PullState;
use crate::report::final_state::FinalState;
use crate::report::forge_page::{EarlierWork, ForgePage, Place};
use crate::report::view::View;

use super::commits::stored;
use super::context::Context;
use super::error::BotError;
use super::fix_branch::{self, FixBranch};
use super::session_snapshots::{self, PendingSession};
use super::worker;

/// Numbers that the sessions of one target may take.
pub const NAMES: u32 = 20;

/// The kinds of sessions that a target may have.
const KINDS: [SessionKind; 2] = [SessionKind::Test, SessionKind::Integration];

/// The names that sessions of the target may have, in their order.
pub fn names(context: &Context<'_>) -> impl Iterator<Item = SessionId> {
    (1..=NAMES).flat_map(|number| names_of(context, number))
}

/// The names with one number, of which one session takes one.
fn names_of(context: &Context<'_>, number: u32) -> impl Iterator<Item = SessionId> {
    KINDS.into_iter().filter_map(move |kind| context.target.session_of(kind, number))
}

/// Whether a session of another kind has the number of this name.
pub async fn is_number_taken(context: &Context<'_>, session: &SessionId) -> Result<bool, BotError> {
    for number in 1..=NAMES {
        let names: Vec<SessionId> = names_of(context, number).collect();
        if !names.contains(session) {
            continue;
        }
        for other in names.iter().filter(|other| *other != session) {
            if is_known(context, other).await? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether the server knows a session.
async fn is_known(context: &Context<'_>, session: &SessionId) -> Result<bool, BotError> {
    Ok(fix_branch::exists(context.prepared, session.as_str()).await?
        || session_snapshots::exists(context.prepared, session).await?)
}

/// A session, with what the server knows about it.
pub struct KnownSession {
    pub session: SessionId,
    /// Its fix branch; `None` before its first commit, or when the branch is gone.
    pub branch: Option<FixBranch>,
}

impl KnownSession {
    /// Reads the events of the session.
    pub async fn view(&self, context: &Context<'_>) -> Result<View, BotError> {
        let tip = self.branch.as_ref().map(|branch| &branch.tip);
        read_view(context, &self.session, tip).await
    }
}

/// The sessions of the target that the server knows, oldest first.
pub async fn known(context: &Context<'_>) -> Result<Vec<KnownSession>, BotError> {
    let mut sessions = Vec::new();
    for number in 1..=NAMES {
        let before = sessions.len();
        for session in names_of(context, number) {
            let branch = fix_branch::read(context.prepared, context.target, &session).await?;
            if branch.is_some() || session_snapshots::exists(context.prepared, &session).await? {
                sessions.push(KnownSession { session, branch });
            }
        }
        if sessions.len() == before {
            break;
        }
    }
    Ok(sessions)
}

/// The newest session of the target.
pub async fn newest(context: &Context<'_>) -> Result<Option<KnownSession>, BotError> {
    Ok(known(context).await?.pop())
}

/// The newest session that plans or writes tests and has no branch yet.
pub async fn newest_pending(context: &Context<'_>) -> Result<Option<PendingSession>, BotError> {
    for known in known(context).await?.into_iter().rev().filter(|known| known.branch.is_none()) {
        let pending = session_snapshots::pending(context.prepared, &known.session).await?;
        if pending.as_ref().is_some_and(PendingSession::has_more_to_do) {
            return Ok(pending);
        }
    }
    Ok(None)
}

/// The first name without a branch and without a snapshot.
pub async fn free_name(context: &Context<'_>) -> Result<Option<SessionId>, BotError> {
    for session in names(context).filter(|name| !name.is_integration()) {
        if !is_known(context, &session).await? && !is_number_taken(context, &session).await? {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

/// What other sessions made for the head and nobody merged, closed or took back; oldest first.
pub async fn earlier(context: &Context<'_>, current: &str) -> Result<Vec<EarlierWork>, BotError> {
    let mut earlier = Vec::new();
    let server_url = context.env.server();
    let page = ForgePage { server_url, idle: true, ..ForgePage::default() };
    for known in known(context).await?.into_iter().filter(|one| one.session.as_str() != current) {
        let view = known.view(context).await?;
        let Some(state) = FinalState::of(&view, &page) else { continue };
        let holds_work = view.improvements() > 0 || !view.written.is_empty();
        let is_of_head = view.head.as_ref() == Some(&context.target.head);
        if !holds_work || !is_of_head || state == FinalState::Reverted {
            continue;
        }
        let place = match known.branch {
            Some(_) => fix_page(context, known.session.as_str()).await.map(Place::Page),
            None => stored_result(context, &view).await?.map(Place::Stored),
        };
        let heading = state.heading(&view, &page);
        earlier.extend(place.map(|place| EarlierWork { heading, place }));
    }
    Ok(earlier)
}

/// The result of a session that is stored until somebody applies it.
pub async fn stored_result(
    context: &Context<'_>,
    view: &View,
) -> Result<Option<CommitId>, BotError> {
    let Some(tip) = view.outcome.as_ref().and_then(|outcome| outcome.tip.clone()) else {
        return Ok(None);
    };
    let stored = context.prepared.remote.head_of(&stored(&tip)).await?;
    Ok(stored.map(|_| tip))
}

/// The page of the fix of a session: its open pull request, or its branch if there never was one.
async fn fix_page(context: &Context<'_>, session: &str) -> Option<String> {
    let target = &context.target;
    let owner = target.repository.split('/').next()?;
    let branch = format!("regreen/{session}");
    let pulls = context.forge.pulls_of_head(owner, &branch).await.ok()?;
    let open = pulls.iter().find(|pull| pull.state == PullState::Open);
    let tree = || format!("{}/{}/tree/{branch}", context.env.server(), target.repository);
    open.map(|pull| pull.url.clone()).or_else(|| pulls.is_empty().then(tree))
}

/// The view that follows from the events of a session.
pub async fn read_view(
    context: &Context<'_>,
    session: &SessionId,
    tip: Option<&CommitId>,
) -> Result<View, BotError> {
    let mut bytes = session_snapshots::events(context.prepared, session, tip).await?;
    Ok(View::of(&worker::whole_lines(&mut bytes)))
}

/// Checks out the head under test, with further local branches.
pub fn check_out(
    context: &Context<'_>,
    others: Vec<(String, CommitId)>,
) -> Result<RepositoryFacts, BotError> {
    let of = ScratchHead {
        head: context.target.head.clone(),
        branch: context.target.head_branch.clone().unwrap_or_else(|| "regreen-head".into()),
        others,
    };
    Ok(context.prepared.clone.check_out(&of)?)
}

/// The open pull request with the fix of a session.
pub async fn fix_pull(context: &Context<'_>, session: &str) -> Option<u64> {
    let owner = context.target.repository.split('/').next()?;
    let pulls = context.forge.pulls_of_head(owner, &format!("regreen/{session}")).await.ok()?;
    pulls.iter().find(|pull| pull.state == PullState::Open).map(|pull| pull.number)
}
