//! Code that stands for code: phrases of generated gaps, bodies that do nothing.

use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use super::source::{Hit, Source, line, statements};

static PHRASE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)add your (?:own )?(?:code|implementation|logic) here|implementation pending|your code (?:goes )?here",
        r"|\b(?:TODO|FIXME)\b\W{0,4}(?:please )?(?:implement\b|add (?:the )?implementation|write (?:this|the (?:code|implementation)))",
        r"|^\W*\.\.\.\W*(?:existing|rest of|remaining)(?: the)? (?:code|implementation|function|file)",
        r"|placeholder implementation",
    ))
    .ok()
});

/// Comments that stand for an implementation.
pub fn phrases(source: &Source<'_>) -> Vec<Hit> {
    let Some(phrase) = PHRASE.as_ref() else { return Vec::new() };
    source
        .comments()
        .filter(|node| {
            let text = source.of(*node);
            // Documentation explains; a gap is marked inside code.
            let inside = ["/**", "///", "//!"].iter().all(|doc| !text.starts_with(doc));
            inside && phrase.is_match(text)
        })
        .map(|node| Hit::at(line(node)))
        .collect()
}

/// A missing implementation that is raised: in a plain function, or with words that say "later". A
/// bare one in a method says that the class below has it.
pub fn is_unfinished<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    let text = source.of(node).to_ascii_lowercase();
    let later = ["yet", "todo", "to be implemented"].iter().any(|word| text.contains(word));
    let method = source.around(node, &["class_definition"]).is_some();
    let whole = source.around(node, &["function_definition"]).is_some_and(|function| {
        function.child_by_field_name("body").is_some_and(|body| {
            statements(body).iter().filter(|one| !source.of(**one).starts_with(['"', '\''])).count()
                == 1
        })
    });
    let decorated = source.around(node, &["decorated_definition"]).is_some();
    if node.kind() == "raise_statement" { whole && !decorated && (later || !method) } else { true }
}

/// The only statement of an undecorated function at the top of a module that has no other use for
/// it: no name that says that nothing happens, no stub file.
pub fn is_whole_body<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    let Some(function) = source.around(node, &["function_definition"]) else { return false };
    let body = function.child_by_field_name("body");
    let alone = body.is_some_and(|body| statements(body).len() == 1);
    let top = function.parent().is_some_and(|parent| parent.kind() == "module");
    let name = source.field(function, "name");
    let quiet = ["noop", "no_op", "nop", "dummy", "null", "empty", "ignore", "_"]
        .iter()
        .any(|word| name.contains(word) && (*word != "_" || name.starts_with('_')));
    alone
        && top
        && !quiet
        && !source.has_comment_besides_marker(function)
        && source.path.extension() != "pyi"
}

impl<'a> Source<'a> {
    /// Whether a comment lies inside a node that explains it.
    fn has_comment_besides_marker(&self, node: Node<'a>) -> bool {
        self.inside(node)
            .any(|inner| inner.kind() == "comment" && !self.of(inner).contains("expect:"))
    }
}
