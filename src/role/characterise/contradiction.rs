//! Documented results that the code contradicts: each is a finding, and no test.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::pattern::Pattern;
use crate::code::signature::special_method_calls::write_call;
use crate::code::signature::{self, Callable};
use crate::domain::id::RepoPath;
use crate::domain::test::{Status, TestCase};
use crate::domain::test_plan::written_tests::BugFinding;
use crate::domain::text::count;
use crate::effect::{CallOutcome, ResultKind};
use crate::repair::{Case, DraftTest, ObservedFunction};

use super::test_file::PinnedFile;

/// Why other calls of a function with a finding get no test.
pub const UNPINNED: &str =
    "documentation contradicts it, or what it calls, so what else it does is not held";

/// How observers begin to say why a result is no literal.
const NO_LITERAL: &str = "its result is left out: it ";

/// Fewest documented calls of a function that hold for one option to be what is wrong.
const HOLDING: usize = 3;

/// An option by its name: a key of an object, or a named argument.
static OPTION: Pattern = Pattern::new(r"(?:^|[{,]\s*)(\w+)\s*(?::|=[^=>])");

/// How code says that something optional is not installed: `formatting requires Babel`.
static PACKAGE_NEEDED: Pattern = Pattern::new(
    r"(?i)\b(?:requires|needs) [\w.-]+\.?(?:\s*\(\S+\))?$|\bnot installed\b|\bpip install\b",
);

/// Who says that the code is wrong.
const JUDGE: &str = "documentation";

/// What the contradicting examples of one file show.
pub struct Contradictions {
    pub findings: Vec<BugFinding>,
    /// The tests that show them.
    pub contradicted: Vec<DraftTest>,
    /// Tests of the same functions whose results are not documented.
    pub unpinned: Vec<DraftTest>,
}

/// Finds the contradictions among the tests of a file that did not pass. Code or documentation is
/// wrong, which a person decides: no test holds either.
pub fn find_contradictions(
    test_file: &PinnedFile,
    broken: &[DraftTest],
    results: &[TestCase],
) -> Contradictions {
    let mut findings = Vec::new();
    let mut wrong: BTreeSet<usize> = BTreeSet::new();
    let mut contradicted_calls: Vec<&DraftTest> = Vec::new();
    for test in broken {
        let blamed = blamed_function(test_file, test);
        let function = test_file.functions.get(blamed);
        let result = test_file.result(test, results);
        if let (Some(function), Some(message)) = (function, contradiction_of(test_file, test))
            && result.is_some_and(|one| one.status == Status::Failed)
        {
            findings.push(finding(&test_file.subject, &function.callable, message));
            wrong.extend([test.function, blamed]);
            contradicted_calls.push(test);
        }
    }
    let suspects: BTreeMap<usize, BTreeSet<String>> = wrong
        .iter()
        .map(|index| (*index, suspect_options(test_file, *index, &contradicted_calls, broken)))
        .collect();
    let contradicted = wrong.iter().filter_map(|index| test_file.functions.get(*index));
    let contradicted: Vec<&Callable> = contradicted.map(|one| &one.callable).collect();
    let wrong_lines: BTreeSet<u32> = contradicted_calls
        .iter()
        .filter_map(|test| test_file.functions.get(test.function)?.cases.get(test.case))
        .flat_map(|case| case.seen.lines.iter().copied())
        .collect();
    let is_unpinned = |test: &&DraftTest| {
        let function = test_file.functions.get(test.function);
        let case = function.and_then(|one| one.cases.get(test.case));
        case.is_some_and(|case| {
            let is_suspect = match suspects.get(&test.function).filter(|own| !own.is_empty()) {
                Some(options) => !options.is_disjoint(&option_names(case)),
                None => wrong.contains(&test.function) || runs_any(case, &contradicted),
            };
            // A guard refuses what raises on purpose, by a line that no contradicted call runs.
            let is_refused =
                matches!(case.seen.outcome, CallOutcome::Raised { explicit: true, .. })
                    && case.seen.lines.iter().any(|line| !wrong_lines.contains(line));
            case.documented.is_none() && is_suspect && !is_refused
        })
    };
    let unpinned = test_file.draft.tests.iter().filter(is_unpinned);
    let unpinned: Vec<DraftTest> =
        unpinned.filter(|test| !broken.contains(test)).cloned().collect();
    name_held_back(&mut findings, test_file, &contradicted, &unpinned);
    let contradicted = contradicted_calls.into_iter().cloned().collect();
    Contradictions { findings, contradicted, unpinned }
}

