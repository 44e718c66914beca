//! `PlanInput`: a request for tests, by session, document or description (specification.md 2.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::{NameError, SessionId, slug};

/// Maximum size of a description, in bytes.
pub const DESCRIPTION_LIMIT: usize = 256 << 10;

/// Maximum length of a title, in characters.
const TITLE: usize = 120;

/// Why an input is rejected before the repository is examined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanInputError {
    #[error("there is nothing to test: the input is empty")]
    Empty,
    /// It begins like a session id but is not a valid one.
    #[error(transparent)]
    Session(#[from] NameError),
    #[error("{document} is empty")]
    EmptyDocument { document: String },
    #[error("{document} is not text: byte {at} is not UTF-8 or is a control character")]
    BinaryDocument {
        document: String,
        /// Offset of the first invalid byte, from 0.
        at: usize,
    },
    #[error("{document} is larger than {} KiB", DESCRIPTION_LIMIT >> 10)]
    LargeDocument { document: String },
}

impl PlanInputError {
    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::Empty => "name a function, a file, a folder, a session or a Markdown file".into(),
            Self::Session(_) => "a source session is named like `WFS-add-login`".into(),
            Self::EmptyDocument { .. } => {
                "write down what is to be tested, with names of files or functions".into()
            }
            Self::BinaryDocument { .. } => "name a Markdown file in UTF-8".into(),
            Self::LargeDocument { .. } => "name the part that is to be tested".into(),
        }
    }
}

/// What the user asks tests for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", content = "value")]
pub enum PlanInput {
    Session(SessionId),
    /// A Markdown file, whose content is the description.
    Document(String),
    /// The input is itself a description.
    Text(String),
}

impl PlanInput {
    /// The mode: `session` or `prompt` (specification.md 1.2).
    pub fn mode(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Document(_) | Self::Text(_) => "prompt",
        }
    }

    /// The input as it was given.
    pub fn text(&self) -> &str {
        match self {
            Self::Session(id) => id.as_str(),
            Self::Document(text) | Self::Text(text) => text,
        }
    }
}

/// Determines the kind of an input. The first rule that holds wins: `WFS-…` is a session, `….md` a
/// document, everything else a description.
///
/// Source: specification.md 2.2.
pub fn detect(input: &str) -> Result<PlanInput, PlanInputError> {
    let input = input.trim();
    if input.is_empty() {
        return Err(PlanInputError::Empty);
    }
    if input.starts_with("WFS-") {
        return Ok(PlanInput::Session(SessionId::parse(input)?));
    }
    let is_document = input.len() > 3 && input.to_ascii_lowercase().ends_with(".md");
    if is_document && !input.contains('\n') {
        return Ok(PlanInput::Document(input.to_owned()));
    }
    Ok(PlanInput::Text(input.to_owned()))
}

/// Validates and decodes the content of a document.
pub fn document(name: &str, bytes: &[u8]) -> Result<String, PlanInputError> {
    let document = name.to_owned();
    if bytes.len() > DESCRIPTION_LIMIT {
        return Err(PlanInputError::LargeDocument { document });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| PlanInputError::BinaryDocument {
        document: document.clone(),
        at: error.valid_up_to(),
    })?;
    let foreign = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    if let Some(at) = text.find(foreign) {
        return Err(PlanInputError::BinaryDocument { document, at });
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    if !text.chars().any(char::is_alphanumeric) {
        return Err(PlanInputError::EmptyDocument { document });
    }
    Ok(text.to_owned())
}

/// The first line with a letter or digit, without Markdown markers in front of it.
pub fn first_line(text: &str) -> String {
    let line = text.lines().map(|line| line.trim_start_matches(['#', '-', '*', '>', ' ']).trim());
    let line = line.into_iter().find(|line| line.chars().any(char::is_alphanumeric));
    line.unwrap_or_default().chars().take(TITLE).collect()
}

/// The title of a session (specification.md 3.1).
pub fn title(entry: &PlanInput, description: &str) -> String {
    match entry {
        PlanInput::Session(id) => format!("Test validation for {id}: {}", first_line(description)),
        PlanInput::Document(_) | PlanInput::Text(_) => {
            format!("Test generation for: {}", first_line(description))
        }
    }
}

/// The preferred session id for an input; the caller adds a number if it is taken.
pub fn wanted_id(entry: &PlanInput, description: &str) -> String {
    let name = match entry {
        PlanInput::Session(id) => id.as_str().trim_start_matches("WFS-").to_owned(),
        PlanInput::Document(_) | PlanInput::Text(_) => first_line(description),
    };
    format!("WFS-test-{}", slug(&name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_modes_are_distinguished_in_order() {
        let session = |text: &str| PlanInput::Session(SessionId::parse(text).unwrap());
        let table = [
            ("WFS-add-login", Ok(session("WFS-add-login"))),
            ("  WFS-x.md ", Err(())),
            ("WFS-a/../b", Err(())),
            ("docs/x.md", Ok(PlanInput::Document("docs/x.md".into()))),
            ("README.MD", Ok(PlanInput::Document("README.MD".into()))),
            (".md", Ok(PlanInput::Text(".md".into()))),
            ("first\nsee docs/x.md", Ok(PlanInput::Text("first\nsee docs/x.md".into()))),
            ("price parsing", Ok(PlanInput::Text("price parsing".into()))),
            ("wfs-small is a text", Ok(PlanInput::Text("wfs-small is a text".into()))),
            (" \n ", Err(())),
        ];
        for (input, expected) in table {
            assert_eq!(detect(input).map_err(drop), expected, "{input:?}");
        }
    }

    #[test]
    fn documents_without_words_and_binary_ones_are_named() {
        let empty = |bytes: &[u8]| document("a.md", bytes).unwrap_err();
        assert!(matches!(empty(b""), PlanInputError::EmptyDocument { .. }));
        assert!(matches!(empty(b"\n---\n# \n"), PlanInputError::EmptyDocument { .. }));
        assert!(matches!(empty(b"ab\xffcd"), PlanInputError::BinaryDocument { at: 2, .. }));
        assert!(matches!(empty(b"PK\x03\x04x"), PlanInputError::BinaryDocument { at: 2, .. }));
        let large = vec![b'a'; DESCRIPTION_LIMIT + 1];
        assert!(matches!(empty(&large), PlanInputError::LargeDocument { .. }));
        assert_eq!(document("a.md", b"\xef\xbb\xbf# Prices\r\n").unwrap(), "# Prices");
        for error in [empty(b""), empty(b"\x00"), empty(&large), PlanInputError::Empty] {
            assert!(!error.hint().is_empty(), "{error}");
        }
    }

    #[test]
    fn titles_and_ids_follow_the_mode() {
        let source = PlanInput::Session(SessionId::parse("WFS-add-login").unwrap());
        assert_eq!(
            title(&source, "Add login\nmore"),
            "Test validation for WFS-add-login: Add login"
        );
        assert_eq!(wanted_id(&source, "Add login"), "WFS-test-add-login");
        let text = PlanInput::Document("x.md".into());
        assert_eq!(title(&text, "\n## Price parser\n"), "Test generation for: Price parser");
        assert_eq!(wanted_id(&text, "\n## Price parser\n"), "WFS-test-price-parser");
    }

    proptest! {
        #[test]
        fn every_input_has_one_answer_and_every_id_is_allowed(input in ".{0,80}") {
            if let Ok(entry) = detect(&input) {
                let id = wanted_id(&entry, entry.text());
                prop_assert!(SessionId::parse(id.clone()).is_ok(), "{}", id);
            }
            drop(document("x.md", input.as_bytes()));
        }
    }
}
