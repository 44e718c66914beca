//! The catalogue of all lint rules, in the order of the documentation (specification.md 6.3, 6.4).
//!
//! A rule is declared next to its detection; a new one needs only samples in `tests/data/lint`
//! besides.

use super::rule::LintRule;
use super::{rules as code, test_rules as tests, tool_rules};

/// All lint rules.
pub fn rules() -> impl Iterator<Item = &'static LintRule> {
    [
        tool_rules::RULES,
        code::imports::RULES,
        code::packages::RULES,
        code::placeholder::RULES,
        code::mocks::RULES,
        code::naming::RULES,
        code::secrets::RULES,
        tests::empty::RULES,
        tests::assertions::RULES,
        tests::isolation::RULES,
        tests::over_mocking::RULES,
        tests::missing_cases::RULES,
        tests::hollow::RULES,
        tests::cheating::RULES,
        tests::copied_code::RULES,
    ]
    .into_iter()
    .flatten()
}

/// The rule with an id.
pub fn rule(id: &str) -> Option<&'static LintRule> {
    rules().find(|rule| rule.id == id)
}

/// The id of the rule that corresponds to a message of an external tool; `None` if there is none.
pub fn rule_of_tool_message(message: &str) -> Option<&'static str> {
    let message = message.trim();
    // Ruff, `tsc`, `cargo` and golangci-lint start a message with its code; ESLint, mypy and
    // staticcheck end it with the code in brackets. The compilers of Go and Rust only have phrases.
    let first = message.trim_start_matches('[').split([' ', ':', ']']).next().unwrap_or_default();
    let last = message.trim_end_matches([')', ']']).rsplit(['(', '[']).next().unwrap_or_default();
    let is_about = |code: &&str| {
        *code == first || *code == last || code.contains(' ') && message.contains(*code)
    };
    rules().find(|rule| rule.codes.iter().any(&is_about)).map(|rule| rule.id)
}

#[cfg(test)]
mod tests_of_the_table {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::quality::Severity;

    #[test]
    fn ids_are_unique_and_rules_that_a_fixer_repairs_are_never_critical() {
        let mut seen = BTreeSet::new();
        for rule in rules() {
            assert!(seen.insert(rule.id), "{} twice", rule.id);
            assert!(!rule.languages().is_empty(), "{} applies nowhere", rule.id);
            assert!(!rule.fixable || rule.severity != Severity::Critical, "{}", rule.id);
        }
    }

    #[test]
    fn every_rule_says_what_is_wrong_and_what_to_do() {
        for rule in rules() {
            for text in [rule.category, rule.issue, rule.suggestion] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text:?}", rule.id);
            }
            assert_eq!(super::rule(rule.id).map(|found| found.id), Some(rule.id));
        }
        assert!(super::rule("no-such-rule").is_none());
    }
}
