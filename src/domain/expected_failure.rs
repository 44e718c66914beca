//! Recognises tests that are marked as expected failures and pass, so that their runners fail them.
//!
//! The product does more than the mark says, and only a person can take the mark away. An edit after
//! which such a test "passes" has broken what it checks.
//!
//! `#[should_panic]`, `@Test(expected = …)` and `pytest.raises` are no such marks: they state what the code
//! has to do, and a check that is missing there is repaired like any other bug. `t.Skip`, `xit` and the
//! pending specs of Jasmine do not run at all, so that they cannot pass.

use super::test::{FailureText, Status, TestCase};

/// How the messages of runners begin, and the mark that they are about.
const SAID: &[(&str, &str)] = &[
    ("[XPASS(strict)]", "xfail"),
    ("Failing test passed even though it was supposed to fail", "test.failing"),
    ("Test was expected to fail, but succeeded", "test.failing"),
    ("this test is marked as failing but it passed", "test.failing"),
    ("test was expected to fail but passed", "expectFailure"),
    ("Expected to fail, but passed", "test.fail"),
    ("Expected pending '", "pending"),
    ("Expected example to fail since it is pending, but it passed", "pending"),
    ("Pending block should not be passed", "pend"),
    ("Test marked as 'expected to fail' succeeded", "@ExpectedToFail"),
    ("Should have failed but didn't! Marking it as failed!", "should_fail"),
];

/// Messages that are too short to be looked for in longer ones.
const SHORT: &[(&str, &str)] =
    &[("unexpected success", "expectedFailure"), ("expect test to fail", "test.fails")];

/// The mark that a test passes against, by what its runner says.
pub fn find_mark(class: &str, message: &str) -> Option<&'static str> {
    let first = message.trim().lines().next().unwrap_or_default().trim();
    let first = match first.split_once(": ") {
        Some((class, rest)) if class.ends_with("Error") && !class.contains(' ') => rest,
        _ => first,
    };
    let is_short = |text: &str| first.trim_end_matches('.').eq_ignore_ascii_case(text);
    let mut said = SAID.iter().filter(|(start, _)| first.starts_with(start));
    let mut short = SHORT.iter().filter(|(text, _)| is_short(text));
    let by_class = match class.rsplit([':', '.']).next() {
        Some("UnexpectedSuccess") => Some("expectedFailure"),
        Some("PendingExampleFixedError") => Some("pending"),
        _ => None,
    };
    by_class.or_else(|| said.next().or_else(|| short.next()).map(|(_, mark)| *mark))
}

/// Whether a test passes against its mark.
pub fn passes_against_mark(case: &TestCase) -> bool {
    find_evidence(case).is_some()
}

/// What a person has to do about a test that passes against its mark; `None` for all others.
pub fn find_evidence(case: &TestCase) -> Option<String> {
    let failure = case.failure.as_ref().filter(|_| case.status == Status::Failed)?;
    let mark = find_mark(&failure.class, &failure.message)?;
    Some(format!(
        "it passes although it is marked as an expected failure: take its mark (`{mark}`) away"
    ))
}

/// The result of a test that passed against its mark before and that its runner calls fine now.
pub fn failing_again(case: &TestCase) -> TestCase {
    let message = "it no longer passes against its mark as an expected failure".to_owned();
    let failure = Some(FailureText { message, ..FailureText::default() });
    TestCase { status: Status::Failed, failure, ..case.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runners_say_of_an_unexpected_pass_is_known() {
        let table = [
            ("AssertionError", "unexpected success", Some("expectedFailure")),
            ("AssertionError", "Unexpected success", Some("expectedFailure")),
            ("UnexpectedSuccess", "This test was expected to fail", Some("expectedFailure")),
            ("", "[XPASS(strict)] known bug", Some("xfail")),
            ("", "[XPASS(strict)] ", Some("xfail")),
            (
                "Error",
                "Failing test passed even though it was supposed to fail. Remove `.failing` to remove error.",
                Some("test.failing"),
            ),
            (
                "",
                "Error: Failing test passed even though it was supposed to fail.",
                Some("test.failing"),
            ),
            ("Error", "Expect test to fail", Some("test.fails")),
            (
                "AssertionError",
                "Test was expected to fail, but succeeded, you should stop marking the test as failing",
                Some("test.failing"),
            ),
            ("ERR_TEST_FAILURE", "test was expected to fail but passed", Some("expectFailure")),
            ("", "Expected to fail, but passed.", Some("test.fail")),
            (
                "RSpec::Core::Pending::PendingExampleFixedError",
                "Expected pending 'later' to fail. No error was raised.",
                Some("pending"),
            ),
            ("", "Expected pending 'later' to fail. No error was raised.", Some("pending")),
            ("AssertionError", "'unexpected success' != 'success'", None),
            ("AssertionError", "expect test to fail on Mondays", None),
            ("", "test did not panic as expected", None),
            ("AssertionError", "Expected exception: java.lang.IllegalArgumentException", None),
            ("Failed", "DID NOT RAISE <class 'ValueError'>", None),
            ("", "", None),
        ];
        for (class, message, expected) in table {
            assert_eq!(find_mark(class, message), expected, "{class}: {message}");
        }
    }
}
