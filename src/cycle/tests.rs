//! A session that crashes at any write and resumes ends as if it had not crashed, whichever machine
//! it drives, and its stored transitions replay to the same end.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures::executor::block_on;
use proptest::prelude::*;
use serde_json::Value;

use super::drive::{Driven, EVENTS, Journal, Perform, drive};
use super::failure::Failure;
use super::machine::{Machine, Transition};
use super::replay::{Replayed, replay};
use crate::domain::budget::Spending;
use crate::domain::event::{Ending, Event};
use crate::domain::fix_loop::tests as world;
use crate::domain::fix_loop::{FixLoop, FixStep, FixStepOutcome};
use crate::domain::id::SessionId;
use crate::domain::test_plan::entry::PlanInput;
use crate::domain::test_plan::pipeline::{
    ConfirmPlan, Goal, Pipeline, PipelineStep, PipelineStepOutcome, PipelineVerdict,
};
use crate::effect::{Clock, Screen, Store, StoreError};

type FixCommand = <FixLoop as Machine>::Command;
type PipelineCommand = <Pipeline as Machine>::Command;

/// Session files in memory that refuse every write once so many were made.
#[derive(Default)]
struct CrashingStore {
    files: Mutex<BTreeMap<String, String>>,
    writes_left: Mutex<Option<u32>>,
}

impl CrashingStore {
    fn write(&self, change: impl FnOnce(&mut BTreeMap<String, String>)) -> Result<(), StoreError> {
        let mut left = self.writes_left.lock().unwrap();
        if *left == Some(0) {
            let source = io::Error::other("the process is gone");
            return Err(StoreError::Io { action: "write", path: "x".into(), source });
        }
        *left = left.map(|left| left - 1);
        change(&mut self.files.lock().unwrap());
        Ok(())
    }

    fn text(&self, file: &str) -> String {
        self.files.lock().unwrap().get(file).cloned().unwrap_or_default()
    }
}

#[async_trait]
impl Store for CrashingStore {
    fn folder(&self) -> &Path {
        Path::new("session")
    }

    async fn read_json(&self, file: &str) -> Result<Option<Value>, StoreError> {
        Ok(self.files.lock().unwrap().get(file).map(|text| serde_json::from_str(text).unwrap()))
    }

    async fn write_json(&self, file: &str, value: &Value) -> Result<(), StoreError> {
        self.write(|files| {
            files.insert(file.to_owned(), value.to_string());
        })
    }

    async fn write_text(&self, file: &str, text: &str) -> Result<(), StoreError> {
        self.write(|files| {
            files.insert(file.to_owned(), text.to_owned());
        })
    }

    async fn rename(&self, _from: &str, _to: &str) -> Result<(), StoreError> {
        Ok(())
    }

    async fn append(&self, file: &str, keep: u64, lines: &[String]) -> Result<(), StoreError> {
        self.write(|files| {
            let text = files.entry(file.to_owned()).or_default();
            let kept = text.split_inclusive('\n').take(usize::try_from(keep).unwrap());
            *text = kept
                .map(str::to_owned)
                .chain(lines.iter().map(|line| format!("{line}\n")))
                .collect();
        })
    }

    async fn travelling(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        Ok(Vec::new())
    }
}

/// A clock that stands still, and a screen nobody watches.
struct Still;

#[async_trait]
impl Clock for Still {
    fn now(&self) -> String {
        "2026-01-01T00:00:00Z".into()
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn stop_requested(&self) -> bool {
        false
    }

    async fn wait(&self, _duration: Duration) {
        futures::future::pending::<()>().await;
    }
}

impl Screen for Still {
    fn show(&self, _event: &Event) {}
}

/// A fix loop whose n-th iteration makes so many tests pass.
struct FixWorld {
    baseline: usize,
    passing: Vec<usize>,
}

impl Perform<FixLoop> for FixWorld {
    type Task = FixStep;

    fn task(&self, state: &FixLoop) -> Option<FixStep> {
        (!state.is_finished()).then_some(state.next)
    }

    async fn perform(&mut self, state: &FixLoop, _: FixStep) -> Result<FixStepOutcome, Failure> {
        Ok(world::outcome(state, self.baseline, &self.passing))
    }

    async fn document(&self, _old: &FixLoop, _new: &FixLoop) -> Result<(), Failure> {
        Ok(())
    }

    async fn show(&self, _state: &FixLoop) -> Result<(), Failure> {
        Ok(())
    }
}

/// A test session in which a file is lost once, a plan is refused once, and tests are written.
struct PipelineWorld;

impl Perform<Pipeline> for PipelineWorld {
    type Task = PipelineStep;

    fn task(&self, state: &Pipeline) -> Option<PipelineStep> {
        (!state.rests()).then(|| state.next.clone())
    }

    async fn perform(
        &mut self,
        state: &Pipeline,
        step: PipelineStep,
    ) -> Result<PipelineStepOutcome, Failure> {
        use PipelineStepOutcome as Outcome;
        let summary = "done".to_owned();
        Ok(match step {
            PipelineStep::Gather => Outcome::Gathered { gaps: 2, summary },
            PipelineStep::Analyse if state.transitions < 3 => Outcome::InputMissing,
            PipelineStep::Analyse => {
                Outcome::Analysed { requirements: 3, degraded: false, summary }
            }
            PipelineStep::Plan { attempt: 1 } => {
                Outcome::Planned { problems: vec!["no".into()], summary }
            }
            PipelineStep::Plan { .. } => Outcome::Planned { problems: vec![], summary },
            PipelineStep::Generate if state.transitions.is_multiple_of(3) => Outcome::Generated,
            PipelineStep::Generate => Outcome::Wrote,
            PipelineStep::Validate => Outcome::Validated,
            PipelineStep::Review => Outcome::Reviewed,
            PipelineStep::Keep => Outcome::Kept,
            PipelineStep::Execute => Outcome::Executed { summary },
            PipelineStep::Confirm | PipelineStep::Finish { .. } => Outcome::Confirmed,
        })
    }

