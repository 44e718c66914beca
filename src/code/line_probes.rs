//! Sources that say which of their lines run, for languages in which only further tools of the compiler would.

use tree_sitter::Node;

use super::language::Language;
use super::mutate::{is_function, is_test_code};
use super::tree::{line, named_children, text_of, visit};

/// The environment variable that names the file to which a program of Rust writes its marks.
pub const REACHED: &str = "REGREEN_REACHED";

/// The start of the properties that a program of Java sets, before the mark.
pub const REACHED_PROPERTY: &str = "regreen.reached.";

/// What a function of Rust begins with.
const RUST_OPENING: &str = concat!(
    "#![allow(warnings)] fn zz_reached(mark: &str) { use ::std::io::Write; ",
    "if let Some(path) = ::std::env::var_os(\"REGREEN_REACHED\") { ",
    "if let Ok(mut file) = ::std::fs::OpenOptions::new().create(true).append(true).open(path) { ",
    "let _ = file.write_all(mark.as_bytes()); } } } ",
);

/// A source that marks each statement of a function when it first runs: a mark is the number of the file and the
/// line. Each line keeps its place. `None` where there is nothing to mark, or in other languages.
#[must_use]
pub fn add_probes(language: Language, source: &str, file: usize) -> Option<String> {
    if !matches!(language, Language::Rust | Language::Java) {
        return None;
    }
    let tree = language.parse(source)?;
    let mut inserted: Vec<(usize, String)> = Vec::new();
    visit(tree.root_node(), |node| {
        if is_test_code(node, source) || is_constant(node, source) {
            return false;
        }
        let body = node.child_by_field_name("body").filter(|_| is_function(node));
        if let Some(body) = body.filter(|_| language == Language::Rust) {
            inserted.push((body.start_byte() + 1, RUST_OPENING.to_owned()));
        }
        if matches!(node.kind(), "block" | "constructor_body") && is_in_function(node) {
            inserted.extend(probes_of(language, node, file));
        }
        true
    });
    inserted.sort_by_key(|(at, _)| *at);
    let (mut text, mut copied) = (String::new(), 0);
    for (at, probe) in &inserted {
        text.push_str(source.get(copied..*at)?);
        text.push_str(probe);
        copied = *at;
    }
    text.push_str(source.get(copied..)?);
    (!inserted.is_empty()).then_some(text)
}

/// The probes of a block, each with its place.
fn probes_of(language: Language, block: Node<'_>, file: usize) -> Vec<(usize, String)> {
    let mut probes = Vec::new();
    for statement in named_children(block) {
        let has_attribute =
            statement.prev_named_sibling().is_some_and(|one| one.kind() == "attribute_item");
        if has_attribute || !is_statement(statement) {
            continue;
        }
        let mark = format!("{file}:{}", line(statement));
        let probe = match language {
            Language::Rust => format!(
                "{{ static ZZ: ::std::sync::Once = ::std::sync::Once::new(); \
                 ZZ.call_once(|| zz_reached(\"{mark}\\n\")); }} "
            ),
            _ => format!("java.lang.System.setProperty(\"{REACHED_PROPERTY}{mark}\", \"\"); "),
        };
        probes.push((statement.start_byte(), probe));
    }
    probes
}

/// Whether a probe may stand before a part of a block.
fn is_statement(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind == "let_declaration"
        || kind == "local_variable_declaration"
        || !(kind.ends_with("_item")
            || kind.ends_with("_declaration")
            || kind.ends_with("comment")
            || matches!(kind, "label" | "explicit_constructor_invocation"))
}

/// Whether a part of Rust is computed by the compiler.
fn is_constant(node: Node<'_>, source: &str) -> bool {
    let head = || text_of(node, source).split('{').next().unwrap_or_default();
    matches!(node.kind(), "const_item" | "static_item" | "const_block")
        || node.kind() == "function_item" && head().contains("const fn ")
}

fn is_in_function(node: Node<'_>) -> bool {
    std::iter::successors(node.parent(), Node::parent).any(is_function)
}

/// The number of a file and the line that a mark names.
#[must_use]
pub fn read_mark(mark: &str) -> Option<(usize, u32)> {
    let (file, line) = mark.trim().split_once(':')?;
    Some((file.parse().ok()?, line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::syntax;

    #[test]
    fn each_statement_of_a_function_is_marked_on_its_line() {
        let rust = "const N: u32 = 1;\nconst fn c() -> u32 {\n    2\n}\nfn a(n: u32) -> u32 {\n    #[allow(dead_code)]\n    let m = n;\n    if m > N {\n        return 1;\n    }\n    -(m as i32) as u32\n}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {\n        assert!(true);\n    }\n}\n";
        let java = "class A extends B {\n  int n = 1;\n  A() {\n    super(1);\n    n = 2;\n  }\n  int f() {\n    // one\n    for (int i = 0; i < n; i++) {\n      n++;\n    }\n    return n;\n  }\n}\n";
        let table =
            [(Language::Rust, rust, vec![8, 9, 11]), (Language::Java, java, vec![5, 9, 10, 12])];
        for (language, source, expected) in table {
            let text = add_probes(language, source, 3).unwrap();
            assert_eq!(syntax::first_error(language, &text), None, "{text}");
            assert_eq!(text.lines().count(), source.lines().count());
            let marked: Vec<u32> = (1u32..)
                .zip(text.lines())
                .filter(|(number, line)| line.contains(&format!("3:{number}")))
                .map(|(number, _)| number)
                .collect();
            assert_eq!(marked, expected, "{text}");
        }
        assert_eq!(add_probes(Language::Go, "package a\n", 0), None);
        assert_eq!(add_probes(Language::Rust, "const N: u32 = 1;\n", 0), None);
        assert_eq!(read_mark("3:17\n"), Some((3, 17)));
        assert_eq!(read_mark("3"), None);
    }
}
