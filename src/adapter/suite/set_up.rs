//! Runs set-up commands in the sandbox of tests, before the first run in a checkout.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::PoisonError;

use crate::adapter::host::process::{self, ExitReason};
use crate::domain::session::files::file_path;
use crate::effect::RunError;

use super::framework::shell_argv;
use super::project_suite::ProjectSuite;

/// Bytes of output that an error quotes.
const EVIDENCE: u64 = 2 << 10;

impl ProjectSuite<'_> {
    /// Runs set-up commands once in a checkout; [`RunError::SetUp`] for the first that fails.
    pub(super) async fn set_up(&self, root: &Path) -> Result<(), RunError> {
        if self.settings.setup.is_empty() {
            return Ok(());
        }
        let mut prepared = self.prepared.lock().await;
        let name = (root.to_owned(), std::fs::metadata(root).map_or(0, |facts| facts.ino()));
        if prepared.contains(&name) {
            return Ok(());
        }
        for (index, command) in self.settings.setup.iter().enumerate() {
            let log =
                file_path(&self.settings.session, &format!(".process/setup-{}.log", index + 1));
            let invocation = self.invocation(root, shell_argv(command));
            let ending = process::run(&invocation, self.settings.timeout, &log).await;
            let ending = ending.map_err(|error| RunError::NotStarted {
                command: command.clone(),
                reason: error.to_string(),
            })?;
            if ending != ExitReason::Exit(0) {
                let tail = process::tail_of(&log, EVIDENCE);
                let (command, ending) = (command.clone(), ending.to_string());
                return Err(RunError::SetUp { command, ending, tail, log });
            }
        }
        prepared.insert(name);
        let mut installed = self.installed.lock().unwrap_or_else(PoisonError::into_inner);
        installed.insert(root.to_owned());
        Ok(())
    }
}
