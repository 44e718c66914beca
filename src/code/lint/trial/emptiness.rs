//! Tests that say nothing: no body, no assertion, skipped.

use std::sync::LazyLock;

use regex::Regex;

use crate::code::language::Language;
use crate::code::lint::source::{Hit, Source, line};

use super::{TestBody, asserts, body_statements, regex, trials};

/// Tests without a statement.
pub fn empty(source: &Source<'_>) -> Vec<Hit> {
    trials(source)
        .iter()
        .filter(|trial| {
            trial.body.is_some_and(|body| body.kind().ends_with("block"))
                && body_statements(source, trial).is_empty()
        })
        .filter(|trial| skip_of(source, trial).is_none() && !is_doctest(source, trial))
        .map(|trial| Hit::noted(line(trial.node), trial.name))
        .collect()
}

/// Whether the documentation of a test is run.
fn is_doctest(source: &Source<'_>, trial: &TestBody<'_>) -> bool {
    source.language == Language::Python && source.of(trial.node).contains(">>> ")
}

/// Tests that do something and assert nothing.
pub fn setup_only(source: &Source<'_>) -> Vec<Hit> {
    trials(source)
        .iter()
        .filter(|trial| !body_statements(source, trial).is_empty())
        .filter(|trial| skip_of(source, trial).is_none() && !is_doctest(source, trial))
        .filter(|trial| {
            let expects = ["should_panic", "expected", "raises", "-> Result"];
            let head = source.of(trial.node).lines().next().unwrap_or_default();
            !expects.iter().any(|word| trial.marks.contains(word) || head.contains(word))
        })
        .filter(|trial| !asserts(source, trial.node, 2))
        .map(|trial| Hit::noted(line(trial.node), trial.name))
        .collect()
}

static SKIP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^@(?:unittest\.)?skip\b|^@pytest\.mark\.(?:skip|xfail)\b|#\[ignore|@Disabled|@Ignore|^\s*t\.Skip|^(?:it|test|describe)\.skip$|^x(?:it|test|describe)$").ok()
});

/// The mark that skips a test, and whether it says why.
fn skip_of<'a>(source: &Source<'a>, trial: &TestBody<'a>) -> Option<bool> {
    let marks = trial.marks.as_str();
    let found = match source.language {
        Language::Python => {
            marks.split('@').skip(1).map(|mark| format!("@{mark}")).find(|mark| regex(&SKIP)(mark))
        }
        Language::Go => trial.body.and_then(|body| {
            let list = body_statements(source, trial);
            let first = list.first().map(|one| source.of(*one).to_owned()).unwrap_or_default();
            (body.start_byte() > 0 && regex(&SKIP)(&first)).then_some(first)
        }),
        _ => marks
            .split(['\n', ']'])
            .map(str::trim)
            .find(|mark| regex(&SKIP)(mark))
            .map(str::to_owned),
    }?;
    Some(found.contains(['"', '\'']))
}

/// Skipped tests, with or without a stated reason.
fn skipped_by(source: &Source<'_>, reason: bool) -> Vec<Hit> {
    let mut hits: Vec<Hit> = trials(source)
        .iter()
        .filter(|trial| skip_of(source, trial) == Some(reason))
        .map(|trial| Hit::noted(line(trial.node), trial.name))
        .collect();
    if source.is_script() {
        for node in source.of_kind(&["call_expression"]) {
            if !regex(&SKIP)(source.field(node, "function")) {
                continue;
            }
            // A reason is a comment on the line or the one above.
            let at = line(node) as usize;
            let spoken = |text: Option<&str>, own: bool| {
                text.is_some_and(|text| {
                    text.split_once("//").is_some_and(|(before, words)| {
                        (own || before.trim().is_empty()) && !words.contains("expect:")
                    })
                })
            };
            let has = spoken(source.text.lines().nth(at - 1), true)
                || at >= 2 && spoken(source.text.lines().nth(at - 2), false);
            if has == reason {
                hits.push(Hit::at(line(node)));
            }
        }
    }
    hits
}

static COMMENTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^(?://|#|/\*)\s*(?:(?:it|test)\(\s*['"`]|def test_\w*\(|func Test\w+\(t |#\[test\]|@Test\b)"#).ok()
});

/// Skipped with a reason, or commented out.
pub fn skipped(source: &Source<'_>) -> Vec<Hit> {
    let commented = regex(&COMMENTED);
    let mut hits = skipped_by(source, true);
    let gone: Vec<_> = source.comments().filter(|node| commented(source.of(*node))).collect();
    hits.extend(gone.first().map(|first| {
        Hit::noted(line(*first), format!("{} commented out in this file", gone.len()))
    }));
    hits
}

/// Skipped, and nobody knows why.
pub fn skipped_silently(source: &Source<'_>) -> Vec<Hit> {
    skipped_by(source, false)
}
