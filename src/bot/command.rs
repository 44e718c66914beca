//! Comment Markdown to commands. Quotes, code, HTML, links and images hold none.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::domain::command::{Command, Dimension, Flags, Verb};
use crate::domain::id::{CommitId, SessionId};

/// How every command begins.
pub const PREFIX: &str = "/regreen";
/// Commands of one comment that are read; GitHub's comments hold 65,536 characters.
pub const MAX_COMMANDS: usize = 10;
const MAX_LINE: usize = 2_000;
/// Characters of a command line that an answer quotes.
pub const SHOWN: usize = 120;
const MAX_COMMENT: usize = 4 * 65_536;

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
    now("resume", Verb::Resume, "[SESSION]", "go on with a stopped session"),
    now("continue", Verb::Continue, "[SESSION]", "go on with a stopped session"),
    now("status", Verb::Status, "", "show the sessions and how far they are"),
    now("stop", Verb::Stop, "", "finish the running step, save, and end"),
    now("rollback", Verb::Rollback, "[N]", "take the fix of iteration N back, or the last one"),
    now("undo", Verb::Undo, "[N]", "do the same as rollback"),
    now("issue", Verb::Issue, "DIMENSION,…", "open follow-up issues: test, enhance, refactor, doc"),
    now("report", Verb::Report, "", "post the report of the session"),
    now("apply", Verb::Apply, "SHA", "say how a stored result is published; not built yet"),
    now("help", Verb::Help, "", "show this table"),
    now("test", Verb::Test, "INPUT", "generate tests for a task, run them and fix what fails"),
    later("plan", Verb::Plan, "INPUT", "plan tests for a task and stop there"),
    later("integration", Verb::Integration, "TEXT", "build integration tests across modules"),
    later("refactor", Verb::Refactor, "[GOAL]", "work off technical debt item by item"),
    later("validate", Verb::Validate, "", "check generated tests for the errors of the catalogue"),
    later("confirm", Verb::Confirm, "", "accept the proposed plan and go on"),
    later("adjust", Verb::Adjust, "WHAT: TEXT", "change scope, mocks or scenarios of the plan"),
    later("pick", Verb::Pick, "ID…", "choose items of the queue"),
    later("score", Verb::Score, "ID KEY=N…", "change the scores of an item"),
    later("extend", Verb::Extend, "", "add tests to a finished session"),
    later("run", Verb::Run, "", "start the planned tasks"),
    later("show-plan", Verb::ShowPlan, "", "show the planned tasks"),
    later("cancel", Verb::Cancel, "", "drop the planned tasks"),
    later("session", Verb::Session, "list", "administer sessions"),
    later("complete", Verb::Complete, "", "archive the session"),
    later("sync", Verb::Sync, "", "write what was learned into the project's notes"),
    later("estimate", Verb::Estimate, "", "quote minutes and money before spending them"),
    later("explain", Verb::Explain, "", "give the analysis without a fix"),
    later("rebase", Verb::Rebase, "", "move the fix branch onto the new head"),
    later("recreate", Verb::Recreate, "", "drop the fix branch and begin again"),
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

/// One command line of a comment.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Line of the comment, from 1.
    pub line: usize,
    /// As it was written, at most [`SHOWN`] characters; foreign.
    pub text: String,
    /// The command, or what is wrong with it.
    pub command: Result<Command, Problem>,
}

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

fn flags() -> String {
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
            "| `{PREFIX} {}{space}{}` | {} |
",
            row.name, row.arguments, row.help
        ));
    }
    let names = VERBS.iter().filter(|row| row.state == State::Later).map(|row| row.name);
    text.push_str(&format!("\nFlags: {}.\n", flags()));
    let names = names.collect::<Vec<_>>().join(", ");
    text.push_str(&format!("Not available yet: {names}.\n"));
    text
}

