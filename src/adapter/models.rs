//! Opens the configured chain of providers as models, with recording or replay.

use std::path::{Path, PathBuf};

use crate::config::prices::{self, is_same_model};
use crate::config::providers::{Provider, Ready};
use crate::domain::provider::ClientProgram;
use crate::domain::secret::{Redactor, SecretKey};
use crate::effect::{Model, ModelFacts};

use super::host::canary::canary;
use super::host::http::Http;
use super::host::sandbox::confines_clients;
use super::model::{
    Cassette, CliModel, ClientSettings, HttpModel, ProviderSettings, Recording, Replaying,
};
use super::model::{detect, installed};
use super::paths::clients_folder;

pub use super::model::{ClientFolders, install};

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

/// Opens all providers of a chain. A client that is missing or too old is skipped with a notice.
pub fn open(
    ready: &[Ready],
    names: &[&str],
    mode: &RecordingMode,
    redactor: &Redactor,
    folders: &ClientFolders,
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
        match open_one(one, &http, redactor, folders) {
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

/// Names of models that are offered in place of an unknown one.
const NEAR: usize = 3;

/// What is found out about a provider without a question: its model, or its client.
pub async fn examine(one: &Ready, http: &Http, redactor: &Redactor, scratch: &Path) -> String {
    let provider = &one.provider;
    if let Some(protocol) = provider.protocol {
        let settings = settings_of(one, redactor);
        let model = settings.facts.model.clone();
        let known = HttpModel::new(settings, protocol, http.clone()).list_models().await;
        return match known {
            Ok(known) => availability(&model, known),
            Err(error) => format!("its models cannot be listed: {}", error.without_name()),
        };
    }
    let version = |program| detect(program, path_of(program, provider).as_deref(), scratch);
    match provider.client.map(version) {
        Some(Ok(version)) if confines_clients() => format!("its client is version {version}"),
        Some(Ok(version)) => format!(
            "its client is version {version}, and the kernel does not confine it here as docs/providers.md describes"
        ),
        Some(Err(problem)) => problem,
        None => "it has neither a protocol nor a client".to_owned(),
    }
}

/// Whether a model is among those that are known, else which have similar names.
fn availability(model: &str, mut known: Vec<String>) -> String {
    if known.iter().any(|name| name == model) {
        return format!("`{model}` is available");
    }
    // Anthropic lists models with dates and knows them without.
    if let Some(dated) = known.iter().filter(|name| is_same_model(name, model)).max() {
        return format!("`{model}` is available, as `{dated}`");
    }
    known.sort_by_cached_key(|name| (strsim::damerau_levenshtein(model, name), name.clone()));
    let near: Vec<String> = known.iter().take(NEAR).map(|name| format!("`{name}`")).collect();
    match near.as_slice() {
        [] => format!("`{model}` is not available, nor is any other model"),
        near => format!("`{model}` is not available; similar: {}", near.join(", ")),
    }
}

fn settings_of(one: &Ready, redactor: &Redactor) -> ProviderSettings {
    let provider = &one.provider;
    ProviderSettings {
        facts: ModelFacts {
            name: one.name.clone(),
            model: provider.model.clone().unwrap_or_default(),
            mode: provider.mode.filter(|_| provider.protocol.is_none()).unwrap_or_default(),
            context: one.context,
            price: provider.price.clone(),
        },
        key: one.key.as_deref().map(SecretKey::new),
        base_url: provider.base_url.clone(),
        headers: provider.headers.clone().unwrap_or_default().into_iter().collect(),
        timeout: one.timeout,
        redactor: redactor.clone(),
        canary: canary().cloned(),
    }
}

/// The configured or installed program of a client; `None` leaves it to the search path.
fn path_of(program: ClientProgram, provider: &Provider) -> Option<String> {
    let installed = || installed(program, &clients_folder());
    provider.program.clone().or_else(|| Some(installed()?.display().to_string()))
}

fn open_one(
    one: &Ready,
    http: &Http,
    redactor: &Redactor,
    folders: &ClientFolders,
) -> Result<Box<dyn Model>, String> {
    let provider = &one.provider;
    let settings = settings_of(one, redactor);
    if let Some(protocol) = provider.protocol {
        return Ok(Box::new(HttpModel::new(settings, protocol, http.clone())));
    }
    let Some(program) = provider.client else {
        return Err("it has neither a protocol nor a client".to_owned());
    };
    let path = path_of(program, provider);
    let version = detect(program, path.as_deref(), &folders.private)?;
    tracing::info!(provider = one.name, %version, "client found");
    let folders = folders.clone();
    let http = http.clone();
    let list = prices::of(&settings.facts.model).map(|list| list.price);
    let settings = ClientSettings {
        is_list_price: list.is_some() && list == settings.facts.price,
        provider: settings,
        program,
        version,
        path,
        folders,
        http,
        price_of_request: prices::of_request,
    };
    Ok(Box::new(CliModel::new(settings)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_model_is_answered_with_similar_ones() {
        let known =
            || ["gpt-5.5", "gpt-5.4-mini", "whisper", "gpt-5.4"].map(str::to_owned).to_vec();
        let table = [
            ("gpt-5.4", known(), "`gpt-5.4` is available"),
            (
                "gpt-5.3",
                known(),
                "`gpt-5.3` is not available; similar: `gpt-5.4`, `gpt-5.5`, `gpt-5.4-mini`",
            ),
            (
                "claude-haiku-4-5",
                ["claude-haiku-4-5-20251001", "claude-haiku-4-5-20250929", "claude-sonnet-5"]
                    .map(str::to_owned)
                    .to_vec(),
                "`claude-haiku-4-5` is available, as `claude-haiku-4-5-20251001`",
            ),
            ("m", Vec::new(), "`m` is not available, nor is any other model"),
        ];
        for (model, known, expected) in table {
            assert_eq!(availability(model, known), expected);
        }
    }
}
