//! Tests of `PathMapper`: paths, layers and bounded texts of reports.

use proptest::prelude::*;

use crate::adapter::suite::format::{
    PathMapper, ReportedTest, Unreadable, bounded, to_test_cases, without_colours,
};
use crate::domain::test::{Layer, Status};
use crate::effect::RunError;

pub fn mapper(root: &str) -> PathMapper {
    PathMapper { root: root.into(), directory: String::new(), layers: Vec::new() }
}

#[test]
fn only_paths_of_the_repository_are_taken_from_a_report() {
    let table = [
        ("/repo/src/a.py", Some("src/a.py")),
        ("./src/a.py", Some("src/a.py")),
        ("src/a.py", Some("src/a.py")),
        ("file:///repo/src/a.js", Some("src/a.js")),
        ("/repository/a.py", None),
        ("/etc/passwd", None),
        ("/repo/../etc/passwd", None),
        ("../a.py", None),
        ("/repo", None),
        ("", None),
        ("/repo/node_modules/x/a.js", None),
        ("/repo/.venv/lib/a.py", None),
        ("lib/site-packages/x.py", None),
    ];
    for (path, expected) in table {
        let found = mapper("/repo").repo_path(path);
        assert_eq!(found.as_ref().map(crate::domain::id::RepoPath::as_str), expected, "{path}");
    }
}

#[test]
fn relative_paths_begin_in_the_folder_of_the_suite_where_the_file_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let file = root.join("web/src/a.ts");
    crate::adapter::host::files::create_folder(file.parent().unwrap()).unwrap();
    crate::adapter::host::files::write(&file, b"").unwrap();
    let paths = PathMapper { root, directory: "web".into(), layers: Vec::new() };
    let found = |path: &str| paths.repo_path(path).map(|path| path.as_str().to_owned());
    assert_eq!(found("src/a.ts").as_deref(), Some("web/src/a.ts"));
    assert_eq!(found("src/b.ts").as_deref(), Some("src/b.ts"), "named from the root");
}

#[test]
fn a_configured_layer_comes_before_what_a_name_suggests() {
    let glob = globset::Glob::new("slow/**").unwrap().compile_matcher();
    let layers = vec![(glob, Layer::Static)];
    let paths = PathMapper { layers, ..mapper("/repo") };
    let table = [
        ("tests/unit/a.py", Layer::Unit),
        ("tests/integration/a.py", Layer::Integration),
        ("cypress/a.js", Layer::EndToEnd),
        ("e2e/integration/a.js", Layer::EndToEnd),
        ("slow/e2e/a.js", Layer::Static),
    ];
    for (file, layer) in table {
        let test = ReportedTest { file: Some(file.into()), ..ReportedTest::default() };
        assert_eq!(paths.to_test_case(&test).layer, layer, "{file}");
    }
}

#[test]
fn an_id_that_begins_with_its_file_is_the_same_on_every_machine() {
    let table = [
        ("/repo/a.ts::sums", Some("/repo/a.ts"), "a.ts::sums"),
        ("/repo/a.ts", Some("/repo/a.ts"), "a.ts"),
        ("a.B::c", Some("/repo/a.py"), "a.B::c"),
        ("/elsewhere/a.ts::sums", Some("/elsewhere/a.ts"), "/elsewhere/a.ts::sums"),
        ("a.B::c", None, "a.B::c"),
    ];
    for (id, file, expected) in table {
        let file = file.map(str::to_owned);
        let test = ReportedTest { id: id.into(), file, ..ReportedTest::default() };
        assert_eq!(mapper("/repo").to_test_case(&test).id.as_str(), expected, "{id}");
    }
}

