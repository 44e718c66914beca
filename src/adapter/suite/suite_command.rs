//! Runs a suite's own command once and reads the report that it leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::adapter::host::files;
use crate::adapter::host::process::{self, ExitReason, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::effect::RunError;

use super::format::Report;
use super::framework::{FrameworkAdapter, RunArtifacts, RunFiles, Site, matching_files};
use super::io_error::cannot;

/// Variable that marks the runs of candidate edits.
pub const CANDIDATE: &str = "REGREEN_CANDIDATE";

/// Variable with the seconds that a test may compute, once one has hung: not of a full run, whose
/// tests may be slow for another reason.
pub const COMPUTING_LIMIT: &str = "REGREEN_COMPUTING_LIMIT";

/// The time limit of a single test is that of a whole run divided by this.
const TESTS_PER_RUN: u32 = 20;

/// Part of the time limit of a run that is left for building Go.
const GO_BUILD: Duration = Duration::from_secs(20);

/// What Go gives the tests of a package by itself (`go help testflag`). A shorter limit of a run would end it first.
const GO_LIMIT: Duration = Duration::from_mins(10);

/// What the tests of a package may take at least once one has hung.
const GO_HUNG: Duration = Duration::from_secs(5);

/// A suite's own command in one checkout.
pub struct SuiteCommand {
    pub adapter: &'static FrameworkAdapter,
    /// The suite's folder in the checkout.
    pub site: Site,
    pub environment: BTreeMap<String, String>,
    pub access: Access,
    pub files: RunFiles,
    pub log: PathBuf,
}

/// The command of a finished run, and how it ended.
pub struct Execution {
    pub command: String,
    pub ending: ExitReason,
    /// Files of the commit that the pattern of reports matches, and that the run left as they were.
    unwritten: BTreeSet<PathBuf>,
}

/// The limit of one test where a whole run may take so long, and the variable that tells drivers about it.
pub fn test_limit(of_run: Duration) -> (Duration, (String, String)) {
    let limit = (of_run / TESTS_PER_RUN).max(Duration::from_secs(5));
    (limit, ("REGREEN_TEST_LIMIT".into(), limit.as_secs().to_string()))
}

impl SuiteCommand {
    /// Limits each test where the framework supports it, so that one that hangs fails alone.
    pub fn limit_tests(&mut self, of_run: Duration) -> Duration {
        let (limit, variable) = test_limit(of_run);
        self.environment.extend([variable]);
        limit
    }

    /// Runs all or the selected tests without old results; the time limit is an ending, no error.
    pub async fn execute(
        &self,
        selection: Option<&[TestId]>,
        limit: Duration,
    ) -> Result<Execution, RunError> {
        let RunFiles { results, selection: list, .. } = &self.files;
        files::remove(results).map_err(cannot("remove", results))?;
        if let Some(ids) = selection {
            // An id with a line break cannot be selected.
            let ids = ids.iter().map(TestId::as_str).filter(|id| !id.contains('\n'));
            let text = ids.collect::<Vec<_>>().join("\n");
            files::write(list, text.as_bytes()).map_err(cannot("write", list))?;
        }
        let command = (self.adapter.command)(&self.site, selection, &self.files);
        let directory = self.site.working_folder();
        let mut committed = Vec::new();
        if let Some(pattern) = &command.stale_reports {
            for report in matching_files(&directory, pattern)? {
                if self.site.is_committed(&report) {
                    committed.push((modified_at(&report), report));
                } else {
                    files::remove(&report).map_err(cannot("remove", &report))?;
                }
            }
        }
        let displayed = command.display;
        let mut environment = self.environment.clone();
        environment.extend(command.environment);
        let is_candidate = environment.contains_key(CANDIDATE);
        if self.adapter.framework == Framework::GoTest && (is_candidate || limit <= GO_LIMIT) {
            // Go then ends a test that hangs, and names it, before the run is stopped.
            let known = environment.get(COMPUTING_LIMIT).and_then(|seconds| seconds.parse().ok());
            let known = known.map(|seconds| Duration::from_secs_f64(seconds).max(GO_HUNG));
            let most = limit.saturating_sub(GO_BUILD).max(limit / 2);
            let seconds = known.unwrap_or(most).min(most).as_secs().max(1);
            let flags = environment.entry("GOFLAGS".into()).or_default();
            flags.push_str(&format!(" -timeout={seconds}s"));
            // What it vets, the suite vets again.
            flags.push_str(if is_candidate { " -vet=off" } else { "" });
        }
        let access = Some(self.access.clone());
        let invocation = Invocation { argv: command.argv, directory, environment, access };
        let ending = process::run(&invocation, limit, &self.log).await.map_err(|error| {
            RunError::NotStarted { command: displayed.clone(), reason: error.to_string() }
        })?;
        committed.retain(|(before, report)| modified_at(report) == *before);
        let unwritten = committed.into_iter().map(|(_, report)| report).collect();
        Ok(Execution { command: displayed, ending, unwritten })
    }

    pub fn read(&self, execution: &Execution) -> Result<Report, RunError> {
        (self.adapter.read)(&RunArtifacts {
            command: &execution.command,
            ending: execution.ending,
            results: &self.files.results,
            log: &self.log,
            site: &self.site,
            unwritten: &execution.unwritten,
        })
    }
}

/// When a file was written last; `None` where it is gone.
fn modified_at(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|metadata| metadata.modified()).ok()
}
