//! Tests of the coverage readers on recorded reports of every tool and on malformed ones.

use proptest::prelude::*;

use super::*;
use crate::domain::coverage::{Share, Shares};

const PRICE_JS: &str = include_str!("../../../tests/data/coverage/c8/price.js");

/// A recorded report and the coverage that it must yield for one file.
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
        // As in the reports of c8, every line counts.
        lines: (6, 10),
        branches: (1, 4),
        uncovered: "3-4, 9-10",
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

/// The executed and all lines, and the branches that were taken and all.
fn counts(file: &FileLines) -> ((u32, u32), (u32, u32)) {
    let mut shares = Shares::default();
    shares.add_lines(file, 1, u32::MAX);
    let pair = |share: Share| (share.part, share.whole);
    (pair(shares.line), pair(shares.branch))
}

/// Executable lines that did not run, as `9, 14-18`; other lines do not split a range.
fn uncovered(file: &FileLines) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let mut open = false;
    for (line, hits) in &file.lines {
        match ranges.last_mut() {
            Some(last) if *hits == 0 && open => last.1 = *line,
            _ if *hits == 0 => ranges.push((*line, *line)),
            _ => {}
        }
        open = *hits == 0;
    }
    let shown = ranges
        .iter()
        .map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn recorded_reports_of_every_tool_say_the_same_of_the_same_file() {
    for row in ROWS {
        let report =
            read(row.text, &source).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        assert_eq!(report.format, row.name);
        let placed = report.placed("/repo", "", &known());
        let file = &placed[&RepoPath::parse(row.file).unwrap()];
        let (lines, branches) = counts(file);
        assert_eq!(lines, row.lines, "{} {}", row.name, row.file);
        assert_eq!(branches, row.branches, "{}", row.name);
        assert_eq!(uncovered(file), row.uncovered, "{}", row.name);
        let never = file.functions.iter().filter(|(_, (_, hits))| *hits == 0);
        let never: Vec<&str> = never.map(|(name, _)| name.as_str()).collect();
        assert_eq!(never, row.never_entered, "{}", row.name);
    }
}

#[test]
fn a_function_is_entered_when_a_line_of_its_body_ran() {
    let report = read(ROWS[0].text, &source).unwrap().placed("/repo", "", &known());
    let file = &report[&RepoPath::parse("shop/price.py").unwrap()];
    assert_eq!(file.entered(4, 10), Some(true));
    assert_eq!(file.entered(13, 18), Some(false), "its first line runs at import");
    assert_eq!(file.entered(40, 50), None);
    assert_eq!(file.ran(9), Some(false));
}

#[test]
fn paths_count_where_they_name_one_file() {
    let files: BTreeSet<RepoPath> = ["a/src/x.go", "b/src/x.go", "b/y.go", "a/z.go", "b/z.go"]
        .iter()
        .map(|file| RepoPath::parse(*file).unwrap())
        .collect();
    let table = [
        ("/repo/a/src/x.go", Some("a/src/x.go")),
        ("example.com/b/src/x.go", Some("b/src/x.go")),
        ("src/x.go", Some("b/src/x.go")),
        ("x.go", None),
        ("deep/y.go", Some("b/y.go")),
        ("z.go", Some("b/z.go")),
        ("../../etc/passwd", None),
        ("b\\y.go", Some("b/y.go")),
    ];
    for (path, expected) in table {
        let mut report = Report::of("lcov");
        report.file(path).line(1, 1);
        let placed = report.placed("/repo", "b", &files);
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
            for file in report.placed("/repo", "", &known()).values() {
                let (lines, branches) = counts(file);
                prop_assert!(lines.0 <= lines.1 && branches.0 <= branches.1);
            }
        }
    }
}

/// The coverage of the only file in a small report.
fn only(text: &str) -> FileLines {
    let report = read(text, &|_| None).unwrap();
    assert_eq!(report.files.len(), 1, "{report:?}");
    report.files.into_values().next().unwrap()
}

#[test]
fn lcov_counts_fractions_branches_and_functions() {
    let file = only(
        "TN:\nSF:a.py\nFN:1,f\nFN:4,9,g\nFNDA:3,f\nFNDA:0,g\nDA:1,2\nDA:2,0.5\nDA:3,-1\nDA:1,0\nBRDA:1,0,0,1\nBRDA:1,0,1,-\nBRDA:2,0,0,0\nend_of_record\nDA:9,9\n",
    );
    assert_eq!(file.lines, BTreeMap::from([(1, 1), (2, 1), (3, 0)]));
    assert_eq!(file.branches, BTreeMap::from([(1, (1, 2)), (2, (0, 1))]));
    assert_eq!(file.functions, BTreeMap::from([("f".into(), (1, 3)), ("g".into(), (4, 0))]));
}

