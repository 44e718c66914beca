//! What tests expect of calls with literal arguments, and which of them contradict each other.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{
    children, field_of, line, named_children, named_nodes, statements, text_of,
};

use super::edit::runs_as;
use super::find::{TestNode, find_tests};

/// A test without any set-up of its own that expects a literal of a call with literal arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The name of the test, and of the class around it.
    pub test: String,
    pub class: String,
    /// Where the function comes from: the line of its import, or nothing.
    pub origin: String,
    pub call: String,
    /// The expected literal, as it is written, or the error that is raised.
    pub expected: String,
    /// Whether the call must raise an error instead of giving a value.
    pub raises: bool,
    pub line: u32,
}

impl Expectation {
    /// Whether its test may have produced a result with this id.
    #[must_use]
    pub fn is_of(&self, id: &str) -> bool {
        runs_as(&self.test, &self.class, id)
    }

    /// Whether its function comes from a place that is named from the folder of the test file.
    #[must_use]
    pub fn has_relative_origin(&self) -> bool {
        ["from .", "'.", "\"."].iter().any(|start| self.origin.contains(start))
    }

    /// Whether no code can meet both: the same call cannot be two different values of one kind.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        self.call == other.call
            && self.origin == other.origin
            && (self.raises != other.raises
                || !self.raises && differ(&self.expected, &other.expected))
    }
}

/// Methods and functions that compare two values.
const EQUALITIES: &[&str] = &[
    "assertEqual",
    "assertEquals",
    "assert.equal",
    "assert.strictEqual",
    "assert.deepEqual",
    "assert.deepStrictEqual",
];

/// Matchers of scripts that compare with their argument.
const MATCHERS: &[&str] = &["toBe", "toEqual", "toStrictEqual"];

/// Methods and functions that expect an error.
const RAISES: &[&str] = &["assertRaises", "raises", "toThrow", "toThrowError"];

/// Words that replace what a test calls, or set something up around tests.
static SETS_UP: Pattern = Pattern::new(
    r"(?im)patch|mock|stub|fake|spy|fixture|set_?up|\b(?:before|after)(?:each|all)?\s*\(|^\s*@|override_settings|tear_?down",
);

static BASES: Pattern = Pattern::new(r"(?m)^\s*class\s+\w+\s*\(([^)]*)\)");

/// Bases that set nothing up.
const PLAIN_BASES: &[&str] = &["", "object", "TestCase", "unittest.TestCase"];

/// A line that imports names.
static IMPORT: Pattern = Pattern::new(r"^(?:import|from|use)\b|\brequire\s*\(");

/// What the tests of a file expect, of those that do nothing besides, in files without set-up.
pub fn expectations(language: Language, text: &str) -> Vec<Expectation> {
    let sets_up = SETS_UP.captures(text).next().is_some()
        || BASES.captures(text).any(|found| {
            found.get(1).is_some_and(|bases| !PLAIN_BASES.contains(&bases.as_str().trim()))
        });
    let Some(tree) = language.parse(text).filter(|_| !sets_up) else { return Vec::new() };
    let nodes = named_nodes(tree.root_node());
    let tests = find_tests(language, &nodes, text);
    let stands_alone = |test: &&TestNode<'_>| test.skip.is_none() && takes_nothing(test, text);
    tests.iter().filter(stands_alone).flat_map(|test| of_test(test, text)).collect()
}

/// Whether a test has no parameters, by which a runner hands something over.
fn takes_nothing(test: &TestNode<'_>, text: &str) -> bool {
    let function = test.body.and_then(|body| body.parent());
    let parameters = function.map_or("", |function| field_of(function, "parameters", text));
    matches!(parameters, "" | "()" | "(self)")
}

