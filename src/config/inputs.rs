//! Inputs and outputs of the Action: one table that `action.yml` and the README are held to.

use std::collections::BTreeMap;

use super::file::duration;
use super::overlay::Override;

/// What an input may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Any text.
    Text,
    /// A secret; never shown.
    Secret,
    /// `true` or `false`.
    Flag,
    /// A whole number in this range.
    Whole(u64, u64),
    /// A number in this range.
    Amount(f64, f64),
    /// `30s`, `20m`, `2h`.
    Time,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words, separated by commas.
    Words(&'static [&'static str]),
    /// Names separated by commas.
    Names,
    /// Commands, one per line.
    Lines,
}

/// One input.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its name in `with:`.
    pub name: &'static str,
    /// What `action.yml` gives when nobody sets it. Empty: the configuration file or the
    /// built-in value decides.
    pub default: &'static str,
    /// Its type.
    pub form: Form,
    /// The key of `.github/regreen.yml` it wins over; empty when there is none.
    pub key: &'static str,
    /// What it sets, in one sentence.
    pub about: &'static str,
}

const fn input(
    name: &'static str,
    default: &'static str,
    form: Form,
    key: &'static str,
    about: &'static str,
) -> Input {
    Input { name, default, form, key, about }
}

use Form::{Amount, Flag, Lines, Names, Secret, Text, Time, Whole, Word, Words};

