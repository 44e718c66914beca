//! Entry points to the sandbox of test code: the launcher, and the protection in force.

use crate::effect::RunError;

use super::host::sandbox::{self, Protection};

/// Runs the sandbox launcher, or hides this process from its children, before any thread.
pub fn launched(arguments: &[std::ffi::OsString]) -> Option<std::process::ExitCode> {
    let code = sandbox::launched(arguments);
    if code.is_none() {
        sandbox::harden_process();
    }
    code
}

/// The protection in force for the test code of this process.
pub fn protection() -> Result<&'static Protection, RunError> {
    sandbox::protection()
        .map_err(|reason| RunError::NotStarted { command: "test code".into(), reason })
}
