//! Writes characterisation tests without a model: calls functions with generated inputs in rounds,
//! drops results that depend on the environment, and keeps only the calls that add coverage or
//! detect mutants.

mod arguments;
mod call_turns;
mod case_rank;
mod case_selection;
mod chained_calls;
mod combinations;
mod documented_result;
mod documented_texts;
mod entry_inputs;
mod inputs;
mod literal_values;
mod minimise;
mod option_values;
mod parameter_fit;
mod render;
mod search_target;
mod separated_texts;
mod stories;
mod test_cover;
mod test_location;
mod tested_inputs;
mod typical_values;
mod variations;
mod wrong_shape;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use futures::future::try_join_all;

use crate::code::language::Language;
use crate::code::signature::date_texts::dates_of_keys;
use crate::code::signature::{Callable, ChainedCall, Parameter};
use crate::domain::id::RepoPath;
use crate::effect::{Call, CallOutcome, Observation, ObserveRequest, Observer, RunError, World};

pub use case_rank::{is_edge, is_garbled, rank_case};
pub use case_selection::{answered_code, boundary_pairs, counts_rounds, named_parts, shown_code};
pub use parameter_fit::gives_unmeant;
pub use render::{Draft, DraftTest, Naming, TestStyle, can_render, is_of_other_runner, render};
use search_target::SearchTarget;
pub use test_cover::{Contribution, MANY, choose_cover};
pub use test_location::{
    ProjectLayout, client_imports, imports_from, is_subject, list_imports, locate_test_file,
    module_of,
};
pub use tested_inputs::{InputComparison, compared_functions};
use wrong_shape::OTHER_SHAPE;

use case_selection::{
    candidates, check_purpose, find_limits, refuse_unreflected, refuse_wrong_types,
};

/// Number of rounds that vary calls which reached new code.
const ROUNDS: usize = 3;

/// Number of rounds after which calls are put before others.
const STORY_ROUNDS: usize = 3;

/// How many times deeper a search goes for lines where mutants survived.
const DEEPER: usize = 3;

/// Environments in which a call must give the same result: they differ in hash seed, time zone,
/// locale, folder and order. The last one runs twice, to detect random results.
const ENVIRONMENTS: &[u32] = &[1, 2, 2];

/// Number of calls between two checks of the time limit; a multiple of a turn.
const BETWEEN: usize = 320;

/// A function that hung this often is not called again.
const HANGS: usize = 3;

/// Why a function that could be pinned has no characterisation test.
const NO_TIME: &str = "the time was used up before it was called";

/// A file to characterise, with its functions and the limits of the search.
pub struct FileTask<'a> {
    pub root: &'a Path,
    pub file: &'a RepoPath,
    pub language: Language,
    /// The dotted name of a Python module, or the name of a package of scripts.
    pub module: &'a str,
    pub callables: &'a [Callable],
    /// Arguments of calls in the repository, by name of the function.
    pub examples: &'a BTreeMap<String, Vec<Vec<String>>>,
    /// Calls on their results in the repository, by name of the function.
    pub chains: &'a BTreeMap<String, BTreeSet<ChainedCall>>,
    pub limit: Duration,
    pub text: &'a str,
    /// Names that arguments may use, with where the other file that has them is.
    pub imports: &'a [(String, String)],
    /// Files that calls may name, with literals of their texts.
    pub files: &'a [(String, String)],
    /// Lines where mutants survived. Functions that run them are searched more thoroughly: with
    /// targeted calls, more rounds and more cases.
    pub missed: &'a BTreeSet<u32>,
    /// Receives the number of calls since it was last asked; returns whether there is time for
    /// more.
    pub goes_on: &'a (dyn Fn(u64) -> bool + Sync),
}

/// How observers begin to say that a call did not end in time.
const ENDLESS: &str = "takes longer";

/// Whether a call was refused for what the code does, so that it cannot give a documented value:
/// it does not end, recurses without end, or gives generators inside of its result.
fn is_without_result(why: &str) -> bool {
    [ENDLESS, "uses too much memory or stack", "its result is left out: it contains a "]
        .iter()
        .any(|one| why.starts_with(one))
}

/// A call worth a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub call: Call,
    /// The result, which is the same in every environment.
    pub seen: Observation,
    /// What documentation says that the call gives. A test holds this instead of what was seen, and
    /// fails if the code contradicts it.
    pub documented: Option<CallOutcome>,
}

impl Case {
    /// The outcome that a test of this case expects.
    pub fn expected_outcome(&self) -> &CallOutcome {
        self.documented.as_ref().unwrap_or(&self.seen.outcome)
    }

    /// Whether the call did not end in time.
    pub fn is_endless(&self) -> bool {
        matches!(&self.seen.outcome, CallOutcome::Refused(why) if why.starts_with(ENDLESS))
    }

