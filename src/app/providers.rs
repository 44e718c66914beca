//! Resolves the provider chain of a run: flags win over the configuration file, and the file over
//! keys in the environment. Opens its models, with recording or replay.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::adapter::host::http::Http;
use crate::adapter::host::{clock, environment, files, random, redaction};
use crate::adapter::models::{self, ClientFolders, RecordingMode};
use crate::config::providers::{self as table, Chain, Provider, Ready};
use crate::config::{Settings, prices};
use crate::domain::budget::{Price, SpendingLimits, micro_usd};
use crate::domain::memory::{self, Memory};
use crate::domain::provider::EMBEDDED;
use crate::domain::secret::SecretKey;
use crate::effect::Model;
use crate::role::{AskSettings, ChainEntry};

use super::{AppError, ModelOptions};

/// The provider chain of a run.
pub struct Providers {
    /// Messages for the user.
    pub notices: Vec<String>,
    /// The entries of the chain, in the order they are asked.
    pub chain: Vec<ChainEntry>,
    pub ask: AskSettings,
    ready: Vec<Ready>,
    tape: RecordingMode,
}

/// Metadata of a recording, besides its exchanges.
#[derive(Serialize, Deserialize)]
struct Recorded {
    chain: Vec<String>,
    fence: String,
}

/// The file with the metadata of a recording.
const RECORDED: &str = "run.json";

/// Resolves the chain of a run.
pub fn open(options: &ModelOptions, settings: &Settings) -> Result<Providers, AppError> {
    let file = patient(settings);
    let tape = match (&options.record, &options.replay) {
        (Some(folder), _) => RecordingMode::Record(folder.clone()),
        (None, Some(folder)) => RecordingMode::Replay(folder.clone()),
        (None, None) => RecordingMode::None,
    };
    let named = if options.providers.is_empty() {
        settings.providers.clone().unwrap_or_default()
    } else {
        options.providers.clone()
    };
    let (Chain { links, ready, notices }, fence) = match &tape {
        RecordingMode::Replay(folder) => {
            let Recorded { chain: links, fence } = recorded(folder)?;
            (Chain { links, ready: Vec::new(), notices: Vec::new() }, fence)
        }
        RecordingMode::Record(_) | RecordingMode::None => (resolve(&named, &file)?, fence()?),
    };
    if let RecordingMode::Record(folder) = &tape {
        record(folder, &Recorded { chain: links.clone(), fence: fence.clone() })?;
    }
    ready.iter().for_each(hide);
    let budget = settings.budget.clone().unwrap_or_default();
    let each = budget.iteration.unwrap_or_default();
    let session = SpendingLimits {
        calls: options.budget_calls.or(budget.calls),
        tokens: options.budget_tokens.or(budget.tokens),
        micro_usd: options.budget_usd.or(budget.usd).map(micro_usd),
    };
    let iteration = SpendingLimits {
        calls: each.calls,
        tokens: each.tokens,
        micro_usd: each.usd.map(micro_usd),
    };
    let has_money_cap = session.micro_usd.or(iteration.micro_usd).is_some();
    if let Some((message, hint)) = table::unpriced(&ready).filter(|_| has_money_cap) {
        return Err(AppError::usage(message, hint));
    }
    Ok(Providers {
        notices,
        chain: links
            .iter()
            .map(|name| {
                if name == EMBEDDED {
                    ChainEntry::Embedded
                } else {
                    ChainEntry::Provider(name.clone())
                }
            })
            .collect(),
        ask: AskSettings {
            rules: super::settings::rules(settings),
            session,
            iteration,
            fence,
            redactor: redaction::redactor(),
            limit: ready.iter().map(|one| one.timeout).max().unwrap_or(table::TIMEOUT),
            outages: Arc::default(),
        },
        ready,
        tape,
    })
}

/// What is known about one provider of the chain before it is asked.
#[derive(Debug, Serialize)]
pub struct ProviderState {
    pub name: String,
    /// One sentence for each fact: key, model or client, price.
    pub facts: Vec<String>,
}

