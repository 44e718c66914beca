//! Lint rules about missing negative tests, missing edge cases and tests that load no product code.

use crate::code::language::Language;
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::tree::line;

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

/// Finds tests that are named after a file of the repository but load none of its code.
fn no_subject(source: &Source<'_>) -> Vec<Hit> {
    let name = source.path.file_name();
    let stem = name.split('.').next().unwrap_or_default();
    let subject =
        stem.trim_start_matches("test_").trim_end_matches("_test").trim_end_matches("Test");
    let tests = &source.tests;
    let Some(first) = tests.first() else { return Vec::new() };
    // A package is no subject of its own.
    let there = subject != "__init__"
        && source.project.files.iter().any(|file| {
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
