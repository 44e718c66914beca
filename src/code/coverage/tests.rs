//! Recorded reports of every tool, and broken ones.

use proptest::prelude::*;

use super::*;

const PRICE_JS: &str = include_str!("../../../tests/data/coverage/c8/price.js");

/// Recorded reports with what they must say of one file.
struct Row {
    name: &'static str,
    text: &'static str,
    file: &'static str,
    lines: (u32, u32),
    branches: (u32, u32),
    uncovered: &'static str,
    never_entered: &'static [&'static str],
}

const ROWS: &[Row] = &[
    Row {
        name: "coverage.py JSON",
        text: include_str!("../../../tests/data/coverage/coverage-py/coverage.json"),
        file: "shop/price.py",
        lines: (7, 13),
        branches: (3, 8),
        uncovered: "9, 14-18",
        never_entered: &["discount"],
    },
    Row {
        name: "Cobertura XML",
        text: include_str!("../../../tests/data/coverage/coverage-py/cobertura.xml"),
        file: "shop/price.py",
        lines: (7, 13),
        branches: (3, 8),
        uncovered: "9, 14-18",
        never_entered: &[],
    },
    Row {
        name: "lcov",
        text: include_str!("../../../tests/data/coverage/coverage-py/coverage.lcov"),
        file: "shop/price.py",
        lines: (7, 13),
        branches: (3, 8),
        uncovered: "9, 14-18",
        never_entered: &["discount"],
    },
    Row {
        name: "Istanbul JSON",
        text: include_str!("../../../tests/data/coverage/c8/coverage-final.json"),
        file: "price.js",
        lines: (6, 10),
        branches: (2, 3),
        uncovered: "3-4, 9-10",
        never_entered: &["discount"],
    },
    Row {
        name: "lcov",
        text: include_str!("../../../tests/data/coverage/c8/lcov.info"),
        file: "price.js",
        lines: (6, 10),
        branches: (2, 3),
        uncovered: "3-4, 9-10",
        never_entered: &["discount"],
    },
    Row {
        name: "Cobertura XML",
        text: include_str!("../../../tests/data/coverage/c8/cobertura-coverage.xml"),
        file: "price.js",
        lines: (6, 10),
        branches: (2, 3),
        uncovered: "3-4, 9-10",
        never_entered: &["discount"],
    },
    Row {
        name: "V8 JSON",
        text: include_str!("../../../tests/data/coverage/v8/coverage.json"),
        file: "price.js",
        // Without the closing brackets, which say nothing.
        lines: (4, 6),
        branches: (0, 0),
        uncovered: "3, 9",
        never_entered: &["discount"],
    },
    Row {
        name: "Go cover profile",
        text: include_str!("../../../tests/data/coverage/go/cover.out"),
        file: "price/price.go",
        lines: (3, 6),
        branches: (0, 0),
        uncovered: "8, 14-15",
        never_entered: &[],
    },
    Row {
        name: "JaCoCo XML",
        text: include_str!("../../../tests/data/coverage/jacoco/jacoco.xml"),
        file: "core/src/main/java/com/example/Calc.java",
        lines: (2, 3),
        branches: (0, 0),
        uncovered: "3",
        never_entered: &["<init>"],
    },
];

fn known() -> BTreeSet<RepoPath> {
    let others = ["shop/__init__.py", "other/price.py", "lib/price.js", "tests/test_price.py"];
    let files = ROWS.iter().map(|row| row.file).chain(others);
    files.map(|file| RepoPath::parse(file).unwrap()).collect()
}

fn source(path: &str) -> Option<String> {
    path.ends_with("/price.js").then(|| PRICE_JS.to_owned())
}

#[test]
fn recorded_reports_of_every_tool_say_the_same_of_the_same_file() {
    for row in ROWS {
        let report =
            read(row.text, &source).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        assert_eq!(report.format, row.name);
        let placed = report.placed("/repo", &known());
        let file = &placed[&RepoPath::parse(row.file).unwrap()];
        assert_eq!(file.line_counts(), row.lines, "{} {}", row.name, row.file);
        assert_eq!(file.branch_counts(), row.branches, "{}", row.name);
        assert_eq!(file.uncovered(), row.uncovered, "{}", row.name);
        let never = file.functions.iter().filter(|(_, (_, hits))| *hits == 0);
        let never: Vec<&str> = never.map(|(name, _)| name.as_str()).collect();
        assert_eq!(never, row.never_entered, "{}", row.name);
    }
}

#[test]
fn a_function_is_entered_when_a_line_of_its_body_ran() {
    let report = read(ROWS[0].text, &source).unwrap().placed("/repo", &known());
    let file = &report[&RepoPath::parse("shop/price.py").unwrap()];
    assert_eq!(file.entered(4, 10), Some(true));
    assert_eq!(file.entered(13, 18), Some(false), "its first line runs at import");
    assert_eq!(file.entered(40, 50), None);
    assert_eq!(file.ran(9), Some(false));
}

#[test]
fn paths_count_where_they_name_one_file() {
    let files: BTreeSet<RepoPath> = ["a/src/x.go", "b/src/x.go", "b/y.go"]
        .iter()
        .map(|file| RepoPath::parse(*file).unwrap())
        .collect();
    let table = [
        ("/repo/a/src/x.go", Some("a/src/x.go")),
        ("example.com/b/src/x.go", Some("b/src/x.go")),
        ("src/x.go", None),
        ("x.go", None),
        ("deep/y.go", Some("b/y.go")),
        ("../../etc/passwd", None),
        ("b\\y.go", Some("b/y.go")),
    ];
    for (path, expected) in table {
        let mut report = Report::of("lcov");
        report.file(path).line(1, 1);
        let placed = report.placed("/repo", &files);
        let found: Vec<&str> = placed.keys().map(RepoPath::as_str).collect();
        assert_eq!(found.first().copied(), expected, "{path}");
    }
}

#[test]
fn broken_reports_are_refused_with_their_line() {
    let table = [
        ("", 1, "lcov"),
        ("hello", 1, "lcov"),
        ("SF:a.py\nDA:1\n", 2, "DA:line,count"),
        ("SF:a.py\nDA:x,1\n", 2, "DA:line,count"),
        ("mode: set\na.go:1.1 1 1\n", 2, "file.go:line.column"),
        ("{\"files\": {\"a.py\": {}}}", 1, "executed_lines"),
        ("{\"a.js\": 1}", 1, "statementMap"),
        ("{\n\"a\": ", 2, "JSON"),
        ("<coverage>\n<class>\n</coverage>", 3, "XML"),
        ("<coverage>\n<class>\n", 3, "outermost"),
        ("<html></html>", 1, "Cobertura or JaCoCo"),
    ];
    for (text, line, expected) in table {
        let error = read(text, &|_| None).unwrap_err();
        assert_eq!(error.line, line, "{text:?}: {error}");
        assert!(error.expected.contains(expected), "{text:?}: {error}");
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_readers(start in 0usize..9, cut in 0usize..4000, more in ".{0,40}") {
        let text: String = ROWS[start].text.chars().take(cut).chain(more.chars()).collect();
        if let Ok(report) = read(&text, &source) {
            for file in report.placed("/repo", &known()).values() {
                let (ran, all) = file.line_counts();
                prop_assert!(ran <= all);
                let (taken, all) = file.branch_counts();
                prop_assert!(taken <= all);
            }
        }
    }
}
