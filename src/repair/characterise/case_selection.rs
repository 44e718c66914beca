//! Selects the observations that become tests.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::signature::{Callable, Parameter, Type, typical_value};
use crate::domain::text::has_word;
use crate::effect::{Call, CallOutcome, Observation, ResultKind};

use super::Case;
use super::arguments::{split_arguments, split_name, values_of};
use super::literal_values::{digit_groups, string_content};
use super::parameter_fit::kind_of;
use super::search_target::SearchTarget;
use super::typical_values::is_typical_text;

/// Maximum number of cases of one function that run against mutants, beside documented ones.
const CANDIDATES: usize = 24;

/// The same maximum for a function with lines where mutants survived.
const AIMED: usize = 96;

/// Errors by which functions of the language refuse a value. They are behaviour of a function that
/// names them. All others are accidents unless the repository raises them itself, and an accident is
/// no behaviour to hold.
const REFUSING: &[&str] = &[
    "ValueError",
    "OverflowError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "JSONDecodeError",
    "InvalidOperation",
    "RangeError",
    "SyntaxError",
    "URIError",
    "NumberFormatException",
    "DateTimeParseException",
];

/// Checks whether a call of a function with this source can become a test; `Err` is the reason why not.
pub fn check_purpose(language: Language, case: &Case, source: &str) -> Result<(), String> {
    check_usable(language, case)?;
    match &case.seen.outcome {
        CallOutcome::Raised { class, explicit: false, .. } if case.documented.is_none() => {
            let plain = class.rsplit('.').next().unwrap_or(class);
            let is_named = !REFUSING.contains(&plain) || has_word(source, plain);
            is_named.then_some(()).ok_or_else(|| accident(language, plain))
        }
        _ => Ok(()),
    }
}

fn accident(language: Language, class: &str) -> String {
    let word = if language == Language::Python { "raised" } else { "thrown" };
    format!("{class} is not {word} on purpose")
}

/// Checks whether a call can become a test, as far as its result tells; `Err` is the reason why not.
fn check_usable(language: Language, case: &Case) -> Result<(), String> {
    match &case.seen.outcome {
        // Whatever happened instead of what is documented, it is not on purpose.
        CallOutcome::Value { .. } | CallOutcome::Raised { .. } if case.documented.is_some() => {
            Ok(())
        }
        CallOutcome::Refused(reason) => Err(reason.clone()),
        CallOutcome::Value { way: ResultKind::None, .. }
            if language != Language::Java || case.seen.after.is_empty() =>
        {
            Err("its result is left out: it cannot be compared".into())
        }
        CallOutcome::Value { .. } | CallOutcome::Raised { explicit: true, .. } => Ok(()),
        CallOutcome::Raised { class, .. } => {
            let plain = class.rsplit('.').next().unwrap_or(class);
            if REFUSING.contains(&plain) {
                return Ok(());
            }
            Err(accident(language, plain))
        }
    }
}

