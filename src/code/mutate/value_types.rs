//! What type a name or a literal has, as far as the text of a function shows it.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::code::tree::{first_field, named_children, text_of, visit};

/// The type of a value, so far that those that are never exchanged differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredType {
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

impl DeclaredType {
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
    pub fn of_literal(text: &str) -> Option<Self> {
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

    /// Whether no value of one type is ever one of the other; a name that is declared elsewhere may be another
    /// name of any type.
    pub fn excludes(&self, other: &Self) -> bool {
        let is_named = |one: &Self| matches!(one, Self::Other(_));
        !self.may_be(other) && !is_named(self) && !is_named(other)
    }

    /// Whether a value of one type may stand for one of the other; characters count as numbers.
    pub fn may_be(&self, other: &Self) -> bool {
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
    pub names: BTreeMap<String, DeclaredType>,
    pub result: Option<DeclaredType>,
}

impl DeclaredTypes {
    pub fn collect_from(unit: Node<'_>, source: &str) -> Self {
        let mut types = Self::default();
        let result = first_field(unit, &["result", "return_type", "type"]);
        types.result = result.map(|result| DeclaredType::parse(text_of(result, source)));
        visit(unit, |node| {
            types.add(node, source);
            true
        });
        types
    }

    fn add(&mut self, node: Node<'_>, source: &str) {
        let written = node.child_by_field_name("type");
        let declared = written.map(|written| DeclaredType::parse(text_of(written, source)));
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
                let value =
                    value.and_then(|value| DeclaredType::of_literal(text_of(value, source)));
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
                        let count = is_count.then_some(DeclaredType::Number);
                        self.put(text_of(name, source), count.or(DeclaredType::of_literal(value)));
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether the function may return a name or a literal, as far as types are known.
    pub fn may_return(&self, text: &str) -> bool {
        let found = self.names.get(text).cloned().or_else(|| DeclaredType::of_literal(text));
        self.result.is_some() && found.zip(self.result.as_ref()).is_none_or(|(a, b)| a.may_be(b))
    }

    /// Whether one variable may hold the value of another, as far as their types are known.
    pub fn may_assign(&self, target: &str, value: &str) -> bool {
        let types = self.names.get(target).zip(self.names.get(value));
        types.is_none_or(|(target, value)| target.may_be(value))
    }

    fn put(&mut self, name: &str, found: Option<DeclaredType>) {
        if let Some(found) = found {
            self.names.insert(name.trim_start_matches("mut ").to_owned(), found);
        }
    }
}
