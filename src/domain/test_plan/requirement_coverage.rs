//! Decides whether a test covers a requirement, and why not (specification.md 5.3, 6.1, 6.2).

use std::collections::BTreeSet;

use crate::domain::characterisation_report::CharacterisedFunction;
use crate::domain::id::RepoPath;

use super::generation::TaskTests;
use super::layer::SubLayer;
use super::requirement::Requirement;

/// Why a requirement is not covered; `None` if a test covers it.
///
/// A happy path that is no line of its own is shown by a kept assertion. Everything else is shown when
/// a new test executes the line that decides it, and what one line decides in more than one way only when
/// mutants of that line are tried and none goes unnoticed; where lines are unknown, when a kept test claims it.
/// What crosses modules must be claimed in any case.
///
/// Source: specification.md 6.1, 5.3.
#[must_use]
pub fn still_open(file: &RepoPath, one: &Requirement, made: &TaskTests) -> Option<String> {
    let why = open_reason(file, one, made)?;
    let is_contradicted = made
        .findings()
        .any(|found| found.subject == *file && is_same_function(&found.function, &one.function));
    if is_contradicted && !one.is_stated() {
        return Some(
            "what is said of its function contradicts the code, so only documented results and errors on purpose are held"
                .into(),
        );
    }
    Some(why)
}

/// How a requirement says that a function is given an empty text, list or object.
pub const EMPTY_INPUT: &str = "has a defined result for an empty ";

fn open_reason(file: &RepoPath, one: &Requirement, made: &TaskTests) -> Option<String> {
    use SubLayer::{Edge, FailureMode, State};
    let claims: BTreeSet<&String> =
        made.written.iter().filter(|own| own.subject == *file).flat_map(|own| &own.shown).collect();
    let is_claimed = claims.contains(&one.id);
    let is_unit = one.layer.layer() == 1 || one.layer == SubLayer::FailureMode;
    if one.is_stated() && !is_claimed {
        return unheld(file, one, made);
    }
    let why = unreached(file, one, made).filter(|_| is_unit && !is_run_by_others(file, one, made));
    if let Some(why) = why.or_else(|| ungiven(file, one, made)) {
        return Some(why);
    }
    let is_head = |known: &CharacterisedFunction| {
        known.file == *file
            && known.line == one.line
            && is_same_function(&known.name, &one.function)
    };
    let lines = made.reached.get(file);
    let is_whole = lines.is_none() || made.report.functions.iter().any(is_head);
    if one.layer == SubLayer::Happy && is_whole && (lines.is_none() || !one.is_branch) {
        return None;
    }
    if !is_unit && !is_claimed {
        let why = match one.layer {
            SubLayer::Database | SubLayer::External => "no test stands in for what it depends on",
            _ => "it crosses modules, and tests are written for one function",
        };
        return Some(why.to_owned());
    }
    let Some(lines) = lines else {
        return (!is_claimed)
            .then(|| "which lines run is not known, and no test claims it".to_owned());
    };
    // The head of a function runs when its file is loaded.
    let is_head_of = (one.is_branch || one.text.contains(EMPTY_INPUT))
        && made.report.functions.iter().any(is_head);
    if lines.binary_search(&one.line).is_err() && !is_head_of {
        return Some(match one.layer {
            SubLayer::FailureMode => "no kept test causes the failure that it handles".to_owned(),
            _ => format!("no kept test executes line {}", one.line),
        });
    }
    let is_decided_there = one.is_branch || matches!(one.layer, Edge | State | FailureMode);
    let score = made.report.score.as_ref().filter(|_| is_decided_there)?;
    if score.survivors.iter().any(|broken| broken.file == *file && broken.line == one.line) {
        return Some(format!("a mutant of line {} goes undetected", one.line));
    }
    let untried = score.untried_lines.get(file).is_some_and(|lines| lines.contains(&one.line));
    untried.then(|| format!("no mutant of line {} was tried", one.line))
}

