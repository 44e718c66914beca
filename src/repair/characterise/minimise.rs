//! Takes optional arguments out of chosen calls, where neither the result nor the path through the
//! code changes, and calls that come first out of documented ones, where the result stays.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::signature::Callable;
use crate::effect::{Call, Observation};

use super::arguments::{values_of, write_arguments};
use super::{Case, ObservedFunction};

/// Maximum number of optional arguments that are tried.
pub const ROUNDS: usize = 16;

/// Values that say no more than a missing argument of JavaScript.
const NOTHING: &[&str] = &["null", "undefined", "{}", "[]"];

/// For each case, the call without its `number`th argument from the end that may be missing, with the indexes
/// of the function and of the case. Documented calls keep their arguments; those that come first on their
/// objects go, all at once and then one by one.
pub fn list_shorter_calls(
    language: Language,
    functions: &[ObservedFunction],
    number: usize,
) -> Vec<(usize, usize, Call)> {
    let mut found = Vec::new();
    for (function, one) in functions.iter().enumerate() {
        for (index, case) in one.cases.iter().enumerate() {
            let shorter = match case.documented {
                Some(_) => call_with_less_before(&case.call, number),
                None => shorter_call(language, &one.callable, &case.call, number),
            };
            found.extend(shorter.map(|call| (function, index, call)));
        }
    }
    found
}

/// A call without all calls that come first, or without one of them.
fn call_with_less_before(call: &Call, number: usize) -> Option<Call> {
    let last = call.setup.len().checked_sub(1)?;
    let mut setup = call.setup.clone();
    match number {
        0 => setup.clear(),
        _ if last == 0 || number > 2 * setup.len() => return None,
        _ => {
            // What is behind one that went has its place in the next round.
            setup.remove(last - (number - 1) % setup.len());
        }
    }
    Some(Call { setup, ..call.clone() })
}

fn shorter_call(
    language: Language,
    callable: &Callable,
    call: &Call,
    number: usize,
) -> Option<Call> {
    let mut values = values_of(&callable.parameters, &call.arguments);
    let index = callable.parameters.len().checked_sub(number + 1)?;
    let value = values.get_mut(index)?.take()?;
    let is_nothing = language == Language::JavaScript && NOTHING.contains(&value.as_str());
    callable.parameters.get(index).filter(|one| one.optional || is_nothing)?;
    let arguments = write_arguments(language, &callable.parameters, &values);
    // JavaScript cannot leave out what stands before others.
    (arguments.len() < call.arguments.len()).then(|| Call { arguments, ..call.clone() })
}

/// Puts a shorter call that does the same in place of the chosen one, each once.
pub fn take_shorter_calls(
    functions: &mut [ObservedFunction],
    shorter: Vec<(usize, usize, Call)>,
    seen: Vec<Observation>,
) {
    for ((function, index, call), seen) in shorter.into_iter().zip(seen) {
        let cases = functions.get_mut(function).map(|one| &mut one.cases);
        let Some(case) = cases.and_then(|cases| cases.get_mut(index)) else { continue };
        let is_same = seen.outcome == case.seen.outcome
            && seen.after == case.seen.after
            && seen.effects == case.seen.effects
            && (case.documented.is_some() || seen.marks == case.seen.marks);
        if is_same {
            *case = Case { call, seen, documented: case.documented.clone() };
        }
    }
    for one in functions {
        let mut calls = BTreeSet::new();
        one.cases.retain(|case| calls.insert(case.call.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::signature::callables;
    use crate::effect::{CallOutcome, ResultKind};

    fn seen(literal: &str) -> Observation {
        Observation {
            outcome: CallOutcome::Value { literal: literal.into(), way: ResultKind::Plain },
            ..Observation::refused("")
        }
    }

    fn functions(text: &str, cases: Vec<Case>) -> Vec<ObservedFunction> {
        vec![ObservedFunction {
            callable: callables(Language::Python, text).remove(0),
            local: "f".into(),
            cases,
            tried: 1,
            dropped: Vec::new(),
            fruitless: Vec::new(),
            limits: BTreeSet::new(),
        }]
    }

    #[test]
    fn optional_arguments_go_where_nothing_changes_without_them() {
        let text = "def f(a, b=1, c=2, *, d=3):\n    return a + b\n";
        let call = Call::new("f", vec!["1".into(), "b=5".into(), "c=6".into(), "d=7".into()]);
        let case = Case { call, seen: seen("6"), documented: None };
        let mut functions = functions(text, vec![case]);
        for number in 0..ROUNDS {
            let shorter = list_shorter_calls(Language::Python, &functions, number);
            let results = shorter.iter().map(|(.., call)| {
                seen(if call.arguments.iter().any(|one| one == "b=5") { "6" } else { "2" })
            });
            let results = results.collect();
            take_shorter_calls(&mut functions, shorter, results);
        }
        assert_eq!(functions[0].cases[0].call.arguments, ["1", "b=5"]);
    }

    #[test]
    fn calls_that_come_first_go_where_the_result_stays() {
        let case = |setup: &str, result: &str| Case {
            call: Call {
                setup: setup.split(' ').map(Into::into).collect(),
                ..Call::new("f", vec![])
            },
            documented: Some(seen(result).outcome),
            seen: seen(result),
        };
        // Only `add` counts.
        let count = |call: &Call| call.setup.iter().filter(|one| *one == "add").count().to_string();
        let cases = vec![case("a b", "0"), case("a add b c add", "2"), case("add", "1")];
        let mut functions = functions("def f(a):\n    return a\n", cases);
        for number in 0..ROUNDS {
            let shorter = list_shorter_calls(Language::Python, &functions, number);
            let results = shorter.iter().map(|(.., call)| seen(&count(call))).collect();
            take_shorter_calls(&mut functions, shorter, results);
        }
        let kept: Vec<String> =
            functions[0].cases.iter().map(|one| one.call.setup.join(" ")).collect();
        assert_eq!(kept, ["", "add add", "add"]);
    }

    #[test]
    fn nothing_is_left_out_before_other_arguments_of_a_script() {
        let text = "export function f(a, b = 1, c = 2) { return a; }";
        let callable = callables(Language::JavaScript, text).remove(0);
        let call = Call::new("f", vec!["1".into(), "2".into(), "3".into()]);
        let shorter = |number| shorter_call(Language::JavaScript, &callable, &call, number);
        assert_eq!(shorter(0).unwrap().arguments, ["1", "2"]);
        assert_eq!(shorter(1), None);
        assert_eq!(shorter(2), None, "it is required");
        let call = Call::new("f", vec!["null".into()]);
        let shorter = shorter_call(Language::JavaScript, &callable, &call, 2);
        assert_eq!(shorter.unwrap().arguments, [""; 0], "it says nothing");
    }
}