#[test]
fn cobertura_takes_lines_of_methods_and_shares_of_branches() {
    let file = only(
        "<coverage><packages><package><classes><class filename=\"a.py\"><methods><method name=\"f\"><lines><line number=\"3\" hits=\"0\"/><line number=\"2\" hits=\"4\"/></lines></method></methods><lines><line number=\"5\" hits=\"1\" branch=\"true\" condition-coverage=\"50% (1/2)\"/><line number=\"6\" hits=\"x\"/></lines></class></classes></package></packages></coverage>",
    );
    assert_eq!(file.lines, BTreeMap::from([(2, 4), (5, 1), (6, 0)]));
    assert_eq!(file.branches, BTreeMap::from([(5, (1, 2))]));
    assert_eq!(file.functions, BTreeMap::from([("f".into(), (2, 4))]));
}

#[test]
fn jacoco_joins_package_and_file_and_counts_missed_branches() {
    let text = "<report name=\"x\"><package name=\"com/x\"><class name=\"com/x/A\" sourcefilename=\"A.java\"><method name=\"f\" line=\"7\"><counter type=\"METHOD\" missed=\"1\" covered=\"0\"/></method></class><sourcefile name=\"A.java\"><line nr=\"7\" mi=\"2\" ci=\"0\" mb=\"1\" cb=\"1\"/><line nr=\"8\" mi=\"0\" ci=\"3\" mb=\"0\" cb=\"0\"/></sourcefile></package></report>";
    let report = read(text, &|_| None).unwrap();
    let file = &report.files["com/x/A.java"];
    assert_eq!(file.lines, BTreeMap::from([(7, 0), (8, 3)]));
    assert_eq!(file.branches, BTreeMap::from([(7, (1, 2))]));
    assert_eq!(file.functions, BTreeMap::from([("f".into(), (7, 0))]));
}

#[test]
fn a_block_of_go_covers_its_lines_but_not_its_closing_brace() {
    let table = [
        ("a.go:3.10,5.2 1 1", vec![(3, 1), (4, 1)]),
        ("a.go:3.10,5.20 1 0", vec![(3, 0), (4, 0), (5, 0)]),
        ("a.go:3.10,3.30 1 7", vec![(3, 7)]),
        ("a.go:3.1,4.9 1 0\na.go:4.1,4.9 1 2", vec![(3, 0), (4, 2)]),
    ];
    for (blocks, expected) in table {
        let file = only(&format!("mode: count\n{blocks}\n"));
        assert_eq!(file.lines, expected.into_iter().collect(), "{blocks}");
    }
}

#[test]
fn istanbul_counts_statements_branches_and_functions() {
    let file = only(
        r#"{"a.js": {"path": "a.js", "statementMap": {"0": {"start": {"line": 1}}, "1": {"start": {"line": 2}}}, "s": {"0": 4, "1": 0}, "branchMap": {"0": {"loc": {"start": {"line": 2}}}}, "b": {"0": [1, 0, 2]}, "fnMap": {"0": {"name": "f", "decl": {"start": {"line": 1}}}}, "f": {"0": 0}}}"#,
    );
    assert_eq!(file.lines, BTreeMap::from([(1, 4), (2, 0)]));
    assert_eq!(file.branches, BTreeMap::from([(2, (2, 3))]));
    assert_eq!(file.functions, BTreeMap::from([("f".into(), (1, 0))]));
}

#[test]
fn scripts_of_several_processes_add_up_and_those_that_a_loader_made_have_no_branches() {
    let text = "if (a) b();\n";
    let of = |end: usize, then: u32| {
        let report = format!(
            r#"{{"result": [{{"url": "file:///repo/price.js", "functions": [{{"functionName": "", "ranges": [{{"startOffset": 0, "endOffset": {end}, "count": 1}}, {{"startOffset": 7, "endOffset": 11, "count": {then}}}]}}]}}]}}"#
        );
        read(&report, &|_| Some(text.to_owned())).unwrap()
    };
    let mut both = of(12, 0);
    both.merge(of(12, 1));
    for (report, expected) in [(of(12, 0), (1, 2)), (both, (2, 2)), (of(30, 1), (0, 0))] {
        let placed = report.placed("/repo", "", &known());
        let file = placed.into_values().next().unwrap();
        assert_eq!(counts(&file).1, expected);
    }
}

