//! What a session that pins or scores needs besides a checkout and its tests.

use crate::domain::session::SessionStatus;
use crate::effect::{Clock, Observer, StoreError};

use super::Workspace;

impl Workspace<'_> {
    /// Who makes watched calls of functions.
    #[must_use]
    pub fn observer(&self) -> &dyn Observer {
        &self.hands.suite
    }

    /// Notes that the session is over, in a word of ours.
    ///
    /// # Errors
    ///
    /// When the record cannot be written.
    pub async fn close(&mut self, result: &str) -> Result<(), StoreError> {
        self.record.status = SessionStatus::Completed;
        self.record.result = Some(result.to_owned());
        self.record.completed_at = Some(self.hands.clock.now());
        self.save_record().await
    }

    /// Notes that the session waits for a person's word.
    ///
    /// # Errors
    ///
    /// When the record cannot be written.
    pub async fn hold(&mut self) -> Result<(), StoreError> {
        self.record.status = SessionStatus::Paused;
        self.record.result = Some("blocked".to_owned());
        self.save_record().await
    }
}
