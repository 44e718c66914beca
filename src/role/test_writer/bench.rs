//! A written file between its answer and what is kept of it: failing tests are judged, wrong ones
//! repaired once, and what is left is told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::code::language::Language;
use crate::code::{outline, test_cases};
use crate::domain::id::{TestId, TreeId};
use crate::domain::test::{Status, TestCase};
use crate::domain::test_plan::written_tests::{BugFinding, WrittenTests};
use crate::effect::{CandidateRunnerRequest, EffectError, Effects};
use crate::role::ask::{Answered, Reply};
use crate::role::characterise::entered;
use crate::role::prompt::{Part, Role};
use crate::role::provider_chain::ProviderChain;

use super::judge::{self, JudgeReader, Ruling, Wrong};
use super::reader::{AuthorReader, Draft};
use super::runs::{Sheet, plain};
use super::{WriteRequest, blank, desk};

/// Requirements that tests claim to show, by the names of the tests.
pub type Covers = BTreeMap<String, BTreeSet<String>>;
/// Failing tests that found a defect: where, and who says so.
pub type Rulings = BTreeMap<TestId, (Wrong, String)>;
/// The file, if anything is left of it, and what was given up.
pub type Judged = (Option<Sheet>, Covers, Rulings, Vec<String>);

/// One file of tests on its way from an answer to what is kept.
pub struct Bench<'a> {
    /// What is asked for.
    pub commission: &'a WriteRequest<'a>,
    /// Who read the answer.
    pub reader: &'a AuthorReader<'a>,
    /// Who can be asked.
    pub panel: &'a ProviderChain,
    /// Everything.
    pub fx: &'a Effects<'a>,
}

