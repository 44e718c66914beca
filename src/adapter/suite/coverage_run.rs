//! The whole suite under the project's own coverage tool.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::code::coverage::{self, Report};
use crate::domain::coverage::Measured;
use crate::domain::id::RepoPath;
use crate::domain::request::ToolCommands;
use crate::domain::shell;

use super::framework::{
    CoverageCommand, CoverageRequest, FrameworkAdapter, ReportLocation, Site, matching_files,
};

/// Reports of one run that are read at most; each process of a suite may leave one.
const REPORTS: usize = 500;

/// Bytes of a source file that are read at most.
const SOURCE_LIMIT: u64 = 4 << 20;

/// One run of a suite under a coverage tool.
pub struct CoverageRun<'a> {
    pub adapter: &'static FrameworkAdapter,
    /// The folder it runs in.
    pub site: &'a Site,
    pub root: &'a Path,
    /// A folder of its own for data and reports.
    pub output: PathBuf,
    /// The folder of the drivers.
    pub drivers: PathBuf,
    /// The environment of test code.
    pub environment: BTreeMap<String, String>,
    /// What test code may read and write.
    pub access: Access,
    pub limit: Duration,
    pub log: PathBuf,
    /// Configured commands that replace the detected tool.
    pub tools: &'a ToolCommands,
}

impl CoverageRun<'_> {
    /// Runs the suite under its coverage tool and reads which lines of `known` files ran.
    pub async fn measure(&self, known: &BTreeSet<RepoPath>) -> Measured {
        match self.run(known).await {
            Ok(measured) => measured,
            Err(reason) => Measured::Nothing { reason },
        }
    }

    async fn run(&self, known: &BTreeSet<RepoPath>) -> Result<Measured, String> {
        let command = self.command()?;
        files::remove_folder(&self.output);
        files::create_folder(&self.output).map_err(|error| error.to_string())?;
        let mut first_ending = None;
        for argv in &command.argv {
            let ending = self.execute(&command, argv).await?;
            first_ending.get_or_insert(ending);
        }
        let Some(report) = read_reports(&command.reports, self.root)? else {
            // This text is part of prompts, so it must not hold paths and times of this run.
            return Err(match first_ending {
                // A suite without tests succeeds and leaves nothing.
                Some(Ending::Exit(0)) | None => format!("`{}` left no report", command.display),
                Some(ending) => format!(
                    "`{}` left no report ({ending}; `.process/coverage.log` has its output)",
                    command.display
                ),
            });
        };
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.to_owned());
        let root = root.join(&self.site.directory);
        let files = report.placed(&root.display().to_string(), known);
        Ok(Measured::Lines { command: command.display, format: report.format.to_owned(), files })
    }

    fn command(&self) -> Result<CoverageCommand, String> {
        if let Some(command) = &self.tools.coverage {
            return configured(command, self.tools.coverage_report.as_deref(), self.site);
        }
        (self.adapter.coverage)(&CoverageRequest {
            site: self.site,
            root: self.root,
            output: &self.output,
            drivers: &self.drivers,
        })
    }

    async fn execute(&self, command: &CoverageCommand, argv: &[String]) -> Result<Ending, String> {
        let mut environment = self.environment.clone();
        environment.extend(command.environment.clone());
        let invocation = Invocation {
            argv: argv.to_vec(),
            directory: self.site.folder(),
            environment,
            access: Some(self.access.clone()),
        };
        let ending = process::run(&invocation, self.limit, &self.log)
            .await
            .map_err(|error| format!("`{}` could not be started: {error}", shell::line(argv)))?;
        if ending == Ending::TimedOut {
            let limit = self.limit.as_secs();
            return Err(format!("`{}` did not end in {limit} s", command.display));
        }
        Ok(ending)
    }
}

/// The configured command, and where it leaves its report.
fn configured(command: &str, report: Option<&str>, site: &Site) -> Result<CoverageCommand, String> {
    let pattern =
        report.ok_or("`coverage.command` needs `coverage.report`, the glob of its report")?;
    for old in matching_files(&site.folder(), pattern).map_err(|error| error.to_string())? {
        // The report of an earlier run must not count for this one.
        std::fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    let argv = vec!["sh".to_owned(), "-c".to_owned(), command.to_owned()];
    let (folder, pattern) = (site.folder(), pattern.to_owned());
    Ok(CoverageCommand {
        reports: ReportLocation::Glob { folder, pattern },
        ..CoverageCommand::new(command, argv, site.folder())
    })
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
        let bytes = files::read_left(&path, coverage::LIMIT).map_err(|error| error.to_string())?;
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
    let bytes = files::read_left(&root.join(own.as_str()), SOURCE_LIMIT).ok()??;
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
            let site =
                Site { root, directory: String::new(), command: None, report: None, path: None };
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