    async fn document(&self, _old: &Pipeline, _new: &Pipeline) -> Result<(), Failure> {
        Ok(())
    }

    async fn show(&self, _state: &Pipeline) -> Result<(), Failure> {
        Ok(())
    }
}

/// One run of a session: it goes on from the saved state, or begins.
fn run<M: Machine>(
    store: &CrashingStore,
    performer: &mut impl Perform<M>,
    (begin, command): (M, M::Command),
) -> Result<Driven<M>, Failure> {
    block_on(async {
        let journal = Journal { store, screen: &Still, clock: &Still };
        let state = match store.read_json(M::STATE_FILE).await? {
            Some(saved) => serde_json::from_value(saved).unwrap(),
            None => journal.record(&begin, command, begin.clone()).await?,
        };
        drive(state, performer, journal, None).await
    })
}

/// Crashes a session at its n-th write and resumes it; `None` when it ends before that write.
fn crash_and_resume<M: Machine + PartialEq + Debug>(
    write: u32,
    performer: &mut impl Perform<M>,
    begin: impl Fn() -> (M, M::Command),
) -> Option<M> {
    let whole = CrashingStore::default();
    let expected = run(&whole, performer, begin()).unwrap().state;
    let store = CrashingStore::default();
    *store.writes_left.lock().unwrap() = Some(write);
    if run(&store, performer, begin()).is_ok() {
        return None;
    }
    *store.writes_left.lock().unwrap() = None;
    let resumed = run(&store, performer, begin()).unwrap();
    assert_eq!(resumed.state, expected, "after a crash at write {write}");
    assert_eq!(resumed.stop_reason, None);
    for file in [M::STATE_FILE, M::TRANSITIONS, EVENTS] {
        assert_eq!(store.text(file), whole.text(file), "{file} after a crash at write {write}");
    }
    let lines = store.text(M::TRANSITIONS);
    let transitions: Vec<Transition<M>> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let replayed = replay(&transitions, &expected).unwrap();
    assert_eq!(replayed, Replayed { transitions: transitions.len() - 1, differences: vec![] });
    Some(expected)
}

fn fix_session() -> (FixLoop, FixCommand) {
    let state = world::new(95, 4);
    let command =
        FixCommand::Began { terms: state.terms, tip: None, spending: Spending::default() };
    (state, command)
}

fn test_session() -> (Pipeline, PipelineCommand) {
    let id = SessionId::parse("WFS-test-x").unwrap();
    let input = PlanInput::Text("x".into());
    let state = Pipeline::new(id, input, "x".into(), Goal::Test, ConfirmPlan::Never);
    let command = PipelineCommand::Began { state: Box::new(state.clone()) };
    (state, command)
}

#[test]
fn a_fix_session_that_crashes_at_any_write_ends_with_the_same_verdict() {
    let mut world = FixWorld { baseline: 20, passing: vec![10, 25, 30] };
    let ends: Vec<FixLoop> =
        (0..).map_while(|write| crash_and_resume(write, &mut world, fix_session)).collect();
    assert!(ends.len() > 50, "{} writes", ends.len());
    assert_eq!(ends[0].verdict.as_ref().unwrap().ending, Ending::Success);
}

#[test]
fn a_test_session_that_crashes_at_any_write_ends_with_the_same_verdict() {
    let ends: Vec<Pipeline> = (0..)
        .map_while(|write| crash_and_resume(write, &mut PipelineWorld, test_session))
        .collect();
    assert!(ends.len() > 25, "{} writes", ends.len());
    let verdict = PipelineVerdict::Generated;
    assert_eq!(ends[0].next, PipelineStep::Finish { verdict });
    assert_eq!(ends[0].events, 1, "the notice of the lost file is stored");
}

proptest! {
    #[test]
    fn any_fix_session_survives_a_crash(
        baseline in 0usize..30,
        passing in prop::collection::vec(0usize..=30, 0..4),
        write in 0u32..120,
    ) {
        crash_and_resume(write, &mut FixWorld { baseline, passing }, fix_session);
    }
}

#[test]
fn transitions_of_earlier_versions_are_read() {
    let step = r#"{"step":{"step":{"step":"restore"},"took_ms":3,"done":"restored"}}"#;
    let table = [
        (r#"{"reopened":{"max_iterations":5}}"#, "command"),
        (r#""renewed""#, "command"),
        (r#"{"too_long":{"step":{"step":"propose"}}}"#, "too long"),
        (step, "step"),
    ];
    for (line, expected) in table {
        let transition: Transition<FixLoop> = serde_json::from_str(line).unwrap();
        let kind = match transition {
            Transition::Command(_) => "command",
            Transition::TooLong { .. } => "too long",
            Transition::Step { .. } => "step",
        };
        assert_eq!(kind, expected, "{line}");
        assert_eq!(serde_json::to_string(&transition).unwrap(), line);
    }
}