/// The commands of a comment, in order.
#[must_use]
pub fn read(comment: &str) -> Vec<Line> {
    if comment.len() > MAX_COMMENT {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for (range, markup) in places(comment) {
        let before = comment.get(..range.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        if lines.len() == MAX_COMMANDS {
            lines.push(Line { line, text: String::new(), command: Err(Problem::Many) });
            break;
        }
        let text = comment.get(range).unwrap_or_default();
        let command = if markup { Err(Problem::Markup) } else { parse(text) };
        lines.push(Line { line, text: text.trim().chars().take(SHOWN).collect(), command });
    }
    lines
}

/// Where command lines are, and whether markup is in them.
fn places(comment: &str) -> Vec<(Range<usize>, bool)> {
    let options =
        Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES | Options::ENABLE_TABLES;
    let mut found: Vec<(Range<usize>, bool)> = Vec::new();
    let mut open: Vec<bool> = Vec::new();
    // Elements that HTML opened and did not close: what is in them is no plain text.
    let mut html = String::new();
    for (event, range) in Parser::new_ext(comment, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if matches!(tag, Tag::Link { .. } | Tag::Image { .. }) {
                    mark(&mut found, &range);
                }
                open.push(matches!(tag, Tag::Paragraph));
            }
            Event::End(TagEnd::HtmlBlock) => {
                open.pop();
                html.push('\n');
            }
            Event::End(_) => {
                open.pop();
            }
            Event::Html(text) => html.push_str(&text),
            Event::InlineHtml(text) => {
                html.push_str(&text);
                mark(&mut found, &range);
            }
            Event::Code(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {
                mark(&mut found, &range);
            }
            Event::Text(_) if open == [true] => {
                if let Some(line) = command_line(comment, &range)
                    && !is_inside(&html)
                    && found.last().is_none_or(|(last, _)| last.start < line.start)
                {
                    found.push((line, false));
                }
            }
            _ => {}
        }
    }
    found
}

/// Notes that markup begins in the last command line.
fn mark(found: &mut [(Range<usize>, bool)], range: &Range<usize>) {
    if let Some((line, markup)) = found.last_mut()
        && line.contains(&range.start)
    {
        *markup = true;
    }
}

/// The whole line of a text that begins it with the prefix.
fn command_line(comment: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let before = comment.get(..range.start)?;
    let rest = comment.get(range.start..)?;
    let begins = before.rsplit('\n').next().is_none_or(|part| part.trim().is_empty());
    let text = rest.split('\n').next()?;
    let after = text.strip_prefix(PREFIX)?;
    let word = after.is_empty() || after.starts_with(char::is_whitespace);
    (begins && word).then(|| range.start..range.start + text.len())
}

/// Whether HTML seen so far leaves an element or a comment open. Fails closed.
fn is_inside(html: &str) -> bool {
    const VOID: &[&str] = &["br", "hr", "img", "input", "wbr", "source", "col", "link", "meta"];
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some((_, tail)) = rest.split_once('<') {
        if let Some(comment) = tail.strip_prefix("!--") {
            match comment.split_once("-->") {
                Some((_, after)) => rest = after,
                None => return true,
            }
            continue;
        }
        let Some((tag, after)) = tail.split_once('>') else { return true };
        rest = after;
        let closes = tag.starts_with('/');
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        if name.is_empty() || VOID.contains(&name.as_str()) || tag.ends_with('/') {
            continue;
        }
        if !closes {
            open.push(name);
        } else if let Some(at) = open.iter().rposition(|known| *known == name) {
            open.truncate(at);
        }
    }
    !open.is_empty()
}

/// Splits at blanks; `'…'` and `"…"` hold blanks, `\"` and `\\` work within double quotes. Nothing
/// is ever expanded.
fn words(text: &str) -> Result<Vec<String>, Problem> {
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
fn parse(line: &str) -> Result<Command, Problem> {
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
    let (flags, arguments) = split(rest)?;
    let runs = matches!(row.verb, Verb::Fix | Verb::Test | Verb::Resume | Verb::Continue);
    if !runs && flags != (Flags { yes: flags.yes, ..Flags::default() }) {
        return Err(wants(row, "no flags besides -y"));
    }
    let one = match arguments.as_slice() {
        [] => None,
        [one] => Some(*one),
        _ if matches!(row.verb, Verb::Issue | Verb::Test) => None,
        _ => return Err(wants(row, "fewer arguments")),
    };
    let none = |command| if one.is_none() { Ok(command) } else { Err(wants(row, "no argument")) };
    match row.verb {
        Verb::Fix => none(Command::Fix { flags }),
        Verb::Test if arguments.is_empty() => Err(wants(row, "what is to be tested")),
        Verb::Test => Ok(Command::Test { what: arguments.join(" "), flags }),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn commands(comment: &str) -> Vec<Command> {
        read(comment).into_iter().map(|line| line.command.unwrap()).collect()
    }

    fn problem(line: &str) -> String {
        parse(line).unwrap_err().to_string()
    }

    const FIX: Command = Command::Fix {
        flags: Flags {
            max_iterations: None,
            minutes: None,
            usd: None,
            tokens: None,
            calls: None,
            suggest: false,
            dry_run: false,
            no_minimise: false,
            yes: false,
        },
    };

    #[test]
    fn commands_are_lines_of_plain_paragraphs() {
        let table = [
            ("alone", "/regreen fix", 1),
            ("after text", "Thanks!\n/regreen fix\nBye", 1),
            ("windows line ends", "a\r\n/regreen fix\r\n", 1),
            ("two", "/regreen fix\n\n/regreen fix", 2),
            ("indented a little", "  /regreen fix", 1),
            ("within a sentence", "try /regreen fix", 0),
            ("another word", "/regreenfix", 0),
            ("case counts", "/Regreen fix", 0),
            ("quote", "> /regreen fix", 0),
            ("lazy quote", "> said\n/regreen fix", 0),
            ("code block", "```\n/regreen fix\n```", 0),
            ("open code block", "```\n/regreen fix", 0),
            ("indented code", "    /regreen fix", 0),
            ("inline code", "`/regreen fix`", 0),
            ("inline code over lines", "`a\n/regreen fix\nb`", 0),
            ("html comment", "<!--\n\n/regreen fix\n\n-->", 0),
            ("inline html comment", "a <!-- b\n/regreen fix\n-->", 0),
            ("html block", "<div>\n/regreen fix\n</div>", 0),
            ("folded", "<details>\n\n/regreen fix\n\n</details>", 0),
            ("after a folded part", "<details>\n\nx\n\n</details>\n\n/regreen fix", 1),
            ("after a break", "a<br>\n/regreen fix", 1),
            ("link text", "[a\n/regreen fix\nb](http://x)", 0),
            ("link", "[/regreen fix](http://x)", 0),
            ("image", "![/regreen fix](http://x)", 0),
            ("image text over lines", "![a\n/regreen fix\n](http://x)", 0),
            ("list", "- /regreen fix", 0),
            ("heading", "# /regreen fix", 0),
            ("struck out", "~~a\n/regreen fix\nb~~", 0),
            ("entity", "&#47;regreen fix", 0),
            ("escape", "\\/regreen fix", 0),
        ];
        for (why, comment, count) in table {
            assert_eq!(commands(comment), vec![FIX; count], "{why}");
        }
    }

    #[test]
    fn verbs_arguments_and_flags_are_read() {
        let session = SessionId::parse("WFS-test_pr_7").unwrap();
        let flags = Flags {
            max_iterations: Some(3),
            usd: Some(0.5),
            yes: true,
            suggest: true,
            ..Flags::default()
        };
        let sha = "a".repeat(40);
        let table = [
            (
                "/regreen fix --max-iterations=3 -y --suggest --budget-usd 0.5".to_owned(),
                Command::Fix { flags },
            ),
            (
                "/regreen resume WFS-test_pr_7".into(),
                Command::Resume { session: Some(session), flags: Flags::default() },
            ),
            (
                "/regreen continue".into(),
                Command::Resume { session: None, flags: Flags::default() },
            ),
            ("/regreen rollback 3".into(), Command::Rollback { iteration: Some(3) }),
            ("/regreen undo".into(), Command::Rollback { iteration: None }),
            (
                "/regreen issue test,doc test".into(),
                Command::Issue { dimensions: vec![Dimension::Test, Dimension::Doc] },
            ),
            (
                format!("/regreen apply {sha}"),
                Command::Apply { commit: CommitId::parse(sha.as_str()).unwrap() },
            ),
            (
                "/regreen test \"a b\" 'c'".into(),
                Command::Test { what: "a b c".into(), flags: Flags::default() },
            ),
            ("/regreen explain".into(), Command::Later { verb: Verb::Explain }),
        ];
        for (line, expected) in table {
            assert_eq!(commands(&line), [expected], "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_the_nearest() {
        let table = [
            ("/regreen", "no verb"),
            ("/regreen fx", "did you mean `fix`?"),
            ("/regreen frobnicate", "unknown verb `frobnicate`;"),
            ("/regreen fix --max-iteration=3", "did you mean `--max-iterations`?"),
            ("/regreen fix --base-url=http://x", "unknown flag `--base-url`"),
            ("/regreen fix --engine=x", "unknown flag `--engine`"),
            ("/regreen fix --max-iterations=51", "from 1 to 50"),
            ("/regreen fix --max-iterations", "from 1 to 50"),
            ("/regreen fix --budget-usd=NaN", "dollars"),
            ("/regreen fix --budget-usd=-1", "dollars"),
            ("/regreen fix --budget-calls 0", "from 1"),
            ("/regreen fix --suggest=yes", "no value"),
            ("/regreen fix --suggest --dry-run", "beside"),
            ("/regreen fix now", "no argument"),
            ("/regreen status --max-iterations=3", "no flags"),
            ("/regreen resume ../x", "a session id"),
            ("/regreen rollback 0", "an iteration"),
            ("/regreen rollback 1 2", "fewer"),
            ("/regreen issue", "some of test"),
            ("/regreen issue tests", "some of test"),
            ("/regreen apply abc", "40 hexadecimal"),
            ("/regreen resume \"x", "not closed"),
        ];
        for (line, part) in table {
            let said = problem(line);
            assert!(said.contains(part), "{line}: {said}");
        }
        assert_eq!(read("/regreen resume `x`")[0].command, Err(Problem::Markup));
        let line = &read("a\n/regreen resume <b>x</b>")[0];
        assert_eq!((line.line, &line.command), (2, &Err(Problem::Markup)));
        assert_eq!(line.text, "/regreen resume <b>x</b>");
    }

    #[test]
    fn words_are_split_like_a_shell_does_and_nothing_is_expanded() {
        let table: [(&str, &[&str]); 5] = [
            ("a  'b c' \"d \\\" e\"", &["a", "b c", "d \" e"]),
            ("x='1 2'3", &["x=1 23"]),
            ("$HOME $(id) ~ * ;", &["$HOME", "$(id)", "~", "*", ";"]),
            ("'' \"\"", &["", ""]),
            ("\"a\\n\"", &["a\\n"]),
        ];
        for (text, expected) in table {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_flood_is_bounded() {
        let lines = read(&"/regreen help\n".repeat(1000));
        assert_eq!(lines.len(), MAX_COMMANDS + 1);
        assert_eq!(lines.last().unwrap().command, Err(Problem::Many));
        let long = format!("/regreen issue {}", "x".repeat(MAX_LINE));
        assert_eq!(read(&long)[0].command, Err(Problem::Long));
        assert_eq!(read(&"x".repeat(MAX_COMMENT + 1)), []);
    }

    #[test]
    fn the_table_has_each_verb_once_and_writes_the_help() {
        for row in VERBS {
            let same =
                VERBS.iter().filter(|other| other.name == row.name || other.verb == row.verb);
            assert_eq!(same.count(), 1, "{}", row.name);
            assert!(!row.help.ends_with('.'), "{}", row.name);
            assert_eq!(
                help().contains(&format!("`{PREFIX} {}", row.name)),
                row.state == State::Now
            );
        }
        let answer = later_answer(Verb::Estimate);
        assert_eq!(
            answer,
            "`/regreen estimate` is not available yet. It will quote minutes and money before spending them."
        );
    }

    proptest! {
        #[test]
        fn any_comment_is_read(comment in "(/regreen |fix|<[a-z/!-]{0,4}>|[`\"'>\\[\\]()\\\\~*\n -]|\\PC){0,60}") {
            for line in read(&comment) {
                prop_assert!(comment.lines().nth(line.line - 1).unwrap().trim_start().starts_with(PREFIX));
                if let Err(problem) = line.command {
                    prop_assert!(!problem.to_string().contains('\n'));
                }
            }
        }

        #[test]
        fn a_quoted_comment_commands_nothing(comment in "(/regreen fix|[a-z`<>\n ]){0,20}") {
            let quoted: String = comment.lines().map(|line| format!("> {line}\n")).collect();
            prop_assert_eq!(read(&quoted), vec![]);
        }
    }
}
