//! Decides whether a test covers a requirement, and why not (specification.md 5.3, 6.1, 6.2).

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::id::RepoPath;
use crate::domain::quality::{Completeness, TestAspect};

use super::analysis::Requirement;
use super::generation::TaskTests;
use super::layer::SubLayer;

/// The evidence for whether a requirement is shown.
#[derive(Clone, Copy, Debug)]
pub struct CoverageEvidence<'a> {
    pub made: &'a TaskTests,
    /// Completeness of the repository's tests, by layer.
    pub layers: &'a [Completeness],
    /// Whether the code check let the tests pass.
    pub validated: bool,
}

/// Why a requirement is not covered; `None` if a test covers it.
///
/// A happy path is shown by a kept assertion. A negative path or an edge is shown when a new test
/// executes the line that decides it, and an edge only when no mutant of that line goes
/// unnoticed; where lines are unknown, by names. What crosses modules is
/// never shown: tests of one function at a time cannot.
///
/// Source: specification.md 6.1, 6.2, 5.3.
pub fn still_open(
    file: &RepoPath,
    one: &Requirement,
    evidence: &CoverageEvidence<'_>,
) -> Option<String> {
    match one.layer.layer() {
        0 => return (!evidence.validated).then(|| "the code check is not met".to_owned()),
        1 => {}
        _ => return crosses(file, one, evidence),
    }
    if let Some(gone) = evidence.made.report.functions.iter().find(|known| {
        known.file == *file && is_same_function(&known.name, &one.function) && known.assertions == 0
    }) {
        let reason = gone.dropped.first().map_or("no call of it tells enough", |one| &one.reason);
        return Some(reason.to_owned());
    }
    let pinned = evidence.made.report.functions.iter().any(|known| {
        known.file == *file
            && known.assertions > 0
            && (one.function.is_empty() || is_same_function(&known.name, &one.function))
    });
    if !pinned {
        return Some("nothing here could be called from a test".to_owned());
    }
    let layer = match one.layer {
        SubLayer::Happy => return None,
        SubLayer::Negative => TestAspect::Negative,
        SubLayer::Edge => TestAspect::Edge,
        SubLayer::State => TestAspect::State,
        _ => TestAspect::Async,
    };
    if matches!(layer, TestAspect::Negative | TestAspect::Edge)
        && let Some(lines) = evidence.made.reached.get(file)
    {
        if lines.binary_search(&one.line).is_err() {
            return Some(format!("no kept test executes line {}", one.line));
        }
        let score = evidence.made.report.score.iter();
        let unseen = score
            .flat_map(|score| &score.survivors)
            .any(|broken| broken.file == *file && broken.line == one.line);
        let why = || format!("no test detects a mutant of line {}", one.line);
        return (layer == TestAspect::Edge && unseen).then(why);
    }
    let missing = evidence.layers.iter().filter(|known| known.layer == layer).any(|known| {
        known.missing.iter().any(|place| {
            place.strip_prefix(file.as_str()).is_some_and(|rest| rest.starts_with(':'))
                && place
                    .rsplit(' ')
                    .next()
                    .is_some_and(|name| is_same_function(name, &one.function))
        })
    });
    missing.then(|| format!("no test tries it: {}", layer.name().1))
}

/// Why a requirement across modules is not covered. A kept test must claim it and, if line coverage
/// is known, execute the line that decides it.
fn crosses(file: &RepoPath, one: &Requirement, evidence: &CoverageEvidence<'_>) -> Option<String> {
    let claims = || {
        let own = evidence.made.written.iter().filter(|own| own.subject == *file);
        own.flat_map(|own| &own.shown)
    };
    if !claims().any(|id| *id == one.id) {
        return Some("it crosses modules, and tests are written for one function".to_owned());
    }
    let lines = evidence.made.reached.get(file)?;
    let missed = lines.binary_search(&one.line).is_err();
    missed.then(|| format!("no kept test executes line {}", one.line))
}

/// Limits completeness to what was requested: other functions of a file in `asked` do not count as
/// missing. Files that are not in `asked`, or there with an empty name, count completely.
pub fn about(
    layers: Vec<Completeness>,
    asked: &BTreeMap<RepoPath, BTreeSet<String>>,
) -> Vec<Completeness> {
    let is_asked = |place: &String| {
        asked.iter().all(|(file, functions)| {
            let of_file =
                place.strip_prefix(file.as_str()).is_some_and(|rest| rest.starts_with(':'));
            let name = place.rsplit(' ').next().unwrap_or_default();
            !of_file
                || functions.contains("")
                || functions.iter().any(|function| is_same_function(name, function))
        })
    };
    layers
        .into_iter()
        .map(|mut layer| {
            let before = layer.missing.len();
            layer.missing.retain(is_asked);
            let gone = before - layer.missing.len();
            layer.of = layer.of.saturating_sub(u32::try_from(gone).unwrap_or(u32::MAX));
            layer
        })
        .collect()
}

/// Whether two names mean the same function; either may lack the class.
pub fn is_same_function(one: &str, other: &str) -> bool {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    one == other || last(one) == last(other)
}

