//! Runs the whole suite under the project's own coverage tool, or a tracer of ours where Python lacks
//! one, and reads the reports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, ExitReason};
use crate::code::coverage::{self, Report};
use crate::code::language::{JS, Language};
use crate::domain::coverage::{FileLines, Measured};
use crate::domain::id::RepoPath;
use crate::domain::session::files::file_path;
use crate::domain::shell;

use super::framework::{
    CoverageCommand, CoverageRequest, ReportLocation, Site, Tracer, matching_files, shell_argv,
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
    /// Runs the suite under coverage for `known` files; errors name no paths or times of this run.
    pub(super) async fn measure(
        &self,
        root: &Path,
        known: &BTreeSet<RepoPath>,
    ) -> Result<Measured, String> {
        let (site, tools) = (self.site(root), &self.settings.tools);
        let output = self.settings.scratch.join("coverage");
        let mut command = match &tools.coverage {
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
        let (mut ending, mut report, mut is_empty) = self.execute_all(root, &command).await?;
        let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let is_missing = || self.log().contains("No module named coverage");
        if let Some(tracer) = command.tracer.take()
            && report.as_ref().map_or_else(is_missing, lacks_data)
        {
            list_files(&tracer.files, &real_root, known)?;
            let Tracer { display, argv, .. } = tracer;
            command = CoverageCommand { display, argv: vec![argv], ..command };
            (ending, report, is_empty) = self.execute_all(root, &command).await?;
        }
        let CoverageCommand { display: command, .. } = command;
        let Some(report) = report else {
            return match ending {
                // `node --test` leaves none.
                Some(ExitReason::Exit(0)) if is_empty => {
                    Ok(Measured::NoTests { command, files: unloaded_scripts(&real_root, known) })
                }
                Some(ExitReason::Exit(0)) | None => Err(format!("`{command}` left no report")),
                Some(_) if self.log().contains("no such command: `llvm-cov`") => Err(format!(
                    "`{command}` is not installed: `cargo install cargo-llvm-cov` and \
                     `rustup component add llvm-tools` bring it"
                )),
                Some(ending) => {
                    Err(format!("`{command}` left no report ({ending}; `{LOG}` has its output)"))
                }
            };
        };
        let files = report.placed(&real_root.display().to_string(), &site.directory, known);
        if is_empty {
            return Ok(Measured::NoTests { command, files });
        }
        Ok(Measured::Lines { command, format: report.format.to_owned(), files })
    }

    /// The output of the last command.
    fn log(&self) -> String {
        let log = files::read(&file_path(&self.settings.session, LOG), LOG_LIMIT).ok().flatten();
        String::from_utf8_lossy(&log.unwrap_or_default()).into_owned()
    }

    /// Runs what measures; how its first command ended, what the reports say, and whether no test ran.
    async fn execute_all(
        &self,
        root: &Path,
        command: &CoverageCommand,
    ) -> Result<(Option<ExitReason>, Option<Report>, bool), String> {
        let (mut first_ending, mut is_empty) = (None, !command.argv.is_empty());
        for argv in &command.argv {
            let ending = self.execute(root, command, argv).await?;
            first_ending.get_or_insert(ending);
            is_empty = is_empty && says_empty(&self.log());
        }
        Ok((first_ending, read_reports(&command.reports, root)?, is_empty))
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
        let ending = process::run(&invocation, limit, &file_path(&self.settings.session, LOG))
            .await
            .map_err(|error| format!("`{}` could not be started: {error}", shell::line(argv)))?;
        if ending == ExitReason::TimedOut {
            return Err(format!("`{}` did not end in {} s", command.display, limit.as_secs()));
        }
        Ok(ending)
    }
}

/// Whether a runner says that it ran no test. A test may run an empty suite of its own.
fn says_empty(log: &str) -> bool {
    let mut counts = log.lines().filter_map(counted_tests).peekable();
    counts.peek().is_some() && counts.all(|count| count == 0)
}

/// The number of tests in a closing line of a runner.
fn counted_tests(line: &str) -> Option<u32> {
    let line = line.trim().trim_matches('=').trim();
    if line == "no tests ran" || line.starts_with("no tests ran in ") {
        return Some(0);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["Ran", number, "test" | "tests", ..] | ["#" | "ℹ", "tests", number] => {
            number.parse().ok()
        }
        [number, "passing" | "failing"] => number.parse().ok(),
        [number, "passing", time] if time.starts_with('(') => number.parse().ok(),
        [number, "passed" | "passed," | "failed" | "failed,", .., _] if words.contains(&"in") => {
            number.parse().ok()
        }
        _ => None,
    }
}

/// Whether no line ran by a report: nothing did, or the project's own coverage took over.
fn lacks_data(report: &Report) -> bool {
    report.files.values().all(|file| file.lines.values().all(|hits| *hits == 0))
}

fn configured(command: &str, report: Option<&str>, site: &Site) -> Result<CoverageCommand, String> {
    let pattern =
        report.ok_or("`coverage.command` needs `coverage.report`, the glob of its report")?;
    for old in matching_files(&site.working_folder(), pattern).map_err(|error| error.to_string())? {
        // The report of an earlier run must not count for this one.
        std::fs::remove_file(&old).map_err(|error| format!("{}: {error}", old.display()))?;
    }
    Ok(CoverageCommand::with_reports(command, shell_argv(command), site.working_folder(), pattern))
}

/// Names the files of Python that a tracer measures.
fn list_files(list: &Path, root: &Path, known: &BTreeSet<RepoPath>) -> Result<(), String> {
    let is_python = |file: &&RepoPath| file.extension() == "py";
    let paths: Vec<_> =
        known.iter().filter(is_python).map(|file| root.join(file.as_str())).collect();
    let text = serde_json::to_vec(&paths).map_err(|error| error.to_string())?;
    files::write(list, &text).map_err(|error| error.to_string())
}

/// The lines of scripts that nothing has loaded.
fn unloaded_scripts(root: &Path, known: &BTreeSet<RepoPath>) -> BTreeMap<RepoPath, FileLines> {
    let is_script = |file: &&RepoPath| Language::of(file).is_some_and(|one| JS.contains(&one));
    let scripts = known.iter().filter(is_script);
    let read = |file: &RepoPath| {
        let text = source(root, &root.join(file.as_str()).display().to_string())?;
        Some((file.clone(), coverage::unloaded_lines(&text)))
    };
    scripts.filter_map(read).collect()
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
    fn a_run_is_empty_if_each_closing_line_counts_no_test() {
        let table = [
            ("  0 passing (3ms)\n", true),
            ("  0 passing\n", true),
            ("  10 passing (9ms)\n", false),
            ("  100 passing (1s)\n", false),
            ("  0 passing (3ms)\n  1 failing\n", false),
            ("Ran 0 tests in 0.000s\n\nOK\n", true),
            ("Ran 10 tests in 0.001s\n\nOK\n", false),
            ("Ran 1 test in 0.001s\n\nOK\n", false),
            ("Ran 0 tests in 0.000s\nRan 1 test in 0.001s\n", false),
            ("# tests 0\n# pass 0\n", true),
            ("ℹ tests 0\n", true),
            ("ℹ tests 100\n", false),
            ("===== no tests ran in 0.01s =====\n", true),
            ("no tests ran in 0.01s\n", true),
            ("== 2 failed, 3 passed in 0.10s ==\n", false),
            ("10 passed in 0.10s\n", false),
            ("all checks passed\n0 passing\n", true),
            ("wrote tests 0\n", false),
            ("", false),
        ];
        for (log, expected) in table {
            assert_eq!(says_empty(log), expected, "{log}");
        }
    }

    #[test]
    fn vitest_is_measured_by_the_providers_that_are_installed_else_by_v8() {
        let table: [(&[&str], &str); 4] = [
            (&[], "node warm_vitest.mjs report.json lines.counted"),
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
