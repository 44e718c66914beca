//! Examples in Javadoc: `StringUtils.isEmpty(null) = true`, or with the result in a comment.

use tree_sitter::Node;

use crate::code::java_packages::outer_marks;
use crate::code::language::Language;
use crate::code::tree::{field_of, named_children, named_nodes, text_of};

use super::examples::{DocumentedResult, EXAMPLES, Example};
use super::{LITERAL, Parameter};

/// What may stand between a call and its result.
const MARKS: &[&str] =
    &["//", "=>", "->", "→", "==", "=", "returns", "return", "throws", "throw", "will return", ":"];

/// The examples of a method in the comment above it, with results of its declared type.
pub fn javadoc_examples(
    node: Node<'_>,
    text: &str,
    parameters: &[Parameter],
    result: &str,
) -> Vec<Example> {
    let comment = node.prev_named_sibling().filter(|one| one.kind() == "block_comment");
    let comment = comment.map_or("", |one| text_of(one, text));
    let name = field_of(node, "name", text);
    let lines = comment.lines().map(|line| line.trim_start_matches([' ', '\t', '*', '/']));
    let found = lines.filter(|_| !name.is_empty() && comment.starts_with("/**"));
    found.filter_map(|line| example_of(line, name, parameters, result)).take(EXAMPLES).collect()
}

fn example_of(line: &str, name: &str, parameters: &[Parameter], result: &str) -> Option<Example> {
    let line = line.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    let line = line.replace("&amp;", "&").replace("{@code ", "").replace("assert ", "");
    let (before, rest) = line.split_once(&format!("{name}("))?;
    let before = before.trim_start_matches(['-', ' ']);
    let is_class = |word: &str| word.starts_with(char::is_uppercase) && word.ends_with('.');
    let (end, _) = outer_marks(rest).into_iter().find(|(_, mark)| *mark == ')')?;
    let (given, behind) = rest.split_at_checked(end)?;
    if !(before.is_empty() || is_class(before)) {
        return None;
    }
    let arguments = arguments_of(given, parameters)?;
    let mut shown = behind.trim_start_matches(')').trim_start_matches([';', ' ']).trim();
    let mut is_marked = false;
    while let Some(rest) = MARKS.iter().find_map(|mark| shown.strip_prefix(mark)) {
        shown = rest.trim();
        is_marked = true;
    }
    let receiver = before.strip_suffix('.').map(str::to_owned);
    let result = Some(shown).filter(|_| is_marked).and_then(|shown| result_of(shown, result));
    let name = name.to_owned();
    Some(Example { name, receiver, arguments, result, ..Example::default() })
}

/// Arguments that are all constants; `["a", "b"]` stands for an array of the parameter's type.
fn arguments_of(given: &str, parameters: &[Parameter]) -> Option<Vec<String>> {
    let array = parameters.iter().find_map(|one| {
        let element = one.declared_type.strip_suffix("[]");
        element.or(Some(one.declared_type.as_str()).filter(|_| one.rest))
    });
    let given = array.map_or_else(|| given.to_owned(), |element| with_arrays(given, element));
    let found = constants_of(&given)?;
    let takes_all = parameters.last().is_some_and(|one| one.rest);
    let fits = found.len() == parameters.len() || takes_all && found.len() + 1 >= parameters.len();
    fits.then_some(found)
}

fn with_arrays(text: &str, element: &str) -> String {
    let opens = |before: &str| before.is_empty() || before.ends_with([',', '(']);
    match text.split_once('[') {
        Some((before, rest)) if opens(before.trim_end()) => match rest.split_once(']') {
            Some((inner, behind)) => {
                format!("{before}new {element}[] {{{inner}}}{}", with_arrays(behind, element))
            }
            None => text.to_owned(),
        },
        _ => text.to_owned(),
    }
}

/// The parts of a list of constants; `None` if one is something else.
fn constants_of(list: &str) -> Option<Vec<String>> {
    let code = format!("class A {{ Object a = f({list}); }}");
    let tree = Language::Java.parse(&code)?;
    let root = tree.root_node();
    let call = named_nodes(root).into_iter().find(|one| one.kind() == "method_invocation")?;
    let given = named_children(call.child_by_field_name("arguments")?);
    let is_short = |one: &Node<'_>| text_of(*one, &code).len() <= LITERAL;
    let is_plain = !root.has_error() && given.iter().all(|one| is_constant(*one) && is_short(one));
    is_plain.then(|| given.iter().map(|one| text_of(*one, &code).to_owned()).collect())
}

