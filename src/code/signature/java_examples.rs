//! Examples in Javadoc: `StringUtils.isEmpty(null) = true`, or with the result in a comment.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::code::java_packages::outer_marks;
use crate::code::language::Language;
use crate::code::tree::{field_of, named_children, named_nodes, text_of};

use super::examples::{DocumentedResult, EXAMPLES, Example};
use super::{LITERAL, Parameter};

/// What may stand between a call and its result.
const MARKS: &[&str] =
    &["//", "=>", "->", "→", "==", "=", "returns", "return", "throws", "throw", "will return", ":"];

/// First words of the names of methods that leave their object as it is.
const READERS: &[&str] = &["is", "has", "get", "to", "can", "contains", "compare", "equals"];

/// Whether a method leaves its object as it is, by its name: `isEmpty`, but not `issue` or `getAndAdd`.
fn is_reader(name: &str) -> bool {
    let rests = READERS.iter().filter_map(|word| name.strip_prefix(word));
    rests.into_iter().any(|rest| {
        (rest.is_empty() || rest.starts_with(char::is_uppercase)) && !rest.starts_with("And")
    })
}

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

/// The examples in blocks of code of a page: objects that are made of constants, and calls with constants or such
/// objects on them or on a class, with what the comment behind them shows. A block knows the objects of those before.
pub fn java_page_examples(blocks: &[String]) -> Vec<Example> {
    let (mut objects, mut changed) = (BTreeMap::new(), BTreeSet::new());
    blocks.iter().flat_map(|one| examples_of_block(one, &mut objects, &mut changed)).collect()
}

