//! Reads and limits the questions of clients, and counts their answers, in each protocol.

use serde_json::{Value, json};

use crate::adapter::host::gateway::Dialect;
use crate::adapter::host::http::text_at;
use crate::domain::budget::Usage;
use crate::domain::provider::Protocol;
use crate::domain::text::bounded;

use super::own_text;
use super::protocol::{LimitName, ProtocolRow};

impl ProtocolRow {
    /// The protocol of a request, by its path.
    pub fn at(path: &str) -> &'static dyn Dialect {
        if path.ends_with("/messages") {
            &const { Self::of(Protocol::Anthropic) }
        } else if path.ends_with("/chat/completions") {
            &const { Self::of(Protocol::Chat) }
        } else if path.ends_with("enerateContent") {
            &const { Self::of(Protocol::Gemini) }
        } else {
            &const { Self::of(Protocol::Responses) }
        }
    }
}

/// The path of Anthropic's protocol.
const MESSAGES: &str = "/v1/messages";

/// Texts of an answer that the model did not write.
const LABELS: &[&str] = &[
    "type",
    "id",
    "call_id",
    "role",
    "status",
    "finish_reason",
    "finishReason",
    "stop_reason",
    "signature",
    "thoughtSignature",
];

/// The tokens below which Anthropic refuses a budget for thinking.
const LEAST_THINKING: u32 = 1_024;

impl Dialect for ProtocolRow {
    fn model<'a>(&self, path: &'a str, question: &'a Value) -> &'a str {
        let in_path = || path.rsplit_once("/models/")?.1.split_once(':').map(|(name, _)| name);
        match text_at(question, "/model") {
            "" => in_path().unwrap_or_default(),
            name => name,
        }
    }

    fn cap(&self, question: &Value) -> Option<u32> {
        let caps = self.caps.iter().filter_map(|path| question.pointer(path)?.as_u64());
        caps.max().map(|cap| u32::try_from(cap).unwrap_or(u32::MAX))
    }

    fn beyond_its_text(&self, question: &Value) -> Option<String> {
        own_text::beyond(question, self.path == MESSAGES)
    }

    fn pictures(&self, question: &Value) -> usize {
        own_text::pictures(question)
    }

    fn set_one_answer(&self, question: &mut Value) {
        for path in ["/n", "/generationConfig/candidateCount"] {
            if let Some(count) = question.pointer_mut(path) {
                *count = 1.into();
            }
        }
        // What is answered faster costs more.
        for name in ["service_tier", "speed"] {
            drop(question.as_object_mut().and_then(|fields| fields.remove(name)));
        }
    }

    fn cache_share(&self, question: &Value) -> Option<u64> {
        // Anthropic alone charges for it, a quarter of what is stored for five minutes.
        let text = question.to_string();
        let is_stored = self.path == MESSAGES && text.contains("\"cache_control\"");
        is_stored.then(|| if text.contains("\"ttl\":\"1h\"") { 1 } else { 4 })
    }

    fn set_cap(&self, question: &mut Value, cap: u32) {
        let is_named = |path: &&&str| question.pointer(path).is_some_and(|cap| !cap.is_null());
        let named: Vec<&str> = self.caps.iter().filter(is_named).copied().collect();
        let usual = LimitName::of(text_at(question, "/model")).word();
        let usual = self.caps.iter().find(|path| path.get(1..) == Some(usual));
        let first = usual.or(self.caps.first()).filter(|_| named.is_empty());
        for path in named.into_iter().chain(first.copied()) {
            let place = path.split('/').skip(1).fold(&mut *question, |place, name| {
                if !place.is_object() {
                    *place = json!({});
                }
                &mut place[name]
            });
            *place = cap.into();
        }
        // Anthropic wants more room for an answer than for the thinking before it.
        let thinking = question.pointer_mut("/thinking/budget_tokens");
        match thinking.filter(|budget| budget.as_u64().is_some_and(|budget| budget >= cap.into())) {
            Some(budget) if cap / 2 >= LEAST_THINKING => *budget = (cap / 2).into(),
            Some(_) => drop(question.as_object_mut().and_then(|fields| fields.remove("thinking"))),
            None => {}
        }
    }

    fn ask_for_usage(&self, question: &mut Value) -> bool {
        let is_asked = question.pointer("/stream_options/include_usage") == Some(&true.into());
        if self.path != "/chat/completions"
            || question.get("stream") != Some(&true.into())
            || is_asked
        {
            return false;
        }
        match question.get_mut("stream_options").and_then(Value::as_object_mut) {
            Some(options) => drop(options.insert("include_usage".to_owned(), true.into())),
            None => question["stream_options"] = json!({ "include_usage": true }),
        }
        true
    }

    fn usage(&self, answer: &Value) -> Usage {
        // The first or last event of a stream holds the whole answer.
        let whole = answer.get("response").or_else(|| answer.get("message"));
        self.usage_in(whole.unwrap_or(answer))
    }

    fn written(&self, answer: &Value) -> usize {
        self.written.iter().filter_map(|path| answer.pointer(path)).map(bytes_in).sum()
    }

