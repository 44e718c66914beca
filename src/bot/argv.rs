//! The arguments of the working phase.

use std::path::Path;

use crate::config::inputs::Inputs;
use crate::domain::command::Ceiling;

use super::action::Run;
use super::start::{Call, Start, Wish};

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
    line.extend(sets(&run.around.inputs));
    if wish.flags.no_minimise && fixes {
        line.push("--no-minimise".into());
    }
    if let Call::Test(what) | Call::Plan(what) = &start.call {
        line.extend(["--".to_owned(), what.clone()]);
    }
    line
}

/// Inputs as the working phase is told them: each as the key of the file it wins over.
pub fn sets(inputs: &Inputs) -> Vec<String> {
    inputs.overrides.iter().map(|one| format!("--set={}={}", one.key, one.value)).collect()
}
