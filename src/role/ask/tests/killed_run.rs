//! Tests of what a run finds of one that was killed.

use std::sync::Mutex;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use futures::executor::block_on;
use futures::future::poll_fn;
use serde_json::Value;

use crate::domain::budget::{Price, Usage};
use crate::domain::chain::{FallbackTrigger, ProviderCall, spent_by};
use crate::domain::id::SessionId;
use crate::domain::secret::Redactor;
use crate::domain::test_plan::usage_log::{USAGE_LOG, UsageLog};
use crate::effect::{
    Answer, Clock, Model, ModelError, ModelErrorKind, ModelFacts, Question, Store, TestClock,
};

use super::{MemoryStore, Notices, ScriptedModel, WordReader, World, settings, usage};
use crate::role::ask::chain::AskEffects;
use crate::role::ask::exchange_log;
use crate::role::ask::provider_chain::opened_usage_log;
use crate::role::ask::retry::sent;
use crate::role::ask::{Ask, AskSettings, Asker, Reply, Slot, UsageKey};
use crate::role::prompt::Role;

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
    let third = World { asker: Asker::new(settings()), ..next };
    let usage = UsageKey { session: spent_by(&calls), ..usage() };
    let (reply, calls) = third.ask_for(&usage, &[&a], false);
    assert!(matches!(reply, Reply::Good(_)));
    assert!(calls.is_empty(), "a counted call is not counted again");
}

#[test]
fn a_question_without_an_answer_is_found_once_and_counted_as_interrupted() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Ok("good 0.9")]);
    world.ask(&[&a], false);
    let found = |store: &MemoryStore, counted| {
        let found = block_on(exchange_log::find_uncounted(counted, store)).unwrap();
        found.map(|found| (found.work, found.calls[0].trigger))
    };
    let task = |trigger| Some(("task".to_owned(), trigger));
    assert_eq!(found(&world.store, 0), task(None), "it was answered");
    let is_pending = |file: &String| file == exchange_log::PENDING_QUESTION_FILE;
    world.store.values.lock().unwrap().retain(|file, _| is_pending(file));
    assert_eq!(found(&world.store, 0), task(Some(FallbackTrigger::Interrupted)));
    assert_eq!(found(&world.store, 1), None, "the session counted it");
    let fx = AskEffects { store: &world.store, clock: &world.clock, screen: &world.notices };
    for (of_loop, times) in [(true, [false, false]), (false, [true, false])] {
        let asker = Asker::new(settings());
        for expected in times {
            let found = block_on(asker.uncounted(of_loop, 0, fx)).unwrap();
            assert_eq!(found.is_some(), expected, "it belongs to a task, and is looked for once");
        }
    }
}

#[test]
fn an_answer_of_another_question_is_not_used() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Ok("good 0.9")]);
    let (_, calls) = world.ask(&[&a], false);
    let found = |digest: &str| {
        block_on(exchange_log::find_answer(&calls[0].raw, digest, &world.store)).unwrap()
    };
    assert_eq!(found("another digest"), None);
}

/// A client of several requests, and what a run that is killed after each of them leaves behind.
struct Client<'a> {
    facts: ModelFacts,
    store: &'a MemoryStore,
    left: Mutex<Vec<Vec<ProviderCall>>>,
}

