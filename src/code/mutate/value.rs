//! Edit operators for any expression that is read: off by one, wrapped, negated, replaced.

use tree_sitter::Node;

use super::edit_site::{EditList, EditSite, first, is_condition};
use super::name::is_read;
use super::node_kind::NodeKind;
use super::spelling::has_package;
use super::type_fit::{may_be_of, type_fit};
use super::value_types::DeclaredType;
use NodeKind::{
    Arguments, Arithmetic, Assign, Augment, Call, Character, Choice, Compare, Logic, Member, Name,
    Not, Nothing, Number, OtherExpression, Return, Sequence, Slice, Subscript, Text, Truth,
};

/// Maximum number of nearby expressions tried in place of one.
pub const INGREDIENTS: usize = 24;

/// Whether a node is a value on one line that is read, neither a callee nor a member's object.
pub fn is_value(site: &EditSite<'_>) -> bool {
    let node = site.node;
    let inner = node.parent().is_some_and(|parent| {
        let is = |field: &&str| parent.child_by_field_name(field) == Some(node);
        ["function", "object"].iter().any(is)
            || NodeKind::of(parent) == Member && ["operand", "value"].iter().any(is)
    });
    site.kind.is_value()
        && site.parent != NodeKind::Update
        && is_read(node)
        && !inner
        && !matches!(site.text, "" | "self" | "this")
        && site.text.len() <= 200
        && !site.text.contains('\n')
}

/// Whether an expression may have a number as its value.
fn may_be_number(site: &EditSite<'_>) -> bool {
    let never = matches!(
        site.kind,
        Text | Character | Truth | Nothing | Logic | Compare | Not | Sequence | OtherExpression
    );
    !never && !is_boolean_call(site) && may_be_of(site, &DeclaredType::Number)
}

/// Functions that answer yes or no, in the languages together.
const PREDICATES: &[&str] = &[
    "all",
    "any",
    "callable",
    "contains",
    "containsKey",
    "contains_key",
    "ends_with",
    "endsWith",
    "endswith",
    "equals",
    "every",
    "exists",
    "has",
    "hasattr",
    "includes",
    "isinstance",
    "issubclass",
    "matches",
    "some",
    "startsWith",
    "starts_with",
    "startswith",
    "test",
];

/// Whether a call answers yes or no, by its name: `some`, `isinstance`, `isEmpty`, `has_key`.
pub fn is_boolean_call(site: &EditSite<'_>) -> bool {
    let Some(callee) = site.field("function").or_else(|| site.field("name")) else { return false };
    let name = site.text_of(callee).rsplit(['.', ':']).next().unwrap_or_default();
    let asks = ["is", "has"].iter().any(|start| {
        let rest = name.strip_prefix(start).unwrap_or_default();
        rest.starts_with(|c: char| c.is_uppercase() || c == '_')
    });
    site.kind == Call && (asks || PREDICATES.contains(&name))
}

/// Whether an expression may have a number as its value, but is not a number literal.
pub fn may_count(site: &EditSite<'_>) -> bool {
    may_be_number(site) && site.kind != Number
}

/// Whether an expression is used where off-by-one errors occur, such as indices and comparisons.
pub fn is_in_sum_or_index(site: &EditSite<'_>) -> bool {
    matches!(site.parent, Arguments | Subscript | Compare | Slice | Return | Assign | Arithmetic)
}

/// Whether an expression is an arithmetic operation or an operand of one.
pub fn is_of_arithmetic(site: &EditSite<'_>) -> bool {
    site.kind == Arithmetic || site.parent == Arithmetic
}

/// Whether an operand such as `+ x` may be missing after an expression.
pub fn may_lack_operand(site: &EditSite<'_>) -> bool {
    may_be_number(site)
        && matches!(site.parent, Return | Assign | Augment | Compare | Arguments | Subscript)
}

fn is_object(site: &EditSite<'_>) -> bool {
    matches!(site.kind, Name | Member | Subscript | Call)
}

/// Whether methods may be called on an expression.
pub fn has_methods(site: &EditSite<'_>) -> bool {
    is_object(site) || site.text.starts_with("[...")
}

