//! Models behind command-line clients such as `gemini` and `claude`. A client gets a home and folders
//! of its own, no other variable of ours, and a connection to its provider alone, on which its key is
//! added. To answer with text it runs in an empty folder without tools. An agent works in a checkout
//! without the files by which a repository configures agents.

mod install;
mod output;
mod table;
#[cfg(test)]
pub mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;

use crate::adapter::host::environment;
use crate::adapter::host::files;
use crate::adapter::host::gateway::{Failure, Gateway, Prices, Upstream};
use crate::adapter::host::http::Http;
use crate::adapter::host::process::{self, ChildOutput, ExitReason, Invocation, Stopped};
use crate::adapter::host::sandbox::{self, Access, ProgramKind};
use crate::adapter::model::http::error_kind;
use crate::adapter::model::protocol::{ParsedAnswer, ProtocolRow, ProviderSettings};
use crate::adapter::model::status;
use crate::domain::budget::{Price, SpendingLimits, Usage};
use crate::domain::provider::{ClientMode, ClientProgram};
use crate::domain::secret::SecretKey;
use crate::effect::{
    ANSWER_LIMIT, Answer, Model, ModelError, ModelErrorKind, ModelFacts, Question,
};

use table::{CliRow, ClientTask, CommandLine};

pub use install::{install, installed};
pub use table::Version;

#[derive(Clone, Debug)]
pub struct ClientSettings {
    pub provider: ProviderSettings,
    pub program: ClientProgram,
    /// The installed version, as [`detect`] finds it.
    pub version: Version,
    /// Path of the program; `None` finds its usual name on the search path.
    pub path: Option<String>,
    pub folders: ClientFolders,
    /// Connects to the provider.
    pub http: Http,
    /// The price of a model that the client asks for, by its name and by the configured model and
    /// price.
    pub price_of_request: fn(&str, &str, &Price) -> Price,
    /// Whether the configured model costs what its vendor's list says.
    pub is_list_price: bool,
}

/// The folders of the clients of a session.
#[derive(Clone, Debug)]
pub struct ClientFolders {
    /// Where their private folders are created; no test code may write there.
    pub private: PathBuf,
    /// The user's checkout and the session's files, which hold tokens.
    pub protected: Vec<PathBuf>,
}

pub struct CliModel {
    settings: ClientSettings,
    row: &'static CliRow,
}

/// Time limit of a `--version` call.
const VERSION: Duration = Duration::from_mins(1);

