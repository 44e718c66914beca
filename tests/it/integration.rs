//! `regreen integration` end to end without a model: explores, designs, writes tests that cross
//! boundaries, runs them, and leaves a log.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::support::{TestRepo, sample_step};

/// Three files that call each other, and tests of one of them alone.
pub const SHOP: &[(&str, &str)] = &[
    ("shop/__init__.py", ""),
    (
        "shop/tax.py",
        r#"RATES = {"DE": 19, "FR": 20}


class UnknownCountry(ValueError):
    pass


def rate_of(country: str) -> int:
    if country not in RATES:
        raise UnknownCountry(country)
    return RATES[country]


def add_tax(cents: int, country: str) -> int:
    return cents + round(cents * rate_of(country) / 100)
"#,
    ),
    (
        "shop/quote.py",
        "from shop.tax import add_tax


def quote(prices: list, country: str) -> int:
    return add_tax(sum(prices), country)


def count(prices: list) -> int:
    return len(prices)
",
    ),
    (
        "shop/receipt.py",
        r#"from . import quote


def receipt(prices: list, country: str) -> str:
    return f"{quote.count(prices)} for {quote.quote(prices, country)}"
"#,
    ),
    ("shop/alone.py", "def double(number: int) -> int:\n    return number * 2\n"),
    ("tests/__init__.py", ""),
    (
        "tests/test_tax.py",
        r#"from shop.tax import add_tax, rate_of


def test_rate():
    assert rate_of("DE") == 19


def test_add_tax():
    assert add_tax(1000, "FR") == 1200
"#,
    ),
    (".gitignore", "__pycache__/\n"),
];

/// The only session folder below a place of the state root, and its name.
pub fn session_in(repo: &TestRepo, place: &str) -> (PathBuf, String) {
    let folder = repo.root().join(".git/regreen").join(place);
    let mut names: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let path = names.pop().unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    (path, name)
}

pub fn state_of(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("state.json")).unwrap()).unwrap()
}

