//! The keys of the file with what each may hold, and what is wrong with a value.

use serde_yaml::{Mapping, Value};

use super::file::duration;

/// What a key may hold.
pub(super) enum Form {
    Text,
    Time,
    Number(u64, u64),
    Texts,
    TextsBy(&'static [&'static str]),
    TextsByAny,
    Amount,
    Share,
    OneOf(&'static [&'static str]),
    SomeOf(&'static [&'static str]),
    Flag,
    Grants,
    GroupsByName(&'static [(&'static str, Form)]),
    Group(&'static [(&'static str, Form)]),
}

const LAYERS: &[&str] = &["static", "unit", "integration", "e2e"];
const TEST: &[(&str, Form)] = &[
    ("command", Form::Text),
    ("report", Form::Text),
    ("setup", Form::Texts),
    ("timeout", Form::Time),
    ("layers", Form::TextsBy(LAYERS)),
];
const GATE: &[(&str, Form)] = &[
    ("target", Form::Number(1, 100)),
    ("max-iterations", Form::Number(1, 50)),
    ("min-mutation-score", Form::Number(1, 100)),
];
const LOOP: &[(&str, Form)] = &[
    ("regression-threshold", Form::Number(0, 100)),
    ("stuck-threshold", Form::Number(2, 50)),
    ("stuck-abort-ratio", Form::Share),
    ("similarity-threshold", Form::Share),
    ("aggressive-min-rate", Form::Number(0, 100)),
    ("fix-scope", Form::OneOf(&["code", "both", "tests"])),
];
const ANALYSIS: &[(&str, Form)] = &[
    ("provider-timeout", Form::Time),
    ("min-confidence", Form::Share),
    ("min-analysis-words", Form::Number(0, 10_000)),
    ("same-cause-limit", Form::Number(2, 50)),
];
const COVERAGE: &[(&str, Form)] = &[
    ("line", Form::Number(0, 100)),
    ("branch", Form::Number(0, 100)),
    ("function", Form::Number(0, 100)),
    ("command", Form::Text),
    ("report", Form::Text),
];
const TOOLS: &[(&str, Form)] = &[("lint", Form::Text), ("build", Form::Text)];
const PLAN: &[(&str, Form)] =
    &[("auto", Form::Flag), ("confirm", Form::OneOf(&["never", "always"]))];
const VALIDATE: &[(&str, Form)] = &[
    ("files", Form::Texts),
    ("strict", Form::Flag),
    ("autofix", Form::Flag),
    ("skip-types", Form::Flag),
];
const SPENDING: &[(&str, Form)] = &[
    ("usd", Form::Amount),
    ("tokens", Form::Number(1, u64::MAX)),
    ("calls", Form::Number(1, u64::MAX)),
];
const BUDGET: &[(&str, Form)] = &[
    ("minutes", Form::Number(1, u64::MAX)),
    ("engine-minutes", Form::Number(1, 10_000)),
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
pub(super) const FILE: &[(&str, Form)] = &[
    ("test", Form::Group(TEST)),
    ("gate", Form::Group(GATE)),
    ("engine", Form::Texts),
    ("providers", Form::GroupsByName(PROVIDER)),
    ("budget", Form::Group(BUDGET)),
    ("protect", Form::Texts),
    ("push", Form::OneOf(&["branch", "head", "none"])),
    ("commit", Form::OneOf(&["push", "local", "none"])),
    ("commit-state", Form::OneOf(&["branch", "none"])),
    ("history", Form::OneOf(&["revert", "clean", "discard"])),
    ("commands", Form::Group(COMMANDS)),
    ("expand", Form::SomeOf(&["test", "enhance", "refactor", "doc"])),
    ("label", Form::Text),
    ("ignore-preexisting", Form::Flag),
    ("sandbox", Form::Group(SANDBOX)),
    ("loop", Form::Group(LOOP)),
    ("analysis", Form::Group(ANALYSIS)),
    ("coverage", Form::Group(COVERAGE)),
    ("tools", Form::Group(TOOLS)),
    ("plan", Form::Group(PLAN)),
    ("validate", Form::Group(VALIDATE)),
];

/// Reports every key that is unknown and every value of the wrong form.
pub(super) fn check(
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

pub(super) fn unknown(name: &str, known: &[&str]) -> String {
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

pub(super) fn wrong(name: &str, value: &Value, form: &Form) -> Option<String> {
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
        Form::Share if !value.as_f64().is_some_and(|n| (0.0..=1.0).contains(&n)) => {
            Some(format!("`{name}` is a number from 0 to 1, such as 0.5"))
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
        | Form::Share
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
