//! Tests of the reader of JUnit XML.

use super::*;
use crate::domain::test::Objection;

#[test]
fn every_outcome_is_read() {
    let text = r#"<?xml version="1.0"?>
<testsuites><testsuite name="s" tests="4">
  <testcase classname="a.B" name="ok" time="0.25"/>
  <testcase classname="a.B" name="bad" time="1,002.5" file="a/b.py" line="7">
<failure message="1 &lt; 2" type="AssertionError">line one &amp; <![CDATA[<two>]]></failure>
  </testcase>
  <testcase classname="a.B" name="boom"><error>Traceback
  last</error></testcase>
  <testcase classname="a.Setup" name=""><error message="b.E: no" type="b.E">b.E: no</error></testcase>
  <testcase name="skip"><skipped/></testcase>
</testsuite></testsuites>"#;
    let tests = parse(text).unwrap().cases;
    let short: Vec<_> = tests.iter().map(|t| (t.id.as_str(), t.status, t.duration_ms)).collect();
    assert_eq!(
        short,
        [
            ("a.B::ok", None, 250),
            ("a.B::bad", Some(Status::Failed), 1_002_500),
            ("a.B::boom", Some(Status::Failed), 0),
            ("a.Setup", Some(Status::Failed), 0),
            ("skip", Some(Status::Skipped), 0),
        ]
    );
    assert_eq!(tests[1].message, "1 < 2");
    assert_eq!(tests[1].stack, "line one & <two>");
    assert_eq!(tests[2].message, "Traceback");
    assert_eq!(tests[3].message, "no");
}

