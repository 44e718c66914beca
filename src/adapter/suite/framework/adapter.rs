//! Types of the framework table: the commands of a suite, its reports and coverage.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::adapter::host::files;
use crate::adapter::host::process::ExitReason;
use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::domain::shell;
use crate::domain::test_command::TestCommand;
use crate::effect::RunError;

use super::super::format::{REPORT_LIMIT, Report, ReportedTest, Unreadable, xml};
use super::super::io_error::cannot;
pub use super::site::{SAMPLES, Site};

/// A command as a person types it, and its words, to which others are added.
#[derive(Clone, Debug)]
pub struct TypedCommand {
    display: String,
    /// For a configured command as they were written, quotes included.
    words: Vec<String>,
    /// The number of words up to the program that runs the tests.
    program: usize,
    in_shell: bool,
}

impl Site {
    /// The configured command, else `command`, to which words can be added.
    pub fn typed(&self, command: &str) -> TypedCommand {
        match &self.command {
            Some(command) => TypedCommand::configured(command),
            None => TypedCommand {
                display: command.to_owned(),
                words: command.split_whitespace().map(str::to_owned).collect(),
                program: 0,
                in_shell: false,
            },
        }
    }
}

impl TypedCommand {
    /// A configured command, which runs in a shell with all of its words.
    pub fn configured(command: &TestCommand) -> Self {
        let display = command.text().to_owned();
        Self {
            display,
            words: command.words().to_vec(),
            program: command.launcher(),
            in_shell: true,
        }
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn has_word(&self, word: &str) -> bool {
        self.words.iter().any(|one| one == word)
    }

    /// The number of words before the `--` behind the program, or of all.
    pub fn options_end(&self) -> usize {
        let is_end = |(at, word): (usize, &String)| at >= self.program && word == "--";
        self.words.iter().enumerate().position(is_end).unwrap_or(self.words.len())
    }

    /// Adds words before the one with this index.
    pub fn insert(&mut self, at: usize, words: impl IntoIterator<Item = String>) {
        let quoted = |word: String| if self.in_shell { shell::word(&word) } else { word };
        let words: Vec<String> = words.into_iter().map(quoted).collect();
        let at = at.min(self.words.len());
        self.words.splice(at..at, words);
    }

    /// Adds words at the end.
    pub fn extend(&mut self, words: impl IntoIterator<Item = String>) {
        self.insert(self.words.len(), words);
    }

    /// Removes the words from this index on, except options that hold their value.
    pub fn truncate_to_options(&mut self, start: usize) {
        let options = self.words.split_off(start.min(self.words.len()));
        let is_whole = |word: &String| word.starts_with('-') && word.contains('=');
        self.words.extend(options.into_iter().filter(is_whole));
    }

    /// Removes options by their names, with their values: numbers, and the file or the part that some take.
    pub fn remove_options(&mut self, names: &[&str]) {
        let mut may_be_value: fn(&str) -> bool = |_| false;
        self.words.retain(|word| {
            if std::mem::replace(&mut may_be_value, |_| false)(word) {
                return false;
            }
            let name = word.split(['=', '.']).next().unwrap_or_default();
            if !names.contains(&name) {
                return true;
            }
            may_be_value = match name {
                _ if word.contains('=') => |_| false,
                "--outputFile"
                | "--shard"
                | "--test-reporter"
                | "--test-reporter-destination"
                | "--reporter"
                | "-R" => |_| true,
                _ => |word| word.parse::<u32>().is_ok(),
            };
            false
        });
    }

    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.words.retain(|word| keep(word));
    }

    /// The command with all words that were added.
    #[must_use]
    pub fn into_run(self) -> RunCommand {
        let Self { display, words, in_shell, program: _ } = self;
        let argv = if in_shell { shell_argv(&words.join(" ")) } else { words };
        RunCommand::new(argv, display)
    }
}

#[derive(Clone, Debug)]
pub struct RunFiles {
    pub drivers: PathBuf,
    /// File to which results are written; removed before each run.
    pub results: PathBuf,
    /// File with the ids of the selected tests, one per line; written for a run of some tests.
    pub selection: PathBuf,
}

#[derive(Clone, Debug, Default)]
pub struct RunCommand {
    pub argv: Vec<String>,
    /// The command as a person types it.
    pub display: String,
    pub environment: BTreeMap<String, String>,
    /// Glob of reports below the folder that are removed before the run.
    pub stale_reports: Option<String>,
}

impl RunCommand {
    /// A command, with the form in which a person types it.
    #[must_use]
    pub fn new(argv: Vec<String>, display: impl Into<String>) -> Self {
        Self { argv, display: display.into(), ..Self::default() }
    }