    fn refusal(&self, answer: &Value) -> Option<String> {
        self.refusals.iter().find_map(|(path, words)| {
            let text = text_at(answer, path);
            let is_meant = !text.is_empty() && (words.is_empty() || words.contains(&text));
            is_meant.then(|| bounded(text, 200))
        })
    }

    fn over_budget(&self, message: &str) -> Value {
        (self.no_money)(message)
    }
}

/// The bytes of the texts in a value that the model wrote.
fn bytes_in(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(bytes_in).sum(),
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !LABELS.contains(&name.as_str()))
            .map(|(_, value)| bytes_in(value))
            .sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANTHROPIC: &str = "/v1/messages";
    const CHAT: &str = "/v1/chat/completions";
    const GEMINI: &str = "/v1beta/models/gemini-3.8-flash:streamGenerateContent";
    const RESPONSES: &str = "/v1/responses";

    #[test]
    fn the_limit_of_an_answer_is_lowered_where_the_question_has_it() {
        let thinking = |budget| json!({ "type": "enabled", "budget_tokens": budget });
        let table = [
            (ANTHROPIC, json!({ "max_tokens": 9 }), Some(9), json!({ "max_tokens": 5_000 })),
            (
                ANTHROPIC,
                json!({ "max_tokens": 32_000, "thinking": thinking(9_000) }),
                Some(32_000),
                json!({ "max_tokens": 5_000, "thinking": thinking(2_500) }),
            ),
            (
                ANTHROPIC,
                json!({ "max_tokens": 32_000, "thinking": thinking(4_999) }),
                Some(32_000),
                json!({ "max_tokens": 5_000, "thinking": thinking(4_999) }),
            ),
            (CHAT, json!({ "model": "m" }), None, json!({ "model": "m", "max_tokens": 5_000 })),
            (
                CHAT,
                json!({ "model": "gpt-5.5" }),
                None,
                json!({ "model": "gpt-5.5", "max_completion_tokens": 5_000 }),
            ),
            (
                CHAT,
                json!({ "model": "m", "max_completion_tokens": 7, "max_tokens": null }),
                Some(7),
                json!({ "model": "m", "max_completion_tokens": 5_000, "max_tokens": null }),
            ),
            (
                CHAT,
                json!({ "max_completion_tokens": 7, "max_tokens": 8 }),
                Some(8),
                json!({ "max_completion_tokens": 5_000, "max_tokens": 5_000 }),
            ),
            (
                RESPONSES,
                json!({ "input": [] }),
                None,
                json!({ "input": [], "max_output_tokens": 5_000 }),
            ),
            (
                RESPONSES,
                json!({ "max_output_tokens": 1_u64 << 40 }),
                Some(u32::MAX),
                json!({ "max_output_tokens": 5_000 }),
            ),
            (GEMINI, json!({}), None, json!({ "generationConfig": { "maxOutputTokens": 5_000 } })),
            (
                GEMINI,
                json!({ "generationConfig": { "topP": 1, "maxOutputTokens": 65_536 } }),
                Some(65_536),
                json!({ "generationConfig": { "topP": 1, "maxOutputTokens": 5_000 } }),
            ),
        ];
        for (path, mut question, cap, expected) in table {
            let dialect = ProtocolRow::at(path);
            assert_eq!(dialect.cap(&question), cap, "{path} {question}");
            dialect.set_cap(&mut question, 5_000);
            assert_eq!(question, expected, "{path}");
        }
        let mut short = json!({ "max_tokens": 32_000, "thinking": thinking(9_000) });
        ProtocolRow::at(ANTHROPIC).set_cap(&mut short, 2_000);
        assert_eq!(short, json!({ "max_tokens": 2_000 }), "too little to think");
    }

    #[test]
    fn a_limited_question_gets_one_answer_at_the_usual_price() {
        let mut question = json!({ "n": 8, "service_tier": "priority", "speed": "fast" });
        ProtocolRow::at(CHAT).set_one_answer(&mut question);
        assert_eq!(question, json!({ "n": 1 }));
        let stored = |ttl: Value| json!({ "system": [{ "text": "x", "cache_control": ttl }] });
        let table = [
            (ANTHROPIC, json!({ "system": "x" }), None),
            (ANTHROPIC, stored(json!({ "type": "ephemeral" })), Some(4)),
            (ANTHROPIC, stored(json!({ "type": "ephemeral", "ttl": "1h" })), Some(1)),
            (CHAT, stored(json!({ "type": "ephemeral" })), None),
        ];
        for (path, question, expected) in table {
            assert_eq!(ProtocolRow::at(path).cache_share(&question), expected, "{path} {question}");
        }
    }

    #[test]
    fn a_question_names_its_model_in_the_body_or_in_the_path() {
        let table = [
            (GEMINI, json!({}), "gemini-3.8-flash"),
            (ANTHROPIC, json!({ "model": "claude-haiku-4-5" }), "claude-haiku-4-5"),
            (RESPONSES, Value::Null, ""),
        ];
        for (path, question, expected) in table {
            assert_eq!(ProtocolRow::at(path).model(path, &question), expected, "{path}");
        }
    }

    #[test]
    fn only_streams_of_chat_have_to_be_asked_for_their_usage() {
        let asked = json!({ "stream": true, "stream_options": { "include_usage": true } });
        let table = [
            (CHAT, json!({ "stream": true }), Some(asked.clone())),
            (CHAT, json!({ "stream": true, "stream_options": null }), Some(asked.clone())),
            (
                CHAT,
                json!({ "stream": true, "stream_options": { "x": 1 } }),
                Some(
                    json!({ "stream": true, "stream_options": { "x": 1, "include_usage": true } }),
                ),
            ),
            (CHAT, asked, None),
            (CHAT, json!({ "stream": false }), None),
            (RESPONSES, json!({ "stream": true }), None),
            (ANTHROPIC, json!({ "stream": true }), None),
        ];
        for (path, question, expected) in table {
            let mut changed = question.clone();
            let is_changed = ProtocolRow::at(path).ask_for_usage(&mut changed);
            assert_eq!(is_changed.then_some(changed), expected, "{path} {question}");
        }
    }

    #[test]
    fn what_a_model_wrote_is_counted_in_bodies_and_in_events() {
        let table = [
            (
                CHAT,
                json!({ "choices": [{ "delta": { "role": "assistant", "content": "abc" } }] }),
                3,
            ),
            (
                CHAT,
                json!({ "choices": [{ "finish_reason": "tool_calls", "message": { "content": null,
                    "tool_calls": [{ "id": "c1", "type": "function",
                        "function": { "name": "read", "arguments": "{}" } }] } }] }),
                6,
            ),
            (
                ANTHROPIC,
                json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": "abc" } }),
                3,
            ),
            (
                ANTHROPIC,
                json!({ "content": [{ "type": "text", "text": "abc" }], "role": "assistant" }),
                3,
            ),
            (
                ANTHROPIC,
                json!({ "type": "message_start", "message": { "id": "m", "content": [] } }),
                0,
            ),
            (RESPONSES, json!({ "type": "response.output_text.delta", "delta": "abc" }), 3),
            (RESPONSES, json!({ "type": "response.output_text.done", "text": "abc" }), 0),
            (
                RESPONSES,
                json!({ "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "abc" }] }] }),
                3,
            ),
            (
                GEMINI,
                json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "abc", "thoughtSignature": "xyz" }] } }] }),
                3,
            ),
        ];
        for (path, answer, expected) in table {
            assert_eq!(ProtocolRow::at(path).written(&answer), expected, "{answer}");
        }
    }

    #[test]
    fn a_model_declines_in_the_words_of_its_protocol() {
        let table = [
            (
                CHAT,
                json!({ "choices": [{ "finish_reason": "content_filter" }] }),
                Some("content_filter"),
            ),
            (
                CHAT,
                json!({ "choices": [{ "finish_reason": "stop", "message": { "refusal": null } }] }),
                None,
            ),
            (
                CHAT,
                json!({ "choices": [{ "delta": { "refusal": "I will not" } }] }),
                Some("I will not"),
            ),
            (GEMINI, json!({ "candidates": [{ "finishReason": "SAFETY" }] }), Some("SAFETY")),
            (GEMINI, json!({ "candidates": [{ "finishReason": "MAX_TOKENS" }] }), None),
            (GEMINI, json!({ "promptFeedback": { "blockReason": "OTHER" } }), Some("OTHER")),
            (
                RESPONSES,
                json!({ "item": { "content": [{ "type": "refusal", "refusal": "I will not" }] } }),
                Some("I will not"),
            ),
            (
                RESPONSES,
                json!({ "response": { "incomplete_details": { "reason": "content_filter" } } }),
                Some("content_filter"),
            ),
            (RESPONSES, json!({ "response": { "incomplete_details": null } }), None),
            (ANTHROPIC, json!({ "delta": { "stop_reason": "refusal" } }), Some("refusal")),
            (ANTHROPIC, json!({ "delta": { "stop_reason": "end_turn" } }), None),
        ];
        for (path, answer, expected) in table {
            assert_eq!(ProtocolRow::at(path).refusal(&answer).as_deref(), expected, "{answer}");
        }
    }

    #[test]
    fn a_question_without_money_is_refused_in_the_form_of_its_protocol() {
        let table = [
            (ANTHROPIC, "/error/message", "/error/type", "billing_error"),
            (CHAT, "/error/message", "/error/code", "insufficient_quota"),
            (RESPONSES, "/error/message", "/error/type", "insufficient_quota"),
            (GEMINI, "/error/message", "/error/status", "RESOURCE_EXHAUSTED"),
        ];
        for (path, message, place, word) in table {
            let body = ProtocolRow::at(path).over_budget("no money");
            assert_eq!(
                (text_at(&body, message), text_at(&body, place)),
                ("no money", word),
                "{path}"
            );
        }
    }
}
