//! Further calls, made of those that were seen: variations of what reached new code, and calls that
//! aim at lines where mutants survived.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::signature::{Callable, Type};
use crate::domain::retry::scatter;
use crate::effect::Call;

use super::Case;
use super::arguments::{values_of, write_arguments};
use super::inputs::{is_numeric, value_pool};
use super::literal_values::string_content;
use super::option_values::list_options;
use super::parameter_fit::{fits_types, kind_of};
use super::search_target::SearchTarget;
use super::typical_values::is_typical_text;

/// Maximum number of calls of one function in a round of variations.
const NEAR: usize = 48;

/// Maximum number of targeted calls of one function in one round.
const AIMED: usize = 160;

/// Number of earlier calls that targeted calls are derived from.
const BASES: usize = 16;

/// Texts of the file that are put behind others, and the longest result.
const ENDINGS: usize = 4;
const LONGEST: usize = 80;

/// Variations of the calls that reached new code.
pub fn vary_calls(language: Language, callable: &Callable, known: &[Case]) -> Vec<Call> {
    let made: BTreeSet<&Call> = known.iter().map(|case| &case.call).collect();
    let (fresh, _) = latest_first(known.iter());
    let lists: Vec<Vec<Call>> =
        fresh.into_iter().map(|call| vary_arguments(language, callable, call)).collect();
    side_by_side(&lists, &made, NEAR)
}

/// Variations of calls that run a line where mutants survived: with literals from that line or
/// close to them, and with slight changes. Calls that reached new code are varied first.
pub fn aim_calls(
    language: Language,
    callable: &Callable,
    known: &[Case],
    target: &SearchTarget,
) -> Vec<Call> {
    let made: BTreeSet<&Call> = known.iter().map(|case| &case.call).collect();
    let hits = known.iter().filter(|case| target.orphan || target.runs(case));
    let (fresh, others) = latest_first(hits);
    let lists = fresh.into_iter().chain(others).take(BASES).map(|call| {
        let mut list = place_literals(language, callable, call, &target.literals);
        let near = vary_arguments(language, callable, call);
        let at = list.len().min(near.len() * 2);
        list.splice(at..at, near);
        list
    });
    side_by_side(&lists.collect::<Vec<_>>(), &made, AIMED)
}

/// Interleaves the lists, without calls that were already made.
fn side_by_side(lists: &[Vec<Call>], made: &BTreeSet<&Call>, limit: usize) -> Vec<Call> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    let mut found: Vec<Call> = Vec::new();
    for row in 0..longest {
        for call in lists.iter().filter_map(|list| list.get(row)) {
            if found.len() < limit && !made.contains(call) && !found.contains(call) {
                found.push(call.clone());
            }
        }
    }
    found
}

/// Calls that reached new code, and the others, latest first: variations of what was new.
fn latest_first<'a>(cases: impl Iterator<Item = &'a Case>) -> (Vec<&'a Call>, Vec<&'a Call>) {
    let mut marks: BTreeSet<&str> = BTreeSet::new();
    let (mut fresh, mut others) = (Vec::new(), Vec::new());
    for case in cases {
        let before = marks.len();
        marks.extend(case.seen.marks.iter().map(String::as_str));
        if marks.len() > before { fresh.push(&case.call) } else { others.push(&case.call) }
    }
    fresh.reverse();
    others.reverse();
    (fresh, others)
}

/// Variants of a call that reached new code: each changes one argument slightly.
pub fn vary_arguments(language: Language, callable: &Callable, call: &Call) -> Vec<Call> {
    let python = language == Language::Python;
    let mut found = Vec::new();
    let values = values_of(&callable.parameters, &call.arguments);
    for (index, argument) in values.iter().enumerate() {
        let Some(argument) = argument else { continue };
        let mut others = vary_literal(argument, python);
        if let Some(parameter) =
            callable.parameters.get(index.min(callable.parameters.len().saturating_sub(1)))
        {
            // Literals of the function, appended to and put before the given text.
            let inner = string_content(argument);
            let behind = callable
                .matching
                .iter()
                .chain(&callable.around)
                .take(ENDINGS)
                .filter_map(|one| string_content(one));
            let longer = behind.filter_map(|end| Some(format!("\"{}{end}\"", inner?)));
            let at = others.len().min(ENDINGS);
            others.splice(at..at, longer.filter(|longer| longer.len() <= LONGEST));
            for literal in callable.literals.iter().filter_map(|one| string_content(one)) {
                if let Some(inner) = inner {
                    others.push(format!("\"{inner}{literal}\""));
                    others.push(format!("\"{literal}{inner}\""));
                }
            }
            let pool = value_pool(parameter, callable, python);
            let start = usize::try_from(scatter(argument.len() as u64) % 7).unwrap_or_default();
            others.extend(pool.into_iter().skip(start).step_by(3).take(3));
        }
        let others = others.into_iter().filter(|other| other != argument).take(12 + ENDINGS);
        found.extend(others.map(|other| replace_value(language, callable, call, index, other)));
    }
    found.retain(|one| fits_types(callable, one));
    found
}

