//! What type a name or a literal has, as far as the text of a function shows it. An edit that puts a value
//! of another type in its place would not compile.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::edit_site::EditSite;
use super::node_kind::NodeKind;
use super::value;
use crate::code::tree::{first_field, named_children, text_of, visit};

/// How likely an edit is right that seems to put a value of another type in a place.
const OTHER_TYPE: f64 = 0.05;

/// The type of a value, so far that those that are never exchanged differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    Truth,
    /// Numbers of any size; a literal fits all of them.
    Number,
    Character,
    Text,
    /// The value that stands for none, of which every other type may be.
    Nothing,
    /// Anything else, as the source writes it.
    Other(String),
}

impl ValueType {
    /// The type that a declaration names.
    fn parse(written: &str) -> Self {
        let text: String = written.chars().filter(|c| !c.is_whitespace()).collect();
        let text = text.trim_start_matches('&').trim_start_matches("mut");
        match text {
            "bool" | "boolean" | "Boolean" => Self::Truth,
            "string" | "String" | "str" => Self::Text,
            "rune" | "char" | "Character" | "byte" => Self::Character,
            _ if is_number(text) => Self::Number,
            _ => Self::Other(text.to_owned()),
        }
    }

    /// The type of a literal; `None` for other text.
    fn of_literal(text: &str) -> Option<Self> {
        match text {
            "true" | "false" => Some(Self::Truth),
            "nil" | "null" | "None" => Some(Self::Nothing),
            _ if text.starts_with(['"', '`']) => Some(Self::Text),
            _ if text.starts_with('\'') => Some(Self::Character),
            _ if text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) => {
                Some(Self::Number)
            }
            _ => None,
        }
    }

    /// Whether a value of one type may stand for one of the other; characters count as numbers.
    fn may_be(&self, other: &Self) -> bool {
        let is_numeric = |one: &Self| matches!(one, Self::Number | Self::Character);
        let is_absent =
            |one: &Self, other: &Self| *one == Self::Nothing && matches!(other, Self::Other(_));
        self == other
            || is_numeric(self) && is_numeric(other)
            || is_absent(self, other)
            || is_absent(other, self)
    }
}

fn is_number(text: &str) -> bool {
    const NAMES: &[&str] = &["double", "float", "long", "short", "Integer", "Double", "Long"];
    let sizes = ["int", "uint", "float", "i", "u", "f"];
    let has_size = |rest: &str| rest.is_empty() || rest.chars().all(|c| c.is_ascii_digit());
    NAMES.contains(&text)
        || matches!(text, "usize" | "isize")
        || sizes.iter().any(|start| {
            let rest = text.strip_prefix(start);
            rest.is_some_and(|rest| has_size(rest) && (start.len() > 1 || !rest.is_empty()))
        })
}

/// The types of the names that a function declares, and of its result.
#[derive(Clone, Debug, Default)]
pub struct DeclaredTypes {
    names: BTreeMap<String, ValueType>,
    pub result: Option<ValueType>,
}

impl DeclaredTypes {
    pub fn of(unit: Node<'_>, source: &str) -> Self {
        let mut types = Self::default();
        let result = first_field(unit, &["result", "return_type", "type"]);
        types.result = result.map(|result| ValueType::parse(text_of(result, source)));
        visit(unit, |node| {
            types.add(node, source);
            true
        });
        types
    }

    fn add(&mut self, node: Node<'_>, source: &str) {
        let written = node.child_by_field_name("type");
        let declared = written.map(|written| ValueType::parse(text_of(written, source)));
        let mut cursor = node.walk();
        match node.kind() {
            "parameter_declaration"
            | "var_spec"
            | "formal_parameter"
            | "enhanced_for_statement" => {
                let names: Vec<Node<'_>> =
                    node.children_by_field_name("name", &mut cursor).collect();
                for name in names {
                    self.put(text_of(name, source), declared.clone());
                }
            }
            "parameter" | "let_declaration" => {
                let value = node.child_by_field_name("value");
                let value = value.and_then(|value| ValueType::of_literal(text_of(value, source)));
                if let Some(pattern) = node.child_by_field_name("pattern") {
                    self.put(text_of(pattern, source), declared.or(value));
                }
            }
            "local_variable_declaration" => {
                for declarator in named_children(node) {
                    if let Some(name) = declarator.child_by_field_name("name") {
                        self.put(text_of(name, source), declared.clone());
                    }
                }
            }
            "short_var_declaration" => {
                let sides = ["left", "right"].map(|side| node.child_by_field_name(side));
                if let [Some(left), Some(right)] = sides {
                    for (name, value) in named_children(left).into_iter().zip(named_children(right))
                    {
                        let value = text_of(value, source);
                        let is_count = value.starts_with("len(") && value.ends_with(')');
                        let count = is_count.then_some(ValueType::Number);
                        self.put(text_of(name, source), count.or(ValueType::of_literal(value)));
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether the function may return a name or a literal, as far as types are known.
    pub fn may_return(&self, text: &str) -> bool {
        let found = self.names.get(text).cloned().or_else(|| ValueType::of_literal(text));
        self.result.is_some() && found.zip(self.result.as_ref()).is_none_or(|(a, b)| a.may_be(b))
    }

    /// Whether one variable may hold the value of another, as far as their types are known.
    pub fn may_assign(&self, target: &str, value: &str) -> bool {
        let types = self.names.get(target).zip(self.names.get(value));
        types.is_none_or(|(target, value)| target.may_be(value))
    }

    fn put(&mut self, name: &str, found: Option<ValueType>) {
        if let Some(found) = found {
            self.names.insert(name.trim_start_matches("mut ").to_owned(), found);
        }
    }
}

/// The type that a place wants.
fn wanted(site: &EditSite<'_>) -> Option<ValueType> {
    let types = &site.scope.types;
    let own = match site.kind {
        NodeKind::Name => types.names.get(site.text).cloned(),
        NodeKind::Compare | NodeKind::Logic | NodeKind::Not => Some(ValueType::Truth),
        NodeKind::Return => types.result.clone(),
        NodeKind::Arithmetic if !site.text.contains('"') => Some(ValueType::Number),
        _ => ValueType::of_literal(site.text),
    };
    own.or_else(|| value::is_condition(site).then_some(ValueType::Truth))
        .or_else(|| types.result.clone().filter(|_| site.parent == NodeKind::Return))
}

/// Whether a value may be of a type, as far as its own is known.
pub fn may_be_of(site: &EditSite<'_>, other: &ValueType) -> bool {
    let known = if site.spelling.is_typed { wanted(site) } else { None };
    known.is_none_or(|one| one.may_be(other))
}

/// How well a name or a literal fits a place by its type: 1 where that is not known.
pub fn type_fit(site: &EditSite<'_>, text: &str) -> f64 {
    if !site.spelling.is_typed {
        return 1.0;
    }
    let found =
        || site.scope.types.names.get(text).cloned().or_else(|| ValueType::of_literal(text));
    let differs = wanted(site).zip(found()).is_some_and(|(wanted, found)| !wanted.may_be(&found));
    if differs { OTHER_TYPE } else { 1.0 }
}