/// The version of an installed client, started below `private`, or what is missing or too old.
pub fn detect(
    program: ClientProgram,
    path: Option<&str>,
    private: &Path,
) -> Result<Version, String> {
    let row = table::row(program);
    let name = path.unwrap_or(row.name);
    let home = files::private_folder(private, "version-")
        .map_err(|error| format!("{}: {error}", private.display()))?;
    let home = home.path();
    let invocation = Invocation {
        argv: vec![name.to_owned(), "--version".into()],
        directory: home.to_owned(),
        environment: environment::of_client(home),
        access: None,
    };
    let text = process::output(&invocation, VERSION)
        .map_err(|error| format!("`{name} --version`: {error}; {}", install::advice(row)))?;
    let version = version_in(&text).ok_or_else(|| format!("`{name}` names no version"))?;
    if version < row.version {
        return Err(format!("`{name}` is older than {}; {}", row.version, install::advice(row)));
    }
    Ok(version)
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
    /// A client that is not started yet. The error says why its settings cannot be kept.
    pub fn new(settings: ClientSettings) -> Result<Self, String> {
        let row = table::row(settings.program);
        let it = Self { settings, row };
        if it.connects_itself() && !it.settings.provider.headers.is_empty() {
            return Err(format!(
                "`headers` cannot be added to what `{}` sends to its own service; name a `base-url`",
                row.name
            ));
        }
        Ok(it)
    }

    /// The error for a client that cannot be started.
    fn broken(&self, error: &std::io::Error) -> ModelError {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => format!("`{}` is not installed", self.row.name),
            _ => error.to_string(),
        };
        self.settings.provider.error(ModelErrorKind::Client { reason }, "")
    }

    fn connects_itself(&self) -> bool {
        !self.row.tunnels.is_empty() && self.settings.provider.base_url.is_none()
    }

    /// Starts the proxy that ends at the provider.
    async fn gateway(&self, left: SpendingLimits) -> std::io::Result<Gateway> {
        let provider = &self.settings.provider;
        Gateway::start(Upstream {
            http: self.settings.http.clone(),
            base_url: provider.base_url.as_deref().unwrap_or(self.row.base_url).to_owned(),
            key: provider.key.clone(),
            headers: provider.headers.clone(),
            dialect: ProtocolRow::at,
            prices: Prices {
                model: provider.facts.model.clone(),
                price: provider.facts.price.clone(),
                of_request: self.settings.price_of_request,
            },
            left,
            tunnels: if self.connects_itself() { self.row.tunnels } else { &[] },
        })
        .await
    }

    /// The command of a question, with the client's settings written into its home.
    fn invocation(
        &self,
        question: &Question,
        folder: &Path,
        gateway: &Gateway,
    ) -> std::io::Result<Invocation> {
        let create = |name: &str| {
            let folder = folder.join(name);
            files::create_folder(&folder).map(|()| folder)
        };
        let (home, temporary) = (create("home")?, create("tmp")?);
        let system_file = folder.join("system.md");
        files::write(&system_file, question.system.as_bytes())?;
        let agent = self.mode() == ClientMode::Agent;
        let task = ClientTask {
            model: Some(self.model()).filter(|model| !model.is_empty()),
            base_url: gateway.base_url(),
            connects_itself: self.connects_itself(),
            agent,
            system: &question.system,
            system_file: &system_file,
            home: &home,
            left: question.left,
            is_list_price: self.settings.is_list_price,
            limit: self.limit(question),
            version: self.settings.version,
            is_confined: sandbox::confines_clients(),
        };
        let CommandLine { arguments, environment: own, files: settings, key } =
            (self.row.command_line)(&task);
        for (path, text) in settings {
            let path = home.join(path);
            if let Some(parent) = path.parent() {
                files::create_folder(parent)?;
            }
            files::write(&path, text.as_bytes())?;
        }
        let mut environment = environment::of_client(&home);
        environment.insert("TMPDIR".into(), temporary.display().to_string());
        environment.extend(gateway.variables());
        environment.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
        let real = self.settings.provider.key.as_ref().filter(|_| self.connects_itself());
        let secret = real.map_or(gateway.placeholder(), SecretKey::expose);
        environment.insert(key.to_owned(), secret.to_owned());
        let directory = match &question.checkout {
            Some(checkout) if agent => checkout.clone(),
            Some(_) | None => create("empty")?,
        };
        let access = Access {
            checkouts: vec![directory.clone()],
            scratch: folder.to_owned(),
            protected: self.settings.folders.protected.clone(),
            program: ProgramKind::Client { port: gateway.port() },
        };
        let program = self.settings.path.clone().unwrap_or_else(|| self.row.name.to_owned());
        let argv = std::iter::once(program).chain(arguments).collect();
        Ok(Invocation { argv, directory, environment, access: Some(access) })
    }

    /// The error of a question without an answer; a provider's own response says most.
    fn refused(&self, failure: &Failure, limit: Duration) -> ModelError {
        let provider = &self.settings.provider;
        match failure {
            Failure::Status(received) => {
                let (kind, message) = status::of(received);
                provider.error(kind, &message)
            }
            Failure::Transport(error) => {
                provider.error(error_kind(error, limit), &error.to_string())
            }
        }
    }

    fn limit(&self, question: &Question) -> Duration {
        question.limit.min(self.settings.provider.timeout)
    }

    /// What the client gets on its standard input.
    fn input(&self, question: &Question) -> String {
        if self.mode() == ClientMode::Agent {
            return format!("{}\n\n{}", question.system, question.prompt);
        }
        let form = question.form.as_ref().map_or_else(String::new, |(_, schema)| {
            format!("\n\nThe form of the answer as a JSON Schema:\n{schema}\n")
        });
        let system = if self.row.takes_system_prompt { "" } else { &question.system };
        format!("{system}\n\n{}{form}", question.prompt).trim_start().to_owned()
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
        let below = &self.settings.folders.private;
        let folder = files::private_folder(below, &format!("{}-", self.row.name))
            .map_err(|error| self.broken(&error))?;
        // What regreen itself writes and reads lies where the client cannot put anything else.
        let records =
            files::private_folder(below, "records-").map_err(|error| self.broken(&error))?;
        let (folder, records) = (folder.path(), records.path());
        let gateway = self.gateway(question.left).await.map_err(|error| self.broken(&error))?;
        let invocation =
            self.invocation(question, folder, &gateway).map_err(|error| self.broken(&error))?;
        let limit = self.limit(question);
        let is_over = || {
            question.meter.report(gateway.usage());
            // It would retry by itself for minutes; the chain decides which provider comes next.
            gateway.failure().is_some_and(|failure| failure.invites_retries())
                || gateway.excess().is_some()
        };
        let (input, largest) = (self.input(question), ANSWER_LIMIT as u64 * 2);
        let run =
            process::run_with_input(&invocation, &input, records, limit, largest, &is_over).await;
        let mut run = run.map_err(|error| self.broken(&error))?;
        if let Some(file) = self.row.usage_file {
            let usage = process::tail_of(&folder.join("home").join(file), 64 << 10);
            // The statistics span lines; the events are one per line.
            run.out += &format!("\n{}\n", usage.replace('\n', " "));
        }
        for host in gateway.refused() {
            tracing::warn!(
                provider = provider.facts.name,
                host,
                "the client asked for another host"
            );
        }
        self.outcome(question, &run, &gateway)
    }
}

