//! Every setting changes the behaviour of `regreen`: as a flag, as `--set`, and in the file.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::fake_model::{FakeModel, analysis, analysis_of, edit};
use super::support::{CALC, REGRESSING, Ran, TestRepo, write_program};

fn session(repo: &TestRepo, id: &str) -> PathBuf {
    let root = repo.root().join(".git/regreen");
    let archived = root.join("archives").join(id);
    if archived.is_dir() { archived } else { root.join("active").join(id) }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn log(repo: &TestRepo) -> String {
    repo.git(&["log", "--format=%s", "main..regreen/WFS-test-main"])
}

#[test]
fn a_clean_history_keeps_a_regression_as_a_patch_that_still_applies() {
    let repo = TestRepo::new(REGRESSING);
    let ran = repo.regreen(&["fix", "--jobs", "1", "--json", "--history", "clean"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let document = ran.document();
    let regressed = document["iterations"].as_array().unwrap().iter();
    let regressed: Vec<u64> = regressed
        .filter(|one| one["outcome"] == "regression")
        .map(|one| one["iteration"].as_u64().unwrap())
        .collect();
    assert_eq!(regressed, [1], "{}", ran.err);
    let text = log(&repo);
    assert!(!text.contains("rollback") && !text.contains("iteration 1 "), "{text}");
    let folder = session(&repo, "WFS-test-main").join(".process");
    let patch = folder.join("iteration-1-regression.patch");
    assert!(read(&patch).contains("+++ b/store.py"), "{}", read(&patch));
    repo.git(&["apply", "--check", &patch.display().to_string()]);
    let inside = repo.git(&["log", "--name-only", "--format=", "regreen/WFS-test-main"]);
    assert!(!inside.contains(".patch"), "patches do not travel: {inside}");
}

/// A repository with a test that failed before, and a change that breaks another one.
fn with_an_old_failure() -> TestRepo {
    let broken = r"import unittest


class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(open('missing.txt').read(), 'x')
";
    let (good, bad) = (
        "def double(value):\n    return value * 2\n",
        "def double(value):\n    return value * 3\n",
    );
    let tests = r"import unittest

from calc import double


class T(unittest.TestCase):
    def test_two(self):
        self.assertEqual(double(2), 4)

    def test_nothing(self):
        self.assertEqual(double(0), 0)
";
    let repo = TestRepo::new(&[
        ("calc.py", good),
        ("test_calc.py", tests),
        ("test_old.py", broken),
        (".gitignore", "__pycache__/\n"),
    ]);
    repo.git(&["branch", "base"]);
    repo.write(&[("calc.py", bad)]);
    repo.git(&["commit", "-qam", "break it"]);
    repo
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_failure_of_the_base_does_not_count_when_it_is_ignored_and_is_shown_all_the_same() {
    let flags = ["fix", "--json", "--jobs", "1", "--max-iterations", "3", "--base", "base"];
    let strict = with_an_old_failure().regreen(&flags);
    assert_eq!(strict.code, Some(1), "{}", strict.err);

    let repo = with_an_old_failure();
    let ran = repo.regreen(&[&flags[..], &["--ignore-preexisting"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let document = ran.document();
    assert_eq!(document["result"], "success", "{document:#}");
    assert_eq!(document["last"]["total"], 2, "the old failure is not counted");
    assert_eq!(document["initial"]["total"], 2, "neither before");
    assert!(document["preexisting-tests"][0].as_str().unwrap().contains("test_old"));
    let report = read(Path::new(document["report"].as_str().unwrap()));
    assert!(report.contains("Every test passes but 1 that fails on the base too"), "{report}");
    assert!(report.contains("- Fails on the base too: `test_old.Old.test_old`"), "{report}");
    assert!(report.contains("without it these fail: `test_calc.T.test_two`\n"), "{report}");
}

#[test]
fn without_a_base_there_is_nothing_to_ignore_and_that_is_said() {
    let repo = with_an_old_failure();
    repo.write(&[(".github/regreen.yml", "ignore-preexisting: true\n")]);
    let ran = repo.regreen(&["fix", "--json", "--jobs", "1", "--max-iterations", "1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("has nothing to compare with"), "{}", ran.err);
}

#[test]
fn state_that_does_not_travel_is_in_no_commit() {
    let repo = TestRepo::new(CALC);
    let ran = repo.regreen(&["fix", "--jobs", "1", "--json", "--commit-state", "none"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    insta::assert_snapshot!(log(&repo), @r"
    test-cycle: iteration 2 - conservative strategy (pass: 80.0% → 100.0%)
    test-cycle: iteration 1 - conservative strategy (pass: 60.0% → 80.0%)
    ");
    let files = repo.git(&["log", "--name-only", "--format=", "main..regreen/WFS-test-main"]);
    assert_eq!(files.lines().collect::<std::collections::BTreeSet<_>>(), ["calc.py"].into());
}

#[test]
fn a_key_that_is_set_goes_before_the_file_and_a_flag_before_it() {
    let repo = TestRepo::new(CALC);
    repo.write(&[(".github/regreen.yml", "gate: { max-iterations: 5 }\n")]);
    let limit = |more: &[&str]| -> Value {
        let ran = repo.regreen(&[&["fix", "--dry-run", "--quiet"], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let root = repo.root().join(".git/regreen/archives");
        let sessions = std::fs::read_dir(&root).unwrap().flatten();
        let newest = sessions.filter(|entry| entry.path().is_dir()).max_by_key(|entry| {
            std::fs::metadata(entry.path().join("workflow-session.json"))
                .unwrap()
                .modified()
                .unwrap()
        });
        let state = newest.unwrap().path().join(".process/iteration-state.json");
        serde_json::from_str::<Value>(&read(&state)).unwrap()["terms"].clone()
    };
    assert_eq!(limit(&[])["max_iterations"], 5);
    let set = ["--set", "gate.max-iterations=7", "--set", "loop.stuck-threshold=4"];
    let terms = limit(&set);
    assert_eq!(
        (&terms["max_iterations"], &terms["thresholds"]["stuck_results"]),
        (&7.into(), &4.into())
    );
    assert_eq!(limit(&[&set[..], &["--max-iterations", "9"]].concat())["max_iterations"], 9);
    let ran = repo.regreen(&["fix", "--set", "loop.stuck-treshold=4"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("did you mean `stuck-threshold`?"), "{}", ran.err);
}

/// A repository with a model in its settings.
fn with_model(model: &FakeModel, more: &str) -> TestRepo {
    let repo = TestRepo::new(CALC);
    let settings = format!("providers: [one]\nprovider:\n{}{more}", model.provider("one", ""));
    repo.write(&[(".github/regreen.yml", &settings)]);
    repo
}

fn fix(repo: &TestRepo, arguments: &[&str]) -> Ran {
    let mut command = repo.command();
    command.env("ONE_KEY", "sk-x").args(["fix", "--json"]).args(arguments);
    command.output().expect("regreen starts").into()
}

/// A model that takes the code for correct and the tests for wrong.
fn changes_tests() -> FakeModel {
    let assertion = |call: &str| format!("self.assertEqual({call})");
    let change = |from: &str, to: &str| edit("test_calc.py", &assertion(from), &assertion(to));
    let high = change("clamp(9, 2, 5), 5", "clamp(9, 2, 5), 2");
    let total = change("total([1, 2, 3]), 6", "total([1, 2, 3]), -6");
    FakeModel::serve(vec![(
        "one",
        vec![
            analysis_of("test_calc.ClampTest.test_high", "calc.py:clamp:4-5", 0.9),
            high,
            analysis("calc.py:total:9-13", 0.9),
            total,
        ],
    )])
}

#[test]
fn tests_change_only_where_the_scope_says_so_and_a_person_must_confirm() {
    let model = changes_tests();
    let repo = with_model(&model, "loop: { fix-scope: tests }\n");
    let ran = fix(&repo, &["--no-minimise"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let document = ran.document();
    assert_eq!(document["result"], "partial_success", "{document:#}");
    assert!(document["reason"].as_str().unwrap().contains("a person must confirm"));
    let text = model.asked()[1].text();
    assert!(text.contains("Change tests only"), "{text}");
    let record = session(&repo, "WFS-test-main").join(".process/iteration-1-decision.md");
    let record = read(&record);
    assert!(record.contains("Tests were changed in iteration 1"), "{record}");
    assert!(record.contains("test_calc.py") && record.contains("- commit: `"), "{record}");

    let model = changes_tests();
    let repo = with_model(&model, "");
    let ran = fix(&repo, &["--max-iterations", "1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("belongs to the tests"), "{}", ran.err);
}

#[test]
fn the_build_command_is_asked_before_tests_are_run() {
    let model = FakeModel::serve(vec![(
        "one",
        vec![
            analysis("calc.py:clamp:4-5", 0.9),
            edit(
                "calc.py",
                "        return low\n    return value",
                "        return high  # forbidden\n    return value",
            ),
            edit(
                "calc.py",
                "        return low\n    return value",
                "        return high\n    return value",
            ),
            analysis("calc.py:total:9-13", 0.9),
            edit("calc.py", "total -= value", "total += value"),
        ],
    )]);
    let build = "tools: { build: \"grep -n forbidden calc.py && exit 1 || exit 0\" }\n";
    let repo = with_model(&model, build);
    let ran = fix(&repo, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("says: 5: return high # forbidden"), "{}", ran.err);
    assert_eq!(model.left(), 0);
    let fixed = repo.git(&["show", "regreen/WFS-test-main:calc.py"]);
    assert!(!fixed.contains("forbidden"), "{fixed}");
}

#[test]
fn the_confidence_that_is_asked_for_moves_the_chain_on_and_a_retired_setting_does_not() {
    let table = [
        ("min-confidence: 0.95", Some("T4")),
        ("min-analysis-words: 5000", None),
        ("min-confidence: 0.9", None),
    ];
    for (rule, trigger) in table {
        let model = FakeModel::serve(vec![(
            "one",
            vec![
                analysis("calc.py:clamp:4-5", 0.9),
                edit("calc.py", "total -= value", "total += value"),
            ],
        )]);
        let repo = with_model(&model, &format!("analysis: {{ {rule} }}\n"));
        let document = fix(&repo, &["--max-iterations", "1"]).document();
        let call = &document["iterations"][0]["calls"][0];
        assert_eq!(call["trigger"].as_str(), trigger, "{rule}: {call:#}");
    }
}

#[test]
fn a_coverage_command_of_the_project_is_run_and_its_report_read() {
    let report = "TN:\\nSF:calc.py\\nDA:1,1\\nDA:2,1\\nDA:4,0\\nDA:5,0\\nend_of_record\\n";
    let command = format!("printf '{report}' > out.lcov");
    let plan = |more: &[&str]| {
        let repo = TestRepo::new(CALC);
        let set = ["--coverage-command", &command, "--set", "coverage.report=*.lcov"];
        let ran = repo.regreen(&[&["plan", "calc.py", "--json"], &set[..], more].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let folder = session(&repo, "WFS-test-calc-py");
        let text = read(&folder.join(".process/context-package.json"));
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let text = plan(&["--set", "coverage.line=60"]);
    let coverage = text["coverage"].as_str().unwrap();
    assert!(coverage.contains("printf") && coverage.contains("lines 50 %"), "{coverage}");
    assert_eq!(text["coverage_target"]["line"], 60);

    let repo = TestRepo::new(CALC);
    let ran = repo.regreen(&["plan", "calc.py", "--coverage-command", "true"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("`coverage.command` needs `coverage.report`"), "{}", ran.err);
}

#[test]
fn a_plan_waits_when_the_file_says_so() {
    let table = [("plan: { confirm: always }\n", "waits"), ("plan: { confirm: never }\n", "works")];
    for (file, expected) in table {
        let repo = TestRepo::new(CALC);
        repo.write(&[(".github/regreen.yml", file)]);
        let ran = repo.regreen(&["plan", "calc.py", "--no-coverage", "--json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let state = read(&session(&repo, "WFS-test-calc-py").join(".process/test-fix-state.json"));
        let state: Value = serde_json::from_str(&state).unwrap();
        let confirm = state["confirm_plan"].as_str().unwrap();
        let found = if confirm == "always" { "waits" } else { "works" };
        assert_eq!(found, expected, "{file}: {state:#}");
    }
}

#[test]
fn commands_files_and_strictness_of_the_file_reach_validate() {
    let lint = "tools: { lint: \"echo 'shop/cart.py:2: too long'; exit 1\" }\n";
    let files = [("shop/cart.py", "def total(items):\n    return sum(items)\n")];
    let validate = |settings: &str, more: &[&str]| {
        let repo = TestRepo::new(&files);
        repo.write(&[(".github/regreen.yml", settings)]);
        let ran = repo.regreen(&[&["validate", "--json"], more].concat());
        let document = ran.document();
        let found = |severity: &str| document["findings"][severity].as_array().map_or(0, Vec::len);
        let findings = found("critical") + found("error") + found("warning");
        (ran.code, document["summary"]["files_validated"].clone(), findings)
    };
    assert_eq!(validate("", &[]), (Some(0), 1.into(), 0));
    let (code, _, findings) = validate(lint, &[]);
    assert_eq!((code, findings), (Some(0), 1), "one finding is tolerated");
    assert_eq!(validate("validate: { files: ['other/**'] }\n", &[]).1, 0);
    let other = ["--files", "shop/**"];
    assert_eq!(validate("validate: { files: ['other/**'] }\n", &other).1, 1, "a flag wins");
    let build = ["--build-command", "echo 'shop/cart.py:1: wrong type'; exit 1"];
    let (code, _, findings) = validate("", &build);
    assert_eq!((code, findings), (Some(1), 1), "what does not fit is critical");
    assert_eq!(validate("validate: { skip-types: true }\n", &build).2, 0);
    assert_eq!(validate("validate: { fix: true }\n", &other).0, Some(0));
    let unnamed = TestRepo::new(&files);
    let ran = unnamed.regreen(&["validate", "--set", "validate.fix=true"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    // One function without a body is tolerated, unless the file sets `strict`.
    let empty = "def save(order):\n    pass\n\n\ndef total(items):\n    return sum(items)\n";
    for (settings, code) in [("", 0), ("validate: { strict: true }\n", 1)] {
        let repo = TestRepo::new(&[("shop/m.py", empty)]);
        repo.write(&[(".github/regreen.yml", settings)]);
        assert_eq!(repo.regreen(&["validate"]).code, Some(code), "{settings}");
    }
}

/// A fake container engine that runs the command without a container, and records how it was
/// called.
const ENGINE: &str = r#"#!/usr/bin/env python3
import os, sys

asked = " ".join(sys.argv[1:]).replace("\n", " ")
with open(os.path.join(os.path.dirname(sys.argv[0]), "asked"), "a") as file:
    file.write(asked + "\n")
verb, words = sys.argv[1], sys.argv[2:]
if verb == "inspect":
    print('[{"Destination":"/","Source":"/"}]')
if verb in ("version", "rm", "pull", "image", "inspect"):
    sys.exit(0)
if verb != "run":
    sys.exit(125)
environment, program = {"PATH": "/usr/local/bin:/usr/bin:/bin"}, ""
valued = "--name --pull --cap-drop --security-opt --user --network --mount".split()
while words[0].startswith("--"):
    option = words.pop(0)
    if option == "--workdir":
        os.chdir(words.pop(0))
    elif option == "--env":
        name, value = words.pop(0).split("=", 1)
        environment[name] = value
    elif option == "--entrypoint":
        program = words.pop(0)
    elif option in valued:
        words.pop(0)
os.execvpe(program, [program, *words[1:]], environment)  # the first word is the image
"#;

#[test]
fn test_code_runs_in_the_image_by_an_engine_and_without_one_that_is_said() {
    let repo = TestRepo::new(CALC);
    let tools = repo.around().join("engine");
    std::fs::create_dir_all(&tools).unwrap();
    let engine = tools.join("docker");
    write_program(&engine, ENGINE);
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let arguments = ["fix", "--json", "--jobs", "1", "--sandbox-image", "python:3.13"];
    let run = |path: &str| -> Ran {
        let mut command = repo.command();
        command.env("PATH", path).env("CANARY_TOKEN", "canary-7").args(arguments);
        command.output().expect("regreen starts").into()
    };
    let ran = run(&path);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.document()["result"], "success");
    let asked = read(&tools.join("asked"));
    let runs: Vec<&str> = asked.lines().filter(|line| line.starts_with("run ")).collect();
    assert!(runs.len() > 3, "{asked}");
    for line in &runs {
        for part in ["--network none", "--cap-drop ALL", "--user ", "--pull never", " python:3.13 "]
        {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert!(!line.contains("canary") && !line.contains(" PATH=/"), "{line}");
        let user = repo.root().display().to_string();
        assert!(!line.contains(&format!("source={user},target={user} ")), "{line}");
    }
    assert!(asked.contains("rm --force regreen-"), "what is over is removed: {asked}");

    let nothing = repo.around().join("nothing");
    std::fs::create_dir_all(&nothing).unwrap();
    let ran = run(&nothing.display().to_string());
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("neither docker nor podman answers here"), "{}", ran.err);
}

/// A repository with two tests, of which one fails.
fn half_red(test: &str) -> TestRepo {
    let tests = format!(
        "import socket, unittest\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1, 1)\n\n    def test_two(self):\n        {test}\n"
    );
    TestRepo::new(&[("test_half.py", &tests), (".gitignore", "__pycache__/\n")])
}

#[test]
fn a_known_failure_passes_the_gate_at_its_target_until_its_day() {
    let run = |target: &str, until: &str| {
        let repo = half_red("self.assertEqual(1, 2)");
        let known = format!(
            "gate: {{ known-failures: {{ test_half.T.test_two: '{until}, the mirror is gone' }} }}\n"
        );
        repo.write(&[(".github/regreen.yml", &known)]);
        repo.regreen(&["fix", "--json", "--max-iterations", "1", "--target", target])
    };
    let met = run("50", "2999-01-31");
    assert_eq!(met.code, Some(0), "{}", met.err);
    let document = met.document();
    assert_eq!(document["result"], "partial_success", "{document:#}");
    assert_eq!(document["last"]["total"], 2, "it counts");
    assert_eq!(document["iterations"].as_array().unwrap().len(), 0, "no repair is tried");
    let left = &document["failing-tests"][0];
    assert_eq!(left["criticality"], "low");
    assert_eq!(left["evidence"], "known until 2999-01-31: the mirror is gone");

    let missed = run("95", "2999-01-31");
    assert_eq!(missed.code, Some(1), "{}", missed.err);
    let document = missed.document();
    let reason = document["reason"].as_str().unwrap();
    assert!(reason.starts_with("50.0 % pass, the gate is 95 %, and no edit repairs"), "{reason}");
    assert_eq!(document["iterations"].as_array().unwrap().len(), 0, "no repair is tried");

    let expired = run("50", "2020-01-31");
    assert_eq!(expired.code, Some(1), "{}", expired.err);
    let notice = "the known failure of `test_half.T.test_two` has expired on 2020-01-31";
    assert!(expired.err.contains(notice), "{}", expired.err);
    assert_eq!(expired.document()["iterations"].as_array().unwrap().len(), 1);
}

#[test]
fn a_known_failure_that_is_about_nothing_is_named() {
    let repo = half_red("self.assertEqual(1, 2)");
    let known = "gate: { target: 50, known-failures: { test_half.T.test_to: '2999-01-31, a typo', test_half.T.test_one: '2999-01-31, mended' } }\n";
    repo.write(&[(".github/regreen.yml", known)]);
    let ran = repo.regreen(&["fix", "--json", "--max-iterations", "1"]);
    let typo = "the known failure `test_half.T.test_to` names no test of this suite";
    let mended = "the known failure `test_half.T.test_one` is about nothing that fails";
    assert!(ran.err.contains(typo) && ran.err.contains(mended), "{}", ran.err);
}

#[test]
fn a_resumed_session_takes_the_known_failures_of_now() {
    let repo = half_red("self.assertEqual(1, 2)");
    let first = repo.regreen(&["fix", "--json", "--max-iterations", "1", "--target", "50"]);
    assert_eq!(first.code, Some(1), "{}", first.err);
    let known = "gate.known-failures={ test_half.T.test_two: '2999-01-31, the mirror is gone' }";
    let again = ["fix", "--json", "--resume", "--max-iterations", "2", "--set", known];
    let ran = repo.regreen(&again);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let left = &ran.document()["failing-tests"][0];
    assert_eq!(left["evidence"], "known until 2999-01-31: the mirror is gone");
}

#[test]
fn a_known_failure_without_a_day_is_refused() {
    let repo = half_red("self.assertEqual(1, 2)");
    repo.write(&[(
        ".github/regreen.yml",
        "gate:\n  known-failures:\n    test_half.T.test_two: upstream bug\n",
    )]);
    let ran = repo.regreen(&["fix"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(
        ran.err.contains(
            "`test_half.T.test_two` needs the id of a test, a day and a reason, such as `2027-01-31"
        ),
        "{}",
        ran.err
    );
}

#[test]
fn a_connection_that_the_sandbox_refuses_is_no_failure_of_the_code() {
    let run = |network: &str| {
        let repo = half_red("socket.create_connection(('127.0.0.1', 9))");
        let mut command = repo.command();
        command.env("REGREEN_NETWORK", network);
        command.args(["fix", "--json", "--max-iterations", "1", "--target", "50"]);
        let doctor = repo.command().env("REGREEN_NETWORK", network).arg("doctor").output().unwrap();
        let is_closed = String::from_utf8_lossy(&doctor.stdout).contains("no outgoing TCP (");
        let ran: Ran = command.output().unwrap().into();
        (is_closed, ran)
    };
    let (is_closed, ran) = run("closed");
    let document = ran.document();
    let left = &document["failing-tests"][0];
    assert_eq!(left["criticality"] == "low", is_closed, "{document:#}");
    assert_eq!(document["result"] == "partial_success", is_closed, "{document:#}");
    if is_closed {
        let evidence = "its connection was refused: the sandbox closes the network to test code";
        assert_eq!(left["evidence"], evidence);
    }
    let (_, ran) = run("open");
    let document = ran.document();
    let left = &document["failing-tests"][0];
    assert_eq!(left["criticality"], "low", "{document:#}");
    assert_eq!(left["evidence"], "it needs a server, and none answers there");
    assert_eq!(
        document["result"], "partial_success",
        "nobody listens, and the code cannot help it"
    );
}

#[test]
fn a_fix_beside_a_known_failure_is_proven_by_what_it_repairs() {
    let repo = with_an_old_failure();
    let known =
        "gate: { target: 60, known-failures: { test_old.Old.test_old: '2999-01-31, no file' } }\n";
    repo.write(&[(".github/regreen.yml", known)]);
    let ran = repo.regreen(&["fix", "--json", "--jobs", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let document = ran.document();
    assert_eq!(document["result"], "partial_success", "{document:#}");
    assert_eq!((&document["last"]["passed"], &document["last"]["total"]), (&2.into(), &3.into()));
    let needed = document["minimised"]["needed"].as_array().unwrap();
    let proofs: Vec<&Value> = needed.iter().map(|one| &one["tests"]).collect();
    assert_eq!(proofs, [&serde_json::json!(["test_calc.T.test_two"])], "{document:#}");
}
