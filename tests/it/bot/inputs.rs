//! Inputs of the Action, tested by what a run leaves on the server.

use super::harness::World;
use crate::support::{CALC, REGRESSING, Ran};

fn shown(ran: &Ran) -> String {
    format!("{}\n{}", ran.out, ran.err)
}

/// A world with a pull request that adds these files.
fn world(files: &[(&str, &str)]) -> World {
    World::new(&[("README.md", "# Demo\n")], files)
}

#[test]
fn commits_that_stay_local_are_on_no_branch_of_the_server() {
    let world = world(CALC);
    let number = world.pull();
    let before = world.git(&["for-each-ref"]);
    let mut job = world.pull_request(number, "opened");
    job.inputs = &[("publish", "none")];
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.git(&["for-each-ref"]), before);
    assert!(world.sticky(number).contains("return high"), "the patch is shown");
}

#[test]
fn commits_that_the_server_refuses_are_kept_for_the_next_job() {
    let world = world(CALC);
    let number = world.pull();
    let hook = world.refuse_pushes();
    let ran = world.run(&world.pull_request(number, "opened"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(comment.contains("are kept in `regreen-bundle`"), "{comment}");
    assert!(comment.contains("Nothing was pushed: "), "{comment}");
    assert!(!comment.contains("/commit/"), "{comment}");
    assert!(world.left("output").contains("/regreen-bundle\n"), "{}", world.left("output"));
    std::fs::remove_file(&hook).expect("a hook");
    let kept = world.around().join("kept");
    std::fs::rename(world.around().join("workspace/regreen-bundle"), kept).expect("a bundle");
    let mut job = world.pull_request(number, "opened");
    job.inputs = &[("mode", "publish"), ("bundle", "../kept")];
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert!(world.has(&format!("regreen/WFS-test-pr-{number}")), "{}", shown(&ran));
    world.github.assert_clean();
}

#[cfg(feature = "slow-tests")]
#[test]
fn state_that_stays_on_disk_can_be_resumed_by_no_job_and_the_next_run_begins_anew() {
    let world = world(CALC);
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    // Three of six tests fail, and one iteration repairs one of them.
    let inputs = [("commit-state", "none"), ("max-iterations", "1")];
    let mut job = world.pull_request(number, "opened");
    job.inputs = &inputs;
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(1), "{}", shown(&ran));
    let files = world.git(&["log", "--name-only", "--format=", &format!("topic..{branch}")]);
    assert_eq!(files, "calc.py", "{}", shown(&ran));
    let first = world.git(&["rev-parse", &branch]);

    let resume = [("mode", "resume"), ("commit-state", "none")];
    let mut job = world.pull_request(number, "synchronize");
    job.inputs = &resume;
    let ran = world.run(&job);
    let comment = world.sticky(number);
    assert!(comment.contains("stayed on the machine that ran it"), "{comment}\n{}", shown(&ran));
    assert_eq!(world.git(&["rev-parse", &branch]), first);

    let inputs = [("commit-state", "none")];
    let mut job = world.pull_request(number, "synchronize");
    job.inputs = &inputs;
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let log = world.git(&["log", "--format=%s", &format!("topic..{branch}")]);
    assert!(log.contains("(pass: 80.0% → 100.0%)"), "{log}");
    let branches = world.git(&["branch", "--list", "regreen/*"]);
    assert_eq!(branches.lines().count(), 1, "the same branch is used again: {branches}");
}

#[test]
fn a_discarded_regression_is_never_pushed() {
    let world = world(REGRESSING);
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let inputs = [("set", "history=clean\nloop.regression-threshold=5")];
    let mut job = world.pull_request(number, "opened");
    job.inputs = &inputs;
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let log = world.git(&["log", "--format=%s", &format!("topic..{branch}")]);
    assert!(log.contains("iteration 2") && !log.contains("rollback"), "{log}");
    assert!(!log.contains("iteration 1 "), "{log}");
}

#[test]
fn failures_of_the_base_are_left_out_of_the_rate() {
    let old = r"import unittest


class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(open('missing.txt').read(), 'x')
";
    let world = World::new(&[("test_old.py", old)], CALC);
    let number = world.pull();
    let inputs = [("ignore-preexisting", "true")];
    let mut job = world.pull_request(number, "opened");
    job.inputs = &inputs;
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(comment.contains("A fix was found: ") && comment.contains("test_old"), "{comment}");
}

#[test]
fn what_an_input_gets_wrong_is_said_and_a_mode_says_what_it_needs() {
    let world = world(CALC);
    let number = world.pull();
    let table = [
        (("loop-similarity-threshold", "2"), "`2` is not a number from 0 to 1"),
        (("loop-fix-scope", "all"), "`all` is not one of code, both, tests"),
        (("set", "gate.tarket=90"), "input `set`, line 1: `gate.tarket`: unknown key"),
        (("mode", "test-fix"), "`mode: test-fix` needs `input`"),
    ];
    for (input, expected) in table {
        let inputs = [input];
        let mut job = world.pull_request(number, "opened");
        job.inputs = &inputs;
        let ran = world.run(&job);
        assert_eq!(ran.code, Some(2), "{}", shown(&ran));
        assert!(shown(&ran).contains(expected), "{expected}: {}", shown(&ran));
    }
}

#[test]
fn a_mode_writes_tests_as_the_comment_does() {
    let price = r#"def discount(price, percent):
    if percent > 100:
        raise ValueError("more than all")
    return price * (100 - percent) / 100
"#;
    let tests = r"import unittest


class T(unittest.TestCase):
    def test_one(self):
        self.assertEqual(1, 1)
";
    // No coverage tool is there, so that no target could be met.
    let settings = "coverage: { line: 0, branch: 0, function: 0 }\n";
    let world = World::new(
        &[("README.md", "# Demo\n"), (".github/regreen.yml", settings)],
        &[("shop.py", price), ("tests/__init__.py", ""), ("tests/test_one.py", tests)],
    );
    let number = world.pull();
    let inputs = [("mode", "test-fix"), ("input", "shop.py"), ("gate-min-mutation-score", "1")];
    let mut job = world.pull_request(number, "opened");
    job.inputs = &inputs;
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    let comment = world.sticky(number);
    assert!(
        comment.contains("every test passes") && comment.contains("requirements shown"),
        "{comment}"
    );
    let files =
        world.git(&["diff", "--name-only", "topic", &format!("regreen/WFS-test-pr-{number}")]);
    assert!(files.contains("tests/test_shop"), "{files}");
}

#[test]
fn a_mode_plans_or_validates_as_the_comment_does() {
    let price = "def discount(price, percent):\n    return price * (100 - percent) / 100\n";
    let tests = r"import unittest


class T(unittest.TestCase):
    def test_one(self):
        self.assertEqual(1, 1)
";
    let world =
        world(&[("shop.py", price), ("tests/__init__.py", ""), ("tests/test_one.py", tests)]);
    let number = world.pull();
    for (inputs, words) in [
        (&[("mode", "plan"), ("input", "shop.py")][..], "/regreen run"),
        (&[("mode", "validate")][..], "PASS"),
    ] {
        let mut job = world.pull_request(number, "opened");
        job.inputs = inputs;
        let ran = world.run(&job);
        assert_eq!(ran.code, Some(0), "{}", shown(&ran));
        assert!(world.sticky(number).contains(words), "{words}: {}", world.sticky(number));
    }
    assert!(world.git(&["branch", "--list", "regreen/*"]).is_empty());
    world.commit("topic", &[("shop.py", "def discount(price:\n")], "Break it");
    let mut job = world.pull_request(number, "synchronize");
    job.inputs = &[("mode", "validate")];
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(1), "a gate that is not met fails the job: {}", shown(&ran));
    assert!(world.sticky(number).contains("HARD_FAIL"), "{}", world.sticky(number));
}
