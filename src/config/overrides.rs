//! `Override`: a setting from a flag or an Action input, which wins over the configuration file.

use serde::{Deserialize, Serialize};
use serde_yaml::{Mapping, Value};

use super::diagnostic::Diagnostic;
use super::keys::{KeyKind, child, children, lookup, problem, unknown};
use super::table::ValueType;

/// One setting given outside the file, such as `loop.stuck-threshold` with the value `4`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// The full dotted key.
    pub key: String,
    /// The value: text settings verbatim, all others as YAML.
    pub value: String,
    /// Its source, for messages: `--set` or the name of an input.
    pub by: String,
}

impl Override {
    /// Parses the `KEY=VALUE` argument of `--set`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key, value) = text
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
            .ok_or_else(|| format!("`{text}` is not KEY=VALUE, such as gate.target=97"))?;
        let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
        Ok(Self { key, value, by: "--set".into() })
    }
}

/// Writes the overrides into the parsed file; returns a diagnostic for each invalid one.
pub fn apply(mapping: &mut Mapping, overrides: &[Override]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for one in overrides {
        if let Err(message) = put(mapping, one) {
            problems.push(Diagnostic {
                file: one.by.clone(),
                line: 0,
                column: 0,
                message,
                source: format!("{}={}", one.key, one.value),
            });
        }
    }
    problems
}

fn put(mapping: &mut Mapping, one: &Override) -> Result<(), String> {
    let path: Vec<&str> = one.key.split('.').collect();
    let values = type_of(&path)?;
    let name = path.last().copied().unwrap_or_default();
    let value =
        values.parse_flag(&one.value).map_err(|error| format!("`{name}` is not YAML ({error})"))?;
    if let Some(message) = problem(name, &value, values) {
        return Err(message);
    }
    let mut group = mapping;
    for parent in path.iter().take(path.len().saturating_sub(1)) {
        let child = group.entry((*parent).into()).or_insert_with(|| Value::Mapping(Mapping::new()));
        // A parent that is not a mapping is an error in the file; the override replaces it.
        if !child.is_mapping() {
            *child = Value::Mapping(Mapping::new());
        }
        let Value::Mapping(inner) = child else { return Ok(()) };
        group = inner;
    }
    group.insert(name.into(), value);
    Ok(())
}

/// The type of the setting at a path; `Err` is the message for the user.
fn type_of(path: &[&str]) -> Result<&'static ValueType, String> {
    let mut group = String::new();
    for (index, name) in path.iter().enumerate() {
        let full = child(&group, name);
        match lookup(&full) {
            None => return Err(unknown(name, &children(&group))),
            Some(KeyKind::Value(values)) if index + 1 == path.len() => return Ok(values),
            Some(KeyKind::Value(_)) => return Err(format!("`{name}` holds a value, no keys")),
            Some(KeyKind::Group) => group = full,
        }
    }
    // `provider` maps names of providers to their keys, so list the keys below `provider.*`.
    let group = if group == "provider" { "provider.*" } else { &group };
    Err(format!("it holds keys: {}", children(group).join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Settings, parse_with};

    fn read(file: &str, sets: &[&str]) -> Result<Settings, String> {
        let sets: Vec<Override> = sets.iter().map(|text| Override::parse(text).unwrap()).collect();
        parse_with(file, "f", &sets).map_err(|problems| problems[0].to_string())
    }

    #[test]
    fn an_override_wins_over_the_file_and_leaves_the_rest() {
        let file = "gate: { target: 90, max-iterations: 3 }\nsandbox: { image: x }\n";
        let sets = [
            "gate.target=97",
            "loop.stuck-abort-ratio=0.25",
            "test.command=pytest -q=1",
            "providers=[gemini, embedded]",
            "provider.gemini.timeout=3m",
            "ignore-preexisting=true",
            "history=clean",
        ];
        let settings = read(file, &sets).unwrap();
        let gate = settings.gate.unwrap();
        assert_eq!((gate.target, gate.max_iterations), (Some(97), Some(3)));
        assert_eq!(settings.fix_loop.unwrap().stuck_abort_ratio, Some(0.25));
        assert_eq!(settings.test.unwrap().command.as_deref(), Some("pytest -q=1"));
        assert_eq!(settings.providers.unwrap(), ["gemini", "embedded"]);
        assert_eq!(settings.provider.unwrap()["gemini"].timeout.as_deref(), Some("3m"));
        assert_eq!(settings.ignore_preexisting, Some(true));
        assert_eq!(settings.history, Some(crate::config::History::Clean));
        assert_eq!(settings.sandbox.unwrap().image.as_deref(), Some("x"));
    }

    #[test]
    fn a_wrong_value_is_reported_with_its_source() {
        let table = [
            ("gate.target=150", "`target` is a whole number from 1 to 100"),
            ("gate.tarket=90", "unknown key `tarket`, did you mean `target`?"),
            (
                "gate=90",
                "it holds keys: target, max-iterations, known-failures, min-mutation-score",
            ),
            ("gate.target.high=90", "`target` holds a value, no keys"),
            ("providers=gemini", "`providers` is a list of texts"),
            ("loop.similarity-threshold=2", "is a number from 0 to 1"),
            ("providers=[a", "is not YAML"),
        ];
        for (set, part) in table {
            let shown = read("", &[set]).unwrap_err();
            assert!(shown.starts_with("--set: ") && shown.contains(part), "{set}: {shown}");
            assert!(shown.contains(set), "{shown}");
        }
        for text in ["gate", "=7", ""] {
            assert!(Override::parse(text).is_err(), "{text}");
        }
    }
}
