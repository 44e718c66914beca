//! What an assertion claims, in words, with variables, helpers of the file and copies replaced by what
//! they stand for: two ways to write one value read the same.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::source::Source;
use crate::code::pattern::Pattern;
use crate::code::test_cases::TestNode;
use crate::code::tree::{FUNCTIONS, around, children, first_field, named_children, statements};

/// How many variables and helpers are followed, one inside of another.
pub const DEPTH: u32 = 6;

/// Functions whose result equals what they get.
static COPIES: Pattern = Pattern::new(r"^(?:(?:copy\.)?(?:deep)?copy|structuredClone)$");
/// Nodes that set or change variables.
static SETS: Pattern = Pattern::new(
    r"assignment|^(?:variable_declarator|short_var_declaration|var_spec|named_expression|update_expression|for_statement|for_in_\w+|range_clause|as_pattern|inc_statement|dec_statement)$",
);
/// Something empty.
pub static EMPTY: Pattern =
    Pattern::new(r#"^(?:\[\]|\(\)|\{\}|""|''|range\(0\)|\[\](?:[\w*.]+|struct\s*\{[^}]*\})\{\})$"#);

/// The claim of an assertion; equality is `==` in every language.
pub fn read_claim<'a>(source: &Source<'a>, assertion: Node<'a>, body: Node<'a>) -> Option<String> {
    let form = |node: Node<'a>| write_out(source, node, body);
    if let Some((left, right)) = compared_sides(source, assertion) {
        let (left, right) = (form(left), form(right));
        return Some(if right == "true" { left } else { format!("{left} == {right}") });
    }
    match name_and_values(source, assertion) {
        ("assertTrue" | "assert" | "assert_statement" | "ok" | "true" | "toBeTruthy", given) => {
            given.first().copied().map(form)
        }
        _ => None,
    }
}

/// The name of an assertion and what it gets, the subject of `expect` first.
fn name_and_values<'a>(source: &Source<'a>, assertion: Node<'a>) -> (&'a str, Vec<Node<'a>>) {
    let function = assertion.child_by_field_name("function");
    let expect = function.and_then(|one| one.child_by_field_name("object"));
    let subject = expect.and_then(|one| one.child_by_field_name("arguments")?.named_child(0));
    let list = assertion.child_by_field_name("arguments").unwrap_or(assertion);
    let name = function.map_or(assertion.kind(), |one| source.of(one)).rsplit('.').next();
    (name.unwrap_or_default(), subject.into_iter().chain(named_children(list)).collect())
}

/// The two sides that an assertion compares for equality.
pub fn compared_sides<'a>(
    source: &Source<'a>,
    assertion: Node<'a>,
) -> Option<(Node<'a>, Node<'a>)> {
    if source.language == Language::Go {
        let asked = around(assertion, &["if_statement"])?.child_by_field_name("condition")?;
        let sides = asked.child_by_field_name("left").zip(asked.child_by_field_name("right"));
        return sides.filter(|_| source.field(asked, "operator") == "!=");
    }
    let inner = assertion.named_child(0)?;
    if inner.kind() == "comparison_operator" {
        let signs = inner.child(1).map(|sign| source.of(sign));
        let is_equal = matches!(signs, Some("==" | "is"));
        let [left, right] = named_children(inner).try_into().ok().filter(|_| is_equal)?;
        return Some((left, right));
    }
    match name_and_values(source, assertion) {
        (
            "equal" | "strictEqual" | "deepEqual" | "deepStrictEqual" | "is" | "assertEqual"
            | "toBe" | "toEqual" | "toStrictEqual",
            values,
        ) => Some((*values.first()?, *values.get(1)?)),
        _ => None,
    }
}

/// Whether a claim is true by its form: a size of zero or more, an object, a filled tuple.
pub fn is_true_by_form<'a>(
    source: &Source<'a>,
    node: Node<'a>,
    body: Node<'a>,
    depth: u32,
) -> bool {
    let (node, Some(depth)) = (origin(source, body, node), depth.checked_sub(1)) else {
        return false;
    };
    let (name, given) = name_and_values(source, node);
    let text = |at: usize| given.get(at).map(|one| source.of(*one)).unwrap_or_default();
    let first = given.first().map(|one| origin(source, body, *one));
    let has_size = first.is_some_and(|one| {
        matches!(source.field(one, "function"), "len" | "abs")
            || source.field(one, "property") == "length"
    });
    let inner = |one: Node<'a>| is_true_by_form(source, one, body, depth);
    match (node.kind(), name) {
        ("lambda", _) => true,
        ("tuple", _) => first.is_some(),
        ("comparison_operator" | "binary_expression", _) => {
            let sign = node.child(1).map(|sign| source.of(sign));
            has_size && given.len() == 2 && sign == Some(">=") && text(1) == "0"
        }
        (_, "assertGreaterEqual" | "toBeGreaterThanOrEqual") => has_size && text(1) == "0",
        (_, "isinstance" | "assertIsInstance") => text(1) == "object",
        (_, "hasattr") => text(1).trim_matches(['"', '\'']) == "__class__",
        (_, "callable") => first.is_some_and(|one| one.kind() == "lambda"),
        (_, "all") => source.inside(node).any(|one| {
            one.kind() == "for_in_clause"
                && around(one, &["call"]) == Some(node)
                && EMPTY.is_match(source.field(one, "right"))
        }),
        (_, "assertTrue" | "assert" | "assert_statement" | "ok" | "true" | "toBeTruthy") => {
            first.is_some_and(inner)
        }
        (_, "toBe" | "toEqual" | "equal") => text(1) == "true" && first.is_some_and(inner),
        _ => helper_of(source, node)
            .is_some_and(|(function, result)| is_true_by_form(source, result, function, depth)),
    }
}

