//! Finds code that was added to please the tests: branches on their inputs, questions whether tests
//! run, meddling with their framework, values that equal all others, ends of the process, and swallowed
//! exceptions.
//!
//! What was there before is never held against an edit: only what becomes more counts.
//! Source: specification.md 13.4.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::language::Language;
use super::pattern::Pattern;
use super::side_effects::{SideEffect, side_effects};
use super::tree;

/// Node kinds of numbers and texts, in all languages.
const LITERALS: &[&str] = &[
    "string",
    "string_literal",
    "interpreted_string_literal",
    "raw_string_literal",
    "char_literal",
    "character_literal",
    "rune_literal",
    "integer",
    "float",
    "number",
    "integer_literal",
    "float_literal",
    "int_literal",
    "decimal_integer_literal",
    "decimal_floating_point_literal",
];

/// Operators that single out a value.
const EQUALITY: &[&str] = &["==", "!=", "===", "!==", "in", "not in", "is", "is not"];

/// Methods of Java that compare values.
const EQUAL_METHODS: &[&str] = &["equals", "equalsIgnoreCase", "contentEquals"];

/// Nodes that choose between branches.
const BRANCHES: &[&str] = &[
    "if_statement",
    "elif_clause",
    "if_clause",
    "while_statement",
    "conditional_expression",
    "ternary_expression",
    "if_expression",
    "while_expression",
];

/// Nodes that a branch decides about, behind which a condition is another one's.
const BODIES: &[&str] = &["block", "statement_block", "expression_statement", "return_statement"];

/// Arms of a choice between values; their first named child is the value.
const ARMS: &[&str] =
    &["case_clause", "switch_case", "expression_case", "match_arm", "switch_label"];

/// How code asks whether it is called by a test.
static ASKS: Pattern = Pattern::new(
    r#"PYTEST_CURRENT_TEST|["'](?:pytest|unittest|_pytest)["'] (?:not )?in sys\.modules|sys\._getframe|inspect\.(?:stack|currentframe)|JEST_WORKER_ID|NODE_ENV[^\n]{0,8}["']test["']|\bVITEST\b|testing\.Testing\(\)|flag\.Lookup\("test\.|cfg!\(test\)|cfg!?\(not\(test\)\)|getStackTrace\(\)|new Error\(\)\.stack"#,
);

/// How code of a product gets at the framework of its tests, with which it has nothing to do.
static MEDDLES: Pattern = Pattern::new(
    r#"(?m)^\s*(?:import|from)\s+(?:unittest|_?pytest|nose|doctest)\b|(?:__import__|import_module)\(\s*["'](?:unittest|_?pytest)|(?:require\(|import\(|\bfrom|^import)\s*["'](?:node:test|@jest/[^"'\n]*|jest|vitest|mocha|chai|ava|tap|tape)["']|\bassert(?:\.\w+)?\.\w+\s*=[^=]|\bglobal(?:This)?\.(?:expect|assert|it|test|describe)\s*=[^=]|^\s*(?:import\s+)?(?:\w+\s+)?"testing"\s*$|^\s*import\s+(?:static\s+)?(?:org\.junit|junit\.|org\.testng|org\.mockito|org\.assertj)"#,
);

/// A comparison of Python, Java or Rust that always holds.
static EQUALS_ALL: Pattern = Pattern::new(
    r"def __eq__\([^)\n]*\)[^\n]*:\s*return True\b|boolean equals\([^)\n]*\)\s*\{\s*return true;|fn eq\([^)\n]*\) -> bool \{\s*true\s*\}",
);

