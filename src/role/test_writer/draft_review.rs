//! Reviews a generated test file: gets verdicts on failing tests, has wrong ones repaired once or
//! removes them, and describes the result for the report.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::outline::Function;
use crate::code::{outline, test_cases};
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::test::{Status, TestCase};
use crate::domain::test_plan::requirement::Requirement;
use crate::domain::test_plan::written_tests::{BugFinding, WrittenTests};
use crate::domain::text::has_word;
use crate::effect::{CandidateRunnerRequest, EffectError, Effects};
use crate::role::ask::{Answered, Budgeted, ProviderChain, Reply};
use crate::role::characterise::entered;
use crate::role::excerpt;
use crate::role::prompt::{PromptPart, Role, Section};
use crate::role::requirement_lines::requirement_lines;

use super::reader::{Draft, GenerateReader};
use super::request::WriteRequest;
use super::run_file::{DraftFile, plain};
use super::verdicts::{self, DefectSite, DefectVerdict, JudgeReader};

/// The requirements that each test claims to cover, by test name.
pub type Covers = BTreeMap<String, BTreeSet<String>>;

/// The defects that failing tests revealed, by test.
pub type Defects = BTreeMap<TestId, Defect>;

/// A defect in the code, and the provider that confirmed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    pub site: DefectSite,
    pub judge: String,
}

/// A test file after its review.
pub struct ReviewedDraft {
    pub file: Option<DraftFile>,
    pub covers: Covers,
    pub defects: Defects,
    pub dropped: Vec<String>,
}

/// The verdicts on the failing tests of a file.
#[derive(Default)]
struct FailureVerdicts {
    defects: Defects,
    wrong: BTreeMap<TestId, String>,
}

/// The review of one generated test file.
pub struct DraftReview<'a> {
    pub request: &'a WriteRequest<'a>,
    pub reader: &'a GenerateReader<'a>,
    pub providers: &'a ProviderChain,
    pub fx: &'a Effects<'a>,
}