/// Why no kept test holds what documentation or the request states.
fn unheld(file: &RepoPath, one: &Requirement, made: &TaskTests) -> Option<String> {
    let call = one.text.split('`').nth(1).unwrap_or_default();
    let is_held = |known: &CharacterisedFunction| {
        known.file == *file && known.documented.iter().any(|held| call.ends_with(held.as_str()))
    };
    if made.report.functions.iter().any(is_held) {
        return None;
    }
    // The page may name the module before the function.
    let shown =
        |message: &str| message.split('`').nth(1).is_some_and(|own| is_same_function(own, call));
    let findings = made.findings().filter(|found| found.subject == *file);
    if let Some(found) = findings.into_iter().find(|found| shown(&found.message)) {
        let result = |text: &str, verbs: [&str; 2]| {
            let (_, rest) = verbs.iter().find_map(|verb| text.split_once(verb))?;
            rest.split('`').next().map(|one| one.replace('\'', "\""))
        };
        let stated = result(&one.text, [" returns `", " is shown as `"]);
        let is_other = stated.is_some() && stated == result(&found.message, [" gives `"; 2]);
        let why = if is_other {
            "documentation also gives another result"
        } else {
            "the code contradicts it"
        };
        return Some(format!("{why}: see the finding"));
    }
    let is_call = call.ends_with(')');
    let unclaimed = "no test claims to show it; the tests of its function hold what the code does";
    let why = if is_call { "no kept test makes this call" } else { unclaimed };
    let unreached = unreached(file, one, made).filter(|_| one.layer.layer() == 1);
    Some(unreached.unwrap_or_else(|| why.to_owned()))
}

/// Why no kept test gives the literal, or raises the class, that a requirement of the code names. That its
/// line runs does not tell: the condition may stand on the same line.
fn ungiven(file: &RepoPath, one: &Requirement, made: &TaskTests) -> Option<String> {
    let own = || made.report.functions.iter().filter(|known| known.file == *file);
    let known = own()
        .find(|known| known.name == one.function)
        .or_else(|| own().find(|known| is_same_function(&known.name, &one.function)))?;
    if known.results.is_empty() || !one.is_derived() {
        return None;
    }
    let (_, clause) = one.text.split_once("` ")?;
    if clause.starts_with(EMPTY_INPUT) && !known.takes_empty {
        return Some("no kept test gives it an empty value".to_owned());
    }
    let (verb, rest) = clause.split_once(' ')?;
    let plain = |text: &str| text.trim_matches(['"', '\'']).to_owned();
    let is_given = |value: &str| known.results.iter().any(|own| plain(own) == plain(value));
    match verb {
        "returns" => {
            let value = rest.strip_prefix('`')?.split('`').next()?;
            if known.results.iter().all(|one| is_class_name(one)) {
                return Some("its kept tests see only errors".to_owned());
            }
            (is_literal(value) && !is_given(value)).then(|| format!("no kept test gives `{value}`"))
        }
        "raises" | "throws" => {
            let class = rest.split_whitespace().next()?;
            (!is_given(class)).then(|| format!("no kept test sees {class}"))
        }
        _ => None,
    }
}

/// Whether a result is the name of a class, as that of an error is, and no literal.
fn is_class_name(result: &str) -> bool {
    result.starts_with(char::is_uppercase)
        && result.chars().all(|c| c.is_alphanumeric() || "_.".contains(c))
        && !is_literal(result)
}

/// Whether code is a text without escapes, a whole number or a truth value.
fn is_literal(code: &str) -> bool {
    let quote = code.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inner = quote.and_then(|quote| code.strip_prefix(quote)?.strip_suffix(quote));
    let is_number = code.trim_start_matches('-').chars().all(|c| c.is_ascii_digit());
    inner.is_some_and(|inner| !inner.contains(['"', '\'', '\\']))
        || is_number && !code.is_empty()
        || ["True", "False", "None", "true", "false", "null"].contains(&code)
}