/// Calls worth trying on mutants: documented ones, then those that together reach everything, then those with
/// distinct results, the shortest first. Where tests have missed something, many more, and then
/// also those that run the missed lines with a result of other calls.
pub fn candidates(
    language: Language,
    callable: &Callable,
    known: Vec<Case>,
    target: Option<&SearchTarget>,
) -> Vec<Case> {
    let most = if target.is_some() { AIMED } else { CANDIDATES };
    let usable: Vec<Case> =
        known.into_iter().filter(|case| check_usable(language, case).is_ok()).collect();
    let (mut chosen, usable): (Vec<Case>, Vec<Case>) =
        usable.into_iter().partition(|case| case.documented.is_some());
    let most = most + chosen.len();
    let (mut limits, usable) = split_limits(callable, usable);
    limits.truncate(most.saturating_sub(chosen.len()));
    chosen.extend(limits);
    let edges: Vec<bool> = usable
        .iter()
        .map(|case| usable.iter().chain(&chosen).any(|other| is_boundary_pair(case, other)))
        .collect();
    let mut ordered: Vec<(bool, Case)> = edges.into_iter().map(|edge| !edge).zip(usable).collect();
    ordered.sort_by_key(|(inner, case)| (*inner, rank_case(callable, case)));
    let mut usable: Vec<Case> = ordered.into_iter().map(|(_, case)| case).collect();
    let mut marks: BTreeSet<String> =
        chosen.iter().flat_map(|case| reached_code(&case.seen)).collect();
    while chosen.len() < most {
        let new =
            |case: &Case| reached_code(&case.seen).filter(|mark| !marks.contains(mark)).count();
        // Of equals this picks the first one, which is the shortest.
        let best = (0..usable.len()).rev().max_by_key(|index| usable.get(*index).map_or(0, new));
        let Some(best) = best.filter(|best| usable.get(*best).is_some_and(|one| new(one) > 0))
        else {
            break;
        };
        let case = usable.remove(best);
        marks.extend(reached_code(&case.seen));
        chosen.push(case);
    }
    if let Some(target) = target {
        usable.sort_by_key(|case| target.distance(case));
    }
    let mut results: BTreeSet<String> = chosen.iter().map(|case| outcome_key(&case.seen)).collect();
    let mut alike = Vec::new();
    for case in usable {
        if chosen.len() >= most {
            break;
        }
        if results.insert(outcome_key(&case.seen)) {
            chosen.push(case);
        } else {
            alike.push(case);
        }
    }
    // A boundary may have the result of other calls, and only a mutant tells them apart.
    if let Some(target) = target {
        alike.retain(|case| target.distance(case) < 3);
        alike.truncate(most.saturating_sub(chosen.len()));
        chosen.extend(alike);
    }
    chosen
}

/// The calls on both sides of the numbers that a function compares, and the others.
fn split_limits(callable: &Callable, cases: Vec<Case>) -> (Vec<Case>, Vec<Case>) {
    let pairs = boundary_pairs(callable, &cases).into_iter();
    let places: BTreeSet<usize> = pairs.flat_map(|(one, other)| [one, other]).collect();
    let (limits, others): (Vec<_>, Vec<_>) =
        cases.into_iter().enumerate().partition(|(place, _)| places.contains(place));
    let plain = |list: Vec<(usize, Case)>| list.into_iter().map(|(_, case)| case).collect();
    (plain(limits), plain(others))
}

/// For each number that the function compares, the indexes of two calls on its two sides: the plainest
/// such pair.
pub fn boundary_pairs(callable: &Callable, cases: &[Case]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|index| cases.get(*index).map(|case| rank_case(callable, case)));
    let mut found: Vec<(usize, usize)> = Vec::new();
    for limit in callable.literals.iter().filter(|literal| literal.parse::<u32>().is_ok()) {
        let lies_at = |index: &&usize| {
            let given = cases.get(**index).map(|case| case.call.arguments.as_slice());
            given.unwrap_or_default().iter().any(|one| {
                one == limit
                    || digit_groups(one).iter().any(|(a, b)| one.get(*a..*b) == Some(limit))
            })
        };
        for step in [1, -1] {
            let pair = order.iter().filter(lies_at).find_map(|at| {
                let is_other = |other: &&usize| {
                    let two = cases.get(*at).zip(cases.get(**other));
                    two.is_some_and(|(one, two)| boundary_step(one, two) == Some(step))
                };
                order.iter().find(is_other).map(|other| (*at, *other))
            });
            found.extend(pair);
        }
    }
    found
}

/// Whether two calls lie on the two sides of a boundary: one number differs by one, and the code
/// takes another path. Only such pairs distinguish `>` from `>=`.
fn is_boundary_pair(case: &Case, other: &Case) -> bool {
    boundary_step(case, other).is_some()
}

/// By what a number of the other call of such a pair is larger: 1 or -1.
fn boundary_step(case: &Case, other: &Case) -> Option<i64> {
    let is_other_path = || reached_code(&case.seen).ne(reached_code(&other.seen));
    let (step, _) = number_step(&case.call, &other.call)?;
    (step.abs() == 1 && is_other_path()).then_some(step)
}

/// How much larger the one number is in which another call differs, and the index of its argument.
fn number_step(one: &Call, two: &Call) -> Option<(i64, usize)> {
    if one.callee != two.callee
        || one.setup != two.setup
        || one.arguments.len() != two.arguments.len()
    {
        return None;
    }
    let mut differing = one.arguments.iter().zip(&two.arguments).enumerate();
    let mut differing = differing.by_ref().filter(|(_, (a, b))| a != b);
    let (Some((index, (a, b))), None) = (differing.next(), differing.next()) else { return None };
    let step = match (a.parse::<i64>(), b.parse::<i64>()) {
        (Ok(a), Ok(b)) => b.checked_sub(a),
        _ => text_step(a, b),
    };
    step.map(|step| (step, index))
}

