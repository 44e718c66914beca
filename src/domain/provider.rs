//! How a provider is reached: a protocol or a command-line client. A new one is a variant here; the
//! compiler names every table that needs a row for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A protocol that models are asked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    Gemini,
    /// Chat completions, and everything compatible.
    Chat,
    /// The OpenAI Responses API.
    Responses,
    /// The Anthropic Messages API.
    Anthropic,
}

/// A command-line client that asks a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientProgram {
    Gemini,
    Qwen,
    Codex,
    Claude,
}

/// What a client does with a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientMode {
    /// The client answers with text.
    #[default]
    Answer,
    /// Edits a private checkout; the difference is the answer.
    Agent,
}
