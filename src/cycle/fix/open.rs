//! The state a run begins with: a new one, or the one that was saved.

use crate::domain::event::Event;
use crate::domain::fix_loop::{FixLoop, Terms};
use crate::domain::id::{CommitId, SessionId};
use crate::effect::{Effects, StoreError};

use crate::cycle::drive::{STATE_FILE, remember};
use crate::cycle::failure::Failure;
use crate::cycle::replay::Moved;
use crate::cycle::session_files::{generation, spent};

/// What a run begins with.
pub struct Opened {
    /// The state.
    pub state: FixLoop,
    /// Events that opening itself brought.
    pub events: Vec<Event>,
    /// Whether a saved state was found.
    pub resumed: bool,
}

/// Loads the saved state of a session, or begins a new one. A state that cannot be read is begun
/// again from the baseline: commits that were kept are found by their trailers (product.md 8.13).
///
/// # Errors
///
/// When session files or the head's sources cannot be read.
pub async fn open(
    session: &SessionId,
    head: &CommitId,
    terms: Terms,
    raised_limit: Option<u32>,
    moved: bool,
    fx: &Effects<'_>,
) -> Result<Opened, Failure> {
    let (saved, mut events) = match fx.store.read_json(STATE_FILE).await {
        Ok(saved) => (saved, Vec::new()),
        Err(StoreError::Corrupt { path, .. }) => {
            let text = format!("{} cannot be read; starting from the baseline", path.display());
            (None, vec![Event::Notice { text }])
        }
        Err(error) => return Err(error.into()),
    };
    let restored = saved.and_then(|value| serde_json::from_value::<FixLoop>(value).ok());
    if let Some(state) = restored.filter(|state| state.head == *head) {
        let (state, more) = match raised_limit {
            Some(limit) => {
                remember(&state, Moved::Reopened { max_iterations: limit }, fx).await?;
                let transitions = state.transitions + 1;
                let (state, more) = state.reopen(limit);
                (FixLoop { transitions, ..state }, more)
            }
            None => (state, Vec::new()),
        };
        events.extend(more);
        let state = if moved {
            remember(&state, Moved::Renewed, fx).await?;
            let transitions = state.transitions + 1;
            FixLoop { transitions, ..state.renew() }
        } else {
            state
        };
        return Ok(Opened { state, events, resumed: true });
    }
    // Tests that were written for this session belong to what is under test.
    let (tree, tip) = match generation(fx).await? {
        Some(generation) if generation.session_id == *session => {
            (generation.tree, generation.commit)
        }
        _ => (fx.worktree.tree_of(head).await?, None),
    };
    let mut state = FixLoop::new(session.clone(), fx.clock.now(), terms, head.clone(), tree);
    state.tip.clone_from(&tip);
    // What providers took while tests were written counts for the budget of the session.
    let spending = spent(session, fx).await?;
    state.spending = spending;
    remember(&state, Moved::Began { terms, tip, spending }, fx).await?;
    state.transitions = 1;
    Ok(Opened { state, events, resumed: false })
}
