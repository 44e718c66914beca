//! Values that go before those of the file: flags of the command line, inputs of the Action.

use serde::{Deserialize, Serialize};
use serde_yaml::{Mapping, Value};

use super::diagnostic::Diagnostic;
use super::keys::{FILE, Form, unknown, wrong};

/// One value by its key, such as `loop.stuck-threshold` and `4`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// The key, its parents in front of it.
    pub key: String,
    /// The value: a text as it is, everything else as YAML.
    pub value: String,
    /// Who says so, for messages: `--set` or the name of an input.
    pub by: String,
}

impl Override {
    /// Reads `KEY=VALUE` of a flag.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key, value) = text
            .split_once('=')
            .filter(|(key, _)| !key.trim().is_empty())
            .ok_or_else(|| format!("`{text}` is not KEY=VALUE, such as gate.target=97"))?;
        let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
        Ok(Self { key, value, by: "--set".into() })
    }
}

/// Puts the values into the file's; answers with what is wrong with them.
pub fn apply(mapping: &mut Mapping, overrides: &[Override]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for one in overrides {
        if let Err(message) = put(mapping, one) {
            problems.push(Diagnostic {
                file: one.by.clone(),
                line: 1,
                column: 1,
                message,
                source: format!("{}={}", one.key, one.value),
            });
        }
    }
    problems
}

fn put(mapping: &mut Mapping, one: &Override) -> Result<(), String> {
    let path: Vec<&str> = one.key.split('.').collect();
    let form = form_of(&path)?;
    let name = path.last().copied().unwrap_or_default();
    let value = match form {
        Form::Text | Form::Time | Form::OneOf(_) => Value::String(one.value.clone()),
        _ => serde_yaml::from_str(&one.value)
            .map_err(|error| format!("`{name}` is not YAML ({error})"))?,
    };
    if let Some(message) = wrong(name, &value, form) {
        return Err(message);
    }
    let mut place = mapping;
    for parent in path.iter().take(path.len().saturating_sub(1)) {
        let child = place.entry((*parent).into()).or_insert_with(|| Value::Mapping(Mapping::new()));
        // What is not a mapping is wrong in the file, and the value takes its place.
        if !child.is_mapping() {
            *child = Value::Mapping(Mapping::new());
        }
        let Value::Mapping(inner) = child else { return Ok(()) };
        place = inner;
    }
    place.insert(name.into(), value);
    Ok(())
}

/// What the value at a path may hold.
fn form_of(path: &[&str]) -> Result<&'static Form, String> {
    let mut table = FILE;
    let mut path = path.iter();
    while let Some(name) = path.next() {
        let found = table.iter().find(|(known, _)| known == name);
        let Some((_, form)) = found else {
            let known: Vec<&str> = table.iter().map(|(known, _)| *known).collect();
            return Err(unknown(name, &known));
        };
        match form {
            Form::Group(inner) => table = inner,
            Form::GroupsByName(inner) => {
                if path.next().is_none() {
                    break;
                }
                table = inner;
            }
            form if path.as_slice().is_empty() => return Ok(form),
            _ => return Err(format!("`{name}` holds a value, no keys")),
        }
    }
    let known: Vec<&str> = table.iter().map(|(known, _)| *known).collect();
    Err(format!("it holds keys: {}", known.join(", ")))
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
    fn a_value_goes_before_that_of_the_file_and_leaves_the_rest() {
        let file = "gate: { target: 90, max-iterations: 3 }\nsandbox: { image: x }\n";
        let sets = [
            "gate.target=97",
            "loop.stuck-abort-ratio=0.25",
            "test.command=pytest -q=1",
            "engine=[gemini, embedded]",
            "providers.gemini.timeout=3m",
            "ignore-preexisting=true",
            "history=discard",
        ];
        let settings = read(file, &sets).unwrap();
        let gate = settings.gate.unwrap();
        assert_eq!((gate.target, gate.max_iterations), (Some(97), Some(3)));
        assert_eq!(settings.fix_loop.unwrap().stuck_abort_ratio, Some(0.25));
        assert_eq!(settings.test.unwrap().command.as_deref(), Some("pytest -q=1"));
        assert_eq!(settings.engine.unwrap(), ["gemini", "embedded"]);
        assert_eq!(settings.providers.unwrap()["gemini"].timeout.as_deref(), Some("3m"));
        assert_eq!(settings.ignore_preexisting, Some(true));
        assert_eq!(settings.history, Some(crate::config::History::Clean));
        assert_eq!(settings.sandbox.unwrap().image.as_deref(), Some("x"));
    }

    #[test]
    fn what_is_wrong_with_a_value_is_said_with_its_source() {
        let table = [
            ("gate.target=150", "`target` is a whole number from 1 to 100"),
            ("gate.tarket=90", "unknown key `tarket`, did you mean `target`?"),
            ("gate=90", "it holds keys: target, max-iterations, min-mutation-score"),
            ("gate.target.high=90", "`target` holds a value, no keys"),
            ("engine=gemini", "`engine` is a list of texts"),
            ("loop.similarity-threshold=2", "is a number from 0 to 1"),
            ("engine=[a", "is not YAML"),
        ];
        for (set, part) in table {
            let shown = read("", &[set]).unwrap_err();
            assert!(shown.starts_with("--set:1:1: ") && shown.contains(part), "{set}: {shown}");
            assert!(shown.contains(set), "{shown}");
        }
        for text in ["gate", "=7", ""] {
            assert!(Override::parse(text).is_err(), "{text}");
        }
    }
}
