//! Identifiers: repository paths, git object ids and session ids, validated when they are parsed,
//! and test ids, which hold whatever name a framework gives.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a text is not a valid identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not a path inside the repository.
    #[error("`{text}` is not a path inside the repository: {reason}")]
    Path { text: String, reason: &'static str },
    #[error("`{text}` is not a session id: {reason}")]
    Session { text: String, reason: &'static str },
    /// Not a full object id.
    #[error("`{text}` is not an object id: expected 40 hexadecimal digits")]
    Object { text: String },
}

/// Implements `as_str`, `Display` and the conversions from and to `String` for an identifier.
macro_rules! checked_text {
    ($name:ident) => {
        impl $name {
            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

checked_text!(RepoPath);
checked_text!(SessionId);

/// A path below the repository root, with `/` between its parts.
///
/// Never absolute, never empty, never with `.`, `..`, `.git`, a backslash, a drive or a control
/// character in it, so joining it to a root stays below that root unless a link leads elsewhere.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct RepoPath(String);

impl RepoPath {
    /// Parses a path as git and test tools print it.
    /// Fails with [`NameError::Path`] when the text could lead outside the repository or into git's
    /// own files.
    pub fn parse(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        let reason = if text.is_empty() {
            "it is empty"
        } else if text.starts_with('/') {
            "it is absolute"
        } else if text.contains('\\') {
            "it contains a backslash"
        } else if text.chars().any(char::is_control) {
            "it contains a control character"
        } else if text.len() > 4096 {
            "it is longer than 4096 bytes"
        } else if text.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
            "it has an empty, `.` or `..` part"
        } else if text.split('/').any(is_git_directory) {
            "it leads into git's own files"
        } else if text.as_bytes().get(1) == Some(&b':') {
            "it names a drive"
        } else {
            return Ok(Self(text));
        };
        Err(NameError::Path { text, reason })
    }

    /// Whether this is `place`, or lies below it.
    #[must_use]
    pub fn is_at_or_below(&self, place: &Self) -> bool {
        let rest = self.0.strip_prefix(&place.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The last part of the path.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The text after the last dot of the file name; empty without one.
    #[must_use]
    pub fn extension(&self) -> &str {
        self.file_name().rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// All but the last part; empty at the root.
    #[must_use]
    pub fn parent(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(parent, _)| parent)
    }

    /// The file name up to its first dot: `cart` for `shop/cart.test.ts`.
    #[must_use]
    pub fn stem(&self) -> &str {
        self.file_name().split('.').next().unwrap_or_default()
    }

    /// The path inside a folder; `None` if it is elsewhere. The empty folder is the root.
    #[must_use]
    pub fn below(&self, folder: &str) -> Option<&str> {
        if folder.is_empty() {
            return Some(&self.0);
        }
        self.0.strip_prefix(folder)?.strip_prefix('/')
    }

    /// A file in a folder; the empty folder is the root.
    pub fn inside(folder: &str, name: &str) -> Result<Self, NameError> {
        Self::parse(in_folder(folder, name))
    }
}

/// The path of a file or folder in a folder; the empty folder is the root.
pub fn in_folder(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Whether a part of a path is `.git`, as case-folding or trimming file systems understand it.
fn is_git_directory(part: &str) -> bool {
    let folded = part.trim_end_matches(['.', ' ']).to_ascii_lowercase();
    folded == ".git" || folded == "git~1"
}

/// One test, named as its framework names it on the command line.
///
/// The form belongs to the framework (`tests/test_a.py::Case::test_x`, `pkg::module::test`); equal
/// ids mean the same test in two runs of one suite.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct TestId(pub String);

impl TestId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The suite, class or file to which it belongs.
    #[must_use]
    pub fn group(&self) -> Self {
        let id = &self.0;
        let end = id.rfind(" > ").or_else(|| id.find("::")).or_else(|| id.rfind('.'));
        Self(id.get(..end.unwrap_or(0)).unwrap_or_default().to_owned())
    }

    /// Whether it names a test of this file, module or package.
    pub fn is_within(&self, group: &Self) -> bool {
        let rest = self.0.strip_prefix(&group.0);
        rest.is_some_and(|rest| ["::", ".", " > "].iter().any(|mark| rest.starts_with(mark)))
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for TestId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

macro_rules! object_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Parses 40 hexadecimal digits.
            /// Fails with [`NameError::Object`] for anything else, abbreviations included.
            pub fn parse(text: impl Into<String>) -> Result<Self, NameError> {
                let text = text.into();
                if text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    Ok(Self(text.to_ascii_lowercase()))
                } else {
                    Err(NameError::Object { text })
                }
            }

            /// The first eight digits, for people.
            pub fn short(&self) -> &str {
                self.0.get(..8).unwrap_or(&self.0)
            }
        }

        checked_text!($name);
    };
}

object_id! {
    /// A commit of the repository under repair.
    CommitId
}
object_id! {
    /// A tree object: the content of all files at one moment, without the session's state files.
    TreeId
}

/// The id of a session, such as `WFS-test-pr-7`.
///
/// Source: specification.md 8.1: letters, digits, hyphen and underscore only.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Parses an id from a command line, a file or a branch name.
    /// Fails with [`NameError::Session`] when a character outside the allowed set occurs, or the id
    /// is empty or longer than 100 bytes.
    pub fn parse(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let reason = if text.is_empty() {
            "it is empty"
        } else if text.len() > 100 {
            "it is longer than 100 characters"
        } else if !text.bytes().all(allowed) {
            "only letters, digits, `-` and `_` are allowed"
        } else {
            return Ok(Self(text));
        };
        Err(NameError::Session { text, reason })
    }

    /// Whether it names a session that writes integration tests (specification.md 2.1, E12).
    #[must_use]
    pub fn is_integration(&self) -> bool {
        self.0.starts_with("ITG-")
    }

    /// The folder of the session below a state root (specification.md 8.1).
    #[must_use]
    pub fn state_folder(&self) -> String {
        let place = if self.is_integration() { ".integration-test" } else { "active" };
        format!("{place}/{self}")
    }

    /// The branch that holds the session's commits unless the user names another.
    #[must_use]
    pub fn branch(&self) -> String {
        format!("regreen/{self}")
    }
}

/// The SHA-256 of bytes in hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Turns a description into the last part of a session id.
///
/// Lowercase, every run of other characters than `a-z0-9` as one hyphen, at most 50 characters,
/// `session` when nothing is left. Source: specification.md 3.1 (F-036).
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.to_lowercase().chars() {
        if slug.len() >= 50 {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "session".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_could_leave_the_repository_are_refused() {
        for hostile in [
            "",
            "/etc/passwd",
            "../x",
            "a/../b",
            "a//b",
            "./a",
            ".git/config",
            "a/.GIT/hooks",
            "a\\b",
            "a\nb",
            "C:x",
            ".git./config",
            "git~1/config",
            "a/",
        ] {
            assert!(RepoPath::parse(hostile).is_err(), "{hostile:?} must be refused");
        }
    }

    #[test]
    fn ordinary_paths_keep_their_parts() {
        let path = RepoPath::parse("src/naïve dir/module.test.py").expect("an ordinary path");
        assert_eq!(path.file_name(), "module.test.py");
        assert_eq!(path.extension(), "py");
        assert_eq!(path.parent(), "src/naïve dir");
        assert_eq!(path.stem(), "module");
        for (folder, expected) in [
            ("", Some("src/naïve dir/module.test.py")),
            ("src", Some("naïve dir/module.test.py")),
            ("sr", None),
            ("src/naïve dir/module.test.py", None),
        ] {
            assert_eq!(path.below(folder), expected, "{folder:?}");
        }
        for (folder, expected) in [("", "a.py"), ("src", "src/a.py")] {
            assert_eq!(RepoPath::inside(folder, "a.py").unwrap().as_str(), expected);
        }
        assert!(RepoPath::parse(".github/workflows/ci.yml").is_ok(), "guards decide about these");
        assert!(RepoPath::parse(".gitignore").is_ok());
    }

    #[test]
    fn session_ids_hold_letters_digits_hyphen_and_underscore() {
        assert!(SessionId::parse("WFS-test-pr_7").is_ok());
        for hostile in ["", "a/b", "..", "a b", "WFS-tést"] {
            assert!(SessionId::parse(hostile).is_err(), "{hostile:?} must be refused");
        }
    }

    #[test]
    fn slugs_are_short_and_plain() {
        assert_eq!(slug("feature/Add  Login!"), "feature-add-login");
        assert_eq!(slug("日本"), "session");
        assert!(slug(&"ab ".repeat(40)).len() <= 50);
    }
}