fn of_test(test: &TestNode<'_>, text: &str) -> Vec<Expectation> {
    let (mut locals, mut found) = (BTreeMap::new(), Vec::<Expectation>::new());
    for statement in test.statements(text) {
        if let Some((name, value)) = assigned(statement, text, &mut locals) {
            locals.insert(name, value);
            continue;
        }
        let read =
            raised(statement, text, &mut locals).map(|(call, error)| (call, error, true)).or_else(
                || compared(statement, text, &mut locals).map(|(call, value)| (call, value, false)),
            );
        let Some((call, expected, raises)) = read else { return Vec::new() };
        let root = call.strip_prefix("new ").unwrap_or(&call);
        let root: String = root.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(origin) = origin(&root, text) else { return Vec::new() };
        // The first of two equal calls may be what makes the second differ.
        if found.iter().any(|known| known.call == call) {
            continue;
        }
        found.push(Expectation {
            test: test.name.clone(),
            class: test.class(text).to_owned(),
            origin,
            call,
            expected,
            raises,
            line: line(statement),
        });
    }
    found
}

/// The expressions of local variables. One that holds more than a literal is used up by its first use.
type Locals<'a> = BTreeMap<&'a str, String>;

/// The name and the expression of a local variable that a statement introduces.
fn assigned<'a>(
    statement: Node<'_>,
    text: &'a str,
    locals: &mut Locals<'a>,
) -> Option<(&'a str, String)> {
    let inner = statement.named_child(0)?;
    let (name, value) = match (statement.kind(), inner.kind()) {
        ("expression_statement", "assignment") => ("left", "right"),
        ("lexical_declaration" | "variable_declaration", "variable_declarator") => {
            ("name", "value")
        }
        _ => return None,
    };
    let name = inner.child_by_field_name(name).filter(|one| one.kind() == "identifier")?;
    let value = inner.child_by_field_name(value)?;
    Some((text_of(name, text), written(value, text, locals)?))
}

/// A literal, local variable or call of such values, written without local variables.
fn written(node: Node<'_>, text: &str, locals: &mut Locals<'_>) -> Option<String> {
    if is_literal(node) {
        return Some(text_of(node, text).to_owned());
    }
    match node.kind() {
        "identifier" => {
            let name = text_of(node, text);
            let value = locals.get(name)?.clone();
            if value.contains('(') {
                locals.remove(name);
            }
            Some(value)
        }
        "call" | "call_expression" | "new_expression" => {
            let is_new = node.kind() == "new_expression";
            let field = if is_new { "constructor" } else { "function" };
            let callee = callee(node.child_by_field_name(field)?, text, locals)?;
            let given = node.child_by_field_name("arguments").map(named_children);
            let given = given.unwrap_or_default().into_iter();
            let given: Option<Vec<_>> = given.map(|one| written(one, text, locals)).collect();
            let new = if is_new { "new " } else { "" };
            Some(format!("{new}{callee}({})", given?.join(", ")))
        }
        _ => None,
    }
}

/// What is called: an imported name, or a method of an expression.
fn callee(node: Node<'_>, text: &str, locals: &mut Locals<'_>) -> Option<String> {
    let name = text_of(node, text);
    match node.kind() {
        "identifier" => (!locals.contains_key(name)).then(|| name.to_owned()),
        "attribute" | "member_expression" => {
            let object = node.child_by_field_name("object")?;
            let method = field_of(node, "attribute", text);
            let method = if method.is_empty() { field_of(node, "property", text) } else { method };
            let object = match object.kind() {
                "identifier" if matches!(text_of(object, text), "self" | "this") => return None,
                "identifier" if locals.contains_key(text_of(object, text)) => {
                    written(object, text, locals)
                }
                "identifier" | "attribute" | "member_expression" => callee(object, text, locals),
                _ => written(object, text, locals),
            }?;
            Some(format!("{object}.{method}"))
        }
        _ => None,
    }
}

