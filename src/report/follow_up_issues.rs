//! Proposes follow-up issues from the results of a session: every sentence names a test, a file, a
//! commit or a number of this session (specification.md 9.4).

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::command::Dimension;
use crate::domain::event::{IterationRow, Remaining};
use crate::domain::id::TestId;
use crate::domain::text::count;

use super::markdown::{code, line, prose};
use super::phrases::{is_skipped, result_of};
use super::view::View;

/// Number of entries that are listed of each kind.
const LISTED: usize = 20;

/// Number of tests or functions that one entry names.
const NAMED: usize = 3;

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

/// What a dimension asks for: the title's summary, a request, and the facts it is about.
struct Content {
    summary: String,
    request: &'static str,
    /// One Markdown entry each.
    points: Vec<String>,
    label: &'static str,
}

/// The issue of one dimension; `None` when the session shows nothing for it.
pub fn proposal(view: &View, about: &About<'_>, dimension: Dimension) -> Option<Proposal> {
    let content = match dimension {
        Dimension::Test => tests(view),
        Dimension::Enhance => enhance(view),
        Dimension::Refactor => refactor(view),
        Dimension::Doc => doc(view),
    };
    if content.points.is_empty() {
        return None;
    }
    let subject = line(&format!("{} ({})", content.summary, about.name), TITLE);
    let mut body = format!("{}\n\n", origin(view, about));
    if !content.request.is_empty() {
        body.push_str(&format!("{}\n\n", content.request));
    }
    for point in &content.points {
        body.push_str(&format!("- [ ] {point}\n"));
    }
    if dimension == Dimension::Enhance {
        body.push_str(&attempts(view));
    }
    Some(Proposal {
        title: format!("{subject} - {dimension}"),
        body,
        labels: vec!["regreen", content.label],
    })
}

/// Which session this is about, and what it came to.
fn origin(view: &View, about: &About<'_>) -> String {
    let place = about.number.map_or_else(|| code(about.name), |number| format!("#{number}"));
    let head = view.head.as_ref().map_or_else(String::new, |head| format!(" at {}", head.short()));
    let mut text = format!("Session {} worked on {place}{head}.", code(&view.session));
    match (view.baseline, view.rate()) {
        (Some(before), Some(after)) if before != after => {
            text.push_str(&format!(
                " {before} % of the tests passed before it, {after} % after it."
            ));
        }
        (_, Some(rate)) => text.push_str(&format!(" {rate} % of the tests passed.")),
        (_, None) => {}
    }
    if let Some(fix) = about.fix {
        text.push_str(&format!(" Its changes are in #{fix}."));
    }
    if !view.reverted.is_empty() {
        let numbers: Vec<String> = view.reverted.iter().map(u32::to_string).collect();
        text.push_str(&format!(" Reverted since: iteration {}.", numbers.join(", ")));
    }
    text
}

/// Iterations whose change is still in the fix.
fn kept(view: &View) -> impl Iterator<Item = &IterationRow> {
    let is_kept =
        |row: &&IterationRow| row.outcome == "improved" && !view.reverted.contains(&row.iteration);
    view.rows.iter().filter(is_kept)
}

/// A change, or why there is none: what it does, in which file and function, and its commit.
fn change(row: &IterationRow) -> String {
    let files: Vec<String> = row.files.iter().map(|file| code(file)).collect();
    let mut text = code(&row.summary);
    if !files.is_empty() {
        text.push_str(&format!(" in {}", files.join(", ")));
    }
    let functions = functions(&row.patch);
    if !functions.is_empty() {
        text.push_str(&format!(" ({})", functions.join(", ")));
    }
    if let Some(commit) = &row.commit {
        text.push_str(&format!(", commit {}", commit.short()));
    }
    text
}

/// The functions that a patch changes, as the headings of its hunks name them.
fn functions(patch: &str) -> Vec<String> {
    let mut names: Vec<String> = patch
        .lines()
        .filter_map(|line| line.strip_prefix("@@ ")?.split_once(" @@ "))
        .map(|(_, heading)| code(&line(heading, 80)))
        .collect();
    names.dedup();
    names.truncate(NAMED);
    names
}

