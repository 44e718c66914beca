//! Tests of every outcome of an exchange with every protocol.

use std::time::Duration;

use serde_json::{Value, json};

use crate::adapter::model::cli;
use crate::domain::budget::Usage;
use crate::domain::provider::Protocol;
use crate::effect::{ANSWER_LIMIT, Finish, Model, ModelErrorKind};

use super::{LONG, PROTOCOLS, Way, ask, bodies, model, question, reply};

/// A complete answer without a text, and with usage.
fn empty(name: &str) -> Value {
    match name {
        "gemini" => json!({ "candidates": [{ "content": {}, "finishReason": "STOP" }] }),
        "chat" => json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "stop" }] }),
        "responses" => json!({ "output": [], "status": "completed" }),
        _ => json!({ "content": [], "stop_reason": "end_turn" }),
    }
}

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn every_protocol_answers_and_stops() {
    for (name, protocol) in PROTOCOLS {
        let (good, _, cut) = bodies(name);
        let answer = ask(protocol, vec![reply(200, good.to_string())], LONG).await.unwrap();
        assert_eq!(answer.text, "{\"a\":1}", "{name}");
        let usage = Usage { cached_tokens: 4, ..Usage::new(10, 5) };
        assert_eq!(answer.usage, usage, "{name}");
        assert_eq!((answer.finish, answer.model.as_str()), (Finish::Done, "v"), "{name}");
        let answer = ask(protocol, vec![reply(200, cut.to_string())], LONG).await.unwrap();
        assert_eq!(answer.finish, Finish::Cut, "{name}");
    }
}

/// What the server does, named as in `tests/clients/server.py`, and the expected outcome with every
/// protocol.
fn ways(protocol: &str) -> Vec<(&'static str, Way, &'static str)> {
    let (good, refused, _) = bodies(protocol);
    vec![
        ("success", reply(200, good.to_string()), "answer"),
        ("refusal", reply(200, refused.to_string()), "refused"),
        ("401", reply(401, "{\"error\":{\"message\":\"bad key\"}}"), "unauthorised"),
        ("403", reply(403, ""), "unauthorised"),
        ("402", reply(402, ""), "out-of-quota"),
        ("429", reply(429, "slow down"), "rate-limited"),
        ("429-after", Way::Reply(429, "retry-after: 7\r\n".into(), "x".into()), "rate-limited"),
        ("429-quota", reply(429, "{\"error\":{\"code\":\"insufficient_quota\"}}"), "out-of-quota"),
        ("500", reply(500, "oops"), "server"),
        ("529", reply(529, "overloaded"), "server"),
        ("404", reply(404, ""), "not-found"),
        ("410", reply(410, ""), "gone"),
        ("an error in a 200", reply(200, "{\"error\":{\"message\":\"no upstream\"}}"), "server"),
        ("a rate limit in a 200", reply(200, "{\"error\":{\"code\":429}}"), "rate-limited"),
        ("too long", reply(400, "maximum context length"), "too-long"),
        ("400", reply(400, "unknown field `x`"), "bad-request"),
        (
            "redirect",
            Way::Reply(307, "location: http://127.0.0.1:9/\r\n".into(), String::new()),
            "bad-request",
        ),
        ("cut", Way::Cut, "connection"),
        ("hang up", Way::Hangup, "connection"),
        ("silence", Way::Silence, "timed-out"),
        ("a stream that never ends", Way::Dribble, "timed-out"),
        ("50 MB", Way::Flood, "garbage"),
        ("garbage", reply(200, "<html>hello</html>"), "garbage"),
        ("nothing", reply(200, ""), "empty"),
        ("an empty answer", reply(200, empty(protocol).to_string()), "empty"),
        ("another form", reply(200, "{\"hello\": []}"), "garbage"),
        ("not UTF-8", reply(200, "\u{fffd}{"), "garbage"),
        ("a nest", reply(200, "[".repeat(100_000)), "garbage"),
    ]
}

