//! Anthropic messages (<https://docs.anthropic.com/en/api/messages>).

use serde_json::{Value, json};

use crate::domain::budget::Usage;
use crate::effect::{ModelErrorKind, Question};

use super::protocol::{
    ParsedAnswer, ProtocolRequest, ProviderSettings, RequestFeatures, count_at, text_at,
};

/// Writes the request for a question; a form is asked for as a tool that must be called.
pub fn request(
    settings: &ProviderSettings,
    question: &Question,
    features: RequestFeatures,
) -> ProtocolRequest {
    let mut headers = vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())];
    if let Some(key) = &settings.key {
        headers.push(("x-api-key".to_owned(), key.expose().to_owned()));
    }
    let mut body = json!({
        "model": settings.facts.model,
        "system": question.system,
        "messages": [{ "role": "user", "content": question.prompt }],
        "max_tokens": question.max_output_tokens,
    });
    if let Some(temperature) = question.temperature.filter(|_| features.temperature) {
        body["temperature"] = json!(temperature);
    }
    if let (true, Some((name, schema))) = (features.form, &question.form) {
        body["tools"] = json!([{
            "name": name,
            "description": "Gives the answer.",
            "input_schema": schema,
        }]);
        body["tool_choice"] = json!({ "type": "tool", "name": name });
    }
    ProtocolRequest { path: "/v1/messages".into(), headers, body }
}

/// Parses an answer: the input of the tool, else the text.
pub fn parse(body: &Value) -> Result<ParsedAnswer, ModelErrorKind> {
    let content = body.get("content").and_then(Value::as_array).ok_or(ModelErrorKind::Garbage)?;
    let reason = text_at(body, "/stop_reason");
    if reason == "refusal" {
        return Err(ModelErrorKind::Refused { reason: reason.to_owned() });
    }
    let tool = content.iter().find(|part| text_at(part, "/type") == "tool_use");
    let text = match tool.and_then(|tool| tool.get("input")) {
        Some(input) => input.to_string(),
        None => content.iter().map(|part| text_at(part, "/text")).collect(),
    };
    Ok(ParsedAnswer {
        text,
        cut: matches!(reason, "max_tokens" | "model_context_window_exceeded"),
        usage: Usage {
            input_tokens: count_at(body, "/usage/input_tokens")
                + count_at(body, "/usage/cache_creation_input_tokens")
                + count_at(body, "/usage/cache_read_input_tokens"),
            output_tokens: count_at(body, "/usage/output_tokens"),
        },
        model: text_at(body, "/model").to_owned(),
    })
}
