//! Tests of the real clients against a local server, and of the parsers on their recorded output.

mod spending;

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use super::*;
use crate::adapter::host::Live;
use crate::adapter::host::environment::real_home;
use crate::adapter::host::process::ExitReason;
use crate::domain::budget::SpendingLimits;
use crate::domain::secret::{Redactor, SecretKey};

use super::output::ParseResult;
use spending::script;

const CANARY: &str = "canary-key-0123456789";

fn settings(
    program: ClientProgram,
    path: Option<String>,
    scratch: &Path,
    base: String,
) -> ClientSettings {
    let key = SecretKey::new(CANARY);
    ClientSettings {
        provider: ProviderSettings {
            facts: ModelFacts {
                name: "client".into(),
                model: "fake".into(),
                context: 1000,
                ..ModelFacts::default()
            },
            redactor: Redactor::new([&key]),
            canary: None,
            key: Some(key),
            base_url: Some(base),
            headers: Vec::new(),
            timeout: Duration::from_mins(1),
        },
        program,
        version: table::row(program).version,
        path,
        folders: ClientFolders { private: scratch.to_owned(), protected: Vec::new() },
        http: Http::new().unwrap(),
        price_of_request: |_, _, price| price.clone(),
        is_list_price: false,
    }
}

fn question(limit: Duration) -> Question {
    Question {
        id: "s/1/fixer/1/1".into(),
        system: "the rules".into(),
        prompt: "the question".into(),
        form: None,
        temperature: None,
        max_output_tokens: 100,
        limit,
        left: SpendingLimits::default(),
        checkout: None,
        meter: crate::effect::UsageMeter::default(),
    }
}

#[test]
fn what_clients_print_is_read() {
    let gemini_error = "Warning: x\n{\n \"session_id\": \"s\",\n \"error\": {\"type\": \"Error\", \"message\": \"slow down, please\", \"code\": 429}\n}\n";
    let qwen = |text: &str| {
        format!(
            "[{{\"type\":\"system\"}},{{\"type\":\"result\",\"is_error\":false,\"result\":{text:?},\"usage\":{{\"input_tokens\":10,\"output_tokens\":5}}}}]"
        )
    };
    let codex = |text: &str| {
        format!(
            "{{\"type\":\"turn.started\"}}\n{{\"type\":\"turn.failed\",\"error\":{{\"message\":{text:?}}}}}\n"
        )
    };
    let claude = |status: &str, text: &str| {
        format!(
            "{{\"is_error\":true,\"api_error_status\":{status},\"result\":{text:?},\"stop_reason\":\"stop_sequence\"}}"
        )
    };
    let word = |read: ParseResult| read.map_or_else(|failure| failure.kind.word(), |_| "answer");
    let table = [
        (
            output::gemini(
                "{\"response\": \"x\", \"stats\": {\"models\": {\"m\": {\"tokens\": {\"prompt\": 10, \"candidates\": 5}}}}}",
                "",
            ),
            "answer",
        ),
        (output::gemini("", gemini_error), "rate-limited"),
        (
            output::gemini(
                "",
                "{\"error\": {\"message\": \"Incomplete JSON segment at the end\", \"code\": 1}}",
            ),
            "garbage",
        ),
        (output::gemini("{\"response\": \"\"}", ""), "empty"),
        (output::gemini("", "no JSON at all"), "connection"),
        (output::qwen(&qwen("hello"), ""), "answer"),
        (output::qwen(&qwen("[API Error: 401 who are you]"), ""), "unauthorised"),
        (
            output::qwen(&qwen("[API Error: Model stream ended with empty response text.]"), ""),
            "empty",
        ),
        (
            output::qwen(&qwen("[API Error: terminated (cause: other side closed)]"), ""),
            "connection",
        ),
        (
            output::qwen(
                &qwen(
                    "[API Error: Streaming request received a non-SSE response (HTTP 200, Content-Type: text/html). Body prefix: <html>]",
                ),
                "",
            ),
            "garbage",
        ),
        (
            output::codex(
                "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"x\"}}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":10,\"output_tokens\":5}}\n",
                "",
            ),
            "answer",
        ),
        (output::codex(&codex("unexpected status 401 Unauthorized: x"), ""), "unauthorised"),
        (
            output::codex(&codex("exceeded retry limit, last status: 429 Too Many Requests"), ""),
            "rate-limited",
        ),
        (output::codex(&codex("We’re currently experiencing high demand"), ""), "server"),
        (output::codex("{\"type\":\"turn.completed\",\"usage\":{}}", ""), "empty"),
        (
            output::claude(
                "{\"result\":\"x\",\"usage\":{\"input_tokens\":4,\"cache_read_input_tokens\":6,\"output_tokens\":5}}",
                "",
            ),
            "answer",
        ),
        (output::claude(&claude("500", "API Error: 500 oops"), ""), "server"),
        (
            output::claude(
                &claude(
                    "null",
                    "API Error: API returned an empty or malformed response (HTTP 200)",
                ),
                "",
            ),
            "garbage",
        ),
        (output::claude("{\"stop_reason\":\"refusal\"}", ""), "refused"),
        (output::claude("{\"stop_reason\":\"end_turn\",\"result\":null}", ""), "empty"),
    ];
    for (index, (read, expected)) in table.into_iter().enumerate() {
        assert_eq!(word(read), expected, "row {index}");
    }
}

