//! Parses code that a model writes as plain text: search-and-replace blocks, fenced whole files,
//! and unified diffs, each with the path of its file. Nothing is guessed: a block without an end or
//! a path, or with an elision such as "rest unchanged", is an error that says what to write instead.

mod fence;

use std::collections::BTreeSet;

use crate::domain::proposal::SearchReplace;

use super::pattern::Pattern;

use fence::{Fence, names_file, path_of};

/// All code of an answer, and the text around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeBlocks {
    pub edits: Vec<SearchReplace>,
    pub files: Vec<WholeFile>,
    /// Everything that is neither code nor a path of code.
    pub rest: String,
}

/// The complete text of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WholeFile {
    /// The path as written.
    pub file: String,
    pub content: String,
}

/// Why code cannot be read. `line` counts the lines of the answer from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    #[error("the block in line {line} has no line `{mark}`")]
    Unfinished { line: usize, mark: &'static str },
    /// More than one line may divide the block, such as the underline of a heading.
    #[error(
        "more than one line of the block in line {line} may divide it, such as `{mark}`; write its three marks with nine signs each"
    )]
    Divided { line: usize, mark: String },
    #[error("the block in line {line} has no path; write the path of its file on the line above")]
    NoPath { line: usize },
    #[error("the fence in line {line} is never closed")]
    OpenFence { line: usize },
    #[error("`{text}` stands for code that is left out; write all lines")]
    Elision { text: String },
}

const HEAD: &str = "<<<<<<< SEARCH";
const MIDDLE: &str = "=======";
const TAIL: &str = ">>>>>>> REPLACE";

/// Finds all code in an answer.
///
/// # Errors
///
/// The first block that is incomplete.
pub fn parse(text: &str) -> Result<CodeBlocks, BlockError> {
    let lines: Vec<&str> = text.lines().collect();
    let mut parser = Parser {
        lines: &lines,
        at: 0,
        path: None,
        named: None,
        fences: Vec::new(),
        found: CodeBlocks::default(),
    };
    while let Some(line) = lines.get(parser.at) {
        parser.read(line)?;
    }
    Ok(parser.found)
}

struct Parser<'a> {
    lines: &'a [&'a str],
    at: usize,
    /// The last path that was named.
    path: Option<String>,
    /// That path, if no other text followed it: what a whole file needs.
    named: Option<String>,
    /// The fences around search-and-replace blocks and around the whole answer, outermost first.
    fences: Vec<Fence<'a>>,
    found: CodeBlocks,
}

