//! What keeps the contract for one session of one repository, whatever the session is for.

use crate::effect::{Effects, Model, Screen};

use super::host::clock::HostClock;
use super::repo::RepoWorktree;
use super::store::SessionStore;
use super::suite::ProjectSuite;

/// Checkout, tests, files and time of one session.
pub struct SessionEffects<'a> {
    /// The real time.
    pub clock: &'a HostClock,
    /// The session's files, with its lock.
    pub store: SessionStore,
    /// The private checkout.
    pub worktree: RepoWorktree,
    /// The tests.
    pub suite: ProjectSuite<'a>,
}

impl<'a> SessionEffects<'a> {
    /// The effects of the session.
    #[must_use]
    pub fn effects<'b>(
        &'b self,
        models: &'b [Box<dyn Model>],
        screen: &'b dyn Screen,
    ) -> Effects<'b>
    where
        'a: 'b,
    {
        Effects {
            models,
            worktree: &self.worktree,
            suite: &self.suite,
            store: &self.store,
            clock: self.clock,
            screen,
        }
    }
}
