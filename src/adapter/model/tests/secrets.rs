//! Tests of what must not leave an exchange: keys and the mark of the prompt.

use crate::adapter::host::http::Http;
use crate::adapter::model::{HttpModel, ProviderSettings};
use crate::domain::provider::Protocol;
use crate::domain::secret::Canary;
use crate::effect::{Model, ModelErrorKind};

use super::{CANARY, LONG, ask, bodies, model, question, reply, serve, settings};

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
