//! `regreen doctor`: what was detected, and what is missing.

use serde_json::json;

use crate::adapter::{protection, repo, suite, work_root};
use crate::app::AppError;
use crate::cli::args::RepositoryArguments;
use crate::cli::failure::exit;
use crate::report::phrases::harmless;

use crate::app::{configured, contain};

/// Runs the verb. A suite that cannot start is the environment's failure.
pub fn run(arguments: &RepositoryArguments) -> Result<u8, AppError> {
    let facts = repo::discover(&arguments.repository)?;
    let settings = configured(&facts.root, None, &[]).and_then(|settings| contain(&settings));
    let protection = protection()?;
    let detection = suite::detect(&facts.root, &facts.subdirectory, None, None);
    let (suite, others, mut missing) = match &detection {
        Ok(found) => (Some(found.facts.clone()), found.others.clone(), found.missing.clone()),
        Err(error) => (None, Vec::new(), vec![format!("{error}: {}", error.hint())]),
    };
    if let Err(failure) = settings {
        missing.push(format!("{}; {}", failure.message, failure.hint));
    }
    if facts.shallow {
        missing.push("history is cut (shallow clone), so `--base` may find no merge base: fetch more, for example with `git fetch --unshallow`".into());
    }
    let blocked =
        suite.is_none() || detection.as_ref().is_ok_and(|found| !found.missing.is_empty());
    let code = if blocked { exit::ENVIRONMENT } else { exit::MET };
    if arguments.json {
        let document = json!({
            "schema-version": 1,
            "repository": facts.root,
            "head": facts.head,
            "branch": facts.branch,
            "modified": facts.modified,
            "untracked": facts.untracked,
            "shallow": facts.shallow,
            "submodules": facts.submodules,
            "operation": facts.operation,
            "suite": suite,
            "others": others,
            "missing": missing,
            "work-folder": work_root(&facts),
            "test-code": { "holds": protection.in_force, "open": protection.missing },
        });
        super::print_json(&document);
        return Ok(code);
    }
    let row = |name: &str, value: &str| println!("{name:<12} {}", harmless(value, 300));
    row("repository", &facts.root.display().to_string());
    let branch = facts.branch.as_deref().unwrap_or("a detached head");
    row("head", &format!("{} on {branch}", facts.head.short()));
    let dirty = facts.modified + facts.untracked;
    let state = if dirty == 0 {
        "clean".to_owned()
    } else {
        format!(
            "{} modified, {} untracked (not tested: regreen works on the commit)",
            facts.modified, facts.untracked
        )
    };
    row("checkout", &state);
    for (present, what) in [(facts.shallow, "shallow clone"), (facts.submodules, "has submodules")]
    {
        if present {
            row("", what);
        }
    }
    if let Some(operation) = facts.operation {
        row("", &format!("{operation} is under way"));
    }
    if let Some(suite) = &suite {
        row("framework", &format!("{} {}", suite.framework, suite.version));
        row("because of", &suite.evidence.join(", "));
        row("command", &suite.command);
        row("results", &suite.format);
        row("folder", if suite.directory.is_empty() { "." } else { &suite.directory });
        row("languages", &suite.languages.join(", "));
    }
    if !others.is_empty() {
        row("also found", &others.join(", "));
    }
    row("works in", &work_root(&facts).display().to_string());
    for (name, texts) in [("test code", &protection.in_force), ("still open", &protection.missing)]
    {
        for (index, text) in texts.iter().enumerate() {
            row(if index == 0 { name } else { "" }, text);
        }
    }
    for text in &missing {
        row("missing", text);
    }
    if missing.is_empty() {
        println!("\nready: `regreen fix` can start");
    }
    Ok(code)
}
