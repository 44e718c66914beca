//! What an integration session does where a new test shows that code contradicts its documentation: the
//! fix loop repairs the code, or the test is taken out, and the log tells which.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::integration::{SHOP, session_in, state_of};
use super::support::fake_model::{FakeModel, Reply, analysis_of, edit, test_file};
use super::support::{Ran, TestRepo, sample_step};

/// A function whose documentation says what its caller gets.
pub fn quote(documented: &str) -> String {
    format!(
        r#"from shop.tax import add_tax


def quote(prices: list, country: str) -> int:
    """The price with tax.

    >>> quote([600, 400], "DE")
    {documented}
    """
    return add_tax(sum(prices), country)


def count(prices: list) -> int:
    return len(prices)
"#
    )
}

/// Tests of one function alone, which pass.
const RATES: &str = r#"from shop.tax import rate_of


def test_rate():
    assert rate_of("DE") == 19


def test_other_rate():
    assert rate_of("FR") == 20
"#;

/// The shop, with this documented result and this way to add the tax.
fn shop(documented: &str, sign: &str) -> TestRepo {
    let repo = TestRepo::new(SHOP);
    let tax = SHOP.iter().find(|(path, _)| *path == "shop/tax.py").unwrap().1;
    let tax = tax.replace("cents + round", &format!("cents {sign} round"));
    repo.write(&[
        ("shop/quote.py", &quote(documented)),
        ("shop/tax.py", &tax),
        ("tests/test_tax.py", RATES),
    ]);
    repo.git(&["commit", "-qam", "Document the quote"]);
    repo
}

const DOCUMENTED: &str = "tests/test_quote_tax_documented.py";

/// Decides a session again from its files.
fn assert_nothing_differs(repo: &TestRepo, id: &str) {
    let replayed = repo.regreen(&["session", "replay", id]);
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.contains("nothing would differ"), "{}", replayed.out);
}

fn log_of(folder: &std::path::Path) -> String {
    fs::read_to_string(folder.join("reflection-log.md")).unwrap()
}

