//! Kills the process at a chosen durable step; for the test that proves resume.
//!
//! Inert unless `REGREEN_CRASH_AT` holds a number: then the process sends itself SIGKILL when it
//! passes its n-th point. There is one point before and one after every atomic write and every
//! commit, so counting n up visits every state a crash can leave.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that switches it on.
pub const VARIABLE: &str = "REGREEN_CRASH_AT";

static PASSED: AtomicU64 = AtomicU64::new(0);
static TARGET: OnceLock<Option<u64>> = OnceLock::new();

/// One point at which a crash must lose nothing.
#[expect(clippy::disallowed_methods, reason = "this is where the host's environment is read")]
pub fn point() {
    let target =
        TARGET.get_or_init(|| std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok()));
    let Some(target) = target else { return };
    if PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *target {
        // Nothing is flushed or dropped: that is the point.
        if rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
            .is_err()
        {
            std::process::abort();
        }
    }
}
