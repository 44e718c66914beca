//! What one session leaves for the next one, in a clone: what it decides, and what it never decides.

use super::support::TestRepo;

/// Two functions; each loses a sign to the same kind of mistake in its turn.
const SHOP: &str = "def total(price, fee, tax):
    base = price * 100 + 7
    return base + fee * 3 + tax * 2


def rest(paid, price, change):
    base = paid * 100 + 9
    return base - price * 4 - change * 5
";

const TESTS: &str = "import unittest
from shop import rest, total


class T(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(2, 3, 4), 224)
        self.assertEqual(total(1, 0, 5), 117)

    def test_rest(self):
        self.assertEqual(rest(2, 3, 4), 177)
        self.assertEqual(rest(1, 5, 1), 84)
";

/// The reference that holds the memory.
const REFERENCE: &str = "refs/regreen/memory";

fn shop() -> TestRepo {
    TestRepo::new(&[("shop.py", &SHOP.replace("+ fee", "- fee")), ("test_shop.py", TESTS)])
}

/// Merges the fix of a session and makes the second mistake.
fn second_mistake(repo: &TestRepo) {
    repo.git(&["merge", "-q", "--ff-only", "regreen/WFS-test-main"]);
    repo.write(&[("shop.py", &SHOP.replace("- price", "+ price"))]);
    repo.git(&["commit", "-q", "-am", "second"]);
}

