//! The arguments of the working phase.

use std::path::Path;

use crate::config::inputs::{Inputs, Value};
use crate::domain::command::Ceiling;

use super::action::Run;
use super::start::{Call, Start, Wish};

/// Inputs that are flags of `regreen fix` by another name.
const FIX_INPUTS: &[(&str, &str)] = &[
    ("pass-threshold", "--target"),
    ("providers", "--engine"),
    ("test-command", "--test-command"),
    ("report", "--report"),
    ("test-timeout", "--test-timeout"),
];

/// Those that `regreen test` and `regreen plan` have too.
const TEST_INPUTS: &[(&str, &str)] =
    &[("test-command", "--test-command"), ("test-timeout", "--test-timeout")];

/// The arguments. What a comment says comes last, behind the mark that ends all flags.
#[must_use]
pub fn arguments(
    run: &Run<'_>,
    wish: &Wish,
    start: &Start,
    limits: &Ceiling,
    bundle: &Path,
    configuration: &Path,
) -> Vec<String> {
    let root = start.facts.root.display().to_string();
    let session = start.session.as_str();
    let mut line: Vec<String> = match &start.call {
        Call::Fix => vec!["fix", &root, "--session", session],
        Call::FixAgain => vec!["fix", &root, "--resume", session],
        Call::Explain => vec!["fix", &root, "--dry-run", "--session", session],
        Call::Test(_) => vec!["test", "--repository", &root, "--fresh", "--session", session],
        Call::Plan(_) => vec!["plan", "--repository", &root, "--fresh", "--session", session],
        Call::TestAgain => vec!["test", "--repository", &root, "--yes", "--resume", session],
    }
    .into_iter()
    .map(str::to_owned)
    .collect();
    line.push("--json".into());
    let mut add = |flag: &str, value: Option<String>| {
        if let Some(value) = value {
            line.extend([flag.to_owned(), value]);
        }
    };
    add("--config", Some(configuration.display().to_string()));
    add("--bundle", Some(bundle.display().to_string()));
    add("--base", run.prepared.base.as_ref().map(ToString::to_string));
    add("--max-iterations", limits.max_iterations.map(|number| number.to_string()));
    add("--budget-minutes", limits.minutes.map(|number| number.to_string()));
    add("--budget-usd", limits.usd.map(|number| number.to_string()));
    add("--budget-tokens", limits.tokens.map(|number| number.to_string()));
    add("--budget-calls", limits.calls.map(|number| number.to_string()));
    let fixes = matches!(start.call, Call::Fix | Call::FixAgain | Call::Explain);
    for (input, flag) in if fixes { FIX_INPUTS } else { TEST_INPUTS } {
        add(flag, shown(&run.around.inputs, input));
    }
    if let Some(Value::List(commands)) = run.around.inputs.get("setup").filter(|_| fixes) {
        line.extend(commands.iter().map(|command| format!("--setup={command}")));
    }
    if wish.flags.no_minimise && fixes {
        line.push("--no-minimise".into());
    }
    if let Call::Test(what) | Call::Plan(what) = &start.call {
        line.extend(["--".to_owned(), what.clone()]);
    }
    line
}

/// Inputs that ask for what is not built yet. Whoever asks is told, not misled.
#[must_use]
pub fn not_obeyed(inputs: &Inputs) -> Vec<String> {
    let is = |name: &str, word: &str| inputs.get(name) == Some(&Value::Text(word.to_owned()));
    let rules = [
        (is("rollback-mode", "clean"), "`rollback-mode: clean`"),
        (is("commit-state", "none"), "`commit-state: none`"),
        (inputs.get("ignore-preexisting") == Some(&Value::Flag(true)), "`ignore-preexisting`"),
        (inputs.get("sandbox").is_some(), "`sandbox`"),
    ];
    let asked = rules.into_iter().filter(|(asked, _)| *asked);
    asked.map(|(_, what)| format!("{what} is not obeyed yet")).collect()
}

/// An input as a flag takes it.
#[must_use]
pub fn shown(inputs: &Inputs, name: &str) -> Option<String> {
    Some(match inputs.get(name)? {
        Value::Text(text) => text.clone(),
        Value::Flag(flag) => flag.to_string(),
        Value::Whole(number) => number.to_string(),
        Value::Amount(number) => number.to_string(),
        Value::List(list) => list.join(","),
    })
}
