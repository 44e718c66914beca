//! Models that can be asked: behind protocols, each of which is a file and a `ProtocolRow`, behind
//! command-line clients, and in recordings. The chain in `role` decides which model comes next.

mod agent_changes;
mod anthropic;
mod cassette;
mod cli;
mod dialects;
mod gemini;
mod http;
mod openai_chat;
mod openai_responses;
mod own_text;
mod protocol;
mod protocols;
mod status;

#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "internals"))]
use crate::domain::provider::Protocol;
#[cfg(any(test, feature = "internals"))]
use protocol::ProtocolRow;

pub use cassette::{Cassette, Recording, Replaying};
pub use cli::{CliModel, ClientFolders, ClientSettings, detect, install, installed};
pub use http::HttpModel;
pub use protocol::ProviderSettings;

/// The parsers of all model responses, for the fuzzer.
#[cfg(any(test, feature = "internals"))]
pub const READERS: &[crate::domain::Reader] = &[
    ("gemini", |text| parse_body(Protocol::Gemini, text)),
    ("chat", |text| parse_body(Protocol::Chat, text)),
    ("responses", |text| parse_body(Protocol::Responses, text)),
    ("anthropic", |text| parse_body(Protocol::Anthropic, text)),
    ("error-answer", |text| {
        let received = crate::adapter::host::http::Received {
            status: 429,
            headers: vec![("retry-after".to_owned(), text.chars().take(64).collect())],
            body: text.as_bytes().to_vec(),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        let body = serde_json::from_str(text).ok();
        if let Some(error) = status::ErrorBody::of(&received, body.as_ref(), text) {
            drop(status::kind(&received, &error));
        }
    }),
    ("clients", cli::read_all),
];

#[cfg(any(test, feature = "internals"))]
fn parse_body(protocol: Protocol, text: &str) {
    if let Ok(value) = serde_json::from_str(text) {
        drop((ProtocolRow::of(protocol).parse)(&value));
    }
}