/// Whether an expression says where a range begins or ends.
pub fn is_range_bound(site: &EditSite<'_>) -> bool {
    let call = site.node.parent().and_then(|arguments| arguments.parent());
    let callee = call.and_then(|call| call.child_by_field_name("function"));
    may_count(site)
        && !site.text.replace(' ', "").ends_with("+1")
        && callee.is_some_and(|callee| site.text_of(callee) == "range")
}

/// Whether a condition in parentheses is a part of another one.
pub fn is_group_of_logic(site: &EditSite<'_>) -> bool {
    let inner = site.node.named_child(0).map(NodeKind::of);
    site.node.kind() == "parenthesized_expression"
        && site.parent == Logic
        && inner.is_some_and(|inner| matches!(inner, Logic | Compare))
}

/// Whether an expression may have a sequence as its value.
pub fn may_be_sequence(site: &EditSite<'_>) -> bool {
    is_object(site) || site.node.kind() == "list_comprehension"
}

fn parenthesized(site: &EditSite<'_>, kinds: &[NodeKind]) -> String {
    if kinds.contains(&site.kind) { format!("({})", site.text) } else { site.text.to_owned() }
}

/// The text of the node, in parentheses if it binds less tightly than `+`.
pub fn grouped(site: &EditSite<'_>) -> String {
    parenthesized(site, &[Logic, Compare, Choice, Not])
}

/// Adds and subtracts one.
pub fn one_off(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    // In a product, the factor is meant.
    let operator = site.node.parent().and_then(|parent| parent.child_by_field_name("operator"));
    let operator = operator.map(|operator| site.text_of(operator));
    let is_factor = matches!(operator, Some("*" | "/" | "//" | "%"));
    let is_close = site.spelling.has_close_indices && matches!(site.parent, Subscript | Slice);
    let text = |delta: &str| {
        let delta = if is_close { delta.replace(' ', "") } else { format!(" {delta}") };
        let sum = format!("{}{delta}", grouped(site));
        if is_factor { format!("({sum})") } else { sum }
    };
    edits.replace_all(site.node, ["+ 1", "- 1"].map(text));
}

/// Whether a call is the object of the next one.
pub fn is_in_chain(site: &EditSite<'_>) -> bool {
    let parent = site.node.parent();
    let is_object = |parent: Node<'_>| {
        ["object", "value"].iter().any(|field| parent.child_by_field_name(field) == Some(site.node))
    };
    site.kind == Call && parent.is_some_and(is_object)
}

/// Whether a variable that may be a text is the object of a call.
pub fn is_text_receiver(site: &EditSite<'_>) -> bool {
    let parent = site.node.parent();
    let fields = ["object", "value"];
    let is_object = |parent: Node<'_>| {
        NodeKind::of(parent) != Assign
            && fields.iter().any(|field| parent.child_by_field_name(field) == Some(site.node))
    };
    let known = site.scope.types.names.get(site.text);
    let is_text = known.map_or(!site.spelling.is_typed, |known| *known == DeclaredType::Text);
    site.kind == Name && is_text && parent.is_some_and(is_object)
}

/// Whether a variable is set to true or false somewhere.
pub fn is_flag(site: &EditSite<'_>) -> bool {
    let is_set = |truth: &str| site.source.contains(&format!("{} = {truth}", site.text));
    site.kind == Name && !is_condition(site) && site.spelling.truths.into_iter().any(is_set)
}

/// Replaces a character by those that the file names.
pub fn character_instead(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if site.scope.types.names.get(site.text) == Some(&DeclaredType::Character) {
        let texts = site.scope.strings.iter().filter(|text| text.starts_with('\''));
        edits.replace_all(site.node, texts.take(3));
    }
}

/// Adds the first element of a sequence to what a call makes of the others.
pub fn with_first_element(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let [_, (open, close)] = site.spelling.cuts;
    let Some((before, _)) = site.text.split_once(&format!("{open}1{close}")) else { return };
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let name = before.rsplit(|c| !is_part(c)).next().filter(|name| !name.is_empty());
    let first = if open.starts_with(".substring") { ".charAt(0)" } else { "[0]" };
    if let Some(name) = name {
        edits.replace(site.node, format!("{name}{first} + {}", site.text));
    }
}

