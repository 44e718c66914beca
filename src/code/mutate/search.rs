//! Traverses a syntax tree and applies the edit operators to its nodes.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::edit_site::{Candidate, EditList, EditSite};
use super::ingredients::Ingredients;
use super::macro_arguments::parse_arguments;
use super::node_kind::{NodeKind, is_function};
use super::operator_id::OperatorId;
use super::operators::OPERATORS;
use super::repeated_edit::repeated_edits;
use super::spelling::{Spelling, spelling};
use super::value;
use crate::code::language::Language;
use crate::code::tree::{
    children, end_line, line, marks_before, named_nodes, statements, text_of, visit,
};

/// Nodes that are not edited: bugs are rare in types and imports, and names there are not values.
const SKIPPED: &[&str] = &[
    "type",
    "type_annotation",
    "import_statement",
    "import_from_statement",
    "comment",
    "decorator",
    "future_import_statement",
    "import_declaration",
    "package_clause",
    "package_declaration",
    "use_declaration",
    "attribute_item",
    "inner_attribute_item",
    "annotation",
    "marker_annotation",
    "type_arguments",
    "type_parameters",
    "generic_type",
    "parameter_list",
    "macro_definition",
    "line_comment",
    "block_comment",
];

/// All single edits on the lines that `accepts_line` accepts, in source order, then those that are made at
/// several places of a function; except those of assertions: whoever changes what the code promises repairs
/// nothing. The caller must check that the result of each one parses.
pub fn candidates(
    language: Language,
    source: &str,
    accepts_line: &dyn Fn(u32) -> bool,
    foreign_names: &[String],
) -> Vec<Candidate> {
    let mut found = candidates_by(language, source, accepts_line, foreign_names, &[]);
    let Some(tree) = language.parse(source) else { return found };
    if language == Language::Rust
        && let Some((exposed, arguments)) = parse_arguments(source)
    {
        let mut inside = edits_of(&exposed, language, source, accepts_line, foreign_names, &[]);
        let is_around = |edit: &Candidate, one: &Range<usize>| {
            one.start < edit.range.start && edit.range.end < one.end
        };
        inside.retain(|edit| arguments.iter().any(|one| is_around(edit, one)));
        found.extend(inside);
        found.sort_by_key(|edit| (edit.range.start, edit.range.end));
    }
    let assertions = assertions(tree.root_node(), source);
    found.retain(|edit| {
        !assertions.iter().any(|one| one.start < edit.range.end && edit.range.start < one.end)
    });
    let units = units(tree.root_node(), source);
    let functions = units.iter().filter(|unit| is_function(**unit)).map(Node::byte_range);
    found.extend(repeated_edits(source, &found, &functions.collect::<Vec<_>>()));
    found
}

/// The ranges of all assertions: statements of the language, and calls of `assert`.
fn assertions(root: Node<'_>, source: &str) -> Vec<Range<usize>> {
    let is_assertion = |node: &Node<'_>| match node.kind() {
        "assert_statement" => true,
        "call_expression" => {
            let function = node.child_by_field_name("function");
            let name = function.map(|function| text_of(function, source)).unwrap_or_default();
            name == "assert" || name.starts_with("assert.") || name == "console.assert"
        }
        "macro_invocation" => {
            let name = node.child_by_field_name("macro").map(|name| text_of(name, source));
            name.is_some_and(|name| name.starts_with("assert"))
        }
        _ => false,
    };
    let nodes = named_nodes(root).into_iter();
    nodes.filter(is_assertion).map(|node| node.byte_range()).collect()
}

/// The candidates of certain operators, or of all; an equal text belongs to the earlier one.
pub fn candidates_by(
    language: Language,
    source: &str,
    accepts_line: &dyn Fn(u32) -> bool,
    foreign_names: &[String],
    only: &[OperatorId],
) -> Vec<Candidate> {
    let Some(tree) = language.parse(source) else { return Vec::new() };
    edits_of(&tree, language, source, accepts_line, foreign_names, only)
}

/// The edits of the nodes of a tree, whose positions are those of the source.
fn edits_of(
    tree: &Tree,
    language: Language,
    source: &str,
    accepts_line: &dyn Fn(u32) -> bool,
    foreign_names: &[String],
    only: &[OperatorId],
) -> Vec<Candidate> {
    let (spelling, root) = (spelling(language), tree.root_node());
    let mut edits = EditList::new(source, only);
    for unit in units(root, source).into_iter().filter(|unit| reaches(*unit, accepts_line)) {
        let scope = Ingredients::of(unit, root, source, foreign_names);
        UnitWalk { source, spelling, scope: &scope, accepts_line, unit }.walk(unit, &mut edits);
    }
    edits.into_candidates()
}

