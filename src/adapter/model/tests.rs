//! Tests every protocol against a local server, with every outcome of an exchange.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::adapter::host::files;
use crate::adapter::host::http::Http;
use crate::domain::budget::{Price, Usage};
use crate::domain::provider::Protocol;
use crate::domain::secret::{Canary, Redactor, SecretKey};
use crate::effect::{
    ANSWER_LIMIT, Answer, Finish, Model, ModelError, ModelErrorKind, ModelFacts, Question,
};

use super::protocol::{LimitName, RequestFeatures};
use super::{Cassette, HttpModel, ProviderSettings, Recording, Replaying, cli};

const CANARY: &str = "canary-key/0123+456=789";

/// What the server does with the connection once it has read the request.
#[derive(Clone, Debug)]
enum Way {
    Reply(u16, String, String),
    Cut,
    Silence,
    Dribble,
    Flood,
    Hangup,
}

fn reply(status: u16, body: impl Into<String>) -> Way {
    Way::Reply(status, String::new(), body.into())
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0u8; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0usize);
            if body.len() >= length {
                return text;
            }
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return text,
            Ok(count) => bytes.extend_from_slice(piece.get(..count).unwrap()),
        }
    }
}

/// Serves one connection after the other; returns the address and the requests it sees.
async fn serve(ways: Vec<Way>) -> (String, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        for way in ways {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = read_request(&mut stream).await;
            sender.send(request).unwrap_or_default();
            // The client may have closed the connection, which it is free to do.
            drop(play(way, &mut stream).await);
        }
    });
    (address, requests)
}

async fn play(way: Way, stream: &mut TcpStream) -> std::io::Result<()> {
    match way {
        Way::Reply(status, headers, body) => {
            let head = format!(
                "HTTP/1.1 {status} X\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(body.as_bytes()).await
        }
        Way::Cut => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"half").await
        }
        Way::Silence => {
            tokio::time::sleep(Duration::from_secs(30)).await;
            Ok(())
        }
        Way::Dribble => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
            loop {
                stream.write_all(b"1\r\nx\r\n").await?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Way::Flood => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 52428800\r\n\r\n").await?;
            for _ in 0..50 {
                stream.write_all(&vec![b'x'; 1 << 20]).await?;
            }
            Ok(())
        }
        Way::Hangup => Ok(()),
    }
}

const PROTOCOLS: [(&str, Protocol); 4] = [
    ("gemini", Protocol::Gemini),
    ("chat", Protocol::Chat),
    ("responses", Protocol::Responses),
    ("anthropic", Protocol::Anthropic),
];

fn settings(base_url: &str) -> ProviderSettings {
    let key = SecretKey::new(CANARY);
    ProviderSettings {
        facts: ModelFacts {
            name: "p".into(),
            model: "m/1 x".into(),
            context: 1000,
            price: Some(Price { input: 1.0, output: 2.0, ..Price::default() }),
            ..ModelFacts::default()
        },
        redactor: Redactor::new([&key]),
        canary: None,
        key: Some(key),
        base_url: Some(base_url.to_owned()),
        headers: vec![("x-extra".into(), "yes".into())],
        timeout: Duration::from_mins(1),
    }
}

fn model(protocol: Protocol, base_url: &str) -> HttpModel {
    HttpModel::new(settings(base_url), protocol, Http::new().unwrap())
}

fn question(limit: Duration) -> Question {
    Question {
        id: "s/1/analyst/1/1".into(),
        system: "the rules".into(),
        prompt: "the question".into(),
        form: Some(("form", json!({ "type": "object" }))),
        temperature: Some(0.5),
        max_output_tokens: 77,
        limit,
        checkout: None,
    }
}

async fn ask(protocol: Protocol, ways: Vec<Way>, limit: Duration) -> Result<Answer, ModelError> {
    let (address, _requests) = serve(ways).await;
    model(protocol, &address).ask(&question(limit)).await
}

