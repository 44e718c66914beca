//! Tells a repair from a fix that is made for the tests: calls the functions of an edited file before
//! and after with the inputs of failing tests and with others near them (specification.md 7.16).

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::signature::{self, Callable};
use crate::domain::id::RepoPath;
use crate::effect::{Call, CallOutcome, Observation};

use super::{inputs, local_name, variations};

/// Functions of a file that are compared, and calls of tests of each.
const FUNCTIONS: usize = 4;
const TESTED: usize = 4;

/// Calls near those of the tests, of one function.
const NEAR: usize = 32;

/// Fewer results near the tested inputs say nothing.
const ENOUGH: usize = 4;

/// The calls by which a function is compared.
pub struct InputComparison {
    /// Local and exported name of the function or its class, in a script.
    pub binding: Option<(String, String)>,
    /// The calls of the tests, followed by others near them.
    pub calls: Vec<Call>,
    tested: usize,
}

/// Functions of a file that failing tests, with these sources, call with literals.
pub fn compared_functions(
    language: Language,
    file: &RepoPath,
    text: &str,
    tests: &BTreeMap<RepoPath, String>,
) -> Vec<InputComparison> {
    let callables = signature::callables(language, text);
    let short = |one: &Callable| one.short_name().to_owned();
    let names: BTreeSet<String> = callables.iter().map(short).collect();
    let mut given: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for (name, calls) in
        tests.values().flat_map(|test| signature::call_arguments(language, test, &names))
    {
        given.entry(name).or_default().extend(calls);
    }
    let literals = tests.values().flat_map(|test| crate::repair::edit_traits::literals(test));
    let numbers: BTreeSet<String> = literals.filter(|one| one.parse::<f64>().is_ok()).collect();
    let mentioned = |name: &String| tests.values().any(|test| test.contains(name.as_str()));
    let compared = callables.iter().filter(|one| mentioned(&short(one))).map(|callable| {
        let local = local_name(callable, file, "");
        let callees = inputs::list_callees(language, callable, &local);
        let single = || numbers.iter().map(|number| vec![number.clone()]).collect();
        let lists = given.get(&short(callable)).cloned();
        let lists: Vec<Vec<String>> = match lists {
            None if callable.parameters.len() == 1 => single(),
            lists => lists.unwrap_or_default(),
        };
        let call = |arguments| Some(Call::new(callees.first()?, arguments));
        let tested: BTreeSet<Call> = lists.into_iter().take(TESTED).filter_map(call).collect();
        let near =
            tested.iter().flat_map(|call| variations::vary_arguments(language, callable, call));
        let near: BTreeSet<Call> = near.filter(|call| !tested.contains(call)).collect();
        let count = tested.len();
        let calls = tested.into_iter().chain(near.into_iter().take(NEAR)).collect();
        let binding = callable.export.clone().map(|export| (local, export));
        InputComparison { binding, calls, tested: count }
    });
    compared.filter(|one| one.tested > 0).take(FUNCTIONS).collect()
}

impl InputComparison {
    /// Why the results before and after show that an edit is made for the tests; `None` when they do
    /// not. An edit without a new choice may change a single input, as where `>` becomes `>=`.
    pub fn judge(
        &self,
        before: &[Observation],
        after: &[Observation],
        adds_choice: bool,
    ) -> Option<String> {
        let results = self.calls.iter().enumerate().zip(before.iter().zip(after));
        let results = results.map(|((index, call), (old, new))| CallChange {
            call,
            is_tested: index < self.tested,
            is_same: old.agrees(new),
            old: &old.outcome,
            new: &new.outcome,
        });
        let known = results.filter(|one| {
            ![one.old, one.new].iter().any(|seen| matches!(seen, CallOutcome::Refused(_)))
        });
        let (same, changed): (Vec<CallChange<'_>>, Vec<CallChange<'_>>) =
            known.partition(|one| one.is_same);
        let (tested, near): (Vec<&CallChange<'_>>, Vec<&CallChange<'_>>) =
            changed.iter().partition(|one| one.is_tested);
        let first = tested.first()?;
        if near.is_empty()
            && adds_choice
            && same.iter().filter(|one| one.answered()).count() >= ENOUGH
        {
            let calls: Vec<String> = tested.iter().map(|one| shown(one.call)).collect();
            return Some(format!(
                "only the tested inputs behave differently: {}",
                calls.join(", ")
            ));
        }
        // A limit changes the inputs on one side of it, and a range those around the tested one.
        let lies = |side| same.iter().any(|one| compare(one.call, first.call) == Some(side));
        let least = match (lies(Ordering::Less), lies(Ordering::Greater)) {
            (true, true) => 2,
            (false, false) => ENOUGH,
            _ => return None,
        };
        let CallOutcome::Value { literal, .. } = first.new else { return None };
        let is_one = changed.iter().all(|one| one.new == first.new);
        let varied =
            near.iter().any(|one| one.old != first.old) || !near.iter().any(|one| one.answered());
        let is_plain = literal.starts_with(|c: char| c.is_ascii_digit() || "-\"'".contains(c));
        let is_border =
            matches!(literal.as_str(), "0" | "1" | "-1" | "\"\"" | "''" | "0.0" | "1.0");
        (near.len() >= least && is_one && varied && is_plain && !is_border)
            .then(|| format!("it answers `{literal}` to every input that it changes"))
    }
}

