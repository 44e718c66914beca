//! Go: `go test -c` builds the tests of one package into one program.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use crate::adapter::host::process;
use crate::adapter::suite::format::{ReportedTest, gotest};
use crate::adapter::suite::framework::{go_module, go_test_name, words};
use crate::adapter::suite::project_suite::ProjectSuite;
use crate::code::coverage;
use crate::domain::id::{RepoPath, TestId, in_folder};
use crate::effect::{CandidateRunnerRequest, Lines};

use super::add_lines;
use super::compiled::copy_of;
use super::toolchain::{BuildError, TestProgram, Toolchain};

/// An error of the compiler: file, line, column and message.
static ERROR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^(\S+\.go):(\d+):\d+: (.+)$").ok());

/// Time limit for asking Go where its own tools are, which it may build first.
const ASKING: Duration = Duration::from_mins(1);

pub struct GoToolchain {
    module: String,
    /// The module's folder in the copy.
    folder: PathBuf,
    /// The same below the root of the repository.
    directory: String,
    /// Options of the suite's command that the build and the tests get.
    build_options: Vec<String>,
    test_options: Vec<String>,
    /// The program that turns the output of tests into events.
    converter: String,
}

/// The options of a command for the build and for the tests; `None` where it does more than run tests.
fn split_options(words: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    let (mut build, mut tests) = (Vec::new(), Vec::new());
    for word in words {
        let name = word.split('=').next().unwrap_or_default().trim_start_matches('-');
        match name {
            "race" | "tags" | "mod" if name != "tags" && name != "mod" || word.contains('=') => {
                build.push(word.clone());
            }
            "short" => tests.push("-test.short".to_owned()),
            "v" | "json" | "failfast" | "cover" | "vet" | "count" | "shuffle" | "timeout"
            | "coverprofile" | "covermode" | "coverpkg"
                if word.contains('=') || matches!(name, "v" | "json" | "failfast" | "cover") => {}
            _ if word == "./..." => {}
            _ => return None,
        }
    }
    Some((build, tests))
}

impl GoToolchain {
    /// `None` where the suite's command does more than run the tests of a module.
    pub fn open(suite: &ProjectSuite<'_>, request: &CandidateRunnerRequest<'_>) -> Option<Self> {
        let (site, copied) = (suite.site(request.root), suite.site(&copy_of(suite)));
        let written = site.command.as_ref().map(|command| command.words().to_vec());
        let written = written.unwrap_or_else(|| words(&["go", "test", "./..."]));
        let options = written.strip_prefix(words(&["go", "test"]).as_slice())?;
        let (build_options, test_options) = split_options(options)?;
        let asked = suite.invocation(request.root, words(&["go", "tool", "-n", "test2json"]));
        let converter = process::output(&asked, ASKING).ok()?.trim().to_owned();
        let module = go_module(&site);
        (!module.is_empty() && Path::new(&converter).is_file()).then_some(Self {
            module,
            folder: copied.working_folder(),
            directory: copied.directory,
            build_options,
            test_options,
            converter,
        })
    }

    /// The folder of a package below the module's, such as `./internal/price`.
    fn folder_of(&self, package: &str) -> Option<String> {
        let below = package.strip_prefix(&self.module)?;
        (below.is_empty() || below.starts_with('/')).then(|| format!(".{below}"))
    }
}

impl Toolchain for GoToolchain {
    fn unit_of(&self, test: &TestId) -> Option<String> {
        let (package, name) = go_test_name(test);
        self.folder_of(package).filter(|_| !name.is_empty()).map(|_| package.to_owned())
    }

    fn build(&self, unit: &str, folder: &Path) -> Vec<String> {
        let mut argv = words(&["go", "test", "-c", "-vet=off", "-gcflags=./...=-e"]);
        argv.extend(self.build_options.iter().cloned());
        argv.extend(["-o".to_owned(), program_path(unit, folder).display().to_string()]);
        argv.extend(self.folder_of(unit));
        argv
    }

    fn programs(&self, unit: &str, folder: &Path, _output: &str) -> Vec<TestProgram> {
        let directory = self.folder.join(self.folder_of(unit).unwrap_or_default());
        let (path, target) = (program_path(unit, folder), unit.to_owned());
        vec![TestProgram { path, directory, target, ..TestProgram::default() }]
    }