/// For each protocol: a good answer, a refusal, and an answer cut off at its limit.
fn bodies(name: &str) -> (Value, Value, Value) {
    match name {
        "gemini" => {
            let with = |reason: &str| {
                json!({
                    "candidates": [{
                        "content": { "parts": [{ "thought": true, "text": "hm" }, { "text": "{\"a\":1}" }] },
                        "finishReason": reason,
                    }],
                    "usageMetadata": { "promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 3, "thoughtsTokenCount": 2 },
                    "modelVersion": "v",
                })
            };
            (
                with("STOP"),
                json!({ "promptFeedback": { "blockReason": "SAFETY" } }),
                with("MAX_TOKENS"),
            )
        }
        "chat" => {
            let with = |reason: &str| {
                json!({
                    "choices": [{ "message": { "content": "{\"a\":1}" }, "finish_reason": reason }],
                    "usage": {
                        "prompt_tokens": 10, "completion_tokens": 5,
                        "prompt_tokens_details": { "cached_tokens": 4 },
                    },
                    "model": "v",
                })
            };
            let refusal =
                json!({ "choices": [{ "message": { "content": null, "refusal": "no" } }] });
            (with("stop"), refusal, with("length"))
        }
        "responses" => {
            let with = |part: Value, more: Value| {
                json!({
                    "output": [{ "type": "reasoning" }, { "type": "message", "content": [part] }],
                    "status": if more.is_null() { "completed" } else { "incomplete" },
                    "incomplete_details": more,
                    "usage": {
                        "input_tokens": 10, "output_tokens": 5,
                        "input_tokens_details": { "cached_tokens": 4 },
                    },
                    "model": "v",
                })
            };
            let text = json!({ "type": "output_text", "text": "{\"a\":1}" });
            (
                with(text.clone(), Value::Null),
                with(json!({ "type": "refusal", "refusal": "no" }), Value::Null),
                with(text, json!({ "reason": "max_output_tokens" })),
            )
        }
        _ => {
            let with = |reason: &str| {
                json!({
                    "content": [{ "type": "tool_use", "name": "form", "input": { "a": 1 } }],
                    "stop_reason": reason, "model": "v",
                    "usage": { "input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 5 },
                })
            };
            (with("tool_use"), with("refusal"), with("max_tokens"))
        }
    }
}

/// A complete answer without a text, and with usage.
fn empty(name: &str) -> Value {
    match name {
        "gemini" => json!({ "candidates": [{ "content": {}, "finishReason": "STOP" }] }),
        "chat" => json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "stop" }] }),
        "responses" => json!({ "output": [], "status": "completed" }),
        _ => json!({ "content": [], "stop_reason": "end_turn" }),
    }
}

const LONG: Duration = Duration::from_secs(20);
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
            ModelErrorKind::Server { status: 500 },
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

#[test]
fn the_output_limit_has_the_name_that_the_model_wants() {
    let table = [
        ("gpt-5.4-mini", "max_completion_tokens"),
        ("gpt-6-astra", "max_completion_tokens"),
        ("openai/o3", "max_completion_tokens"),
        ("o4-mini", "max_completion_tokens"),
        ("gpt-4.1", "max_tokens"),
        ("gpt-50", "max_tokens"),
        ("o365", "max_tokens"),
        ("qwen3-coder-plus", "max_tokens"),
        ("", "max_tokens"),
    ];
    for (model, expected) in table {
        assert_eq!(LimitName::of(model).word(), expected, "{model}");
    }
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
    let text = include_str!("../../../docs/providers.md");
    assert!(text.contains(&table), "docs/providers.md should hold\n{table}");
}

#[tokio::test]
async fn questions_are_written_as_the_protocols_want_them() {
    let mut shown = String::new();
    for (name, protocol) in PROTOCOLS {
        let (good, ..) = bodies(name);
        let (address, mut requests) = serve(vec![reply(200, good.to_string())]).await;
        model(protocol, &address).ask(&question(LONG)).await.unwrap();
        let request = requests.recv().await.unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let keyed = head.lines().filter(|line| line.contains(CANARY)).count();
        assert_eq!(keyed, 1, "{name}: the key is in one header");
        assert!(head.contains("x-extra: yes"), "{name}");
        let key = head.lines().find(|line| line.contains(CANARY)).unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        shown.push_str(&format!(
            "{name}: {} | {}\n{body}\n",
            head.lines().next().unwrap(),
            key.replace(CANARY, "KEY")
        ));
    }
    insta::assert_snapshot!(shown);
}

