//! Opens the configured chain of providers as models, with recording or replay.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::providers::Ready;
use crate::domain::secret::{Redactor, SecretKey};
use crate::effect::{Model, ModelFacts};

use super::host::canary::canary;
use super::host::http::Http;
use super::model::detect;
use super::model::{
    Cassette, CliModel, ClientSettings, HttpModel, ProviderSettings, Recording, Replaying,
};

/// Time limit of one call to a provider that sets none.
pub const LIMIT: Duration = Duration::from_mins(40);

/// Whether exchanges are recorded, or replayed from a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingMode {
    /// Questions go to providers, and nothing is recorded.
    None,
    /// Exchanges are recorded in this folder.
    Record(PathBuf),
    /// Answers come from this folder.
    Replay(PathBuf),
}

/// The opened models, and notices about those that could not be opened.
pub type Opened = (Vec<Box<dyn Model>>, Vec<String>);

/// Opens all providers of a chain. `scratch` holds the files of clients. A client that is missing
/// or too old is skipped with a notice.
pub fn open(
    ready: &[Ready],
    names: &[&str],
    mode: &RecordingMode,
    redactor: &Redactor,
    scratch: &Path,
) -> Result<Opened, String> {
    if let RecordingMode::Replay(folder) = mode {
        let cassette = Cassette::new(folder);
        let models: Result<Vec<_>, String> = names
            .iter()
            .map(|name| Ok(Box::new(Replaying::open(name, &cassette)?) as Box<dyn Model>))
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
    if let RecordingMode::Record(folder) = mode {
        let cassette = Cassette::new(folder);
        models = models
            .into_iter()
            .map(|model| {
                Box::new(Recording::new(model, cassette.clone(), redactor.clone()))
                    as Box<dyn Model>
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
    let settings = ProviderSettings {
        facts: ModelFacts {
            name: one.name.clone(),
            model: provider.model.clone().unwrap_or_default(),
            mode: provider.mode.filter(|_| provider.protocol.is_none()).unwrap_or_default(),
            context: one.context,
            price: provider.price,
        },
        key: one.key.as_deref().map(SecretKey::new),
        base_url: provider.base_url.clone(),
        headers: provider.headers.clone().unwrap_or_default().into_iter().collect(),
        timeout: one.timeout,
        redactor: redactor.clone(),
        canary: canary().cloned(),
    };
    if let Some(protocol) = provider.protocol {
        return Ok(Box::new(HttpModel::new(settings, protocol, http.clone())));
    }
    let Some(program) = provider.client else {
        return Err("it has neither a protocol nor a client".to_owned());
    };
    let path = provider.program.clone();
    let version = detect(program, path.as_deref(), scratch)?;
    tracing::info!(provider = one.name, version, "client found");
    let scratch = scratch.join("clients");
    Ok(Box::new(CliModel::new(ClientSettings { provider: settings, program, path, scratch })))
}