    fn build_counting(&self, unit: &str, folder: &Path) -> Option<Vec<String>> {
        let mut argv =
            words(&["go", "test", "-c", "-vet=off", "-covermode=set", "-coverpkg=./..."]);
        argv.extend(self.build_options.iter().cloned());
        argv.extend(["-o".to_owned(), program_path(unit, folder).display().to_string()]);
        argv.extend(self.folder_of(unit));
        Some(argv)
    }

    fn profile_option(&self, file: &Path) -> Option<String> {
        Some(format!("-test.coverprofile={}", file.display()))
    }

    fn executed_lines(&self, profile: &str) -> Lines {
        let report = coverage::read(profile, &|_| None).unwrap_or_default();
        let mut executed = Lines::new();
        for (path, counts) in report.files {
            let below = path.strip_prefix(&self.module).and_then(|below| below.strip_prefix('/'));
            let lines = counts.lines.iter().filter(|(_, hits)| **hits > 0).map(|(line, _)| *line);
            let file = below.map(|below| RepoPath::parse(in_folder(&self.directory, below)));
            if let Some(Ok(file)) = file {
                add_lines(&mut executed, file, lines);
            }
        }
        executed
    }

    fn errors(&self, output: &str) -> Vec<BuildError> {
        let found = ERROR.iter().flat_map(|pattern| pattern.captures_iter(output));
        found
            .filter_map(|found| {
                let [file, line, message] = found.extract::<3>().1;
                let file = file.trim_start_matches("./").trim_start_matches("../").to_owned();
                Some(BuildError { file, line: line.parse().ok()?, message: message.to_owned() })
            })
            .collect()
    }

    fn run(&self, program: &TestProgram, tests: &[TestId]) -> Option<Vec<String>> {
        let mut names: Vec<&str> = Vec::new();
        for (package, name) in tests.iter().map(go_test_name) {
            if package == program.target && !names.contains(&name) {
                names.push(name);
            }
        }
        let mut argv = words(&[&self.converter, "-t", "-p", &program.target]);
        argv.push(program.path.display().to_string());
        argv.extend(words(&["-test.v=test2json", "-test.paniconexit0"]));
        argv.extend(self.test_options.iter().cloned());
        argv.push(format!("-test.run=^({})$", names.join("|")));
        (!names.is_empty()).then_some(argv)
    }

    fn read(&self, _program: &TestProgram, output: &str) -> Vec<ReportedTest> {
        gotest::parse(output, &self.module)
    }
}

/// Where the program of a package is written.
fn program_path(unit: &str, folder: &Path) -> PathBuf {
    folder.join(format!("{}.test", unit.replace('/', "-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_names_the_files_of_the_repository() {
        let profile = "mode: set\nexample.com/shop/price.go:5.37,6.19 1 1\n\
            example.com/shop/internal/rate/rate.go:9.2,9.10 1 1\n\
            example.com/shop/internal/rate/rate.go:13.31,13.2 1 0\n\
            example.com/shopping/other.go:1.2,1.3 1 1\n";
        for (directory, files) in [
            ("", ["internal/rate/rate.go", "price.go"]),
            ("go", ["go/internal/rate/rate.go", "go/price.go"]),
        ] {
            let toolchain = GoToolchain {
                module: "example.com/shop".into(),
                folder: PathBuf::new(),
                directory: directory.into(),
                build_options: Vec::new(),
                test_options: Vec::new(),
                converter: String::new(),
            };
            let lines = toolchain.executed_lines(profile);
            let shown: Vec<(&str, &[u32])> =
                lines.iter().map(|(file, lines)| (file.as_str(), lines.as_slice())).collect();
            assert_eq!(shown, [(files[0], [9].as_slice()), (files[1], [5, 6].as_slice())]);
        }
    }

    #[test]
    fn options_go_to_the_build_or_to_the_tests() {
        let table = [
            ("./...", Some(("", ""))),
            ("-race -v -count=1 ./...", Some(("-race", ""))),
            ("-short -tags=slow ./...", Some(("-tags=slow", "-test.short"))),
            ("-timeout=30s -coverprofile=c.out ./...", Some(("", ""))),
            ("-tags slow ./...", None),
            ("-run TestA ./...", None),
            ("./price", None),
        ];
        for (text, expected) in table {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            let found = split_options(&words).map(|(one, other)| (one.join(" "), other.join(" ")));
            let expected = expected.map(|(one, other)| (one.to_owned(), other.to_owned()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
