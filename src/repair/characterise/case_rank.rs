//! Which of several calls a reader understands best, and which inputs nobody would write.

use std::collections::BTreeSet;

use crate::code::signature::{Callable, Parameter, Type, typical_value};
use crate::effect::CallOutcome;

use super::Case;
use super::arguments::{split_arguments, split_name, values_of};
use super::literal_values::string_content;
use super::parameter_fit::kind_of;
use super::typical_values::is_typical_text;

/// The most kinds of signs, the most letters, and the most equal words of a legible text.
const KINDS_OF_SIGNS: usize = 2;
const LEGIBLE: usize = 40;
const EQUAL_WORDS: usize = 2;

/// The longest literal that a test shows well.
const LONG_LITERAL: usize = 100;

/// Whether a text is a regular expression rather than a text to look into.
fn is_expression(value: &str) -> bool {
    value.starts_with(['"', '\''])
        && ["\\W", "\\w", "\\d", "\\s", "\\b"].iter().any(|one| value.contains(one))
}

/// Whether a text is the same one twice.
fn is_doubled(text: &str) -> bool {
    let text = text.replace("\\n", " ");
    let halves = text.split_at_checked(text.len() / 2);
    let is_same = |(one, other): (&str, &str)| one == other.strip_prefix(' ').unwrap_or(other);
    text.len() > 5 && halves.is_some_and(is_same)
}

/// Whether a text is one that nobody would write: with many kinds of signs that its documentation has not, very long, with the same words
/// again and again, or with blanks that say nothing.
fn is_odd_text(text: &str, callable: &Callable) -> bool {
    let documented = || callable.examples.iter().flat_map(|one| &one.arguments);
    let is_new = |c: &char| {
        !c.is_alphanumeric() && !c.is_whitespace() && !documented().any(|one| one.contains(*c))
    };
    let kinds: BTreeSet<char> = text.chars().filter(is_new).collect();
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let is_frequent = |word: &str| {
        word.contains(char::is_alphabetic)
            && words().filter(|one| *one == word).count() > EQUAL_WORDS
    };
    kinds.len() > KINDS_OF_SIGNS
        || text.len() > LEGIBLE
        || is_doubled(text)
        || words().any(is_frequent)
        || text.contains("  ")
}

/// Whether a call has an illegible text or result; documented texts and the code's never are.
pub fn is_garbled(callable: &Callable, case: &Case) -> bool {
    let documented = callable.examples.iter().flat_map(|one| &one.arguments);
    let known: BTreeSet<&String> = documented.chain(&callable.literals).collect();
    let is_odd = |argument: &&String| {
        let value = split_name(argument).1;
        let Some(text) = string_content(value) else {
            let is_twice = is_doubled(value.trim_matches(['"', '\'']));
            return is_expression(value) || is_twice || value.len() > LONG_LITERAL;
        };
        is_odd_text(text, callable) && !known.contains(argument) && !is_typical_text(value)
    };
    let is_long = matches!(&case.seen.outcome,
        CallOutcome::Value { literal, .. } if literal.len() > LONG_LITERAL);
    let is_plain = case.documented.is_none() && callable.entry.is_none();
    is_plain && (is_long || case.call.arguments.iter().any(|one| is_odd(&one)))
}

/// Whether an argument of a call is an edge case, null, zero, negative or empty, that shows something.
pub fn is_edge(callable: &Callable, case: &Case) -> bool {
    const EDGES: &[&str] =
        &["None", "null", "undefined", "nil", "0", "-1", "\"\"", "''", "[]", "{}"];
    let values = values_of(&callable.parameters, &case.call.arguments).into_iter().enumerate();
    let is_empty = |literal: &str| literal.chars().all(|c| "[](){}\"', ".contains(c));
    let is_hollow = matches!(case.expected_outcome(),
        CallOutcome::Value { literal, .. } if is_empty(literal));
    // That nothing comes out of nothing is a promise where a type allows for nothing.
    let is_typed = |place: usize| {
        let parameter = callable.parameters.get(place).or(callable.parameters.last());
        parameter.is_some_and(|one| !one.is_guessed || !one.declared_type.is_empty())
    };
    let is_empty_value = |value: Option<String>| value.is_some_and(|one| EDGES.contains(&&*one));
    values
        .into_iter()
        .any(|(place, value)| is_empty_value(value) && (!is_hollow || is_typed(place)))
}

/// Arguments without a meaning of their own, which belong to edges only.
const DEGENERATE: &[&str] =
    &["None", "null", "undefined", "nil", "\"\"", "''", "r''", "r\"\"", "[]", "{}", "\"a\""];