/// Whether a claim compares two equal numbers, as they are or as sums of products.
pub fn compares_equal_numbers(claim: &str) -> bool {
    let value = |sum: &str| {
        let sum = sum.replace("- ", "+ -");
        let terms = sum.trim_start_matches("+ ").split(" + ");
        let product = |term: &str| -> Option<f64> {
            term.split(" * ").map(|one| one.parse::<f64>().ok()).product()
        };
        terms.map(product).sum::<Option<f64>>()
    };
    let sides = claim.split_once(" == ").and_then(|(a, b)| value(a).zip(value(b)));
    sides.is_some_and(|(a, b)| a.total_cmp(&b).is_eq())
}

/// Whether a claim is true whatever the code does.
pub fn is_always_true(claim: &str, language: Language) -> bool {
    let any = |signs: &[&str], holds: &dyn Fn(&str, &str) -> bool| {
        signs.iter().any(|sign| {
            claim.match_indices(sign).any(|(at, _)| {
                let rest = claim.get(at + sign.len()..).unwrap_or_default();
                holds(claim.get(..at).unwrap_or_default(), rest)
            })
        })
    };
    let denied = |one: &str| format!(" {one}").replace(" not ", " ").replace(" ! ", " ");
    let denied = |one: &str| denied(one).replace("!=", "==");
    // In Python, two new objects are equal only where their class says so.
    let is_made = |one: &str| {
        language == Language::Python && one.starts_with(char::is_uppercase) && !one.contains(" . ")
    };
    any(&[" == ", " === ", " is "], &|one, other| {
        one == other && one.contains('(') && !is_made(one)
    }) || any(&[" or ", " || "], &|one, other| {
        other.eq_ignore_ascii_case("true") || one != other && denied(one) == denied(other)
    }) || any(&[" in [ ", " in ( "], &|one, other| {
        other.strip_prefix(one).is_some_and(|rest| rest.starts_with(" ,"))
    }) || any(&[" if "], &|one, other| other.strip_suffix(" else True") == Some(one))
}

/// An expression of a test in words.
pub fn write_out<'a>(source: &Source<'a>, node: Node<'a>, body: Node<'a>) -> String {
    plain_form(source, node, body, &BTreeMap::new(), DEPTH)
}

/// An expression in words; `given` are the values of the parameters of a helper.
fn plain_form<'a>(
    source: &Source<'a>,
    node: Node<'a>,
    scope: Node<'a>,
    given: &BTreeMap<&str, String>,
    depth: u32,
) -> String {
    let text = source.of(node);
    let Some(depth) = depth.checked_sub(1) else { return text.to_owned() };
    let form = |node: Node<'a>| plain_form(source, node, scope, given, depth + 1);
    let inner = |node: Node<'a>| plain_form(source, node, scope, given, depth);
    let whole = match node.kind() {
        "identifier" => given.get(text).cloned().or_else(|| {
            // What is put into a collection later is not seen.
            let mutable = ["list", "dictionary", "set", "array", "object", "composite_literal"];
            let value = value_of(source, scope, text);
            value.filter(|one| !mutable.contains(&one.kind())).map(inner)
        }),
        "parenthesized_expression" | "expression_list" => node.named_child(0).map(form),
        "call" | "call_expression" => {
            let list = node.child_by_field_name("arguments");
            let only = list.filter(|list| list.named_child_count() == 1);
            let copied = only.and_then(|list| list.named_child(0)).filter(|one| {
                let callee = source.field(node, "function");
                let one = origin(source, scope, *one);
                let is_list = matches!(one.kind(), "list" | "list_comprehension")
                    || source.field(one, "function") == "list";
                COPIES.is_match(callee) || callee == "list" && is_list
            });
            copied.map(inner).or_else(|| helper_form(source, node, &inner, depth))
        }
        "array" if node.named_child_count() == 1 => node
            .named_child(0)
            .filter(|one| one.kind() == "spread_element")
            .and_then(|one| one.named_child(0))
            .map(inner),
        kind if kind.contains("string") => Some(text.to_owned()),
        _ => None,
    };
    let words = |one: Node<'a>| {
        let is_member = one.prev_sibling().is_some_and(|dot| dot.kind() == ".");
        let is_callee = is_name(one) && node.child_by_field_name("function") == Some(one);
        let is_option = one.next_sibling().is_some_and(|sign| sign.kind() == "=");
        if is_member || is_callee || is_option { source.of(one).to_owned() } else { form(one) }
    };
    whole.unwrap_or_else(|| match children(node)[..] {
        [] => text.to_owned(),
        ref parts => parts.iter().map(|one| words(*one)).collect::<Vec<_>>().join(" "),
    })
}

