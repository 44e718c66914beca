//! Selects the observations that become tests.

use std::collections::BTreeSet;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::signature::Callable;
use crate::domain::text::has_word;
use crate::effect::{Call, CallOutcome, Observation, ResultKind};

use super::case_rank::rank_case;
use super::literal_values::digit_groups;
use super::parameter_fit;
use super::search_target::SearchTarget;
use super::{Case, ObservedFunction};

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

/// How code names the float that is no number.
const NAN_WORDS: &[&str] = &["nan", "NaN", "NAN", "isnan", "isNaN", "is_nan"];

/// Checks whether a call of a function with this source can become a test; `Err` is the reason why not.
pub fn check_purpose(language: Language, case: &Case, source: &str) -> Result<(), String> {
    check_usable(language, case)?;
    match &case.seen.outcome {
        CallOutcome::Value { literal, way }
            if (*way == ResultKind::Nan || has_word(literal, "NaN"))
                && case.documented.is_none()
                && !NAN_WORDS.iter().any(|word| has_word(source, word)) =>
        {
            Err("its result is NaN, of which the code says nothing".into())
        }
        CallOutcome::Value { literal, .. } if is_noise(literal) && case.documented.is_none() => {
            Err("its result is zero but for rounding".into())
        }
        CallOutcome::Raised { message, .. }
            if has_word(message, "NaN")
                && case.documented.is_none()
                && !NAN_WORDS.iter().any(|word| has_word(source, word)) =>
        {
            Err("its message holds NaN, of which the code says nothing".into())
        }
        CallOutcome::Raised { class, explicit: false, .. } if case.documented.is_none() => {
            let plain = class.rsplit('.').next().unwrap_or(class);
            let is_named = !REFUSING.contains(&plain) || has_word(source, plain);
            is_named.then_some(()).ok_or_else(|| accident(language, plain))
        }
        _ => Ok(()),
    }
}

