//! Modules of Python's standard library whose values examples in documentation use.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{field_of, named_children, named_nodes, text_of};

/// The modules that every call of Python may name, with their classes whose objects never change.
const MODULES: &[(&str, &[&str])] = &[
    ("datetime", &["date", "datetime", "time", "timedelta", "timezone"]),
    ("decimal", &["Decimal"]),
    ("fractions", &["Fraction"]),
    ("io", &[]),
    ("pathlib", &["Path", "PurePath", "PurePosixPath"]),
    ("re", &[]),
];

/// The classes of a module whose objects never change; `None` where it is none of these modules.
fn classes_of(module: &str) -> Option<&'static [&'static str]> {
    MODULES.iter().find(|(name, _)| *name == module).map(|(_, classes)| *classes)
}

/// The name of a function in one of these modules: `date` for `datetime.date`.
fn name_in_module(function: &str) -> Option<&str> {
    function.split_once('.').filter(|(module, _)| classes_of(module).is_some()).map(|one| one.1)
}

/// Whether a function stands in one of these modules itself, as `datetime.date`.
pub fn is_of_module(function: &str) -> bool {
    name_in_module(function).is_some_and(|name| !name.contains('.'))
}

/// Whether a function is one of a class in these modules, such as `datetime.date.today`, which may give something
/// else every day.
pub fn is_of_class(function: &str) -> bool {
    name_in_module(function).is_some_and(|name| name.contains('.'))
}

/// Whether an expression makes an object of these modules that never changes, as `datetime.date(2024, 2, 29)`.
pub fn makes_unchanging(expression: Node<'_>, code: &str) -> bool {
    let function = field_of(expression, "function", code).split_once('.');
    expression.kind() == "call"
        && function.is_some_and(|(module, class)| {
            classes_of(module).is_some_and(|classes| classes.contains(&class))
        })
}

/// Statements in which modules have their own names, also before what a statement before imports from these:
/// `datetime.date(2024, 2, 29)` for `date(2024, 2, 29)`.
pub fn name_modules(
    language: Language,
    mut statements: Vec<(String, String)>,
) -> Vec<(String, String)> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (code, _) in statements.iter_mut().filter(|_| language == Language::Python) {
        let is_import = code.starts_with("from ") || code.starts_with("import ");
        if !is_import && names.keys().all(|name| !code.contains(name.as_str())) {
            continue;
        }
        let Some(tree) = language.parse(code) else { continue };
        for statement in named_children(tree.root_node()) {
            enter_import(statement, code, &mut names);
        }
        if !is_import {
            *code = write_modules(tree.root_node(), code, &names);
        }
    }
    statements
}

/// Enters what a statement imports; a name that it takes from elsewhere means these modules no longer.
fn enter_import(statement: Node<'_>, code: &str, names: &mut BTreeMap<String, String>) {
    let module = match statement.kind() {
        "import_from_statement" => Some(field_of(statement, "module_name", code)),
        "import_statement" => None,
        _ => return,
    };
    let known = module.map_or(Some(&[][..]), classes_of);
    let source = statement.child_by_field_name("module_name");
    for one in named_children(statement).into_iter().filter(|one| Some(*one) != source) {
        let own = if one.kind() == "aliased_import" { field_of(one, "alias", code) } else { "" };
        let whole = if own.is_empty() { text_of(one, code) } else { field_of(one, "name", code) };
        match (module, known) {
            (Some(module), Some(classes)) if one.kind() == "wildcard_import" => {
                let named = classes.iter().map(|class| format!("{module}.{class}"));
                names.extend(classes.iter().map(|class| (*class).to_owned()).zip(named));
            }
            (Some(module), Some(_)) => {
                let name = if own.is_empty() { whole } else { own };
                names.insert(name.to_owned(), format!("{module}.{whole}"));
            }
            (None, _) if !own.is_empty() => {
                names.insert(own.to_owned(), whole.to_owned());
            }
            _ => drop(names.remove(if own.is_empty() { whole } else { own })),
        }
    }
}

/// The code with the names of modules before what they hold.
fn write_modules(root: Node<'_>, code: &str, names: &BTreeMap<String, String>) -> String {
    let is_own = |node: &Node<'_>| {
        let around = node.parent();
        let is_field =
            |field: &str| around.is_some_and(|one| one.child_by_field_name(field) == Some(*node));
        let is_name =
            around.is_some_and(|one| one.kind() == "keyword_argument") && is_field("name");
        node.kind() == "identifier" && !is_field("attribute") && !is_field("left") && !is_name
    };
    let nodes = named_nodes(root).into_iter().filter(is_own);
    let mut places: Vec<_> = nodes
        .filter_map(|node| {
            Some((node.start_byte(), node.end_byte(), names.get(text_of(node, code))?))
        })
        .collect();
    places.sort_unstable();
    let mut text = code.to_owned();
    for (start, end, name) in places.into_iter().rev() {
        text.replace_range(start..end, name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prompts_import_from_the_standard_library_is_named_with_its_module() {
        let table = [
            (
                "from datetime import *; from span import *",
                "date(2024, 2, 29) + span(days=1)",
                "datetime.date(2024, 2, 29) + span(days=1)",
            ),
            (
                "from datetime import datetime, date",
                "later(date(2024, 1, 1), date=3)",
                "later(datetime.date(2024, 1, 1), date=3)",
            ),
            (
                "from datetime import datetime as dt",
                "when = dt(2024, 1, 1).date()",
                "when = datetime.datetime(2024, 1, 1).date()",
            ),
            ("import datetime as dt", "f(dt.date(2024, 1, 1))", "f(datetime.date(2024, 1, 1))"),
            ("import datetime", "f(datetime.date(2024, 1, 1))", "f(datetime.date(2024, 1, 1))"),
            ("from decimal import Decimal", "f(Decimal('1'))", "f(decimal.Decimal('1'))"),
            ("import shop as s", "f(s.open(2))", "f(shop.open(2))"),
            ("from shop import date", "f(date(1))", "f(date(1))"),
        ];
        for (import, code, expected) in table {
            let pair = |code: &str| (code.to_owned(), String::new());
            let found = name_modules(Language::Python, vec![pair(import), pair(code)]);
            assert_eq!(found[1].0, expected, "{import}");
            let other =
                pair(&import.replace("datetime import", "shop import").replace("decimal", "shop"));
            if import.starts_with("from ") {
                let found = name_modules(Language::Python, vec![pair(import), other, pair(code)]);
                let is_star = import.contains('*');
                assert_eq!(found[2].0, if is_star { expected } else { code }, "{import}");
            }
        }
    }
}
