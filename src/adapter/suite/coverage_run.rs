//! Runs the whole suite under the project's own coverage tool and reads the reports.

use std::collections::BTreeSet;
use std::path::Path;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, ExitReason};
use crate::code::coverage::{self, Report};
use crate::domain::coverage::Measured;
use crate::domain::id::RepoPath;
use crate::domain::shell;

use super::framework::{
    CoverageCommand, CoverageRequest, ReportLocation, Site, matching_files, shell_argv,
};
use super::project_suite::ProjectSuite;

/// Reports of one run that are read at most; each process of a suite may leave one.
const REPORTS: usize = 500;

/// The output of the coverage tool, below the session, and how much of it is read.
const LOG: &str = ".process/coverage.log";
const LOG_LIMIT: u64 = 64 << 20;

/// Bytes of a source file that are read at most.
const SOURCE_LIMIT: u64 = 4 << 20;

impl ProjectSuite<'_> {
    /// Runs the suite under its coverage tool and reads which lines of the `known` files ran.
    /// Errors become part of prompts, so they must not contain paths or times of this run.
    pub(super) async fn measure(
        &self,
        root: &Path,
        known: &BTreeSet<RepoPath>,
    ) -> Result<Measured, String> {
        let (site, tools) = (self.site(root), &self.settings.tools);
        let output = self.settings.scratch.join("coverage");
        let command = match &tools.coverage {
            Some(command) => configured(command, tools.coverage_report.as_deref(), &site)?,
            None => (self.detection.adapter.coverage)(&CoverageRequest {
                site: &site,
                root,
                output: &output,
                drivers: &self.settings.scratch.join("drivers"),
            })?,
        };
        files::remove_folder(&output);
        files::create_folder(&output).map_err(|error| error.to_string())?;
        let mut first_ending = None;
        for argv in &command.argv {
            let ending = self.execute(root, &command, argv).await?;
            first_ending.get_or_insert(ending);
        }
        let Some(report) = read_reports(&command.reports, root)? else {
            return Err(match first_ending {
                // A suite without tests succeeds and writes no report.
                Some(ExitReason::Exit(0)) | None => format!("`{}` left no report", command.display),
                Some(_) if self.lacks_coverage_py() => {
                    "coverage.py is not installed, which `setup: pip install coverage` does".into()
                }
                Some(ending) => format!(
                    "`{}` left no report ({ending}; `{LOG}` has its output)",
                    command.display
                ),
            });
        };
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let files = report.placed(&root.join(&site.directory).display().to_string(), known);
        Ok(Measured::Lines { command: command.display, format: report.format.to_owned(), files })
    }

    fn lacks_coverage_py(&self) -> bool {
        let log = files::read(&self.settings.session.join(LOG), LOG_LIMIT).ok().flatten();
        String::from_utf8_lossy(&log.unwrap_or_default()).contains("No module named coverage")
    }

    async fn execute(
        &self,
        root: &Path,
        command: &CoverageCommand,
        argv: &[String],
    ) -> Result<ExitReason, String> {
        let mut invocation = self.invocation(root, argv.to_vec());
        invocation.environment.extend(command.environment.clone());
        let limit = self.settings.timeout;
        let ending = process::run(&invocation, limit, &self.settings.session.join(LOG))
            .await
            .map_err(|error| format!("`{}` could not be started: {error}", shell::line(argv)))?;
        if ending == ExitReason::TimedOut {
            return Err(format!("`{}` did not end in {} s", command.display, limit.as_secs()));
        }
        Ok(ending)
    }
}

/// The configured coverage command and the location of its report.
fn configured(command: &str, report: Option<&str>, site: &Site) -> Result<CoverageCommand, String> {
    let pattern =
        report.ok_or("`coverage.command` needs `coverage.report`, the glob of its report")?;
    for old in matching_files(&site.working_folder(), pattern).map_err(|error| error.to_string())? {
        // The report of an earlier run must not count for this one.
        std::fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    Ok(CoverageCommand::with_reports(command, shell_argv(command), site.working_folder(), pattern))
}

/// Reads all reports of a run and merges them; `None` when there is none.
fn read_reports(location: &ReportLocation, root: &Path) -> Result<Option<Report>, String> {
    let found = match location {
        ReportLocation::File(file) => vec![file.clone()],
        ReportLocation::Glob { folder, pattern } => {
            matching_files(folder, pattern).map_err(|error| error.to_string())?
        }
    };
    let mut all: Option<Report> = None;
    for path in found.into_iter().take(REPORTS) {
        let bytes =
            files::read_untrusted(&path, coverage::LIMIT).map_err(|error| error.to_string())?;
        let Some(bytes) = bytes else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let source = |path: &str| source(root, path);
        let read = coverage::read(&text, &source)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        match &mut all {
            Some(all) => all.merge(read),
            None => all = Some(read),
        }
    }
    Ok(all)
}

/// The text of a file below the checkout; dependencies are not read.
fn source(root: &Path, path: &str) -> Option<String> {
    let root = root.canonicalize().ok()?;
    let below = Path::new(path).strip_prefix(&root).ok()?;
    let own = RepoPath::parse(below.to_str()?).ok()?;
    if own.as_str().split('/').any(|part| part == "node_modules") {
        return None;
    }
    let bytes = files::read_untrusted(&root.join(own.as_str()), SOURCE_LIMIT).ok()??;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::super::framework::adapter;
    use super::*;
    use crate::domain::framework::Framework;

    #[test]
    fn vitest_is_measured_by_the_providers_that_are_installed_else_by_v8() {
        let table: [(&[&str], &str); 4] = [
            (&[], "node warm_vitest.mjs report.json lines.info"),
            (&["v8"], "--coverage.provider=v8"),
            (&["istanbul"], "--coverage.provider=istanbul"),
            (&["v8", "istanbul"], "--coverage.reportsDirectory="),
        ];
        for (kinds, last) in table {
            let folder = tempfile::tempdir().unwrap();
            for kind in kinds {
                let place = folder.path().join(format!("node_modules/@vitest/coverage-{kind}"));
                std::fs::create_dir_all(place).unwrap();
            }
            let root = folder.path().to_owned();
            let site = Site::new(&root, "");
            let request = CoverageRequest {
                site: &site,
                root: folder.path(),
                output: Path::new(""),
                drivers: Path::new(""),
            };
            let tool = (adapter(Framework::Vitest).coverage)(&request).unwrap();
            let argv = tool.argv.concat().join(" ");
            assert!(argv.ends_with(last), "{kinds:?}: {argv}");
            assert_eq!(tool.environment.contains_key("REGREEN_LINES"), kinds.is_empty());
        }
    }
}
