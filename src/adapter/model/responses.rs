//! Responses (<https://platform.openai.com/docs/api-reference/responses>).

use serde_json::{Value, json};

use crate::domain::budget::Usage;
use crate::effect::{ModelErrorKind, Question};

use super::chat::bearer;
use super::protocol::{
    ParsedAnswer, ProtocolRequest, ProviderSettings, RequestFeatures, count_at, text_at,
};

/// Writes the request for a question. Nothing is stored at the provider.
pub fn request(
    settings: &ProviderSettings,
    question: &Question,
    features: RequestFeatures,
) -> ProtocolRequest {
    let mut body = json!({
        "model": settings.facts.model,
        "instructions": question.system,
        "input": question.prompt,
        "max_output_tokens": question.max_output_tokens,
        "store": false,
    });
    if let Some(temperature) = question.temperature.filter(|_| features.temperature) {
        body["temperature"] = json!(temperature);
    }
    if let (true, Some((name, schema))) = (features.form, &question.form) {
        body["text"] = json!({
            "format": { "type": "json_schema", "name": name, "schema": schema, "strict": false },
        });
    }
    ProtocolRequest { path: "/responses".into(), headers: bearer(settings), body }
}

/// Parses an answer.
pub fn parse(body: &Value) -> Result<ParsedAnswer, ModelErrorKind> {
    let output = body.get("output").and_then(Value::as_array).ok_or(ModelErrorKind::Garbage)?;
    let mut text = String::new();
    for part in output.iter().filter_map(|item| item.get("content")?.as_array()).flatten() {
        match text_at(part, "/type") {
            "refusal" => {
                let reason = text_at(part, "/refusal").chars().take(200).collect();
                return Err(ModelErrorKind::Refused { reason });
            }
            "output_text" => text.push_str(text_at(part, "/text")),
            _ => {}
        }
    }
    let incomplete = text_at(body, "/incomplete_details/reason");
    match (text_at(body, "/status"), incomplete) {
        ("incomplete", "content_filter") => {
            return Err(ModelErrorKind::Refused { reason: incomplete.to_owned() });
        }
        ("failed" | "cancelled", _) => return Err(ModelErrorKind::Server { status: 200 }),
        _ => {}
    }
    Ok(ParsedAnswer {
        text,
        cut: incomplete == "max_output_tokens",
        usage: Usage {
            input_tokens: count_at(body, "/usage/input_tokens"),
            output_tokens: count_at(body, "/usage/output_tokens"),
        },
        model: text_at(body, "/model").to_owned(),
    })
}