impl CliModel {
    /// What came of a question, with the tokens of all its requests: what passed the proxy, or what
    /// the client reports where that is more. A client knows nothing of requests that it did not
    /// make, and one that was ended reports nothing.
    fn outcome(
        &self,
        question: &Question,
        run: &ChildOutput,
        gateway: &Gateway,
    ) -> Result<Answer, ModelError> {
        let (provider, limit) = (&self.settings.provider, self.limit(question));
        let all = format!("{}\n{}", run.out, run.err);
        let usage = self.larger(gateway.usage(), (self.row.usage)(&run.out));
        let failed = |kind, message: &str| match (gateway.excess(), gateway.failure()) {
            (Some(why), _) => provider.error_in((ModelErrorKind::OverBudget, &why), &all, usage),
            (None, Some(failure)) => {
                let refused = self.refused(&failure, limit);
                provider.error_in((refused.kind, &refused.message), &all, usage)
            }
            (None, None) => provider.error_in((kind, message), &all, usage),
        };
        let ending = match run.ending {
            Ok(ExitReason::Exit(code)) if self.row.out_of_time == Some(code) => {
                return Err(failed(ModelErrorKind::TimedOut { limit }, ""));
            }
            Ok(ending) => ending,
            // A later request may have been answered since.
            Err(Stopped::OnRequest) => return Err(failed(ModelErrorKind::Connection, "")),
            Err(Stopped::TimeLimit) => return Err(failed(ModelErrorKind::TimedOut { limit }, "")),
            Err(Stopped::TooMuchOutput) => {
                let kind = ModelErrorKind::Garbage;
                return Err(provider.error_in((kind, "it said too much"), &all, usage));
            }
        };
        let parsed = output::judge((self.row.parse)(&run.out, &run.err), ending).map_err(
            |failure| match (failure.kind, gateway.refusal()) {
                (ModelErrorKind::Empty, Some(reason)) => {
                    failed(ModelErrorKind::Refused { reason }, "")
                }
                (kind, _) => failed(kind, &failure.message),
            },
        )?;
        provider.answer(ParsedAnswer { usage, ..parsed }, &all)
    }

    /// The larger of two sums of tokens. It costs no less than what is known to be spent.
    fn larger(&self, seen: Usage, reported: Usage) -> Usage {
        if reported.tokens() <= seen.tokens() {
            return seen;
        }
        let cost = self.price(reported).filter(|_| seen.cost > 0).unwrap_or_default();
        Usage { cost: cost.max(seen.cost), ..reported }
    }
}

/// Parses a text as the output of each client, for the fuzzer.
#[cfg(any(test, feature = "internals"))]
pub fn read_all(text: &str) {
    for program in ClientProgram::ALL {
        let row = table::row(program);
        drop(((row.parse)(text, text), (row.usage)(text)));
    }
    drop((output::status_kind(text), output::words_kind(text)));
}
