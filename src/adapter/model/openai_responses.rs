//! The Responses protocol (<https://platform.openai.com/docs/api-reference/responses>).

use serde_json::{Value, json};

use crate::adapter::host::http::text_at;
use crate::effect::{ModelErrorKind, Question};

use super::protocol::{ParsedAnswer, RequestFeatures};

/// Builds the request body; the provider is asked to store nothing.
pub fn body(model: &str, question: &Question, _: RequestFeatures) -> Value {
    json!({
        "model": model,
        "instructions": question.system,
        "input": question.prompt,
        "max_output_tokens": question.max_output_tokens,
        "store": false,
        "temperature": question.temperature,
        "text": question.form.as_ref().map(|(name, schema)| json!({
            "format": { "type": "json_schema", "name": name, "schema": schema, "strict": true },
        })),
    })
}

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
        model: text_at(body, "/model").to_owned(),
        ..ParsedAnswer::default()
    })
}
