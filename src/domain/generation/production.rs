//! What phase 5 has made so far: tests task by task, what the gates said, what stays open
//! (product.md 3.1 phase 5, 6.6).

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::{CommitId, RepoPath, SessionId, TestId, TreeId};
use crate::domain::mutation::Score;
use crate::domain::pin::{Coverage, PinReport};
use crate::domain::quality::{Completeness, Decision, Layer};

use super::analysis::Requirement;
use super::layer::SubLayer;
use super::written::{BugFinding, Written};

/// Where it lies inside the session folder.
pub const PRODUCTION: &str = ".process/generation.json";

/// `generation.json`: written before the state moves on, so that a step that is repeated finds
/// what it has made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Production {
    /// The session.
    pub session_id: SessionId,
    /// The sources with all tests that are kept so far.
    pub tree: TreeId,
    /// Tests of the suite that passed before anything was written.
    pub passing: Vec<TestId>,
    /// Tests of the suite that failed then.
    pub failing: Vec<TestId>,
    /// What each task made.
    pub tasks: Vec<Made>,
    /// What providers wrote for a task that is not done yet.
    #[serde(default)]
    pub drafts: Vec<Written>,
    /// Files that a gate took away.
    pub dropped: Vec<DroppedFile>,
    /// What gate 001.3 said, once it did.
    pub validation: Option<Judgement>,
    /// What gate 001.5 said, once it did.
    pub review: Option<Judgement>,
    /// The score of all tests together, when a gate changed what was scored before.
    pub score: Option<Score>,
    /// Times that tests were written again for what they missed.
    #[serde(default)]
    pub retries: u32,
    /// Seconds that the embedded engine and the breaking of code took, over all tasks and rounds.
    #[serde(default)]
    pub engine_seconds: f64,
    /// The commit that holds the tests.
    pub commit: Option<CommitId>,
}

/// What one task made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Made {
    /// Its id.
    pub task: String,
    /// How often tests were written: 2 when survivors were given back.
    pub rounds: u32,
    /// Functions, files, drops, coverage and score.
    pub report: PinReport,
    /// Lines that the new tests execute, by file; empty where nothing tells.
    pub reached: BTreeMap<RepoPath, Vec<u32>>,
    /// Its requirements, as far as they are decided.
    pub requirements: Vec<Settled>,
    /// What providers wrote for it, file by file; what is not in here the embedded engine wrote.
    #[serde(default)]
    pub written: Vec<Written>,
}

impl Made {
    /// Whether a provider wrote this file.
    #[must_use]
    pub fn is_written(&self, file: &RepoPath) -> bool {
        self.written.iter().any(|one| one.file.as_ref() == Some(file))
    }
}

/// A file that was written and taken away again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DroppedFile {
    /// The tests.
    pub file: RepoPath,
    /// What they were about.
    pub subject: RepoPath,
    /// Why they are gone.
    pub reason: String,
}

/// What a gate said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// Its word.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// Safe repairs that were made.
    pub repairs: u32,
    /// Times it was tried again.
    pub retries: u32,
}

/// A requirement and whether a test shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// Its id.
    pub id: String,
    /// Its layer.
    pub layer: SubLayer,
    /// What it says.
    pub text: String,
    /// Why it stays open; `None` when it is shown.
    pub open: Option<String>,
}

/// What tells whether a requirement is shown.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// What the task made.
    pub made: &'a Made,
    /// How complete the tests of the repository are, layer by layer.
    pub layers: &'a [Completeness],
    /// What gate 001.3 said.
    pub validated: bool,
}

