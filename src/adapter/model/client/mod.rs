//! Command-line clients that people already pay for: each a row of a table. A client runs in a
//! process group and a home of its own, sees its own key and no other variable of ours, and in
//! answer mode works in an empty folder, so that nothing of the repository configures it.

mod read;
mod table;
#[cfg(test)]
pub mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;

use crate::adapter::host::environment;
use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending, Invocation};
use crate::domain::budget::{Price, Usage};
use crate::domain::provider::{ClientMode, ClientProgram};
use crate::domain::secret::{Redactor, SecretKey};
use crate::effect::{ANSWER_LIMIT, Answer, Finish, Model, ModelError, ModelErrorKind, Question};

use table::{Row, Work};

/// One client.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Its name in the configuration.
    pub name: String,
    /// Which client.
    pub program: ClientProgram,
    /// Its program, when it is not on the path under its usual name.
    pub path: Option<String>,
    /// What it does.
    pub manner: ClientMode,
    /// The model; the client decides without one.
    pub model: Option<String>,
    /// The key.
    pub key: Option<SecretKey>,
    /// Where the model is, instead of the client's usual place.
    pub base_url: Option<String>,
    /// Tokens that question and answer may have together.
    pub context: u32,
    /// What it costs.
    pub price: Option<Price>,
    /// Limit of one call, besides the question's own.
    pub timeout: Duration,
    /// Removes keys from what is kept.
    pub redactor: Redactor,
    /// Where its private folders are made.
    pub scratch: PathBuf,
}

/// A client as a source of answers.
pub struct ClientModel {
    settings: ClientSettings,
    row: &'static Row,
}

/// Time that a client may take to say its version.
const VERSION: Duration = Duration::from_secs(20);

/// The version of a client on this machine.
///
/// # Errors
///
/// What is missing or too old, in our own words.
pub fn detect(
    program: ClientProgram,
    path: Option<&str>,
    scratch: &Path,
) -> Result<String, String> {
    let row = table::row(program);
    let name = path.unwrap_or(row.name);
    let home = scratch.join("home-version");
    files::create_folder(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    let invocation = Invocation {
        argv: vec![name.to_owned(), "--version".into()],
        directory: home.clone(),
        environment: environment::of_child(&home),
        access: None,
    };
    let text = process::output(&invocation, VERSION)
        .map_err(|error| format!("`{name} --version`: {error}; install {}", row.package))?;
    let version = version_in(&text).ok_or_else(|| format!("`{name}` names no version"))?;
    if version < row.least {
        let (a, b, c) = row.least;
        return Err(format!("`{name}` is older than {a}.{b}.{c}; update {}", row.package));
    }
    Ok(format!("{}.{}.{}", version.0, version.1, version.2))
}

/// The first `1.2.3` of a text.
fn version_in(text: &str) -> Option<(u32, u32, u32)> {
    text.split_whitespace().find_map(|word| {
        let mut parts = word.trim_start_matches('v').split('.');
        let mut next = || {
            let digits: String = parts.next()?.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        };
        Some((next()?, next()?, next()?))
    })
}

impl ClientModel {
    /// A client. Nothing is started yet.
    #[must_use]
    pub fn new(settings: ClientSettings) -> Self {
        let row = table::row(settings.program);
        Self { settings, row }
    }

    fn error(&self, kind: ModelErrorKind, said: &str) -> ModelError {
        let plain: String =
            said.chars().filter(|c| !c.is_control() || *c == '\n').take(2 << 10).collect();
        ModelError {
            provider: self.settings.name.clone(),
            kind,
            said: self.settings.redactor.redact(&plain),
        }
    }

    fn broken(&self, error: &std::io::Error) -> ModelError {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => format!("`{}` is not installed", self.row.name),
            _ => error.to_string(),
        };
        self.error(ModelErrorKind::Client { reason }, "")
    }

    /// A home, an empty folder, and what the client reads in its home.
    fn private(&self, question: &Question) -> std::io::Result<(PathBuf, PathBuf)> {
        let name: String =
            question.id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let folder = self.settings.scratch.join(format!("{}-{name}", self.row.name));
        let home = folder.join("home");
        files::create_folder(&home)?;
        files::create_folder(&folder.join("empty"))?;
        for (path, text) in self.row.home {
            let path = home.join(path);
            if let Some(parent) = path.parent() {
                files::create_folder(parent)?;
            }
            files::write(&path, text.as_bytes())?;
        }
        Ok((folder, home))
    }

    fn invocation(&self, question: &Question, folder: &Path, home: &Path) -> Invocation {
        let agent = self.settings.manner == ClientMode::Agent;
        let checkout = question.checkout.clone().filter(|_| agent);
        let work = Work {
            model: self.settings.model.as_deref(),
            base_url: self.settings.base_url.as_deref(),
            agent,
            home,
        };
        let mut argv = vec![self.settings.path.clone().unwrap_or_else(|| self.row.name.to_owned())];
        argv.extend((self.row.arguments)(&work));
        let mut environment = environment::of_child(home);
        for name in
            ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"]
        {
            if let Some(value) = environment::variable(name) {
                environment.insert(name.to_owned(), value);
            }
        }
        environment.extend((self.row.environment)(&work));
        if let Some(key) = &self.settings.key {
            environment.insert(self.row.key.to_owned(), key.expose().to_owned());
        }
        Invocation {
            argv,
            directory: checkout.unwrap_or_else(|| folder.join("empty")),
            environment,
            access: None,
        }
    }
}

