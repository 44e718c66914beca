//! One run of a suite's own command: the process, and the report that it leaves.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::id::TestId;
use crate::effect::RunError;

use super::format::ParsedReport;
use super::framework::{FrameworkAdapter, RunArtifacts, RunFiles, Site, matching_files};
use super::project_suite::{remove_file, write_selection};

/// A suite's own command in one checkout.
pub struct SuiteCommand<'a> {
    pub adapter: &'static FrameworkAdapter,
    /// The suite's folder in the checkout.
    pub site: &'a Site,
    /// The environment of test code.
    pub environment: BTreeMap<String, String>,
    /// What test code may read and write.
    pub access: Access,
    /// Drivers, results and selected tests.
    pub files: &'a RunFiles,
    pub log: &'a Path,
    pub limit: Duration,
}

/// A run that ended.
pub struct Execution {
    /// The command as a person types it.
    pub command: String,
    pub ending: Ending,
}

impl SuiteCommand<'_> {
    /// Removes old results and runs all tests, or the selected ones.
    /// A time limit is an ending, not an error.
    pub async fn execute(&self, selection: Option<&[TestId]>) -> Result<Execution, RunError> {
        remove_file(&self.files.results)?;
        if let Some(ids) = selection {
            write_selection(&self.files.selection, ids)?;
        }
        let command = (self.adapter.command)(self.site, selection, self.files);
        let directory = self.site.folder();
        if let Some(pattern) = &command.stale_reports {
            for report in matching_files(&directory, pattern)? {
                remove_file(&report)?;
            }
        }
        let displayed = command.displayed();
        let mut environment = self.environment.clone();
        environment.extend(command.environment);
        let access = Some(self.access.clone());
        let invocation = Invocation { argv: command.argv, directory, environment, access };
        let ending = process::run(&invocation, self.limit, self.log).await.map_err(|error| {
            RunError::NotStarted { command: displayed.clone(), reason: error.to_string() }
        })?;
        Ok(Execution { command: displayed, ending })
    }

    /// Reads the report of a run.
    pub fn read(&self, execution: &Execution) -> Result<ParsedReport, RunError> {
        (self.adapter.read)(&RunArtifacts {
            folder: &self.site.folder(),
            command: &execution.command,
            results: &self.files.results,
            log: self.log,
            site: self.site,
        })
    }
}