/// The functions of a file, plus the module itself for the code outside them; no tests.
fn units<'t>(root: Node<'t>, source: &str) -> Vec<Node<'t>> {
    let mut units = Vec::new();
    visit(root, |node| {
        let is_test = is_test_code(node, source);
        units.extend((!is_test && (is_function(node) || node == root)).then_some(node));
        !is_test
    });
    units
}

/// Whether a module or a function is compiled for tests only.
pub fn is_test_code(node: Node<'_>, source: &str) -> bool {
    matches!(node.kind(), "mod_item" | "function_item")
        && ["#[cfg(test)]", "test]"].iter().any(|mark| marks_before(node, source).contains(mark))
}

/// The lines of tests that stand in a file of product code, those in comments of documentation included.
pub fn inline_test_lines(language: Language, source: &str) -> BTreeSet<u32> {
    let mut lines = BTreeSet::new();
    let Some(tree) = language.parse(source).filter(|_| language == Language::Rust) else {
        return lines;
    };
    visit(tree.root_node(), |node| {
        let is_test = is_test_code(node, source);
        if is_test || node.kind() == "line_comment" {
            lines.extend(line(node)..=end_line(node));
        }
        !is_test
    });
    lines
}

fn reaches(node: Node<'_>, accepts_line: &dyn Fn(u32) -> bool) -> bool {
    (line(node)..=end_line(node)).any(accepts_line)
}

/// The traversal of one function without nested ones, or of the module outside its functions.
struct UnitWalk<'a> {
    source: &'a str,
    spelling: &'static Spelling,
    scope: &'a Ingredients,
    accepts_line: &'a dyn Fn(u32) -> bool,
    unit: Node<'a>,
}

impl<'a> UnitWalk<'a> {
    fn walk(&self, node: Node<'a>, edits: &mut EditList<'_>) {
        let is_foreign = || is_function(node) || is_test_code(node, self.source);
        if node != self.unit && is_foreign() || !reaches(node, self.accepts_line) {
            return;
        }
        if NodeKind::of(node) == NodeKind::Block {
            self.edit_statements(node, edits);
        } else if (self.accepts_line)(line(node)) && node.is_named() && node != self.unit {
            self.edit(node, &[], 0, edits);
        }
        for child in children(node) {
            if !SKIPPED.contains(&child.kind()) {
                self.walk(child, edits);
            }
        }
    }

    /// Applies the operators to the statements of a block, except for definitions.
    fn edit_statements(&self, block: Node<'_>, edits: &mut EditList<'_>) {
        let statements = statements(block);
        for (index, statement) in statements.iter().enumerate() {
            if (self.accepts_line)(line(*statement)) && !is_definition(*statement) {
                self.edit(*statement, &statements, index, edits);
            }
        }
    }

    fn edit(&self, node: Node<'_>, siblings: &[Node<'_>], index: usize, edits: &mut EditList<'_>) {
        let site = EditSite {
            node,
            kind: NodeKind::of(node),
            text: text_of(node, self.source),
            parent: role_of_parent(node),
            source: self.source,
            spelling: self.spelling,
            scope: self.scope,
            siblings,
            index,
        };
        let is_value = value::is_value(&site);
        for operator in OPERATORS {
            operator.edit(&site, is_value, edits);
        }
    }
}

/// What a node is to its parent. The last expression of a block is its result.
fn role_of_parent(node: Node<'_>) -> NodeKind {
    let Some(parent) = node.parent() else { return NodeKind::Other };
    if parent.kind() == "expression_list" && parent.named_child_count() == 1 {
        return parent.parent().map_or(NodeKind::Other, NodeKind::of);
    }
    let is_result = parent.kind() == "block"
        && node.next_named_sibling().is_none()
        && NodeKind::of(node).is_value()
        && parent.parent().is_some_and(|function| function.kind() == "function_item");
    if is_result { NodeKind::Return } else { NodeKind::of(parent) }
}

fn is_definition(statement: Node<'_>) -> bool {
    let kind = statement.kind();
    ["definition", "import", "class"].iter().any(|word| kind.contains(word))
        || kind.contains("declaration")
            && ["function", "method", "use"].iter().any(|word| kind.contains(word))
        || kind.ends_with("_item")
        || kind.starts_with("export")
}
