//! How bold the next iteration may be.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bold an iteration is (product.md 7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// One targeted fix, then a full run.
    Conservative,
    /// Related failures in one batch.
    Aggressive,
    /// The smallest change, after a regression.
    Surgical,
    /// Another approach, after a test stayed red.
    Reflective,
}

impl Strategy {
    /// The word used in commits, tables and files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Conservative => "conservative",
            Self::Aggressive => "aggressive",
            Self::Surgical => "surgical",
            Self::Reflective => "reflective",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