/// What a call gave before and after.
struct CallChange<'a> {
    call: &'a Call,
    is_tested: bool,
    is_same: bool,
    old: &'a CallOutcome,
    new: &'a CallOutcome,
}

impl CallChange<'_> {
    /// Whether the call gave a value before.
    fn answered(&self) -> bool {
        matches!(self.old, CallOutcome::Value { .. })
    }
}

fn shown(call: &Call) -> String {
    format!("`{}({})`", call.callee, call.arguments.join(", "))
}

/// On which side of another call the first number that differs lies.
fn compare(call: &Call, other: &Call) -> Option<Ordering> {
    let pairs = call.arguments.iter().zip(&other.arguments);
    // Where types decide, an integer says nothing about a fraction.
    let alike = pairs.filter(|(a, b)| a.contains('.') == b.contains('.'));
    let numbers = alike.filter_map(|(a, b)| a.parse::<f64>().ok().zip(b.parse::<f64>().ok()));
    numbers.filter_map(|(a, b)| a.partial_cmp(&b)).find(|order| order.is_ne())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::ResultKind;

    /// What an edit of a function of one number changes, as that function itself.
    fn judged(before: fn(i64) -> i64, after: fn(i64) -> i64, adds_choice: bool) -> Option<String> {
        let inputs = [57, 58, 56, 114, -57, 570, 2, 0, 7];
        let call = |input: i64| Call::new("f", vec![input.to_string()]);
        let calls = inputs.map(call).to_vec();
        let compared = InputComparison { binding: None, calls, tested: 1 };
        let seen = |function: fn(i64) -> i64| {
            inputs.map(|input| {
                let literal = function(input).to_string();
                let outcome = CallOutcome::Value { literal, way: ResultKind::Plain };
                Observation { outcome, ..Observation::refused("") }
            })
        };
        compared.judge(&seen(before), &seen(after), adds_choice)
    }

    #[test]
    fn what_changes_the_tested_inputs_only_or_answers_them_alike_is_made_for_the_tests() {
        type Function = fn(i64) -> i64;
        let minus: Function = |x| x - 3;
        let table: [(&str, Function, Function, bool, bool); 9] = [
            ("one input", minus, |x| if x == 57 { 60 } else { x - 3 }, true, true),
            ("a window", minus, |x| if (50..60).contains(&x) { 60 } else { x - 3 }, true, true),
            ("every number", minus, |_| 60, true, true),
            ("every number, no choice", minus, |_| 60, false, true),
            ("a repair", minus, |x| x + 3, false, false),
            ("a boundary", |x| i64::from(x > 57), |x| i64::from(x >= 57), false, false),
            ("a limit", |x| x + 3, |x| (x + 3).min(60).max(x.min(60)), true, false),
            ("a new branch", minus, |x| if x > 0 { x + 3 } else { x - 3 }, true, false),
            ("a border", minus, |_| 0, true, false),
        ];
        for (why, before, after, adds_choice, expected) in table {
            let reason = judged(before, after, adds_choice);
            assert_eq!(reason.is_some(), expected, "{why}: {reason:?}");
        }
        let only = judged(minus, |x| if x == 57 { 60 } else { x - 3 }, true);
        assert_eq!(only.as_deref(), Some("only the tested inputs behave differently: `f(57)`"));
    }

    #[test]
    fn calls_of_tests_come_with_others_near_them() {
        let source = "def raised(price):\n    return price - 3\n";
        let file = RepoPath::parse("calc.py").unwrap();
        for test in [
            "assert raised(57) == 60",
            "@cases((57, 60))\ndef test_raised(a, b):\n    assert raised(a) == b",
        ] {
            let tests = [(RepoPath::parse("test_calc.py").unwrap(), test.to_owned())].into();
            let found = compared_functions(Language::Python, &file, source, &tests);
            let calls: Vec<String> = found[0].calls.iter().map(shown).collect();
            for call in ["`raised(57)`", "`raised(58)`", "`raised(56)`"] {
                assert!(calls.iter().any(|one| one == call), "{call}: {calls:?}");
            }
        }
    }
}