/// The index of the function that a contradicted call shows: for an attribute without code of its own, the one
/// that was called last on its object, or that made it.
fn blamed_function(test_file: &PinnedFile, test: &DraftTest) -> usize {
    let last_called = || {
        let own = test_file.functions.get(test.function)?;
        let call = &own.cases.get(test.case)?.call;
        let is_named = |callable: &Callable, name: &str| match call.setup.last() {
            Some(_) => {
                callable.short_name() == name && callable.subject() == own.callable.subject()
            }
            None => {
                callable.name == name || callable.is_constructor() && callable.subject() == name
            }
        };
        let name = signature::own_maker(call.setup.last().unwrap_or(&call.callee));
        let found = test_file.functions.iter().position(|one| is_named(&one.callable, name));
        found.filter(|_| own.callable.is_attribute())
    };
    last_called().unwrap_or(test.function)
}

/// Adds to each finding how many tests its function costs.
fn name_held_back(
    findings: &mut [BugFinding],
    test_file: &PinnedFile,
    contradicted: &[&Callable],
    unpinned: &[DraftTest],
) {
    for finding in findings {
        let own = contradicted.iter().copied().filter(|known| known.start == finding.line);
        let own: Vec<&Callable> = own.collect();
        let runs_it = |test: &&DraftTest| {
            let Some(function) = test_file.functions.get(test.function) else { return false };
            function.callable.start == finding.line
                || function.cases.get(test.case).is_some_and(|case| runs_any(case, &own))
        };
        let held_back = unpinned.iter().filter(runs_it).count();
        if held_back > 0 {
            let tests = count(held_back, "other test");
            finding.message = format!("{}; held back, as they run it: {tests}", finding.message);
            finding.evidence.clone_from(&finding.message);
        }
    }
}

/// The options that each contradicted call of a function gives and none of several documented calls that
/// hold: what is wrong lies in them. Empty where no such options tell the calls apart.
fn suspect_options(
    test_file: &PinnedFile,
    function: usize,
    contradicted: &[&DraftTest],
    broken: &[DraftTest],
) -> BTreeSet<String> {
    let case = |test: &DraftTest| test_file.functions.get(test.function)?.cases.get(test.case);
    let own = test_file.draft.tests.iter().filter(|test| test.function == function);
    let holding: Vec<&Case> = own
        .filter(|test| !broken.contains(test))
        .filter_map(case)
        .filter(|case| case.documented.is_some())
        .collect();
    let known: BTreeSet<String> = holding.iter().flat_map(|case| option_names(case)).collect();
    let of_function = contradicted.iter().filter(|test| test.function == function);
    let given: Vec<BTreeSet<String>> = of_function
        .filter_map(|test| case(test))
        .map(|case| option_names(case).difference(&known).cloned().collect())
        .collect();
    if holding.len() < HOLDING || given.iter().any(BTreeSet::is_empty) {
        return BTreeSet::new();
    }
    given.into_iter().flatten().collect()
}

/// The names of options that a call gives: `space` for `{space: false}` and for `space=False`.
fn option_names(case: &Case) -> BTreeSet<String> {
    let named = case.call.arguments.iter().flat_map(|one| OPTION.captures(one));
    named.filter_map(|one| Some(one.get(1)?.as_str().to_owned())).collect()
}

