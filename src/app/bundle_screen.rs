//! A screen that writes everything a publisher needs to a folder: each event is appended to
//! `events.jsonl`, and the commits are packed again after each iteration (specification.md 4.14).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::adapter::host::files::{self, AppendFile};
use crate::adapter::host::{environment, redaction};
use crate::adapter::repo::{self, BundleOf, RepositoryFacts};
use crate::domain::event::Event;
use crate::domain::id::{CommitId, SessionId};
use crate::domain::session::files::BUNDLE_EVENTS;
use crate::effect::Screen;

use super::AppError;

/// What happens to the events of an existing bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleOpening {
    /// They belong to an earlier run and are replaced.
    Create,
    /// The same, for phases whose commits a gate may hold back: those follow with the next phase.
    CreateWithoutCommits,
    /// They belong to an earlier phase of this run and stay.
    Append,
}

/// A screen that writes a bundle.
pub struct BundleScreen {
    folder: PathBuf,
    facts: RepositoryFacts,
    base: Option<CommitId>,
    /// Whether it holds commits.
    packs: bool,
    state: Mutex<State>,
}

struct State {
    events: AppendFile,
    of: Option<BundleOf>,
}

impl BundleScreen {
    /// A screen that writes to `folder`.
    pub fn open(
        folder: &Path,
        facts: RepositoryFacts,
        base: Option<CommitId>,
        opening: BundleOpening,
    ) -> Result<Self, AppError> {
        let open = || -> io::Result<AppendFile> {
            files::create_folder(folder)?;
            let path = folder.join(BUNDLE_EVENTS);
            match opening {
                BundleOpening::Append => AppendFile::go_on(&path),
                BundleOpening::Create | BundleOpening::CreateWithoutCommits => {
                    AppendFile::create(&path)
                }
            }
        };
        let events = open().map_err(|error| {
            AppError::usage(
                format!("{}: {error}", folder.display()),
                "name a folder for `--bundle` that can be written",
            )
        })?;
        let state = Mutex::new(State { events, of: None });
        let packs = opening != BundleOpening::CreateWithoutCommits;
        Ok(Self { folder: folder.to_owned(), facts, base, packs, state })
    }

    fn record(&self, event: &Event, state: &mut State) {
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
        // Commits are packed before the line that mentions them.
        if self.packs
            && event.follows_commit()
            && let Some(of) = &mut state.of
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
        if let Err(error) = state.events.line(&redaction::redact(&line)) {
            tracing::warn!(%error, "an event is missing in the bundle");
        }
    }
}

impl Screen for BundleScreen {
    fn show(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.record(event, &mut state);
    }
}

/// Shows every event on a screen and, where there is one, in a bundle.
pub struct TeeScreen<'a> {
    pub screen: &'a dyn Screen,
    pub bundle: Option<&'a BundleScreen>,
}

impl Screen for TeeScreen<'_> {
    fn show(&self, event: &Event) {
        // The bundle is written first, since a reader of the screen may act on its content.
        if let Some(bundle) = self.bundle {
            bundle.show(event);
        }
        self.screen.show(event);
    }
}
