//! `Screen`: displays the events of a session.

use crate::domain::event::Event;

/// Displays events. A screen never fails the loop: it drops or queues what it cannot show.
pub trait Screen: Send + Sync {
    /// Shows one event; returns at once.
    fn show(&self, event: &Event);
}
