//! Reads one function of a Python file: parameters, literals, and what speaks against a test of it.

use tree_sitter::Node;

use crate::code::language::Language;

use super::parameter_names::infer_types;
use super::parameter_types::{
    annotated, default_types, keys, quoted_texts, shown_values, used_types,
};
use super::unsupported::unsupported_reason;
use super::{Callable, Class, Parameter, Passing, Type, literals};
use crate::code::tree::{around, end_line, field_of, line, named_children, text_of};
use crate::domain::text::has_word;

/// Decorators that do not change how a function is called.
const HARMLESS: &[&str] = &[
    "lru_cache",
    "cache",
    "wraps",
    "staticmethod",
    "classmethod",
    "total_ordering",
    "dataclass",
    "final",
    "override",
    "typing.final",
    "contextmanager",
];

/// Special methods that an expression or a statement calls: operators, conversions, `in`, `[]`, `len`, `with`.
const OPERATORS: &[&str] = &[
    "abs", "add", "and", "bool", "call", "contains", "delitem", "enter", "eq", "float", "floordiv",
    "format", "ge", "getitem", "gt", "int", "iter", "le", "len", "lt", "mod", "mul", "ne", "neg",
    "or", "pos", "pow", "radd", "repr", "reversed", "rmul", "rsub", "setitem", "str", "sub",
    "truediv", "xor",
];

/// The class of the file that an annotation names.
pub type ClassOf<'a> = dyn Fn(&str) -> Option<Class> + 'a;

/// Whether a special method is observed by the expression that calls it.
pub fn is_observed_operator(name: &str) -> bool {
    let inner = name.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    inner.is_some_and(|inner| OPERATORS.contains(&inner))
}

/// Whether a decorator makes a method a property.
pub fn is_property_mark(mark: &str) -> bool {
    matches!(mark.rsplit('.').next(), Some("property" | "cached_property"))
}

/// A definition without its decorators, and these without `@`.
pub fn strip_decorators<'tree>(node: Node<'tree>, text: &str) -> (Node<'tree>, Vec<String>) {
    if node.kind() != "decorated_definition" {
        return (node, Vec::new());
    }
    let marks = named_children(node).into_iter().filter(|child| child.kind() == "decorator");
    let decorators =
        marks.map(|mark| text_of(mark, text).trim_start_matches('@').trim().to_owned());
    (node.child_by_field_name("definition").unwrap_or(node), decorators.collect())
}

/// The function of a definition; `None` for a private one.
pub fn read_function(
    node: Node<'_>,
    text: &str,
    class: Option<Class>,
    decorators: &[String],
    class_of: &ClassOf<'_>,
) -> Option<Callable> {
    let own = field_of(node, "name", text);
    let is_operator = class.is_some() && is_observed_operator(own);
    if own.starts_with('_') && !is_operator || own.starts_with("test_") || own == "main" {
        return None;
    }
    // What runs is the definition behind the overloads, which has their examples.
    if decorators.iter().any(|mark| mark.rsplit('.').next() == Some("overload")) {
        return None;
    }
    let body = node.child_by_field_name("body")?;
    let of_class = decorators.iter().any(|mark| mark == "classmethod");
    let has_receiver = class.as_ref().is_some_and(|class| !class.is_static || of_class);
    let name =
        class.as_ref().map_or_else(|| own.to_owned(), |class| format!("{}.{own}", class.name));
    let mut given = read_parameters(node, text, usize::from(has_receiver), class_of);
    for other in given.iter_mut().filter(|one| one.name == "other") {
        other.class = other.class.take().or_else(|| class.clone().filter(|one| !one.is_static));
    }
    let is_property = class.is_some() && decorators.iter().any(|mark| is_property_mark(mark));
    let names: Vec<&str> = given.iter().map(|parameter| parameter.name.as_str()).collect();
    let foreign = decorators.iter().find(|mark| {
        let head = mark.split('(').next().unwrap_or_default();
        !HARMLESS.contains(&head.rsplit('.').next().unwrap_or_default()) && !is_property
    });
    let unsupported = match foreign {
        Some(mark) => {
            let mark: String = mark.chars().take(40).collect();
            Some(format!("it is decorated with @{mark}"))
        }
        None => unsupported_reason(Language::Python, node, &names, text),
    };
    Some(Callable {
        start: line(node),
        end: end_line(node),
        parameters: given,
        literals: literals(body, text),
        export: Some(own.to_owned()),
        is_property,
        unsupported,
        class,
        name,
        ..Callable::default()
    })
}

