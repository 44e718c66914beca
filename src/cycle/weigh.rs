//! What phase 5 takes up and which file goes first: values in, values out.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::generation::analysis::FileRequirements;
use crate::domain::generation::production::Made;
use crate::domain::generation::task::{StatusChange, TaskKind, TestPlan, TestTask};
use crate::domain::id::RepoPath;
use crate::domain::quality::{Counts, Decision, Finding};
use crate::domain::task::TaskStatus;
use crate::role::Gap;

/// Notes another status of a task; whether it is another.
pub fn change(task: &mut TestTask, to: TaskStatus, now: &str) -> bool {
    if task.status == to {
        return false;
    }
    let changed_at = now.to_owned();
    task.status_history.push(StatusChange { from: task.status, to, changed_at });
    task.status = to;
    true
}

/// What a task is to write tests for: the functions that its requirements name. A task about what
/// crosses modules has none.
pub fn gaps(task: &TestTask, plan: &TestPlan) -> Vec<Gap> {
    let ids: BTreeSet<&String> = task.context.requirement_ids.iter().collect();
    let mut gaps = Vec::new();
    if task.meta.kind != TaskKind::TestGen {
        return gaps;
    }
    for file in &plan.analysis.files {
        let own = || {
            let units = file.requirements.iter().filter(|one| one.layer.layer() == 1);
            units.filter(|one| ids.contains(&one.id))
        };
        if own().next().is_none() {
            continue;
        }
        // A requirement without a function is about all of them.
        let named: BTreeSet<String> = own().map(|one| one.function.clone()).collect();
        let functions = if named.contains("") { Vec::new() } else { named.into_iter().collect() };
        gaps.push(Gap { file: file.file.clone(), functions });
    }
    gaps
}

/// Functions that requirements name, by file; an empty name stands for all of a file.
pub fn asked(plan: &TestPlan) -> BTreeMap<RepoPath, BTreeSet<String>> {
    let units = |file: &FileRequirements| {
        let units = file.requirements.iter().filter(|one| one.layer.layer() == 1);
        units.map(|one| one.function.clone()).collect()
    };
    plan.analysis.files.iter().map(|file| (file.file.clone(), units(file))).collect()
}

/// The file that must go, with the reason: one with a critical finding, or, when all retries are
/// used, the one with the most findings.
pub fn worst(findings: &[Finding], decision: Decision) -> Option<(RepoPath, String)> {
    if decision != Decision::HardFail {
        return None;
    }
    let mut files: BTreeMap<&RepoPath, Vec<&Finding>> = BTreeMap::new();
    for one in findings {
        files.entry(&one.file).or_default().push(one);
    }
    let (file, found) = files.into_iter().max_by_key(|(_, found)| {
        let counts = Counts::of(found.iter().copied());
        (counts.critical, counts.error, counts.warning)
    })?;
    let first = found.iter().min_by_key(|one| one.severity)?;
    Some((file.clone(), format!("{} {}, line {}", first.severity.name(), first.id, first.line)))
}

/// Tests that meet the threshold are better than others; of those, the ones that notice more broken
/// versions of the code, what was not tried counted like what was. A share alone would speak
/// against tests that reach more.
pub fn rank(made: &Made) -> (bool, u64) {
    let Some(score) = made.report.score.as_ref() else { return (false, 0) };
    let noticed =
        u64::from(score.noticed) * u64::from(score.covered) / u64::from(score.tried).max(1);
    (score.is_met(), noticed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::mutation::Score;
    use crate::domain::pin::PinReport;
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
            Made { report: PinReport { score: Some(score), ..PinReport::default() }, ..none() }
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

    fn none() -> Made {
        Made {
            task: "IMPL-001".into(),
            rounds: 1,
            report: PinReport::default(),
            reached: BTreeMap::new(),
            requirements: Vec::new(),
        }
    }

    #[test]
    fn the_file_with_the_worst_findings_goes_and_nothing_goes_from_a_gate_that_is_met() {
        use Decision::{HardFail, Pass, SoftFail};
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
            let gone = worst(findings, decision).map(|(file, _)| file.to_string());
            assert_eq!(gone.as_deref(), expected, "{why}");
        }
    }
}
