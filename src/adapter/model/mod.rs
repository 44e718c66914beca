//! Who can be asked: models behind protocols, each a file and a row of [`ProtocolRow`], and
//! recordings of them. They speak and understand; whom to ask next is decided elsewhere.

mod anthropic;
mod chat;
mod client;
mod gemini;
mod http;
mod responses;
mod status;
mod tape;

#[cfg(test)]
mod tests;

use crate::domain::provider::Protocol;

use http::ProtocolRow;

pub use client::{ClientModel, ClientSettings, detect};
pub use http::{HttpModel, ProviderSettings};
pub use tape::{Cassette, Recording, Replaying};

/// Every form in which models answer, as a reader of foreign text.
#[cfg(any(test, feature = "internals"))]
pub const READERS: &[crate::domain::Reader] = &[
    ("gemini", |text| body(Protocol::Gemini, text)),
    ("chat", |text| body(Protocol::Chat, text)),
    ("responses", |text| body(Protocol::Responses, text)),
    ("anthropic", |text| body(Protocol::Anthropic, text)),
    ("error-answer", |text| {
        let received = crate::adapter::host::http::Received {
            status: 429,
            headers: vec![("retry-after".to_owned(), text.chars().take(64).collect())],
            body: text.as_bytes().to_vec(),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        drop(status::kind(&received, text));
    }),
    ("clients", client::read_all),
];

#[cfg(any(test, feature = "internals"))]
fn body(protocol: Protocol, text: &str) {
    if let Ok(value) = serde_json::from_str(text) {
        drop((ProtocolRow::of(protocol).read)(&value));
    }
}