/// Whether kept tests run the lines of a requirement through others, where its package does not offer its function
/// or its function has no result.
fn is_run_by_others(file: &RepoPath, one: &Requirement, made: &TaskTests) -> bool {
    let ran = || made.reached.get(file).into_iter().flatten();
    made.report.functions.iter().any(|known| {
        // The head of a function runs when its file is loaded.
        let first = one.line + u32::from(one.line == known.line);
        let end = known.internal_until.map(|end| if first > one.line { end } else { one.line });
        known.file == *file
            && known.name == one.function
            && !one.text.contains(EMPTY_INPUT)
            && end.is_some_and(|end| ran().any(|line| (first..=end).contains(line)))
    })
}

/// Why no kept test calls the function of a requirement.
fn unreached(file: &RepoPath, one: &Requirement, made: &TaskTests) -> Option<String> {
    let known = || made.report.functions.iter().filter(|known| known.file == *file);
    let gone =
        known().find(|known| known.assertions == 0 && is_same_function(&known.name, &one.function));
    let is_kept = made.report.files.iter().any(|known| known.subject == *file);
    let is_dropped = gone.is_some() && !is_kept && !made.report.dropped.is_empty();
    if let Some(reason) = made.report.main_reason().filter(|_| is_dropped) {
        return Some(reason.to_owned());
    }
    if let Some(gone) = gone {
        let reason = gone.dropped.first().map_or("no call of it tells enough", |one| &one.reason);
        return Some(reason.to_owned());
    }
    let is_pinned = known().any(|known| {
        known.assertions > 0
            && (one.function.is_empty() || is_same_function(&known.name, &one.function))
    });
    (!is_pinned).then(|| "nothing here could be called from a test".to_owned())
}

