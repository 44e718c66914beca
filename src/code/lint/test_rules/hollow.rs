//! Rules about assertions that cannot fail: they compare a result with itself, or are never reached.

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::rule::{Detection, LintRule, PY_JS, test_rule};
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::test_cases::TestNode;
use crate::code::tree::{line, named_children};
use crate::domain::quality::Severity::Critical;

use super::calls_and_assertions::assertions;

/// The rules about assertions that cannot fail.
pub const RULES: &[LintRule] = &[
    test_rule(
        ("ai_generated_issues", "comparison-with-itself"),
        Critical,
        ("it compares a result with itself", "compare it with the value that it must have"),
        Detection::Function(PY_JS, self_comparisons),
    ),
    test_rule(
        ("ai_generated_issues", "unreachable-assertion"),
        Critical,
        ("the assertion is never reached", "let the test come to its assertion"),
        Detection::Function(PY_JS, unreachable_assertions),
    ),
];

/// Names of tests whose subject is that two calls give the same.
static REPEATED: Pattern = Pattern::new(
    r"(?i)determinis|stable|idempot|cache|memo|singleton|identi|pure|reproduc|repeat|hash|equal|(?:^|_)(?:eq|ne)(?:_|$)",
);
/// Values that are equal to everything.
static EQUAL_TO_ALL: Pattern =
    Pattern::new(r"^(?:mock\.|unittest\.mock\.)?ANY$|^expect\.anything\(\)$");
static ALWAYS_EQUAL: Pattern = Pattern::new(r"(?s)def __eq__\(self, \w+\)[^:]*:\s*return True");

/// Finds tests of which no assertion compares a result with anything but itself. Beside other
/// assertions such a comparison may show that two calls give the same.
fn self_comparisons(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for test in &source.tests {
        let all = assertions(source, test);
        let hollow = all.iter().filter(|(node, text)| {
            let is_open = text.ends_with(" or True") || text.ends_with("|| true)");
            is_open || sides(source, *node).is_some_and(|(a, b)| is_same(source, test, a, b))
        });
        let own: Vec<Hit> = hollow.map(|(node, _)| Hit::at(line(*node))).collect();
        if own.len() == all.len() {
            hits.extend(own);
        }
    }
    hits
}

/// The two sides that an assertion compares for equality.
fn sides<'a>(source: &Source<'a>, assertion: Node<'a>) -> Option<(Node<'a>, Node<'a>)> {
    let inner = assertion.named_child(0)?;
    if inner.kind() == "comparison_operator" {
        let is_equal = [" == ", " is "].iter().any(|sign| source.of(inner).contains(sign));
        let [left, right] = named_children(inner).try_into().ok().filter(|_| is_equal)?;
        return Some((left, right));
    }
    let callee = source.field(assertion, "function");
    let given = |call: Node<'a>| Some(named_children(call.child_by_field_name("arguments")?));
    let name = callee.rsplit('.').next().unwrap_or_default();
    match name {
        "equal" | "strictEqual" | "deepEqual" | "deepStrictEqual" | "is" | "assertEqual" => {
            let list = given(assertion)?;
            Some((*list.first()?, *list.get(1)?))
        }
        "toBe" | "toEqual" | "toStrictEqual" => {
            let object =
                assertion.child_by_field_name("function")?.child_by_field_name("object")?;
            Some((*given(object)?.first()?, *given(assertion)?.first()?))
        }
        _ => None,
    }
}

/// Whether both sides come from the same code, or one is equal to everything.
fn is_same<'a>(source: &Source<'a>, test: &TestNode<'a>, a: Node<'a>, b: Node<'a>) -> bool {
    let [left, right] = [a, b].map(|node| origin(source, test, node));
    let is_call = |text: &str| text.contains('(');
    let made = right.split('(').next().unwrap_or_default();
    let is_wild = EQUAL_TO_ALL.is_match(right)
        || source.language == Language::Python && is_call(right) && is_equal_to_all(source, made);
    is_wild
        || source.of(a) == source.of(b) && a.kind() == "identifier"
        || left == right && is_call(left) && !REPEATED.is_match(&test.name)
}

/// Whether objects of a class of the file are equal to everything.
fn is_equal_to_all(source: &Source<'_>, class: &str) -> bool {
    let classes = source.of_kind(&["class_definition"]);
    let mut own = classes.filter(|node| source.field(*node, "name") == class);
    own.any(|node| ALWAYS_EQUAL.is_match(source.of(node)))
}

/// The code of a value: for a variable that is set once in the test, what it is set to.
fn origin<'a>(source: &Source<'a>, test: &TestNode<'a>, node: Node<'a>) -> &'a str {
    let text = source.of(node);
    let Some(body) = test.body.filter(|_| node.kind() == "identifier") else { return text };
    let mut values = source.inside(body).filter_map(|one| {
        let (name, value) = match one.kind() {
            "assignment" => ("left", "right"),
            "variable_declarator" => ("name", "value"),
            _ => return None,
        };
        (source.field(one, name) == text).then(|| source.field(one, value))
    });
    match (values.next(), values.next()) {
        (Some(value), None) => value,
        _ => text,
    }
}

fn unreachable_assertions(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for test in &source.tests {
        let Some(body) = test.body else { continue };
        for (node, _) in assertions(source, test) {
            if is_unreachable(source, node, body) {
                hits.push(Hit::at(line(node)));
            }
        }
    }
    hits
}

/// Whether a statement stands behind an end of its block, or in a branch or loop that is never taken.
fn is_unreachable<'a>(source: &Source<'a>, node: Node<'a>, body: Node<'a>) -> bool {
    let mut inner = node;
    while inner.id() != body.id() {
        let Some(outer) = inner.parent() else { return false };
        let ends = ["return_statement", "raise_statement", "throw_statement"];
        let mut before = inner.prev_named_sibling();
        while let Some(one) = before.filter(|_| matches!(outer.kind(), "block" | "statement_block"))
        {
            if ends.contains(&one.kind()) {
                return true;
            }
            before = one.prev_named_sibling();
        }
        let condition = source.field(outer, "condition").trim_matches(['(', ')']);
        let is_taken = outer.child_by_field_name("consequence") == Some(inner)
            || outer.kind() == "while_statement";
        let is_never = ["False", "false", "0", "None", "null"].contains(&condition) && is_taken;
        let is_empty = matches!(outer.kind(), "for_statement" | "for_in_statement")
            && ["[]", "()", "{}", "\"\"", "''"].contains(&source.field(outer, "right"));
        if is_never || is_empty {
            return true;
        }
        inner = outer;
    }
    false
}
