//! Inputs and outputs of the Action: the table that `action.yml` is generated from.

use std::collections::BTreeMap;

use serde_yaml::{Mapping, Value};

use super::keys::nearest;
use super::overrides::{Override, apply};
use super::table::{SETTINGS, ValueType, setting};

/// What an Action input controls: a parameter of the job, or a setting.
#[derive(Clone, Copy, Debug)]
pub enum InputMeaning {
    /// A parameter of this job that is not a repository setting: its type and its description.
    Job(ValueType, &'static str),
    Setting(&'static str),
}

/// One input of `action.yml`.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its name in `with:`.
    pub name: &'static str,
    /// The default in `action.yml`; if empty, that of the file or the built-in one applies.
    pub default: &'static str,
    pub meaning: InputMeaning,
}

const fn job(name: &'static str, values: ValueType, about: &'static str) -> Input {
    Input { name, default: "", meaning: InputMeaning::Job(values, about) }
}

const fn of(name: &'static str, key: &'static str) -> Input {
    Input { name, default: "", meaning: InputMeaning::Setting(key) }
}

const MODES: &[&str] = &[
    "fix",
    "test-fix",
    "plan",
    "integration",
    "validate",
    "resume",
    "continue",
    "status",
    "work",
    "publish",
];

/// The inputs that `action.yml` declares, most common first. Every other setting is also an input,
/// named like its key with hyphens for dots, but `set` is the documented way to give it.
pub const INPUTS: &[Input] = &[
    Input {
        name: "token",
        default: "${{ github.token }}",
        meaning: InputMeaning::Job(
            ValueType::Text,
            "Token used to read the repository, push, comment and write checks.",
        ),
    },
    job(
        "config",
        ValueType::Text,
        "Path of the configuration file, read from the base branch (default: .github/regreen.yml).",
    ),
    job(
        "mode",
        ValueType::OneOf(MODES),
        "What to do when the event is not a command: fix, test-fix (plan and write tests, then fix), plan, integration (write tests that cross the boundaries of a module), validate, resume, continue (the same as resume), status; work and publish split one run into two jobs (default: fix).",
    ),
    job(
        "input",
        ValueType::Text,
        "What to test: a description, a Markdown file or a session id; for `mode: integration` a module, by path or in words. Required for `mode: test-fix`, `mode: plan` and `mode: integration`.",
    ),
    job(
        "session",
        ValueType::Text,
        "Session that `mode: resume` or `mode: continue` continues (default: the newest of the branch).",
    ),
    of("test-command", "test.command"),
    of("report", "test.report"),
    of("setup", "test.setup"),
    of("providers", "providers"),
    of("max-iterations", "gate.max-iterations"),
    of("publish", "publish"),
    of("budget-usd", "budget.usd"),
    of("sandbox-image", "sandbox.image"),
    job(
        "bundle",
        ValueType::Text,
        "Folder below the checkout for the events, commits and report of a run, to be uploaded; `mode: publish` reads it.",
    ),
    job(
        "set",
        ValueType::Lines,
        "Any other setting, one KEY=VALUE per line, such as `gate.target=97`; docs/settings.md lists them.",
    ),
];

/// One output: name and meaning (specification.md 2.3).
#[cfg(test)]
pub const OUTPUTS: &[(&str, &str)] = &[
    ("session-id", "Id of the session."),
    (
        "result",
        "`success`, `partial_success`, `failure`, `blocked`, `planned`, or `error` when nothing could run.",
    ),
    ("pass-rate", "Pass rate at the end, in percent."),
    ("iterations", "Number of iterations."),
    ("report-path", "Path of the report."),
    ("commit-sha", "Tip of the fix branch."),
    (
        "bundle",
        "Folder that keeps commits that could not be pushed, to be uploaded; empty otherwise.",
    ),
    (
        "degraded",
        "`true` when providers were asked and in some iteration none returned a good answer.",
    ),
    (
        "stuck-tests",
        "Tests that failed in each of their latest results (`loop.stuck-threshold`), one per line.",
    ),
];

/// Resolves a name in `with:`: an input of `action.yml`, or a setting.
fn meaning(name: &str) -> Option<InputMeaning> {
    if let Some(input) = INPUTS.iter().find(|input| input.name == name) {
        return Some(input.meaning);
    }
    let named = SETTINGS.iter().find(|row| !row.key.contains('*') && hyphened(row.key) == name);
    named.map(|row| InputMeaning::Setting(row.key))
}

/// The input name of a setting: its key with hyphens for dots.
fn hyphened(key: &str) -> String {
    key.replace('.', "-")
}

/// The runner's variable of an input: upper case, underscores for spaces, hyphens stay.
#[cfg(test)]
pub fn variable(name: &str) -> String {
    format!("INPUT_{}", name.to_uppercase().replace(' ', "_"))
}

/// Why an Action input was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    #[error("input `{name}`: `{found}` is not {expected}{}", near(.nearest.as_deref()))]
    Value { name: String, found: String, expected: String, nearest: Option<String> },
    #[error("input `set`, line {line}: {problem}")]
    Set { line: usize, problem: String },
    #[error("inputs `{first}` and `{second}` are the same setting; give one of them")]
    Twice { first: String, second: String },
    #[error("there is no input `{name}`{}", near(.nearest.as_deref()))]
    Unknown { name: String, nearest: Option<String> },
}