/// Whether two names mean the same function; either may lack the class.
#[must_use]
pub fn is_same_function(one: &str, other: &str) -> bool {
    let is_end =
        |end: &str, name: &str| name.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
    one == other || is_end(one, other) || is_end(other, one)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::requirement::DOCUMENTATION;
    use super::super::written_tests::{BugFinding, WrittenTests};
    use super::*;
    use crate::domain::characterisation_report::{
        CharacterisationFile, CharacterisationReport, CharacterisedFunction, DropReason,
    };
    use crate::domain::id::{SessionId, TreeId};
    use crate::domain::mutation::Score;
    use crate::domain::quality::QualityDecision;
    use crate::domain::test_plan::generation::{GateResult, Generation, RequirementCoverage};

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn made() -> TaskTests {
        let function = |name: &str, assertions: u32, reason: &str| CharacterisedFunction {
            assertions,
            dropped: vec![DropReason { reason: reason.into(), count: 9 }],
            ..CharacterisedFunction::without_tests(path("a.py"), name, 1, 9)
        };
        TaskTests {
            rounds: 1,
            is_settled: false,
            report: CharacterisationReport {
                functions: vec![
                    function("price", 3, "late"),
                    function("Cart.add", 1, "late"),
                    function("fetch", 0, "uses the network"),
                ],
                files: vec![CharacterisationFile {
                    file: path("tests/test_a.py"),
                    subject: path("a.py"),
                    tests: vec!["t.a".into(), "t.b".into()],
                    assertions: 4,
                }],
                ..CharacterisationReport::default()
            },
            reached: [(path("a.py"), vec![2, 3, 8])].into(),
            requirements: Vec::new(),
            written: Vec::new(),
        }
    }

    fn requirement(layer: SubLayer, function: &str, line: u32) -> Requirement {
        Requirement {
            id: "R-001".into(),
            layer,
            function: function.into(),
            line,
            text: "it holds".into(),
            source: "code".into(),
            is_branch: false,
        }
    }

    #[test]
    fn a_page_with_two_results_of_a_call_is_not_what_the_code_contradicts_twice() {
        let mut made = made();
        let message = "`price('a')` after `put(1)` gives `'x_y'`, but its documentation or the request says that it gives `'x'`";
        made.report.findings = vec![BugFinding {
            subject: path("a.py"),
            function: "price".into(),
            message: message.into(),
            test: None,
            file: None,
            line: 1,
            evidence: String::new(),
            judge: String::new(),
        }];
        let reason = |value: &str| {
            let text = format!("`price('a')` after `put(1)` returns `{value}` (a.py:1)");
            let source = DOCUMENTATION.to_owned();
            let one = Requirement { text, source, ..requirement(SubLayer::Happy, "price", 1) };
            still_open(&path("a.py"), &one, &made).unwrap()
        };
        assert_eq!(reason("'x'"), "the code contradicts it: see the finding");
        assert_eq!(reason("\"x_y\""), "documentation also gives another result: see the finding");
    }

    #[test]
    fn functions_of_two_classes_are_not_the_same_and_one_name_may_lack_the_class() {
        let table = [
            ("shop.fee('a.b')", "fee('a.b')", true),
            ("Till.total", "Till.total", true),
            ("Till.total", "total", true),
            ("total", "Till.total", true),
            ("Till.total", "Item.total", false),
            ("subtotal", "total", false),
        ];
        for (one, other, expected) in table {
            assert_eq!(is_same_function(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_requirement_is_shown_by_what_ran_and_open_with_a_reason() {
        let made = made();
        let blind = TaskTests { reached: BTreeMap::new(), ..made.clone() };
        let table = [
            ("kept", &made, SubLayer::Happy, "price", 1, None),
            ("a method by its own name", &made, SubLayer::Happy, "add", 1, None),
            ("not pure", &made, SubLayer::Happy, "fetch", 1, Some("uses the network")),
            (
                "not pure, whatever ran",
                &made,
                SubLayer::Negative,
                "fetch",
                3,
                Some("uses the network"),
            ),
            ("its line ran", &made, SubLayer::Negative, "price", 3, None),
            (
                "its line never ran",
                &made,
                SubLayer::Negative,
                "price",
                4,
                Some("no kept test executes line 4"),
            ),
            ("lines go before names", &made, SubLayer::Edge, "price", 8, None),
            (
                "nobody knows, and nobody claims it",
                &blind,
                SubLayer::Edge,
                "price",
                8,
                Some("which lines run is not known, and no test claims it"),
            ),
            (
                "no such function",
                &made,
                SubLayer::Happy,
                "other",
                1,
                Some("nothing here could be called from a test"),
            ),
            ("its handler ran", &made, SubLayer::FailureMode, "price", 8, None),
            (
                "its handler never ran",
                &made,
                SubLayer::FailureMode,
                "price",
                9,
                Some("no kept test causes the failure that it handles"),
            ),
            (
                "another layer",
                &made,
                SubLayer::Wiring,
                "price",
                1,
                Some("it crosses modules, and tests are written for one function"),
            ),
        ];
        for (why, made, layer, function, line, expected) in table {
            let one = requirement(layer, function, line);
            let open = still_open(&path("a.py"), &one, made);
            assert_eq!(open.as_deref(), expected, "{why}");
        }
        let survivor = crate::domain::mutation::Mutant {
            file: path("a.py"),
            line: 8,
            operator: String::new(),
            before: String::new(),
            after: String::new(),
        };
        let mut missed = made.clone();
        missed.report.score = Some(Score { survivors: vec![survivor], ..Score::default() });
        let edge = requirement(SubLayer::Edge, "price", 8);
        let open = |one: &Requirement, missed: &TaskTests| still_open(&path("a.py"), one, missed);
        let undetected = Some("a mutant of line 8 goes undetected".to_owned());
        assert_eq!(open(&edge, &missed), undetected);
        let plain = requirement(SubLayer::Happy, "price", 8);
        assert_eq!(open(&plain, &missed), None);
        let branch = Requirement { is_branch: true, ..plain };
        assert_eq!(open(&branch, &missed), undetected);
        missed.report.score =
            Some(Score { untried_lines: [(path("a.py"), [8].into())].into(), ..Score::default() });
        let open = still_open(&path("a.py"), &edge, &missed);
        assert_eq!(open.as_deref(), Some("no mutant of line 8 was tried"));
        let claim = WrittenTests {
            round: 1,
            subject: path("a.py"),
            file: Some(path("tests/test_a.py")),
            author: "one".into(),
            tests: vec!["t.a".into()],
            assertions: 1,
            functions: vec!["price".into()],
            shown: vec!["R-001".into()],
            findings: Vec::new(),
            dropped: Vec::new(),
            flaky: Vec::new(),
        };
        let claimed = TaskTests { written: vec![claim], ..made.clone() };
        let crossing = |line| {
            let one = requirement(SubLayer::Wiring, "price", line);
            still_open(&path("a.py"), &one, &claimed)
        };
        assert_eq!(crossing(8), None, "a kept test claims it and runs its line");
        assert_eq!(crossing(9).as_deref(), Some("no kept test executes line 9"));
    }

    #[test]
    fn a_number_that_is_not_reached_has_its_reason_and_fails_no_gate() {
        let tree = TreeId::parse("a".repeat(40)).unwrap();
        let id = SessionId::parse("WFS-test-x").unwrap();
        let mut production = Generation::new(id, tree, Vec::new(), Vec::new());
        let (mut made, gate) = (made(), |reason: &str| GateResult {
            decision: QualityDecision::Pass,
            reason: reason.into(),
            repairs: 0,
            retries: 2,
        });
        let open = |why: Option<&str>| RequirementCoverage {
            id: "R-001".into(),
            layer: SubLayer::Happy,
            text: "it holds".into(),
            open: why.map(str::to_owned),
        };
        made.requirements = [None, Some("prints"), Some("sleeps"), Some("sleeps")].map(open).into();
        let score =
            Score { covered: 74, tried: 15, noticed: 14, threshold: 60, ..Score::default() };
        made.report.score = Some(score);
        production.made = Some(made);
        (production.validation, production.review) = (Some(gate("fine")), Some(gate("fine")));
        let expected = "mutation score not measured: the time limit was reached after 15 of 74 mutants \
                        (3 requirements not shown, for example because: sleeps)";
        assert_eq!(
            (production.describe_shortfall().as_str(), production.is_met()),
            (expected, true)
        );
        assert_eq!(production.written_work().shortfall, expected);
        production.score = Some(Score { covered: 15, tried: 15, noticed: 14, ..Score::default() });
        assert_eq!(production.describe_shortfall(), "", "all is reached, whatever is open");
    }

    #[test]
    fn a_dropped_file_takes_its_tests_and_what_they_show_along() {
        let tree = TreeId::parse("a".repeat(40)).unwrap();
        let id = SessionId::parse("WFS-test-x").unwrap();
        let mut production = Generation::new(id, tree, Vec::new(), Vec::new());
        production.made = Some(made());
        assert_eq!(production.totals().tests, 2);
        assert_eq!(production.main_reason(), Some("late"), "of a call");
        production.drop_file(&path("tests/test_a.py"), "code check (IMPL-001.3): 1 critical");
        let totals = production.totals();
        assert_eq!((totals.tests, totals.files, production.dropped.len()), (0, 0, 1));
        let one = requirement(SubLayer::Happy, "price", 1);
        let open = still_open(&path("a.py"), &one, production.made.as_ref().unwrap());
        assert_eq!(open.as_deref(), Some("code check (IMPL-001.3): 1 critical"));
        assert!(!production.is_met());
        assert_eq!(production.written_work().obstacle, "code check (IMPL-001.3): 1 critical");
    }

    #[test]
    fn a_result_that_no_test_gives_is_open_though_its_line_runs() {
        let mut made = made();
        made.report.functions[0].results = vec!["'map'".into(), "0".into(), "ValueError".into()];
        let table = [
            ("`price` returns `\"map\"` for x (a.py:2)", None),
            ("`price` returns `'date'` for x (a.py:2)", Some("no kept test gives `'date'`")),
            ("`price` returns `0` for x (a.py:2)", None),
            ("`price` returns `cents + 1` for x (a.py:2)", None),
            ("`price` raises ValueError for x (a.py:2)", None),
            ("`price` raises KeyError for x (a.py:2)", Some("no kept test sees KeyError")),
        ];
        for (text, expected) in table {
            let one = Requirement { text: text.into(), ..requirement(SubLayer::Happy, "price", 2) };
            assert_eq!(still_open(&path("a.py"), &one, &made).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn errors_show_nothing_of_what_is_returned() {
        let mut made = made();
        let text = "`price` returns `cls(cents)` for x (a.py:2)".to_owned();
        let one = Requirement { text, ..requirement(SubLayer::Happy, "price", 2) };
        let table: [(&[&str], bool); 4] = [
            (&["ValueError"], true),
            (&["ValueError", "TooLow"], true),
            (&["ValueError", "'EUR 2'"], false),
            (&["None"], false),
        ];
        for (results, is_open) in table {
            made.report.functions[0].results =
                results.iter().map(|one| (*one).to_owned()).collect();
            let open = still_open(&path("a.py"), &one, &made);
            let expected = is_open.then_some("its kept tests see only errors");
            assert_eq!(open.as_deref(), expected, "{results:?}");
        }
    }

    #[test]
    fn an_empty_value_is_given_or_missed_whatever_line_stands_for_it() {
        let mut made = made();
        made.report.functions[0].results = vec!["0".into()];
        let text = format!("`price` {EMPTY_INPUT}`cents` (a.py:1)");
        let one = Requirement { text, ..requirement(SubLayer::Edge, "price", 1) };
        let open = |made: &TaskTests| still_open(&path("a.py"), &one, made);
        assert_eq!(open(&made).as_deref(), Some("no kept test gives it an empty value"));
        made.report.functions[0].takes_empty = true;
        assert_eq!(open(&made), None);
    }

    #[test]
    fn what_is_behind_the_functions_of_a_package_is_shown_by_what_these_run() {
        let mut made = made();
        made.report.functions[2].line = 5;
        made.reached = [(path("a.py"), vec![5, 8])].into();
        let open = |made: &TaskTests, line| {
            still_open(&path("a.py"), &requirement(SubLayer::Happy, "fetch", line), made)
        };
        assert_eq!(open(&made, 8).as_deref(), Some("uses the network"), "others may call it");
        made.report.functions[2].internal_until = Some(9);
        assert_eq!((open(&made, 8), open(&made, 5)), (None, None));
        assert_eq!(open(&made, 9).as_deref(), Some("uses the network"), "its line never ran");
        made.reached = [(path("a.py"), vec![5])].into();
        assert_eq!(open(&made, 5).as_deref(), Some("uses the network"), "its head was loaded");
    }

    #[test]
    fn results_are_those_of_the_method_of_the_same_class() {
        let mut made = made();
        let mut other = made.report.functions[0].clone();
        made.report.functions[0].name = "Cart.add".into();
        "Order.add".clone_into(&mut other.name);
        other.results = vec!["ValueError".into()];
        made.report.functions[0].results = vec!["1".into()];
        made.report.functions.push(other);
        let text = "`Order.add` raises ValueError for x (a.py:2)".to_owned();
        let one = Requirement { text, ..requirement(SubLayer::Happy, "Order.add", 2) };
        assert_eq!(still_open(&path("a.py"), &one, &made), None);
    }
}
