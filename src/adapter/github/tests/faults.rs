//! Injects every fault into every request of each `Forge` method, and repeats each method.

use crate::effect::{CommentKind, Forge, ForgeError, PullEdit, Reaction};

use super::fake_github::{FakeGithub, Fault};
use super::{MARKER, TestClock, connect, http, label, lively, new_issue, new_pull, run, signed};

const ACTS: &[&str] = &[
    "repository",
    "permission",
    "pull",
    "pulls_of_head",
    "open_pull",
    "update_pull",
    "put_comment",
    "edit_comment",
    "react",
    "react_review",
    "put_check",
    "update_check",
    "put_issue",
    "add_labels",
    "branch_sha",
    "commit_on_branch",
    "marked_commits",
    "dispatch_workflow",
];

/// The ids of our comments: a repeated request must find the first one and make no other.
fn comment_ids(fake: &FakeGithub) -> String {
    let state = fake.state();
    let ours = state.comments.iter().filter(|one| one.body.starts_with(MARKER));
    format!("{:?}", ours.map(|one| one.id).collect::<Vec<_>>())
}

/// The ids of all check runs.
fn check_ids(fake: &FakeGithub) -> String {
    format!("{:?}", fake.state().checks.iter().map(|one| one.id).collect::<Vec<_>>())
}

/// One use of each method; the text is what the caller sees, or the ids of what it wrote.
async fn act(name: &str, forge: &dyn Forge, fake: &FakeGithub) -> Result<String, ForgeError> {
    Ok(match name {
        "repository" => format!("{:?}", forge.repository().await?),
        "permission" => format!("{:?}", forge.permission("ann").await?),
        "pull" => format!("{:?}", forge.pull(7).await?),
        "pulls_of_head" => format!("{:?}", forge.pulls_of_head("octo", "topic/x y").await?),
        "open_pull" => forge.open_pull(&new_pull()).await?.number.to_string(),
        "update_pull" => {
            let edit = PullEdit { title: Some("Other".into()), ..PullEdit::default() };
            format!("{:?}", forge.update_pull(7, &edit).await?)
        }
        "put_comment" => {
            forge.put_comment(7, MARKER, "first").await?;
            comment_ids(fake)
        }
        "edit_comment" => {
            forge.put_comment(7, MARKER, "first").await?;
            forge.put_comment(7, MARKER, "second").await?;
            comment_ids(fake)
        }
        "react" => format!("{:?}", forge.react(CommentKind::Issue, 101, Reaction::Eyes).await?),
        "react_review" => {
            format!("{:?}", forge.react(CommentKind::Review, 5, Reaction::ThumbsDown).await?)
        }
        "put_check" => {
            forge.put_check(&run(120)).await?;
            check_ids(fake)
        }
        "update_check" => {
            forge.put_check(&run(10)).await?;
            forge.put_check(&run(130)).await?;
            check_ids(fake)
        }
        "put_issue" => {
            let put = forge.put_issue(&new_issue()).await?;
            format!("{} {:?}", put.number, put.left_out)
        }
        "add_labels" => format!("{:?}", forge.add_labels(7, &[label("new / one")]).await?),
        "branch_sha" => format!("{:?}", forge.branch_sha("regreen/WFS-test-pr-7").await?),
        "commit_on_branch" => forge.commit_on_branch(&signed()).await?.to_string(),
        "marked_commits" => forge.marked_commits(7, "Regreen-Session:").await?.to_string(),
        "dispatch_workflow" => {
            format!("{:?}", forge.dispatch_workflow("ci.yml", "main").await?)
        }
        other => panic!("no act {other}"),
    })
}

/// The state that users can see, without counters and times of writes.
fn visible(fake: &FakeGithub) -> String {
    let mut state = fake.state().clone();
    for one in &mut state.comments {
        (one.writes, one.at) = (0, String::new());
    }
    format!("{state:#?}")
}

#[tokio::test]
async fn every_call_keeps_the_contract_and_survives_every_fault() {
    let http = http();
    let mut runs = 0;
    for name in ACTS {
        let fake = lively();
        let clock = TestClock::default();
        let expected = act(name, &connect(&fake, &http, &clock), &fake).await;
        let expected = expected.unwrap_or_else(|error| panic!("{name}: {error}"));
        fake.assert_clean();
        assert!(clock.waits.lock().expect("no panic").is_empty(), "{name} waited");
        let end = visible(&fake);
        let mut seen = Vec::new();
        for request in fake.log() {
            // A refusal that the normal flow expects is still a request that can fail.
            let nth = seen
                .iter()
                .filter(|one| **one == (request.method.clone(), request.target.clone()))
                .count();
            seen.push((request.method.clone(), request.target.clone()));
            if nth > 0 {
                continue;
            }
            let faults = [
                Fault::Status(503, vec![], "<html>".into()),
                Fault::Status(429, vec![("retry-after", "3".into())], "{}".into()),
                Fault::StatusAfter(502),
                Fault::ResetBefore,
                Fault::ResetAfter,
                Fault::CutAfter,
                Fault::Html,
                Fault::Limited(Some(2)),
                Fault::Limited(None),
            ];
            for fault in faults {
                // A new server assigns the same numbers in the same order.
                let fake = lively();
                let clock = TestClock::default();
                fake.fault(&request.method, &request.target, fault.clone());
                let got = act(name, &connect(&fake, &http, &clock), &fake).await;
                let context = format!(
                    "{name}, {fault:?} at {} {}:\n{}",
                    request.method,
                    request.target,
                    fake.transcript().join("\n")
                );
                runs += 1;
                fake.assert_clean();
                // An empty response cannot be truncated, so the call succeeds.
                assert_eq!(fake.faults_left(), 0, "{context}");
                let blind = *name == "dispatch_workflow"
                    && !matches!(
                        fault,
                        Fault::Status(429, ..) | Fault::Limited(_) | Fault::CutAfter
                    );
                if blind {
                    let error = got.expect_err(&context);
                    assert!(error.is_transient(), "{context}\n{error}");
                    assert_eq!(fake.count("POST", "/dispatches"), 1, "{context}");
                    continue;
                }
                assert_eq!(got.as_deref(), Ok(expected.as_str()), "{context}");
                assert_eq!(visible(&fake), end, "{context}");
            }
        }
    }
    assert!(runs > 250, "{runs}");
}

#[tokio::test]
async fn every_method_may_be_called_again() {
    let http = http();
    for name in ACTS.iter().filter(|name| **name != "dispatch_workflow") {
        let fake = lively();
        let clock = TestClock::default();
        let first = act(name, &connect(&fake, &http, &clock), &fake).await;
        if *name == "edit_comment" {
            continue;
        }
        let before = visible(&fake);
        // A new client stands for another process after a kill.
        let again = act(name, &connect(&fake, &http, &clock), &fake).await;
        assert_eq!(again, first, "{name}");
        assert_eq!(visible(&fake), before, "{name}");
        fake.assert_clean();
    }
}
