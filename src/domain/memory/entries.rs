//! The entries of a memory, each with its date, its limits, and what makes it sound.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::domain::fix_loop::IterationResult;
use crate::domain::id::{CommitId, RepoPath, SessionId, TestId};

/// Longest id of a test, path of a file and text, in bytes.
const NAME: usize = 300;

/// Longest word, such as the name of an edit operator, in bytes.
const WORD: usize = 60;

/// Most tests, files and operators of one fix.
pub const EACH: usize = 3;

/// An entry of the memory. The order of entries begins with the date.
pub trait Entry: Clone + Ord {
    /// What an entry is about; there is one entry for each key.
    type Key: Ord;
    /// Entries that are kept.
    const MOST: usize;
    /// Days after which an entry expires.
    const DAYS: i64;

    fn key(&self) -> Self::Key;

    /// When it was learned.
    fn at(&self) -> Timestamp;

    /// Whether its texts are bounded, and such that they can be shown.
    fn is_sound(&self) -> bool;
}

/// An iteration that changed the sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FixMemory {
    pub at: Timestamp,
    /// The commit under test.
    pub head: CommitId,
    pub session: SessionId,
    pub iteration: u32,
    pub result: IterationResult,
    /// Names of the edit operators; empty for the edit of a provider.
    pub operators: Vec<String>,
    pub files: Vec<RepoPath>,
    /// Some of the tests that failed before.
    pub tests: Vec<TestId>,
    /// Who proposed it: a provider, or `embedded`.
    pub provider: String,
}

/// A test that failed and passed on the same sources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FlakyMemory {
    pub at: Timestamp,
    pub test: TestId,
    /// The commit on which it did both.
    pub head: CommitId,
    pub evidence: String,
}

/// A test that takes long.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SlowTestMemory {
    pub at: Timestamp,
    pub test: TestId,
    /// What it took when it passed, in milliseconds.
    pub ms: u64,
}

/// The last news of a provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProviderMemory {
    pub at: Timestamp,
    pub name: String,
    /// Why its last call of a session failed; absent when it answered.
    pub failure: Option<String>,
}

/// Something that is known of the project, such as the command of its suite.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FactMemory {
    pub at: Timestamp,
    pub name: String,
    pub value: String,
}

/// A lesson of a session that met its gate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LessonMemory {
    pub at: Timestamp,
    /// `bug`, `pattern`, `decision` or `rule`.
    pub kind: String,
    /// The area in one word.
    pub tag: String,
    pub text: String,
}

impl LessonMemory {
    /// A lesson; `None` if its words cannot be shown.
    pub fn new(at: Timestamp, kind: &str, tag: &str, text: &str) -> Option<Self> {
        let (kind, tag, text) = (kind.to_owned(), tag.to_owned(), fitting(text, 2 * NAME));
        Some(Self { at, kind, tag, text }).filter(Entry::is_sound)
    }
}

impl Entry for FixMemory {
    type Key = (CommitId, SessionId, u32);
    const MOST: usize = 100;
    const DAYS: i64 = 180;

    fn key(&self) -> Self::Key {
        (self.head.clone(), self.session.clone(), self.iteration)
    }

    fn at(&self) -> Timestamp {
        self.at
    }

    fn is_sound(&self) -> bool {
        let is_bounded =
            self.operators.len() <= EACH && self.files.len() <= EACH && self.tests.len() <= EACH;
        is_bounded
            && self.operators.iter().all(|name| is_word(name))
            && self.files.iter().all(|file| is_line(file.as_str(), NAME))
            && self.tests.iter().all(|test| is_line(test.as_str(), NAME))
            && is_word(&self.provider)
    }
}

impl Entry for FlakyMemory {
    type Key = (TestId, CommitId);
    const MOST: usize = 200;
    const DAYS: i64 = 60;

    fn key(&self) -> Self::Key {
        (self.test.clone(), self.head.clone())
    }

    fn at(&self) -> Timestamp {
        self.at
    }

    fn is_sound(&self) -> bool {
        is_line(self.test.as_str(), NAME) && is_line(&self.evidence, NAME)
    }
}

impl Entry for SlowTestMemory {
    type Key = TestId;
    const MOST: usize = 300;
    const DAYS: i64 = 60;

    fn key(&self) -> Self::Key {
        self.test.clone()
    }

    fn at(&self) -> Timestamp {
        self.at
    }

    fn is_sound(&self) -> bool {
        is_line(self.test.as_str(), NAME)
    }
}

impl Entry for ProviderMemory {
    type Key = String;
    const MOST: usize = 20;
    const DAYS: i64 = 7;

    fn key(&self) -> Self::Key {
        self.name.clone()
    }

    fn at(&self) -> Timestamp {
        self.at
    }

    fn is_sound(&self) -> bool {
        is_word(&self.name) && self.failure.as_ref().is_none_or(|why| is_line(why, NAME))
    }
}

impl Entry for FactMemory {
    type Key = String;
    const MOST: usize = 20;
    const DAYS: i64 = 180;

    fn key(&self) -> Self::Key {
        self.name.clone()
    }

    fn at(&self) -> Timestamp {
        self.at
    }

    fn is_sound(&self) -> bool {
        is_word(&self.name) && is_line(&self.value, NAME)
    }
}

impl Entry for LessonMemory {
    type Key = (String, String);
    const MOST: usize = 100;
    const DAYS: i64 = 365;

    fn key(&self) -> Self::Key {
        (self.kind.clone(), self.text.clone())
    }

    fn at(&self) -> Timestamp {
        self.at
    }

    fn is_sound(&self) -> bool {
        is_word(&self.kind) && is_word(&self.tag) && is_line(&self.text, 2 * NAME)
    }
}

/// Whether a text is one line without characters that move the others or cannot be seen.
fn is_line(text: &str, longest: usize) -> bool {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    !text.trim().is_empty() && text.len() <= longest && !text.chars().any(is_hidden)
}

/// Whether a text is the name of a provider, an operator or a fact.
fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    is_line(text, WORD) && text.chars().all(is_plain)
}

/// The text as one line that fits an entry.
pub fn fitting(text: &str, longest: usize) -> String {
    let mut line: String = text
        .chars()
        .map(|c| if is_line(&format!("x{c}"), NAME) { c } else { ' ' })
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    line.truncate(line.floor_char_boundary(longest));
    line
}
