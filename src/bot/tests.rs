//! Tests of event parsing with GitHub's own example events and with broken ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::trigger::*;
use crate::domain::command::Command;

const SHA: &str = "0123456789012345678901234567890123456789";

fn environment() -> BTreeMap<String, String> {
    let pairs = [
        ("GITHUB_REPOSITORY", "Codertocat/Hello-World"),
        ("GITHUB_SHA", SHA),
        ("GITHUB_REF_NAME", "main"),
        ("GITHUB_RUN_ID", "77"),
        ("GITHUB_WORKFLOW", "regreen"),
    ];
    pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn ask(event: &str, value: &Value) -> Result<EventOutcome, EventError> {
    let (environment, bots) = (environment(), BTreeSet::from([9]));
    let event = RawEvent {
        name: event,
        payload: &[],
        environment: &environment,
        label: Some("bug"),
        bots: &bots,
    };
    classify(kind(event.name)?, &event, value)
}

fn ask_bytes(event: &str, payload: &[u8]) -> Result<EventOutcome, EventError> {
    let (environment, bots) = (environment(), BTreeSet::new());
    read(&RawEvent { name: event, payload, environment: &environment, label: None, bots: &bots })
}

fn run(event: &str, value: &Value) -> Trigger {
    match ask(event, value).unwrap() {
        EventOutcome::Run(trigger) => *trigger,
        EventOutcome::NoRun(why) => panic!("nothing: {why}"),
    }
}

fn idle(event: &str, value: &Value) -> NoRun {
    match ask(event, value).unwrap() {
        EventOutcome::Run(trigger) => panic!("{trigger:?}"),
        EventOutcome::NoRun(why) => why,
    }
}

fn example(event: &str, number: usize) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/data/webhooks/{event}/{number}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn examples() -> Vec<(&'static str, Value)> {
    let mut found = Vec::new();
    for (event, _) in EVENTS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/webhooks").join(event);
        let count = std::fs::read_dir(folder).unwrap().count();
        assert!(count > 0, "{event}");
        found.extend((0..count).map(|number| (*event, example(event, number))));
    }
    found
}

fn with(mut value: Value, changes: &[(&str, Value)]) -> Value {
    for (pointer, new) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        value.pointer_mut(parent).unwrap()[key] = new.clone();
    }
    value
}

/// A comment on a pull request, made from the example of a comment on an issue.
fn on_pull_request(body: &str) -> Value {
    let comment = example("issue_comment", 0);
    let at = comment["comment"]["created_at"].clone();
    with(
        comment,
        &[
            ("/issue/pull_request", json!({"url": "x"})),
            ("/comment/body", body.into()),
            ("/comment/updated_at", at),
        ],
    )
}

