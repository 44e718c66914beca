//! Recognises the lines with which test runners say at the end that tests failed.

use std::sync::LazyLock;

use regex::Regex;

use super::without_colours;

/// Whole lines, without colours and line ends, each with numbers that are not 0.
const FAILURES: &[&str] = &[
    // pytest
    r"(=+ )?(\d+ [a-z ]+, )*[1-9]\d* (failed|errors?|subtests failed)(, \d+ [a-z ]+)* in \d[\d.]*s( \(.+\))?( =+)?",
    // unittest and Django
    r"FAILED \([A-Za-z ]+=\d+(, [A-Za-z ]+=\d+)*\)",
    // doctest
    r"\*\*\*Test Failed\*\*\* [1-9]\d* failures?( and .+)?\.",
    // go test
    r"FAIL(\t\S+( \[.+\]|\t[\d.]+s))?",
    r" *--- FAIL: \S+ \([\d.]+s\)",
    r#"\{("Time":"[^"]*",)?"Action":"fail",.*\}"#,
    // cargo test
    r"test result: FAILED\. \d+ passed; \d+ failed; .+",
    r"error: could not compile `.+` .*due to .+",
    // cargo-nextest
    r"error: test run failed",
    // Jest
    r"(Tests|Test Suites): +[1-9]\d* failed, .*\d+ total",
    // Vitest
    r" *(Test Files|Tests) +[1-9]\d* failed( \| .+)? \(\d+\)",
    r" +Errors +[1-9]\d* errors?",
    // AVA, Jasmine
    r"  [1-9]\d* (tests?|hooks?) failed",
    r"\d+ specs?, [1-9]\d* failures?(, .+)?",
    // Mocha
    r"  [1-9]\d* failing",
    // Node.js
    r"(#|ℹ) (fail|cancelled) +[1-9]\d*",
    // Surefire and JUnit 4
    r"(\[\w+\] )?Tests run: *\d+, +Failures: *([1-9]\d*(, +Errors: *\d+)?|0, +Errors: *[1-9]\d*)(, \w+: *\d+)*",
    r"(\[\w+\] )?BUILD FAILURE",
    // Gradle
    r"BUILD FAILED( in [\d.a-z ]+)?",
    r"\d+ tests? completed, [1-9]\d* failed(, \d+ skipped)?",
    // RSpec
    r"\d+ examples?, ([1-9]\d* failures?|0 failures, (.+, )?[1-9]\d* errors? occurred outside of examples)(, .+)?",
    // minitest
    r"\d+ runs, \d+ assertions, ([1-9]\d* failures, \d+|0 failures, [1-9]\d*) errors, \d+ skips",
    // PHPUnit
    r"(FAILURES|ERRORS)!",
    // dotnet test, Bazel, GoogleTest, prove, Automake
    r"Failed!  - Failed: +[1-9]\d*, Passed: +\d+, .+",
    r"Executed \d+ out of \d+ tests?: .*[1-9]\d* fails? .+",
    r"\[  FAILED  \] [1-9]\d* tests?, listed below:",
    r"Result: FAIL",
    r"# (FAIL|ERROR): +[1-9]\d*",
    // CTest
    r"\d+% tests passed, [1-9]\d* tests failed out of \d+",
    // Bats and ExUnit, Catch2, Deno, Bun, Playwright, Karma, Pest
    r"(\d+ \w+, )*\d+ tests?, [1-9]\d* failures?(, \d+ \w+)*",
    r"test cases: +\d+ \|( +\d+ passed \|)? +[1-9]\d* failed.*",
    r"FAILED \| \d+ passed .*\| [1-9]\d* failed .*",
    r" +[1-9]\d* fail(ed)?",
    r".*Executed \d+ of \d+ \([1-9]\d* FAILED\).*",
    r" +Tests: +[1-9]\d* failed, .*\(\d+ assertions?\)",
    // behave, Cucumber, Robot Framework, Meson, tox
    r"\d+ features? passed, [1-9]\d* failed, \d+ skipped",
    r"\d+ scenarios? \([1-9]\d* failed.*\)",
    r"\d+ tests?, \d+ passed, [1-9]\d* failed(, \d+ skipped)?",
    r"Fail: +[1-9]\d*",
    r"  evaluation failed :\( \(.+\)",
];

/// Longest line that is looked at, in bytes: no runner closes with a longer one.
const LONGEST: usize = 4 << 10;