/// Files of changes as a few words for a title.
fn named<'a>(files: impl Iterator<Item = &'a String>) -> String {
    let files: BTreeSet<&String> = files.collect();
    match Vec::from_iter(files).as_slice() {
        [file] => file.rsplit('/').next().unwrap_or_default().to_owned(),
        files => count(files.len(), "file"),
    }
}

/// Kept changes with the tests that noticed, as code beside may be untested, and flaky tests.
fn tests(view: &View) -> Content {
    let mut points: Vec<String> = kept(view)
        .take(LISTED)
        .map(|row| {
            let noticed = noticed(view, row.iteration);
            let noticed = noticed.map_or_else(String::new, |tests| format!("; noticed by {tests}"));
            format!("{}{noticed}", change(row))
        })
        .collect();
    let work = || view.outcome.iter().filter_map(|outcome| outcome.written.as_ref());
    let untested: Vec<&String> = work().flat_map(|work| &work.untested).collect();
    let (summary, request) = if points.is_empty() && !untested.is_empty() {
        let boundaries = match untested.len() {
            1 => "the boundary that has".to_owned(),
            more => format!("{more} boundaries that have"),
        };
        (format!("Test {boundaries} no test"), "")
    } else if points.is_empty() {
        (format!("Find why {} changed its result", count(view.flaky.len(), "test")), "")
    } else {
        (
            format!("Cover more cases of {}", named(kept(view).flat_map(|row| &row.files))),
            "No other test failed for these changes: cover the values and branches beside them.",
        )
    };
    let no_test = |one: &&String| format!("no test could be written: {}", prose(one, 300));
    points.extend(untested.iter().take(LISTED).map(no_test));
    points.extend(view.flaky.iter().take(LISTED).map(|test| {
        format!(
            "{} failed and passed on the same sources; find what it depends on",
            code(test.as_str())
        )
    }));
    Content { summary, request, points, label: "test" }
}

/// Names the tests that pass again since an iteration; `None` when none is known.
fn noticed(view: &View, iteration: u32) -> Option<String> {
    let row = view.rows.iter().find(|row| row.iteration == iteration);
    let earlier = view.rows.iter().rev().find(|row| row.iteration < iteration);
    let before = earlier.map_or(&view.red, |row| &row.failing);
    let after = row.map_or(&[][..], |row| &row.failing);
    let regained: Vec<String> = before
        .iter()
        .filter(|test| !after.contains(test))
        .map(|test| code(test.as_str()))
        .collect();
    let more = regained.len().saturating_sub(NAMED);
    let names = regained.get(..NAMED).unwrap_or(&regained).join(", ");
    match (names.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(names),
        (false, more) => Some(format!("{names} and {more} more")),
    }
}

/// Tests that still fail.
fn enhance(view: &View) -> Content {
    let failing = view.outcome.as_ref().map_or(&[][..], |outcome| outcome.failing.as_slice());
    let failure = |one: &Remaining| {
        let place = one.file.as_ref().map_or_else(String::new, |file| {
            let at = one.line.map_or_else(String::new, |line| format!(":{line}"));
            format!(" at {}", code(&format!("{}{at}", file.as_str())))
        });
        let evidence = prose(&one.evidence, 200);
        let level = prose(&one.criticality, 20);
        let message = code(&line(&one.message, 200));
        format!("{} fails{place}: {message} ({level}: {evidence})", code(one.test.as_str()))
    };
    let listed = |test: &TestId| failing.iter().any(|one| one.test == *test);
    let base: Vec<&TestId> = view.preexisting.iter().filter(|test| !listed(test)).collect();
    let mut points: Vec<String> = failing.iter().take(LISTED).map(failure).collect();
    let on_base = |test: &&TestId| format!("{} fails on the base branch too", code(test.as_str()));
    points.extend(base.iter().take(LISTED).map(on_base));
    let work = view.outcome.iter().filter_map(|outcome| outcome.written.as_ref());
    let findings: Vec<&String> = work.flat_map(|work| &work.findings).collect();
    let finding = |one: &&String| format!("code or documentation is wrong: {}", prose(one, 300));
    points.extend(findings.iter().take(LISTED).map(finding));
    let mut left = vec![count(failing.len() + base.len(), "failing test")];
    if !findings.is_empty() {
        left.push(count(findings.len(), "finding"));
        left.retain(|one| !one.starts_with("0 "));
    }
    let summary = format!("Fix what is left: {}", left.join(" and "));
    Content { summary, request: "", points, label: "bug" }
}

