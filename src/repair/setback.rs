//! Whether a failing test gets less far with an edit: names, imports or the syntax fail where it
//! failed for a reason of its own before.

use crate::domain::test::TestCase;
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

/// Whether a test that fails before and after an edit gets less far after it. A test whose earlier
/// failure is unknown, or that was broken already, cannot.
pub fn is_setback(before: &TestCase, after: &CaseResult) -> bool {
    let was = before.failure.as_ref().is_some_and(|known| !is_broken(&known.class, &known.message));
    let now = |(class, message): &(String, String)| is_broken(class, message);
    was && (after.is_not_built() || after.failure.as_ref().is_some_and(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{CaseKind, FailureText, Layer, Status};

    #[test]
    fn a_failure_of_a_name_or_an_import_is_a_setback_where_none_was_before() {
        let before = |class: &str, message: &str| TestCase {
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
        };
        let after = |class: &str, message: &str| CaseResult {
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
}