/// Why a requirement stays open; `None` when a test shows it.
///
/// A happy path is shown by a kept assertion. A negative path or an edge is shown when a new test
/// executes the line that decides it, and an edge only when no broken version of that line goes
/// unnoticed; where nothing tells lines, by names. What crosses modules is
/// never shown: tests of one function at a time cannot.
///
/// Source: product.md 6.1, 6.2, 5.3.
#[must_use]
pub fn still_open(file: &RepoPath, one: &Requirement, evidence: &Evidence<'_>) -> Option<String> {
    match one.layer.layer() {
        0 => return (!evidence.validated).then(|| "gate 001.3 is not met".to_owned()),
        1 => {}
        _ => return crosses(file, one, evidence),
    }
    if let Some(gone) =
        evidence.made.report.functions.iter().find(|known| {
            known.file == *file && names(&known.name, &one.function) && known.kept == 0
        })
    {
        let reason = gone.dropped.first().map_or("no call of it tells enough", |one| &one.reason);
        return Some(reason.to_owned());
    }
    let pinned = evidence.made.report.functions.iter().any(|known| {
        known.file == *file
            && known.kept > 0
            && (one.function.is_empty() || names(&known.name, &one.function))
    });
    if !pinned {
        return Some("nothing here could be called from a test".to_owned());
    }
    let layer = match one.layer {
        SubLayer::Happy => return None,
        SubLayer::Negative => Layer::Negative,
        SubLayer::Edge => Layer::Edge,
        SubLayer::State => Layer::State,
        _ => Layer::Async,
    };
    if matches!(layer, Layer::Negative | Layer::Edge)
        && let Some(lines) = evidence.made.reached.get(file)
    {
        if lines.binary_search(&one.line).is_err() {
            return Some(format!("no kept test executes line {}", one.line));
        }
        let score = evidence.made.report.score.iter();
        let unseen = score
            .flat_map(|score| &score.survivors)
            .any(|broken| broken.file == *file && broken.line == one.line);
        let why = || format!("a broken version of line {} is not noticed", one.line);
        return (layer == Layer::Edge && unseen).then(why);
    }
    let missing = evidence.layers.iter().filter(|known| known.layer == layer).any(|known| {
        known.missing.iter().any(|place| {
            place.strip_prefix(file.as_str()).is_some_and(|rest| rest.starts_with(':'))
                && place.rsplit(' ').next().is_some_and(|name| names(name, &one.function))
        })
    });
    missing.then(|| format!("no test tries it: {}", layer.name().1))
}

/// Why a requirement that crosses modules stays open. A kept test must claim it and, where lines
/// are told, execute the line that decides it.
fn crosses(file: &RepoPath, one: &Requirement, evidence: &Evidence<'_>) -> Option<String> {
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

/// Completeness of what was asked for alone: functions of a file that no requirement names are
/// left out of what is missing. A file without an entry, and one with an empty name, count whole.
#[must_use]
pub fn about(
    layers: Vec<Completeness>,
    asked: &BTreeMap<RepoPath, BTreeSet<String>>,
) -> Vec<Completeness> {
    let wanted = |place: &String| {
        asked.iter().all(|(file, functions)| {
            let of_file =
                place.strip_prefix(file.as_str()).is_some_and(|rest| rest.starts_with(':'));
            let name = place.rsplit(' ').next().unwrap_or_default();
            !of_file
                || functions.contains("")
                || functions.iter().any(|function| names(name, function))
        })
    };
    layers
        .into_iter()
        .map(|mut layer| {
            let before = layer.missing.len();
            layer.missing.retain(wanted);
            let gone = before - layer.missing.len();
            layer.of = layer.of.saturating_sub(u32::try_from(gone).unwrap_or(u32::MAX));
            layer
        })
        .collect()
}

/// Whether a name, with its class or without, is that of a function.
fn names(known: &str, function: &str) -> bool {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    known == function || last(known) == last(function)
}

/// The numbers of phase 5.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Tests that are kept.
    pub tests: usize,
    /// Files that hold them.
    pub files: usize,
    /// Requirements that are shown.
    pub shown: usize,
    /// All requirements.
    pub requirements: usize,
    /// Lines reached before, of the files with gaps.
    pub before: Coverage,
    /// Lines reached with the new tests.
    pub after: Coverage,
    /// How well the new tests notice broken code.
    pub score: Option<Score>,
    /// New tests whose result changed between runs; none of them is kept.
    pub flaky: usize,
}

