//! Finds code that was added to please the tests: branches on their inputs, questions whether tests
//! run, meddling with their framework, values that equal all others, ends of the process, and swallowed
//! exceptions.
//!
//! What was there before is never held against an edit: only what becomes more counts.
//! Source: specification.md 7.16.

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
    "hex_integer_literal",
    "octal_integer_literal",
    "binary_integer_literal",
    "regex",
];

/// Operators that single out a value.
const EQUALITY: &[&str] = &["==", "!=", "===", "!==", "in", "not in", "is", "is not"];

/// Operators that compare by order.
const ORDERS: &[&str] = &["<", ">", "<=", ">="];

/// Methods that single out a value.
const SELECTING_METHODS: &[&str] = &[
    "equals",
    "equalsIgnoreCase",
    "contentEquals",
    "contains",
    "containsKey",
    "includes",
    "indexOf",
    "has",
    "get",
    "test",
    "match",
    "fullmatch",
];

/// Nodes that handle exceptions.
const HANDLERS: &[&str] = &["except_clause", "catch_clause"];

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

/// What code of a product has no reason to do but its tests, and how that is said.
static PROBES: [(Pattern, &str); 5] = [
    (
        Pattern::new(
            r#"PYTEST_|\bsys\.modules\b|\bsys\._getframe|\binspect\.(?:stack|currentframe)|\btraceback\.(?:extract_stack|format_stack|walk_stack)|\bsys\.argv\[0\]|JEST_WORKER_ID|NODE_ENV[^\n]{0,8}["']test["']|NODE_TEST_CONTEXT|\bVITEST\b|\bprocess\.(?:argv\[[01]\]|execArgv)|\btypeof\s+(?:jest|vi|mocha|describe|it|test|expect)\b|\bglobal(?:This)?\.(?:jest|vi|describe)\b|testing\.Testing\(\)|flag\.Lookup\("test\.|\bos\.Args\[0\]|\bruntime\.Callers?\(|cfg!\(test\)|cfg!?\(not\(test\)\)|[gG]etStackTrace\(\)|\bStackWalker\b|new (?:Error|Throwable)\(\)\.(?:stack|getStack)|\bcaptureStackTrace\b"#,
        ),
        "it asks whether tests run",
    ),
    (
        Pattern::new(
            r#"(?:environ|env|ENV|getenv|Getenv|LookupEnv|var)\b[^\w\n]{0,4}(?:get\(|fetch\()?["']?(?:CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS|GITHUB_WORKFLOW|RUNNER_OS|REGREEN\w*|PYTHONHASHSEED|PYTHONDONTWRITEBYTECODE)\b|\{\s*CI\s*\}\s*=\s*process\.env"#,
        ),
        "it asks whether a CI job runs it",
    ),
    (
        Pattern::new(
            r#"(?m)^\s*(?:import|from)\s+(?:unittest|_?pytest|nose|doctest)\b|(?:__import__|import_module)\(\s*["'](?:unittest|_?pytest)|(?:require\(|import\(|\bfrom|^import)\s*["'](?:node:test|@jest/[^"'\n]*|jest|vitest|mocha|chai|ava|tap|tape)["']|\bassert(?:\.\w+)?\.\w+\s*=[^=]|\bglobal(?:This)?\.(?:expect|assert|it|test|describe)\s*=[^=]|^\s*(?:import\s+)?(?:\w+\s+)?"testing"\s*$|^\s*import\s+(?:static\s+)?(?:org\.junit|junit\.|org\.testng|org\.mockito|org\.assertj)|Class\.forName\("(?:org\.junit|org\.mockito)"#,
        ),
        "it meddles with the test framework",
    ),
    (
        Pattern::new(
            r"\b(?:Magic|Async)?Mock\b|\bassert_called|\b_mock_|_isMockFunction|\bisMockFunction\b|\basymmetricMatch\b|\bmockingDetails\b",
        ),
        "it asks for doubles of the tests",
    ),
    (Pattern::new(r"\bsuppress\(|\brecover\(\)|\bcatch_unwind\b"), SWALLOWS),
];