fn near(word: Option<&str>) -> String {
    word.map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// The inputs of a job. The runner passes unset inputs as empty strings; they are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Job parameters by input name.
    job: BTreeMap<String, String>,
    /// Settings, which take precedence over the configuration file.
    pub overrides: Vec<Override>,
}

impl Inputs {
    /// The value of a job parameter; `None` if it was not set.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.job.get(name).map(String::as_str)
    }
}

/// Parses the `INPUT_*` environment variables; `Err` lists every rejected input.
pub fn parse(environment: &BTreeMap<String, String>) -> Result<Inputs, Vec<InputError>> {
    let (mut inputs, mut wrong) = (Inputs::default(), Vec::new());
    let mut named: BTreeMap<&'static str, (String, Override)> = BTreeMap::new();
    for (variable, text) in environment {
        let Some(name) = variable.strip_prefix("INPUT_").map(str::to_lowercase) else { continue };
        let text = text.trim();
        match meaning(&name) {
            None => {
                let known = INPUTS.iter().map(|input| input.name.to_owned());
                let known = known.chain(SETTINGS.iter().map(|row| hyphened(row.key)));
                wrong.push(InputError::Unknown {
                    nearest: nearest(&name, known),
                    name: short(&name),
                });
            }
            Some(_) if text.is_empty() => {}
            Some(InputMeaning::Job(..)) if name == "set" => match sets(text) {
                // `set` comes first, so that a dedicated input takes precedence over it.
                Ok(sets) => inputs.overrides = sets,
                Err(errors) => wrong.extend(errors),
            },
            Some(InputMeaning::Job(values, _)) => match checked(&name, &values, text) {
                Ok(_) => {
                    inputs.job.insert(name, text.to_owned());
                }
                Err(error) => wrong.push(error),
            },
            Some(InputMeaning::Setting(key)) => match checked(&name, value_type(key), text) {
                Err(error) => wrong.push(error),
                Ok(value) => {
                    let by = format!("input `{name}`");
                    let one = Override { key: key.to_owned(), value: as_flag(&value), by };
                    if let Some((first, _)) = named.get(key) {
                        wrong.push(InputError::Twice { first: first.clone(), second: name });
                    } else {
                        named.insert(key, (name, one));
                    }
                }
            },
        }
    }
    inputs.overrides.extend(named.into_values().map(|(_, one)| one));
    if wrong.is_empty() { Ok(inputs) } else { Err(wrong) }
}

fn value_type(key: &str) -> &'static ValueType {
    setting(key).map_or(&ValueType::Text, |row| &row.values)
}

fn checked(name: &str, values: &ValueType, text: &str) -> Result<Value, InputError> {
    let value = values.parse_input(text);
    if values.accepts(&value) {
        return Ok(value);
    }
    let words = values.words();
    let items = value.as_sequence().into_iter().flatten().filter_map(Value::as_str);
    let bad = items.into_iter().find(|item| !words.contains(item)).unwrap_or(text);
    Err(InputError::Value {
        name: name.to_owned(),
        found: short(text),
        expected: values.expectation(),
        nearest: nearest(bad, words.iter().map(|word| (*word).to_owned())),
    })
}

