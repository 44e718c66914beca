//! Examples in documentation of compiled languages: assertions in blocks of Rust, and calls of Go with
//! their results in a comment or behind a sign.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{field_of, named_children, named_nodes, text_of, visit};

use super::{DocumentedResult, Example, is_literal};

/// A call of Go at the start of a line, perhaps assigned or printed.
static GO_CALL: Pattern = Pattern::new(
    r"^(?:e\.g\. )?(?:(\w+)(?:, \w+)* :?= )?(fmt\.Println? ?\()?((?:\w+\.)*\w+) ?\((.*?)\)\)?(?:\s*(?://|=|->|→|⇒|returns?\b)\s*(.*))?$",
);

/// A setting of a package, after which its functions may give something else.
static GO_SETTING: Pattern = Pattern::new(r"^\w+\.[A-Z]\w* = ");

/// What stands before a result.
static GO_MARK: Pattern = Pattern::new(
    r"^(?i:will print|prints?(?: out)?|outputs?|returns?|gives|=>|->|==|[=>→⇒])\s*:?\s*",
);

/// The documentation of a Rust source: the text of each comment, without its slashes.
pub fn rust_documentation(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim_start) {
        let said = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if let Some(said) = said {
            if !is_open {
                found.push(String::new());
            }
            if let Some(last) = found.last_mut() {
                last.push_str(said.strip_prefix(' ').unwrap_or(said));
                last.push('\n');
            }
        }
        is_open = said.is_some();
    }
    found
}

/// The examples in the code of a Rust documentation: what `assert_eq!` and `assert!` compare, and all
/// other calls with literals.
pub fn rust_examples(code: &str) -> Vec<Example> {
    let lines = code.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    let code = lines.collect::<Vec<_>>().join("\n");
    let code = code.replace("assert_eq!(", "assert_eq(").replace("assert!(", "assert(");
    let code = code.replace("format!(\"{}\", ", "fmt(");
    let code = format!("fn example() {{\n{code}\n}}\n");
    let Some(tree) = Language::Rust.parse(&code) else { return Vec::new() };
    let mut block = RustBlock { code: &code, known: BTreeMap::new(), calls: BTreeMap::new() };
    let mut found = Vec::new();
    visit(tree.root_node(), |node| {
        match node.kind() {
            "let_declaration" => block.bind(node),
            "call_expression" => {
                let asserted = block.assertion(node);
                let is_asserted = asserted.is_some();
                found.extend(asserted.or_else(|| block.call(node, None)));
                return !is_asserted;
            }
            _ => {}
        }
        true
    });
    found
}

/// A block of Rust in documentation.
struct RustBlock<'a> {
    code: &'a str,
    /// The variables whose value is known.
    known: BTreeMap<String, String>,
    /// The calls whose results are kept in variables that do not change.
    calls: BTreeMap<String, Node<'a>>,
}

impl<'a> RustBlock<'a> {
    fn bind(&mut self, node: Node<'a>) {
        let name = field_of(node, "pattern", self.code).to_owned();
        let value = node.child_by_field_name("value");
        let changes = named_children(node).iter().any(|one| one.kind() == "mutable_specifier");
        let is_call = |one: &Node<'_>| matches!(one.kind(), "call_expression" | "try_expression");
        match value.filter(is_call).filter(|_| !changes) {
            Some(call) => self.calls.insert(name.clone(), call),
            None => self.calls.remove(&name),
        };
        match value.and_then(|value| self.value(value)) {
            Some(value) => self.known.insert(name, value),
            None => self.known.remove(&name),
        };
    }

    /// The text of an expression of literals, in which variables are replaced by their values.
    fn value(&self, node: Node<'_>) -> Option<String> {
        if !self.is_plain(node) {
            return None;
        }
        let (mut text, mut end) = (String::new(), node.start_byte());
        for one in named_nodes(node) {
            let known = self.known.get(text_of(one, self.code));
            if let Some(value) = known.filter(|_| one.kind() == "identifier") {
                text.push_str(self.code.get(end..one.start_byte()).unwrap_or_default());
                text.push_str(value);
                end = one.end_byte();
            }
        }
        text.push_str(self.code.get(end..node.end_byte()).unwrap_or_default());
        let is_wordy = text.contains(['"', '\'']);
        Some(if is_wordy { text } else { text.replace(',', ", ").replace(",  ", ", ") })
    }

