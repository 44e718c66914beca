//! Examples in the documentation of a function that show its arguments and its result only:
//! `"MyClass" => ["My", "Class"]`.

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{field_of, named_nodes, text_of};

use super::compiled_examples::go_arguments;
use super::examples::{EXAMPLES, read_example};
use super::{Callable, DocumentedResult, Example};

/// Literals before an arrow, and what stands behind it.
static ROW: Pattern = Pattern::new(r#"^(["'`\[\d-].*?)\s*(?:=>|->|→|⇒)\s*(\S.*)$"#);

/// Rows that make a list of examples; a single one may be prose.
const ROWS: usize = 2;

/// What declares a function with a name.
const DECLARATIONS: &[&str] =
    &["function_declaration", "method_declaration", "variable_declarator", "function_definition"];

/// Enters the rows in the documentation of each function in its examples.
pub fn assign_rows(language: Language, root: Node<'_>, text: &str, callables: &mut [Callable]) {
    let is_said = |node: &Node<'_>| match language {
        Language::Python => node.kind() == "string",
        _ => node.kind() == "comment",
    };
    let mut rows: Vec<(String, &str)> = Vec::new();
    for node in named_nodes(root).into_iter().filter(is_said) {
        let Some(name) = documented_name(language, node, text) else { continue };
        let marks = |c: char| c.is_whitespace() || c == '*' || c == '/';
        let lines = text_of(node, text).lines().map(|line| line.trim_start_matches(marks).trim());
        rows.extend(lines.map(|line| (name.clone(), line)));
    }
    for callable in callables.iter_mut().filter(|one| one.class.is_none()) {
        let own = rows.iter().filter(|(name, _)| *name == callable.name);
        let found: Vec<Example> =
            own.filter_map(|(_, row)| example(language, callable, row)).collect();
        if found.len() >= ROWS {
            let room = EXAMPLES.saturating_sub(callable.examples.len());
            callable.examples.extend(found.into_iter().take(room));
        }
    }
}

/// The name of the function that a comment or docstring documents.
fn documented_name(language: Language, node: Node<'_>, text: &str) -> Option<String> {
    let declaration = if language == Language::Python {
        let statement = node.parent()?;
        statement.parent().filter(|block| block.named_child(0) == Some(statement))?.parent()?
    } else {
        let mut next = node.next_named_sibling()?;
        while next.kind() == "comment" {
            next = next.next_named_sibling()?;
        }
        let inner = named_nodes(next);
        let is_declared = |one: &&Node<'_>| DECLARATIONS.contains(&one.kind());
        *std::iter::once(&next).chain(&inner).find(is_declared)?
    };
    let is_declared = DECLARATIONS.contains(&declaration.kind());
    is_declared.then(|| field_of(declaration, "name", text).to_owned())
}

fn example(language: Language, callable: &Callable, row: &str) -> Option<Example> {
    let parts = ROW.captures(row).next()?;
    let (given, shown) = (parts.get(1)?.as_str(), parts.get(2)?.as_str());
    let (name, shown) = (callable.name.clone(), shown.trim_end_matches(['.', ',', ';']));
    let found = if language == Language::Go {
        let result = go_result(shown, callable.results.first()?)?;
        let (arguments, result) = (go_arguments(given)?, Some(DocumentedResult::Value(result)));
        Example { name, arguments, result, ..Example::default() }
    } else {
        let mark = if language == Language::Python { "" } else { "=> " };
        read_example(language, &format!("{name}({given})"), &format!("{mark}{shown}"))?
    };
    let required = callable.parameters.iter().filter(|one| !one.optional && !one.rest).count();
    let fits = (required..=callable.parameters.len()).contains(&found.arguments.len());
    Some(found).filter(|found| fits && found.result.is_some())
}

/// A documented result as a literal of Go; lists in the notation of other languages are slices.
fn go_result(shown: &str, declared: &str) -> Option<String> {
    if let Some(element) = declared.strip_prefix("[]") {
        let inner = shown.strip_prefix(['[', '{'])?.strip_suffix([']', '}'])?;
        let parts = go_arguments(inner)?;
        let is_plain = parts.iter().all(|part| is_of_type(part, element));
        return is_plain.then(|| format!("{declared}{{{}}}", parts.join(", ")));
    }
    let [literal] = go_arguments(shown)?.try_into().ok()?;
    is_of_type(&literal, declared).then_some(literal)
}

fn is_of_type(literal: &str, declared: &str) -> bool {
    match declared {
        "string" => literal.starts_with(['"', '`']),
        "bool" => matches!(literal, "true" | "false"),
        declared => super::is_basic_go(declared) && literal.parse::<f64>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::signature::callables;

    #[test]
    fn rows_without_a_name_are_examples_of_the_function_below_or_around_them() {
        let go = "package p\n\n// Split splits.\n//\n//   \"\" =>         [\"\"]\n//   \"MyClass\" => [\"My\", \"Class\"]\n//   see http://x => y\nfunc Split(src string) (entries []string) {\n\treturn nil\n}\n";
        let pair = "package p\n\n// \"a\", 2 -> \"aa\"\n// \"b\", 1 -> \"b\"\n// \"c\" -> \"c\"\nfunc Repeat(s string, n int) string {\n\treturn s\n}\n";
        let single = "package p\n\n// \"a\" => 1\nfunc Size(s string) int {\n\treturn 1\n}\n";
        let python = "def split(word):\n    \"\"\"Splits.\n\n    \"aB\" => [\"a\", \"B\"]\n    \"\" => []\n    \"\"\"\n    return [word]\n";
        let script = "/**\n * 'aB' => 'a-b'\n * 'x' => 'x'\n */\nexport function kebab(s) {\n  return s;\n}\n";
        let table = [
            (
                Language::Go,
                go,
                vec!["\"\" = []string{\"\"}", "\"MyClass\" = []string{\"My\", \"Class\"}"],
            ),
            (Language::Go, pair, vec!["\"a\", 2 = \"aa\"", "\"b\", 1 = \"b\""]),
            (Language::Go, single, vec![]),
            (Language::Python, python, vec!["\"aB\" = [\"a\", \"B\"]", "\"\" = []"]),
            (Language::JavaScript, script, vec!["'aB' = 'a-b'", "'x' = 'x'"]),
        ];
        for (language, text, expected) in table {
            let found = callables(language, text).remove(0).examples;
            let shown = |one: &Example| match &one.result {
                Some(DocumentedResult::Value(value)) => {
                    format!("{} = {value}", one.arguments.join(", "))
                }
                other => format!("{:?} {other:?}", one.arguments),
            };
            assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
