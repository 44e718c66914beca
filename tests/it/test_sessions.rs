//! `regreen test` end to end without a model: writes tests, checks them, commits them, runs them.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::session_files::{against, files};
use super::support::{TestRepo, sample_step};

/// Functions with error and edge cases, one that no test should call; none of them has a test.
pub const SHOP: &[(&str, &str)] = &[
    ("shop/__init__.py", ""),
    (
        "shop/price.py",
        r"def parse_price(text: str) -> float:
    if not text:
        raise ValueError('empty price')
    return float(text)


def discount(price: int, percent: int) -> float:
    if percent > 100:
        raise ValueError('more than all')
    if percent < 0:
        raise ValueError('less than nothing')
    return price * (100 - percent) / 100
",
    ),
    ("tests/__init__.py", ""),
    (".gitignore", "__pycache__/\n"),
];

/// A module whose function reads a file.
const IMPURE: (&str, &str) = (
    "shop/rates.py",
    r"def load_rates(path: str) -> dict:
    with open(path) as file:
        return dict(line.split() for line in file)


def double(rate: int) -> int:
    return rate * 2
",
);

/// The name of the schema or sample for a file of a test session.
fn form_of(name: &str) -> Option<&'static str> {
    Some(match name.rsplit('/').next().unwrap_or(name) {
        "workflow-session.json" => "session",
        "iteration-state.json" => "iteration-state",
        "test-results.json" => "test-results",
        "outcome.json" => "outcome",
        "fix-history.json" => "fix-history",
        "context-package.json" | "TEST_ANALYSIS_RESULTS.json" => "test-plan",
        "test-fix-state.json" => "test-fix-state",
        "generation.json" => "generation",
        "coverage-lines.json" => "coverage-lines",
        "provider-calls.json" => "provider-calls",
        "question-under-way.json" => "question-under-way",
        "options.json" => "options",
        file if file.ends_with(".answer.json") => "answer",
        "code-validation-report.json" => "code-validation-report",
        file if file.starts_with("iteration-") && file.ends_with("-failures.json") => {
            "iteration-failures"
        }
        file if file.starts_with("IMPL-fix-") => "fix-task",
        file if file.starts_with("IMPL-") => "test-task",
        _ => return None,
    })
}

/// Files of specification.md 8.1 in a session that wrote tests, found a defect and fixed it.
const LAYOUT: &[&str] = &[
    "workflow-session.json",
    "IMPL_PLAN.md",
    "TODO_LIST.md",
    ".task/IMPL-001.json",
    ".task/IMPL-001.3-validation.json",
    ".task/IMPL-001.5-review.json",
    ".task/IMPL-002.json",
    ".task/IMPL-fix-2.json",
    ".task/rolled-back/IMPL-fix-1.json",
    ".process/context-package.json",
    ".process/TEST_ANALYSIS_RESULTS.md",
    ".process/TEST_ANALYSIS_RESULTS.json",
    ".process/code-validation-report.json",
    ".process/iteration-state.json",
    ".process/test-results.json",
    ".process/test-output.log",
    ".process/fix-history.json",
    ".process/iteration-1-analysis.md",
    ".process/iteration-1-failures.json",
    ".process/iteration-1-cli-output.txt",
    ".process/iteration-2-analysis.md",
    ".process/provider-calls.json",
    ".process/generation.json",
    ".summaries/IMPL-001-summary.md",
    ".summaries/IMPL-001.3-summary.md",
    ".summaries/IMPL-001.5-summary.md",
    ".summaries/IMPL-002-summary.md",
    ".summaries/iteration-summaries/iteration-1.md",
    ".summaries/iteration-summaries/iteration-2.md",
];