impl Production {
    /// Nothing is made yet.
    #[must_use]
    pub fn new(
        session_id: SessionId,
        tree: TreeId,
        passing: Vec<TestId>,
        failing: Vec<TestId>,
    ) -> Self {
        Self {
            session_id,
            tree,
            passing,
            failing,
            tasks: Vec::new(),
            drafts: Vec::new(),
            dropped: Vec::new(),
            validation: None,
            review: None,
            score: None,
            retries: 0,
            engine_seconds: 0.0,
            commit: None,
        }
    }

    /// What a task made, once it did.
    #[must_use]
    pub fn of(&self, task: &str) -> Option<&Made> {
        self.tasks.iter().find(|made| made.task == task)
    }

    /// Files with tests, with what they are about.
    #[must_use]
    pub fn files(&self) -> Vec<(RepoPath, RepoPath)> {
        let files = self.tasks.iter().flat_map(|made| &made.report.files);
        files.map(|one| (one.file.clone(), one.subject.clone())).collect()
    }

    /// Kept tests.
    #[must_use]
    pub fn tests(&self) -> Vec<TestId> {
        let files = self.tasks.iter().flat_map(|made| &made.report.files);
        files.flat_map(|one| one.tests.iter().cloned()).collect()
    }

    /// Notes that a gate took a file away.
    pub fn drop_file(&mut self, file: &RepoPath, reason: &str) {
        for made in &mut self.tasks {
            let Some(at) = made.report.files.iter().position(|one| one.file == *file) else {
                continue;
            };
            let gone = made.report.files.remove(at);
            for function in made.report.functions.iter_mut().filter(|one| one.file == gone.subject)
            {
                function.kept = 0;
                let dropped = crate::domain::pin::Dropped { reason: reason.to_owned(), count: 1 };
                function.dropped.insert(0, dropped);
            }
            made.reached.remove(&gone.subject);
            for one in made.written.iter_mut().filter(|one| one.file.as_ref() == Some(file)) {
                one.file = None;
                one.tests.clear();
                one.shown.clear();
                one.findings.clear();
                one.dropped.push(reason.to_owned());
            }
            self.dropped.push(DroppedFile {
                file: gone.file,
                subject: gone.subject,
                reason: reason.to_owned(),
            });
            return;
        }
    }

    /// Tests that fail because the code is wrong.
    #[must_use]
    pub fn findings(&self) -> Vec<&BugFinding> {
        let written = self.tasks.iter().flat_map(|made| &made.written);
        written.flat_map(|one| &one.findings).collect()
    }

    /// The score of all new tests: the one that was measured last, else that of the tasks
    /// together.
    #[must_use]
    pub fn scored(&self) -> Option<Score> {
        if self.score.is_some() {
            return self.score.clone();
        }
        let scores = self.tasks.iter().filter_map(|made| made.report.score.as_ref());
        scores.cloned().reduce(together)
    }

    /// Whether both gates let the tests pass.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let met = |gate: &Option<Judgement>| {
            gate.as_ref().is_some_and(|said| said.decision == Decision::Pass)
        };
        met(&self.validation) && met(&self.review)
    }

    /// What each gate that is not met says; empty when both let the tests pass.
    #[must_use]
    pub fn missed_gates(&self) -> Vec<String> {
        let missed = |gate: &str, said: &Option<Judgement>| match said {
            Some(said) if said.decision == Decision::Pass => None,
            Some(said) => Some(format!("gate {gate}: {}", said.reason)),
            None => Some(format!("gate {gate} has not decided")),
        };
        [missed("001.3", &self.validation), missed("001.5", &self.review)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The numbers of phase 5.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let reports = || self.tasks.iter().map(|made| &made.report);
        let sum = |of: fn(&PinReport) -> Coverage| {
            reports().map(of).fold(Coverage::default(), |all, one| Coverage {
                covered: all.covered + one.covered,
                lines: all.lines + one.lines,
            })
        };
        let requirements = || self.tasks.iter().flat_map(|made| &made.requirements);
        Totals {
            tests: reports().map(PinReport::tests).sum(),
            files: reports().map(|report| report.files.len()).sum(),
            shown: requirements().filter(|one| one.open.is_none()).count(),
            requirements: requirements().count(),
            before: sum(|report| report.before),
            after: sum(|report| report.after),
            score: self.scored(),
            flaky: reports().map(|report| report.flaky.len()).sum(),
        }
    }
}