/// All inputs (product.md 2.3 and what the Action itself needs).
pub const INPUTS: &[Input] = &[
    input(
        "token",
        "${{ github.token }}",
        Secret,
        "",
        "Token that reads, pushes, comments and writes checks.",
    ),
    input(
        "config",
        "",
        Text,
        "",
        "Path of the configuration file, read from the base branch [.github/regreen.yml].",
    ),
    input(
        "mode",
        "",
        Word(&["fix", "test-fix", "plan", "validate", "resume", "status", "work", "publish"]),
        "",
        "What to do when the event is no command; `test-fix`, `plan` and `validate` are `/regreen test`, `plan` and `validate`; `work` only works and `publish` only publishes, in two jobs [fix].",
    ),
    input(
        "input",
        "",
        Text,
        "",
        "What `mode: test-fix` or `mode: plan` is about: words, a Markdown file, or a session; needed there.",
    ),
    input(
        "session",
        "",
        Text,
        "",
        "Session that `mode: resume` goes on with; the newest of the branch when empty.",
    ),
    input(
        "max-iterations",
        "",
        Whole(1, 50),
        "gate.max-iterations",
        "Iterations at most, 1 to 50 [10].",
    ),
    input(
        "pass-threshold",
        "",
        Whole(1, 100),
        "gate.target",
        "Pass rate in percent that ends the session [95].",
    ),
    input(
        "providers",
        "",
        Names,
        "engine",
        "Who analyses and fixes, first to last, separated by commas [those with a key, then embedded].",
    ),
    input(
        "regression-threshold",
        "",
        Whole(0, 100),
        "loop.regression-threshold",
        "A fall of the pass rate by more points than this is a regression and is taken back [10].",
    ),
    input(
        "stuck-threshold",
        "",
        Whole(2, 50),
        "loop.stuck-threshold",
        "Results in a row after which a failing test is stuck, 2 to 50 [3].",
    ),
    input(
        "stuck-abort-ratio",
        "",
        Amount(0.0, 1.0),
        "loop.stuck-abort-ratio",
        "Share of stuck failures above which the run ends after two reflective iterations [0.5].",
    ),
    input(
        "similarity-threshold",
        "",
        Amount(0.0, 1.0),
        "loop.similarity-threshold",
        "Likeness of failures above which a batch is tried [0.7].",
    ),
    input(
        "aggressive-min-rate",
        "",
        Whole(0, 100),
        "loop.aggressive-min-rate",
        "Pass rate in percent above which a batch is tried [80].",
    ),
    input(
        "provider-timeout",
        "",
        Time,
        "analysis.provider-timeout",
        "Limit of one call to a provider without a `timeout` of its own [40m].",
    ),
    input(
        "min-confidence",
        "",
        Amount(0.0, 1.0),
        "analysis.min-confidence",
        "An analysis less sure than this asks the next provider [0.4].",
    ),
    input(
        "min-analysis-words",
        "",
        Whole(0, 10_000),
        "analysis.min-analysis-words",
        "An analysis of fewer words asks the next provider [100].",
    ),
    input(
        "same-cause-limit",
        "",
        Whole(2, 50),
        "analysis.same-cause-limit",
        "The same root cause so many times in a row asks the next provider [3].",
    ),
    input("test-command", "", Text, "test.command", "Command that runs the tests [detected]."),
    input(
        "lint-command",
        "",
        Text,
        "tools.lint",
        "Command that checks the project's own rules, for `validate` [detected].",
    ),
    input(
        "build-command",
        "",
        Text,
        "tools.build",
        "Command that compiles or checks types, for `validate` and before an edit is tested [detected].",
    ),
    input(
        "coverage-command",
        "",
        Text,
        "coverage.command",
        "Command that runs the suite with coverage; needs `coverage-report` [detected].",
    ),
    input(
        "coverage-report",
        "",
        Text,
        "coverage.report",
        "Where that command leaves its report, as a glob.",
    ),
    input(
        "coverage-line",
        "",
        Whole(0, 100),
        "coverage.line",
        "Percent of lines below which a file needs tests [80].",
    ),
    input(
        "coverage-branch",
        "",
        Whole(0, 100),
        "coverage.branch",
        "Percent of branches below which a file needs tests [70].",
    ),
    input(
        "coverage-function",
        "",
        Whole(0, 100),
        "coverage.function",
        "Percent of functions below which a file needs tests [90].",
    ),
    input(
        "min-mutation-score",
        "",
        Whole(1, 100),
        "gate.min-mutation-score",
        "Percent of small breaks of the code that written tests must notice [60].",
    ),
    input(
        "auto",
        "",
        Flag,
        "plan.auto",
        "Decide by itself what a person could be asked; `false` is `confirm-plan: always` [true].",
    ),
    input(
        "confirm-plan",
        "",
        Word(&["never", "always"]),
        "plan.confirm",
        "Wait for `/regreen run` between plan and work of `mode: test-fix` [never].",
    ),
    input(
        "files",
        "",
        Lines,
        "validate.files",
        "What `mode: validate` looks at: globs, one per line [all].",
    ),
    input("strict", "", Flag, "validate.strict", "Let `mode: validate` tolerate no error [false]."),
    input(
        "autofix",
        "",
        Flag,
        "validate.autofix",
        "Let `mode: validate` repair what is safe to repair [false].",
    ),
    input(
        "skip-types",
        "",
        Flag,
        "validate.skip-types",
        "Leave type checkers out of `mode: validate` [false].",
    ),
    input(
        "report",
        "",
        Text,
        "test.report",
        "Where the command leaves JUnit XML or TAP, as a glob.",
    ),
    input(
        "test-timeout",
        "",
        Time,
        "test.timeout",
        "Limit of one test run, such as 30s, 20m or 2h [20m].",
    ),
    input("setup", "", Lines, "test.setup", "Commands before the first run, one per line."),
    input(
        "fix-mode",
        "",
        Word(&["apply", "suggest"]),
        "",
        "Commit fixes, or write patches only [apply].",
    ),
    input(
        "fix-scope",
        "",
        Word(&["code", "both", "tests"]),
        "loop.fix-scope",
        "What a fix may change: product code; tests too, in a reflective iteration; or tests only. Changed tests need a person's word [code].",
    ),
    input(
        "commit",
        "",
        Word(&["push", "local", "none"]),
        "commit",
        "Push commits as `push` says, keep them on the runner, or write patches only [push].",
    ),
    input(
        "push",
        "",
        Word(&["branch", "head", "none"]),
        "push",
        "Push a fix branch with a pull request, the head branch itself, or nothing [branch].",
    ),
    input(
        "sync",
        "",
        Flag,
        "",
        "Write down what a session taught, in a commit of its own below .workflow [false].",
    ),
    input(
        "signed",
        "",
        Flag,
        "",
        "Offer the result as one commit that GitHub makes and signs; the fix branch shows every step [false].",
    ),
    input(
        "check-workflow",
        "",
        Text,
        "",
        "Workflow file to start on the fix branch, such as ci.yml: a push with the job's token starts none; needs `actions: write` [none].",
    ),
    input(
        "rollback-mode",
        "",
        Word(&["revert", "discard", "clean"]),
        "history",
        "Show a regressing attempt as commit and revert, or `discard` it and keep a patch file; `clean` is the same [revert].",
    ),
    input(
        "commit-state",
        "",
        Word(&["branch", "none"]),
        "commit-state",
        "Let the session's state travel on the fix branch, or stay on disk, where no later job finds it [branch].",
    ),
    input(
        "sandbox",
        "",
        Text,
        "sandbox.image",
        "Image in which tests run, by `docker` or `podman` of the runner; without network unless `sandbox.network` is true.",
    ),
    input(
        "bundle",
        "",
        Text,
        "",
        "Folder below the checkout for the bundle of events, commits and report, to be uploaded; what `mode: publish` publishes [none].",
    ),
    input(
        "run-deadline",
        "",
        Whole(1, 360),
        "budget.minutes",
        "Minutes after which the run stops at a checkpoint.",
    ),
    input(
        "budget-usd",
        "",
        Amount(0.0, 1_000_000.0),
        "budget.usd",
        "Dollars one session may spend, as far as prices are known.",
    ),
    input(
        "label",
        "",
        Text,
        "label",
        "Label that starts a run when it is put on a pull request [regreen].",
    ),
    input(
        "ignore-preexisting",
        "",
        Flag,
        "ignore-preexisting",
        "Leave tests that fail on the base too out of the rate [false].",
    ),
    input(
        "partial-conclusion",
        "",
        Word(&["success", "neutral"]),
        "",
        "Conclusion of the check after a partial success [success].",
    ),
    input(
        "issue-dimensions",
        "",
        Words(&["test", "enhance", "refactor", "doc"]),
        "expand",
        "Follow-up issues to open after completion [none].",
    ),
];

/// One output: name and meaning (product.md 2.3).
pub const OUTPUTS: &[(&str, &str)] = &[
    ("session-id", "Id of the session."),
    ("result", "`success`, `partial_success`, `failure`, `blocked` or `planned`."),
    ("pass-rate", "Pass rate at the end, in percent."),
    ("iterations", "Iterations that were run."),
    ("report-path", "Path of the report."),
    ("commit-sha", "Tip of the fix branch."),
    ("degraded", "`true` when no provider gave an analysis and the run went on without one."),
    ("stuck-tests", "Tests that failed in their last three results, one per line."),
];

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
            let settings = crate::config::parse_with("", "f", &sets).unwrap();
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