#[cfg(feature = "slow-tests")]
#[test]
fn every_file_of_the_layout_is_there_after_a_full_run_and_fits_its_schema() {
    use super::support::fake_model::{Reply, edit};
    use super::test_writing::{FINDING, RIGHT, SHOP, TEST, configured, knowing, run, server};

    // The first fix breaks more than it repairs; the second one is right.
    let answers = |question: &str| {
        let fixes = question.contains("# Question IMPL-fix-1");
        if fixes && !question.contains("Say what is wrong and where") {
            edit(RIGHT.0, RIGHT.1, "    return float(percent)\n")
        } else if question.contains("Say what is wrong and where") {
            super::support::fake_model::analysis_of(FINDING, "shop/price.py:discount:12-12", 0.9)
        } else {
            knowing(question)
        }
    };
    let model = server(vec![Reply::By(answers)]);
    let repo = configured(SHOP, &model, "one, embedded");
    let ran = run(&repo, TEST);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    let place = folder(&document);
    complete(&place);
    let missing: Vec<&&str> = LAYOUT.iter().filter(|file| !place.join(file).is_file()).collect();
    let (mut there, root) = (Vec::new(), place.clone());
    files(&place, &mut there);
    let there: Vec<String> =
        there.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect();
    assert!(missing.is_empty(), "{missing:#?} of {there:#?}");
    // The reference must describe the files of the layout.
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference.md");
    let reference = std::fs::read_to_string(reference).unwrap();
    for file in
        LAYOUT.iter().filter(|file| file.starts_with(".process/") && !file.contains("iteration-"))
    {
        let name = file.rsplit('/').next().unwrap().split('.').next().unwrap();
        let families = ["test-layer-"];
        let family = families.iter().find(|family| name.starts_with(**family));
        let known = family.map_or(name, |family| *family);
        assert!(reference.contains(known), "{file} is not in the reference");
    }
    // The session met its gate, so the bad fix left no failure report.
    assert!(!place.join(".summaries/failure-report.md").exists());
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_session_that_does_not_meet_its_gate_leaves_the_report_of_a_failure() {
    use super::support::fake_model::{Reply, edit};
    use super::test_writing::{RIGHT, SHOP, configured, knowing, run, server};

    let answers = |question: &str| {
        if question.contains("# Question IMPL-fix-") && !question.contains("Say what is wrong") {
            edit(RIGHT.0, RIGHT.1, "    return price * (101 - percent) / 100\n")
        } else {
            knowing(question)
        }
    };
    let model = server(vec![Reply::By(answers)]);
    let repo = configured(SHOP, &model, "one, embedded");
    let ran = run(&repo, &["test", "shop/price.py", "--max-iterations", "1"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    let report = folder(&document).join(".summaries/failure-report.md");
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("test_half_off"), "{report}");
    complete(&folder(&document));
}

/// Asserts that the files of 8.1 exist and that each JSON file matches its form.
pub fn complete(folder: &Path) {
    for file in [
        "workflow-session.json",
        "IMPL_PLAN.md",
        "TODO_LIST.md",
        ".task/IMPL-001.json",
        ".task/IMPL-001.3-validation.json",
        ".task/IMPL-001.5-review.json",
        ".task/IMPL-002.json",
        ".process/context-package.json",
        ".process/TEST_ANALYSIS_RESULTS.md",
        ".process/generation.json",
        ".process/code-validation-report.json",
        ".process/iteration-state.json",
        ".process/test-results.json",
        ".summaries/IMPL-001-summary.md",
        ".summaries/IMPL-001.3-summary.md",
        ".summaries/IMPL-001.5-summary.md",
    ] {
        assert!(folder.join(file).is_file(), "{file} in {}", folder.display());
    }
    let (mut paths, mut wrong) = (Vec::new(), Vec::new());
    files(folder, &mut paths);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|one| one == "json")) {
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        let text = std::fs::read_to_string(path).unwrap();
        match form_of(&name) {
            Some(form) => wrong.extend(against(form, &name, &text)),
            None => wrong.push(format!("{name} has no form")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn json(folder: &Path, file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

fn folder(document: &Value) -> PathBuf {
    PathBuf::from(document["folder"].as_str().unwrap())
}

#[test]
fn a_file_of_python_without_tests_gets_tests_that_hold_and_notice() {
    let repo = TestRepo::new(SHOP);
    let before = repo.belongings();
    let ran = repo.regreen(&["test", "shop/price.py", "--no-coverage", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert_eq!(document["result"], "generated");
    assert_eq!(repo.belongings(), before, "nothing of the user's changed");
    let produced = &document["produced"];
    assert!(produced["tests"].as_u64().unwrap() >= 4, "{produced:#}");
    assert_eq!(produced["gates-met"], true, "{produced:#}");
    assert_eq!(produced["flaky"], 0);
    let score: f64 = produced["mutation-score"].as_str().unwrap().parse().unwrap();
    assert!(score >= 60.0, "{score}");
    for task in document["tasks"].as_array().unwrap() {
        assert_eq!(task["status"], "completed", "{task}");
    }
    let folder = folder(&document);
    complete(&folder);
    let todo = std::fs::read_to_string(folder.join("TODO_LIST.md")).unwrap();
    assert_eq!(todo.matches("- [x] **IMPL-").count(), 4, "{todo}");
    assert!(todo.contains("[ITERATION]") && todo.contains("[GATE]"), "{todo}");
    let suite = json(&folder, ".task/IMPL-002.json");
    assert_eq!(suite["status_history"][0]["from"], "pending", "{suite:#}");
    assert_eq!(suite["context"]["depends_on"][0], "IMPL-001", "what was planned is kept");
    // The branch holds the tests, but not the session's files; the tests notice a break.
    let branch = "regreen/WFS-test-shop-price-py";
    let files = repo.git(&["diff", "--name-only", &format!("main..{branch}")]);
    assert_eq!(files, "tests/test_price.py");
    let log = repo.git(&["log", "--format=%B", &format!("main..{branch}")]);
    assert!(log.contains("Regreen-Task: IMPL-001\nRegreen-Kind: generate"), "{log}");
    repo.git(&["merge", "-q", branch]);
    let run = || repo.shell("python3 -m unittest discover -s tests -t .").output().unwrap();
    assert!(run().status.success());
    repo.write(&[(
        "shop/price.py",
        &SHOP[1].1.replace("raise ValueError('more than all')", "return 0"),
    )]);
    assert!(!run().status.success(), "an error that is lost is noticed");
    // The same behaviour in other words: names of locals, the order of independent statements, `pass`.
    let rewritten = "def parse_price(text: str) -> float:\n    pass\n    given = text\n    if given:\n        value = float(given)\n        return value\n    raise ValueError('empty price')\n\n\ndef discount(price: int, percent: int) -> float:\n    if percent < 0:\n        raise ValueError('less than nothing')\n    if percent > 100:\n        raise ValueError('more than all')\n    left = 100 - percent\n    return price * left / 100\n";
    repo.write(&[("shop/price.py", rewritten)]);
    assert!(run().status.success(), "an equivalent rewrite keeps every test green");
}

#[test]
fn what_cannot_be_written_stays_open_with_its_reason() {
    let repo = TestRepo::new(&[SHOP, &[IMPURE]].concat());
    let ran = repo.regreen(&["test", "shop/rates.py", "--no-coverage", "--json"]);
    let document = ran.document();
    let open = document["produced"]["open"].as_array().unwrap();
    let about = |name: &str| {
        open.iter().filter(|one| one["what"].as_str().unwrap().contains(name)).collect::<Vec<_>>()
    };
    assert!(!about("load_rates").is_empty(), "{document:#}");
    for one in about("load_rates") {
        assert!(!one["reason"].as_str().unwrap().is_empty(), "{one}");
    }
    assert!(about("`double` L1.1").is_empty(), "{open:#?}");
    assert!(document["produced"]["tests"].as_u64().unwrap() > 0, "{document:#}");
    // What cannot be written is said, and holds nothing back.
    assert_eq!(ran.code, Some(0), "{document:#}");
    assert_eq!(document["produced"]["gates-met"], true);
    let summary = folder(&document).join(".summaries/IMPL-001-summary.md");
    assert!(std::fs::read_to_string(summary).unwrap().contains("load_rates"));
}

#[test]
fn an_example_that_the_code_contradicts_is_a_finding_and_changes_nothing() {
    let source = (
        "shop/factors.py",
        r"def get_factors(n):
    '''The prime factors of a number.

    >>> get_factors(1)
    []
    >>> get_factors(100)
    [2, 2, 5, 5]
    '''
    if n < 1:
        raise ValueError('below one')
    if n == 1:
        return []
    for i in range(2, int(n ** 0.5) + 1):
        if n % i == 0:
            return [i] + get_factors(n // i)
    return []


class Basket:
    def __init__(self, cents: int = 0):
        self.cents = cents

    def total(self) -> int:
        return self.cents
",
    );
    let page = (
        "README.md",
        "# Shop\n\n    >>> get_factors(101)\n    [101]\n    >>> Basket(3).total()\n    3\n",
    );
    let repo = TestRepo::new(&[SHOP, &[source, page]].concat());
    let ran = repo.regreen(&["test", "shop/factors.py", "--no-coverage", "--json"]);
    let document = ran.document();
    assert_eq!(document["result"], "generated", "{document:#}\n{}", ran.err);
    let found = document["produced"]["findings"].to_string();
    for wrong in ["`get_factors(100)` gives", "`get_factors(101)` gives"] {
        assert!(found.contains(wrong), "{found}");
    }
    assert!(found.contains("; held back, as they run it: "), "{found}");
    let branch = "regreen/WFS-test-shop-factors-py";
    let tests = repo.git(&["show", &format!("{branch}:tests/test_factors.py")]);
    for right in ["get_factors(1), []", "Basket(3).total(), 3", "'below one'"] {
        assert!(tests.contains(right), "{right} in {tests}");
    }
    let [calls, refused] = ["get_factors(", "assertRaises("].map(|one| tests.matches(one).count());
    assert_eq!(calls, refused + 1, "nothing else of it is held: {tests}");
    assert_eq!(repo.git(&["diff", "--stat", "main", branch, "--", "shop"]), "");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    repo.git(&["merge", "-q", branch]);
    let passes = repo.shell("python3 -m unittest discover -s tests").output().unwrap();
    assert!(passes.status.success(), "{}", String::from_utf8_lossy(&passes.stderr));
}

#[test]
fn a_red_suite_is_repaired_behind_the_new_tests_and_a_bug_is_never_pinned() {
    let red = (
        "tests/test_clamp.py",
        r"import unittest

from shop.clamp import clamp


class T(unittest.TestCase):
    def test_high(self):
        self.assertEqual(clamp(9, 2, 5), 5)

    def test_low(self):
        self.assertEqual(clamp(1, 2, 5), 2)
",
    );
    let source = (
        "shop/clamp.py",
        r"def clamp(value: int, low: int, high: int) -> int:
    if value < low:
        return low
    if value > high:
        return low
    return value


def sign(value: int) -> int:
    if value < 0:
        return -1
    return 1
",
    );
    let repo = TestRepo::new(&[SHOP, &[red, source]].concat());
    let ran = repo.regreen(&["test", "shop/clamp.py", "--no-coverage", "--json"]);
    let document = ran.document();
    assert_eq!(document["result"], "generated", "{document:#}\n{}", ran.err);
    let branch = "regreen/WFS-test-shop-clamp-py";
    let tests = repo.git(&["show", &format!("{branch}:tests/test_clamp_more.py")]);
    assert!(tests.contains("sign(") && !tests.contains(" clamp("), "{tests}");
    let fixed = repo.git(&["show", &format!("{branch}:shop/clamp.py")]);
    assert!(fixed.contains("if value > high:\n        return high"), "{fixed}");
    let todo = std::fs::read_to_string(folder(&document).join("TODO_LIST.md")).unwrap();
    assert!(todo.contains("Iteration 1") && todo.contains("**IMPL-001**"), "{todo}");
    complete(&folder(&document));
}

#[test]
fn killed_at_any_point_the_same_tests_are_on_the_branch() {
    let arguments = ["test", "discount", "--no-coverage", "--quiet"];
    let branch = "regreen/WFS-test-discount";
    let story = |repo: &TestRepo| {
        let range = format!("main..{branch}");
        let subjects = repo.git(&["log", "--format=%s", &range]);
        (repo.git(&["rev-parse", &format!("{branch}^{{tree}}")]), subjects)
    };
    let reference = TestRepo::new(SHOP);
    let ran = reference.regreen(&arguments);
    assert_eq!(ran.code, Some(0), "{} {}", ran.out, ran.err);
    let expected = story(&reference);
    let mut visited = 0;
    for point in (30..600_u32).step_by(sample_step(41, 97)) {
        let repo = TestRepo::new(SHOP);
        let killed = repo
            .command()
            .args(arguments)
            .env("REGREEN_CRASH_AT", point.to_string())
            .output()
            .unwrap();
        if killed.status.signal() != Some(9) {
            assert!(killed.status.success(), "{}", String::from_utf8_lossy(&killed.stderr));
            break;
        }
        visited += 1;
        // The session keeps that nobody wants coverage.
        let resumed = repo.regreen(&["test", "--resume", "--quiet"]);
        // Killed after its last output, the session is archived and cannot be resumed.
        assert!(matches!(resumed.code, Some(0 | 2)), "point {point}: {}", resumed.err);
        assert_eq!(story(&repo), expected, "point {point}: {}", resumed.err);
        assert_closed(&repo, "WFS-test-discount");
    }
    assert!(visited > sample_step(2, 1), "a session has many points, {visited} were visited");
}

/// The session is archived with its pipeline at its end, and its transitions replay.
fn assert_closed(repo: &TestRepo, id: &str) {
    let archive = repo.root().join(".git/regreen/archives").join(id);
    let pipeline = json(&archive, ".process/test-fix-state.json");
    assert_eq!(pipeline["next"]["verdict"]["verdict"], "generated", "{pipeline:#}");
    assert_eq!(json(&archive, "workflow-session.json")["status"], "completed");
    let replayed = repo.regreen(&["session", "replay", id, "--json"]);
    assert_eq!(replayed.code, Some(0), "{} {}", replayed.out, replayed.err);
    let transitions =
        std::fs::read_to_string(archive.join(".process/test-fix-outcomes.jsonl")).unwrap();
    assert!(transitions.lines().last().unwrap().contains("executed"), "{transitions}");
    let events = std::fs::read_to_string(archive.join(".process/events.jsonl")).unwrap();
    // A run that only closes the session adds events of its own behind these.
    let known = usize::try_from(pipeline["events"].as_u64().unwrap()).unwrap();
    assert!((5..=events.lines().count()).contains(&known), "no event of the fix loop is lost");
}

#[test]
fn killed_between_the_end_of_its_pipeline_and_its_own_a_session_is_closed_by_the_next_run() {
    let (id, repo) = ("WFS-test-discount", TestRepo::new(SHOP));
    let arguments = ["test", "discount", "--no-coverage", "--quiet"];
    assert_eq!(repo.regreen(&arguments).code, Some(0));
    assert_closed(&repo, id);
    // What a kill in between leaves: a session at work, and its fix loop and pipeline at their end.
    let sessions = repo.root().join(".git/regreen");
    let (archive, active) = (sessions.join("archives").join(id), sessions.join("active").join(id));
    std::fs::rename(archive, &active).unwrap();
    let mut record = json(&active, "workflow-session.json");
    (record["status"], record["result"]) = ("active".into(), Value::Null);
    std::fs::write(active.join("workflow-session.json"), record.to_string()).unwrap();
    let branch = repo.git(&["rev-parse", "regreen/WFS-test-discount"]);
    let resumed = repo.regreen(&["test", "--resume", "--no-coverage", "--quiet"]);
    assert_eq!(resumed.code, Some(0), "{} {}", resumed.out, resumed.err);
    assert_closed(&repo, id);
    assert_eq!(repo.git(&["rev-parse", "regreen/WFS-test-discount"]), branch);
}

#[test]
fn a_bundle_holds_the_new_tests() {
    let repo = TestRepo::new(SHOP);
    let bundle = repo.around().join("bundle");
    let place = bundle.display().to_string();
    let ran = repo.regreen(&["test", "discount", "--no-coverage", "--json", "--bundle", &place]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let list: Value =
        serde_json::from_str(&std::fs::read_to_string(bundle.join("bundle.json")).unwrap())
            .unwrap();
    let files: Vec<&str> =
        list["files"].as_array().unwrap().iter().map(|one| one["file"].as_str().unwrap()).collect();
    assert!(files.contains(&"tests/test_price.py"), "{files:?}");
    assert!(bundle.join("commits.pack").is_file() && bundle.join("events.jsonl").is_file());
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs node; a_file_of_python_without_tests_gets_tests_that_hold_and_notice always runs"]
fn a_file_of_javascript_without_tests_gets_tests_too() {
    let repo = TestRepo::new(&[
        (
            "package.json",
            "{\"name\": \"x\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node --test\"}}",
        ),
        (
            "lib/text.js",
            r"function cut(text, size = 5) {
  if (size < 0) throw new RangeError(`below 0: ${size}`);
  return text.length > size ? text.slice(0, size) + '...' : text;
}

function shout(text) {
  if (text === '') return '!';
  return text.toUpperCase() + '!';
}

module.exports = { cut, shout };
",
        ),
        (
            "test/nothing.test.js",
            r"const test = require('node:test');
const assert = require('node:assert');
test('nothing', () => assert.equal(1 + 1, 2));
",
        ),
    ]);
    let ran = repo.regreen(&["test", "lib/text.js", "--no-coverage", "--json"]);
    let document = ran.document();
    assert_eq!(document["result"], "generated", "{document:#}\n{}", ran.err);
    assert!(document["produced"]["tests"].as_u64().unwrap() >= 2, "{document:#}");
    complete(&folder(&document));
    repo.git(&["merge", "-q", "regreen/WFS-test-lib-text-js"]);
    assert!(repo.root().join("test/text.test.js").is_file());
    assert!(repo.shell("node --test").output().unwrap().status.success());
}

/// No test can distinguish `>=` from `>` here, so one mutant always survives.
const EVEN: &[(&str, &str)] = &[
    (
        "shop/limit.py",
        "def limited(count: int) -> int:\n    if count >= 10:\n        return 10\n    return count\n",
    ),
    (".github/regreen.yml", "gate:\n  min-mutation-score: 100\n"),
    ("tests/__init__.py", ""),
    (".gitignore", "__pycache__/\n"),
];

#[test]
fn a_mutation_score_that_is_missed_is_a_result_and_the_suite_runs() {
    let repo = TestRepo::new(EVEN);
    let ran = repo.regreen(&["test", "shop/limit.py", "--no-coverage", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert_eq!(document["result"], "generated", "{document:#}");
    let tasks = document["tasks"].as_array().unwrap();
    let status: Vec<&str> = tasks.iter().map(|task| task["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["completed"; 4]);
    let produced = &document["produced"];
    assert_eq!(produced["review"], "PASS: within the limits");
    let shortfall = produced["shortfall"].as_str().unwrap();
    assert!(shortfall.starts_with("mutation score ") && shortfall.contains("of 100 %"));
    assert_eq!(produced["gates-met"], true);
    let branch = "regreen/WFS-test-shop-limit-py";
    let kept = repo.git(&["diff", "--name-only", &format!("main..{branch}"), "--", "tests"]);
    assert_eq!(kept, "tests/test_limit.py");
}

#[test]
fn where_no_test_is_missing_the_suite_is_repaired_all_the_same() {
    let tests = "import unittest\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(shop.price(1), 2)\n        self.assertEqual(shop.price(5), 6)\n";
    for (source, initial) in [("x - 1", 1), ("x + 1", 0)] {
        let source = format!("def price(x):\n    return {source}\n");
        let repo = TestRepo::new(&[("shop.py", &source), ("test_shop.py", tests)]);
        let ran = repo.regreen(&["test", "shop.py"]);
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
        assert!(ran.out.contains("no tests written, 100.0 % pass"), "{}", ran.out);
        assert!(
            ran.out.contains("no test is missing here, and the suite meets its gate"),
            "{}",
            ran.out
        );
        let fixed = ran.out.contains("+    return x + 1");
        assert_eq!(fixed, initial == 1, "{}", ran.out);
    }
}

#[test]
fn a_session_that_writes_no_test_meets_no_gate_and_blames_no_quality() {
    let source = "import time\n\n\ndef now():\n    return time.time_ns()\n";
    let tests =
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n";
    let repo = TestRepo::new(&[("moment.py", source), ("test_other.py", tests)]);
    let ran = repo.regreen(&["test", "moment.py", "--no-coverage"]);
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    assert!(!ran.out.contains("HARD_FAIL"), "{}", ran.out);
    assert!(
        ran.out.contains("the plan is carried out: no test was written (reads the clock)"),
        "{}",
        ran.out
    );
}

#[test]
fn without_any_test_the_obstacle_is_named() {
    let shop = "import a_module_that_is_not_there\n\n\ndef tax(price: int) -> int:\n    return price // 5\n";
    let repo = TestRepo::new(&[("shop.py", shop), ("pytest.ini", "[pytest]\n")]);
    let ran = repo.regreen(&["test", "shop.py"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    for said in [
        "there are no tests, and none could be written: its module cannot be imported",
        "No module named 'a_module_that_is_not_there'",
        "install what the code imports",
    ] {
        assert!(ran.err.contains(said), "{said} in {}", ran.err);
    }
}

#[test]
fn without_any_test_contradictions_of_the_documentation_are_the_ending() {
    let table = [
        (
            "def divisor(a, b):\n    \"\"\"Greatest common divisor.\n\n    >>> divisor(35, 21)\n    7\n    \"\"\"\n    if b == 0:\n        return a\n    return divisor(a % b, b)\n",
            "shop.py:1 divisor: `divisor(35, 21)` uses too much memory or stack, but its documentation or the request says that it gives `7`",
        ),
        (
            "def ones(n):\n    \"\"\"Counts bits.\n\n    >>> ones(127)\n    7\n    \"\"\"\n    count = 0\n    while n:\n        n ^= n - 1\n        count += 1\n    return count\n",
            "shop.py:1 ones: `ones(127)` takes longer than 1 s, but",
        ),
        (
            "def flat(rows):\n    \"\"\"Items.\n\n    >>> list(flat([[1], 2]))\n    [1, 2]\n    \"\"\"\n    for row in rows:\n        yield flat(row) if isinstance(row, list) else row\n",
            "shop.py:1 flat: `flat([[1], 2])` gives a result that contains a generator, but",
        ),
    ];
    for (source, finding) in table {
        let repo = TestRepo::new(&[("shop.py", source), ("pytest.ini", "[pytest]\n")]);
        let ran = repo.regreen(&["test", "shop.py"]);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        let heading =
            "error: no test was written, because the code contradicts what is said of it:";
        assert!(ran.err.contains(heading) && ran.err.contains(finding), "{}", ran.err);
        assert!(ran.err.contains(" hint: repair the code or its documentation"), "{}", ran.err);
        assert_eq!(repo.git(&["branch", "--list", "regreen/*"]), "");
    }
}

/// A page of documentation whose third example does not hold, and functions that it uses.
const PAGE: &[(&str, &str)] = &[
    (
        "shop.py",
        "def total(price, count):\n    if count > 9:\n        return price * count - 5\n    return price * count\n\n\ndef change(paid, price):\n    if paid < price:\n        return 0\n    return paid - price\n",
    ),
    (
        "docs/usage.rst",
        "Prices::\n\n    >>> from shop import change, total\n    >>> total(3, 2)\n    6\n    >>> paid = change(9, 4)\n    >>> paid\n    4\n",
    ),
];

#[test]
#[ignore = "needs pytest"]
fn of_a_page_only_what_its_failing_example_runs_has_no_test_and_a_person_decides() {
    let repo = TestRepo::new(PAGE);
    let command = ["--test-command", "python3 -m pytest --doctest-glob=*.rst"];
    let ran = repo.regreen(&[&["test", "shop.py"], &command[..]].concat());
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    let branch = "regreen/WFS-test-shop-py";
    let tests = repo.git(&["show", &format!("{branch}:test_shop.py")]);
    assert!(tests.contains("total(") && !tests.contains("change("), "{tests}");
    let decides = "Documentation and code contradict, so a person must decide";
    assert!(ran.out.contains(decides), "{}", ran.out);
    assert!(!ran.err.contains("candidates"), "nothing is searched: {}", ran.err);
}

/// A test that ends before it reaches any code of the project.
const WITHOUT_METADATA: (&str, &str) = (
    "tests/test_version.py",
    "import unittest\nfrom importlib.metadata import version\n\n\nclass VersionTest(unittest.TestCase):\n    def test_version(self):\n        self.assertEqual(version('of-the-shop'), '1')\n",
);

/// A test by which tracing can be seen to work.
const TRACED: (&str, &str) = (
    "tests/test_rates.py",
    "import unittest\nfrom shop.rates import double\n\n\nclass RatesTest(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n",
);

#[test]
fn a_failing_test_that_reaches_no_code_holds_no_test_back_and_the_advice_works() {
    let files = [SHOP, &[IMPURE, WITHOUT_METADATA, TRACED]].concat();
    let repo = TestRepo::new(&files);
    let ran = repo.regreen(&["test", "shop/price.py", "--no-coverage"]);
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    let mut end = ran.out.lines().skip_while(|line| !line.contains("written in"));
    let (tests, suite) = (end.next().unwrap(), end.next().unwrap());
    let place = "tests written in `tests/test_price.py`, code check and test review passed";
    assert!(tests.contains(place), "{}", ran.out);
    assert!(suite.starts_with("Cannot be fixed honestly: "), "{}", ran.out);
    assert!(ran.out.contains("| git apply"), "the tests can be taken: {}", ran.out);
    let advice = "regreen test --resume WFS-test-shop-price-py --max-iterations 20";
    assert!(ran.out.contains(&format!("`{advice}` continues")), "{}", ran.out);
    assert!(!ran.out.contains("regreen fix --resume"), "{}", ran.out);
    let words: Vec<&str> = advice.split(' ').skip(1).collect();
    let resumed = repo.regreen(&words);
    assert_eq!(resumed.code, Some(1), "{}\n{}", resumed.out, resumed.err);
}

#[test]
fn after_a_broken_environment_the_same_command_begins_anew() {
    let repo = TestRepo::new(&[SHOP, &[IMPURE, TRACED]].concat());
    let broken = repo.around().join("broken");
    let script = "mkdir ../broken && printf '#!/bin/sh\\nexit 127\\n' > ../broken/python3 && chmod +x ../broken/python3";
    assert!(repo.shell(script).status().unwrap().success());
    let path = format!("{}:{}", broken.display(), std::env::var("PATH").unwrap());
    let mut command = repo.command();
    let failed = command.env("PATH", path).args(["test", "shop/price.py"]).output().unwrap();
    assert_eq!(failed.status.code(), Some(3), "{}", String::from_utf8_lossy(&failed.stderr));
    let package = ".git/regreen/active/WFS-test-shop-price-py/.process/context-package.json";
    let package = std::fs::read_to_string(repo.root().join(package)).unwrap();
    assert!(package.contains("the suite cannot run here"), "{package}");
    let ran = repo.regreen(&["test", "shop/price.py", "--no-coverage", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert!(!ran.err.contains("resuming session"), "{}", ran.err);
    assert_eq!(document["session"], "WFS-test-shop-price-py");
}