/// The bodies of a question that is asked until it is answered, and of one asked afterwards.
async fn learned(protocol: Protocol, name: &str, refusals: &[&str]) -> Vec<Value> {
    let (good, ..) = bodies(if name.is_empty() { "chat" } else { name });
    let refuse = |text: &&str| reply(400, json!({ "error": { "message": text } }).to_string());
    let answers = [reply(200, good.to_string()), reply(200, good.to_string())];
    let ways = refusals.iter().map(refuse).chain(answers).collect();
    let (address, mut requests) = serve(ways).await;
    let model = model(protocol, &address);
    for text in refusals {
        let error = model.ask(&question(LONG)).await.unwrap_err();
        assert_eq!(error.kind.word(), "unsupported", "{text}: {error}");
    }
    for _ in 0..2 {
        model.ask(&question(LONG)).await.unwrap();
    }
    let mut seen = Vec::new();
    for _ in 0..refusals.len() + 2 {
        let request = requests.recv().await.unwrap();
        seen.push(serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap());
    }
    seen
}

#[tokio::test]
async fn what_a_server_refuses_by_name_is_left_out_or_renamed_from_then_on() {
    let refusals = ["use max_completion_tokens instead", "temperature is not supported"];
    let bodies = learned(Protocol::Chat, "chat", &refusals).await;
    assert_eq!(bodies[0]["max_tokens"], 77);
    assert_eq!(bodies[1]["max_completion_tokens"], 77);
    assert_eq!(bodies[1]["temperature"], 0.5);
    for later in &bodies[2..] {
        assert_eq!(later["max_completion_tokens"], 77, "{later}");
        assert!(later["temperature"].is_null() && later["max_tokens"].is_null(), "{later}");
        assert!(later["response_format"].is_object(), "{later}");
    }
}

#[tokio::test]
async fn a_server_without_forms_is_asked_without_one_from_then_on() {
    let bodies = learned(Protocol::Chat, "chat", &["response_format is not supported"]).await;
    let has_form: Vec<bool> =
        bodies.iter().map(|body| body["response_format"].is_object()).collect();
    assert_eq!(has_form, [true, false, false]);
}

#[test]
fn a_limit_that_is_too_large_is_not_one_with_another_name() {
    let old = RequestFeatures::of("gpt-4.1");
    let new = RequestFeatures::of("gpt-5.4");
    let table = [
        (old, "max_tokens is too large: 32000", None),
        (old, "use 'max_completion_tokens' instead", Some("max_tokens")),
        (new, "max_completion_tokens is too large", None),
        (new, "Unknown parameter: 'max_completion_tokens'", Some("max_completion_tokens")),
        (old, "unknown field `x`", None),
    ];
    for (features, message, expected) in table {
        let refused = features.without_refused(message);
        assert_eq!(refused.map(|(_, name)| name), expected, "{message}");
        if let Some((renamed, _)) = refused {
            let again = renamed.without_refused("unknown: max_completion_tokens");
            assert_eq!(again.map(|(_, name)| name), None, "it is renamed once");
        }
    }
}

#[tokio::test]
async fn a_key_that_a_server_echoes_is_nowhere() {
    let echo = format!("{{\"error\":{{\"message\":\"the key {CANARY} is wrong\"}}}}");
    let error = ask(Protocol::Chat, vec![reply(401, echo)], LONG).await.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(CANARY) && shown.contains("[redacted]"), "{shown}");
    let (address, _requests) = serve(vec![]).await;
    let settings = model(Protocol::Chat, &address);
    assert!(!format!("{:?}", question(LONG)).contains(CANARY));
    drop(settings);
}