#[test]
fn what_failed_before_does_not_count_against_the_new_tests() {
    let mut files = SHOP.to_vec();
    files.push(("tests/test_red.py", "def test_red():\n    assert 1 + 1 == 3\n"));
    let repo = TestRepo::new(&files);
    let ran = repo.regreen(&["integration", "shop/quote.py"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let (folder, id) = session_in(&repo, "archives");
    assert_eq!(state_of(&folder)["summary"]["result"], "success");
    let changed = repo.git(&["diff", "--name-only", &format!("main...regreen/{id}")]);
    assert_eq!(
        changed.lines().collect::<Vec<_>>(),
        ["tests/test_quote_tax.py", "tests/test_receipt_quote.py"],
    );
    let log = fs::read_to_string(folder.join("reflection-log.md")).unwrap();
    assert!(log.contains("1 test fails already"), "{log}");
    assert!(log.contains("- In reality: they do; 1 test failed before\n"), "{log}");
    assert!(ran.out.contains("1 that fails on the base too"), "{}", ran.out);
    assert!(ran.out.contains("after 0 iterations, besides what failed before\n"), "{}", ran.out);
}

/// What `regreen integration FROM` and what follows it say where no test crosses the only boundary, because it makes no
/// difference what the callee gives.
fn refuse_idle(files: &[(&str, &str)], from: &str, to: &str) {
    let repo = TestRepo::new(files);
    let ran = repo.regreen(&["integration", from]);
    let reason = format!("not tested  {from} → {to}: what {to} gives makes no difference");
    assert!(ran.out.contains(&reason), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("result      failure: no new test ran"), "{}", ran.out);
    let status = repo.regreen(&["status"]).out;
    assert!(status.contains("  next: -  "), "{status}");
    let report = repo.regreen(&["report"]);
    assert!(report.out.contains("**Result: NEEDS ATTENTION**"), "{}{}", report.out, report.err);
}

#[test]
fn a_call_that_makes_no_difference_to_a_test_is_not_what_it_crosses() {
    let files = [
        ("shop/__init__.py", ""),
        ("shop/audit.py", "def note(text):\n    return len(text)\n"),
        (
            "shop/price.py",
            "from shop.audit import note\n\n\ndef price(count):\n    note('priced')\n    return count * 3\n",
        ),
        (
            "tests/test_audit.py",
            "from shop.audit import note\n\n\ndef test_note():\n    assert note('ab') == 2\n",
        ),
    ];
    refuse_idle(&files, "shop/price.py", "shop/audit.py");
}

#[test]
fn where_only_errors_depend_on_the_call_it_is_said() {
    let repo = TestRepo::new(&[
        ("shop/__init__.py", ""),
        (
            "shop/audit.py",
            "def check(country):\n    if country not in ('DE', 'FR'):\n        raise ValueError('unknown country')\n",
        ),
        (
            "shop/price.py",
            "from shop.audit import check\n\n\ndef price(country):\n    check(country)\n    return 3\n",
        ),
        (
            "tests/test_audit.py",
            "from shop.audit import check\n\n\ndef test_check():\n    assert check('DE') is None\n",
        ),
    ]);
    let ran = repo.regreen(&["integration", "shop/price.py"]);
    let said = "not tested  shop/price.py → shop/audit.py: a call that succeeds: none was found that depends on shop/audit.py";
    assert!(ran.out.contains(said), "{}{}", ran.out, ran.err);
    let id = session_in(&repo, "archives").1;
    let text = repo.git(&["show", &format!("regreen/{id}:tests/test_price_audit.py")]);
    assert!(text.contains("pytest.raises(ValueError") && !text.contains("== 3"), "{text}");
}

#[test]
fn an_error_before_the_call_does_not_cross_a_boundary_of_a_script() {
    let files = [
        ("package.json", "{\"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}\n"),
        ("src/audit.js", "export function note(text) {\n  return text.length;\n}\n"),
        (
            "src/price.js",
            "import { note } from './audit.js';\n\nexport function price(count) {\n  if (!(count > 0)) throw new RangeError('no count');\n  note('priced');\n  return count * 3;\n}\n",
        ),
        (
            "test/audit.test.js",
            "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { note } from '../src/audit.js';\n\ntest('note', () => assert.strictEqual(note('ab'), 2));\n",
        ),
    ];
    refuse_idle(&files, "src/price.js", "src/audit.js");
}

#[test]
fn tests_cross_each_boundary_and_the_log_says_what_was_learned() {
    let repo = TestRepo::new(SHOP);
    let before = repo.belongings();
    let ran = repo.regreen(&["integration", "shop/quote.py"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert_eq!(repo.belongings(), before, "the user's files changed");
    let (folder, id) = session_in(&repo, "archives");
    let branch = format!("regreen/{id}");
    let log = repo.git(&["log", "--reverse", "--format=%s", &format!("main..{branch}")]);
    let subjects: Vec<&str> = log.lines().collect();
    assert_eq!(
        subjects.first().copied(),
        Some("test(integration): generate integration tests for shop/quote.py")
    );
    let changed = repo.git(&["diff", "--name-only", &format!("main...{branch}")]);
    assert_eq!(
        changed.lines().collect::<Vec<_>>(),
        ["tests/test_quote_tax.py", "tests/test_receipt_quote.py"],
        "nothing but the tests is offered"
    );
    let text = repo.git(&["show", &format!("{branch}:tests/test_quote_tax.py")]);
    assert!(text.contains("def test_should_return_"), "{text}");
    assert!(text.contains("def test_should_raise_unknown_country_when_quote_gets_"), "{text}");
    assert!(!text.contains("count("), "a test that runs one side only is kept: {text}");
    let state = state_of(&folder);
    assert_eq!(state["phase"], "completed");
    assert_eq!(state["summary"]["result"], "success");
    assert_eq!(state["summary"]["final_pass_rate"], 100.0);
    assert_eq!(state["summary"]["test_metrics"]["integration_points_covered"], 2);
    let points = state["exploration"]["integration_points"].as_array().unwrap();
    let mut names: Vec<String> = points
        .iter()
        .map(|one| format!("{} {} {}", one["from"], one["to"], one["crossed_by"]))
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["\"shop/quote.py\" \"shop/tax.py\" []", "\"shop/receipt.py\" \"shop/quote.py\" []"]
    );
    let mut top: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    top.sort();
    assert_eq!(top, [".trace", "reflection-log.md", "state.json"], "three artefacts");
    let log = fs::read_to_string(folder.join("reflection-log.md")).unwrap();
    for heading in ["## Phase 2: Exploration", "### Iteration 0", "**Result: SUCCESS**"] {
        assert!(log.contains(heading), "{log}");
    }
    assert!(!log.contains("_Filled when"), "{log}");
}

#[test]
fn a_dry_run_shows_the_design_and_leaves_nothing() {
    let repo = TestRepo::new(SHOP);
    let ran = repo.regreen(&["integration", "--dry-run", "the quote module"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("IS-001") && ran.out.contains("## Phase 3: Design"), "{}", ran.out);
    assert_eq!(repo.git(&["branch", "--list", "regreen/*"]), "");
    let left = fs::read_dir(repo.root().join(".git/regreen/.integration-test"));
    assert_eq!(left.map_or(0, Iterator::count), 0);
}

#[test]
fn a_module_that_cannot_be_explored_is_an_error_with_what_to_do() {
    let repo = TestRepo::new(SHOP);
    let broken = ("shop/broken.py", "from shop import tax\n\ndef f(:\n    return tax.rate_of(1)\n");
    repo.write(&[broken]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-qm", "Break a file"]);
    let table = [
        ("shop/quota.py", "no module of this repository is called \"shop/quota.py\"", "quote"),
        (
            "shop/alone.py",
            "no call between shop/alone.py and another file is found",
            "regreen test",
        ),
        ("shop/broken.py", "shop/broken.py:3: the source does not parse", "correct it"),
    ];
    for (module, reason, hint) in table {
        let ran = repo.regreen(&["integration", module]);
        assert_eq!(ran.code, Some(2), "{module}: {}", ran.err);
        assert!(ran.err.contains(reason) && ran.err.contains(hint), "{module}: {}", ran.err);
        assert_eq!(repo.git(&["branch", "--list", "regreen/*"]), "", "{module}");
    }
}

#[test]
fn a_suite_that_cannot_run_ends_a_session_before_it_writes() {
    let repo = TestRepo::new(SHOP);
    repo.write(&[("pytest.ini", "[pytest]\naddopts = --no-such-option\n")]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-qm", "Misspell an option"]);
    let ran = repo.regreen(&["integration", "shop/quote.py"]);
    assert_ne!(ran.code, Some(0), "{}", ran.out);
    assert!(ran.err.contains("--no-such-option") && !ran.err.contains("phase 3"), "{}", ran.err);
    let designed = repo.regreen(&["integration", "--dry-run", "shop/quote.py"]);
    assert!(designed.out.contains("IS-001"), "{}{}", designed.out, designed.err);
}

#[test]
fn a_design_that_waits_is_carried_out_when_it_is_confirmed() {
    let repo = TestRepo::new(SHOP);
    let waits = ["integration", "shop/quote.py", "--set", "plan.confirm=always"];
    let ran = repo.regreen(&waits);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let (folder, id) = session_in(&repo, ".integration-test");
    assert_eq!(state_of(&folder)["phase"], "designed");
    assert!(
        ran.out.contains(&format!("`regreen integration --continue {id} --yes`")),
        "{}",
        ran.out
    );
    let status = repo.regreen(&["status"]);
    assert!(status.out.contains(&id), "{}", status.out);
    let refused = repo.regreen(&["fix", "--resume", &id]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("regreen integration --continue"), "{}", refused.err);
    // The same request finds its session again, and still waits.
    let again = repo.regreen(&waits);
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    assert_eq!(session_in(&repo, ".integration-test").1, id);
    let done = repo.regreen(&["integration", "--continue", &id, "--yes"]);
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let (folder, archived) = session_in(&repo, "archives");
    assert_eq!((archived, &state_of(&folder)["phase"]), (id, &Value::from("completed")));
}

/// What must be the same however often a session was killed.
fn story(repo: &TestRepo) -> String {
    let (folder, id) = session_in(repo, "archives");
    let branch = format!("regreen/{id}");
    let tree = repo.git(&["rev-parse", &format!("{branch}^{{tree}}")]);
    let log = repo.git(&["log", "--format=%s", &format!("main..{branch}")]);
    let state = state_of(&folder);
    format!("{tree}\n{log}\n{}\n{}", state["phase"], state["summary"]["test_metrics"])
}

/// Upper limit of the crash points; the test counts up until a session ends before the point.
const MOST: u32 = 400;

#[test]
fn killed_at_any_point_a_session_continues_to_the_same_end() {
    let module = ["integration", "shop/quote.py", "--jobs", "1"];
    let reference = TestRepo::new(SHOP);
    assert_eq!(reference.regreen(&module).code, Some(0));
    let expected = story(&reference);
    let step = sample_step(3, 23);
    for point in (1..MOST).step_by(step) {
        let repo = TestRepo::new(SHOP);
        let killed =
            repo.command().args(module).env("REGREEN_CRASH_AT", point.to_string()).output();
        if killed.unwrap().status.signal().is_none() {
            assert!(point > 60, "only {point} points were visited");
            return;
        }
        let resumed = repo.regreen(&["integration", "--continue", "--jobs", "1"]);
        if resumed.code != Some(0) && !repo.root().join(".git/regreen/archives").is_dir() {
            // Before the record is written there is nothing to continue.
            let fresh = repo.regreen(&module);
            assert_eq!(fresh.code, Some(0), "{point}: {}\n{}", resumed.err, fresh.err);
        }
        assert_eq!(story(&repo), expected, "killed at {point}: {}", resumed.err);
    }
    panic!("no session ended before point {MOST}");
}
