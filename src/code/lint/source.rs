//! [`Source`]: a parsed file as lint rules see it, with its imports, tests and test modules.

use std::collections::BTreeMap;

use tree_sitter::{Node, Tree};

use crate::code::imports::{Import, read_nodes};
use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::test_cases::{TestNode, find_tests};
use crate::code::test_paths;
use crate::code::tree::{around, end_line, line, marks_before, named_nodes};
use crate::domain::id::RepoPath;

use super::project::Project;

/// A parsed file, with what rules need to know about it and its repository.
pub struct Source<'a> {
    pub path: &'a RepoPath,
    pub text: &'a str,
    pub language: Language,
    /// Whether the whole file is test code.
    pub test: bool,
    /// All named nodes, outer before inner.
    pub nodes: Vec<Node<'a>>,
    pub imports: Vec<Import>,
    /// The tests in it; in JavaScript and TypeScript only those that are run.
    pub tests: Vec<TestNode<'a>>,
    /// All files of the repository that are known, this one included.
    pub files: &'a BTreeMap<RepoPath, String>,
    pub project: &'a Project,
    /// Line ranges of test items in a Rust file of product code.
    inner_tests: Vec<(u32, u32)>,
}

/// A place where a rule was violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    pub line: u32,
    /// Details to add to the text of the rule; may be empty.
    pub note: String,
}

impl Hit {
    /// A hit without a note.
    pub fn at(line: u32) -> Self {
        Self { line, note: String::new() }
    }

    /// A hit with a note.
    pub fn noted(line: u32, note: impl Into<String>) -> Self {
        Self { line, note: note.into() }
    }
}

/// Paths of code that supports tests or examples, in addition to those of `test_paths::is_test`.
static SUPPORT: Pattern = Pattern::new(
    r"(?i)(^|[/_.-])(test|mock|fake|stub|bench|example|fixture|storie?|demo)|tests?(ing|utils?|kit)?/",
);

impl<'a> Source<'a> {
    /// Collects the nodes, imports and tests of a parsed file.
    pub fn new(
        (path, text): (&'a RepoPath, &'a str),
        language: Language,
        tree: &'a Tree,
        files: &'a BTreeMap<RepoPath, String>,
        project: &'a Project,
    ) -> Self {
        let nodes = named_nodes(tree.root_node());
        let imports = read_nodes(language, &nodes, text);
        let mut source = Self {
            path,
            text,
            language,
            test: test_paths::is_test(path),
            nodes,
            imports,
            tests: Vec::new(),
            files,
            project,
            inner_tests: Vec::new(),
        };
        if language == Language::Rust {
            let is_test = |node: &Node<'a>| {
                let marks = source.marks(*node);
                ["cfg(test", "[test]", "cfg(any(test", "cfg(all(test"]
                    .iter()
                    .any(|mark| marks.contains(mark))
            };
            source.inner_tests = source
                .of_kind(&["mod_item", "function_item", "use_declaration", "impl_item"])
                .filter(is_test)
                .map(|node| (line(node), end_line(node)))
                .collect();
        }
        if source.has_tests() {
            source.tests = find_tests(language, &source.nodes, text);
            // In scripts, skipped tests and tests without an inline body are never run.
            let runs = |test: &TestNode<'_>| test.skip.is_none() && test.body.is_some();
            let script = source.is_script();
            source.tests.retain(|test| !script || runs(test));
        }
        source
    }

    /// The node of an import.
    pub fn node_of(&self, import: &Import) -> Option<Node<'a>> {
        let from = self.nodes.partition_point(|node| node.start_byte() < import.range.start);
        let rest = self.nodes.get(from..).unwrap_or_default();
        rest.iter().copied().find(|node| node.byte_range() == import.range)
    }

    /// Whether an import is inside a node of one of these kinds.
    pub fn is_import_in(&self, import: &Import, kinds: &[&str]) -> bool {
        self.node_of(import).is_some_and(|node| around(node, kinds).is_some())
    }

    /// The text of a node.
    pub fn of(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// The text of a field of a node; empty if the node has no such field.
    pub fn field(&self, node: Node<'a>, name: &str) -> &'a str {
        node.child_by_field_name(name).map(|child| self.of(child)).unwrap_or_default()
    }

    /// The nodes of these kinds.
    pub fn of_kind<'b>(&'b self, kinds: &'b [&str]) -> impl Iterator<Item = Node<'a>> + 'b {
        self.nodes.iter().copied().filter(|node| kinds.contains(&node.kind()))
    }

    /// The named nodes inside another one, excluding the outer node.
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

    /// Whether a line belongs to test code.
    pub fn is_test_line(&self, line: u32) -> bool {
        self.test || self.inner_tests.iter().any(|(from, to)| *from <= line && line <= *to)
    }

    /// Whether any line belongs to test code.
    pub fn has_tests(&self) -> bool {
        self.test || !self.inner_tests.is_empty()
    }

    /// Whether the path of the file shows that it supports tests or examples.
    pub fn is_support(&self) -> bool {
        self.test || SUPPORT.is_match(self.path.as_str())
    }

    /// Whether the file is a performance benchmark.
    pub fn is_bench(&self) -> bool {
        let bench = ["bench", "benches", "benchmark", "benchmarks", "perf"];
        self.path.parent().split('/').any(|part| bench.contains(&part))
    }

    /// The attributes or decorators directly before a node.
    pub fn marks(&self, node: Node<'a>) -> String {
        marks_before(node, self.text)
    }

    /// A hit for each test that `accepts` selects, with the name of the test.
    pub fn tests_where(&self, accepts: impl Fn(&TestNode<'a>) -> bool) -> Vec<Hit> {
        let tests = self.tests.iter().filter(|test| accepts(test));
        tests.map(|test| Hit::noted(line(test.node), &test.name)).collect()
    }

    /// The comments of the file.
    pub fn comments(&self) -> impl Iterator<Item = Node<'a>> + '_ {
        self.of_kind(&["comment", "line_comment", "block_comment"])
    }

    /// Whether it is JavaScript or TypeScript.
    pub fn is_script(&self) -> bool {
        self.language.is_script()
    }
}
