//! Lint rules about assertions too weak to catch a defect.

use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::tree::line;

use super::calls_and_assertions::assertions;
use crate::code::lint::rule::{ALL, Detection, JS, LintRule, PY_JS_GO_JAVA, test_rule};
use crate::domain::quality::Severity::{Critical, Error, Warning};

/// The rules about weak assertions.
pub const RULES: &[LintRule] = &[
    test_rule(
        ("weak_assertions", "defined-only"),
        Warning,
        ("asserts only that something is there, or of what type", "assert what it is"),
        Detection::Function(ALL, |source| all_are(source, &DEFINED)),
    ),
    test_rule(
        ("weak_assertions", "truthy-only"),
        Warning,
        ("asserts only that something counts as true", "assert what it is"),
        Detection::Function(ALL, |source| all_are(source, &TRUTHY)),
    ),
    LintRule {
        codes: &["jest/no-large-snapshots", "vitest/no-large-snapshots"],
        ..test_rule(
            ("weak_assertions", "snapshot-overuse"),
            Warning,
            ("mostly snapshots, or a large one", "assert the few things that matter"),
            Detection::Function(JS, snapshots),
        )
    },
    test_rule(
        ("ai_generated_issues", "tautology"),
        Critical,
        ("holds whatever the code does", "assert what the code answers"),
        Detection::Function(ALL, tautology),
    ),
    test_rule(
        ("ai_generated_issues", "mock-only"),
        Error,
        ("asserts only that a mock was called", "assert what the code answers or changes"),
        Detection::Function(PY_JS_GO_JAVA, mock_only),
    ),
];

/// Finds tests in which every assertion matches a pattern.
fn all_are(source: &Source<'_>, pattern: &Pattern) -> Vec<Hit> {
    source
        .tests
        .iter()
        .filter_map(|test| {
            let list = assertions(source, test);
            let (first, _) = list.first()?;
            list.iter()
                .all(|(_, text)| pattern.is_match(text))
                .then(|| Hit::noted(line(*first), &test.name))
        })
        .collect()
}

static DEFINED: Pattern = Pattern::new(
    r"^expect\(.*\)\.(?:toBeDefined\(\)|not\.toBeUndefined\(\)|not\.toBeNull\(\))$|^assert [^=<>]+ is not None$|^assert (?:isinstance|callable|hasattr)\(.*\)$|^self\.assertIsNotNone\(|^assert!\(\w+\.is_some\(\)\)$|^(?:assert|require)\.NotNil\(|^(?:Assertions\.)?assertNotNull\(",
);
static TRUTHY: Pattern = Pattern::new(
    r"^expect\(\w+\)\.toBeTruthy\(\)$|^assert (?:result|value|output|response|res|ret|data|obj|item|items)$|^self\.assertTrue\((?:result|value|output|response|res|ret|data|obj|item|items)\)$|^assert!\((?:result|value|output|ok)\)$|^(?:assert|require)\.True\(t, (?:result|value|ok)\)$|^(?:Assertions\.)?assertTrue\((?:result|value|output)\)$",
);
static MOCKED: Pattern = Pattern::new(
    r"^expect\(\w+(?:\.\w+)*\)\.(?:not\.)?toHaveBeenCalled(?:Times\(\d+\)|\(\))$|^\w+(?:\.\w+)*\.assert_called(?:_once)?\(\)$|^assert \w+(?:\.\w+)*\.called$|^(?:Mockito\.)?verify\(\w+\)\.\w+\(\)$|^\w+\.AssertExpectations\(t\)$",
);

/// Finds tests that assert only that a mock was called.
fn mock_only(source: &Source<'_>) -> Vec<Hit> {
    // Without a mock in the file, `called` may be an ordinary property.
    let text = source.text.to_ascii_lowercase();
    let mocks = ["mock", "spy", "stub", "fake", "jest.fn", "vi.fn"];
    if !mocks.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    all_are(source, &MOCKED)
}

/// More than five snapshots that are most of the assertions of a file.
fn snapshots(source: &Source<'_>) -> Vec<Hit> {
    let list: Vec<_> = source.tests.iter().flat_map(|test| assertions(source, test)).collect();
    let is_snapshot = |text: &str| text.contains(".toMatch") && text.contains("Snapshot(");
    let found: Vec<_> = list.iter().filter(|(_, text)| is_snapshot(text)).collect();
    let first = found.first().filter(|_| found.len() > 5 && found.len() * 2 > list.len());
    let note = format!("{} of {} assertions", found.len(), list.len());
    first.map(|(first, _)| Hit::noted(line(*first), note)).into_iter().collect()
}

static TAUTOLOGY: Pattern = Pattern::new(
    r"^assert (?:True|1)$|^assert len\([^()]*(?:\([^()]*\))?[^()]*\) >= 0$|^self\.assertTrue\(True\)$|^assert!\(true\)$|^(?:Assertions\.)?assertTrue\(true\)$|^(?:assert|require)\.True\(t, true\)$|^expect\(true\)\.(?:toBe\(true\)|toBeTruthy\(\)|toEqual\(true\))$",
);
/// Two literals that are compared.
static PAIR: Pattern = Pattern::new(concat!(
    r"^(?:assert |self\.assertEqual\(|assert_eq!\(|(?:Assertions\.)?assertEquals\(|(?:assert|require)\.Equal\(t, |expect\()",
    r#"(-?\d+(?:\.\d+)?|"[^"]*"|'[^']*'|true|false|True|False|null|None)"#,
    r"(?: == |, |\)\.to(?:Be|Equal|StrictEqual)\()",
    r#"(-?\d+(?:\.\d+)?|"[^"]*"|'[^']*'|true|false|True|False|null|None)\)?$"#,
));

/// Finds assertions that hold whatever the code does.
fn tautology(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for test in &source.tests {
        for (node, text) in assertions(source, test) {
            let same = PAIR.captures(&text).next().is_some_and(|found| found[1] == found[2]);
            if same || TAUTOLOGY.is_match(&text) {
                hits.push(Hit::at(line(node)));
            }
        }
    }
    hits
}
