//! Lines and tables for a terminal or a log. Nothing depends on colour.

use crate::domain::budget::dollars;
use crate::domain::chain::FallbackTrigger;
use crate::domain::event::{Ending, Event, IterationRow, Outcome, TaskRow};
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::pipeline::PHASES;

use super::chart::{self, Climb};
use super::markdown::count;
use super::next_steps::{self, NextStep};
use super::phrases::{harmless, headline, iteration_cells, made_smaller, seconds, sentence};
use super::workflow::tame;

/// Lines of a patch that are shown.
const PATCH_LINES: usize = 80;

/// Cells of a bar.
const CELLS: u32 = 40;

/// Tests that a list shows.
const LISTED: usize = 12;

/// How lines are dressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain text.
    Plain,
    /// With terminal colours.
    Coloured,
}

/// A colour of the eight.
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

/// Lines of tasks that are over now and were not before.
pub fn changed_tasks(before: &[TaskRow], now: &[TaskRow], style: Style) -> Vec<String> {
    let known =
        |task: &&TaskRow| before.iter().any(|one| one.id == task.id && one.status == task.status);
    // Whoever comes later is not told of what was over before.
    let fresh = now.iter().filter(|task| !before.is_empty() && !known(task));
    fresh
        .filter_map(|task| {
            let mark = match task.status {
                TaskStatus::Completed => style.paint(Paint::Green, "✓"),
                TaskStatus::Blocked => style.paint(Paint::Yellow, "✗"),
                TaskStatus::Pending | TaskStatus::InProgress | TaskStatus::RolledBack => {
                    return None;
                }
            };
            let left = if task.status == TaskStatus::Blocked { ", blocked" } else { "" };
            Some(format!("  {mark} {}: {}{left}", task.id, harmless(&task.title, 120)))
        })
        .collect()
}

/// The lines of one event; none for what is only shown live.
pub fn lines(event: &Event, style: Style) -> Vec<String> {
    match event {
        Event::Opened { session, repository, head, branch, framework, command, resumed } => {
            let what = if *resumed { "goes on with" } else { "begins" };
            vec![
                style.paint(Paint::Bold, &format!("regreen {what} {session}")),
                format!("  repository  {} at {}", harmless(repository, 200), head.short()),
                format!("  suite       {framework}: {}", harmless(command, 200)),
                format!("  fix branch  {}", harmless(branch, 200)),
            ]
        }
        Event::TakenBack { iteration } => vec![format!("iteration {iteration} is taken back")],
        Event::Notice { text } => {
            vec![format!("{} {}", style.paint(Paint::Yellow, "note:"), harmless(text, 500))]
        }
        Event::Phase { phase, doing } => {
            let text = format!("phase {phase} of {}: {}", PHASES.len(), harmless(doing, 160));
            vec![style.paint(Paint::Cyan, &text)]
        }
        Event::Step { .. } | Event::Progress { .. } | Event::Tasks { .. } | Event::Closed(_) => {
            Vec::new()
        }
        Event::Ran { run, of, failed, duration_ms, .. } => {
            let part = if run == of { String::new() } else { format!(" of {of}") };
            vec![style.paint(
                Paint::Dim,
                &format!("    ran {run}{part} tests in {}, {failed} failed", seconds(*duration_ms)),
            )]
        }
        Event::Baseline { rate, failing, flaky, preexisting } => {
            let mut lines = vec![format!(
                "  baseline    {rate} % pass, {} failing",
                count(failing.len() as u64, "test")
            )];
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
                    harmless(test.as_str(), 160)
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
                // The line above says why.
                Some(FallbackTrigger::Vetoed) => {
                    style.paint(Paint::Yellow, "refused, with the reason")
                }
                Some(trigger) => {
                    let why = harmless(&call.reason, 160);
                    style.paint(Paint::Yellow, &format!("{trigger}, {why}"))
                }
                None => {
                    call.confidence.map_or_else(String::new, |sure| format!("confidence {sure:.2}"))
                }
            };
            let money = if spent.micro_usd > 0 {
                format!(", {}", dollars(spent.micro_usd))
            } else {
                String::new()
            };
            vec![format!(
                "    {} {}: {what}  ({}; spent {} tokens{money})",
                call.role,
                harmless(&call.provider, 60),
                seconds(call.duration_ms),
                spent.usage.tokens(),
            )]
        }
        Event::Proposed { summary, author, tried: 0, .. } => {
            vec![format!("    {} proposes: {}", harmless(author, 60), harmless(summary, 240))]
        }
        Event::Proposed { summary, tried, .. } => vec![format!(
            "    after {}: {}",
            count(u64::from(*tried), "candidate"),
            harmless(summary, 240)
        )],
        Event::Rejected { reasons, .. } => vec![format!(
            "    {} {}",
            style.paint(Paint::Yellow, "refused:"),
            harmless(&reasons.join("; "), 300)
        )],
        Event::Minimised(minimised) => {
            vec![format!("  {} {}", style.paint(Paint::Green, "✓"), made_smaller(minimised))]
        }
        Event::IterationEnded(row) => vec![ended(row, style)],
    }
}