/// The order in which equally informative calls are preferred: results before errors, meaningful
/// arguments before empty ones, short ones before long ones.
pub fn rank_case(callable: &Callable, case: &Case) -> (bool, bool, usize, usize, usize) {
    let raised = matches!(case.seen.outcome, CallOutcome::Raised { .. });
    let values = values_of(&callable.parameters, &case.call.arguments);
    let values = values.into_iter().map(Option::unwrap_or_default);
    let makers = callable.class.iter().flat_map(|class| &class.makers);
    let has_maker = makers.clone().any(|one| case.call.callee.contains(one.as_str()));
    let object = case.call.callee.split_once('(').filter(|_| !has_maker);
    let object = object.and_then(|(_, rest)| rest.rsplit_once(')'));
    let object = split_arguments(object.map_or("", |(given, _)| given));
    let class = callable.class.iter().flat_map(|class| &class.parameters);
    let made = object.iter().map(|one| split_name(one).1.to_owned()).zip(class);
    let examples = || callable.class.iter().flat_map(|class| &class.examples);
    let is_example = examples().any(|given| *given == object);
    let is_documented = has_maker || is_example;
    // Documentation makes its objects in another way.
    let has_documented = makers.count() > 0 || examples().any(|given| !given.is_empty());
    let (mut odd, mut untypical) = (usize::from(has_documented && !is_documented), 0);
    // What documentation makes an object of needs no other reason.
    let made = made.filter(|_| !is_example);
    for (value, parameter) in values.zip(&callable.parameters).chain(made) {
        if !value.is_empty() {
            let is_put = case.call.setup.iter().any(|step| step.contains(&value));
            let is_bare = DEGENERATE.contains(&value.as_str()) && !is_put;
            odd += usize::from(is_bare || is_misfit(parameter, &value));
            untypical += count_untypical(callable, parameter, &value, raised);
        }
    }
    // Of several values, one alone shows little of what joins them.
    let is_rest = |place: &usize| callable.parameters.get(*place).is_some_and(|one| one.rest);
    if let Some(place) = (0..callable.parameters.len()).find(is_rest) {
        let least = if place == 0 { 2 } else { place + 1 };
        odd += usize::from(case.call.arguments.len() < least);
    }
    let is_made = callable.class.as_ref().is_some_and(|class| class.construction.is_some());
    odd += usize::from(is_made && object.iter().any(|given| DEGENERATE.contains(given)));
    if let CallOutcome::Value { literal, .. } = &case.seen.outcome {
        // What comes back as it was given shows nothing of what the function does.
        let plain = |text: &str| text.trim_matches(['"', '\'']).to_owned();
        let mut given =
            case.call.arguments.iter().map(String::as_str).chain(object.iter().copied());
        odd += usize::from(given.any(|one| plain(one) == plain(literal)));
        let is_empty = DEGENERATE.contains(&literal.as_str())
            || ["0", "0.0", "-0", "NaN"].contains(&literal.as_str());
        untypical += usize::from(is_empty);
    }
    let given = case.call.arguments.iter().chain(&case.call.setup);
    let arguments: usize = given.map(String::len).sum();
    let result =
        if let CallOutcome::Value { literal, .. } = &case.seen.outcome { literal.len() } else { 0 };
    (
        raised,
        is_garbled(callable, case),
        odd,
        untypical,
        // Of the documented objects the first one is the usual one, however long it is.
        if is_documented { 0 } else { case.call.callee.len() } + arguments + result,
    )
}

/// How many things about an argument a reader would not expect for its parameter.
fn count_untypical(callable: &Callable, parameter: &Parameter, value: &str, raised: bool) -> usize {
    let typical = typical_value(&parameter.name).map(|(_, typical)| typical);
    let is_shown = parameter.shown.iter().any(|one| one == value)
        || callable.examples.iter().any(|one| one.arguments.iter().any(|given| given == value));
    let has_shown = !parameter.shown.is_empty() || !callable.examples.is_empty();
    let is_other = !is_shown && typical.map_or(has_shown, |typical| typical != value);
    let number = value.parse::<f64>().ok();
    // No price is 0, nothing is counted below it, and what is calculated with 1 looks like much else.
    let is_low = is_other && number.is_some_and(|number| number <= 0.0);
    let is_unlikely = !raised && (is_low || value == "1" && !is_shown && typical != Some("1"));
    let is_wordless = value.starts_with(['"', '\'']) && !value.contains(char::is_alphabetic);
    let is_odd = string_content(value).is_some_and(|text| is_odd_text(text, callable));
    // An option that is merely some value.
    let is_dummy =
        value.starts_with('{') && [": 2 }", ": \"x\" }"].iter().any(|end| value.ends_with(end));
    // A fraction that nothing asks for.
    let is_fraction = value.contains('.')
        && number.is_some()
        && parameter.types.first() != Some(&Type::Float)
        && !is_shown;
    // One element shows little of what becomes of several.
    let is_single = value.starts_with('[') && value.len() > 2 && !value.contains(',');
    let is_lone = is_single && !is_shown;
    let is_stray = match value {
        "{}" => !parameter.types.contains(&Type::Map),
        "True" | "False" => !parameter.types.contains(&Type::Bool),
        _ => false,
    };
    let marks =
        [is_other, is_unlikely, is_wordless, is_odd, is_dummy, is_fraction, is_lone, is_stray];
    marks.into_iter().filter(|one| *one).count()
}

