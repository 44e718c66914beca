//! Inputs and outputs of the Action: one table that `action.yml` and the README are held to.

use std::collections::BTreeMap;

use super::file::duration;
use super::overrides::Override;

mod table;

#[cfg(test)]
pub use table::OUTPUTS;
pub use table::{Form, INPUTS, Input};

use Form::{Amount, Flag, Lines, Names, Secret, Text, Time, Whole, Word, Words};

/// The table row of an input.
#[must_use]
pub fn find(name: &str) -> Option<&'static Input> {
    INPUTS.iter().find(|input| input.name == name)
}

/// The environment variable of an input, as the runner makes it: upper case, blanks to `_`,
/// hyphens stay.
#[must_use]
pub fn variable(name: &str) -> String {
    format!("INPUT_{}", name.to_uppercase().replace(' ', "_"))
}

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    Flag(bool),
    Whole(u64),
    Amount(f64),
    List(Vec<String>),
}

/// What is wrong with an input. A secret is never part of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    #[error("input `{name}`: `{found}` is not {expected}{}", near(.nearest.as_deref()))]
    Value { name: &'static str, found: String, expected: String, nearest: Option<String> },
    #[error("there is no input `{name}`{}", near(.nearest.as_deref()))]
    Unknown { name: String, nearest: Option<String> },
}