/// The examples of one block, which adds to the objects and to the names of those that may have changed.
fn examples_of_block(
    block: &str,
    objects: &mut BTreeMap<String, String>,
    changed: &mut BTreeSet<String>,
) -> Vec<Example> {
    let lines = block.lines().filter(|line| !line.starts_with("import "));
    let code = lines.collect::<Vec<_>>().join("\n");
    let code = format!("class A {{ void example() {{\n{code}\n}} }}");
    let Some(tree) = Language::Java.parse(&code) else { return Vec::new() };
    let mut found = Vec::new();
    for node in named_nodes(tree.root_node()) {
        match node.kind() {
            "variable_declarator" => {
                let made = node
                    .child_by_field_name("value")
                    .filter(|one| made_by(*one, &code).is_some() || is_factory_call(*one, &code));
                let name = field_of(node, "name", &code).to_owned();
                objects.remove(&name);
                changed.remove(&name);
                objects.extend(made.map(|made| (name, text_of(made, &code).to_owned())));
            }
            "object_creation_expression" => found.extend(made_by(node, &code)),
            "method_invocation" => {
                let object = field_of(node, "object", &code);
                let given = node.child_by_field_name("arguments").map(named_children);
                let mut named = given.iter().flatten().map(|one| text_of(*one, &code));
                let is_first = !changed.contains(object) && !named.any(|one| changed.contains(one));
                let call = page_call(node, &code, objects);
                found.extend(
                    call.map(|one| Example { result: one.result.filter(|_| is_first), ..one }),
                );
                if !is_reader(field_of(node, "name", &code)) {
                    changed.insert(object.to_owned());
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a call of a class with constants gives what is called on, as `Version.of(1, 2)` does.
fn is_factory_call(node: Node<'_>, code: &str) -> bool {
    let object = node.child_by_field_name("object").filter(|one| one.kind() == "identifier");
    node.kind() == "method_invocation"
        && object.is_some_and(|one| text_of(one, code).starts_with(char::is_uppercase))
        && constant_arguments(node, code).is_some()
}

/// What makes an object of constants.
fn made_by(node: Node<'_>, code: &str) -> Option<Example> {
    let is_new = node.kind() == "object_creation_expression";
    let arguments = constant_arguments(node, code).filter(|given| is_new && !given.is_empty())?;
    let name = field_of(node, "type", code).to_owned();
    Some(Example { name, arguments, ..Example::default() })
}

/// A call on an object that the page makes or on a class.
fn page_call(node: Node<'_>, code: &str, objects: &BTreeMap<String, String>) -> Option<Example> {
    let object = node.child_by_field_name("object")?;
    let word = text_of(object, code);
    let is_class = object.kind() == "identifier" && word.starts_with(char::is_uppercase);
    let is_made = made_by(object, code).is_some() || is_factory_call(object, code);
    let known = |word: &str| objects.get(word).map(String::as_str);
    let receiver = known(word).or(Some(word).filter(|_| is_class || is_made))?;
    let name = field_of(node, "name", code).to_owned();
    let given = named_children(node.child_by_field_name("arguments")?).into_iter();
    let written = given.map(|one| {
        let word = text_of(one, code);
        known(word).or(Some(word).filter(|_| is_constant(one))).map(str::to_owned)
    });
    let arguments = written.collect::<Option<Vec<String>>>()?;
    let behind = code.get(node.end_byte()..)?.lines().next()?.trim_start_matches([';', ' ']);
    let shown = behind.strip_prefix("//").map(|shown| shown.trim_start_matches([' ', '=', '>']));
    let result = shown
        .and_then(|shown| result_of(shown, if shown.starts_with('"') { "String" } else { "int" }));
    let receiver = Some(receiver.to_owned());
    Some(Example { name, receiver, arguments, result, ..Example::default() })
}

fn constant_arguments(node: Node<'_>, code: &str) -> Option<Vec<String>> {
    let given = named_children(node.child_by_field_name("arguments")?);
    let texts = given.iter().map(|one| text_of(*one, code).to_owned());
    given.iter().all(|one| is_constant(*one)).then(|| texts.collect())
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
    fn pages_show_objects_and_what_their_methods_give() {
        let code = "Version one = new Version(\"1.2.3\"); // strict\none.isAbove(\"1.2\"); // true\none.isAbove(other); // true\nVersion two = new Version(\"2\", Kind.LOOSE);\ntwo.major(); // 2\nnew Version(\"3\").major(); // => 3\nVersions.count(\"a\"); // the number\none.toText(); // \"1.2.3\"\none.toggle(1); // true\none.size(); // 1\n";
        let shown = |one: Example| {
            let receiver = one.receiver.unwrap_or_default();
            let result = one.result.map_or_else(String::new, |one| format!(" {one:?}"));
            format!("{receiver}.{}({}){result}", one.name, one.arguments.join(", "))
        };
        let found: Vec<String> =
            java_page_examples(&[code.to_owned()]).into_iter().map(shown).collect();
        let expected = [
            ".Version(\"1.2.3\")",
            "new Version(\"1.2.3\").isAbove(\"1.2\") Value(\"true\")",
            "new Version(\"3\").major() Value(\"3\")",
            ".Version(\"3\")",
            "Versions.count(\"a\")",
            "new Version(\"1.2.3\").toText() Value(\"\\\"1.2.3\\\"\")",
            "new Version(\"1.2.3\").toggle(1) Value(\"true\")",
            "new Version(\"1.2.3\").size()",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn pages_make_objects_by_methods_of_their_classes() {
        let blocks = [
            "import a.Version;",
            "Version v = Version.of(1, 2);",
            "v.satisfies(\">1\");  // false\nVersion w = Version.of(2)\n  .next();  // 3\n",
            "Version w = Version.of(2);\nv.equals(w);  // true\nw.next();\nw.equals(v);  // true\n",
        ]
        .map(str::to_owned);
        let found = java_page_examples(&blocks).into_iter();
        let found = found.filter(|one| ["satisfies", "equals"].contains(&one.name.as_str()));
        let shown = found.map(|one| (one.receiver.unwrap(), one.arguments, one.result.is_some()));
        let [one, other] = ["Version.of(1, 2)", "Version.of(2)"].map(str::to_owned);
        let expected = [
            (one.clone(), vec!["\">1\"".to_owned()], true),
            (one.clone(), vec![other.clone()], false),
            (other, vec![one], false),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
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