#[test]
fn published_examples_are_understood() {
    let mut decisions: BTreeMap<String, u32> = BTreeMap::new();
    for (event, value) in examples() {
        let text = match ask(event, &value).unwrap() {
            EventOutcome::Run(_) => "runs".to_owned(),
            EventOutcome::NoRun(why) => why.to_string(),
        };
        *decisions.entry(format!("{event}: {text}")).or_default() += 1;
    }
    let decisions: Vec<String> =
        decisions.iter().map(|(text, count)| format!("{count} {text}")).collect();
    insta::assert_snapshot!(decisions.join("\n"), @r#"
    5 issue_comment: the comment is on an issue; commands work on pull requests
    4 issue_comment: the comment was edited or deleted; only new comments count
    2 merge_group: a commit of a merge queue gets no fix; if a rule requires the check run `regreen`, give the queue a job of that name ("Merge queue" in docs/github.md)
    2 pull_request: `assigned` of this event starts nothing
    2 pull_request: `closed` of this event starts nothing
    3 pull_request: `converted_to_draft` of this event starts nothing
    2 pull_request: `locked` of this event starts nothing
    1 pull_request: `review_request_removed` of this event starts nothing
    1 pull_request: `review_requested` of this event starts nothing
    2 pull_request: `unassigned` of this event starts nothing
    2 pull_request: `unlabeled` of this event starts nothing
    2 pull_request: `unlocked` of this event starts nothing
    12 pull_request: runs
    3 pull_request_review_comment: the comment holds no command
    2 pull_request_review_comment: the comment was edited or deleted; only new comments count
    2 push: runs
    4 push: the branch was deleted
    1 push: the push is not to the default branch
    1 schedule: runs
    2 workflow_dispatch: runs
    2 workflow_run: `requested` of this event starts nothing
    1 workflow_run: the workflow run did not fail: none
    2 workflow_run: the workflow run did not fail: success
    "#);
}

#[test]
fn a_pull_request_is_tested_at_its_own_head() {
    let value = example("pull_request", 22);
    let trigger = run("pull_request", &value);
    let head = trigger.head.clone().unwrap();
    assert_eq!(head.commit.as_str(), value["pull_request"]["head"]["sha"]);
    assert_ne!(head.commit.as_str(), SHA, "not the merge commit");
    assert_eq!(head.branch.as_deref(), value["pull_request"]["head"]["ref"].as_str());
    assert_eq!((trigger.fork, trigger.writes), (false, true));
    assert_eq!(trigger.pull_request, value["number"].as_u64());
    assert_eq!(trigger.author.as_ref().unwrap().login, "Codertocat");
    assert_eq!(trigger.seed, 0x4d ^ 1, "run 77 and its first attempt");
    assert!(trigger.base.clone().unwrap().commit.is_some());
}

#[test]
fn forks_and_dependabot_cannot_write() {
    let value = example("pull_request", 22);
    let name = "/pull_request/head/repo/full_name";
    let table = [
        ("a fork", with(value.clone(), &[(name, "evil/Hello-World".into())]), true, false),
        (
            "other case",
            with(value.clone(), &[(name, "codertocat/hello-world".into())]),
            false,
            true,
        ),
        ("gone", with(value.clone(), &[("/pull_request/head/repo", Value::Null)]), true, false),
        ("dependabot", with(value, &[("/sender/id", 49_699_333.into())]), false, false),
    ];
    for (why, value, fork, writes) in table {
        let trigger = run("pull_request", &value);
        assert_eq!((trigger.fork, trigger.writes), (fork, writes), "{why}");
    }
}

#[test]
fn what_needs_no_run_says_so() {
    let opened = example("pull_request", 22);
    let labelled = example("pull_request", 8);
    let push = example("push", 4);
    let own = "fix\n\nRegreen-Session: WFS-test-pr-1";
    let closed = ("/pull_request/state", json!("closed"));
    let failed =
        with(example("workflow_run", 2), &[("/workflow_run/conclusion", "failure".into())]);
    let command = on_pull_request("/regreen fix");
    let table = [
        (
            "pull_request",
            with(opened.clone(), &[("/pull_request/draft", true.into())]),
            NoRun::Draft,
        ),
        ("pull_request", with(opened.clone(), &[closed]), NoRun::Closed),
        ("pull_request", with(labelled, &[("/label/name", "other".into())]), NoRun::Label),
        (
            "pull_request",
            with(opened, &[("/action", "edited".into())]),
            NoRun::Action { action: "edited".into() },
        ),
        ("issue_comment", example("issue_comment", 0), NoRun::PlainIssue),
        ("issue_comment", with(command.clone(), &[("/action", "edited".into())]), NoRun::Comment),
        ("issue_comment", with(command.clone(), &[("/action", "deleted".into())]), NoRun::Comment),
        ("issue_comment", on_pull_request("please fix"), NoRun::NoCommand),
        (
            "issue_comment",
            with(command.clone(), &[("/comment/body", Value::Null)]),
            NoRun::NoCommand,
        ),
        (
            "issue_comment",
            with(command.clone(), &[("/comment/user/type", "Bot".into())]),
            NoRun::Bot,
        ),
        ("issue_comment", on_pull_request("<!-- regreen:WFS-x -->\n\n/regreen fix"), NoRun::Own),
        ("issue_comment", with(command, &[("/issue/state", "closed".into())]), NoRun::Closed),
        ("push", with(push.clone(), &[("/head_commit/message", own.into())]), NoRun::Own),
        ("push", with(push.clone(), &[("/ref", "refs/heads/x".into())]), NoRun::NotDefault),
        ("push", with(push, &[("/deleted", true.into())]), NoRun::Deleted),
        ("merge_group", json!({ "action": "checks_requested" }), NoRun::MergeGroup),
        (
            "workflow_run",
            example("workflow_run", 2),
            NoRun::NotFailed { conclusion: "success".into() },
        ),
        (
            "workflow_run",
            with(failed.clone(), &[("/workflow_run/name", "regreen".into())]),
            NoRun::SameWorkflow,
        ),
        (
            "workflow_run",
            with(failed, &[("/workflow_run/head_commit/message", own.into())]),
            NoRun::Own,
        ),
    ];
    for (event, value, why) in table {
        assert_eq!(idle(event, &value), why, "{event}");
    }
}

#[test]
fn a_comment_brings_its_commands_and_no_head() {
    let trigger = run("issue_comment", &on_pull_request("hello\n\n/regreen status"));
    let Cause::Comment { review: false, edited: false, lines, .. } = &trigger.cause else {
        panic!("{trigger:?}")
    };
    assert_eq!(lines[0].command, Ok(Command::Status));
    assert_eq!((&trigger.head, trigger.fork), (&None, false));
    let listed = with(
        on_pull_request("/regreen status"),
        &[("/comment/user/type", "Bot".into()), ("/comment/user/id", 9.into())],
    );
    assert_eq!(run("issue_comment", &listed).author.unwrap().id, 9);
    let changed = with(
        on_pull_request("/regreen fix"),
        &[("/comment/updated_at", "2030-01-01T00:00:00Z".into())],
    );
    assert!(matches!(run("issue_comment", &changed).cause, Cause::Comment { edited: true, .. }));
    let gone = with(on_pull_request("/regreen fix"), &[("/comment/user", Value::Null)]);
    assert_eq!(run("issue_comment", &gone).author, None);
}

#[test]
fn a_review_comment_knows_its_head() {
    let value = example("pull_request_review_comment", 1);
    let trigger = run(
        "pull_request_review_comment",
        &with(value.clone(), &[("/comment/body", "/regreen fix".into())]),
    );
    let head = trigger.head.unwrap();
    assert_eq!(head.commit.as_str(), value["pull_request"]["head"]["sha"]);
    assert!(matches!(trigger.cause, Cause::Comment { review: true, .. }));
}

#[test]
fn a_failed_workflow_names_its_pull_requests() {
    let value = with(example("workflow_run", 2), &[("/workflow_run/conclusion", "failure".into())]);
    let trigger = run("workflow_run", &value);
    let named = &value["workflow_run"]["pull_requests"][0];
    let own = named["base"]["repo"]["id"] == value["repository"]["id"];
    let expected = own.then(|| named["number"].as_u64().unwrap());
    assert_eq!((&trigger.cause, trigger.pull_request), (&Cause::FailedRun, expected));
    assert_eq!(trigger.head.unwrap().commit.as_str(), value["workflow_run"]["head_sha"]);
    let here = value["repository"]["id"].clone();
    let ours = with(value, &[("/workflow_run/pull_requests/0/base/repo/id", here)]);
    let trigger = run("workflow_run", &ours);
    assert_eq!(trigger.pull_request, named_number(&ours));
    assert!(trigger.base.is_some());
    // Of several none can be chosen; those of other repositories do not count.
    let named = &ours["workflow_run"]["pull_requests"][0];
    let elsewhere = with(named.clone(), &[("/base/repo/id", 1.into())]);
    for (more, expected) in [(named, None), (&elsewhere, named_number(&ours))] {
        let list = json!([named, more]);
        let several = with(ours.clone(), &[("/workflow_run/pull_requests", list)]);
        let trigger = run("workflow_run", &several);
        assert_eq!(trigger.pull_request, expected);
        assert_eq!(trigger.base.is_some(), expected.is_some());
    }
}

fn named_number(value: &Value) -> Option<u64> {
    value["workflow_run"]["pull_requests"][0]["number"].as_u64()
}

#[test]
fn clock_button_and_push_test_what_is_there() {
    let clock = run("schedule", &example("schedule", 0));
    assert_eq!(clock.cause, Cause::Other);
    let cron = "/schedule";
    assert_eq!(example("schedule", 0).pointer(cron), Some(&"17 3 * * 1".into()));
    let refusal = ask("schedule", &with(example("schedule", 0), &[(cron, 17.into())])).unwrap_err();
    assert!(refusal.to_string().contains("a cron line"), "{refusal}");
    assert_eq!(clock.head.as_ref().unwrap().branch.as_deref(), Some("main"));
    let button = with(
        example("workflow_dispatch", 0),
        &[("/inputs", json!({"mode": "fix", "auto": true, "n": 3, "none": null}))],
    );
    let button = run("workflow_dispatch", &button);
    let Cause::Dispatch { inputs } = &button.cause else { panic!("{button:?}") };
    assert_eq!(inputs.len(), 3);
    assert_eq!((inputs["mode"].as_str(), inputs["auto"].as_str()), ("fix", "true"));
    let push = example("push", 4);
    let pushed = run("push", &push);
    assert_eq!(pushed.head.unwrap().commit.as_str(), push["after"]);
}

#[test]
fn broken_files_and_wrong_events_are_refused_by_name() {
    let truncated: String = example("pull_request", 0).to_string().chars().take(2000).collect();
    let huge = vec![b' '; 26 * 1024 * 1024];
    let deep = "[".repeat(100_000);
    let table: [(&str, &[u8], &str); 11] = [
        ("pull_request_target", b"{}", "never runs on it"),
        ("fork", b"{}", "`fork` starts nothing; use one of pull_request, "),
        ("", b"{}", "starts nothing"),
        ("pull_request", b"", "not JSON"),
        ("pull_request", truncated.as_bytes(), "not JSON"),
        ("pull_request", b"{\"a\":\"\xff\"}", "not UTF-8: byte 6"),
        ("pull_request", b"[1]", "`the whole file` of the event is a list; expected an object"),
        ("pull_request", b"{}", "`action` of the event is missing or null"),
        ("pull_request", b"{\"action\":7}", "`action` of the event is a number; expected a text"),
        ("push", &huge, "27262976 bytes"),
        ("push", deep.as_bytes(), "not JSON"),
    ];
    for (event, payload, part) in table {
        let refusal = ask_bytes(event, payload).unwrap_err();
        assert!(refusal.to_string().contains(part), "{event}: {refusal}");
        assert!(!refusal.hint().is_empty());
    }
}

#[test]
fn hostile_names_are_refused() {
    let table = [
        ("/pull_request/head/ref", json!("--upload-pack=x"), "pull_request.head.ref"),
        ("/pull_request/head/ref", json!("a\nb"), "pull_request.head.ref"),
        ("/pull_request/head/sha", json!("HEAD"), "pull_request.head.sha"),
        ("/pull_request/head/repo/full_name", json!("../x"), "pull_request.head.repo.full_name"),
        ("/sender/login", json!("a b"), "sender.login"),
    ];
    for (pointer, value, field) in table {
        let refusal = ask("pull_request", &with(example("pull_request", 22), &[(pointer, value)]));
        assert!(refusal.unwrap_err().to_string().contains(field), "{field}");
    }
}

/// All pointers below a value.
fn pointers(value: &Value, prefix: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => {
            list.iter().enumerate().map(|(at, one)| (at.to_string(), one)).collect()
        }
        _ => Vec::new(),
    };
    for (key, child) in children {
        let pointer = format!("{prefix}/{}", key.replace('~', "~0").replace('/', "~1"));
        pointers(child, &pointer, found);
        found.push(pointer);
    }
}

