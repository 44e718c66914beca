//! `SETTINGS`: the table of all settings with key, value type and default.

use std::time::Duration;

use globset::Glob as Pattern;
use serde_yaml::Value;

use crate::domain::budget::MAX_MINUTES;
use crate::domain::known_failure::{self, KnownFailure};

/// Parses a duration such as `30s`, `20m` or `2h`; `None` for anything else, including zero.
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

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueType {
    /// Any string.
    Text,
    /// `true` or `false`.
    Flag,
    /// A duration, such as `30s`, `20m` or `2h`.
    Time,
    /// An integer in this range; `u64::MAX` means no upper limit.
    Whole(u64, u64),
    /// A number from 0 to 1.
    Share,
    Dollars,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list of these words; comma-separated in an Action input.
    SomeOf(&'static [&'static str]),
    /// A list of strings; comma-separated in an Action input.
    Texts,
    /// A list of strings; one per line in an Action input.
    Lines,
    /// A mapping of these names to strings; an empty list allows any name.
    TextByName(&'static [&'static str]),
    Glob,
    /// A list of globs; separated by these characters in an Action input.
    Globs(&'static [char]),
    /// A mapping of these names to globs.
    GlobByName(&'static [&'static str]),
    /// A list of permission levels, logins and numeric ids of bots.
    Grants,
    /// A mapping of tests to a day and a reason.
    KnownFailures,
}

#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The dotted key; `*` stands for any name. The Action input is the key with hyphens for dots.
    pub key: &'static str,
    pub values: ValueType,
    /// The default in the syntax of an Action input; empty if there is none or if it is detected.
    pub default: &'static str,
}

const fn row(key: &'static str, values: ValueType, default: &'static str) -> Setting {
    Setting { key, values, default }
}

use ValueType::{
    Dollars, Flag, Glob, GlobByName, Globs, Grants, KnownFailures, Lines, OneOf, Share, SomeOf,
    Text, TextByName, Texts, Time, Whole,
};

