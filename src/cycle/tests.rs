//! A session that crashes at any write and is resumed must end as if it had not crashed, for every
//! machine, and its stored transitions must replay to the same end.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::executor::block_on;
use proptest::prelude::*;
use serde_json::Value;

use super::drive::{Driven, Journal, MachineEnd, Perform, Work, drive};
use super::error::Failure;
use super::machine::{Machine, Transition};
use super::replay::{Replayed, replay};
use crate::domain::budget::Spending;
use crate::domain::event::{Ending, Event};
use crate::domain::fix_loop::tests as world;
use crate::domain::fix_loop::{FixLoop, FixStepOutcome};
use crate::domain::id::SessionId;
use crate::domain::session::files::EVENTS;
use crate::domain::test_plan::pipeline::{
    ConfirmPlan, Goal, Pipeline, PipelineStep, PipelineStepOutcome, PipelineVerdict,
};
use crate::domain::test_plan::plan_input::PlanInput;
use crate::effect::{Clock, Screen, Store, StoreError};

type FixCommand = <FixLoop as Machine>::Command;
type PipelineCommand = <Pipeline as Machine>::Command;

/// Session files in memory that refuse every write after a given number of them.
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
            let known = text.split_inclusive('\n').take(usize::try_from(keep).unwrap());
            *text = known
                .map(str::to_owned)
                .chain(lines.iter().map(|line| format!("{line}\n")))
                .collect();
        })
    }

    async fn committed_files(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        Ok(Vec::new())
    }
}

/// A clock that stands still, and a screen that shows nothing.
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

/// A fix loop in which each iteration makes the given number of tests pass.
struct FixWorld {
    baseline: usize,
    passing: Vec<usize>,
}

impl Perform<FixLoop> for FixWorld {
    fn perform<'s>(&'s mut self, state: &'s FixLoop) -> Work<'s, FixStepOutcome> {
        if state.is_finished() {
            return Work::Rest;
        }
        let outcome = world::outcome(state, self.baseline, &self.passing);
        Work::Step(Box::pin(async { Ok(outcome) }))
    }
}

/// A test session in which a file is lost once, a plan is refused once, tests are written, and its
/// fix loop climbs as `fix` says.
struct PipelineWorld {
    store: Arc<CrashingStore>,
    fix: FixWorld,
}

impl PipelineWorld {
    fn new(store: &Arc<CrashingStore>, passing: &[usize]) -> Self {
        let fix = FixWorld { baseline: 20, passing: passing.to_vec() };
        Self { store: Arc::clone(store), fix }
    }

    /// Drives the fix loop, whose events lie behind those of the pipeline.
    async fn execute(
        &mut self,
        pipeline: &Pipeline,
    ) -> Result<MachineEnd<PipelineStepOutcome>, Failure> {
        let (mut begin, command) = fix_session();
        begin.events = pipeline.events;
        let state = Box::pin(go_on(&self.store, &mut self.fix, (begin, command))).await?.state;
        let outcome = match state.verdict.unwrap() {
            verdict if verdict.ending == Ending::Success => {
                PipelineStepOutcome::Executed { summary: verdict.reason }
            }
            verdict => PipelineStepOutcome::NotGreen { reason: verdict.reason },
        };
        Ok(MachineEnd { outcome, events: state.events })
    }
}

impl Perform<Pipeline> for PipelineWorld {
    fn perform<'s>(&'s mut self, state: &'s Pipeline) -> Work<'s, PipelineStepOutcome> {
        use PipelineStepOutcome as Outcome;
        let summary = "done".to_owned();
        let outcome = match state.next {
            PipelineStep::Gather => Outcome::Gathered { gaps: 2, summary },
            PipelineStep::Analyse if state.transitions < 3 => Outcome::InputMissing,
            PipelineStep::Analyse => {
                Outcome::Analysed { requirements: 3, degraded: false, summary }
            }
            PipelineStep::Plan { attempt: 1 } => {
                Outcome::Planned { problems: vec!["no".into()], summary }
            }
            PipelineStep::Plan { .. } => Outcome::Planned { problems: vec![], summary },
            PipelineStep::Generate if state.transitions.is_multiple_of(3) => Outcome::Done,
            PipelineStep::Generate => Outcome::Wrote,
            PipelineStep::Validate | PipelineStep::Review | PipelineStep::Keep => Outcome::Done,
            PipelineStep::Execute => return Work::Machine(Box::pin(self.execute(state))),
            PipelineStep::Confirm | PipelineStep::Finish { .. } => return Work::Rest,
        };
        Work::Step(Box::pin(async { Ok(outcome) }))
    }
}

