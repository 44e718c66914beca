//! One command line to a command: words, arguments, flags.

use crate::domain::command::{Command, Dimension, Flags, Verb};
use crate::domain::id::{CommitId, SessionId};

use super::MAX_COMMANDS;
use super::table::{FLAGS, PREFIX, Row, State, VERBS, flags};

pub(super) const MAX_LINE: usize = 2_000;

/// Why a command line cannot be followed. The texts quote the comment, bounded and without line
/// breaks; a screen escapes them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("no verb after {PREFIX}; `{PREFIX} help` lists them")]
    Empty,
    #[error("unknown verb `{word}`{}; `{PREFIX} help` lists all", suggestion(*.near))]
    Verb { word: String, near: Option<&'static str> },
    #[error("unknown flag `{word}`{}; a comment may carry {}", suggestion(*.near), flags())]
    Flag { word: String, near: Option<&'static str> },
    #[error("`{flag}` expects {expected}")]
    Value { flag: &'static str, expected: &'static str },
    #[error("`{verb}` expects {expected}")]
    Argument { verb: &'static str, expected: &'static str },
    #[error("a quote is not closed")]
    Quote,
    #[error("write the arguments without code, links and HTML")]
    Markup,
    #[error("a command line holds at most {MAX_LINE} bytes")]
    Long,
    #[error("a comment holds at most {MAX_COMMANDS} commands; the rest is not read")]
    Many,
}

fn suggestion(near: Option<&'static str>) -> String {
    near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"))
}

/// Splits at blanks; `'…'` and `"…"` hold blanks, `\"` and `\\` work within double quotes. Nothing
/// is ever expanded.
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

/// Reads one line that begins with the prefix.
pub(super) fn parse(line: &str) -> Result<Command, Problem> {
    if line.len() > MAX_LINE {
        return Err(Problem::Long);
    }
    let words = words(line.strip_prefix(PREFIX).unwrap_or(line))?;
    let (name, rest) = words.split_first().ok_or(Problem::Empty)?;
    let row = VERBS.iter().find(|row| row.name == name).ok_or_else(|| Problem::Verb {
        word: short(name),
        near: nearest(name, VERBS.iter().map(|row| row.name)),
    })?;
    if row.state == State::Later {
        return Ok(Command::Later { verb: row.verb });
    }
    if row.verb == Verb::Validate {
        return validate(row, rest);
    }
    let (flags, arguments) = split(rest)?;
    if !runs(row.verb) && flags != (Flags { yes: flags.yes, ..Flags::default() }) {
        return Err(wants(row, "no flags besides -y"));
    }
    let one = match arguments.as_slice() {
        [] => None,
        [one] => Some(*one),
        _ if matches!(row.verb, Verb::Issue | Verb::Test | Verb::Plan) => None,
        _ => return Err(wants(row, "fewer arguments")),
    };
    let none = |command| if one.is_none() { Ok(command) } else { Err(wants(row, "no argument")) };
    match row.verb {
        Verb::Fix => none(Command::Fix { flags }),
        Verb::Test | Verb::Plan if arguments.is_empty() => Err(wants(row, "what is to be tested")),
        Verb::Test => Ok(Command::Test { what: arguments.join(" "), flags }),
        Verb::Plan => Ok(Command::Plan { what: arguments.join(" "), flags }),
        Verb::Explain => none(Command::Explain { flags }),
        Verb::Run => none(Command::Run { flags }),
        Verb::Recreate => none(Command::Recreate { flags }),
        Verb::Extend => none(Command::Extend { flags }),
        Verb::Estimate => none(Command::Estimate),
        Verb::ShowPlan => none(Command::ShowPlan),
        Verb::Cancel => none(Command::Cancel),
        Verb::Rebase => none(Command::Rebase),
        Verb::Complete => none(Command::Complete),
        Verb::Sync => none(Command::Sync),
        Verb::Session if one == Some("list") => Ok(Command::Status),
        Verb::Session => Err(wants(row, "`list`")),
        Verb::Resume | Verb::Continue => {
            let session = one.map(SessionId::parse).transpose();
            let session =
                session.map_err(|_bad| wants(row, "a session id such as WFS-test-pr-7"))?;
            Ok(Command::Resume { session, flags })
        }
        Verb::Status => none(Command::Status),
        Verb::Stop => none(Command::Stop),
        Verb::Report => none(Command::Report),
        Verb::Help => none(Command::Help),
        Verb::Rollback | Verb::Undo => {
            let iteration =
                one.map(|word| word.parse::<u32>().ok().filter(|n| (1..=50).contains(n)));
            match iteration {
                Some(None) => Err(wants(row, "an iteration from 1 to 50")),
                other => Ok(Command::Rollback { iteration: other.flatten() }),
            }
        }
        Verb::Issue => dimensions(row, &arguments),
        Verb::Apply => {
            let commit = one.and_then(|word| CommitId::parse(word).ok());
            let commit =
                commit.ok_or_else(|| wants(row, "a commit id of 40 hexadecimal digits"))?;
            Ok(Command::Apply { commit })
        }
        verb => Ok(Command::Later { verb }),
    }
}

/// Whether a verb starts a run, whose limits flags may lower.
fn runs(verb: Verb) -> bool {
    matches!(
        verb,
        Verb::Fix
            | Verb::Explain
            | Verb::Test
            | Verb::Plan
            | Verb::Run
            | Verb::Extend
            | Verb::Recreate
            | Verb::Resume
            | Verb::Continue
    )
}

fn validate(row: &Row, words: &[String]) -> Result<Command, Problem> {
    let (mut strict, mut fix) = (false, false);
    for word in words {
        match word.as_str() {
            "--strict" => strict = true,
            "--fix" => fix = true,
            "-y" | "--yes" => {}
            _ => return Err(wants(row, "nothing but `--strict` and `--fix`")),
        }
    }
    Ok(Command::Validate { strict, fix })
}

fn dimensions(row: &Row, arguments: &[&str]) -> Result<Command, Problem> {
    let mut dimensions = Vec::new();
    for word in arguments.iter().flat_map(|word| word.split(',')).filter(|word| !word.is_empty()) {
        let dimension = Dimension::parse(word);
        let dimension =
            dimension.ok_or_else(|| wants(row, "some of test, enhance, refactor, doc"))?;
        if !dimensions.contains(&dimension) {
            dimensions.push(dimension);
        }
    }
    if dimensions.is_empty() {
        return Err(wants(row, "some of test, enhance, refactor, doc"));
    }
    Ok(Command::Issue { dimensions })
}

fn wants(row: &Row, expected: &'static str) -> Problem {
    Problem::Argument { verb: row.name, expected }
}

/// Flags and arguments, as `--name=value` or `--name value`.
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
            flags.max_iterations = Some(number.ok_or(Problem::Value { flag, expected })?);
        }
        "--budget-usd" => {
            let expected = "a number of dollars, such as 2.50";
            let number = value.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
            flags.usd = Some(number.ok_or(Problem::Value { flag, expected })?);
        }
        "--budget-minutes" => flags.minutes = Some(number?),
        "--budget-tokens" => flags.tokens = Some(number?),
        _ => flags.calls = Some(number?),
    }
    Ok(())
}

fn nearest(word: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let word = short(word);
    known
        .map(|known| (strsim::damerau_levenshtein(&word, known), known))
        .min()
        .filter(|(distance, known)| *distance <= 3 && *distance < known.len())
        .map(|(_, known)| known)
}

/// Foreign text for a sentence: one line, at most 40 characters, nothing that Markdown acts on.
fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !"`<>@".contains(*c)).take(40).collect()
}
