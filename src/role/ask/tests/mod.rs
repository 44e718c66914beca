//! Tests of the [`Asker`] with models that give scripted answers.

mod cost;
mod killed_run;
mod order;
mod outages;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures::executor::block_on;
use serde_json::Value;

use crate::domain::budget::{Spending, SpendingLimits, Usage};
use crate::domain::chain::{FallbackTrigger, ProviderCall, Rules};
use crate::domain::event::Event;
use crate::domain::provider::ClientMode;
use crate::domain::secret::Redactor;
use crate::effect::{
    Answer, EffectError, Finish, Model, ModelError, ModelErrorKind, ModelFacts, Question, Screen,
    Store, StoreError, TestClock,
};
use crate::role::prompt::{Prompt, Role};

use super::chain::AskEffects;
use super::{Ask, AskSettings, Asker, Reader, Reading, Reply, Slot, UsageKey};

/// A model that gives scripted answers, and fails when there are none left.
pub struct ScriptedModel {
    pub facts: ModelFacts,
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
                Err(ModelError { usage: Box::new(Usage::new(0, output_tokens)), ..error })
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
        self.ask_slots(usage, &slots, careful)
    }

    /// Performs a step that asks one question, beginning with what an earlier run did not count.
    fn ask_slots(
        &self,
        usage: &UsageKey,
        models: &[Slot<'_>],
        careful: bool,
    ) -> (Reply<String>, Vec<ProviderCall>) {
        let ask = Ask { usage, role: Role::Judge, models, careful };
        let fx = AskEffects { store: &self.store, clock: &self.clock, screen: &self.notices };
        let uncounted = block_on(self.asker.uncounted(false, usage.session.calls, fx)).unwrap();
        let mut calls = uncounted.map(|found| found.calls).unwrap_or_default();
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