#[test]
fn a_failure_has_the_words_of_the_provider() {
    let nested = serde_json::json!({ "error": { "message": "no quota left", "code": 429 } });
    let gemini = serde_json::json!({ "error": { "message": nested.to_string(), "code": 429 } });
    let failed = |text: &str| {
        serde_json::json!({ "type": "turn.failed", "error": { "message": text } }).to_string()
    };
    let bwrap = serde_json::json!({ "type": "item.completed", "item": {
        "type": "command_execution", "aggregated_output": "bwrap: no permission\n",
    }});
    let qwen = serde_json::json!([{ "type": "result", "is_error": true, "error": {
        "message": "[API Error: 401 Incorrect API key provided.]",
    }}]);
    let claude = serde_json::json!({ "is_error": true, "api_error_status": 404,
        "result": "API Error: 404 {\"error\":{\"message\":\"model: x\"}}" });
    let long = serde_json::json!({ "is_error": true, "terminal_reason": "prompt_too_long",
        "result": "Prompt is too long" });
    let table = [
        (
            output::gemini("", &format!("Warning: Basic terminal detected\n{gemini}\n")),
            "rate-limited",
            "no quota left",
        ),
        (
            output::codex(
                &failed(
                    "unexpected status 404 Not Found: {\"error\":{\"message\":\"The model `x` does not exist\"}}, url: http://y",
                ),
                "",
            ),
            "not-found",
            "The model `x` does not exist",
        ),
        (
            output::codex(&failed("stream disconnected oddly"), ""),
            "connection",
            "stream disconnected oddly",
        ),
        (output::codex(&bwrap.to_string(), ""), "client", "bwrap: no permission"),
        (
            output::qwen(&qwen.to_string(), "Ripgrep not available"),
            "unauthorised",
            "401 Incorrect API key provided.",
        ),
        (output::claude(&claude.to_string(), ""), "not-found", "model: x"),
        (output::claude(&long.to_string(), ""), "too-long", "Prompt is too long"),
        (
            output::copilot("", "Error: slow down (HTTP 429)\n"),
            "rate-limited",
            "Error: slow down (HTTP 429)",
        ),
        (output::copilot("{\"type\":\"result\"}", ""), "empty", ""),
        (
            output::copilot(
                "{\"type\":\"session.error\",\"data\":{\"message\":\"Last error: 500 oops\",\"statusCode\":500}}",
                "",
            ),
            "server",
            "Last error: 500 oops",
        ),
        (
            output::claude(
                "{\"is_error\":true,\"subtype\":\"error_max_budget_usd\",\"errors\":[\"Reached maximum budget ($0.5)\"]}",
                "",
            ),
            "over-budget",
            "Reached maximum budget ($0.5)",
        ),
        (
            output::qwen(
                "",
                "{\n  \"error\": {\n    \"message\": \"Reached max session turns.\",\n    \"code\": 53\n  }\n}\n",
            ),
            "over-budget",
            "Reached max session turns.",
        ),
        (output::gemini("", "Warning: x\nit broke\n"), "connection", "it broke"),
        (output::gemini("", ""), "connection", ""),
    ];
    for (index, (parsed, kind, message)) in table.into_iter().enumerate() {
        let failure = parsed.unwrap_err();
        assert_eq!((failure.kind.word(), failure.message.as_str()), (kind, message), "row {index}");
    }
}

