//! Rules about assertions that cannot fail: they compare a result with itself, or are never reached.

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::rule::{Detection, LintRule, PY_JS, test_rule};
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::test_cases::TestNode;
use crate::code::tree::{around, line, named_children};
use crate::domain::quality::Severity::Critical;
use crate::domain::text::has_word;

use super::calls_and_assertions::{assertions, calls};

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
            is_open
                || is_always_true(source, test, *node)
                || compared_sides(source, *node).is_some_and(|(a, b)| is_same(source, test, a, b))
        });
        let own: Vec<Hit> = hollow.map(|(node, _)| Hit::at(line(*node))).collect();
        if own.len() == all.len() {
            hits.extend(own);
        }
    }
    hits
}

/// The two sides that an assertion compares for equality.
pub(super) fn compared_sides<'a>(
    source: &Source<'a>,
    assertion: Node<'a>,
) -> Option<(Node<'a>, Node<'a>)> {
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
    let [left, right] = [a, b].map(|node| source.of(find_origin(source, test, node)));
    let is_call = |text: &str| text.contains('(');
    let made = right.split('(').next().unwrap_or_default();
    let is_wild = EQUAL_TO_ALL.is_match(right)
        || source.language == Language::Python && is_call(right) && is_equal_to_all(source, made);
    is_wild
        || source.of(a) == source.of(b) && a.kind() == "identifier"
        || left == right
            && is_call(left)
            && !changes_between(source, test, a, b)
            && !REPEATED.is_match(&test.name)
        || is_table_of(source, test, a, b)
        || is_table_of(source, test, b, a)
}

/// Whether the test calls something on an object between the call that a variable keeps and the
/// assertion that makes the same call again: what is compared is the state before and after.
fn changes_between<'a>(source: &Source<'a>, test: &TestNode<'a>, a: Node<'a>, b: Node<'a>) -> bool {
    let (Some(body), 1) = (test.body, [a, b].iter().filter(|one| is_name(**one)).count()) else {
        return false;
    };
    let kept = if is_name(a) { a } else { b };
    let Some(value) = value_of(source, body, source.of(kept)) else { return false };
    let between = value.end_byte()..a.start_byte().min(b.start_byte());
    let mut statements = source.inside(body).filter(|one| one.kind() == "expression_statement");
    statements.any(|one| {
        between.contains(&one.start_byte())
            && one.named_child(0).is_some_and(|inner| inner.kind() != "assignment")
    })
}

/// Whether an expected value is taken from a table that the same function has filled:
/// `for n, price in prices.items()` with `prices = {n: postage(n) for n in …}`.
fn is_table_of<'a>(
    source: &Source<'a>,
    test: &TestNode<'a>,
    call: Node<'a>,
    expected: Node<'a>,
) -> bool {
    let callee = source.field(call, "function");
    let Some(body) = test.body.filter(|_| !callee.is_empty()) else { return false };
    let table = match expected.kind() {
        "identifier" => source.inside(body).find_map(|one| {
            let is_loop = ["for_statement", "for_in_statement"].contains(&one.kind());
            let is_target = is_loop && has_word(source.field(one, "left"), source.of(expected));
            is_target.then(|| source.field(one, "right"))
        }),
        "subscript" | "subscript_expression" => Some(source.of(expected)),
        _ => None,
    };
    let name = table.unwrap_or_default().split(|c: char| !c.is_alphanumeric() && c != '_').next();
    let filled = name.and_then(|name| value_of(source, body, name));
    filled.is_some_and(|value| calls(source, value).iter().any(|(one, _)| one == callee))
}

/// Whether an assertion takes a function for true, instead of what the function returns, or a tuple of
/// a condition and a message; or asserts what an `if` around it has asked, or `a is b or a is not b`.
fn is_always_true<'a>(source: &Source<'a>, test: &TestNode<'a>, assertion: Node<'a>) -> bool {
    let given = match assertion.child_by_field_name("arguments") {
        Some(list) => list.named_child(0),
        None => assertion.named_child(0),
    };
    let (Some(body), Some(given)) =
        (test.body.filter(|_| source.language == Language::Python), given)
    else {
        return false;
    };
    let value =
        value_of(source, body, source.of(given)).filter(|_| is_name(given)).unwrap_or(given);
    let asked = around(assertion, &["if_statement"])
        .filter(|outer| outer.start_byte() >= body.start_byte())
        .map(|outer| source.field(outer, "condition"));
    let denied = |part: Node<'_>| source.of(part).replacen(" not ", " ", 1).replacen("!=", "==", 1);
    let is_either = source.field(given, "operator") == "or"
        && matches!(named_children(given)[..], [a, b] if source.of(a) != source.of(b) && denied(a) == denied(b));
    value.kind() == "lambda"
        || given.kind() == "tuple" && given.named_child_count() > 0
        || asked == Some(source.of(given))
        || is_either
}

/// Whether objects of a class of the file are equal to everything.
fn is_equal_to_all(source: &Source<'_>, class: &str) -> bool {
    let classes = source.of_kind(&["class_definition"]);
    let mut own = classes.filter(|node| source.field(*node, "name") == class);
    own.any(|node| ALWAYS_EQUAL.is_match(source.of(node)))
}

/// The code of a value: for a variable that is set once in the test, what it is set to.
pub(super) fn find_origin<'a>(
    source: &Source<'a>,
    test: &TestNode<'a>,
    node: Node<'a>,
) -> Node<'a> {
    let body = test.body.filter(|_| is_name(node));
    body.and_then(|body| value_of(source, body, source.of(node))).unwrap_or(node)
}

/// What a variable is set to, if a test sets it once.
fn value_of<'a>(source: &Source<'a>, body: Node<'a>, name: &str) -> Option<Node<'a>> {
    let mut values = source.inside(body).filter_map(|one| {
        let (left, value) = match one.kind() {
            "assignment" => ("left", "right"),
            "variable_declarator" => ("name", "value"),
            _ => return None,
        };
        let target = one.child_by_field_name(left)?;
        let value = one.child_by_field_name(value)?;
        // Each name of a generator that is unpacked stands for what it makes.
        let is_unpacked = target.kind() == "pattern_list" && value.kind() == "generator_expression";
        let is_target = source.of(target) == name
            || is_unpacked && named_children(target).iter().any(|one| source.of(*one) == name);
        is_target.then_some(value)
    });
    let only = values.next()?;
    values.next().is_none().then_some(only)
}

pub(super) fn is_name(node: Node<'_>) -> bool {
    node.kind() == "identifier"
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
