//! Anthropic's Messages API (<https://docs.anthropic.com/en/api/messages>).

use serde_json::{Value, json};

use crate::adapter::host::http::text_at;
use crate::effect::{ModelErrorKind, Question};

use super::protocol::{ParsedAnswer, RequestFeatures};

/// Writes a question. A forced call of a tool would exclude thinking, so the form is one of the text.
pub fn body(model: &str, question: &Question, _: RequestFeatures) -> Value {
    let schema = question.form.as_ref().map(|(_, schema)| schema);
    json!({
        "model": model,
        "system": question.system,
        "messages": [{ "role": "user", "content": question.prompt }],
        "max_tokens": question.max_output_tokens,
        "temperature": question.temperature,
        "output_config": schema.map(|schema| json!({
            "format": { "type": "json_schema", "schema": schema },
        })),
    })
}

/// Input token counts, which Anthropic reports separately for its cache.
pub const INPUT_TOKENS: &[&str] = &[
    "/usage/input_tokens",
    "/usage/cache_creation_input_tokens",
    "/usage/cache_read_input_tokens",
];

/// Parses a response: the input of a tool call, which some gateways make of a form, else the text.
pub fn parse(body: &Value) -> Result<ParsedAnswer, ModelErrorKind> {
    let content = body.get("content").and_then(Value::as_array).ok_or(ModelErrorKind::Garbage)?;
    let reason = text_at(body, "/stop_reason");
    match reason {
        "refusal" => return Err(ModelErrorKind::Refused { reason: reason.to_owned() }),
        // Question and answer together are too long, so a longer answer would not fit either.
        "model_context_window_exceeded" => return Err(ModelErrorKind::TooLong),
        _ => {}
    }
    let tool = content.iter().find(|part| text_at(part, "/type") == "tool_use");
    let text = match tool.and_then(|tool| tool.get("input")) {
        Some(input) => input.to_string(),
        None => content.iter().map(|part| text_at(part, "/text")).collect(),
    };
    Ok(ParsedAnswer {
        text,
        cut: reason == "max_tokens",
        model: text_at(body, "/model").to_owned(),
        ..ParsedAnswer::default()
    })
}