    /// Tells a reporter of ours where results go, and which tests are selected.
    #[must_use]
    pub fn with_reporter_files(
        mut self,
        site: &Site,
        selection: Option<&[TestId]>,
        files: &RunFiles,
    ) -> Self {
        let list = selection.map(|_| ("REGREEN_SELECT", &files.selection));
        let known = [("REGREEN_CASES", &files.results), ("REGREEN_ROOT", &site.root)];
        let variables = known.into_iter().chain(list);
        self.environment
            .extend(variables.map(|(name, path)| (name.to_owned(), path.display().to_string())));
        self
    }
}

/// The files that a run leaves behind.
#[derive(Clone, Debug)]
pub struct RunArtifacts<'a> {
    /// The command as a person types it.
    pub command: &'a str,
    pub ending: ExitReason,
    pub results: &'a Path,
    pub log: &'a Path,
    pub site: &'a Site,
    /// Files of the commit that the pattern of reports matches, and that the run left as they were.
    pub unwritten: &'a BTreeSet<PathBuf>,
}

/// A report or log as text, empty for a missing file; bytes that are not UTF-8 become question marks.
pub fn read_text(path: &Path) -> Result<String, RunError> {
    let bytes = files::read_untrusted(path, REPORT_LIMIT).map_err(cannot("read", path))?;
    Ok(bytes.map_or_else(String::new, into_text))
}

/// Reads a document by the encoding that it declares.
pub fn read_document<T>(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<T, Unreadable>,
) -> Result<T, RunError> {
    let bytes = files::read_untrusted(path, REPORT_LIMIT).map_err(cannot("read", path))?;
    let bytes = bytes.unwrap_or_default();
    let text = xml::decode_document(&bytes).unwrap_or_else(|| into_text(bytes));
    parse(&text).map_err(|error| error.in_report(path))
}

/// Size of a text, in bytes, above which it is not copied.
const COPIED: usize = 4 << 20;

/// Bytes as text. Those that are not UTF-8 become the characters of Windows-1252, so that two names stay
/// two; those of a large log become question marks in place, as a copy would double its memory.
pub(super) fn into_text(mut bytes: Vec<u8>) -> String {
    if bytes.len() <= COPIED {
        let text = |chunk: std::str::Utf8Chunk<'_>| {
            let (foreign, _) =
                encoding_rs::WINDOWS_1252.decode_without_bom_handling(chunk.invalid());
            format!("{}{foreign}", chunk.valid())
        };
        return match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => error.as_bytes().utf8_chunks().map(text).collect(),
        };
    }
    let mut start = 0;
    while let Some(Err(error)) = bytes.get(start..).map(std::str::from_utf8) {
        let at = start + error.valid_up_to();
        start = error.error_len().map_or(bytes.len(), |length| at + length);
        if let Some(foreign) = bytes.get_mut(at..start) {
            foreign.fill(b'?');
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// How one framework is detected, run and read.
pub struct FrameworkAdapter {
    pub framework: Framework,
    pub format: &'static str,
    /// Files and settings that indicate the framework, as shown to people.
    pub signals: &'static str,
    /// Whether a configured command runs the framework, so that its report can be had.
    pub is_run_by: fn(&TestCommand) -> bool,
    /// The evidence of manifests and settings for it without a configured command.
    pub detect: fn(&Site) -> Option<String>,
    /// The evidence of test files alone, which the manifest of any other framework outweighs.
    pub detect_by_tests: fn(&Site) -> Option<String>,
    /// The command that prints its version; empty where there is none.
    pub version: fn(&Site) -> Vec<String>,
    /// What to do where it does not start.
    pub install: fn(&Site) -> &'static str,
    /// The command that runs all tests, or the selected ones.
    pub command: fn(&Site, Option<&[TestId]>, &RunFiles) -> RunCommand,
    /// How its results are read.
    pub read: fn(&RunArtifacts<'_>) -> Result<Report, RunError>,
    /// How the suite runs under a coverage tool; the reason when the project has none.
    pub coverage: fn(&CoverageRequest<'_>) -> Result<CoverageCommand, String>,
    /// How candidates are tried in persistent processes, where the framework supports it.
    pub persistent: Option<PersistentRunner>,
}

impl FrameworkAdapter {
    /// The evidence that a folder uses the framework: the configured command, else its manifests.
    pub fn evidence(&self, site: &Site) -> Option<String> {
        match &site.command {
            Some(command) => {
                (self.is_run_by)(command).then(|| format!("the command `{}`", command.text()))
            }
            None => (self.detect)(site),
        }
    }
}

/// A way to try candidates in processes that stay alive between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersistentRunner {
    /// Python processes that fork for each candidate.
    Python,
    /// A Node.js process with a thread for each candidate.
    Node,
    /// Vitest through its Node.js API.
    Vitest,
    /// Jest in one process.
    Jest,
    /// Programs that Go builds, with many candidates in each.
    Go,
    /// Programs that Cargo builds, with many candidates in each.
    Cargo,
}

/// The input of a coverage command.
#[derive(Clone, Copy, Debug)]
pub struct CoverageRequest<'a> {
    pub site: &'a Site,
    pub root: &'a Path,
    /// An empty folder for data and reports.
    pub output: &'a Path,
    pub drivers: &'a Path,
}

impl CoverageRequest<'_> {
    /// A path in the output folder, as an argument.
    pub fn output_path(&self, name: &str) -> String {
        self.output.join(name).display().to_string()
    }
}

/// How the suite runs under a coverage tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageCommand {
    /// The command as a person types it.
    pub display: String,
    /// Commands, run one after the other.
    pub argv: Vec<Vec<String>>,
    pub environment: BTreeMap<String, String>,
    pub reports: ReportLocation,
    /// What measures where coverage.py is missing.
    pub tracer: Option<Tracer>,
}