/// Looks at each configured provider: key, model or client, price; `scratch` is removed.
pub async fn examine(settings: &Settings, scratch: &Path) -> Vec<ProviderState> {
    let file = patient(settings);
    let names = table::chain_of(&settings.providers.clone().unwrap_or_default());
    let states = names.iter().map(|name| {
        let ready = (name != EMBEDDED).then(|| table::ready(name, &file, &environment::variable));
        async move {
            let Some(ready) = ready else {
                let facts = vec!["built in, needs no key, asked when no other answers".to_owned()];
                return ProviderState { name: name.clone(), facts };
            };
            let facts = match ready {
                Ok(Ok(one)) => vec![found(&one, scratch).await, price_of(&one.provider)],
                Ok(Err(problem)) | Err(problem) => vec![problem],
            };
            ProviderState { name: name.clone(), facts }
        }
    });
    let states = futures::future::join_all(states).await;
    files::remove_folder(scratch);
    states
}

/// Keeps the key and the secret headers of a provider out of everything that is shown or stored.
fn hide(one: &Ready) {
    let key = one.key.as_deref().map(SecretKey::new);
    let headers = redaction::secrets_of_headers(one.provider.headers.iter().flatten());
    redaction::register(key.iter().chain(&headers));
}

async fn found(one: &Ready, scratch: &Path) -> String {
    hide(one);
    match Http::new() {
        Ok(http) => models::examine(one, &http, &redaction::redactor(), scratch).await,
        Err(error) => error.to_string(),
    }
}

/// The price of a provider's model in one sentence, with the month of the list that it is from.
fn price_of(provider: &Provider) -> String {
    let Some(Price { input, output, above, .. }) = &provider.price else {
        return "no price is known, so it needs `price` for a budget in dollars".to_owned();
    };
    let list = provider.model.as_deref().and_then(prices::of);
    let list = list.filter(|list| Some(&list.price) == provider.price.as_ref());
    let source = list.map_or_else(
        || "of the configuration".to_owned(),
        |list| format!("of the list of {}", list.month),
    );
    let longer = above.iter().map(|tier| tier.tokens).min();
    let more = longer.map_or_else(String::new, |tokens| format!(", more above {tokens} tokens"));
    format!(
        "${input:.2} and ${output:.2} per million tokens of question and answer{more}, {source}"
    )
}

fn resolve(named: &[String], file: &BTreeMap<String, Provider>) -> Result<Chain, AppError> {
    table::resolve(named, file, &environment::variable).map_err(|problem| {
        let hint = "set what is missing, or change `providers` and `provider` in .github/regreen.yml, or `--providers`";
        AppError::usage(problem, hint)
    })
}

fn fence() -> Result<String, AppError> {
    random::word().map_err(|error| {
        let message = format!("no random numbers: {error}");
        AppError::environment(message, "run it where the system has them")
    })
}

fn record(folder: &Path, run: &Recorded) -> Result<(), AppError> {
    let text = serde_json::to_string_pretty(run).unwrap_or_default();
    files::create_folder(folder)
        .and_then(|()| files::write(&folder.join(RECORDED), text.as_bytes()))
        .map_err(|error| {
            let message = format!("cannot record in {}: {error}", folder.display());
            AppError::environment(message, "choose another folder")
        })
}

/// The configured providers; `provider-timeout` applies to those without a limit of their own.
fn patient(settings: &Settings) -> BTreeMap<String, Provider> {
    let mut file = settings.provider.clone().unwrap_or_default();
    let limit = settings.analysis.as_ref().and_then(|analysis| analysis.provider_timeout.clone());
    if let Some(limit) = limit {
        for name in table::names() {
            file.entry(name.to_owned()).or_default();
        }
        for provider in file.values_mut() {
            provider.timeout.get_or_insert_with(|| limit.clone());
        }
    }
    file
}

fn recorded(folder: &Path) -> Result<Recorded, AppError> {
    let path = folder.join(RECORDED);
    let no = |what: String| AppError::usage(what, "name a folder that `--record` wrote");
    let bytes = files::read(&path, 1 << 20)
        .map_err(|error| no(format!("{}: {error}", path.display())))?
        .ok_or_else(|| no(format!("there is no recording in {}", folder.display())))?;
    serde_json::from_slice(&bytes).map_err(|error| no(format!("{}: {error}", path.display())))
}