/// All settings, in the order of the documentation. A test compares them with the schema.
pub const SETTINGS: &[Setting] = &[
    row("test.command", Text, ""),
    row("test.report", Glob, ""),
    row("test.setup", Lines, ""),
    row("test.timeout", Time, "20m"),
    row("test.layers", GlobByName(&["static", "unit", "integration", "e2e"]), ""),
    row("gate.target", Whole(1, 100), "95"),
    row("gate.max-iterations", Whole(1, 50), "10"),
    row("gate.known-failures", KnownFailures, ""),
    row("gate.min-mutation-score", Whole(1, 100), "60"),
    row("providers", Texts, ""),
    row("publish", OneOf(&["branch", "head", "suggest", "none"]), "branch"),
    row("budget.minutes", Whole(1, MAX_MINUTES), ""),
    row("budget.usd", Dollars, ""),
    row("budget.day-usd", Dollars, ""),
    row("budget.tokens", Whole(1, u64::MAX), ""),
    row("budget.calls", Whole(1, u64::MAX), ""),
    row("budget.engine-minutes", Whole(1, MAX_MINUTES), "6"),
    row("budget.iteration.usd", Dollars, ""),
    row("budget.iteration.tokens", Whole(1, u64::MAX), ""),
    row("budget.iteration.calls", Whole(1, u64::MAX), ""),
    row("sandbox.image", Text, ""),
    row("sandbox.network", Flag, ""),
    row("protect", Globs(&[',', '\n']), ""),
    row("history", OneOf(&["revert", "clean"]), "revert"),
    row("commit-state", OneOf(&["branch", "none"]), "branch"),
    row("ignore-preexisting", Flag, "false"),
    row("label", Text, "regreen"),
    row("commands.allow", Grants, ""),
    row("commands.teams", Texts, ""),
    row("check-workflow", Text, ""),
    row("signed", Flag, "false"),
    row("sync", Flag, "false"),
    row("memory", Flag, "true"),
    row("partial-conclusion", OneOf(&["success", "neutral"]), "success"),
    row("expand", SomeOf(&["test", "enhance", "refactor", "doc"]), ""),
    row("plan.confirm", OneOf(&["never", "always"]), "never"),
    row("validate.files", Globs(&['\n']), ""),
    row("validate.strict", Flag, "false"),
    row("validate.fix", Flag, "false"),
    row("validate.skip-types", Flag, "false"),
    row("tools.lint", Text, ""),
    row("tools.build", Text, ""),
    row("coverage.line", Whole(0, 100), "80"),
    row("coverage.branch", Whole(0, 100), "70"),
    row("coverage.function", Whole(0, 100), "90"),
    row("coverage.command", Text, ""),
    row("coverage.report", Glob, ""),
    row("loop.fix-scope", OneOf(&["code", "both", "tests"]), "code"),
    row("loop.regression-threshold", Whole(0, 100), "10"),
    row("loop.stuck-threshold", Whole(2, 50), "3"),
    row("loop.stuck-abort-ratio", Share, "0.5"),
    row("loop.similarity-threshold", Share, "0.7"),
    row("loop.aggressive-min-rate", Whole(0, 100), "80"),
    row("analysis.provider-timeout", Time, "5m"),
    row("analysis.min-confidence", Share, "0.4"),
    row("analysis.same-cause-limit", Whole(2, 50), "3"),
    row("provider.*.protocol", OneOf(&["gemini", "chat", "responses", "anthropic"]), ""),
    row("provider.*.client", OneOf(&["gemini", "qwen", "codex", "claude", "copilot"]), ""),
    row("provider.*.mode", OneOf(&["answer", "agent"]), ""),
    row("provider.*.program", Text, ""),
    row("provider.*.model", Text, ""),
    row("provider.*.key", Text, ""),
    row("provider.*.base-url", Text, ""),
    row("provider.*.headers", TextByName(&[]), ""),
    row("provider.*.price.input", Dollars, ""),
    row("provider.*.price.output", Dollars, ""),
    row("provider.*.price.cached", Dollars, ""),
    row("provider.*.context", Whole(2_000, 10_000_000), ""),
    row("provider.*.timeout", Time, ""),
];

pub fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

impl ValueType {
    /// Describes a valid value, for messages and documentation.
    pub fn expectation(&self) -> String {
        match self {
            Text => "a text".into(),
            Flag => "true or false".into(),
            Time => "a time such as 30s, 20m or 2h".into(),
            Whole(low, u64::MAX) => format!("a whole number from {low}"),
            Whole(low, high) => format!("a whole number from {low} to {high}"),
            Share => "a number from 0 to 1, such as 0.5".into(),
            Dollars => "a number of dollars, such as 2.50".into(),
            OneOf(words) => format!("one of {}", words.join(", ")),
            SomeOf(words) => format!("a list of {}", words.join(", ")),
            Texts | Lines => "a list of texts".into(),
            TextByName([]) => "a mapping of names to texts".into(),
            TextByName(names) => format!("a mapping of {} to texts", names.join(", ")),
            Glob => "a glob such as migrations/**".into(),
            Globs(_) => "a list of globs such as migrations/**".into(),
            GlobByName(names) => format!("a mapping of {} to globs", names.join(", ")),
            Grants => "a list of permission levels, logins or numeric ids of bots".into(),
            KnownFailures => {
                format!("a mapping of tests to texts such as `{}`", known_failure::FORM)
            }
        }
    }

