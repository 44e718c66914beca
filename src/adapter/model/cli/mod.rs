//! Models behind command-line clients such as `gemini` and `claude`. A client gets its own process
//! group, home and key, but no other variable of ours. To answer with text it runs in an empty
//! folder, so that the repository cannot configure it.

mod output;
mod table;
#[cfg(test)]
pub mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;

use crate::adapter::host::environment;
use crate::adapter::host::files;
use crate::adapter::host::process::{self, Invocation, Stopped};
use crate::adapter::model::protocol::ProviderSettings;
use crate::domain::provider::{ClientMode, ClientProgram};
use crate::effect::{
    ANSWER_LIMIT, Answer, Model, ModelError, ModelErrorKind, ModelFacts, Question,
};

use table::{CliRow, ClientTask, Version};

#[derive(Clone, Debug)]
pub struct ClientSettings {
    pub provider: ProviderSettings,
    pub program: ClientProgram,
    /// Path of the program; `None` finds its usual name on the search path.
    pub path: Option<String>,
    /// Where its private folders are created.
    pub scratch: PathBuf,
}

pub struct CliModel {
    settings: ClientSettings,
    row: &'static CliRow,
}

/// Time limit of a `--version` call.
const VERSION: Duration = Duration::from_secs(20);

/// The version of an installed client.
/// The error says what is missing or too old.
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
        let Version(a, b, c) = row.least;
        return Err(format!("`{name}` is older than {a}.{b}.{c}; update {}", row.package));
    }
    let Version(a, b, c) = version;
    Ok(format!("{a}.{b}.{c}"))
}

/// The first version number in a text, such as `1.2.3`.
fn version_in(text: &str) -> Option<Version> {
    text.split_whitespace().find_map(|word| {
        let mut parts = word.trim_start_matches('v').split('.');
        let mut next = || {
            let digits: String = parts.next()?.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        };
        Some(Version(next()?, next()?, next()?))
    })
}

impl CliModel {
    /// A client that is not started yet.
    #[must_use]
    pub fn new(settings: ClientSettings) -> Self {
        let row = table::row(settings.program);
        Self { settings, row }
    }

    /// The error for a client that cannot be started.
    fn broken(&self, error: &std::io::Error) -> ModelError {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => format!("`{}` is not installed", self.row.name),
            _ => error.to_string(),
        };
        self.settings.provider.error(ModelErrorKind::Client { reason }, "")
    }

    /// Creates the private folder of a question, with a home that holds the client's settings.
    fn private_folders(&self, question: &Question) -> std::io::Result<(PathBuf, PathBuf)> {
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
        let agent = self.mode() == ClientMode::Agent;
        let checkout = question.checkout.clone().filter(|_| agent);
        let task = ClientTask {
            model: Some(self.model()).filter(|model| !model.is_empty()),
            base_url: self.settings.provider.base_url.as_deref(),
            agent,
            home,
        };
        let mut argv = vec![self.settings.path.clone().unwrap_or_else(|| self.row.name.to_owned())];
        argv.extend((self.row.arguments)(&task));
        let mut environment = environment::of_child(home);
        for name in
            ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"]
        {
            if let Some(value) = environment::variable(name) {
                environment.insert(name.to_owned(), value);
            }
        }
        environment.extend((self.row.environment)(&task));
        if let Some(key) = &self.settings.provider.key {
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
impl Model for CliModel {
    fn facts(&self) -> &ModelFacts {
        &self.settings.provider.facts
    }

    async fn ask(&self, question: &Question) -> Result<Answer, ModelError> {
        let provider = &self.settings.provider;
        let question = &provider.with_canary(question);
        let (folder, home) = self.private_folders(question).map_err(|error| self.broken(&error))?;
        let invocation = self.invocation(question, &folder, &home);
        let form = question.form.as_ref().filter(|_| self.mode() == ClientMode::Answer);
        let form = form.map_or_else(String::new, |(_, schema)| {
            format!("\n\nThe form of the answer as a JSON Schema:\n{schema}\n")
        });
        let input = format!("{}\n\n{}{form}", question.system, question.prompt);
        let limit = question.limit.min(provider.timeout);
        let log = self.row.log.map(|log| home.join(log));
        let watch = |err: &str| {
            let more = log.as_ref().map(|log| process::tail_of(log, 16 << 10)).unwrap_or_default();
            output::retry_line(err).or_else(|| output::retry_line(&more))
        };
        let run = process::run_with_input(
            &invocation,
            &input,
            &folder,
            limit,
            ANSWER_LIMIT as u64 * 2,
            &watch,
        )
        .await
        .map_err(|error| self.broken(&error))?;
        files::remove_folder(&folder);
        let all = format!("{}\n{}", run.out, run.err);
        let ending = run.ending.map_err(|stopped| match stopped {
            // It would retry by itself for minutes; the chain decides which provider comes next.
            Stopped::Watched(line) => {
                let kind = output::status_kind(&line).unwrap_or(ModelErrorKind::TimedOut { limit });
                provider.error(kind, &line)
            }
            Stopped::TooMuchOutput => provider.error(ModelErrorKind::Garbage, "it said too much"),
            Stopped::TimeLimit => provider.error(ModelErrorKind::TimedOut { limit }, &run.err),
        })?;
        let parsed = (self.row.parse)(&run.out, &run.err).map_err(|kind| {
            let kind = kind.unwrap_or_else(|| {
                output::words_kind(&all)
                    .unwrap_or(ModelErrorKind::Client { reason: ending.to_string() })
            });
            provider.error(kind, if run.err.trim().is_empty() { &run.out } else { &run.err })
        })?;
        provider.answer(parsed, &all)
    }
}

/// Parses a text as the output of each client, for the fuzzer.
#[cfg(any(test, feature = "internals"))]
pub fn read_all(text: &str) {
    for parse in [output::gemini, output::qwen, output::codex, output::claude] {
        drop(parse(text, text));
    }
    drop((output::retry_line(text), output::status_kind(text), output::words_kind(text)));
}