#[test]
fn what_stands_in_the_place_of_tests_is_no_test() {
    let table = [
        (
            r#"<testcase classname="" name="tests.test_price"><error message="collection failure">E   ValueError</error></testcase>"#,
            CaseKind::Unloaded,
        ),
        (
            r#"<testcase classname="Store" name="&quot;before all&quot; hook for &quot;has a name&quot;"><failure>no</failure></testcase>"#,
            CaseKind::Hook,
        ),
        (
            r#"<testcase classname="Store" name="has a hook"><failure>no</failure></testcase>"#,
            CaseKind::Test,
        ),
    ];
    for (case, kind) in table {
        let tests = parse(&format!("<testsuite>{case}</testsuite>")).unwrap().cases;
        assert_eq!(tests[0].kind, kind, "{case}");
    }
    let file = |inner: &str| {
        parse(&format!(r#"<testsuite name="a.test.js">{inner}</testsuite>"#)).unwrap().cases
    };
    let jest = file(
        "<testcase classname=\"Test suite failed to run\" name=\"a.test.js\"><error>  ● Test suite failed to run\n\n    \
         ReferenceError: x is not defined</error></testcase>\
         <testcase classname=\"Test suite failed to run\" name=\"a.test.js\"><failure>{}</failure></testcase>",
    );
    assert_eq!((jest.len(), jest[0].kind), (1, CaseKind::Prerequisite), "it is written twice");
    assert_eq!(jest[0].message, "ReferenceError: x is not defined");
    let outside =
        r#"<testcase classname="a.test.js" name="a.test.js"><failure message="no"/></testcase>"#;
    let vitest = file(outside);
    assert_eq!((vitest[0].id.as_str(), vitest[0].kind), ("a.test.js", CaseKind::Unloaded));
    let vitest = file(&format!(r#"<testcase classname="a.test.js" name="adds"/>{outside}"#));
    let hook = &vitest[1];
    assert_eq!((hook.id.as_str(), hook.kind), ("a.test.js::a.test.js", CaseKind::Hook));
    let aborted =
        parse("<testsuite><testcase name=\"a\"><aborted/></testcase></testsuite>").unwrap();
    assert_eq!(aborted.cases[0].status, Some(Status::Skipped));
}

/// The objections to a report, with its failing results.
fn objections_to(text: &str) -> (Vec<String>, Vec<String>) {
    let report = parse(text).unwrap();
    let failed = report.results().filter(|test| test.status == Some(Status::Failed));
    let failed = failed.map(|test| format!("{}: {}", test.id, test.message)).collect();
    let clauses = crate::domain::declared::find_objections(&report.documents, false, None);
    (clauses.iter().map(Objection::clause).collect(), failed)
}

#[test]
fn what_a_suite_declares_is_held_against_what_it_holds() {
    let case = r#"<testcase name="a"/>"#;
    let fails = r#"<testcase name="a"><failure message="no"/></testcase>"#;
    let table: [(&str, String, &[&str], &[&str]); 22] = [
        ("silent", format!("<testsuite>{case}</testsuite>"), &[], &[]),
        ("equal", format!(r#"<testsuite tests="1" failures="0">{case}</testsuite>"#), &[], &[]),
        (
            "missing tests",
            format!(r#"<testsuite tests="9" skipped="0">{case}</testsuite>"#),
            &["the report declares 9 tests and holds 1"],
            &[],
        ),
        (
            "missing in one of two suites",
            format!(
                r#"<testsuites><testsuite tests="1">{case}</testsuite><testsuite tests="2">{case}</testsuite></testsuites>"#
            ),
            &["the report declares 3 tests and holds 2"],
            &[],
        ),
        (
            "missing in one of two suites, and more in the other",
            format!(
                r#"<testsuites><testsuite tests="1">{case}{case}{case}</testsuite><testsuite tests="3">{case}</testsuite></testsuites>"#
            ),
            &["the report declares 6 tests and holds 4"],
            &[],
        ),
        (
            "one number as failures and as errors (Mocha)",
            format!(r#"<testsuite name="s" failures="1" errors="1">{fails}</testsuite>"#),
            &[],
            &["a: no"],
        ),
        (
            "the root counts what ran, a suite what was written down (mocha-junit-reporter, --grep)",
            format!(
                r#"<testsuites tests="1"><testsuite name="s" tests="4">{case}</testsuite></testsuites>"#
            ),
            &[],
            &[],
        ),
        (
            "skipped tests that are left out (behave --no-skipped)",
            format!(r#"<testsuite tests="3" skipped="2">{case}</testsuite>"#),
            &[],
            &[],
        ),
        (
            "assertions, not tests (Catch2, doctest)",
            r#"<testsuite tests="7" failures="0"><testcase name="a" status="run"/></testsuite>"#
                .to_owned(),
            &[],
            &[],
        ),
        (
            "tests of GoogleTest",
            r#"<testsuites tests="2" disabled="0"><testsuite tests="2" disabled="0"><testcase name="a" status="run"/></testsuite></testsuites>"#
                .to_owned(),
            &["the report declares 2 tests and holds 1"],
            &[],
        ),
        (
            "an error of the suite",
            format!(
                r#"<testsuite name="s" errors="1"><error message="no database"/>{case}</testsuite>"#
            ),
            &[],
            &["s: no database"],
        ),
        (
            "an error that the suite only counts",
            format!(r#"<testsuite name="s" errors="1">{case}</testsuite>"#),
            &[],
            &["s: the suite declares 1 failure or error and holds 0"],
        ),
        (
            "several failures that the suite only counts (VHDL)",
            format!(r#"<testsuites failures="7"><testsuite name="s" failures="7">{case}</testsuite></testsuites>"#),
            &[],
            &["s: the suite declares 7 failures or errors and holds 0"],
        ),
        (
            "subtests that pass (pytest)",
            format!(r#"<testsuites><testsuite name="pytest" tests="5" failures="0" errors="0" skipped="0">{case}</testsuite></testsuites>"#),
            &[],
            &[],
        ),
        (
            "subtests beside a suite of another writer",
            format!(r#"<testsuites><testsuite name="pytest" tests="5">{case}</testsuite><testsuite tests="3">{case}</testsuite></testsuites>"#),
            &["the report declares 4 tests and holds 2"],
            &[],
        ),
        (
            "subtests, and a failure that is missing (pytest)",
            format!(r#"<testsuite name="pytest" tests="5" failures="1">{case}</testsuite>"#),
            &["the report declares 5 tests and holds 1"],
            &["pytest: the suite declares 1 failure or error and holds 0"],
        ),
        (
            "an error that only the root counts",
            format!(r#"<testsuites errors="1"><testsuite name="s">{case}</testsuite></testsuites>"#),
            &["the report declares 1 failure and holds 0"],
            &[],
        ),
        (
            "a failure and an error of one test (pytest)",
            r#"<testsuite tests="1" failures="1" errors="1"><testcase name="a"><failure message="no"/></testcase><testcase name="a"><error message="teardown"/></testcase></testsuite>"#
                .to_owned(),
            &[],
            &["a: no", "a: teardown"],
        ),
        (
            "a test in which the run was given up (pytest)",
            format!(r#"<testsuite name="s" tests="1">{case}<testcase time="0.1"/></testsuite>"#),
            &[],
            &["s: the run ended in the middle of a test that the report does not name"],
        ),
        (
            "a set-up of all tests (GoogleTest)",
            r#"<testsuite name="s" tests="1"><testcase name="" classname=""><failure message="no files"/></testcase></testsuite>"#
                .to_owned(),
            &[],
            &["s: no files"],
        ),
        (
            "a failure that is there",
            format!(r#"<testsuite name="s" tests="1" failures="1">{fails}</testsuite>"#),
            &[],
            &["a: no"],
        ),
        (
            "nested suites (PHPUnit)",
            format!(
                r#"<testsuites><testsuite name="o" tests="2" failures="1"><testsuite name="i" tests="1" failures="1">{fails}</testsuite><testsuite tests="1" failures="0">{case}</testsuite></testsuite></testsuites>"#
            ),
            &[],
            &["a: no"],
        ),
    ];
    for (why, text, clauses, failed) in table {
        let (found, failing) = objections_to(&text);
        assert_eq!(
            (&found[..], &failing[..]),
            (&to_owned(clauses)[..], &to_owned(failed)[..]),
            "{why}"
        );
    }
}

fn to_owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_test_that_did_not_run_never_counts_as_passed() {
    let table = [
        (r#"status="run" result="completed""#, "", None),
        (r#"status="notrun" result="suppressed""#, "", Some(Status::Skipped)),
        (r#"status="disabled""#, "", Some(Status::Skipped)),
        (r#"status="Not_Run""#, "", Some(Status::Skipped)),
        (r#"result="Inconclusive""#, "", Some(Status::Skipped)),
        (r#"status="ignored""#, "", Some(Status::Skipped)),
        (r#"status="passed""#, "", None),
        (r#"status="failed""#, "", Some(Status::Failed)),
        // A program that was not built, and a scenario whose set-up failed.
        ("status=\"notrun\"", "<skipped message=\"No executable\"/>", Some(Status::Failed)),
        ("status=\"notrun\"", "<skipped message=\"SKIP_RETURN_CODE=77\"/>", Some(Status::Skipped)),
        ("status=\"untested\"", "<skipped/>", Some(Status::Failed)),
        ("", "<skipped type=\"todo\"/><failure/>", Some(Status::Skipped)),
        ("", "<skipped message=\"tagged with !mayfail\"/><failure/>", Some(Status::Skipped)),
        ("", "<skipped/>", Some(Status::Skipped)),
        ("", "<disabled/>", Some(Status::Skipped)),
        (r#"status="passed""#, "<skipped/>", Some(Status::Skipped)),
        ("", "<failure/><skipped/>", Some(Status::Failed)),
        ("", "<skipped/><failure/>", Some(Status::Failed)),
    ];
    for (attributes, inside, expected) in table {
        let text = format!(
            r#"<testsuite><testcase name="a" {attributes}>{inside}</testcase></testsuite>"#
        );
        assert_eq!(parse(&text).unwrap().cases[0].status, expected, "{attributes} {inside}");
    }
}

#[test]
fn runs_of_one_test_are_told_from_tests_of_one_name() {
    use Status::{Failed, Passed};
    let fail =
        |message: &str| format!(r#"<testcase name="a"><failure message="{message}"/></testcase>"#);
    let pass = r#"<testcase name="a"/>"#;
    let flaky = r#"<testcase name="a"><flakyFailure message="no"/></testcase>"#;
    let go = r#"<properties><property name="go.version" value="1"/></properties>"#.to_owned();
    let java = r#"<testcase classname="b.C" name="a()"><failure message="no">b.D: no
	at b.C.a(C.java:3)</failure></testcase><testcase classname="b.C" name="a()"/>"#;
    let flaky_run = vec![(Some(Passed), Retried::Repeated)];
    let table = [
        (
            "a retry that passed (gotestsum)",
            go.clone() + &fail("no") + pass,
            true,
            flaky_run.clone(),
        ),
        ("a retry of a method (Gradle)", java.to_owned(), true, flaky_run),
        (
            "in a command that failed",
            go + &fail("no") + pass,
            false,
            vec![(Some(Failed), Retried::No)],
        ),
        (
            "two tests of one name, of which the first fails (Node.js)",
            fail("no") + pass,
            true,
            vec![(Some(Failed), Retried::No), (None, Retried::No)],
        ),
        (
            "retries that failed alike",
            fail("no") + &fail("no"),
            false,
            vec![(Some(Failed), Retried::No)],
        ),
        (
            "two tests",
            fail("no") + &fail("never"),
            false,
            vec![(Some(Failed), Retried::No), (Some(Failed), Retried::No)],
        ),
        (
            "two tests that pass",
            pass.repeat(2),
            true,
            vec![(None, Retried::No), (None, Retried::No)],
        ),
        (
            "one that fails last",
            pass.to_owned() + &fail("no"),
            true,
            vec![(None, Retried::No), (Some(Failed), Retried::No)],
        ),
        ("marked by Surefire", flaky.to_owned(), false, vec![(None, Retried::Marked)]),
    ];
    for (why, cases, is_success, expected) in table {
        let report = parse(&format!("<testsuite>{cases}</testsuite>")).unwrap().ended(is_success);
        let found: Vec<_> = report.cases.iter().map(|one| (one.status, one.retried)).collect();
        assert_eq!(found, expected, "{why}");
    }
    let declared = format!(
        r#"<testsuite tests="2">{pass}{pass}<testcase name="b"/><testcase name="b"><failure/></testcase></testsuite>"#
    );
    let report = parse(&declared).unwrap().ended(false);
    let found: Vec<_> = report.cases.iter().map(|one| (one.status, one.retried)).collect();
    let expected = [(None, Retried::Marked), (Some(Failed), Retried::No)];
    assert_eq!(found, expected, "reruns that the suite does not count (pytest-rerunfailures)");
    let counted =
        parse(&format!(r#"<testsuite tests="1">{}{pass}</testsuite>"#, fail("no"))).unwrap();
    assert_eq!(counted.cases[0].retried, Retried::Repeated, "the suite counts one test");
    let named =
        parse(&format!("<testsuite>{}{pass}{pass}</testsuite>", fail("no"))).unwrap().notices;
    assert_eq!(
        named,
        [
            "the report names `a` 3 times, failing and passing: nothing in it says that a test is retried, \
          so these are 3 tests"
        ]
    );
    let apart = format!(
        "<testsuites><testsuite>{}</testsuite><testsuite>{pass}</testsuite></testsuites>",
        fail("no")
    );
    assert_eq!(parse(&apart).unwrap().cases.len(), 2, "two suites have two tests");
}

#[test]
fn seconds_are_read_with_the_separators_of_any_writer() {
    let table = [
        ("0.25", 250),
        ("1,204.5", 1_204_500),
        ("1,204", 1_204_000),
        ("0,25", 250),
        ("1.204,5", 1_204_500),
        ("12,345,678.001", 12_345_678_001),
        (" 2 ", 2_000),
        ("", 0),
        ("NaN", 0),
    ];
    for (text, expected) in table {
        assert_eq!(milliseconds(text), expected, "{text}");
    }
}

#[test]
fn a_case_has_the_same_id_however_it_is_written() {
    let table: [(&str, &[&str]); 9] = [
        (r#" <testcase classname="a.B" name="c" time="1.5"/> x"#, &["a.B::c"]),
        (r#"<testcase name='c "d"' file="a.py"></testcase>"#, &[r#"a.py::c "d""#]),
        ("<testcase name=\"c\" >\n  </testcase>", &["c"]),
        (r#"<testcase name="c"><failure/></testcase>"#, &["c"]),
        (r#"<testcase name="c &amp; d"/>"#, &["c & d"]),
        (r#"<testcase name="c"classname="d"/>"#, &["d::c"]),
        (r#"<testcase x:name="c"/>"#, &["c"]),
        (r#"<testcases name="c"/>"#, &[]),
        ("", &[]),
    ];
    for (text, expected) in table {
        let tests = parse(&format!("<testsuite>{text}</testsuite>")).unwrap().cases;
        let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
        assert_eq!(ids, expected, "{text}");
    }
    for cut in [r#"<testcase name="c"#, r#"<testcase name="c" "#, "<testcase"] {
        assert!(parse(&format!("<testsuite>{cut}")).is_err(), "{cut}");
    }
}

#[test]
fn a_broken_report_names_its_line() {
    let cut = "<testsuite>\n<testcase name=\"a\">\n<failure>";
    assert_eq!(parse(cut).unwrap_err().line, 3);
    let nameless =
        "<testsuites>\n<></>\n<testsuite><testcase name=\"a\"/></testsuite></testsuites>";
    let error = parse(nameless).unwrap_err();
    assert_eq!((error.line, error.expected.as_str()), (2, "JUnit XML (an element has no name)"));
    assert!(parse("").is_err());
    assert!(parse("<html/>").is_err(), "XML that is no report");
}

#[test]
fn an_entity_bomb_expands_to_nothing() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>\
                <testsuite><testcase name=\"a\"><failure>&b;&b;</failure></testcase></testsuite>";
    let tests = parse(bomb).unwrap().cases;
    assert_eq!(tests[0].stack, "??");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".*") {
        if let Ok(report) = parse(&text) {
            proptest::prop_assert!(report.cases.len() <= text.len());
        }
    }
}
