//! The nested to-do list (specification.md 9.1): phases, tasks and iterations, each expanded only
//! while it is in progress.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::markdown::{line, prose};
use super::phrases::sentence;
use super::view::View;
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::task::SUITE_TASK;

/// Longest text of an entry, in characters.
pub(super) const CONTENT: usize = 160;

/// Longest label of an iteration, in characters.
const LABEL: usize = 60;

/// The status of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Work on it has not begun.
    Pending,
    /// Work on it goes on now.
    InProgress,
    /// It is finished.
    Completed,
}

/// One line of the list. Its texts may quote foreign words; the screen that shows them escapes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// What is to be done, as an imperative or a title.
    pub content: String,
    /// The same while it is done, as a present participle.
    pub active: String,
    /// The status of the entry.
    pub status: Status,
    /// The parts of the entry, while it is in progress.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Entry>,
}

/// The to-do list. [`Todo::lay`] builds it, which ensures that its rules hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// The top level, in order.
    pub entries: Vec<Entry>,
}

/// A step of a plan; a list is built from steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is to be done, as an imperative or a title.
    pub content: String,
    /// The same while it is done, as a present participle.
    pub active: String,
    pub done: bool,
    pub steps: Vec<Step>,
}

impl Step {
    /// A step that is not done and has no parts.
    #[must_use]
    pub fn new(content: impl Into<String>, active: impl Into<String>) -> Self {
        Self { content: content.into(), active: active.into(), done: false, steps: Vec::new() }
    }

    /// The step, with its mark for done set or cleared.
    #[must_use]
    pub fn done(self, done: bool) -> Self {
        Self { done, ..self }
    }

    /// The step with these parts.
    #[must_use]
    pub fn of(self, steps: Vec<Step>) -> Self {
        Self { steps, ..self }
    }

    /// A step is done when it is marked so, or when all its parts are done.
    fn is_done(&self) -> bool {
        self.done || (!self.steps.is_empty() && self.steps.iter().all(Self::is_done))
    }
}

impl Todo {
    /// Turns the plan of a running session into a list. The first unfinished step of each level is
    /// in progress and shows its parts; finished and future steps show none.
    #[must_use]
    pub fn lay(steps: &[Step]) -> Self {
        Self { entries: level(steps) }
    }

    /// The list as nested Markdown, without check boxes, which anybody who may edit could tick.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        draw(&self.entries, 0, &mut |depth, entry| {
            let shown = prose(shown(entry), CONTENT);
            let shown = match entry.status {
                Status::InProgress => format!("**{shown}**"),
                Status::Pending | Status::Completed => shown,
            };
            text.push_str(&format!("{}- {} {shown}\n", "  ".repeat(depth), mark(entry.status)));
        });
        text
    }
}

fn level(steps: &[Step]) -> Vec<Entry> {
    let first = steps.iter().position(|step| !step.is_done());
    steps
        .iter()
        .enumerate()
        .map(|(index, step)| {
            let status = match first {
                _ if step.is_done() => Status::Completed,
                Some(first) if first == index => Status::InProgress,
                _ => Status::Pending,
            };
            let children = match status {
                Status::InProgress => level(&step.steps),
                Status::Pending | Status::Completed => Vec::new(),
            };
            Entry { content: step.content.clone(), active: step.active.clone(), status, children }
        })
        .collect()
}

pub(super) fn draw(entries: &[Entry], depth: usize, show: &mut dyn FnMut(usize, &Entry)) {
    for entry in entries {
        show(depth, entry);
        draw(&entry.children, depth + 1, show);
    }
}

pub(super) fn shown(entry: &Entry) -> &str {
    match entry.status {
        Status::InProgress if !entry.active.is_empty() => &entry.active,
        Status::Pending | Status::InProgress | Status::Completed => &entry.content,
    }
}

pub(super) fn mark(status: Status) -> char {
    match status {
        Status::Pending => '○',
        Status::InProgress => '▶',
        Status::Completed => '✓',
    }
}

/// The list of a running session: the phases before the cycle, and the cycle as its events describe
/// it.
pub fn todo(before: &[Step], view: &View) -> Todo {
    let mut steps = before.to_vec();
    // The running step is listed below the phase in progress.
    if let Some(phase) = steps.iter_mut().find(|phase| !phase.is_done())
        && !view.doing.is_empty()
    {
        phase.steps = vec![Step::new(sentence(&doing(view)), sentence(&doing(view)))];
    }
    steps.push(cycle(view));
    Todo::lay(&steps)
}

/// The fifth phase: one line for the first run, one for each iteration, and one for the end.
fn cycle(view: &View) -> Step {
    let doing = |otherwise: &str| -> Step {
        let text = if view.doing.is_empty() { otherwise.to_owned() } else { doing(view) };
        Step::new(sentence(&text), sentence(&text))
    };
    let measured = view.baseline.is_some();
    let first = Step::new("Run the tests before any change", "Running the tests before any change");
    let first = if measured || view.doing.is_empty() { first } else { first.of(vec![doing("")]) };
    let mut steps = vec![first.done(measured)];
    for row in &view.rows {
        let label = if row.outcome == "improved" { &row.summary } else { &row.outcome };
        let (number, rate, strategy) = (row.iteration, row.after, row.strategy);
        let label = line(label, LABEL);
        let content = format!("→ Iteration {number}: {label} (pass: {rate} %, {strategy})");
        steps.push(Step::new(content.clone(), content).done(true));
    }
    if let Some((number, strategy, reason)) = &view.current {
        let rate = view.rate().map_or_else(String::new, |rate| format!("pass: {rate} %, "));
        let label = line(reason, LABEL);
        let content = format!("→ Iteration {number}: {label} ({rate}{strategy})");
        steps.push(Step::new(content.clone(), content).of(vec![doing("choosing what to do")]));
    }
    let end = Step::new("Decide, prove, report", "Deciding what comes next");
    let idle = view.doing.is_empty() || view.current.is_some() || !measured;
    steps.push(if idle { end } else { end.of(vec![doing("")]) });
    let steps = if view.tasks.is_empty() { steps } else { tasks(view, &steps, &doing("")) };
    Step::new("Test Cycle Execution", "Test Cycle Execution").of(steps)
}

/// A line for each writing or reviewing task with its step, and one for the suite.
fn tasks(view: &View, suite: &[Step], doing: &Step) -> Vec<Step> {
    let lines = view.tasks.iter().map(|task| {
        let (title, agent) = (line(&task.title, LABEL), line(&task.agent, 40));
        let setback = task.status.setback().map_or_else(String::new, |word| format!(", {word}"));
        let mark = if task.id == SUITE_TASK { " [ITERATION]" } else { "" };
        let content = format!("{}: {title}{mark} [{agent}]{setback}", task.id);
        let step = Step::new(content.clone(), content);
        if task.id == SUITE_TASK {
            return step.of(suite.to_vec()).done(task.status.is_ended());
        }
        let at_work = task.status == TaskStatus::InProgress && !doing.content.is_empty();
        let parts = if at_work { vec![doing.clone()] } else { Vec::new() };
        step.of(parts).done(task.status.is_ended())
    });
    lines.collect()
}

/// The running step with its progress; empty between steps.
pub fn doing(view: &View) -> String {
    match &view.progress {
        _ if view.doing.is_empty() => String::new(),
        Some((done, Some(total), unit)) => {
            format!("{}, {done} of {total} {unit}", view.doing)
        }
        Some((done, None, unit)) => format!("{}, {done} {unit}", view.doing),
        None => view.doing.clone(),
    }
}