/// The limits of a function above 1, each with the index of its argument: numbers of which one neighbour
/// takes another path through the code, and the other one the same.
pub fn find_limits(callable: &Callable, cases: &[Case]) -> BTreeSet<(usize, i64)> {
    let mut found = BTreeSet::new();
    for one in cases {
        let near = |other: &Case| {
            let (step, index) = number_step(&one.call, &other.call)?;
            let is_other = boundary_step(one, other).is_some();
            (step.abs() == 1).then_some((step, index, is_other))
        };
        let near: Vec<(i64, usize, bool)> = cases.iter().filter_map(near).collect();
        for (step, index, _) in near.iter().filter(|(.., is_other)| *is_other) {
            let value =
                one.call.arguments.get(*index).filter(|one| callable.literals.contains(*one));
            let number = value.and_then(|value| value.parse().ok()).filter(|number| *number > 1);
            let is_one_sided = near.contains(&(-step, *index, false));
            found.extend(number.filter(|_| is_one_sided).map(|number| (*index, number)));
        }
    }
    found
}

/// How much larger the one number is in which two texts differ: 1 for `23:00` and `24:00`.
fn text_step(one: &str, other: &str) -> Option<i64> {
    let groups = digit_groups(one);
    let is_text = one.starts_with(['"', '\'']);
    if !is_text || one.len() != other.len() || groups != digit_groups(other) {
        return None;
    }
    let differs = |(start, end): &&(usize, usize)| one.get(*start..*end) != other.get(*start..*end);
    let differing: Vec<&(usize, usize)> = groups.iter().filter(differs).collect();
    let [(start, end)] = differing.as_slice() else { return None };
    let rest = |text: &str| Some((text.get(..*start)?.to_owned(), text.get(*end..)?.to_owned()));
    let number = |text: &str| text.get(*start..*end)?.parse::<i64>().ok();
    if rest(one) == rest(other) { number(other)?.checked_sub(number(one)?) } else { None }
}

/// The most signs of different kinds, the most letters, and the most equal words of a text that reads
/// well.
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

/// Whether a text is one that nobody would write: with many kinds of signs, very long, with the same words
/// again and again, or with blanks that say nothing.
fn is_odd_text(text: &str) -> bool {
    let signs = |c: &char| !c.is_alphanumeric() && !c.is_whitespace();
    let kinds: BTreeSet<char> = text.chars().filter(signs).collect();
    let halves = text.split_once(' ').or_else(|| text.split_at_checked(text.len() / 2));
    let is_doubled = halves.is_some_and(|(one, other)| one == other && text.len() > 5);
    let words = || text.split(|c: char| !c.is_alphanumeric());
    let is_frequent = |word: &str| {
        word.contains(char::is_alphabetic)
            && words().filter(|one| *one == word).count() > EQUAL_WORDS
    };
    kinds.len() > KINDS_OF_SIGNS
        || text.len() > LEGIBLE
        || is_doubled
        || words().any(is_frequent)
        || text.contains("  ")
}

/// Whether a call gives a text that nobody would write, or a result that no test shows well. Documented
/// texts and those of the code are never such.
pub fn is_garbled(callable: &Callable, case: &Case) -> bool {
    let documented = callable.examples.iter().flat_map(|one| &one.arguments);
    let known: BTreeSet<&String> = documented.chain(&callable.literals).collect();
    let is_odd = |argument: &&String| {
        let value = split_name(argument).1;
        let Some(text) = string_content(value) else {
            return is_expression(value) || value.len() > LONG_LITERAL;
        };
        is_odd_text(text) && !known.contains(argument) && !is_typical_text(value)
    };
    let is_long = matches!(&case.seen.outcome,
        CallOutcome::Value { literal, .. } if literal.len() > LONG_LITERAL);
    case.documented.is_none() && (is_long || case.call.arguments.iter().any(|one| is_odd(&one)))
}

/// Arguments without a meaning of their own, which belong to edges only.
const DEGENERATE: &[&str] =
    &["None", "null", "undefined", "nil", "\"\"", "''", "[]", "{}", "\"a\""];