    /// Whether a value is valid for this type.
    pub fn accepts(&self, value: &Value) -> bool {
        let each = |accepted: &dyn Fn(&Value) -> bool| {
            value.as_sequence().is_some_and(|items| items.iter().all(accepted))
        };
        match self {
            Text => value.is_string(),
            Flag => value.is_bool(),
            Time => value.as_str().and_then(duration).is_some(),
            Whole(low, high) => value.as_u64().is_some_and(|n| (*low..=*high).contains(&n)),
            Share => value.as_f64().is_some_and(|n| (0.0..=1.0).contains(&n)),
            Dollars => value.as_f64().is_some_and(|n| n.is_finite() && n >= 0.0),
            OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            SomeOf(words) => each(&|item| item.as_str().is_some_and(|word| words.contains(&word))),
            Texts | Lines => each(&Value::is_string),
            TextByName(names) => by_name(value, names, &Value::is_string),
            Glob => is_glob(value),
            Globs(_) => each(&is_glob),
            GlobByName(names) => by_name(value, names, &is_glob),
            KnownFailures => value.as_mapping().is_some_and(|mapping| {
                mapping.iter().all(|(test, text)| {
                    let entry = test.as_str().zip(text.as_str());
                    entry.and_then(|(test, text)| KnownFailure::parse(test, text)).is_some()
                })
            }),
            Grants => each(&|item| match item.as_str() {
                Some("none" | "read" | "triage") => false,
                Some(word) => !word.is_empty() && !word.chars().any(char::is_whitespace),
                None => item.as_u64().is_some(),
            }),
        }
    }

    /// Parses the value of `--set`, where lists and mappings are YAML; does not validate it.
    pub fn parse_flag(&self, text: &str) -> Result<Value, serde_yaml::Error> {
        match self {
            Text | Glob | Time | OneOf(_) => Ok(text.into()),
            _ => serde_yaml::from_str(text),
        }
    }

    /// Parses the text of an Action input; does not validate it.
    pub fn parse_input(&self, text: &str) -> Value {
        let list = |separators: &[char]| -> Value {
            let mut depth = 0_usize;
            let items = text.split(|c: char| {
                match c {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    '\n' => depth = 0,
                    _ => {}
                }
                // A comma inside of braces separates the alternatives of one glob.
                separators.contains(&c) && depth == 0
            });
            let items = items.map(str::trim).filter(|item| !item.is_empty());
            Value::Sequence(items.map(Value::from).collect())
        };
        match self {
            Text | Glob | Time | OneOf(_) => text.into(),
            // The booleans that YAML 1.2 and the GitHub Actions toolkit accept.
            Flag => match text {
                "true" | "True" | "TRUE" => true.into(),
                "false" | "False" | "FALSE" => false.into(),
                _ => text.into(),
            },
            Whole(..) => text.parse::<u64>().map_or_else(|_| text.into(), Value::from),
            Share | Dollars => text.parse::<f64>().map_or_else(|_| text.into(), Value::from),
            SomeOf(_) | Texts => list(&[',', '\n']),
            Lines => list(&['\n']),
            Globs(separators) => list(separators),
            TextByName(_) | GlobByName(_) | Grants | KnownFailures => {
                serde_yaml::from_str(text).unwrap_or_else(|_| text.into())
            }
        }
    }

    /// The words that this type accepts, to suggest the nearest; empty for free text.
    pub fn words(&self) -> &'static [&'static str] {
        match self {
            Flag => &["true", "false"],
            OneOf(words) | SomeOf(words) => words,
            _ => &[],
        }
    }
}

/// Whether a value maps names, any if `names` is empty, to accepted values.
fn by_name(value: &Value, names: &[&str], accepted: &dyn Fn(&Value) -> bool) -> bool {
    value.as_mapping().is_some_and(|mapping| {
        mapping.iter().all(|(name, value)| {
            let known = name.as_str().is_some_and(|name| names.is_empty() || names.contains(&name));
            known && accepted(value)
        })
    })
}

fn is_glob(value: &Value) -> bool {
    value.as_str().is_some_and(|text| glob_problem(text).is_none())
}

/// Why a text is not a valid glob; `None` if it is one.
pub(super) fn glob_problem(text: &str) -> Option<String> {
    Pattern::new(text).err().map(|error| error.kind().to_string())
}
