//! How a provider is reached: an HTTP protocol or a command-line client. The architecture document
//! lists what a new variant needs besides what the compiler names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name of the embedded engine, in chains and as the author of plans and proposals.
pub const EMBEDDED: &str = "embedded";

/// HTTP API protocol of a model provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    Gemini,
    /// Chat completions API, and everything compatible.
    Chat,
    /// The `OpenAI` Responses API.
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
    Copilot,
}

impl ClientProgram {
    pub const ALL: [Self; 5] = [Self::Gemini, Self::Qwen, Self::Codex, Self::Claude, Self::Copilot];

    /// The name of its program.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Copilot => "copilot",
        }
    }
}

/// How a client handles a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientMode {
    /// The client answers with text.
    #[default]
    Answer,
    /// The client edits a private checkout; its diff is the answer.
    Agent,
}
