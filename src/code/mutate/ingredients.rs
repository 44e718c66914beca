//! What an edit can be made of: names, properties, constants and expressions from nearby.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::node_kind::NodeKind;

/// Expressions longer than this are no ingredients.
const LONG: usize = 60;

/// What stands near a place, most often used first.
#[derive(Clone, Debug, Default)]
pub struct Ingredients {
    /// Variables and parameters of the function.
    pub names: Vec<String>,
    /// Functions and classes of the file and of the package.
    pub callables: Vec<String>,
    /// Names behind a dot in the file.
    pub properties: Vec<String>,
    /// Numbers of the file.
    pub numbers: Vec<String>,
    /// Strings of the file.
    pub strings: Vec<String>,
    /// Conditions and other expressions of the function.
    pub expressions: Vec<String>,
    /// Comparisons of the function.
    pub conditions: Vec<String>,
    /// Simple statements of the function.
    pub statements: Vec<String>,
    /// Parameters that the function never reads: what was meant to happen with them is missing.
    pub unread: Vec<String>,
    /// What is indexed in the function.
    pub indexed: Vec<String>,
}

impl Ingredients {
    /// Gathers from a function and its file.
    pub fn of(unit: Node<'_>, root: Node<'_>, source: &str, foreign: &[String]) -> Self {
        let mut inner = Counts::default();
        inner.collect(unit, source, true);
        let mut file = Counts::default();
        file.collect(root, source, false);
        let unread = unread(unit, source, &inner.names);
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
        }
    }
}

/// Parameters whose name stands nowhere else in the function.
fn unread(unit: Node<'_>, source: &str, names: &Tally) -> Vec<String> {
    let Some(parameters) = unit.child_by_field_name("parameters") else { return Vec::new() };
    let mut cursor = parameters.walk();
    parameters
        .named_children(&mut cursor)
        .map(|parameter| {
            if parameter.kind() == "identifier" {
                parameter
            } else {
                parameter.named_child(0).unwrap_or(parameter)
            }
        })
        .map(|name| source.get(name.byte_range()).unwrap_or_default())
        .filter(|name| !matches!(*name, "self" | "cls" | "this") && !name.starts_with('_'))
        .filter(|name| names.0.get(*name).is_some_and(|(count, _)| *count == 1))
        .map(str::to_owned)
        .collect()
}

#[derive(Default)]
struct Tally(BTreeMap<String, (usize, usize)>);

impl Tally {
    fn add(&mut self, text: &str) {
        let next = self.0.len();
        let entry = self.0.entry(text.to_owned()).or_insert((0, next));
        entry.0 += 1;
    }

    /// Most used first, then in the order of the text.
    fn ranked(self) -> Vec<String> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        all.sort_by(|a, b| b.1.0.cmp(&a.1.0).then(a.1.1.cmp(&b.1.1)));
        all.into_iter().map(|(text, _)| text).collect()
    }
}

#[derive(Default)]
struct Counts {
    names: Tally,
    callables: Tally,
    properties: Tally,
    numbers: Tally,
    strings: Tally,
    expressions: Tally,
    conditions: Tally,
    statements: Tally,
    indexed: Tally,
}

impl Counts {
    fn collect(&mut self, node: Node<'_>, source: &str, inside: bool) {
        let text = source.get(node.byte_range()).unwrap_or_default();
        let kind = NodeKind::of(node);
        let parent = node.parent();
        match kind {
            NodeKind::Name => {
                let defines = parent.is_some_and(|parent| {
                    matches!(
                        parent.kind(),
                        "function_definition"
                            | "class_definition"
                            | "function_declaration"
                            | "class_declaration"
                    ) && parent.child_by_field_name("name") == Some(node)
                });
                let called = parent.is_some_and(|parent| {
                    NodeKind::of(parent) == NodeKind::Call
                        && parent.child_by_field_name("function") == Some(node)
                });
                let attribute = parent
                    .is_some_and(|parent| parent.child_by_field_name("attribute") == Some(node));
                let keyword = parent.is_some_and(|parent| {
                    parent.kind() == "keyword_argument"
                        && parent.child_by_field_name("name") == Some(node)
                });
                if attribute {
                    self.properties.add(text);
                } else if defines || called {
                    self.callables.add(text);
                } else if !keyword {
                    self.names.add(text);
                }
            }
            NodeKind::Property => self.properties.add(text),
            NodeKind::Number => self.numbers.add(text),
            NodeKind::Text if text.len() <= LONG => self.strings.add(text),
            NodeKind::Subscript => {
                let object = node
                    .child_by_field_name("value")
                    .or_else(|| node.child_by_field_name("object"))
                    .and_then(|object| source.get(object.byte_range()));
                if let Some(object) = object.filter(|object| object.len() <= 20) {
                    self.indexed.add(object);
                }
            }
            _ => {}
        }
        if inside && text.len() <= LONG && !text.contains('\n') {
            if matches!(kind, NodeKind::Compare | NodeKind::Not | NodeKind::Logic) {
                self.conditions.add(text);
            }
            if matches!(
                kind,
                NodeKind::Arithmetic
                    | NodeKind::Call
                    | NodeKind::Subscript
                    | NodeKind::Member
                    | NodeKind::Compare
                    | NodeKind::Logic
                    | NodeKind::Choice
                    | NodeKind::Sequence
                    | NodeKind::OtherExpression
            ) {
                self.expressions.add(text);
            }
            if matches!(
                node.kind(),
                "expression_statement"
                    | "return_statement"
                    | "break_statement"
                    | "continue_statement"
            ) {
                self.statements.add(text);
            }
        }
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.collect(child, source, inside);
        }
    }
}