fn ended(row: &IterationRow, style: Style) -> String {
    let (mark, paint) = match row.outcome.as_str() {
        "improved" => ("✓", Paint::Green),
        "regression" => ("↩", Paint::Red),
        "unchanged" => ("·", Paint::Yellow),
        _ => ("!", Paint::Yellow),
    };
    let what = match (&row.reached, row.outcome.as_str()) {
        (Some(reached), "regression") => {
            format!("regressed to {reached} %, taken back; still {} %", row.after)
        }
        _ => format!("{} → {} %", row.before, row.after),
    };
    format!(
        "  {} {what}  ({} of {} tests, {}, {})",
        style.paint(paint, mark),
        row.tests_run,
        row.tests_of,
        count(u64::from(row.tried), "candidate"),
        seconds(row.duration_ms)
    )
}

/// The end of a run: verdict, table, what is left, the change, where things are, what to do next.
pub fn closing(outcome: &Outcome, style: Style) -> String {
    let paint = match outcome.result {
        Ending::Success => Paint::Green,
        Ending::PartialSuccess | Ending::Blocked | Ending::Planned => Paint::Yellow,
        Ending::Failure => Paint::Red,
    };
    let mut out = vec![
        String::new(),
        format!(
            "{} {}.",
            style.paint(paint, &format!("{}.", headline(outcome))),
            sentence(&outcome.reason)
        ),
    ];
    if !outcome.iterations.is_empty() {
        out.push(String::new());
        out.extend(table(outcome));
        out.push(String::new());
        let climb = Climb {
            start: outcome.initial,
            rows: &outcome.iterations,
            end: outcome.last,
            target: None,
        };
        out.extend(chart::lines(&climb, CELLS).into_iter().map(|line| format!("  {line}")));
    }
    if !outcome.failing.is_empty() {
        out.push(String::new());
        out.push(style.paint(Paint::Bold, "Still failing"));
        for one in outcome.failing.iter().take(LISTED) {
            out.push(format!(
                "  {} {} ({}: {})",
                style.paint(Paint::Red, "✗"),
                harmless(one.test.as_str(), 160),
                one.criticality,
                one.evidence
            ));
            if !one.message.is_empty() {
                out.push(
                    style.paint(Paint::Dim, &format!("      {}", harmless(&one.message, 160))),
                );
            }
        }
        if outcome.failing.len() > LISTED {
            out.push(format!("  … and {} more, see the report", outcome.failing.len() - LISTED));
        }
    }
    if !outcome.patch.is_empty() {
        out.push(String::new());
        out.push(style.paint(
            Paint::Bold,
            "The change (plausible: it satisfies the tests; whether it is right, you decide)",
        ));
        out.extend(patch(&outcome.patch, style));
    }
    out.push(String::new());
    out.push(style.paint(Paint::Bold, "Kept"));
    if outcome.tip.is_some() {
        out.push(format!("  branch   {}", harmless(&outcome.branch, 200)));
    }
    out.push(format!("  report   {}", harmless(&outcome.report, 400)));
    out.push(format!("  session  {}", harmless(&outcome.folder, 400)));
    out.push(String::new());
    out.push(style.paint(Paint::Bold, "Next"));
    let steps = next_steps::in_terminal(outcome);
    let width = steps.iter().map(|step| step.command.chars().count()).max().unwrap_or_default();
    for NextStep { command, purpose } in steps {
        let comment = style.paint(Paint::Dim, &format!("# {purpose}"));
        out.push(format!("  {command:width$}  {comment}"));
    }
    out.join("\n") + "\n"
}