/// The call and the error that a statement expects of it.
fn raised(statement: Node<'_>, text: &str, locals: &mut Locals<'_>) -> Option<(String, String)> {
    let nodes = named_nodes(statement);
    let is_call = |one: &&Node<'_>| matches!(one.kind(), "call" | "call_expression");
    let matcher = nodes.iter().filter(is_call).find(|one| {
        let name = field_of(**one, "function", text);
        RAISES.contains(&name.rsplit('.').next().unwrap_or_default()) || name == "assert.throws"
    })?;
    let arguments =
        matcher.child_by_field_name("arguments").map(named_children).unwrap_or_default();
    let error = |index: usize| {
        arguments.get(index).map_or("an error", |one| text_of(*one, text)).to_owned()
    };
    if statement.kind() == "with_statement" {
        let call = only_expression(statement.child_by_field_name("body")?)?;
        return Some((plain_call(call, text, locals)?, error(0)));
    }
    let function = nodes.iter().find(|one| one.kind() == "arrow_function")?;
    let body = function.child_by_field_name("body")?;
    let call = if body.kind() == "statement_block" { only_expression(body)? } else { body };
    let index = usize::from(field_of(*matcher, "function", text) == "assert.throws");
    Some((plain_call(call, text, locals)?, error(index)))
}

fn only_expression(body: Node<'_>) -> Option<Node<'_>> {
    match statements(body).as_slice() {
        [only] if only.kind() == "expression_statement" => only.named_child(0),
        _ => None,
    }
}

/// A call with an argument, or of a method of a new object: nothing else decides about its result.
fn plain_call(node: Node<'_>, text: &str, locals: &mut Locals<'_>) -> Option<String> {
    let call = written(node, text, locals)?;
    let is_certain = !call.ends_with("()") || call.matches('(').count() > 1;
    (call.contains('(') && is_certain).then_some(call)
}

/// The import of a name; a relative one of a script is only the same for files of the same folder.
fn origin(name: &str, text: &str) -> Option<String> {
    let names = |line: &&str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        IMPORT.captures(line).next().is_some() && words.any(|word| word == name)
    };
    let line = text.lines().find(names)?;
    let source = match line.split_once(" import ") {
        Some((module, _)) if line.starts_with("from ") => module,
        _ => line.rsplit_once(" from ").map_or(line, |(_, module)| module),
    };
    Some(source.trim().trim_end_matches(';').to_owned())
}

/// The call and the literal that an assertion compares.
fn compared(statement: Node<'_>, text: &str, locals: &mut Locals<'_>) -> Option<(String, String)> {
    let node = match statement.kind() {
        "expression_statement" => statement.named_child(0)?,
        _ => statement,
    };
    let sides = match node.kind() {
        "assert_statement" => {
            let compared = node.named_child(0).filter(|one| one.kind() == "comparison_operator")?;
            let is_equality =
                children(compared).into_iter().any(|sign| text_of(sign, text) == "==");
            is_equality.then(|| named_children(compared))?
        }
        "call" | "call_expression" => sides_of_call(node, text)?,
        _ => return None,
    };
    let [left, right] = sides.as_slice() else { return None };
    let (call, literal) = if is_literal(*right) { (left, right) } else { (right, left) };
    let call = plain_call(*call, text, locals).filter(|_| is_literal(*literal))?;
    Some((call, text_of(*literal, text).to_owned()))
}

/// Both sides of an equality that a call asserts.
fn sides_of_call<'t>(call: Node<'t>, text: &str) -> Option<Vec<Node<'t>>> {
    let arguments = |call: Node<'t>| call.child_by_field_name("arguments").map(named_children);
    let name = field_of(call, "function", text);
    let plain = name.strip_prefix("self.").unwrap_or(name);
    if EQUALITIES.contains(&plain) {
        return arguments(call);
    }
    let matcher = call.child_by_field_name("function")?;
    let expect = matcher.child_by_field_name("object")?;
    let is_expect = field_of(expect, "function", text) == "expect"
        && MATCHERS.contains(&field_of(matcher, "property", text));
    let mut sides = is_expect.then(|| arguments(expect))??;
    sides.extend(arguments(call)?);
    Some(sides)
}

