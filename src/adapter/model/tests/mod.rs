//! Tests every protocol against a local server: what is shared by the topics below.

mod outcomes;
mod recordings;
mod requests;
mod secrets;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::adapter::host::http::Http;
use crate::domain::budget::{Price, SpendingLimits};
use crate::domain::provider::Protocol;
use crate::domain::secret::{Redactor, SecretKey};
use crate::effect::{Answer, Model, ModelError, ModelFacts, Question, UsageMeter};

use super::{HttpModel, ProviderSettings};

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
        left: SpendingLimits::default(),
        checkout: None,
        meter: UsageMeter::default(),
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

const LONG: Duration = Duration::from_secs(20);
