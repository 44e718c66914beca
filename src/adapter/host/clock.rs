//! Wall clock, monotonic clock and stop signals (SIGINT, SIGTERM) of the host.

#![expect(clippy::disallowed_methods, reason = "the one place that asks the host for the time")]

use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use crate::effect::Clock;

use super::console::eprintln;
use super::orphans;

/// Exit code after SIGINT: 128 plus the number of the signal, as shells report it.
const INTERRUPTED: i32 = 130;

/// Exit code after SIGTERM.
const TERMINATED: i32 = 143;

/// Whether this process was asked to stop. One for all clocks: a use case starts several, one after
/// another, and none may miss a signal that came before it.
static STOP: AtomicBool = AtomicBool::new(false);

/// Begins to listen for signals, once in a process.
static LISTENER: Once = Once::new();

/// Wall clock and monotonic clock of this machine.
#[derive(Clone)]
pub struct HostClock {
    began: Instant,
}

impl HostClock {
    /// Starts the clock and listens for SIGINT and SIGTERM. The first signal requests a stop, the
    /// second ends the process at once, which is safe because the saved state is always complete.
    ///
    /// Must be called inside the runtime.
    #[must_use]
    pub fn start() -> Self {
        LISTENER.call_once(|| drop(tokio::spawn(listen())));
        Self { began: Instant::now() }
    }
}

async fn listen() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        tracing::warn!("signals are not handled: the first one ends the run at once");
        return;
    };
    loop {
        let code = tokio::select! {
            _ = interrupt.recv() => INTERRUPTED,
            _ = terminate.recv() => TERMINATED,
        };
        if STOP.swap(true, Ordering::SeqCst) {
            eprintln!("stopped at once, at the second request; what was saved before is kept");
            leave(code);
        }
    }
}

/// Measures elapsed time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[expect(clippy::exit, reason = "who asks twice does not want to wait for the end")]
fn leave(code: i32) -> ! {
    orphans::kill_everything();
    std::process::exit(code)
}

/// Seconds since 1970, as programs in other languages count them.
#[must_use]
pub fn seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// The current time, RFC 3339 in UTC.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The current day in UTC.
pub fn today() -> Date {
    jiff::Timestamp::now().to_zoned(TimeZone::UTC).date()
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
        STOP.load(Ordering::SeqCst)
    }

    async fn wait(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
