//! A world for a container: `tests/container/run` starts this, runs jobs in it, and ends it.

use std::path::PathBuf;
use std::time::Duration;

use super::world::{Job, World};

const RED: &str = include_str!("../../container/red/calc.py");
const TESTS: &str = include_str!("../../container/red/test_calc.py");
const INI: &str = include_str!("../../container/red/pytest.ini");

/// Waits for a file, for ten minutes.
fn wait_for(names: &[PathBuf]) -> PathBuf {
    for _ in 0..6_000 {
        if let Some(found) = names.iter().find(|name| name.exists()) {
            return found.clone();
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("nobody came: {names:?}");
}

#[test]
#[ignore = "needs a container; bot::life runs such jobs without one"]
fn serve() {
    let place = PathBuf::from(std::env::var("REGREEN_SERVE").expect("a folder"));
    let right = RED.replace("high:\n        return low", "high:\n        return high");
    let good = [("calc.py", right.as_str()), ("test_calc.py", TESTS), ("pytest.ini", INI)];
    let world = World::new(&good, &[("calc.py", RED)]);
    let number = world.pull();
    let ready = |job: &Job<'_>| {
        drop(world.action(job));
        let around = world.around().display();
        let words = format!(
            "CHECKOUT={around}/workspace\nEVENT_FILE={around}/event.json\nEVENT={}\nSERVER={}\nAPI={}\nSHA={}\nTOKEN='{}'\n",
            job.event,
            world.url(),
            world.github.url(),
            world.git(&["rev-parse", job.checkout]),
            world.token,
        );
        std::fs::write(place.join("writing"), words).expect("a file");
        std::fs::rename(place.join("writing"), place.join("ready")).expect("a file");
    };
    ready(&world.pull_request(number, "opened"));
    let (ask, done) = (place.join("ask"), place.join("done"));
    let mut seen = String::new();
    let branch = format!("regreen/WFS-test-pr-{number}");
    while wait_for(&[ask.clone(), done.clone()]) == ask {
        seen += &world.sticky(number);
        assert!(seen.contains("Green"), "{seen}");
        assert!(world.git(&["show", &format!("{branch}:calc.py")]).contains("return high"));
        let body = std::fs::read_to_string(&ask).expect("a command");
        std::fs::remove_file(&ask).expect("a file");
        ready(&world.comment(number, "ann", &body));
    }
    let comment = world.sticky(number);
    let calls = world.github.transcript().join("\n");
    assert!(
        comment.contains("is taken back") && comment.contains("completed"),
        "{comment}\n{calls}\n{seen}"
    );
    assert!(!world.git(&["show", &format!("{branch}:calc.py")]).contains("return high"));
    let log = world.git(&["log", "--format=%h %an: %s", &format!("topic..{branch}")]);
    let checks: Vec<_> =
        world.github.state().checks.iter().map(|check| check.conclusion.clone()).collect();
    assert_eq!(checks, [Some("success".to_owned()), Some("success".to_owned())]);
    for posted in world.github.log() {
        assert!(!posted.body.to_string().contains(&world.token), "{}", posted.target);
    }
    assert!(!world.git(&["log", "--all", "-p"]).contains(&world.token));
    world.github.assert_clean();
    seen += &format!("\n-- after the comment\n{comment}\n-- commits\n{log}\n-- calls\n{calls}\n");
    std::fs::write(place.join("seen"), seen).expect("a file");
}
