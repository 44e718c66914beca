//! [`DraftFile`]: a generated test file, and how the project's test framework runs it.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::test_cases::{self, SourceTest};
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::{Scope, Status, TestCase};
use crate::domain::text::bounded;
use crate::effect::{EffectError, Effects, RunError, RunRequest};
use crate::repair::can_render;
use crate::role::characterise::{is_fatal, python_packages, whole_file};
use crate::role::excerpt::without_machine_paths;

/// Maximum number of characters of output in a report.
const TAIL: usize = 1_500;

/// A generated test file with the results of its latest run.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftFile {
    pub path: RepoPath,
    pub text: String,
    pub results: Vec<TestCase>,
}

/// The environment in which a new test file is run.
#[derive(Clone, Copy)]
pub struct RunContext<'a> {
    pub tree: &'a TreeId,
    /// The tests of the existing suite.
    pub known: &'a BTreeSet<TestId>,
    pub jobs: usize,
    /// Of the run, as in [`RunRequest`].
    pub hash_seed: u32,
}

impl DraftFile {
    /// The tests in the text of the file.
    pub fn cases(&self) -> Vec<SourceTest> {
        Language::of(&self.path)
            .map(|language| test_cases::source_tests(language, &self.text))
            .unwrap_or_default()
    }

    /// The edit that creates the file.
    pub fn edits(&self) -> EditSet {
        EditSet {
            files: vec![FileEdit {
                file: self.path.clone(),
                before: None,
                after: Some(self.text.clone()),
            }],
        }
    }

    /// The tests with a given status.
    pub fn with_status(&self, status: Status) -> impl Iterator<Item = &TestCase> {
        self.results.iter().filter(move |case| case.status == status)
    }

    /// Removes tests from the text. Returns whether any test remains.
    pub fn cut(&mut self, gone: &BTreeSet<TestId>) -> bool {
        let Some(language) = Language::of(&self.path) else { return false };
        let is_gone = |case: &SourceTest| gone.iter().any(|id| case.runs_as(id.as_str()));
        match test_cases::without(language, &self.text, &is_gone) {
            Some(text) => {
                self.text = text;
                // Drop the results of removed tests as well.
                let left = self.cases();
                self.results.retain(|case| left.iter().any(|own| own.runs_as(case.id.as_str())));
                true
            }
            None => false,
        }
    }
}

/// The result of running a single test file.
pub enum FileRun {
    /// The results of the file's own tests.
    Results(Vec<TestCase>),
    /// The file cannot be loaded, or the run did not finish. The reason starts with a stable name.
    Refused(String),
}

/// Runs a file together with the sources of `context`.
pub async fn run_file(
    file: &DraftFile,
    context: RunContext<'_>,
    fx: &Effects<'_>,
) -> Result<FileRun, EffectError> {
    let tree = fx.worktree.graft(context.tree, &file.edits()).await?;
    fx.worktree.checkout(&tree).await?;
    let facts = fx.suite.facts();
    let scope = if can_render(facts.framework) {
        let packages = python_packages(&tree, fx).await?;
        Scope::Tests(vec![whole_file(&file.path, facts.framework, &facts.directory, &packages)])
    } else {
        Scope::Full
    };
    let request = RunRequest::new(fx.worktree.root(), &scope, ".process/written-output.log");
    let request = RunRequest { hash_seed: context.hash_seed, ..request };
    let cases = match fx.suite.run(&request).await {
        Ok(results) => results.cases,
        Err(error) if is_fatal(&error) => return Err(error.into()),
        Err(error @ RunError::TimedOut { .. }) => {
            return Ok(FileRun::Refused(format!("does-not-end: {error}")));
        }
        Err(error) => return Ok(FileRun::Refused(load_failure(&output_of(&error, fx)))),
    };
    let own_cases = file.cases();
    let own: Vec<TestCase> = cases
        .iter()
        .filter(|case| !context.known.contains(&case.id))
        .filter(|case| own_cases.iter().any(|own| own.runs_as(case.id.as_str())))
        .cloned()
        .collect();
    if !own.is_empty() {
        return Ok(FileRun::Results(own));
    }
    let failed = cases
        .iter()
        .filter(|case| !context.known.contains(&case.id))
        .find_map(|case| case.failure.as_ref());
    Ok(FileRun::Refused(match failed {
        Some(failure) => {
            let text = format!("{} {}\n{}", failure.class, failure.message, failure.stack);
            load_failure(&plain(&text, fx))
        }
        None => "not-collected: the framework finds no test in it".to_owned(),
    }))
}