/// The order in which equally informative calls are preferred: results before errors, meaningful
/// arguments before empty ones, short ones before long ones.
pub fn rank_case(callable: &Callable, case: &Case) -> (bool, bool, usize, usize, usize) {
    let raised = matches!(case.seen.outcome, CallOutcome::Raised { .. });
    let values = values_of(&callable.parameters, &case.call.arguments);
    let values = values.into_iter().map(Option::unwrap_or_default);
    let object = case.call.callee.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
    let object = split_arguments(object.map_or("", |(given, _)| given));
    let class = callable.class.iter().flat_map(|class| &class.parameters);
    let made = object.iter().map(|one| split_name(one).1.to_owned()).zip(class);
    let (mut odd, mut untypical) = (0, 0);
    for (value, parameter) in values.zip(&callable.parameters).chain(made) {
        if value.is_empty() {
            continue;
        }
        odd += usize::from(DEGENERATE.contains(&value.as_str()) || is_misfit(parameter, &value));
        let typical = typical_value(&parameter.name).map(|(_, typical)| typical);
        let is_shown = parameter.shown.contains(&value)
            || callable.examples.iter().any(|one| one.arguments.contains(&value));
        let has_shown = !parameter.shown.is_empty() || !callable.examples.is_empty();
        let is_other = !is_shown && typical.map_or(has_shown, |typical| typical != value);
        // No price is 0, and nothing is counted below it.
        let is_unlikely =
            is_other && !raised && value.parse::<f64>().is_ok_and(|number| number <= 0.0);
        let is_wordless = value.starts_with(['"', '\'']) && !value.contains(char::is_alphabetic);
        let is_odd = string_content(&value).is_some_and(is_odd_text);
        // An option that is merely some value.
        let is_dummy =
            value.starts_with('{') && [": 2 }", ": \"x\" }"].iter().any(|end| value.ends_with(end));
        // A fraction that nothing asks for.
        let is_fraction = value.parse::<f64>().is_ok_and(|number| number.fract() != 0.0)
            && parameter.types.first() != Some(&Type::Float)
            && !is_shown;
        let marks = [is_other, is_unlikely, is_wordless, is_odd, is_dummy, is_fraction];
        untypical += marks.into_iter().filter(|one| *one).count();
    }
    let is_made = callable.class.as_ref().is_some_and(|class| class.construction.is_some());
    odd += usize::from(is_made && object.iter().any(|given| DEGENERATE.contains(given)));
    if let CallOutcome::Value { literal, .. } = &case.seen.outcome {
        // What comes back as it was given shows nothing of what the function does.
        odd += usize::from(case.call.arguments.contains(literal));
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
        case.call.callee.len() + arguments + result,
    )
}

/// Whether a literal is of another type than the one that the parameter most likely has.
fn is_misfit(parameter: &Parameter, literal: &str) -> bool {
    let typical = parameter.types.first().filter(|kind| **kind != Type::Any);
    let (Some(typical), Some(kind)) = (typical, kind_of(literal)) else { return false };
    let both_lists = matches!((typical, kind), (Type::List(_), Type::List(_)));
    let is_whole = *typical == Type::Float && kind == Type::Int;
    !both_lists && *typical != kind && !is_whole
}

/// Ids of the code that a call runs: its marks, and its lines where marks of equal counts are merged.
pub fn reached_code(seen: &Observation) -> impl Iterator<Item = String> {
    let lines = seen.lines.iter().map(|line| format!("line {line}"));
    seen.marks.iter().cloned().chain(lines)
}

/// What tells results apart: value or error, and what became of the arguments.
pub fn outcome_key(seen: &Observation) -> String {
    format!("{:?} {:?}", seen.outcome, seen.after)
}

/// A result that the function names, as in `return 490`: an id of it.
pub fn named_result(callable: &Callable, case: &Case) -> Option<String> {
    let CallOutcome::Value { literal, .. } = case.expected_outcome() else { return None };
    callable.literals.contains(literal).then(|| format!("{} gives {literal}", callable.name))
}

