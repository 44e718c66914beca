//! Tests of limits, lengths of answers and prices.

use std::time::Duration;

use crate::domain::budget::{Price, Spending, SpendingLimits, Tier};
use crate::domain::chain::FallbackTrigger;
use crate::effect::ModelErrorKind;

use super::{ScriptedModel, World, settings, summary, usage};
use crate::role::ask::{AskSettings, Reply, UsageKey};

#[test]
fn limits_stop_the_chain_before_the_call() {
    let calls = |limit| SpendingLimits { calls: Some(limit), ..SpendingLimits::default() };
    let tokens = |limit| SpendingLimits { tokens: Some(limit), ..SpendingLimits::default() };
    let table = [
        ("session", calls(0), SpendingLimits::default(), "out of budget; asked ", 0),
        (
            "session after one call",
            calls(1),
            SpendingLimits::default(),
            "out of budget; asked a",
            0,
        ),
        ("task", SpendingLimits::default(), calls(1), "none; asked a", 1),
        (
            "tokens of the question",
            tokens(1),
            SpendingLimits::default(),
            "out of budget; asked ",
            0,
        ),
        ("both leave room", calls(2), calls(2), "good by b; asked a b", 0),
    ];
    for (why, session, iteration, expected, notices) in table {
        let world = World::new(AskSettings { session, iteration, ..settings() });
        let (a, b) =
            (ScriptedModel::new("a", [Ok("vague")]), ScriptedModel::new("b", [Ok("good 0.9")]));
        let (reply, calls) = world.ask(&[&a, &b], false);
        assert_eq!(summary(&reply, &calls), expected, "{why}");
        assert_eq!(world.notices.0.lock().unwrap().len(), notices, "{why}");
    }
}

#[test]
fn a_good_answer_that_was_paid_for_is_used_when_a_surer_one_costs_too_much() {
    let session = SpendingLimits { calls: Some(1), ..SpendingLimits::default() };
    for (answer, expected) in
        [("good 0.6", "good by a; asked a"), ("weak 0.3", "out of budget; asked a")]
    {
        let world = World::new(AskSettings { session, ..settings() });
        let (a, b) = (ScriptedModel::new("a", [Ok(answer)]), ScriptedModel::new("b", []));
        let (reply, calls) = world.ask(&[&a, &b], true);
        assert_eq!(summary(&reply, &calls), expected, "{answer}");
    }
}

#[test]
fn what_was_spent_before_counts_too() {
    let session = SpendingLimits { calls: Some(3), ..SpendingLimits::default() };
    let world = World::new(AskSettings { session, ..settings() });
    let earlier = Spending { calls: 3, ..Spending::default() };
    let a = ScriptedModel::new("a", [Ok("good 0.9")]);
    let (reply, _) = world.ask_for(&UsageKey { session: earlier, ..usage() }, &[&a], false);
    assert!(matches!(reply, Reply::OutOfBudget(_)), "{reply:?}");
    assert_eq!(a.count(), 0);
}

#[test]
fn an_answer_that_is_cut_is_asked_for_once_more_with_twice_the_length() {
    let lengths = |model: &ScriptedModel| model.lengths.lock().unwrap().clone();
    let table = [
        (vec![Ok("cut"), Ok("good 0.9")], "good by a; asked a", None, 2),
        (vec![Ok("cut"), Ok("cut")], "none; asked a", Some(FallbackTrigger::Truncated), 2),
        (
            vec![Ok("cut"), Err(ModelErrorKind::BadRequest { status: 400 })],
            "none; asked a",
            Some(FallbackTrigger::Truncated),
            2,
        ),
        // The longer answer takes longer, which does not mean that the service hangs.
        (
            vec![Ok("cut"), Err(ModelErrorKind::TimedOut { limit: Duration::from_secs(1) })],
            "none; asked a",
            Some(FallbackTrigger::Truncated),
            2,
        ),
    ];
    for (script, expected, trigger, requests) in table {
        let world = World::new(settings());
        let a = ScriptedModel::new("a", script);
        let (reply, calls) = world.ask(&[&a], false);
        assert_eq!(summary(&reply, &calls), expected);
        assert_eq!((calls[0].trigger, calls[0].requests), (trigger, requests));
        assert_eq!(lengths(&a), [2_500, 5_000]);
        let (count, cost) = (calls[0].usage.tokens(), calls[0].micro_usd);
        assert_eq!(Some(count), cost, "every answer that was paid for counts");
        assert!(count >= 15, "{count}");
        if trigger.is_some() {
            assert!(
                calls[0].reason.contains("was cut off at the output limit"),
                "{}",
                calls[0].reason
            );
        }
    }
    let session = SpendingLimits { tokens: Some(4_000), ..SpendingLimits::default() };
    let world = World::new(AskSettings { session, ..settings() });
    let a = ScriptedModel::new("a", [Ok("cut"), Ok("good 0.9")]);
    world.ask(&[&a], false);
    assert_eq!(lengths(&a)[0], 2_500);
    assert!(
        (3_900..4_000).contains(&lengths(&a)[1]),
        "no longer than the budget: {:?}",
        lengths(&a)
    );
    let session = SpendingLimits { tokens: Some(2_500), ..SpendingLimits::default() };
    let world = World::new(AskSettings { session, ..settings() });
    let a = ScriptedModel::new("a", [Ok("cut"), Ok("good 0.9")]);
    world.ask(&[&a], false);
    assert_eq!(lengths(&a).len(), 1, "a shorter answer would be cut again: {:?}", lengths(&a));
}

#[test]
fn a_retry_is_a_call_of_the_budget() {
    let server = || Err(ModelErrorKind::Server { status: 500 });
    let table = [(1, 1, 0), (2, 2, 1), (3, 3, 2), (9, 3, 2)];
    for (limit, requests, waits) in table {
        let session = SpendingLimits { calls: Some(limit), ..SpendingLimits::default() };
        let world = World::new(AskSettings { session, ..settings() });
        let a = ScriptedModel::new("a", [server(), server(), server()]);
        let (_, calls) = world.ask(&[&a], false);
        assert_eq!((a.count(), calls[0].requests), (requests, u32::try_from(requests).unwrap()));
        assert_eq!(world.clock.waits.lock().unwrap().len(), waits, "{limit} calls");
    }
}

#[test]
fn a_refused_answer_that_was_paid_for_counts() {
    let world = World::new(settings());
    let refused = ModelErrorKind::Refused { reason: "no".into() };
    let a = ScriptedModel { paid: true, ..ScriptedModel::new("a", [Err(refused)]) };
    let (_, calls) = world.ask(&[&a], false);
    assert_eq!((calls[0].usage.tokens(), calls[0].micro_usd), (9, Some(9)));
}

#[test]
fn each_request_of_a_question_has_the_price_of_its_own_length() {
    let tier = Tier { tokens: 12, input: 100.0, output: 100.0, cached: None };
    let mut a = ScriptedModel::new("a", [Ok("cut"), Ok("good 0.9")]);
    a.facts.price = Some(Price { input: 1.0, output: 1.0, above: vec![tier], ..Price::default() });
    let (_, calls) = World::new(settings()).ask(&[&a], false);
    assert_eq!((calls[0].usage.input_tokens, calls[0].micro_usd), (20, Some(30)));
}
