//! The environment of an action: variables, inputs, event file, and files that the runner reads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::adapter::host::console::println;
use crate::adapter::host::{environment, files, redaction};
use crate::config::inputs::{self, Inputs};
use crate::domain::check::Level;
use crate::domain::secret::SecretKey;
use crate::report::runner_commands;

use super::payload;

/// Inputs that the runner itself reads.
const OF_THE_RUNNER: &[&str] = &["INPUT_ARGS", "INPUT_ENTRYPOINT"];

/// The environment of one job.
#[derive(Debug, Default)]
pub struct ActionEnv {
    /// Variables of the runner and of the job.
    pub variables: BTreeMap<String, String>,
    pub inputs: Inputs,
    /// Content of the event file.
    pub payload: Vec<u8>,
    /// The token, when there is one.
    pub token: Option<SecretKey>,
}

impl ActionEnv {
    /// Reads the environment; the error lists everything that is wrong.
    pub fn read() -> Result<Self, Vec<String>> {
        let mut variables = environment::own();
        variables.retain(|name, _| !OF_THE_RUNNER.contains(&name.as_str()));
        let mut wrong = Vec::new();
        let inputs = inputs::parse(&variables).unwrap_or_else(|errors| {
            wrong.extend(errors.iter().map(ToString::to_string));
            Inputs::default()
        });
        let payload = match variables.get("GITHUB_EVENT_PATH") {
            None => Err("it is not set".to_owned()),
            Some(path) => match files::read(path.as_ref(), payload::LIMIT as u64) {
                Ok(Some(bytes)) => Ok(bytes),
                Ok(None) => Err(format!("there is no {path}")),
                Err(error) => Err(format!("{path}: {error}")),
            },
        };
        let payload = payload.unwrap_or_else(|reason| {
            wrong.push(format!(
                "GITHUB_EVENT_PATH: {reason}; run it as an action, or use `regreen fix`"
            ));
            Vec::new()
        });
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let token = inputs.text("token").map(str::to_owned);
        let token = token.or_else(|| variables.get("GITHUB_TOKEN").cloned());
        let token = token.filter(|text| !text.trim().is_empty()).map(|text| SecretKey::new(&text));
        redaction::register(&token);
        Ok(Self { variables, inputs, payload, token })
    }

    /// A variable; empty when it is not set.
    pub fn get(&self, name: &str) -> &str {
        self.variables.get(name).map_or("", String::as_str)
    }

    /// An input that is a text; `None` when it was not set.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.inputs.text(name)
    }

    /// A path relative to the checkout, from an input.
    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(|text| self.workspace().join(text))
    }

    /// The folder of the checkout, which need not exist.
    pub fn workspace(&self) -> PathBuf {
        let place = self.get("GITHUB_WORKSPACE");
        PathBuf::from(if place.is_empty() { "." } else { place })
    }

    /// The address of the server, by default `https://github.com`.
    pub fn server(&self) -> &str {
        match self.get("GITHUB_SERVER_URL") {
            "" => "https://github.com",
            server => server.trim_end_matches('/'),
        }
    }

    /// The address of the API, by default `https://api.github.com`.
    pub fn api(&self) -> &str {
        match self.get("GITHUB_API_URL") {
            "" => "https://api.github.com",
            api => api,
        }
    }

    /// The page of this workflow run; `None` outside of one.
    pub fn run_url(&self, repository: &str) -> Option<String> {
        match self.get("GITHUB_RUN_ID") {
            "" => None,
            run => Some(format!("{}/{repository}/actions/runs/{run}", self.server())),
        }
    }
}

/// Appends text to a file that the runner reads after the step.
pub fn append(path: &str, text: &str) {
    if path.is_empty() || text.is_empty() {
        return;
    }
    if let Err(error) = files::append(Path::new(path), &redaction::redact(text)) {
        let text = format!("{path}: {error}");
        println!("{}", runner_commands::remark(Level::Warning, None, "regreen", &text));
    }
}
