//! Names: bound twice, never bound, never read, hiding an import. Only what a tree says for sure.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::code::language::Language;

use super::data::{PYTHON_BUILTINS, SCRIPT_GLOBALS};
use super::source::{FUNCTIONS, Hit, Source, around, line, statements, whole_line};

/// Whether an identifier is where a name is bound, not where it is read.
fn binds(source: &Source<'_>, node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is = |name: &str| parent.child_by_field_name(name).is_some_and(|one| one.id() == node.id());
    if source.language == Language::Python {
        // `with x as (a, b)`: what looks like a value is a target.
        let mut outer = parent;
        while matches!(outer.kind(), "tuple" | "list" | "list_splat" | "parenthesized_expression") {
            match outer.parent() {
                Some(up) => outer = up,
                None => break,
            }
        }
        if outer.kind() == "as_pattern_target" {
            return true;
        }
        return match parent.kind() {
            "assignment" | "for_statement" | "for_in_clause" => is("left"),
            "function_definition"
            | "class_definition"
            | "named_expression"
            | "default_parameter"
            | "typed_default_parameter" => is("name"),
            "parameters"
            | "lambda_parameters"
            | "typed_parameter"
            | "list_splat_pattern"
            | "dictionary_splat_pattern"
            | "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "as_pattern_target"
            | "global_statement"
            | "nonlocal_statement"
            | "aliased_import"
            | "case_pattern"
            | "dotted_name"
            | "splat_pattern"
            | "keyword_pattern"
            | "type_parameter"
            | "delete_statement" => true,
            _ => false,
        };
    }
    match parent.kind() {
        "variable_declarator"
        | "function_declaration"
        | "generator_function_declaration"
        | "function_expression"
        | "generator_function"
        | "class_declaration"
        | "class"
        | "function_signature"
        | "enum_declaration"
        | "internal_module"
        | "module"
        | "abstract_class_declaration"
        | "interface_declaration"
        | "type_alias_declaration" => is("name"),
        "formal_parameters"
        | "array_pattern"
        | "rest_pattern"
        | "import_clause"
        | "namespace_import"
        | "import_specifier"
        | "object_assignment_pattern"
        | "import_require_clause" => true,
        "required_parameter" | "optional_parameter" => is("pattern"),
        "arrow_function" | "catch_clause" => is("parameter"),
        "for_in_statement" | "assignment_pattern" => is("left"),
        "pair_pattern" => is("value"),
        _ => false,
    }
}

/// Whether an identifier is a name of something else: an attribute, a keyword, a label.
fn is_foreign(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return true };
    let is = |name: &str| parent.child_by_field_name(name).is_some_and(|one| one.id() == node.id());
    match parent.kind() {
        "attribute" => is("attribute"),
        "keyword_argument" => is("name"),
        "dotted_name"
        | "import_statement"
        | "import_from_statement"
        | "relative_import"
        | "keyword_pattern"
        | "export_specifier"
        | "labeled_statement"
        | "meta_property"
        | "jsx_attribute"
        | "jsx_namespace_name"
        | "nested_identifier"
        | "import_specifier"
        | "index_signature"
        | "type_predicate"
        | "this_type"
        | "asserts"
        | "jsx_opening_element"
        | "jsx_closing_element"
        | "jsx_self_closing_element"
        | "namespace_export"
        | "construct_signature"
        | "function_type"
        | "nested_type_identifier" => true,
        _ => false,
    }
}

/// Every name that the file binds anywhere.
fn bound(source: &Source<'_>) -> BTreeSet<String> {
    // Asking for what is around a node is dear; few files match patterns.
    let matches = source.of_kind(&["case_pattern"]).next().is_some();
    let mut names: BTreeSet<String> = source
        .of_kind(&["identifier", "shorthand_property_identifier_pattern", "type_identifier"])
        .filter(|node| {
            node.kind() != "identifier"
                || binds(source, *node)
                || matches && around(*node, &["case_pattern"]).is_some()
        })
        .map(|node| source.of(node).to_owned())
        .collect();
    names.extend(source.imports.iter().map(|import| import.bound.clone()));
    names
}

