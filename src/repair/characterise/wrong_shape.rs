//! Calls with arguments of a shape that a function does not expect: what it answers to them is an
//! accident, unless it says that it refuses them.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::signature::{Callable, Parameter, Type, type_of_literal, typical_value};
use crate::effect::CallOutcome;

use super::Case;
use super::arguments::{split_arguments, values_of};
use super::inputs::is_numeric;

/// Marks of code that asks for the type of a value.
const TYPE_CHECKS: &[&str] =
    &["isinstance", "type(", "typeof", "instanceof", "callable(", "hasattr", "isArray"];

/// Words by which a message refuses a type or a missing value.
const TYPE_WORDS: &[&str] = &[
    "type",
    "must be",
    "expected",
    "expects",
    "instance",
    "required",
    "None",
    "null",
    "undefined",
    "should be",
    "not a",
    "not an",
    "only",
    "invalid argument",
];

/// Why what a function does with arguments that it does not expect is not held.
pub const OTHER_SHAPE: &str = "its arguments are of a shape that the function does not expect";

/// A list that is made of a set without being sorted.
static SET_ORDER: Pattern = Pattern::new(
    r"(?:\b(?:list|tuple|enumerate|map)\(|\.join\(|\bfor\s+\w+\s+in\s+)\s*(?:set|frozenset)\(",
);

/// Why what a call gave is an accident; `None` where not. `source` is the function's text.
pub fn find_accident(
    language: Language,
    callable: &Callable,
    (case, answered): (&Case, &[BTreeSet<Type>]),
    source: &str,
) -> Option<String> {
    if language != Language::Python && !language.is_script() || case.documented.is_some() {
        return None;
    }
    let given = &case.call.arguments;
    if callable.examples.iter().any(|one| one.arguments == *given) {
        return None;
    }
    let values = values_of(&callable.parameters, given);
    let is_raised = matches!(case.seen.outcome, CallOutcome::Raised { .. });
    let is_wrong =
        callable.parameters.iter().zip(&values).enumerate().any(|(place, (one, value))| {
            let answered = answered.get(place).filter(|_| is_raised);
            value.as_ref().is_some_and(|value| {
                is_wrong_type((one, answered), value, source) || is_other_length(one, value, source)
            })
        });
    if is_wrong && !is_type_refusal(&case.seen.outcome) {
        return Some(OTHER_SHAPE.into());
    }
    let is_list = matches!(&case.seen.outcome,
        CallOutcome::Value { literal, .. } if literal.starts_with(['[', '(']) && literal.contains(", "));
    let is_of_set = is_list && SET_ORDER.is_match(source) && !source.contains("sorted(");
    is_of_set.then(|| "the order of its result is that of a set".into())
}

/// The types of the arguments that a function answered, for each of its parameters.
pub fn answered_types(callable: &Callable, known: &[Case]) -> Vec<BTreeSet<Type>> {
    let mut found = vec![BTreeSet::new(); callable.parameters.len()];
    for case in known.iter().filter(|one| matches!(one.seen.outcome, CallOutcome::Value { .. })) {
        let values = values_of(&callable.parameters, &case.call.arguments);
        for (types, value) in found.iter_mut().zip(values) {
            types.extend(value.as_deref().and_then(type_of_literal));
        }
    }
    found
}

/// Whether an error says that a type or a missing value is refused.
fn is_type_refusal(outcome: &CallOutcome) -> bool {
    let CallOutcome::Raised { class, message, explicit: true, .. } = outcome else { return false };
    class.ends_with("TypeError")
        || TYPE_WORDS.iter().any(|word| message.contains(word) && message != word)
}

/// Whether a value is of no type known for a parameter, and no code asks for its type.
fn is_wrong_type(
    (parameter, answered): (&Parameter, Option<&BTreeSet<Type>>),
    value: &str,
    source: &str,
) -> bool {
    if parameter.declared.is_some() || parameter.class.is_some() || parameter.rest {
        return false;
    }
    if matches!(value, "None" | "null" | "undefined") {
        let name = &parameter.name;
        let asked = ["is None", "is not None", "= null", "= undefined", "??", "?."];
        let is_known = parameter.optional
            || parameter.types.contains(&Type::Nothing)
            || asked.iter().any(|one| source.contains(one))
            || source.contains(&format!("!{name}"));
        return !is_known && !asks_type(source);
    }
    let name = parameter.name.to_ascii_lowercase();
    if name.ends_with("options") || name.ends_with("opts") {
        return !value.starts_with('{');
    }
    let Some(kind) = type_of_literal(value) else { return false };
    let open = |kind: &Type| matches!(kind, Type::Any | Type::Nothing);
    let mut known: Vec<Type> = parameter.types.iter().copied().filter(|one| !open(one)).collect();
    // A name says more than uses that several types have, such as an index.
    if parameter.is_guessed
        && !parameter.has_shown_types
        && let Some((named, _)) = typical_value(&parameter.name)
    {
        known = vec![named];
    }
    let is_alike = |one: &Type| match (*one, kind) {
        (Type::List(_), Type::List(_)) => true,
        (one, kind) => one == kind || is_numeric(Some(one)) && is_numeric(Some(kind)),
    };
    let accepts = |one: &Type| {
        let is_plain =
            matches!(one, Type::Int | Type::Float | Type::Bool | Type::Text | Type::Bytes);
        let is_list =
            matches!(one, Type::List(_)) && matches!(kind, Type::Int | Type::Float | Type::Bool);
        is_alike(one) || !is_plain && !is_list && *one != Type::Function
    };
    let is_other = !known.is_empty() && !known.iter().any(accepts);
    let is_unanswered = answered.is_some_and(|all| !all.is_empty() && !all.iter().any(is_alike));
    (is_other || is_unanswered) && !asks_type(source)
}

