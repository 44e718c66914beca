//! Code that documentation contradicts: its documented results become tests that fail until the code is
//! repaired, and no other test holds what it does; and what becomes of such tests where no repair is
//! found (specification.md 3.2).

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::code::behaviour;
use crate::code::language::Language;
use crate::domain::characterisation_report::CharacterisationReport;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::integration::exploration::IntegrationPoint;
use crate::domain::integration::records::Assumption;
use crate::domain::integration::{Integration, TestFile};
use crate::domain::provider::EMBEDDED;
use crate::domain::test_plan::written_tests::BugFinding;
use crate::effect::{EffectError, Effects};
use crate::role::characterise::Crossing;

use super::boundaries::crossing_of;
use super::develop::Development;
use super::validate::drop_file;

impl Development<'_> {
    /// Records the contradicted tests of a boundary as a file of their own, each with the assumption
    /// that its documentation is right. Returns whether there are any.
    pub(super) fn note_contradicted(
        &mut self,
        report: &CharacterisationReport,
        scenario: &str,
        point: &IntegrationPoint,
    ) -> bool {
        let wrong: Vec<_> = report.findings.iter().map(|one| self.lines_of(one)).collect();
        self.wrong.extend(wrong);
        let held: Vec<&BugFinding> =
            report.findings.iter().filter(|one| one.test.is_some()).collect();
        let Some(path) = held.iter().find_map(|one| one.file.clone()) else { return false };
        let tests: BTreeSet<TestId> = held.iter().filter_map(|one| one.test.clone()).collect();
        for (finding, test) in held.iter().filter_map(|one| Some((*one, one.test.as_ref()?))) {
            let text = finding.to_string();
            let text = text.split_once("; held back").map_or(text.as_str(), |(said, _)| said);
            let assumption = Assumption::of_documentation(text, test);
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
        let tests: Vec<TestId> = tests.into_iter().collect();
        self.confirm_boundary(point, &tests);
        self.inventory.test_files.push(TestFile {
            path,
            scenario_ids: vec![scenario.to_owned()],
            test_count: u32::try_from(tests.len()).unwrap_or(u32::MAX),
            boundary: point.boundary_name(),
            tests,
            is_disputed: true,
            author: EMBEDDED.into(),
        });
        true
    }

    /// The lines of the function that a finding is about.
    fn lines_of(&self, finding: &BugFinding) -> (RepoPath, RangeInclusive<u32>) {
        let text = self.survey.text(&finding.subject);
        let functions = Language::of(&finding.subject)
            .map(|language| behaviour::read(language, text))
            .unwrap_or_default();
        let own = functions.iter().find(|one| one.start == finding.line);
        let end = own.map_or(finding.line, |one| one.end);
        (finding.subject.clone(), finding.line..=end)
    }

    /// The code outside of a file that documentation contradicts.
    pub(super) fn wrong_elsewhere(&self, file: &RepoPath) -> Vec<(RepoPath, RangeInclusive<u32>)> {
        self.wrong.iter().filter(|(wrong, _)| wrong != file).cloned().collect()
    }

    /// Drops the tests of a boundary if some of them run code that was found to be wrong since.
    pub(super) async fn forget_wrong_tests(
        &mut self,
        point: &IntegrationPoint,
    ) -> Result<bool, EffectError> {
        let boundary = point.boundary_name();
        let avoided = self.wrong_elsewhere(&point.from);
        let crossing = Crossing { avoided, ..crossing_of(point) };
        let traces = self.traces.get(&boundary).into_iter().flatten();
        let is_own = |file: &TestFile| file.boundary == boundary;
        let own: Vec<RepoPath> = self
            .inventory
            .test_files
            .iter()
            .filter(|one| is_own(one))
            .map(|one| one.path.clone())
            .collect();
        if own.is_empty() || !traces.clone().any(|trace| crossing.runs_avoided(trace.clone())) {
            return Ok(false);
        }
        for file in own {
            self.tree = drop_file(&self.tree, &file, self.fx).await?;
        }
        self.inventory.test_files.retain(|file| !is_own(file));
        self.inventory.untested.retain(|one| !one.what.starts_with(&boundary));
        Ok(true)
    }
}

/// The sources without the files of a session whose documented results no change of the code gave.
pub async fn drop_failing_documented(
    state: &Integration,
    tree: &TreeId,
    fx: &Effects<'_>,
) -> Result<TreeId, EffectError> {
    let mut tree = tree.clone();
    for file in state.failing_documented() {
        // A killed run may have dropped it already.
        if fx.worktree.read(&tree, &file.path).await?.is_some() {
            tree = drop_file(&tree, &file.path, fx).await?;
        }
    }
    Ok(tree)
}
