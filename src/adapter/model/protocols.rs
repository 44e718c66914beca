//! The table of protocols that models on the network speak.

use crate::domain::provider::Protocol;

use super::protocol::ProtocolRow;
use super::{anthropic, chat, gemini, responses};

const CHAT: ProtocolRow = ProtocolRow {
    base_url: "https://api.openai.com/v1",
    path: "/chat/completions",
    key: ("authorization", "Bearer "),
    version: None,
    body: chat::body,
    parse: chat::parse,
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
            },
            Protocol::Chat => CHAT,
            Protocol::Responses => {
                Self { path: "/responses", body: responses::body, parse: responses::parse, ..CHAT }
            }
            Protocol::Anthropic => Self {
                base_url: "https://api.anthropic.com",
                path: "/v1/messages",
                key: ("x-api-key", ""),
                version: Some(("anthropic-version", "2023-06-01")),
                body: anthropic::body,
                parse: anthropic::parse,
            },
        }
    }
}