#[test]
fn a_test_that_documentation_gives_and_the_code_fails_repairs_the_code() {
    let repo = shop("1190", "-");
    let ran = repo.regreen(&["integration", "shop/quote.py"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let (folder, id) = session_in(&repo, "archives");
    let branch = format!("regreen/{id}");
    let changed = repo.git(&["diff", "--name-only", &format!("main...{branch}")]);
    assert_eq!(changed, format!("shop/tax.py\n{DOCUMENTED}"), "what held wrong code is dropped");
    let patch = repo.git(&["diff", &format!("main...{branch}"), "--", "shop"]);
    assert!(patch.contains("+    return cents + round("), "{patch}");
    let subjects = repo.git(&["log", "--format=%s", &format!("main..{branch}")]);
    let subject = "test(integration): iteration 1 - conservative (pass: 66.7% → 100.0%)";
    assert!(subjects.contains(subject), "{subjects}");
    assert!(ran.err.contains("proven to be needed"), "{}", ran.err);
    let log = log_of(&folder);
    for words in [
        "- Results: pass rate 66.7 %, 1 failing test",
        "gives `810`, but its documentation or the request says that it gives `1190`",
        "- In reality: 1 test that failed passes now, and no test fails that passed before",
        "- Learned: effective: `shop/tax.py:15`",
        "the code was repaired by iteration 1, and the test passes",
        "merge the repair and run the same request again",
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
    assert!(!log.contains("## The code contradicts"), "it does no longer: {log}");
    assert_nothing_differs(&repo, &id);
    let state = state_of(&folder);
    assert_eq!(state["test_inventory"]["findings"], serde_json::json!([]));
}

#[test]
fn a_documented_result_that_no_change_gives_is_taken_out_and_a_person_decides() {
    let repo = shop("123456789", "+");
    let ran = repo.regreen(&["integration", "shop/quote.py", "--max-iterations", "1"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let (folder, id) = session_in(&repo, ".integration-test");
    let branch = format!("regreen/{id}");
    assert_eq!(
        repo.git(&["diff", "--name-only", &format!("main...{branch}"), "--", "shop", "tests"]),
        ""
    );
    let subjects = repo.git(&["log", "--format=%s", &format!("main..{branch}")]);
    let subject = "test(integration): take out 1 test that the code contradicts";
    assert!(subjects.contains(subject), "{subjects}");
    let log = log_of(&folder);
    for words in [
        "- Failed tests: `tests/test_quote_tax_documented.py::",
        "the code or its documentation may be wrong (no change made the test pass in 1 iteration)",
        "- Decision: what becomes of 1 test of documented results",
        "**Result: NEEDS ATTENTION**",
        "decide 1 contradiction between code and documentation",
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
    assert!(log.contains("- Ineffective strategies: none"), "nothing was changed: {log}");
    assert_nothing_differs(&repo, &id);
    let shown = repo.regreen(&["session", "status", &id]);
    for words in ["2 boundaries, 0 crossed", "0 tests in 0 files", "1 iteration, 2 passed"] {
        assert!(shown.out.contains(words), "{words}: {}{}", shown.out, shown.err);
    }
    let listed = repo.regreen(&["status"]);
    assert!(listed.out.contains("2 boundaries") && listed.out.contains("finish"), "{}", listed.out);
}

/// What is on the branch of the only session, and its commits.
fn branch_story(repo: &TestRepo) -> (String, String) {
    let (_, id) = session_in(repo, ".integration-test");
    let branch = format!("regreen/{id}");
    let tree = repo.git(&["rev-parse", &format!("{branch}^{{tree}}:tests")]);
    (tree, repo.git(&["log", "--format=%s", &format!("main..{branch}")]))
}

#[test]
fn killed_at_any_point_a_session_takes_a_test_out_once() {
    let arguments = ["integration", "shop/quote.py", "--max-iterations", "1", "--jobs", "1"];
    let reference = shop("123456789", "+");
    assert_eq!(reference.regreen(&arguments).code, Some(1));
    let expected = branch_story(&reference);
    for point in (70..400).step_by(sample_step(7, 67)) {
        let repo = shop("123456789", "+");
        let killed =
            repo.command().args(arguments).env("REGREEN_CRASH_AT", point.to_string()).output();
        if killed.unwrap().status.signal().is_none() {
            assert!(point > 140, "only {point} points were visited");
            return;
        }
        let resumed = repo.regreen(&["integration", "--continue", "--jobs", "1"]);
        assert_eq!(branch_story(&repo), expected, "killed at {point}: {}", resumed.err);
    }
    panic!("no session ended before point 400");
}

/// An edit that breaks what passed before.
const WRONG: (&str, &str, &str) =
    ("shop/tax.py", "if country not in RATES:", "if country in RATES:");

const RIGHT: (&str, &str, &str) = (
    "shop/tax.py",
    "    return cents - round(cents * rate_of(country) / 100)\n",
    "    return cents + round(cents * rate_of(country) / 100)\n",
);

/// Repairs that were asked for.
static REPAIRS: AtomicUsize = AtomicUsize::new(0);

/// Tests that run one side only, so that the engine writes them; and repairs, the first of which comes twice.
fn answer_repairs(question: &str) -> Reply {
    if let Some((_, rest)) = question.split_once("Write `tests/") {
        let place = format!("tests/{}", rest.split('`').next().unwrap_or_default());
        let text = "from shop.quote import count\n\n\ndef test_should_count_when_there_are_prices():\n    assert count([1, 2]) == 2\n";
        return test_file(&place, text, &[]);
    }
    if question.contains("# Question design-1") {
        return Reply::Text("{}".into());
    }
    let test = format!("{DOCUMENTED}::test_should_return_1190_when_quote_gets_600_400_de");
    let at = |place: &str| analysis_of(&test, place, 0.9);
    let change = |(file, old, new): (&str, &str, &str)| edit(file, old, new);
    match REPAIRS.fetch_add(1, Ordering::SeqCst) {
        0 => at("shop/tax.py:rate_of:8-11"),
        2 => at("shop/tax.py:add_tax:14-15"),
        1 | 3 => change(WRONG),
        _ => change(RIGHT),
    }
}

#[test]
fn what_the_log_calls_ineffective_is_rolled_back_and_not_tried_again() {
    let repo = shop("1190", "-");
    let model = FakeModel::serve(vec![("one", vec![Reply::By(answer_repairs)])]);
    model.provide(&repo, "one");
    let mut command = repo.command();
    let ran: Ran = command
        .env("ONE_KEY", "sk-canary")
        .args(["integration", "shop/quote.py"])
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let (folder, id) = session_in(&repo, "archives");
    let log = log_of(&folder);
    let range = format!("main..regreen/{id}");
    let subjects = repo.git(&["log", "--format=%s", &range]);
    let rollback = "test(integration): rollback iteration 1 - regression detected";
    assert!(subjects.contains(rollback), "{subjects}");
    let tries =
        repo.git(&["log", "--format=%s", "-G", "if country in RATES", &range, "--", "shop"]);
    assert_eq!(tries.lines().count(), 2, "tried once and rolled back once: {tries}");
    assert!(ran.err.contains("surgical"), "{}", ran.err);
    let ineffective = format!("ineffective, and not tried again: `{}` was wrong", WRONG.1);
    for words in
        [ineffective.trim(), "## Cumulative learnings", "tests broke, and the change was undone"]
    {
        assert!(log.contains(words), "{words}: {log}\n{}", ran.err);
    }
    let asked: Vec<String> =
        model.asked().iter().map(|one| one.body["messages"].to_string()).collect();
    let refused = "this very change was tried before and did not help";
    assert!(asked.last().unwrap().contains(refused), "{asked:#?}");
    let repairs = REPAIRS.load(Ordering::SeqCst);
    assert_eq!(repairs, 5, "the same change came again and was refused: {}", ran.err);
    assert_nothing_differs(&repo, &id);
}
