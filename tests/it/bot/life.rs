//! What a pull request lives through.

use super::world::World;
use crate::support::{CALC, Ran};

/// The modules of `CALC` without their bugs.
const RIGHT: (&str, &str) = (
    "calc.py",
    "def clamp(value, low, high):\n    if value < low:\n        return low\n    if value > high:\n        return high\n    return value\n\n\ndef total(values):\n    total = 0\n    for value in values:\n        total += value\n    return total\n",
);

fn red() -> World {
    let mut good = CALC.to_vec();
    good[0] = RIGHT;
    World::new(&good, &CALC[..1])
}

fn outputs(world: &World) -> String {
    world.left("output")
}

fn shown(ran: &Ran) -> String {
    format!("{:?}\n{}\n{}", ran.code, ran.out, ran.err)
}

#[test]
fn a_red_pull_request_gets_a_fix_a_comment_and_a_check() {
    let world = red();
    let number = world.pull();
    let ran = world.run(&world.pull_request(number, "opened"));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    world.github.assert_clean();
    world.assert_no_token(&ran);

    let branch = format!("regreen/WFS-test-pr-{number}");
    let log = world.git(&["log", "--format=%s", &format!("topic..{branch}")]);
    assert!(log.contains("iteration 1 - conservative"), "{log}");
    assert_eq!(world.git(&["show", &format!("{branch}:calc.py")]) + "\n", RIGHT.1);
    assert_eq!(world.git(&["ls-tree", "-r", "--name-only", &branch]).lines().count(), 3);

    let comment = world.sticky(number);
    assert!(comment.starts_with(&format!("<!-- regreen:WFS-test-pr-{number} -->")), "{comment}");
    assert!(comment.contains("60.0") && comment.contains("100.0"), "{comment}");
    let state = world.github.state();
    assert_eq!(state.checks.len(), 1);
    let check = &state.checks[0];
    assert_eq!(check.conclusion.as_deref(), Some("success"), "{check:?}");
    assert_eq!(check.head_sha, world.git(&["rev-parse", "topic"]));
    let fix = state.pulls.iter().find(|pull| pull.head == branch).expect("a fix");
    assert_eq!((fix.base.as_str(), state.pulls.len()), ("topic", 2));
    drop(state);
    assert!(outputs(&world).contains("success"), "{}", outputs(&world));
    assert!(world.left("summary").contains("100.0"), "{}", world.left("summary"));
}
