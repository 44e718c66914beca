//! What starts a run, which commit it tests, and what a job does without a permission.

use serde_json::json;

use super::harness::{Job, World};
use super::pull_request_life::{red, shown};

/// The event of a workflow that failed on `head` of the branch `topic`. The job runs on `main`.
fn failed_run(world: &World, head: &str) -> Job<'static> {
    let mut job = world.pull_request(1, "opened");
    job.payload = json!({
        "action": "completed",
        "repository": job.payload["repository"],
        "sender": job.payload["sender"],
        "workflow_run": {
            "name": "CI",
            "conclusion": "failure",
            "head_sha": head,
            "head_branch": "topic",
            "head_repository": { "full_name": "octo/demo" },
            "head_commit": { "message": "Change it" },
            "pull_requests": [],
        },
    });
    (job.event, job.checkout) = ("workflow_run", "main");
    job
}

/// The requests to the git server that a push begins with.
fn asked_to_push(world: &World) -> usize {
    let log = std::fs::read_to_string(world.around().join("srv/log")).expect("a log");
    log.lines().filter(|line| line.contains("service=git-receive-pack")).count()
}

#[test]
fn a_merge_queue_gets_one_line_and_no_request() {
    let world = red();
    let mut job = world.pull_request(world.pull(), "opened");
    let base = world.git(&["rev-parse", "main"]);
    job.payload = json!({
        "action": "checks_requested",
        "repository": job.payload["repository"],
        "sender": job.payload["sender"],
        "merge_group": {
            "head_sha": world.git(&["rev-parse", "topic"]),
            "head_ref": "refs/heads/gh-readonly-queue/main/pr-1",
            "base_sha": base,
            "base_ref": "refs/heads/main",
        },
    });
    job.event = "merge_group";
    let before = world.git(&["for-each-ref"]);
    let ran = world.run(&job);
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!((ran.out.lines().count(), world.github.log().len()), (2, 0), "{}", shown(&ran));
    assert!(ran.out.contains("a merge queue gets no fix"), "{}", ran.out);
    assert_eq!(world.git(&["for-each-ref"]), before);
}

#[test]
fn a_failed_workflow_is_tested_at_the_commit_that_failed() {
    let world = red();
    let failed = world.git(&["rev-parse", "topic"]);
    // The branch has moved since, and the job is at another commit anyway.
    world.commit("topic", &[("notes.txt", "x\n")], "Move on");
    let ran = world.run(&failed_run(&world, &failed));
    assert_eq!(ran.code, Some(0), "{}", shown(&ran));
    assert_eq!(world.github.state().checks[0].head_sha, failed);
    world.git(&["merge-base", "--is-ancestor", &failed, "regreen/WFS-test-topic"]);
    assert_eq!(world.git(&["ls-tree", "regreen/WFS-test-topic", "notes.txt"]), "");
    world.github.assert_clean();
}

#[test]
fn a_refused_push_is_asked_for_once_in_a_job() {
    let world = red();
    let number = world.pull();
    std::fs::write(world.around().join("srv/fault"), "forbid-write").expect("a fault");
    let ran = world.run(&world.pull_request(number, "opened"));
    assert_eq!(asked_to_push(&world), 1, "{}", shown(&ran));
    let said = format!("{}{}", ran.out, ran.err);
    assert_eq!(said.matches("contents: write").count(), 1, "{said}");
    let comment = world.sticky(number);
    assert!(comment.contains("not granted; give the job"), "{comment}");
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_refused_comment_is_asked_for_once_in_a_job() {
    let world = red();
    let number = world.pull();
    let job = world.comment(number, "ann", "/regreen fix");
    world.github.state().read_only = true;
    let ran = world.run(&job);
    let log = world.github.log();
    for kind in ["issues", "check-runs", "pulls"] {
        let route = format!("/repos/octo/demo/{kind}");
        let writes =
            log.iter().filter(|seen| seen.method != "GET" && seen.target.starts_with(&route));
        assert!(writes.count() <= 1, "{kind}: {:?}\n{}", world.github.transcript(), shown(&ran));
    }
}