impl<'a> Parser<'a> {
    fn read(&mut self, line: &'a str) -> Result<(), BlockError> {
        if let Some(after) = marker(line, '<') {
            if let Some(path) = path_of(after.trim_start_matches(|c: char| c.is_ascii_uppercase()))
            {
                self.path = Some(path);
            }
            return self.edit();
        }
        if self.fences.last().is_some_and(|fence| fence.is_closed_by(line)) {
            self.fences.pop();
            self.at += 1;
            return Ok(());
        }
        if let Some(fence) = Fence::opened_by(line).filter(|fence| self.may_hold(fence)) {
            return self.fenced(fence);
        }
        if is_diff_head(self.lines, self.at) {
            let end = diff_end(self.lines, self.at);
            return self.diff(end);
        }
        if let Some(path) = path_of(line) {
            self.path = Some(path.clone());
            self.named = Some(path).filter(|path| names_file(path));
        } else {
            if !line.trim().is_empty() {
                self.named = None;
            }
            if self.named.is_none() {
                self.found.rest.push_str(line);
                self.found.rest.push('\n');
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Whether a fence may open here: inside of another one only if its mark is shorter.
    fn may_hold(&self, fence: &Fence<'_>) -> bool {
        self.fences.last().is_none_or(|outer| fence.mark.len() < outer.mark.len())
    }

    /// Reads the search-and-replace block that begins at the current line.
    fn edit(&mut self) -> Result<(), BlockError> {
        let line = self.at + 1;
        self.named = None;
        let file = self.path.clone().ok_or(BlockError::NoPath { line })?;
        let rest = self.lines.get(line..).unwrap_or_default();
        let next = rest.iter().position(|line| marker(line, '<').is_some()).unwrap_or(rest.len());
        let rest = rest.get(..next).unwrap_or_default();
        let head = self.lines.get(self.at).copied().unwrap_or_default();
        let signs = signs(head, '<');
        let end = ending(rest, signs);
        let middle = divider(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default(), signs);
        let middle = middle.map_err(|mark| BlockError::Divided { line, mark })?;
        let Some(middle) = middle else {
            return Err(BlockError::Unfinished { line, mark: MIDDLE });
        };
        let Some(end) = end else { return Err(BlockError::Unfinished { line, mark: TAIL }) };
        let search = rest.get(..middle).unwrap_or_default();
        let replace = rest.get(middle + 1..end).unwrap_or_default();
        self.add_edit(file, search, replace)?;
        self.at = line + end + 1;
        Ok(())
    }

    fn add_edit(
        &mut self,
        file: String,
        search: &[&str],
        replace: &[&str],
    ) -> Result<(), BlockError> {
        // What looks like an elision may be a comment of the file, which stays as it is.
        let known: BTreeSet<&str> = search.iter().copied().collect();
        let mut added = replace.iter().filter(|line| !known.contains(*line));
        if let Some(text) = added.find(|line| is_elision(line)) {
            return Err(BlockError::Elision { text: text.trim().to_owned() });
        }
        self.found.edits.push(SearchReplace {
            file,
            search: joined(search),
            replace: joined(replace),
        });
        Ok(())
    }

    /// Reads what stands behind an opening fence: blocks, a diff, a whole file, or a quotation.
    fn fenced(&mut self, fence: Fence<'a>) -> Result<(), BlockError> {
        let inner = self.lines.get(self.at + 1..).unwrap_or_default();
        let mut shown = inner.iter().filter(|line| !line.trim().is_empty());
        let first = shown.next().copied().unwrap_or_default();
        let second = shown.next().copied().unwrap_or_default();
        let is_head = |line: &str| marker(line, '<').is_some();
        let is_preface = |line: &&&str| is_comment(line) || path_of(line).is_some();
        let code =
            inner.iter().filter(|line| !line.trim().is_empty()).find(|line| !is_preface(line));
        let holds_blocks = code.is_some_and(|line| is_head(line));
        if let Some(path) = &fence.path {
            self.path = Some(path.clone());
        }
        let line = self.at + 1;
        let path = fence.path.clone().or_else(|| self.named.clone());
        let closed = fence.end(inner, path.as_deref());
        let is_named = path_of(first).is_some();
        let is_wrapper = || {
            let inside = inner.get(..closed.unwrap_or(inner.len())).unwrap_or_default();
            let nested = Fence::opened_by(second).filter(|_| is_named);
            fence.mark.len() > 3
                && path.is_none()
                && (nested.is_some_and(|nested| nested.mark.len() < fence.mark.len())
                    || inside.iter().any(|line| is_head(line)))
        };
        if holds_blocks || is_wrapper() {
            self.fences.push(fence);
            self.at += 1;
            return Ok(());
        }
        self.named = None;
        let is_diff = matches!(fence.info, "diff" | "patch" | "udiff")
            || is_diff_head(self.lines, line)
            || first.starts_with("diff --git ");
        let content = inner.get(..closed.unwrap_or(inner.len())).unwrap_or_default();
        let text = fence.text(content);
        let path = path.filter(|path| is_diff || fence.may_be_file(path, &text));
        match (closed, is_diff, path) {
            (Some(closed), true, path) => {
                self.path = path.or(self.path.take());
                self.at += 1;
                self.diff(line + closed)?;
                self.at = line + closed + 1;
            }
            (Some(closed), false, Some(file)) => {
                if let Some(text) = content.iter().find(|line| is_elision(line)) {
                    return Err(BlockError::Elision { text: text.trim().to_owned() });
                }
                self.found.files.push(WholeFile { file, content: text });
                self.at = line + closed + 1;
            }
            (None, _, Some(_)) | (None, true, None) => return Err(BlockError::OpenFence { line }),
            // Without a path it is a quotation, or the JSON object of the answer.
            (closed, false, None) => {
                let end = closed.map_or(self.lines.len(), |closed| line + closed + 1);
                for line in self.lines.get(self.at..end).unwrap_or_default() {
                    self.found.rest.push_str(line);
                    self.found.rest.push('\n');
                }
                self.at = end;
            }
        }
        Ok(())
    }

    /// Reads a unified diff up to the line `end`. Line numbers of hunks are ignored: models miscount.
    fn diff(&mut self, end: usize) -> Result<(), BlockError> {
        let begin = self.at + 1;
        let (mut before, mut after): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let mut is_new = false;
        while self.at < end {
            let line = self.lines.get(self.at).copied().unwrap_or_default();
            let is_head = is_diff_head(self.lines, self.at);
            if is_head || line.starts_with("@@") || line.starts_with("diff --git ") {
                self.add_hunk(is_new, &mut before, &mut after, begin)?;
            }
            if is_head {
                let new = self.lines.get(self.at + 1).copied().unwrap_or_default();
                let (old, new) = (diff_path(line), diff_path(new));
                is_new = old.is_none();
                self.path = new.or(old);
                self.at += 2;
                continue;
            }
            let is_frame = ["@@", "diff --git ", "index ", "\\", "new file mode"];
            if !is_frame.iter().any(|mark| line.starts_with(mark)) {
                let text = line.get(1..).unwrap_or_default();
                match line.chars().next() {
                    Some('-') => before.push(text),
                    Some('+') => after.push(text),
                    Some(' ') | None => {
                        before.push(text);
                        after.push(text);
                    }
                    // Models drop the blank in front of a line that stays.
                    Some(_) => {
                        before.push(line);
                        after.push(line);
                    }
                }
            }
            self.at += 1;
        }
        self.add_hunk(is_new, &mut before, &mut after, begin)
    }

    fn add_hunk(
        &mut self,
        is_new: bool,
        before: &mut Vec<&str>,
        after: &mut Vec<&str>,
        line: usize,
    ) -> Result<(), BlockError> {
        let (before, after) = (std::mem::take(before), std::mem::take(after));
        if before == after {
            return Ok(());
        }
        let file = self.path.clone().ok_or(BlockError::NoPath { line })?;
        if is_new {
            self.found.files.push(WholeFile { file, content: joined(&after) });
            return Ok(());
        }
        self.add_edit(file, &before, &after)
    }
}

/// How many signs a marker begins with.
fn signs(line: &str, sign: char) -> usize {
    let line = line.trim();
    line.len() - line.trim_start_matches(sign).len()
}

/// The line that ends a block with so many signs: the first of that length, else any.
fn ending(lines: &[&str], count: usize) -> Option<usize> {
    let is_end = |line: &&str| marker(line, '>').is_some();
    let same = lines.iter().position(|line| is_end(line) && signs(line, '>') == count);
    same.or_else(|| lines.iter().position(is_end))
}

/// The line between the sides of a block whose head has so many signs: the one of the same length,
/// else the only one. The error is the mark of which there are several.
fn divider(lines: &[&str], count: usize) -> Result<Option<usize>, String> {
    let found = lines.iter().enumerate().filter(|(_, line)| marker(line, '=').is_some());
    let (same, others): (Vec<_>, Vec<_>) = found.partition(|(_, line)| signs(line, '=') == count);
    match (same.as_slice(), others.as_slice()) {
        ([(index, _)], _) | ([], [(index, _)]) => Ok(Some(*index)),
        ([], []) => Ok(None),
        ([(_, mark), ..], _) | ([], [(_, mark), ..]) => Err(mark.trim().to_owned()),
    }
}

/// What follows a conflict marker: five to nine times the same sign, alone or before a capital word.
fn marker(line: &str, sign: char) -> Option<&str> {
    let line = line.trim();
    let after = line.trim_start_matches(sign);
    let is_word =
        after.is_empty() || after.trim_start().starts_with(|c: char| c.is_ascii_uppercase());
    let count = line.len() - after.len();
    let is_marker =
        (5..=9).contains(&count) && if sign == '=' { after.is_empty() } else { is_word };
    is_marker.then(|| after.trim())
}

fn is_diff_head(lines: &[&str], at: usize) -> bool {
    let line = |at: usize| lines.get(at).copied().unwrap_or_default();
    line(at).starts_with("--- ") && line(at + 1).starts_with("+++ ")
}

/// The line after an unfenced diff; behind a complete hunk and an empty line, lists are prose.
fn diff_end(lines: &[&str], from: usize) -> usize {
    let is_frame = |line: &str| {
        ["@@", "--- ", "diff --git ", "index "].iter().any(|mark| line.starts_with(mark))
    };
    let mut end = from;
    let mut left = None;
    for (at, line) in lines.iter().enumerate().skip(from) {
        if line.starts_with("@@") {
            left = hunk_lengths(line);
        } else if line.is_empty() {
            let next = lines.get(at + 1).copied().unwrap_or_default();
            if left == Some((0, 0)) && !is_frame(next) {
                break;
            }
        } else if !is_frame(line) && !line.starts_with(['+', '-', ' ', '\\']) {
            break;
        }
        if !line.starts_with("@@")
            && let Some((old, new)) = &mut left
        {
            let both = line.is_empty() || line.starts_with(' ');
            *old -= i64::from(both || line.starts_with('-'));
            *new -= i64::from(both || line.starts_with('+'));
        }
        if !line.is_empty() {
            end = at + 1;
        }
    }
    end
}

/// How many lines of the old and of the new file a hunk has by its head.
fn hunk_lengths(head: &str) -> Option<(i64, i64)> {
    let mut ranges = head.split_whitespace().skip(1);
    let mut length = |sign| {
        let range = ranges.next()?.strip_prefix(sign)?;
        range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok())
    };
    Some((length('-')?, length('+')?))
}

/// The path in a `---` or `+++` line; `None` for `/dev/null`.
fn diff_path(line: &str) -> Option<String> {
    let path = line.get(4..)?.split('\t').next()?.trim();
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    (path != "/dev/null").then(|| path.to_owned())
}

/// Whether a line is a comment in place of code, such as `# ... rest unchanged`.
fn is_elision(line: &str) -> bool {
    static ELISION: Pattern = Pattern::new(
        r"(?i)^\s*(#|//|/\*|\*|--|<!--|\[|\()\s*((\.\.\.|…).*\b(rest|remain\w*|unchanged|existing|same|omitted|previous)\b|(the )?(rest|remainder) of (the )?\w+.*\b(unchanged|same|here|omitted)\b|\w+.*\b(unchanged|omitted|existing code)\b.*(\.\.\.|…))",
    );
    ELISION.is_match(line)
}

/// Whether a line is nothing but a comment, in the languages that begin it with a sign of its own.
fn is_comment(line: &str) -> bool {
    ["#", "//", "--", "/*", "<!--"].iter().any(|sign| line.trim_start().starts_with(sign))
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Writes an edit in the form that [`parse`] reads.
pub fn block(edit: &SearchReplace) -> String {
    let SearchReplace { file, search, replace } = edit;
    let ended = |text: &str| {
        if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
    };
    format!("{file}\n{HEAD}\n{}{MIDDLE}\n{}{TAIL}\n", ended(search), ended(replace))
}

#[cfg(test)]
mod tests;