#[test]
fn any_single_field_may_be_null_or_of_another_type() {
    let mut asked = examples();
    asked.push(("issue_comment", on_pull_request("/regreen fix")));
    let failed = [("/workflow_run/conclusion", json!("failure"))];
    asked.push(("workflow_run", with(example("workflow_run", 2), &failed)));
    let body = [("/comment/body", json!("/regreen fix"))];
    asked.push((
        "pull_request_review_comment",
        with(example("pull_request_review_comment", 1), &body),
    ));
    let mut refused = BTreeSet::new();
    for (event, mut value) in asked {
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        for pointer in all {
            for new in [Value::Null, json!(-1.5), json!([{}]), json!({"x": 1})] {
                let place = value.pointer_mut(&pointer).unwrap();
                let old = std::mem::replace(place, new);
                if let Err(refusal) = ask(event, &value) {
                    assert!(
                        matches!(refusal, EventError::Field { .. } | EventError::Variable { .. }),
                        "{pointer}: {refusal}"
                    );
                    refused.insert(format!("{event} {pointer}"));
                }
                *value.pointer_mut(&pointer).unwrap() = old;
            }
        }
    }
    assert!(refused.contains("pull_request /pull_request/head/sha"));
    for tolerated in ["pull_request /pull_request/title", "push /pusher", "push /commits"] {
        assert!(!refused.contains(tolerated), "{tolerated}");
    }
}