/// Whether a literal is of another type than the one that the parameter most likely has.
fn is_misfit(parameter: &Parameter, literal: &str) -> bool {
    let typical = parameter.types.first().filter(|kind| **kind != Type::Any);
    let (Some(typical), Some(kind)) = (typical, kind_of(literal)) else { return false };
    let both_lists = matches!((typical, kind), (Type::List(_), Type::List(_)));
    let is_whole = *typical == Type::Float && kind == Type::Int;
    !both_lists && *typical != kind && !is_whole
}

#[cfg(test)]
mod tests {
    use super::super::case_selection::tests::{sample_callable, sample_case};
    use super::*;
    use crate::code::language::Language;
    use crate::code::signature::callables;

    #[test]
    fn garbled_texts_are_those_that_nobody_would_write() {
        let table = [
            ("\"13[C]2][B?1\"", true),
            ("\"Golang Golang\"", true),
            ("\"New York New York\"", true),
            ("\"abcabc\"", true),
            ("\"1.2.2\\n1.2.2\"", true),
            ("\"2024-02-29 12:30\"", false),
            ("\"a,b;c\"", false),
            ("\"a  a\"", true),
            ("\"ab/ab; ab\"", true),
            ("\"1.1.1\"", false),
            ("\"\\W+\"", true),
            ("13", false),
        ];
        for (argument, expected) in table {
            assert_eq!(
                is_garbled(&sample_callable(), &sample_case(argument, "1", &[])),
                expected,
                "{argument}"
            );
        }
    }

    #[test]
    fn an_object_that_is_made_as_documented_comes_before_others() {
        let text = "class A:\n    def __init__(self, n: int = 0):\n        self.n = n\n    def f(self, x):\n        return x\n";
        let mut callable = callables(Language::Python, text).remove(1);
        callable.class.as_mut().unwrap().makers.push(".parse(\"12\")".to_owned());
        let on = |object: &str| {
            let mut case = sample_case("3", "4", &[]);
            case.call.callee = format!("{object}.f");
            rank_case(&callable, &case)
        };
        assert!(on("A.parse(\"12\")") < on("A()"));
        assert!(on("A.parse(\"12\")") < on("A(3)"));
    }

    #[test]
    fn an_object_of_documented_values_comes_before_one_of_defaults() {
        let text = "class A:\n    def __init__(self, n='0', unit=None):\n        self.n = n\n    def f(self, x):\n        return x\n";
        let mut callable = callables(Language::Python, text).remove(1);
        callable.class.as_mut().unwrap().examples.push(vec!["'2.22'".into(), "'EUR'".into()]);
        let on = |object: &str| {
            let mut case = sample_case("3", "4", &[]);
            case.call.callee = format!("{object}.f");
            rank_case(&callable, &case)
        };
        assert!(on("A('2.22', 'EUR')") < on("A()"));
        assert!(on("A('2.22', 'EUR')") < on("A(unit='EUR')"));
    }

    #[test]
    fn null_zero_negative_and_empty_are_edges_but_nothing_out_of_nothing_only_where_a_type_allows_for_nothing()
     {
        let table = [
            ("def f(seq):", "[]", "[]", false),
            ("def f(seq):", "[]", "([], [])", false),
            ("def f(seq):", "[]", "0", true),
            ("def f(seq):", "[]", "None", true),
            ("def f(seq: list):", "[]", "[]", true),
            ("def f(count):", "0", "''", false),
            ("def f(count):", "2", "4", false),
            ("def f(count):", "-1", "4", true),
            ("def f(text):", "\"0\"", "4", false),
            ("def f(seq):", "[0]", "4", false),
            ("def f(seq, key):", "key=None", "4", true),
        ];
        for (head, argument, result, expected) in table {
            let text = format!("{head}\n    return g()\n");
            let function = callables(Language::Python, &text).remove(0);
            let one = sample_case(argument, result, &[]);
            assert_eq!(is_edge(&function, &one), expected, "{head} {argument} {result}");
        }
    }

    #[test]
    fn meaningful_inputs_that_change_rank_before_others() {
        let text = "def total(label, price):\n    return price\n";
        let callable = callables(Language::Python, text).remove(0);
        let ranked = |given: [&str; 2], literal: &str| {
            let mut one = sample_case("", literal, &[]);
            one.call.arguments = given.map(str::to_owned).to_vec();
            rank_case(&callable, &one)
        };
        let table = [
            ((["\"tea\"", "3"], "9"), (["\"tea\"", "0"], "9")),
            ((["\"tea\"", "3"], "9"), (["\"tea\"", "3"], "3")),
            ((["\"tea and cake\"", "3"], "9"), (["\"  two  words \"", "3"], "9")),
            ((["\"tea\"", "3"], "9"), (["\"x y&z x y&z x y&z\"", "3"], "9")),
        ];
        for ((given, literal), (other, changed)) in table {
            assert!(ranked(given, literal) < ranked(other, changed), "{given:?} {other:?}");
        }
    }
}