#[tokio::test]
async fn every_way_of_every_protocol_has_its_kind() {
    for (name, protocol) in PROTOCOLS {
        for (why, way, expected) in ways(name) {
            let limit = if expected == "timed-out" { SHORT } else { LONG };
            let asked = ask(protocol, vec![way], limit).await;
            let got = asked.as_ref().map_or_else(|error| error.kind.word(), |_| "answer");
            assert_eq!(got, expected, "{name}: {why}: {asked:?}");
            if why == "429-after" {
                let retry_after = Some(Duration::from_secs(7));
                assert_eq!(asked.unwrap_err().kind, ModelErrorKind::RateLimited { retry_after });
            }
        }
        let nobody = model(protocol, "http://127.0.0.1:9").ask(&question(LONG)).await.unwrap_err();
        assert_eq!(nobody.kind, ModelErrorKind::Connection, "{name}");
    }
    const { assert!(ANSWER_LIMIT < 50 << 20, "the flood is larger than what is read") };
}

/// A server that reports no tokens is not free: what the model worked on is estimated.
#[tokio::test]
async fn what_no_server_counts_is_estimated() {
    // The question has 38 bytes with its form, and its answer may have 77 tokens.
    let estimate = |output| Usage { estimated: true, ..Usage::new(12, output) };
    for (name, protocol) in PROTOCOLS {
        let mut silent = bodies(name).0;
        let counted = ["usage", "usageMetadata"].map(|field| silent[field].take());
        assert!(counted.iter().any(Value::is_object), "{name}");
        let length = (silent.to_string().len() / 3) as u64;
        let table = [
            ("an answer", reply(200, silent.to_string()), estimate(length.min(77))),
            ("garbage", reply(200, "<html>"), estimate(2)),
            ("a flood", Way::Flood, estimate(77)),
            ("nothing", reply(200, ""), estimate(0)),
            ("silence", Way::Silence, estimate(0)),
            ("half an answer", Way::Cut, estimate(0)),
            ("a refused request", reply(400, "unknown field"), Usage::default()),
            ("a broken server", reply(500, ""), Usage::default()),
            ("no server", Way::Hangup, Usage::default()),
        ];
        for (why, way, expected) in table {
            let limit = if why == "silence" { SHORT } else { LONG };
            let asked = ask(protocol, vec![way], limit).await;
            let usage = asked.map_or_else(|error| *error.usage, |answer| answer.usage);
            assert_eq!(usage, expected, "{name}: {why}");
        }
    }
}

/// Every way in which a model declines, in the words of its protocol, with usage.
#[tokio::test]
async fn an_answer_that_is_declined_keeps_its_usage() {
    let part = |part: Value| json!({ "output": [{ "type": "message", "content": [part] }] });
    let refused = |reason: &str| ModelErrorKind::Refused { reason: reason.into() };
    let table = [
        (
            Protocol::Gemini,
            json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" } }),
            json!({ "usageMetadata": { "promptTokenCount": 8, "thoughtsTokenCount": 1 } }),
            refused("prohibited_content"),
        ),
        (
            Protocol::Gemini,
            json!({ "candidates": [{ "finishReason": "RECITATION" }] }),
            json!({ "usageMetadata": { "promptTokenCount": 8, "candidatesTokenCount": 1 } }),
            refused("recitation"),
        ),
        (
            Protocol::Chat,
            json!({ "choices": [{ "message": { "content": null, "refusal": "I will not" } }] }),
            json!({ "usage": { "prompt_tokens": 8, "completion_tokens": 1 } }),
            refused("I will not"),
        ),
        (
            Protocol::Chat,
            json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "content_filter" }] }),
            json!({ "usage": { "prompt_tokens": 8, "completion_tokens": 1 } }),
            refused("content_filter"),
        ),
        (
            Protocol::Responses,
            part(json!({ "type": "refusal", "refusal": "I will not" })),
            json!({ "usage": { "input_tokens": 8, "output_tokens": 1 } }),
            refused("I will not"),
        ),
        (
            Protocol::Responses,
            json!({ "output": [], "status": "incomplete", "incomplete_details": { "reason": "content_filter" } }),
            json!({ "usage": { "input_tokens": 8, "output_tokens": 1 } }),
            refused("content_filter"),
        ),
        (
            Protocol::Responses,
            json!({ "output": [], "status": "failed", "error": { "code": "server_error", "message": "sorry" } }),
            json!({ "usage": { "input_tokens": 8, "output_tokens": 1 } }),
            ModelErrorKind::Server { status: 200 },
        ),
        (
            Protocol::Anthropic,
            json!({ "content": [], "stop_reason": "refusal" }),
            json!({ "usage": { "input_tokens": 8, "output_tokens": 1 } }),
            refused("refusal"),
        ),
        (
            Protocol::Anthropic,
            json!({ "content": [], "stop_reason": "model_context_window_exceeded" }),
            json!({ "usage": { "input_tokens": 8, "output_tokens": 1 } }),
            ModelErrorKind::TooLong,
        ),
    ];
    for (protocol, mut body, usage, expected) in table {
        let fields = usage.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(fields);
        let error = ask(protocol, vec![reply(200, body.to_string())], LONG).await.unwrap_err();
        assert_eq!(error.kind, expected, "{protocol:?}: {body}");
        assert_eq!(error.usage.tokens(), 9, "{protocol:?}: {body}");
    }
}

