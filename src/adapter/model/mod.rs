//! Who can be asked: models behind protocols, each a file and a row of [`Protocol`], and
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

pub use client::{ClientModel, ClientSettings, Program, detect};
pub use http::{HttpModel, Protocol, ProviderSettings};
pub use tape::{Recording, Reel, Replaying};
