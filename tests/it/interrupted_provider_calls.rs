//! A run that is killed while a provider is asked: what had arrived is used, what had not is
//! counted and reported, and nobody is asked twice for what is known.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::fake_model::{FakeModel, Reply, analysis, edit};
use super::support::{CALC, Ran, TestRepo};
use super::test_writing::{KEY, SHOP, TEST, configured, knowing, questions, run, server, surveyed};

/// Kills the run once the model has received this number of questions.
fn killed_at(repo: &TestRepo, model: &super::support::fake_model::FakeModel, count: usize) {
    let mut command = repo.command();
    command.env("ONE_KEY", KEY).args(TEST).args(["--no-coverage", "--quiet"]);
    let mut child = command.spawn().expect("regreen starts");
    let began = Instant::now();
    while model.asked().len() < count {
        assert!(began.elapsed() < Duration::from_mins(10), "{:?}", questions(&model.asked()));
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Why the chain moved on, for each call in phases 3 to 5.
fn triggers(document: &Value) -> Vec<String> {
    let folder = std::path::PathBuf::from(document["folder"].as_str().unwrap());
    let text = std::fs::read_to_string(folder.join(".process/provider-calls.json")).unwrap();
    let books: Value = serde_json::from_str(&text).unwrap();
    let of = |one: &Value| one["call"]["trigger"].as_str().unwrap_or("-").to_owned();
    books["calls"].as_array().unwrap().iter().map(of).collect()
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_question_without_an_answer_is_asked_again_counted_and_reported() {
    // Killed at the question of phase 3, and at that for the first test file.
    let before: [fn() -> Vec<Reply>; 2] = [Vec::new, || vec![surveyed()]];
    for (number, answers) in (1..).zip(before) {
        let mut script = answers();
        script.push(Reply::Silence(Duration::from_mins(2)));
        script.push(Reply::By(knowing));
        let model = server(script);
        let repo = configured(SHOP, &model, "one, embedded");
        killed_at(&repo, &model, number);
        let resumed = run(&repo, &["test", "--resume"]);
        let document = resumed.document();
        assert_eq!(resumed.code, Some(0), "{number}: {document:#}\n{}", resumed.err);
        let asked = questions(&model.asked());
        let once = &asked[number - 1];
        assert_eq!(asked.iter().filter(|one| *one == once).count(), 2, "{asked:?}");
        let mut others = asked.clone();
        others.retain(|one| one != once && !one.starts_with("IMPL-fix"));
        let count = others.len();
        others.sort();
        others.dedup();
        assert_eq!(others.len(), count, "nothing else is asked twice: {asked:?}");
        assert_eq!(document["spending"]["calls"].as_u64(), Some(asked.len() as u64), "{asked:?}");
        let said = "it may have been charged; it counts as one";
        assert!(resumed.err.contains(said), "{number}: {}", resumed.err);
        let triggers = triggers(&document);
        assert_eq!(triggers.iter().filter(|one| *one == "interrupted").count(), 1, "{triggers:?}");
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn an_answer_that_had_arrived_is_used_and_not_asked_for_again() {
    // The test file is stored; the run is killed at the question about its failing test.
    let script = vec![
        surveyed(),
        knowing("# Question IMPL-001-1"),
        Reply::Silence(Duration::from_mins(2)),
        Reply::By(knowing),
    ];
    let model = server(script);
    let repo = configured(SHOP, &model, "one, embedded");
    killed_at(&repo, &model, 3);
    let resumed = run(&repo, &["test", "--resume"]);
    let document = resumed.document();
    assert_eq!(resumed.code, Some(0), "{document:#}\n{}", resumed.err);
    let asked = questions(&model.asked());
    assert_eq!(
        asked[..4],
        ["analysis-1", "IMPL-001-1", "IMPL-001-1-verdict", "IMPL-001-1-verdict"]
    );
    assert!(
        resumed
            .err
            .contains("the answer of `one` (generator) is used as it arrived in the run before"),
        "{}",
        resumed.err
    );
    assert_eq!(document["spending"]["calls"].as_u64(), Some(asked.len() as u64), "{asked:?}");
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_question_of_the_fix_loop_is_counted_too() {
    let model = server(vec![Reply::By(|question| {
        if question.contains("Say what is wrong and where") {
            // Silent once, long enough to be killed; afterwards the file of the first time exists.
            return Reply::Silence(Duration::from_mins(2));
        }
        knowing(question)
    })]);
    let repo = configured(SHOP, &model, "one, embedded");
    let count = 1 + position(&repo, &model);
    let again = server(vec![Reply::By(knowing)]);
    again.provide(&repo, "one, embedded");
    let resumed = run(&repo, &["test", "--resume"]);
    let document = resumed.document();
    assert_eq!(resumed.code, Some(0), "{document:#}\n{}", resumed.err);
    let all = count + again.asked().len();
    assert_eq!(document["spending"]["calls"].as_u64(), Some(all as u64), "{}", resumed.err);
    assert!(resumed.err.contains("it may have been charged"), "{}", resumed.err);
    let asked = questions(&again.asked());
    assert!(asked.iter().all(|one| one.starts_with("IMPL-fix")), "{asked:?}");
}

/// A refusal that costs 700 tokens.
fn filtered() -> Reply {
    let body = serde_json::json!({
        "choices": [{ "message": { "content": "" }, "finish_reason": "content_filter" }],
        "usage": { "prompt_tokens": 700, "completion_tokens": 0 },
    });
    Reply::Status(200, vec![], body.to_string())
}

fn two_providers(repo: &TestRepo, model: &FakeModel) {
    let providers = ["one", "two"].map(|name| model.provider(name, "")).concat();
    let settings = format!("providers: [one, two]\nprovider:\n{providers}");
    repo.write(&[(".github/regreen.yml", &settings)]);
}

fn fix_command(repo: &TestRepo, more: &[&str]) -> std::process::Command {
    let mut command = repo.command();
    command.env("ONE_KEY", KEY).env("TWO_KEY", KEY);
    command.args(["fix", "--json", "--max-iterations", "1"]).args(more);
    command
}

#[test]
fn a_run_that_is_stopped_during_a_call_reports_what_it_has_spent() {
    let model = FakeModel::serve(vec![
        ("one", vec![filtered()]),
        ("two", vec![Reply::Silence(Duration::from_mins(2))]),
    ]);
    let repo = TestRepo::new(CALC);
    two_providers(&repo, &model);
    let mut command = fix_command(&repo, &["--quiet"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while model.asked().len() < 2 {
        assert!(began.elapsed() < Duration::from_mins(10), "two questions are asked");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    let stopped: Ran = child.wait_with_output().unwrap().into();
    let document = stopped.document();
    assert_eq!(document["result"], "blocked", "{document:#}");
    assert_eq!(document["spending"]["calls"], 2, "{document:#}");
    assert!(document["spending"]["usage"]["input_tokens"].as_u64() > Some(800), "{document:#}");
    let of = |call: &Value| format!("{} {}", call["provider"], call["trigger"]);
    let calls = document["unfinished-calls"].as_array().expect("calls");
    let calls: Vec<_> = calls.iter().map(of).collect();
    assert_eq!(calls, ["\"one\" \"refused\"", "\"two\" \"interrupted\""]);
}

#[test]
fn a_failure_that_was_paid_for_is_counted_once_after_a_kill() {
    let clamp = "    if value > high:\n        return low\n";
    let model = FakeModel::serve(vec![
        (
            "one",
            vec![
                filtered(),
                analysis("calc.py:clamp:4-5", 0.9),
                edit("calc.py", clamp, &clamp.replace("low", "high")),
            ],
        ),
        ("two", vec![Reply::Silence(Duration::from_mins(2))]),
    ]);
    let repo = TestRepo::new(CALC);
    two_providers(&repo, &model);
    let command = |more: &[&str]| fix_command(&repo, more);
    let mut child = command(&["--quiet"]).spawn().expect("regreen starts");
    let began = Instant::now();
    while model.asked().len() < 2 {
        assert!(began.elapsed() < Duration::from_mins(10), "two questions are asked");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed: Ran = command(&["--resume"]).output().expect("regreen starts").into();
    let document = resumed.document();
    let said =
        "a question to `one` (analyst) of the run before counts too: one: the model declined";
    assert!(resumed.err.contains(said), "{}", resumed.err);
    let calls = document["iterations"][0]["calls"].as_array().expect("calls");
    let of = |call: &Value| format!("{} {}", call["provider"], call["trigger"]);
    assert_eq!(
        calls.iter().map(of).collect::<Vec<_>>(),
        ["\"one\" \"refused\"", "\"two\" \"interrupted\"", "\"one\" null", "\"one\" null"],
    );
    let tokens: Vec<u64> =
        calls.iter().map(|call| call["usage"]["input_tokens"].as_u64().unwrap()).collect();
    assert_eq!((tokens[0], tokens[2], tokens[3]), (700, 1_000, 1_000));
    assert_eq!(calls[1]["usage"]["estimated"], true, "its prompt may have been charged");
    let usage = &document["spending"]["usage"];
    assert_eq!(usage["input_tokens"], 2_700 + tokens[1], "{document:#}");
    assert!(tokens[1] > 100 && usage["estimated"] == true, "{document:#}");
}

/// Kills the run at the first question of the fix loop; returns how many were asked before it.
fn position(repo: &TestRepo, model: &super::support::fake_model::FakeModel) -> usize {
    let mut command = repo.command();
    command.env("ONE_KEY", KEY).args(TEST).args(["--no-coverage", "--quiet"]);
    let mut child = command.spawn().expect("regreen starts");
    let began = Instant::now();
    loop {
        let asked = questions(&model.asked());
        if let Some(at) = asked.iter().position(|one| one.starts_with("IMPL-fix")) {
            child.kill().unwrap();
            child.wait().unwrap();
            return at;
        }
        assert!(began.elapsed() < Duration::from_mins(10), "{asked:?}");
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself: {asked:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
