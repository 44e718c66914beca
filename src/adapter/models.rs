//! Providers of a configuration to models that can be asked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::providers::{Protocol as Name, Ready};
use crate::domain::secret::{Key, Redactor};
use crate::effect::Model;

use super::host::http::Http;
use super::model::{HttpModel, Protocol, ProviderSettings, Recording, Reel, Replaying};

/// Limit of one call when no provider says.
pub const LIMIT: Duration = Duration::from_mins(40);

/// Whether exchanges are kept, or come from a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tape {
    /// Neither.
    None,
    /// Kept in this folder.
    Record(PathBuf),
    /// Out of this folder.
    Replay(PathBuf),
}

/// Opens all providers of a chain. `scratch` holds what clients write.
///
/// # Errors
///
/// When TLS cannot be set up, or a recording not be read.
pub fn open(
    ready: &[Ready],
    names: &[&str],
    tape: &Tape,
    redactor: &Redactor,
    scratch: &Path,
) -> Result<Vec<Box<dyn Model>>, String> {
    if let Tape::Replay(folder) = tape {
        let reel = Reel::new(folder);
        return names
            .iter()
            .map(|name| Ok(Box::new(Replaying::open(name, &reel)?) as Box<dyn Model>))
            .collect();
    }
    if ready.is_empty() {
        return Ok(Vec::new());
    }
    let http = Http::new().map_err(|error| error.to_string())?;
    let mut models: Vec<Box<dyn Model>> = Vec::new();
    for one in ready {
        models.push(open_one(one, &http, redactor, scratch)?);
    }
    if let Tape::Record(folder) = tape {
        let reel = Reel::new(folder);
        models = models
            .into_iter()
            .map(|model| {
                Box::new(Recording::new(model, reel.clone(), redactor.clone())) as Box<dyn Model>
            })
            .collect();
    }
    Ok(models)
}

fn open_one(
    one: &Ready,
    http: &Http,
    redactor: &Redactor,
    _scratch: &Path,
) -> Result<Box<dyn Model>, String> {
    let provider = &one.provider;
    let Some(protocol) = provider.protocol else {
        return Err(format!("provider `{}`: clients are not there yet", one.name));
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
        key: one.key.as_deref().map(Key::new),
        base_url: provider.base_url.clone(),
        headers: provider.headers.clone().unwrap_or_default().into_iter().collect(),
        context: one.context,
        price: provider.price,
        timeout: one.timeout,
        redactor: redactor.clone(),
    };
    Ok(Box::new(HttpModel::new(settings, protocol, http.clone())))
}
