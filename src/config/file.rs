//! `.github/regreen.yml` (product.md 13.15): every key optional, unknown keys refused.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_yaml::{Mapping, Value};

use super::diagnostic::Diagnostic;
use super::place::position;
use super::providers::Provider;

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// How tests are run.
    pub test: Option<Test>,
    /// When a session may end.
    pub gate: Option<Gate>,
    /// Who analyses and fixes, first to last.
    pub engine: Option<Vec<String>>,
    /// Who can be asked, by name; over the built-in ones.
    pub providers: Option<BTreeMap<String, Provider>>,
    /// What may be spent.
    pub budget: Option<Budget>,
    /// Paths no edit may touch, as globs.
    pub protect: Option<Vec<String>>,
    /// Where kept fixes go: `branch` pushes a fix branch with a pull request, `head` moves the
    /// head branch itself, `none` pushes nothing.
    pub push: Option<Push>,
    /// What stays visible of a regressing attempt: its commit and the revert, or a patch file.
    pub history: Option<History>,
    /// Who may command by comments.
    pub commands: Option<Commands>,
    /// Follow-up issues to open after completion.
    pub expand: Option<Vec<Topic>>,
    /// Label that starts a run when it is put on a pull request.
    pub label: Option<String>,
    /// Tests that fail on the base too do not count in the rate.
    pub ignore_preexisting: Option<bool>,
    /// What test code can reach.
    pub sandbox: Option<Sandbox>,
}

impl Settings {
    /// What is asked for and not built yet, one sentence each. Whoever asks for it is told, not
    /// misled.
    #[must_use]
    pub fn not_obeyed(&self) -> Vec<&'static str> {
        let image = self.sandbox.as_ref().is_some_and(|sandbox| sandbox.image.is_some());
        let rules = [
            (
                self.history == Some(History::Clean),
                "`history: clean` is not obeyed yet: a regressing attempt stays visible as commit and revert",
            ),
            (
                self.ignore_preexisting == Some(true),
                "`ignore-preexisting` is not obeyed yet: tests that fail on the base are marked and count in the rate",
            ),
            (image, "`sandbox.image` is not obeyed yet: tests run where regreen runs"),
        ];
        rules.into_iter().filter(|(asked, _)| *asked).map(|(_, text)| text).collect()
    }
}

/// Where kept fixes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Push {
    Branch,
    Head,
    None,
}

/// What stays visible of a regressing attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum History {
    Revert,
    Clean,
}

/// What a follow-up issue is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    Test,
    Enhance,
    Refactor,
    Doc,
}

/// Who may command by comments. Without write access nobody may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Commands {
    /// Levels (`write`, `maintain`, `admin`), logins, or numeric ids of bots.
    pub allow: Option<Vec<Name>>,
    /// Teams as `organisation/team`; asking for them needs the token of an App.
    pub teams: Option<Vec<String>>,
}

impl Commands {
    /// The words of `allow`, ids as digits.
    #[must_use]
    pub fn allowed(&self) -> Vec<String> {
        let words = self.allow.iter().flatten().map(|name| match name {
            Name::Id(id) => id.to_string(),
            Name::Word(word) => word.clone(),
        });
        words.collect()
    }
}

/// A level, a login, or a numeric id.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Name {
    Id(u64),
    Word(String),
}

/// What test code can reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Sandbox {
    /// Image in which tests run, where a Docker socket is there.
    pub image: Option<String>,
    /// Whether tests may open outgoing connections.
    pub network: Option<bool>,
}

/// How tests are run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Test {
    /// Instead of the detected command.
    pub command: Option<String>,
    /// Where the command leaves JUnit XML or TAP.
    pub report: Option<String>,
    /// Commands before the first run.
    pub setup: Option<Vec<String>>,
    /// Limit of one run: `30s`, `20m`, `2h`.
    pub timeout: Option<String>,
    /// Globs of test files by layer: `static`, `unit`, `integration`, `e2e`.
    pub layers: Option<BTreeMap<String, String>>,
}