/// Whether an expression of Java needs no context.
pub fn is_constant(node: Node<'_>) -> bool {
    let children = || named_children(node);
    match node.kind() {
        "true" | "false" => true,
        "unary_expression" | "array_initializer" => children().into_iter().all(is_constant),
        "array_creation_expression" => node.child_by_field_name("value").is_some_and(is_constant),
        kind => kind.ends_with("_literal") && kind != "class_literal",
    }
}

/// What is shown behind a call, as a literal of the method's type or an exception.
fn result_of(shown: &str, declared: &str) -> Option<DocumentedResult> {
    let shown = shown.trim_end_matches([';', '.', '}']).trim();
    let is_class = |word: &str| {
        word.ends_with("Exception") && word.chars().all(|c| c.is_alphanumeric() || c == '.')
    };
    let word = shown.split_whitespace().next().unwrap_or_default();
    if is_class(word) {
        let class = word.rsplit('.').next().unwrap_or(word);
        return Some(DocumentedResult::Raised(class.to_owned()));
    }
    let element = declared.strip_suffix("[]");
    let shown = element.map_or_else(|| shown.to_owned(), |element| with_arrays(shown, element));
    let [literal] = constants_of(&shown)?.try_into().ok()?;
    let is_number = literal.ends_with(|c: char| c.is_ascii_digit());
    let is_text = literal.starts_with('"');
    let literal = match declared {
        "long" | "Long" if is_number => format!("{literal}L"),
        "double" | "Double" if is_number && !literal.contains('.') => format!("{literal}.0"),
        "float" | "Float" if is_number => format!("{literal}f"),
        _ => literal,
    };
    // A text that is shown for another type is what it prints, and an escape may be meant to be read.
    let is_comparable = !literal.contains("\\u")
        && (literal == "null"
            || is_text == matches!(declared, "String" | "CharSequence" | "T" | "Object"));
    is_comparable.then_some(DocumentedResult::Value(literal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::signature::callables;

    fn examples(javadoc: &str, head: &str) -> Vec<(String, String)> {
        let text = format!(
            "class Texts {{\n  /**\n   * {javadoc}\n   */\n  {head} {{ return null; }}\n}}\n"
        );
        let found = callables(Language::Java, &text).remove(0).examples.into_iter();
        found.map(|one| (one.arguments.join(", "), format!("{:?}", one.result))).collect()
    }

    #[test]
    fn javadoc_shows_calls_with_their_results() {
        let value = |text: &str| format!("Some(Value({text:?}))");
        let table = [
            ("Texts.f(null)      = true", "static boolean f(String a)", ("null", value("true"))),
            (
                "Texts.f(\"a)\", 2) = \"a\"",
                "static String f(String a, int b)",
                ("\"a)\", 2", value("\"a\"")),
            ),
            ("f(2); // returns 4", "static long f(int a)", ("2", value("4L"))),
            ("f(2) =&gt; 1", "static double f(int a)", ("2", value("1.0"))),
            ("Texts.f([1, 2]) = 3", "static int f(int[] a)", ("new int[] {1, 2}", value("3"))),
            (
                "Texts.f(\"\") = IllegalArgumentException",
                "static int f(String a)",
                ("\"\"", "Some(Raised(\"IllegalArgumentException\"))".into()),
            ),
            ("Texts.f('a') = 'b'", "static char f(char a)", ("'a'", value("'b'"))),
            ("Texts.f(1) = the sum", "static int f(int a)", ("1", "None".into())),
            (r#"Texts.f('A') = "\\u0041""#, "static String f(char a)", ("'A'", "None".into())),
        ];
        for (javadoc, head, (given, result)) in table {
            assert_eq!(examples(javadoc, head), [(given.to_owned(), result)], "{javadoc}");
        }
        for javadoc in ["Texts.f(*) = 1", "Texts.f(a, b) = 1", "Calls f(1) twice", "texts.f(1) = 1"]
        {
            assert_eq!(examples(javadoc, "static int f(int a)"), [], "{javadoc}");
        }
    }
}
