//! Tests of providers that fail, wait or hang.

use std::time::Duration;

use async_trait::async_trait;
use futures::executor::block_on;

use crate::domain::budget::{Spending, SpendingLimits, Usage};
use crate::domain::chain::{FallbackTrigger, Outage};
use crate::effect::{Clock, ModelErrorKind, Question, StoreError, TestClock, UsageMeter};

use super::{ScriptedModel, World, settings, summary};
use crate::role::ask::retry::{BeforeRetry, ask_with_retries, trigger_of};

#[test]
fn a_provider_that_is_down_is_left_alone_for_the_rest_of_the_run() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Err(ModelErrorKind::Unauthorised)]);
    let b = ScriptedModel::new("b", [Ok("good 0.9"), Ok("good 0.9")]);
    for _ in 0..2 {
        world.ask(&[&a, &b], false);
    }
    assert_eq!((a.count(), b.count()), (1, 2));
}

#[test]
fn a_provider_that_asks_for_an_hour_is_not_asked_before_in_any_role() {
    let hour = Duration::from_hours(1);
    let limited = ModelErrorKind::RateLimited { retry_after: Some(hour) };
    let shared = settings();
    let world = World::new(shared.clone());
    let a = ScriptedModel::new("a", [Err(limited), Ok("good 0.9")]);
    let b = ScriptedModel::new("b", [Ok("good 0.9"), Ok("good 0.9"), Ok("good 0.9")]);
    world.ask(&[&a, &b], false);
    let fixer = World::new(shared);
    fixer.ask(&[&a, &b], false);
    assert_eq!((a.count(), b.count()), (1, 2), "another asker of the same run waits too");
    block_on(fixer.clock.wait(hour));
    let (reply, calls) = fixer.ask(&[&a, &b], false);
    assert_eq!(summary(&reply, &calls), "good by a; asked a");
}

#[test]
fn a_service_that_hangs_is_asked_once_in_a_run() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Err(ModelErrorKind::TimedOut { limit: Duration::ZERO })]);
    let b = ScriptedModel::new("b", [Ok("good 0.9"), Ok("good 0.9")]);
    for _ in 0..2 {
        world.ask(&[&a, &b], false);
    }
    assert_eq!((a.count(), b.count()), (1, 2));
}

#[test]
fn a_provider_that_is_skipped_is_announced_once_for_each_outage() {
    let hour = Duration::from_hours(1);
    let limited = || Err(ModelErrorKind::RateLimited { retry_after: Some(hour) });
    let shared = settings();
    let world = World::new(shared.clone());
    let a = ScriptedModel::new("a", [limited(), limited()]);
    let b = ScriptedModel::new("b", std::iter::repeat_n(Ok("good 0.9"), 9));
    for _ in 0..3 {
        world.ask(&[&a, &b], false);
    }
    let announced = |world: &World| world.notices.0.lock().unwrap().clone();
    assert_eq!(
        announced(&world),
        ["`a` is skipped for another 60 minutes: rate limited, to be asked again in 60 minutes"]
    );
    let other = World::new(shared);
    other.ask(&[&a, &b], false);
    assert!(announced(&other).is_empty(), "another role of the same run: {:?}", announced(&other));
    block_on(world.clock.wait(hour));
    for _ in 0..2 {
        world.ask(&[&a, &b], false);
    }
    assert_eq!(announced(&world).len(), 2, "the next outage: {:?}", announced(&world));
}

