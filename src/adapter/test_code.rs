//! The process of test code: becoming it, and what holds for it.

use crate::effect::RunError;

use super::host::sandbox::{self, Protection};

/// Runs the launcher of test code when this process was started as one; see [`sandbox`]. Otherwise
/// closes this process to its children. Must be called before any thread starts.
pub fn launched(arguments: &[std::ffi::OsString]) -> Option<std::process::ExitCode> {
    let code = sandbox::launched(arguments);
    if code.is_none() {
        sandbox::ready();
    }
    code
}

/// The protection that holds for the test code of this process.
pub fn protection() -> Result<&'static Protection, RunError> {
    sandbox::protection()
        .map_err(|reason| RunError::NotStarted { command: "test code".into(), reason })
}