/// The message and the last output of a failed run.
fn output_of(error: &RunError, fx: &Effects<'_>) -> String {
    let tail = match error {
        RunError::NoReport { tail, .. } => tail.as_str(),
        _ => "",
    };
    plain(&format!("{error}\n{tail}"), fx)
}

/// An untrusted text without private paths, truncated.
pub fn plain(text: &str, fx: &Effects<'_>) -> String {
    let text = without_machine_paths(text, &fx.worktree.root().display().to_string());
    bounded(&text, TAIL).trim().to_owned()
}

/// Messages of test runners about modules or names that do not exist.
const NO_MODULE: &[&str] = &[
    "No module named",
    "ModuleNotFoundError",
    "Cannot find module",
    "cannot import name",
    "ERR_MODULE_NOT_FOUND",
    "unresolved import",
    "is not in std",
    "no required module provides",
    // Messages of compilers about names that do not exist.
    "undefined: ",
    "cannot find symbol",
    "does not exist",
    "unlinked crate",
    "cannot find function",
    "cannot find type",
    "cannot find value",
];

/// Why a file has no results; starts with a stable name.
fn load_failure(output: &str) -> String {
    let mut lines = output.lines().rev();
    let Some(line) = lines.find(|line| NO_MODULE.iter().any(|sign| line.contains(sign))) else {
        return format!("cannot-be-loaded: {output}");
    };
    // rustc draws a label below the source and names the place some lines above it.
    let label = line.trim_start_matches(|mark: char| mark == '|' || mark.is_whitespace());
    let place = label.starts_with('^').then(|| lines.find_map(|line| line.split_once("--> ")));
    let label = label.trim_start_matches(['^', '-', ' ']).trim_end();
    match place.flatten() {
        Some((_, place)) => format!("hallucinated-import: {}: {label}", place.trim()),
        None => format!("hallucinated-import: {label}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(id: &str, status: Status) -> TestCase {
        TestCase {
            kind: crate::domain::test::CaseKind::Test,
            id: TestId(id.into()),
            status,
            file: None,
            line: None,
            duration_ms: 0,
            layer: crate::domain::test::Layer::Unit,
            failure: None,
        }
    }

    #[test]
    fn a_file_that_cannot_be_loaded_has_a_named_reason() {
        let table = [
            ("E   ModuleNotFoundError: No module named 'prices'", "hallucinated-import: E"),
            ("x\nError: Cannot find module './nothing'\n", "hallucinated-import: Error"),
            ("error[E0432]: unresolved import `shop::x`", "hallucinated-import: error"),
            ("price_test.go:9: undefined: Nothing", "hallucinated-import: price_test.go"),
            ("cannot find symbol", "hallucinated-import: cannot"),
            (
                "error[E0433]\n --> tests/price.rs:6:5\n  |\n6 | use nothing::x;\n  |     ^^^^^^^ \
                 use of unresolved module or unlinked crate `nothing`\n",
                "hallucinated-import: tests/price.rs:6:5: use of unresolved module",
            ),
            ("SyntaxError: invalid syntax", "cannot-be-loaded: SyntaxError"),
            ("", "cannot-be-loaded: "),
        ];
        for (output, expected) in table {
            let reason = load_failure(output);
            assert!(reason.starts_with(expected), "{reason}");
        }
    }

    #[test]
    fn tests_are_cut_out_together_with_their_results() {
        let text = "def test_a():\n    assert 1\n\n\ndef test_b():\n    assert 2\n";
        let mut file = DraftFile {
            path: RepoPath::parse("tests/test_x.py").unwrap(),
            text: text.into(),
            results: vec![
                case("tests/test_x.py::test_a", Status::Failed),
                case("tests/test_x.py::test_b", Status::Passed),
            ],
        };
        assert_eq!(file.cases().len(), 2);
        assert_eq!(file.edits().files[0].after.as_deref(), Some(text));
        assert!(file.cut(&[TestId("tests/test_x.py::test_a".into())].into()));
        assert!(!file.text.contains("test_a") && file.text.contains("test_b"), "{}", file.text);
        assert_eq!(file.with_status(Status::Failed).count(), 0);
        assert_eq!(file.with_status(Status::Passed).count(), 1);
        assert!(!file.cut(&[TestId("tests/test_x.py::test_b".into())].into()), "nothing is left");
    }
}
