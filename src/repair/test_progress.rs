//! Whether a test that still fails gets less far with an edit, or further.

use std::collections::BTreeSet;

use crate::domain::id::RepoPath;
use crate::domain::test::{Frame, Status, TestCase};
use crate::effect::CaseResult;

/// Classes of errors that occur before the code under test can do anything.
const CLASSES: &[&str] = &[
    "NameError",
    "UnboundLocalError",
    "ImportError",
    "ModuleNotFoundError",
    "SyntaxError",
    "IndentationError",
    "TabError",
    "ReferenceError",
];

/// The same in messages of tools that name no class, or a general one.
const WORDS: &[&str] = &[
    " is not defined",
    " is not exported",
    " is not a function",
    " is not a constructor",
    "does not provide an export",
    "has no exported member",
    "cannot import name",
    "cannot find module",
    "no module named",
    "' has no attribute",
];

/// Whether an error says that a name, a module or the syntax is broken.
fn is_broken(class: &str, message: &str) -> bool {
    let class = class.rsplit('.').next().unwrap_or_default();
    let message = message.lines().next().unwrap_or_default().to_lowercase();
    CLASSES
        .iter()
        .any(|one| *one == class || message.starts_with(&format!("{}:", one.to_lowercase())))
        || WORDS.iter().any(|words| message.contains(words))
}

/// Whether a test that fails before and after an edit gets less far after it: names, imports or the syntax fail
/// where it failed for a reason of its own. A test whose earlier failure is unknown, or that was broken
/// already, cannot.
pub fn is_setback(before: &TestCase, after: &CaseResult) -> bool {
    let was = before.failure.as_ref().is_some_and(|known| !is_broken(&known.class, &known.message));
    let now = |(class, message): &(String, String)| is_broken(class, message);
    was && (after.is_not_built() || after.failure.as_ref().is_some_and(now))
}

/// Whether a test that fails before and after an edit gets further after it: it fails at a later line, reports
/// fewer failures, or fails for a later row of its table. `text` is the file of the test.
pub fn is_advance(
    before: &TestCase,
    after: &CaseResult,
    is_test: &dyn Fn(&RepoPath) -> bool,
    text: &str,
) -> bool {
    let (Some(was), Some((class, message))) = (&before.failure, &after.failure) else {
        return false;
    };
    if after.status != Status::Failed || after.is_not_built() || is_broken(class, message) {
        return false;
    }
    let lines = |frames: &[Frame]| -> Vec<u32> {
        let in_tests = frames.iter().filter(|frame| is_test(&frame.file));
        // The call of the outermost one comes first.
        in_tests.map(|frame| frame.line).rev().collect()
    };
    let (old, new) = (lines(&was.frames), lines(&after.frames));
    if old.is_empty() || new.is_empty() {
        return false;
    }
    if old == new {
        let first = was.message.lines().next().unwrap_or_default();
        return matches!((row_of(first, text), row_of(message, text)), (Some(one), Some(two)) if two > one);
    }
    new > old && !new.starts_with(&old) || is_part(&new, &old)
}

/// Whether some of the lines are left, and no others.
fn is_part(new: &[u32], old: &[u32]) -> bool {
    let count = |lines: &[u32], line: u32| lines.iter().filter(|one| **one == line).count();
    new.len() < old.len() && new.iter().all(|line| count(new, *line) <= count(old, *line))
}

