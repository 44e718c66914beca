//! What compilers say of a test file that cannot be built, and which of its tests stand there.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::test_cases::source_tests;
use crate::domain::id::RepoPath;
use crate::domain::test::TestCase;
use crate::domain::text::has_word;

/// The most characters of a message that a reason quotes.
const MESSAGE: usize = 160;

/// An error of a compiler in a file; lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerError {
    pub line: usize,
    /// 0 where the compiler names the line alone.
    pub column: usize,
    pub message: String,
}

/// The errors in a file that results of a run name: `Fees.java:[3,21] …`, `fees.go:3:5: …`, and the
/// places of rustc, whose message stands before.
pub fn read_errors(path: &RepoPath, cases: &[TestCase]) -> Vec<CompilerError> {
    let mut errors = Vec::new();
    let unloaded = cases.iter().filter(|case| case.kind.is_unloaded());
    for failure in unloaded.filter_map(|case| case.failure.as_ref()) {
        let mut heading = "";
        for line in failure.stack.lines() {
            if line.starts_with("error") {
                heading = line;
            }
            errors.extend(error_of(path, heading, line));
        }
    }
    errors
}

fn error_of(path: &RepoPath, heading: &str, text: &str) -> Option<CompilerError> {
    let (before, after) = text.split_once(path.file_name())?;
    let folder = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let folder = folder.trim_start_matches("./");
    let own = path.as_str().strip_suffix(path.file_name()).unwrap_or_default();
    let after = after.strip_prefix(':')?.trim_start_matches('[');
    let mut parts = after.splitn(3, |c: char| !c.is_ascii_digit());
    let line =
        parts.next()?.parse().ok().filter(|_| own.ends_with(folder) || folder.ends_with(own))?;
    let second = parts.next().and_then(|part| part.parse().ok());
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || ",:]".contains(c));
    let is_rust = before.trim_start().starts_with("--> ");
    let message = if is_rust { heading } else { rest.trim_matches([' ', '-', ')']) };
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let is_error = !message.is_empty() && !message.starts_with("warning");
    is_error.then(|| CompilerError {
        line,
        column: second.unwrap_or_default(),
        message: message.chars().take(MESSAGE).collect(),
    })
}

/// The tests of a text in which errors stand, or that use what an error outside of all tests names, such
/// as an import: each by its name, with the message. javac names only the first place of a construct that
/// its sources may not have, so a message that was `known` before is one of all tests with the same operator.
pub fn refused_names(
    language: Language,
    text: &str,
    errors: &[CompilerError],
    known: &BTreeSet<String>,
) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = source_tests(language, text);
    let spans: Vec<_> = tests.iter().map(|test| test.start as usize..=test.end as usize).collect();
    let tab = if language == Language::Java { 8 } else { 1 };
    let rest_of = |one: &CompilerError| {
        rest_of_line(lines.get(one.line.checked_sub(1)?)?, one.column.checked_sub(1)?, tab)
    };
    let first = spans.iter().map(|span| *span.start()).min().unwrap_or_default();
    let imports = errors.iter().filter(|one| one.line < first);
    let missing: Vec<(&str, &CompilerError)> =
        imports.filter_map(|one| Some((imported_word(rest_of(one)?)?, one))).collect();
    let again = errors.iter().filter(|one| known.contains(&one.message));
    let repeated: Vec<(&str, &CompilerError)> =
        again.filter_map(|one| Some((first_operator(rest_of(one)?)?, one))).collect();
    let error_in = |span: &std::ops::RangeInclusive<usize>| {
        let own = errors.iter().find(|one| span.contains(&one.line));
        own.or_else(|| {
            let body = lines.get(span.start() - 1..*span.end())?;
            let uses = |word: &str| body.iter().any(|line| has_word(line, word));
            let has =
                |operator: &str| body.iter().any(|line| without_texts(line).contains(operator));
            let mut found = missing.iter().filter(|(word, _)| uses(word));
            let mut alike = repeated.iter().filter(|(operator, _)| has(operator));
            found.next().or_else(|| alike.next()).map(|(_, error)| *error)
        })
    };
    let found = tests.iter().zip(&spans);
    found
        .filter_map(|(test, span)| Some((test.name.clone(), error_in(span)?.message.clone())))
        .collect()
}

/// The rest of a line behind so many columns; javac counts a tab up to the next eighth one.
fn rest_of_line(line: &str, columns: usize, tab: usize) -> Option<&str> {
    let mut at = 0;
    for (index, letter) in line.char_indices() {
        if at >= columns {
            return line.get(index..);
        }
        at += if letter == '\t' { tab - at % tab } else { 1 };
    }
    None
}

/// The first word of the rest of an import; `None` for what declares a class.
fn imported_word(rest: &str) -> Option<&str> {
    let mut words = rest.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.find(|word| !word.is_empty()).filter(|_| !has_word(rest, "class"))
}

