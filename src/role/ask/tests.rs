//! Tests of the [`Asker`] with models that give scripted answers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures::executor::block_on;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use serde_json::Value;

use crate::domain::budget::{Price, Spending, SpendingLimits, Tier, Usage};
use crate::domain::chain::{FallbackTrigger, Outage, ProviderCall, Rules};
use crate::domain::event::Event;
use crate::domain::id::SessionId;
use crate::domain::provider::ClientMode;
use crate::domain::secret::Redactor;
use crate::domain::test_plan::usage_log::{USAGE_LOG, UsageLog};
use crate::effect::{
    Answer, Clock, EffectError, Finish, Model, ModelError, ModelErrorKind, ModelFacts, Question,
    Screen, Store, StoreError, TestClock,
};
use crate::role::prompt::{Prompt, Role};

use super::chain::AskEffects;
use super::conversation::Narrowed;
use super::exchange_log::{self, EarlierRun};
use super::provider_chain::opened_usage_log;
use super::retry::{ask_with_retries, trigger_of};
use super::usage_key::sum;
use super::{Ask, AskSettings, Asker, Reader, Reading, Reply, Slot, UsageKey};

/// A model that gives scripted answers, and fails when there are none left.
pub struct ScriptedModel {
    facts: ModelFacts,
    script: Mutex<Vec<Result<&'static str, ModelErrorKind>>>,
    asked: Mutex<Vec<String>>,
    /// The output limit of every question.
    lengths: Mutex<Vec<u32>>,
    /// Whether failed answers report tokens.
    paid: bool,
}

impl ScriptedModel {
    pub fn new(
        name: &'static str,
        script: impl IntoIterator<Item = Result<&'static str, ModelErrorKind>>,
    ) -> Self {
        let mut script: Vec<_> = script.into_iter().collect();
        script.reverse();
        let (name, model) = (name.to_owned(), "m".to_owned());
        let facts = ModelFacts { name, model, context: 10_000, ..ModelFacts::default() };
        let (asked, lengths) = Default::default();
        Self { facts, script: Mutex::new(script), asked, lengths, paid: false }
    }

    /// The same as an agent, which edits a checkout.
    pub fn into_agent(mut self) -> Self {
        self.facts.mode = ClientMode::Agent;
        self
    }

    /// How many questions the model was asked.
    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn facts(&self) -> &ModelFacts {
        &self.facts
    }
    fn price(&self, usage: Usage) -> Option<u64> {
        let price = self.facts.price.as_ref();
        Some(price.map_or_else(|| usage.tokens(), |price| price.of(usage)))
    }
    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        self.asked.lock().unwrap().push(question.prompt.clone());
        self.lengths.lock().unwrap().push(question.max_output_tokens);
        let next = self.script.lock().unwrap().pop();
        match next.unwrap_or(Err(ModelErrorKind::NotFound)) {
            Ok(text) => Ok(Answer {
                text: text.to_owned(),
                finish: if text == "cut" { Finish::Cut } else { Finish::Done },
                usage: Usage::new(10, 5),
                model: String::new(),
                raw: String::new(),
            }),
            Err(kind) => {
                let error = ModelError::new(&self.facts.name, kind, String::new());
                let output_tokens = if self.paid { 9 } else { 0 };
                Err(ModelError { usage: Usage::new(0, output_tokens), ..error })
            }
        }
    }
}

/// The assessment of an answer by a reader, as a word.
pub fn worth<T: Send + Sync>(reader: &dyn Reader<T>, text: &str) -> &'static str {
    let model = ScriptedModel::new("a", []);
    let answer = Answer {
        text: text.to_owned(),
        finish: Finish::Done,
        usage: Usage::default(),
        model: String::new(),
        raw: String::new(),
    };
    match block_on(reader.read(&model, &answer)).unwrap() {
        Reading::Good(..) => "good",
        Reading::Weak(..) => "weak",
        Reading::Useless(..) => "useless",
        Reading::SendBack(_) => "sent back",
    }
}

#[derive(Default)]
struct MemoryStore {
    values: Mutex<BTreeMap<String, Value>>,
    texts: Mutex<BTreeMap<String, String>>,
}