impl DraftReview<'_> {
    /// Gets verdicts on the failing tests: wrong tests are repaired once or removed, tests that
    /// reveal a defect are kept. The review stops at a session limit, because without a judge such
    /// tests would be lost.
    pub async fn review(&self, draft: Draft) -> Result<Budgeted<ReviewedDraft>, EffectError> {
        let mut dropped = self.reader.refusals();
        let Draft { mut file, mut covers } = draft;
        let failing: Vec<TestCase> = file.with_status(Status::Failed).cloned().collect();
        let FailureVerdicts { mut defects, wrong } = match self.verdicts(&file, &failing).await? {
            Budgeted::Done(verdicts) => verdicts,
            Budgeted::OutOfBudget(reason) => return Ok(Budgeted::OutOfBudget(reason)),
        };
        let mut is_left = true;
        if !wrong.is_empty() {
            if let Some(repaired) = self.repair(&file, &wrong).await? {
                Draft { file, covers } = repaired;
            }
            defects.retain(|id, _| file.with_status(Status::Failed).any(|case| case.id == *id));
            let failed = file.with_status(Status::Failed).map(|case| case.id.clone());
            let still_wrong: BTreeSet<TestId> =
                failed.filter(|id| !defects.contains_key(id)).collect();
            for id in &still_wrong {
                let why = wrong.get(id).map_or(
                    "it fails, and no provider confirmed that it reveals a defect",
                    String::as_str,
                );
                dropped.push(format!("{id}: {why}"));
            }
            is_left = still_wrong.is_empty() || file.cut(&still_wrong);
        }
        let file = is_left.then_some(file);
        Ok(Budgeted::Done(ReviewedDraft { file, covers, defects, dropped }))
    }

    /// Which failing tests reveal a defect, and why the others are wrong.
    async fn verdicts(
        &self,
        file: &DraftFile,
        failing: &[TestCase],
    ) -> Result<Budgeted<FailureVerdicts>, EffectError> {
        let (own, unclear): (Vec<&TestCase>, Vec<&TestCase>) =
            failing.iter().partition(|case| verdicts::is_own_fault(case));
        let mut result = FailureVerdicts::default();
        for case in own {
            let why = format!("the test is wrong: {}", self.message(case));
            result.wrong.insert(case.id.clone(), why);
        }
        if unclear.is_empty() {
            return Ok(Budgeted::Done(result));
        }
        let (mut verdicts, judge) = match self.ask_judge(file, &unclear).await? {
            Reply::Good(answer) => (answer.value, answer.provider),
            Reply::OutOfBudget(reason) => return Ok(Budgeted::OutOfBudget(reason)),
            Reply::Degraded(_) | Reply::NoAnswer => (BTreeMap::new(), String::new()),
        };
        for case in unclear {
            let why = match verdicts.remove(&case.id) {
                Some(DefectVerdict::CodeIsWrong(site)) => {
                    result.defects.insert(case.id.clone(), Defect { site, judge: judge.clone() });
                    continue;
                }
                Some(DefectVerdict::TestIsWrong(why)) => why,
                None if case.was_stopped() => {
                    "does-not-end: it was stopped by the time limit, and no provider attributes this to the code".into()
                }
                None => "nobody can say whether the code or the test is wrong".into(),
            };
            result.wrong.insert(case.id.clone(), why);
        }
        Ok(Budgeted::Done(result))
    }

    async fn ask_judge(
        &self,
        file: &DraftFile,
        failing: &[&TestCase],
    ) -> Result<Reply<BTreeMap<TestId, DefectVerdict>>, EffectError> {
        let subject = &self.request.subject.file;
        let text = self.source();
        let task = format!("{}-verdict", self.request.name);
        let reader = JudgeReader {
            task: task.clone(),
            subject,
            functions: self
                .request
                .list_subjects()
                .iter()
                .flat_map(|file| self.functions_in(file))
                .collect(),
            lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
            failing: failing.iter().map(|case| case.id.clone()).collect(),
            parts: self.evidence(file, failing, text),
            min_confidence: self.providers.min_confidence(),
            fence: self.providers.fence(),
        };
        self.fx.step("asking whether the code or the new test is wrong");
        let names = (self.request.task, task.as_str());
        self.providers.ask(names, Role::Judge, &reader, self.fx).await
    }

    /// The source code under test.
    fn source(&self) -> &str {
        self.reader.sources.texts.get(&self.request.subject.file).map_or("", String::as_str)
    }

    /// The functions that a source declares.
    fn functions_in(&self, file: &RepoPath) -> Vec<Function> {
        let text = self.reader.sources.texts.get(file).map_or("", String::as_str);
        let language = Language::of(file);
        language
            .map(|language| outline::functions_and_default_export(language, text))
            .unwrap_or_default()
    }

    /// The file of a defect: the called side of a boundary where only that declares the function.
    fn file_of(&self, function: &str) -> RepoPath {
        let declares = |file: &RepoPath| {
            function.is_empty() || self.functions_in(file).iter().any(|one| one.name == function)
        };
        let subject = &self.request.subject.file;
        self.request.list_subjects().into_iter().find(declares).unwrap_or_else(|| subject.clone())
    }

    /// The parts of the judge's prompt.
    fn evidence(&self, file: &DraftFile, failing: &[&TestCase], text: &str) -> Vec<PromptPart> {
        let part = |title: String, text: String| PromptPart::new(title, text, true);
        let failures: String =
            failing.iter().map(|case| format!("{}\n{}\n\n", case.id, self.failure(case))).collect();
        // What was derived from the code cannot show that the code is wrong, or right.
        let all = self.request.requirements.iter().copied();
        let stated: Vec<&Requirement> = all.filter(|one| !one.is_derived()).collect();
        let mut parts = vec![
            part("What the failing tests said".into(), failures),
            part(format!("The source {}", self.request.subject.file), text.to_owned()),
            part(format!("The new tests {}", file.path), file.text.clone()),
            part("Requirements".into(), requirement_lines(&stated)),
        ];
        if self.request.crossing.is_some() {
            parts.extend(self.request.shown.iter().cloned());
        }
        parts.extend(self.reader.sources.documents(&self.request.subject.file));
        parts
    }

    /// The failure of a test, truncated and without private paths.
    fn failure(&self, case: &TestCase) -> String {
        let failure = case.failure.clone().unwrap_or_default();
        let root = self.fx.worktree.root().display().to_string();
        let stack = excerpt::frames_inside(&failure.stack, &root);
        plain(&format!("{} {}\n{stack}", failure.class, failure.message), self.fx)
    }

    /// The first line of the failure of a test.
    fn message(&self, case: &TestCase) -> String {
        self.failure(case).lines().next().unwrap_or_default().chars().take(300).collect()
    }

    /// The file as repaired by a provider; `None` if no repair is better.
    async fn repair(
        &self,
        file: &DraftFile,
        wrong: &BTreeMap<TestId, String>,
    ) -> Result<Option<Draft>, EffectError> {
        let failures: String = file
            .with_status(Status::Failed)
            .filter_map(|case| Some((case, wrong.get(&case.id)?)))
            .map(|(case, why)| format!("{}: {why}\n{}\n\n", case.id, self.failure(case)))
            .collect();
        let part = |title: &str, text: String| PromptPart {
            section: Section::Failures,
            ..PromptPart::new(title, text, false)
        };
        let mut parts = vec![
            part("Your file of before; write it anew as a whole", file.text.clone()),
            part("Tests in it that are wrong; correct them or leave them out", failures),
        ];
        parts.extend(self.reader.parts.clone());
        let task = format!("{}-repair", self.request.name);
        let reader = self.reader.with_question(task.clone(), parts);
        let names = (self.request.task, task.as_str());
        Ok(match self.providers.ask(names, Role::Generator, &reader, self.fx).await? {
            Reply::Good(Answered { value, .. }) | Reply::Degraded(Answered { value, .. }) => {
                Some(value)
            }
            Reply::NoAnswer | Reply::OutOfBudget(_) => None,
        })
    }

    /// Describes a file of stable tests for the report.
    pub async fn describe(
        &self,
        file: &DraftFile,
        covers: &Covers,
        defects: &Defects,
        tree: &TreeId,
    ) -> Result<WrittenTests, EffectError> {
        let tests: Vec<TestId> =
            file.with_status(Status::Passed).map(|case| case.id.clone()).collect();
        let pieces = file.cases();
        let passes = |name: &str| {
            let piece = pieces.iter().find(|piece| piece.name == name);
            piece.is_some_and(|piece| tests.iter().any(|id| piece.runs_as(id.as_str())))
        };
        let shown: BTreeSet<String> = covers
            .iter()
            .filter(|(name, _)| passes(name))
            .flat_map(|(_, ids)| ids.iter().cloned())
            .collect();
        let findings = file
            .with_status(Status::Failed)
            .filter_map(|case| Some((case, defects.get(&case.id)?)))
            .map(|(case, Defect { site, judge })| BugFinding {
                test: Some(case.id.clone()),
                file: Some(file.path.clone()),
                subject: self.file_of(&site.function),
                function: site.function.clone(),
                line: site.line,
                evidence: self.providers.redact(&site.evidence),
                message: self.message(case),
                judge: judge.clone(),
            })
            .collect();
        let language = Language::of(&file.path);
        let facts = language.map(|language| test_cases::facts(language, &file.text));
        let assertions = facts.map_or(0, |facts| facts.assertions);
        Ok(WrittenTests {
            file: Some(file.path.clone()),
            assertions: u32::try_from(assertions).unwrap_or(u32::MAX),
            functions: self.functions(file, &tests, tree).await?,
            shown: shown.into_iter().collect(),
            findings,
            tests,
            ..self.request.nothing_written()
        })
    }

    /// The functions that the tests execute; matched by name if they cannot be traced.
    async fn functions(
        &self,
        file: &DraftFile,
        tests: &[TestId],
        tree: &TreeId,
    ) -> Result<Vec<String>, EffectError> {
        let subject = &self.request.subject.file;
        let request = CandidateRunnerRequest {
            root: self.fx.worktree.root(),
            failing: &[],
            jobs: self.request.jobs,
        };
        let traces = match tests {
            [] => Vec::new(),
            some => self.fx.suite.open_candidate_runner(&request).await?.trace(some).await?,
        };
        let lines: Vec<u32> =
            traces.iter().filter_map(|trace| trace.lines.get(subject)).flatten().copied().collect();
        if !lines.is_empty() || tests.is_empty() {
            return Ok(entered(tree, subject, &lines, self.fx).await?);
        }
        let text = self.source();
        let language = Language::of(subject);
        let known = language.map(|language| outline::functions(language, text)).unwrap_or_default();
        let named = |name: &str| {
            let short = name.rsplit('.').next().unwrap_or(name);
            has_word(&file.text, short)
        };
        Ok(known.into_iter().map(|one| one.name).filter(|name| named(name)).collect())
    }
}
