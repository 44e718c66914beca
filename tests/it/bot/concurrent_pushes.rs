//! Pushes by other people while a run is in progress.

use super::pull_request_life::{shown, story};
use crate::support::Ran;

#[cfg(feature = "slow-tests")]
#[test]
fn a_head_that_moves_ends_the_run_and_its_work_is_kept() {
    let world = story();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let held = world.hold_push(&format!("git rev-parse --verify '{branch}'"));
    let mut child = world.start(&world.pull_request(number, "opened"));
    world.wait_for(|| held.has_come());
    let head = world.commit("topic", &[("notes.txt", "x\n")], "Move on");
    drop(held);
    assert_eq!(child.wait().expect("a child").code(), Some(0), "{}", world.sticky(number));
    let comment = world.sticky(number);
    assert!(comment.contains("while this ran, so it stopped"), "{comment}");
    assert!(head.get(..7).is_some_and(|short| comment.contains(short)), "{comment}");
    assert!(world.git(&["log", "--format=%s", &branch]).contains("iteration 1"));
    assert_eq!(world.github.state().checks[0].conclusion.as_deref(), Some("failure"));
    // The run for the new head starts from the beginning.
    let ran = world.run(&world.pull_request(number, "synchronize"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    world.git(&["merge-base", "--is-ancestor", &head, &branch]);
    assert!(world.sticky(number).contains("A fix was found: "), "{}", world.sticky(number));
    world.github.assert_clean();
}

#[cfg(feature = "slow-tests")]
#[test]
fn later_iterations_go_on_top_of_what_somebody_pushed_meanwhile() {
    let world = story();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    let held = world.hold_push(&format!("git rev-parse --verify '{branch}'"));
    let mut command = world.action(&world.pull_request(number, "opened"));
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = child.spawn().expect("regreen starts");
    world.wait_for(|| held.has_come());
    world.branch_here(&branch);
    let theirs = world.commit(&branch, &[("theirs.txt", "mine\n")], "By hand");
    drop(held);
    let ran: Ran = child.wait_with_output().expect("a child").into();
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    let log = world.git(&["log", "--format=%s", &format!("topic..{branch}")]);
    assert!(log.starts_with("test-cycle: complete"), "{log}\n{}", world.sticky(number));
    world.git(&["merge-base", "--is-ancestor", &theirs, &branch]);
    let above = world.git(&["log", "--format=%s", &format!("{theirs}..{branch}")]);
    assert!(above.lines().count() > 1, "more than one push is on top: {above}");
    assert!(world.git(&["show", &format!("{branch}:calc.py")]).contains("return high"));
    assert!(!world.has(&format!("{branch}-2")));
    let comment = world.sticky(number);
    assert!(comment.contains("were tested without it"), "{comment}");
    assert!(comment.contains("Not all of it is tested on the server"), "{comment}");
    let checks = world.github.state().checks.clone();
    let green = checks.iter().any(|check| check.conclusion.as_deref() == Some("success"));
    assert!(!green, "no commit was tested as it is: {checks:?}");
    world.github.assert_clean();
}