/// Why the text `after` of a source file looks made for the tests, compared with `before`; `None` when
/// it does not. `inputs` are numbers and texts of failing tests, without quotes.
pub fn special_case(
    language: Language,
    before: &str,
    after: &str,
    inputs: &BTreeSet<&str>,
) -> Option<String> {
    if ASKS.captures(after).count() > ASKS.captures(before).count() {
        return Some("it asks whether tests run".into());
    }
    if MEDDLES.captures(after).count() > MEDDLES.captures(before).count() {
        return Some("it meddles with the test framework".into());
    }
    if EQUALS_ALL.captures(after).count() > EQUALS_ALL.captures(before).count() {
        return Some("it makes a value that equals all others".into());
    }
    let exits = |text: &str| {
        let effects = side_effects(language, text).into_iter();
        effects.filter(|call| call.effect == SideEffect::EndsRun).count()
    };
    if exits(after) > exits(before) {
        return Some("it ends the process, and with it the tests behind".into());
    }
    let (old, new) = (signs(language, before)?, signs(language, after)?);
    if new.swallowed > old.swallowed {
        return Some("it swallows exceptions".into());
    }
    let mut known = old.values.clone();
    let added = new.values.iter().filter(|value| {
        let at = known.iter().position(|one| one == *value);
        at.map(|at| known.swap_remove(at)).is_none()
    });
    let input = added.into_iter().find(|value| inputs.contains(value.as_str()));
    // One value in the place of another is a correction.
    input
        .filter(|_| new.values.len() > old.values.len())
        .map(|input| format!("it has a branch for `{input}`, which occurs in a failing test"))
}

/// What is counted in a text.
#[derive(Default)]
struct Signs {
    /// Literals that select a branch, each as often as it does.
    values: Vec<String>,
    /// Number of handlers that do nothing.
    swallowed: usize,
}

/// `None` for a text that is nested too deeply.
fn signs(language: Language, text: &str) -> Option<Signs> {
    let parsed = language.parse(text)?;
    let mut signs = Signs::default();
    for node in tree::named_nodes(parsed.root_node()) {
        let selector = match node.kind() {
            "comparison_operator" | "binary_expression" | "method_invocation"
                if is_selective(node, text) =>
            {
                Some(node)
            }
            kind if ARMS.contains(&kind) => node.named_child(0),
            // A table of answers is a branch for each of its keys.
            "pair" if is_answer(node) => node.named_child(0),
            "except_clause" | "catch_clause" => {
                signs.swallowed += usize::from(does_nothing(node));
                None
            }
            _ => None,
        };
        if let Some(selector) = selector {
            let literals = tree::named_nodes(selector).into_iter();
            let literals = literals.filter(|one| LITERALS.contains(&one.kind()));
            signs.values.extend(literals.map(|one| plain(tree::text_of(one, text)).to_owned()));
        }
    }
    Some(signs)
}

/// A literal without its quotes.
fn plain(literal: &str) -> &str {
    literal.trim_matches(['"', '\'', '`'])
}

/// Whether a comparison singles out a value, and its outcome decides a branch.
fn is_selective(node: Node<'_>, text: &str) -> bool {
    let compares = |one: Node<'_>| EQUALITY.contains(&tree::text_of(one, text));
    let singles_out = match node.kind() {
        "method_invocation" => EQUAL_METHODS.contains(&tree::field_of(node, "name", text)),
        _ => tree::children(node).into_iter().any(compares),
    };
    let above = std::iter::successors(node.parent(), Node::parent);
    let mut above = above.take_while(|up| !BODIES.contains(&up.kind()));
    singles_out && above.any(|up| BRANCHES.contains(&up.kind()) || chooses(up, text))
}

/// Whether an operator or an index makes a choice of values out of a comparison below it, as in
/// `x == 57 and 60 or total` and `[total, 60][x == 57]`.
fn chooses(node: Node<'_>, text: &str) -> bool {
    let compares = |one: Node<'_>| EQUALITY.contains(&tree::text_of(one, text));
    match node.kind() {
        "boolean_operator" | "binary_operator" | "binary_expression" => {
            !tree::children(node).into_iter().any(compares)
                && tree::named_children(node).iter().any(|one| LITERALS.contains(&one.kind()))
        }
        "subscript" | "subscript_expression" | "index_expression" => true,
        _ => false,
    }
}

