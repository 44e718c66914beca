//! Finds the functions and methods of a Rust file that a test outside of the crate may call.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{end_line, field_of, line, named_children, named_nodes, text_of};

use super::unsupported::unsupported_reason;
use super::{Callable, Class, Construction, Parameter, Passing, Type, literals};

/// Expressions for the types of the language and its library, most typical first.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "&str",
        &[
            "\"hello\"",
            "\"\"",
            "\"Hello World\"",
            "\"a\"",
            "\"fooBar_baz-qux XMLHttp\"",
            "\"one two three four five six seven\"",
            "\"123\"",
            "\"a,b;c\"",
            "\"1h 30min 5s\"",
            "\"ÄÖÜ ß é\"",
            "\"  two  words \"",
            "\"line one\\n  line two\\n\\n    three\"",
            "\"2024-02-29T12:30:00Z\"",
            "\"-1.5\"",
            "\"/a/b.txt\"",
        ],
    ),
    ("bool", &["true", "false"]),
    ("char", &["'a'", "'Z'", "' '", "'7'", "'-'", "'é'"]),
    (
        "Duration",
        &[
            "std::time::Duration::from_secs(90)",
            "std::time::Duration::ZERO",
            "std::time::Duration::from_millis(1500)",
            "std::time::Duration::from_secs(100_000_000)",
            "std::time::Duration::from_nanos(1_002_003)",
        ],
    ),
    (
        "SystemTime",
        &[
            "std::time::UNIX_EPOCH",
            "std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_709_209_800)",
            "std::time::UNIX_EPOCH + std::time::Duration::from_nanos(1_500_000_002)",
        ],
    ),
];

const NUMBERS: &[&str] = &["2", "0", "1", "3", "7", "10", "20", "80", "100"];
const FRACTIONS: &[&str] = &["1.5", "0.0", "-2.25", "0.5", "3.0", "100.0", "1e-9"];

/// How deep values inside of values are written.
const DEEPEST: u32 = 3;

