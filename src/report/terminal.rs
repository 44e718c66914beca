//! Renders events and outcomes as lines for a terminal or a log, readable without colour.

use crate::domain::chain::FallbackTrigger;
use crate::domain::event::{Ending, Event, IterationRow, Outcome, TaskRow, WrittenWork};
use crate::domain::fix_loop::IterationResult;
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::pipeline::PHASES;
use crate::domain::text::count;

use super::forge_page::ForgePage;
use super::parts::{Body, Cell, Fact, Item, Part, PartId, Screen, Table};
use super::phrases::{
    Tone, cost, made_smaller, result_of, single_safe_line, test_runs, time, tokens,
};
use super::runner_commands::neutralise_commands;
use super::session_parts;
use super::view::View;

const PATCH_LINES: usize = 80;

/// Number of tests in a list.
const LISTED: usize = 12;

/// Whether lines have colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without any colour.
    Plain,
    /// Lines with the escape sequences of terminal colours.
    Coloured,
}

/// Emphasis by a basic terminal colour or bold type.
#[derive(Clone, Copy)]
enum Paint {
    Red,
    Green,
    Yellow,
    Cyan,
    Bold,
    Dim,
}

impl Style {
    fn paint(self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Red => 31,
            Paint::Green => 32,
            Paint::Yellow => 33,
            Paint::Cyan => 36,
            Paint::Bold => 1,
            Paint::Dim => 2,
        };
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// Lines for the tasks that ended between `before` and `now`.
pub fn changed_tasks(before: &[TaskRow], now: &[TaskRow], style: Style) -> Vec<String> {
    let known =
        |task: &&TaskRow| before.iter().any(|one| one.id == task.id && one.status == task.status);
    // A screen that joins later does not repeat what was over before.
    let fresh = now.iter().filter(|task| !before.is_empty() && !known(task));
    fresh
        .filter_map(|task| {
            let mark = match task.status {
                TaskStatus::Completed => style.paint(Paint::Green, "✓"),
                TaskStatus::Blocked | TaskStatus::Failed | TaskStatus::Skipped => {
                    style.paint(Paint::Yellow, "✗")
                }
                TaskStatus::Pending | TaskStatus::InProgress | TaskStatus::RolledBack => {
                    return None;
                }
            };
            let left = task.status.setback().map_or_else(String::new, |word| format!(", {word}"));
            Some(format!("  {mark} {}: {}{left}", task.id, single_safe_line(&task.title, 120)))
        })
        .collect()
}

/// The lines for one event; none for events that only the live line shows.
pub fn lines(event: &Event, style: Style) -> Vec<String> {
    match event {
        Event::Opened { session, repository, head, branch, framework, command, resumed } => {
            let what = if *resumed { "resumes" } else { "begins" };
            vec![
                style.paint(Paint::Bold, &format!("regreen {what} {session}")),
                format!("  repository  {} at {}", single_safe_line(repository, 200), head.short()),
                format!("  suite       {framework}: {}", single_safe_line(command, 200)),
                format!("  fix branch  {}", single_safe_line(branch, 200)),
            ]
        }
        Event::Reverted { iteration } => vec![format!("iteration {iteration} is taken back")],
        Event::Notice { text } => {
            vec![format!("{} {}", style.paint(Paint::Yellow, "note:"), single_safe_line(text, 500))]
        }
        Event::Phase { phase, doing } => {
            let text =
                format!("phase {phase} of {}: {}", PHASES.len(), single_safe_line(doing, 160));
            vec![style.paint(Paint::Cyan, &text)]
        }
        Event::Step { .. }
        | Event::Progress { .. }
        | Event::Tasks { .. }
        | Event::TestsWritten { .. }
        | Event::Closed(_) => Vec::new(),
        Event::Ran { run, of, failed, duration_ms, .. } => {
            let all = count(*of, "test");
            let ran = if run == of { all } else { format!("{run} of {all}") };
            vec![style.paint(
                Paint::Dim,
                &format!("    ran {ran} in {}, {failed} failed", time(*duration_ms)),
            )]
        }
        Event::Baseline { rate, failing, flaky, preexisting } => {
            let red = failing.iter().filter(|test| !flaky.contains(test)).count();
            let mut line =
                format!("  baseline    {rate} % pass, {} failing", count(red as u64, "test"));
            if !flaky.is_empty() {
                line.push_str(&format!(", {} flaky", flaky.len()));
            }
            let mut lines = vec![line];
            for test in failing.iter().take(LISTED) {
                let mark = if flaky.contains(test) {
                    " (flaky: passed unchanged)"
                } else if preexisting.contains(test) {
                    " (fails on the base too)"
                } else {
                    ""
                };
                lines.push(format!(
                    "    {} {}{mark}",
                    style.paint(Paint::Red, "✗"),
                    single_safe_line(test.as_str(), 160)
                ));
            }
            if failing.len() > LISTED {
                lines.push(format!("    … and {} more", failing.len() - LISTED));
            }
            lines
        }
        Event::IterationStarted { iteration, strategy, reason, .. } => vec![format!(
            "{} {}",
            style.paint(Paint::Cyan, &format!("iteration {iteration}, {strategy}:")),
            reason
        )],
        Event::Asked { call, spent, .. } => {
            let what = match call.trigger {
                // The preceding line gives the reason.
                Some(FallbackTrigger::Vetoed) => {
                    style.paint(Paint::Yellow, "refused, with the reason")
                }
                Some(trigger) => {
                    let why = single_safe_line(&call.reason, 160);
                    style.paint(Paint::Yellow, &format!("{trigger}, {why}"))
                }
                None => {
                    call.confidence.map_or_else(String::new, |sure| format!("confidence {sure:.2}"))
                }
            };
            let money =
                if spent.micro_usd > 0 { format!(", {}", cost(spent)) } else { String::new() };
            vec![format!(
                "    {} {}: {what}  ({}; spent {} tokens{money})",
                call.role,
                single_safe_line(&call.provider, 60),
                time(call.duration_ms),
                tokens(spent.usage),
            )]
        }
        Event::Proposed { summary, author, tried: 0, .. } => {
            vec![format!(
                "    {} proposes: {}",
                single_safe_line(author, 60),
                single_safe_line(summary, 240)
            )]
        }
        Event::Proposed { summary, tried, .. } => vec![format!(
            "    after {}: {}",
            count(u64::from(*tried), "candidate"),
            single_safe_line(summary, 240)
        )],
        Event::Rejected { reasons, .. } => vec![format!(
            "    {} {}",
            style.paint(Paint::Yellow, "refused:"),
            single_safe_line(&reasons.join("; "), 300)
        )],
        Event::Minimised(minimised) => {
            vec![format!("  {} {}", style.paint(Paint::Green, "✓"), made_smaller(minimised))]
        }
        Event::IterationEnded(row) => {
            // Of an edit that was tried and not kept, the candidates do not say what was wrong with it.
            let is_told = row.tests_run > 0 && row.outcome != IterationResult::Improved.to_string();
            let why = format!("    {}", single_safe_line(&row.reason, 160));
            let why = is_told.then(|| style.paint(Paint::Dim, &why));
            std::iter::once(ended(row, style)).chain(why).collect()
        }
    }
}

fn ended(row: &IterationRow, style: Style) -> String {
    let (tone, result) = result_of(row);
    let (mark, paint) = match tone {
        Tone::Good => ("✓", Paint::Green),
        Tone::Bad => ("↩", Paint::Red),
        Tone::Neutral => ("·", Paint::Yellow),
        Tone::Warning => ("!", Paint::Yellow),
    };
    let rest = [count(row.tried, "candidate"), time(row.duration_ms)];
    let facts: Vec<String> = test_runs(row).into_iter().chain(rest).collect();
    let result = single_safe_line(&result, 160);
    format!("  {} {result}  ({})", style.paint(paint, mark), facts.join(", "))
}

/// The end of a run, part by part, for [`Screen::Terminal`] or [`Screen::Log`].
pub fn closing(outcome: &Outcome, screen: Screen, style: Style) -> String {
    let (view, facts) = (View::of_outcome(outcome), ForgePage::default());
    let is_short = |work: &WrittenWork| work.files.is_empty() || !work.missed_gates.is_empty();
    let paint = match outcome.result {
        Ending::Success if outcome.written.as_ref().is_some_and(is_short) => Paint::Yellow,
        Ending::Success => Paint::Green,
        Ending::PartialSuccess | Ending::Blocked | Ending::Planned => Paint::Yellow,
        Ending::Failure => Paint::Red,
    };
    let mut out = Vec::new();
    for id in screen.parts(&view) {
        let part = session_parts::part(id, &view, &facts, screen);
        if part.is_empty() {
            continue;
        }
        // The verdict belongs to its heading, as the bars belong to their table.
        if !matches!(id, PartId::Verdict) {
            out.push(String::new());
        }
        let title = style.paint(
            if id == PartId::Heading { paint } else { Paint::Bold },
            &single_safe_line(&part.title, 400),
        );
        out.extend((!part.title.is_empty()).then_some(title));
        let sentences = part.intro.lines().filter(|line| !line.is_empty());
        out.extend(sentences.map(|sentence| single_safe_line(sentence, 500)));
        out.extend(body(&part, id, style));
        out.extend((!part.tail.is_empty()).then(|| format!("  {}", part.tail)));
    }
    out.join("\n") + "\n"
}

fn body(part: &Part<'_>, id: PartId, style: Style) -> Vec<String> {
    match &part.body {
        Body::Chart(lines) => lines.iter().map(|line| format!("  {line}")).collect(),
        Body::Table(table) => padded(table),
        Body::Patch(text) => patch(text, style),
        Body::Output(text) => {
            text.lines().map(|line| format!("  │ {}", single_safe_line(line, 400))).collect()
        }
        Body::Facts(facts) => {
            let wide = facts.iter().map(|fact| fact.name.len()).max().unwrap_or_default();
            let line = |fact: &Fact| format!("  {:wide$}  {}", fact.name, fact.value.plain());
            facts.iter().map(line).collect()
        }
        Body::List(items) if id == PartId::Next => {
            let wide = items.iter().map(|item| item.name.chars().count()).max().unwrap_or_default();
            let line = |item: &Item| {
                let comment = style.paint(Paint::Dim, &format!("# {}", item.text));
                format!("  {:wide$}  {comment}", item.name)
            };
            items.iter().map(line).collect()
        }
        Body::List(items) => {
            let mut lines = Vec::new();
            let mark = match id {
                PartId::Searched => style.paint(Paint::Dim, "·"),
                _ => style.paint(Paint::Red, "✗"),
            };
            for item in items.iter().take(LISTED) {
                let (name, words) =
                    (single_safe_line(&item.name, 160), single_safe_line(&item.words(), 400));
                lines.push(format!("  {mark} {name}: {words}"));
                for more in item.more.lines() {
                    let more = format!("      {}", single_safe_line(more, 400));
                    lines.push(style.paint(Paint::Dim, &more));
                }
            }
            if part.len() > LISTED {
                lines.push(format!("  … and {} more, see the report", part.len() - LISTED));
            }
            lines
        }
        Body::Answers(_) | Body::Todo(_) | Body::Drawing | Body::Empty => Vec::new(),
    }
}

/// A table with columns of one width, numbers to the right.
fn padded(table: &Table) -> Vec<String> {
    let head = table.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let cells = table.rows.iter().map(|row| row.iter().map(Cell::plain).collect());
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(cells).collect();
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|text| text.chars().count()).max().unwrap_or_default()
    };
    let columns: Vec<(usize, bool)> =
        table.columns.iter().enumerate().map(|(at, (_, number))| (wide(at), *number)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&columns).map(|(text, (wide, number))| match number {
            true => format!("{text:>wide$}"),
            false => format!("{text:<wide$}"),
        });
        format!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn patch(patch: &str, style: Style) -> Vec<String> {
    let mut shown: Vec<String> = patch
        .lines()
        .filter(|text| !text.starts_with("index ") && !text.starts_with("diff --git"))
        .take(PATCH_LINES)
        .map(|text| {
            let plain = neutralise_commands(text);
            let painted = match plain.chars().next() {
                Some('+') => style.paint(Paint::Green, &plain),
                Some('-') => style.paint(Paint::Red, &plain),
                Some('@') => style.paint(Paint::Cyan, &plain),
                _ => plain,
            };
            format!("  │{painted}")
        })
        .collect();
    if patch.lines().count() > PATCH_LINES {
        shown.push("  … cut; see the report".to_owned());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::event::WrittenFile;
    use crate::domain::id::RepoPath;
    use crate::domain::id::{CommitId, TestId};
    use crate::domain::rate::PassRate;
    use crate::domain::strategy::Strategy;

    #[test]
    fn written_tests_are_shown_with_what_they_do_not_reach_and_what_they_found() {
        let path = |name: &str| RepoPath::parse(name).unwrap();
        let (file, subject) = (path("test/a.test.js"), path("src/a b.js"));
        let work = WrittenWork {
            files: vec![WrittenFile { file, subject, tests: 8 }],
            shortfall: "branches 50 % of 70 %".into(),
            findings: vec!["src/a b.js:3 f: `f(1)` gives 2".into()],
            ..WrittenWork::default()
        };
        let result = Ending::Success;
        let outcome = Outcome { result, written: Some(work), ..Outcome::default() };
        let shown = closing(&outcome, Screen::Terminal, Style::Plain);
        let heading = "8 tests written in test/a.test.js, code check and test review passed; 1 finding of the code; not reached: branches 50 % of 70 %\n";
        for expected in [heading, "$EDITOR 'src/a b.js'"] {
            assert!(shown.contains(expected), "{expected} in {shown}");
        }
        assert!(!shown.contains("not met") && !shown.contains("Not reached"), "{shown}");
    }

    fn row(iteration: u32, outcome: &str, reached: Option<u32>) -> IterationRow {
        let rate = |passed| PassRate::of(passed, 64).unwrap();
        IterationRow {
            reason: String::new(),
            iteration,
            strategy: Strategy::Conservative,
            before: rate(50),
            after: rate(if outcome == "improved" { 64 } else { 50 }),
            reached: reached.map(rate),
            outcome: outcome.into(),
            tests_run: 12,
            tests_of: 64,
            tried: 31,
            summary: "a.py:3: `x < 1` → `x <= 1`\n::set-env name=A::b".into(),
            files: vec!["a.py".into()],
            commit: None,
            provider: "embedded".into(),
            calls: Vec::new(),
            degraded: false,
            failing: Vec::new(),
            analysis: String::new(),
            patch: String::new(),
            duration_ms: 1234,
        }
    }

    #[test]
    fn hostile_text_cannot_speak_to_the_log_reader() {
        let event = Event::Notice { text: "::set-env name=X::y\u{1b}[2J".into() };
        assert_eq!(lines(&event, Style::Plain), ["note: : :set-env name=X::y"]);
        let event = Event::Baseline {
            rate: PassRate::of(1, 2).unwrap(),
            failing: vec![TestId::from("x\n::error::pwned")],
            flaky: vec![],
            preexisting: vec![],
        };
        for line in lines(&event, Style::Plain) {
            assert!(!line.starts_with("::") && !line.contains('\n'), "{line}");
        }
    }

    #[test]
    fn the_end_shows_climb_change_place_and_next_step() {
        let outcome = Outcome {
            session: "WFS-test-main".into(),
            result: Ending::Success,
            reason: "every test passes".into(),
            initial: PassRate::of(50, 64),
            last: PassRate::of(64, 64),
            iterations: vec![row(1, "regression", Some(40)), row(2, "improved", None)],
            branch: "regreen/WFS-test-main".into(),
            onto: Some("main".into()),
            tip: Some(CommitId::parse("a".repeat(40)).unwrap()),
            patch: "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x < 1\n+x <= 1\n".into(),
            report: "/r/report.md".into(),
            folder: "/r".into(),
            duration_ms: 2500,
            testing_ms: 1000,
            ..Outcome::default()
        };
        insta::assert_snapshot!(closing(&outcome, Screen::Terminal, Style::Plain), @r"

        Fixed: 78.1 → 100.0 % pass after 2 iterations
        Every test passes. 14 tests regained.

        Iterations
          #  strategy      pass rate             result      test runs  candidates   time
          1  conservative  78.1 → 62.5 ↩ 78.1 %  regression   12 of 64          31  1.2 s
          2  conservative  78.1 → 100.0 %        improved     12 of 64          31  1.2 s

          start ███████████████████████████████·········  78.1 %
              1 ███████████████████████████████·········  78.1 % ↩ 62.5
              2 ████████████████████████████████████████ 100.0 %
                ↩ reached, taken back

        The change
        It satisfies the tests; whether it is right, you decide.
          │--- a/a.py
          │+++ b/a.py
          │@@ -1 +1 @@
          │-x < 1
          │+x <= 1

        Where to find it
          Fix branch  regreen/WFS-test-main
          Session     WFS-test-main
          Report      /r/report.md
          Folder      /r

        Next
          git log --oneline main..regreen/WFS-test-main  # every step
          git diff main...regreen/WFS-test-main          # what changed
          git merge --squash regreen/WFS-test-main       # take it as one change to commit, after reading it
          regreen report WFS-test-main                   # the whole report
        ");
        let (terminal, log) = [Screen::Terminal, Screen::Log]
            .map(|screen| closing(&outcome, screen, Style::Plain))
            .into();
        assert_eq!(terminal.split("\nWhere to find it\n").next(), Some(log.as_str()));
    }
}
