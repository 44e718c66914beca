//! What the tests of a project look like, as far as its sources and neighbouring tests show.

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::domain::framework::Framework;

/// Modules with assertions of Node.js, as tests of JavaScript import them.
const ASSERT_MODULES: &[&str] = &["node:assert/strict", "assert/strict", "node:assert", "assert"];

/// Modules of test runners of JavaScript.
const RUNNERS: &[(&str, Option<Framework>)] = &[
    ("ava", Some(Framework::Ava)),
    ("vitest", Some(Framework::Vitest)),
    ("node:test", Some(Framework::NodeTest)),
    ("@jest/globals", Some(Framework::Jest)),
    ("mocha", Some(Framework::Mocha)),
    ("@playwright/test", None),
    ("cypress", None),
];

fn names_module(text: &str, module: &str) -> bool {
    ['"', '\''].iter().any(|quote| text.contains(&format!("{quote}{module}{quote}")))
}

/// Whether a test is one of another runner, whose manner is no example.
pub fn is_of_other_runner(text: &str, framework: Framework) -> bool {
    let others = RUNNERS.iter().filter(|(_, runner)| *runner != Some(framework));
    others.into_iter().any(|(module, _)| names_module(text, module))
}

/// What JavaScript has since ES2015.
static MODERN: Pattern = Pattern::new(r"(?m)^\s*(?:const|let|class|import|export|async)\b|=>");

/// What the tests of a project look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestStyle {
    /// Whether tests are grouped: in classes of unittest, or by `describe`.
    pub grouped: bool,
    /// Python: the longest line, where a setting tells.
    pub width: Option<usize>,
    /// Python: whether tests state that they return nothing.
    pub is_annotated: bool,
    /// JavaScript: whether statements end without semicolons.
    pub omits_semicolons: bool,
    /// JavaScript: whether the functions of the framework must be declared to `ESLint`.
    pub declares_globals: bool,
    /// JavaScript: whether all tests do without what ES2015 brought, such as `const` and `=>`.
    pub is_legacy: bool,
    /// JavaScript: the function that declares a test: `it` or `test`.
    pub declared_by: Option<&'static str>,
    /// JavaScript: the quotes around texts.
    pub quote: Option<char>,
    /// JavaScript: one level of indentation.
    pub indent: Option<&'static str>,
    /// JavaScript: the module with the assertions of Node.js.
    pub assert_module: Option<&'static str>,
    /// JavaScript: whether tests assert with `expect` of Chai.
    pub uses_chai: bool,
}

impl TestStyle {
    /// The longest line, or that of Black.
    pub fn line_width(&self) -> usize {
        self.width.unwrap_or(88)
    }

    /// The style that the neighbouring tests, the source and the settings of the formatter show.
    pub fn shown_by(language: Language, source: &str, tests: &[String], settings: &str) -> Self {
        let is_grouped = |text: &String| {
            let starts = |mark: &str| text.lines().any(|line| line.starts_with(mark));
            if language == Language::Python {
                text.contains("unittest.TestCase)") && !starts("def test_")
            } else {
                starts("describe(") && !starts("test(") && !starts("it(")
            }
        };
        let grouped = tests.iter().filter(|text| is_grouped(text)).count();
        let mut lengths = settings.lines().filter_map(|line| {
            let (name, value) = line.split_once('=')?;
            let is_length = matches!(name.trim(), "line-length" | "line_length");
            value.trim().parse().ok().filter(|_| is_length)
        });
        let (grouped, width) = (grouped * 2 > tests.len(), lengths.next());
        let tests = &tests.concat();
        let shown = if tests.is_empty() { source } else { tests };
        let starting =
            |mark: &str| shown.lines().filter(|line| line.trim_start().starts_with(mark)).count();
        let ended = |mark: &str| shown.lines().filter(|line| line.ends_with(mark)).count();
        let indented =
            |line| ["\t", "    ", "  "].into_iter().find(|one| str::starts_with(line, one));
        let (its, others) = (starting("it("), starting("test("));
        let is_test = |line: &&str| line.trim_start().starts_with("def test");
        let annotated = |line: &&str| is_test(line) && line.ends_with("-> None:");
        let count = |fits: &dyn Fn(&&str) -> bool| tests.lines().filter(fits).count();
        Self {
            is_annotated: count(&annotated) * 2 > count(&is_test),
            omits_semicolons: ended(");") < ended(")") || ended(";") == 0,
            is_legacy: tests.contains("function") && !MODERN.is_match(tests),
            declared_by: (its + others > 0).then_some(if its < others { "test" } else { "it" }),
            quote: (!tests.is_empty()).then(|| most_used_quote(tests)),
            indent: shown.lines().find_map(indented),
            assert_module: ASSERT_MODULES.iter().find(|name| names_module(tests, name)).copied(),
            uses_chai: tests.contains("expect(") && names_module(tests, "chai"),
            grouped,
            width,
            ..Self::default()
        }
    }
}

/// The quotes that most texts of a file have.
pub fn most_used_quote(text: &str) -> char {
    if text.matches('"').count() > text.matches('\'').count() { '"' } else { '\'' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_another_runner_are_no_example() {
        let table = [
            ("import test from 'ava';\n", Framework::Ava, false),
            ("import test from 'ava';\n", Framework::Mocha, true),
            ("const { test } = require(\"@playwright/test\");\n", Framework::Jest, true),
            ("describe('mocha', () => {});\n", Framework::Mocha, false),
        ];
        for (text, framework, expected) in table {
            assert_eq!(is_of_other_runner(text, framework), expected, "{text}");
        }
        let typed = ["def test_a() -> None:\n    assert f()\n".to_owned()];
        assert!(TestStyle::shown_by(Language::Python, "", &typed, "").is_annotated);
        let plain = [typed[0].replace(" -> None", "")];
        assert!(!TestStyle::shown_by(Language::Python, "", &plain, "").is_annotated);
        let chained = ["it('a', () => { expect(f().chain()).toBe(1); });\n".to_owned()];
        let style = TestStyle::shown_by(Language::JavaScript, "", &chained, "");
        assert!(!style.uses_chai);
    }
}
