//! What a file asks for, read from its syntax tree.

use tree_sitter::Node;

use crate::code::language::Language;

/// What a file asks for, as written: comparable between versions of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wish {
    /// Module path or relative file.
    pub target: String,
    /// Names taken from it, which may be modules themselves.
    pub names: Vec<String>,
}

/// Everything that a text asks for.
pub fn wishes(language: Language, text: &str) -> Vec<Wish> {
    let mut wishes = Vec::new();
    if let Some(tree) = language.parse(text) {
        collect(tree.root_node(), language, text, &mut wishes);
    }
    wishes
}

fn collect(node: Node<'_>, language: Language, text: &str, wishes: &mut Vec<Wish>) {
    let source = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default().to_owned();
    let mut wish = |target: String, names: Vec<String>| wishes.push(Wish { target, names });
    let script = matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx);
    match (language, node.kind()) {
        (Language::Python, "import_statement") => {
            let mut cursor = node.walk();
            for name in node.children_by_field_name("name", &mut cursor) {
                let module = name.child_by_field_name("name").unwrap_or(name);
                wish(source(module), Vec::new());
            }
        }
        (Language::Python, "import_from_statement") => {
            let module = node.child_by_field_name("module_name").map(source).unwrap_or_default();
            let mut cursor = node.walk();
            let names = node
                .children_by_field_name("name", &mut cursor)
                .map(|name| source(name.child_by_field_name("name").unwrap_or(name)))
                .collect();
            wish(module, names);
        }
        (Language::Python, "call") => {
            let function = node.child_by_field_name("function").map(source).unwrap_or_default();
            if function.ends_with("import_module")
                || function == "__import__"
                || function.ends_with("patch")
            {
                let first =
                    node.child_by_field_name("arguments").and_then(|list| list.named_child(0));
                let target = first.map(source).unwrap_or_default();
                let target = target.trim_matches(['"', '\'']).to_owned();
                let without_attribute =
                    target.rsplit_once('.').map(|(module, _)| module.to_owned());
                wish(target, Vec::new());
                if let Some(module) = without_attribute {
                    wish(module, Vec::new());
                }
            }
        }
        (_, "import_statement" | "export_statement") if script => {
            if let Some(from) = node.child_by_field_name("source") {
                wish(source(from).trim_matches(['"', '\'', '`']).to_owned(), Vec::new());
            }
        }
        (_, "call_expression") if script => {
            let function = node.child_by_field_name("function").map(source).unwrap_or_default();
            let asks = [
                "require",
                "import",
                "require.resolve",
                "jest.mock",
                "vi.mock",
                "jest.requireActual",
            ];
            if asks.contains(&function.as_str()) {
                let first =
                    node.child_by_field_name("arguments").and_then(|list| list.named_child(0));
                wish(
                    first.map(source).unwrap_or_default().trim_matches(['"', '\'', '`']).to_owned(),
                    Vec::new(),
                );
            }
        }
        (Language::Rust, "mod_item") if node.child_by_field_name("body").is_none() => {
            wish(
                format!("mod {}", node.child_by_field_name("name").map(source).unwrap_or_default()),
                Vec::new(),
            );
        }
        (Language::Rust, "use_declaration") => {
            let tree = node.child_by_field_name("argument").map(source).unwrap_or_default();
            for path in paths(&tree) {
                wish(path, Vec::new());
            }
        }
        (Language::Go, "import_spec") => {
            let path = node.child_by_field_name("path").map(source).unwrap_or_default();
            wish(path.trim_matches('"').to_owned(), Vec::new());
        }
        (Language::Java, "import_declaration") => {
            let path = source(node);
            let path = path
                .trim_start_matches("import")
                .trim()
                .trim_start_matches("static ")
                .trim_end_matches(';');
            wish(path.trim().to_owned(), Vec::new());
        }
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, language, text, wishes);
    }
}

/// The paths of a use tree: `a::{b, c::{d, e}}` holds `a::b`, `a::c::d` and `a::c::e`.
fn paths(tree: &str) -> Vec<String> {
    let (mut done, mut prefixes, mut word) = (Vec::new(), vec![String::new()], String::new());
    let mut take = |word: &mut String, prefix: &str| {
        let path = word.split(" as ").next().unwrap_or_default();
        let path: String = path.split_whitespace().collect();
        if !path.is_empty() {
            done.push(format!("{prefix}{path}"));
        }
        word.clear();
    };
    for letter in tree.chars() {
        let prefix = prefixes.last().cloned().unwrap_or_default();
        match letter {
            '{' => {
                let head: String = word.split_whitespace().collect();
                prefixes.push(format!("{prefix}{head}"));
                word.clear();
            }
            '}' => {
                take(&mut word, &prefix);
                prefixes.pop();
            }
            ',' => take(&mut word, &prefix),
            letter => word.push(letter),
        }
    }
    take(&mut word, "");
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_tree_is_all_its_paths() {
        let table: [(&str, &[&str]); 5] = [
            ("crate::a::b", &["crate::a::b"]),
            ("crate::{a, b::{c, d as e}}", &["crate::a", "crate::b::c", "crate::b::d"]),
            ("{crate::a, super::b}", &["crate::a", "super::b"]),
            ("crate::a::{\n    self,\n    b,\n}", &["crate::a::self", "crate::a::b"]),
            ("crate::a::*", &["crate::a::*"]),
        ];
        for (tree, expected) in table {
            assert_eq!(paths(tree), expected, "{tree}");
        }
    }
}
