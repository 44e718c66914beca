//! What tests expect of calls with literal arguments, and which of them contradict each other.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{children, field_of, line, named_children, named_nodes, text_of};

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
    /// The call, as it is written.
    pub call: String,
    /// The expected literal, as it is written.
    pub expected: String,
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
            && differ(&self.expected, &other.expected)
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

/// Words that replace what a test calls, or set something up around tests.
static SETS_UP: Pattern = Pattern::new(
    r"(?im)patch|mock|stub|fake|spy|fixture|set_?up|\b(?:before|after)(?:each|all)?\s*\(|^\s*@|override_settings|tear_?down",
);

/// The bases of a class.
static BASES: Pattern = Pattern::new(r"(?m)^\s*class\s+\w+\s*\(([^)]*)\)");

/// Bases that set nothing up.
const PLAIN_BASES: &[&str] = &["", "object", "TestCase", "unittest.TestCase"];

/// A line that imports names.
static IMPORT: Pattern = Pattern::new(r"^(?:import|from|use)\b|\brequire\s*\(");

/// What the tests of a file expect. Tests that do anything besides are left out, and so are all tests
/// of a file in which anything is set up or replaced.
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
    let statements = test.statements(text);
    let all: Option<Vec<Expectation>> = statements
        .iter()
        .map(|statement| {
            let (call, expected) = compared(*statement, text)?;
            let root: String =
                call.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            Some(Expectation {
                test: test.name.clone(),
                class: test.class(text).to_owned(),
                origin: origin(&root, text)?,
                call: call.to_owned(),
                expected: expected.to_owned(),
                line: line(*statement),
            })
        })
        .collect();
    all.unwrap_or_default()
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
fn compared<'a>(statement: Node<'_>, text: &'a str) -> Option<(&'a str, &'a str)> {
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
    let pair = |call: Node<'_>, literal: Node<'_>| {
        (is_plain_call(call, text) && is_literal(literal))
            .then(|| (text_of(call, text), text_of(literal, text)))
    };
    pair(*left, *right).or_else(|| pair(*right, *left))
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

/// Whether a node calls a function by its name, with literals only and with one at least.
fn is_plain_call(node: Node<'_>, text: &str) -> bool {
    let callee = field_of(node, "function", text);
    let is_name = !callee.is_empty()
        && !callee.starts_with(|c: char| c.is_ascii_digit())
        && callee.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
        && !callee.starts_with("self.")
        && !callee.starts_with("this.");
    let arguments = node.child_by_field_name("arguments").map(named_children).unwrap_or_default();
    matches!(node.kind(), "call" | "call_expression")
        && is_name
        && !arguments.is_empty()
        && arguments.into_iter().all(is_literal)
}

/// Whether a node is a literal, or a collection of such.
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
        let elsewhere = Expectation { origin: "from b".into(), ..one("5") };
        assert!(!one("4").contradicts(&elsewhere));
    }
}
