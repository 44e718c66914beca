//! Traverses a syntax tree and applies the edit operators to its nodes.

use std::ops::Range;

use tree_sitter::Node;

use super::edit_site::{Candidate, EditList, EditSite};
use super::ingredients::Ingredients;
use super::node_kind::{NodeKind, is_function};
use super::operator_id::OperatorId;
use super::operators::OPERATORS;
use super::spelling::{Spelling, spelling};
use super::value;
use crate::code::language::Language;
use crate::code::tree::{children, end_line, line, named_nodes, statements, text_of};

/// Nodes that are not edited: bugs are rare in types and imports, and names there are not values.
const SKIPPED: &[&str] = &[
    "type",
    "type_annotation",
    "import_statement",
    "import_from_statement",
    "comment",
    "decorator",
    "future_import_statement",
];

/// All single edits on the lines that `accepts_line` accepts, in source order, except those of
/// assertions: whoever changes what the code promises repairs nothing. The caller must check that the
/// result of each one parses.
pub fn candidates(
    language: Language,
    source: &str,
    accepts_line: &dyn Fn(u32) -> bool,
    foreign_names: &[String],
) -> Vec<Candidate> {
    let mut found = candidates_by(language, source, accepts_line, foreign_names, &[]);
    let assertions = language.parse(source).map(|tree| assertions(tree.root_node(), source));
    let assertions = assertions.unwrap_or_default();
    found.retain(|edit| {
        !assertions.iter().any(|one| one.start < edit.range.end && edit.range.start < one.end)
    });
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
    let (Some(spelling), Some(tree)) = (spelling(language), language.parse(source)) else {
        return Vec::new();
    };
    let root = tree.root_node();
    let mut edits = EditList::new(source, only);
    for unit in units(root).into_iter().filter(|unit| reaches(*unit, accepts_line)) {
        let scope = Ingredients::of(unit, root, source, foreign_names);
        UnitWalk { source, spelling, scope: &scope, accepts_line, unit }.walk(unit, &mut edits);
    }
    edits.into_candidates()
}

/// The functions of a file, plus the module itself for the code outside them.
fn units(root: Node<'_>) -> Vec<Node<'_>> {
    let mut units = named_nodes(root);
    units.retain(|node| is_function(*node) || node.parent().is_none());
    units
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
        if node != self.unit && is_function(node) || !reaches(node, self.accepts_line) {
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
            parent: node.parent().map_or(NodeKind::Other, NodeKind::of),
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

fn is_definition(statement: Node<'_>) -> bool {
    let kind = statement.kind();
    ["definition", "import", "class"].iter().any(|word| kind.contains(word))
        || kind.contains("declaration") && kind.contains("function")
        || kind.starts_with("export")
}