fn is_literal(node: Node<'_>) -> bool {
    match node.kind() {
        "integer" | "float" | "number" | "true" | "false" | "none" | "null" => true,
        "string" => named_nodes(node).iter().all(|part| !part.kind().contains("interpolation")),
        "unary_operator" | "unary_expression" | "list" | "tuple" | "dictionary" | "pair"
        | "array" => named_children(node).into_iter().all(is_literal),
        _ => false,
    }
}

/// The kind of a literal, and its value as far as the way of writing it does not matter.
fn value(literal: &str) -> (&'static str, String) {
    let plain: String = literal.split_whitespace().collect();
    let first = plain.chars().next().unwrap_or_default();
    if let Ok(number) = plain.parse::<f64>() {
        ("number", number.to_string())
    } else if plain.contains('\\') {
        ("other", plain)
    } else if matches!(first, '"' | '\'' | '`') {
        ("text", literal.trim_matches(first).to_owned())
    } else if matches!(plain.as_str(), "True" | "False" | "true" | "false") {
        ("truth", plain)
    } else if matches!(first, '[' | '(' | '{') {
        let same_quotes = plain.replace('\'', "\"").replace(",]", "]").replace(",}", "}");
        (if first == '{' { "map" } else { "list" }, same_quotes)
    } else {
        ("other", plain)
    }
}