#[test]
fn only_a_client_that_ended_well_has_answered() {
    let answer = || {
        output::codex(
            "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"x\"}}",
            "",
        )
    };
    let failure = || output::gemini("", "");
    let table = [
        (answer(), ExitReason::Exit(0), "answer"),
        (answer(), ExitReason::Exit(1), "connection"),
        (answer(), ExitReason::Signal(9), "connection"),
        (failure(), ExitReason::Exit(1), "connection"),
        (failure(), ExitReason::Exit(127), "client"),
    ];
    for (parsed, ending, expected) in table {
        let judged = output::judge(parsed, ending);
        assert_eq!(judged.map_or_else(|failure| failure.kind.word(), |_| "answer"), expected);
    }
}

/// Qwen ends itself at the time limit that it is given, Gemini in a folder that it does not trust.
#[tokio::test]
async fn a_client_that_keeps_to_its_time_limit_is_no_failed_connection() {
    let table = [
        (ClientProgram::Qwen, "timed-out", "answer within 60s"),
        (ClientProgram::Gemini, "connection", "the connection failed"),
    ];
    for (program, word, words) in table {
        let folder = tempfile::tempdir().unwrap();
        let path = script(folder.path(), "#!/bin/sh\nexit 55\n");
        let settings = settings(program, Some(path), folder.path(), "http://127.0.0.1:9".into());
        let model = CliModel::new(settings).unwrap();
        let error = model.ask(&question(Duration::from_mins(1))).await.unwrap_err();
        assert_eq!(error.kind.word(), word, "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn versions_are_found() {
    assert_eq!(version_in("codex-cli 0.169.0\n"), Some(Version(0, 169, 0)));
    assert_eq!(version_in("2.1.197 (Claude Code)"), Some(Version(2, 1, 197)));
    assert_eq!(version_in("v0.15.10-nightly"), Some(Version(0, 15, 10)));
    assert_eq!(version_in("none"), None);
}

#[tokio::test]
async fn a_client_that_is_not_there_is_an_error_with_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = Some("no-such-client-here".to_owned());
    let missing = detect(ClientProgram::Codex, path.as_deref(), folder.path()).unwrap_err();
    assert!(missing.contains("@openai/codex"), "{missing}");
    let settings = settings(ClientProgram::Codex, path, folder.path(), "http://x".into());
    let model = CliModel::new(settings).unwrap();
    let error = model.ask(&question(Duration::from_secs(5))).await.unwrap_err();
    assert_eq!(error.kind.word(), "client");
}

/// The server of `tests/clients/server.py`.
fn server() -> (Child, Live, ChildStdin, u16) {
    recording_server().0
}

/// The same, and the requests that it gets.
#[expect(clippy::disallowed_methods, reason = "a test starts the server it talks to")]
fn recording_server() -> ((Child, Live, ChildStdin, u16), Receiver<Value>) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/server.py");
    let mut command = Command::new("python3");
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    // Sweeps of tests that run side by side leave it alone.
    let id = |child: &Child| Some(child.id());
    let (mut child, live) = Live::start("", || command.spawn(), id).expect("python3");
    let mut first = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut first).unwrap();
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            // Most tests do not look.
            drop(sender.send(serde_json::from_str(&line).unwrap_or_default()));
        }
    });
    let port = serde_json::from_str::<serde_json::Value>(&first).unwrap()["port"].as_u64().unwrap();
    let stdin = child.stdin.take().unwrap();
    ((child, live, stdin, u16::try_from(port).unwrap()), requests)
}

/// Path of a client that `tests/clients/install` installed.
fn installed(name: &str) -> String {
    let folder =
        environment::variable("REGREEN_CLIENTS").expect("REGREEN_CLIENTS names the folder");
    format!("{folder}/node_modules/.bin/{name}")
}

/// Names of the clients, in the order of [`WAYS`].
pub fn clients() -> impl Iterator<Item = &'static str> {
    ClientProgram::ALL.into_iter().map(|program| table::row(program).name)
}

