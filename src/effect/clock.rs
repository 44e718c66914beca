//! The time, as an effect, so that decisions and tests never wait for it.

use std::time::Duration;

use async_trait::async_trait;

/// Wall time, elapsed time and waiting.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Now, RFC 3339 in UTC with seconds, such as `2026-11-20T22:40:00Z`.
    fn now(&self) -> String;

    /// Time since this process began to work; never goes back.
    fn elapsed(&self) -> Duration;

    /// Whether a person or the platform asked this process to stop at the next safe point.
    fn stop_requested(&self) -> bool;

    async fn wait(&self, duration: Duration);
}
