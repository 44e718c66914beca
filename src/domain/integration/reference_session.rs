//! Takes over integration sessions of the reference project, whose `state.json` has the same form
//! without a checkpoint (specification.md 8.13).

use serde_json::Value;

use super::iteration::Iterations;
use super::records::Decision;
use super::{Checkpoint, Integration, IntegrationStep, Phase};
use crate::domain::text::one_line;

/// Maximum number of characters of what an iteration taught.
const LEARNED: usize = 200;

/// The session that a `state.json` of the reference project describes, on the sources of a checkpoint.
/// What it explored and designed is kept where it says enough to write tests by; its tests are those
/// of the head, so that new ones are developed.
///
/// # Errors
/// The text of a problem, such as a missing field, or that the session has ended.
pub fn adopt_session(mut stored: Value, checkpoint: Checkpoint) -> Result<Integration, String> {
    let Some(fields) = stored.as_object_mut() else { return Err("it is not an object".into()) };
    let place = serde_json::to_value(checkpoint).map_err(|error| error.to_string())?;
    fields.insert("checkpoint".into(), place);
    let mut state: Integration =
        serde_json::from_value(stored).map_err(|error| error.to_string())?;
    if state.phase == Phase::Completed {
        return Err("it has ended".into());
    }
    let next = find_step(&state);
    state.checkpoint.next = next;
    let decision = describe_takeover(&state);
    state.decisions.push(decision);
    state.iterations = Iterations::default();
    state.phase = match next {
        IntegrationStep::Explore => Phase::Init,
        IntegrationStep::Design => Phase::Explored,
        IntegrationStep::Develop => Phase::Designed,
        _ => state.phase,
    };
    Ok(state)
}

/// The record of a takeover, with what the iterations so far taught.
fn describe_takeover(state: &Integration) -> Decision {
    let learned: Vec<String> = state
        .iterations
        .history
        .iter()
        .filter(|one| !one.reflection_summary.is_empty())
        .map(|one| format!("{}: {}", one.iteration, one_line(&one.reflection_summary, LEARNED)))
        .collect();
    let learned =
        if learned.is_empty() { "nothing is recorded".into() } else { learned.join("; ") };
    Decision {
        phase: state.phase,
        iteration: 0,
        description: "take over a session of the reference project".into(),
        context: format!("it had reached the phase {}", state.phase),
        options: vec!["go on with what it found".into(), "begin anew".into()],
        chosen: "go on with what it found".into(),
        reason: format!("its iterations taught: {learned}"),
        impact: "iterations are counted from 1".into(),
    }
}

/// Where a session goes on. One whose boundaries have no calls is explored again, and one whose
/// scenarios name no boundary is designed again.
fn find_step(state: &Integration) -> IntegrationStep {
    let points = state.exploration.as_ref().map(|one| one.integration_points.as_slice());
    let Some(points) = points.filter(|points| !points.is_empty()) else {
        return IntegrationStep::Explore;
    };
    if points.iter().any(|point| point.calls.is_empty()) {
        return IntegrationStep::Explore;
    }
    let is_known = |boundary: &str| points.iter().any(|point| point.boundary_name() == boundary);
    let scenarios = state.test_design.as_ref().map(|one| one.integration_scenarios.as_slice());
    match scenarios.unwrap_or_default() {
        [] => IntegrationStep::Design,
        all if all.iter().all(|one| is_known(&one.boundary)) => IntegrationStep::Develop,
        _ => IntegrationStep::Design,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::IntegrationGoal;
    use super::*;
    use crate::domain::id::TreeId;

    /// A session as the reference project stores it.
    fn stored(phase: &str) -> Value {
        json!({
            "session_id": "ITG-2026-01-02-quote", "module": "shop/quote.py",
            "started": "2026-01-02T03:04:05Z", "max_iterations": 7, "phase": phase,
            "exploration": {
                "integration_points": [
                    { "from": "shop/quote.py", "to": "shop/tax.py", "type": "api", "contract": "rate" }
                ],
                "risk_areas": [{ "area": "tax", "reason": "untested", "priority": "high" }],
                "_metadata": { "files_analyzed": 3, "timestamp": "2026-01-02T03:04:05Z" },
            },
            "test_design": null,
            "iterations": {
                "current": 1, "strategy": "conservative", "next_action": "execute_fix",
                "history": [{
                    "iteration": 1, "pass_rate": 50.0, "strategy": "conservative", "failed_tests": [],
                    "reflection_summary": "the fake was wrong", "strategy_adjustment": "surgical",
                }],
            },
        })
    }

    fn checkpoint() -> Checkpoint {
        Checkpoint {
            next: IntegrationStep::Explore,
            goal: IntegrationGoal::Test,
            confirm: false,
            tree: TreeId::parse("b".repeat(40)).unwrap(),
            commit: None,
            events: 0,
            transitions: 0,
        }
    }

    #[test]
    fn a_session_goes_on_where_what_is_stored_suffices() {
        let call = json!([{ "caller": "quote", "callee": "rate", "line": 3, "arguments": [] }]);
        let scenario = |boundary: &str| {
            json!({ "integration_scenarios": [
                { "id": "IS-001", "name": "x", "boundary": boundary, "priority": "high" }
            ]})
        };
        let own = "shop/quote.py → shop/tax.py";
        let table = [
            ("explored", Value::Null, Value::Null, IntegrationStep::Explore),
            ("iterating", Value::Null, scenario(own), IntegrationStep::Explore),
            ("explored", call.clone(), Value::Null, IntegrationStep::Design),
            ("designed", call.clone(), scenario("orders and taxes"), IntegrationStep::Design),
            ("designed", call.clone(), scenario(own), IntegrationStep::Develop),
            ("iterating", call.clone(), scenario(own), IntegrationStep::Develop),
            ("developed", call, scenario(own), IntegrationStep::Develop),
        ];
        for (phase, calls, design, expected) in table {
            let mut stored = stored(phase);
            if !calls.is_null() {
                stored["exploration"]["integration_points"][0]["calls"] = calls;
            }
            stored["test_design"] = design;
            let state = adopt_session(stored, checkpoint()).unwrap();
            assert_eq!(state.checkpoint.next, expected, "{phase}");
            assert_eq!(state.max_iterations, 7);
            assert!(state.decisions[0].reason.contains("1: the fake was wrong"));
        }
    }

    #[test]
    fn what_is_no_session_is_refused_with_the_reason() {
        let mut nameless = stored("explored");
        nameless.as_object_mut().unwrap().remove("module");
        let table = [
            (nameless, "missing field `module`"),
            (json!([1]), "not an object"),
            (stored("completed"), "has ended"),
        ];
        for (stored, expected) in table {
            let error = adopt_session(stored, checkpoint()).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