    fn is_plain(&self, node: Node<'_>) -> bool {
        let text = text_of(node, self.code);
        let all_plain = |node: Node<'_>| named_children(node).iter().all(|one| self.is_plain(*one));
        match node.kind() {
            // What is in a macro has no syntax of its own.
            "macro_invocation" => {
                let inner = named_nodes(node);
                text.starts_with("vec![")
                    && inner.iter().skip(2).all(|one| {
                        is_literal(*one) || matches!(one.kind(), "token_tree" | "string_content")
                    })
            }
            "identifier" => text == "None" || self.known.contains_key(text),
            "scoped_identifier" => names_type(text),
            "reference_expression"
            | "array_expression"
            | "tuple_expression"
            | "unary_expression"
            | "parenthesized_expression" => all_plain(node),
            "call_expression" => {
                let made = field_of(node, "function", self.code);
                let is_converted = [".to_string", ".to_owned", ".into"]
                    .iter()
                    .any(|end| made.strip_suffix(end).is_some_and(|one| one.starts_with('"')));
                let is_tuple = made.starts_with(char::is_uppercase) && !made.contains(':');
                let given = node.child_by_field_name("arguments");
                (is_tuple || names_type(made) || is_converted) && given.is_some_and(all_plain)
            }
            _ => is_literal(node),
        }
    }

    /// What an assertion says about a call.
    fn assertion(&self, node: Node<'_>) -> Option<Example> {
        let given = named_children(node.child_by_field_name("arguments")?);
        match (field_of(node, "function", self.code), given.as_slice()) {
            ("assert_eq", [one, other, ..]) => {
                let said = |call: Node<'_>, value: Node<'_>| {
                    let result = documented(&self.value(value)?)?;
                    self.call(call, Some(result))
                };
                said(*one, *other).or_else(|| said(*other, *one))
            }
            ("assert", [one, ..]) => {
                let negated = one.named_child(0).filter(|_| one.kind() == "unary_expression");
                let said = if negated.is_some() { "false" } else { "true" };
                let call = negated.unwrap_or(*one);
                let rejected = text_of(call, self.code).ends_with(".is_err()");
                if rejected && negated.is_none() {
                    let inner =
                        call.child_by_field_name("function")?.child_by_field_name("value")?;
                    return self.call(inner, Some(DocumentedResult::Raised("error".into())));
                }
                self.call(call, Some(DocumentedResult::Value(said.into())))
            }
            _ => None,
        }
    }

    /// A call with literals, without what unwraps its result.
    fn call(&self, node: Node<'_>, result: Option<DocumentedResult>) -> Option<Example> {
        if node.kind() == "try_expression" {
            return self.call(node.named_child(0)?, result);
        }
        if node.kind() == "identifier" {
            let made = self.calls.get(text_of(node, self.code))?;
            // In `let x = x.unwrap();` the name stands for what it was before.
            let is_before = made.end_byte() <= node.start_byte();
            return if is_before { self.call(*made, result) } else { None };
        }
        let function = node.child_by_field_name("function")?;
        let text = text_of(function, self.code);
        if matches!(field_of(function, "field", self.code), "unwrap" | "to_string" | "expect") {
            return self.call(function.child_by_field_name("value")?, result);
        }
        let given = named_children(node.child_by_field_name("arguments")?);
        if let ("fmt", [shown]) = (text, given.as_slice()) {
            let (name, receiver) = (text.to_owned(), Some(self.value(*shown)?));
            return Some(Example { name, receiver, result, ..Example::default() });
        }
        let (name, receiver) = match function.kind() {
            "identifier" => (text, None),
            "scoped_identifier" => {
                let (path, name) = text.rsplit_once("::")?;
                let kind =
                    path.rsplit("::").next().filter(|one| one.starts_with(char::is_uppercase));
                (name, kind.map(str::to_owned))
            }
            "field_expression" => {
                let object = function.child_by_field_name("value")?;
                let known = self.value(object);
                let object = known.unwrap_or_else(|| text_of(object, self.code).to_owned());
                (field_of(function, "field", self.code), Some(object))
            }
            _ => return None,
        };
        let arguments: Option<Vec<String>> = given.iter().map(|one| self.value(*one)).collect();
        let (name, arguments) = (name.to_owned(), arguments?);
        Some(Example { name, receiver, arguments, result, ..Example::default() })
    }
}

