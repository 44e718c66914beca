//! The packages that a text in Go refers to.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::language::Language;
use super::tree::{field_of, named_children, named_nodes, text_of};

/// Packages of the standard library that generated values use, by name.
const STANDARD: &[(&str, &str)] = &[
    ("big", "math/big"),
    ("bytes", "bytes"),
    ("context", "context"),
    ("errors", "errors"),
    ("fmt", "fmt"),
    ("io", "io"),
    ("math", "math"),
    ("reflect", "reflect"),
    ("regexp", "regexp"),
    ("strings", "strings"),
    ("testing", "testing"),
    ("time", "time"),
];

/// Whether a name is that of a package that generated values use.
pub fn is_standard(name: &str) -> bool {
    STANDARD.iter().any(|(one, _)| *one == name)
}

/// The name of the package of a file.
pub fn package_name(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("package "))?;
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().filter(|name| !name.is_empty())
}

/// The functions that a file declares, without methods.
pub fn function_names(text: &str) -> Vec<String> {
    let Some(tree) = Language::Go.parse(text) else { return Vec::new() };
    let found = named_children(tree.root_node()).into_iter();
    let functions = found.filter(|node| node.kind() == "function_declaration");
    functions.map(|node| field_of(node, "name", text).to_owned()).collect()
}

/// The errors that a package makes itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PackageErrors {
    /// The variables that hold one.
    pub variables: BTreeSet<String>,
    /// Regular expressions for the texts that it gives to errors.
    pub texts: BTreeSet<String>,
}

impl PackageErrors {
    /// Adds what one file of the package declares.
    pub fn read(&mut self, text: &str) {
        let Some(tree) = Language::Go.parse(text) else { return };
        for node in named_nodes(tree.root_node()) {
            let is_made = |value: &str| ERROR_MAKERS.iter().any(|name| value.starts_with(name));
            match node.kind() {
                "var_spec" if is_made(field_of(node, "value", text)) && is_global(node) => {
                    self.variables.insert(field_of(node, "name", text).to_owned());
                }
                "call_expression" if is_made(field_of(node, "function", text)) => {
                    let given = node.child_by_field_name("arguments").map(named_children);
                    let first = given.unwrap_or_default().into_iter().next();
                    self.texts.extend(first.and_then(|one| text_pattern(text_of(one, text))));
                }
                _ => {}
            }
        }
    }
}

const ERROR_MAKERS: &[&str] = &["errors.New", "errors.Errorf", "fmt.Errorf"];

fn is_global(node: Node<'_>) -> bool {
    let mut around = std::iter::successors(node.parent(), Node::parent);
    !around.any(|one| one.kind() == "block")
}

/// The regular expression for what a format gives; none if it may contain the text of another error.
fn text_pattern(literal: &str) -> Option<String> {
    let format: String = serde_json::from_str(literal).ok()?;
    let mut pieces = format.split('%');
    let mut pattern = format!("(?s)^{}", regex::escape(pieces.next()?));
    for piece in pieces {
        let end = piece.find(|c: char| c.is_alphabetic())?;
        let (verb, rest) = piece.split_at_checked(end + 1)?;
        if verb.ends_with(['w', 'v']) {
            return None;
        }
        pattern.push_str(&format!(".*{}", regex::escape(rest)));
    }
    format.contains(char::is_alphabetic).then(|| pattern + "$")
}

/// The packages that a file imports: names in the file, and paths.
pub fn imported_packages(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let Some(tree) = Language::Go.parse(text) else { return found };
    for node in named_nodes(tree.root_node()) {
        if node.kind() == "import_spec" {
            let path = field_of(node, "path", text).trim_matches(['"', '`']);
            let name = field_of(node, "name", text);
            let name = if name.is_empty() { last_name(path) } else { name };
            found.insert(name.to_owned(), path.to_owned());
        }
    }
    found
}

/// The name that a package most likely has: the last part of its path that is no version.
pub fn last_name(path: &str) -> &str {
    let is_version = |part: &&str| {
        part.strip_prefix('v').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    };
    let name = path.rsplit('/').find(|part| !is_version(part)).unwrap_or(path);
    name.split(".v").next().unwrap_or(name)
}

/// The import declaration for what a text uses, with an empty line; `known` are further names.
pub fn import_lines(text: &str, known: &BTreeMap<String, String>) -> String {
    let Some(tree) = Language::Go.parse(text) else { return String::new() };
    let mut paths: BTreeSet<(&str, &str)> = BTreeSet::new();
    for node in named_nodes(tree.root_node()) {
        let name = match node.kind() {
            "selector_expression" => field_of(node, "operand", text),
            "package_identifier" => text_of(node, text),
            _ => continue,
        };
        let standard = || STANDARD.iter().find(|(one, _)| *one == name).copied();
        let own = known.get_key_value(name).map(|(name, path)| (name.as_str(), path.as_str()));
        paths.extend(own.or_else(standard).map(|(name, path)| (path, name)));
    }
    let line = |(path, name): &(&str, &str)| {
        if last_name(path) == *name { format!("\"{path}\"") } else { format!("{name} \"{path}\"") }
    };
    let (outside, standard): (Vec<_>, Vec<_>) = paths
        .into_iter()
        .partition(|(path, _)| path.split('/').next().is_some_and(|one| one.contains('.')));
    let groups = [standard, outside].map(|group| group.iter().map(line).collect::<Vec<_>>());
    match groups.concat().as_slice() {
        [] => String::new(),
        [one] => format!("import {one}\n\n"),
        _ => {
            let groups = groups.iter().filter(|group| !group.is_empty());
            let groups: Vec<String> =
                groups.map(|group| format!("\t{}\n", group.join("\n\t"))).collect();
            format!("import (\n{})\n\n", groups.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_package_are_its_variables_and_the_texts_that_it_writes() {
        let text = "package p\n\nvar ErrEmpty = errors.New(\"empty\")\n\nvar (\n\terrLong = fmt.Errorf(\"longer than %d!\", 9)\n\tcount = 1\n)\n\nfunc f() error {\n\tvar err = errors.New(\"a.b\")\n\treturn fmt.Errorf(\"f: %w\", err)\n}\n";
        let mut found = PackageErrors::default();
        found.read(text);
        let texts = |list: &BTreeSet<String>| list.iter().cloned().collect::<Vec<_>>();
        assert_eq!(texts(&found.variables), ["ErrEmpty", "errLong"]);
        assert_eq!(texts(&found.texts), ["(?s)^a\\.b$", "(?s)^empty$", "(?s)^longer than .*!$"]);
    }

    #[test]
    fn a_text_imports_what_it_uses_in_two_groups() {
        let source = "package shop\n\nimport (\n\t\"fmt\"\n\tyaml \"gopkg.in/yaml.v3\"\n\t\"example.com/a/v2\"\n)\n";
        let known = imported_packages(source);
        let table = [
            ("func f() { g(1) }", ""),
            ("func f() { strings.ToUpper(\"time.Now()\") }", "import \"strings\"\n\n"),
            (
                "func f(n yaml.Node, b *big.Int) { a.Do(b, n) }",
                "import (\n\t\"math/big\"\n\n\t\"example.com/a/v2\"\n\tyaml \"gopkg.in/yaml.v3\"\n)\n\n",
            ),
        ];
        for (text, expected) in table {
            let found = import_lines(&format!("package p\n\n{text}\n"), &known);
            let expected = expected.replace("yaml \"", "\"");
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(package_name(source), Some("shop"));
        assert_eq!(
            function_names("package a\n\nfunc TestA() {}\n\nfunc (b B) C() {}\n"),
            ["TestA"]
        );
    }
}
