//! Reads the exports of a script: `export`, `module.exports`, `exports.f`.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{field_of, named_children, text_of};
use crate::domain::id::RepoPath;

use super::documentation_examples::{is_entry_point, page_examples};
use super::{Callable, Example};

/// Maps local names to exported names.
pub type Exports = BTreeMap<String, String>;

/// Names that statements at the outermost level of a module export.
pub fn of_module(root: Node<'_>, text: &str) -> Exports {
    let mut exports = Exports::new();
    add_exports(root, text, &mut exports);
    exports
}

/// Adds what the statements below a node export, also behind a question such as whether there is a `module`.
fn add_exports(around: Node<'_>, text: &str, exports: &mut Exports) {
    for child in named_children(around) {
        match child.kind() {
            "export_statement" => exported(child, text, exports),
            "expression_statement" => {
                let inner = child.named_child(0);
                if let Some(inner) = inner.filter(|one| one.kind() == "assignment_expression") {
                    assigned(inner, text, exports);
                }
            }
            "if_statement" | "else_clause" | "statement_block" => add_exports(child, text, exports),
            _ => {}
        }
    }
}

/// Reads ES exports: `export function f`, `export default f`, `export { f as g }`.
fn exported(statement: Node<'_>, text: &str, exports: &mut Exports) {
    let field = |name: &str| statement.child_by_field_name(name);
    if let Some(declaration) = field("declaration") {
        let is_default = text_of(statement, text).starts_with("export default");
        for name in declared(declaration, text) {
            let outside = if is_default { "default" } else { name };
            exports.insert(name.to_owned(), outside.to_owned());
        }
    }
    if let Some(value) = field("value").filter(|value| value.kind() == "identifier") {
        exports.insert(text_of(value, text).to_owned(), "default".into());
    }
    let clauses = named_children(statement).into_iter();
    for clause in clauses.filter(|one| one.kind() == "export_clause" && field("source").is_none()) {
        for one in named_children(clause) {
            if let Some(name) = one.child_by_field_name("name") {
                let outside = one.child_by_field_name("alias").unwrap_or(name);
                exports.insert(text_of(name, text).into(), text_of(outside, text).into());
            }
        }
    }
}

fn declared<'a>(node: Node<'_>, text: &'a str) -> Vec<&'a str> {
    if node.child_by_field_name("name").is_some() {
        return vec![field_of(node, "name", text)];
    }
    let variables = named_children(node).into_iter();
    let variables = variables.filter(|child| child.kind() == "variable_declarator");
    variables.map(|child| field_of(child, "name", text)).collect()
}

/// The exported name in an assignment target: `f` for `module.exports.f` and `exports.f`.
pub fn member(target: &str) -> Option<&str> {
    let inner = target.strip_prefix("module.").unwrap_or(target);
    inner.strip_prefix("exports.").filter(|name| !name.contains(['.', '[']))
}

/// What a function is set on, and under which name: `words` and `plural` for `words.plural`.
pub fn set_on(target: &str) -> Option<(&str, &str)> {
    target.split_once('.').filter(|(object, name)| {
        !matches!(*object, "module" | "exports" | "this") && !name.contains(['.', '['])
    })
}

