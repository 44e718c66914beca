//! What an assertion claims, in words, with variables, helpers of the file and copies replaced by what
//! they stand for: two ways to write one value read the same.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::source::Source;
use crate::code::pattern::Pattern;
use crate::code::test_cases::TestNode;
use crate::code::tree::{FUNCTIONS, around, children, named_children, statements};

/// How many variables and helpers are followed, one inside of another.
const DEPTH: u32 = 6;

/// Functions and methods whose result equals what they get.
static COPIES: Pattern = Pattern::new(
    r"^(?:list|tuple|(?:copy\.)?(?:deep)?copy|structuredClone|json\.(?:load|dump)s|JSON\.\w+)$",
);
/// Claims about nothing but numbers, and claims that hold for every value.
pub static NUMBERS: Pattern = Pattern::new(r"^[-+*/ \d.]+ == [-+*/ \d.]+$");
static ALWAYS: Pattern = Pattern::new(
    r#"^isinstance \( .* , object \)$| instanceof Object$|^(?:len|abs) \( .* \) >= 0$| \. length >= 0$|^hasattr \( .* , ['"]__class__['"] \)$|^all \( .* in (?:\[ \]|\( \)|\{ \}|range \( 0 \)) \)$|^(?:callable \( )?lambda |^\( [^()]*(?:\([^()]*\)[^()]*)* , [^()]* \)$|^(?:str|repr) \( \w+ \( [^=<>]*$"#,
);

/// The claim of an assertion; equality is `==` in every language.
pub fn read_claim<'a>(source: &Source<'a>, assertion: Node<'a>, body: Node<'a>) -> Option<String> {
    let form = |node: Node<'a>| write_out(source, node, body);
    if let Some((left, right)) = compared_sides(source, assertion) {
        let (left, right) = (form(left), form(right));
        return Some(if right == "true" { left } else { format!("{left} == {right}") });
    }
    let function = assertion.child_by_field_name("function");
    let list = assertion.child_by_field_name("arguments").unwrap_or(assertion);
    let mut given: Vec<_> = named_children(list).into_iter().map(form).collect();
    if let Some(expect) = function.and_then(|one| one.child_by_field_name("object")) {
        let subject = expect.child_by_field_name("arguments").and_then(|list| list.named_child(0));
        given.splice(..0, subject.map(form));
    }
    let name = function.map_or("assert", |one| source.of(one)).rsplit('.').next()?;
    match (name, &given[..]) {
        ("assertTrue" | "assert" | "ok" | "true" | "toBeTruthy", [one, ..]) => Some(one.clone()),
        ("assertIsInstance", [one, class, ..]) => Some(format!("isinstance ( {one} , {class} )")),
        ("assertGreaterEqual" | "toBeGreaterThanOrEqual", [one, least, ..]) => {
            Some(format!("{one} >= {least}"))
        }
        _ => None,
    }
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
        || ALWAYS.is_match(claim)
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
            let given = node.child_by_field_name("arguments").filter(|list| {
                COPIES.is_match(source.field(node, "function")) && list.named_child_count() == 1
            });
            let copied = given.and_then(|list| list.named_child(0)).map(inner);
            copied.or_else(|| helper_form(source, node, &inner, depth))
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

/// A call of a function of the file that does nothing but return an expression, as that expression.
fn helper_form<'a>(
    source: &Source<'a>,
    call: Node<'a>,
    form: &dyn Fn(Node<'a>) -> String,
    depth: u32,
) -> Option<String> {
    let name = source.field(call, "function").rsplit('.').next()?;
    let mut named = source.of_kind(FUNCTIONS).filter(|function| {
        let declared = function.parent().filter(|one| one.kind() == "variable_declarator");
        source.field(declared.unwrap_or(*function), "name") == name
    });
    let function = named.next().filter(|_| named.next().is_none())?;
    let body = function.child_by_field_name("body")?;
    let result = match statements(body)[..] {
        [only] if only.kind() == "return_statement" => only.named_child(0)?,
        _ if body.kind().ends_with("block") => return None,
        _ => body,
    };
    let list = function.child_by_field_name("parameters").map(named_children)?;
    let names = list.into_iter().map(|one| source.of(one)).filter(|one| *one != "self");
    let arguments = named_children(call.child_by_field_name("arguments")?);
    let given = names.zip(arguments.into_iter().map(form)).collect();
    Some(plain_form(source, result, body, &given, depth))
}

/// The code of a value: for a variable that is set once in the test, what it is set to.
pub fn find_origin<'a>(source: &Source<'a>, test: &TestNode<'a>, node: Node<'a>) -> Node<'a> {
    let body = test.body.filter(|_| is_name(node));
    body.and_then(|body| value_of(source, body, source.of(node))).unwrap_or(node)
}

/// What a variable is set to, if a test sets it once.
pub fn value_of<'a>(source: &Source<'a>, body: Node<'a>, name: &str) -> Option<Node<'a>> {
    let mut values = source.inside(body).filter_map(|one| {
        let (left, value) = match one.kind() {
            "assignment" | "short_var_declaration" => ("left", "right"),
            "variable_declarator" => ("name", "value"),
            "update_expression" => ("argument", ""),
            kind if kind.contains("assignment") => ("left", ""),
            _ => return None,
        };
        let target = one.child_by_field_name(left)?;
        let value = one.child_by_field_name(value);
        // Each name of a generator that is unpacked stands for what it makes.
        let is_unpacked = target.kind() == "pattern_list"
            && value.is_some_and(|value| value.kind() == "generator_expression");
        let is_target = source.of(target) == name
            || is_unpacked && named_children(target).iter().any(|one| source.of(*one) == name);
        is_target.then_some(value)
    });
    let only = values.next()?;
    only.filter(|_| values.next().is_none())
}

pub fn is_name(node: Node<'_>) -> bool {
    node.kind() == "identifier"
}
