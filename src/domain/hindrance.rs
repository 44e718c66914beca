//! `Hindrance`: why no honest edit of the code makes a failing test pass.

use serde::{Deserialize, Serialize};

/// Why no honest edit of the code makes a failing test pass, with the evidence as a clause about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hindrance {
    /// Another test expects another result of the same call.
    Contradiction(String),
    /// It is an example of a document that the code contradicts.
    Document(String),
    /// Its set-up fails by itself.
    SetUp(String),
    /// Its environment lacks something.
    Environment(String),
    /// It needs what only an installation brings.
    NotInstalled(String),
}

impl Hindrance {
    /// The evidence.
    #[must_use]
    pub fn evidence(&self) -> &str {
        match self {
            Self::Contradiction(text)
            | Self::Document(text)
            | Self::SetUp(text)
            | Self::Environment(text)
            | Self::NotInstalled(text) => text,
        }
    }

    /// What a person is asked for, before the evidence.
    #[must_use]
    pub fn request(&self) -> &'static str {
        match self {
            Self::Contradiction(_) => {
                "tests contradict each other, so a person must decide which one is right"
            }
            Self::Document(_) => "documentation and code contradict, so a person must decide",
            Self::SetUp(_) => "a set-up fails whatever the code does, so a person must repair it",
            Self::Environment(_) => {
                "the environment lacks what a test needs, so a person must bring it"
            }
            Self::NotInstalled(_) => {
                "something is not installed, and no edit of the code brings it"
            }
        }
    }
}
