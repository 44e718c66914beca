//! Chat Completions API, which many servers implement
//! (<https://platform.openai.com/docs/api-reference/chat>).

use serde_json::{Value, json};

use crate::adapter::host::http::text_at;
use crate::effect::{ModelErrorKind, Question};

use super::protocol::{ParsedAnswer, RequestFeatures, usage_at};

pub fn body(model: &str, question: &Question, features: RequestFeatures) -> Value {
    let longest = if features.max_tokens { "max_tokens" } else { "max_completion_tokens" };
    json!({
        "model": model,
        "messages": [
            { "role": "system", "content": question.system },
            { "role": "user", "content": question.prompt },
        ],
        longest: question.max_output_tokens,
        "temperature": question.temperature,
        "response_format": question.form.as_ref().map(|(name, schema)| json!({
            "type": "json_schema",
            "json_schema": { "name": name, "schema": schema },
        })),
    })
}

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
    // Some servers return the content as a list of parts.
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| text_at(part, "/text")).collect(),
        Value::Null if reason == "length" => String::new(),
        _ => return Err(ModelErrorKind::Garbage),
    };
    Ok(ParsedAnswer {
        text,
        cut: reason == "length",
        usage: usage_at(body, &["/usage/prompt_tokens"], &["/usage/completion_tokens"]),
        model: text_at(body, "/model").to_owned(),
    })
}
