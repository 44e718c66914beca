//! Folds the event stream of a session into a `View`, from which every output is rendered. The live
//! stream and the stored `events.jsonl` give the same view.

use std::collections::BTreeMap;

use crate::domain::budget::Spending;
use crate::domain::chain::ProviderCall;
use crate::domain::event::{Event, IterationRow, Minimised, Outcome, TaskRow, WrittenFile};
use crate::domain::id::{CommitId, SessionId, TestId};
use crate::domain::rate::PassRate;
use crate::domain::strategy::Strategy;

/// Notices and refusals that a view holds of each kind.
const MOST: usize = 200;

/// A session as its events describe it. All texts are foreign unless a field says otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Id of the session; empty before the first event.
    pub session: String,
    /// The repository as the user named it.
    pub repository: String,
    /// The commit under test.
    pub head: Option<CommitId>,
    pub branch: String,
    pub framework: String,
    /// The command that runs the suite.
    pub command: String,
    /// Whether an earlier run is continued.
    pub resumed: bool,
    /// The running step, in our own words; empty between steps and at the end.
    pub doing: String,
    /// Its progress: done, of how many, of what.
    pub progress: Option<(u64, Option<u64>, String)>,
    /// The rate before any change.
    pub baseline: Option<PassRate>,
    /// Tests that failed in the baseline.
    pub red: Vec<TestId>,
    /// Tests that failed and passed without a change.
    pub flaky: Vec<TestId>,
    /// Tests that fail on the merge base too.
    pub preexisting: Vec<TestId>,
    /// The running iteration: number, strategy, and why that strategy.
    pub current: Option<(u32, Strategy, String)>,
    /// Why each iteration used its strategy, in our own words.
    pub reasons: BTreeMap<u32, String>,
    /// Milliseconds spent in test runs, by iteration; 0 is the baseline.
    pub testing: BTreeMap<u32, u64>,
    /// The last full run: number of tests and milliseconds.
    pub full_run: Option<(u32, u64)>,
    pub rows: Vec<IterationRow>,
    pub calls: Vec<(u32, ProviderCall)>,
    /// Proposals that a guard refused: iteration and reasons.
    pub refused: Vec<(u32, Vec<String>)>,
    /// Notices for the user, in our own words.
    pub notices: Vec<String>,
    /// What the providers cost so far.
    pub spent: Spending,
    /// The test files that the session wrote.
    pub written: Vec<WrittenFile>,
    /// The tasks of a session that writes tests, as the last event listed them.
    pub tasks: Vec<TaskRow>,
    /// Result of making the change smaller.
    pub minimised: Option<Minimised>,
    /// The outcome; `None` while the session runs.
    pub outcome: Option<Outcome>,
    /// Iterations whose fix a person reverted after the session ended.
    pub reverted: Vec<u32>,
}