/// When a session may end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Gate {
    /// Percent, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub target: Option<u32>,
    /// Iterations, 1 to 50.
    #[schemars(range(min = 1, max = 50))]
    pub max_iterations: Option<u32>,
    /// Percent of small breaks of the code that tests must notice, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub min_mutation_score: Option<u32>,
}

/// What may be spent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Budget {
    /// Wall time of one run.
    #[schemars(range(min = 1))]
    pub minutes: Option<u64>,
    /// Dollars of one session, as far as prices are known.
    pub usd: Option<f64>,
    /// Tokens of one session.
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// Questions to providers in one session.
    #[schemars(range(min = 1))]
    pub calls: Option<u64>,
    /// The same for one iteration.
    pub iteration: Option<IterationBudget>,
}

/// What one iteration may spend; beyond, it goes on without providers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IterationBudget {
    /// Dollars, as far as prices are known.
    pub usd: Option<f64>,
    /// Tokens.
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// Questions to providers.
    #[schemars(range(min = 1))]
    pub calls: Option<u64>,
}

/// What a key may hold.
enum Form {
    Text,
    Time,
    Number(u64, u64),
    Texts,
    TextsBy(&'static [&'static str]),
    TextsByAny,
    Amount,
    OneOf(&'static [&'static str]),
    SomeOf(&'static [&'static str]),
    Flag,
    Grants,
    GroupsByName(&'static [(&'static str, Form)]),
    Group(&'static [(&'static str, Form)]),
}

const TEST: &[(&str, Form)] = &[
    ("command", Form::Text),
    ("report", Form::Text),
    ("setup", Form::Texts),
    ("timeout", Form::Time),
    ("layers", Form::TextsBy(&["static", "unit", "integration", "e2e"])),
];
const GATE: &[(&str, Form)] = &[
    ("target", Form::Number(1, 100)),
    ("max-iterations", Form::Number(1, 50)),
    ("min-mutation-score", Form::Number(1, 100)),
];
const SPENDING: &[(&str, Form)] = &[
    ("usd", Form::Amount),
    ("tokens", Form::Number(1, u64::MAX)),
    ("calls", Form::Number(1, u64::MAX)),
];
const BUDGET: &[(&str, Form)] = &[
    ("minutes", Form::Number(1, u64::MAX)),
    ("usd", Form::Amount),
    ("tokens", Form::Number(1, u64::MAX)),
    ("calls", Form::Number(1, u64::MAX)),
    ("iteration", Form::Group(SPENDING)),
];
const PRICE: &[(&str, Form)] = &[("input", Form::Amount), ("output", Form::Amount)];
const PROVIDER: &[(&str, Form)] = &[
    ("protocol", Form::OneOf(&["gemini", "chat", "responses", "anthropic"])),
    ("client", Form::OneOf(&["gemini", "qwen", "codex", "claude"])),
    ("mode", Form::OneOf(&["answer", "agent"])),
    ("program", Form::Text),
    ("model", Form::Text),
    ("key", Form::Text),
    ("base-url", Form::Text),
    ("headers", Form::TextsByAny),
    ("price", Form::Group(PRICE)),
    ("context", Form::Number(2_000, 10_000_000)),
    ("timeout", Form::Time),
];

const COMMANDS: &[(&str, Form)] = &[("allow", Form::Grants), ("teams", Form::Texts)];
const SANDBOX: &[(&str, Form)] = &[("image", Form::Text), ("network", Form::Flag)];

/// All keys of the file. A test holds it against the schema.
const FILE: &[(&str, Form)] = &[
    ("test", Form::Group(TEST)),
    ("gate", Form::Group(GATE)),
    ("engine", Form::Texts),
    ("providers", Form::GroupsByName(PROVIDER)),
    ("budget", Form::Group(BUDGET)),
    ("protect", Form::Texts),
    ("push", Form::OneOf(&["branch", "head", "none"])),
    ("history", Form::OneOf(&["revert", "clean"])),
    ("commands", Form::Group(COMMANDS)),
    ("expand", Form::SomeOf(&["test", "enhance", "refactor", "doc"])),
    ("label", Form::Text),
    ("ignore-preexisting", Form::Flag),
    ("sandbox", Form::Group(SANDBOX)),
];

