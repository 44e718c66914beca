//! Which of several values counts: a flag wins over an input, an input over the file, the file
//! over what is built in (product.md 13.15).

use std::collections::BTreeMap;

use super::inputs::{self, INPUTS, Input, Inputs, Value};
use super::settings::Settings;

/// Where a value comes from; the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The command line or a comment.
    Flag,
    /// `with:` of the workflow.
    Input,
    /// `.github/regreen.yml`.
    File,
    /// Built in.
    Default,
}

/// The value of one key.
#[derive(Clone, Debug, PartialEq)]
pub struct Effective {
    /// The key of the file, such as `gate.target`.
    pub key: &'static str,
    /// The value that counts; `None` when nobody sets it and none is built in.
    pub value: Option<Value>,
    /// Where it comes from.
    pub source: Source,
    /// Sources that set the key too and lost.
    pub over: Vec<Source>,
}

/// All keys that more than one source may set, with the value that counts, in the order of the
/// inputs. `flags` is by key of the file.
#[must_use]
pub fn effective(
    flags: &BTreeMap<&'static str, Value>,
    inputs: &Inputs,
    file: &Settings,
) -> Vec<Effective> {
    let file = serde_yaml::to_value(file).unwrap_or_default();
    let keys = INPUTS.iter().filter(|input| !input.key.is_empty());
    keys.map(|input| {
        let key = input.key;
        let layers = [
            (Source::Flag, flags.get(key).cloned()),
            (Source::Input, inputs.get(input.name).cloned()),
            (Source::File, in_file(&file, key)),
            (Source::Default, built_in(input)),
        ];
        let mut set = layers.into_iter().filter_map(|(source, value)| Some((source, value?)));
        let (source, value) = match set.next() {
            Some((source, value)) => (source, Some(value)),
            None => (Source::Default, None),
        };
        let over = set.map(|(source, _)| source).filter(|source| *source != Source::Default);
        Effective { key, value, source, over: over.collect() }
    })
    .collect()
}

/// What holds when nobody says anything, as the texts of inputs.
const BUILT_IN: &[(&str, &str)] = &[
    ("pass-threshold", "95"),
    ("max-iterations", "10"),
    ("min-mutation-score", "60"),
    ("test-timeout", "20m"),
    ("push", "branch"),
    ("commit", "push"),
    ("commit-state", "branch"),
    ("rollback-mode", "revert"),
    ("label", "regreen"),
    ("ignore-preexisting", "false"),
    ("regression-threshold", "10"),
    ("stuck-threshold", "3"),
    ("stuck-abort-ratio", "0.5"),
    ("similarity-threshold", "0.7"),
    ("aggressive-min-rate", "80"),
    ("fix-scope", "code"),
    ("provider-timeout", "40m"),
    ("min-confidence", "0.4"),
    ("min-analysis-words", "100"),
    ("same-cause-limit", "3"),
    ("coverage-line", "80"),
    ("coverage-branch", "70"),
    ("coverage-function", "90"),
    ("auto", "true"),
    ("confirm-plan", "never"),
    ("strict", "false"),
    ("autofix", "false"),
    ("skip-types", "false"),
];

fn built_in(input: &Input) -> Option<Value> {
    if input.key == "expand" {
        return Some(Value::List(Vec::new()));
    }
    let (_, text) = BUILT_IN.iter().find(|(name, _)| *name == input.name)?;
    inputs::value(input, text).ok()
}

/// The value of a key, such as `gate.target`, in the file as it was read.
fn in_file(file: &serde_yaml::Value, key: &str) -> Option<Value> {
    let found = key.split('.').try_fold(file, |place, name| place.get(name))?;
    if let Some(list) = found.as_sequence() {
        let texts = list.iter().filter_map(|item| item.as_str().map(str::to_owned));
        return Some(Value::List(texts.collect()));
    }
    found
        .as_str()
        .map(|text| Value::Text(text.to_owned()))
        .or_else(|| found.as_bool().map(Value::Flag))
        .or_else(|| found.as_u64().map(Value::Whole))
        .or_else(|| found.as_f64().map(Value::Amount))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Source::{Default, File, Flag, Input};

    #[test]
    fn the_strongest_source_wins_and_the_losers_are_kept() {
        let table = [
            (Some(1), Some(2), Some(3), 1, Flag, vec![Input, File]),
            (Some(1), None, None, 1, Flag, vec![]),
            (None, Some(2), Some(3), 2, Input, vec![File]),
            (None, None, Some(3), 3, File, vec![]),
            (None, None, None, 95, Default, vec![]),
        ];
        for (flag, input, file, value, source, over) in table {
            let flags = flag.map(|n| ("gate.target", Value::Whole(n))).into_iter().collect();
            let inputs = input.map(|n| ("pass-threshold", Value::Whole(n))).into_iter().collect();
            let text = file.map(|n| format!("gate: {{ target: {n} }}")).unwrap_or_default();
            let file = crate::config::parse(&text, "f").unwrap();
            let all = effective(&flags, &inputs, &file);
            let found = all.iter().find(|one| one.key == "gate.target").unwrap();
            let expected =
                Effective { key: "gate.target", value: Some(Value::Whole(value)), source, over };
            assert_eq!(*found, expected);
        }
    }

    #[test]
    fn the_built_in_values_are_those_the_rules_have() {
        use crate::domain::chain::Rules;
        use crate::domain::coverage::CoverageTarget;
        use crate::domain::threshold::Thresholds;
        let all = effective(&BTreeMap::new(), &Inputs::new(), &Settings::default());
        let value = |key: &str| all.iter().find(|one| one.key == key).unwrap().value.clone();
        let whole = |number: u32| Some(Value::Whole(number.into()));
        let amount = |number: f64| Some(Value::Amount(number));
        let (at, rules, cover) =
            (Thresholds::default(), Rules::default(), CoverageTarget::default());
        let table = [
            ("loop.regression-threshold", whole(at.regression_points)),
            ("loop.stuck-threshold", whole(at.stuck_results)),
            ("loop.stuck-abort-ratio", amount(at.stuck_abort)),
            ("loop.similarity-threshold", amount(at.similarity)),
            ("loop.aggressive-min-rate", whole(at.aggressive_rate)),
            ("analysis.min-confidence", amount(rules.min_confidence)),
            ("analysis.min-analysis-words", Some(Value::Whole(rules.min_words as u64))),
            ("analysis.same-cause-limit", Some(Value::Whole(rules.same_cause_limit as u64))),
            ("coverage.line", whole(cover.line)),
            ("coverage.branch", whole(cover.branch)),
            ("coverage.function", whole(cover.function)),
        ];
        for (key, expected) in table {
            assert_eq!(value(key), expected, "{key}");
        }
    }
}
