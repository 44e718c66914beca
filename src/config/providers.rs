//! Model providers: the built-in table, entries of the configuration file, and the provider chain.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::budget::Price;
use crate::domain::provider::{ClientMode, ClientProgram, EMBEDDED, Protocol};

use super::prices;

/// One entry below `provider` in the configuration file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Provider {
    /// API protocol of the server.
    pub protocol: Option<Protocol>,
    /// Command-line client to use instead of a protocol.
    pub client: Option<ClientProgram>,
    /// Whether the client answers questions or edits a private checkout itself.
    pub mode: Option<ClientMode>,
    /// Program of the client, when it is not on the path under its usual name.
    pub program: Option<String>,
    /// Name of the model to use.
    pub model: Option<String>,
    /// Name of the environment variable that holds the API key.
    pub key: Option<String>,
    /// Base URL of the server, if it is not the default of the protocol.
    pub base_url: Option<String>,
    /// HTTP headers to send in addition to those of the protocol.
    pub headers: Option<BTreeMap<String, String>>,
    /// Price in dollars per million tokens.
    pub price: Option<Price>,
    /// Context window: maximum number of tokens of question and answer together.
    pub context: Option<u32>,
    /// Time limit of one call.
    pub timeout: Option<String>,
}

/// A provider whose definition is complete and whose API key, if it needs one, is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Ready {
    pub name: String,
    /// Its definition, from the file or the built-in table.
    pub provider: Provider,
    /// API key from the environment; `None` if the provider needs none.
    pub key: Option<String>,
    /// Time limit of one call.
    pub timeout: Duration,
    /// Context window: maximum number of tokens of question and answer together.
    pub context: u32,
}

/// The chain used without configuration; providers whose API key is not set are left out.
pub const DEFAULT_CHAIN: &[&str] = &["gemini", "qwen", "codex", EMBEDDED];

/// Default time limit of one call: no job of a forge can wait longer for a service that hangs.
pub const TIMEOUT: Duration = Duration::from_mins(5);

/// Context window, in tokens, of a model without a configured `context`.
const CONTEXT: u32 = 128_000;

/// How a built-in provider is called.
#[derive(Clone, Copy)]
enum Method {
    /// Over HTTP: protocol, model and base URL (empty for the protocol's default).
    Http(Protocol, &'static str, &'static str),
    /// Through a command-line client in `answer` mode: the client, model and base URL (empty for the
    /// vendor's).
    Client(ClientProgram, &'static str, &'static str),
}

use Method::{Client, Http};

/// A built-in provider: its name, the variable of its key, context window and method.
type Row = (&'static str, &'static str, u32, Method);

const GEMINI: Row =
    ("gemini", "GEMINI_API_KEY", 1_000_000, Http(Protocol::Gemini, "gemini-3.8-flash", ""));
const QWEN: Row = (
    "qwen",
    "DASHSCOPE_API_KEY",
    256_000,
    Http(
        Protocol::Chat,
        "qwen3-coder-plus",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    ),
);
const CODEX: Row =
    ("codex", "OPENAI_API_KEY", 272_000, Http(Protocol::Responses, "gpt-5.4-mini", ""));
const CLAUDE: Row =
    ("claude", "ANTHROPIC_API_KEY", 200_000, Http(Protocol::Anthropic, "claude-haiku-4-5", ""));

/// Built-in providers, which need only an API key.
const BUILT_IN: &[Row] = &[
    GEMINI,
    QWEN,
    CODEX,
    CLAUDE,
    client("gemini-client", ClientProgram::Gemini, GEMINI),
    client("qwen-client", ClientProgram::Qwen, QWEN),
    client("codex-client", ClientProgram::Codex, CODEX),
    ("copilot", "GITHUB_TOKEN", 128_000, Client(ClientProgram::Copilot, "", "")),
    client("claude-client", ClientProgram::Claude, CLAUDE),
];

/// The row of a client that asks the same model as a provider, with the same key. It adds text of its
/// own to each question, so less of the context window is free.
const fn client(name: &'static str, program: ClientProgram, of: Row) -> Row {
    let (_, key, _, Http(_, model, base_url) | Client(_, model, base_url)) = of;
    (name, key, 200_000, Client(program, model, base_url))
}