/// Whether a number is so near to zero that it is what rounding leaves of it.
fn is_noise(literal: &str) -> bool {
    literal.parse::<f64>().is_ok_and(|number| number != 0.0 && number.abs() < 1e-12)
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
    ordered.sort_by_cached_key(|(inner, case)| (*inner, rank_case(callable, case)));
    let mut usable: Vec<Case> = ordered.into_iter().map(|(_, case)| case).collect();
    let answered = answered_code(chosen.iter().chain(&usable));
    let mut marks: BTreeSet<String> =
        chosen.iter().flat_map(|case| shown_code(case, &answered)).collect();
    let mut shown: Vec<BTreeSet<String>> =
        usable.iter().map(|case| shown_code(case, &answered)).collect();
    while chosen.len() < most {
        let new = |index: &usize| shown.get(*index).map_or(0, |one| one.difference(&marks).count());
        // Of equals this picks the first one, which is the shortest.
        let best = (0..usable.len()).rev().max_by_key(new);
        let Some(best) = best.filter(|best| new(best) > 0) else { break };
        marks.extend(shown.remove(best));
        chosen.push(usable.remove(best));
    }
    add_plainer(callable, &mut chosen, &mut usable, most);
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

/// Refuses results of arguments that the declared types exclude: only that they are rejected is worth
/// a test, and in JavaScript what no others reach.
pub fn refuse_wrong_types(language: Language, callable: &Callable, known: &mut [Case]) {
    let (fitting, others): (Vec<_>, Vec<_>) =
        known.iter_mut().partition(|case| parameter_fit::fits_types(callable, &case.call));
    let mut marks: BTreeSet<String> =
        fitting.iter().flat_map(|case| reached_code(&case.seen)).collect();
    for case in others {
        let own: Vec<String> = reached_code(&case.seen).collect();
        // A range that did not run has a mark with `x`.
        let is_reached = |one: &&String| !one.starts_with('x') && !marks.contains(*one);
        let is_new = language == Language::JavaScript && own.iter().any(|one| is_reached(&one));
        marks.extend(own);
        if !is_new && !matches!(case.seen.outcome, CallOutcome::Raised { explicit: true, .. }) {
            case.seen.outcome =
                CallOutcome::Refused("its arguments are not of the types that it takes".into());
        }
    }
}

/// Refuses reflected operators of Python between two objects of one class: these call the plain operator, and
/// its tests show that.
pub fn refuse_unreflected(callable: &Callable, known: &mut [Case]) {
    let is_reflected = ["__radd__", "__rmul__", "__rsub__"].contains(&callable.short_name());
    let Some(class) = callable.class.as_ref().filter(|_| is_reflected) else { return };
    for case in known {
        let head = case.call.arguments.first().and_then(|one| one.split(['(', '.']).next());
        if head == Some(class.name.as_str()) {
            let reason = "the operator of what stands on its left is called".into();
            case.seen.outcome = CallOutcome::Refused(reason);
        }
    }
}

/// Adds the plainest plainer call with each one's result: others may reach the rest.
fn add_plainer(callable: &Callable, chosen: &mut Vec<Case>, usable: &mut Vec<Case>, most: usize) {
    let keyed = |case: &Case| (outcome_key(&case.seen), rank_case(callable, case));
    let mut keys: Vec<_> = usable.iter().map(keyed).collect();
    for place in 0..chosen.len().min(most.saturating_sub(chosen.len())) {
        let Some(one) = chosen.get(place).filter(|one| one.documented.is_none()) else { continue };
        let (outcome, rank) = keyed(one);
        let plainer = keys.iter().enumerate().filter(|(_, key)| key.0 == outcome && key.1 < rank);
        if let Some((place, _)) = plainer.min_by(|(_, one), (_, other)| one.1.cmp(&other.1)) {
            keys.remove(place);
            chosen.push(usable.remove(place));
        }
    }
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

/// For each compared number, the indexes of the plainest two calls on its two sides.
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

/// Ids of the code that a call runs: its marks, and its lines where marks of equal counts are merged.
pub fn reached_code(seen: &Observation) -> impl Iterator<Item = String> {
    let lines = seen.lines.iter().map(|line| format!("line {line}"));
    seen.marks.iter().cloned().chain(lines)
}

/// Whether an id of code also tells how often it ran, as `15xn` does for a block in a loop.
pub fn counts_rounds(mark: &str) -> bool {
    let block = mark.split_once('x').map_or("", |(block, _)| block);
    !block.is_empty() && block.bytes().all(|byte| byte.is_ascii_digit())
}

/// Ids of the code that calls with a result run.
pub fn answered_code<'a>(cases: impl Iterator<Item = &'a Case>) -> BTreeSet<String> {
    let is_raised = |case: &&Case| matches!(case.seen.outcome, CallOutcome::Raised { .. });
    cases.filter(|case| !is_raised(case)).flat_map(|case| reached_code(&case.seen)).collect()
}

/// Ids of the code that a call shows: for an error not what came before it, where other calls have a result.
pub fn shown_code(case: &Case, answered: &BTreeSet<String>) -> BTreeSet<String> {
    let is_raised = matches!(case.seen.outcome, CallOutcome::Raised { .. });
    let reached = reached_code(&case.seen).filter(|mark| !is_raised || !answered.contains(mark));
    // A setting shows in results more often than in lines.
    let set = case.call.environment.iter().filter(|_| !is_raised);
    reached.chain(set.map(|(name, _)| format!("setting {name}"))).collect()
}

/// What tells results apart: value or error, and what became of the arguments.
pub fn outcome_key(seen: &Observation) -> String {
    format!("{:?} {:?} {:?}", seen.outcome, seen.after, seen.effects.output)
}

/// What the function names of a call that gives something, as an id: its result, as in `return 490`, and in
/// JavaScript words in its arguments, which tell kinds apart.
pub fn named_parts(language: Language, callable: &Callable, case: &Case) -> Vec<String> {
    let CallOutcome::Value { literal, .. } = case.expected_outcome() else { return Vec::new() };
    let is_word =
        |one: &str| one.len() > 3 && one.trim_matches(['"', '\'']).chars().all(char::is_alphabetic);
    let is_given = |one: &String| {
        language.is_script()
            && is_word(one)
            && case.call.arguments.iter().any(|given| given.contains(one.as_str()))
    };
    let named = callable.literals.iter().filter(|one| *one == literal || is_given(one));
    named.map(|one| format!("{} with {one}", callable.name)).collect()
}

/// Whether a call was refused before its function ran, for its object or an argument.
pub fn is_unmade(reason: &str) -> bool {
    reason.contains("cannot be made: ") || reason.starts_with("making its object or an argument")
}

/// Why a function that only changes its object has no test of its own.
pub const NO_RESULT: &str = "it returns nothing that a test could compare";

/// Why one has none that gives the object itself back, or sets an item.
pub const SHOWN_BY_OTHERS: &str = "other tests of its object show what it does";

impl ObservedFunction {
    /// Whether tests go through others: it is internal, or others call it and it has no result.
    pub fn is_run_by_others(&self, others: &[Self]) -> bool {
        let call = format!("{}(", self.callable.short_name());
        let is_own = |other: &&Self| other.callable.subject() == self.callable.subject();
        let mut cases = others.iter().filter(is_own).flat_map(|other| &other.cases);
        let is_silent = |reason: &str| [NO_RESULT, SHOWN_BY_OTHERS].contains(&reason);
        let has_no_result = self.dropped.iter().any(|(reason, _)| is_silent(reason));
        self.callable.is_internal
            || has_no_result
                && cases.any(|case| case.call.setup.iter().any(|step| step.starts_with(&call)))
    }
}

/// The classes with a method that lists what their objects hold.
pub fn find_listed_classes(found: &[ObservedFunction], seen: &[Vec<Case>]) -> BTreeSet<String> {
    let is_list = |case: &Case| matches!(&case.seen.outcome, CallOutcome::Value { literal, way: ResultKind::Plain } if literal.starts_with('['));
    let lists = |(one, known): &(&ObservedFunction, &Vec<Case>)| {
        one.callable.class.as_ref().is_some_and(|class| !class.is_static)
            && one.callable.parameters.is_empty()
            && known.iter().any(is_list)
    };
    let listing = found.iter().zip(seen).filter(lists);
    listing.map(|(one, _)| one.callable.subject().to_owned()).collect()
}

/// Drops the calls that give their object back, of which only private attributes could be compared, where another
/// method lists what it holds. Whether any went.
pub fn drop_private_state(
    callable: &Callable,
    known: &mut Vec<Case>,
    source: &str,
    listed: &BTreeSet<String>,
) -> bool {
    let mut lines = source.lines().map(|line| line.trim().trim_end_matches(';'));
    if !listed.contains(callable.subject())
        || !lines.any(|line| ["return this", "return self"].contains(&line))
    {
        return false;
    }
    let is_private = |case: &Case| {
        matches!(&case.seen.outcome, CallOutcome::Value { literal, way: ResultKind::Attributes }
            if literal.trim_start_matches(['{', ' ', '"', '\'']).starts_with('_'))
    };
    let before = known.len();
    known.retain(|case| case.documented.is_some() || !is_private(case));
    known.len() < before
}

/// Drops the calls that have no result, of a function that refuses nothing or changes its object, which stories
/// show: that they end says little of what they do. Whether any went.
pub fn drop_silent_calls(callable: &Callable, known: &mut Vec<Case>, source: &str) -> bool {
    let is_silent = |case: &Case| {
        let outcome = case.expected_outcome();
        matches!(outcome, CallOutcome::Value { literal, .. } if ["None", "undefined"].contains(&literal.as_str()))
            && case.seen.after.is_empty()
            && !case.seen.effects.shows_effect()
    };
    let is_method = callable.class.as_ref().is_some_and(|class| !class.is_static);
    let is_empty = !known.is_empty() && known.iter().all(is_silent)
        || is_method && CHANGES_OBJECT.is_match(source);
    let is_dropped = is_empty && known.iter().any(is_silent) && !returns_value(source);
    if is_dropped {
        known.retain(|case| case.documented.is_some() || !is_silent(case));
    }
    is_dropped
}

/// How a method changes its object: by setting an attribute, or by a call of one.
static CHANGES_OBJECT: Pattern =
    Pattern::new(r"\b(?:self|this)\.\w+(?:\.\w+\(|(?:\[[^\]]*\])?\s*[-+*/|&]?=[^=])");

/// Whether a function has a statement that gives its caller something.
fn returns_value(source: &str) -> bool {
    let gives = |line: &str| {
        line.starts_with("return ") && !["return None", "return undefined;"].contains(&line)
    };
    source.lines().any(|line| {
        gives(line.trim())
            || line.contains("yield")
            || line.contains("=>")
            || line.contains("{ return")
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::code::signature::callables;

    pub fn sample_callable() -> Callable {
        callables(Language::Python, "def f(x):\n    return x\n").remove(0)
    }

    pub fn sample_case(argument: &str, literal: &str, marks: &[&str]) -> Case {
        Case {
            call: Call::new("f", vec![argument.into()]),
            seen: Observation {
                outcome: CallOutcome::Value { literal: literal.into(), way: ResultKind::Plain },
                after: Vec::new(),
                needs: Vec::new(),
                lines: Vec::new(),
                reached: None,
                marks: marks.iter().map(|mark| (*mark).to_owned()).collect(),
                printed: None,
                reads_clock: false,
                effects: crate::effect::CallEffects::default(),
            },
            documented: None,
        }
    }

    #[test]
    fn documented_calls_come_first_whatever_they_reach() {
        let mut known: Vec<Case> =
            (0..30).map(|n| sample_case(&n.to_string(), &n.to_string(), &["a"])).collect();
        let outcome = CallOutcome::Value { literal: "1".into(), way: ResultKind::Plain };
        let mut odd = sample_case("999999", "0", &["a"]);
        odd.seen.outcome = CallOutcome::Raised {
            class: "TypeError".into(),
            message: String::new(),
            explicit: false,
            way: ResultKind::Plain,
        };
        known.push(Case { documented: Some(outcome), ..odd });
        let chosen = candidates(Language::Python, &sample_callable(), known, None);
        assert_eq!(chosen[0].call.arguments, ["999999"]);
    }

    #[test]
    fn kinds_that_a_script_names_are_parts_of_a_call() {
        let text = "export function f(kind) { return kind === 'linear' ? 2 : 3; }";
        let callable = callables(Language::JavaScript, text).remove(0);
        let parts = |argument: &str, literal: &str| {
            named_parts(Language::JavaScript, &callable, &sample_case(argument, literal, &[]))
        };
        assert_eq!(parts("{ kind: 'linear' }", "4"), ["f with 'linear'"]);
        assert_eq!(parts("'other'", "3"), ["f with 3"]);
        assert!(parts("'other'", "4").is_empty());
    }

    #[test]
    fn everything_reached_stays_reached_and_results_differ() {
        let known = vec![
            sample_case("1", "1", &["a"]),
            sample_case("22", "2", &["a", "b"]),
            sample_case("333", "2", &["a"]),
            sample_case("4", "4", &["a"]),
        ];
        let chosen: Vec<String> = candidates(Language::Python, &sample_callable(), known, None)
            .into_iter()
            .map(|one| one.call.arguments.concat())
            .collect();
        assert_eq!(chosen, ["22", "4", "1"]);
    }

    #[test]
    fn a_plainer_call_stays_beside_one_that_reaches_more_with_the_same_result() {
        let known = vec![
            sample_case("'tea', {}", "2", &["a", "option"]),
            sample_case("'tea'", "2", &["a"]),
        ];
        let chosen = candidates(Language::Python, &sample_callable(), known, None);
        let given: Vec<&str> = chosen.iter().map(|one| one.call.arguments[0].as_str()).collect();
        assert_eq!(given, ["'tea', {}", "'tea'"]);
    }

    #[test]
    fn an_error_shows_nothing_of_what_came_before_it() {
        let mut failed = sample_case("'a[1]?'", "", &["a", "b", "error"]);
        failed.seen.outcome = CallOutcome::Raised {
            class: "LexerError".into(),
            message: String::new(),
            explicit: true,
            way: ResultKind::Plain,
        };
        let short = Case { call: Call::new("f", vec!["'?'".into()]), ..failed.clone() };
        let short =
            Case { seen: Observation { marks: vec!["error".into()], ..short.seen }, ..short };
        let known = vec![
            failed.clone(),
            short,
            sample_case("'a'", "1", &["a"]),
            sample_case("'[1]'", "2", &["b"]),
        ];
        let answered = answered_code(known.iter());
        assert_eq!(shown_code(&failed, &answered), BTreeSet::from(["error".to_owned()]));
        let chosen = candidates(Language::Python, &sample_callable(), known, None);
        let given: Vec<&str> = chosen.iter().map(|one| one.call.arguments[0].as_str()).collect();
        assert_eq!(given, ["'a'", "'[1]'", "'?'"]);
    }

    #[test]
    fn both_sides_of_a_boundary_come_before_shorter_calls() {
        let mut known: Vec<Case> =
            (0..30).map(|n| sample_case(&n.to_string(), &n.to_string(), &["low"])).collect();
        known.push(sample_case("5000", "x", &["low"]));
        known.push(sample_case("5001", "y", &["high"]));
        let chosen = candidates(Language::Python, &sample_callable(), known, None);
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
            let case = Case { seen, ..sample_case("1", "1", &[]) };
            let usable = check_usable(Language::Python, &case);
            assert_eq!(usable.as_ref().map_err(String::as_str).copied(), expected, "{case:?}");
        }
        let refused = Case { seen: raised("ValueError", false), ..sample_case("1", "1", &[]) };
        for (source, expected) in [("return int(x)", false), ("# raises ValueError", true)] {
            let purpose = check_purpose(Language::Python, &refused, source);
            assert_eq!(purpose.is_ok(), expected, "{source}");
        }
    }

    #[test]
    fn nan_is_a_result_of_code_that_names_it() {
        let mut case = sample_case("1", "float('nan')", &[]);
        case.seen.outcome =
            CallOutcome::Value { literal: "float('nan')".into(), way: ResultKind::Nan };
        let table = [
            ("return finance(x)", false),
            ("return float('nan') if x else 0", true),
            ("return math.isnan(x)", true),
        ];
        let mut message = case.clone();
        message.seen.outcome = CallOutcome::Raised {
            class: "Error".into(),
            message: "got range NaN-7".into(),
            explicit: true,
            way: ResultKind::Plain,
        };
        for (source, expected) in table {
            for case in [&case, &message] {
                let purpose = check_purpose(Language::Python, case, source);
                assert_eq!(purpose.is_ok(), expected, "{source}");
            }
        }
    }

    #[test]
    fn reflected_operators_have_something_else_on_their_left() {
        let table = [
            ("__radd__", "2", true),
            ("__radd__", "Money(2)", false),
            ("__rsub__", "Money.parse('2')", false),
            ("__radd__", "Decimal('2')", true),
            ("__add__", "Money(2)", true),
        ];
        for (method, argument, expected) in table {
            let text = format!("class Money:\n    def {method}(self, other):\n        return 1\n");
            let callable = callables(Language::Python, &text).remove(0);
            let mut known = [sample_case(argument, "1", &[])];
            refuse_unreflected(&callable, &mut known);
            let is_kept = check_usable(Language::Python, &known[0]).is_ok();
            assert_eq!(is_kept, expected, "{method} {argument}");
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
                given.iter().map(|(argument, mark)| sample_case(argument, "1", &[mark])).collect();
            assert_eq!(boundary_pairs(&callable, &cases), expected, "{given:?}");
        }
    }

    #[test]
    fn a_limit_has_the_same_path_on_one_side_and_another_on_the_other() {
        let text = "def f(x):\n    return x <= 250 or x == 23\n";
        let callable = callables(Language::Python, text).remove(0);
        let given =
            [("249", "a"), ("250", "a"), ("251", "b"), ("22", "a"), ("23", "c"), ("24", "a")];
        let cases = given.map(|(argument, mark)| sample_case(argument, "1", &[mark]));
        assert_eq!(find_limits(&callable, &cases), BTreeSet::from([(0, 250)]));
        assert!(find_limits(&callable, &cases[1..]).is_empty(), "one neighbour is unknown");
    }
}
