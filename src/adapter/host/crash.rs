//! Crash injection: kills the process at a chosen point, for the test that proves resume.
//!
//! Does nothing unless `REGREEN_CRASH_AT` holds a number n; then the process sends itself SIGKILL
//! at its n-th point. Every atomic write and every commit has a point before and after it, so
//! counting n up visits every state that a crash can leave.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The environment variable that enables crash injection.
pub const VARIABLE: &str = "REGREEN_CRASH_AT";

static PASSED: AtomicU64 = AtomicU64::new(0);
static TARGET: OnceLock<Option<u64>> = OnceLock::new();

/// A point at which a crash must lose nothing; kills the process at the chosen one.
#[expect(clippy::disallowed_methods, reason = "this is where the host's environment is read")]
pub fn point() {
    let target =
        TARGET.get_or_init(|| std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok()));
    let Some(target) = target else { return };
    if PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *target {
        // SIGKILL flushes and drops nothing, like a real crash.
        if rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
            .is_err()
        {
            std::process::abort();
        }
    }
}
