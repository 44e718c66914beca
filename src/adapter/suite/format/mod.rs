//! Report formats: bytes to results. One file per format; this one holds what they share.

pub mod gotest;
pub mod jest;
pub mod junit;
pub mod libtest;
pub mod lines;
pub mod stack;
pub mod tap;

use std::path::{Path, PathBuf};

use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::{FailureText, Layer, Status, TestCase};

/// Bytes of a message that are kept.
pub const MESSAGE_LIMIT: usize = 4 << 10;

/// Bytes of a stack that are kept.
pub const STACK_LIMIT: usize = 16 << 10;

/// Bytes of a report that are read at most.
pub const REPORT_LIMIT: u64 = 512 << 20;

/// One test as a report tells it, before paths are made relative.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Its id.
    pub id: String,
    /// How it ended; `None` reads as passed.
    pub status: Option<Status>,
    /// Its file, absolute or relative to the suite's folder.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
    /// Duration in milliseconds.
    pub duration_ms: u64,
    /// Class of the error.
    pub class: String,
    /// The message.
    pub message: String,
    /// The stack.
    pub stack: String,
}

/// Where paths of a report belong.
#[derive(Clone, Debug)]
pub struct Place {
    /// Root of the checkout that was tested, as the child saw it.
    pub root: PathBuf,
    /// The suite's folder below the root; empty for the root.
    pub directory: String,
    /// Globs that put a test into a layer, before the built-in ones.
    pub layers: Vec<(globset::GlobMatcher, Layer)>,
}

impl Place {
    /// A path of a report inside the repository; `None` when it leads elsewhere.
    #[must_use]
    pub fn inside(&self, path: &str) -> Option<RepoPath> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        let path = Path::new(path.trim_start_matches("./"));
        let relative = if path.is_absolute() {
            path.strip_prefix(&self.root).ok()?.to_path_buf()
        } else {
            let below = Path::new(&self.directory).join(path);
            if self.root.join(&below).is_file() { below } else { path.to_path_buf() }
        };
        let path = RepoPath::parse(relative.to_str()?).ok()?;
        let foreign = ["node_modules", ".venv", "venv", "site-packages"];
        let outside = path.as_str().split('/').any(|part| foreign.contains(&part));
        (!outside).then_some(path)
    }

    fn layer(&self, file: Option<&RepoPath>, id: &str) -> Layer {
        let path = file.map_or(id, RepoPath::as_str);
        for (glob, layer) in &self.layers {
            if glob.is_match(path) {
                return *layer;
            }
        }
        let has = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
        if has(&["e2e", "cypress", "playwright"]) {
            Layer::EndToEnd
        } else if has(&["integration"]) {
            Layer::Integration
        } else {
            Layer::Unit
        }
    }

    /// The test with its paths inside the repository and its texts bounded.
    #[must_use]
    pub fn settle(&self, told: &Told) -> TestCase {
        let file = told.file.as_deref().and_then(|path| self.inside(path));
        // Ids that begin with a file name it the same way on every machine.
        let id = match (&told.file, &file) {
            (Some(told_file), Some(file)) => told
                .id
                .strip_prefix(told_file.as_str())
                .map_or_else(|| told.id.clone(), |rest| format!("{file}{rest}")),
            (Some(_), None) | (None, _) => told.id.clone(),
        };
        let status = told.status.unwrap_or(Status::Passed);
        let failure = (status == Status::Failed).then(|| {
            let frames = stack::frames(&told.stack, self);
            FailureText {
                class: bounded(&told.class, 200),
                message: bounded(&told.message, MESSAGE_LIMIT),
                stack: bounded(&told.stack, STACK_LIMIT),
                frames,
            }
        });
        TestCase {
            layer: self.layer(file.as_ref(), &id),
            id: TestId(bounded(&id, 1000)),
            status,
            file,
            line: told.line,
            duration_ms: told.duration_ms,
            failure,
        }
    }
}

/// Results sorted by id. A test told twice keeps its worse ending (a retry that passed is told by
/// the framework as one test).
#[must_use]
pub fn settle_all(told: &[Told], place: &Place) -> Vec<TestCase> {
    let mut cases: Vec<TestCase> = told.iter().map(|told| place.settle(told)).collect();
    cases.sort_by(|a, b| a.id.cmp(&b.id).then(rank(b.status).cmp(&rank(a.status))));
    cases.dedup_by(|later, first| later.id == first.id);
    cases
}

fn rank(status: Status) -> u8 {
    match status {
        Status::Skipped => 0,
        Status::Passed => 1,
        Status::Failed => 2,
    }
}

/// The first `limit` bytes of a text, cut between characters.
#[must_use]
pub fn bounded(text: &str, limit: usize) -> String {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

/// A text without terminal escape sequences.
#[must_use]
pub fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            for inner in characters.by_ref() {
                if inner.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            out.push(character);
        }
    }
    out
}
