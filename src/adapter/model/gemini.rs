//! Gemini `generateContent` (<https://ai.google.dev/api/generate-content>).

use serde_json::{Value, json};

use crate::adapter::host::http::percent_encode;
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
    let mut generation = json!({ "maxOutputTokens": question.max_output_tokens });
    if let Some(temperature) = question.temperature.filter(|_| features.temperature) {
        generation["temperature"] = json!(temperature);
    }
    if let (true, Some((_, schema))) = (features.form, &question.form) {
        generation["responseMimeType"] = json!("application/json");
        generation["responseJsonSchema"] = schema.clone();
    }
    let mut headers = Vec::new();
    if let Some(key) = &settings.key {
        headers.push(("x-goog-api-key".to_owned(), key.expose().to_owned()));
    }
    ProtocolRequest {
        path: format!("/v1beta/models/{}:generateContent", percent_encode(&settings.facts.model)),
        headers,
        body: json!({
            "systemInstruction": { "parts": [{ "text": question.system }] },
            "contents": [{ "role": "user", "parts": [{ "text": question.prompt }] }],
            "generationConfig": generation,
        }),
    }
}

/// Parses an answer. A blocked one arrives as a reason, not as an error.
pub fn parse(body: &Value) -> Result<ParsedAnswer, ModelErrorKind> {
    let blocked = text_at(body, "/promptFeedback/blockReason");
    if !blocked.is_empty() {
        return Err(ModelErrorKind::Refused { reason: blocked.to_lowercase() });
    }
    let candidate = body.pointer("/candidates/0").ok_or(ModelErrorKind::Garbage)?;
    let reason = text_at(candidate, "/finishReason");
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    let text: String = parts
        .into_iter()
        .flatten()
        .filter(|part| part.get("thought").and_then(Value::as_bool) != Some(true))
        .map(|part| text_at(part, "/text"))
        .collect();
    if !matches!(reason, "" | "STOP" | "MAX_TOKENS") {
        return Err(ModelErrorKind::Refused { reason: reason.to_lowercase() });
    }
    if parts.is_none() && reason != "MAX_TOKENS" {
        return Err(ModelErrorKind::Garbage);
    }
    let usage = "/usageMetadata";
    Ok(ParsedAnswer {
        text,
        cut: reason == "MAX_TOKENS",
        usage: Usage {
            input_tokens: count_at(body, &format!("{usage}/promptTokenCount")),
            output_tokens: count_at(body, &format!("{usage}/candidatesTokenCount"))
                + count_at(body, &format!("{usage}/thoughtsTokenCount")),
        },
        model: text_at(body, "/modelVersion").to_owned(),
    })
}