impl View {
    /// Folds a whole stream of events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut view = Self::default();
        for event in events {
            view.add(event);
        }
        view
    }

    /// What an outcome alone shows.
    pub fn of_outcome(outcome: &Outcome) -> Self {
        let notices = outcome.earlier.clone();
        Self { notices, ..Self::of([&Event::Closed(Box::new(outcome.clone()))]) }
    }

    pub fn add(&mut self, event: &Event) {
        self.progress = None;
        match event {
            Event::Opened { session, repository, head, branch, framework, command, resumed } => {
                let other_head = self.head.as_ref().is_some_and(|known| known != head);
                if !*resumed && (self.outcome.is_some() || other_head) {
                    // Another run used the name before. A test session opens twice in one run.
                    let notices = std::mem::take(&mut self.notices);
                    *self = Self { notices, ..Self::default() };
                }
                self.session.clone_from(session);
                self.repository.clone_from(repository);
                self.head = Some(head.clone());
                self.branch.clone_from(branch);
                self.framework.clone_from(framework);
                self.command.clone_from(command);
                self.resumed = *resumed;
                self.outcome = None;
                self.reverted.clear();
            }
            Event::Reverted { iteration } => self.reverted.push(*iteration),
            Event::Notice { text } => {
                if self.notices.len() < MOST && !self.notices.contains(text) {
                    self.notices.push(text.clone());
                }
            }
            Event::Step { doing, .. } | Event::Phase { doing, .. } => self.doing.clone_from(doing),
            Event::Progress { done, total, unit } => {
                self.progress = Some((*done, *total, unit.clone()));
            }
            Event::Ran { iteration, run, of, duration_ms, .. } => {
                if run == of {
                    self.full_run = Some((*run, *duration_ms));
                }
                let spent = self.testing.entry(*iteration).or_default();
                *spent = spent.saturating_add(*duration_ms);
                self.doing.clear();
            }
            Event::Proposed { .. } => self.doing.clear(),
            Event::Baseline { rate, failing, flaky, preexisting } => {
                // A moved head leads to a second baseline, but progress is measured from the first.
                self.baseline.get_or_insert(*rate);
                self.red = failing.iter().filter(|test| !flaky.contains(test)).cloned().collect();
                self.flaky.clone_from(flaky);
                self.preexisting.clone_from(preexisting);
                self.doing.clear();
            }
            Event::IterationStarted { iteration, strategy, reason, .. } => {
                self.current = Some((*iteration, *strategy, reason.clone()));
                self.reasons.insert(*iteration, reason.clone());
                self.doing.clear();
            }
            Event::Asked { iteration, call, spent } => {
                self.calls.push((*iteration, call.clone()));
                self.spent = *spent;
            }
            Event::Rejected { iteration, reasons } => {
                if self.refused.len() < MOST {
                    self.refused.push((*iteration, reasons.clone()));
                }
            }
            Event::Minimised(minimised) => self.minimised = Some(minimised.clone()),
            Event::TestsWritten { files } => self.written.clone_from(files),
            Event::Tasks { tasks } => self.tasks.clone_from(tasks),
            Event::IterationEnded(row) => {
                self.current = None;
                self.doing.clear();
                // A resumed run may report an iteration again.
                self.rows.retain(|known| known.iteration != row.iteration);
                self.rows.push(row.clone());
            }
            Event::Closed(outcome) => {
                self.current = None;
                self.doing.clear();
                self.spent = outcome.spending;
                self.outcome = Some((**outcome).clone());
                self.take_over(outcome);
            }
        }
    }

    /// Adds what an outcome knows and this stream did not say, as after a resumed run.
    fn take_over(&mut self, outcome: &Outcome) {
        if self.session.is_empty() {
            self.session.clone_from(&outcome.session);
            self.branch.clone_from(&outcome.branch);
        }
        for row in &outcome.iterations {
            if self.rows.iter().all(|known| known.iteration != row.iteration) {
                self.rows.push(row.clone());
            }
        }
        self.rows.sort_by_key(|row| row.iteration);
        for row in &self.rows {
            add_calls(&mut self.calls, row.iteration, &row.calls);
        }
        let next = self.rows.last().map_or(1, |row| row.iteration.saturating_add(1));
        add_calls(&mut self.calls, next, &outcome.unfinished_calls);
        self.calls.sort_by_key(|(iteration, _)| *iteration);
        let files = outcome.written.iter().flat_map(|work| &work.files);
        if self.written.is_empty() {
            self.written = files.cloned().collect();
        }
        self.baseline = outcome.initial.or(self.baseline);
        self.flaky.clone_from(&outcome.flaky);
        self.preexisting.clone_from(&outcome.preexisting);
        self.minimised = outcome.minimised.clone().or(self.minimised.take());
    }

    /// The last known pass rate.
    pub fn rate(&self) -> Option<PassRate> {
        let last = self.outcome.as_ref().and_then(|outcome| outcome.last);
        last.or_else(|| self.rows.last().map(|row| row.after)).or(self.baseline)
    }

    /// Tests known to fail on the accepted sources.
    pub fn failing(&self) -> Vec<TestId> {
        if let Some(outcome) = &self.outcome {
            return outcome.failing.iter().map(|one| one.test.clone()).collect();
        }
        self.rows.last().map_or_else(|| self.red.clone(), |row| row.failing.clone())
    }

    /// Number of iterations whose fix was kept.
    pub fn improvements(&self) -> usize {
        self.rows.iter().filter(|row| row.outcome == "improved").count()
    }

    /// Whether every kept fix was reverted, and no test was written.
    pub fn is_taken_back(&self) -> bool {
        let mut kept = self.rows.iter().filter(|row| row.outcome == "improved");
        // Before its end more may be on the branch than is known.
        self.outcome.is_some()
            && self.written.is_empty()
            && kept.all(|row| self.reverted.contains(&row.iteration))
    }

    /// Whether nothing but tests that this session wrote failed before its first change.
    pub fn is_head_green(&self) -> bool {
        let is_new = |test: &TestId| {
            let mut files = self.written.iter();
            files.any(|one| test.is_within(&TestId::from(one.file.as_str())))
        };
        !self.red.is_empty() && self.red.iter().all(is_new)
    }

    /// How many tests failed before a session of integration tests wrote its own, which leaves them as they are.
    pub fn failing_before(&self) -> usize {
        let session = SessionId::parse(self.session.as_str());
        if session.is_ok_and(|id| id.is_integration()) { self.preexisting.len() } else { 0 }
    }

    /// Number of tests that failed in the baseline and pass now.
    pub fn regained(&self) -> u32 {
        match (self.baseline, self.rate()) {
            (Some(first), Some(last)) => last.regained_since(first),
            _ => 0,
        }
    }
}

