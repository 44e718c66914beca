//! Tests of the requests that each protocol sends, and of what is left out of later ones.

use serde_json::{Value, json};

use crate::adapter::model::protocol::{LimitName, RequestFeatures};
use crate::domain::provider::Protocol;
use crate::effect::Model;

use super::{CANARY, LONG, PROTOCOLS, bodies, model, question, reply, serve};

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