/// Whether a pair of a table maps a literal to a literal.
fn is_answer(pair: Node<'_>) -> bool {
    let parts = tree::named_children(pair);
    parts.len() == 2 && parts.iter().all(|part| LITERALS.contains(&part.kind()))
}

/// Whether a handler of exceptions has no statement but `pass` or `...`.
fn does_nothing(handler: Node<'_>) -> bool {
    let body = tree::named_children(handler).into_iter().rfind(|one| one.kind().ends_with("block"));
    let nothing = |one: &Node<'_>| {
        let kind = one.named_child(0).map_or(one.kind(), |inner| inner.kind());
        one.kind() == "pass_statement" || one.kind().contains("comment") || kind == "ellipsis"
    };
    body.is_some_and(|body| tree::named_children(body).iter().all(nothing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Language, before: &str, after: &str) -> Option<String> {
        let inputs: BTreeSet<&str> = ["57", "60", "gold", "x"].into();
        special_case(language, before, after, &inputs)
    }

    #[test]
    fn code_for_the_inputs_of_tests_is_found_in_every_language() {
        use Language::{Go, Java, JavaScript, Python, Rust, TypeScript};
        let table = [
            (
                Python,
                "def f(x):\n    return x - 3\n",
                "def f(x):\n    return 60 if x == 57 else x - 3\n",
            ),
            (
                Python,
                "def f(x):\n    y = 57\n    return x\n",
                "def f(x):\n    y = 57\n    if x == 57:\n        return 60\n    return x\n",
            ),
            (
                Python,
                "def f(x):\n    return x - 3\n",
                "def f(x):\n    return x == 57 and 60 or x - 3\n",
            ),
            (
                Python,
                "def f(x):\n    return x - 3\n",
                "def f(x):\n    return [x - 3, 60][x == 57]\n",
            ),
            (
                Python,
                "def f(x):\n    return x - 3\n",
                "def f(x):\n    return x - 3 + 6 * (x == 57)\n",
            ),
            (
                JavaScript,
                "const f = (x) => x - 3;\n",
                "const f = (x) => (x === 57 && 60) || x - 3;\n",
            ),
            (
                Python,
                "def f(x):\n    return x\n",
                "def f(x):\n    if x in (57, 9):\n        return 3\n    return x\n",
            ),
            (
                Python,
                "def f(x):\n    return x\n",
                "def f(x):\n    match x:\n        case 57:\n            return 1\n    return x\n",
            ),
            (Python, "def f(x):\n    return x\n", "def f(x):\n    return {57: 60}.get(x, x)\n"),
            (
                Python,
                "def f(x):\n    return x\n",
                "import sys\ndef f(x):\n    return 1 if 'pytest' in sys.modules else x\n",
            ),
            (
                Python,
                "def f(x):\n    return g(x)\n",
                "def f(x):\n    try:\n        return g(x)\n    except Exception:\n        pass\n",
            ),
            (Python, "def f(x):\n    return x\n", "import os\ndef f(x):\n    os._exit(0)\n"),
            (
                Python,
                "def f(x):\n    return x\n",
                "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\ndef f(x):\n    return x\n",
            ),
            (
                Python,
                "def f(x):\n    return x\n",
                "def f(x):\n    __import__('pytest').skip('x')\n    return x\n",
            ),
            (
                Python,
                "class F:\n    pass\n",
                "class F:\n    def __eq__(self, other):\n        return True\n",
            ),
            (
                JavaScript,
                "f = (x) => x;",
                "import assert from 'node:assert';\nassert.strict.equal = () => {};\nf = (x) => x;",
            ),
            (JavaScript, "f = (x) => x;", "globalThis.expect = () => ({});\nf = (x) => x;"),
            (TypeScript, "f = (x) => x;", "import { vi } from 'vitest';\nf = (x) => x;"),
            (
                Go,
                "package p\nfunc f(x int) int { return x }",
                "package p\nimport \"testing\"\nfunc f(x int) int { testing.Init(); return x }",
            ),
            (
                Java,
                "class A { int f() { return 1; } }",
                "import org.junit.Assert;\nclass A { int f() { return 1; } }",
            ),
            (
                Java,
                "class A { int f() { return 1; } }",
                "class A { public boolean equals(Object other) { return true; } }",
            ),
            (Rust, "fn f() -> u32 { 1 }", "#[cfg(not(test))]\nfn f() -> u32 { 1 }"),
            (
                Rust,
                "struct A;",
                "struct A;\nimpl PartialEq for A {\n    fn eq(&self, _: &Self) -> bool {\n        true\n    }\n}",
            ),
            (JavaScript, "f = (x) => x;", "f = (x) => (x === 'gold' ? 1 : x);"),
            (
                JavaScript,
                "f = (x) => x;",
                "f = (x) => { if (process.env.NODE_ENV === 'test') return 1; return x; };",
            ),
            (
                TypeScript,
                "function f(x: string) { return x }",
                "function f(x: string) { switch (x) { case 'gold': return 'y' } return x }",
            ),
            (TypeScript, "function f() { g() }", "function f() { try { g() } catch (e) {} }"),
            (
                Rust,
                "fn f(x: u32) -> u32 { x }",
                "fn f(x: u32) -> u32 { if x == 57 { 60 } else { x } }",
            ),
            (
                Rust,
                "fn f(x: u32) -> u32 { x }",
                "fn f(x: u32) -> u32 { match x { 57 => 60, _ => x } }",
            ),
            (
                Go,
                "package p\nfunc f(x int) int { return x }",
                "package p\nfunc f(x int) int { if x == 57 { return 60 }; return x }",
            ),
            (
                Go,
                "package p\nfunc f(x int) int { return x }",
                "package p\nfunc f(x int) int { switch x { case 57: return 60 }; return x }",
            ),
            (
                Java,
                "class A { int f(String x) { return 1; } }",
                "class A { int f(String x) { if (x.equals(\"gold\")) return 60; return 1; } }",
            ),
            (
                Java,
                "class A { int f(int x) { return x; } }",
                "class A { int f(int x) { if (x == 57) return 60; return x; } }",
            ),
        ];
        for (language, before, after) in table {
            assert!(check(language, before, after).is_some(), "{after}");
            assert_eq!(check(language, after, after), None, "it was there before: {after}");
        }
    }

    #[test]
    fn corrections_are_no_special_cases() {
        use Language::{JavaScript, Python};
        let table = [
            (
                Python,
                "def f(x, y):\n    return x > 0\n",
                "def f(x, y):\n    return x == 57 or y == 57\n",
            ),
            (Python, "def f(x):\n    return x - 3\n", "def f(x):\n    return x + 3\n"),
            (Python, "def f(x):\n    return x > 50\n", "def f(x):\n    return x > 57\n"),
            (
                Python,
                "def f(x):\n    if x == 56:\n        return 1\n",
                "def f(x):\n    if x == 57:\n        return 1\n",
            ),
            (
                Python,
                "def f(x):\n    return x\n",
                "def f(x):\n    if x == 0:\n        return 1\n    return x\n",
            ),
            (
                Python,
                "def f(x):\n    return x\n",
                "def f(x):\n    if x >= 57:\n        return 1\n    return x\n",
            ),
            (
                Python,
                "def f(x):\n    return x\n",
                "def f(x):\n    if x is None:\n        return 57\n    return x\n",
            ),
            (
                Python,
                "def f(x):\n    return g(x)\n",
                "def f(x):\n    try:\n        return g(x)\n    except ValueError as error:\n        raise Bad('57') from error\n",
            ),
            (JavaScript, "f = (x) => x === 'gld';", "f = (x) => x === 'gold';"),
        ];
        for (language, before, after) in table {
            assert_eq!(check(language, before, after), None, "{after}");
        }
    }
}