/// A call of a helper as the expression that the helper returns.
fn helper_form<'a>(
    source: &Source<'a>,
    call: Node<'a>,
    form: &dyn Fn(Node<'a>) -> String,
    depth: u32,
) -> Option<String> {
    let (function, result) = helper_of(source, call)?;
    let mut given = BTreeMap::new();
    let mut names = Vec::new();
    for one in named_children(function.child_by_field_name("parameters")?) {
        let typed = one.named_child(0).filter(|_| one.kind() == "typed_parameter");
        let name = first_field(one, &["name", "left", "pattern"]).or(typed).unwrap_or(one);
        let name = source.of(Some(name).filter(|one| is_name(*one))?);
        let default = first_field(one, &["value", "right"]);
        given.extend(default.map(|value| (name, form(value))));
        names.extend(Some(name).filter(|name| *name != "self"));
    }
    let mut names = names.into_iter();
    for one in named_children(call.child_by_field_name("arguments")?) {
        let (name, value) = match one.kind() {
            "keyword_argument" => (source.field(one, "name"), one.child_by_field_name("value")?),
            "list_splat" | "dictionary_splat" | "spread_element" | "for_in_clause" => return None,
            _ => (names.next()?, one),
        };
        given.insert(name, form(value));
    }
    Some(plain_form(source, result, function.child_by_field_name("body")?, &given, depth))
}

/// The function or own method that a call means, if it only returns an expression, and that.
fn helper_of<'a>(source: &Source<'a>, call: Node<'a>) -> Option<(Node<'a>, Node<'a>)> {
    let callee = Some(source.field(call, "function")).filter(|callee| !callee.is_empty())?;
    let (name, class) = match callee.strip_prefix("self.") {
        Some(name) => (name, Some(around(call, &["class_definition"])?)),
        None => (callee, None),
    };
    let class_of = |function: Node<'a>| {
        let mut outer = std::iter::successors(function.parent(), Node::parent);
        let is_class = |up: &Node<'a>| up.kind().starts_with("class");
        outer.find(|up| is_class(up) || FUNCTIONS.contains(&up.kind())).filter(is_class)
    };
    let mut named = source.of_kind(FUNCTIONS).filter(|function| {
        let declared = function.parent().filter(|one| one.kind() == "variable_declarator");
        let is_named = source.field(declared.unwrap_or(*function), "name") == name;
        is_named && class_of(*function) == class
    });
    let function = named.next().filter(|_| named.next().is_none())?;
    let body = function.child_by_field_name("body")?;
    match statements(body)[..] {
        [only] if only.kind() == "return_statement" => Some((function, only.named_child(0)?)),
        _ => Some((function, body)).filter(|_| !body.kind().ends_with("block")),
    }
}

/// The code of a value: for a variable that is set once in the test, what it is set to.
pub fn find_origin<'a>(source: &Source<'a>, test: &TestNode<'a>, node: Node<'a>) -> Node<'a> {
    test.body.map_or(node, |body| origin(source, body, node))
}

fn origin<'a>(source: &Source<'a>, body: Node<'a>, node: Node<'a>) -> Node<'a> {
    let is_variable = is_name(node);
    is_variable.then(|| value_of(source, body, source.of(node))).flatten().unwrap_or(node)
}

/// What a variable is set to, if nothing in a test sets or changes it but one assignment.
pub fn value_of<'a>(source: &Source<'a>, body: Node<'a>, name: &str) -> Option<Node<'a>> {
    let is_name_of = |one: &Node<'a>| one.kind().contains("identifier") && source.of(*one) == name;
    let mut values = source.inside(body).filter_map(|one| {
        let step = ["inc_statement", "dec_statement"].contains(&one.kind());
        let target = first_field(one, &["left", "name", "argument", "alias", "operand"])
            .or(one.named_child(0).filter(|_| step))
            .filter(|_| SETS.is_match(one.kind()) || source.field(one, "operator") == "&")?;
        let is_target = is_name_of(&target) || source.inside(target).any(|one| is_name_of(&one));
        let is_assignment =
            ["assignment", "short_var_declaration", "variable_declarator"].contains(&one.kind());
        let value = first_field(one, &["right", "value"]).filter(|_| is_assignment);
        // Each name of a generator that is unpacked stands for what it makes.
        let is_plain = |value: &Node<'a>| {
            source.of(target) == name
                || target.kind() == "pattern_list" && value.kind() == "generator_expression"
        };
        is_target.then(|| value.filter(is_plain))
    });
    let only = values.next()?;
    only.filter(|_| values.next().is_none())
}

pub fn is_name(node: Node<'_>) -> bool {
    node.kind() == "identifier"
}