/// Parses and validates each line of the `set` input.
fn sets(text: &str) -> Result<Vec<Override>, Vec<InputError>> {
    let (mut sets, mut wrong) = (Vec::new(), Vec::new());
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    for (index, line) in lines {
        let number = index + 1;
        let mut error = |problem: String| wrong.push(InputError::Set { line: number, problem });
        match Override::parse(line) {
            Err(problem) => error(problem),
            Ok(mut one) => {
                one.by = format!("input `set`, line {number}");
                let problems = apply(&mut Mapping::new(), std::slice::from_ref(&one));
                match problems.first() {
                    Some(problem) => error(format!("`{}`: {}", one.key, problem.message)),
                    None => sets.push(one),
                }
            }
        }
    }
    if wrong.is_empty() { Ok(sets) } else { Err(wrong) }
}

fn as_flag(value: &Value) -> String {
    value.as_str().map_or_else(|| serde_json::to_string(value).unwrap_or_default(), str::to_owned)
}

/// Untrusted text for use in a message: one line, at most 60 characters.
fn short(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Settings, parse_with};

    fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| (variable(name), (*value).to_owned())).collect()
    }

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        parse_with("", "f", &parse(&given(pairs)).unwrap().overrides).unwrap()
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
            ("setup", "pip install -e .[a, b]\n\nmake"),
            ("ignore-preexisting", "True"),
            ("protect", "src/{a,b}/**, {x,{y,z}}.py,\n[{]\nd, e"),
            ("budget-usd", "1.5"),
            ("expand", "test,doc"),
            ("test-timeout", "20m"),
        ]))
        .unwrap();
        assert_eq!((read.text("token"), read.text("mode")), (Some("t0p"), None));
        let sets: Vec<String> =
            read.overrides.iter().map(|one| format!("{}={}", one.key, one.value)).collect();
        let expected = [
            "budget.usd=1.5",
            "expand=[\"test\",\"doc\"]",
            "gate.max-iterations=7",
            "ignore-preexisting=true",
            "protect=[\"src/{a,b}/**\",\"{x,{y,z}}.py\",\"[{]\",\"d\",\"e\"]",
            "providers=[\"gemini\",\"qwen\"]",
            "test.setup=[\"pip install -e .[a, b]\",\"make\"]",
            "test.timeout=20m",
        ];
        assert_eq!(sets, expected);
        let settings = parse_with("", "f", &read.overrides).unwrap();
        assert_eq!(settings.test.unwrap().setup.unwrap(), ["pip install -e .[a, b]", "make"]);
    }

    #[test]
    fn what_is_wrong_is_named_with_the_nearest() {
        let table = [
            (
                "mode",
                "fxi",
                "input `mode`: `fxi` is not one of fix, test-fix, plan, integration, validate, resume, continue, status, work, publish; did you mean `fix`?",
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
            (
                "budget-usd",
                "NaN",
                "input `budget-usd`: `NaN` is not a number of dollars, such as 2.50",
            ),
            ("ignore-preexisting", "yes", "input `ignore-preexisting`: `yes` is not true or false"),
            ("test-timeout", "5", "input `test-timeout`: `5` is not a time such as 30s, 20m or 2h"),
            (
                "expand",
                "test,docs",
                "input `expand`: `test,docs` is not a list of test, enhance, refactor, doc; did you mean `doc`?",
            ),
            (
                "max-iteration",
                "3",
                "there is no input `max-iteration`; did you mean `max-iterations`?",
            ),
            (
                "set",
                "gate.target",
                "input `set`, line 1: `gate.target` is not KEY=VALUE, such as gate.target=97",
            ),
            (
                "set",
                "gate.target=97\n\ngate.tarket=3",
                "input `set`, line 3: `gate.tarket`: unknown key `tarket`, did you mean `target`?",
            ),
            (
                "set",
                "gate.target=970",
                "input `set`, line 1: `gate.target`: `target` is a whole number from 1 to 100",
            ),
        ];
        for (name, value, expected) in table {
            let wrong = parse(&given(&[(name, value)])).unwrap_err();
            assert_eq!(wrong.len(), 1, "{name}");
            assert_eq!(wrong[0].to_string(), expected);
        }
        let two = parse(&given(&[("mode", "x"), ("publish", "y")])).unwrap_err();
        assert_eq!(two.len(), 2, "all at once");
        let twice = [("report", "a.xml"), ("test-report", "b.xml")];
        assert_eq!(
            parse(&given(&twice)).unwrap_err()[0].to_string(),
            "inputs `report` and `test-report` are the same setting; give one of them"
        );
    }

    #[test]
    fn every_setting_is_an_input_by_its_key() {
        for row in SETTINGS.iter().filter(|row| !row.key.contains('*')) {
            let text = match row.values {
                ValueType::Text => "some text: with [yaml] in it".to_owned(),
                ValueType::Flag => "true".into(),
                ValueType::Whole(low, _) => low.to_string(),
                ValueType::Share | ValueType::Dollars => "1".into(),
                ValueType::Time => "7m".into(),
                ValueType::OneOf(words) | ValueType::SomeOf(words) => {
                    (*words.last().unwrap()).into()
                }
                ValueType::Texts | ValueType::Lines | ValueType::Glob | ValueType::Globs(_) => {
                    "one".into()
                }
                ValueType::TextByName(_) | ValueType::GlobByName(_) => "{ unit: x }".into(),
                ValueType::Grants => "[write, 7]".into(),
                ValueType::KnownFailures => "{ t: '2027-01-31, why it fails' }".into(),
            };
            let short = INPUTS.iter().filter(
                |input| matches!(input.meaning, InputMeaning::Setting(key) if key == row.key),
            );
            let names = short.map(|input| input.name);
            for name in names.map(str::to_owned).chain([hyphened(row.key)]) {
                let inputs = parse(&given(&[(&name, &text)])).unwrap();
                assert_eq!(inputs.overrides.len(), 1, "{name}");
                assert_eq!(inputs.overrides[0].key, row.key);
                // `coverage.command` requires `coverage.report`, so the file sets it.
                let file = "coverage: { report: x }";
                let plain = parse_with(file, "f", &[]).unwrap();
                let set = parse_with(file, "f", &inputs.overrides).unwrap();
                assert_ne!(set, plain, "{name}");
            }
        }
    }

    #[test]
    fn short_inputs_mean_their_settings() {
        let table: [(&[(&str, &str)], &str); 4] = [
            (&[("setup", "make")], "test: { setup: [make] }"),
            (&[("max-iterations", "3")], "gate: { max-iterations: 3 }"),
            (&[("sandbox-image", "python:3.13")], "sandbox: { image: 'python:3.13' }"),
            (&[("set", "gate.target=9"), ("gate-target", "8")], "gate: { target: 8 }"),
        ];
        for (pairs, file) in table {
            assert_eq!(settings(pairs), parse_with(file, "f", &[]).unwrap(), "{pairs:?}");
        }
    }

    /// The description of a setting in the schema, with its default.
    fn about(meaning: InputMeaning) -> String {
        let key = match meaning {
            InputMeaning::Job(_, about) => return about.to_owned(),
            InputMeaning::Setting(key) => key,
        };
        let schema = serde_json::to_value(crate::config::schema()).unwrap();
        let mut object = schema.clone();
        let mut names = key.split('.').peekable();
        while let Some(name) = names.next() {
            object = object["properties"][name].clone();
            if names.peek().is_some() {
                let text = object.to_string();
                let name = text.split("$defs/").nth(1).unwrap().split('"').next().unwrap();
                object = schema["$defs"][name].clone();
            }
        }
        let text = object["description"].as_str().unwrap().replace('\n', " ");
        match setting(key).unwrap().default {
            "" => text,
            default => format!("{} (default: {default}).", text.trim_end_matches('.')),
        }
    }

    /// Set `REGREEN_BLESS=1` to regenerate `action.yml`.
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
                    let (about, default) = (quoted(&about(one.meaning)), quoted(one.default));
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
        let action: Value = serde_yaml::from_str(&text).unwrap();
        let listed = |what: &str| -> Vec<(String, String, String)> {
            let rows = action[what].as_mapping().unwrap();
            let text = |row: &Value, key: &str| {
                row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            rows.iter()
                .map(|(name, row)| {
                    (name.as_str().unwrap().into(), text(row, "default"), text(row, "description"))
                })
                .collect()
        };
        let row =
            |name: &str, default: &str, about: String| (name.to_owned(), default.to_owned(), about);
        let inputs: Vec<_> =
            INPUTS.iter().map(|one| row(one.name, one.default, about(one.meaning))).collect();
        let outputs: Vec<_> =
            OUTPUTS.iter().map(|(name, about)| row(name, "", (*about).to_owned())).collect();
        assert_eq!(listed("inputs"), inputs);
        assert_eq!(listed("outputs"), outputs);
    }
}
