//! Shows progress: a live spinner on a terminal, plain lines in a pipe, folds in GitHub Actions.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::adapter::host::clock::Stopwatch;
use crate::adapter::host::console::{eprint, eprintln, print};
use crate::adapter::host::environment::path_from;
use crate::domain::event::{Event, Outcome, TaskRow};
use crate::domain::rate::PassRate;
use crate::effect::Screen;
use crate::report::parts;
use crate::report::runner_commands;
use crate::report::terminal::{self, Style};

/// How progress is written.
enum Mode {
    /// Lines above a live spinner.
    Live(ProgressBar),
    /// Lines without a spinner or folds.
    Plain,
    /// Lines in folds made with the `::group::` commands of GitHub Actions.
    Folded,
    /// Nothing before the final summary.
    Quiet,
}

/// State of the live line and of the open fold.
#[derive(Default)]
struct LiveState {
    session: String,
    doing: String,
    tasks: Vec<TaskRow>,
    rate: Option<PassRate>,
    open_fold: bool,
    /// Since when the log shows nothing of the present step.
    silent: Option<Stopwatch>,
}

/// A log shows the progress of a step after so long, so that nobody thinks it is dead.
const SILENCE: Duration = Duration::from_secs(10);

/// Shows events on standard error, and the final summary on the stream chosen at construction.
pub struct Terminal {
    mode: Mode,
    style: Style,
    /// Whether the final summary goes to standard output instead of standard error.
    end_on_stdout: bool,
    /// The kind of the final summary.
    end: parts::Screen,
    now: Mutex<LiveState>,
}

impl Terminal {
    /// The screen of a process that works for the bot: its output is the log of a job.
    pub fn of_worker() -> Self {
        let mut it = Self::new(false, true);
        it.end = parts::Screen::Log;
        it
    }

    /// Creates the screen of this process. With `json`, nothing is written to standard output.
    pub fn new(quiet: bool, json: bool) -> Self {
        let watched = std::io::stderr().is_terminal();
        let github = path_from("GITHUB_ACTIONS").is_some_and(|value| value.as_os_str() == "true");
        let colourless = path_from("NO_COLOR").is_some();
        let mode = if quiet {
            Mode::Quiet
        } else if github {
            Mode::Folded
        } else if watched {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) =
                ProgressStyle::with_template("{spinner:.cyan} {wide_msg} {elapsed:.dim}")
            {
                bar.set_style(style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            Mode::Live(bar)
        } else {
            Mode::Plain
        };
        let style = if watched && !colourless { Style::Coloured } else { Style::Plain };
        let (end, now) = (parts::Screen::Terminal, Mutex::default());
        Self { mode, style, end_on_stdout: !json, end, now }
    }

    fn clear(&self) {
        if let Mode::Live(bar) = &self.mode {
            bar.finish_and_clear();
        }
    }

    fn print(&self, line: &str) {
        match &self.mode {
            Mode::Live(bar) => bar.suspend(|| eprintln!("{line}")),
            Mode::Plain | Mode::Folded => eprintln!("{line}"),
            Mode::Quiet => {}
        }
    }

    /// Redraws the live line: the pass rate as a bar, then the running step.
    fn refresh(&self, now: &LiveState, progress: &str) {
        if let Mode::Live(bar) = &self.mode {
            let rate = now.rate.map_or_else(String::new, |rate| {
                let full = usize::try_from(rate.per_mille().tenths() / 50).unwrap_or_default();
                format!(
                    "{}{} {rate} %  ",
                    "█".repeat(full),
                    "░".repeat(20usize.saturating_sub(full))
                )
            });
            bar.set_message(format!("{rate}{}{progress}", now.doing));
        }
    }

    fn progress(&self, now: &mut LiveState, text: &str) {
        self.refresh(now, &format!(", {text}"));
        let long = now.silent.is_some_and(|since| since.elapsed() >= SILENCE);
        if long && !matches!(self.mode, Mode::Live(_)) {
            self.print(&format!("  {}: {text}", now.doing));
            now.silent = Some(Stopwatch::start());
        }
    }

    fn close(&self, outcome: &Outcome) {
        self.clear();
        let text = terminal::closing(outcome, self.end, self.style);
        if self.end_on_stdout {
            print!("{text}");
        } else {
            eprint!("{text}");
        }
    }
}

impl Drop for Terminal {
    /// Removes the live line before output that is not an event, such as a result or an error.
    fn drop(&mut self) {
        self.clear();
    }
}

impl Screen for Terminal {
    fn show(&self, event: &Event) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let folded = matches!(self.mode, Mode::Folded);
        match event {
            Event::Step { doing, .. } => {
                now.doing.clone_from(doing);
                now.silent = Some(Stopwatch::start());
                self.refresh(&now, "");
                return;
            }
            Event::Phase { doing, .. } => now.doing.clone_from(doing),
            Event::TestsWritten { .. } => return,
            Event::Tasks { tasks } => {
                for line in terminal::changed_tasks(&now.tasks, tasks, self.style) {
                    self.print(&line);
                }
                now.tasks.clone_from(tasks);
                self.refresh(&now, "");
                return;
            }
            Event::Progress { done, total, unit } => {
                let of = total.map_or_else(String::new, |total| format!(" of {total}"));
                return self.progress(&mut now, &format!("{done}{of} {unit} tried"));
            }
            Event::Baseline { rate, .. } => now.rate = Some(*rate),
            Event::IterationStarted { iteration, strategy, rate, .. } => {
                now.rate = Some(*rate);
                if folded {
                    let title = format!("iteration {iteration}, {strategy}, {rate} % before");
                    eprintln!("{}", runner_commands::group(&title));
                    now.open_fold = true;
                }
            }
            Event::IterationEnded(row) => now.rate = Some(row.after),
            Event::Closed(outcome) => return self.close(outcome),
            Event::Opened { .. }
            | Event::Minimised(_)
            | Event::Notice { .. }
            | Event::Reverted { .. }
            | Event::Ran { .. }
            | Event::Asked { .. }
            | Event::Proposed { .. }
            | Event::Rejected { .. } => {}
        }
        if let Event::Opened { session, .. } = event
            && std::mem::replace(&mut now.session, session.clone()) == *session
        {
            // A session that has written tests now runs its suite; it is not a new session.
            let doing = "running the suite and fixing it".to_owned();
            for line in terminal::lines(&Event::Phase { phase: 5, doing }, self.style) {
                self.print(&line);
            }
            return;
        }
        for line in terminal::lines(event, self.style) {
            self.print(&line);
        }
        if matches!(event, Event::IterationEnded(_)) && std::mem::take(&mut now.open_fold) {
            eprintln!("{}", runner_commands::END_GROUP);
        }
        self.refresh(&now, "");
    }
}