/// Whether a path names something of a type: `Kind::Gift`.
fn names_type(path: &str) -> bool {
    let kind = path.rsplit_once("::").map_or("", |(kind, _)| kind);
    kind.starts_with(char::is_uppercase) && kind.chars().all(char::is_alphanumeric)
}

/// What a value says: that of `Ok`, or that there is an error.
fn documented(value: &str) -> Option<DocumentedResult> {
    if value.starts_with("Err(") {
        return Some(DocumentedResult::Raised("error".into()));
    }
    let inner = value.strip_prefix("Ok(").and_then(|rest| rest.strip_suffix(')'));
    let value = inner.unwrap_or(value);
    (value != "()").then(|| DocumentedResult::Value(value.to_owned()))
}

/// The examples in a comment or page of Go: `Foo("x") // => "y"`, `Foo("x") = "y"`, and a call whose result
/// is printed on the next line.
pub fn go_examples(documentation: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let (mut variable, mut is_set) = (String::new(), false);
    for line in documentation.lines() {
        let line =
            line.trim_start_matches(|c: char| c.is_whitespace() || c == '*' || c == '/').trim();
        is_set |= GO_SETTING.is_match(line);
        let Some(one) = GO_CALL.captures(line).next() else { continue };
        let part = |at: usize| one.get(at).map_or("", |part| part.as_str());
        let shown = GO_MARK.replace_all(part(5), "").trim_end_matches('.').to_owned();
        let is_printed = !part(2).is_empty() || part(3).starts_with("fmt.Print");
        let result = match go_value(&shown) {
            _ if is_set => None,
            true => Some(DocumentedResult::Value(shown.clone())),
            // A text that stands there without its quotes, as it is printed.
            false if !shown.is_empty() && (is_printed || is_plain_result(line, &shown)) => {
                Some(DocumentedResult::Printed(shown.clone()))
            }
            false => None,
        };
        if is_printed && part(4) == variable && !variable.is_empty() {
            if let Some(last) = found.last_mut() {
                last.result = result;
            }
            variable.clear();
            continue;
        }
        part(1).clone_into(&mut variable);
        let Some(arguments) = go_arguments(part(4)) else { continue };
        let (receiver, name) = match part(3).rsplit_once('.') {
            Some((receiver, name)) => (Some(receiver.to_owned()), name),
            None => (None, part(3)),
        };
        let name = name.to_owned();
        found.push(Example { name, receiver, arguments, result, ..Example::default() });
    }
    found
}

/// Whether a line ends with a result behind an arrow that is one word with a digit in it: `834,142`.
fn is_plain_result(line: &str, shown: &str) -> bool {
    let is_behind = |mark: &str| line.ends_with(&format!("{mark} {shown}"));
    ["->", "=>", "→"].into_iter().any(is_behind)
        && !shown.contains(char::is_whitespace)
        && shown.contains(|c: char| c.is_ascii_digit())
}

fn go_value(text: &str) -> bool {
    go_arguments(text).is_some_and(|values| values.len() == 1)
}

