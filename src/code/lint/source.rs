//! One file as detections see it: text, tree, imports, and which part of it is test code.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::{Node, Tree};

use crate::code::language::Language;
use crate::code::testing;
use crate::domain::id::RepoPath;

use super::imports::{self, Import};
use super::project::Project;

/// A parsed file in its repository.
pub struct Source<'a> {
    /// Where it lies.
    pub path: &'a RepoPath,
    /// Its text.
    pub text: &'a str,
    /// Its language.
    pub language: Language,
    /// Whether the whole file is test code.
    pub test: bool,
    /// All named nodes, outer before inner.
    pub nodes: Vec<Node<'a>>,
    /// What it imports.
    pub imports: Vec<Import<'a>>,
    /// The repository around it.
    pub project: &'a Project,
    /// Lines of test modules inside product code.
    inner_tests: Vec<(u32, u32)>,
}

/// A detected place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Line, from 1.
    pub line: u32,
    /// What exactly, when the row's text alone does not tell.
    pub note: String,
    /// Bytes to take out to repair it; `None` when only a person can.
    pub cut: Option<Range<usize>>,
}

impl Hit {
    /// A place without more to say.
    pub fn at(line: u32) -> Self {
        Self { line, note: String::new(), cut: None }
    }

    /// A place and what is there.
    pub fn noted(line: u32, note: impl Into<String>) -> Self {
        Self { line, note: note.into(), cut: None }
    }
}

/// Folders and names of code that exists for tests, beside what `testing::is_test` knows.
static SUPPORT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)(^|[/_.-])(test|mock|fake|stub|bench|example|fixture|storie?|demo)|tests?(ing|utils?|kit)?/",
    )
    .ok()
});

impl<'a> Source<'a> {
    /// Reads a parsed file.
    pub fn new(
        path: &'a RepoPath,
        text: &'a str,
        language: Language,
        tree: &'a Tree,
        project: &'a Project,
    ) -> Self {
        let mut nodes = Vec::new();
        let mut cursor = tree.walk();
        'walk: loop {
            if cursor.node().is_named() {
                nodes.push(cursor.node());
            }
            if cursor.goto_first_child() || cursor.goto_next_sibling() {
                continue;
            }
            loop {
                if !cursor.goto_parent() {
                    break 'walk;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        let mut source = Self {
            path,
            text,
            language,
            test: testing::is_test(path),
            nodes,
            imports: Vec::new(),
            project,
            inner_tests: Vec::new(),
        };
        if language == Language::Rust {
            source.inner_tests = source
                .of_kind(&["mod_item", "function_item", "use_declaration", "impl_item"])
                .filter(|node| {
                    let marks = source.marks(*node);
                    marks.contains("cfg(test")
                        || marks.contains("[test]")
                        || marks.contains("cfg(any(test")
                        || marks.contains("cfg(all(test")
                })
                .map(|node| (line(node), end_line(node)))
                .collect();
        }
        source.imports = imports::read(&source);
        source
    }

    /// Text of a node.
    pub fn of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Text of a field of a node; empty without one.
    pub fn field(&self, node: Node<'a>, name: &str) -> &'a str {
        node.child_by_field_name(name).map(|child| self.of(child)).unwrap_or_default()
    }

    /// Nodes of these kinds.
    pub fn of_kind<'b>(&'b self, kinds: &'b [&str]) -> impl Iterator<Item = Node<'a>> + 'b {
        self.nodes.iter().copied().filter(|node| kinds.contains(&node.kind()))
    }

    /// Named nodes inside another one, itself not included.
    pub fn inside<'b>(&'b self, outer: Node<'a>) -> impl Iterator<Item = Node<'a>> + 'b {
        let from = self.nodes.partition_point(|node| node.start_byte() < outer.start_byte());
        let end = outer.end_byte();
        self.nodes
            .get(from..)
            .unwrap_or_default()
            .iter()
            .copied()
            .take_while(move |node| node.start_byte() < end)
            .filter(move |node| node.end_byte() <= end && node.id() != outer.id())
    }

    /// Whether a line is test code.
    pub fn is_test_line(&self, line: u32) -> bool {
        self.test || self.inner_tests.iter().any(|(from, to)| *from <= line && line <= *to)
    }

    /// Whether any line is test code.
    pub fn has_tests(&self) -> bool {
        self.test || !self.inner_tests.is_empty()
    }

    /// Whether the file serves tests or examples, by its path.
    pub fn is_support(&self) -> bool {
        self.test || SUPPORT.as_ref().is_some_and(|support| support.is_match(self.path.as_str()))
    }

    /// The text of a line, from 1.
    pub fn line_text(&self, line: u32) -> Option<&'a str> {
        self.text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)
    }

    /// Whether the file measures speed.
    pub fn is_bench(&self) -> bool {
        let bench = ["bench", "benches", "benchmark", "benchmarks", "perf"];
        self.path.parent().split('/').any(|part| bench.contains(&part))
    }

    /// Attributes or decorators directly before a node.
    pub fn marks(&self, node: Node<'a>) -> String {
        let mut marks = String::new();
        let mut before = node.prev_sibling();
        while let Some(mark) = before
            .filter(|mark| matches!(mark.kind(), "attribute_item" | "decorator" | "line_comment"))
        {
            if mark.kind() != "line_comment" {
                marks.push_str(self.of(mark));
            }
            before = mark.prev_sibling();
        }
        marks
    }

    /// Comments of the file.
    pub fn comments(&self) -> impl Iterator<Item = Node<'a>> + '_ {
        self.of_kind(&["comment", "line_comment", "block_comment"])
    }

    /// Whether a comment lies inside a node.
    pub fn has_comment(&self, node: Node<'a>) -> bool {
        self.inside(node).any(|inner| inner.kind().ends_with("comment"))
    }

    /// JavaScript or TypeScript.
    pub fn is_script(&self) -> bool {
        matches!(self.language, Language::JavaScript | Language::TypeScript | Language::Tsx)
    }
}

/// The innermost node of these kinds around a node.
pub fn around<'a>(node: Node<'a>, kinds: &[&str]) -> Option<Node<'a>> {
    let mut up = node.parent();
    while let Some(parent) = up {
        if kinds.contains(&parent.kind()) {
            return Some(parent);
        }
        up = parent.parent();
    }
    None
}

/// Kinds of nodes that are functions, all languages.
pub const FUNCTIONS: &[&str] = &[
    "function_definition",
    "lambda",
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "arrow_function",
    "method_definition",
    "function_item",
    "closure_expression",
    "method_declaration",
    "func_literal",
    "constructor_declaration",
    "lambda_expression",
];

/// First line of a node, from 1.
pub fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX)
}

/// Last line of a node, from 1.
pub fn end_line(node: Node<'_>) -> u32 {
    u32::try_from(node.end_position().row + 1).unwrap_or(u32::MAX)
}

/// Named children that are not comments.
pub fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = block.walk();
    block.named_children(&mut cursor).filter(|node| !node.kind().ends_with("comment")).collect()
}

/// The bytes of one statement with its line end.
pub fn whole_line(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let start = text.get(..range.start)?.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(range.end..)?;
    let end = range.end + rest.find('\n').map_or(rest.len(), |at| at + 1);
    let around = [text.get(start..range.start)?, text.get(range.end..end)?].concat();
    around.trim().trim_matches(';').is_empty().then_some(start..end)
}
