//! Tests of what a run finds of one that was killed.

use futures::executor::block_on;
use serde_json::Value;

use crate::domain::chain::{FallbackTrigger, ProviderCall};
use crate::domain::id::SessionId;
use crate::domain::secret::Redactor;
use crate::domain::test_plan::usage_log::{USAGE_LOG, UsageLog};
use crate::effect::{ModelErrorKind, Store, TestClock};

use super::{MemoryStore, Notices, ScriptedModel, World, settings, usage};
use crate::role::ask::chain::AskEffects;
use crate::role::ask::exchange_log::{self, EarlierRun};
use crate::role::ask::provider_chain::opened_usage_log;
use crate::role::ask::usage_key::sum;
use crate::role::ask::{AskSettings, Asker, Reply, UsageKey};

#[test]
fn a_stored_answer_is_used_by_the_next_run_and_asked_again_within_one() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Ok("good 0.9"), Ok("good 0.8"), Ok("good 0.7")]);
    world.ask(&[&a], false);
    world.ask(&[&a], false);
    assert_eq!(a.count(), 2, "a question that one run asks twice is meant to be asked twice");
    let next = World { asker: Asker::new(settings()), ..world };
    let (reply, calls) = next.ask(&[&a], false);
    assert_eq!(a.count(), 2, "the next run uses what arrived");
    assert!(matches!(reply, Reply::Good(_)));
    assert_eq!(calls.len(), 1);
    let counted = calls;
    let third = World { asker: Asker::new(settings()), ..next };
    let (reply, calls) = third.ask_for(&UsageKey { counted, ..usage() }, &[&a], false);
    assert!(matches!(reply, Reply::Good(_)));
    assert!(calls.is_empty(), "a counted call is not counted again");
}

#[test]
fn a_question_without_an_answer_is_found_once_and_counted_as_interrupted() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Ok("good 0.9")]);
    world.ask(&[&a], false);
    let find = |store: &MemoryStore| block_on(exchange_log::find_unanswered(store)).unwrap();
    assert_eq!(find(&world.store), None, "it was answered");
    world
        .store
        .values
        .lock()
        .unwrap()
        .retain(|file, _| file == exchange_log::PENDING_QUESTION_FILE);
    let open = find(&world.store).unwrap();
    assert_eq!((open.work.as_str(), open.calls.len()), ("task", 1));
    assert_eq!(open.calls[0].trigger, Some(FallbackTrigger::Interrupted));
    let fx = AskEffects { store: &world.store, clock: &world.clock, screen: &world.notices };
    for (of_loop, expected) in [(true, false), (false, false)] {
        let open = block_on(world.asker.unanswered(of_loop, fx)).unwrap();
        assert_eq!(open.is_some(), expected, "it belongs to a task, and is looked for once");
    }
    let asker = Asker::new(settings());
    assert!(block_on(asker.unanswered(false, fx)).unwrap().is_some());
    assert!(block_on(asker.unanswered(false, fx)).unwrap().is_none());
}

#[test]
fn an_answer_of_another_question_is_not_used() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Ok("good 0.9")]);
    let (_, calls) = world.ask(&[&a], false);
    let found = |digest: &str| {
        block_on(exchange_log::find_answer(&calls[0].raw, digest, &world.store)).unwrap()
    };
    assert_eq!(found("another digest"), EarlierRun::default());
}

#[test]
fn a_failure_that_was_paid_for_is_counted_once_however_often_the_run_is_killed() {
    let refused = || Err(ModelErrorKind::Refused { reason: "no".into() });
    let paid = |script: Vec<Result<&'static str, ModelErrorKind>>| ScriptedModel {
        paid: true,
        ..ScriptedModel::new("a", script)
    };
    let cost = |calls: &[ProviderCall]| sum(calls).micro_usd;
    let world = World::new(settings());
    // The calls of a run are lost with it, unless they are passed on as counted.
    let (_, first) = world.ask(&[&paid(vec![refused()])], false);
    assert_eq!((first.len(), cost(&first)), (1, 9));
    let world = World { asker: Asker::new(settings()), ..world };
    let (_, second) = world.ask(&[&paid(vec![refused()])], false);
    assert_eq!((second.len(), cost(&second)), (2, 18), "that of the first run and its own");
    let world = World { asker: Asker::new(settings()), ..world };
    let (reply, third) = world.ask(&[&paid(vec![Ok("good 0.9")])], false);
    assert!(matches!(reply, Reply::Good(_)));
    assert_eq!((third.len(), cost(&third)), (3, 33));
    let world = World { asker: Asker::new(settings()), ..world };
    let silent = ScriptedModel::new("a", []);
    let (reply, again) = world.ask(&[&silent], false);
    assert!(matches!(reply, Reply::Good(_)) && silent.count() == 0);
    assert_eq!(
        again.iter().map(|call| call.micro_usd).collect::<Vec<_>>(),
        [Some(9), Some(9), Some(15)]
    );
    for counted in [&third, &again] {
        let world = World {
            asker: Asker::new(settings()),
            store: world.store.copy(),
            ..World::new(settings())
        };
        let usage = UsageKey { counted: counted.clone(), ..usage() };
        let (reply, rest) = world.ask_for(&usage, &[&silent], false);
        assert!(matches!(reply, Reply::Good(_)) && rest.is_empty(), "all of it was counted");
    }
    let world = World { asker: Asker::new(settings()), ..world };
    let usage = UsageKey { counted: first, ..usage() };
    let (_, rest) = world.ask_for(&usage, &[&silent], false);
    assert_eq!((rest.len(), cost(&rest)), (2, 24), "the first was counted");
}

#[test]
fn an_unreadable_usage_log_is_replaced_with_a_notice() {
    let session = SessionId::parse("WFS-test-x").unwrap();
    let table = [
        (None, 0),
        (Some(serde_json::to_value(UsageLog::new(session.clone())).unwrap()), 0),
        (Some(Value::String("half a log".into())), 1),
    ];
    for (stored, notices) in table {
        let (store, clock, screen) =
            (MemoryStore::default(), TestClock::default(), Notices::default());
        if let Some(value) = &stored {
            block_on(store.write_json(USAGE_LOG, value)).unwrap();
        }
        let fx = AskEffects { store: &store, clock: &clock, screen: &screen };
        let log = block_on(opened_usage_log(&session, fx)).unwrap();
        assert_eq!((log.session_id, log.calls.len()), (session.clone(), 0));
        assert_eq!(screen.0.lock().unwrap().len(), notices, "{stored:?}");
    }
}

#[test]
fn a_key_in_a_question_or_an_answer_reaches_neither_provider_nor_record() {
    let key = crate::domain::secret::SecretKey::new("canary-key-0123456789");
    let world = World::new(AskSettings { redactor: Redactor::new([&key]), ..settings() });
    let a = ScriptedModel::new("a", [Ok("good canary-key-0123456789")]);
    world.ask(&[&a], false);
    let texts = world.store.texts.lock().unwrap().clone();
    let values = world.store.values.lock().unwrap().clone();
    assert!(!texts.is_empty() && !values.is_empty());
    let everything = format!("{texts:?} {values:?}");
    assert!(!everything.contains("canary-key"), "{everything}");
}