/// The value after a chain of assignments: `f` in `module.exports = exports = f`.
pub fn assigned_value(mut node: Node<'_>) -> Option<Node<'_>> {
    while node.kind() == "assignment_expression" {
        node = node.child_by_field_name("right")?;
    }
    Some(node)
}

/// Reads `CommonJS` exports: `module.exports = f`, `module.exports = { f, g: h }`, `exports.f = …`.
pub fn assigned(node: Node<'_>, text: &str, exports: &mut Exports) {
    let Some(right) = node.child_by_field_name("right") else { return };
    // `exports = module.exports = f`
    if right.kind() == "assignment_expression" {
        assigned(right, text, exports);
    }
    let target = field_of(node, "left", text);
    if target == "module.exports" {
        if let Some(value) = assigned_value(right) {
            of_value(value, text, exports);
        }
    } else if let Some(name) = member(target) {
        let local = if right.kind() == "identifier" { text_of(right, text) } else { name };
        exports.insert(local.to_owned(), name.to_owned());
    }
}

/// Names that a value exports when it stands for the whole module: a function as the default
/// export, functions of an object by their keys.
pub fn of_value(value: Node<'_>, text: &str, exports: &mut Exports) {
    match value.kind() {
        "identifier" => {
            exports.insert(text_of(value, text).to_owned(), "default".into());
        }
        "function_expression" | "arrow_function" | "class" => {
            let name = field_of(value, "name", text);
            exports.extend((!name.is_empty()).then(|| (name.to_owned(), "default".into())));
        }
        "object" => {
            for part in named_children(value) {
                let (key, inner) = (field_of(part, "key", text), part.child_by_field_name("value"));
                if part.kind() == "shorthand_property_identifier" {
                    let name = text_of(part, text).to_owned();
                    exports.insert(name.clone(), name);
                } else if let Some(inner) = inner.filter(|one| one.kind() == "identifier") {
                    exports.insert(text_of(inner, text).to_owned(), key.to_owned());
                }
            }
        }
        _ => {}
    }
}

/// What the `package.json` of a package says of its modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptPackage {
    /// Its name; empty without one.
    pub name: String,
    /// Whether its files are ES modules unless their names say otherwise.
    pub is_module: bool,
    /// The files that it is imported by, as they are written there.
    entries: Vec<String>,
}

impl ScriptPackage {
    /// Reads a manifest; one that cannot be read says nothing.
    pub fn parse(manifest: &str) -> Self {
        let manifest: serde_json::Value = serde_json::from_str(manifest).unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let field = |key: &str| manifest.get(key).and_then(text);
        let mut entries: Vec<String> = ["main", "module"].into_iter().filter_map(field).collect();
        let exports = manifest.get("exports");
        let mut open: Vec<&serde_json::Value> = exports.into_iter().collect();
        while let Some(value) = open.pop() {
            entries.extend(text(value));
            let parts = value.as_object().into_iter().flatten();
            open.extend(parts.filter(|(key, _)| !key.starts_with("./")).map(|(_, inner)| inner));
        }
        let is_module = field("type").as_deref() == Some("module");
        Self { name: field("name").unwrap_or_default(), is_module, entries }
    }