fn near(word: Option<&str>) -> String {
    word.map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// The inputs that were set, by name. Unset ones arrive as empty texts and are left out.
pub type Inputs = BTreeMap<&'static str, Value>;

/// Reads the `INPUT_*` variables.
///
/// # Errors
///
/// All that is wrong, in the order of the table, unknown ones last.
pub fn parse(environment: &BTreeMap<String, String>) -> Result<Inputs, Vec<InputError>> {
    let (mut read, mut wrong) = (Inputs::new(), Vec::new());
    for input in INPUTS {
        let text = environment.get(&variable(input.name)).map_or("", |text| text.trim());
        if text.is_empty() {
            continue;
        }
        match value(input, text) {
            Ok(value) => {
                read.insert(input.name, value);
            }
            Err(error) => wrong.push(error),
        }
    }
    for name in environment.keys().filter_map(|name| name.strip_prefix("INPUT_")) {
        let name = name.to_lowercase();
        if find(&name).is_none() {
            let nearest = nearest(&name, INPUTS.iter().map(|input| input.name));
            wrong.push(InputError::Unknown { name: short(&name), nearest });
        }
    }
    if wrong.is_empty() { Ok(read) } else { Err(wrong) }
}

/// The inputs that are keys of the file, as values that go before it.
#[must_use]
pub fn overrides(inputs: &Inputs) -> Vec<Override> {
    let keyed = INPUTS.iter().filter(|input| !input.key.is_empty());
    let set = keyed.filter_map(|input| Some((input, inputs.get(input.name)?)));
    set.map(|(input, value)| Override {
        key: input.key.to_owned(),
        value: match value {
            Value::Text(text) => text.clone(),
            Value::Flag(flag) => flag.to_string(),
            Value::Whole(number) => number.to_string(),
            Value::Amount(number) => number.to_string(),
            Value::List(list) => serde_json::Value::from(list.clone()).to_string(),
        },
        by: format!("input `{}`", input.name),
    })
    .collect()
}

/// Checks one text against its form.
///
/// # Errors
///
/// [`InputError::Value`] with what was expected.
pub fn value(input: &Input, text: &str) -> Result<Value, InputError> {
    let error = |expected: String, nearest: Option<String>| InputError::Value {
        name: input.name,
        found: short(text),
        expected,
        nearest,
    };
    let names = || -> Vec<String> {
        text.split([',', '\n'])
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    };
    match input.form {
        Text | Secret => Ok(Value::Text(text.to_owned())),
        // The words that YAML 1.2 and the toolkit of Actions take for booleans.
        Flag => match text {
            "true" | "True" | "TRUE" => Ok(Value::Flag(true)),
            "false" | "False" | "FALSE" => Ok(Value::Flag(false)),
            _ => Err(error("true or false".into(), nearest(text, ["true", "false"].into_iter()))),
        },
        Whole(low, high) => text
            .parse()
            .ok()
            .filter(|number| (low..=high).contains(number))
            .map(Value::Whole)
            .ok_or_else(|| error(format!("a whole number from {low} to {high}"), None)),
        Amount(low, high) => text
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite() && (low..=high).contains(number))
            .map(Value::Amount)
            .ok_or_else(|| error(format!("a number from {low} to {high}"), None)),
        Time => match duration(text) {
            Some(_) => Ok(Value::Text(text.to_owned())),
            None => Err(error("a time such as 30s, 20m or 2h".into(), None)),
        },
        Word(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
        Word(words) => {
            Err(error(format!("one of {}", words.join(", ")), nearest(text, words.iter().copied())))
        }
        Words(words) => {
            let names = names();
            match names.iter().find(|name| !words.contains(&name.as_str())) {
                None => Ok(Value::List(names)),
                Some(bad) => Err(error(
                    format!("some of {}", words.join(", ")),
                    nearest(bad, words.iter().copied()),
                )),
            }
        }
        Names => Ok(Value::List(names())),
        Lines => Ok(Value::List(
            text.lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
                .collect(),
        )),
    }
}

fn nearest(word: &str, known: impl Iterator<Item = &'static str>) -> Option<String> {
    let word = short(word).to_lowercase();
    known
        .map(|known| (strsim::damerau_levenshtein(&word, known), known))
        .min()
        .filter(|(distance, known)| *distance <= 3 && *distance < known.len())
        .map(|(_, known)| known.to_owned())
}

/// Foreign text for a sentence: one line, at most 60 characters.
fn short(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (variable(name), (*value).to_owned())).collect()
    }

    #[test]
    fn variables_keep_their_hyphens() {
        assert_eq!(variable("max-iterations"), "INPUT_MAX-ITERATIONS");
    }

    #[test]
    fn set_inputs_are_read_and_empty_ones_are_unset() {
        let read = parse(&given(&[
            ("token", "t0p"),
            ("mode", ""),
            ("max-iterations", " 7 "),
            ("providers", "gemini, qwen,"),
            ("setup", "pip install -e .\n\nmake"),
            ("ignore-preexisting", "True"),
            ("budget-usd", "1.5"),
            ("issue-dimensions", "test,doc"),
            ("test-timeout", "20m"),
        ]))
        .unwrap();
        assert_eq!(read.len(), 8);
        assert_eq!(read["max-iterations"], Value::Whole(7));
        assert_eq!(read["providers"], Value::List(vec!["gemini".into(), "qwen".into()]));
        assert_eq!(read["setup"], Value::List(vec!["pip install -e .".into(), "make".into()]));
        assert_eq!(read["ignore-preexisting"], Value::Flag(true));
        assert_eq!(read["budget-usd"], Value::Amount(1.5));
    }

    #[test]
    fn what_is_wrong_is_named_with_the_nearest() {
        let table = [
            (
                "mode",
                "fxi",
                "input `mode`: `fxi` is not one of fix, test-fix, plan, validate, resume, status, work, publish; did you mean `fix`?",
            ),
            (
                "max-iterations",
                "0",
                "input `max-iterations`: `0` is not a whole number from 1 to 50",
            ),
            (
                "max-iterations",
                "ten",
                "input `max-iterations`: `ten` is not a whole number from 1 to 50",
            ),
            ("budget-usd", "NaN", "input `budget-usd`: `NaN` is not a number from 0 to 1000000"),
            ("ignore-preexisting", "yes", "input `ignore-preexisting`: `yes` is not true or false"),
            ("test-timeout", "5", "input `test-timeout`: `5` is not a time such as 30s, 20m or 2h"),
            (
                "issue-dimensions",
                "test,docs",
                "input `issue-dimensions`: `test,docs` is not some of test, enhance, refactor, doc; did you mean `doc`?",
            ),
            (
                "max-iteration",
                "3",
                "there is no input `max-iteration`; did you mean `max-iterations`?",
            ),
        ];
        for (name, value, expected) in table {
            let wrong = parse(&given(&[(name, value)])).unwrap_err();
            assert_eq!(wrong.len(), 1, "{name}");
            assert_eq!(wrong[0].to_string(), expected);
        }
        let two = parse(&given(&[("mode", "x"), ("push", "y")])).unwrap_err();
        assert_eq!(two.len(), 2, "all at once");
    }

    #[test]
    fn every_input_with_a_key_reaches_the_settings() {
        for input in INPUTS.iter().filter(|input| !input.key.is_empty()) {
            let text = match input.form {
                Text | Secret => "some text: with [yaml] in it",
                Flag => "true",
                Whole(low, _) => &low.to_string(),
                Amount(..) => "1",
                Time => "7m",
                Word(words) | Words(words) => words.last().unwrap(),
                Names | Lines => "one",
            };
            let inputs = parse(&given(&[(input.name, text)])).unwrap();
            let sets = overrides(&inputs);
            assert_eq!(sets.len(), 1, "{}", input.name);
            // A coverage command needs to say where its report is.
            let file = "coverage: { report: x }";
            let settings = crate::config::parse_with(file, "f", &sets).unwrap();
            let found =
                crate::config::precedence::effective(&BTreeMap::new(), &Inputs::new(), &settings);
            let row = found.iter().find(|row| row.key == input.key).unwrap();
            assert_eq!(row.source, crate::config::precedence::Source::File, "{}", input.name);
        }
        let two = parse(&given(&[("setup", "pip install -e .[a, b]\nmake")])).unwrap();
        let settings = crate::config::parse_with("", "f", &overrides(&two)).unwrap();
        assert_eq!(settings.test.unwrap().setup.unwrap(), ["pip install -e .[a, b]", "make"]);
    }

    /// `REGREEN_BLESS=1` writes the metadata anew.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test writes a file of this project")]
    fn the_metadata_of_the_action_is_that_of_the_tables() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml");
        if std::env::var("REGREEN_BLESS").is_ok() {
            let old = std::fs::read_to_string(&path).unwrap();
            let (before, rest) = old.split_once("\ninputs:\n").unwrap();
            let (_, after) = rest.split_once("\nruns:\n").unwrap();
            let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
            let inputs: String = INPUTS
                .iter()
                .map(|one| {
                    let (about, default) = (quoted(one.about), quoted(one.default));
                    let name = one.name;
                    format!("  {name}:\n    description: {about}\n    required: false\n    default: {default}\n")
                })
                .collect();
            let outputs: String = OUTPUTS
                .iter()
                .map(|(name, about)| format!("  {name}:\n    description: {}\n", quoted(about)))
                .collect();
            let text = format!("{before}\ninputs:\n{inputs}\noutputs:\n{outputs}\nruns:\n{after}");
            std::fs::write(&path, text).unwrap();
        }
        let text = std::fs::read_to_string(path).unwrap();
        let action: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
        let listed = |what: &str| -> Vec<(String, String, String)> {
            let rows = action[what].as_mapping().unwrap();
            let text = |row: &serde_yaml::Value, key: &str| {
                row.get(key).and_then(serde_yaml::Value::as_str).unwrap_or_default().to_owned()
            };
            rows.iter()
                .map(|(name, row)| {
                    (name.as_str().unwrap().into(), text(row, "default"), text(row, "description"))
                })
                .collect()
        };
        let row = |name: &str, default: &str, about: &str| {
            (name.to_owned(), default.to_owned(), about.to_owned())
        };
        let inputs: Vec<_> =
            INPUTS.iter().map(|one| row(one.name, one.default, one.about)).collect();
        let outputs: Vec<_> = OUTPUTS.iter().map(|(name, about)| row(name, "", about)).collect();
        assert_eq!(listed("inputs"), inputs);
        assert_eq!(listed("outputs"), outputs);
    }
}