/// Doubles or halves the value.
pub fn share_of_value(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    /// A missing division by two is more common than other factors.
    const HALF: f64 = 0.2;
    const OTHER_SHARE: f64 = 0.15;
    let whole = parenthesized(site, &[Arithmetic]);
    edits.replace_with_share(site.node, format!("{whole} * 2"), OTHER_SHARE);
    edits.replace_with_share(site.node, format!("{whole} / 2"), HALF);
    if let Some(division) = site.spelling.floor_division {
        edits.replace_with_share(site.node, format!("{whole} {division} 2"), OTHER_SHARE);
    }
}

/// Wraps the value in a call of each function that is often forgotten.
pub fn wrap_in(wrappers: &[&str], site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let is_imported = |wrapper: &&&str| has_package(wrapper, site.source);
    // What a call makes of its only argument lacks it rather than the argument.
    let arguments = site.node.parent().filter(|_| site.parent == Arguments);
    let share = if arguments.is_some_and(|one| one.named_child_count() == 1) { 0.9 } else { 1.0 };
    for wrapper in wrappers.iter().filter(is_imported) {
        if !site.text.starts_with(&format!("{wrapper}(")) {
            edits.replace_with_share(site.node, format!("{wrapper}({})", site.text), share);
        }
    }
}

/// Appends each of the suffixes to the value.
pub fn append(suffixes: &[&str], site: &EditSite<'_>, edits: &mut EditList<'_>) {
    edits.replace_all(site.node, suffixes.iter().map(|suffix| format!("{}{suffix}", site.text)));
}

/// Takes the slice before or after a position given by a variable.
pub fn cut_at<'n>(
    names: impl Iterator<Item = &'n str>,
    site: &EditSite<'_>,
    edits: &mut EditList<'_>,
) {
    for name in names.filter(|name| *name != site.text) {
        for (open, close) in site.spelling.cuts {
            edits.replace(site.node, format!("{}{open}{name}{close}", site.text));
        }
    }
}

/// Replaces the node by other values, last those that seem to be of another type.
pub fn replace_fitting<'n>(
    values: impl Iterator<Item = &'n str>,
    site: &EditSite<'_>,
    edits: &mut EditList<'_>,
) {
    for value in values {
        edits.replace_with_share(site.node, value, type_fit(site, value));
    }
}

/// Negates a condition.
pub fn negated(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    // A negation is dropped instead of doubled.
    if site.parent == Not || !may_be_of(site, &DeclaredType::Truth) {
        return;
    }
    let not = site.spelling.not;
    let text = match site.kind {
        Name | Call | Member => format!("{not}{}", site.text),
        _ => format!("{not}({})", site.text),
    };
    edits.replace(site.node, text);
}

/// Joins a condition with another one.
pub fn extended_condition(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    /// A missing check belongs after the existing ones more often than before them.
    const BEHIND: f64 = 0.6;
    const BEFORE: f64 = 0.3;
    let [and, or] = site.spelling.logic;
    let inner = parenthesized(site, &[Logic]);
    for other in conditions(site) {
        edits.replace_with_share(site.node, format!("{inner} {and} {other}"), BEHIND);
        edits.replace_with_share(site.node, format!("{inner} {or} {other}"), BEHIND);
        edits.replace_with_share(site.node, format!("{other} {and} {inner}"), BEFORE);
    }
}

/// Conditions of the function, and comparisons between its variables and constants.
fn conditions(site: &EditSite<'_>) -> Vec<String> {
    let equal = site.spelling.equal;
    let others = site.scope.conditions.iter().filter(|one| *one != site.text);
    let mut found: Vec<String> = others.take(8).cloned().collect();
    for name in site.names(6).filter(|name| type_fit(site, name) >= 1.0) {
        found.push(name.to_owned());
        found.push(format!("{}{name}", site.spelling.not));
    }
    for name in site.names(5) {
        for other in site.names(5).filter(|other| *other != name) {
            found.push(format!("{name} {equal} {other}"));
            found.push(format!("{name} < {other}"));
        }
        for number in first(&site.scope.numbers, 3) {
            for sign in [equal, "<", ">", "<=", ">="] {
                found.push(format!("{name} {sign} {number}"));
            }
        }
    }
    found
}

