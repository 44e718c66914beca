//! Which of several values counts: a flag wins over an input, an input over the file, the file
//! over what is built in (product.md 13.15).

use std::collections::BTreeMap;

use super::file::{History, Push, Settings, Topic};
use super::inputs::{INPUTS, Inputs, Value};

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
    let keys = INPUTS.iter().filter(|input| !input.key.is_empty());
    keys.map(|input| {
        let key = input.key;
        let layers = [
            (Source::Flag, flags.get(key).cloned()),
            (Source::Input, inputs.get(input.name).cloned()),
            (Source::File, in_file(file, key)),
            (Source::Default, built_in(key)),
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

fn built_in(key: &str) -> Option<Value> {
    let text = |text: &str| Some(Value::Text(text.to_owned()));
    match key {
        "gate.target" => Some(Value::Whole(95)),
        "gate.max-iterations" => Some(Value::Whole(10)),
        "test.timeout" => text("20m"),
        "push" => text("branch"),
        "history" => text("revert"),
        "label" => text("regreen"),
        "ignore-preexisting" => Some(Value::Flag(false)),
        "expand" => Some(Value::List(Vec::new())),
        _ => None,
    }
}

fn in_file(file: &Settings, key: &str) -> Option<Value> {
    let text = |text: &Option<String>| text.clone().map(Value::Text);
    let word = |word: &str| Value::Text(word.to_owned());
    let (test, gate, budget) = (file.test.as_ref(), file.gate.as_ref(), file.budget.as_ref());
    match key {
        "gate.target" => gate?.target.map(u64::from).map(Value::Whole),
        "gate.max-iterations" => gate?.max_iterations.map(u64::from).map(Value::Whole),
        "engine" => file.engine.clone().map(Value::List),
        "test.command" => text(&test?.command),
        "test.report" => text(&test?.report),
        "test.timeout" => text(&test?.timeout),
        "test.setup" => test?.setup.clone().map(Value::List),
        "sandbox.image" => text(&file.sandbox.as_ref()?.image),
        "budget.minutes" => budget?.minutes.map(Value::Whole),
        "budget.usd" => budget?.usd.map(Value::Amount),
        "label" => text(&file.label),
        "ignore-preexisting" => file.ignore_preexisting.map(Value::Flag),
        "push" => file.push.map(|push| match push {
            Push::Branch => word("branch"),
            Push::Head => word("head"),
            Push::None => word("none"),
        }),
        "history" => file.history.map(|history| match history {
            History::Revert => word("revert"),
            History::Clean => word("clean"),
        }),
        "expand" => file.expand.as_ref().map(|topics| {
            let name = |topic: &Topic| match topic {
                Topic::Test => "test".to_owned(),
                Topic::Enhance => "enhance".to_owned(),
                Topic::Refactor => "refactor".to_owned(),
                Topic::Doc => "doc".to_owned(),
            };
            Value::List(topics.iter().map(name).collect())
        }),
        _ => None,
    }
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
    fn the_file_reaches_every_key() {
        let text = "test: { command: c, report: r, setup: [s], timeout: 1m }\ngate: { target: 1, max-iterations: 2 }\nengine: [e]\nbudget: { minutes: 3, usd: 4 }\npush: none\nhistory: clean\nexpand: [refactor, enhance]\nlabel: l\nignore-preexisting: true\nsandbox: { image: i }\n";
        let file = crate::config::parse(text, "f").unwrap();
        for one in effective(&BTreeMap::new(), &Inputs::new(), &file) {
            assert_eq!(one.source, File, "{}", one.key);
        }
    }
}