    /// Whether the call gave nothing that could be equal to a documented value.
    fn has_no_result(&self) -> bool {
        matches!(&self.seen.outcome, CallOutcome::Refused(why) if is_without_result(why))
    }

    /// Whether what was seen differs from what is documented, as far as their texts tell: 2 and 2.0
    /// differ here, and a test of them passes.
    pub fn is_contradicted(&self) -> bool {
        self.documented.as_ref().is_some_and(|said| *said != self.seen.outcome)
    }
}

/// What the calls of one function showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedFunction {
    pub callable: Callable,
    /// Local name of the function, or of its class, in a test.
    pub local: String,
    /// Calls that are worth a test, most informative first.
    pub cases: Vec<Case>,
    pub tried: u32,
    /// Why calls were dropped, with the number of calls; most frequent first.
    pub dropped: Vec<(String, u32)>,
    /// Documented calls that gave no value, such as those that did not end in time.
    pub fruitless: Vec<Case>,
    /// Numbers that it compares, with the indexes of their arguments.
    pub limits: BTreeSet<(usize, i64)>,
}

/// The subject's name in a test; JavaScript's default export takes its file's or package's.
fn local_name(callable: &Callable, file: &RepoPath, package: &str) -> String {
    if callable.subject() != "default" {
        return callable.subject().to_owned();
    }
    let package = package.rsplit('/').next().unwrap_or_default();
    let stem = if file.stem() == "index" { package } else { file.stem() };
    let mut name = String::new();
    let mut upper = false;
    for character in stem.chars() {
        if !character.is_alphanumeric() {
            upper = !name.is_empty();
        } else if upper {
            name.extend(character.to_uppercase());
            upper = false;
        } else {
            name.push(character);
        }
    }
    if name.is_empty() || name == "index" || name.starts_with(|c: char| c.is_ascii_digit()) {
        name = "subject".into();
    }
    name
}

/// Local names of the callees and of what their arguments are made by, each once, with the exported
/// name.
pub fn list_bindings(
    functions: &[ObservedFunction],
    imports: &[(String, String)],
) -> Vec<(String, String)> {
    let own =
        functions.iter().filter_map(|one| Some((one.local.clone(), one.callable.export.clone()?)));
    let mut pairs: Vec<(String, String)> = own.collect::<BTreeSet<_>>().into_iter().collect();
    for (name, place) in imports {
        // A file that exports again what this one does is one more way to the same name.
        if pairs.iter().all(|(local, _)| local != name) {
            pairs.push((name.clone(), place.clone()));
        }
    }
    pairs
}

