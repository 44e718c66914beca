//! Collects the names, constants and expressions near a node from which edits are composed.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::node_kind::{NodeKind, is_function};
use super::value_types::DeclaredTypes;
use crate::code::tree::{first_field, named_children, text_of, visit};
use NodeKind::{
    Arithmetic, Call, Character, Choice, Compare, Logic, Member, Name, Not, Number,
    OtherExpression, Property, Sequence, Subscript, Text,
};

/// Maximum length of an expression that is used as an ingredient.
const LONG: usize = 60;

/// Names and expressions near a place, most often used first.
#[derive(Clone, Debug, Default)]
pub struct Ingredients<T = Vec<String>> {
    /// Variables and parameters of the function.
    pub names: T,
    /// Functions and classes of the file, and names from other files of the package.
    pub callables: T,
    /// Names after a dot in the file.
    pub properties: T,
    pub numbers: T,
    pub strings: T,
    /// Conditions and other expressions of the function.
    pub expressions: T,
    pub conditions: T,
    /// Simple statements of the function.
    pub statements: T,
    /// Parameters that the function never reads, which suggests that code using them is missing.
    pub unread: T,
    /// Names that the function indexes.
    pub indexed: T,
    /// The types of its names, where they are declared.
    pub types: DeclaredTypes,
}

impl Ingredients {
    /// Collects the ingredients from a function and its file.
    pub fn of(unit: Node<'_>, root: Node<'_>, source: &str, foreign: &[String]) -> Self {
        let mut inner = Ingredients::<Tally>::default();
        visit(unit, |node| inner.add(node, source, true));
        let mut file = Ingredients::<Tally>::default();
        visit(root, |node| file.add(node, source, false));
        let unread = unread(unit, source, &inner.names);
        for package in imported_packages(root, source) {
            inner.names.0.remove(package);
        }
        let mut callables = file.callables.ranked();
        callables.extend(foreign.iter().cloned());
        Self {
            names: inner.names.ranked(),
            callables,
            properties: file.properties.ranked(),
            numbers: file.numbers.ranked(),
            strings: file.strings.ranked(),
            expressions: inner.expressions.ranked(),
            conditions: inner.conditions.ranked(),
            statements: inner.statements.ranked(),
            indexed: inner.indexed.ranked(),
            unread,
            types: DeclaredTypes::collect_from(unit, source),
        }
    }
}

/// The packages that a file of Go imports, by the names that it uses.
fn imported_packages<'s>(root: Node<'_>, source: &'s str) -> Vec<&'s str> {
    let mut found = Vec::new();
    visit(root, |node| {
        if node.kind() == "import_spec" {
            let name = first_field(node, &["name", "path"]).map(|name| text_of(name, source));
            found.extend(name.and_then(|name| name.trim_matches('"').rsplit('/').next()));
        }
        !is_function(node)
    });
    found
}

/// Parameters whose name occurs nowhere else in the function.
fn unread(unit: Node<'_>, source: &str, names: &Tally) -> Vec<String> {
    let parameters = unit.child_by_field_name("parameters").map(named_children).unwrap_or_default();
    let name = |parameter: Node<'_>| {
        let name = first_field(parameter, &["name", "pattern"]).or(parameter.named_child(0));
        text_of(name.unwrap_or(parameter), source)
    };
    let is_unread = |name: &&str| {
        !matches!(*name, "self" | "cls" | "this")
            && !name.starts_with('_')
            && names.0.get(*name).is_some_and(|(count, _)| *count == 1)
    };
    parameters.into_iter().map(name).filter(is_unread).map(str::to_owned).collect()
}

#[derive(Default)]
struct Tally(BTreeMap<String, (usize, usize)>);

impl Tally {
    fn add(&mut self, text: &str) {
        let next = self.0.len();
        let entry = self.0.entry(text.to_owned()).or_insert((0, next));
        entry.0 += 1;
    }

    /// Most frequent first; equally frequent ones in the order of the text.
    fn ranked(self) -> Vec<String> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_by(|a, b| b.1.0.cmp(&a.1.0).then(a.1.1.cmp(&b.1.1)));
        all.into_iter().map(|(text, _)| text).collect()
    }
}

impl Ingredients<Tally> {
    /// Counts a node; the walk always continues with those inside it.
    fn add(&mut self, node: Node<'_>, source: &str, inside: bool) -> bool {
        let text = text_of(node, source);
        let kind = NodeKind::of(node);
        let parent = node.parent();
        match kind {
            Name => {
                let is = |field: &str| {
                    parent.is_some_and(|parent| parent.child_by_field_name(field) == Some(node))
                };
                let within = parent.map_or("", |parent| parent.kind());
                let defines = matches!(
                    within,
                    "function_definition"
                        | "class_definition"
                        | "function_declaration"
                        | "class_declaration"
                        | "function_item"
                        | "method_declaration"
                ) && is("name");
                let called = parent.is_some_and(|up| NodeKind::of(up) == Call)
                    && (is("function") || is("name"));
                let is_type = within == "scoped_identifier"
                    || within == "macro_invocation"
                    || matches!(within, "method_invocation" | "field_access")
                        && text.starts_with(char::is_uppercase);
                if is("attribute") {
                    self.properties.add(text);
                } else if defines || called {
                    self.callables.add(text);
                } else if !is_type && (within != "keyword_argument" || !is("name")) {
                    self.names.add(text);
                }
            }
            Property => self.properties.add(text),
            Number => self.numbers.add(text),
            Text | Character if text.len() <= LONG => self.strings.add(text),
            Subscript => {
                let object = first_field(node, &["value", "object"]).or(node.named_child(0));
                let object = object.map(|one| text_of(one, source));
                if let Some(object) = object.filter(|object| object.len() <= 20) {
                    self.indexed.add(object);
                }
            }
            _ => {}
        }
        if inside && text.len() <= LONG && !text.contains('\n') {
            if matches!(kind, Compare | Not | Logic) {
                self.conditions.add(text);
            }
            if matches!(
                kind,
                Arithmetic
                    | Call
                    | Subscript
                    | Member
                    | Compare
                    | Logic
                    | Choice
                    | Sequence
                    | OtherExpression
            ) {
                self.expressions.add(text);
            }
            if matches!(
                node.kind(),
                "expression_statement"
                    | "return_statement"
                    | "assignment_statement"
                    | "inc_statement"
                    | "dec_statement"
                    | "break_statement"
                    | "continue_statement"
            ) {
                self.statements.add(text);
            }
        }
        true
    }
}
