//! Providers of a configuration to models that can be asked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::providers::{Client, ClientMode as ConfiguredMode, Protocol as Name, Ready};
use crate::domain::secret::{Key, Redactor};
use crate::effect::{ClientMode, Model};

use super::host::http::Http;
use super::model::detect;
use super::model::{
    Cassette, ClientModel, ClientSettings, HttpModel, Program, Protocol, ProviderSettings,
    Recording, Replaying,
};

/// Limit of one call when no provider says.
pub const LIMIT: Duration = Duration::from_mins(40);

/// Whether exchanges are kept, or come from a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingMode {
    /// Neither.
    None,
    /// Kept in this folder.
    Record(PathBuf),
    /// Out of this folder.
    Replay(PathBuf),
}

/// Models that can be asked, and what a person should know about the others.
pub type Opened = (Vec<Box<dyn Model>>, Vec<String>);

/// Opens all providers of a chain. `scratch` holds what clients write. A client that is missing or
/// too old is left out with a notice.
///
/// # Errors
///
/// When TLS cannot be set up, or a recording not be read.
pub fn open(
    ready: &[Ready],
    names: &[&str],
    tape: &RecordingMode,
    redactor: &Redactor,
    scratch: &Path,
) -> Result<Opened, String> {
    if let RecordingMode::Replay(folder) = tape {
        let reel = Cassette::new(folder);
        let models: Result<Vec<_>, String> = names
            .iter()
            .map(|name| Ok(Box::new(Replaying::open(name, &reel)?) as Box<dyn Model>))
            .collect();
        return Ok((models?, Vec::new()));
    }
    if ready.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let http = Http::new().map_err(|error| error.to_string())?;
    let (mut models, mut notices): Opened = (Vec::new(), Vec::new());
    for one in ready {
        match open_one(one, &http, redactor, scratch) {
            Ok(model) => models.push(model),
            Err(problem) => notices.push(format!("`{}` is not asked: {problem}", one.name)),
        }
    }
    if let RecordingMode::Record(folder) = tape {
        let reel = Cassette::new(folder);
        models = models
            .into_iter()
            .map(|model| {
                Box::new(Recording::new(model, reel.clone(), redactor.clone())) as Box<dyn Model>
            })
            .collect();
    }
    Ok((models, notices))
}

fn open_one(
    one: &Ready,
    http: &Http,
    redactor: &Redactor,
    scratch: &Path,
) -> Result<Box<dyn Model>, String> {
    let provider = &one.provider;
    let key = one.key.as_deref().map(Key::new);
    let Some(protocol) = provider.protocol else {
        let program = match provider.client {
            Some(Client::Gemini) => Program::Gemini,
            Some(Client::Qwen) => Program::Qwen,
            Some(Client::Claude) => Program::Claude,
            Some(Client::Codex) | None => Program::Codex,
        };
        let version = detect(program, provider.program.as_deref(), scratch)?;
        tracing::info!(provider = one.name, version, "client found");
        return Ok(Box::new(ClientModel::new(ClientSettings {
            name: one.name.clone(),
            program,
            path: provider.program.clone(),
            manner: match provider.mode.unwrap_or_default() {
                ConfiguredMode::Answer => ClientMode::Answer,
                ConfiguredMode::Agent => ClientMode::Agent,
            },
            model: provider.model.clone(),
            key,
            base_url: provider.base_url.clone(),
            context: one.context,
            price: provider.price,
            timeout: one.timeout,
            redactor: redactor.clone(),
            scratch: scratch.join("clients"),
        })));
    };
    let protocol = match protocol {
        Name::Gemini => Protocol::GEMINI,
        Name::Chat => Protocol::CHAT,
        Name::Responses => Protocol::RESPONSES,
        Name::Anthropic => Protocol::ANTHROPIC,
    };
    let settings = ProviderSettings {
        name: one.name.clone(),
        model: provider.model.clone().unwrap_or_default(),
        key,
        base_url: provider.base_url.clone(),
        headers: provider.headers.clone().unwrap_or_default().into_iter().collect(),
        context: one.context,
        price: provider.price,
        timeout: one.timeout,
        redactor: redactor.clone(),
    };
    Ok(Box::new(HttpModel::new(settings, protocol, http.clone())))
}
