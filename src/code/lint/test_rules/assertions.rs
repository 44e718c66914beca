//! Assertions that say too little, and bodies that are copies.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::code::lint::source::{Hit, Source};
use crate::code::tree::{around, line};

use super::body::{assertions, matches};
use crate::code::lint::rule::{ALL, Detection, JS, LintRule, PY_JS_GO_JAVA, TEST_RULE};
use crate::domain::quality::Severity::{Critical, Error, Warning};

/// Rules about assertions that say too little.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "defined-only",
        category: "weak_assertions",
        severity: Warning,
        issue: "asserts only that something is there",
        detection: Detection::Function(ALL, |source| all_are(source, &DEFINED)),
        suggestion: "assert what it is",
        ..TEST_RULE
    },
    LintRule {
        id: "truthy-only",
        category: "weak_assertions",
        severity: Warning,
        issue: "asserts only that something counts as true",
        detection: Detection::Function(ALL, |source| all_are(source, &TRUTHY)),
        suggestion: "assert what it is",
        ..TEST_RULE
    },
    LintRule {
        id: "snapshot-overuse",
        category: "weak_assertions",
        severity: Warning,
        issue: "mostly snapshots",
        detection: Detection::Function(JS, snapshots),
        suggestion: "assert the few things that matter",
        ..TEST_RULE
    },
    LintRule {
        id: "tautology",
        category: "ai_generated_issues",
        severity: Critical,
        issue: "holds whatever the code does",
        detection: Detection::Function(ALL, tautology),
        suggestion: "assert what the code answers",
        ..TEST_RULE
    },
    LintRule {
        id: "mock-only",
        category: "ai_generated_issues",
        severity: Error,
        issue: "asserts only that a mock was called",
        detection: Detection::Function(PY_JS_GO_JAVA, mock_only),
        suggestion: "assert what the code answers or changes",
        ..TEST_RULE
    },
    LintRule {
        id: "copied-body",
        category: "ai_generated_issues",
        severity: Warning,
        issue: "the same body as another test",
        detection: Detection::Function(ALL, copied),
        suggestion: "test another case, or take one out",
        ..TEST_RULE
    },
];

/// Tests all of whose assertions are of one kind.
fn all_are(source: &Source<'_>, pattern: &'static LazyLock<Option<Regex>>) -> Vec<Hit> {
    let fits = matches(pattern);
    source
        .tests
        .iter()
        .filter_map(|test| {
            let list = assertions(source, test);
            let (first, _) = list.first()?;
            list.iter().all(|(_, text)| fits(text)).then(|| Hit::noted(line(*first), &test.name))
        })
        .collect()
}

static DEFINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^expect\(.*\)\.(?:toBeDefined\(\)|not\.toBeUndefined\(\)|not\.toBeNull\(\))$|^assert [\w.\[\]()]+ is not None$|^self\.assertIsNotNone\(|^assert!\(\w+\.is_some\(\)\)$|^(?:assert|require)\.NotNil\(|^(?:Assertions\.)?assertNotNull\(").ok()
});
static TRUTHY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^expect\(\w+\)\.toBeTruthy\(\)$|^assert (?:result|value|output|response|res|ret|data|obj|item|items)$|^self\.assertTrue\((?:result|value|output|response|res|ret|data|obj|item|items)\)$|^assert!\((?:result|value|output|ok)\)$|^(?:assert|require)\.True\(t, (?:result|value|ok)\)$|^(?:Assertions\.)?assertTrue\((?:result|value|output)\)$").ok()
});
static MOCKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^expect\(\w+(?:\.\w+)*\)\.(?:not\.)?toHaveBeenCalled(?:Times\(\d+\)|\(\))$|^\w+(?:\.\w+)*\.assert_called(?:_once)?\(\)$|^assert \w+(?:\.\w+)*\.called$|^(?:Mockito\.)?verify\(\w+\)\.\w+\(\)$|^\w+\.AssertExpectations\(t\)$").ok()
});

