//! Tests of what clients spend: tokens that count, and limits that hold.

use super::*;
use crate::domain::budget::Price;
use crate::domain::secret::Canary;
use crate::effect::UsageMeter;

use futures::StreamExt;
use futures::executor::block_on;

use table::ClientTask;

/// What clients print about their tokens, at the end of an answer and of a failure.
#[test]
fn tokens_are_counted_of_answers_and_of_failures() {
    let usage = |input, output, cached_tokens| Usage { cached_tokens, ..Usage::new(input, output) };
    let table = [
        (
            ClientProgram::Gemini,
            serde_json::json!({ "response": "x", "stats": { "models": {
                "a": { "tokens": { "prompt": 10, "candidates": 3, "thoughts": 2, "cached": 4 } },
                "b": { "tokens": { "prompt": 1, "candidates": 1 } },
            }}}),
            usage(11, 6, 4),
        ),
        (
            ClientProgram::Qwen,
            serde_json::json!([{ "type": "result", "is_error": true, "usage": {
                "input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 4,
            }}]),
            usage(10, 5, 4),
        ),
        (
            ClientProgram::Codex,
            serde_json::json!({ "type": "turn.completed", "usage": {
                "input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 5,
                "reasoning_output_tokens": 2,
            }}),
            usage(10, 5, 4),
        ),
        (
            ClientProgram::Claude,
            serde_json::json!({ "is_error": true, "api_error_status": 500, "usage": {
                "input_tokens": 4, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4,
                "output_tokens": 5,
            }}),
            usage(10, 5, 4),
        ),
        (
            ClientProgram::Claude,
            serde_json::json!({ "is_error": true, "subtype": "error_max_budget_usd",
                "usage": { "input_tokens": 0, "output_tokens": 0 },
                "modelUsage": { "m": { "inputTokens": 4, "cacheReadInputTokens": 4,
                    "cacheCreationInputTokens": 2, "outputTokens": 5 } },
            }),
            usage(10, 5, 4),
        ),
        (
            ClientProgram::Copilot,
            serde_json::json!({ "modelMetrics": { "m": { "usage": {
                "inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 4, "cacheWriteTokens": 1,
            }}}}),
            usage(10, 5, 4),
        ),
    ];
    for (program, out, expected) in table {
        let row = table::row(program);
        assert_eq!((row.usage)(&out.to_string()), expected, "{}", row.name);
        assert_eq!((row.usage)("it broke"), Usage::default(), "{}", row.name);
    }
}

/// A program that plays a client.
pub fn script(folder: &Path, text: &str) -> String {
    let path = folder.join("client");
    files::write_program(&path, text);
    path.display().to_string()
}

