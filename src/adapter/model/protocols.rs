//! The protocols.

use crate::domain::provider::Protocol;

use super::protocol::ProtocolRow;
use super::{anthropic, chat, gemini, responses};

impl ProtocolRow {
    /// The row of a protocol.
    pub const fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Gemini => Self {
                base_url: "https://generativelanguage.googleapis.com",
                request: gemini::request,
                parse: gemini::parse,
            },
            Protocol::Chat => Self {
                base_url: "https://api.openai.com/v1",
                request: chat::request,
                parse: chat::parse,
            },
            Protocol::Responses => Self {
                base_url: "https://api.openai.com/v1",
                request: responses::request,
                parse: responses::parse,
            },
            Protocol::Anthropic => Self {
                base_url: "https://api.anthropic.com",
                request: anthropic::request,
                parse: anthropic::parse,
            },
        }
    }
}
