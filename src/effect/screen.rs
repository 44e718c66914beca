//! The screens on which people watch a run.

use crate::domain::event::Event;

/// Shows events. A screen never fails the loop: what it cannot show it drops or queues.
pub trait Screen: Send + Sync {
    /// Shows one event; returns at once.
    fn show(&self, event: &Event);
}
