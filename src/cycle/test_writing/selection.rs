//! Selects what phase 5 works on: functions of a task, the worst file, the better tests. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::characterisation_report::{
    CharacterisationFile, CharacterisationReport, CharacterisedFunction, DropReason,
};
use crate::domain::id::RepoPath;
use crate::domain::quality::{Finding, FindingCounts, QualityDecision};
use crate::domain::test_plan::generation::TaskTests;
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::requirement::{PlannedFile, Requirement};
use crate::domain::test_plan::requirement_coverage::is_same_function;
use crate::domain::test_plan::task::TestTask;
use crate::domain::test_plan::written_tests::WrittenTests;
use crate::role::Gap;

/// The functions that a task must test, by its unit requirements; none for interactions.
pub fn gaps(task: &TestTask, plan: &TestPlan) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for file in &plan.files {
        let own = || {
            let units = file.requirements.iter().filter(|one| one.layer.layer() == 1);
            units.filter(|one| task.works_on(file, one))
        };
        if own().next().is_none() {
            continue;
        }
        // A requirement without a function applies to the whole file.
        let named: BTreeSet<String> = own().map(|one| one.function.clone()).collect();
        let functions = if named.contains("") { Vec::new() } else { named.into_iter().collect() };
        let test_file = Some(file.test_file.clone());
        gaps.push(Gap { file: file.file.clone(), functions, test_file, crossing: None });
    }
    gaps
}

/// What a provider is asked to test: the sources of a task, each with its open requirements. Only
/// unit requirements can be covered by `report`, which holds the existing tests.
pub fn subjects<'a>(
    task: &TestTask,
    plan: &'a TestPlan,
    report: &CharacterisationReport,
) -> Vec<(&'a PlannedFile, Vec<&'a Requirement>)> {
    let there = |file: &RepoPath, one: &Requirement| {
        one.layer.layer() == 1
            && report.functions.iter().any(|known| {
                known.file == *file
                    && known.assertions > 0
                    && is_same_function(&known.name, &one.function)
            })
    };
    let mut found = Vec::new();
    for file in &plan.files {
        let own = file
            .requirements
            .iter()
            .filter(|one| task.works_on(file, one) && !there(&file.file, one));
        let own: Vec<&Requirement> = own.collect();
        if !own.is_empty() {
            found.push((file, own));
        }
    }
    found
}

/// Adds the files that providers wrote to the report of a task.
pub fn join(report: &mut CharacterisationReport, written: &[WrittenTests]) {
    for one in written {
        for reason in &one.dropped {
            let reason = reason.lines().next().unwrap_or_default().to_owned();
            report.dropped.push(DropReason { reason, count: 1 });
        }
        report.flaky.extend(one.flaky.iter().cloned());
        let Some(file) = &one.file else { continue };
        report.files.push(CharacterisationFile {
            file: file.clone(),
            subject: one.subject.clone(),
            tests: one.tests.clone(),
            assertions: one.assertions,
        });
        for name in &one.functions {
            let known = report
                .functions
                .iter_mut()
                .find(|known| known.file == one.subject && known.name == *name);
            match known {
                Some(known) => {
                    known.assertions = known.assertions.max(1);
                    known.dropped.clear();
                }
                None => report.functions.push(CharacterisedFunction {
                    assertions: 1,
                    ..CharacterisedFunction::without_tests(one.subject.clone(), name, 1, 0)
                }),
            }
        }
    }
}

/// A file that a gate drops.
pub struct WorstFile {
    pub file: RepoPath,
    /// Its gravest finding, for the list of dropped files.
    pub reason: String,
    pub findings: Vec<Finding>,
}

/// The file to drop: the one with the gravest findings, when the gate fails hard.
pub fn worst(findings: &[Finding], decision: QualityDecision) -> Option<WorstFile> {
    if decision != QualityDecision::HardFail {
        return None;
    }
    let mut files: BTreeMap<&RepoPath, Vec<&Finding>> = BTreeMap::new();
    for one in findings {
        files.entry(&one.file).or_default().push(one);
    }
    let (file, found) = files.into_iter().max_by_key(|(_, found)| {
        let counts = FindingCounts::of(found.iter().copied());
        (counts.critical, counts.error, counts.warning)
    })?;
    let first = found.iter().min_by_key(|one| one.severity)?;
    Some(WorstFile {
        file: file.clone(),
        reason: format!("{} {}, line {}", first.severity, first.id, first.line),
        findings: found.iter().map(|one| (*one).clone()).collect(),
    })
}