/// Whether two literals are certainly two values. Of different kinds some are equal in some language.
fn differ(one: &str, other: &str) -> bool {
    let ((kind, one), (other_kind, other)) = (value(one), value(other));
    // Entries of a map have no order, and numbers inside of collections many forms.
    kind == other_kind
        && match kind {
            "number" | "text" | "truth" => one != other,
            "list" => {
                one.matches(',').count() != other.matches(',').count()
                    || words(&one) != words(&other)
            }
            _ => false,
        }
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '-');
    words
        .filter(|word| !word.is_empty())
        .map(|word| {
            word.parse::<f64>().map_or_else(|_| word.to_owned(), |number| number.to_string())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(language: Language, text: &str) -> Vec<(String, String)> {
        let all = expectations(language, text).into_iter();
        all.map(|one| (one.call, one.expected)).collect()
    }

    #[test]
    fn plain_equalities_of_every_form_are_read() {
        let python = "import unittest\nfrom shop.price import total\n";
        let script = "const { total } = require('../lib/price.js');\n";
        let table = [
            (Language::Python, format!("{python}def test_a():\n    assert total(1, 'a') == 4\n")),
            (Language::Python, format!("{python}def test_a():\n    assert 4 == total(1, 'a')\n")),
            (
                Language::Python,
                format!(
                    "{python}class T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(total(1, 'a'), 4)\n"
                ),
            ),
            (
                Language::JavaScript,
                format!("{script}test('a', () => {{ expect(total(1, 'a')).toBe(4); }});\n"),
            ),
            (
                Language::JavaScript,
                format!(
                    "{script}test('a', () => {{\n  assert.strictEqual(total(1, 'a'), 4);\n}});\n"
                ),
            ),
            (
                Language::JavaScript,
                format!("{script}it('a', () => expect(total(1, 'a')).toEqual(4));\n"),
            ),
        ];
        for (language, text) in table {
            assert_eq!(
                calls(language, &text),
                [("total(1, 'a')".to_owned(), "4".to_owned())],
                "{text}"
            );
        }
    }

    #[test]
    fn methods_local_variables_and_expected_errors_are_read() {
        let python = "from a import f, Cart\ndef test_a():\n";
        let script = "const { f, Cart } = require('./a.js');\n";
        let table = [
            (Language::Python, "    result = f(2)\n    assert result == 3\n", "f(2)", "3"),
            (Language::Python, "    x = 2\n    assert f(x, 1) == 3\n", "f(2, 1)", "3"),
            (Language::Python, "    assert Cart().total() == 3\n", "Cart().total()", "3"),
            (
                Language::Python,
                "    cart = Cart(4)\n    assert cart.total() == 3\n",
                "Cart(4).total()",
                "3",
            ),
            (
                Language::Python,
                "    with pytest.raises(ValueError):\n        f(2)\n",
                "f(2)",
                "ValueError",
            ),
            (
                Language::JavaScript,
                "test('a', () => {\n  const cart = new Cart();\n  expect(cart.total()).toBe(3);\n});",
                "new Cart().total()",
                "3",
            ),
            (
                Language::JavaScript,
                "test('a', () => {\n  expect(() => f(2)).toThrow(RangeError);\n});",
                "f(2)",
                "RangeError",
            ),
            (
                Language::JavaScript,
                "test('a', () => {\n  assert.throws(() => f(2), RangeError);\n});",
                "f(2)",
                "RangeError",
            ),
        ];
        for (language, test, call, expected) in table {
            let head = if language == Language::Python { python } else { script };
            let text = format!("{head}{test}");
            assert_eq!(calls(language, &text), [(call.to_owned(), expected.to_owned())], "{text}");
        }
    }

    #[test]
    fn tests_that_do_more_or_call_what_may_change_are_left_out() {
        let table = [
            "from a import f\ndef test_a():\n    reset()\n    assert f(1) == 2\n",
            "from a import f\ndef test_a(db):\n    x = 1\n    assert f(x) == 2\n",
            "from a import f\ndef test_a():\n    assert f() == 2\n",
            "from a import f\ndef test_a(rate):\n    assert f(1) == 2\n",
            "from a import f\n@given_rate(2)\ndef test_a():\n    assert f(1) == 2\n",
            "from a import f\nclass T(TestCase):\n    def setUp(self):\n        rate(2)\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n",
            "from a import f\nclass T(RatedCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n",
            "from a import f\ndef test_a():\n    assert f('a==b') != 2\n",
            "def f(x):\n    return x\ndef test_a():\n    assert f(1) == 2\n",
            "from a import f\nfrom unittest.mock import patch\ndef test_a():\n    assert f(1) == 2\n",
            "from a import f\ndef test_a(self):\n    assert self.f(1) == 2\n",
            "from a import f\ndef test_a():\n    assert f(1) > 2\n",
            "from a import f\ndef test_a():\n    assert f(f'{X}') == 2\n",
            "from a import Cart\ndef test_a():\n    cart = Cart()\n    assert cart.add(2) == 1\n    assert cart.add(2) == 2\n",
            "from a import Cart\ndef test_a():\n    cart = Cart()\n    cart.add(2)\n    assert cart.total() == 2\n",
            "from a import f\n@pytest.mark.skip\ndef test_a():\n    assert f(1) == 2\n",
        ];
        for text in table {
            assert_eq!(calls(Language::Python, text), [], "{text}");
        }
    }

    #[test]
    fn only_two_certain_values_of_one_call_contradict() {
        let one = |expected: &str| Expectation {
            test: "t".into(),
            class: String::new(),
            origin: "from a".into(),
            call: "f(1)".into(),
            expected: expected.into(),
            raises: false,
            line: 1,
        };
        let table = [
            ("4", "5", true),
            ("4", "4.0", false),
            ("-1", "1", true),
            ("'a'", "\"a\"", false),
            ("'a'", "'b'", true),
            (r"'it\'s'", "\"it's\"", false),
            ("1", "True", false),
            ("True", "False", true),
            ("[1, 2]", "[1,2]", false),
            ("[1, 2]", "[1.0, 2]", false),
            ("[1, 2]", "[1, 3]", true),
            ("{'a': 1}", "{'a': 2}", false),
            ("None", "0", false),
        ];
        for (first, second, expected) in table {
            assert_eq!(one(first).contradicts(&one(second)), expected, "{first} {second}");
        }
        assert!(one("4").contradicts(&Expectation { raises: true, ..one("ValueError") }));
        let elsewhere = Expectation { origin: "from b".into(), ..one("5") };
        assert!(!one("4").contradicts(&elsewhere));
    }
}