/// Names that are read and that nothing binds: no import, no assignment, no parameter, no builtin.
pub fn undefined(source: &Source<'_>) -> Vec<Hit> {
    let python = source.language == Language::Python;
    let opaque = if python {
        source.imports.iter().any(|import| import.item == "*")
            || [
                "globals()",
                "exec(",
                "__builtin__",
                "builtins.",
                "__getattr__",
                "NameError",
                "_convert_(",
                "__dict__.update",
                "sys.modules[__name__]",
            ]
            .iter()
            .any(|word| source.text.contains(word))
    } else {
        // Concatenated scripts, `with`, and files that name their own globals.
        source.imports.is_empty()
            && !source.text.contains("module.exports")
            && !source.text.contains("export ")
            || source.text.contains("/* global")
            || source.text.contains("/*global")
            || source.of_kind(&["with_statement", "ambient_declaration"]).next().is_some()
            || source.path.as_str().ends_with(".d.ts")
    };
    if opaque {
        return Vec::new();
    }
    let bound = bound(source);
    let mut told = BTreeSet::new();
    let mut hits = Vec::new();
    for node in source.of_kind(&["identifier"]) {
        let name = source.of(node);
        let known = if python {
            PYTHON_BUILTINS.contains(name)
        } else {
            // Build tools put names in capitals.
            SCRIPT_GLOBALS.contains(name)
                || matches!(name, "await" | "yield" | "async" | "arguments")
                || name.starts_with("__")
                || name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit())
        };
        if known || bound.contains(name) || is_foreign(node) || told.contains(name) {
            continue;
        }
        let asked = node.parent().is_some_and(|parent| {
            matches!(parent.kind(), "unary_expression" | "type_query")
                && source.of(parent).starts_with("typeof")
        });
        let guarded = if python {
            around(
                node,
                &[
                    "try_statement",
                    "match_statement",
                    "case_clause",
                    "type_alias_statement",
                    "type",
                ],
            )
            .is_some()
        } else {
            asked
                || source.text.contains(&format!("typeof {name}"))
                || around(
                    node,
                    &[
                        "type_annotation",
                        "type_alias_declaration",
                        "interface_declaration",
                        "type_arguments",
                    ],
                )
                .is_some()
        };
        if !guarded {
            told.insert(name.to_owned());
            hits.push(Hit::noted(line(node), name));
        }
    }
    hits
}

/// Local variables that are assigned and never read.
pub fn unused(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for node in source.of_kind(&["assignment", "variable_declarator"]) {
        let name = match source.language {
            Language::Python => node.child_by_field_name("left").filter(|_| {
                node.parent().is_some_and(|parent| parent.kind() == "expression_statement")
                    && node.child_by_field_name("right").is_some()
            }),
            _ => node.child_by_field_name("name"),
        };
        let Some(name) = name.filter(|name| name.kind() == "identifier") else { continue };
        let text = source.of(name);
        if text.starts_with('_') || matches!(text, "ignored" | "ignore" | "unused" | "dummy") {
            continue;
        }
        if around(
            node,
            &["field_declaration", "ambient_declaration", "catch_clause", "resource_specification"],
        )
        .is_some()
        {
            continue;
        }
        // The nearest function or class owns the name; a module's or class's names are read elsewhere.
        let Some(owner) = around(node, &[FUNCTIONS, &["class_definition", "class_body"]].concat())
        else {
            continue;
        };
        if !FUNCTIONS.contains(&owner.kind()) {
            continue;
        }
        let scope = source.of(owner);
        if ["locals()", "eval(", "exec(", "vars()"].iter().any(|word| scope.contains(word)) {
            continue;
        }
        let shared = source.inside(owner).any(|inner| {
            matches!(inner.kind(), "global_statement" | "nonlocal_statement")
                && source
                    .of(inner)
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|word| word == text)
        });
        let read = source.inside(owner).any(|inner| {
            inner.child_count() == 0
                && inner.kind().ends_with("identifier")
                && source.of(inner) == text
                && inner.id() != name.id()
                && !is_plain_write(source, inner)
        });
        if !shared && !read {
            let written = source
                .inside(owner)
                .filter(|inner| inner.kind().ends_with("identifier") && source.of(*inner) == text);
            let cut = if written.count() == 1 { plain_line(source, node) } else { None };
            hits.push(Hit { line: line(name), note: text.to_owned(), cut });
        }
    }
    hits
}

/// The line of an assignment that can go: its value is a literal, so nothing happens in it, and a
/// block keeps a statement.
fn plain_line(source: &Source<'_>, node: Node<'_>) -> Option<std::ops::Range<usize>> {
    const LITERALS: &[&str] = &[
        "integer",
        "float",
        "string",
        "true",
        "false",
        "none",
        "number",
        "null",
        "string_literal",
        "decimal_integer_literal",
        "null_literal",
    ];
    let value = node.child_by_field_name("right").or_else(|| node.child_by_field_name("value"))?;
    let statement = node.parent()?;
    let made = source.inside(value).any(|inner| inner.kind() == "interpolation");
    let block = statement.parent()?;
    let alone = statement.named_child_count() == 1 || source.language == Language::Java;
    let one = ["declarator"].iter().all(|field| {
        let mut cursor = statement.walk();
        statement.children_by_field_name(field, &mut cursor).count() <= 1
    });
    (LITERALS.contains(&value.kind())
        && !made
        && alone
        && one
        && matches!(block.kind(), "block" | "statement_block")
        && statements(block).len() >= 2)
        .then(|| whole_line(source.text, statement.byte_range()))?
}