fn vary_literal(literal: &str, python: bool) -> Vec<String> {
    if let Ok(number) = literal.parse::<i64>() {
        let others = [
            number.checked_add(1),
            number.checked_sub(1),
            number.checked_mul(2),
            number.checked_neg(),
            number.checked_mul(10),
        ];
        return others.into_iter().flatten().map(|one| one.to_string()).collect();
    }
    if let Ok(number) = literal.parse::<f64>() {
        return [number * 2.0, -number, number + 0.25].map(|one| format!("{one:?}")).to_vec();
    }
    if let Some(inner) = string_content(literal) {
        let mut others = vec![
            format!("\"{}\"", inner.to_uppercase()),
            format!("\"{inner}s\""),
            format!("\"{inner}1\""),
            format!("\" {inner}\""),
            format!("\"{inner} {inner}\""),
        ];
        // What several parts join into an error may have a result in its first half.
        let half = inner.get(..inner.len() / 2).filter(|one| one.len() > 2 && !one.ends_with('\\'));
        let half = half.filter(|_| inner.contains(|c: char| c.is_ascii_punctuation()));
        others.splice(0..0, half.map(|one| format!("\"{one}\"")));
        let mut shorter = inner.to_owned();
        // Cut short, a word says less than before.
        let is_word = inner.len() > 3 && inner.ends_with(char::is_alphabetic);
        if shorter.pop().is_some() && !is_typical_text(literal) && !is_word {
            others.push(format!("\"{shorter}\""));
        }
        return others;
    }
    let elements = literal.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(elements) = elements {
        let nothing = if python { "None" } else { "null" };
        let more = |one: &str| {
            if elements.is_empty() { format!("[{one}]") } else { format!("[{elements}, {one}]") }
        };
        return vec![more("0"), more("\"x\""), more("[1]"), more(nothing), format!("[{literal}]")];
    }
    Vec::new()
}

/// Variants of a call: with objects for each parameter whose keys are read, and with each of the
/// literals in place of each argument of a fitting type, or as one more argument if the function
/// takes one.
pub fn place_literals(
    language: Language,
    callable: &Callable,
    call: &Call,
    literals: &[String],
) -> Vec<Call> {
    let changed = |index, value| replace_value(language, callable, call, index, value);
    let mut found = Vec::new();
    for (index, parameter) in callable.parameters.iter().enumerate() {
        let values = list_options(parameter, language == Language::Python);
        let has_options = !parameter.keys.is_empty() && parameter.declared.is_none();
        let values = values.into_iter().filter(|_| has_options);
        found.extend(values.map(|value| changed(index, value)));
    }
    let given = values_of(&callable.parameters, &call.arguments);
    for literal in literals {
        let kind = kind_of(literal);
        for (index, present) in given.iter().enumerate() {
            let parameter = callable.parameters.get(index);
            let present = present.as_ref();
            let like = present.is_some_and(|present| {
                let same = kind_of(present) == kind;
                same || is_numeric(kind_of(present)) && is_numeric(kind)
            });
            let typed = parameter.is_some_and(|one| {
                one.types.is_empty()
                    || one.types.iter().any(|type_| {
                        *type_ == Type::Any
                            || Some(*type_) == kind
                            || is_numeric(Some(*type_)) && is_numeric(kind)
                    })
            });
            if present == Some(literal) || !(like || typed) {
                continue;
            }
            let mut put = |value: String| found.push(changed(index, value));
            put(literal.clone());
            // Beside the known spellings: a unit behind its number.
            if let (Some(word), Some(inner)) =
                (string_content(literal), present.and_then(|one| string_content(one)))
            {
                put(format!("\"{inner}{word}\""));
                put(format!("\"{inner} {word}\""));
                put(format!("\"{word}{inner}\""));
            }
        }
    }
    found.retain(|one| fits_types(callable, one));
    found
}

/// The call with another value at `index`.
fn replace_value(
    language: Language,
    callable: &Callable,
    call: &Call,
    index: usize,
    value: String,
) -> Call {
    let mut values = values_of(&callable.parameters, &call.arguments);
    match values.get_mut(index) {
        Some(place) => *place = Some(value),
        None => values.push(Some(value)),
    }
    let arguments = write_arguments(language, &callable.parameters, &values);
    Call { arguments, ..call.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::inputs::first;
    use super::*;
    use crate::code::signature::callables;

    fn only(language: Language, text: &str) -> Callable {
        callables(language, text).remove(0)
    }

    #[test]
    fn keys_that_are_read_become_options() {
        let text = "export function f(n, options) {\n  const { signed = false } = options;\n  return Math.min(n, options.places ?? 2) + options['unit'] + options.toString();\n}\n";
        let callable = only(Language::JavaScript, text);
        assert_eq!(callable.parameters[1].keys, ["places", "unit", "signed"]);
        let given: BTreeSet<String> = first(Language::JavaScript, &callable, "f", (&[], &[]), 1)
            .into_iter()
            .filter_map(|call| call.arguments.get(1).cloned())
            .collect();
        for value in ["{ places: true }", "{ unit: true }", "{ signed: true }"] {
            assert!(given.contains(value), "{value} among {given:?}");
        }
        let call = Call::new("f", vec!["3".into()]);
        let calls =
            place_literals(Language::JavaScript, &callable, &call, &["7".into(), "'x'".into()]);
        let shown: Vec<String> = calls.iter().map(|call| call.arguments.join(", ")).collect();
        assert_eq!(shown[0], "3, { places: true }");
        assert!(shown.contains(&"7".to_owned()), "a number for a number: {shown:?}");
    }

    #[test]
    fn neighbours_differ_in_one_argument() {
        let callable = only(Language::Python, "def f(a, b):\n    return a == 'xy'\n");
        let call = Call::new("f", vec!["3".into(), "\"ab\"".into()]);
        let found = vary_arguments(Language::Python, &callable, &call);
        assert!(found.iter().any(|one| one.arguments == ["4", "\"ab\""]));
        assert!(found.iter().any(|one| one.arguments == ["3", "\"abxy\""]));
        for one in &found {
            let differing = one.arguments.iter().zip(&call.arguments).filter(|(a, b)| a != b);
            assert_eq!(differing.count(), 1, "{one:?}");
        }
    }
}