/// A time such as `30s`, `20m`, `2h`; `None` for anything else, and for zero.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    (number > 0).then(|| Duration::from_secs(number.saturating_mul(seconds)))
}

/// The JSON Schema of the file.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Settings)
}

/// Reads the file.
///
/// # Errors
///
/// All problems that can be found in one pass, in the order of the file.
pub fn parse(text: &str, file: &str) -> Result<Settings, Vec<Diagnostic>> {
    let at = |line: usize, column: usize, message: String| Diagnostic {
        file: file.to_owned(),
        line,
        column,
        message,
        source: text.lines().nth(line.saturating_sub(1)).unwrap_or_default().to_owned(),
    };
    let value: Value = serde_yaml::from_str(text).map_err(|error| {
        let place = error.location();
        let (line, column) = place.map_or((1, 1), |place| (place.line(), place.column()));
        vec![at(line, column, format!("expected YAML ({error})"))]
    })?;
    let mapping = match value {
        Value::Null => return Ok(Settings::default()),
        Value::Mapping(mapping) => mapping,
        _ => {
            return Err(vec![at(
                1,
                1,
                "expected keys and values, such as `gate: { target: 95 }`".into(),
            )]);
        }
    };
    let mut problems = Vec::new();
    check(&mapping, FILE, &mut Vec::new(), &mut |path, message| {
        let (line, column) = position(text, path);
        problems.push(at(line, column, message));
    });
    problems.sort_by_key(|problem| (problem.line, problem.column));
    if !problems.is_empty() {
        return Err(problems);
    }
    let settings: Settings = serde_yaml::from_value(Value::Mapping(mapping))
        .map_err(|error| vec![at(1, 1, error.to_string())])?;
    for (name, provider) in settings.providers.iter().flatten() {
        // A row that only changes a built-in one may leave the rest to it.
        let complete = !super::providers::names().contains(&name.as_str());
        if let Some(message) = super::providers::wrong(name, provider)
            .filter(|_| complete || provider.base_url.is_some())
        {
            let (line, column) = position(text, &["providers".into(), name.clone()]);
            problems.push(at(line, column, message));
        }
    }
    if problems.is_empty() { Ok(settings) } else { Err(problems) }
}

/// Reports every key that is unknown and every value of the wrong form.
fn check(
    mapping: &Mapping,
    form: &'static [(&'static str, Form)],
    path: &mut Vec<String>,
    report: &mut dyn FnMut(&[String], String),
) {
    for (key, value) in mapping {
        let name = key.as_str().map_or_else(|| format!("{key:?}"), str::to_owned);
        path.push(name.clone());
        match form.iter().find(|(known, _)| *known == name) {
            None => {
                let known: Vec<&str> = form.iter().map(|(known, _)| *known).collect();
                report(path, unknown(&name, &known));
            }
            Some((_, Form::Group(inner))) => match value {
                Value::Mapping(mapping) => check(mapping, inner, path, report),
                Value::Null => {}
                _ => report(path, format!("`{name}` holds keys and values")),
            },
            Some((_, Form::GroupsByName(inner))) => match value {
                Value::Mapping(groups) => {
                    for (key, value) in groups {
                        path.push(key.as_str().unwrap_or_default().to_owned());
                        match value {
                            Value::Mapping(mapping) => check(mapping, inner, path, report),
                            _ => report(path, "a provider holds keys and values".into()),
                        }
                        path.pop();
                    }
                }
                Value::Null => {}
                _ => report(path, format!("`{name}` holds names with keys and values")),
            },
            Some((_, form)) => {
                if let Some(message) = wrong(&name, value, form) {
                    report(path, message);
                }
            }
        }
        path.pop();
    }
}

