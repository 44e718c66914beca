//! What a failing test says, as people want it: the assertion in one line, the user's own frames,
//! no frame of the framework.

use super::id::RepoPath;
use super::test::{FailureText, TestCase};

/// Characters of the line.
const LONGEST: usize = 300;

/// Frames outside of the test that are named.
const FRAMES: usize = 3;

/// Beginnings of the lines that name the two sides of a comparison, wanted or given.
const SIDES: &[&str] = &["expected", "received", "actual", "left", "right", "want", "got"];

/// Paths and modules of frameworks, interpreters and standard libraries in lines of a stack.
const FOREIGN: &[&str] = &[
    "/_pytest/",
    "/pluggy/",
    "/site-packages/",
    "/dist-packages/",
    "<frozen ",
    "/unittest/case.py",
    "/unittest/mock.py",
    "/importlib/__init__.py",
    "(node:",
    "at node:",
    "node:internal/",
    "/node_modules/",
    "(<anonymous>)",
    "/rustc/",
    "core::panicking::",
    "std::panicking::",
    "core::ops::function::",
    "java.base/",
    "at java.",
    "at jdk.",
    "at sun.reflect.",
    "at org.junit.",
    "at junit.framework.",
    "at org.gradle.",
    "at org.apache.maven.",
    "/testing/testing.go",
    "/runtime/panic.go",
    "testing.tRunner(",
    "created by testing.",
];

/// What failed, in one line: the assertion with both sides, and the innermost frames of the
/// repository that are not in the test's own file. Empty when nothing is known.
pub fn assertion(case: &TestCase) -> String {
    let Some(failure) = &case.failure else { return String::new() };
    let mut text = comparison(failure);
    let mut frames: Vec<String> = Vec::new();
    for frame in failure.frames.iter().filter(|frame| case.file.as_ref() != Some(&frame.file)) {
        let place = format!("{}:{}", frame.file, frame.line);
        if frames.len() < FRAMES && !frames.contains(&place) && !text.contains(&place) {
            frames.push(place);
        }
    }
    if !text.is_empty() && !frames.is_empty() {
        text = format!("{text} ({})", frames.join(", "));
    }
    text.chars().take(LONGEST).collect()
}

/// Files of a failed assertion's frames, innermost first and the test last; `None` otherwise.
pub fn assertion_stack(case: &TestCase) -> Option<Vec<RepoPath>> {
    let failure = case.failure.as_ref()?;
    let first = failure.message.lines().next().unwrap_or_default();
    let said = format!("{}: {first}", failure.class).to_ascii_lowercase();
    let words =
        ["assert", ": expect(", "expectationfailed", "expectationnotmet", "comparisonfailure"];
    let mut files: Vec<RepoPath> = Vec::new();
    for file in failure.frames.iter().map(|frame| &frame.file).chain(&case.file) {
        if !files.contains(file) {
            files.push(file.clone());
        }
    }
    let is_assertion = words.iter().any(|word| said.contains(word));
    (is_assertion && !files.is_empty()).then_some(files)
}

/// The line of a message that says most, completed with the values that were compared.
fn comparison(failure: &FailureText) -> String {
    let lines = lines(failure);
    let Some(first) = lines.first().copied() else { return String::new() };
    // pytest prints the text of an assertion before the assertion.
    if let Some(assert) = lines.iter().find(|line| line.starts_with("assert ")) {
        return if *assert == first { first.to_owned() } else { format!("{assert} ({first})") };
    }
    let sides = sides(&lines);
    let first = without_place(first);
    match sides.as_slice() {
        [] if first.ends_with(':') => {
            let rest = lines.iter().skip(1).filter(|line| !line.starts_with("+ actual"));
            let rest: Vec<&str> = rest.copied().collect();
            if rest.is_empty() { first.to_owned() } else { rest.join(" ") }
        }
        [] => first.to_owned(),
        sides if sides.iter().any(|side| side == first) || is_noise(first) => sides.join(", "),
        sides => format!("{first} ({})", sides.join(", ")),
    }
}

/// The message, and what the stack has of it before its first frame where the message is cut off.
fn lines(failure: &FailureText) -> Vec<&str> {
    let mut lines: Vec<&str> = failure.message.lines().map(str::trim).collect();
    lines.retain(|line| !line.is_empty());
    if let [first] = lines.as_slice() {
        let first = *first;
        let mut rest = failure.stack.lines().skip_while(|line| !line.contains(first));
        rest.next();
        let is_frame = |line: &str| {
            ["at ", "File \"", "stack backtrace", "note: run with", "goroutine "]
                .iter()
                .any(|mark| line.starts_with(mark))
        };
        let rest = rest.map(str::trim).take_while(|line| !is_frame(line));
        lines.extend(rest.filter(|line| !line.is_empty()));
    }
    lines
}