#[test]
fn retries_wait_as_long_as_the_provider_says_or_back_off() {
    let limited =
        |seconds| ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(seconds)) };
    let server = || ModelErrorKind::Server { status: 500 };
    let table: Vec<(&str, Vec<ModelErrorKind>, usize, bool)> = vec![
        ("a short wait is kept", vec![limited(5)], 1, true),
        ("only once", vec![limited(5), limited(5)], 1, false),
        ("a long one moves on", vec![limited(60)], 0, false),
        ("two failures pass", vec![server(), server()], 2, true),
        ("three do not", vec![server(), server(), server()], 2, false),
        ("a wrong key never passes", vec![ModelErrorKind::Unauthorised], 0, false),
        (
            "a time-out never passes",
            vec![ModelErrorKind::TimedOut { limit: Duration::ZERO }],
            0,
            false,
        ),
    ];
    for (why, errors, waits, succeeds) in table {
        let script = errors.into_iter().map(Err).chain([Ok("good 0.9")]);
        let (model, clock) = (ScriptedModel::new("a", script), TestClock::default());
        let question = Question {
            id: String::new(),
            system: String::new(),
            prompt: String::new(),
            form: None,
            temperature: None,
            max_output_tokens: 1,
            limit: Duration::ZERO,
            left: SpendingLimits::default(),
            checkout: None,
            meter: UsageMeter::default(),
        };
        let minute = Duration::from_mins(1);
        let tries = ask_with_retries(&model, &question, minute, &AlwaysPermitted, &clock);
        let tries = block_on(tries).unwrap();
        assert_eq!(tries.result.is_ok(), succeeds, "{why}");
        assert_eq!(clock.waits.lock().unwrap().len(), waits, "{why}");
    }
}

struct AlwaysPermitted;

#[async_trait]
impl BeforeRetry for AlwaysPermitted {
    async fn permit(&self, question: &Question, _: Spending) -> Result<Option<u32>, StoreError> {
        Ok(Some(question.max_output_tokens))
    }
    async fn under_way(&self, _: Spending, _: Usage) -> Result<(), StoreError> {
        Ok(())
    }
}

#[test]
fn every_error_has_a_trigger_and_lasts_or_not() {
    let reason = || "x".to_owned();
    let hour = Duration::from_hours(1);
    let table = [
        (ModelErrorKind::Unauthorised, FallbackTrigger::Refused, Outage::Lasting),
        (ModelErrorKind::OutOfQuota, FallbackTrigger::Refused, Outage::Lasting),
        (ModelErrorKind::BadRequest { status: 400 }, FallbackTrigger::Refused, Outage::Once),
        (
            ModelErrorKind::Unsupported { parameter: reason() },
            FallbackTrigger::Refused,
            Outage::Once,
        ),
        (ModelErrorKind::Client { reason: reason() }, FallbackTrigger::Refused, Outage::Lasting),
        (
            ModelErrorKind::Replay { difference: reason() },
            FallbackTrigger::Refused,
            Outage::Lasting,
        ),
        (ModelErrorKind::NotFound, FallbackTrigger::Server, Outage::Lasting),
        (ModelErrorKind::Gone, FallbackTrigger::Server, Outage::Lasting),
        (ModelErrorKind::Server { status: 503 }, FallbackTrigger::Server, Outage::Once),
        (ModelErrorKind::TooLong, FallbackTrigger::Refused, Outage::None),
        (ModelErrorKind::Refused { reason: reason() }, FallbackTrigger::Refused, Outage::None),
        (
            ModelErrorKind::RateLimited { retry_after: None },
            FallbackTrigger::RateLimited,
            Outage::Once,
        ),
        (
            ModelErrorKind::RateLimited { retry_after: Some(hour) },
            FallbackTrigger::RateLimited,
            Outage::For(hour),
        ),
        (
            ModelErrorKind::TimedOut { limit: Duration::ZERO },
            FallbackTrigger::TimedOut,
            Outage::Lasting,
        ),
        (ModelErrorKind::Connection, FallbackTrigger::Connection, Outage::Once),
        (ModelErrorKind::Truncated, FallbackTrigger::Truncated, Outage::None),
        (ModelErrorKind::OverBudget, FallbackTrigger::Refused, Outage::None),
        (ModelErrorKind::Empty, FallbackTrigger::Unparseable, Outage::Once),
        (ModelErrorKind::Garbage, FallbackTrigger::Unparseable, Outage::Once),
    ];
    for (kind, trigger, outage) in table {
        assert_eq!(trigger_of(&kind), (trigger, outage), "{kind:?}");
    }
}
