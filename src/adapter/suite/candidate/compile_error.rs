//! Finds the first compiler error in the output of a test run.

use std::sync::LazyLock;

use regex::Regex;

use crate::adapter::suite::format::without_colours;

/// Characters of an error that are kept.
const SHOWN: usize = 200;

/// The mark of a failed build, and the pattern of its first error. The mark alone can occur in the
/// output of a test; both together occur in that of a build only.
const COMPILERS: &[(&str, &str)] = &[
    ("could not compile", r"(?m)^\s*(error(?:\[E\d+\])?: (?:.*))$"),
    ("[build failed]", r#"(?m)([\w./-]+\.go:\d+:\d+: [^\n"\\]*)"#),
    ("\"build-fail\"", r#"(?m)([\w./-]+\.go:\d+:\d+: [^\n"\\]*)"#),
    ("COMPILATION ERROR", r"(?m)^\[ERROR\] (.*\.(?:java|kt|scala|groovy):\[?\d+.*)$"),
    ("Compilation failed", r"(?m)^(?:e: )?(.*\.(?:java|kt|scala|groovy):\d+.*error.*)$"),
    ("error TS", r"(?m)^(.*\berror TS\d+: .*)$"),
    ("TS", r"(?m)^\s*(\S+\.[cm]?tsx?:\d+:\d+ - error TS\d+: .*)$"),
];

static PATTERNS: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    let compile = |(mark, pattern): &(&'static str, &str)| Some((*mark, Regex::new(pattern).ok()?));
    COMPILERS.iter().filter_map(compile).collect()
});

/// The first compiler error of a test run, if a build failed; only for runs without results.
pub fn first_compile_error(output: &str) -> Option<String> {
    let plain = without_colours(output);
    PATTERNS.iter().filter(|(mark, _)| plain.contains(mark)).find_map(|(_, pattern)| {
        let error = pattern.captures(&plain)?.get(1)?;
        Some(error.as_str().trim().chars().take(SHOWN).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failed_build_is_a_compile_error() {
        let table = [
            (
                "rustc 1.95",
                "   Compiling strsim v0.11.1 (/x)\nerror[E0308]: mismatched types\n --> src/lib.rs:3:5\n\nerror: could not compile `strsim` (lib) due to 1 previous error\n",
                Some("error[E0308]: mismatched types"),
            ),
            (
                "go 1.26, text",
                "# example.com/shop\n./price.go:4:9: cannot use \"a\" (untyped string constant) as int value\nFAIL\texample.com/shop [build failed]\n",
                Some("./price.go:4:9: cannot use"),
            ),
            (
                "go 1.26, JSON",
                "{\"ImportPath\":\"example.com/shop\",\"Action\":\"build-output\",\"Output\":\"./price.go:4:2: declared and not used: n\\n\"}\n{\"ImportPath\":\"example.com/shop\",\"Action\":\"build-fail\"}\n",
                Some("./price.go:4:2: declared and not used: n"),
            ),
            (
                "maven 3.8",
                "[ERROR] COMPILATION ERROR : \n[INFO] ---\n[ERROR] /x/src/main/java/Calc.java:[5,16] incompatible types: String cannot be converted to int\n",
                Some(
                    "/x/src/main/java/Calc.java:[5,16] incompatible types: String cannot be converted to int",
                ),
            ),
            (
                "gradle 4.4",
                "/x/src/main/java/Calc.java:5: error: incompatible types: String cannot be converted to int\n1 error\nCompilation failed; see the compiler error output for details.\n",
                Some(
                    "/x/src/main/java/Calc.java:5: error: incompatible types: String cannot be converted to int",
                ),
            ),
            (
                "ts-jest 29 in colours",
                "\u{1b}[96msrc/a.ts\u{1b}[0m:\u{1b}[93m3\u{1b}[0m:\u{1b}[93m5\u{1b}[0m - \u{1b}[91merror\u{1b}[0m\u{1b}[90m TS2322: \u{1b}[0mType 'string' is not assignable to type 'number'.\n",
                Some(
                    "src/a.ts:3:5 - error TS2322: Type 'string' is not assignable to type 'number'.",
                ),
            ),
            (
                "a test that fails",
                "test a ... FAILED\nerror: test failed, to rerun pass `--lib`\n",
                None,
            ),
            ("a test that talks of it", "thread panicked: error[E0308]: mismatched types\n", None),
            ("nothing", "", None),
        ];
        for (why, output, expected) in table {
            let error = first_compile_error(output);
            let begins = match (&error, expected) {
                (Some(error), Some(expected)) => error.starts_with(expected),
                (error, expected) => error.is_none() && expected.is_none(),
            };
            assert!(begins, "{why}: {error:?}");
        }
    }
}
