//! Proposes follow-up issues from the results of a session: every sentence names a test, a file, a
//! commit or a number of this session (specification.md 9.4).

use std::collections::BTreeMap;

use crate::domain::command::Dimension;

use super::markdown::{code, line};
use super::view::View;

/// Number of entries that are listed of each kind.
const LISTED: usize = 20;

/// Longest title before its dimension, in characters.
const TITLE: usize = 60;

/// What a proposed issue refers to.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// `#7`, or a branch name; foreign text.
    pub name: &'a str,
    /// The pull request whose tests failed.
    pub number: Option<u64>,
    /// The pull request with the fix.
    pub fix: Option<u64>,
}

/// An issue that can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// `<summary> - <dimension>`.
    pub title: String,
    /// The text as Markdown.
    pub body: String,
    pub labels: Vec<&'static str>,
}

/// The word for a dimension in commands and titles.
pub fn word(dimension: Dimension) -> &'static str {
    Dimension::ALL.iter().find(|(_, known)| *known == dimension).map_or("", |(word, _)| *word)
}

/// The issue of one dimension; `None` when the session shows nothing for it.
pub fn proposal(view: &View, about: &About<'_>, dimension: Dimension) -> Option<Proposal> {
    let (summary, points, label) = match dimension {
        Dimension::Test => ("Guard what broke, with tests", tests(view), "test"),
        Dimension::Enhance => ("Finish what stayed red", enhance(view), "bug"),
        Dimension::Refactor => {
            ("Clean up where the failures came from", refactor(view), "refactor")
        }
        Dimension::Doc => ("Write down what the fix changed", doc(view), "documentation"),
    };
    if points.is_empty() {
        return None;
    }
    let subject = line(&format!("{summary} ({})", about.name), TITLE);
    let mut body = origin(view, about);
    for point in &points {
        body.push_str(&format!("- [ ] {point}\n"));
    }
    Some(Proposal {
        title: format!("{subject} - {}", word(dimension)),
        body,
        labels: vec!["regreen", label],
    })
}

fn origin(view: &View, about: &About<'_>) -> String {
    let place = match (about.number, about.fix) {
        (Some(number), Some(fix)) => format!("#{number}, fixed by #{fix}"),
        (Some(number), None) => format!("#{number}"),
        (None, Some(fix)) => format!("{}, fixed by #{fix}", code(about.name)),
        (None, None) => code(about.name),
    };
    let rates = match (view.baseline, view.rate()) {
        (Some(before), Some(after)) => format!(", {before} % to {after} %"),
        _ => String::new(),
    };
    format!(
        "Found while fixing the failing tests of {place} (session {}{rates}).\n\n",
        code(&view.session)
    )
}

/// Repaired files with the tests that noticed, because other code in these files may be untested.
fn tests(view: &View) -> Vec<String> {
    let mut points = Vec::new();
    for row in view.rows.iter().filter(|row| row.outcome == "improved").take(LISTED) {
        let files: Vec<String> = row.files.iter().map(|file| code(file)).collect();
        points.push(format!(
            "{} was wrong ({}). Add tests for its other branches and boundary values; only {} noticed.",
            files.join(", "),
            code(&row.summary),
            noticed(view, row.iteration),
        ));
    }
    for test in view.flaky.iter().take(LISTED) {
        points.push(format!(
            "{} failed and passed on the same sources. Find what it depends on: time, order, network or shared state.",
            code(test.as_str())
        ));
    }
    points
}

/// Names the tests that pass again since an iteration.
fn noticed(view: &View, iteration: u32) -> String {
    let row = view.rows.iter().find(|row| row.iteration == iteration);
    let earlier = view.rows.iter().rev().find(|row| row.iteration < iteration);
    let before = earlier.map_or(&view.red, |row| &row.failing);
    let after = row.map_or(&[][..], |row| &row.failing);
    let regained: Vec<String> = before
        .iter()
        .filter(|test| !after.contains(test))
        .take(3)
        .map(|test| code(test.as_str()))
        .collect();
    match regained.as_slice() {
        [] => "the tests that failed".to_owned(),
        names => names.join(", "),
    }
}

fn enhance(view: &View) -> Vec<String> {
    let outcome = view.outcome.as_ref();
    let failing = outcome.map_or(&[][..], |outcome| outcome.failing.as_slice());
    let mut points: Vec<String> = failing
        .iter()
        .take(LISTED)
        .map(|one| {
            let place = one.file.as_ref().map(|file| {
                let at = one.line.map_or_else(String::new, |line| format!(":{line}"));
                format!(" at {}", code(&format!("{}{at}", file.as_str())))
            });
            format!(
                "{} still fails{}: {} ({}, {})",
                code(one.test.as_str()),
                place.unwrap_or_default(),
                code(&line(&one.message, 200)),
                line(&one.criticality, 20),
                code(&line(&one.evidence, 200)),
            )
        })
        .collect();
    points.extend(
        view.preexisting
            .iter()
            .take(LISTED)
            .map(|test| format!("{} fails on the base branch too.", code(test.as_str()))),
    );
    points
}

/// Files that several iterations changed, and how often a change to them was reverted.
fn refactor(view: &View) -> Vec<String> {
    let mut touched: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for row in &view.rows {
        for file in &row.files {
            let (all, back) = touched.entry(file).or_default();
            *all += 1;
            *back += u32::from(row.outcome != "improved");
        }
    }
    let mut files: Vec<_> =
        touched.into_iter().filter(|(_, (all, back))| *all > 1 || *back > 0).collect();
    files.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    files
        .into_iter()
        .take(LISTED)
        .map(|(file, (all, back))| {
            format!(
                "{} was changed in {all} iterations, {back} of them without success. Split what changes together, and name the cases it tells apart.",
                code(file)
            )
        })
        .collect()
}

fn doc(view: &View) -> Vec<String> {
    let fixes = view.rows.iter().filter(|row| row.outcome == "improved");
    fixes.take(LISTED)
        .map(|row| {
            let commit = row
                .commit
                .as_ref()
                .map_or_else(String::new, |commit| format!(" in {}", commit.short()));
            let files: Vec<String> = row.files.iter().map(|file| code(file)).collect();
            format!(
                "Behaviour of {} changed{commit}: {}. Check its comments, the changelog and the guide.",
                files.join(", "),
                code(&row.summary)
            )
        })
        .collect()
}
