//! Validates the keys and values of a configuration file, and suggests corrections for typos.

use serde_yaml::{Mapping, Value};

use crate::domain::known_failure::{self, KnownFailure};

use super::table::{SETTINGS, ValueType, glob_problem, setting};

/// Reports the path of every unknown key and of every invalid value. `group` is the full key of
/// `mapping`, with `*` in place of a provider's name; it is empty for the whole file.
pub(super) fn check(
    mapping: &Mapping,
    group: &str,
    path: &mut Vec<String>,
    report: &mut dyn FnMut(&[String], String),
) {
    for (key, value) in mapping {
        let name = key.as_str().map_or_else(|| format!("{key:?}"), str::to_owned);
        let full = child(group, &name);
        path.push(name.clone());
        match (lookup(&full), value) {
            (Some(KeyKind::Value(values)), value) => {
                if let Some(message) = problem(&name, value, values) {
                    report(path, message);
                }
            }
            (Some(KeyKind::Group), Value::Mapping(inner)) => check(inner, &full, path, report),
            (Some(KeyKind::Group), Value::Null) if group != "provider" => {}
            (Some(KeyKind::Group), _) if group == "provider" => {
                report(path, "a provider holds keys and values".into());
            }
            (Some(KeyKind::Group), _) => report(path, format!("`{name}` holds keys and values")),
            (None, _) => report(path, unknown(&name, &children(group))),
        }
        path.pop();
    }
}

/// Whether a key holds a value or further keys.
pub(super) enum KeyKind {
    Value(&'static ValueType),
    /// A mapping with further keys.
    Group,
}

/// Looks up a full key; `None` if there is no such key.
pub(super) fn lookup(key: &str) -> Option<KeyKind> {
    if let Some(row) = setting(key) {
        return Some(KeyKind::Value(&row.values));
    }
    (!children(key).is_empty()).then_some(KeyKind::Group)
}

/// The full key of `name` within `group`.
pub(super) fn child(group: &str, name: &str) -> String {
    match group {
        "" => name.to_owned(),
        "provider" => "provider.*".into(),
        _ => format!("{group}.{name}"),
    }
}

/// Names of the keys directly below a group.
pub(super) fn children(group: &str) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for row in SETTINGS {
        let rest = if group.is_empty() {
            Some(row.key)
        } else {
            row.key.strip_prefix(group).and_then(|rest| rest.strip_prefix('.'))
        };
        if let Some(name) = rest.and_then(|rest| rest.split('.').next())
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// The message for a key that does not exist.
pub(super) fn unknown(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("unknown key `{name}`, did you mean `{near}`?"),
        None => format!("unknown key `{name}`, expected one of {}", known.join(", ")),
    }
}

/// The known word closest to a misspelt one; `None` if none is close enough.
pub fn nearest<K: AsRef<str> + Ord>(word: &str, known: impl Iterator<Item = K>) -> Option<K> {
    let word: String = word.chars().take(60).collect::<String>().to_lowercase();
    known
        .map(|known| (strsim::damerau_levenshtein(&word, known.as_ref()), known))
        .min()
        .filter(|(distance, known)| *distance <= 3 && *distance < known.as_ref().len())
        .map(|(_, known)| known)
}

/// Describes why a value is invalid for its key; `None` if it is valid.
pub(super) fn problem(name: &str, value: &Value, values: &ValueType) -> Option<String> {
    if values.accepts(value) {
        return None;
    }
    let stranger = match (values, value) {
        (ValueType::TextByName(names) | ValueType::GlobByName(names), Value::Mapping(mapping))
            if !names.is_empty() =>
        {
            mapping
                .keys()
                .filter_map(Value::as_str)
                .find(|key| !names.contains(key))
                .map(|key| unknown(key, names))
                .or_else(|| mapping.values().find_map(no_glob))
        }
        (ValueType::KnownFailures, Value::Mapping(mapping)) => {
            mapping.iter().find_map(|(test, text)| {
                let (test, text) = (test.as_str()?, text.as_str()?);
                let is_wrong = KnownFailure::parse(test, text).is_none();
                is_wrong.then(|| {
                    format!(
                        "`{name}`: `{test}` needs the id of a test, a day and a reason, such as `{}`",
                        known_failure::FORM
                    )
                })
            })
        }
        (ValueType::Glob, value) => no_glob(value),
        (ValueType::Globs(_), Value::Sequence(items)) => items.iter().find_map(no_glob),
        (ValueType::Grants, Value::Sequence(items)) => items
            .iter()
            .filter_map(Value::as_str)
            .find(|word| matches!(*word, "none" | "read" | "triage"))
            .map(|low| format!("`{low}` never suffices in `{name}`; the lowest level is `write`")),
        _ => None,
    };
    Some(stranger.unwrap_or_else(|| format!("`{name}` is {}", values.expectation())))
}

/// The message for a text that does not compile as a glob.
fn no_glob(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    Some(format!("`{text}` is not a valid glob: {}", glob_problem(text)?))
}