fn unknown(name: &str, known: &[&str]) -> String {
    let near = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(name, known), *known))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    match near {
        Some((_, near)) => format!("unknown key `{name}`, did you mean `{near}`?"),
        None => format!("unknown key `{name}`, expected one of {}", known.join(", ")),
    }
}

fn wrong(name: &str, value: &Value, form: &Form) -> Option<String> {
    let texts =
        |value: &Value| value.as_sequence().is_some_and(|items| items.iter().all(Value::is_string));
    match form {
        Form::Text if !value.is_string() => Some(format!("`{name}` is a text")),
        Form::Time if value.as_str().and_then(duration).is_none() => {
            Some(format!("`{name}` is a time such as 30s, 20m or 2h"))
        }
        Form::Number(low, high) if !value.as_u64().is_some_and(|n| (*low..=*high).contains(&n)) => {
            let high = if *high == u64::MAX { String::new() } else { format!(" to {high}") };
            Some(format!("`{name}` is a whole number from {low}{high}"))
        }
        Form::Texts if !texts(value) => Some(format!("`{name}` is a list of texts")),
        Form::TextsBy(keys) => {
            let Some(mapping) = value.as_mapping() else {
                return Some(format!("`{name}` holds {}", keys.join(", ")));
            };
            mapping.iter().find_map(|(key, value)| {
                let key = key.as_str().unwrap_or_default();
                if !keys.contains(&key) {
                    Some(unknown(key, keys))
                } else if value.is_string() {
                    None
                } else {
                    Some(format!("`{key}` is a text"))
                }
            })
        }
        Form::TextsByAny => {
            let mapping = value.as_mapping();
            let fits = mapping.is_some_and(|mapping| {
                mapping.iter().all(|(key, value)| key.is_string() && value.is_string())
            });
            (!fits).then(|| format!("`{name}` holds names with texts"))
        }
        Form::Amount if !value.as_f64().is_some_and(|n| n.is_finite() && n >= 0.0) => {
            Some(format!("`{name}` is a number of dollars, such as 2.50"))
        }
        Form::OneOf(words) if !value.as_str().is_some_and(|word| words.contains(&word)) => {
            Some(format!("`{name}` is one of {}", words.join(", ")))
        }
        Form::SomeOf(words) => {
            let fits = value.as_sequence().is_some_and(|items| {
                items.iter().all(|item| item.as_str().is_some_and(|word| words.contains(&word)))
            });
            (!fits).then(|| format!("`{name}` is a list of {}", words.join(", ")))
        }
        Form::Flag if !value.is_bool() => Some(format!("`{name}` is true or false")),
        Form::Grants => grants(name, value),
        Form::Flag
        | Form::Text
        | Form::Time
        | Form::Number(..)
        | Form::Texts
        | Form::Amount
        | Form::OneOf(_)
        | Form::GroupsByName(_)
        | Form::Group(_) => None,
    }
}