#[test]
fn a_function_that_one_of_several_processes_entered_stays_entered() {
    let text = "function f () { return 1 }\n";
    let of = |count: u32| {
        let report = format!(
            r#"{{"result": [{{"url": "file:///repo/price.js", "functions": [{{"functionName": "", "ranges": [{{"startOffset": 0, "endOffset": 27, "count": 1}}]}}, {{"functionName": "f", "ranges": [{{"startOffset": 0, "endOffset": 26, "count": {count}}}]}}]}}]}}"#
        );
        read(&report, &|_| Some(text.to_owned())).unwrap()
    };
    let mut both = of(2);
    both.merge(of(0));
    assert_eq!(both.files["/repo/price.js"].entered_by_count("f", 1), Some(true));
    assert_eq!(of(0).files["/repo/price.js"].entered_by_count("f", 1), Some(false));
}

#[test]
fn a_report_that_could_name_branches_and_names_none_means_that_there_are_none() {
    let of = |more: &str| {
        let text = format!(
            r#"{{"files": {{"a.py": {{"executed_lines": [1], "missing_lines": []{more}}}}}}}"#
        );
        tells_branches(read(&text, &|_| None).unwrap().format)
    };
    assert!(of(r#", "executed_branches": [], "missing_branches": []"#));
    assert!(!of(""), "it ran without `--branch`");
    assert!(!tells_branches("Go cover profile"));
}

#[test]
fn coverage_py_counts_arcs_by_the_line_they_leave() {
    let file = only(
        r#"{"files": {"a.py": {"executed_lines": [1, 3], "missing_lines": [2], "executed_branches": [[1, 3]], "missing_branches": [[1, 2], [-1, 2]], "functions": {"f": {"start_line": 1, "executed_lines": [3]}, "": {"start_line": 1, "executed_lines": []}}}}}"#,
    );
    assert_eq!(file.lines, BTreeMap::from([(1, 1), (2, 0), (3, 1)]));
    assert_eq!(file.branches, BTreeMap::from([(1, (1, 2))]));
    assert_eq!(file.functions, BTreeMap::from([("f".into(), (1, 1))]));
}

#[test]
fn v8_counts_utf_16_units_and_the_innermost_range() {
    let text = "const e = '\u{1f600}'; f();\nfunction f() {\n  g();\n}\n";
    let at = |part: &str| text.split(part).next().unwrap().encode_utf16().count();
    let all = text.encode_utf16().count();
    let json = format!(
        "{{\"result\": [{{\"url\": \"file:///a.js\", \"functions\": [{{\"functionName\": \"\", \"ranges\": [{{\"startOffset\": 0, \"endOffset\": {all}, \"count\": 1}}]}}, {{\"functionName\": \"f\", \"ranges\": [{{\"startOffset\": {}, \"endOffset\": {all}, \"count\": 0}}]}}]}}, {{\"url\": \"node:fs\", \"functions\": []}}]}}",
        at("  g();")
    );
    let report = read(&json, &|_| Some(text.to_owned())).unwrap();
    let file = &report.files["/a.js"];
    assert_eq!(file.lines, BTreeMap::from([(1, 1), (2, 1), (3, 0), (4, 0)]));
    assert_eq!(file.functions, BTreeMap::from([("f".into(), (3, 0))]));
}

proptest! {
    /// Merging is commutative and idempotent and keeps the higher counts.
    #[test]
    fn merged_reports_keep_the_best_of_both(
        one in prop::collection::btree_map(1u32..20, 0u64..5, 0..8),
        other in prop::collection::btree_map(1u32..20, 0u64..5, 0..8),
    ) {
        let report = |lines: &BTreeMap<u32, u64>| {
            let mut report = Report::of("lcov");
            for (line, hits) in lines {
                report.file("a.py").line(*line, *hits);
                report.file("a.py").branch(*line, u32::from(*hits > 0), 2);
            }
            report
        };
        let merged = |first: &BTreeMap<u32, u64>, second: &BTreeMap<u32, u64>| {
            let mut merged = report(first);
            merged.merge(report(second));
            merged
        };
        let both = merged(&one, &other);
        prop_assert_eq!(&both, &merged(&other, &one));
        let mut twice = both.clone();
        twice.merge(report(&one));
        prop_assert_eq!(&twice, &both);
        for (line, hits) in one.iter().chain(&other) {
            prop_assert!(both.files["a.py"].lines[line] >= *hits);
        }
    }
}