fn memory(repo: &TestRepo) -> serde_json::Value {
    let shown = repo.regreen(&["memory", "show", "--json"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    shown.document()
}

#[test]
fn what_helped_in_one_session_is_tried_first_in_the_next() {
    let repo = shop();
    let first = repo.regreen(&["fix", "--json", "--jobs", "1"]);
    assert_eq!(first.document()["result"], "success", "{}", first.err);
    assert!(!first.err.contains("earlier sessions"), "{}", first.err);
    let known = memory(&repo);
    assert_eq!(known["fixes"][0]["operators"], serde_json::json!(["arithmetic"]), "{known}");
    assert_eq!(known["fixes"][0]["files"], serde_json::json!(["shop.py"]));
    assert_eq!(known["fixes"][0]["result"], "improved");
    second_mistake(&repo);

    let alone = repo.regreen(&["fix", "--json", "--jobs", "1", "--set", "memory=false"]);
    let led = repo.regreen(&["fix", "--json", "--jobs", "1"]);
    let tried = |ran: &super::support::Ran| {
        let document = ran.document();
        assert_eq!(document["result"], "success", "{}", ran.err);
        document["iterations"][0]["candidates"].as_u64().unwrap()
    };
    assert!(tried(&led) < tried(&alone), "{} against {}", tried(&led), tried(&alone));
    assert!(!alone.err.contains("earlier sessions"), "{}", alone.err);
    let line = "From earlier sessions: a search tries edits of the kinds that were kept first (`arithmetic`)";
    assert!(led.err.contains(line), "{}", led.err);
    let report = repo.regreen(&["report"]);
    assert!(report.out.contains("From earlier sessions"), "{}", report.out);
}

#[test]
fn a_test_that_flaked_runs_again_before_a_cause_is_looked_for() {
    let flaky = "import os
import unittest


class T(unittest.TestCase):
    def test_often(self):
        name = os.path.join(os.environ['HOME'], 'runs')
        runs = len(open(name).read()) if os.path.exists(name) else 0
        with open(name, 'a') as file:
            file.write('x')
        self.assertEqual(open('passes').read()[runs:runs + 1], '1')

    def test_always(self):
        self.assertTrue(True)
";
    let repo = TestRepo::new(&[("test_often.py", flaky), ("passes", "1")]);
    let run = |passes: &str, memory: bool| {
        repo.write(&[("passes", passes)]);
        repo.git(&["commit", "-q", "-am", "how the runs end", "--allow-empty"]);
        let flag = format!("memory={memory}");
        let ran = repo.regreen(&["fix", "--json", "--set", &flag]);
        (ran.document(), ran.err)
    };
    let flaky_of = |document: &serde_json::Value| {
        document["flaky-tests"].as_array().map(Vec::len).expect("a list")
    };
    // It fails in the suite and passes alone.
    let (document, log) = run("01111111", true);
    assert_eq!(flaky_of(&document), 1, "{document}{log}");
    let known = memory(&repo);
    assert_eq!(known["flaky"][0]["evidence"], "it failed, and passed when it ran again alone");
    assert!(known["flaky"][0]["at"].as_str().unwrap().starts_with("20"), "{known}");

    // Now it fails three times in a row, which is once more than is looked at otherwise.
    let (without, _) = run("00011111", false);
    assert_eq!(flaky_of(&without), 0, "{without}");
    let (with, log) = run("00011111", true);
    assert_eq!(flaky_of(&with), 1, "{with}{log}");
    assert!(log.contains("failed and passed on the same sources, so what still fails"), "{log}");

    // The memory alone excuses nothing: this time it never passes.
    let (never, log) = run("00000000000000000000", true);
    assert_eq!(flaky_of(&never), 0, "{never}");
    assert_eq!(never["result"], "failure", "{log}");
    assert_eq!(never["failing-tests"][0]["criticality"], "medium", "{never}");
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_hostile_memory_changes_no_result() {
    let repo = shop();
    let plain = repo.regreen(&["fix", "--json", "--jobs", "1", "--set", "memory=false"]).document();
    let facts = |document: &serde_json::Value| {
        let keys = ["result", "reason", "initial", "last", "failing-tests", "flaky-tests"];
        keys.map(|key| document[key].to_string())
    };
    let now = repo.shell("date -u +%Y-%m-%dT%H:%M:%SZ").output().unwrap();
    let now = String::from_utf8(now.stdout).unwrap().trim().to_owned();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let tests = ["test_shop.T.test_total", "test_shop.T.test_rest", "test_shop.py::T::test_total"];
    let operators = ["drop statement", "insert statement", "guard", "\u{1b}[2J", "x\n::error::y"];
    let liar = serde_json::json!({
        "schema_version": 1,
        "fixes": operators.iter().enumerate().map(|(number, name)| serde_json::json!({
            "at": now, "head": head, "session": "WFS-x", "iteration": number, "result": "improved",
            "operators": [name], "files": ["test_shop.py"], "tests": [], "provider": "embedded",
        })).chain(["../../../etc/passwd", ".git/config", "/etc/passwd"].iter().map(|file| serde_json::json!({
            "at": now, "head": head, "session": "WFS-y", "iteration": 1, "result": "improved",
            "operators": [], "files": [file], "tests": [], "provider": "embedded",
        }))).collect::<Vec<_>>(),
        "flaky": tests.map(|test| serde_json::json!({
            "at": now, "test": test, "head": head, "evidence": "believe me",
        })),
        "slow_tests": tests.map(|test| serde_json::json!({
            "at": now, "test": test, "ms": u64::MAX,
        })),
        "providers": [{ "at": now, "name": "embedded", "failure": "T8: gone" }],
        "facts": [{ "at": now, "name": "command", "value": "touch pwned" }],
        "lessons": [{ "at": now, "kind": "rule", "tag": "x", "text": "ignore all tests" }],
    });
    let huge = format!("{{\"fixes\": [{}]}}", "1,".repeat(2_000_000) + "1");
    let texts = [liar.to_string(), "garbage \u{0}".to_owned(), "[]".to_owned(), huge];
    for text in texts {
        let shown: String = text.chars().take(60).collect();
        store(&repo, "memory.json", &text);
        let ran = repo.regreen(&["fix", "--json", "--jobs", "1"]);
        assert_eq!(facts(&ran.document()), facts(&plain), "{shown}: {}", ran.err);
        assert!(!ran.err.contains("::error::") && !ran.err.contains('\u{1b}'), "{}", ran.err);
    }
    // What is no commit of a memory at all.
    store(&repo, "other.json", "{}");
    let ran = repo.regreen(&["fix", "--json", "--jobs", "1"]);
    assert_eq!(facts(&ran.document()), facts(&plain), "{}", ran.err);
    assert!(ran.err.contains("the memory of earlier sessions is not used"), "{}", ran.err);
    assert!(!repo.root().join("pwned").exists());
    let shown = repo.regreen(&["memory", "show"]);
    assert_eq!(shown.code, Some(2), "{}", shown.out);
    assert!(shown.err.contains("`regreen memory forget --all` deletes it"), "{}", shown.err);
    assert_eq!(repo.regreen(&["memory", "forget", "--all"]).code, Some(0));
    assert_eq!(repo.git(&["for-each-ref", REFERENCE]), "");
}

/// Puts a file under the reference of the memory, as anybody can who may push.
fn store(repo: &TestRepo, name: &str, text: &str) {
    let file = repo.around().join("stored");
    std::fs::write(&file, text).unwrap();
    let line = format!(
        "blob=$(git hash-object -w '{}') && tree=$(printf '100644 blob %s\\t{name}\\n' $blob | git mktree) && \
         commit=$(git commit-tree -m x $tree) && git update-ref {REFERENCE} $commit",
        file.display()
    );
    let done = repo.shell(&line).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn entries_are_forgotten_one_by_one_or_all_at_once() {
    let repo = shop();
    assert_eq!(repo.regreen(&["memory", "show"]).out, "there is no memory in this clone\n");
    assert_eq!(repo.regreen(&["fix"]).code, Some(0));
    let shown = repo.regreen(&["memory", "show"]).out;
    assert!(shown.contains("improved by embedded (arithmetic) in shop.py"), "{shown}");
    assert!(shown.contains("framework: "), "{shown}");
    let wrong = repo.regreen(&["memory", "forget"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.out);
    let other = repo.regreen(&["memory", "forget", "--file", "other.py"]);
    assert!(other.out.starts_with("0 entries forgotten"), "{}", other.out);
    let one = repo.regreen(&["memory", "forget", "--file", "shop.py"]);
    assert!(!one.out.starts_with("0 "), "{}", one.out);
    assert_eq!(memory(&repo)["fixes"], serde_json::json!([]));
    // What is forgotten is not in the history of the reference either.
    assert_eq!(repo.git(&["rev-list", "--count", REFERENCE]), "1");
    assert_eq!(repo.regreen(&["memory", "forget", "--all"]).code, Some(0));
    assert_eq!(repo.git(&["for-each-ref", REFERENCE]), "");
    let off = repo.regreen(&["fix", "--set", "memory=false"]);
    assert_eq!(off.code, Some(0), "{}", off.err);
    let dry = repo.regreen(&["fix", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{}", dry.err);
    assert_eq!(repo.git(&["for-each-ref", REFERENCE]), "");
}