#[cfg(test)]
mod tests {
    use super::super::written_tests::WrittenTests;
    use super::*;
    use crate::domain::characterisation_report::{
        CharacterisationFile, CharacterisationReport, CharacterisedFunction, DropReason,
    };
    use crate::domain::id::{SessionId, TreeId};
    use crate::domain::mutation::Score;
    use crate::domain::test_plan::generation::Generation;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn made() -> TaskTests {
        let function = |name: &str, assertions: u32, reason: &str| CharacterisedFunction {
            file: path("a.py"),
            name: name.into(),
            line: 1,
            tried: 9,
            assertions,
            dropped: vec![DropReason { reason: reason.into(), count: 9 }],
        };
        TaskTests {
            task: "IMPL-001".into(),
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
            given: String::new(),
            expect: "so".into(),
            check: "`x`".into(),
            author: String::new(),
        }
    }

    #[test]
    fn a_requirement_is_shown_by_what_ran_and_open_with_a_reason() {
        let made = made();
        let blind = TaskTests { reached: BTreeMap::new(), ..made.clone() };
        let layers = [Completeness {
            layer: TestAspect::Edge,
            covered: 0,
            of: 1,
            missing: vec!["a.py:1 price".into()],
        }];
        let seen = CoverageEvidence { made: &made, layers: &layers, validated: true };
        let unseen = CoverageEvidence { made: &blind, ..seen };
        let table = [
            ("kept", &seen, SubLayer::Happy, "price", 1, None),
            ("a method by its own name", &seen, SubLayer::Happy, "add", 1, None),
            ("not pure", &seen, SubLayer::Happy, "fetch", 1, Some("uses the network")),
            (
                "not pure, whatever ran",
                &seen,
                SubLayer::Negative,
                "fetch",
                3,
                Some("uses the network"),
            ),
            ("its line ran", &seen, SubLayer::Negative, "price", 3, None),
            (
                "its line never ran",
                &seen,
                SubLayer::Negative,
                "price",
                4,
                Some("no kept test executes line 4"),
            ),
            ("lines go before names", &seen, SubLayer::Edge, "price", 8, None),
            (
                "names where no lines are",
                &unseen,
                SubLayer::Edge,
                "price",
                8,
                Some("no test tries it: public functions tried on an edge"),
            ),
            (
                "no such function",
                &seen,
                SubLayer::Happy,
                "other",
                1,
                Some("nothing here could be called from a test"),
            ),
            (
                "another layer",
                &seen,
                SubLayer::Wiring,
                "price",
                1,
                Some("it crosses modules, and tests are written for one function"),
            ),
            ("the gate tells", &seen, SubLayer::Lint, "", 1, None),
        ];
        for (why, evidence, layer, function, line, expected) in table {
            let one = requirement(layer, function, line);
            let open = still_open(&path("a.py"), &one, evidence);
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
        let open = still_open(
            &path("a.py"),
            &requirement(SubLayer::Edge, "price", 8),
            &CoverageEvidence { made: &missed, ..seen },
        );
        assert_eq!(open.as_deref(), Some("no test detects a mutant of line 8"));
        let claim = WrittenTests {
            task: "IMPL-001".into(),
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
            still_open(&path("a.py"), &one, &CoverageEvidence { made: &claimed, ..seen })
        };
        assert_eq!(crossing(8), None, "a kept test claims it and runs its line");
        assert_eq!(crossing(9).as_deref(), Some("no kept test executes line 9"));
        let broken = CoverageEvidence { validated: false, ..seen };
        assert!(still_open(&path("a.py"), &requirement(SubLayer::Lint, "", 1), &broken).is_some());
    }

    #[test]
    fn what_nobody_asked_for_is_not_missing() {
        let layer = |of: u32, missing: &[&str]| Completeness {
            layer: TestAspect::Happy,
            covered: 1,
            of,
            missing: missing.iter().map(|one| (*one).to_owned()).collect(),
        };
        let asked = |functions: &[&str]| -> BTreeMap<RepoPath, BTreeSet<String>> {
            [(path("a.py"), functions.iter().map(|one| (*one).to_owned()).collect())].into()
        };
        let missing = ["a.py:1 price", "a.py:9 fetch", "b.py:1 price"];
        let table = [
            (asked(&["price"]), layer(3, &["a.py:1 price", "b.py:1 price"])),
            (asked(&["Cart.fetch"]), layer(3, &["a.py:9 fetch", "b.py:1 price"])),
            (asked(&[""]), layer(4, &missing)),
            (BTreeMap::new(), layer(4, &missing)),
        ];
        for (asked, expected) in table {
            assert_eq!(about(vec![layer(4, &missing)], &asked), [expected], "{asked:?}");
        }
    }

    #[test]
    fn a_dropped_file_takes_its_tests_and_what_they_show_along() {
        let tree = TreeId::parse("a".repeat(40)).unwrap();
        let id = SessionId::parse("WFS-test-x").unwrap();
        let mut production = Generation::new(id, tree, Vec::new(), Vec::new());
        production.tasks.push(made());
        assert_eq!(production.totals().tests, 2);
        production.drop_file(&path("tests/test_a.py"), "code check (IMPL-001.3): 1 critical");
        let totals = production.totals();
        assert_eq!((totals.tests, totals.files, production.dropped.len()), (0, 0, 1));
        let evidence =
            CoverageEvidence { made: &production.tasks[0], layers: &[], validated: true };
        let one = requirement(SubLayer::Happy, "price", 1);
        let open = still_open(&path("a.py"), &one, &evidence);
        assert_eq!(open.as_deref(), Some("code check (IMPL-001.3): 1 critical"));
        assert!(!production.is_met());
    }
}
