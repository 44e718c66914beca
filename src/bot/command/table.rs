//! The verbs and flags of comments, and the help that is made of them.

use crate::domain::command::Verb;

/// How every command begins.
pub const PREFIX: &str = "/regreen";

/// Whether a verb works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Now,
    Later,
}

/// One verb.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The word.
    pub name: &'static str,
    /// Its value.
    pub verb: Verb,
    /// Its arguments as the help shows them.
    pub arguments: &'static str,
    /// What it does or will do; follows "It will" in an answer about a later one.
    pub help: &'static str,
    /// Whether it works.
    pub state: State,
}

const fn now(name: &'static str, verb: Verb, arguments: &'static str, help: &'static str) -> Row {
    Row { name, verb, arguments, help, state: State::Now }
}

const fn later(name: &'static str, verb: Verb, arguments: &'static str, help: &'static str) -> Row {
    Row { name, verb, arguments, help, state: State::Later }
}

/// All verbs (product.md 2.1, 2.4, 13.18).
pub const VERBS: &[Row] = &[
    now("fix", Verb::Fix, "", "run the tests and bring them back to green on a fix branch"),
    now("explain", Verb::Explain, "", "say where the failures come from, and change nothing"),
    now("estimate", Verb::Estimate, "", "quote minutes and money before spending them"),
    now("test", Verb::Test, "INPUT", "generate tests for a task, run them and fix what fails"),
    now("plan", Verb::Plan, "INPUT", "plan tests for a task and stop there"),
    now("run", Verb::Run, "", "carry the plan out"),
    now("show-plan", Verb::ShowPlan, "", "show the planned tasks"),
    now("cancel", Verb::Cancel, "", "drop the plan"),
    now("extend", Verb::Extend, "", "generate tests for what the last fix changed"),
    now(
        "validate",
        Verb::Validate,
        "[--strict] [--fix]",
        "look for what generated code gets wrong",
    ),
    now("resume", Verb::Resume, "[SESSION]", "continue a stopped session"),
    now("continue", Verb::Continue, "[SESSION]", "continue a stopped session"),
    now("status", Verb::Status, "", "show the sessions and how far they are"),
    now("session", Verb::Session, "list", "do the same as status"),
    now("stop", Verb::Stop, "", "finish the running step, save, and end"),
    now("rollback", Verb::Rollback, "[N]", "take the fix of iteration N back, or the last one"),
    now("undo", Verb::Undo, "[N]", "do the same as rollback"),
    now("rebase", Verb::Rebase, "", "set the fix branch on top of the new head"),
    now("recreate", Verb::Recreate, "", "drop the fix branch and begin again"),
    now("apply", Verb::Apply, "SHA", "publish a stored result, when it is for this head"),
    now("complete", Verb::Complete, "", "end the session and take its files off the fix branch"),
    now("sync", Verb::Sync, "", "write what was learned into the project's notes"),
    now("issue", Verb::Issue, "DIMENSION,…", "open follow-up issues: test, enhance, refactor, doc"),
    now("report", Verb::Report, "", "post the report of the session"),
    now("help", Verb::Help, "", "show this table"),
    later("integration", Verb::Integration, "TEXT", "build integration tests across modules"),
    later("refactor", Verb::Refactor, "[GOAL]", "work off technical debt item by item"),
    later("confirm", Verb::Confirm, "", "accept a proposed design or queue and go on"),
    later("adjust", Verb::Adjust, "WHAT: TEXT", "change scope, mocks or scenarios of a design"),
    later("pick", Verb::Pick, "ID…", "choose items of the queue of a clean-up"),
    later("score", Verb::Score, "ID KEY=N…", "change the scores of an item of that queue"),
];

/// Flags a comment may carry; whatever else the command line knows is for the configuration.
pub const FLAGS: &[(&str, &str)] = &[
    ("--max-iterations", "N"),
    ("--budget-minutes", "MINUTES"),
    ("--budget-usd", "USD"),
    ("--budget-tokens", "N"),
    ("--budget-calls", "N"),
    ("--suggest", ""),
    ("--dry-run", ""),
    ("--no-minimise", ""),
    ("--yes", ""),
    ("-y", ""),
];

/// The names of all flags, for a sentence.
pub fn flags() -> String {
    FLAGS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// What to answer to a verb that is not built yet.
#[must_use]
pub fn later_answer(verb: Verb) -> String {
    let row = VERBS.iter().find(|row| row.verb == verb);
    row.map_or_else(String::new, |row| {
        format!("`{PREFIX} {}` is not available yet. It will {}.", row.name, row.help)
    })
}

/// The help as Markdown, from the table.
#[must_use]
pub fn help() -> String {
    let mut text = String::from("| Command | What it does |\n|---|---|\n");
    for row in VERBS.iter().filter(|row| row.state == State::Now) {
        let space = if row.arguments.is_empty() { "" } else { " " };
        text.push_str(&format!(
            "| `{PREFIX} {}{space}{}` | {} |\n",
            row.name, row.arguments, row.help
        ));
    }
    let names = VERBS.iter().filter(|row| row.state == State::Later).map(|row| row.name);
    text.push_str(&format!("\nFlags: {}.\n", flags()));
    let names = names.collect::<Vec<_>>().join(", ");
    text.push_str(&format!("Not available yet: {names}.\n"));
    text
}