/// The parameters after the first `skipped`.
pub fn read_parameters(
    node: Node<'_>,
    text: &str,
    skipped: usize,
    class_of: &ClassOf<'_>,
) -> Vec<Parameter> {
    let Some(list) = node.child_by_field_name("parameters") else { return Vec::new() };
    let (body, body_text) = (node.child_by_field_name("body"), field_of(node, "body", text));
    let documentation = body.map_or("", |body| documentation(body, text));
    let class_text = around(node, &["class_definition"]).map_or("", |class| text_of(class, text));
    let mut found: Vec<Parameter> = Vec::new();
    let mut passing = Passing::Either;
    for child in named_children(list).into_iter().skip(skipped) {
        let [named, kind, value] = match child.kind() {
            "typed_parameter"
            | "default_parameter"
            | "typed_default_parameter"
            | "identifier"
            | "list_splat_pattern" => parts_of_parameter(child),
            "keyword_separator" => {
                passing = Passing::Name;
                continue;
            }
            "positional_separator" => {
                for one in &mut found {
                    one.passing = Passing::Position;
                }
                continue;
            }
            _ => continue,
        };
        let Some(named) = named else { continue };
        let rest = named.kind() == "list_splat_pattern";
        let name = text_of(named, text).trim_start_matches('*').to_owned();
        if value.is_some() && name.starts_with('_') {
            // It is not meant for callers.
            passing = Passing::Name;
            continue;
        }
        let class = match kind {
            Some(kind) => class_of(text_of(kind, text)),
            None => class_called_like(&name, body_text).and_then(|class| class_of(&class)),
        };
        let stated = kind.map(|kind| annotated(text_of(kind, text))).unwrap_or_default();
        let default = value.map(|one| default_types(text_of(one, text), text)).unwrap_or_default();
        let further = || guessed_types(default, (body_text, class_text), &name);
        let (types, is_guessed) = infer_types(&name, stated, documentation, further);
        let optional = value.is_some() || rest;
        let shown = shown_values(documentation, &name);
        let keys = keys(body_text, &name);
        let known = Parameter { passing, keys, class, shown, ..Parameter::default() };
        found.push(Parameter { name, types, is_guessed, optional, rest, ..known });
        if rest {
            passing = Passing::Name;
        }
    }
    learn_from_text(&mut found, documentation);
    found
}

/// Enters what documentation says of the only parameter of a function: texts in quotes, and that it is a date.
fn learn_from_text(parameters: &mut [Parameter], documentation: &str) {
    let [only] = parameters else { return };
    let inner = documentation.trim_matches(['"', '\'']);
    if only.types.is_empty() || only.types.contains(&Type::Text) {
        only.shown.extend(quoted_texts(inner));
    }
    let is_date = only.is_guessed && has_word(inner, "datetime.date");
    only.types = is_date.then_some(Type::Date).into_iter().chain(only.types.clone()).collect();
}

/// The types of a default value, and of what a body, or else its class, does with a parameter.
fn guessed_types(default: Vec<Type>, (body, class): (&str, &str), name: &str) -> Vec<Type> {
    let own = types_beside(&default, used_types(body, name));
    let field = field_that_holds(body, name).filter(|_| own.is_empty());
    let held = field.map(|field| used_types(class, field)).unwrap_or_default();
    [default, own, held].concat()
}

/// The name of the class whose objects a parameter is called after, as `BusTicket` for `bus_ticket`, unless it is used
/// as something else.
fn class_called_like(parameter: &str, body: &str) -> Option<String> {
    let upper_first = |word: &str| {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        first.to_uppercase() + rest
    };
    used_types(body, parameter).is_empty().then(|| parameter.split('_').map(upper_first).collect())
}

/// The types of uses beside that of a default value: what goes through the characters of a text goes through a
/// list too.
fn types_beside(default: &[Type], mut used: Vec<Type>) -> Vec<Type> {
    used.retain(|kind| !default.contains(&Type::Text) || !matches!(kind, Type::List(_)));
    used
}

/// The attribute in which a method keeps a parameter: `self.size` after `self.size = size`.
fn field_that_holds<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let kept = format!(" = {name}");
    let mut fields = body.lines().filter_map(|line| line.trim().strip_suffix(&kept));
    fields.find(|field| field.starts_with("self."))
}

/// The name, the annotation and the default value of a parameter; no name for `**rest`.
fn parts_of_parameter(node: Node<'_>) -> [Option<Node<'_>>; 3] {
    let field = |name: &str| node.child_by_field_name(name);
    match node.kind() {
        "typed_parameter" => {
            let named = node.named_child(0);
            [named.filter(|one| one.kind() != "dictionary_splat_pattern"), field("type"), None]
        }
        "default_parameter" | "typed_default_parameter" => {
            [field("name"), field("type"), field("value")]
        }
        _ => [Some(node), None, None],
    }
}

fn documentation<'a>(body: Node<'_>, text: &'a str) -> &'a str {
    let first = body.named_child(0).filter(|first| first.kind() == "expression_statement");
    let first = first.and_then(|first| first.named_child(0)).filter(|one| one.kind() == "string");
    first.map_or("", |first| text_of(first, text))
}