#[async_trait]
impl Model for Client<'_> {
    fn facts(&self) -> &ModelFacts {
        &self.facts
    }
    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        for requests in [1, 2, 2, 3] {
            question.meter.report(Usage::new(10 * requests, requests));
            let mut has_waited = false;
            poll_fn(|context| {
                context.waker().wake_by_ref();
                let waited = std::mem::replace(&mut has_waited, true);
                if waited { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            let found = exchange_log::find_uncounted(0, self.store).await.unwrap();
            self.left.lock().unwrap().push(found.unwrap().calls);
        }
        let kind = ModelErrorKind::TimedOut { limit: Duration::from_secs(1) };
        Err(ModelError {
            usage: Box::new(Usage::new(30, 3)),
            ..ModelError::new("a", kind, String::new())
        })
    }
}

#[test]
fn what_a_client_has_used_is_stored_while_it_works() {
    let world = World::new(settings());
    let price = Some(Price { input: 1.0, output: 10.0, ..Price::default() });
    let facts = ModelFacts { name: "a".into(), price, context: 9_000, ..ModelFacts::default() };
    let client = Client { facts, store: &world.store, left: Mutex::default() };
    let (_, calls) = world.ask_slots(&usage(), &[(1, &client)], false);
    let cost = |call: &ProviderCall| (call.requests, call.usage.tokens(), call.micro_usd);
    let left = client.left.into_inner().unwrap();
    let left: Vec<_> =
        left.iter().map(|calls| calls.iter().map(cost).collect::<Vec<_>>()).collect();
    let used = |requests: u64| vec![(1, 11 * requests, Some(20 * requests))];
    assert_eq!(left, [used(1), used(2), used(2), used(3)]);
    assert_eq!(calls.iter().map(cost).collect::<Vec<_>>(), used(3), "nothing counts twice");
}

/// A clock that notes, at each wait, how many requests a run killed then leaves behind.
struct WaitingClock<'a> {
    clock: &'a TestClock,
    store: &'a MemoryStore,
    left: Mutex<Vec<u32>>,
}

#[async_trait]
impl Clock for WaitingClock<'_> {
    fn now(&self) -> String {
        self.clock.now()
    }
    fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }
    fn stop_requested(&self) -> bool {
        false
    }
    async fn wait(&self, duration: Duration) {
        let found = exchange_log::find_uncounted(0, self.store).await.unwrap().unwrap();
        self.left.lock().unwrap().push(found.calls[0].requests);
        self.clock.wait(duration).await;
    }
}

#[test]
fn a_request_counts_once_it_is_sent_and_not_while_it_waits() {
    let World { asker, store, clock, notices } = World::new(settings());
    let left = Mutex::default();
    let clock = WaitingClock { clock: &clock, store: &store, left };
    let failed = || Err(ModelErrorKind::Server { status: 503 });
    let a = ScriptedModel::new("a", [failed(), failed(), Ok("good 0.9")]);
    let fx = AskEffects { store: &store, clock: &clock, screen: &notices };
    let (usage, models) = (usage(), [(1, &a as &dyn Model)]);
    let ask = Ask { usage: &usage, role: Role::Judge, models: &models, careful: false };
    let mut calls = Vec::new();
    block_on(asker.ask(&ask, &WordReader, &mut calls, fx)).unwrap();
    assert_eq!((calls[0].requests, clock.left.into_inner().unwrap()), (3, vec![1, 2]));
}

/// What a run that is killed during a request leaves behind.
struct Killed {
    store: MemoryStore,
    /// The tokens that the request cost.
    tokens: u64,
    /// Those that it counts with as long as it is not answered.
    sent: u64,
}

/// Keeps what is left of a run at every request to a model.
struct Watched<'a> {
    model: ScriptedModel,
    store: &'a MemoryStore,
    requests: &'a Mutex<Vec<Killed>>,
}

#[async_trait]
impl Model for Watched<'_> {
    fn facts(&self) -> &ModelFacts {
        self.model.facts()
    }
    fn price(&self, usage: Usage) -> Option<u64> {
        self.model.price(usage)
    }
    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        let store = self.store.copy();
        let asked = self.model.ask(question).await;
        let usage = asked.as_ref().map_or_else(|error| *error.usage, |answer| answer.usage);
        let (tokens, sent) = (usage.tokens(), sent(question).tokens());
        self.requests.lock().unwrap().push(Killed { store, tokens, sent });
        asked
    }
}

