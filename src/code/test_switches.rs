//! Finds what switches tests off, in the text of languages that are not parsed.

use crate::domain::id::RepoPath;

use super::language;
use super::pattern::Pattern;

/// How the tests of a language are switched off, or all but some.
struct Switches {
    language: &'static str,
    /// In a test file.
    in_tests: Pattern,
    /// In the product, which has no reason to name a test framework.
    in_product: Pattern,
}

static SWITCHES: [Switches; 4] = [
    Switches {
        language: "Ruby",
        in_tests: Pattern::new(
            r"\b[xf](?:it|describe|context|specify|example|scenario|feature)\b|\b(?:skip|pending|focus|omit|filter_run\w*|exclude_pattern)\b",
        ),
        in_product: Pattern::new(
            r"\b(?:RSpec|Minitest|MiniTest|Test::Unit)\b|\b(?:exit!?|abort|at_exit)(?:\s*[({]|\s+\d|\s*$|\s+if\b|\s+unless\b)",
        ),
    },
    Switches {
        language: "PHP",
        in_tests: Pattern::new(
            r"(?i)\bmarkTest(?:Skipped|Incomplete)\b|@requires\b|#\[\\?(?:[\w\\]+\\)?Requires|\b(?:Skipped|Incomplete)\w*(?:Test|Error|Exception)\b|@doesNotPerformAssertions|\bexpectNotToPerformAssertions\b",
        ),
        in_product: Pattern::new(
            r"(?i)\bPHPUnit\b|\bmarkTest(?:Skipped|Incomplete)\b|\b(?:exit|die)\b\s*[(;]",
        ),
    },
    Switches {
        language: "C and C++",
        in_tests: Pattern::new(
            r"\bDISABLED_|\bGTEST_(?:SKIP|FLAG|FILTER)\w*|\b(?:SKIP|BOOST_TEST_DISABLED)\b|\bdisabled\s*\(|doctest::skip|\[!mayfail\]|\[\.\]",
        ),
        in_product: Pattern::new(
            r"\bGTEST_\w+|<(?:gtest|gmock|catch2|doctest)/|\btesting::(?:Test|UnitTest|internal)|\bDISABLED_|\b(?:_?_?exit|_Exit|quick_exit|abort)\s*\(",
        ),
    },
    Switches {
        language: ".NET",
        in_tests: Pattern::new(
            r"\bSkip\s*=|\[(?:[^\]]*,\s*)?(?:Ignore|Explicit)\b|\bAssert\.(?:Ignore|Inconclusive|Skip\w*|Pass)\b|\bSkip\.(?:If|When|Unless)\b|\bExplicit\s*=",
        ),
        in_product: Pattern::new(
            r"\b(?:Xunit|NUnit|Microsoft\.VisualStudio\.TestTools)\b|\bEnvironment\.(?:Exit|FailFast)\b",
        ),
    },
];

/// Whether an edit of a file in a language that is not parsed switches more tests off than before, or
/// makes a source of the product know a test framework.
pub fn are_added(file: &RepoPath, is_test: bool, before: &str, after: &str) -> bool {
    let name = language::name_of(file);
    let Some(switches) = SWITCHES.iter().find(|one| Some(one.language) == name) else {
        return false;
    };
    if is_test {
        let count = |text: &str| switches.in_tests.captures(text).count();
        return count(after) > count(before);
    }
    // A plugin of a test framework names it anyway.
    let names = |text: &str| switches.in_product.captures(text).next().is_some();
    names(after) && !names(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_switches_a_test_off_is_found_in_each_language() {
        let table: &[(&str, &str, &str)] = &[
            ("spec/a_spec.rb", "it 'adds' do", "xit 'adds' do"),
            ("spec/a_spec.rb", "it 'adds' do", "fit 'adds' do"),
            ("spec/a_spec.rb", "it 'adds' do", "it 'adds', skip: true do"),
            ("spec/a_spec.rb", "expect(1)", "pending; expect(1)"),
            ("spec/spec_helper.rb", "c.order = :random", "c.filter_run_excluding :slow"),
            ("test/a_test.rb", "assert_equal 1, f", "skip; assert_equal 1, f"),
            ("tests/ATest.php", "$this->assertSame(1, f());", "$this->markTestSkipped();"),
            ("tests/ATest.php", "/** */", "/** @requires extension none */"),
            ("tests/ATest.php", "#[Test]", "#[RequiresPhpExtension('none')]"),
            ("a_test.cc", "TEST(A, Adds)", "TEST(A, DISABLED_Adds)"),
            ("a_test.cc", "EXPECT_EQ(1, f());", "GTEST_SKIP();"),
            ("a_test.cc", "TEST_CASE(\"adds\")", "TEST_CASE(\"adds\", \"[.]\")"),
            ("ATests.cs", "[Fact]", "[Fact(Skip = \"later\")]"),
            ("ATests.cs", "[Test]", "[Test, Ignore(\"later\")]"),
            ("ATests.cs", "Assert.Equal(1, f);", "Assert.Inconclusive();"),
        ];
        for (file, before, after) in table {
            let file = RepoPath::parse(*file).unwrap();
            assert!(are_added(&file, true, before, after), "{after}");
            assert!(!are_added(&file, true, after, after), "{after}: as before");
            assert!(!are_added(&file, true, after, before), "{before}: less than before");
        }
    }

    #[test]
    fn a_product_gets_no_new_knowledge_of_a_test_framework() {
        let table: &[(&str, &str, bool)] = &[
            ("lib/a.rb", "raise Minitest::Skip", true),
            ("lib/a.rb", "RSpec.configure { |c| c.filter_run :x }", true),
            ("lib/a.rb", "def skip(count) = drop(count)", false),
            ("lib/a.rb", "exit! 0", true),
            ("lib/a.rb", "  exit if x", true),
            ("lib/a.rb", "exit_code = 1", false),
            ("src/A.php", "exit(0);", true),
            ("src/a.cc", "std::_Exit(0);", true),
            ("Shop/A.cs", "Environment.Exit(0);", true),
            ("src/A.php", "throw new PHPUnit\\Framework\\SkippedTestError();", true),
            ("src/a.cc", "#include <gtest/gtest.h>", true),
            ("src/a.cc", "bool disabled(int n) { return n > 0; }", false),
            ("Shop/A.cs", "Xunit.Assert.Skip(\"\");", true),
            ("Shop/A.cs", "items.Skip(2)", false),
            ("README.md", "RSpec", false),
        ];
        for (file, after, expected) in table {
            let file = RepoPath::parse(*file).unwrap();
            assert_eq!(are_added(&file, false, "", after), *expected, "{after}");
        }
        let plugin = RepoPath::parse("lib/plugin.rb").unwrap();
        assert!(!are_added(&plugin, false, "RSpec.x", "RSpec.x; RSpec.y"));
    }
}
