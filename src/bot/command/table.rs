//! The table of comment commands and flags, and the help text made from it.

use crate::domain::command::{Command, Dimension, Flags};
use crate::domain::id::{CommitId, SessionId};
use crate::domain::integration::records::Adjustment;

/// The prefix of every command.
pub const PREFIX: &str = "/regreen";

/// Names the expected arguments, for the error about wrong ones.
type Expected = &'static str;

/// How the arguments of a command are parsed.
#[derive(Clone, Debug)]
pub enum Reader {
    /// The command starts a run, whose limits flags may lower.
    Run(fn(&[&str], Flags) -> Result<Command, Expected>),
    /// The same without arguments.
    PlainRun(fn(Flags) -> Command),
    /// The command is answered at once and accepts no flag but `-y`.
    Reply(fn(&[&str]) -> Result<Command, Expected>),
    /// The same without arguments.
    PlainReply(Command),
    OwnFlags(fn(&[String]) -> Result<Command, Expected>),
}

#[derive(Clone, Debug)]
pub struct CommandSpec {
    pub name: &'static str,
    /// Its arguments as the help shows them.
    pub arguments: &'static str,
    /// What it does; empty for an alias, which the help omits.
    pub help: &'static str,
    pub read: Reader,
}

impl CommandSpec {
    /// Whether the command is another name for one that the help lists.
    pub const fn is_alias(&self) -> bool {
        self.help.is_empty()
    }
}

const fn spec(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    read: Reader,
) -> CommandSpec {
    CommandSpec { name, arguments, help, read }
}

const fn run(name: &'static str, help: &'static str, of: fn(Flags) -> Command) -> CommandSpec {
    spec(name, "", help, PlainRun(of))
}

const fn reply(name: &'static str, help: &'static str, command: Command) -> CommandSpec {
    spec(name, "", help, PlainReply(command))
}

const fn alias(name: &'static str, read: Reader) -> CommandSpec {
    spec(name, "", "", read)
}

use Reader::{OwnFlags, PlainReply, PlainRun, Reply, Run};

const RESUME: Reader = Run(|words, flags| {
    let session = optional(words)?.map(SessionId::parse).transpose();
    session.map(|session| Command::Resume { session, flags }).map_err(|_error| "a session id")
});

const ROLLBACK: Reader = Reply(|words| {
    let iteration = optional(words)?
        .map(|word| word.parse().ok().filter(|n| (1..=50).contains(n)))
        .map(|number| number.ok_or("an iteration from 1 to 50"))
        .transpose()?;
    Ok(Command::Rollback { iteration })
});

/// All commands (specification.md 2.1, 2.4, 2.5).
pub const COMMANDS: &[CommandSpec] = &[
    run("fix", "run the tests and fix them on a fix branch", |flags| Command::Fix { flags }),
    run("explain", "explain where the failures come from, and change nothing", |flags| {
        Command::Explain { flags }
    }),
    reply("estimate", "estimate the time and cost of a run", Command::Estimate),
    spec(
        "test",
        "INPUT",
        "write tests for a task, run them and fix what fails",
        Run(|words, flags| Ok(Command::Test { what: task(words)?, flags })),
    ),
    spec(
        "plan",
        "INPUT",
        "plan tests for a task without writing them",
        Run(|words, flags| Ok(Command::Plan { what: task(words)?, flags })),
    ),
    run("run", "carry out the plan", |flags| Command::Run { flags }),
    reply("show-plan", "show the planned tasks", Command::ShowPlan),
    reply("cancel", "drop the plan", Command::Cancel),
    spec(
        "integration",
        "MODULE",
        "write tests that cross the boundaries of a module, named by path or in words",
        Run(|words, flags| {
            let module = words.join(" ");
            let named =
                if module.is_empty() { Err("a module: a path or words") } else { Ok(module) };
            Ok(Command::Integration { module: named?, flags })
        }),
    ),
    run("confirm", "write the integration tests of the design that waits", |flags| {
        Command::Confirm { flags }
    }),
    spec(
        "adjust",
        "PART: TEXT",
        "change the scope, mocks or scenarios of the design that waits, and show it again",
        Run(|words, flags| Ok(Command::Adjust { adjustment: adjustment(words)?, flags })),
    ),
    run("extend", "write tests for what the last fix changed", |flags| Command::Extend { flags }),
    spec(
        "validate",
        "[--strict] [--fix]",
        "check the change for mistakes typical of generated code",
        OwnFlags(validate),
    ),
    spec("resume", "[SESSION]", "continue a stopped session", RESUME),
    alias("continue", RESUME),
    reply("status", "list the sessions and their progress", Command::Status),
    alias(
        "session",
        Reply(|words| match words {
            ["list"] => Ok(Command::Status),
            _ => Err("`list`"),
        }),
    ),
    reply("stop", "finish the current step, save, and end", Command::Stop),
    spec("rollback", "[N]", "revert the fix of iteration N, or the newest fix", ROLLBACK),
    alias("undo", ROLLBACK),
    reply("rebase", "rebase the fix branch onto the current head", Command::Rebase),
    run("recreate", "replace the fix branch by a new attempt", |flags| Command::Recreate { flags }),
    spec(
        "apply",
        "SHA",
        "publish a stored result if it was made for this head",
        Reply(|words| {
            let commit = optional(words)?.and_then(|word| CommitId::parse(word).ok());
            let commit = commit.ok_or("a commit id of 40 hexadecimal digits")?;
            Ok(Command::Apply { commit })
        }),
    ),
    reply(
        "complete",
        "end the session and remove its files from the fix branch",
        Command::Complete,
    ),
    reply("sync", "record what was learned in the project's notes", Command::Sync),
    spec(
        "issue",
        "DIMENSION,…",
        "open follow-up issues: test, enhance, refactor, doc",
        Reply(issue),
    ),
    reply("report", "say where the report of the last session is", Command::Report),
    reply("help", "show this table", Command::Help),
];