#[tokio::test]
async fn a_failed_call_counts_what_the_client_reports() {
    let folder = tempfile::tempdir().unwrap();
    let canary = Canary::new(&"0123456789".repeat(3));
    let turn = r#"{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":5}}"#;
    let message = |text: &str| {
        format!(r#"{{"type":"item.completed","item":{{"type":"agent_message","text":"{text}"}}}}"#)
    };
    let failed = r#"{"type":"turn.failed","error":{"message":"unexpected status 500 oops"}}"#;
    let table = [
        ("it answers", format!("echo '{turn}'; echo '{}'", message("x")), "answer"),
        ("it fails later", format!("echo '{turn}'; echo '{failed}'; exit 1"), "server"),
        ("it says nothing", format!("echo '{turn}'"), "empty"),
        ("it ends badly", format!("echo '{turn}'; echo '{}'; exit 9", message("x")), "connection"),
        ("it hangs", format!("echo '{turn}'; sleep 300"), "timed-out"),
        ("it floods", format!("echo '{turn}'; head -c 9000000 /dev/zero; sleep 300"), "garbage"),
        (
            "it repeats the mark",
            format!("echo '{turn}'; echo '{}'", message(canary.mark())),
            "garbage",
        ),
    ];
    for (why, text, expected) in table {
        let path = script(folder.path(), &format!("#!/bin/sh\n{text}\n"));
        let mut settings =
            settings(ClientProgram::Codex, Some(path), folder.path(), "http://127.0.0.1:9".into());
        settings.provider.canary = Some(canary.clone());
        let model = CliModel::new(settings).unwrap();
        let asked = model.ask(&question(Duration::from_secs(2))).await;
        let (word, usage) = match &asked {
            Ok(answer) => ("answer", answer.usage),
            Err(error) => (error.kind.word(), *error.usage),
        };
        let expected = (expected, Usage { cached_tokens: 4, ..Usage::new(10, 5) });
        // Of a flood, only the end is kept.
        let usage = if why == "it floods" { expected.1 } else { usage };
        assert_eq!((word, usage), expected, "{why}: {asked:?}");
    }
}

/// Asks the provider with 10 tokens and gets 5, again and again, as long as it is permitted.
const GREEDY: &str = r#"#!/usr/bin/env python3
import os, sys, time, urllib.error, urllib.request
for _ in range(60):
    request = urllib.request.Request(
        os.environ["GOOGLE_GEMINI_BASE_URL"] + "/v1beta/models/fake:WAY",
        data=b'{"generationConfig": {"maxOutputTokens": CAP}}', headers={"x-goog-api-key": os.environ["GEMINI_API_KEY"]})
    try:
        urllib.request.urlopen(request).read()
    except urllib.error.HTTPError as error:
        print(error.code, error.read().decode(), file=sys.stderr, flush=True)
    time.sleep(0.2)
"#;

#[tokio::test]
async fn a_client_asks_nothing_that_the_budget_does_not_pay_for() {
    let ((mut child, _live, stdin, port), requests) = recording_server();
    let folder = tempfile::tempdir().unwrap();
    let limits = |tokens, micro_usd| SpendingLimits { calls: None, tokens, micro_usd };
    // A question has a prompt of 15 tokens by its length, and 1,000 are the shortest answer.
    let table = [
        ("generateContent", 2_000, limits(Some(1_050), None), 45, vec![1_035, 1_020, 1_005]),
        (
            "streamGenerateContent?alt=sse",
            1_010,
            limits(None, Some(4_116)),
            60,
            vec![1_010, 1_010, 1_010, 1_002],
        ),
        ("generateContent", 2_000, limits(Some(9_000), Some(1)), 0, vec![]),
    ];
    for (way, cap, left, used, caps) in table {
        let text = GREEDY.replace("WAY", way).replace("CAP", &cap.to_string());
        let path = script(folder.path(), &text);
        let base = format!("http://127.0.0.1:{port}/success");
        let mut settings = settings(ClientProgram::Gemini, Some(path), folder.path(), base);
        let price = Price { input: 1.0, output: 4.0, ..Price::default() };
        settings.provider.facts.price = Some(price);
        let model = CliModel::new(settings).unwrap();
        let (meter, mut reported) = UsageMeter::channel();
        let question = Question { left, meter, ..question(Duration::from_secs(40)) };
        let error = model.ask(&question).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::OverBudget, "{way}: {error:?}");
        assert!(error.message.contains("would pass the budget of"), "{way}: {error:?}");
        let usage = error.usage;
        assert_eq!((usage.tokens(), usage.cost), (used, used * 2), "{way}: {usage:?}");
        drop((question, model));
        let reported = std::iter::from_fn(|| block_on(reported.next())).last();
        assert_eq!(reported, Some(*usage), "{way}: it is known before the end");
        // The server has answered them, but what it prints arrives later.
        let arrived = caps.iter().map_while(|_| requests.recv_timeout(Duration::from_secs(40)).ok());
        let got = arrived.chain(requests.try_iter()).map(|request| {
            request["body"]["generationConfig"]["maxOutputTokens"].as_u64().unwrap()
        });
        assert_eq!(got.collect::<Vec<_>>(), caps, "{way}");
    }
    drop(stdin);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The provider does not keep to the limit of an answer.
#[tokio::test]
async fn a_client_is_ended_when_it_has_spent_more_than_the_budget_had_left() {
    let (mut child, _live, stdin, port) = server();
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path(), &GREEDY.replace("WAY", "generateContent").replace("CAP", "1"));
    let base = format!("http://127.0.0.1:{port}/success");
    let settings = settings(ClientProgram::Gemini, Some(path), folder.path(), base);
    let left = SpendingLimits { tokens: Some(20), ..SpendingLimits::default() };
    let model = CliModel::new(settings).unwrap();
    let error = model.ask(&Question { left, ..question(Duration::from_secs(40)) }).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::OverBudget, "{error:?}");
    drop(stdin);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A client that knows of more than the proxy saw is believed, and one that knows of less is not.