fn asks_type(source: &str) -> bool {
    let is_whole = |at: usize| {
        let before = source.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    };
    TYPE_CHECKS
        .iter()
        .any(|word| source.match_indices(word).any(|(at, _)| is_whole(at) || !word.ends_with('(')))
}

/// Whether a list has fewer or more elements than the function takes out of it by their index.
fn is_other_length(parameter: &Parameter, value: &str, source: &str) -> bool {
    let Some(inner) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return false;
    };
    let count = split_arguments(inner).len();
    last_index(&parameter.name, source)
        .is_some_and(|last| count <= last || last > 0 && count > last + 1)
}

/// The last index of elements taken from a parameter whose length is not asked for.
fn last_index(name: &str, source: &str) -> Option<usize> {
    let asks = ["len(NAME)", "NAME.length", "not NAME", "in NAME", "of NAME", "NAME.map", "*NAME"];
    if asks.iter().any(|one| source.contains(&one.replace("NAME", name))) {
        return None;
    }
    let opening = format!("{name}[");
    let indexes = source.match_indices(&opening).filter_map(|(at, found)| {
        let rest = source.get(at + found.len()..)?;
        rest.split_once(']')?.0.parse::<usize>().ok()
    });
    indexes.max()
}

/// Lists of as many numbers as a function takes out of a parameter: `[1, 2]` for `pair[1]`.
pub fn indexed_lists(parameter: &Parameter, source: &str) -> Vec<String> {
    let Some(last) = last_index(&parameter.name, source).filter(|last| (1..8).contains(last))
    else {
        return Vec::new();
    };
    let list = |start: usize| {
        let numbers = (start..=start + last).map(|one| one.to_string());
        format!("[{}]", numbers.collect::<Vec<_>>().join(", "))
    };
    [1, 3, 2, 1 + last, 10].map(list).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::signature::callables;
    use crate::effect::{Call, Observation, ResultKind};

    #[test]
    fn answers_to_arguments_of_another_shape_are_accidents() {
        let value =
            |literal: &str| CallOutcome::Value { literal: literal.into(), way: ResultKind::Plain };
        let raised = |class: &str, message: &str| CallOutcome::Raised {
            class: class.into(),
            message: message.into(),
            explicit: true,
            way: ResultKind::Plain,
        };
        let words = "def words(text):\n    return str(text).split()\n";
        let checked = "def words(text):\n    if not isinstance(text, str):\n        return []\n    return text.split()\n";
        let ids = "def ids(rows):\n    return list(set(rows))\n";
        let span = "def span(pair):\n    return pair[1] - pair[0]\n";
        let plain =
            "def plain(s):\n    if not s:\n        raise ShopError('blank')\n    return s\n";
        let kind = "def kind(s):\n    if not s:\n        raise ShopError('blank')\n    return {'type': s}\n";
        let answered = [BTreeSet::from([Type::Text])];
        let table = [
            (plain, "0", raised("ShopError", "blank"), true),
            (plain, "\"\"", raised("ShopError", "blank"), false),
            (kind, "0", raised("ShopError", "blank"), true),
            (words, "None", raised("KeyError", "None"), true),
            (words, "0", value("['0']"), true),
            (words, "True", value("['True']"), true),
            (words, "None", value("['None']"), true),
            (words, "\"a\"", value("['a']"), false),
            (words, "None", raised("ShopError", "blank"), true),
            (words, "None", raised("ShopError", "must be a string"), false),
            (words, "None", raised("TypeError", "no"), false),
            (checked, "0", value("[]"), false),
            (ids, "[1, 2]", value("[1, 2]"), true),
            (ids, "[1]", value("[1]"), false),
            (span, "[5]", value("0"), true),
            (span, "[5, [1, 2]]", value("0"), false),
            (span, "[1, 2, 3]", value("1"), true),
        ];
        for (source, given, outcome, expected) in table {
            let callable = callables(Language::Python, source).remove(0);
            let seen = Observation { outcome, ..Observation::refused("") };
            let case = Case { call: Call::new("f", vec![given.into()]), seen, documented: None };
            let found = find_accident(Language::Python, &callable, (&case, &answered), source);
            assert_eq!(found.is_some(), expected, "{source} {given}: {found:?}");
        }
    }

    #[test]
    fn lists_have_as_many_elements_as_are_taken() {
        let table = [
            ("def f(pair):\n    return pair[0] + pair[1]\n", "[1, 2]"),
            ("def f(pair):\n    return pair[0]\n", ""),
            ("def f(pair):\n    return pair[1] if len(pair) > 1 else 0\n", ""),
        ];
        for (source, expected) in table {
            let callable = callables(Language::Python, source).remove(0);
            let lists = indexed_lists(&callable.parameters[0], source);
            assert_eq!(lists.first().map_or("", String::as_str), expected, "{source}");
        }
    }
}
