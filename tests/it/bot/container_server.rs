//! A test world for `tests/container/run`: the script starts this server, runs the jobs of a pull
//! request in a container, kills the first job, and ends the server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::harness::{Job, World};
use super::pull_request_life::story;

/// Waits until something holds, for ten minutes.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it never happened: {what}");
}

/// Writes a file that says where the script finds everything for the next job.
fn ready(world: &World, place: &Path, job: &Job<'_>) {
    drop(world.action(job));
    let around = world.around().display();
    let words = format!(
        r"CHECKOUT={around}/workspace
EVENT_FILE={around}/event.json
EVENT={}
SERVER={}
API={}
SHA={}
TOKEN='{}'
",
        job.event,
        world.url(),
        world.github.url(),
        world.git(&["rev-parse", job.checkout]),
        world.token,
    );
    std::fs::write(place.join("writing"), words).expect("a file");
    std::fs::rename(place.join("writing"), place.join("ready")).expect("a file");
}

/// A comment that is posted, and what must hold once its job has ended.
type Step = (&'static str, fn(&World, &str, u64));

const STEPS: &[Step] = &[
    ("/regreen resume", |world, branch, number| {
        let comment = world.sticky(number);
        assert!(comment.contains("A fix was found: ") && comment.contains("100.0 %"), "{comment}");
        let log = world.git(&["log", "--format=%s", &format!("topic..{branch}")]);
        assert!(log.contains("rollback iteration") && log.contains("complete"), "{log}");
        assert!(!world.git(&["ls-tree", "-r", "--name-only", branch]).contains(".workflow"));
    }),
    ("/regreen issue test,doc", |world, _, number| {
        let issues = world.github.state().issues.clone();
        assert_eq!(issues.len(), 2, "{}", world.sticky(number));
        assert!(issues.iter().all(|issue| issue.body.contains(&format!("#{number}"))));
    }),
    ("/regreen rollback\n/regreen status", |world, _, number| {
        let comment = world.sticky(number);
        assert!(comment.contains("is taken back") && comment.contains("completed"), "{comment}");
    }),
];

#[test]
#[ignore = "needs a container; bot::pull_request_life runs such jobs without one"]
fn serve() {
    let place = PathBuf::from(std::env::var("REGREEN_SERVE").expect("a folder"));
    let world = story();
    let number = world.pull();
    let branch = format!("regreen/WFS-test-pr-{number}");
    ready(&world, &place, &world.pull_request(number, "opened"));
    wait_until("a regression that is taken back", || {
        world.has(&branch)
            && world.git(&["log", "--format=%s", &branch]).contains("rollback iteration")
    });
    std::fs::write(place.join("plug"), "").expect("a file");
    let mut seen = format!("-- before the plug was pulled\n{}\n", world.sticky(number));
    let next = place.join("next");
    for (body, holds) in STEPS {
        wait_until("the next job", || next.exists());
        std::fs::remove_file(&next).expect("a file");
        ready(&world, &place, &world.comment(number, "ann", body));
        wait_until("the end of a job", || place.join("ended").exists());
        std::fs::remove_file(place.join("ended")).expect("a file");
        holds(&world, &branch, number);
        seen += &format!("\n-- after {body}\n{}\n", world.sticky(number));
    }
    for posted in world.github.log() {
        assert!(!posted.body.to_string().contains(&world.token), "{}", posted.target);
    }
    assert!(!world.git(&["log", "--all", "-p"]).contains(&world.token));
    world.github.assert_clean();
    let graph = world.git(&["log", "--graph", "--format=%h %an: %s", &format!("main..{branch}")]);
    let calls = world.github.transcript().join("\n");
    seen += &format!("\n-- commits\n{graph}\n-- calls\n{calls}\n");
    std::fs::write(place.join("seen"), seen).expect("a file");
}
