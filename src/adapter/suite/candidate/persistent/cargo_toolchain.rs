//! Rust: `cargo test --no-run` builds all test programs of a project, and says where they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::adapter::suite::format::{ReportedTest, libtest};
use crate::adapter::suite::framework::{crate_folders, words};
use crate::adapter::suite::project_suite::ProjectSuite;
use crate::code::language::Language;
use crate::domain::id::{TestId, in_folder};
use crate::effect::CandidateRunnerRequest;

use super::toolchain::{BuildError, TestProgram, Toolchain};

/// A line of `--message-format=json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    executable: Option<PathBuf>,
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    message: Option<Diagnostic>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Target {
    name: String,
    kind: Vec<String>,
    src_path: PathBuf,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Profile {
    test: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Diagnostic {
    message: String,
    level: String,
    spans: Vec<Span>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Span {
    file_name: String,
    line_start: u32,
    is_primary: bool,
    /// Where a macro is called, for a place in what it stands for.
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct Expansion {
    span: Span,
}

impl Span {
    /// The place in a source of the project.
    fn in_project(&self) -> &Self {
        match &self.expansion {
            Some(expansion) => expansion.span.in_project(),
            None => self,
        }
    }
}

pub struct CargoToolchain {
    /// The command up to the `--`, and the options behind it.
    command: Vec<String>,
    test_options: Vec<String>,
    /// Folders of the crates of a workspace, by their names.
    crates: BTreeMap<String, String>,
}

/// Options of test programs that change nothing of a selection by name.
fn is_test_option(word: &str) -> bool {
    word.starts_with("--test-threads=") || matches!(word, "--include-ignored" | "--ignored")
}

impl CargoToolchain {
    /// `None` where the suite's command is more than `cargo test` with options.
    pub fn open(suite: &ProjectSuite<'_>, request: &CandidateRunnerRequest<'_>) -> Option<Self> {
        let site = suite.site(request.root);
        let written = site.command.as_ref().map(|command| command.words().to_vec());
        let written = written.unwrap_or_else(|| words(&["cargo", "test"]));
        let mut parts = written.splitn(2, |word| word == "--");
        let mut command = parts.next()?.to_vec();
        let test_options = parts.next().unwrap_or_default().to_vec();
        let is_plain = command.starts_with(&words(&["cargo", "test"]))
            && command.get(2..)?.iter().all(|word| word.starts_with('-') && word != "--doc");
        command.retain(|word| !matches!(word.as_str(), "-q" | "--quiet" | "--no-fail-fast"));
        (is_plain && test_options.iter().all(|word| is_test_option(word))).then(|| Self {
            command,
            test_options,
            crates: crate_folders(&site),
        })
    }
}

/// The lines of an output that are messages.
fn messages(output: &str) -> impl Iterator<Item = Line> {
    output.lines().filter_map(|line| serde_json::from_str(line).ok())
}

impl Toolchain for CargoToolchain {
    fn unit_of(&self, test: &TestId) -> Option<String> {
        let is_built = test.as_str().contains(".rs::") && !test.as_str().starts_with("doc:");
        is_built.then(String::new)
    }

    fn build(&self, _unit: &str, _folder: &Path) -> Vec<String> {
        let mut argv = self.command.clone();
        argv.extend(words(&["--no-run", "--message-format=json"]));
        argv
    }

    fn programs(&self, _unit: &str, _folder: &Path, output: &str) -> Vec<TestProgram> {
        let program = |line: Line| {
            let package = line.manifest_path.parent()?;
            let source = line.target.src_path.strip_prefix(package);
            let mut target = source.unwrap_or(&line.target.src_path).display().to_string();
            let is_test = line.target.kind.iter().any(|kind| kind == "test");
            let around = self.crates.values().filter(|folder| package.ends_with(folder));
            let folder = if is_test {
                around.max_by_key(|folder| folder.len())
            } else {
                self.crates.get(&line.target.name.replace('-', "_"))
            };
            if let Some(folder) = folder {
                target = in_folder(folder, &target);
            }
            let own = ("CARGO_MANIFEST_DIR".to_owned(), package.display().to_string());
            let (directory, environment) = (package.to_owned(), [own].into());
            Some(TestProgram { path: line.executable?, directory, target, environment })
        };
        messages(output).filter(|line| line.profile.test).filter_map(program).collect()
    }

    fn probed_language(&self) -> Option<Language> {
        Some(Language::Rust)
    }

    fn errors(&self, output: &str) -> Vec<BuildError> {
        let errors = messages(output).filter_map(|line| line.message);
        errors
            .filter(|error| error.level == "error")
            .filter_map(|error| {
                let primary = error.spans.iter().find(|span| span.is_primary)?.in_project();
                let file = primary.file_name.clone();
                Some(BuildError { file, line: primary.line_start, message: error.message })
            })
            .collect()
    }

    fn run(&self, program: &TestProgram, tests: &[TestId]) -> Option<Vec<String>> {
        let within = |test: &TestId| {
            let (target, name) = test.as_str().split_once(".rs::")?;
            (format!("{target}.rs") == program.target).then(|| name.to_owned())
        };
        let names: BTreeSet<String> = tests.iter().filter_map(within).collect();
        let mut argv = vec![program.path.display().to_string()];
        argv.extend(self.test_options.iter().cloned());
        argv.push("--exact".into());
        let is_empty = names.is_empty();
        argv.extend(names);
        (!is_empty).then_some(argv)
    }

    fn read(&self, program: &TestProgram, output: &str) -> Vec<ReportedTest> {
        // Cargo names each program before what it prints.
        let heading = format!("     Running unittests {} (target)\n", program.target);
        libtest::parse(&(heading + output))
    }
}