/// All public functions and methods of a file.
pub fn rust_callables(root: Node<'_>, text: &str) -> Vec<Callable> {
    let items = Items::read(root, text);
    let mut found = Vec::new();
    for node in named_children(root) {
        match node.kind() {
            "function_item" if is_public(node, text) => {
                found.extend(items.callable(node, None, text));
            }
            "impl_item" => items.add_methods(node, text, &mut found),
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|one| seen.insert(one.name.clone()));
    found
}

fn is_public(node: Node<'_>, text: &str) -> bool {
    let first = named_children(node).into_iter().find(|one| one.kind() == "visibility_modifier");
    first.is_some_and(|one| text_of(one, text) == "pub")
}

/// What a file declares.
#[derive(Default)]
struct Items {
    /// Enums with variants that need no values.
    variants: BTreeMap<String, Vec<String>>,
    /// Functions that make an object: by its type, name and the types of the parameters.
    constructors: BTreeMap<String, (String, Vec<String>)>,
}

impl Items {
    fn read(root: Node<'_>, text: &str) -> Self {
        let mut items = Self::default();
        for node in named_children(root) {
            let name = field_of(node, "name", text).to_owned();
            match node.kind() {
                "enum_item" if is_public(node, text) => {
                    let variants = named_nodes(node).into_iter();
                    let plain = variants.filter(|one| {
                        one.kind() == "enum_variant" && one.child_by_field_name("body").is_none()
                    });
                    let plain = plain.map(|one| format!("{name}::{}", field_of(one, "name", text)));
                    items.variants.insert(name.clone(), plain.collect());
                }
                "impl_item" => items.read_constructors(node, text),
                _ => {}
            }
        }
        items
    }

    fn read_constructors(&mut self, node: Node<'_>, text: &str) {
        let name = bare_name(field_of(node, "type", text));
        if field_of(node, "trait", text) == "Default" {
            let made = (format!("{name}::default"), Vec::new());
            self.constructors.entry(name.clone()).or_insert(made);
        }
        for one in methods(node) {
            let own = field_of(one, "name", text);
            let result = field_of(one, "return_type", text);
            let makes = result == "Self" || bare_name(result) == name;
            let (receiver, parameters) = parameters(one, text);
            if own.starts_with("new") && makes && receiver.is_none() && is_public(one, text) {
                let types = parameters.into_iter().map(|(_, kind)| kind).collect();
                self.constructors.insert(name.clone(), (format!("{name}::{own}"), types));
            }
        }
    }

    fn add_methods(&self, node: Node<'_>, text: &str, found: &mut Vec<Callable>) {
        let kind = field_of(node, "type", text);
        let name = bare_name(kind);
        let trait_name = bare_name(field_of(node, "trait", text));
        // Traits of the language are called by operators and macros.
        let is_foreign =
            !trait_name.is_empty() && !text.contains(&format!("pub trait {trait_name}"));
        if is_foreign {
            return;
        }
        for one in methods(node) {
            if trait_name.is_empty() && !is_public(one, text) {
                continue;
            }
            let (receiver, _) = parameters(one, text);
            let subject = if trait_name.is_empty() { name.clone() } else { trait_name.clone() };
            let class = match (receiver, self.constructors.get(&name)) {
                (None, _) => Class {
                    name: subject,
                    examples: Vec::new(),
                    parameters: Vec::new(),
                    is_static: true,
                    construction: None,
                },
                (Some(_), Some((function, types))) => Class {
                    name: subject,
                    examples: Vec::new(),
                    parameters: types
                        .iter()
                        .map(|one| self.parameter(String::new(), one))
                        .collect(),
                    is_static: false,
                    construction: Some(Construction {
                        function: function.clone(),
                        declared: name.clone(),
                    }),
                },
                (Some(_), None) => {
                    let kind = if kind == "str" || kind == "[T]" {
                        format!("&{kind}")
                    } else {
                        kind.to_owned()
                    };
                    let mut object = self.parameter(String::new(), &kind);
                    object.types.clear();
                    let function = String::new();
                    Class {
                        name: subject,
                        examples: Vec::new(),
                        parameters: vec![object],
                        is_static: false,
                        construction: Some(Construction { function, declared: kind }),
                    }
                }
            };
            found.extend(self.callable(one, Some(class), text));
        }
    }

    fn callable(&self, node: Node<'_>, class: Option<Class>, text: &str) -> Option<Callable> {
        let own = field_of(node, "name", text);
        let body = node.child_by_field_name("body")?;
        let before = text.get(node.start_byte()..body.start_byte()).unwrap_or_default();
        let given = parameters(node, text).1.into_iter();
        let found: Vec<Parameter> =
            given.map(|(name, kind)| self.parameter(name, &with_bounds(&kind, before))).collect();
        let made = class.iter().flat_map(|class| &class.parameters);
        let missing =
            found.iter().chain(made).find(|one| one.types.is_empty() && one.values.is_empty());
        let is_async = before.contains("async fn") || before.contains("unsafe fn");
        let reason = unsupported_reason(Language::Rust, node, &[], text)
            .or_else(|| is_async.then(|| "it is async or unsafe".to_owned()))
            .or_else(|| {
                missing.map(|one| format!("no value of `{}` can be written", one.declared_type))
            });
        let result = field_of(node, "return_type", text).to_owned();
        let name =
            class.as_ref().map_or_else(|| own.to_owned(), |class| format!("{}.{own}", class.name));
        Some(Callable {
            start: line(node),
            end: end_line(node),
            parameters: found,
            literals: literals(body, text),
            results: Some(result).filter(|one| !one.is_empty()).into_iter().collect(),
            unsupported: reason,
            class,
            name,
            ..Callable::default()
        })
    }

    fn parameter(&self, name: String, declared: &str) -> Parameter {
        let kind = match declared {
            "&str" => Some(Type::Text),
            "bool" => Some(Type::Bool),
            _ if is_integer(declared) => Some(Type::Int),
            _ => None,
        };
        Parameter {
            name,
            types: kind.into_iter().collect(),
            passing: Passing::Position,
            values: self.values(declared, 0),
            declared_type: declared.to_owned(),
            ..Parameter::default()
        }
    }

    /// Expressions of a type; none if it is unknown how to write one.
    fn values(&self, declared: &str, depth: u32) -> Vec<String> {
        let declared = declared.rsplit("time::").next().unwrap_or(declared).trim();
        if let Some((_, list)) = KNOWN.iter().find(|(name, _)| *name == declared) {
            return list.iter().map(|one| (*one).to_owned()).collect();
        }
        if is_integer(declared) {
            let signed = declared.starts_with('i').then_some(["-1", "-5"]).into_iter().flatten();
            return NUMBERS.iter().copied().chain(signed).map(str::to_owned).collect();
        }
        if matches!(declared, "f32" | "f64") {
            return FRACTIONS.iter().map(|one| (*one).to_owned()).collect();
        }
        if depth > DEEPEST || declared.starts_with("&mut") {
            return Vec::new();
        }
        self.composed(declared, depth).unwrap_or_else(|| self.made(declared, depth))
    }

    /// Expressions of a type that is made of others.
    fn composed(&self, declared: &str, depth: u32) -> Option<Vec<String>> {
        let inner = |start: &str, end: &str| {
            let inner = declared.strip_prefix(start)?.strip_suffix(end)?;
            Some(self.values(inner, depth + 1)).filter(|list| !list.is_empty())
        };
        let each = |list: Vec<String>, write: &dyn Fn(&str) -> String| -> Vec<String> {
            list.iter().map(|one| write(one)).collect()
        };
        let rows = |list: &[String], open: &str| -> Vec<String> {
            let pick = |row: &[usize]| -> Vec<String> {
                row.iter().filter_map(|at| list.get(at % list.len().max(1)).cloned()).collect()
            };
            let rows: [&[usize]; 4] = [&[0, 2, 3], &[0], &[3, 2, 0, 2], &[1, 4]];
            rows.iter().map(|row| format!("{open}{}]", pick(row).join(", "))).collect()
        };
        if declared == "String" {
            return Some(each(self.values("&str", depth + 1), &|one| format!("{one}.to_string()")));
        }
        if let Some(list) = inner("&[", "]") {
            return Some(rows(&list, "&["));
        }
        if let Some(list) = inner("Vec<", ">") {
            return Some(rows(&list, "vec!["));
        }
        if let Some(list) = inner("Option<", ">") {
            let some = each(list, &|one| format!("Some({one})"));
            return Some(some.into_iter().take(4).chain(["None".to_owned()]).collect());
        }
        inner("&", "").map(|list| each(list, &|one| format!("&{one}")))
    }

    /// Variants of an enum, and objects that constructors make.
    fn made(&self, declared: &str, depth: u32) -> Vec<String> {
        let name = bare_name(declared);
        let mut found = self.variants.get(&name).cloned().unwrap_or_default();
        if let Some((function, types)) = self.constructors.get(&name) {
            let pools: Vec<Vec<String>> =
                types.iter().map(|one| self.values(one, depth + 1)).collect();
            for row in 0..3 {
                let given: Option<Vec<String>> =
                    pools.iter().map(|pool| pool.get(row % pool.len().max(1)).cloned()).collect();
                found.extend(given.map(|given| format!("{function}({})", given.join(", "))));
            }
            found.dedup();
        }
        found
    }
}

fn is_integer(name: &str) -> bool {
    let bits = name.strip_prefix(['u', 'i']).unwrap_or_default();
    matches!(bits, "8" | "16" | "32" | "64" | "128" | "size")
}

/// `Point` of `&'a shop::Point<T>`.
fn bare_name(kind: &str) -> String {
    let head = kind.trim_start_matches('&').split('<').next().unwrap_or_default();
    head.rsplit([':', ' ']).next().unwrap_or_default().to_owned()
}

fn methods(node: Node<'_>) -> Vec<Node<'_>> {
    let body = node.child_by_field_name("body").map(named_children).unwrap_or_default();
    body.into_iter().filter(|one| one.kind() == "function_item").collect()
}

/// The receiver, and name and type of each other parameter.
fn parameters(node: Node<'_>, text: &str) -> (Option<String>, Vec<(String, String)>) {
    let (mut receiver, mut found) = (None, Vec::new());
    for one in node.child_by_field_name("parameters").map(named_children).unwrap_or_default() {
        match one.kind() {
            "self_parameter" => receiver = Some(text_of(one, text).to_owned()),
            "parameter" => {
                let name = field_of(one, "pattern", text).trim_start_matches("mut ").to_owned();
                found.push((name, field_of(one, "type", text).to_owned()));
            }
            _ => {}
        }
    }
    (receiver, found)
}

/// A type without lifetimes, and with one that fits in place of a type with bounds: `&str` for
/// `impl AsRef<str>`. `head` is the text of the function before its body.
fn with_bounds(kind: &str, head: &str) -> String {
    let without = Regex::new(r"'\w+\s*").map(|one| one.replace_all(kind, "").into_owned());
    let kind = without.unwrap_or_else(|_| kind.to_owned()).replace("<>", "");
    let (mark, name) = kind.strip_prefix('&').map_or(("", kind.as_str()), |name| ("&", name));
    let bound = name.strip_prefix("impl ").map(str::to_owned).or_else(|| {
        let is_parameter = name.len() <= 2 || head.contains(&format!("<{name}"));
        let form = Regex::new(&format!(r"\b{}\s*:\s*([^,{{]+)", regex::escape(name)));
        let found = form.ok().filter(|_| is_parameter)?.captures(head)?;
        Some(found.get(1)?.as_str().to_owned())
    });
    match bound {
        Some(bound) if bound.contains("str>") || bound.contains("String>") => "&str".into(),
        Some(bound) if bound.contains("Options") => "usize".into(),
        Some(bound) if bound.contains("Iterator<Item = &str>") => "Vec<&str>".into(),
        Some(_) => format!("{mark}i32"),
        None => kind,
    }
}