#[test]
fn what_github_may_leave_null_is_tolerated() {
    let table = [
        ("pull_request", example("pull_request", 22), "/pull_request/user"),
        ("pull_request", example("pull_request", 22), "/pull_request/head/repo"),
        ("pull_request", example("pull_request", 22), "/pull_request/body"),
        ("push", example("push", 4), "/head_commit"),
        ("workflow_dispatch", example("workflow_dispatch", 0), "/inputs"),
    ];
    for (event, value, pointer) in table {
        run(event, &with(value, &[(pointer, Value::Null)]));
    }
}

proptest! {
    #[test]
    fn any_cut_or_flipped_file_is_answered(which in 0usize..50, cut in 0usize..30_000, bit in 0u8..8) {
        let all = ["pull_request/22", "issue_comment/0", "push/4", "workflow_run/2", "workflow_dispatch/0"];
        let one = all[which % all.len()];
        let (event, _) = one.split_once('/').unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/webhooks/{one}.json"));
        let mut bytes = std::fs::read(path).unwrap();
        let at = cut % bytes.len();
        prop_assert!(ask_bytes(event, &bytes[..at]).is_err() || at + 1 == bytes.len());
        bytes[at] ^= 1 << bit;
        if let Err(refusal) = ask_bytes(event, &bytes) {
            prop_assert!(!refusal.to_string().is_empty());
        }
    }
}

