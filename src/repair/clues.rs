//! Clues of names: which functions a failing test speaks of, and which ones run only by the way.
//!
//! They are worth less than coverage and decide between functions that are about as suspicious.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::pattern::Pattern;
use crate::domain::id::RepoPath;
use crate::domain::test::TestCase;
use crate::domain::text;

/// A function that the failing assertion names, and one that shares a word with the test.
const NAMED: f64 = 1.1;
const RELATED: f64 = 1.05;

/// A constructor: most tests that need an object run it.
const CONSTRUCTOR: f64 = 0.8;

/// A function that runs while a failure or a message is written.
const FORMATTER: f64 = 0.5;

/// Lines before the failing one that belong to its statement or prepare it.
const LINES_BEFORE: u32 = 3;

/// Names in failing tests.
#[derive(Debug, Default)]
pub struct Clues {
    /// Names at the failing assertion and in its message.
    named: BTreeSet<String>,
    /// Words of the tests' names.
    words: BTreeSet<String>,
}

impl Clues {
    /// Reads the names and assertions of failing tests; `texts` are their files.
    pub fn from_cases<'a>(
        cases: impl Iterator<Item = &'a TestCase>,
        texts: &BTreeMap<RepoPath, String>,
    ) -> Self {
        let mut clues = Self::default();
        for case in cases {
            let name = case.id.as_str().rsplit("::").next().unwrap_or_default();
            clues.words.extend(words(name));
            let mut frames = case.failure.iter().flat_map(|failure| &failure.frames);
            let frame = frames.find(|frame| Some(&frame.file) == case.file.as_ref());
            let line = frame.map(|frame| frame.line);
            if let (Some(line), Some(text)) =
                (line, case.file.as_ref().and_then(|file| texts.get(file)))
            {
                let at = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
                let first = line.saturating_sub(LINES_BEFORE + 1);
                for text in text.lines().take(at(line)).skip(at(first)) {
                    clues.named.extend(identifiers(text));
                }
            }
            let message = case.failure.as_ref().map_or("", |failure| failure.message.as_str());
            clues.named.extend(message.lines().take(4).flat_map(identifiers));
        }
        clues
    }

    /// Whether a failing statement or its message names a function.
    pub fn is_named(&self, function: &str) -> bool {
        self.named.contains(last_name(function))
    }

    /// A factor for the suspiciousness of a function: 1 if its name says nothing.
    pub fn weigh_function(&self, function: &str) -> f64 {
        let name = last_name(function);
        let mut parts = function.rsplit('.').skip(1);
        let by_kind = match name {
            // Java calls a constructor like its class.
            _ if parts.next() == Some(name) => CONSTRUCTOR,
            "__repr__" | "__str__" | "__format__" | "toString" | "inspect" => FORMATTER,
            "__init__" | "__new__" | "constructor" => CONSTRUCTOR,
            _ => 1.0,
        };
        let by_test = if self.is_named(name) {
            NAMED
        } else if words(name).any(|word| self.words.contains(&word)) {
            RELATED
        } else {
            1.0
        };
        by_kind * by_test
    }
}

/// The name of a function without that of its class.
fn last_name(function: &str) -> &str {
    function.rsplit(['.', ':']).next().unwrap_or_default()
}

fn identifiers(text: &str) -> impl Iterator<Item = String> + '_ {
    static NAME: Pattern = Pattern::new(r"[\p{Alphabetic}_$][\p{Alphabetic}\p{N}_$]*");
    NAME.captures(text).filter_map(|found| Some(found.get(0)?.as_str().to_owned()))
}

/// The words of a name such as `test_sum_of_all` or `sumOfAll`, without those that say nothing.
fn words(name: &str) -> impl Iterator<Item = String> {
    const EMPTY: [&str; 8] = ["test", "tests", "should", "the", "and", "when", "get", "set"];
    let words = text::words_of_name(name).into_iter();
    words.filter(|word| word.len() > 2 && !EMPTY.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{CaseKind, FailureText, Frame, Layer, Status};

    #[test]
    fn a_function_that_the_assertion_names_weighs_more_than_one_that_only_runs() {
        let file = RepoPath::parse("test_bar.py").unwrap();
        let frame = Frame { file: file.clone(), line: 4, function: "test_rate_is_shown".into() };
        let case = TestCase {
            kind: CaseKind::Test,
            id: "test_bar.py::TestBar::test_rate_is_shown".into(),
            status: Status::Failed,
            file: Some(file.clone()),
            line: Some(2),
            duration_ms: 1,
            layer: Layer::Unit,
            failure: Some(FailureText {
                class: "AssertionError".into(),
                message: "assert '1' == '2'\n + where '1' = total(3)".into(),
                stack: String::new(),
                frames: vec![frame],
            }),
        };
        let text = "import bar\ndef test_rate_is_shown():\n    x = bar.prepare()\n    assert bar.meter(x) == '2'\n    bar.later()\n";
        let clues = Clues::from_cases([&case].into_iter(), &[(file, text.to_owned())].into());
        let table = [
            ("meter", NAMED),
            ("Bar.meter", NAMED),
            ("prepare", NAMED),
            ("total", NAMED),
            ("formatRate", RELATED),
            ("later", 1.0),
            ("is_get", 1.0),
            ("<module>", 1.0),
            ("Bar.__init__", CONSTRUCTOR),
            ("Bar.Bar", CONSTRUCTOR),
            ("Bar.__repr__", FORMATTER),
        ];
        for (function, expected) in table {
            let weight = clues.weigh_function(function);
            assert!((weight - expected).abs() < 1e-9, "{function}: {weight}");
        }
    }
}
