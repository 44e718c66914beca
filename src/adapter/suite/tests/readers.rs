//! Tests of report parsers on recorded, truncated, corrupted and random reports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::adapter::suite::format::jest::Writer;
use crate::adapter::suite::format::{
    Report, ReportedTest, ctest, driver_lines, gotest, jest, junit, libtest, stack, tap, trx,
};
use crate::adapter::suite::{READERS, lint_output};
use crate::domain::test::Status;

use super::paths::mapper;

/// Recorded files of a framework with this extension.
fn recorded(framework: &str, ending: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports").join(framework);
    let mut open = vec![root];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{framework} has no recorded {ending}");
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

fn reports_of_junit() -> Vec<String> {
    ["maven-surefire", "gradle", "nextest"].iter().flat_map(|one| recorded(one, ".xml")).collect()
}

/// About sixty prefixes of a text.
fn beginnings(text: &str) -> impl Iterator<Item = &str> {
    let step = (text.len() / 60).max(1);
    (0..text.len()).step_by(step).filter_map(|end| text.get(..end))
}

fn ids(tests: &[ReportedTest]) -> BTreeSet<String> {
    tests.iter().map(|test| test.id.clone()).collect()
}

fn leads_out(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|part| part == "..")
}

fn statuses(tests: &[ReportedTest]) -> Vec<(&str, Option<Status>)> {
    tests.iter().map(|test| (test.id.as_str(), test.status)).collect()
}

#[test]
fn a_cut_junit_report_is_no_report() {
    for text in reports_of_junit() {
        let all = junit::parse(&text).unwrap();
        for beginning in beginnings(text.trim_end()) {
            let read = junit::parse(beginning);
            assert!(read.as_ref().is_ok_and(|tests| *tests == all) || read.is_err(), "{beginning}");
        }
    }
}

#[test]
fn a_cut_json_report_is_no_report() {
    for (framework, writer) in [("jest", Writer::Jest), ("vitest", Writer::Vitest)] {
        for text in recorded(framework, "results.txt") {
            assert!(!jest::parse(&text, writer).unwrap().cases.is_empty());
            for beginning in beginnings(text.trim_end()) {
                assert!(jest::parse(beginning, writer).is_err(), "{beginning}");
            }
        }
    }
}

#[test]
fn lines_of_a_driver_that_died_are_some_of_all_and_not_complete() {
    for text in ["pytest", "node-test"].iter().flat_map(|one| recorded(one, "results.txt")) {
        let all = driver_lines::parse(&text);
        assert!(all.complete && !all.cases.is_empty());
        for beginning in beginnings(text.trim_end()) {
            let read = driver_lines::parse(beginning);
            // The test in which it died is a failure.
            let cut = |test: &&ReportedTest| {
                test.message == "the process ended in the middle of the test"
            };
            assert_eq!(read.complete, read.cases.iter().any(|test| cut(&test)), "{beginning}");
            assert!(ids(&read.cases).is_subset(&ids(&all.cases)), "{beginning}");
        }
    }
}

#[test]
fn cut_output_of_cargo_test_names_no_test_that_the_whole_does_not_name() {
    for text in recorded("cargo-test", "output.txt") {
        let all = ids(&libtest::parse(&text));
        for end in text.match_indices('\n').map(|(at, _)| at) {
            let read = libtest::parse(text.get(..end).unwrap());
            assert!(ids(&read).is_subset(&all), "{:?}", ids(&read).difference(&all));
        }
    }
}

#[test]
fn cut_output_of_go_test_names_no_test_that_the_whole_does_not_name() {
    for text in recorded("go-test", "output.txt") {
        let all: BTreeMap<String, Option<Status>> =
            gotest::parse(&text, "").into_iter().map(|test| (test.id, test.status)).collect();
        for beginning in beginnings(&text) {
            for test in gotest::parse(beginning, "") {
                assert_eq!(all.get(&test.id), Some(&test.status), "{}", test.id);
            }
        }
    }
}

