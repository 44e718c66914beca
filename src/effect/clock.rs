//! `Clock`: time, waiting and stop requests, replaceable in tests.

use std::time::Duration;

use async_trait::async_trait;

/// Wall time, elapsed time and waiting.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Now, RFC 3339 in UTC with seconds, such as `2026-11-20T22:40:00Z`.
    fn now(&self) -> String;

    /// Monotonic time since this process started.
    fn elapsed(&self) -> Duration;

    /// Whether a person or the platform asked this process to stop at the next safe point.
    fn stop_requested(&self) -> bool;

    async fn wait(&self, duration: Duration);
}