impl MemoryStore {
    fn copy(&self) -> Self {
        let (values, texts) = (&self.values.lock().unwrap(), &self.texts.lock().unwrap());
        Self { values: Mutex::new((*values).clone()), texts: Mutex::new((*texts).clone()) }
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn folder(&self) -> &Path {
        Path::new("")
    }
    async fn read_json(&self, file: &str) -> Result<Option<Value>, StoreError> {
        Ok(self.values.lock().unwrap().get(file).cloned())
    }
    async fn write_json(&self, file: &str, value: &Value) -> Result<(), StoreError> {
        self.values.lock().unwrap().insert(file.to_owned(), value.clone());
        Ok(())
    }
    async fn write_text(&self, file: &str, text: &str) -> Result<(), StoreError> {
        self.texts.lock().unwrap().insert(file.to_owned(), text.to_owned());
        Ok(())
    }
    async fn rename(&self, _: &str, _: &str) -> Result<(), StoreError> {
        Ok(())
    }
    async fn append(&self, _: &str, _: u64, _: &[String]) -> Result<(), StoreError> {
        Ok(())
    }
    async fn committed_files(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        Ok(Vec::new())
    }
}

#[derive(Default)]
struct Notices(Mutex<Vec<String>>);

impl Screen for Notices {
    fn show(&self, event: &Event) {
        if let Event::Notice { text } = event {
            self.0.lock().unwrap().push(text.clone());
        }
    }
}

/// Assesses answers of the form `good 0.9`, `edited`, `weak 0.3`, `vague`, `back` and `no`.
struct WordReader;

#[async_trait]
impl Reader<String> for WordReader {
    fn form(&self) -> Option<(&'static str, Value)> {
        None
    }
    fn prompt(&self, _: &dyn Model) -> Prompt {
        Prompt { system: "system".into(), text: "question".into() }
    }
    async fn read(&self, _: &dyn Model, answer: &Answer) -> Result<Reading<String>, EffectError> {
        let (word, number) = answer.text.split_once(' ').unwrap_or((&answer.text, ""));
        let confidence = number.parse().unwrap_or_default();
        Ok(match word {
            "good" => Reading::Good(answer.text.clone(), Some(confidence)),
            "edited" => Reading::Good(answer.text.clone(), None),
            "weak" => {
                let why = "it is weak".to_owned();
                Reading::Weak(answer.text.clone(), confidence, FallbackTrigger::LowConfidence, why)
            }
            "back" => Reading::SendBack(vec!["the problem".to_owned()]),
            "vague" => Reading::Useless(FallbackTrigger::General, "it is vague".to_owned()),
            _ => Reading::Useless(FallbackTrigger::Unparseable, "it is useless".to_owned()),
        })
    }
}

pub fn settings() -> AskSettings {
    AskSettings {
        rules: Rules::default(),
        session: SpendingLimits::default(),
        iteration: SpendingLimits::default(),
        fence: "FENCE".into(),
        redactor: Redactor::default(),
        limit: Duration::from_secs(1),
        outages: std::sync::Arc::default(),
    }
}

pub fn usage() -> UsageKey {
    UsageKey {
        id: "WFS-test-x/1".into(),
        work: "task".into(),
        iteration: 0,
        raw: ".process/x".into(),
        session: Spending::default(),
        here: Spending::default(),
        counted: Vec::new(),
        before: 0,
    }
}

/// An asker with its fake effects.
struct World {
    asker: Asker,
    store: MemoryStore,
    clock: TestClock,
    notices: Notices,
}

impl World {
    fn new(settings: AskSettings) -> Self {
        let (store, clock, notices) = Default::default();
        Self { asker: Asker::new(settings), store, clock, notices }
    }

    fn ask(&self, models: &[&ScriptedModel], careful: bool) -> (Reply<String>, Vec<ProviderCall>) {
        self.ask_for(&usage(), models, careful)
    }