/// What one test contributes: code that it reaches, and mutants that it detects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contribution {
    /// Opaque ids of the code that it reaches.
    pub reaches: BTreeSet<String>,
    /// Numbers of the mutants that it detects.
    pub notices: BTreeSet<usize>,
    /// Whether its result is documented: such a test is always kept.
    pub is_documented: bool,
    /// Whether nobody would write its input: it only counts for code that no other reaches.
    pub is_garbled: bool,
    /// Index of its function.
    pub function: usize,
}

impl Contribution {
    /// What counts of it.
    fn parts(&self) -> impl Iterator<Item = (&str, usize)> {
        let notices = self.notices.iter().filter(|_| !self.is_garbled);
        self.reaches.iter().map(|mark| (mark.as_str(), 0)).chain(notices.map(|one| ("", *one)))
    }
}

/// The number of tests of one function from which on a further one has to reach new code, or to detect
/// several mutants.
pub const MANY: usize = 6;

/// The documented tests and a small set of others that reach as much as all, and detect as much as all
/// with legible inputs; sorted indexes. The tests are given plainest first, and a plainer one of the same
/// function stands for another that contributes no more.
pub fn cover(contributions: &[Contribution]) -> Vec<usize> {
    let documented = contributions.iter().enumerate().filter(|(_, piece)| piece.is_documented);
    let mut chosen: Vec<usize> = documented.map(|(index, _)| index).collect();
    let parts = |index: &usize| contributions.get(*index).into_iter().flat_map(Contribution::parts);
    let mut known: BTreeSet<(&str, usize)> = chosen.iter().flat_map(parts).collect();
    loop {
        let gain = |index: &usize| {
            let Some(piece) = contributions.get(*index) else { return (false, 0, 0) };
            let new = || piece.parts().filter(|part| !known.contains(part));
            let (notices, all) = (new().filter(|(mark, _)| mark.is_empty()).count(), new().count());
            let is_own = |other: &&usize| {
                contributions.get(**other).is_some_and(|one| one.function == piece.function)
            };
            let is_needless =
                all < 2 && notices == all && chosen.iter().filter(is_own).count() >= MANY;
            if is_needless {
                return (false, 0, 0);
            }
            (!piece.is_garbled && all > 0, notices, all - notices)
        };
        let left = (0..contributions.len()).filter(|index| !chosen.contains(index)).rev();
        let best = left.max_by_key(gain).filter(|best| (gain(best).1, gain(best).2) != (0, 0));
        let Some(best) = best else { break };
        known.extend(parts(&best));
        chosen.push(best);
    }
    prefer_plain(contributions, &mut chosen);
    chosen.sort_unstable();
    chosen
}