fn built_in(name: &str) -> Option<Provider> {
    let (_, key, context, method) = *BUILT_IN.iter().find(|row| row.0 == name)?;
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let provider = Provider { key: text(key), context: Some(context), ..Provider::default() };
    Some(match method {
        Http(protocol, model, base_url) => Provider {
            protocol: Some(protocol),
            model: text(model),
            base_url: text(base_url),
            ..provider
        },
        Client(client, model, base_url) => Provider {
            client: Some(client),
            mode: Some(ClientMode::Answer),
            model: text(model),
            base_url: text(base_url),
            ..provider
        },
    })
}

/// Names of the built-in providers.
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|row| row.0).collect()
}

/// Merges the file's entry over the built-in provider of the same name.
fn merged(name: &str, file: &BTreeMap<String, Provider>) -> Option<Provider> {
    let base = built_in(name);
    let Some(own) = file.get(name) else { return base };
    // With another protocol or client, none of the built-in values apply.
    let changed = base.as_ref().is_some_and(|base| {
        own.protocol.is_some() && own.protocol != base.protocol
            || own.client.is_some() && own.client != base.client
    });
    let base = base.filter(|_| !changed).unwrap_or_default();
    let own = own.clone();
    Some(Provider {
        protocol: own.protocol.or(base.protocol),
        client: own.client.or(base.client),
        mode: own.mode.or(base.mode),
        program: own.program.or(base.program),
        model: own.model.or(base.model),
        // Never send the API key of a built-in provider to another server.
        key: if own.base_url.is_some() { own.key } else { own.key.or(base.key) },
        base_url: own.base_url.or(base.base_url),
        headers: own.headers.or(base.headers),
        price: own.price.or(base.price),
        context: own.context.or(base.context),
        timeout: own.timeout.or(base.timeout),
    })
}

/// The resolved chain of providers, and why others were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Names of all links in order, including the embedded engine.
    pub links: Vec<String>,
    /// The links that are providers, ready to be called.
    pub ready: Vec<Ready>,
    /// Messages that explain why a configured provider was left out.
    pub notices: Vec<String>,
}

