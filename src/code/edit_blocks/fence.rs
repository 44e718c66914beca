//! Code fences of Markdown, and the paths that models write above and into them.

use crate::code::language::{DATA, Language};
use crate::domain::id::RepoPath;

/// A code fence of Markdown.
pub(super) struct Fence<'a> {
    pub mark: &'a str,
    pub info: &'a str,
    /// The white space before it.
    pub indent: &'a str,
    /// A path in its first line, as in `python shop/price.py`.
    pub path: Option<String>,
}

/// By how many more columns than its opening a closing fence may be indented.
const CLOSING_INDENT: usize = 3;

impl<'a> Fence<'a> {
    pub(super) fn opened_by(line: &'a str) -> Option<Self> {
        let (indent, line) = line.split_at_checked(line.len() - line.trim_start().len())?;
        let line = line.trim_end();
        let length = line.len() - line.trim_start_matches(['`', '~']).len();
        let (mark, info) = line.split_at_checked(length).filter(|(mark, _)| mark.len() >= 3)?;
        let info = info.trim();
        let mut paths = info.split([' ', ':', '=']).filter_map(path_of);
        let path = paths.rfind(|path| names_file(path));
        (!info.contains('`')).then_some(Self { mark, info, indent, path })
    }

    /// Whether a line closes it. One that is indented further belongs to the code, as in a docstring.
    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let bare = line.trim();
        let indent = line.len() - line.trim_start().len();
        bare.len() >= self.mark.len()
            && indent <= self.indent.len() + CLOSING_INDENT
            && bare.trim_start_matches(self.mark.chars().next().unwrap_or('`')).is_empty()
    }

    /// The index of the line that closes it, after its first; Markdown may have fences of its own.
    pub(super) fn end(&self, inner: &[&str], file: Option<&str>) -> Option<usize> {
        let is_markdown = matches!(self.info, "markdown" | "md")
            || file.is_some_and(|file| file.ends_with(".md") || file.ends_with(".mdx"));
        let mut open: Option<Fence<'_>> = None;
        for (index, line) in inner.iter().enumerate() {
            if let Some(nested) = &open {
                if nested.is_closed_by(line) {
                    open = None;
                }
            } else if self.is_closed_by(line) {
                return Some(index);
            } else if is_markdown {
                open = Fence::opened_by(line).filter(|nested| !nested.info.is_empty());
            }
        }
        None
    }

    /// The lines inside, without the indentation that the fence has itself.
    pub(super) fn text(&self, inner: &[&str]) -> String {
        let bare = |line: &&str| format!("{}\n", line.strip_prefix(self.indent).unwrap_or(line));
        inner.iter().map(bare).collect()
    }

    /// Whether the text inside can be the whole file with this path, rather than the output of a
    /// command or the JSON object of an answer that happens to stand below a path.
    pub(super) fn may_be_file(&self, path: &str, text: &str) -> bool {
        let path = RepoPath::parse(path.trim_start_matches("./")).ok();
        if path.as_ref().and_then(Language::of).is_none() {
            return true;
        }
        let is_object = text.trim_start().starts_with('{')
            && serde_json::from_str::<serde_json::Value>(text).is_ok();
        !is_object && !QUOTED.contains(&self.info)
    }
}

/// Languages in which models quote commands and their output.
const QUOTED: &[&str] = &[
    "text",
    "txt",
    "plaintext",
    "console",
    "output",
    "log",
    "bash",
    "sh",
    "shell",
    "shell-session",
    "zsh",
    "traceback",
    "pytb",
    "json",
];

/// The path that a line consists of, without the ornaments that models put around it.
pub(super) fn path_of(line: &str) -> Option<String> {
    let ornaments = |c: char| c.is_whitespace() || matches!(c, '#' | '*' | '`' | ':');
    let text = line.trim().trim_start_matches("//").trim_matches(ornaments);
    let text = ["New file", "File", "file", "Path", "path"]
        .iter()
        .find_map(|word| text.strip_prefix(word)?.strip_prefix(':'))
        .unwrap_or(text)
        .trim_matches(ornaments);
    // Routes of web frameworks have brackets in their paths; so has prose.
    let has_brackets = text.contains(|c: char| "(){}[]".contains(c));
    let ending = text.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    let ends_like_file = ending.is_some_and(|(_, ending)| {
        !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphanumeric())
    });
    let is_path = (text.contains('/') || text.contains('.'))
        && (!has_brackets || text.contains('/') && ends_like_file)
        && text.len() <= 200
        && !text.ends_with(['.', '/'])
        && !text.contains("://")
        && text.contains(|c: char| c.is_alphabetic())
        && !text.contains(|c: char| c.is_whitespace() || "<>=;,|\"'`".contains(c));
    is_path.then(|| text.to_owned())
}

/// Files without an ending that are often written whole.
const WITHOUT_ENDING: &[&str] =
    &["Makefile", "Dockerfile", "Containerfile", "Gemfile", "Rakefile", "Procfile", "LICENSE"];

/// Endings of files that lie at the top of a repository, besides those of code and of data.
const ENDINGS: &[&str] = &["gradle", "mod", "rst", "sh", "sql", "sum"];

/// Whether a path names a file to be written whole: prose such as `and/or`, a type such as
/// `text/plain` and a call such as `self.total` do not.
pub(super) fn names_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return WITHOUT_ENDING.contains(&name);
    };
    let is_ending = !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphanumeric());
    let is_code = || RepoPath::parse(name).is_ok_and(|file| Language::of(&file).is_some());
    let is_known = || ENDINGS.contains(&ending) || DATA.contains(&ending) || is_code();
    is_ending && (path.contains('/') || stem.is_empty() || is_known())
}