/// Only says that a mock was called.
fn mock_only(source: &Source<'_>) -> Vec<Hit> {
    // Own things may be called `called` too.
    let text = source.text.to_ascii_lowercase();
    let mocks = ["mock", "spy", "stub", "fake", "jest.fn", "vi.fn"];
    if !mocks.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    all_are(source, &MOCKED)
}

/// Files with more than five snapshots that are most of their assertions.
fn snapshots(source: &Source<'_>) -> Vec<Hit> {
    let tests = &source.tests;
    let list: Vec<(Node<'_>, String)> =
        tests.iter().flat_map(|test| assertions(source, test)).collect();
    let is_snapshot =
        |text: &str| text.contains("toMatchSnapshot(") || text.contains("toMatchInlineSnapshot(");
    let found: Vec<_> = list.iter().filter(|(_, text)| is_snapshot(text)).collect();
    let too_many = found.len() > 5 && found.len() * 2 > list.len();
    let first = found.first().filter(|_| too_many);
    let note = format!("{} of {} assertions", found.len(), list.len());
    first.map(|(first, _)| Hit::noted(line(*first), note)).into_iter().collect()
}

static TAUTOLOGY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^assert (?:True|1)$|^self\.assertTrue\(True\)$|^assert!\(true\)$|^(?:Assertions\.)?assertTrue\(true\)$|^(?:assert|require)\.True\(t, true\)$|^expect\(true\)\.(?:toBe\(true\)|toBeTruthy\(\)|toEqual\(true\))$").ok()
});
static PAIRS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const LITERAL: &str = r#"(-?\d+(?:\.\d+)?|"[^"]*"|'[^']*'|true|false|True|False|null|None)"#;
    Regex::new(
        &[
            format!(r"^assert {LITERAL} == {LITERAL}$"),
            format!(r"^self\.assertEqual\({LITERAL}, {LITERAL}\)$"),
            format!(r"^assert_eq!\({LITERAL}, {LITERAL}\)$"),
            format!(r"^(?:Assertions\.)?assertEquals\({LITERAL}, {LITERAL}\)$"),
            format!(r"^(?:assert|require)\.Equal\(t, {LITERAL}, {LITERAL}\)$"),
            format!(r"^expect\({LITERAL}\)\.to(?:Be|Equal|StrictEqual)\({LITERAL}\)$"),
        ]
        .join("|"),
    )
    .ok()
});

/// Assertions that hold whatever the code does.
fn tautology(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for test in &source.tests {
        for (node, text) in assertions(source, test) {
            let same =
                PAIRS.as_ref().and_then(|pairs| pairs.captures(&text)).is_some_and(|found| {
                    let sides: Vec<&str> =
                        found.iter().skip(1).flatten().map(|one| one.as_str()).collect();
                    matches!(sides.as_slice(), [left, right] if left == right)
                });
            if same || matches(&TAUTOLOGY)(&text) {
                hits.push(Hit::at(line(node)));
            }
        }
    }
    hits
}

/// Tests of one group whose bodies are the same, word for word.
fn copied(source: &Source<'_>) -> Vec<Hit> {
    // Decorated tests differ in what they are given; methods in what surrounds them.
    let kinds: &[&str] = match source.is_script() {
        true => &["call_expression"],
        false => &["class_definition", "class_declaration"],
    };
    let mut seen: BTreeMap<(usize, String), &str> = BTreeMap::new();
    let mut hits = Vec::new();
    for test in &source.tests {
        let list = test.statements(source.text);
        let words =
            |one: &Node<'_>| source.of(*one).split_whitespace().collect::<Vec<_>>().join(" ");
        let text = list.iter().map(words).collect::<Vec<_>>().join("\n");
        let marks = ["#[test]", "@Test", "public", "void"]
            .iter()
            .fold(test.marks.clone(), |marks, plain| marks.replace(plain, ""));
        if list.len() < 2 || text.len() < 40 || !marks.trim().is_empty() {
            continue;
        }
        let group = around(test.node, kinds).map_or(0, |one| one.start_byte());
        match seen.get(&(group, text.clone())) {
            Some(other) => {
                hits.push(Hit::noted(line(test.node), format!("{} as {other}", test.name)));
            }
            None => {
                seen.insert((group, text), &test.name);
            }
        }
    }
    hits
}