    fn ask_for(
        &self,
        usage: &UsageKey,
        models: &[&ScriptedModel],
        careful: bool,
    ) -> (Reply<String>, Vec<ProviderCall>) {
        let slots: Vec<Slot<'_>> =
            (1..).zip(models).map(|(slot, model)| (slot, *model as &dyn Model)).collect();
        let ask = Ask { usage, role: Role::Judge, models: &slots, careful };
        let mut calls = Vec::new();
        let fx = AskEffects { store: &self.store, clock: &self.clock, screen: &self.notices };
        let reply = block_on(self.asker.ask(&ask, &WordReader, &mut calls, fx)).unwrap();
        (reply, calls)
    }
}

/// The reply as a word, with its provider and the providers that were asked.
fn summary(reply: &Reply<String>, calls: &[ProviderCall]) -> String {
    let providers: Vec<&str> = calls.iter().map(|call| call.provider.as_str()).collect();
    let result = match reply {
        Reply::Good(answer) => format!("good by {}", answer.provider),
        Reply::Degraded(answer) => format!("degraded by {}", answer.provider),
        Reply::NoAnswer => "none".to_owned(),
        Reply::OutOfBudget(_) => "out of budget".to_owned(),
    };
    format!("{result}; asked {}", providers.join(" "))
}

#[test]
fn the_chain_ends_at_the_first_good_answer() {
    let table = [
        ("the first is good", vec![Ok("good 0.9")], vec![], "good by a; asked a"),
        ("the first is vague", vec![Ok("vague")], vec![Ok("good 0.5")], "good by b; asked a b"),
        (
            "an unreadable answer is sent back once",
            vec![Ok("no"), Ok("good 0.5")],
            vec![],
            "good by a; asked a a",
        ),
        (
            "and not twice",
            vec![Ok("no"), Ok("no"), Ok("good 0.5")],
            vec![Ok("good 0.5")],
            "good by b; asked a a b",
        ),
        (
            "a question that is too long is asked again, shorter",
            vec![Err(ModelErrorKind::TooLong), Ok("good 0.5")],
            vec![],
            "good by a; asked a a",
        ),
        (
            "and not twice",
            vec![Err(ModelErrorKind::TooLong), Err(ModelErrorKind::TooLong), Ok("good 0.5")],
            vec![Ok("good 0.5")],
            "good by b; asked a a b",
        ),
        ("weak loses to good", vec![Ok("weak 0.9")], vec![Ok("good 0.5")], "good by b; asked a b"),
        ("only weak", vec![Ok("weak 0.3")], vec![Ok("weak 0.2")], "degraded by a; asked a b"),
        ("weak and vague", vec![Ok("vague")], vec![Ok("weak 0.1")], "degraded by b; asked a b"),
        ("nothing", vec![Ok("vague")], vec![Ok("vague")], "none; asked a b"),
        (
            "an error moves on",
            vec![Err(ModelErrorKind::Unauthorised)],
            vec![Ok("good 0.5")],
            "good by b; asked a b",
        ),
        (
            "sent back twice, then good",
            vec![Ok("back"), Ok("back"), Ok("good 0.8")],
            vec![],
            "good by a; asked a a a",
        ),
        (
            "sent back three times",
            vec![Ok("back"), Ok("back"), Ok("back"), Ok("good 0.8")],
            vec![Ok("good 0.5")],
            "good by b; asked a a a b",
        ),
    ];
    for (why, first, second, expected) in table {
        let world = World::new(settings());
        let (a, b) = (ScriptedModel::new("a", first), ScriptedModel::new("b", second));
        let (reply, calls) = world.ask(&[&a, &b], false);
        assert_eq!(summary(&reply, &calls), expected, "{why}");
    }
}

#[test]
fn a_careful_question_goes_on_and_takes_the_highest_confidence() {
    let table = [
        ("sure enough", "good 0.7", "good 0.9", "good by a; asked a"),
        ("the second is surer", "good 0.6", "good 0.65", "good by b; asked a b"),
        ("the first stays surer", "good 0.6", "good 0.5", "good by a; asked a b"),
        ("a weak one never wins", "good 0.1", "weak 0.9", "good by a; asked a b"),
        ("an agent is not unsure", "edited", "good 0.9", "good by a; asked a"),
        ("nor behind one that is", "good 0.6", "edited", "good by b; asked a b"),
    ];
    for (why, first, second, expected) in table {
        let world = World::new(settings());
        let (a, b) = (ScriptedModel::new("a", [Ok(first)]), ScriptedModel::new("b", [Ok(second)]));
        let (reply, calls) = world.ask(&[&a, &b], true);
        assert_eq!(summary(&reply, &calls), expected, "{why}");
        assert_eq!(calls.iter().filter(|call| call.used).count(), 1, "{why}");
    }
}

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
fn a_problem_is_sent_back_with_the_question() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Ok("back"), Ok("good 0.9")]);
    let (_, calls) = world.ask(&[&a], false);
    let asked = a.asked.lock().unwrap();
    assert_eq!(asked[0], "question");
    assert!(asked[1].starts_with("question") && asked[1].contains("the problem"), "{}", asked[1]);
    assert!(asked[1].contains("\nback\n"), "its own answer: {}", asked[1]);
    assert_eq!(calls[0].trigger, Some(FallbackTrigger::Vetoed));
}