/// Replaces the node by other expressions of the function, weighted by their similarity.
pub fn similar_expressions(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for other in first(&site.scope.expressions, INGREDIENTS) {
        let share = 0.5 + 0.5 * strsim::normalized_levenshtein(site.text, other);
        edits.replace_with_share(site.node, other, share);
    }
}

/// Replaces the node by an element of a sequence that the function indexes.
pub fn element_instead(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    for object in first(&site.scope.indexed, 3) {
        for index in site.names(5).filter(|index| *index != object) {
            edits.replace(site.node, format!("{object}[{index}]"));
        }
    }
}

/// Adds an operand: `total` becomes `total - x`, `total + x` or `total * x`.
pub fn more_operands(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let signs: Vec<&str> =
        ["+", "-", "*"].into_iter().chain(site.spelling.floor_division).chain(["%"]).collect();
    for other in site.names(8).filter(|other| *other != site.text) {
        for sign in &signs {
            edits.replace(site.node, format!("{} {sign} {other}", grouped(site)));
        }
    }
}

/// Keeps a number above or below a bound: `x` becomes `max(0, x)`.
pub fn with_bound(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let extremes = site.spelling.extremes;
    if extremes.iter().any(|extreme| site.text.starts_with(&format!("{extreme}("))) {
        return;
    }
    let names = site.names(3).filter(|name| *name != site.text);
    for bound in ["0", "1"].into_iter().chain(names) {
        for extreme in extremes {
            let text = format!("{extreme}({bound}, {})", site.text);
            edits.replace_with_share(site.node, text, type_fit(site, bound));
        }
    }
}

/// Whether a number may lack a bound: one that is computed, or that something is computed of.
pub fn may_lack_bound(site: &EditSite<'_>) -> bool {
    may_count(site) && (site.kind == Arithmetic || matches!(site.parent, Arithmetic | Assign))
}

/// Whether a sequence may be a part of the one that is meant.
pub fn may_lack_part(site: &EditSite<'_>) -> bool {
    (matches!(site.kind, Sequence | Text | Call) || site.node.kind().ends_with("comprehension"))
        && matches!(site.parent, Return | Assign | Augment | Arguments)
        && !is_boolean_call(site)
}

/// Joins a sequence with another one.
pub fn joined_sequence(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let Some([before, between, behind]) = site.spelling.concatenation else { return };
    for other in site.names(6).filter(|other| *other != site.text) {
        for [a, b] in [[other, site.text], [site.text, other]] {
            let text = format!("{before}{a}{between}{b}{behind}");
            edits.replace_with_share(site.node, text, type_fit(site, other));
        }
    }
}

/// Puts what often stands between two texts between them.
pub fn separated_texts(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    let (Some(left), Some(right)) = (site.field("left"), site.field("right")) else { return };
    let is_sum = site.field("operator").is_some_and(|operator| site.text_of(operator) == "+");
    let is_number = [left, right].into_iter().any(|side| NodeKind::of(side) == Number);
    if !is_sum || is_number || !may_be_of(site, &DeclaredType::Text) {
        return;
    }
    let [left, right] = [left, right].map(|side| site.text_of(side));
    for separator in [" ", ".", ",", ", ", "-", "_", ":", "/"] {
        edits.replace(site.node, format!("{left} + \"{separator}\" + {right}"));
    }
}

/// Takes each element of a sequence once.
pub fn distinct_elements(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some((open, close)) = site.spelling.distinct {
        edits.replace(site.node, format!("{open}{}{close}", site.text));
    }
}

/// Puts an empty list into an empty list: the list of all subsets of nothing has an element.
pub fn nested_empty(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if site.text == "[]" {
        edits.replace(site.node, "[[]]");
    }
}

/// Adds an `await` that is missing.
pub fn awaited(site: &EditSite<'_>, edits: &mut EditList<'_>) {
    if let Some(keyword) = site.spelling.await_keyword {
        edits.replace(site.node, format!("{keyword}{}", site.text));
    }
}
