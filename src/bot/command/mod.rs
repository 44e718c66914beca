//! Reads commands from the Markdown of a comment, except in quotes, code, HTML, links and images.

mod parse;
mod table;
#[cfg(test)]
mod tests;

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::domain::command::Command;

pub use parse::Problem;
use parse::parse;
pub use table::{PREFIX, help};

/// Commands of one comment that are read; GitHub's comments hold 65,536 characters.
pub const MAX_COMMANDS: usize = 10;
/// Characters of a command line that an answer quotes.
pub const SHOWN: usize = 120;
const MAX_COMMENT: usize = 4 * 65_536;

/// One command line of a comment.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Line number in the comment, from 1.
    pub line: usize,
    /// The line as written, at most [`SHOWN`] characters; untrusted text.
    pub text: String,
    /// The command, or what is wrong with it.
    pub command: Result<Command, Problem>,
}

/// The commands of a comment, in order.
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

/// The ranges of command lines, and whether each contains markup.
fn places(comment: &str) -> Vec<(Range<usize>, bool)> {
    let options =
        Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES | Options::ENABLE_TABLES;
    let mut found: Vec<(Range<usize>, bool)> = Vec::new();
    let mut open: Vec<bool> = Vec::new();
    // The HTML so far: inside of an element that it leaves open, no text is plain.
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

/// Records that the last command line contains markup.
fn mark(found: &mut [(Range<usize>, bool)], range: &Range<usize>) {
    if let Some((line, markup)) = found.last_mut()
        && line.contains(&range.start)
    {
        *markup = true;
    }
}

/// The whole line at `range`, if it begins with the prefix.
fn command_line(comment: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let before = comment.get(..range.start)?;
    let rest = comment.get(range.start..)?;
    let begins = before.rsplit('\n').next().is_none_or(|part| part.trim().is_empty());
    let text = rest.split('\n').next()?;
    let after = text.strip_prefix(PREFIX)?;
    let word = after.is_empty() || after.starts_with(char::is_whitespace);
    (begins && word).then(|| range.start..range.start + text.len())
}

/// Whether the HTML so far leaves an element or a comment open; assumes so when in doubt.
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