#[test]
fn the_problems_of_all_answers_are_sent_back() {
    let world = World::new(settings());
    let a = ScriptedModel::new("a", [Ok("no"), Ok("back"), Ok("good 0.9")]);
    let (reply, calls) = world.ask(&[&a], false);
    assert_eq!(summary(&reply, &calls), "good by a; asked a a a");
    let asked = a.asked.lock().unwrap();
    for words in ["\nno\n", "it is useless", "\nback\n", "the problem"] {
        assert!(asked[2].contains(words), "{words}: {}", asked[2]);
    }
    assert_eq!(asked[2].matches("which was refused").count(), 2);
}

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
fn a_prompt_that_is_too_long_is_rebuilt_at_half_the_size() {
    let question = |bytes: usize| Question {
        id: String::new(),
        system: String::new(),
        prompt: "x".repeat(bytes),
        form: None,
        temperature: None,
        max_output_tokens: 1,
        limit: Duration::ZERO,
        checkout: None,
    };
    let model = ScriptedModel::new("a", []);
    for bytes in [0, 2, 300, 3_000, 90_000] {
        let room = crate::role::prompt::room(
            &Narrowed::after(&question(bytes), &model),
            Role::Analyst,
            None,
        );
        let tokens = u32::try_from(bytes / crate::role::prompt::BYTES_PER_TOKEN).unwrap();
        assert!(room <= tokens / 2, "{bytes}: {room}");
        assert!(tokens / 2 > 7_500 || room >= tokens / 4, "{bytes}: {room}");
    }
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
            checkout: None,
        };
        let minute = Duration::from_mins(1);
        let permit = |question: &Question, _| Some(question.max_output_tokens);
        let tries = block_on(ask_with_retries(&model, &question, minute, &permit, &clock));
        assert_eq!(tries.result.is_ok(), succeeds, "{why}");
        assert_eq!(clock.waits.lock().unwrap().len(), waits, "{why}");
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
        (ModelErrorKind::Empty, FallbackTrigger::Unparseable, Outage::Once),
        (ModelErrorKind::Garbage, FallbackTrigger::Unparseable, Outage::Once),
    ];
    for (kind, trigger, outage) in table {
        assert_eq!(trigger_of(&kind), (trigger, outage), "{kind:?}");
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

proptest! {
    #[test]
    fn a_good_answer_wins_over_any_weak_one(weak in 0.0f64..=1.0, good in 0.0f64..=1.0) {
        let confidence = |value: f64| Reading::by_confidence((), value, 0.4);
        prop_assert_eq!(matches!(confidence(weak), Reading::Weak(..)), weak < 0.4);
        prop_assert_eq!(matches!(confidence(good), Reading::Good(..)), good >= 0.4);
    }

    #[test]
    fn at_most_three_turns_are_asked_of_one_provider(backs in 0usize..6) {
        let world = World::new(settings());
        let script = std::iter::repeat_n(Ok("back"), backs).chain([Ok("good 0.9")]);
        let a = ScriptedModel::new("a", script);
        let (reply, calls) = world.ask(&[&a], false);
        prop_assert!(calls.len() <= 3);
        prop_assert_eq!(matches!(reply, Reply::Good(_)), backs < 3);
    }
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
        ["`a` is skipped for another 3600 s: rate limited, to be asked again in 3600s"]
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
fn a_repeated_question_fits_into_a_small_window() {
    for context in [6_000, 10_000, 40_000] {
        let world = World::new(settings());
        let long: &'static str = Box::leak(format!("back {}", "x".repeat(90_000)).into_boxed_str());
        let mut a = ScriptedModel::new("a", [Ok(long), Ok(long), Ok("good 0.9")]);
        a.facts.context = context;
        world.ask(&[&a], false);
        let asked = a.asked.lock().unwrap();
        let quarter = usize::try_from(context / 4).unwrap() * crate::role::prompt::BYTES_PER_TOKEN;
        assert_eq!(asked.len(), 3);
        for text in asked.iter() {
            assert!(text.len() <= "question".len() + quarter, "{context}: {}", text.len());
        }
        assert!(asked[2].contains("the problem"));
    }
}

#[test]
fn each_request_of_a_question_has_the_price_of_its_own_length() {
    let tier = Tier { tokens: 12, input: 100.0, output: 100.0, cached: None };
    let mut a = ScriptedModel::new("a", [Ok("cut"), Ok("good 0.9")]);
    a.facts.price = Some(Price { input: 1.0, output: 1.0, above: vec![tier], ..Price::default() });
    let (_, calls) = World::new(settings()).ask(&[&a], false);
    assert_eq!((calls[0].usage.input_tokens, calls[0].micro_usd), (20, Some(30)));
}
