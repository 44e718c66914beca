//! Tests of the phases of a pipeline that plans and writes tests.

use proptest::prelude::*;

use super::*;

fn start(goal: Goal, confirm: ConfirmPlan) -> Pipeline {
    let id = SessionId::parse("WFS-test-x").unwrap();
    Pipeline::new(id, PlanInput::Text("x".into()), "x".into(), goal, confirm)
}

fn text() -> String {
    "done".into()
}

fn gathered(gaps: u32) -> PipelineStepOutcome {
    PipelineStepOutcome::Gathered { gaps, summary: text() }
}

fn held() -> PipelineStepOutcome {
    PipelineStepOutcome::Held { reasons: vec!["no".into()], summary: text() }
}

fn analysed(requirements: u32) -> PipelineStepOutcome {
    PipelineStepOutcome::Analysed { requirements, degraded: false, summary: text() }
}

fn planned(problems: &[&str]) -> PipelineStepOutcome {
    let problems = problems.iter().map(|text| (*text).to_owned()).collect();
    PipelineStepOutcome::Planned { problems, summary: text() }
}

#[test]
fn phases_follow_one_another() {
    use ConfirmPlan::{Always, Never};
    let nothing_missing = || PipelineStep::Finish { verdict: PipelineVerdict::NothingMissing };
    let executed = || PipelineStepOutcome::Executed { summary: text() };
    let failed = PipelineVerdict::Failed { problems: vec!["no".into()] };
    let table = [
        (Goal::Plan, Never, vec![gathered(0)], nothing_missing()),
        (Goal::Test, Never, vec![gathered(0)], PipelineStep::Execute),
        (Goal::Test, Never, vec![gathered(1), analysed(0)], PipelineStep::Execute),
        (Goal::Test, Never, vec![gathered(0), executed()], nothing_missing()),
        (Goal::Plan, Never, vec![gathered(1)], PipelineStep::Analyse),
        (Goal::Plan, Never, vec![analysed(3)], PipelineStep::Gather),
        (Goal::Plan, Never, vec![gathered(1), analysed(0)], nothing_missing()),
        (
            Goal::Plan,
            Never,
            vec![gathered(1), PipelineStepOutcome::InputMissing],
            PipelineStep::Gather,
        ),
        (
            Goal::Plan,
            Never,
            vec![gathered(1), analysed(3), PipelineStepOutcome::InputMissing],
            PipelineStep::Analyse,
        ),
        (
            Goal::Plan,
            Always,
            vec![gathered(1), analysed(3), planned(&[])],
            PipelineStep::Finish { verdict: PipelineVerdict::Planned },
        ),
        (Goal::Test, Never, vec![gathered(1), analysed(3), planned(&[])], PipelineStep::Generate),
        (Goal::Test, Always, vec![gathered(1), analysed(3), planned(&[])], PipelineStep::Confirm),
        (
            Goal::Test,
            Always,
            vec![gathered(1), analysed(3), planned(&["no"])],
            PipelineStep::Plan { attempt: 2 },
        ),
        (
            Goal::Test,
            Always,
            vec![gathered(1), analysed(3), planned(&["no"]), planned(&["no"])],
            PipelineStep::Finish { verdict: failed },
        ),
    ];
    for (goal, confirm, steps, expected) in table {
        let end = steps.iter().cloned().fold(start(goal, confirm), Pipeline::advance);
        assert_eq!(end.next, expected, "{goal:?} {confirm:?} {steps:?}");
    }
}