/// The lines that name an expected or given value, or follow; empty unless both are there.
fn sides(lines: &[&str]) -> Vec<String> {
    let name = |line: &str| {
        let lower = line.to_ascii_lowercase();
        let (name, _) = lower.split_once(':')?;
        let first = name.split([' ', '\t']).next()?;
        SIDES.iter().find(|side| **side == first && name.len() < 40).copied()
    };
    let mut found: Vec<String> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    let mut rest = lines.iter().peekable();
    while let Some(line) = rest.next() {
        let Some(side) = name(line).filter(|side| !names.contains(side)) else { continue };
        names.push(side);
        found.push(match rest.peek() {
            Some(value) if line.ends_with(':') => format!("{line} {value}"),
            _ => (*line).to_owned(),
        });
    }
    if names.len() >= 2 { found } else { Vec::new() }
}

/// Whether a line names the matcher only, and not what it compared.
fn is_noise(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("expect(")
        || line.starts_with("Error Trace:")
        || line.ends_with(':')
}

/// A line without the `file.go:12:` that Go puts before it, or its compiler's `file.go:12:5:`.
fn without_place(line: &str) -> &str {
    let mut parts = line.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(number), Some(rest))
            if file.ends_with(".go")
                && !file.contains(' ')
                && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            match rest.split_once(": ") {
                Some((column, rest)) if column.bytes().all(|byte| byte.is_ascii_digit()) => rest,
                _ => rest.trim(),
            }
        }
        _ => line,
    }
}