#[test]
fn the_table_of_commands_in_the_docs_is_current() {
    let page = include_str!("../../docs/github.md");
    let block = format!("<!-- commands -->\n{}<!-- end of commands -->", super::command::help());
    assert!(page.contains(&block), "put this into docs/github.md:\n{block}");
}

/// The table in the documentation of what each end of a run means for the checks, the outputs and
/// the exit code of the job.
#[test]
fn the_documented_ends_are_those_of_the_code() {
    use crate::bot::bundle::exit_code;
    use crate::domain::check::Conclusion;
    use crate::domain::event::Ending;
    use crate::report::final_state::{CheckedCommit, FinalState};
    let failing = vec![crate::domain::id::TestId::from("a")];
    let view = crate::report::view::View { red: failing, ..Default::default() };
    let word = |conclusion| match conclusion {
        Conclusion::Success => "success",
        Conclusion::Failure => "failure",
        Conclusion::Neutral => "neutral",
        Conclusion::ActionRequired => "action required",
    };
    let mut text = String::from(
        "| How it ended | Check of the head | Check of the fix | `result` | Exit code |\n|---|---|---|---|--:|\n",
    );
    for state in FinalState::all() {
        let words = match state {
            FinalState::Green => "Every test passed already",
            FinalState::GreenWithNotes => "Only failures of low criticality, and the gate is met",
            FinalState::Fixed => "A fix makes every test pass",
            FinalState::MostlyFixed => "A fix meets the gate; failures of low criticality are left",
            FinalState::TestsWritten => "Tests were written, and every test passes",
            FinalState::NotGreen => "The gate is not met",
            FinalState::Unfixable => "No edit of the code can honestly meet the gate",
            FinalState::Objected => "Every test passes, and the command or its report is not green",
            FinalState::Stopped => "Stopped while tests fail; `/regreen resume` continues",
            FinalState::Reverted => "A person took a fix back",
            FinalState::Planned => "Tests were planned",
            FinalState::NothingToDo => "Tests were requested, and none is missing",
            FinalState::Refused => "A bundle was refused",
            FinalState::NoResult => "Nothing could run",
            FinalState::Unfinished | FinalState::NoSession | FinalState::DryRun => continue,
        };
        let of = |commit| word(state.conclusion(commit, Conclusion::Success, &view));
        let fix = match state {
            FinalState::Fixed
            | FinalState::MostlyFixed
            | FinalState::TestsWritten
            | FinalState::Reverted => of(CheckedCommit::Fix),
            _ => "-",
        };
        let head = if state.is_checked() { of(CheckedCommit::Head) } else { "-" };
        let ending = match state {
            FinalState::GreenWithNotes | FinalState::MostlyFixed => Ending::PartialSuccess,
            FinalState::NotGreen | FinalState::Unfixable | FinalState::Objected => Ending::Failure,
            FinalState::Stopped => Ending::Blocked,
            FinalState::Planned | FinalState::NothingToDo => Ending::Planned,
            _ => Ending::Success,
        };
        let result = Some(state.result(None)).filter(|word| !word.is_empty());
        let result = result.unwrap_or_else(|| ending.to_string());
        let code = exit_code(Some(state), 3);
        text.push_str(&format!("| {words} | {head} | {fix} | `{result}` | {code} |\n"));
    }
    let page = include_str!("../../docs/github.md");
    assert!(page.contains(&text), "docs/github.md needs this table:\n{text}");
}