/// Runs a session once, from its saved state or from the beginning.
async fn go_on<M: Machine>(
    store: &CrashingStore,
    performer: &mut impl Perform<M>,
    (begin, command): (M, M::Command),
) -> Result<Driven<M>, Failure> {
    let journal = Journal { store, screen: &Still, clock: &Still };
    let state = match store.read_json(M::STATE_FILE).await? {
        Some(saved) => serde_json::from_value(saved).unwrap(),
        None => journal.record(&begin, command, begin.clone()).await?,
    };
    drive(state, performer, journal, None).await
}

/// Crashes a session at its n-th write and resumes it; `None` when it ends before that write.
fn crash_and_resume<M: Machine + PartialEq + Debug, P: Perform<M>>(
    write: u32,
    performer: impl Fn(&Arc<CrashingStore>) -> P,
    begin: impl Fn() -> (M, M::Command),
) -> Option<M> {
    let run = |store: &Arc<CrashingStore>| block_on(go_on(store, &mut performer(store), begin()));
    let whole = Arc::default();
    let expected = run(&whole).unwrap();
    let store = Arc::<CrashingStore>::default();
    *store.writes_left.lock().unwrap() = Some(write);
    if run(&store).is_ok() {
        return None;
    }
    *store.writes_left.lock().unwrap() = None;
    let resumed = run(&store).unwrap();
    assert_eq!(resumed.state, expected.state, "after a crash at write {write}");
    assert_eq!(resumed.stopped, expected.stopped);
    for (file, text) in &*whole.files.lock().unwrap() {
        assert_eq!(store.text(file), *text, "{file} after a crash at write {write}");
    }
    assert!(!store.text(EVENTS).is_empty() && !store.text(M::STATE_FILE).is_empty());
    assert_replays::<M>(&store, &expected.state);
    Some(expected.state)
}

/// The stored transitions of a machine lead to `last` again.
fn assert_replays<M: Machine>(store: &CrashingStore, last: &M) {
    let lines = store.text(M::TRANSITIONS);
    let transitions: Vec<Transition<M>> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let replayed = replay(&transitions, last).unwrap();
    assert_eq!(replayed, Replayed { transitions: transitions.len() - 1, differences: vec![] });
}

fn fix_session() -> (FixLoop, FixCommand) {
    let state = world::new(95, 4);
    let command = FixCommand::Began {
        terms: Box::new(state.terms.clone()),
        tip: None,
        tree: None,
        spending: Spending::default(),
    };
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
    let world = |_: &_| FixWorld { baseline: 20, passing: vec![10, 25, 30] };
    let ends: Vec<FixLoop> =
        (0..).map_while(|write| crash_and_resume(write, world, fix_session)).collect();
    assert!(ends.len() > 50, "{} writes", ends.len());
    assert_eq!(ends[0].verdict.as_ref().unwrap().ending, Ending::Success);
}

#[test]
fn a_test_session_that_crashes_at_any_write_of_its_machines_ends_with_the_same_verdict() {
    let ends = |passing: &[usize], step: usize| -> Vec<Pipeline> {
        let world = |store: &_| PipelineWorld::new(store, passing);
        let writes = (0..).step_by(step);
        writes.map_while(|write| crash_and_resume(write, world, test_session)).collect()
    };
    let green = ends(&[10, 25, 30], 1);
    assert!(green.len() > 75, "{} writes", green.len());
    let verdict = PipelineVerdict::Generated;
    assert_eq!(green[0].next, PipelineStep::Finish { verdict });
    let red = ends(&[10, 25], 13);
    assert_eq!(red[0].next, PipelineStep::Execute, "more iterations may follow");
}

#[test]
fn the_fix_loop_behind_written_tests_shares_the_event_stream_and_replays() {
    let store = Arc::default();
    let mut world = PipelineWorld::new(&store, &[10, 25, 30]);
    let pipeline = block_on(go_on(&store, &mut world, test_session())).unwrap().state;
    let fix_loop: FixLoop = serde_json::from_str(&store.text(FixLoop::STATE_FILE)).unwrap();
    let events = store.text(EVENTS);
    assert!(events.starts_with("{\"event\":\"notice\""), "the lost file comes first: {events}");
    assert_eq!(events.lines().count() as u64, fix_loop.events);
    assert_eq!(pipeline.events, fix_loop.events, "no event of the loop is cut off");
    assert_replays(&store, &pipeline);
    assert_replays(&store, &fix_loop);
    let last = store.text(Pipeline::TRANSITIONS).lines().last().unwrap().to_owned();
    assert!(last.contains("execute") && last.contains("executed"), "{last}");
}

proptest! {
    #[test]
    fn any_fix_session_survives_a_crash(
        baseline in 0usize..30,
        passing in prop::collection::vec(0usize..=30, 0..4),
        write in 0u32..120,
    ) {
        let world = |_: &_| FixWorld { baseline, passing: passing.clone() };
        crash_and_resume(write, world, fix_session);
    }
}

#[test]
fn transitions_of_earlier_versions_are_read() {
    let step = r#"{"step":{"step":{"step":"restore"},"took_ms":3,"outcome":"restored"}}"#;
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