impl Bench<'_> {
    /// The file once its failing tests are judged: those that are wrong are repaired once or cut
    /// out, those that found a defect stay. The inner error is a limit of the session: without a
    /// judge a defect would be lost.
    pub async fn judged(
        &self,
        given: &Answered<Draft>,
    ) -> Result<Result<Judged, String>, EffectError> {
        let mut dropped = self.reader.refusals();
        let Draft { mut sheet, mut covers } = given.value.clone();
        let failing: Vec<TestCase> = sheet.that(Status::Failed).cloned().collect();
        if failing.is_empty() {
            return Ok(Ok((Some(sheet), covers, Rulings::new(), dropped)));
        }
        let (mut found, wrong) = match self.rulings(&sheet, &failing).await? {
            Ok(ruled) => ruled,
            Err(reason) => return Ok(Err(reason)),
        };
        if !wrong.is_empty() {
            if let Some(draft) = self.repaired(&sheet, &wrong).await? {
                sheet = draft.sheet;
                covers = draft.covers;
            }
            found.retain(|id, _| sheet.that(Status::Failed).any(|case| case.id == *id));
            let still: BTreeSet<TestId> = sheet
                .that(Status::Failed)
                .map(|case| case.id.clone())
                .filter(|id| !found.contains_key(id))
                .collect();
            for id in &still {
                let why = wrong.get(id).map_or("it fails, and nobody vouches for it", |one| one);
                dropped.push(format!("{id}: {why}"));
            }
            if !still.is_empty() && !sheet.cut(&still) {
                return Ok(Ok((None, covers, found, dropped)));
            }
        }
        Ok(Ok((Some(sheet), covers, found, dropped)))
    }

    /// Of failing tests those that found a defect, and why the others are wrong.
    async fn rulings(
        &self,
        sheet: &Sheet,
        failing: &[TestCase],
    ) -> Result<Result<(Rulings, BTreeMap<TestId, String>), String>, EffectError> {
        let (own, asked): (Vec<&TestCase>, Vec<&TestCase>) =
            failing.iter().partition(|case| judge::is_own_fault(case));
        let mut wrong: BTreeMap<TestId, String> = own
            .into_iter()
            .map(|case| (case.id.clone(), format!("the test is wrong: {}", self.message(case))))
            .collect();
        let mut found = Rulings::new();
        if asked.is_empty() {
            return Ok(Ok((found, wrong)));
        }
        let subject = &self.commission.subject.file;
        let text = self.reader.desk.texts.get(subject).map_or("", String::as_str);
        let task = format!("{}-verdict", self.commission.name);
        let reader = JudgeReader {
            task: task.clone(),
            subject,
            functions: Language::of(subject)
                .map(|language| outline::named_or_not(language, text))
                .unwrap_or_default(),
            lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
            failing: asked.iter().map(|case| case.id.clone()).collect(),
            parts: self.evidence(sheet, &asked, text),
            min_confidence: self.panel.min_confidence(),
            fence: self.panel.fence(),
        };
        self.fx.step("asking whether the code or the new test is wrong");
        let names = (self.commission.task, task.as_str());
        let reply = self.panel.ask(names, Role::Judge, &reader, self.fx).await?;
        let (mut rulings, judge) = match reply {
            Reply::Good(given) => (given.value, given.provider),
            Reply::OutOfBudget(reason) => return Ok(Err(reason)),
            Reply::Degraded(_) | Reply::Nobody => (BTreeMap::new(), String::new()),
        };
        for case in asked {
            match rulings.remove(&case.id) {
                Some(Ruling::Code(place)) => {
                    found.insert(case.id.clone(), (place, judge.clone()));
                }
                Some(Ruling::Test(why)) => {
                    wrong.insert(case.id.clone(), why);
                }
                None => {
                    let why = if judge::is_endless(case) {
                        "does-not-end: it was stopped, and nobody says that the code is to blame"
                    } else {
                        "nobody can say whether the code or the test is wrong"
                    };
                    wrong.insert(case.id.clone(), why.to_owned());
                }
            }
        }
        Ok(Ok((found, wrong)))
    }

    /// Parts of the judge's question.
    fn evidence(&self, sheet: &Sheet, failing: &[&TestCase], text: &str) -> Vec<Part> {
        let part = |title: String, text: String| Part { title, text, may_be_cut: true };
        let said: String =
            failing.iter().map(|case| format!("{}\n{}\n\n", case.id, self.said(case))).collect();
        let mut parts = vec![
            part("What the failing tests said".into(), said),
            part(format!("The source {}", self.commission.subject.file), text.to_owned()),
            part(format!("The new tests {}", sheet.place), sheet.text.clone()),
            part("Requirements".into(), desk::requirements(&self.commission.requirements)),
        ];
        parts.extend(self.reader.desk.documents(&self.commission.subject.file));
        parts
    }

    fn said(&self, case: &TestCase) -> String {
        let failure = case.failure.clone().unwrap_or_default();
        plain(&format!("{} {}\n{}", failure.class, failure.message, failure.stack), self.fx)
    }

    fn message(&self, case: &TestCase) -> String {
        self.said(case).lines().next().unwrap_or_default().chars().take(300).collect()
    }

    /// The file once more, without what is wrong with it; `None` when nobody gives a better one.
    async fn repaired(
        &self,
        sheet: &Sheet,
        wrong: &BTreeMap<TestId, String>,
    ) -> Result<Option<Draft>, EffectError> {
        let said: String = sheet
            .that(Status::Failed)
            .filter_map(|case| Some((case, wrong.get(&case.id)?)))
            .map(|(case, why)| format!("{}: {why}\n{}\n\n", case.id, self.said(case)))
            .collect();
        let part =
            |title: &str, text: String| Part { title: title.to_owned(), text, may_be_cut: false };
        let mut parts = vec![
            part("Your file of before; write it anew as a whole", sheet.text.clone()),
            part("Tests in it that are wrong; correct them or leave them out", said),
        ];
        parts.extend(self.reader.parts.clone());
        let task = format!("{}-repair", self.commission.name);
        let reader = AuthorReader {
            commission: self.commission,
            desk: self.reader.desk,
            place: self.reader.place.clone(),
            parts,
            task: task.clone(),
            fence: self.panel.fence(),
            fx: self.fx,
            refused: Mutex::default(),
        };
        let names = (self.commission.task, task.as_str());
        Ok(match self.panel.ask(names, Role::Generator, &reader, self.fx).await? {
            Reply::Good(given) | Reply::Degraded(given) => Some(given.value),
            Reply::Nobody | Reply::OutOfBudget(_) => None,
        })
    }

    /// What the settled file holds.
    pub async fn told(
        &self,
        sheet: &Sheet,
        covers: &Covers,
        rulings: &Rulings,
        tree: &TreeId,
    ) -> Result<WrittenTests, EffectError> {
        let subject = &self.commission.subject.file;
        let tests: Vec<TestId> = sheet.that(Status::Passed).map(|case| case.id.clone()).collect();
        let contributions = sheet.cases();
        let holding = |name: &str| {
            let piece = contributions.iter().find(|piece| piece.name == name);
            piece.is_some_and(|piece| tests.iter().any(|id| piece.runs_as(id.as_str())))
        };
        let shown: BTreeSet<String> = covers
            .iter()
            .filter(|(name, _)| holding(name))
            .flat_map(|(_, ids)| ids.iter().cloned())
            .collect();
        let findings = sheet
            .that(Status::Failed)
            .filter_map(|case| Some((case, rulings.get(&case.id)?)))
            .map(|(case, (place, judge))| BugFinding {
                test: case.id.clone(),
                file: sheet.place.clone(),
                subject: subject.clone(),
                function: place.function.clone(),
                line: place.line,
                evidence: self.panel.redact(&place.evidence),
                message: self.message(case),
                judge: judge.clone(),
            })
            .collect();
        let language = Language::of(&sheet.place);
        let facts = language.map(|language| test_cases::facts(language, &sheet.text));
        let assertions = facts.map_or(0, |facts| facts.assertions);
        Ok(WrittenTests {
            file: Some(sheet.place.clone()),
            assertions: u32::try_from(assertions).unwrap_or(u32::MAX),
            functions: self.functions(sheet, &tests, tree).await?,
            shown: shown.into_iter().collect(),
            findings,
            tests,
            ..blank(self.commission, Vec::new())
        })
    }

    /// Functions that the tests enter; by their names where nothing tells lines.
    async fn functions(
        &self,
        sheet: &Sheet,
        tests: &[TestId],
        tree: &TreeId,
    ) -> Result<Vec<String>, EffectError> {
        let subject = &self.commission.subject.file;
        let request = CandidateRunnerRequest {
            root: self.fx.worktree.root(),
            failing: &[],
            jobs: self.commission.jobs,
        };
        let traces = match tests {
            [] => Vec::new(),
            some => self.fx.suite.trial(&request).await?.trace(some).await?,
        };
        let lines: Vec<u32> =
            traces.iter().filter_map(|trace| trace.lines.get(subject)).flatten().copied().collect();
        if !lines.is_empty() || tests.is_empty() {
            return Ok(entered(tree, subject, &lines, self.fx).await?);
        }
        let text = self.reader.desk.texts.get(subject).map_or("", String::as_str);
        let language = Language::of(subject);
        let known = language.map(|language| outline::functions(language, text)).unwrap_or_default();
        let named = |name: &str| {
            let short = name.rsplit('.').next().unwrap_or(name);
            let mut words = sheet.text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.any(|word| word == short)
        };
        Ok(known.into_iter().map(|one| one.name).filter(|name| named(name)).collect())
    }
}