/// Takes out what others make needless, the least plain first, and puts a plainer test of the same function
/// in the place of one that nothing but it can replace.
fn prefer_plain(contributions: &[Contribution], chosen: &mut Vec<usize>) {
    let mut order = chosen.clone();
    order.sort_unstable();
    for index in order.into_iter().rev() {
        let Some(piece) = contributions.get(index).filter(|piece| !piece.is_documented) else {
            continue;
        };
        chosen.retain(|other| *other != index);
        let others = chosen.iter().filter_map(|other| contributions.get(*other));
        let known: BTreeSet<(&str, usize)> = others.flat_map(Contribution::parts).collect();
        let own: BTreeSet<(&str, usize)> =
            piece.parts().filter(|part| !known.contains(part)).collect();
        let stands_for = |(_, other): &(usize, &Contribution)| {
            other.function == piece.function
                && other.parts().filter(|part| own.contains(part)).count() == own.len()
        };
        if !own.is_empty() {
            let mut before = contributions.iter().enumerate().take(index);
            chosen.push(before.find(stands_for).map_or(index, |(plainer, _)| plainer));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::code::signature::callables;

    fn callable() -> Callable {
        callables(Language::Python, "def f(x):\n    return x\n").remove(0)
    }

    fn case(argument: &str, literal: &str, marks: &[&str]) -> Case {
        Case {
            call: Call::new("f", vec![argument.into()]),
            seen: Observation {
                outcome: CallOutcome::Value { literal: literal.into(), way: ResultKind::Plain },
                after: Vec::new(),
                needs: Vec::new(),
                lines: Vec::new(),
                marks: marks.iter().map(|mark| (*mark).to_owned()).collect(),
            },
            documented: None,
        }
    }

    #[test]
    fn documented_calls_come_first_whatever_they_reach() {
        let mut known: Vec<Case> =
            (0..30).map(|n| case(&n.to_string(), &n.to_string(), &["a"])).collect();
        let outcome = CallOutcome::Value { literal: "1".into(), way: ResultKind::Plain };
        let mut odd = case("999999", "0", &["a"]);
        odd.seen.outcome = CallOutcome::Raised {
            class: "TypeError".into(),
            message: String::new(),
            explicit: false,
            way: ResultKind::Plain,
        };
        known.push(Case { documented: Some(outcome), ..odd });
        let chosen = candidates(Language::Python, &callable(), known, None);
        assert_eq!(chosen[0].call.arguments, ["999999"]);
    }

    #[test]
    fn everything_reached_stays_reached_and_results_differ() {
        let known = vec![
            case("1", "1", &["a"]),
            case("22", "2", &["a", "b"]),
            case("333", "2", &["a"]),
            case("4", "4", &["a"]),
        ];
        let chosen: Vec<String> = candidates(Language::Python, &callable(), known, None)
            .into_iter()
            .map(|one| one.call.arguments.concat())
            .collect();
        assert_eq!(chosen, ["22", "1", "4"]);
    }

    #[test]
    fn both_sides_of_a_boundary_come_before_shorter_calls() {
        let mut known: Vec<Case> =
            (0..30).map(|n| case(&n.to_string(), &n.to_string(), &["low"])).collect();
        known.push(case("5000", "x", &["low"]));
        known.push(case("5001", "y", &["high"]));
        let chosen = candidates(Language::Python, &callable(), known, None);
        let has = |argument: &str| chosen.iter().any(|one| one.call.arguments == [argument]);
        assert!(has("5000") && has("5001"), "{chosen:?}");
    }

    #[test]
    fn accidents_are_not_pinned_and_purposes_are() {
        let raised = |class: &str, explicit| Observation {
            outcome: CallOutcome::Raised {
                class: class.into(),
                message: String::new(),
                explicit,
                way: ResultKind::Plain,
            },
            ..Observation::refused("")
        };
        let table = [
            (raised("TypeError", false), Err("TypeError is not raised on purpose")),
            (raised("TypeError", true), Ok(())),
            (raised("ValueError", false), Ok(())),
            (raised("shop.errors.TooMany", true), Ok(())),
            (Observation::refused("prints"), Err("prints")),
        ];
        for (seen, expected) in table {
            let case = Case { seen, ..case("1", "1", &[]) };
            let usable = check_usable(Language::Python, &case);
            assert_eq!(usable.as_ref().map_err(String::as_str).copied(), expected, "{case:?}");
        }
        let refused = Case { seen: raised("ValueError", false), ..case("1", "1", &[]) };
        for (source, expected) in [("return int(x)", false), ("# raises ValueError", true)] {
            let purpose = check_purpose(Language::Python, &refused, source);
            assert_eq!(purpose.is_ok(), expected, "{source}");
        }
    }

    #[test]
    fn limits_in_numbers_and_texts_have_two_sides() {
        type Row = (&'static [(&'static str, &'static str)], &'static [(usize, usize)]);
        let text = "def f(x):\n    return x <= 250 or x == 23\n";
        let callable = callables(Language::Python, text).remove(0);
        let table: [Row; 4] = [
            (&[("250", "low"), ("251", "high"), ("9", "low")], &[(0, 1)]),
            (&[("250", "low"), ("251", "low")], &[]),
            (&[("'24:00'", "out"), ("'23:00'", "in"), ("'23:01'", "in")], &[(1, 0)]),
            (&[("'24:00'", "out"), ("'23-00'", "in")], &[]),
        ];
        for (given, expected) in table {
            let cases: Vec<Case> =
                given.iter().map(|(argument, mark)| case(argument, "1", &[mark])).collect();
            assert_eq!(boundary_pairs(&callable, &cases), expected, "{given:?}");
        }
    }

    #[test]
    fn a_limit_has_the_same_path_on_one_side_and_another_on_the_other() {
        let text = "def f(x):\n    return x <= 250 or x == 23\n";
        let callable = callables(Language::Python, text).remove(0);
        let given =
            [("249", "a"), ("250", "a"), ("251", "b"), ("22", "a"), ("23", "c"), ("24", "a")];
        let cases = given.map(|(argument, mark)| case(argument, "1", &[mark]));
        assert_eq!(find_limits(&callable, &cases), BTreeSet::from([(0, 250)]));
        assert!(find_limits(&callable, &cases[1..]).is_empty(), "one neighbour is unknown");
    }

    #[test]
    fn garbled_texts_are_those_that_nobody_would_write() {
        let table = [
            ("\"13[C]2][B?1\"", true),
            ("\"Golang Golang\"", true),
            ("\"2024-02-29 12:30\"", false),
            ("\"a,b;c\"", false),
            ("\"a  a\"", true),
            ("\"ab/ab; ab\"", true),
            ("\"1.1.1\"", false),
            ("\"\\W+\"", true),
            ("13", false),
        ];
        for (argument, expected) in table {
            assert_eq!(is_garbled(&callable(), &case(argument, "1", &[])), expected, "{argument}");
        }
        let piece = |is_garbled, mutant, mark: &str| Contribution {
            reaches: BTreeSet::from([mark.to_owned()]),
            notices: BTreeSet::from([mutant]),
            is_garbled,
            ..Contribution::default()
        };
        let pieces = [piece(true, 1, "a"), piece(false, 2, "a"), piece(true, 3, "b")];
        assert_eq!(cover(&pieces), [1, 2]);
    }

    #[test]
    fn of_tests_that_contribute_as_much_the_plainest_is_kept() {
        let piece = |function, notices: &[usize], reaches: &[&str]| Contribution {
            reaches: reaches.iter().map(|one| (*one).to_owned()).collect(),
            notices: notices.iter().copied().collect(),
            function,
            ..Contribution::default()
        };
        let table = [
            ("equal ones", vec![piece(0, &[1], &["a"]), piece(0, &[1], &["a"])], vec![0]),
            (
                "a strong one that others make needless",
                vec![
                    piece(0, &[1, 5], &[]),
                    piece(0, &[3, 6], &[]),
                    piece(0, &[1, 2, 3], &[]),
                    piece(0, &[2, 7], &[]),
                ],
                vec![0, 1, 3],
            ),
            (
                "a plainer one that does what is left to do",
                vec![
                    piece(0, &[1, 5], &[]),
                    piece(0, &[2, 3, 4], &[]),
                    piece(0, &[1, 2, 3, 5], &[]),
                ],
                vec![0, 1],
            ),
            (
                "one of another function",
                vec![piece(1, &[], &["a"]), piece(0, &[1], &["a"])],
                vec![1],
            ),
        ];
        for (why, pieces, expected) in table {
            assert_eq!(cover(&pieces), expected, "{why}");
        }
        let many: Vec<Contribution> = (0..9).map(|one| piece(0, &[one], &["a"])).collect();
        assert_eq!(cover(&many).len(), MANY);
        let many: Vec<Contribution> = (0..9).map(|one| piece(one, &[one], &["a"])).collect();
        assert_eq!(cover(&many).len(), 9);
    }

    #[test]
    fn meaningful_inputs_that_change_rank_before_others() {
        let text = "def total(label, price):\n    return price\n";
        let callable = callables(Language::Python, text).remove(0);
        let ranked = |given: [&str; 2], literal: &str| {
            let mut one = case("", literal, &[]);
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

    proptest! {
        #[test]
        fn a_cover_notices_and_reaches_what_all_do(
            rows in proptest::collection::vec((proptest::collection::btree_set(0usize..20, 0..6), proptest::collection::btree_set("[a-f]", 0..4)), 0..12)
        ) {
            let contributions: Vec<Contribution> = rows.into_iter().map(|(notices, reaches)| Contribution { reaches, notices, ..Contribution::default() }).enumerate().map(|(function, one)| Contribution { function, ..one }).collect();
            let chosen = cover(&contributions);
            let all = |list: &[usize]| -> (BTreeSet<usize>, BTreeSet<String>) {
                let of = |index: &usize| contributions[*index].clone();
                (list.iter().flat_map(|i| of(i).notices).collect(), list.iter().flat_map(|i| of(i).reaches).collect())
            };
            let every: Vec<usize> = (0..contributions.len()).collect();
            prop_assert_eq!(all(&chosen), all(&every));
            prop_assert!(chosen.len() <= contributions.len());
        }
    }
}