/// Resolves the chain `named`. If it is empty, resolves the default chain, and leaves out providers
/// without an API key silently. `variable` reads the environment.
/// `Err` describes the first invalid entry, or says that no provider is left.
pub fn resolve(
    named: &[String],
    file: &BTreeMap<String, Provider>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Chain, String> {
    let chosen = !named.is_empty();
    let mut chain = Chain::default();
    for name in chain_of(named) {
        if chain.links.contains(&name) {
            return Err(format!("`{name}` is in the chain twice"));
        }
        if name == EMBEDDED {
            chain.links.push(name);
            continue;
        }
        match ready(&name, file, variable)? {
            Ok(ready) => {
                chain.links.push(name);
                chain.ready.push(ready);
            }
            Err(missing) if chosen => {
                chain.notices.push(format!("`{name}` is not asked: {missing}"));
            }
            Err(_) => {}
        }
    }
    if chain.links.is_empty() {
        return Err(format!("no provider of the chain is available: {}", chain.notices.join("; ")));
    }
    Ok(chain)
}

/// The names of a chain: those that are `named`, else those of the default chain.
pub fn chain_of(named: &[String]) -> Vec<String> {
    if named.is_empty() {
        return DEFAULT_CHAIN.iter().map(|name| (*name).to_owned()).collect();
    }
    named.to_vec()
}

/// A provider, or which variable is missing. The outer error says what is wrong with its definition.
pub fn ready(
    name: &str,
    file: &BTreeMap<String, Provider>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Result<Ready, String>, String> {
    let provider = defined(name, file)?;
    let key = provider.key.as_deref().and_then(variable).filter(|key| !key.trim().is_empty());
    if let (Some(variable), None) = (&provider.key, &key) {
        return Ok(Err(format!("{variable} is not set")));
    }
    let timeout = provider.timeout.as_deref().and_then(super::table::duration).unwrap_or(TIMEOUT);
    let context = provider.context.unwrap_or(CONTEXT);
    Ok(Ok(Ready { name: name.to_owned(), provider, key, timeout, context }))
}

/// The definition of a provider with its model's list price, or what is wrong with it.
fn defined(name: &str, file: &BTreeMap<String, Provider>) -> Result<Provider, String> {
    if let Some(message) = problem(name, file) {
        return Err(message);
    }
    let mut provider = merged(name, file).ok_or_else(|| unknown(name, file))?;
    let list = || provider.model.as_deref().and_then(prices::of).map(|list| list.price);
    provider.price = provider.price.or_else(list);
    Ok(provider)
}

/// Why a budget in dollars cannot hold, and what to add; `None` if every provider has a price.
pub fn unpriced(ready: &[Ready]) -> Option<(String, String)> {
    let one = ready.iter().find(|one| one.provider.price.is_none())?;
    let (name, model) = (&one.name, one.provider.model.as_deref());
    let whose = model.map_or_else(|| "its model".to_owned(), |model| format!("`{model}`"));
    let message =
        format!("a budget in dollars cannot hold: the price of {whose} of `{name}` is unknown");
    let hint = format!(
        "add `provider: {{ {name}: {{ price: {{ input: 1.00, output: 5.00 }} }} }}` to .github/regreen.yml, \
         with what it charges per million tokens, or use a budget in tokens"
    );
    Some((message, hint))
}

fn unknown(name: &str, file: &BTreeMap<String, Provider>) -> String {
    let mut known: Vec<&str> = names();
    known.extend(file.keys().map(String::as_str));
    known.push(EMBEDDED);
    format!("there is no provider `{name}`; known are {}", known.join(", "))
}

/// A provider that existed before, and what to use now.
const RETIRED: (&str, &str) = (
    "github",
    "provider `github`: GitHub Models was retired on 2026-07-30; use `copilot`, the Copilot CLI, instead",
);

/// What is wrong with a provider's entry over the built-in one; `None` if valid or undefined.
pub fn problem(name: &str, file: &BTreeMap<String, Provider>) -> Option<String> {
    let is_retired = name == RETIRED.0
        && file.get(name).is_none_or(|own| own.protocol.is_none() && own.client.is_none());
    if is_retired {
        return Some(RETIRED.1.to_owned());
    }
    let provider = merged(name, file)?;
    match (provider.protocol, provider.client) {
        (None, None) => return Some(format!("provider `{name}` needs `protocol` or `client`")),
        (Some(_), Some(_)) => {
            return Some(format!("provider `{name}` has both `protocol` and `client`"));
        }
        (Some(_), None) if provider.model.is_none() => {
            return Some(format!("provider `{name}` needs `model`"));
        }
        (None, Some(ClientProgram::Qwen)) if provider.base_url.is_none() => {
            return Some(format!(
                "provider `{name}` needs `base-url`: `qwen` speaks to any server of chat completions, and the key must not go to the wrong one"
            ));
        }
        (Some(_), None) | (None, Some(_)) => {}
    }
    let url = provider.base_url.as_deref()?;
    let host = url.split("://").nth(1).unwrap_or_default();
    let host = host.split(['/', '?']).next().unwrap_or_default();
    if host.contains('@') {
        return Some(format!("provider `{name}`: put no user into `base-url`"));
    }
    let bare = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let near = matches!(bare, "localhost" | "127.0.0.1" | "[::1]");
    if url.starts_with("https://") || url.starts_with("http://") && near {
        return None;
    }
    Some(format!(
        "provider `{name}`: `base-url` begins with https:// (http:// only on this machine)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(named: &[&str], file: &str, keys: &[&str]) -> Result<Chain, String> {
        let file: BTreeMap<String, Provider> = serde_yaml::from_str(file).unwrap();
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        resolve(&named, &file, &|name| keys.contains(&name).then(|| "secret".to_owned()))
    }

    #[test]
    fn one_key_is_enough() {
        assert_eq!(chain(&[], "{}", &[]).unwrap().links, ["embedded"]);
        let one = chain(&[], "{}", &["OPENAI_API_KEY"]).unwrap();
        assert_eq!(one.links, ["codex", "embedded"]);
        assert!(one.notices.is_empty());
        let all = chain(&[], "{}", &["OPENAI_API_KEY", "GEMINI_API_KEY", "DASHSCOPE_API_KEY"]);
        assert_eq!(all.unwrap().links, ["gemini", "qwen", "codex", "embedded"]);
    }

    #[test]
    fn a_named_provider_without_its_key_is_left_out_with_a_notice() {
        let one = chain(&["claude", "embedded"], "{}", &[]).unwrap();
        assert_eq!(one.links, ["embedded"]);
        assert_eq!(one.notices, ["`claude` is not asked: ANTHROPIC_API_KEY is not set"]);
        assert!(chain(&["claude"], "{}", &[]).is_err());
    }

    #[test]
    fn the_file_wins_over_the_built_in_table_and_another_address_needs_its_own_key() {
        let file = "gemini: { model: other, price: { input: 1.25, output: 10.0 } }";
        let one = chain(&["gemini"], file, &["GEMINI_API_KEY"]).unwrap();
        assert_eq!(one.ready[0].provider.model.as_deref(), Some("other"));
        assert!(one.ready[0].provider.price.as_ref().unwrap().output > 9.9);
        let file = "codex: { base-url: 'https://elsewhere.example/v1' }";
        let one = chain(&["codex"], file, &["OPENAI_API_KEY"]).unwrap();
        assert_eq!(one.ready[0].key, None, "the key stays here");
        let local = "mine: { protocol: chat, model: m, base-url: 'http://127.0.0.1:11434/v1' }";
        assert_eq!(chain(&["mine"], local, &[]).unwrap().links, ["mine"]);
    }

    #[test]
    fn the_key_of_dashscope_goes_to_dashscope() {
        let one = chain(&["qwen-client"], "{}", &["DASHSCOPE_API_KEY"]).unwrap();
        let address = one.ready[0].provider.base_url.as_deref().unwrap();
        assert!(address.starts_with("https://dashscope-intl.aliyuncs.com/"), "{address}");
    }

    #[test]
    fn an_entry_with_an_address_inherits_the_rest_of_a_built_in_provider() {
        let file = "gemini: { base-url: 'https://proxy.example', key: MY_KEY }";
        let one = chain(&["gemini"], file, &["MY_KEY"]).unwrap();
        assert_eq!(one.ready[0].provider.model.as_deref(), Some("gemini-3.8-flash"));
        assert_eq!(one.ready[0].provider.protocol, Some(Protocol::Gemini));
        let own = "github: { protocol: chat, model: m, base-url: 'https://mine.example' }";
        assert_eq!(chain(&["github"], own, &[]).unwrap().links, ["github"], "a name like another");
    }

    #[test]
    fn the_built_in_models_have_list_prices_and_the_file_wins() {
        let keys: Vec<&str> = BUILT_IN.iter().map(|row| row.1).collect();
        for (name, _, _, method) in BUILT_IN {
            let Http(..) = method else { continue };
            let one = chain(&[name], "{}", &keys).unwrap();
            assert!(one.ready[0].provider.price.is_some(), "{name}");
            assert_eq!(unpriced(&one.ready), None, "{name}");
        }
        let file = "gemini: { price: { input: 9.0, output: 90.0 } }";
        let own = chain(&["gemini"], file, &keys).unwrap();
        assert!(own.ready[0].provider.price.as_ref().unwrap().input > 8.9);
        let free = "mine: { protocol: chat, model: m, base-url: 'http://localhost/v1' }";
        let (message, hint) = unpriced(&chain(&["mine"], free, &[]).unwrap().ready).unwrap();
        assert!(message.contains("the price of `m` of `mine` is unknown"), "{message}");
        assert!(hint.contains("`provider: { mine: { price: {"), "{hint}");
    }

    #[test]
    fn invalid_definitions_are_refused() {
        let table = [
            (&["nobody"][..], "{}", "no provider `nobody`"),
            (&["embedded", "embedded"], "{}", "twice"),
            (&["x"], "x: { model: m }", "needs `protocol` or `client`"),
            (&["x"], "x: { protocol: chat }", "needs `model`"),
            (&["github"], "{}", "retired on 2026-07-30; use `copilot`"),
            (&["github"], "github: { model: m }", "retired on 2026-07-30; use `copilot`"),
            (&["x"], "x: { protocol: chat, client: codex, model: m }", "both"),
            (&["x"], "x: { client: qwen, key: OPENAI_API_KEY }", "needs `base-url`"),
            (&["x"], "x: { protocol: chat, model: m, base-url: 'http://example.com' }", "https"),
            (
                &["x"],
                "x: { protocol: chat, model: m, base-url: 'http://127.0.0.1@example.com/' }",
                "no user",
            ),
        ];
        for (named, file, expected) in table {
            let error = chain(named, file, &[]).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