/// Whether an identifier is only written here.
fn is_plain_write(source: &Source<'_>, node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let is = |name: &str| parent.child_by_field_name(name).is_some_and(|one| one.id() == node.id());
    match (source.language, parent.kind()) {
        (Language::Python, "assignment") => is("left"),
        (Language::Python, _) => false,
        (_, "variable_declarator") => is("name"),
        _ => false,
    }
}

/// The same name declared twice in one block.
pub fn redeclared(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    let blocks: &[&str] = match source.language {
        Language::Python => &["module", "block"],
        Language::Rust => &["source_file", "declaration_list"],
        Language::Go => &["source_file"],
        Language::Java => &["block"],
        _ => &["program", "statement_block"],
    };
    for block in source.of_kind(blocks) {
        // A function may define the same helper for one case after another.
        if source.language == Language::Python
            && block.kind() == "block"
            && block.parent().is_none_or(|parent| parent.kind() != "class_definition")
        {
            continue;
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for node in statements(block) {
            for name in declared(source, node) {
                let text = source.of(name).to_owned();
                let key = match source.language {
                    // The first type of a receiver; others are parameters of it.
                    Language::Go => {
                        let receiver = node.child_by_field_name("receiver");
                        let owner = receiver.and_then(|receiver| {
                            source.inside(receiver).find(|one| one.kind() == "type_identifier")
                        });
                        let owner = owner.map(|one| source.of(one)).unwrap_or_default();
                        format!("{owner}.{text}")
                    }
                    _ => text.clone(),
                };
                let before = seen.insert(key, node.end_byte());
                let Some(before) = before else { continue };
                let between = source.text.get(before..node.start_byte()).unwrap_or_default();
                // A Python name may be used between, or be defined for another case.
                if source.language != Language::Python || !between.contains(&text) {
                    hits.push(Hit::noted(line(name), text));
                }
            }
        }
    }
    hits
}

/// Names that a statement declares so that they cannot be declared again.
fn declared<'a>(source: &Source<'a>, node: Node<'a>) -> Vec<Node<'a>> {
    let named = |node: Node<'a>| node.child_by_field_name("name").into_iter().collect::<Vec<_>>();
    match (source.language, node.kind()) {
        (Language::Python, "function_definition" | "class_definition") => {
            named(node).into_iter().filter(|name| source.of(*name) != "_").collect()
        }
        (Language::Rust, "function_item" | "struct_item" | "enum_item" | "const_item")
            if !source.marks(node).contains("cfg") =>
        {
            named(node).into_iter().filter(|name| source.of(*name) != "_").collect()
        }
        (Language::Go, "function_declaration" | "method_declaration") => named(node)
            .into_iter()
            .filter(|name| !matches!(source.of(*name), "init" | "_"))
            .collect(),
        (Language::Java, "local_variable_declaration") => {
            let mut cursor = node.walk();
            node.children_by_field_name("declarator", &mut cursor)
                .filter_map(|one| one.child_by_field_name("name"))
                .filter(|name| source.of(*name) != "_")
                .collect()
        }
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "lexical_declaration") => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor)
                .filter_map(|one| one.child_by_field_name("name"))
                .filter(|name| name.kind() == "identifier")
                .collect()
        }
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "class_declaration") => {
            named(node)
        }
        _ => Vec::new(),
    }
}

/// Locals that hide an import which the same function reads before.
pub fn shadowing(source: &Source<'_>) -> Vec<Hit> {
    let imported: BTreeSet<&str> = source
        .imports
        .iter()
        .filter(|import| import.top && !import.types)
        .map(|import| import.bound.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    let mut told = BTreeSet::new();
    let mut hits = Vec::new();
    for node in source.of_kind(&["assignment", "variable_declarator", "for_statement"]) {
        let Some(name) =
            node.child_by_field_name("left").or_else(|| node.child_by_field_name("name"))
        else {
            continue;
        };
        let text = source.of(name);
        if name.kind() != "identifier" || !imported.contains(text) {
            continue;
        }
        let Some(owner) = around(node, &[FUNCTIONS, &["class_definition", "class_body"]].concat())
        else {
            continue;
        };
        let lifted = source
            .inside(owner)
            .any(|inner| inner.kind() == "global_statement" && source.of(inner).contains(text));
        if FUNCTIONS.contains(&owner.kind()) && !lifted && told.insert((owner.id(), text)) {
            hits.push(Hit::noted(line(name), text));
        }
    }
    hits
}
