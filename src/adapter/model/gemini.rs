//! Gemini's `generateContent` API (<https://ai.google.dev/api/generate-content>).

use serde_json::{Value, json};

use crate::adapter::host::http::text_at;
use crate::effect::{ModelErrorKind, Question};

use super::protocol::{ParsedAnswer, RequestFeatures};

pub fn body(_: &str, question: &Question, _: RequestFeatures) -> Value {
    let schema = question.form.as_ref().map(|(_, schema)| schema);
    json!({
        "systemInstruction": { "parts": [{ "text": question.system }] },
        "contents": [{ "role": "user", "parts": [{ "text": question.prompt }] }],
        "generationConfig": {
            "maxOutputTokens": question.max_output_tokens,
            "temperature": question.temperature,
            "responseMimeType": schema.map(|_| "application/json"),
            "responseJsonSchema": schema,
        },
    })
}

/// Parses a response. A blocked answer has a block reason instead of an error status.
pub fn parse(body: &Value) -> Result<ParsedAnswer, ModelErrorKind> {
    let blocked = text_at(body, "/promptFeedback/blockReason");
    if !blocked.is_empty() {
        return Err(ModelErrorKind::Refused { reason: blocked.to_lowercase() });
    }
    let Some(candidate) = body.pointer("/candidates/0") else {
        let fields = ["candidates", "usageMetadata"];
        let is_envelope = fields.iter().any(|field| body.get(field).is_some());
        return Err(if is_envelope { ModelErrorKind::Empty } else { ModelErrorKind::Garbage });
    };
    let reason = text_at(candidate, "/finishReason");
    let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
    let text: String = parts
        .into_iter()
        .flatten()
        .filter(|part| part.get("thought").and_then(Value::as_bool) != Some(true))
        .map(|part| text_at(part, "/text"))
        .collect();
    match reason {
        "" | "STOP" | "MAX_TOKENS" => {}
        "MALFORMED_FUNCTION_CALL" => return Err(ModelErrorKind::Garbage),
        _ => return Err(ModelErrorKind::Refused { reason: reason.to_lowercase() }),
    }
    if parts.is_none() && reason.is_empty() {
        return Err(ModelErrorKind::Garbage);
    }
    Ok(ParsedAnswer {
        text,
        cut: reason == "MAX_TOKENS",
        model: text_at(body, "/modelVersion").to_owned(),
        ..ParsedAnswer::default()
    })
}