#[async_trait]
impl Model for ClientModel {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn model(&self) -> &str {
        self.settings.model.as_deref().unwrap_or_default()
    }

    fn manner(&self) -> ClientMode {
        self.settings.manner
    }

    fn context_tokens(&self) -> u32 {
        self.settings.context
    }

    fn price(&self, usage: Usage) -> Option<u64> {
        self.settings.price.map(|price| price.of(usage))
    }

    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        let (folder, home) = self.private(question).map_err(|error| self.broken(&error))?;
        let invocation = self.invocation(question, &folder, &home);
        let form = question.form.as_ref().filter(|_| self.settings.manner == ClientMode::Answer);
        let form = form.map_or_else(String::new, |(_, schema)| {
            format!("\n\nThe form of the answer as a JSON Schema:\n{schema}\n")
        });
        let input = format!("{}\n\n{}{form}", question.system, question.prompt);
        let limit = question.limit.min(self.settings.timeout);
        let log = self.row.log.map(|log| home.join(log));
        let watch = |err: &str| {
            let more = log.as_ref().map(|log| process::tail_of(log, 16 << 10)).unwrap_or_default();
            read::retrying(err).or_else(|| read::retrying(&more))
        };
        let said =
            process::converse(&invocation, &input, &folder, limit, ANSWER_LIMIT as u64 * 2, &watch)
                .await
                .map_err(|error| self.broken(&error))?;
        files::remove_folder(&folder);
        let all = format!("{}\n{}", said.out, said.err);
        if let Some(seen) = said.seen {
            // It would go on by itself for minutes; the chain decides whom to ask next.
            let kind = read::status_kind(&seen).unwrap_or(ModelErrorKind::TimedOut { limit });
            return Err(self.error(kind, &seen));
        }
        let told = match said.ending {
            Ending::TimedOut if said.out.len() + said.err.len() > ANSWER_LIMIT => {
                return Err(self.error(ModelErrorKind::Garbage, "it said too much"));
            }
            Ending::TimedOut => {
                return Err(self.error(ModelErrorKind::TimedOut { limit }, &said.err));
            }
            Ending::Exit(_) | Ending::Signal(_) => (self.row.read)(&said.out, &said.err),
        };
        let told = told.map_err(|kind| {
            let kind = kind.unwrap_or_else(|| {
                read::words_kind(&all)
                    .unwrap_or(ModelErrorKind::Client { reason: said.ending.to_string() })
            });
            self.error(kind, if said.err.trim().is_empty() { &said.out } else { &said.err })
        })?;
        let raw: String = all.chars().take(256 << 10).collect();
        Ok(Answer {
            text: told.text,
            finish: Finish::Done,
            usage: told.usage,
            model: told.model,
            raw: self.settings.redactor.redact(&raw),
        })
    }
}

/// Reads a text as the output of each client; for whoever feeds them foreign bytes.
pub fn read_all(text: &str) {
    for reader in [read::gemini, read::qwen, read::codex, read::claude] {
        drop(reader(text, text));
    }
    drop((read::retrying(text), read::status_kind(text), read::words_kind(text)));
}
