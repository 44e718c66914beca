//! Chat completions, and every server compatible with them
//! (<https://platform.openai.com/docs/api-reference/chat>).

use serde_json::{Value, json};

use crate::domain::budget::Usage;
use crate::effect::{ModelErrorKind, Question};

use super::protocol::{
    ParsedAnswer, ProtocolRequest, ProviderSettings, RequestFeatures, count_at, text_at,
};

/// Writes the request for a question.
pub fn request(
    settings: &ProviderSettings,
    question: &Question,
    features: RequestFeatures,
) -> ProtocolRequest {
    let mut body = json!({
        "model": settings.facts.model,
        "messages": [
            { "role": "system", "content": question.system },
            { "role": "user", "content": question.prompt },
        ],
    });
    let longest = if features.max_tokens { "max_tokens" } else { "max_completion_tokens" };
    body[longest] = json!(question.max_output_tokens);
    if let Some(temperature) = question.temperature.filter(|_| features.temperature) {
        body["temperature"] = json!(temperature);
    }
    if let (true, Some((name, schema))) = (features.form, &question.form) {
        body["response_format"] = json!({
            "type": "json_schema",
            "json_schema": { "name": name, "schema": schema },
        });
    }
    ProtocolRequest { path: "/chat/completions".into(), headers: bearer(settings), body }
}

/// The key as a bearer token.
pub fn bearer(settings: &ProviderSettings) -> Vec<(String, String)> {
    let key = settings.key.as_ref();
    key.map(|key| ("authorization".to_owned(), format!("Bearer {}", key.expose())))
        .into_iter()
        .collect()
}

/// Parses an answer.
pub fn parse(body: &Value) -> Result<ParsedAnswer, ModelErrorKind> {
    let choice = body.pointer("/choices/0").ok_or(ModelErrorKind::Garbage)?;
    let refusal = text_at(choice, "/message/refusal");
    if !refusal.is_empty() {
        let reason = refusal.chars().take(200).collect();
        return Err(ModelErrorKind::Refused { reason });
    }
    let reason = text_at(choice, "/finish_reason");
    if reason == "content_filter" {
        return Err(ModelErrorKind::Refused { reason: reason.to_owned() });
    }
    let content = choice.pointer("/message/content").ok_or(ModelErrorKind::Garbage)?;
    // Some servers answer in parts.
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text_at(part, "/text")).collect(),
        Value::Null if reason == "length" => String::new(),
        _ => return Err(ModelErrorKind::Garbage),
    };
    Ok(ParsedAnswer {
        text,
        cut: reason == "length",
        usage: Usage {
            input_tokens: count_at(body, "/usage/prompt_tokens"),
            output_tokens: count_at(body, "/usage/completion_tokens"),
        },
        model: text_at(body, "/model").to_owned(),
    })
}