/// What the server does, and the expected outcome with each client.
pub const WAYS: &[(&str, [&str; 5])] = &[
    // gemini, qwen, codex, claude, copilot
    ("success", ["answer", "answer", "answer", "answer", "answer"]),
    ("refusal", ["refused", "refused", "refused", "refused", "refused"]),
    ("401", ["unauthorised", "unauthorised", "unauthorised", "unauthorised", "unauthorised"]),
    ("402", ["out-of-quota", "out-of-quota", "out-of-quota", "out-of-quota", "out-of-quota"]),
    ("404", ["not-found", "not-found", "not-found", "not-found", "not-found"]),
    ("429", ["rate-limited", "rate-limited", "rate-limited", "rate-limited", "rate-limited"]),
    ("429-after", ["rate-limited", "rate-limited", "rate-limited", "rate-limited", "rate-limited"]),
    ("500", ["server", "server", "server", "server", "server"]),
    ("529", ["server", "server", "server", "server", "server"]),
    ("cut", ["connection", "connection", "connection", "connection", "connection"]),
    ("garbage", ["garbage", "garbage", "garbage", "garbage", "garbage"]),
    ("silence", ["timed-out", "timed-out", "timed-out", "timed-out", "timed-out"]),
];

#[tokio::test]
#[ignore = "needs node and the clients"]
async fn real_clients_answer_and_fail_in_every_way() {
    let (mut child, _live, stdin, port) = server();
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for (index, (way, expected)) in WAYS.iter().enumerate() {
        // A client takes seconds to start, so by default only the first way is tried with each.
        let chosen = |client| cfg!(feature = "slow-tests") || index == 0 || index % 5 == client;
        for (client, (program, expected)) in
            ClientProgram::ALL.into_iter().zip(expected).enumerate()
        {
            if !chosen(client) {
                continue;
            }
            let row = table::row(program);
            let v1 = if matches!(
                program,
                ClientProgram::Qwen | ClientProgram::Codex | ClientProgram::Copilot
            ) {
                "/v1"
            } else {
                ""
            };
            let base = format!("http://127.0.0.1:{port}/{way}{v1}");
            let settings = settings(program, Some(installed(row.name)), folder.path(), base);
            let model = CliModel::new(settings).unwrap();
            let limit = match (program, *way) {
                (_, "silence") => 6,
                _ => 45,
            };
            // Each client takes the limit that it knows.
            let left = SpendingLimits { micro_usd: Some(5_000_000), ..SpendingLimits::default() };
            let question = Question { left, ..question(Duration::from_secs(limit)) };
            let asked = model.ask(&question).await;
            let got = match &asked {
                Ok(answer) if answer.text.contains("from the client") => {
                    assert_eq!(answer.usage.tokens(), 15, "{}", row.name);
                    "answer"
                }
                Ok(_) => "another answer",
                Err(error) => error.kind.word(),
            };
            assert!(!format!("{asked:?}").contains(CANARY), "{} {way}", row.name);
            if got != *expected {
                wrong.push(format!("{} {way}: {got} instead of {expected}: {asked:?}", row.name));
            }
        }
    }
    drop(stdin);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
#[ignore = "needs node and the clients"]
async fn real_clients_say_their_version_and_leave_the_home_alone() {
    let folder = tempfile::tempdir().unwrap();
    for program in ClientProgram::ALL {
        let row = table::row(program);
        let path = installed(row.name);
        let version = detect(program, Some(&path), folder.path()).unwrap();
        assert!(version >= row.version, "{}", row.name);
    }
    assert!(real_home().is_some());
}

/// The script that installs the clients for the tests names the versions of the table.
#[test]
fn the_versions_of_the_tests_are_those_that_are_installed() {
    let script = include_str!("../../../../../tests/clients/install");
    for program in ClientProgram::ALL {
        let row = table::row(program);
        let pinned = format!("{}@{} ", row.package, row.version);
        assert!(script.replace('\n', " ").contains(&pinned), "{pinned}");
    }
}

#[test]
fn an_answer_that_a_client_cuts_is_no_failed_connection() {
    for text in [
        "stream disconnected: Incomplete response returned, reason: max_output_tokens",
        "API Error: Claude's response exceeded the 128000 output token maximum.",
    ] {
        assert_eq!(super::output::words_kind(text), Some(ModelErrorKind::Truncated), "{text}");
    }
}
