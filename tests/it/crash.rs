//! Kills a session with SIGKILL at every write and every effect; the resumed run must end like an
//! undisturbed one.

use std::os::unix::process::ExitStatusExt;

use super::support::fake_model::{FakeModel, Reply, analysis_and_edit};
use super::support::{Ran, TestRepo, sample_step};

/// One bug, few tests: the session is short and has every kind of step but a rollback.
const ONE_BUG: &[(&str, &str)] = &[
    ("calc.py", "def double(value):\n    return value * 3\n"),
    (
        "test_calc.py",
        r"import unittest

from calc import double


class T(unittest.TestCase):
    def test_two(self):
        self.assertEqual(double(2), 4)

    def test_nothing(self):
        self.assertEqual(double(0), 0)
",
    ),
];

/// The first plausible edit adds instead of multiplying. The tests that notice start a program of
/// their own, which a warm process cannot see, so the edit is committed, regresses and is reverted.
const ROLLBACK: &[(&str, &str)] = &[
    ("calc.py", "def double(value):\n    return value - 2\n"),
    (
        "test_calc.py",
        r"import subprocess
import sys
import unittest

from calc import double


def outside(value):
    line = f'import calc; print(calc.double({value}))'
    return int(subprocess.check_output([sys.executable, '-c', line]))


class T(unittest.TestCase):
    def test_two(self):
        self.assertEqual(double(2), 4)

    def test_zero(self):
        self.assertLessEqual(outside(0), 0)

    def test_less(self):
        self.assertLessEqual(outside(-1), -2)

    def test_least(self):
        self.assertLessEqual(outside(-2), -3)
",
    ),
];

/// What must be the same however often a session was killed.
fn story(repo: &TestRepo) -> String {
    let branch = "regreen/WFS-test-main";
    let tree = repo.git(&["rev-parse", &format!("{branch}^{{tree}}")]);
    let log = repo.git(&["log", "--format=%s", &format!("main..{branch}")]);
    let patches = repo.root().join(".git/regreen/archives/WFS-test-main/.process");
    let patch = std::fs::read_to_string(patches.join("iteration-1-regression.patch"));
    format!("{tree}\n{log}\n{}", patch.unwrap_or_default())
}

/// Upper limit of the crash points; each test counts up until a session ends before the point.
const MOST: u32 = 400;

#[test]
fn killed_at_any_point_a_session_resumes_to_the_same_end() {
    // There is a point before and one after each write, so an odd step visits both kinds.
    let reference = TestRepo::new(ONE_BUG);
    assert_eq!(reference.regreen(&["fix", "--jobs", "1"]).code, Some(0));
    let visited = kill_everywhere(ONE_BUG, sample_step(5, 27), &[], &story(&reference));
    assert!(visited > sample_step(16, 2), "a session has many points, {visited} were visited");
}

#[test]
fn killed_around_a_rollback_a_session_resumes_to_the_same_end() {
    let reference = TestRepo::new(ROLLBACK);
    let ran = reference.regreen(&["fix", "--jobs", "1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let log = story(&reference);
    assert!(log.contains("rollback iteration 1 - regression detected"), "{log}\n{}", ran.err);
    // Fewer points of this longer session; the other test visits every kind of write.
    let visited = kill_everywhere(ROLLBACK, sample_step(37, 127), &[], &log);
    assert!(visited > sample_step(3, 1), "a session has many points, {visited} were visited");
}

#[test]
fn killed_around_a_regression_without_commits_a_session_resumes_to_the_same_end() {
    let clean = ["--history", "clean"];
    let reference = TestRepo::new(ROLLBACK);
    let ran = reference.regreen(&[&["fix", "--jobs", "1"], &clean[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let log = story(&reference);
    assert!(!log.contains("rollback") && log.contains("return value + 2"), "{log}\n{}", ran.err);
    // Fewer points than above: only one file differs, which is written again.
    let visited = kill_everywhere(ROLLBACK, sample_step(53, 151), &clean, &log);
    assert!(visited > sample_step(2, 1), "a session has many points, {visited} were visited");
}

/// Kills a session at every `step`th point, in parallel lanes.
fn kill_everywhere(files: &[(&str, &str)], step: usize, more: &[&str], expected: &str) -> usize {
    let lanes = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..lanes)
            .map(|lane| {
                scope.spawn(move || {
                    let mut visited = 0;
                    for point in (1..MOST).step_by(step).skip(lane).step_by(lanes) {
                        if !kill_at(files, point, expected, more) {
                            break;
                        }
                        visited += 1;
                    }
                    visited
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no lane fails")).sum()
    })
}

/// Kills a session at a point and resumes it; `false` when the session ended before the point.
fn kill_at(files: &[(&str, &str)], point: u32, expected: &str, more: &[&str]) -> bool {
    let repo = TestRepo::new(files);
    let killed = repo
        .command()
        .args(["fix", "--jobs", "1", "--quiet"])
        .args(more)
        .env("REGREEN_CRASH_AT", point.to_string())
        .output()
        .expect("regreen starts");
    if killed.status.signal() != Some(9) {
        assert!(killed.status.success(), "{point}: {}", String::from_utf8_lossy(&killed.stderr));
        return false;
    }
    let resumed = repo.regreen(&[&["fix", "--jobs", "1", "--quiet", "--resume"], more].concat());
    if resumed.code != Some(0) {
        // Before the record is written there is nothing to resume; after the session was archived,
        // it is over.
        let over = repo.root().join(".git/regreen/archives/WFS-test-main").is_dir()
            || resumed.err.contains("it has met its gate");
        if !over {
            let fresh = repo.regreen(&[&["fix", "--jobs", "1", "--quiet"], more].concat());
            assert_eq!(fresh.code, Some(0), "point {point}: {}\n{}", resumed.err, fresh.err);
        }
    }
    assert_eq!(story(&repo), expected, "point {point}: {}", resumed.err);
    true
}

fn analysed(_: &str) -> Reply {
    let edit = ("calc.py", "    return value * 3", "    return value * 2");
    analysis_and_edit("test_calc.T.test_two", "calc.py:double:1-2", edit)
}

#[test]
fn the_change_that_came_with_an_analysis_survives_a_kill() {
    let mut killed = 0;
    for point in (1..MOST).step_by(sample_step(9, 41)) {
        let model = FakeModel::serve(vec![("one", vec![Reply::By(analysed)])]);
        let repo = TestRepo::new(ONE_BUG);
        model.provide(&repo, "one");
        let fix = |more: &[&str], crash: &str| -> Ran {
            let mut command = repo.command();
            command.args(["fix", "--jobs", "1", "--json"]).args(more).env("ONE_KEY", "sk-one");
            command.env("REGREEN_CRASH_AT", crash).output().expect("regreen starts").into()
        };
        if fix(&[], &point.to_string()).code.is_some() {
            break;
        }
        killed += 1;
        let asked = model.asked().len();
        let resumed = fix(&["--resume"], "0");
        if resumed.code == Some(0) && asked > 0 {
            let document = resumed.document();
            assert_eq!(document["iterations"][0]["provider"], "one", "{point}: {}", resumed.err);
        }
        let asked = model.asked();
        assert!(asked.len() <= 2, "{point}: only a question without an answer is repeated");
        assert!(asked.iter().all(|one| !one.text().contains("You are the fixer")), "{point}");
    }
    assert!(killed > sample_step(3, 1), "{killed}");
}