#[tokio::test]
async fn a_prompt_holds_a_mark_and_an_answer_that_repeats_it_is_refused() {
    let canary = Canary::new(&"0123456789".repeat(3));
    let (good, ..) = bodies("chat");
    let mut echo = good.clone();
    echo["choices"][0]["message"]["content"] = canary.mark().into();
    let ways = [good, echo].map(|body| reply(200, body.to_string()));
    let (address, mut requests) = serve(ways.into()).await;
    let settings = ProviderSettings { canary: Some(canary.clone()), ..settings(&address) };
    let model = HttpModel::new(settings, Protocol::Chat, Http::new().unwrap());
    model.ask(&question(LONG)).await.unwrap();
    assert!(canary.is_in(&requests.recv().await.unwrap()));
    let error = model.ask(&question(LONG)).await.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Garbage);
    assert!(error.to_string().contains("repeats the mark"), "{error}");
}

#[tokio::test]
async fn a_recording_replays_answers_and_errors_and_names_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let (good, ..) = bodies("chat");
    let ways = vec![reply(429, "slow"), reply(200, good.to_string())];
    let (address, _requests) = serve(ways).await;
    let inner = Box::new(model(Protocol::Chat, &address));
    let redactor = Redactor::new([&SecretKey::new(CANARY)]);
    let recording = Recording::new(inner, Cassette::new(folder.path()), redactor);
    let first = recording.ask(&question(LONG)).await.unwrap_err();
    // What was received is in the record of the exchange, not in the recording.
    let first = ModelError { raw: String::new(), ..first };
    let mut keyed = question(LONG);
    keyed.prompt = format!("a source with {CANARY}");
    let second = recording.ask(&keyed).await.unwrap();
    let replaying = Replaying::open("p", &Cassette::new(folder.path())).unwrap();
    assert_eq!(replaying.model(), "m/1 x");
    // A limit in dollars must stop a replay where it stopped the recording.
    let next = Usage::new(1_000, 0);
    assert_eq!((recording.price(next), replaying.price(next)), (Some(1_000), Some(1_000)));
    assert_eq!(replaying.ask(&question(LONG)).await.unwrap_err(), first);
    keyed.prompt = "a source with [redacted]".into();
    assert_eq!(replaying.ask(&keyed).await.unwrap().text, second.text);
    let ended = replaying.ask(&keyed).await.unwrap_err();
    assert!(ended.to_string().contains("the recording has ended"), "{ended}");
    let again = Replaying::open("p", &Cassette::new(folder.path())).unwrap();
    let mut other = question(LONG);
    other.prompt = "the question\nand more".into();
    let differs = again.ask(&other).await.unwrap_err();
    assert!(differs.to_string().contains("1 lines were asked, 2 are"), "{differs}");
    // A recording that must not contain sources stores a digest instead of each prompt.
    let path = folder.path().join("0002.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let digest = "sha256:0cb0ffd4c7a3b1f8b6a1d7e5b4d4b0b1";
    files::write(&path, text.replace("a source with [redacted]", digest).as_bytes()).unwrap();
    let short = Replaying::open("p", &Cassette::new(folder.path())).unwrap();
    assert_eq!(short.ask(&question(LONG)).await.unwrap_err(), first);
    let differs = short.ask(&keyed).await.unwrap_err().to_string();
    let (_, is) = differs.split_once("is `").unwrap();
    let is = is.split('`').next().unwrap();
    files::write(&path, text.replace("a source with [redacted]", is).as_bytes()).unwrap();
    let short = Replaying::open("p", &Cassette::new(folder.path())).unwrap();
    assert_eq!(short.ask(&question(LONG)).await.unwrap_err(), first);
    assert_eq!(short.ask(&keyed).await.unwrap().text, second.text);
    let empty = tempfile::tempdir().unwrap();
    let nothing = Replaying::open("p", &Cassette::new(empty.path())).unwrap();
    assert!(nothing.ask(&other).await.is_err());
}