/// Calls the functions of a file with many inputs, and selects the calls that are worth a test.
pub async fn characterise(
    observer: &dyn Observer,
    task: &FileTask<'_>,
) -> Result<Vec<ObservedFunction>, RunError> {
    let mut found: Vec<ObservedFunction> = task
        .callables
        .iter()
        .map(|callable| {
            let mut callable = callable.clone();
            callable.learn_objects(task.examples);
            let calls = task.examples.get(callable.called_name());
            callable.learn_types(calls.map(Vec::as_slice).unwrap_or_default());
            let source = source_of(&callable, task.text);
            for parameter in callable.parameters.iter_mut().filter(|one| !one.keys.is_empty()) {
                parameter.compared = dates_of_keys(&parameter.keys, &callable.matching);
                let others = option_values::compared_values(&parameter.keys, task.text);
                parameter.compared.extend(others);
                if task.language.is_script() {
                    let typed = option_values::typed_values(parameter, &source, task.text);
                    parameter.compared.extend(typed);
                }
            }
            for parameter in callable.parameters.iter_mut().filter(|one| is_open(one)) {
                parameter.values = wrong_shape::indexed_lists(parameter, &source);
            }
            ObservedFunction {
                local: local_name(&callable, task.file, task.module),
                cases: Vec::new(),
                tried: 0,
                dropped: callable.unsupported.iter().map(|reason| (reason.clone(), 1)).collect(),
                fruitless: Vec::new(),
                limits: BTreeSet::new(),
                callable,
            }
        })
        .collect();
    let bindings = list_bindings(&found, task.imports);
    let mut seen: Vec<Vec<Case>> = vec![Vec::new(); found.len()];
    let mut wave: Vec<(usize, Call)> = Vec::new();
    for (index, one) in
        found.iter().enumerate().filter(|(_, one)| one.callable.unsupported.is_none())
    {
        let examples =
            task.examples.get(one.callable.called_name()).map(Vec::as_slice).unwrap_or_default();
        let further = further(task, &one.callable);
        let documented: Vec<Call> =
            documented_result::documented_calls(task.language, &one.callable, &one.local)
                .into_iter()
                .map(|(call, _)| call)
                .collect();
        let known = (documented.as_slice(), examples);
        let calls = match &one.callable.entry {
            Some(entry) => entry_inputs::list_entry_calls(&one.callable, entry),
            None => inputs::first(task.language, &one.callable, &one.local, known, further),
        };
        wave.extend(calls.into_iter().map(|call| (index, call)));
    }
    let mut chained: Vec<Vec<Case>> = vec![Vec::new(); found.len()];
    let calls = chained_calls::list_chained_calls(task, &found);
    make(observer, task, &bindings, calls, &mut chained).await?;
    let rounds = if task.missed.is_empty() { ROUNDS } else { ROUNDS * DEEPER };
    let mut target = SearchTarget::default();
    for round in 0..=rounds {
        if wave.is_empty() {
            break;
        }
        let all = make(observer, task, &bindings, std::mem::take(&mut wave), &mut seen).await?;
        if !all {
            target = SearchTarget::at(task.language, task.text, task.missed, &seen);
            break;
        }
        if round < STORY_ROUNDS {
            let callables: Vec<&Callable> = found.iter().map(|one| &one.callable).collect();
            wave.extend(stories::extend_stories(&callables, &seen));
            let filled = stories::fill_objects(&callables, &seen).into_iter();
            wave.extend(filled.filter(|_| round == 0));
            let later = entry_inputs::list_later_requests(&callables, &seen).into_iter();
            wave.extend(later);
        }
        if round < rounds {
            target = SearchTarget::at(task.language, task.text, task.missed, &seen);
            for (index, one) in found.iter().enumerate() {
                let is_plain = one.callable.entry.is_none();
                let Some(known) = seen.get(index).filter(|known| is_plain && !known.is_empty())
                else {
                    continue;
                };
                let calls = if target.reaches(known) {
                    variations::aim_calls(task.language, &one.callable, known, &target)
                } else if round < ROUNDS {
                    variations::vary_calls(task.language, &one.callable, known)
                } else {
                    continue;
                };
                wave.extend(calls.into_iter().map(|call| (index, call)));
            }
        }
    }
    let listed = case_selection::find_listed_classes(&found, &seen);
    for (index, one) in found.iter_mut().enumerate() {
        let mut known = seen.get_mut(index).map(std::mem::take).unwrap_or_default();
        // Before calls are refused: of two with the same result one may then have another.
        let idle = stories::find_idle_stories(&known);
        refuse_wrong_types(task.language, &one.callable, &mut known);
        refuse_unreflected(&one.callable, &mut known);
        entry_inputs::refuse_undefined(&one.callable, &mut known);
        entry_inputs::drop_alike(&one.callable, &mut known);
        documented_result::enter_documented(task.language, &one.callable, &one.local, &mut known);
        known.retain(|case| case.documented.is_some() || !idle.contains(&case.call));
        one.tried = u32::try_from(known.len()).unwrap_or(u32::MAX);
        if known.is_empty() && one.callable.unsupported.is_none() {
            drop_for(one, NO_TIME.into());
        }
        let source = source_of(&one.callable, task.text);
        let answered = wrong_shape::answered_types(&one.callable, &known);
        for case in &mut known {
            let seen = (&*case, answered.as_slice());
            let found = wrong_shape::find_accident(task.language, &one.callable, seen, &source);
            let usual = task.examples.get(one.callable.called_name());
            let is_usual = usual.is_some_and(|all| all.contains(&case.call.arguments));
            if let Some(reason) = found.filter(|_| !is_usual) {
                case.seen.outcome = CallOutcome::Refused(reason);
            }
        }
        known.extend(chained.get_mut(index).map(std::mem::take).unwrap_or_default());
        for case in &known {
            if let Err(reason) = check_purpose(task.language, case, &source) {
                drop_for(one, reason);
            }
        }
        one.fruitless = known
            .iter()
            .filter(|case| case.has_no_result() && case.documented.is_some())
            .cloned()
            .collect();
        known.retain(|case| check_purpose(task.language, case, &source).is_ok());
        if case_selection::drop_silent_calls(&one.callable, &mut known, &source) {
            drop_for(one, case_selection::NO_RESULT.into());
        }
        if case_selection::drop_private_state(&one.callable, &mut known, &source, &listed) {
            drop_for(one, case_selection::SHOWN_BY_OTHERS.into());
        }
        if ["__setitem__", "__delitem__"].contains(&one.callable.short_name()) {
            known.retain(|case| !matches!(case.seen.outcome, CallOutcome::Value { .. }));
            drop_for(one, case_selection::SHOWN_BY_OTHERS.into());
        }
        one.limits = find_limits(&one.callable, &known);
        let target = Some(&target).filter(|target| target.reaches(&known));
        one.cases = candidates(task.language, &one.callable, known, target);
    }
    for number in 0..minimise::ROUNDS {
        let shorter = minimise::list_shorter_calls(task.language, &found, number);
        if !shorter.is_empty() {
            let calls: Vec<Call> = shorter.iter().map(|(.., call)| call.clone()).collect();
            let seen = observe(observer, task, &bindings, &calls, 0).await?;
            minimise::take_shorter_calls(&mut found, shorter, seen);
        }
    }
    agree(observer, task, &bindings, &mut found).await?;
    for one in &mut found {
        // What a call does says more than what is wrong with its arguments.
        let is_accident = |reason: &str| {
            reason == OTHER_SHAPE
                || reason.ends_with("on purpose")
                || case_selection::is_unmade(reason)
        };
        one.dropped
            .sort_by_key(|(reason, count)| (is_accident(reason), Reverse(*count), reason.clone()));
    }
    Ok(found)
}