/// Whether a call runs lines of functions with a finding: its result then comes from them.
fn runs_any(case: &Case, contradicted: &[&Callable]) -> bool {
    let inside =
        |line: &u32| contradicted.iter().any(|one| (one.start + 1..=one.end).contains(line));
    case.seen.lines.iter().any(inside)
}

/// A finding of which no test can be shown.
fn finding(subject: &RepoPath, function: &Callable, message: String) -> BugFinding {
    BugFinding {
        test: None,
        file: None,
        subject: subject.clone(),
        function: function.name.clone(),
        line: function.start,
        evidence: message.clone(),
        message,
        judge: JUDGE.to_owned(),
    }
}

/// The documented calls that give no value: a test of them would hang, or could compare nothing. Other
/// calls of their functions get no test.
pub fn fruitless_examples(
    subject: &RepoPath,
    functions: &mut [ObservedFunction],
) -> Vec<BugFinding> {
    let mut findings = Vec::new();
    for one in functions.iter_mut().filter(|one| !one.fruitless.is_empty()) {
        let found = one
            .fruitless
            .iter()
            .map(|case| finding(subject, &one.callable, describe_contradiction(one, case)));
        findings.extend(found);
        let all = one.cases.len();
        one.cases.retain(|case| case.documented.is_some());
        let gone = u32::try_from(all - one.cases.len()).unwrap_or(u32::MAX);
        one.dropped.extend((gone > 0).then(|| (UNPINNED.to_owned(), gone)));
    }
    findings
}

/// What is documented, and what the code does instead.
pub fn describe_contradiction(function: &ObservedFunction, case: &Case) -> String {
    let given = |outcome: &CallOutcome| match outcome {
        CallOutcome::Value { literal, .. } => format!("gives `{literal}`"),
        CallOutcome::Raised { class, message, .. } if message.is_empty() => {
            format!("raises `{class}`")
        }
        CallOutcome::Raised { class, message, .. } => format!("raises `{class}: {message}`"),
        CallOutcome::Refused(reason) => match reason.strip_prefix(NO_LITERAL) {
            Some(rest) => format!("gives a result that {rest}"),
            None => reason.clone(),
        },
    };
    // A call over several lines is shown on one.
    let call = write_call(&function.callable, &case.call.callee, &case.call.arguments).text;
    let call = call.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let after = match case.call.setup.as_slice() {
        [] => String::new(),
        calls => format!(" after `{}`", calls.join("`, `")),
    };
    let (seen, expected) = (&case.seen.outcome, case.expected_outcome());
    let is_text =
        |outcome: &CallOutcome| matches!(outcome, CallOutcome::Value { way: ResultKind::Text, .. });
    // Where documentation shows an object at a prompt, what that shows is compared.
    let printed = case.seen.printed.as_ref().filter(|_| is_text(expected) && !is_text(seen));
    let seen = printed.map_or_else(
        || given(seen),
        |text| format!("gives `{}`", serde_json::Value::from(text.as_str())),
    );
    format!(
        "`{call}`{after} {seen}, but its documentation or the request says that it {}",
        given(expected)
    )
}

/// What a test shows, if the code contradicts the result that it expects.
fn contradiction_of(test_file: &PinnedFile, test: &DraftTest) -> Option<String> {
    let function = test_file.functions.get(test.function)?;
    let case = function.cases.get(test.case)?;
    (case.is_contradicted() && !lacks_package(&case.seen.outcome))
        .then(|| describe_contradiction(function, case))
}

/// Whether an error tells of a package that is not installed, which says nothing of the code.
fn lacks_package(outcome: &CallOutcome) -> bool {
    let CallOutcome::Raised { class, message, .. } = outcome else { return false };
    match class.rsplit('.').next().unwrap_or_default() {
        "ImportError" | "ModuleNotFoundError" => true,
        "NotImplementedError" | "RuntimeError" => PACKAGE_NEEDED.is_match(message),
        _ => false,
    }
}
