//! Parses one command line: words, arguments and flags.

use crate::config::nearest;
use crate::domain::command::{Command, Flags};

use super::MAX_COMMANDS;
use super::table::{COMMANDS, FLAGS, PREFIX, Reader, flags};

pub(super) const MAX_LINE: usize = 2_000;

/// Why a command line is not understood. The messages quote the comment, shortened to one line; the
/// page that shows them escapes the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("No command stands after {PREFIX}. `{PREFIX} help` lists all commands.")]
    Empty,
    #[error("Unknown command `{word}`.{} `{PREFIX} help` lists all commands.", suggestion(*.near))]
    Command { word: String, near: Option<&'static str> },
    #[error("Unknown flag `{word}`.{} A comment may carry {}.", suggestion(*.near), flags())]
    Flag { word: String, near: Option<&'static str> },
    #[error("`{flag}` expects {expected}.")]
    Value { flag: &'static str, expected: &'static str },
    #[error("`{command}` expects {expected}.")]
    Argument { command: &'static str, expected: &'static str },
    #[error("A quote is not closed.")]
    Quote,
    #[error("Write the arguments without code, links or HTML.")]
    Markup,
    #[error("A command may have {MAX_LINE} bytes at most.")]
    Long,
    #[error("A comment may hold {MAX_COMMANDS} commands. The rest is ignored.")]
    Many,
}

fn suggestion(near: Option<&'static str>) -> String {
    near.map_or_else(String::new, |near| format!(" Did you mean `{near}`?"))
}

/// Splits at whitespace. `'…'` and `"…"` keep it together; `\"` and `\\` work within double quotes.
/// Nothing is ever expanded.
pub(super) fn words(text: &str) -> Result<Vec<String>, Problem> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let held = word.get_or_insert_default();
                loop {
                    match chars.next().ok_or(Problem::Quote)? {
                        end if end == c => break,
                        '\\' if c == '"' => match chars.next().ok_or(Problem::Quote)? {
                            escaped @ ('"' | '\\') => held.push(escaped),
                            other => held.extend(['\\', other]),
                        },
                        other => held.push(other),
                    }
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Parses one line that begins with the prefix.
pub(super) fn parse(line: &str) -> Result<Command, Problem> {
    if line.len() > MAX_LINE {
        return Err(Problem::Long);
    }
    let words = words(line.strip_prefix(PREFIX).unwrap_or(line))?;
    let (name, rest) = words.split_first().ok_or(Problem::Empty)?;
    let spec = COMMANDS.iter().find(|spec| spec.name == name).ok_or_else(|| Problem::Command {
        word: short(name),
        near: nearest(name, COMMANDS.iter().map(|spec| spec.name)),
    })?;
    let problem = |expected| Problem::Argument { command: spec.name, expected };
    let (flags, arguments) = match &spec.read {
        Reader::OwnFlags(_) => Default::default(),
        _ => split(rest)?,
    };
    let starts_run = matches!(spec.read, Reader::Run(_) | Reader::PlainRun(_));
    if !starts_run && flags != (Flags { yes: flags.yes, ..Flags::default() }) {
        return Err(problem("no flags besides -y"));
    }
    if !arguments.is_empty() && matches!(spec.read, Reader::PlainRun(_) | Reader::PlainReply(_)) {
        return Err(problem("no argument"));
    }
    match &spec.read {
        Reader::OwnFlags(read) => read(rest).map_err(problem),
        Reader::Run(read) => read(&arguments, flags).map_err(problem),
        Reader::Reply(read) => read(&arguments).map_err(problem),
        Reader::PlainRun(of) => Ok(of(flags)),
        Reader::PlainReply(command) => Ok(command.clone()),
    }
}

/// Separates arguments from flags, which are written `--name=value` or `--name value`.
fn split(words: &[String]) -> Result<(Flags, Vec<&str>), Problem> {
    let mut flags = Flags::default();
    let mut arguments = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "-" {
            arguments.push(word.as_str());
            continue;
        }
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        let known = FLAGS.iter().find(|(known, _)| *known == name);
        let (flag, takes) = *known.ok_or_else(|| Problem::Flag {
            word: short(name),
            near: nearest(name, FLAGS.iter().map(|(name, _)| *name)),
        })?;
        if takes.is_empty() {
            if inline.is_some() {
                return Err(Problem::Value { flag, expected: "no value" });
            }
            match flag {
                "--suggest" => flags.suggest = true,
                "--dry-run" => flags.dry_run = true,
                "--no-minimise" => flags.no_minimise = true,
                _ => flags.yes = true,
            }
            continue;
        }
        let value = inline.or_else(|| words.next().map(String::as_str)).unwrap_or_default();
        set(&mut flags, flag, value)?;
    }
    if flags.suggest && flags.dry_run {
        return Err(Problem::Value { flag: "--dry-run", expected: "no --suggest beside it" });
    }
    Ok((flags, arguments))
}

fn set(flags: &mut Flags, flag: &'static str, value: &str) -> Result<(), Problem> {
    let whole = value.parse::<u64>().ok().filter(|n| *n > 0);
    let number = whole.ok_or(Problem::Value { flag, expected: "a whole number from 1" });
    match flag {
        "--max-iterations" => {
            let expected = "a whole number from 1 to 50";
            let number = value.parse::<u32>().ok().filter(|n| (1..=50).contains(n));
            flags.limits.max_iterations = Some(number.ok_or(Problem::Value { flag, expected })?);
        }
        "--budget-usd" => {
            let expected = "a number of dollars, such as 2.50";
            let number = value.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
            flags.limits.usd = Some(number.ok_or(Problem::Value { flag, expected })?);
        }
        "--budget-minutes" => flags.limits.minutes = Some(number?),
        "--budget-tokens" => flags.limits.tokens = Some(number?),
        _ => flags.limits.calls = Some(number?),
    }
    Ok(())
}

/// Untrusted text for a sentence: one line, at most 40 characters, no Markdown syntax.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !"`<>@".contains(*c)).take(40).collect()
}