#[test]
fn every_failure_that_is_recorded_says_something() {
    let reports = reports_of_junit().into_iter().map(|text| junit::parse(&text).unwrap().cases);
    let lines = ["pytest", "node-test"].map(|one| recorded(one, "results.txt")).into_iter();
    let lines = lines.flatten().map(|text| driver_lines::parse(&text).cases);
    let cargo = recorded("cargo-test", "output.txt").into_iter().map(|text| libtest::parse(&text));
    for test in reports.chain(lines).chain(cargo).flatten() {
        let silent = test.status == Some(Status::Failed) && test.message.trim().is_empty();
        assert!(!silent || test.stack.trim().is_empty(), "{test:?}");
    }
}

/// Whether a run with this report, whose command ends with 0, is green.
fn is_green(report: &Report) -> bool {
    let objections =
        crate::domain::declared::find_objections(&report.documents, report.has_failure(), None);
    objections.is_empty() && !report.has_failure()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_report_that_declares_more_than_it_holds_is_green(
        cases in proptest::collection::vec(0u8..3, 1..6),
        missing in 0u32..3, failures in 0u32..3, errors in 0u32..3, abort: bool,
    ) {
        let held = u32::try_from(cases.len()).unwrap();
        let failed = u32::try_from(cases.iter().map(|case| usize::from(*case == 1)).sum::<usize>()).unwrap();
        let inner: String = cases.iter().enumerate().map(|(at, case)| match case {
            1 => format!("<testcase name='t{at}'><failure/></testcase>"),
            2 => format!("<testcase name='t{at}'><skipped/></testcase>"),
            _ => format!("<testcase name='t{at}'/>"),
        }).collect();
        let (tests, failures) = (held + missing, failed + failures);
        let wrong = failed > 0 || missing > 0 || failures > failed || errors > 0;
        let counts = format!("tests='{tests}' failures='{failures}' errors='{errors}'");
        for text in [
            format!("<testsuite name='s' {counts}>{inner}</testsuite>"),
            format!("<testsuites {counts}><testsuite name='s'>{inner}</testsuite></testsuites>"),
            format!("<testsuites><testsuite name='s' {counts}>{inner}</testsuite></testsuites>"),
        ] {
            prop_assert_eq!(is_green(&junit::parse(&text).unwrap()), !wrong, "{}", text);
        }
        let lines: String = cases.iter().enumerate().map(|(at, case)| {
            let (word, directive) = match case { 1 => ("not ok", ""), 2 => ("ok", " # SKIP"), _ => ("ok", "") };
            format!("{word} {at} - t{at}{directive}\n")
        }).collect();
        let end = if abort { "Bail out! no\n" } else { "" };
        let text = format!("TAP version 13\n1..{tests}\n{lines}{end}");
        let report = tap::report_of(&text, tap::parse(&text)).unwrap();
        prop_assert_eq!(is_green(&report), failed == 0 && missing == 0 && !abort, "{}", text);
        let results: String = cases.iter().enumerate().map(|(at, case)| {
            let outcome = ["Passed", "Failed", "NotExecuted"][usize::from(*case)];
            format!("<UnitTestResult testName='t{at}' outcome='{outcome}'/>")
        }).collect();
        let outcome = if abort { "Aborted" } else { "Completed" };
        let text = format!("<TestRun><Results>{results}</Results><ResultSummary outcome='{outcome}'><Counters total='{tests}' failed='{failures}' error='{errors}'/></ResultSummary></TestRun>");
        prop_assert_eq!(is_green(&trx::parse(&text).unwrap()), !wrong && !abort, "{}", text);
        let inner: String = cases.iter().enumerate().map(|(at, case)| {
            let status = ["run", "fail", "disabled"][usize::from(*case)];
            format!("<testcase name='t{at}' status='{status}'/>")
        }).collect();
        let text = format!("<testsuite tests='{tests}' failures='{failures}'>{inner}</testsuite>");
        let is_whole = failed == 0 && missing == 0 && failures == failed;
        prop_assert_eq!(is_green(&ctest::parse(&text).unwrap()), is_whole, "{}", text);
        let results: Vec<_> = cases.iter().enumerate().map(|(at, case)| {
            let status = ["passed", "failed", "skipped"][usize::from(*case)];
            serde_json::json!({ "title": format!("t{at}"), "status": status })
        }).collect();
        let status = if failed > 0 { "failed" } else { "passed" };
        let text = serde_json::json!({
            "numTotalTests": tests, "numFailedTests": failures, "wasInterrupted": abort,
            "testResults": [{ "name": "a.js", "status": status, "assertionResults": results }],
        }).to_string();
        for writer in [Writer::Jest, Writer::Vitest] {
            let report = jest::parse(&text, writer).unwrap();
            prop_assert_eq!(is_green(&report), is_whole && !abort, "{}", text);
        }
        let lines: String = cases.iter().enumerate().map(|(at, case)| {
            let status = ["passed", "failed", "skipped"][usize::from(*case)];
            serde_json::json!({ "id": format!("t{at}"), "status": status }).to_string() + "\n"
        }).collect();
        let text = format!("{lines}{}", serde_json::json!({ "end": true, "planned": tests }));
        let report = driver_lines::parse(&text);
        prop_assert_eq!(is_green(&report), failed == 0 && missing == 0, "{}", text);
    }

    /// A crash, a full disk or a hostile test can corrupt a report anywhere.
    #[test]
    fn no_reader_is_stopped_by_a_report_that_was_changed(
        which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(),
        foreign in "(?s).{0,12}", skip in 0usize..40,
    ) {
        let all = [
            recorded("cargo-test", "output.txt"), recorded("go-test", "output.txt"),
            recorded("jest", "results.txt"), recorded("pytest", "results.txt"), reports_of_junit(),
        ].concat();
        let text = which.get(&all);
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let start = *at.get(&places);
        let end = places.iter().copied().find(|end| *end >= start + skip).unwrap_or(text.len());
        let mut changed = text.clone();
        changed.replace_range(start..end, &foreign);
        for (_, read) in READERS {
            read(&changed);
        }
    }

    #[test]
    fn tests_of_tap_are_lines_of_it(text in "( {0,8}(ok|not ok|# skip|---|\\.\\.\\.|1\\.\\.2)( [0-9]{1,2})?( - [a-z#> ]{0,9})?\n){0,20}") {
        let tests = tap::parse(&text);
        prop_assert!(tests.len() <= text.lines().count());
        prop_assert!(tests.iter().all(|test| test.status.is_some()));
    }

    #[test]
    fn remarks_lie_in_the_checkout_whatever_a_tool_prints(text in "([./a-z:(]{1,12}[0-9]{0,3}[:) ]{0,3}[a-z]{0,5}\n?){0,30}") {
        use lint_output::OutputFormat::{Any, EslintJson, FileList, Lints, Locations};
        for format in [Any, EslintJson, FileList, Lints, Locations] {
            for (file, _, _) in lint_output::parse(format, &text, Path::new("/r"), "tool") {
                prop_assert!(!leads_out(file.as_str()));
            }
        }
    }

    #[test]
    fn frames_lie_in_the_repository_and_are_bounded(lines in prop::collection::vec("(  at |File \"|)(/repo/|/etc/|\\.\\./|)[a-z]{1,5}\\.(py|js|rs|go)(\", line |:)[0-9]{1,12}(:1)?", 0..90)) {
        let frames = stack::frames(&lines.join("\n"), &mapper("/repo"));
        prop_assert!(frames.len() <= 40);
        prop_assert!(!frames.iter().any(|frame| leads_out(frame.file.as_str())));
    }
}

