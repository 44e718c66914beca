//! Rules about assertions that cannot fail: they compare a result with itself, or are never reached.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::rule::{Detection, LintRule, PY_JS_GO, test_rule};
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::test_cases::TestNode;
use crate::code::tree::{FUNCTIONS, around, line, named_children};
use crate::domain::quality::Severity::Critical;
use crate::domain::text::has_word;

use super::calls_and_assertions::{assertions, calls};
use super::cheating::is_imported;
use super::claim::{
    DEPTH, EMPTY, compared_sides, compares_equal_numbers, find_origin, is_always_true, is_name,
    is_true_by_form, read_claim, value_of, write_out,
};

/// The rules about assertions that cannot fail.
pub const RULES: &[LintRule] = &[
    test_rule(
        ("ai_generated_issues", "comparison-with-itself"),
        Critical,
        ("it holds whatever the result is", "compare it with the value that it must have"),
        Detection::Function(PY_JS_GO, self_comparisons),
    ),
    test_rule(
        ("ai_generated_issues", "unreachable-assertion"),
        Critical,
        ("the assertion is never reached", "let the test come to its assertion"),
        Detection::Function(PY_JS_GO, unreachable_assertions),
    ),
];

/// Names of tests whose subject is that two calls give the same.
static REPEATED: Pattern = Pattern::new(
    r"(?i)determinis|stable|idempot|cach|memo|copy|clone|pickl|singleton|identi|pure|reproduc|repeat|hash|equal|(?:^|_)(?:eq|ne)(?:_|$)",
);
/// Values that are equal to everything.
static EQUAL_TO_ALL: Pattern =
    Pattern::new(r"^(?:mock\.|unittest\.mock\.)?ANY$|^expect\.anything\(\)$");
static ALWAYS_EQUAL: Pattern = Pattern::new(r"(?s)def __eq__\(self, \w+\)[^:]*:\s*return True");

/// Finds tests of which each assertion compares a result with itself.
fn self_comparisons(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for test in &source.tests {
        let all = assertions(source, test);
        let is_hollow = |node: Node<'_>| {
            let claim = test.body.and_then(|body| read_claim(source, node, body));
            let is_bare = source.field(node, "function") == "expect"
                && node.parent().is_some_and(|up| up.kind() == "expression_statement");
            let sides = compared_sides(source, node);
            let is_set = || sides.is_some_and(|(a, b)| is_name(a) || is_name(b));
            is_bare
                || sides.is_some_and(|(a, b)| is_same(source, test, a, b))
                || test.body.is_some_and(|body| is_true_by_form(source, node, body, DEPTH))
                || claim.is_some_and(|one| {
                    compares_equal_numbers(&one) && is_set()
                        || is_always_true(&one, source.language)
                            && !REPEATED.is_match(&test.name)
                            && is_steady(source, test, node, &one)
                })
        };
        let is_hollow = |node| !compares_identity(source.of(node)) && is_hollow(node);
        if all.iter().all(|(node, _)| is_hollow(*node)) {
            hits.extend(all.iter().map(|(node, _)| Hit::at(line(*node))));
        }
    }
    hits
}

/// Whether an assertion says that an attribute gives one object, which a property may not.
fn compares_identity(assertion: &str) -> bool {
    assertion.contains(" is ") && assertion.contains('.') && !assertion.contains('(')
}

/// Whether both sides are one variable, or come from one table, or one is equal to everything.
fn is_same<'a>(source: &Source<'a>, test: &TestNode<'a>, a: Node<'a>, b: Node<'a>) -> bool {
    let right = source.of(find_origin(source, test, b));
    let made = right.split('(').next().unwrap_or_default();
    let is_wild = EQUAL_TO_ALL.is_match(right)
        || source.language == Language::Python
            && right.contains('(')
            && is_equal_to_all(source, made);
    is_wild
        || source.of(a) == source.of(b) && is_name(a) && !REPEATED.is_match(&test.name)
        || is_table_of(source, test, a, b)
        || is_table_of(source, test, b, a)
}

/// Whether nothing before an assertion may change what it compares.
fn is_steady<'a>(
    source: &Source<'a>,
    test: &TestNode<'a>,
    assertion: Node<'a>,
    claim: &str,
) -> bool {
    let Some(body) = test.body else { return false };
    let earlier = |one: &Node<'a>| one.end_byte() <= assertion.start_byte();
    let all = assertions(source, test);
    let is_assertion = |one: Node<'a>| all.iter().any(|(node, _)| node.id() == one.id());
    let mut known = BTreeMap::new();
    let (left, right) = compared_sides(source, assertion).unwrap_or((assertion, assertion));
    add_variables(source, body, left, &mut known);
    add_variables(source, body, right, &mut known);
    let touches = |callee: &str, call: Node<'a>| {
        let owner = callee.split_once('.').map(|(owner, _)| owner);
        let is_own = format!(" {claim}").contains(&format!(" {callee} ("))
            || known.values().flatten().any(|one| one.byte_range().contains(&call.start_byte()));
        let list = call.child_by_field_name("arguments").filter(|_| !is_own);
        owner.is_some_and(|owner| known.contains_key(owner))
            || list.is_some_and(|list| {
                source.inside(list).any(|one| is_name(one) && known.contains_key(source.of(one)))
            })
    };
    let mut inside = source.inside(body);
    !calls(source, body).iter().any(|(callee, node)| {
        earlier(node) && !is_assertion(*node) && callee != "expect" && touches(callee, *node)
    }) && !inside.any(|one| match one.kind() {
        "with_statement" | "augmented_assignment" | "delete_statement" | "assignment_statement" => {
            true
        }
        "expression_statement" => one.named_child(0).filter(|_| earlier(&one)).is_some_and(|one| {
            let is_set =
                one.kind() == "assignment" && !source.field(one, "left").contains(['.', '[']);
            !is_set && !is_assertion(one)
        }),
        _ => false,
    })
}