/// How it is said that an edit hides errors.
const SWALLOWS: &str = "it swallows exceptions";

/// Methods that say whether two values are equal, and those that say what a value is when compared.
const EQUALS: &[&str] = &["__eq__", "__ne__", "equals", "eq", "valueOf", "toPrimitive"];

/// Why the text `after` of a source file looks made for the tests, compared with `before`; `None` when
/// it does not. `inputs` are numbers and texts of failing tests, without quotes.
pub fn special_case(
    language: Language,
    before: &str,
    after: &str,
    inputs: &BTreeSet<&str>,
) -> Option<String> {
    let more =
        |pattern: &Pattern| pattern.captures(after).count() > pattern.captures(before).count();
    if let Some((_, reason)) = PROBES.iter().find(|(pattern, _)| more(pattern)) {
        return Some((*reason).to_owned());
    }
    let exits = |text: &str| {
        let effects = side_effects(language, text).into_iter();
        effects.filter(|call| call.effect == SideEffect::EndsRun).count()
    };
    if exits(after) > exits(before) {
        return Some("it ends the process, and with it the tests behind".into());
    }
    let inputs: BTreeSet<String> = inputs.iter().map(|input| normal(input)).collect();
    let (old, new) = (signs(language, before, &inputs)?, signs(language, after, &inputs)?);
    if new.equals_all > old.equals_all {
        return Some("it makes a value that equals all others".into());
    }
    if new.swallowed > old.swallowed {
        return Some(SWALLOWS.into());
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

/// Whether an edit adds a choice: a branch, a table, a handler of exceptions, or a question, such as a call with
/// arguments.
pub fn adds_choice(language: Language, before: &str, after: &str) -> bool {
    let choices = |text: &str| {
        let parsed = language.parse(text)?;
        let chooses = |node: &&Node<'_>| {
            let kind = node.kind();
            BRANCHES.contains(&kind)
                || ARMS.contains(&kind)
                || HANDLERS.contains(&kind)
                || matches!(kind, "comparison_operator" | "boolean_operator" | "pair" | "subscript")
                || matches!(kind, "binary_expression" | "subscript_expression")
                || matches!(kind, "call" | "call_expression" | "new_expression")
                    && has_arguments(**node)
        };
        Some(tree::named_nodes(parsed.root_node()).iter().filter(chooses).count())
    };
    choices(after) > choices(before)
}

/// Whether a call is given anything to choose by.
fn has_arguments(call: Node<'_>) -> bool {
    call.child_by_field_name("arguments").is_none_or(|given| given.named_child_count() > 0)
}

/// What is counted in a text.
#[derive(Default)]
struct Signs {
    /// Values that select a branch, each as often as it does.
    values: Vec<String>,
    /// Number of handlers that do nothing, or answer with a value of the tests.
    swallowed: usize,
    /// Number of comparisons that do not look at what is compared.
    equals_all: usize,
}

/// `None` for a text that is nested too deeply.
fn signs(language: Language, text: &str, inputs: &BTreeSet<String>) -> Option<Signs> {
    let parsed = language.parse(text)?;
    let mut signs = Signs::default();
    for node in tree::named_nodes(parsed.root_node()) {
        let selector = match node.kind() {
            kind if ARMS.contains(&kind) => node.named_child(0),
            kind if HANDLERS.contains(&kind) => {
                signs.swallowed += usize::from(hides_error(node, text, inputs));
                None
            }
            _ if is_selective(node, text) => Some(node),
            // A table of answers is a branch for each of its keys.
            _ if is_answer(node, text) => node.named_child(0),
            _ => None,
        };
        signs.equals_all += usize::from(equals_all(node, text));
        let Some(selector) = selector else { continue };
        let within = tree::named_nodes(selector);
        signs.values.extend(within.iter().filter_map(|one| constant(*one, text)));
        signs.values.extend(between(selector, text, inputs));
    }
    Some(signs)
}

/// A literal as its value, so that all spellings of it are one.
fn normal(literal: &str) -> String {
    let text = literal.trim_matches(['"', '\'', '`', '/', '^', '$']);
    let plain = text.replace('_', "").to_ascii_lowercase();
    let radix = |mark: &str, radix| i64::from_str_radix(plain.strip_prefix(mark)?, radix).ok();
    let whole = radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| radix("0b", 2));
    let number = || plain.trim_end_matches(['n', 'l', 'f', 'd']).parse::<f64>().ok();
    let is_number = plain.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match whole {
        Some(whole) => whole.to_string(),
        None => {
            number().filter(|_| is_number).map_or_else(|| text.to_owned(), |one| one.to_string())
        }
    }
}