impl Providers {
    /// Moves providers that failed a short time ago back; the engine and a recording stay.
    pub fn ask_failed_last(&mut self, memory: &Memory) {
        if !matches!(self.tape, RecordingMode::None) {
            return;
        }
        let names: Vec<String> = self
            .chain
            .iter()
            .filter_map(|entry| match entry {
                ChainEntry::Embedded => None,
                ChainEntry::Provider(name) => Some(name.clone()),
            })
            .collect();
        let now = clock::now().parse().unwrap_or_default();
        let Some((order, notice)) = memory::after_outages(&names, memory, now) else { return };
        let mut order = order.into_iter();
        for entry in &mut self.chain {
            if let ChainEntry::Provider(name) = entry {
                *name = order.next().unwrap_or_else(|| std::mem::take(name));
            }
        }
        self.notices.push(notice);
    }

    /// Opens the models of the chain.
    pub fn models(&mut self, folders: &ClientFolders) -> Result<Vec<Box<dyn Model>>, AppError> {
        let names: Vec<&str> = self
            .chain
            .iter()
            .filter_map(|link| match link {
                ChainEntry::Embedded => None,
                ChainEntry::Provider(name) => Some(name.as_str()),
            })
            .collect();
        let (models, notices) =
            models::open(&self.ready, &names, &self.tape, &self.ask.redactor, folders)
                .map_err(|error| AppError::environment(error, "see `regreen fix --help`"))?;
        self.notices.extend(notices);
        Ok(models)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_says_where_it_is_from() {
        let price = Price { input: 0.75, output: 3.75, cached: Some(0.075), above: Vec::new() };
        let of = |model: &str, price| {
            price_of(&Provider { model: Some(model.into()), price, ..Provider::default() })
        };
        let list = of("gemini-3.8-flash", Some(price.clone()));
        assert_eq!(
            list,
            "$0.75 and $3.75 per million tokens of question and answer, of the list of 2026-10"
        );
        assert!(of("mine", Some(price)).ends_with("of the configuration"));
        assert!(of("mine", None).starts_with("no price is known"));
        let tiers = prices::of("qwen3-coder-plus").map(|list| list.price);
        assert_eq!(
            of("qwen3-coder-plus", tiers),
            "$1.00 and $5.00 per million tokens of question and answer, more above 32000 tokens, of the list of 2026-07"
        );
    }

    #[test]
    fn secret_headers_of_a_provider_are_hidden() {
        let text = "providers: [mine]\nprovider:\n  mine: { protocol: chat, base-url: 'https://x.test', model: m, headers: { x-api-key: 7cV-header-of-a-test-w1Qz, x-team: payments-of-a-test } }\n";
        let settings = crate::config::parse(text, "f").unwrap();
        let shown = |text: &str| redaction::redact(text).to_string();
        let answer = "7cV-header-of-a-test-w1Qz of payments-of-a-test is wrong";
        assert_eq!(shown(answer), answer);
        open(&ModelOptions::default(), &settings).unwrap();
        assert_eq!(shown(answer), "[redacted] of payments-of-a-test is wrong");
    }

    #[test]
    fn a_limit_for_all_leaves_those_that_have_their_own() {
        let text = "analysis: { provider-timeout: 3m }\nprovider:\n  gemini: { timeout: 10m }\n  mine: { protocol: chat, base-url: 'https://x.test', model: m }\n";
        let settings = crate::config::parse(text, "f").unwrap();
        let file = patient(&settings);
        let limit = |name: &str| {
            let key = |_: &str| Some("k".to_owned());
            let chain = table::resolve(&[name.to_owned()], &file, &key).unwrap();
            chain.ready.first().map(|one| one.timeout.as_secs())
        };
        let table = [("gemini", 600), ("claude", 180), ("mine", 180)];
        for (name, seconds) in table {
            assert_eq!(limit(name), Some(seconds), "{name}");
        }
        assert!(patient(&Settings::default()).is_empty());
    }
}