/// The line of a text, from 0, that holds more values of a message than every other line.
fn row_of(message: &str, text: &str) -> Option<usize> {
    let values = |text: &'_ str| -> BTreeSet<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '-');
        let parts = parts.map(|part| part.trim_matches('.')).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let said = values(message);
    let scores: Vec<usize> =
        text.lines().map(|line| values(line).intersection(&said).count()).collect();
    let best = scores.iter().copied().max().filter(|best| *best > 1)?;
    let mut rows = scores.iter().enumerate().filter(|(_, score)| **score == best);
    let (row, _) = rows.next()?;
    rows.next().is_none().then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{CaseKind, FailureText, Layer};

    fn failed_case(class: &str, message: &str) -> TestCase {
        TestCase {
            kind: CaseKind::Test,
            id: "t".into(),
            status: Status::Failed,
            file: None,
            line: None,
            duration_ms: 1,
            layer: Layer::Unit,
            failure: Some(FailureText {
                class: class.into(),
                message: message.into(),
                stack: String::new(),
                frames: Vec::new(),
            }),
        }
    }

    #[test]
    fn a_failure_of_a_name_or_an_import_is_a_setback_where_none_was_before() {
        let before = failed_case;
        let after = |class: &str, message: &str| CaseResult {
            frames: Vec::new(),
            failing_behind: 0,
            test: "t".into(),
            status: Status::Failed,
            failure: Some((class.into(), message.into())),
        };
        let assertion = ("AssertionError", "assert 1 == 2");
        let table = [
            (assertion, ("AssertionError", "assert 3 == 2"), false),
            (assertion, ("NameError", "name 'a' is not defined"), true),
            (assertion, ("", "NameError: name 'a' is not defined"), true),
            (assertion, ("builtins.ImportError", "x"), true),
            (assertion, ("TypeError", "unsupported operand"), false),
            (
                assertion,
                (
                    "SyntaxError",
                    "The requested module './a.js' does not provide an export named 'b'",
                ),
                true,
            ),
            (assertion, ("TypeError", "(0, add) is not a function"), true),
            (assertion, ("AttributeError", "module 'a' has no attribute 'b'"), true),
            (("ReferenceError", "a is not defined"), ("ReferenceError", "b is not defined"), false),
        ];
        for ((class, message), (new_class, new_message), expected) in table {
            let is = is_setback(&before(class, message), &after(new_class, new_message));
            assert_eq!(is, expected, "{new_class}: {new_message}");
        }
        assert!(is_setback(
            &before("Error", "1 != 2"),
            &CaseResult::not_built("t".into(), "no type")
        ));
        let unknown = TestCase { failure: None, ..before("", "") };
        assert!(!is_setback(&unknown, &after("NameError", "x")));
        let silent = CaseResult { failure: None, ..after("", "") };
        assert!(!is_setback(&before("Error", "1 != 2"), &silent), "it may only be slow");
    }

    #[test]
    fn a_later_place_fewer_failures_or_a_later_row_is_an_advance() {
        // The message and the lines of the test, innermost first, before and after.
        type Said<'a> = (&'a str, &'a [u32]);
        let text = "cases = [\n  ('a', 1, 10),\n  ('b', 2, 20),\n]\n";
        let frame = |line: &u32| Frame {
            file: RepoPath::parse("test_a.py").unwrap(),
            line: *line,
            function: String::new(),
        };
        let product = Frame { file: RepoPath::parse("a.py").unwrap(), ..frame(&1) };
        let table: [(&str, Said<'_>, Said<'_>, bool); 10] = [
            ("a later line", ("1 != 2", &[5]), ("3 != 4", &[6]), true),
            ("an earlier line", ("1 != 2", &[5]), ("3 != 4", &[4]), false),
            ("the same line", ("1 != 2", &[5]), ("3 != 4", &[5]), false),
            ("a later call of a helper", ("1 != 2", &[9, 5]), ("1 != 2", &[9, 6]), true),
            ("deeper in the same call", ("1 != 2", &[5]), ("1 != 2", &[9, 5]), false),
            ("fewer failures", ("1 != 2", &[5, 5, 5]), ("1 != 2", &[5]), true),
            ("more failures", ("1 != 2", &[5]), ("1 != 2", &[5, 5]), false),
            ("a later row", ("a: got 3, want 10", &[5]), ("b: got 4, want 20", &[5]), true),
            ("an earlier row", ("b: got 4, want 20", &[5]), ("a: got 3, want 10", &[5]), false),
            ("a place that is not known", ("1 != 2", &[]), ("3 != 4", &[6]), false),
        ];
        for (why, (old, old_lines), (new, new_lines), expected) in table {
            let mut before = failed_case("AssertionError", old);
            let frames = |lines: &[u32]| lines.iter().map(frame).chain([product.clone()]).collect();
            before.failure.as_mut().unwrap().frames = frames(old_lines);
            let after = CaseResult {
                test: "t".into(),
                status: Status::Failed,
                failure: Some(("AssertionError".into(), new.into())),
                frames: frames(new_lines),
                failing_behind: 0,
            };
            let is_test = |file: &RepoPath| file.as_str() == "test_a.py";
            assert_eq!(is_advance(&before, &after, &is_test, text), expected, "{why}");
            let broken = CaseResult {
                failure: Some(("NameError".into(), "name 'a' is not defined".into())),
                ..after
            };
            assert!(!is_advance(&before, &broken, &is_test, text), "{why}");
        }
    }
}