/// The iterations that changed nothing for the better, or whose change was reverted.
fn attempts(view: &View) -> String {
    let is_lost = |row: &&IterationRow| kept(view).all(|one| one.iteration != row.iteration);
    let is_tried = |row: &&IterationRow| !row.summary.is_empty() && !is_skipped(row);
    let rows = view.rows.iter().filter(is_lost).filter(is_tried);
    let entries: String = rows
        .take(LISTED)
        .map(|row| {
            let result = match row.outcome.as_str() {
                "improved" => "reverted since".to_owned(),
                _ => result_of(row).1,
            };
            format!("- {}; {}\n", change(row), prose(&result, 200))
        })
        .collect();
    if entries.is_empty() { entries } else { format!("\nTried without success:\n\n{entries}") }
}

/// Files that took several changes, or in which a change made other tests fail.
fn refactor(view: &View) -> Content {
    let mut touched: BTreeMap<&String, Vec<&IterationRow>> = BTreeMap::new();
    let regressed = view.rows.iter().filter(|row| row.outcome == "regression");
    for row in kept(view).chain(regressed) {
        for file in &row.files {
            touched.entry(file).or_default().push(row);
        }
    }
    for rows in touched.values_mut() {
        rows.sort_by_key(|row| row.iteration);
    }
    touched.retain(|_, rows| rows.len() > 1 || rows.iter().any(|row| row.outcome == "regression"));
    let entry = |row: &&IterationRow| {
        let result = match row.outcome.as_str() {
            "regression" => prose(&result_of(row).1, 200),
            _ => "kept".to_owned(),
        };
        format!("\n  - {}; {result}", change(row))
    };
    let points = touched.iter().take(LISTED).map(|(file, rows)| {
        let entries: String = rows.iter().take(LISTED).map(entry).collect();
        format!("{}: {}{entries}", code(file), count(rows.len(), "change"))
    });
    Content {
        summary: format!("Simplify {}", named(touched.keys().copied())),
        request: "See whether one clearer rule in the file covers these changes.",
        points: points.collect(),
        label: "refactor",
    }
}

