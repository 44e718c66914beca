//! Records and replays exchanges with models, one file each and without keys. A replay needs no
//! model and fails at the first question that differs from the recording.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::adapter::host::files;
use crate::domain::budget::{Price, Usage};
use crate::domain::id::sha256_hex;
use crate::domain::provider::ClientMode;
use crate::domain::secret::Redactor;
use crate::effect::{Answer, Finish, Model, ModelError, ModelErrorKind, ModelFacts, Question};

use super::agent_changes::{self, ChangedFile, Snapshot};

/// The prefix of a prompt that is stored as its digest.
const DIGEST: &str = "sha256:";

/// Bytes of one recorded exchange that are read at most.
const LIMIT: u64 = 32 << 20;

/// A position in a folder of recorded exchanges, shared by all providers of a run.
#[derive(Clone, Debug)]
pub struct Cassette {
    folder: PathBuf,
    next: Arc<Mutex<u32>>,
}

impl Cassette {
    /// A cassette that starts at the first exchange.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), next: Arc::default() }
    }

    /// Advances to the next exchange and returns its path.
    fn advance(&self) -> PathBuf {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next += 1;
        self.folder.join(format!("{:04}.json", *next))
    }
}

#[derive(Serialize, Deserialize)]
struct Exchange {
    provider: String,
    model: String,
    mode: ClientMode,
    context: u32,
    id: String,
    system: String,
    /// The prompt, or [`DIGEST`] and its SHA-256 when the recording must not contain source code.
    prompt: String,
    #[serde(default)]
    price: Option<Price>,
    outcome: RecordedOutcome,
}

/// The result of an exchange as a file stores it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordedOutcome {
    Answer {
        text: String,
        cut: bool,
        usage: Usage,
        model: String,
        /// What an agent did to its checkout.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<ChangedFile>,
    },
    Error {
        kind: ModelErrorKind,
        message: String,
        /// The tokens that the provider reports nevertheless.
        #[serde(default)]
        usage: Usage,
    },
}

/// A model that records every exchange.
pub struct Recording {
    inner: Box<dyn Model>,
    cassette: Cassette,
    redactor: Redactor,
}

impl Recording {
    /// Wraps `inner` and records its exchanges.
    #[must_use]
    pub fn new(inner: Box<dyn Model>, cassette: Cassette, redactor: Redactor) -> Self {
        Self { inner, cassette, redactor }
    }
}

#[async_trait]
impl Model for Recording {
    fn facts(&self) -> &ModelFacts {
        self.inner.facts()
    }

    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        let checkout = question.checkout.as_deref().filter(|_| self.mode() == ClientMode::Agent);
        let before = checkout.map(Snapshot::of);
        let result = self.inner.ask(question).await;
        let changes = checkout.zip(before).map(|(folder, before)| {
            before.and_then(|before| before.changes(folder, &self.redactor))
        });
        let files = changes.unwrap_or_else(|| Ok(Vec::new())).unwrap_or_else(|error| {
            tracing::warn!(%error, "the change of an agent could not be recorded");
            Vec::new()
        });
        let clean = |text: &str| String::from(self.redactor.redact(text));
        let outcome = match &result {
            Ok(answer) => RecordedOutcome::Answer {
                text: clean(&answer.text),
                cut: answer.finish == Finish::Cut,
                usage: answer.usage,
                model: answer.model.clone(),
                files,
            },
            Err(error) => {
                let (kind, message) = (error.kind.clone(), clean(&error.message));
                RecordedOutcome::Error { kind, message, usage: *error.usage }
            }
        };
        let exchange = Exchange {
            provider: self.name().to_owned(),
            model: self.model().to_owned(),
            mode: self.mode(),
            context: self.context_tokens(),
            id: question.id.clone(),
            system: clean(&question.system),
            prompt: clean(&question.prompt),
            price: self.facts().price.clone(),
            outcome,
        };
        let mut text = serde_json::to_string_pretty(&exchange).unwrap_or_default();
        text.push('\n');
        let path = self.cassette.advance();
        if let Err(error) = files::write(&path, text.as_bytes()) {
            tracing::warn!(path = %path.display(), %error, "an exchange could not be recorded");
        }
        result
    }
}

