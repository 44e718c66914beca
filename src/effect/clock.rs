//! `Clock`: time, waiting and stop requests, replaceable in tests.

use std::time::Duration;

use async_trait::async_trait;
use futures::future::{Either, select};

/// How often a task looks for a stop request.
const LOOK: Duration = Duration::from_millis(100);

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

/// Performs a task; `None` if a stop is requested before it ends, which drops it.
pub async fn unless_stopped<T>(clock: &dyn Clock, task: impl Future<Output = T>) -> Option<T> {
    unless(clock, || clock.stop_requested(), task).await
}

/// Performs a task; `None` if it has not ended at a time since the start of this process, which drops it.
pub async fn end_before<T>(
    clock: &dyn Clock,
    deadline: Duration,
    task: impl Future<Output = T>,
) -> Option<T> {
    unless(clock, || clock.elapsed() >= deadline, task).await
}

async fn unless<T>(
    clock: &dyn Clock,
    is_over: impl Fn() -> bool,
    task: impl Future<Output = T>,
) -> Option<T> {
    let stop = std::pin::pin!(async {
        while !is_over() {
            clock.wait(LOOK).await;
        }
    });
    match select(stop, std::pin::pin!(task)).await {
        Either::Left(_) => None,
        Either::Right((outcome, _)) => Some(outcome),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock at which a stop is requested after some waits.
    struct StoppedAfter(usize, TestClock);

    #[async_trait]
    impl Clock for StoppedAfter {
        fn now(&self) -> String {
            self.1.now()
        }

        fn elapsed(&self) -> Duration {
            self.1.elapsed()
        }

        fn stop_requested(&self) -> bool {
            self.1.waits.lock().expect("no panic").len() >= self.0
        }

        async fn wait(&self, duration: Duration) {
            self.1.wait(duration).await;
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_task_ends_at_a_request_to_stop_and_none_begins_after_it() {
        let clock = |waits| StoppedAfter(waits, TestClock::default());
        assert_eq!(unless_stopped(&clock(3), std::future::pending::<u8>()).await, None);
        assert_eq!(unless_stopped(&clock(3), async { 7 }).await, Some(7));
        assert_eq!(unless_stopped(&clock(0), async { 7 }).await, None);
    }

    #[tokio::test]
    async fn a_task_ends_at_its_deadline() {
        let clock = StoppedAfter(0, TestClock::default());
        let deadline = Duration::from_secs(3);
        assert_eq!(end_before(&clock, deadline, std::future::pending::<u8>()).await, None);
        assert!(
            (deadline..deadline + LOOK * 2).contains(&clock.elapsed()),
            "{:?}",
            clock.elapsed()
        );
        assert_eq!(end_before(&clock, deadline * 2, async { 7 }).await, Some(7));
    }
}