/// The operator of several characters that the rest of a line begins with, such as `->`.
fn first_operator(rest: &str) -> Option<&str> {
    let mut signs = rest.split(|c: char| !"-+<>=!:&|?.*/%^~".contains(c));
    signs.next().filter(|operator| operator.len() > 1)
}

/// A line without what stands in quotes.
fn without_texts(line: &str) -> String {
    line.replace("\\\"", "").split('"').step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::TestId;
    use crate::domain::test::{CaseKind, FailureText, Layer, Status};

    fn read(path: &str, stack: &str) -> Vec<(usize, usize, String)> {
        let failure = FailureText { stack: stack.to_owned(), ..FailureText::default() };
        let case = TestCase {
            kind: CaseKind::Prerequisite,
            id: TestId("build".into()),
            status: Status::Failed,
            file: None,
            line: None,
            duration_ms: 0,
            layer: Layer::Unit,
            failure: Some(failure),
        };
        let errors = read_errors(&RepoPath::parse(path).unwrap(), &[case]);
        errors.into_iter().map(|one| (one.line, one.column, one.message)).collect()
    }

    #[test]
    fn errors_are_read_as_compilers_write_them() {
        let java = "core/src/test/java/shop/FeesTest.java";
        let table = [
            (
                "tests/fees.rs",
                "error[E0308]: mismatched types\n  --> tests/fees.rs:10:9\n   |\n10 | x",
                vec![(10, 9, "error[E0308]: mismatched types")],
            ),
            ("tests/fees.rs", "error: x\n --> tests/other.rs:10:9", vec![]),
            ("tests/fees.rs", "error: x\n --> api/tests/fees.rs:10:9", vec![(10, 9, "x")]),
            (
                java,
                "[ERROR] /x/core/src/test/java/shop/FeesTest.java:[33,21] no lambdas\n[ERROR]   (use 8)",
                vec![(33, 21, "no lambdas")],
            ),
            (java, "[ERROR] /x/core/src/test/java/cart/FeesTest.java:[33,21] no lambdas", vec![]),
            (
                java,
                "/x/core/src/test/java/shop/FeesTest.java:33: error: no lambdas\n/x/core/src/test/java/shop/FeesTest.java:34: warning: old",
                vec![(33, 0, "no lambdas")],
            ),
            (
                "shop/fees_test.go",
                "./fees_test.go:4:2: undefined: Fee",
                vec![(4, 2, "undefined: Fee")],
            ),
            (
                "tests/fees.test.ts",
                "tests/fees.test.ts:4:2 - error TS2345: no number\n    at f (tests/fees.test.ts:9:1)",
                vec![(4, 2, "error TS2345: no number")],
            ),
        ];
        for (path, stack, expected) in table {
            let expected: Vec<(usize, usize, String)> = expected
                .into_iter()
                .map(|(line, column, text)| (line, column, text.into()))
                .collect();
            assert_eq!(read(path, stack), expected, "{stack}");
        }
    }

    #[test]
    fn tests_that_the_compiler_refuses_are_named() {
        let rust = "use shop::{Gone, fee};\n\n#[test]\nfn a() {\n    fee(Gone::X);\n}\n\n#[test]\nfn b() {\n    fee(1);\n}\n\n#[test]\nfn c() {\n    fee(2);\n}\n";
        let java = "package shop;\n\nimport other.Gone;\n\nclass FeesTest {\n  @Test\n  void a() {\n    Fees.of(Gone.X);\n  }\n\n  @Test\n  public void toString() {\n    f(\n      1);\n  }\n}\n";
        let table = [
            (Language::Rust, rust, (10, 9), vec!["b"]),
            (Language::Rust, rust, (1, 12), vec!["a"]),
            (Language::Java, java, (12, 15), vec!["toString"]),
            (Language::Java, java, (14, 0), vec!["toString"]),
            (Language::Java, java, (3, 13), vec!["a"]),
            (Language::Java, java, (5, 1), vec![]),
        ];
        for (language, text, (line, column), expected) in table {
            let errors = [CompilerError { line, column, message: "no".into() }];
            let refused = refused_names(language, text, &errors, &BTreeSet::new());
            let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, expected, "{line}:{column} of {text}");
        }
    }

    #[test]
    fn a_construct_that_the_compiler_names_again_is_refused_everywhere() {
        let test =
            |name: &str, line: &str| format!("\t@Test\n\tvoid {name}() {{\n\t\t{line}\n\t}}\n");
        let lines = ["f(() -> 1);", "g(1, (a) -> a);", "f(\"\\\" -> \");"];
        let tests: String = ["a", "b", "c"].iter().zip(lines).map(|(a, b)| test(a, b)).collect();
        let text = format!("class FeesTest {{\n{tests}}}\n");
        let error = CompilerError { line: 4, column: 22, message: "no lambdas".into() };
        for (known, expected) in [(None, vec!["a"]), (Some("no lambdas"), vec!["a", "b"])] {
            let known = known.iter().map(|one| (*one).to_owned()).collect();
            let errors = std::slice::from_ref(&error);
            let refused = refused_names(Language::Java, &text, errors, &known);
            let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, expected);
        }
    }
}