/// The last line of an output that declares failures, read line by line for the sake of memory.
pub fn failure_line(output: &str) -> Option<String> {
    static LINE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(&format!(r"^(?:{})$", FAILURES.join("|"))).ok());
    let lines = output.rsplit(['\n', '\r']).filter(|line| line.len() <= LONGEST);
    let line = lines.map(without_colours).find(|line| {
        LINE.as_ref().is_some_and(|declares_failures| declares_failures.is_match(line))
    });
    line.map(|line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::failure_line;

    #[test]
    fn the_last_lines_of_runners_declare_failures() {
        let lines = [
            "=========== 1 failed, 2 passed, 1 skipped, 2 warnings in 75.10s (0:01:15) ===========",
            "1 failed, 2 passed in 0.12s",
            "=========================== 1 error in 0.09s ===========================",
            "2 passed, 2 errors in 0.12s",
            "1 passed, 1 subtests failed in 0.1s",
            "1 failed, 1 passed, 3 subtests passed in 0.05s",
            "FAILED (failures=1)",
            "FAILED (failures=1, errors=2, expected failures=1)",
            "FAILED (unexpected successes=1)",
            "***Test Failed*** 3 failures.",
            "***Test Failed*** 1 failure and 2 skipped tests.",
            "FAIL",
            "FAIL\texample.com/shop\t0.003s",
            "FAIL\texample.com/shop [build failed]",
            "--- FAIL: TestSum (0.00s)",
            "    --- FAIL: TestSum/of_two (0.00s)",
            r#"{"Time":"2026-01-01T10:00:00.1Z","Action":"fail","Package":"shop","Elapsed":0.003}"#,
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "error: could not compile `shop` (lib test) due to 1 previous error",
            "error: could not compile `shop` (lib) due to 2 previous errors; 1 warning emitted",
            "error: test run failed",
            "  1 test failed",
            "3 specs, 1 failure",
            "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 5 ms - shop.dll (net8.0)",
            "Executed 1 out of 1 test: 1 fails locally.",
            "Executed 2 out of 3 tests: 2 tests pass and 1 fails locally.",
            "[  FAILED  ] 1 test, listed below:",
            "Result: FAIL",
            "# FAIL:  1",
            "Tests:       1 failed, 2 passed, 3 total",
            "Tests:       1 failed, 1 total",
            "Test Suites: 1 failed, 1 passed, 2 total",
            " Test Files  1 failed | 2 passed (3)",
            "      Tests  1 failed (1)",
            "     Errors  1 error",
            "  2 failing",
            "# fail 2",
            "ℹ fail 1",
            "ℹ cancelled 1",
            "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0",
            "[ERROR] Tests run: 4, Failures: 0, Errors: 2, Skipped: 0, Flakes: 1",
            "Tests run: 3,  Failures: 1",
            "[INFO] BUILD FAILURE",
            "BUILD FAILED in 1m 2s",
            "BUILD FAILED",
            "5 tests completed, 1 failed, 1 skipped",
            "5 examples, 1 failure",
            "5 examples, 2 failures, 1 pending",
            "0 examples, 0 failures, 1 error occurred outside of examples",
            "3 runs, 3 assertions, 1 failures, 0 errors, 0 skips",
            "3 runs, 2 assertions, 0 failures, 1 errors, 0 skips",
            "FAILURES!",
            "ERRORS!",
            "50% tests passed, 1 tests failed out of 2",
            "2 tests, 1 failure",
            "1 doctest, 5 tests, 2 failures, 1 excluded",
            "test cases: 2 | 1 passed | 1 failed",
            "test cases: 1 | 1 failed",
            "FAILED | 1 passed (2 steps) | 1 failed (5ms)",
            " 1 fail",
            "  1 failed",
            "Chrome Headless: Executed 2 of 2 (1 FAILED) (0.01 secs / 0.002 secs)",
            "  Tests:    1 failed, 1 passed (2 assertions)",
            "0 features passed, 1 failed, 0 skipped",
            "2 scenarios (1 failed, 1 passed)",
            "2 tests, 1 passed, 1 failed",
            "Fail:               1",
            "# fail  1",
            "  evaluation failed :( (0.50 seconds)",
        ];
        for line in lines {
            let output = format!("printed\r\n{line}\r\ndone\n");
            assert_eq!(failure_line(&output).as_deref(), Some(line.trim()), "{line}");
        }
        assert_eq!(
            failure_line("FAILED (errors=2)\n\u{1b}[31mFAILED (failures=1)\u{1b}[0m\n").as_deref(),
            Some("FAILED (failures=1)")
        );
    }

    #[test]
    fn other_lines_that_hold_the_words_declare_nothing() {
        let lines = [
            "=========== 3 passed, 1 xfailed, 1 warning in 0.10s ===========",
            "0 failed, 3 passed in 0.1s",
            "1 failed",
            "1 failed in an earlier run",
            "retried: 1 failed, 2 passed in 0.12s",
            "OK (skipped=1, expected failures=1)",
            "FAILED",
            "FAILED (see the log)",
            "it says FAILED (failures=1)",
            "Test Failed: 3 failures.",
            "FAIL: the disk is full",
            "FAIL src/sum.test.js",
            "ok  \texample.com/shop\t0.003s",
            "--- FAIL: a heading",
            r#"{"Action":"output","Output":"{\"Action\":\"fail\",\"Package\":\"shop\"}"}"#,
            r#"{"Action":"pass","Package":"shop"}"#,
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "Tests:       3 passed, 3 total",
            "Tests: 1 failed, see above",
            "Tests 1 failed",
            "3 specs, 0 failures",
            "2 tests, 0 failures",
            "test cases: 2 | 2 passed",
            "ok | 2 passed (5ms) | 0 failed",
            " 0 fail",
            "1 failing fast",
            "2 scenarios (2 passed)",
            "Fail:               0",
            "Executed 1 out of 1 test: 1 test passes.",
            "[  FAILED  ] Shop.total (0 ms)",
            "Result: PASS",
            "# FAIL:  0",
            " Test Files  3 passed (3)",
            "Errors 1 error",
            "2 failing",
            "  2 failing hosts",
            "# fail 0",
            "ℹ fail 0",
            "# fail 2 of them",
            "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 4",
            "[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in ShopTest",
            "BUILD FAILED because of the weather",
            "BUILD SUCCESSFUL in 1s",
            "5 tests completed, 0 failed",
            "5 examples, 0 failures, 1 pending",
            "3 runs, 3 assertions, 0 failures, 0 errors, 0 skips",
            "FAILURES! None.",
            "100% tests passed, 0 tests failed out of 2",
        ];
        for line in lines {
            assert_eq!(failure_line(&format!("a\n{line}\nb\n")), None, "{line}");
        }
    }
}