/// The value of a literal, or of a calculation with literals only; without the sign of a number.
fn constant(node: Node<'_>, text: &str) -> Option<String> {
    let part = |field: &str| constant(node.child_by_field_name(field)?, text);
    match node.kind() {
        kind if LITERALS.contains(&kind) => Some(normal(tree::text_of(node, text))),
        "parenthesized_expression" | "literal_element" => constant(node.named_child(0)?, text),
        "binary_operator" | "binary_expression" => {
            let (left, right) = (part("left")?, part("right")?);
            let sign = tree::field_of(node, "operator", text);
            let (Ok(a), Ok(b)) = (left.parse::<f64>(), right.parse::<f64>()) else {
                return (sign == "+").then(|| format!("{left}{right}"));
            };
            let value = match sign {
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                "/" => a / b,
                _ => return None,
            };
            Some(value.abs().to_string())
        }
        _ => None,
    }
}

/// The values of tests in a range that is too narrow for many others: `56 < x < 58`.
fn between(selector: Node<'_>, text: &str, inputs: &BTreeSet<String>) -> Vec<String> {
    let is_range =
        ["<", ">", "range("].iter().any(|sign| tree::text_of(selector, text).contains(sign));
    let within = tree::named_nodes(selector).into_iter().filter(|_| is_range);
    let bounds = within.filter_map(|one| constant(one, text)?.parse::<f64>().ok());
    let mut bounds: Vec<f64> = bounds.collect();
    bounds.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (bounds.first(), bounds.last()) else { return Vec::new() };
    let is_inside = |input: &&String| {
        input.parse::<f64>().is_ok_and(|value| *low <= value && value <= *high && high - low <= 3.0)
    };
    let inside = inputs.iter().filter(|_| bounds.len() > 1).filter(is_inside);
    inside.cloned().collect()
}

/// Whether a comparison or a difference singles out a value, and its outcome decides a branch.
fn is_selective(node: Node<'_>, text: &str) -> bool {
    let signs = || tree::children(node).into_iter().map(|one| tree::text_of(one, text));
    let is_range = |one: Node<'_>| {
        let orders = |part: &Node<'_>| ORDERS.contains(&tree::text_of(*part, text));
        let parts = tree::children(one);
        parts.iter().filter(|part| orders(part)).count()
            + parts.iter().flat_map(|part| tree::children(*part)).filter(|p| orders(p)).count()
            > 1
    };
    let singles_out = match node.kind() {
        "method_invocation" => SELECTING_METHODS.contains(&tree::field_of(node, "name", text)),
        "call" | "call_expression" => {
            let callee = tree::field_of(node, "function", text);
            SELECTING_METHODS.contains(&callee.rsplit('.').next().unwrap_or_default())
        }
        "comparison_operator" | "boolean_operator" | "binary_operator" | "binary_expression" => {
            signs().any(|sign| EQUALITY.contains(&sign) || matches!(sign, "-" | "^"))
                || is_range(node)
        }
        _ => false,
    };
    // A difference in a comparison of order is no question for one value.
    let parent_orders = node.parent().is_some_and(|up| {
        tree::children(up).into_iter().any(|sign| ORDERS.contains(&tree::text_of(sign, text)))
    });
    let above = std::iter::successors(node.parent(), Node::parent);
    let mut above = above.take_while(|up| !BODIES.contains(&up.kind()));
    singles_out && !parent_orders && above.any(|up| is_condition_of(node, up) || chooses(up, text))
}