/// A stack without frames of frameworks and standard libraries, and without source lines.
pub fn own_frames(stack: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = stack.lines().peekable();
    while let Some(line) = lines.next() {
        if !FOREIGN.iter().any(|mark| line.contains(mark)) {
            kept.push(line);
            continue;
        }
        // Below a frame, Python prints its source and Rust and Go its place, further to the right.
        let depth = |line: &str| line.len() - line.trim_start().len();
        let of_frame = depth(line);
        let has_source = line.trim_start().starts_with("File \"") || line.contains("::");
        while has_source && lines.peek().is_some_and(|next| depth(next) > of_frame) {
            lines.next();
        }
    }
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RepoPath;
    use crate::domain::test::{Frame, Layer, Status};

    fn case(message: &str, stack: &str, frames: &[(&str, u32)]) -> TestCase {
        let path = |file: &str| RepoPath::parse(file).unwrap();
        let frames = frames.iter().map(|(file, line)| Frame {
            file: path(file),
            line: *line,
            function: String::new(),
        });
        let (message, stack) = (message.to_owned(), stack.to_owned());
        let failure =
            FailureText { class: String::new(), message, stack, frames: frames.collect() };
        TestCase {
            kind: crate::domain::test::CaseKind::Test,
            id: "t".into(),
            status: Status::Failed,
            file: Some(path("tests/test_calc.py")),
            line: Some(12),
            duration_ms: 0,
            layer: Layer::Unit,
            failure: Some(failure),
        }
    }

    #[test]
    fn the_assertion_comes_first() {
        let jest = "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 6\nReceived: 1\n    at Object.toBe (/repo/src/cart.test.js:4:79)\n    at new Promise (<anonymous>)";
        let length = "Error: expect(received).toHaveLength(expected)\n\nExpected length: 2\nReceived length: 1\nReceived array:  [1]\n    at Object.<anonymous> (/r/a.test.js:1:1)";
        let rust = "assertion `left == right` failed: two and two\n  left: 5\n right: 4";
        let deep = "Expected values to be loosely deep-equal:\n\n[\n  1,\n  2\n]\n\nshould loosely deep-equal\n\n[\n  1,\n  3\n]";
        let strict = "Expected values to be strictly equal:\n\n1 !== 6\n";
        let testify = "calc_test.go:9: \n\tError Trace:\tcalc_test.go:9\n\tError:      \tNot equal: \n\texpected: 4\n\tactual  : 3";
        let example = "--- FAIL: ExampleAdd (0.00s)\ngot:\n0\nwant:\n3\n";
        let unittest =
            "Lists differ: [1, 2] != [1, 3]\n\nFirst differing element 1:\n2\n3\n\n  [1, 2]";
        let table = [
            ("pytest", "assert 3 == 2\n +  where 3 = double(1)", "", "assert 3 == 2"),
            (
                "pytest with a text",
                "twice one\nassert 3 == 2\n +  where 3 = double(1)",
                "",
                "assert 3 == 2 (twice one)",
            ),
            (
                "pytest, another error",
                "division by zero",
                "E  division by zero\n\ncalc.py:6: Z",
                "division by zero",
            ),
            ("unittest", "3 != 2 : twice", "", "3 != 2 : twice"),
            ("unittest, lists", unittest, "", "Lists differ: [1, 2] != [1, 3]"),
            (
                "jest",
                "expect(received).toBe(expected) // Object.is equality",
                jest,
                "Expected: 6, Received: 1",
            ),
            (
                "jest, another matcher",
                "expect(received).toHaveLength(expected)",
                length,
                "Expected length: 2, Received length: 1",
            ),
            (
                "vitest",
                "expected 1 to be 6 // Object.is equality",
                "AssertionError: expected 1 to be 6 // Object.is equality\n    at /r/a.test.js:5:79",
                "expected 1 to be 6 // Object.is equality",
            ),
            ("node", strict, "", "1 !== 6"),
            ("node, deep", deep, "", "[ 1, 2 ] should loosely deep-equal [ 1, 3 ]"),
            (
                "node, falsy",
                "The expression evaluated to a falsy value:\n\n  assert.ok(false)\n",
                "",
                "assert.ok(false)",
            ),
            (
                "mocha",
                "expected 1 to equal 6",
                "AssertionError: expected 1 to equal 6\n    at Context.<anonymous> (test/a.js:3:20)",
                "expected 1 to equal 6",
            ),
            (
                "cargo test",
                rust,
                "",
                "assertion `left == right` failed: two and two (left: 5, right: 4)",
            ),
            ("cargo test, an error", "Error: \"no such luck\"", "", "Error: \"no such luck\""),
            ("go test", "calc/calc_test.go:29: Add(1, 1) = 0, want 2", "", "Add(1, 1) = 0, want 2"),
            ("go test, testify", testify, "", "expected: 4, actual  : 3"),
            ("go test, an example", "got:", example, "got: 0, want: 3"),
            (
                "junit",
                "two and <two> ==> expected: <4> but was: <0>",
                "",
                "two and <two> ==> expected: <4> but was: <0>",
            ),
            ("nothing", "", "", ""),
        ];
        for (why, message, stack, expected) in table {
            assert_eq!(assertion(&case(message, stack, &[])), expected, "{why}");
        }
    }

    #[test]
    fn frames_outside_of_the_test_follow() {
        let frames = [("calc.py", 6), ("calc.py", 6), ("tests/test_calc.py", 17), ("shop.py", 2)];
        let shown = assertion(&case("division by zero", "", &frames));
        assert_eq!(shown, "division by zero (calc.py:6, shop.py:2)");
        assert_eq!(assertion(&case("", "", &frames)), "");
        assert_eq!(assertion(&TestCase { failure: None, ..case("x", "", &[]) }), "");
    }

    #[test]
    fn frames_of_frameworks_are_left_out() {
        let table = [
            (
                "  File \"/repo/a.py\", line 2, in f\n    return n / 0\n  File \"/x/site-packages/_pytest/python.py\", line 9, in call\n    self.run()\nE   boom",
                "  File \"/repo/a.py\", line 2, in f\n    return n / 0\nE   boom",
            ),
            (
                "TypeError: no\n    at first (/repo/src/cart.js:3:35)\n    at Promise.then (/repo/node_modules/jest-circus/build/x.js:1:2)\n    at new Promise (<anonymous>)\n    at Test.run (node:internal/test_runner/test:796:25)",
                "TypeError: no\n    at first (/repo/src/cart.js:3:35)",
            ),
            (
                "stack backtrace:\n   0: core::panicking::panic_fmt\n             at /rustc/5/library/core/src/panicking.rs:80:14\n   1: shop::total\n             at ./src/lib.rs:3:5",
                "stack backtrace:\n   1: shop::total\n             at ./src/lib.rs:3:5",
            ),
            (
                "java.lang.ArithmeticException: / by zero\n\tat com.example.Calc.half(Calc.java:6)\n\tat java.base/java.lang.reflect.Method.invoke(Method.java:569)\n\tat org.junit.jupiter.api.X.y(X.java:1)",
                "java.lang.ArithmeticException: / by zero\n\tat com.example.Calc.half(Calc.java:6)",
            ),
            ("calc_test.go:29: got 1", "calc_test.go:29: got 1"),
        ];
        for (stack, expected) in table {
            assert_eq!(own_frames(stack), expected);
        }
    }
}