/// The iteration table.
fn table(outcome: &Outcome) -> Vec<String> {
    let head = ["#", "strategy", "before", "after", "outcome", "tests run", "candidates", "time"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(outcome.iterations.iter().map(iteration_cells));
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|text| text.chars().count())
                .max()
                .unwrap_or_default()
        })
        .collect();
    rows.iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(column, (text, width))| match column {
                    1 | 4 => format!("{text:<width$}"),
                    _ => format!("{text:>width$}"),
                })
                .collect();
            format!("  {}", cells.join("  ").trim_end())
        })
        .collect()
}

fn patch(patch: &str, style: Style) -> Vec<String> {
    let mut shown: Vec<String> = patch
        .lines()
        .filter(|text| !text.starts_with("index ") && !text.starts_with("diff --git"))
        .take(PATCH_LINES)
        .map(|text| {
            let plain = tame(text);
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
    use crate::domain::id::{CommitId, TestId};
    use crate::domain::rate::PassRate;
    use crate::domain::strategy::Strategy;

    fn row(iteration: u32, outcome: &str, reached: Option<u32>) -> IterationRow {
        let rate = |passed| PassRate::of(passed, 64).unwrap();
        IterationRow {
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
            estimated: false,
            iterations: vec![row(1, "regression", Some(40)), row(2, "improved", None)],
            failing: vec![],
            stuck: vec![],
            flaky: vec![],
            preexisting: vec![],
            degraded: false,
            spending: crate::domain::budget::Spending::default(),
            minimised: None,
            branch: "regreen/WFS-test-main".into(),
            onto: Some("main".into()),
            tip: Some(CommitId::parse("a".repeat(40)).unwrap()),
            patch: "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x < 1\n+x <= 1\n".into(),
            report: "/r/report.md".into(),
            folder: "/r".into(),
            duration_ms: 2500,
            testing_ms: 1000,
        };
        insta::assert_snapshot!(closing(&outcome, Style::Plain), @r"

        Green: 100.0 % pass after 2 iterations. Every test passes.

          #  strategy      before          after  outcome     tests run  candidates   time
          1  conservative  78.1 %  62.5 ↩ 78.1 %  regression   12 of 64          31  1.2 s
          2  conservative  78.1 %        100.0 %  improved     12 of 64          31  1.2 s

          start ███████████████████████████████·········  78.1 %
              1 ███████████████████████████████·········  78.1 % ↩ 62.5
              2 ████████████████████████████████████████ 100.0 %

        The change (plausible: it satisfies the tests; whether it is right, you decide)
          │--- a/a.py
          │+++ b/a.py
          │@@ -1 +1 @@
          │-x < 1
          │+x <= 1

        Kept
          branch   regreen/WFS-test-main
          report   /r/report.md
          session  /r

        Next
          git log --oneline main..regreen/WFS-test-main  # every step
          git diff main...regreen/WFS-test-main          # what changed
          git merge regreen/WFS-test-main                # take it, after reading it
          regreen report WFS-test-main                   # the whole report
        ");
    }
}
