//! Reads the compiler's errors in the output of cargo.

use crate::domain::test::{CaseKind, Status};

use super::{ReportedTest, STACK_LIMIT, bounded, without_colours};

/// The id of the failure that stands for the whole compilation: cargo compiles everything before it runs
/// a test, and its output does not tell to which crate an error belongs.
const COMPILATION: &str = "cargo build";

/// The failed compilation of a repository's own crates as one failure; `None` where nothing failed to
/// compile, or only crates from elsewhere, in which no edit helps. `is_own` tells whether a path as the
/// compiler prints it lies in the repository.
pub fn compilation_failure(output: &str, is_own: impl Fn(&str) -> bool) -> Option<ReportedTest> {
    let plain = without_colours(output);
    if !plain.lines().any(|line| line.starts_with("error: could not compile `")) {
        return None;
    }
    let mut errors: Vec<String> = Vec::new();
    let mut lines = plain.lines().peekable();
    while let Some(line) = lines.next() {
        if !is_error(line) {
            continue;
        }
        let mut block = line.to_owned();
        while let Some(next) = lines.next_if(|next| !next.is_empty() && !is_heading(next)) {
            if block.len() < STACK_LIMIT {
                block.push('\n');
                block.push_str(next);
            }
        }
        // The library is compiled for itself and for its tests.
        if place(&block).is_some_and(&is_own) && !errors.contains(&block) {
            errors.push(block);
        }
    }
    let message = errors.first()?.lines().next()?.to_owned();
    Some(ReportedTest {
        id: COMPILATION.into(),
        kind: CaseKind::Prerequisite,
        status: Some(Status::Failed),
        class: "does not compile".into(),
        message,
        stack: bounded(&errors.join("\n\n"), STACK_LIMIT),
        ..ReportedTest::default()
    })
}

/// Whether a line begins an error that has a place.
fn is_error(line: &str) -> bool {
    line.starts_with("error[") || line.starts_with("error: ")
}

fn is_heading(line: &str) -> bool {
    is_error(line) || line.starts_with("warning: ") || line.starts_with("warning[")
}

/// The file of an error, as the compiler prints it.
fn place(block: &str) -> Option<&str> {
    let place = block.lines().find_map(|line| line.trim_start().strip_prefix("--> "))?;
    place.rsplitn(3, ':').nth(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "   Compiling shop v0.1.0 (/x/shop)\nerror[E0425]: cannot find value `missing` in this scope\n --> src/lib.rs:1:24\n  |\n1 | pub fn f() -> i32 { 1 + missing }\n  |                         ^^^^^^^ not found in this scope\n\nwarning: unused variable: `y`\n --> src/lib.rs:2:9\n\nFor more information about this error, try `rustc --explain E0425`.\nerror: could not compile `shop` (lib) due to 1 previous error; 1 warning emitted\nwarning: build failed, waiting for other jobs to finish...\nerror[E0425]: cannot find value `missing` in this scope\n --> src/lib.rs:1:24\n  |\n1 | pub fn f() -> i32 { 1 + missing }\n  |                         ^^^^^^^ not found in this scope\n\nerror: expected one of `.`, `;`, found keyword `let`\n --> tests/api.rs:4:5\n\nerror: could not compile `shop` (lib test) due to 2 previous errors\n";

    #[test]
    fn errors_of_the_repository_are_one_failure() {
        let failure = compilation_failure(OUTPUT, |_| true).unwrap();
        assert_eq!(failure.message, "error[E0425]: cannot find value `missing` in this scope");
        assert_eq!(failure.stack.matches("E0425").count(), 1, "{}", failure.stack);
        assert!(failure.stack.contains("tests/api.rs:4:5"), "{}", failure.stack);
        assert!(!failure.stack.contains("unused"), "{}", failure.stack);
    }

    #[test]
    fn what_compiles_or_is_not_ours_is_no_failure() {
        let test_output = "error[E0425]: cannot find value `x`\n --> src/lib.rs:1:1\n";
        let table = [
            ("an error that a test prints", test_output.to_owned()),
            ("nothing", String::new()),
            ("a missing linker", "error: linker `cc` not found\n\nerror: could not compile `a` (lib) due to 1 previous error\n".into()),
        ];
        for (why, output) in table {
            assert_eq!(compilation_failure(&output, |_| true), None, "{why}");
        }
        assert_eq!(compilation_failure(OUTPUT, |path| path.starts_with("/home")), None);
    }
}
