//! A screen that leaves everything a publisher needs in a folder: `events.jsonl` grows with every
//! event, the commits are packed anew whenever an iteration ended (product.md 13.17).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::adapter::host::environment;
use crate::adapter::host::files::{self, Growing};
use crate::adapter::repo::{self, BundleOf, RepositoryFacts};
use crate::domain::event::Event;
use crate::domain::id::{CommitId, SessionId};
use crate::effect::Screen;

/// The file of events in a bundle.
const EVENTS: &str = "events.jsonl";

/// Leaves a bundle.
pub struct BundleScreen {
    folder: PathBuf,
    facts: RepositoryFacts,
    base: Option<CommitId>,
    state: Mutex<State>,
}

struct State {
    events: Growing,
    of: Option<BundleOf>,
}

impl BundleScreen {
    /// A screen for one run; what an earlier one left is replaced, unless this one goes on with
    /// it.
    pub fn open(
        folder: &Path,
        facts: RepositoryFacts,
        base: Option<CommitId>,
        goes_on: bool,
    ) -> io::Result<Self> {
        files::create_folder(folder)?;
        let place = folder.join(EVENTS);
        let events = if goes_on { Growing::go_on(&place)? } else { Growing::create(&place)? };
        let state = Mutex::new(State { events, of: None });
        Ok(Self { folder: folder.to_owned(), facts, base, state })
    }

    fn keep(&self, event: &Event, state: &mut State) {
        if let Event::Opened { session, head, branch, .. } = event {
            state.of = SessionId::parse(session.as_str()).ok().map(|session| BundleOf {
                session,
                repository: environment::variable("GITHUB_REPOSITORY").unwrap_or_default(),
                branch: branch.clone(),
                head: head.clone(),
                base: self.base.clone(),
                tip: head.clone(),
            });
        }
        // Commits come before the line that tells of them. At the baseline a session that wrote
        // tests has some already.
        if matches!(
            event,
            Event::Baseline { .. }
                | Event::IterationEnded(_)
                | Event::Minimised(_)
                | Event::Closed(_)
        ) && let Some(of) = &mut state.of
            && let Some(tip) = repo::tip_of(&self.facts, &of.branch)
            && tip != of.tip
        {
            let next = BundleOf { tip, ..of.clone() };
            match repo::export_bundle(&self.facts, &next, &self.folder) {
                Ok(_) => *of = next,
                Err(error) => tracing::warn!(%error, "the bundle is not up to date"),
            }
        }
        let line = serde_json::to_string(event).unwrap_or_default();
        if let Err(error) = state.events.line(&line) {
            tracing::warn!(%error, "an event is missing in the bundle");
        }
    }
}

impl Screen for BundleScreen {
    fn show(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.keep(event, &mut state);
    }
}

/// Two screens, the second one only where it is wanted.
pub struct Both<'a> {
    /// Always shown.
    pub first: &'a dyn Screen,
    /// Perhaps shown.
    pub second: Option<&'a BundleScreen>,
}

impl Screen for Both<'_> {
    fn show(&self, event: &Event) {
        // Whoever watches the first may act on what the second has left.
        if let Some(second) = self.second {
            second.show(event);
        }
        self.first.show(event);
    }
}