/// What is wrong with a list of those who may command.
fn grants(name: &str, value: &Value) -> Option<String> {
    let form = || Some(format!("`{name}` is a list of levels, logins or numeric ids of bots"));
    let Some(items) = value.as_sequence() else { return form() };
    items.iter().find_map(|item| match item.as_str() {
        Some(low @ ("none" | "read" | "triage")) => {
            Some(format!("`{low}` never suffices in `{name}`; the lowest level is `write`"))
        }
        Some(word) if word.is_empty() || word.chars().any(char::is_whitespace) => form(),
        None if item.as_u64().is_none() => form(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_built_is_told_to_whoever_asks_for_it() {
        let text =
            "history: clean\nignore-preexisting: true\nsandbox: { image: x, network: false }\n";
        assert_eq!(parse(text, "f").unwrap().not_obeyed().len(), 3);
        let text = "history: revert\nignore-preexisting: false\nsandbox: { network: false }\n";
        assert_eq!(parse(text, "f").unwrap().not_obeyed(), Vec::<&str>::new());
    }

    #[test]
    fn a_full_file_is_read() {
        let text = "test:\n  command: pytest -q\n  timeout: 20m\n  layers: { e2e: 'tests/e2e/**' }\ngate: { target: 97, max-iterations: 5 }\nengine: [embedded]\nbudget:\n  minutes: 30\nprotect: ['migrations/**']\n";
        let settings = parse(text, "f").unwrap();
        assert_eq!(settings.gate.unwrap().target, Some(97));
        assert_eq!(settings.test.unwrap().command.as_deref(), Some("pytest -q"));
        assert_eq!(parse("", "f").unwrap(), Settings::default());
    }

    #[test]
    fn every_problem_is_shown_with_its_place() {
        let text =
            "gate:\n  target: 150\n  max-iteration: 5\ntest: { timeout: soon }\nprotekt: []\n";
        let shown: Vec<String> =
            parse(text, "regreen.yml").unwrap_err().iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        regreen.yml:2:3: `target` is a whole number from 1 to 100
          |   target: 150
          |   ^
        regreen.yml:3:3: unknown key `max-iteration`, did you mean `max-iterations`?
          |   max-iteration: 5
          |   ^
        regreen.yml:4:9: `timeout` is a time such as 30s, 20m or 2h
          | test: { timeout: soon }
          |         ^
        regreen.yml:5:1: unknown key `protekt`, did you mean `protect`?
          | protekt: []
          | ^
        ");
    }

    #[test]
    fn keys_of_the_bot_are_read_and_checked() {
        let text = "push: head\nhistory: clean\ncommands: { allow: [maintain, octo, 7], teams: [a/b] }\nexpand: [test, doc]\nlabel: fix-me\nignore-preexisting: true\nsandbox: { image: 'x:1', network: false }\ntest: { setup: [make] }\n";
        let settings = parse(text, "f").unwrap();
        assert_eq!((settings.push, settings.history), (Some(Push::Head), Some(History::Clean)));
        assert_eq!(settings.commands.unwrap().allowed(), ["maintain", "octo", "7"]);
        assert_eq!(settings.expand.unwrap(), [Topic::Test, Topic::Doc]);
        assert_eq!(settings.sandbox.unwrap().network, Some(false));
        assert_eq!(settings.ignore_preexisting, Some(true));
        let table = [
            ("push: force", "`push` is one of branch, head, none"),
            ("history: gone", "`history` is one of revert, clean"),
            ("commands: { allow: [read] }", "`read` never suffices"),
            ("commands: { allow: write }", "`allow` is a list of levels"),
            ("commands: { allow: [[a]] }", "`allow` is a list of levels"),
            ("commands: { team: [] }", "did you mean `teams`?"),
            ("expand: [docs]", "`expand` is a list of test, enhance, refactor, doc"),
            ("label: 7", "`label` is a text"),
            ("ignore-preexisting: 'yes'", "`ignore-preexisting` is true or false"),
            ("sandbox: { network: all }", "`network` is true or false"),
            ("test: { setup: make }", "`setup` is a list of texts"),
        ];
        for (text, part) in table {
            let problems = parse(text, "f").unwrap_err();
            assert!(problems[0].message.contains(part), "{text}: {}", problems[0].message);
        }
    }

    #[test]
    fn broken_yaml_names_line_and_column() {
        let problems = parse("gate:\n  target: [1\n", "f").unwrap_err();
        assert!(problems[0].line >= 2, "{problems:?}");
        assert!(parse("- a\n", "f").is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("2h"), Some(Duration::from_hours(2)));
        for wrong in ["", "5", "0s", "-1m", "1d", "s", "1é"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_table_of_keys_is_that_of_the_schema() {
        let schema = serde_json::to_value(schema()).unwrap();
        let keys: Vec<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        for (key, _) in FILE {
            assert!(keys.contains(key), "{key}");
        }
        assert_eq!(keys.len(), FILE.len());
    }
}
