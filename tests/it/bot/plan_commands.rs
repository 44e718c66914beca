//! Comment commands for test plans: offer, show, drop, carry out, resume on another machine.

use super::harness::World;
use super::pull_request_life::shown;
use crate::support::write_program;
use crate::test_sessions::SHOP;

/// A pull request that adds a module without tests to a project with some.
pub fn untested() -> World {
    untested_with(&[])
}

/// The same with further files.
fn untested_with(more: &[(&'static str, &'static str)]) -> World {
    let some = r"import unittest


class T(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(1 + 1, 2)
";
    // What is asked for is not the subject here.
    let settings = "coverage: { line: 0, branch: 0, function: 0 }\n";
    let mut good = vec![
        (".gitignore", "__pycache__/\n"),
        (".github/regreen.yml", settings),
        ("tests/__init__.py", ""),
        ("tests/test_some.py", some),
    ];
    good.extend(more);
    let mut world = World::new(&good, &SHOP[..2]);
    world.path = Some("/usr/bin:/bin");
    world
}

/// The same with the usual targets, which nothing here can measure.
fn unmeasurable() -> World {
    let world = untested();
    let settings = "coverage: { command: 'false', report: none.xml }\n";
    world.commit("main", &[(".github/regreen.yml", settings)], "Want coverage");
    world
}

#[test]
fn tests_that_reach_less_than_was_asked_for_are_offered_and_say_so() {
    let world = unmeasurable();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let ran = world.run(&world.comment(number, "ann", "/regreen test shop/price.py"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    for words in ["coverage not measured", "`false` left no report", "every test passes"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    assert!(!comment.contains("held back") && !comment.contains("resume --yes"), "{comment}");
    let files = world.git(&["diff", "--name-only", "topic", &branch]);
    assert_eq!(files, "tests/test_price.py", "{comment}");
    world.github.assert_clean();
}

#[test]
fn tests_that_a_gate_holds_back_wait_for_an_approval() {
    let project = "[project]\nname = \"shop\"\n\n[tool.ruff]\n";
    let mut world = untested_with(&[("pyproject.toml", project)]);
    let tools = world.around().join("tools");
    std::fs::create_dir_all(&tools).expect("a folder");
    // The linter knows a name that the new tests lack.
    let ruff = "#!/bin/sh\ncase \"$*\" in *--fix*) cat; exit;; esac\nfor file in tests/test_price*; do\n  [ -f \"$file\" ] && echo \"$file:1:1: F821 Undefined name \\`gone\\`\" && exit 1\ndone\nexit 0\n";
    write_program(&tools.join("ruff"), ruff);
    world.path = Some(Box::leak(format!("{}:/usr/bin:/bin", tools.display()).into_boxed_str()));
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let ran = world.run(&world.comment(number, "ann", "/regreen test shop/price.py"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    for words in ["undefined-variable", "/regreen resume --yes"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    for words in ["not taken over", "were not pushed"] {
        assert!(!comment.contains(words), "{words}: {comment}");
    }
    assert!(!world.has(&branch) && world.has(&kept(number)), "{comment}");
    let ran = world.run(&world.comment(number, "ann", "/regreen resume"));
    let comment = world.sticky(number);
    assert!(
        comment.contains("is held back: code check (IMPL-001.3)"),
        "{comment}\n{}",
        shown(&ran)
    );
    assert!(comment.contains("To `/regreen resume` by `ann`"), "{comment}");
    assert!(!world.has(&branch), "{comment}");

    let ran = world.run(&world.comment(number, "ann", "/regreen resume --yes"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(
        comment.contains("Approved, although a gate is not met: code check (IMPL-001.3)"),
        "{comment}"
    );
    world.run(&world.comment(number, "ann", "/regreen status"));
    let comment = world.sticky(number);
    assert!(!comment.contains("of others") && !comment.contains("not of regreen"), "{comment}");
    world.github.assert_clean();
}

fn kept(number: u64) -> String {
    format!("refs/regreen/sessions/WFS-test-pr-{number}")
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_plan_is_offered_shown_dropped_and_carried_out_by_another_machine() {
    let world = untested();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let ran = world.run(&world.comment(number, "ann", "/regreen plan shop/price.py"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    for words in [
        "| Write unit tests",
        "| Run the suite",
        "0 % of lines",
        "tests/test_price",
        "/regreen run",
    ] {
        assert!(comment.contains(words), "{words}: {comment}\n{}", shown(&ran));
    }
    assert!(comment.contains("the plan is ready") || comment.contains("The plan is ready"));
    assert!(world.left("output").contains("planned"), "{}", world.left("output"));
    assert!(world.github.state().checks.is_empty(), "a plan says nothing of the head");
    assert!(!world.has(&branch) && world.has(&kept(number)));
    world.assert_no_token(&ran);

    let ran = world.run(&world.comment(number, "ann", "/regreen show-plan\n/regreen status"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    for words in
        ["Review the quality of the tests", "carries it out", "initialized", "no branch yet"]
    {
        assert!(comment.contains(words), "{words}: {comment}");
    }
    let hook = world.refuse_pushes();
    let ran = world.run(&world.comment(number, "ann", "/regreen cancel"));
    assert!(world.sticky(number).contains("is still there"), "{}", shown(&ran));
    std::fs::remove_file(hook).expect("a hook");
    let ran = world.run(&world.comment(number, "ann", "/regreen cancel"));
    assert!(world.sticky(number).contains("is dropped"), "{}", shown(&ran));
    let ran = world.run(&world.comment(number, "ann", "/regreen run"));
    assert!(world.sticky(number).contains("There is no plan"), "{}", shown(&ran));
    assert!(!world.has(&branch));

    world.run(&world.comment(number, "ann", "/regreen plan shop/price.py"));
    let ran = world.run(&world.comment(number, "ann", "/regreen run --max-iterations=3"));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    let files = world.git(&["diff", "--name-only", "topic", &branch]);
    assert_eq!(files, "tests/test_price.py", "{}", world.sticky(number));
    let comment = world.sticky(number);
    let words = [" written in 1 file, every test passes", "Review [the tests]", "test_price.py`"];
    assert!(words.iter().all(|words| comment.contains(words)), "{comment}");
    let pulls = world.github.state().pulls.len();
    assert_eq!(pulls, 2, "the tests are offered");
    let title = world.github.state().pulls.last().map(|pull| pull.title.clone());
    assert_eq!(title.as_deref(), Some("Add tests for shop/price.py"));
    let ran = world.run(&world.comment(number, "ann", "/regreen show-plan"));
    assert!(world.sticky(number).contains("There is no plan"), "{}", shown(&ran));
    world.github.assert_clean();
    world.assert_no_token(&ran);
}

#[test]
fn a_plan_for_an_older_head_is_not_carried_out() {
    let world = untested();
    let number = world.pull();
    world.run(&world.comment(number, "ann", "/regreen plan shop/price.py"));
    world.commit("topic", &[("notes.txt", "x\n")], "Move on");
    let ran = world.run(&world.comment(number, "ann", "/regreen run"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let comment = world.sticky(number);
    assert!(comment.contains("plans them again"), "{comment}");
    assert!(!world.has(&format!("regreen/WFS-test-pr-{number}")));
}

#[test]
fn a_dry_plan_is_shown_and_leaves_nothing() {
    let world = untested();
    let number = world.pull();
    let before = world.git(&["for-each-ref"]);
    let ran = world.run(&world.comment(number, "ann", "/regreen plan shop/price.py --dry-run"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.git(&["for-each-ref"]), before);
    assert!(world.sticky(number).contains("| Write unit tests"), "{}", world.sticky(number));
}

#[test]
fn killed_while_it_writes_tests_a_session_goes_on_elsewhere() {
    let world = untested();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let state = format!("{}:state/.process/generation.json", kept(number));
    let held = world.hold_push(&format!("git show '{state}' | grep -F test_price"));
    world.kill_at(&world.comment(number, "ann", "/regreen test shop/price.py"), &held);
    drop(held);
    assert!(!world.has(&branch), "it was killed before its first commit");

    let ran = world.run(&world.comment(number, "ann", "/regreen resume"));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    let files = world.git(&["diff", "--name-only", "topic", &branch]);
    assert_eq!(files, "tests/test_price.py");
    let notes = world.git(&["show", &format!("{}:events.jsonl", kept(number))]);
    assert_eq!(notes.matches("writing the tests of IMPL-001").count(), 0, "steps are not kept");
    assert!(
        !ran.err.contains("writing the tests of IMPL-001"),
        "what was written is not written again: {}",
        shown(&ran)
    );
    let comment = world.sticky(number);
    let words = [" written in 1 file, every test passes", "Review [the tests]", "test_price.py`"];
    assert!(words.iter().all(|words| comment.contains(words)), "{comment}");
    world.github.assert_clean();
    world.assert_no_token(&ran);
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_stop_comment_stops_the_writing_of_tests() {
    let world = untested();
    let number = world.pull();
    let held = world.hold_push(&format!("git rev-parse --verify '{}'", kept(number)));
    let mut child = world.start(&world.comment(number, "ann", "/regreen test shop/price.py"));
    world.wait_for(|| held.has_come());
    world.comment(number, "ann", "/regreen stop");
    drop(held);
    assert_eq!(child.wait().expect("a child").code(), Some(0), "{}", world.sticky(number));
    let comment = world.sticky(number);
    assert!(comment.contains("ann asked to stop this run"), "{comment}");
    assert!(!world.has(&format!("regreen/WFS-test-pr-{number}")), "{comment}");
    let ran = world.run(&world.comment(number, "ann", "/regreen stop"));
    let comment = world.sticky(number);
    assert!(comment.contains("is stopped. `/regreen resume` continues it."), "{}", shown(&ran));
    let ran = world.run(&world.comment(number, "ann", "/regreen resume"));
    assert_eq!(ran.code, Some(0), "{}\n{}", shown(&ran), world.sticky(number));
    assert!(world.has(&format!("regreen/WFS-test-pr-{number}")), "{}", shown(&ran));
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_stopped_session_is_found_behind_a_finished_one() {
    let mut world = super::pull_request_life::red();
    world.path = Some("/usr/bin:/bin");
    world.commit("topic", &SHOP[..2], "Add a module without tests");
    let number = world.pull();
    let ran = world.run(&world.pull_request(number, "opened"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let ran = world.run(&world.comment(number, "ann", "/regreen resume"));
    let comment = world.sticky(number);
    assert!(comment.contains("cannot be continued"), "{}\n{comment}", shown(&ran));
    let held = world.hold_push(&format!("git rev-parse --verify '{}-2'", kept(number)));
    world.kill_at(&world.comment(number, "ann", "/regreen test shop/price.py"), &held);
    drop(held);
    let ran = world.run(&world.comment(number, "ann", "/regreen resume"));
    assert!(
        ran.err.contains(&format!("resuming session WFS-test-pr-{number}-2")),
        "{}",
        shown(&ran)
    );
    let fix = format!("regreen/WFS-test-pr-{number}");
    assert!(world.git(&["log", "--format=%s", &fix]).starts_with("test-cycle: complete"));
}
