//! Parses the text output of Rust's test harness, one block per test binary.

use std::collections::BTreeMap;

use crate::domain::test::Status;

use super::{ReportedTest, STACK_LIMIT};

/// Reads the output of `cargo test`. Ids are `target::path`, where the target is the file of the
/// test binary (`src/lib.rs`, `tests/api.rs`) or `doc:crate`, so one name in two binaries stays
/// two tests.
pub fn parse(text: &str) -> Vec<ReportedTest> {
    let mut tests: Vec<ReportedTest> = Vec::new();
    let mut target = String::new();
    let mut blocks: BTreeMap<String, String> = BTreeMap::new();
    let mut open: Option<String> = None;
    for line in text.lines().map(unglued) {
        if let Some(next) = target_of(line) {
            close(&mut tests, &mut blocks, &target);
            (target, open) = (next, None);
        } else if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            open = Some(name.to_owned());
        } else if line == "failures:" || line.starts_with("test result:") {
            open = None;
        } else if let Some(name) = &open {
            let block = blocks.entry(name.clone()).or_default();
            if block.len() < STACK_LIMIT {
                block.push_str(line);
                block.push('\n');
            }
        } else if let Some((name, verdict)) =
            line.strip_prefix("test ").and_then(|rest| rest.rsplit_once(" ... "))
        {
            let name = name.strip_suffix(" - should panic").unwrap_or(name);
            let status = match verdict.split([',', ' ']).next() {
                Some("ok") => Status::Passed,
                Some("FAILED") => Status::Failed,
                Some("ignored") => Status::Skipped,
                _ => continue,
            };
            tests.push(ReportedTest {
                id: format!("{target}::{name}"),
                status: Some(status),
                file: target.ends_with(".rs").then(|| target.clone()),
                ..ReportedTest::default()
            });
        }
    }
    close(&mut tests, &mut blocks, &target);
    tests
}

/// Attaches the printed output to the failed tests of one binary.
fn close(tests: &mut [ReportedTest], blocks: &mut BTreeMap<String, String>, target: &str) {
    for (name, block) in std::mem::take(blocks) {
        let id = format!("{target}::{name}");
        let Some(test) = tests.iter_mut().rev().find(|test| test.id == id) else { continue };
        explain(test, if target.starts_with("doc:") { placed(&name, &block) } else { block });
    }
}

/// The output of a test of documentation with the line on which that begins, which its name holds: lines in the
/// output count from the start of the test.
fn placed(name: &str, block: &str) -> String {
    let place = name.split_once(" - ").map(|(file, rest)| {
        let line = rest.rsplit_once("(line ").map_or("", |(_, line)| line.trim_end_matches(')'));
        (format!("panicked at {file}:"), format!("panicked at {file}:{line}:1:"))
    });
    let line = |line: &str| match &place {
        Some((printed, true_place)) if line.contains(printed.as_str()) => {
            let before = line.split(printed.as_str()).next().unwrap_or_default();
            format!("{before}{true_place}\n")
        }
        _ => format!("{line}\n"),
    };
    block.lines().map(line).collect()
}

/// Sets class and message of a failure: the text after `panicked at`, else the first line.
pub fn explain(test: &mut ReportedTest, block: String) {
    let lines = || block.lines().filter(|line| !line.trim().is_empty());
    let panicked = |line: &&str| line.contains("panicked at ");
    if lines().any(|line| panicked(&line)) {
        let after = lines().skip_while(|line| !panicked(line)).skip(1);
        let message: Vec<&str> =
            after.take_while(|line| !line.starts_with("note:")).take(20).collect();
        "panic".clone_into(&mut test.class);
        test.message = message.join("\n");
    } else {
        test.class.clear();
        let first = lines().next().unwrap_or_default();
        first.trim_start_matches("note: ").clone_into(&mut test.message);
    }
    test.stack = block;
}

/// Binaries that report fewer tests than announced, each as a failure of its name.
pub fn cut_binaries(text: &str) -> Vec<ReportedTest> {
    let (mut announced, mut reported, mut target) = (0, 0, String::new());
    let mut cut = Vec::new();
    let mut close = |announced: &mut usize, reported: &mut usize, target: &str| {
        if reported < announced {
            let ended = format!("the process ended after {reported} of {announced} tests");
            let id = if target.is_empty() { "cargo test" } else { target };
            cut.push(ReportedTest::problem(id.to_owned(), ended));
        }
        (*announced, *reported) = (0, 0);
    };
    for line in text.lines().map(unglued) {
        if let Some(next) = target_of(line) {
            close(&mut announced, &mut reported, &target);
            target = next;
        } else if let Some(count) = line.strip_prefix("running ") {
            let count = count.strip_suffix(" tests").or_else(|| count.strip_suffix(" test"));
            announced += count.and_then(|count| count.parse().ok()).unwrap_or(0);
        } else if line.starts_with("failures:") || line.starts_with("test result:") {
            // Everything is reported by now; what follows is the text of failing tests.
            close(&mut announced, &mut reported, &target);
        } else if line.starts_with("test ") && line.contains(" ... ") {
            reported += usize::from(!line.ends_with(" ... "));
        }
    }
    close(&mut announced, &mut reported, &target);
    cut
}