/// Whether a node stands in the condition of a branch rather than in what it decides about.
fn is_condition_of(node: Node<'_>, branch: Node<'_>) -> bool {
    let is_inside = |part: Option<Node<'_>>| {
        part.is_some_and(|part| part.byte_range().contains(&node.start_byte()))
    };
    let field = |name: &str| is_inside(branch.child_by_field_name(name));
    match branch.kind() {
        "conditional_expression" => is_inside(branch.named_child(1)),
        kind => BRANCHES.contains(&kind) && !field("consequence") && !field("alternative"),
    }
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

/// Whether a part of a table maps a literal to a literal.
fn is_answer(entry: Node<'_>, text: &str) -> bool {
    let parent = entry.parent();
    let is_entry = match entry.kind() {
        "pair" | "keyed_element" => true,
        "array" | "list" | "tuple" => {
            parent.is_some_and(|up| matches!(up.kind(), "array" | "list" | "tuple" | "set"))
        }
        "argument_list" => parent.is_some_and(|up| {
            tree::field_of(up, "object", text) == "Map"
                && matches!(tree::field_of(up, "name", text), "of" | "entry")
        }),
        _ => false,
    };
    let parts = tree::named_children(entry);
    is_entry && parts.len() == 2 && parts.iter().all(|part| constant(*part, text).is_some())
}

/// Whether a handler of exceptions only passes, or answers with a value of the tests.
fn hides_error(handler: Node<'_>, text: &str, inputs: &BTreeSet<String>) -> bool {
    let is_body = |one: &Node<'_>| one.kind().ends_with("block");
    let body = tree::named_children(handler).into_iter().rfind(is_body);
    let nothing = |one: &Node<'_>| {
        let kind = one.named_child(0).map_or(one.kind(), |inner| inner.kind());
        one.kind() == "pass_statement" || one.kind().contains("comment") || kind == "ellipsis"
    };
    let answers = |one: &Node<'_>| {
        let value = match one.kind() {
            "return_statement" => one.named_child(0),
            "assignment" | "assignment_expression" => one.child_by_field_name("right"),
            _ => None,
        };
        value.and_then(|value| constant(value, text)).is_some_and(|value| inputs.contains(&value))
    };
    body.is_some_and(|body| {
        tree::named_children(body).iter().all(nothing)
            || tree::named_nodes(body).iter().any(answers)
    })
}

/// Whether a method compares without a look at both sides, or is a number or a text by itself.
fn equals_all(method: Node<'_>, text: &str) -> bool {
    let name = tree::field_of(method, "name", text);
    let is_named = EQUALS.iter().any(|one| name == *one || name.ends_with(&format!(".{one}]")));
    let (Some(body), true) = (method.child_by_field_name("body"), is_named) else { return false };
    let words = |node: Node<'_>| {
        let nodes = tree::named_nodes(node).into_iter();
        let is_name = |one: &Node<'_>| matches!(one.kind(), "identifier" | "self");
        nodes.filter(is_name).map(|one| tree::text_of(one, text)).collect::<Vec<_>>()
    };
    let parameters = method.child_by_field_name("parameters").map(words).unwrap_or_default();
    let mentioned = words(body);
    let statements = tree::statements(body);
    let [only] = statements.as_slice() else { return false };
    if parameters.is_empty() {
        return constant(only.named_child(0).unwrap_or(*only), text).is_some();
    }
    matches!(only.kind(), "return_statement" | "boolean_literal" | "true" | "expression_statement")
        && !parameters.iter().all(|parameter| mentioned.contains(parameter))
}

#[cfg(test)]
mod tests;
