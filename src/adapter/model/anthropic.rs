//! Anthropic's Messages API (<https://docs.anthropic.com/en/api/messages>).

use serde_json::{Value, json};

use crate::adapter::host::http::text_at;
use crate::effect::{ModelErrorKind, Question};

use super::protocol::{ParsedAnswer, RequestFeatures, usage_at};

/// Writes a question; a structured answer is requested as a tool that must be called.
pub fn body(model: &str, question: &Question, _: RequestFeatures) -> Value {
    let form = question.form.as_ref();
    json!({
        "model": model,
        "system": question.system,
        "messages": [{ "role": "user", "content": question.prompt }],
        "max_tokens": question.max_output_tokens,
        "temperature": question.temperature,
        "tools": form.map(|(name, schema)| json!([{
            "name": name,
            "description": "Gives the answer.",
            "input_schema": schema,
        }])),
        "tool_choice": form.map(|(name, _)| json!({ "type": "tool", "name": name })),
    })
}

/// Input token counts, which Anthropic reports separately for its cache.
pub const INPUT_TOKENS: &[&str] = &[
    "/usage/input_tokens",
    "/usage/cache_creation_input_tokens",
    "/usage/cache_read_input_tokens",
];

/// Parses a response: the input of the tool call, else the text.
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
        usage: usage_at(body, INPUT_TOKENS, &["/usage/output_tokens"]),
        model: text_at(body, "/model").to_owned(),
    })
}
