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

#[cfg(test)]
pub use in_tests::TestClock;

#[cfg(test)]
mod in_tests {
    use std::sync::Mutex;

    use super::*;

    /// A clock that advances only by [`Clock::wait`].
    #[derive(Default)]
    pub struct TestClock {
        pub waits: Mutex<Vec<Duration>>,
    }

    #[async_trait]
    impl Clock for TestClock {
        fn now(&self) -> String {
            "2026-11-21T10:00:00Z".into()
        }

        fn elapsed(&self) -> Duration {
            self.waits.lock().expect("no panic").iter().sum()
        }

        fn stop_requested(&self) -> bool {
            false
        }

        async fn wait(&self, duration: Duration) {
            self.waits.lock().expect("no panic").push(duration);
        }
    }
}
