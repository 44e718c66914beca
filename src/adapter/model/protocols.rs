//! The table of protocols that models on the network speak.

use serde_json::json;

use crate::domain::provider::Protocol;

use super::protocol::ProtocolRow;
use super::{anthropic, gemini, openai_chat, openai_responses};

/// The word for an answer that a content filter stopped.
const FILTER: &[&str] = &["content_filter"];

const CHAT: ProtocolRow = ProtocolRow {
    base_url: "https://api.openai.com/v1",
    path: "/chat/completions",
    key: ("authorization", "Bearer "),
    version: None,
    body: openai_chat::body,
    parse: openai_chat::parse,
    usage: (&["/usage/prompt_tokens"], &["/usage/completion_tokens"]),
    cached: "/usage/prompt_tokens_details/cached_tokens",
    models: "/models",
    caps: &["/max_tokens", "/max_completion_tokens"],
    written: &["/choices"],
    refusals: &[
        ("/choices/0/finish_reason", FILTER),
        ("/choices/0/message/refusal", &[]),
        ("/choices/0/delta/refusal", &[]),
    ],
    no_money: |message| {
        let kind = "insufficient_quota";
        json!({ "error": { "message": message, "type": kind, "param": null, "code": kind } })
    },
};

impl ProtocolRow {
    /// The table row of a protocol.
    pub const fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Gemini => Self {
                base_url: "https://generativelanguage.googleapis.com",
                path: "/v1beta/models/{model}:generateContent",
                key: ("x-goog-api-key", ""),
                version: None,
                body: gemini::body,
                parse: gemini::parse,
                usage: (
                    &["/usageMetadata/promptTokenCount"],
                    &["/usageMetadata/candidatesTokenCount", "/usageMetadata/thoughtsTokenCount"],
                ),
                cached: "/usageMetadata/cachedContentTokenCount",
                models: "/v1beta/models?pageSize=1000",
                caps: &["/generationConfig/maxOutputTokens"],
                written: &["/candidates"],
                refusals: &[
                    ("/promptFeedback/blockReason", &[]),
                    (
                        "/candidates/0/finishReason",
                        &[
                            "SAFETY",
                            "RECITATION",
                            "LANGUAGE",
                            "BLOCKLIST",
                            "PROHIBITED_CONTENT",
                            "SPII",
                        ],
                    ),
                ],
                no_money: |message| {
                    let status = "RESOURCE_EXHAUSTED";
                    json!({ "error": { "code": 402, "message": message, "status": status } })
                },
            },
            Protocol::Chat => CHAT,
            Protocol::Responses => Self {
                path: "/responses",
                body: openai_responses::body,
                parse: openai_responses::parse,
                usage: (&["/usage/input_tokens"], &["/usage/output_tokens"]),
                cached: "/usage/input_tokens_details/cached_tokens",
                caps: &["/max_output_tokens"],
                written: &["/output", "/delta"],
                refusals: &[
                    ("/incomplete_details/reason", FILTER),
                    ("/response/incomplete_details/reason", FILTER),
                    ("/item/content/0/refusal", &[]),
                ],
                ..CHAT
            },
            Protocol::Anthropic => Self {
                base_url: "https://api.anthropic.com",
                path: "/v1/messages",
                key: ("x-api-key", ""),
                version: Some(("anthropic-version", "2023-06-01")),
                body: anthropic::body,
                parse: anthropic::parse,
                usage: (anthropic::INPUT_TOKENS, &["/usage/output_tokens"]),
                cached: "/usage/cache_read_input_tokens",
                models: "/v1/models?limit=1000",
                caps: &["/max_tokens"],
                written: &["/content", "/content_block", "/delta"],
                refusals: &[("/stop_reason", &["refusal"]), ("/delta/stop_reason", &["refusal"])],
                no_money: |message| {
                    let error = json!({ "type": "billing_error", "message": message });
                    json!({ "type": "error", "error": error })
                },
            },
        }
    }
}