    /// Whether a file of the package is what it is imported by.
    fn is_imported_by(&self, file: &RepoPath) -> bool {
        let is_file = |entry: &String| {
            let entry = entry.trim_start_matches("./");
            let rest = file.as_str().strip_suffix(entry).or_else(|| {
                let stem = file.as_str().strip_suffix(file.extension())?.strip_suffix('.')?;
                stem.strip_suffix(entry)
            });
            !entry.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        is_entry_point(file) || self.entries.iter().any(is_file)
    }
}

/// The name by which a page calls the default export of a package of JavaScript.
fn default_name(page: &str, package: &str) -> Option<String> {
    let package = regex::escape(package);
    let form = format!(r#"\b(\w+)\s*(?:=\s*require\(|from\s+)['"]{package}['"]"#);
    Some(Regex::new(&form).ok()?.captures(page)?.get(1)?.as_str().to_owned())
}

/// The name in the source of what a package of JavaScript exports by default, if its file is what the package
/// is imported by.
pub fn package_default(
    callables: &[Callable],
    (file, package): (&RepoPath, &ScriptPackage),
) -> Option<String> {
    let is_default = |one: &&Callable| one.export.as_deref() == Some("default");
    let is_entry = package.is_imported_by(file);
    let is_whole = |one: &&Callable| one.class.is_none() || one.is_constructor();
    let mut all = callables.iter().filter(|one| is_whole(one) && is_entry);
    all.find(is_default).map(|one| one.subject().to_owned())
}

/// A page on which a class that a package exports makes its objects: `new FIFO()` for `require('fifo')()`.
fn name_factory(page: &str, export: Option<&str>, package: &str) -> String {
    let class = export.filter(|name| name.starts_with(char::is_uppercase));
    let form = format!(r#"\brequire\(\s*['"]{}['"]\s*\)\("#, regex::escape(package));
    let form = class.and_then(|class| Some((Regex::new(&form).ok()?, format!("new {class}("))));
    form.map_or_else(|| page.to_owned(), |(form, made)| form.replace_all(page, made).into_owned())
}

/// The examples of a page for functions, which may give the default export of a package a name of its own.
pub fn package_examples(
    language: Language,
    page: &str,
    names: &BTreeSet<String>,
    (export, package): (Option<&str>, &str),
) -> Vec<Example> {
    let page = &name_factory(page, export, package);
    let given = export.and_then(|_| default_name(page, package));
    let names = names.iter().chain(&given).cloned().collect();
    let mut found = page_examples(language, page, &names);
    for one in &mut found {
        // The function itself, or one that is set on it.
        let receiver = one.receiver.iter_mut();
        for name in std::iter::once(&mut one.name).chain(receiver) {
            if Some(&*name) == given.as_ref() {
                export.unwrap_or_default().clone_into(name);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::signature::DocumentedResult;

    #[test]
    fn a_page_shows_results_of_what_it_requires_until_a_call_may_have_changed_them() {
        let page = "```sh\nnpm install words\n```\n\n```js\nvar plural = require('words')\n```\n\n```js\nplural('fox') //=> \"foxes\"\nplural('test', 5) // => 'testz'\nplural.single('foxes') // 'fox'\n\n// Another rule:\nplural.addRule(/x$/, 'xen')\nplural('fox') //=> \"foxen\"\n```\n";
        let names = BTreeSet::from(["pluralize".to_owned(), "single".to_owned()]);
        let package = (Some("pluralize"), "words");
        let found = package_examples(Language::JavaScript, page, &names, package);
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.receiver.as_deref(), one.name.as_str(), one.result.clone()))
            .collect();
        let value = |text: &str| Some(DocumentedResult::Value(text.to_owned()));
        let page =
            "```js\nvar fifo = require('fifo')()\n\nfifo.push('a')\nfifo.first() // => 'a'\n```\n";
        let names = BTreeSet::from(["FIFO".to_owned(), "first".to_owned()]);
        let made = package_examples(Language::JavaScript, page, &names, (Some("FIFO"), "fifo"));
        let first = made.iter().find(|one| one.name == "first").unwrap();
        assert_eq!(first.receiver.as_deref(), Some("new FIFO()"));
        assert_eq!((first.setup.len(), &first.result), (1, &value("'a'")));
        let expected = [
            (None, "pluralize", value("\"foxes\"")),
            (None, "pluralize", value("'testz'")),
            (Some("pluralize"), "single", value("'fox'")),
            (None, "pluralize", None),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_manifest_names_the_files_that_a_package_is_imported_by() {
        let table = [
            (r#"{"main": "words.js"}"#, "words.js", true),
            (r#"{"main": "./lib/words"}"#, "packages/a/lib/words.js", true),
            (r#"{"main": "words.js"}"#, "keywords.js", false),
            (r#"{"exports": {".": {"import": "./a.mjs"}}}"#, "a.mjs", true),
            (r#"{"exports": {"./b": "./b.js"}}"#, "b.js", false),
            (r#"{"exports": "./a.js"}"#, "a.js", true),
            (r#"{"main": ""}"#, "a.js", false),
            ("", "index.js", true),
        ];
        for (manifest, file, expected) in table {
            let package = ScriptPackage::parse(manifest);
            let file = RepoPath::parse(file).unwrap();
            assert_eq!(package.is_imported_by(&file), expected, "{manifest} {file}");
        }
        let package = ScriptPackage::parse(r#"{"name": "words", "type": "module"}"#);
        assert_eq!((package.name.as_str(), package.is_module), ("words", true));
    }

    #[test]
    fn a_page_names_the_default_export_of_its_package() {
        let table = [
            ("var parseRange = require('range-parser')", Some("parseRange")),
            ("import ranges from \"range-parser\";", Some("ranges")),
            ("import { ranges } from 'range-parser'", None),
            ("var http = require('http')", None),
        ];
        for (page, expected) in table {
            assert_eq!(default_name(page, "range-parser").as_deref(), expected, "{page}");
        }
    }
}