/// Two scores of different files as one.
fn together(a: Score, b: Score) -> Score {
    use crate::domain::mutation::Reach;
    let unknown = a.reach == Reach::Unknown || b.reach == Reach::Unknown;
    Score {
        schema_version: a.schema_version,
        mutants: a.mutants + b.mutants,
        covered: a.covered + b.covered,
        tried: a.tried + b.tried,
        unviable: a.unviable + b.unviable,
        types_unchecked: a.types_unchecked || b.types_unchecked,
        noticed: a.noticed + b.noticed,
        hung: a.hung + b.hung,
        reach: if unknown { Reach::Unknown } else { Reach::Known },
        tests: a.tests + b.tests,
        left_out: [a.left_out, b.left_out].concat(),
        lines_covered: a.lines_covered + b.lines_covered,
        lines: a.lines + b.lines,
        survivors: [a.survivors, b.survivors].concat(),
        seconds: a.seconds + b.seconds,
        threshold: a.threshold,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::pin::{Dropped, PinnedFile, PinnedFunction};

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn made() -> Made {
        let function = |name: &str, kept: u32, reason: &str| PinnedFunction {
            file: path("a.py"),
            name: name.into(),
            line: 1,
            tried: 9,
            kept,
            dropped: vec![Dropped { reason: reason.into(), count: 9 }],
        };
        Made {
            task: "IMPL-001".into(),
            rounds: 1,
            report: PinReport {
                functions: vec![
                    function("price", 3, "late"),
                    function("Cart.add", 1, "late"),
                    function("fetch", 0, "uses the network"),
                ],
                files: vec![PinnedFile {
                    file: path("tests/test_a.py"),
                    subject: path("a.py"),
                    tests: vec!["t.a".into(), "t.b".into()],
                    assertions: 4,
                }],
                ..PinReport::default()
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
        }
    }

    #[test]
    fn a_requirement_is_shown_by_what_ran_and_open_with_a_reason() {
        let made = made();
        let blind = Made { reached: BTreeMap::new(), ..made.clone() };
        let layers = [Completeness {
            layer: Layer::Edge,
            covered: 0,
            of: 1,
            missing: vec!["a.py:1 price".into()],
        }];
        let seen = Evidence { made: &made, layers: &layers, validated: true };
        let unseen = Evidence { made: &blind, ..seen };
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
            &Evidence { made: &missed, ..seen },
        );
        assert_eq!(open.as_deref(), Some("a broken version of line 8 is not noticed"));
        let claim = Written {
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
        let claimed = Made { written: vec![claim], ..made.clone() };
        let crossing = |line| {
            let one = requirement(SubLayer::Wiring, "price", line);
            still_open(&path("a.py"), &one, &Evidence { made: &claimed, ..seen })
        };
        assert_eq!(crossing(8), None, "a kept test claims it and runs its line");
        assert_eq!(crossing(9).as_deref(), Some("no kept test executes line 9"));
        let broken = Evidence { validated: false, ..seen };
        assert!(still_open(&path("a.py"), &requirement(SubLayer::Lint, "", 1), &broken).is_some());
    }

    #[test]
    fn what_nobody_asked_for_is_not_missing() {
        let layer = |of: u32, missing: &[&str]| Completeness {
            layer: Layer::Happy,
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
        let mut production = Production::new(id, tree, Vec::new(), Vec::new());
        production.tasks.push(made());
        assert_eq!(production.totals().tests, 2);
        production.drop_file(&path("tests/test_a.py"), "gate 001.3: 1 critical");
        let totals = production.totals();
        assert_eq!((totals.tests, totals.files, production.dropped.len()), (0, 0, 1));
        let evidence = Evidence { made: &production.tasks[0], layers: &[], validated: true };
        let one = requirement(SubLayer::Happy, "price", 1);
        let open = still_open(&path("a.py"), &one, &evidence);
        assert_eq!(open.as_deref(), Some("gate 001.3: 1 critical"));
        assert!(!production.is_met());
    }
}
