//! SIGKILL at every write and every effect of a whole session; a resumed run must end as the
//! undisturbed one.

use std::os::unix::process::ExitStatusExt;

use super::support::TestRepo;

/// One bug, few tests: the session is short and has every kind of step but a rollback.
const ONE_BUG: &[(&str, &str)] = &[
    ("calc.py", "def double(value):\n    return value * 3\n"),
    (
        "test_calc.py",
        "import unittest\n\nfrom calc import double\n\n\nclass T(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(double(2), 4)\n\n    def test_nothing(self):\n        self.assertEqual(double(0), 0)\n",
    ),
];

/// What must be the same however often a session was killed.
fn story(repo: &TestRepo) -> String {
    let branch = "regreen/WFS-test-main";
    let tree = repo.git(&["rev-parse", &format!("{branch}^{{tree}}")]);
    let log = repo.git(&["log", "--format=%s", &format!("main..{branch}")]);
    format!("{tree}\n{log}")
}

/// Points that a whole session passes, found by counting up until nothing is killed.
const MOST: u32 = 400;

#[test]
fn killed_at_any_point_a_session_resumes_to_the_same_end() {
    let reference = TestRepo::new(ONE_BUG);
    assert_eq!(reference.regreen(&["fix", "--jobs", "1"]).code, Some(0));
    let expected = story(&reference);
    // Every point, spread over lanes so that the test uses the machine.
    let lanes = std::thread::available_parallelism().map_or(1, usize::from);
    let visited: u32 = std::thread::scope(|scope| {
        let expected = &expected;
        let workers: Vec<_> = (0..lanes)
            .map(|lane| {
                scope.spawn(move || {
                    let mut visited = 0;
                    for point in (1..MOST).skip(lane).step_by(lanes) {
                        if !kill_at(point, expected) {
                            break;
                        }
                        visited += 1;
                    }
                    visited
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no lane fails")).sum()
    });
    assert!(visited > 40, "a session has many points, {visited} were visited");
}

/// Kills a session at a point and resumes it; `false` when the session ended before the point.
fn kill_at(point: u32, expected: &str) -> bool {
    let repo = TestRepo::new(ONE_BUG);
    let killed = repo
        .command()
        .args(["fix", "--jobs", "1", "--quiet"])
        .env("REGREEN_CRASH_AT", point.to_string())
        .output()
        .expect("regreen starts");
    if killed.status.signal() != Some(9) {
        assert!(killed.status.success(), "{point}: {}", String::from_utf8_lossy(&killed.stderr));
        return false;
    }
    let resumed = repo.regreen(&["fix", "--jobs", "1", "--quiet", "--resume"]);
    if resumed.code != Some(0) {
        // Before the record is written there is nothing to resume; after the archive is made the
        // session is over.
        let over = repo.root().join(".git/regreen/archives/WFS-test-main").is_dir()
            || resumed.err.contains("it has met its gate");
        if !over {
            let fresh = repo.regreen(&["fix", "--jobs", "1", "--quiet"]);
            assert_eq!(fresh.code, Some(0), "point {point}: {}\n{}", resumed.err, fresh.err);
        }
    }
    assert_eq!(story(&repo), expected, "point {point}: {}", resumed.err);
    true
}
