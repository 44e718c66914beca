//! The real time, and the wish to stop.

#![expect(clippy::disallowed_methods, reason = "the one place that asks the host for the time")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use crate::effect::Clock;

/// Wall clock and monotonic clock of this machine.
pub struct HostClock {
    began: Instant,
    stop: Arc<AtomicBool>,
}

impl HostClock {
    /// A clock that begins now and hears SIGINT and SIGTERM. A second SIGINT ends the process
    /// the hard way; the saved state is complete at any moment.
    ///
    /// Must be called inside the runtime.
    #[must_use]
    pub fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        tokio::spawn(async move {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut interrupt), Ok(mut terminate)) =
                (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
            else {
                return;
            };
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if flag.swap(true, Ordering::SeqCst) {
                    std::process::abort();
                }
            }
        });
        Self { began: Instant::now(), stop }
    }
}

/// The time of day, RFC 3339 in UTC.
#[must_use]
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[async_trait]
impl Clock for HostClock {
    fn now(&self) -> String {
        now()
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn stop_requested(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    async fn wait(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
