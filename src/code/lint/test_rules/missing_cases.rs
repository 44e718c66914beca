//! Lint rules about missing negative tests, missing edge cases and tests that load no product code.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::test_cases::TestNode;
use crate::code::tree::{FUNCTIONS, line};

use super::calls_and_assertions::{assertions, asserts};
use crate::code::lint::rule::{ALL, Detection, LintRule, PY_JS, test_rule};
use crate::domain::quality::Severity::{Critical, Error};

/// The rules about cases that the tests of a file leave out.
pub const RULES: &[LintRule] = &[
    test_rule(
        ("incomplete_coverage", "no-negative-path"),
        Error,
        ("no test of what must fail", "test that invalid input is rejected"),
        Detection::Function(ALL, |source| never_tries(source, &NEGATIVE)),
    ),
    test_rule(
        ("incomplete_coverage", "no-edge-case"),
        Error,
        ("no test of an edge", "test null, zero, empty and maximum values"),
        Detection::Function(ALL, |source| never_tries(source, &EDGE)),
    ),
    test_rule(
        ("ai_generated_issues", "subject-not-imported"),
        Critical,
        ("the test imports no code of the repository", "import what the test is about"),
        Detection::Function(PY_JS, no_subject),
    ),
];

static NEGATIVE: Pattern = Pattern::new(
    r"(?i)rais|throw|reject|invalid|error|\berr\b|fail|except|panic|is_err|unwrap_err|missing|denied|forbidden|refus|illegal|bad|wrong|malformed|not_?found|unauthori|unknown|cannot|no_|without|not_",
);
static EDGE: Pattern = Pattern::new(
    r#"(?i)\b(?:null|none|nil|undefined|nan|infinity|empty|max|min|0|-1|boundary|is_empty|optional)\b|""|''|\[\]|\{\}|vec!\[\]|empty|_max|maxvalue|zero"#,
);

/// Finds files with at least three tests of which none covers errors, or none an edge case.
fn never_tries(source: &Source<'_>, pattern: &Pattern) -> Vec<Hit> {
    let tests = &source.tests;
    let (Some(first), true) = (tests.first(), tests.len() >= 3) else { return Vec::new() };
    let none = tests
        .iter()
        .all(|test| !pattern.is_match(source.of(test.node)) && !pattern.is_match(&test.marks));
    let hit = || Hit::noted(line(first.node), format!("{} tests", tests.len()));
    none.then(hit).into_iter().collect()
}

static WAITS: Pattern = Pattern::new(
    r"\b(?:await|async|asyncio|run_until_complete|then|done|resolves|rejects|return|anyio|trio)\b[^-]",
);

/// Finds tests that are named after a file of the repository but load none of its code.
fn no_subject(source: &Source<'_>) -> Vec<Hit> {
    let name = source.path.file_name();
    let stem = name.split('.').next().unwrap_or_default();
    let subject =
        stem.trim_start_matches("test_").trim_end_matches("_test").trim_end_matches("Test");
    let tests = &source.tests;
    let Some(first) = tests.first() else { return Vec::new() };
    let there = source.project.files.iter().any(|file| {
        let base = file.rsplit('/').next().unwrap_or_default();
        file != source.path.as_str()
            && base.split('.').next() == Some(subject)
            && base.rsplit('.').next() == name.rsplit('.').next()
            && !file.contains("test")
    });
    let loads = if source.language == Language::Python {
        source.imports.iter().any(|import| {
            let first = import.module.split('.').next().unwrap_or_default();
            first.is_empty() || source.project.python_roots.contains(first)
        }) || ["import_module", "__import__", "subprocess", "runpy", "spec_from_file", "patch("]
            .iter()
            .any(|word| source.text.contains(word))
    } else {
        source.imports.iter().any(|import| {
            import.module.starts_with(['.', '@', '~', '#', '/'])
                || source.project.script_own.iter().any(|own| {
                    import
                        .module
                        .strip_prefix(own.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                })
                || source.project.script.as_ref().is_some_and(|list| list.contains(&import.module))
                    && import.module.contains(subject)
        }) || ["spawn", "exec", "require(", "import(", "page.", "cy.", "load", "request("]
            .iter()
            .any(|word| source.text.contains(word))
    };
    if there && !loads { vec![Hit::noted(line(first.node), subject)] } else { Vec::new() }
}

/// What one test exercises, judged by its text.
pub struct ExercisedCode {
    /// Identifiers in the test, its attributes, and the helpers of its file that it names.
    pub words: BTreeSet<String>,
    /// The files of the repository that the test file imports.
    pub loads: BTreeSet<String>,
    /// Whether its text suggests that it tests a failure.
    pub negative: bool,
    /// Whether its text suggests that it tests an edge case.
    pub edge: bool,
    /// Whether it waits for an asynchronous operation.
    pub waits: bool,
    /// The number of its assertions; 1 if only a helper asserts.
    pub assertions: u32,
}

/// Collects what each test of a file exercises.
pub fn tried(source: &Source<'_>) -> Vec<ExercisedCode> {
    let tests: Vec<&TestNode<'_>> =
        source.tests.iter().filter(|test| source.is_test_line(line(test.node))).collect();
    if tests.is_empty() {
        return Vec::new();
    }
    let words = |node| -> BTreeSet<String> {
        source
            .inside(node)
            .filter(|one| one.child_count() == 0 && one.kind().ends_with("identifier"))
            .map(|one| source.of(one).to_owned())
            .collect()
    };
    let helpers: BTreeMap<&str, BTreeSet<String>> = source
        .of_kind(FUNCTIONS)
        .filter(|node| !tests.iter().any(|test| test.node.id() == node.id()))
        .map(|node| (source.field(node, "name"), words(node)))
        .filter(|(name, _)| !name.is_empty())
        .collect();
    let edges = source.project.edges.get(source.path.as_str());
    let loads: BTreeSet<String> = edges.into_iter().flatten().cloned().collect();
    tests
        .iter()
        .map(|test| {
            let mut own = words(test.node);
            own.extend(
                test.marks.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned),
            );
            let lent: Vec<String> = own
                .iter()
                .filter_map(|word| helpers.get(word.as_str()))
                .flatten()
                .cloned()
                .collect();
            own.extend(lent);
            let text = format!("{}{}", test.marks, source.of(test.node));
            let direct = u32::try_from(assertions(source, test).len()).unwrap_or(u32::MAX);
            let lent = u32::from(direct == 0 && asserts(source, test.node, 2));
            ExercisedCode {
                negative: NEGATIVE.is_match(&text),
                edge: EDGE.is_match(&text),
                waits: WAITS.is_match(&text),
                assertions: direct + lent,
                words: own,
                loads: loads.clone(),
            }
        })
        .collect()
}