/// The literals of a list of arguments.
pub(super) fn go_arguments(list: &str) -> Option<Vec<String>> {
    let code = format!("package p\n\nvar x = f({list})\n");
    let tree = Language::Go.parse(&code).filter(|tree| !tree.root_node().has_error())?;
    let mut given = None;
    visit(tree.root_node(), |node| {
        let is_first = node.kind() == "argument_list" && given.is_none();
        if is_first {
            given = Some(named_children(node));
        }
        !is_first
    });
    let given = given?;
    let is_plain = |node: &Node<'_>| {
        let mut is_plain = true;
        visit(*node, |one| {
            is_plain &= !matches!(one.kind(), "identifier" | "call_expression" | "func_literal");
            true
        });
        is_plain
    };
    given
        .iter()
        .all(is_plain)
        .then(|| given.iter().map(|one| text_of(*one, &code).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Receiver, name, arguments and result of each example in short.
    fn shown(examples: &[Example]) -> Vec<String> {
        let text = |one: &Example| {
            let receiver = one.receiver.as_ref().map_or_else(String::new, |one| format!("{one}."));
            let result = match &one.result {
                Some(DocumentedResult::Value(value)) => format!(" = {value}"),
                Some(other) => format!(" {other:?}"),
                None => String::new(),
            };
            format!("{receiver}{}({}){result}", one.name, one.arguments.join(", "))
        };
        examples.iter().map(text).collect()
    }

    #[test]
    fn assertions_of_rust_say_what_calls_give() {
        let table = [
            ("assert_eq!(fee(\"a\", 3), 5);", vec!["fee(\"a\", 3) = 5"]),
            ("assert_eq!(Ok(3), shop::fee(-1));", vec!["fee(-1) = 3"]),
            ("assert_eq!(fee(1).unwrap(), [1, 2]);", vec!["fee(1) = [1, 2]"]),
            ("assert_eq!(fee(1)?, vec![\"a\"]);", vec!["fee(1) = vec![\"a\"]"]),
            ("assert_eq!(fee(1), Err(Low));", vec!["fee(1)"]),
            ("assert_eq!(fee(1), Err(\"low\".into()));", vec!["fee(1) Raised(\"error\")"]),
            ("assert!(parse(\"\").is_err());", vec!["parse(\"\") Raised(\"error\")"]),
            (
                "assert!(!is_even(3));\nassert!(is_even(4));",
                vec!["is_even(3) = false", "is_even(4) = true"],
            ),
            (
                "let s = \"A b\";\nassert_eq!(s.to_snake(), \"a_b\");",
                vec!["\"A b\".to_snake() = \"a_b\""],
            ),
            (
                "let s = \"A\";\nassert_eq!(format!(\"{}\", Low(s)), \"a\");",
                vec!["Low(\"A\").fmt() = \"a\""],
            ),
            ("assert_eq!(Cart::new(2).total(), 4);", vec!["Cart::new(2).total() = 4"]),
            ("assert_eq!(shop::Cart::of(2), Some(4));", vec!["Cart.of(2) = Some(4)"]),
            (
                "assert_eq!(shown(Duration::new(9, 0)).to_string(), \"9s\");",
                vec!["shown(Duration::new(9, 0)) = \"9s\""],
            ),
            ("assert!((0.3 - close(\"a\", \"b\")).abs() < 0.1);", vec!["close(\"a\", \"b\")"]),
            ("let x = y();\nassert_eq!(fee(x), 3);", vec!["y()"]),
            (
                "let x = fee(14);\nassert_eq!(x.unwrap(), \"XIV\");",
                vec!["fee(14)", "fee(14) = \"XIV\""],
            ),
            (
                "let mut x = make(1);\nx.push(2);\nassert_eq!(x, [1, 2]);",
                vec!["make(1)", "x.push(2)"],
            ),
            ("let x = fee(1);\nlet x = x.unwrap();\nassert_eq!(x, 3);", vec!["fee(1)"]),
            ("let x = fee(1);\nlet x = other;\nassert_eq!(x, 3);", vec!["fee(1)"]),
        ];
        for (code, expected) in table {
            let found = rust_examples(code);
            let found: Vec<String> =
                shown(&found).into_iter().filter(|one| !one.contains(".abs()")).collect();
            assert_eq!(found, expected, "{code}");
        }
    }

    #[test]
    fn comments_of_go_say_what_calls_give() {
        let table = [
            ("// Foo(\"x\") // => \"y\"", vec!["Foo(\"x\") = \"y\""]),
            ("shop.Foo(\"x\", -1) = []int{1, 2}", vec!["shop.Foo(\"x\", -1) = []int{1, 2}"]),
            ("Foo(true) returns 3.", vec!["Foo(true) = 3"]),
            ("Foo(1) returns true if it may", vec!["Foo(1)"]),
            ("Foo(x) = 3", vec![]),
            ("fmt.Println(Foo(\"a b\")) // Prints out \"AB\"", vec!["Foo(\"a b\") = \"AB\""]),
            ("fmt.Println(Foo(\"a b\")) // A B", vec!["Foo(\"a b\") Printed(\"A B\")"]),
            (
                "text := slug.Make(\"A b\")\nfmt.Println(text) // Will print: \"a-b\"",
                vec!["slug.Make(\"A b\") = \"a-b\""],
            ),
            ("It calls f and gives nothing.", vec![]),
            ("slug.Lower = false\nslug.Make(\"A\") // => \"A\"", vec!["slug.Make(\"A\")"]),
        ];
        for (text, expected) in table {
            assert_eq!(shown(&go_examples(text)), expected, "{text}");
        }
    }

    #[test]
    fn each_comment_of_rust_is_one_text() {
        let text = "//! All.\n\n/// One.\n/// Two.\nfn f() {}\n// no\n    /// Three.\n";
        assert_eq!(rust_documentation(text), ["All.\n", "One.\nTwo.\n", "Three.\n"]);
    }
}