/// Kept changes, because a text may still describe the former behaviour.
fn doc(view: &View) -> Content {
    Content {
        summary: format!("Describe what {} does now", named(kept(view).flat_map(|row| &row.files))),
        request: "Correct comments, documentation and change log where they describe the former behaviour.",
        points: kept(view).take(LISTED).map(change).collect(),
        label: "documentation",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::{Ending, Event, Outcome, WrittenWork};
    use crate::domain::id::{CommitId, RepoPath};
    use crate::domain::rate::PassRate;
    use crate::domain::strategy::Strategy;

    fn row(iteration: u32, outcome: &str, summary: &str, failing: &[&str]) -> IterationRow {
        let rate = |passed| PassRate::of(passed, 6).unwrap();
        let passed = 6 - u32::try_from(failing.len()).unwrap();
        IterationRow {
            reason: String::new(),
            iteration,
            strategy: Strategy::Conservative,
            before: rate(3),
            after: rate(passed),
            reached: (outcome == "regression").then(|| rate(1)),
            outcome: outcome.into(),
            tests_run: 6,
            tests_of: 6,
            tried: 4,
            summary: summary.into(),
            files: vec!["shop/calc.py".into()],
            commit: (outcome != "unchanged")
                .then(|| CommitId::parse(iteration.to_string().repeat(40)).unwrap()),
            provider: "embedded".into(),
            calls: Vec::new(),
            degraded: false,
            failing: failing.iter().map(|name| TestId::from(*name)).collect(),
            analysis: String::new(),
            patch:
                "--- a/shop/calc.py\n+++ b/shop/calc.py\n@@ -1,3 +1,3 @@ def total(cart):\n-a\n+b\n"
                    .into(),
            duration_ms: 1,
        }
    }

    fn session(rows: Vec<IterationRow>) -> View {
        let red = ["a", "b", "c"].map(TestId::from).to_vec();
        let mut view = View::of(&[
            Event::Opened {
                session: "WFS-test-pr-1".into(),
                repository: "octo/shop".into(),
                head: CommitId::parse("f".repeat(40)).unwrap(),
                branch: "regreen/WFS-test-pr-1".into(),
                framework: "pytest".into(),
                command: "pytest".into(),
                resumed: false,
            },
            Event::Baseline {
                rate: PassRate::of(3, 6).unwrap(),
                failing: red,
                flaky: Vec::new(),
                preexisting: Vec::new(),
            },
        ]);
        for row in rows {
            view.add(&Event::IterationEnded(row));
        }
        view
    }

    const ABOUT: About<'_> = About { name: "#1", number: Some(1), fix: Some(2) };

    fn issue(view: &View, dimension: Dimension) -> String {
        let issue = proposal(view, &ABOUT, dimension).unwrap();
        format!("{}\n\n{}", issue.title, issue.body)
    }

    /// Two fixes, one regression between them; one test is left.
    fn partial() -> View {
        let mut view = session(vec![
            row(1, "improved", "calc.py:1: `<` → `<=`", &["b", "c"]),
            row(2, "regression", "rewrite @total", &["b", "c"]),
            row(3, "improved", "calc.py:9: `+` → `-`", &["c"]),
        ]);
        let left = Remaining {
            test: TestId::from("c"),
            criticality: "high".into(),
            evidence: "its name speaks of `pay`".into(),
            message: "assert 3 == 4, thanks @octocat".into(),
            file: RepoPath::parse("tests/test_c.py").ok(),
            line: Some(7),
        };
        let mut outcome = crate::report::tests::outcome(&view, Ending::Failure, 50, vec![left], "");
        outcome.last = PassRate::of(5, 6);
        view.add(&Event::Closed(Box::new(outcome)));
        view
    }

    #[test]
    fn each_issue_states_facts_of_the_session() {
        let view = partial();
        insta::assert_snapshot!(issue(&view, Dimension::Test), @r"
        Cover more cases of calc.py (#1) - test

        Session `WFS-test-pr-1` worked on #1 at ffffffff. 50.0 % of the tests passed before it, 83.3 % after it. Its changes are in #2.

        No other test failed for these changes: cover the values and branches beside them.

        - [ ] `` calc.py:1: `<` → `<=` `` in `shop/calc.py` (`def total(cart):`), commit 11111111; noticed by `a`
        - [ ] `` calc.py:9: `+` → `-` `` in `shop/calc.py` (`def total(cart):`), commit 33333333; noticed by `b`
        ");
        insta::assert_snapshot!(issue(&view, Dimension::Enhance), @r"
        Fix what is left: 1 failing test (#1) - enhance

        Session `WFS-test-pr-1` worked on #1 at ffffffff. 50.0 % of the tests passed before it, 83.3 % after it. Its changes are in #2.

        - [ ] `c` fails at `tests/test_c.py:7`: `assert 3 == 4, thanks @octocat` (high: its name speaks of `pay`)

        Tried without success:

        - `rewrite @total` in `shop/calc.py` (`def total(cart):`), commit 22222222; taken back: fell to 16.7 %, still 66.7 %
        ");
        insta::assert_snapshot!(issue(&view, Dimension::Refactor), @r"
        Simplify calc.py (#1) - refactor

        Session `WFS-test-pr-1` worked on #1 at ffffffff. 50.0 % of the tests passed before it, 83.3 % after it. Its changes are in #2.

        See whether one clearer rule in the file covers these changes.

        - [ ] `shop/calc.py`: 3 changes
          - `` calc.py:1: `<` → `<=` `` in `shop/calc.py` (`def total(cart):`), commit 11111111; kept
          - `rewrite @total` in `shop/calc.py` (`def total(cart):`), commit 22222222; taken back: fell to 16.7 %, still 66.7 %
          - `` calc.py:9: `+` → `-` `` in `shop/calc.py` (`def total(cart):`), commit 33333333; kept
        ");
        insta::assert_snapshot!(issue(&view, Dimension::Doc), @r"
        Describe what calc.py does now (#1) - doc

        Session `WFS-test-pr-1` worked on #1 at ffffffff. 50.0 % of the tests passed before it, 83.3 % after it. Its changes are in #2.

        Correct comments, documentation and change log where they describe the former behaviour.

        - [ ] `` calc.py:1: `<` → `<=` `` in `shop/calc.py` (`def total(cart):`), commit 11111111
        - [ ] `` calc.py:9: `+` → `-` `` in `shop/calc.py` (`def total(cart):`), commit 33333333
        ");
    }

    #[test]
    fn what_was_skipped_was_not_tried() {
        let mut view = partial();
        let bare = |number, outcome, summary| {
            let (files, patch, commit) = (Vec::new(), String::new(), None);
            IterationRow { files, commit, patch, ..row(number, outcome, summary, &["c"]) }
        };
        let weak = "the analysis by `one` is too weak to act on in iteration 4";
        let none = "no provider returned a usable edit";
        view.add(&Event::IterationEnded(bare(4, "skipped_degraded", weak)));
        view.add(&Event::IterationEnded(bare(5, "unchanged", none)));
        let issue = issue(&view, Dimension::Enhance);
        assert!(!issue.contains("too weak") && !issue.contains("skipped"), "{issue}");
        let tried = "- `no provider returned a usable edit`; no better: 50.0 → 83.3 %\n";
        assert!(issue.ends_with(tried), "{issue}");
    }

    #[test]
    fn what_integration_tests_leave_open_is_followed_up() {
        let mut view = session(Vec::new());
        view.red.clear();
        let written = WrittenWork {
            findings: vec!["shop/quote.py:4 quote: `quote(1)` gives `8`".into()],
            untested: vec!["shop/quote.py → shop/tax.py: it needs <a network>".into()],
            ..WrittenWork::default()
        };
        let written = Some(written);
        view.outcome = Some(Outcome { written, ..Outcome::default() });
        let test = issue(&view, Dimension::Test);
        assert!(test.starts_with("Test the boundary that has no test (#1) - test"), "{test}");
        assert!(test.contains("shop/tax.py: it needs `<a network>`"), "{test}");
        let enhance = issue(&view, Dimension::Enhance);
        assert!(enhance.starts_with("Fix what is left: 1 finding (#1) - enhance"), "{enhance}");
    }

    #[test]
    fn nothing_concrete_gives_no_issue() {
        use Dimension::{Doc, Enhance, Refactor, Test};
        let nothing = session(vec![row(1, "unchanged", "", &["a", "b", "c"])]);
        for dimension in [Test, Enhance, Refactor, Doc] {
            assert_eq!(proposal(&nothing, &ABOUT, dimension), None, "{dimension:?}");
        }
        let once = session(vec![row(1, "improved", "x", &["b", "c"])]);
        assert_eq!(proposal(&once, &ABOUT, Dimension::Refactor), None);
        assert_eq!(proposal(&once, &ABOUT, Dimension::Enhance), None);
    }

    #[test]
    fn what_was_reverted_is_no_change_and_a_branch_needs_no_pull_request() {
        let mut view = partial();
        view.add(&Event::Reverted { iteration: 3 });
        view.flaky = vec![TestId::from("net")];
        let about = About { name: "main", number: None, fix: None };
        let issue = proposal(&view, &about, Dimension::Test).unwrap();
        insta::assert_snapshot!(issue.body, @r"
        Session `WFS-test-pr-1` worked on `main` at ffffffff. 50.0 % of the tests passed before it, 83.3 % after it. Reverted since: iteration 3.

        No other test failed for these changes: cover the values and branches beside them.

        - [ ] `` calc.py:1: `<` → `<=` `` in `shop/calc.py` (`def total(cart):`), commit 11111111; noticed by `a`
        - [ ] `net` failed and passed on the same sources; find what it depends on
        ");
        let issue = proposal(&view, &about, Dimension::Enhance).unwrap();
        assert!(issue.body.contains("commit 33333333; reverted since"), "{}", issue.body);
    }
}