/// Adds an expression's own names, with the values of variables and the names in those.
fn add_variables<'a>(
    source: &Source<'a>,
    body: Node<'a>,
    node: Node<'a>,
    known: &mut BTreeMap<&'a str, Option<Node<'a>>>,
) {
    for one in std::iter::once(node).chain(source.inside(node)).filter(|one| is_name(*one)) {
        let name = source.of(one);
        if known.contains_key(name) || is_imported(source, name) {
            continue;
        }
        let value = value_of(source, body, name);
        known.insert(name, value);
        if let Some(value) = value {
            add_variables(source, body, value, known);
        }
    }
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
    let Some(body) = test.body.filter(|_| !callee.is_empty() && callee != "list") else {
        return false;
    };
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

/// Whether objects of a class of the file are equal to everything.
fn is_equal_to_all(source: &Source<'_>, class: &str) -> bool {
    let classes = source.of_kind(&["class_definition"]);
    let mut own = classes.filter(|node| source.field(*node, "name") == class);
    own.any(|node| ALWAYS_EQUAL.is_match(source.of(node)))
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

/// Statements behind which nothing runs in their block.
static ENDS: Pattern = Pattern::new(r"^(?:return|raise|throw|break|continue)_statement$");
/// The rest of a list.
static REST: Pattern = Pattern::new(r"^(\w+)(?:\[|\.slice\()(\d+):?[\])]$");

/// Whether a statement stands behind an end of its block, in a branch or loop that is never taken, behind
/// or in a branch that asks what it asserts, or in a function that nothing calls.
fn is_unreachable<'a>(source: &Source<'a>, node: Node<'a>, body: Node<'a>) -> bool {
    let is_asked = |one: Node<'a>, is_denied: bool| {
        let condition = one.child_by_field_name("condition");
        let words = condition
            .map(|one| write_out(source, one, body))
            .filter(|_| source.language != Language::Go);
        let denied = |one: String| one.replace("!==", "!=").replace(" != ", " == ");
        let words = words.filter(|one| one.contains(" !=") == is_denied).map(denied);
        words.is_some() && read_claim(source, node, body) == words
    };
    let is_end = |one: Node<'a>| {
        let then = source.field(one, "consequence").trim_matches(['{', '}', ' ', ';', '\n']);
        ENDS.is_match(one.kind()) || then == "return" && is_asked(one, true)
    };
    let mut inner = node;
    while inner.id() != body.id() {
        let Some(outer) = inner.parent() else { return false };
        let is_block = outer.kind().contains("block") || outer.kind() == "statement_list";
        let mut before =
            std::iter::successors(inner.prev_named_sibling(), Node::prev_named_sibling);
        let condition = source.field(outer, "condition").trim_matches(['(', ')']);
        let is_taken = outer.child_by_field_name("consequence") == Some(inner)
            || outer.kind() == "while_statement";
        let is_never = ["False", "false", "0", "None", "null"].contains(&condition)
            || is_taken && is_asked(outer, false);
        if is_block && before.any(is_end) || is_taken && is_never || is_idle(source, outer, body) {
            return true;
        }
        inner = outer;
    }
    false
}

/// Whether a loop runs over something empty, or nothing calls a function inside of a test.
fn is_idle<'a>(source: &Source<'a>, outer: Node<'a>, body: Node<'a>) -> bool {
    let mentions = |name: &str| {
        let is_named =
            |one: &Node<'a>| one.kind().contains("identifier") && source.of(*one) == name;
        // To ask what a function is does not call it.
        let is_shown = |one: &Node<'a>| {
            around(*one, &["call", "call_expression"]).is_some_and(|call| {
                let asked = call.parent().map(|up| source.field(up, "property"));
                source.of(call) == format!("callable({name})")
                    || source.of(call) == format!("expect({name})")
                        && asked.is_some_and(|asked| asked.starts_with("toBe"))
            })
        };
        source.inside(body).filter(|one| is_named(one) && !is_shown(one)).count()
    };
    if FUNCTIONS.contains(&outer.kind())
        && let Some(up) = outer.parent()
    {
        let is_method = around(up, &["class_definition", "class_body"])
            .is_some_and(|class| class.start_byte() > body.start_byte());
        let name = match up.kind() {
            "variable_declarator" => source.field(up, "name"),
            "block" | "statement_block" if !is_method => source.field(outer, "name"),
            _ => "",
        };
        let is_given = up.parent().is_some_and(|call| source.of(call).starts_with("[].forEach("));
        return is_given || !name.is_empty() && mentions(name) == 1;
    }
    let clause = named_children(outer).into_iter().find(|one| one.kind() == "range_clause");
    let is_loop = matches!(outer.kind(), "for_statement" | "for_in_statement");
    let over = clause.unwrap_or(outer).child_by_field_name("right").filter(|_| is_loop);
    let Some(over) = over else { return false };
    let text = source.of(over);
    let is_rest = REST.captures(text).next().is_some_and(|found| {
        let list = source.nodes.first().and_then(|root| value_of(source, *root, &found[1]));
        let from = found[2].parse().unwrap_or_default();
        list.is_some_and(|list| {
            ["list", "tuple", "array"].contains(&list.kind()) && list.named_child_count() <= from
        })
    });
    let unfilled = value_of(source, body, text).filter(|_| mentions(text) == 2);
    is_rest || EMPTY.is_match(unfilled.map_or(text, |value| source.of(value)))
}