#[tokio::test]
async fn an_envelope_without_an_answer_is_empty() {
    let usage = json!({ "promptTokenCount": 8 });
    for (protocol, body) in [
        (Protocol::Gemini, json!({ "candidates": [] })),
        (Protocol::Gemini, json!({ "usageMetadata": usage })),
        (Protocol::Chat, json!({ "choices": [] })),
    ] {
        let error = ask(protocol, vec![reply(200, body.to_string())], LONG).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Empty, "{body}");
    }
}

#[tokio::test]
async fn people_read_the_words_of_the_provider_and_the_record_has_the_rest() {
    let body =
        json!({ "error": { "message": "the model is overloaded", "trace": "x".repeat(5_000) } });
    let error = ask(Protocol::Chat, vec![reply(503, body.to_string())], LONG).await.unwrap_err();
    assert_eq!(error.to_string(), "p: the server failed with 503: the model is overloaded");
    assert!(error.raw.contains("trace"));
    let page = "<html><head><title>403 Forbidden</title></head><body>...</body></html>";
    let error = ask(Protocol::Chat, vec![reply(200, page)], LONG).await.unwrap_err();
    let shown = "p: the answer is not in the form of its protocol: 403 Forbidden";
    assert_eq!(error.to_string(), shown);
    let hello = ask(Protocol::Chat, vec![reply(200, "{\"hello\": 1}")], LONG).await.unwrap_err();
    assert_eq!(hello.to_string(), "p: the answer is not in the form of its protocol");
}

/// The table of outcomes in the documentation equals the one that the tests check.
#[test]
fn the_table_in_the_documentation_is_that_of_the_tests() {
    let mut table = String::from("|");
    let clients: Vec<String> = cli::tests::clients().map(|name| format!("{name} client")).collect();
    let heads = PROTOCOLS.iter().map(|(name, _)| (*name).to_owned()).chain(clients);
    let heads: Vec<String> = heads.collect();
    table += &format!(" | {} |\n|---{}|\n", heads.join(" | "), "|---".repeat(heads.len()));
    for (why, _, expected) in ways("chat") {
        let of_clients = cli::tests::WAYS.iter().find(|(way, _)| *way == why);
        let cells = [expected; PROTOCOLS.len()]
            .into_iter()
            .chain(of_clients.map_or([""; 5], |(_, kinds)| *kinds));
        table += &format!("| {why} | {} |\n", cells.collect::<Vec<_>>().join(" | "));
    }
    for (way, _) in cli::tests::WAYS {
        assert!(ways("chat").iter().any(|(why, ..)| why == way), "{way}");
    }
    let text = include_str!("../../../../docs/providers.md");
    assert!(text.contains(&table), "docs/providers.md should hold\n{table}");
}