#[tokio::test]
async fn the_larger_sum_of_tokens_counts() {
    let (mut child, _live, stdin, port) = server();
    let folder = tempfile::tempdir().unwrap();
    let printed = |prompt: u64| {
        serde_json::json!({ "response": "x", "stats": { "models": { "fake": {
            "tokens": { "prompt": prompt, "candidates": 5 } } } } })
    };
    for (prompt, expected) in [(90, (90, 5)), (1, (10, 5))] {
        let text = GREEDY.replace("WAY", "generateContent").replace("CAP", "9").replace("60", "1");
        let path = script(folder.path(), &format!("{text}print('{}')\n", printed(prompt)));
        let base = format!("http://127.0.0.1:{port}/success");
        let mut settings = settings(ClientProgram::Gemini, Some(path), folder.path(), base);
        settings.provider.facts.price = Some(Price { input: 1.0, output: 4.0, ..Price::default() });
        let model = CliModel::new(settings).unwrap();
        let usage = model.ask(&question(Duration::from_secs(40))).await.unwrap().usage;
        assert_eq!((usage.input_tokens, usage.output_tokens), expected, "{prompt}");
        assert_eq!(usage.cost, expected.0 + 4 * expected.1, "{prompt}");
    }
    drop(stdin);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn clients_keep_the_limits_of_the_budget_themselves() {
    use ClientProgram::{Claude, Copilot, Gemini, Qwen};

    let with_price = |is_list_price, program, micro_usd, version, agent| {
        let task = ClientTask {
            model: (program == Claude).then_some("claude-haiku-4-5"),
            base_url: "http://x",
            connects_itself: false,
            agent,
            system: "",
            system_file: Path::new("/s"),
            home: Path::new("/h"),
            left: SpendingLimits { micro_usd, ..SpendingLimits::default() },
            is_list_price,
            limit: Duration::from_mins(4),
            version,
            is_confined: true,
        };
        let line = (table::row(program).command_line)(&task);
        let files = line.files.into_iter().map(|(_, text)| text);
        line.arguments.into_iter().chain(files).collect::<Vec<_>>().join(" ")
    };
    let arguments =
        |program, micro_usd, version, agent| with_price(true, program, micro_usd, version, agent);
    let (old, new) = (Version(0, 15, 10), Version(0, 24, 4));
    let table = [
        (Claude, Some(1_234_567), old, "--max-budget-usd 1.234567"),
        (Claude, Some(0), old, "--max-budget-usd 0.000001"),
        (Copilot, Some(1_239_999), old, "--max-ai-credits 123"),
        (Copilot, Some(1), old, "--max-ai-credits 30"),
        (Qwen, None, old, "--max-session-turns 100"),
        (Qwen, None, new, "--max-wall-time 240s"),
        (Gemini, None, old, "\"maxSessionTurns\":100"),
    ];
    for (program, left, version, expected) in table {
        let line = arguments(program, left, version, true);
        assert!(line.contains(expected), "{expected}: {line}");
    }
    let line = with_price(false, Claude, Some(1_234_567), old, true);
    assert!(!line.contains("--max-"), "it would count by another price: {line}");
    for program in [Claude, Copilot, Gemini] {
        let line = arguments(program, None, old, false);
        assert!(!line.contains("--max-") && !line.contains("maxSession"), "{line}");
    }
}

#[test]
fn headers_that_cannot_be_sent_are_refused() {
    let build = |program, base_url: Option<&str>| {
        let mut settings = settings(program, None, Path::new("/x"), String::new());
        settings.provider.base_url = base_url.map(str::to_owned);
        settings.provider.headers = vec![("x-team".into(), "ci".into())];
        CliModel::new(settings).err()
    };
    let refused = build(ClientProgram::Copilot, None).unwrap();
    assert!(refused.contains("`headers`") && refused.contains("`base-url`"), "{refused}");
    assert_eq!(build(ClientProgram::Copilot, Some("http://x")), None);
    assert_eq!(build(ClientProgram::Codex, None), None);
}