/// A model that replays a recording.
pub struct Replaying {
    facts: ModelFacts,
    cassette: Cassette,
}

impl Replaying {
    /// Opens the provider `name` of a recording.
    pub fn open(name: &str, cassette: &Cassette) -> Result<Self, String> {
        let mut number = 1;
        let mut found = None;
        while found.is_none() {
            let path = cassette.folder.join(format!("{number:04}.json"));
            let Some(exchange) = read(&path)? else { break };
            found = (exchange.provider == name).then_some(exchange);
            number += 1;
        }
        let unknown = ModelFacts { context: 128_000, ..ModelFacts::default() };
        let facts = found.map_or(unknown, |one| ModelFacts {
            model: one.model,
            mode: one.mode,
            context: one.context,
            price: one.price,
            ..ModelFacts::default()
        });
        let facts = ModelFacts { name: name.to_owned(), ..facts };
        Ok(Self { facts, cassette: cassette.clone() })
    }

    fn differs(&self, difference: String) -> ModelError {
        ModelError::new(&self.facts.name, ModelErrorKind::Replay { difference }, String::new())
    }
}

fn read(path: &Path) -> Result<Option<Exchange>, String> {
    let bytes = files::read(path, LIMIT).map_err(|error| format!("{}: {error}", path.display()))?;
    let Some(bytes) = bytes else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| format!("{}: expected an exchange ({error})", path.display()))
}

/// The prompt of a question as the recording stores it: as text or as a digest.
fn in_form_of(recorded: &str, question: &Question) -> String {
    if !recorded.starts_with(DIGEST) {
        return question.prompt.clone();
    }
    format!("{DIGEST}{}", sha256_hex(question.prompt.as_bytes()))
}

/// The first line in which two texts differ.
fn first_difference(recorded: &str, now: &str) -> String {
    let mut lines = recorded.lines().zip(now.lines()).zip(1..);
    let short = |line: &str| line.chars().take(120).collect::<String>();
    match lines.find(|((a, b), _)| a != b) {
        Some(((a, b), number)) => {
            format!("line {number} was `{}`, is `{}`", short(a), short(b))
        }
        None => {
            format!("{} lines were asked, {} are", recorded.lines().count(), now.lines().count())
        }
    }
}

#[async_trait]
impl Model for Replaying {
    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        let path = self.cassette.advance();
        let exchange = read(&path).map_err(|error| self.differs(error))?.ok_or_else(|| {
            self.differs(format!("`{}` is asked, the recording has ended", question.id))
        })?;
        for (what, recorded, now) in [
            ("the provider", exchange.provider.as_str(), self.name()),
            ("the question", exchange.id.as_str(), question.id.as_str()),
            ("the system prompt", exchange.system.as_str(), question.system.as_str()),
            (
                "the prompt",
                exchange.prompt.as_str(),
                in_form_of(&exchange.prompt, question).as_str(),
            ),
        ] {
            if recorded != now {
                let difference = first_difference(recorded, now);
                return Err(self.differs(format!("{}: {what}: {difference}", path.display())));
            }
        }
        match exchange.outcome {
            RecordedOutcome::Answer { text, cut, usage, model, files } => {
                if let Some(checkout) = &question.checkout {
                    agent_changes::repeat(&files, checkout)
                        .map_err(|error| self.differs(format!("{}: {error}", path.display())))?;
                }
                Ok(Answer {
                    raw: text.clone(),
                    text,
                    finish: if cut { Finish::Cut } else { Finish::Done },
                    usage,
                    model,
                })
            }
            RecordedOutcome::Error { kind, message, usage } => Err(ModelError {
                usage: Box::new(usage),
                ..ModelError::new(&self.facts.name, kind, message)
            }),
        }
    }
}