/// The argument of a command that takes at most one.
fn optional<'a>(words: &[&'a str]) -> Result<Option<&'a str>, Expected> {
    match words {
        [] => Ok(None),
        [word] => Ok(Some(word)),
        _ => Err("one argument at most"),
    }
}

/// Joins the words that describe what to test.
fn task(words: &[&str]) -> Result<String, Expected> {
    if words.is_empty() { Err("a description of what to test") } else { Ok(words.join(" ")) }
}

/// Reads which part of a design is adjusted, and how.
fn adjustment(words: &[&str]) -> Result<Adjustment, Expected> {
    const EXPECTED: Expected = "`scope: TEXT`, `mocks: TEXT` or `scenarios: TEXT`";
    let all = words.join(" ");
    let (part, text) = all.split_once(':').ok_or(EXPECTED)?;
    let part = serde_json::from_value(part.trim().into()).map_err(|_unknown| EXPECTED)?;
    let text = text.trim().to_owned();
    if text.is_empty() { Err(EXPECTED) } else { Ok(Adjustment { part, text }) }
}

fn validate(words: &[String]) -> Result<Command, Expected> {
    let (mut strict, mut fix) = (false, false);
    for word in words {
        match word.as_str() {
            "--strict" => strict = true,
            "--fix" => fix = true,
            "-y" | "--yes" => {}
            _ => return Err("nothing but `--strict` and `--fix`"),
        }
    }
    Ok(Command::Validate { strict, fix })
}

fn issue(words: &[&str]) -> Result<Command, Expected> {
    const EXPECTED: Expected = "some of test, enhance, refactor, doc";
    let mut dimensions: Vec<Dimension> = Vec::new();
    for word in words.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty()) {
        let dimension = serde_json::from_value(word.into()).map_err(|_unknown| EXPECTED)?;
        if !dimensions.contains(&dimension) {
            dimensions.push(dimension);
        }
    }
    if dimensions.is_empty() { Err(EXPECTED) } else { Ok(Command::Issue { dimensions }) }
}

/// The flags of comments with their values' names; the configuration has all others.
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

/// The names of all flags, for use in a sentence.
pub fn flags() -> String {
    FLAGS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// The help as Markdown.
pub fn help() -> String {
    let mut text = String::from("| Command | What it does |\n|---|---|\n");
    for spec in COMMANDS.iter().filter(|spec| !spec.is_alias()) {
        let space = if spec.arguments.is_empty() { "" } else { " " };
        text.push_str(&format!(
            "| `{PREFIX} {}{space}{}` | {} |\n",
            spec.name, spec.arguments, spec.help
        ));
    }
    text.push_str(&format!("\nFlags: {}.\n", flags()));
    text
}
