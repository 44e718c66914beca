//! Opens a run of the fix loop: loads the saved state of the session, or creates a new one.

use crate::domain::event::Event;
use crate::domain::fix_loop::{FixLoop, FixTerms};
use crate::domain::id::{CommitId, SessionId, TreeId};
use crate::domain::integration::Integration;
use crate::domain::test_plan::pipeline::Pipeline;
use crate::effect::{Effects, StoreError};

use crate::cycle::drive::Journal;
use crate::cycle::error::Failure;
use crate::cycle::machine::Machine as _;
use crate::cycle::session_files::{generation, read, spent};
use crate::domain::session::files::{INTEGRATION, PIPELINE};

use super::machine::FixCommand;

/// The state that a run starts from.
pub struct OpenedLoop {
    pub state: FixLoop,
    /// Events that opening the session caused.
    pub events: Vec<Event>,
    /// Whether the state was loaded from an earlier run.
    pub resumed: bool,
}

/// Loads a session's state, or begins one anew from the baseline (specification.md 8.11).
pub async fn open(
    session: &SessionId,
    head: &CommitId,
    terms: FixTerms,
    raised_limit: Option<u32>,
    moved: bool,
    fx: &Effects<'_>,
) -> Result<OpenedLoop, Failure> {
    let journal = Journal::from(fx);
    let (saved, mut events) = match fx.store.read_json(FixLoop::STATE_FILE).await {
        Ok(saved) => (saved, Vec::new()),
        Err(StoreError::Corrupt { path, .. }) => {
            let text = format!("{} cannot be read; starting from the baseline", path.display());
            (None, vec![Event::Notice { text }])
        }
        Err(error) => return Err(error.into()),
    };
    let restored = saved.and_then(|value| serde_json::from_value::<FixLoop>(value).ok());
    if let Some(mut state) = restored.filter(|state| state.head == *head) {
        if let Some(max_iterations) = raised_limit {
            let (reopened, more) = state.clone().reopen(max_iterations);
            events.extend(more);
            let command = FixCommand::Reopened { max_iterations };
            state = journal.record(&state, command, reopened).await?;
        }
        let known = terms.known_failures;
        if state.terms.known_failures != known {
            let changed = state.clone().with_known_failures(&known);
            let command = FixCommand::KnownFailures { known };
            state = journal.record(&state, command, changed).await?;
        }
        if moved {
            let renewed = state.clone().renew();
            state = journal.record(&state, FixCommand::Renewed, renewed).await?;
        }
        return Ok(OpenedLoop { state, events, resumed: true });
    }
    // Tests that this session wrote earlier are part of the sources under test.
    let (tree, tip) = match written_tree(session, fx).await? {
        Some(written) => written,
        None => (fx.worktree.tree_of(head).await?, None),
    };
    let mut state =
        FixLoop::new(session.clone(), fx.clock.now(), terms.clone(), head.clone(), tree);
    state.tip.clone_from(&tip);
    // What providers used while tests were written counts towards the session's budget, and the
    // events of that time stay in its stream.
    state.spending = spent(session, fx).await?;
    state.events = match read::<Integration>(fx, INTEGRATION).await? {
        Some(integration) => integration.checkpoint.events,
        None => read::<Pipeline>(fx, PIPELINE).await?.map_or(0, |pipeline| pipeline.events),
    };
    let tree = tip.as_ref().map(|_| state.head_tree.clone());
    let command = FixCommand::Began { terms: Box::new(terms), tip, tree, spending: state.spending };
    let state = journal.record(&state, command, state.clone()).await?;
    Ok(OpenedLoop { state, events, resumed: false })
}

/// The sources with the tests that this session wrote earlier, and their commit.
async fn written_tree(
    session: &SessionId,
    fx: &Effects<'_>,
) -> Result<Option<(TreeId, Option<CommitId>)>, Failure> {
    if let Some(state) = read::<Integration>(fx, INTEGRATION).await? {
        return Ok(Some((state.checkpoint.tree, state.checkpoint.commit)));
    }
    let generation = generation(fx).await?.filter(|one| one.session_id == *session);
    Ok(generation.map(|generation| (generation.tree, generation.commit)))
}