/// Asks models whose answers are cut, sent back, weak and unsure, and whose failures cost. Returns the
/// calls of the step and what was left at each request.
fn ask_several(world: &World) -> (Vec<ProviderCall>, Vec<Killed>) {
    let refused = Err(ModelErrorKind::Refused { reason: "no".into() });
    let scripts = [
        ("a", vec![Ok("cut"), Ok("back"), Ok("back"), Ok("weak 0.3")]),
        ("b", vec![refused]),
        ("c", vec![Ok("cut"), Ok("good 0.6")]),
        ("d", vec![Ok("good 0.9")]),
    ];
    let requests = Mutex::default();
    let models = scripts.map(|(name, script)| {
        let model = ScriptedModel { paid: true, ..ScriptedModel::new(name, script) };
        Watched { model, store: &world.store, requests: &requests }
    });
    let slots: Vec<Slot<'_>> =
        (1..).zip(&models).map(|(slot, model)| (slot, model as &dyn Model)).collect();
    let (_, calls) = world.ask_slots(&usage(), &slots, true);
    (calls, requests.into_inner().unwrap())
}

/// The requests and tokens that some calls count, and how many of them were interrupted.
fn totals(calls: &[ProviderCall]) -> (u64, u64, usize) {
    let spent = spent_by(calls);
    let interrupted =
        calls.iter().filter(|call| call.trigger == Some(FallbackTrigger::Interrupted));
    (spent.calls, spent.usage.tokens(), interrupted.count())
}

#[test]
fn killed_at_any_request_a_step_counts_each_request_once() {
    let (calls, requests) = ask_several(&World::new(settings()));
    assert_eq!((requests.len(), totals(&calls)), (8, (8, 7 * 15 + 9, 0)));
    let (mut before, mut number) = (0, 0);
    for Killed { store, tokens, sent } in requests {
        let resumed = World { store, ..World::new(settings()) };
        let (calls, more) = ask_several(&resumed);
        let asked: u64 = more.iter().map(|request| request.tokens).sum();
        let of_all = number + 1 + more.len() as u64;
        assert_eq!(totals(&calls), (of_all, before + sent + asked, 1), "{number}: {calls:#?}");
        assert_eq!(calls.iter().filter(|call| call.used).count(), 1, "{number}");
        // The second run is killed too, at its first request.
        let again = more.into_iter().next().unwrap();
        let third = World { store: again.store, ..World::new(settings()) };
        let (calls, more) = ask_several(&third);
        let asked: u64 = more.iter().map(|request| request.tokens).sum();
        let of_all = number + 2 + more.len() as u64;
        let sent = sent + again.sent;
        assert_eq!(totals(&calls), (of_all, before + sent + asked, 2), "{number}: {calls:#?}");
        (before, number) = (before + tokens, number + 1);
    }
}

#[test]
fn what_was_paid_counts_though_the_provider_is_not_asked_again() {
    let (_, requests) = ask_several(&World::new(settings()));
    let (mut before, mut number) = (0, 0);
    for Killed { store, tokens, sent } in requests {
        let resumed = World { store, ..World::new(settings()) };
        let other = ScriptedModel::new("e", [Ok("good 0.9")]);
        let (reply, calls) = resumed.ask_slots(&usage(), &[(9, &other)], true);
        assert!(matches!(reply, Reply::Good(_)));
        assert_eq!(totals(&calls), (number + 2, before + sent + 15, 1), "{number}: {calls:#?}");
        (before, number) = (before + tokens, number + 1);
    }
}

#[test]
fn a_failure_that_was_paid_for_is_counted_once_however_often_the_run_is_killed() {
    let refused = || Err(ModelErrorKind::Refused { reason: "no".into() });
    let paid = |script: Vec<Result<&'static str, ModelErrorKind>>| ScriptedModel {
        paid: true,
        ..ScriptedModel::new("a", script)
    };
    let cost = |calls: &[ProviderCall]| spent_by(calls).micro_usd;
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
    let world = World { asker: Asker::new(settings()), ..world };
    let usage = UsageKey { session: spent_by(&again), ..usage() };
    let (reply, rest) = world.ask_for(&usage, &[&silent], false);
    assert!(matches!(reply, Reply::Good(_)) && rest.is_empty(), "all of it was counted");
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