#[test]
fn outcomes_of_junit_are_told_apart() {
    let table = [
        ("<testcase name='a'/>", None),
        ("<testcase name='a'><system-out>failure</system-out></testcase>", None),
        ("<testcase name='a'><skipped/></testcase>", Some(Status::Skipped)),
        ("<testcase name='a'><error/></testcase>", Some(Status::Failed)),
        ("<testcase name='a'><failure/><skipped/></testcase>", Some(Status::Failed)),
        ("<testcase name='a'><skipped/><failure/></testcase>", Some(Status::Failed)),
        ("<testcase name='a'><properties><property name='failure'/></properties></testcase>", None),
        ("<x:testcase name='a'><x:failure/></x:testcase>", Some(Status::Failed)),
        ("<testcase name='a'><!-- <failure/> --></testcase>", None),
    ];
    for (case, expected) in table {
        let tests = junit::parse(&format!("<testsuite>{case}</testsuite>")).unwrap().cases;
        assert_eq!(statuses(&tests), [("a", expected)], "{case}");
    }
}

#[test]
fn names_of_junit_are_those_a_person_wrote() {
    let table = [
        (r#"classname="a.B" name="c""#, "a.B::c"),
        (r#"file="a.py" name="c""#, "a.py::c"),
        (r#"classname="" name="c &lt; d &amp; &quot;e&quot;""#, "c < d & \"e\""),
        ("classname=\"a\" name=\"two\nlines\"", "a::two lines"),
        (r#"classname="a" name="größe &#228;""#, "a::größe ä"),
        (r#"classname="a""#, "a"),
        (r#"name="c" time="x" line="-1""#, "c"),
    ];
    for (attributes, expected) in table {
        let text = format!("<testsuite><testcase {attributes}/></testsuite>");
        let tests = junit::parse(&text).unwrap().cases;
        assert_eq!(tests.iter().map(|test| test.id.as_str()).collect::<Vec<_>>(), [expected]);
        assert_eq!((tests[0].duration_ms, tests[0].line), (0, None), "{attributes}");
    }
}

#[test]
fn lines_of_tap_are_told_apart() {
    let table = [
        ("ok", vec![("", Status::Passed)]),
        ("ok 1", vec![("", Status::Passed)]),
        ("ok 12 - adds 2 numbers", vec![("adds 2 numbers", Status::Passed)]),
        ("not ok 2 - fails", vec![("fails", Status::Failed)]),
        ("not ok 2 - later # TODO write it", vec![("later", Status::Skipped)]),
        ("ok 3 - here # SKIP no network", vec![("here", Status::Skipped)]),
        ("ok 3 # skip no network", vec![("", Status::Skipped)]),
        ("ok 3 - issue #12", vec![("issue #12", Status::Passed)]),
        ("okay 1 - no", vec![]),
        ("1..4\nTAP version 13\n# ok 1\nBail out!", vec![]),
        (
            "    ok 1 - in\n    not ok 2 - out\nnot ok 1 - all",
            vec![
                ("all > in", Status::Passed),
                ("all > out", Status::Failed),
                ("all", Status::Failed),
            ],
        ),
    ];
    for (text, expected) in table {
        let tests = tap::parse(text);
        let read: Vec<_> = tests.iter().map(|one| (one.id.as_str(), one.status.unwrap())).collect();
        assert_eq!(read, expected, "{text}");
    }
}

#[test]
fn a_block_of_tap_without_an_end_is_bounded() {
    let text = format!("not ok 1 - a\n  ---\n  message: \"no\"\n{}", "  x: y\n".repeat(100_000));
    let tests = tap::parse(&text);
    assert_eq!((tests.len(), tests[0].message.as_str()), (1, "no"));
    assert!(tests[0].stack.len() < 20_000, "{}", tests[0].stack.len());
}

#[test]
fn packages_of_go_fail_by_themselves_only_when_no_test_of_theirs_did() {
    let event = |action: &str, test: Option<&str>, output: &str| {
        serde_json::json!({
            "Action": action, "Package": "m/p", "Test": test, "Output": output, "Elapsed": 0.25,
        })
        .to_string()
    };
    let table = [
        (vec![event("pass", None, "")], vec![]),
        (vec![event("skip", None, "")], vec![]),
        (vec![event("fail", None, "")], vec![("m/p", Some(Status::Failed))]),
        (
            vec![event("fail", Some("TestA"), ""), event("fail", None, "")],
            vec![("m/p.TestA", Some(Status::Failed))],
        ),
        (
            vec![event("pass", Some("TestA/sub"), ""), event("fail", None, "")],
            vec![("m/p.TestA/sub", Some(Status::Passed)), ("m/p", Some(Status::Failed))],
        ),
    ];
    for (events, expected) in table {
        let tests = gotest::parse(&events.join("\n"), "m");
        assert_eq!(statuses(&tests), expected, "{events:?}");
        assert!(tests.iter().all(|test| test.duration_ms == 250));
    }
    let output = event("output", Some("TestA"), "    a_test.go:7: no\n");
    let text = format!("{output}\n{}", event("fail", Some("TestA"), ""));
    assert_eq!(
        gotest::parse(&text, "m")[0].stack,
        "    p/a_test.go:7: no\n",
        "a path of the module"
    );
}

#[test]
fn names_of_drivers_become_ids() {
    let table = [
        (r#"{"id":"a::b","status":"passed","ms":3}"#, "a::b", 3),
        (
            r#"{"names":["cart","sums"],"file":"a.js","status":"failed","ms":1.9}"#,
            "a.js::cart > sums",
            1,
        ),
        (r#"{"names":[null,"sums"],"file":"a.js","status":"passed"}"#, "a.js::sums", 0),
        (r#"{"names":[],"file":"a.js","status":"failed","ms":-4}"#, "a.js", 0),
        (r#"{"names":["x"],"status":"passed","unknown":{}}"#, "::x", 0),
    ];
    for (line, id, duration) in table {
        let report = driver_lines::parse(&format!("not JSON\n{line}\n[]\n"));
        let read: Vec<_> =
            report.cases.iter().map(|one| (one.id.as_str(), one.duration_ms)).collect();
        assert_eq!(read, [(id, duration)], "{line}");
    }
}

#[test]
fn a_pending_test_of_vitest_did_not_end_and_one_of_jest_is_left_out() {
    let report = |file: &str, test: &str| {
        serde_json::json!({"testResults": [{ "name": "a.ts", "status": file, "message": "hook: no",
            "assertionResults": [{ "title": "t", "status": test, "ancestorTitles": ["", "s"] }] }]})
        .to_string()
    };
    let (failed, skipped) = (Some(Status::Failed), Some(Status::Skipped));
    let table = [
        ("passed", "pending", Writer::Jest, vec![("a.ts::s > t", skipped)]),
        ("passed", "pending", Writer::Vitest, vec![("a.ts::s > t", failed)]),
        (
            "failed",
            "pending",
            Writer::Vitest,
            vec![("a.ts::hook", failed), ("a.ts::s > t", skipped)],
        ),
        ("failed", "failed", Writer::Jest, vec![("a.ts::s > t", failed)]),
        ("passed", "todo", Writer::Vitest, vec![("a.ts::s > t", skipped)]),
        ("passed", "passed", Writer::Jest, vec![("a.ts::s > t", Some(Status::Passed))]),
    ];
    for (file, test, writer, expected) in table {
        let tests = jest::parse(&report(file, test), writer).unwrap().cases;
        assert_eq!(statuses(&tests), expected, "{file} {test} {writer:?}");
    }
}

#[test]
fn a_failure_of_a_script_has_its_class_apart() {
    let table = [
        ("TypeError: x is not a function\n    at a.js:1:2", "TypeError", "x is not a function"),
        ("\u{1b}[31mError\u{1b}[39m: no", "Error", "no"),
        ("  ● cart › sums\n\n    ReferenceError: y", "ReferenceError", "y"),
        ("expected 1: got 2", "", "expected 1: got 2"),
        ("", "", ""),
    ];
    for (text, class, message) in table {
        let report = serde_json::json!({"testResults": [{ "name": "a.js", "assertionResults":
            [{ "title": "t", "status": "failed", "failureMessages": [text] }] }]});
        let tests = jest::parse(&report.to_string(), Writer::Jest).unwrap().cases;
        assert_eq!((tests[0].class.as_str(), tests[0].message.as_str()), (class, message));
    }
}

#[test]
fn what_a_rust_test_printed_explains_it() {
    let table = [
        (
            "thread 'a' panicked at src/lib.rs:3:5:\nleft: 1\nright: 2\nnote: run with",
            "panic",
            "left: 1\nright: 2",
        ),
        ("log\nthread 'a' panicked at src/lib.rs:3:5:\nboom", "panic", "boom"),
        ("Error: \"no such luck\"", "", "Error: \"no such luck\""),
        ("note: test did not panic as expected", "", "test did not panic as expected"),
        ("\n\n", "", ""),
    ];
    for (block, class, message) in table {
        let mut test = ReportedTest { class: "old".into(), ..ReportedTest::default() };
        libtest::explain(&mut test, block.to_owned());
        assert_eq!((test.class.as_str(), test.message.as_str()), (class, message), "{block}");
        assert_eq!(test.stack, block);
    }
}