/// The target whose tests follow a line of cargo.
fn target_of(line: &str) -> Option<String> {
    let head = line.trim_start();
    if let Some(rest) = head.strip_prefix("Running ") {
        let name = rest.trim_start_matches("unittests ");
        return Some(name.split(" (").next().unwrap_or(name).to_owned());
    }
    head.strip_prefix("Doc-tests ").map(|name| format!("doc:{name}"))
}

/// A line without the start of an unfinished test: with one thread, the next output of cargo is
/// printed on the same line.
fn unglued(line: &str) -> &str {
    let next = ["     Running ", "   Doc-tests ", "error: "];
    let glued = line.starts_with("test ").then(|| {
        next.iter().find_map(|next| {
            let at = line.find(next)?;
            line.get(..at)?.trim_end().ends_with(" ...").then(|| line.get(at..))?
        })
    });
    glued.flatten().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_documentation_fails_where_it_begins() {
        let text = "   Doc-tests heck\n\nrunning 1 test\ntest src/snake.rs - snake::AsSnakeCase (line 49) ... FAILED\n\nfailures:\n\n---- src/snake.rs - snake::AsSnakeCase (line 49) stdout ----\nthread 'main' (3) panicked at src/snake.rs:8:1:\nassertion failed: a == b\n\n";
        let tests = parse(text);
        assert!(
            tests[0].stack.contains("panicked at src/snake.rs:49:1:\nassertion"),
            "{}",
            tests[0].stack
        );
        assert_eq!(tests[0].message, "assertion failed: a == b");
    }

    #[test]
    fn binaries_keep_their_tests_apart() {
        let text = "     Running unittests src/lib.rs (target/debug/deps/x-1)\n\nrunning 3 tests\ntest a::same ... ok\ntest a::bad ... FAILED\ntest slow ... ignored, takes long\n\nfailures:\n\n---- a::bad stdout ----\n\nthread 'a::bad' (7) panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: run with\n\n\nfailures:\n    a::bad\n\ntest result: FAILED. 1 passed\n\n     Running tests/api.rs (target/debug/deps/api-1)\ntest a::same ... ok\n   Doc-tests x\ntest src/lib.rs - f (line 3) ... ok\n";
        let tests = parse(text);
        let short: Vec<_> = tests.iter().map(|t| (t.id.as_str(), t.status.unwrap())).collect();
        assert_eq!(
            short,
            [
                ("src/lib.rs::a::same", Status::Passed),
                ("src/lib.rs::a::bad", Status::Failed),
                ("src/lib.rs::slow", Status::Skipped),
                ("tests/api.rs::a::same", Status::Passed),
                ("doc:x::src/lib.rs - f (line 3)", Status::Passed),
            ]
        );
        assert_eq!(tests[1].message, "assertion `left == right` failed\n  left: 1\n right: 2");
        assert!(tests[1].stack.contains("src/lib.rs:9:5"));
    }
    #[test]
    fn a_test_that_ends_the_program_is_noticed() {
        let table = [
            ("running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed", false),
            (
                "running 2 tests\ntest a ... ok\n     Running tests/b.rs (x)\nrunning 0 tests\n",
                true,
            ),
            ("running 2 tests\ntest a ... ok\ntest b ...      Running tests/b.rs (x)\n", true),
            ("running 1 test\ntest a ... ", true),
            (
                "running 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\nrunning 5 tests\n\nfailures:\n    a\n\ntest result: FAILED.",
                true,
            ),
        ];
        for (text, expected) in table {
            assert_eq!(!cut_binaries(text).is_empty(), expected, "{text}");
        }
    }

    #[test]
    fn a_heading_on_the_line_of_a_test_that_never_ended_counts() {
        let text = "     Running unittests src/lib.rs (x)\n\nrunning 1 test\ntest exits ...      Running tests/api.rs (y)\n\nrunning 1 test\ntest same ... ok\n";
        let tests = parse(text);
        assert_eq!(tests.len(), 1);
        assert_eq!(tests[0].id, "tests/api.rs::same");
    }
}