/// Adds the calls of an iteration that are not known yet.
fn add_calls(known: &mut Vec<(u32, ProviderCall)>, iteration: u32, calls: &[ProviderCall]) {
    let before = known.len();
    for call in calls {
        let is_known = |(at, one): &(u32, ProviderCall)| *at == iteration && one.raw == call.raw;
        if !known.iter().take(before).any(is_known) {
            known.push((iteration, call.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::check::Conclusion;
    use crate::domain::id::RepoPath;
    use crate::report::final_state::{CheckedCommit, FinalState};
    use crate::report::forge_page::ForgePage;

    fn rate(passed: u32) -> PassRate {
        PassRate::of(passed, 10).unwrap()
    }

    #[test]
    fn another_run_under_the_same_name_begins_anew() {
        let opened = |digit: char| Event::Opened {
            session: "s".into(),
            repository: String::new(),
            head: CommitId::parse(digit.to_string().repeat(40)).unwrap(),
            branch: String::new(),
            framework: String::new(),
            command: String::new(),
            resumed: false,
        };
        let refused = Event::Rejected { iteration: 1, reasons: vec!["touches tests".into()] };
        let mut view = View::of(&[opened('a'), refused, opened('a')]);
        assert_eq!(view.refused.len(), 1, "a test session opens twice");
        view.notices.push("kept".into());
        view.add(&opened('b'));
        assert_eq!((view.refused.len(), view.notices.len()), (0, 1));
    }

    #[test]
    fn a_head_is_green_where_only_tests_that_were_written_for_it_fail() {
        let written = Event::TestsWritten {
            files: vec![WrittenFile {
                file: RepoPath::parse("tests/test_new.py").unwrap(),
                subject: RepoPath::parse("shop.py").unwrap(),
                tests: 1,
            }],
        };
        let table = [
            (&["tests/test_new.py::test_a"][..], true),
            (&["tests/test_new.py::test_a", "tests/test_old.py::test_a"], false),
            (&["tests/test_new.pyx::test_a"], false),
            (&[], false),
        ];
        for (red, expected) in table {
            let baseline = Event::Baseline {
                rate: rate(8),
                failing: red.iter().map(|test| TestId::from(*test)).collect(),
                flaky: vec![],
                preexisting: vec![],
            };
            let view = View::of(&[written.clone(), baseline]);
            assert_eq!(view.is_head_green(), expected, "{red:?}");
            let of = |commit| FinalState::Fixed.conclusion(commit, Conclusion::Success, &view);
            let head = if expected { Conclusion::Neutral } else { Conclusion::Failure };
            assert_eq!(
                (of(CheckedCommit::Head), of(CheckedCommit::Fix)),
                (head, Conclusion::Success)
            );
        }
    }

    #[test]
    fn a_suite_that_was_red_before_integration_tests_is_not_called_green() {
        for (session, expected) in
            [("ITG-2026-01-02-shop", Conclusion::Failure), ("WFS-pr-7", Conclusion::Success)]
        {
            let mut view = View::of(&[]);
            view.session = session.into();
            view.preexisting = vec![TestId::from("tests/test_a.py::test_b")];
            let of = FinalState::TestsWritten.conclusion(
                CheckedCommit::Head,
                Conclusion::Success,
                &view,
            );
            assert_eq!(of, expected, "{session}");
            let heading = FinalState::Green.heading(&view, &ForgePage::default());
            let says = heading.starts_with("Not green: 1 test failed before and still fails");
            assert_eq!(says, expected == Conclusion::Failure, "{heading}");
        }
    }

    #[test]
    fn the_view_follows_the_stream() {
        let red = vec![TestId::from("a"), TestId::from("b")];
        let mut view = View::of(&[
            Event::Notice { text: "once".into() },
            Event::Notice { text: "once".into() },
            Event::Step { iteration: None, doing: "running the full suite".into() },
        ]);
        assert_eq!((view.notices.len(), view.doing.as_str()), (1, "running the full suite"));
        view.add(&Event::Baseline {
            rate: rate(8),
            failing: red.clone(),
            flaky: vec![],
            preexisting: vec![],
        });
        assert_eq!((view.failing(), view.rate(), view.doing.as_str()), (red, Some(rate(8)), ""));
        view.add(&Event::IterationStarted {
            iteration: 1,
            strategy: Strategy::Conservative,
            reason: "early".into(),
            rate: rate(8),
        });
        view.add(&Event::Rejected { iteration: 1, reasons: vec!["touches tests".into()] });
        assert_eq!(view.current.as_ref().map(|(number, ..)| *number), Some(1));
        assert_eq!(view.reasons.get(&1).map(String::as_str), Some("early"));
        let ran = Event::Ran { iteration: 1, run: 1, of: 1, failed: 0, duration_ms: 20 };
        view.add(&ran);
        view.add(&ran);
        assert_eq!(view.testing.get(&1), Some(&40));
        assert_eq!(view.regained(), 0);
        assert_eq!(view.refused.len(), 1);
    }
}