/// Whether nothing but the code of its function tells what a parameter may be.
fn is_open(parameter: &Parameter) -> bool {
    parameter.is_guessed
        && !parameter.has_shown_types
        && parameter.values.is_empty()
        && parameter.declared.is_none()
        && parameter.declared_type.is_empty()
}

/// Makes one round's calls in turns until the time runs out; returns whether all were made.
async fn make(
    observer: &dyn Observer,
    task: &FileTask<'_>,
    bindings: &[(String, String)],
    wave: Vec<(usize, Call)>,
    seen: &mut [Vec<Case>],
) -> Result<bool, RunError> {
    for part in call_turns::in_turns(wave).chunks(BETWEEN) {
        if !(task.goes_on)(0) {
            return Ok(false);
        }
        // What hung again and again has used its share of the time.
        let hung = |index: &usize| {
            let known = seen.get(*index).map(Vec::as_slice).unwrap_or_default();
            known.iter().filter(|case| case.is_endless()).count() >= HANGS
        };
        let part: Vec<&(usize, Call)> = part.iter().filter(|(index, _)| !hung(index)).collect();
        let calls: Vec<Call> = part.iter().map(|(_, call)| call.clone()).collect();
        let made = observe(observer, task, bindings, &calls, 0).await?;
        (task.goes_on)(calls.len() as u64);
        for (((index, _), call), observation) in part.into_iter().zip(calls).zip(made) {
            if let Some(place) = seen.get_mut(*index) {
                place.push(Case { call, seen: observation, documented: None });
            }
        }
    }
    Ok(true)
}

/// How many times deeper than usual a function is searched.
fn further(task: &FileTask<'_>, callable: &Callable) -> usize {
    let inside = task.missed.range(callable.start..=callable.end).next().is_some();
    if inside { DEEPER } else { 1 }
}

fn drop_for(functions: &mut ObservedFunction, reason: String) {
    match functions.dropped.iter_mut().find(|(known, _)| *known == reason) {
        Some((_, count)) => *count += 1,
        None => functions.dropped.push((reason, 1)),
    }
}

async fn observe(
    observer: &dyn Observer,
    task: &FileTask<'_>,
    bindings: &[(String, String)],
    calls: &[Call],
    world: u32,
) -> Result<Vec<Observation>, RunError> {
    let request = ObserveRequest {
        root: task.root,
        file: task.file,
        module: task.module,
        bindings,
        files: task.files,
        calls,
        world: World { number: world },
        limit: task.limit,
    };
    observer.observe(&request).await
}

/// Makes the chosen calls again in other environments, and drops those that differ.
async fn agree(
    observer: &dyn Observer,
    task: &FileTask<'_>,
    bindings: &[(String, String)],
    found: &mut [ObservedFunction],
) -> Result<(), RunError> {
    let calls: Vec<Call> =
        found.iter().flat_map(|one| one.cases.iter().map(|case| case.call.clone())).collect();
    if calls.is_empty() {
        return Ok(());
    }
    let worlds = ENVIRONMENTS.iter();
    let made = worlds.map(|world| observe(observer, task, bindings, &calls, *world));
    let mut made: Vec<_> = try_join_all(made).await?.into_iter().map(Vec::into_iter).collect();
    for one in found.iter_mut() {
        for case in std::mem::take(&mut one.cases) {
            let again: Vec<Option<Observation>> = made.iter_mut().map(Iterator::next).collect();
            if again.iter().flatten().filter(|again| again.agrees(&case.seen)).count()
                == again.len()
            {
                one.cases.push(case);
            } else {
                let other = "gives another result in another environment";
                let reason = if case.seen.reads_clock { "reads the clock" } else { other };
                drop_for(one, reason.into());
            }
        }
    }
    Ok(())
}

/// The lines of a function.
fn source_of(callable: &Callable, text: &str) -> String {
    let inside = |(number, line): (u32, &str)| {
        (callable.start..=callable.end).contains(&number).then(|| line.to_owned())
    };
    (1..).zip(text.lines()).filter_map(inside).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
