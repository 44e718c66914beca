//! `Signature`: the part of a failure that stays the same when numbers, paths and values change.
//!
//! Source: specification.md 7.7 (F-098).

use serde::{Deserialize, Serialize};

use super::id::RepoPath;
use super::test::{Layer, TestCase};

/// A failing test, reduced to what failures with the same cause have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Signature {
    pub class: String,
    /// The message with numbers, paths, addresses and quoted values replaced.
    pub message: String,
    /// The innermost stack frame inside the repository: file and function.
    pub frame: Option<(RepoPath, String)>,
    pub layer: Layer,
}

/// The signature of a failed test; without a failure, only the layer is set.
pub fn signature_of(case: &TestCase) -> Signature {
    let Some(failure) = &case.failure else {
        return Signature {
            class: String::new(),
            message: String::new(),
            frame: None,
            layer: case.layer,
        };
    };
    let frame = failure.frames.first().map(|frame| (frame.file.clone(), frame.function.clone()));
    Signature {
        class: failure.class.clone(),
        message: normalise(&failure.message),
        frame,
        layer: case.layer,
    }
}

/// Replaces what changes from run to run: quoted text by `'_'`, words with a digit by `#`, words
/// with a slash by `/`. Looks at the first 1,000 characters.
pub fn normalise(message: &str) -> String {
    let mut out = String::new();
    let mut characters = message.chars().take(1000).peekable();
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        if word.contains('/') {
            out.push('/');
        } else if word.chars().any(|c| c.is_ascii_digit()) {
            out.push('#');
        } else {
            out.push_str(word);
        }
        word.clear();
    };
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' | '`' if !word.chars().any(char::is_alphanumeric) => {
                flush(&mut word, &mut out);
                for inner in characters.by_ref() {
                    if inner == character {
                        break;
                    }
                }
                out.push_str("'_'");
            }
            _ if character.is_alphanumeric()
                || matches!(character, '/' | '_' | '.' | '-' | '\'') =>
            {
                word.push(character);
            }
            _ => {
                flush(&mut word, &mut out);
                let blank = character.is_whitespace();
                if !blank {
                    out.push(character);
                } else if !out.ends_with(' ') && !out.is_empty() {
                    out.push(' ');
                }
            }
        }
    }
    flush(&mut word, &mut out);
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_change_from_run_to_run_are_replaced() {
        let table = [
            ("10 != 12", "# != #"),
            ("expected 'alice' got \"bob\"", "expected '_' got '_'"),
            ("at 0x7f3a in /tmp/x/y.py", "at # in /"),
            ("can't  open\n file", "can't open file"),
            ("", ""),
        ];
        for (message, expected) in table {
            assert_eq!(normalise(message), expected, "{message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_a_short_signature(text in ".*") {
            proptest::prop_assert!(normalise(&text).chars().count() <= 3200);
        }
    }
}
