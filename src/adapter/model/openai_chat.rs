//! Chat Completions API, which many servers implement
//! (<https://platform.openai.com/docs/api-reference/chat>).

use serde_json::{Value, json};

use crate::adapter::host::http::text_at;
use crate::effect::{ModelErrorKind, Question};

use super::protocol::{ParsedAnswer, RequestFeatures};

pub fn body(model: &str, question: &Question, features: RequestFeatures) -> Value {
    json!({
        "model": model,
        "messages": [
            { "role": "system", "content": question.system },
            { "role": "user", "content": question.prompt },
        ],
        features.limit.word(): question.max_output_tokens,
        "temperature": question.temperature,
        "response_format": question.form.as_ref().map(|(name, schema)| json!({
            "type": "json_schema",
            "json_schema": { "name": name, "schema": schema, "strict": true },
        })),
    })
}

pub fn parse(body: &Value) -> Result<ParsedAnswer, ModelErrorKind> {
    let choices = body.get("choices").and_then(Value::as_array).ok_or(ModelErrorKind::Garbage)?;
    let choice = choices.first().ok_or(ModelErrorKind::Empty)?;
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
    // Some servers return the content as a list of parts.
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text_at(part, "/text")).collect(),
        Value::Null => String::new(),
        _ => return Err(ModelErrorKind::Garbage),
    };
    Ok(ParsedAnswer {
        text,
        cut: reason == "length",
        model: text_at(body, "/model").to_owned(),
        ..ParsedAnswer::default()
    })
}