#[test]
fn the_fifth_phase_goes_from_step_to_step_and_waits_for_its_own_answers() {
    let plan = [gathered(1), analysed(3), planned(&[])];
    let begun = plan.into_iter().fold(start(Goal::Test, ConfirmPlan::Never), Pipeline::advance);
    let executed = || PipelineStepOutcome::Executed { summary: text() };
    let table = [
        (vec![PipelineStepOutcome::Wrote, PipelineStepOutcome::Wrote], PipelineStep::Generate),
        (vec![PipelineStepOutcome::Confirmed], PipelineStep::Generate),
        (vec![PipelineStepOutcome::InputMissing], PipelineStep::Plan { attempt: 1 }),
        (vec![PipelineStepOutcome::Wrote, PipelineStepOutcome::Done], PipelineStep::Validate),
        (vec![PipelineStepOutcome::Done, PipelineStepOutcome::Done], PipelineStep::Review),
        (
            vec![PipelineStepOutcome::Done, PipelineStepOutcome::Done, PipelineStepOutcome::Done],
            PipelineStep::Keep,
        ),
        (
            vec![
                PipelineStepOutcome::Done,
                PipelineStepOutcome::Done,
                PipelineStepOutcome::Done,
                PipelineStepOutcome::Done,
            ],
            PipelineStep::Execute,
        ),
        (
            vec![
                PipelineStepOutcome::Done,
                PipelineStepOutcome::Done,
                PipelineStepOutcome::Done,
                PipelineStepOutcome::Done,
                executed(),
            ],
            PipelineStep::Finish { verdict: PipelineVerdict::Generated },
        ),
        (
            vec![
                PipelineStepOutcome::Done,
                PipelineStepOutcome::Done,
                PipelineStepOutcome::Done,
                held(),
            ],
            PipelineStep::Finish { verdict: PipelineVerdict::Held { reasons: vec!["no".into()] } },
        ),
    ];
    for (steps, expected) in table {
        let end = steps.iter().cloned().fold(begun.clone(), Pipeline::advance);
        assert_eq!(end.next, expected, "{steps:?}");
        assert_eq!(end.phases.last().map(|row| row.phase) == Some(5), end.rests());
    }
}

#[test]
fn a_plan_is_carried_out_when_it_is_asked_for_again() {
    let steps = || [gathered(1), analysed(3), planned(&[])];
    let plan = |confirm| steps().into_iter().fold(start(Goal::Plan, confirm), Pipeline::advance);
    let never = plan(ConfirmPlan::Never).resume(Goal::Test, false);
    assert_eq!(never.next, PipelineStep::Generate);
    let always = plan(ConfirmPlan::Always).resume(Goal::Test, false);
    assert_eq!(always.next, PipelineStep::Confirm);
    assert!(always.rests());
    assert_eq!(always.resume(Goal::Test, true).next, PipelineStep::Generate);
    let same = plan(ConfirmPlan::Never);
    assert_eq!(same.clone().resume(Goal::Plan, false), same);
}

#[test]
fn a_gate_that_is_not_met_holds_the_suite_back_until_a_person_approves() {
    let steps = [gathered(1), analysed(3), planned(&[])].into_iter().chain([
        PipelineStepOutcome::Done,
        PipelineStepOutcome::Done,
        PipelineStepOutcome::Done,
        held(),
    ]);
    let end = steps.fold(start(Goal::Test, ConfirmPlan::Never), Pipeline::advance);
    assert!(end.rests() && !end.works());
    let table = [(Goal::Test, false, true), (Goal::Plan, true, true), (Goal::Test, true, false)];
    for (goal, confirmed, rests) in table {
        let next = end.clone().resume(goal, confirmed);
        assert_eq!(next.rests(), rests, "{goal:?} {confirmed}");
        assert_eq!(next.next == PipelineStep::Keep, !rests);
        assert_eq!(next.approved, !rests, "{goal:?} {confirmed}");
    }
}

proptest! {
    #[test]
    fn any_answers_end_and_phases_stay_in_order(
        answers in prop::collection::vec(0u8..15, 0..60), test: bool, asks: bool,
    ) {
        let goal = if test { Goal::Test } else { Goal::Plan };
        let confirm = if asks { ConfirmPlan::Always } else { ConfirmPlan::Never };
        let mut state = start(goal, confirm);
        for answer in answers {
            let before = state.clone();
            state = state.advance(match answer {
                0 => gathered(0),
                1 => gathered(2),
                2 => analysed(1),
                3 => planned(&[]),
                4 => planned(&["no"]),
                5 => PipelineStepOutcome::InputMissing,
                6..=9 => PipelineStepOutcome::Done,
                10 => PipelineStepOutcome::Wrote,
                11 => PipelineStepOutcome::Executed { summary: text() },
                12 => held(),
                13 => PipelineStepOutcome::OutOfBudget { reason: text() },
                14 => PipelineStepOutcome::NotGreen { reason: text() },
                _ => PipelineStepOutcome::Confirmed,
            });
            let rows: Vec<u32> = state.phases.iter().map(|row| row.phase).collect();
            prop_assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", rows);
            if matches!(before.next, PipelineStep::Finish { .. }) {
                prop_assert_eq!(before, state.clone());
            }
            let stored = serde_json::to_value(&state).unwrap();
            let read: Pipeline = serde_json::from_value(stored).unwrap();
            prop_assert_eq!(read, state.clone());
        }
    }
}