/// A tracer of ours, which writes to the location of the other reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracer {
    /// The command as a person types it.
    pub display: String,
    pub argv: Vec<String>,
    /// The file in which it looks for the paths of the files to measure.
    pub files: PathBuf,
}

impl CoverageCommand {
    /// One command that writes one report file.
    #[must_use]
    pub fn new(display: &str, argv: Vec<String>, report: PathBuf) -> Self {
        Self {
            display: display.to_owned(),
            argv: vec![argv],
            environment: BTreeMap::new(),
            reports: ReportLocation::File(report),
            tracer: None,
        }
    }

    /// One command that writes reports to the files of a folder that match a glob.
    #[must_use]
    pub fn with_reports(display: &str, argv: Vec<String>, folder: PathBuf, glob: &str) -> Self {
        let pattern = glob.to_owned();
        let reports = ReportLocation::Glob { folder, pattern };
        Self { reports, ..Self::new(display, argv, PathBuf::new()) }
    }
}

/// Where a coverage tool leaves its reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportLocation {
    File(PathBuf),
    /// The files of a folder that match a glob.
    Glob {
        folder: PathBuf,
        /// The glob, relative to the folder.
        pattern: String,
    },
}

/// The part of each id before `separator`, each once, in order.
pub fn heads<'a>(ids: &'a [TestId], separator: &str) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    let heads = ids.iter().filter_map(|id| id.as_str().split(separator).next());
    heads.filter(|head| seen.insert(*head)).collect()
}

/// Adds parts of the build that failed, and so left no report, as failing tests.
pub(super) fn with_build_failures(
    parsed: Result<Report, RunError>,
    failures: Vec<ReportedTest>,
) -> Result<Report, RunError> {
    let mut report = match parsed {
        Err(RunError::NoReportFile { .. }) if !failures.is_empty() => Report::of(Vec::new()),
        parsed => parsed?,
    };
    report.cases.extend(failures);
    Ok(report)
}

/// The arguments that run a user's command line in a shell. Where it sets `PYTHONPATH` itself, our
/// folder still comes first, or an editable installation would lead to the user's own files.
pub fn shell_argv(command: &str) -> Vec<String> {
    const NAME: &str = "PYTHONPATH=";
    let mut parts = command.split(NAME);
    let mut line = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        // An empty entry would be the working folder.
        let is_empty = rest.starts_with(char::is_whitespace) || rest.is_empty();
        let is_quoted = line.matches('"').count() % 2 == 1;
        let folder = if is_quoted { "$REGREEN_DRIVERS" } else { "\"$REGREEN_DRIVERS\"" };
        line += &format!("{NAME}{folder}{}{rest}", if is_empty { "" } else { ":" });
    }
    words(&["sh", "-c", &line])
}

/// Words as owned strings.
pub fn words(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{COPIED, into_text};

    #[test]
    fn bytes_that_are_no_text_stay_apart_and_are_question_marks_in_a_large_log() {
        let table: [(&[u8], &str, &str); 4] = [
            (b"", "", ""),
            (b"a\xffb\xc3", "aÿbÃ", "a?b?"),
            ("ö".as_bytes(), "ö", "ö"),
            (b"\xe2\x82x", "â‚x", "??x"),
        ];
        for (bytes, expected, of_large) in table {
            assert_eq!(into_text(bytes.to_vec()), expected);
            let large = [bytes, &vec![b' '; COPIED]].concat();
            assert_eq!(into_text(large).trim_end(), of_large);
        }
    }
}