/// Ranks tests: those that meet the threshold come first, then those that notice more mutants.
/// Mutants that were not tried are extrapolated from those that were, because the share alone would
/// favour tests that reach less code.
pub fn rank(made: &TaskTests) -> (bool, u64) {
    let Some(score) = made.report.score.as_ref() else { return (false, 0) };
    let noticed =
        u64::from(score.noticed) * u64::from(score.covered) / u64::from(score.tried).max(1);
    (score.is_met(), noticed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::characterisation_report::CharacterisationReport;
    use crate::domain::mutation::Score;
    use crate::domain::quality::Severity;
    use crate::domain::quality::Stage;

    fn finding(file: &str, severity: Severity) -> Finding {
        Finding {
            stage: Stage::Code,
            id: "x".into(),
            category: "y".into(),
            severity,
            file: RepoPath::parse(file).unwrap(),
            line: 3,
            message: String::new(),
            suggestion: String::new(),
            auto_fixable: false,
        }
    }

    #[test]
    fn tests_that_meet_the_threshold_and_notice_more_are_better() {
        let made = |noticed, tried, covered| {
            let score = Score { threshold: 60, noticed, tried, covered, ..Score::default() };
            TaskTests {
                report: CharacterisationReport {
                    score: Some(score),
                    ..CharacterisationReport::default()
                },
                ..none()
            }
        };
        let table = [
            ("more noticed", made(50, 80, 80), made(50, 70, 70), false),
            ("a lower share of far more", made(80, 100, 100), made(45, 50, 50), true),
            ("below the threshold", made(50, 100, 100), made(40, 50, 50), false),
            ("a sample stands for all", made(30, 40, 400), made(32, 40, 200), true),
            ("nothing scored", none(), made(1, 1, 1), false),
        ];
        for (why, one, other, better) in table {
            assert_eq!(rank(&one) > rank(&other), better, "{why}");
        }
    }

    fn none() -> TaskTests {
        TaskTests {
            rounds: 1,
            is_settled: false,
            report: CharacterisationReport::default(),
            reached: BTreeMap::new(),
            requirements: Vec::new(),
            written: Vec::new(),
        }
    }

    #[test]
    fn the_file_with_the_worst_findings_goes_and_nothing_goes_from_a_gate_that_is_met() {
        use QualityDecision::{HardFail, Pass, SoftFail};
        let many = [
            finding("a.py", Severity::Error),
            finding("a.py", Severity::Error),
            finding("b.py", Severity::Critical),
        ];
        let table = [
            ("critical beats many errors", &many[..], HardFail, Some("b.py")),
            ("of errors the most", &many[..2], HardFail, Some("a.py")),
            ("a soft failure is tried again", &many[..2], SoftFail, None),
            ("met", &many[..2], Pass, None),
            ("nothing found", &[][..], HardFail, None),
        ];
        for (why, findings, decision, expected) in table {
            let gone = worst(findings, decision).map(|worst| worst.file.to_string());
            assert_eq!(gone.as_deref(), expected, "{why}");
        }
    }

    fn written(file: Option<&str>, functions: &[&str]) -> WrittenTests {
        WrittenTests {
            round: 1,
            subject: RepoPath::parse("pkg0/m0.py").unwrap(),
            file: file.map(|file| RepoPath::parse(file).unwrap()),
            author: "one".into(),
            tests: vec!["t.a".into()],
            assertions: 2,
            functions: functions.iter().map(|one| (*one).to_owned()).collect(),
            shown: Vec::new(),
            findings: Vec::new(),
            dropped: vec!["refused, by one: sleeps\nand more".into()],
            flaky: Vec::new(),
        }
    }

    #[test]
    fn what_a_provider_wrote_counts_and_what_it_gave_up_is_told() {
        let mut report = CharacterisationReport::default();
        join(&mut report, &[written(Some("tests/test_m0.py"), &["f"]), written(None, &["g"])]);
        assert_eq!(report.tests(), 1);
        let counts: Vec<(&str, u32)> =
            report.functions.iter().map(|one| (one.name.as_str(), one.assertions)).collect();
        assert_eq!(counts, [("f", 1)], "nothing is kept of a file that is gone");
        let reasons: Vec<&str> = report.dropped.iter().map(|one| one.reason.as_str()).collect();
        assert_eq!(reasons, ["refused, by one: sleeps"; 2]);
    }

    #[test]
    fn a_provider_is_asked_for_what_is_open_of_its_task_alone() {
        let mut plan = crate::domain::test_plan::plan::samples::plan(2, 8);
        crate::role::test_plan::plan_tasks(&mut plan, 10);
        let task = &plan.tasks[0];
        let count = |report: &CharacterisationReport| -> Vec<usize> {
            subjects(task, &plan, report).iter().map(|(_, open)| open.len()).collect()
        };
        assert_eq!(count(&CharacterisationReport::default()), [8, 8]);
        let mut report = CharacterisationReport::default();
        join(&mut report, &[written(Some("tests/test_m0.py"), &["f"])]);
        // Unit requirements of the first file are covered; those across modules are open.
        let crossing =
            plan.files[0].requirements.iter().filter(|one| one.layer.layer() > 1).count();
        assert!(crossing > 0);
        assert_eq!(count(&report), [crossing, 8]);
    }
}