#[test]
fn texts_of_a_failure_are_bounded_and_a_pass_has_none() {
    let long = "é".repeat(40_000);
    let test = |status| ReportedTest {
        id: long.clone(),
        status,
        class: long.clone(),
        message: long.clone(),
        stack: long.clone(),
        ..ReportedTest::default()
    };
    let failed = mapper("/repo").to_test_case(&test(Some(Status::Failed)));
    let failure = failed.failure.unwrap();
    let sizes = [failed.id.as_str().len(), failure.class.len(), failure.message.len()];
    assert_eq!((sizes, failure.stack.len()), ([1000, 200, 4096], 16_384));
    let passed = mapper("/repo").to_test_case(&test(None));
    assert_eq!((passed.status, passed.failure), (Status::Passed, None));
}

#[test]
fn an_unreadable_report_is_named_with_its_line() {
    let error = Unreadable { line: 7, expected: "JUnit XML".into() };
    let error = error.in_report(std::path::Path::new("out/report.xml"));
    assert_eq!(error.to_string(), "out/report.xml:7: expected JUnit XML");
    assert!(matches!(error, RunError::BadReport { .. }) && error.is_transient());
}

fn reported() -> impl Strategy<Value = ReportedTest> {
    let status = prop::option::of(prop::sample::select(vec![
        Status::Passed,
        Status::Failed,
        Status::Skipped,
    ]));
    ("[a-d]", status).prop_map(|(id, status)| ReportedTest { id, status, ..Default::default() })
}

proptest! {
    #[test]
    fn each_test_has_one_result_the_worst_in_any_order(
        tests in prop::collection::vec(reported(), 0..12), turn in 0usize..12,
    ) {
        let cases = to_test_cases(&tests, &mapper("/repo"));
        prop_assert!(cases.windows(2).all(|pair| pair[0].id < pair[1].id));
        for case in &cases {
            let of_id: Vec<Status> = tests
                .iter()
                .filter(|test| test.id == case.id.as_str())
                .map(|test| test.status.unwrap_or(Status::Passed))
                .collect();
            let worst = [Status::Failed, Status::Passed, Status::Skipped]
                .into_iter()
                .find(|status| of_id.contains(status));
            prop_assert_eq!(Some(case.status), worst);
        }
        let mut rotated = tests.clone();
        rotated.rotate_left(turn.min(tests.len()));
        let rotated = to_test_cases(&rotated, &mapper("/repo"));
        let short = |cases: &[crate::domain::test::TestCase]| -> Vec<_> {
            cases.iter().map(|case| (case.id.clone(), case.status)).collect()
        };
        prop_assert_eq!(short(&cases), short(&rotated));
    }

    #[test]
    fn a_bounded_text_is_a_beginning_within_its_limit(text in ".{0,40}", limit in 0usize..60) {
        let short = bounded(&text, limit);
        prop_assert!(short.len() <= limit && text.starts_with(&short));
        prop_assert!(text.len() > limit || short == text);
        prop_assert!(text.len() <= limit || short.len() + 4 > limit);
    }

    #[test]
    fn colours_are_taken_off_once_and_for_all(text in "(\u{1b}\\[[0-9;]{0,4}[a-zA-Z]|[a-z\n ]){0,30}") {
        let plain = without_colours(&text);
        prop_assert_eq!(without_colours(&plain), plain.clone());
        prop_assert!(!plain.chars().any(|character| character == '\x1b'));
    }

    #[test]
    fn no_path_of_a_report_leads_out(path in "(/repo/|\\./|\\.\\./|/|file://|)([a-z.]{1,4}/){0,4}[a-z.]{0,6}") {
        if let Some(found) = mapper("/repo").repo_path(&path) {
            prop_assert!(!found.as_str().starts_with('/') && !found.as_str().split('/').any(|part| part == ".."));
        }
    }
}

#[test]
fn no_duration_of_a_report_is_negative_or_endless() {
    use crate::adapter::suite::format::driver_lines;
    let table = [("3", 3), ("2.9", 2), ("-1", 0), ("1e300", 0), ("0", 0)];
    for (ms, expected) in table {
        let report = driver_lines::parse(&format!("{{\"id\":\"a\",\"ms\":{ms}}}"));
        assert_eq!(report.cases[0].duration_ms, expected, "{ms}");
    }
}
