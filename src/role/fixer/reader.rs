//! [`EditsReader`]: parses the edits of a provider and vets them with guards and project checks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::Value;

use crate::code::{edit_blocks, test_paths};
use crate::domain::chain::FallbackTrigger;
use crate::domain::event::Event;
use crate::domain::fix_loop::{FailedChange, FixLoop};
use crate::domain::fix_plan::FixPlan;
use crate::domain::id::RepoPath;
use crate::domain::plan_scope::PlanScope;
use crate::domain::proposal::EditSet;
use crate::domain::provider::{ClientMode, EMBEDDED};
use crate::domain::source_text;
use crate::domain::test::TestCase;
use crate::domain::text::{first_line, one_line};
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::repair;
use crate::role::answer;
use crate::role::ask::{Reader, Reading};
use crate::role::code_answer::{self, Unreadable};
use crate::role::excerpt;
use crate::role::new_files;
use crate::role::prompt::{self, Prompt, Role};
use crate::role::prompt_context::{self, Context};
use crate::role::responses::{self, EditsResponse, ReportedEdit};

use super::Fixer;
use crate::role::test_files::TestFiles;

/// Edits that can be applied to the sources and pass the guards.
#[derive(Clone, Debug, PartialEq)]
pub struct VettedEdits {
    pub edits: EditSet,
    pub summary: String,
}

/// The [`Reader`] for the edits of one iteration.
pub struct EditsReader<'a> {
    /// The fixer whose settings and guards are used.
    pub fixer: &'a Fixer,
    pub state: &'a FixLoop,
    pub context: &'a Context,
    pub plan: &'a FixPlan,
    pub tests: TestFiles,
    /// Why the change that came with the plan was refused; empty if it was not, or there was none.
    pub problems: Vec<String>,
    pub fx: &'a Effects<'a>,
}

impl EditsReader<'_> {
    /// The current texts of the files in an answer; `None` for one that is missing or no text.
    async fn texts(
        &self,
        response: &EditsResponse,
    ) -> Result<BTreeMap<RepoPath, Option<String>>, EffectError> {
        let mut texts = BTreeMap::new();
        let edited = response.edits.iter().map(|edit| &edit.file);
        for name in edited.chain(response.new_files.iter().map(|file| &file.file)).take(200) {
            if let Ok(file) = RepoPath::parse(name.trim_start_matches("./")) {
                let bytes = self.fx.worktree.read(&self.state.accepted_tree, &file).await?;
                let text = bytes.and_then(|bytes| source_text::decode(&file, bytes));
                texts.insert(file, text);
            }
        }
        Ok(texts)
    }

    /// The error that the project's check command reports only with the edits, if any.
    async fn new_complaint(&self, edits: &EditSet) -> Result<Option<String>, EffectError> {
        let files: Vec<RepoPath> = edits.files.iter().map(|edit| edit.file.clone()).collect();
        let (worktree, suite) = (self.fx.worktree, self.fx.suite);
        let tree = worktree.graft(&self.state.accepted_tree, edits).await?;
        worktree.checkout(&tree).await?;
        let after = suite.check(worktree.root(), &files).await;
        worktree.checkout(&self.state.accepted_tree).await?;
        if after.is_none() || suite.check(worktree.root(), &files).await.is_some() {
            return Ok(None);
        }
        Ok(after)
    }

    /// The files that an answer may touch. The plan of an analysis binds models that answer in text:
    /// they were shown its places, and may answer that it is wrong. Fault localisation only ranks
    /// suspects, and an agent reads the whole checkout and finds the places itself.
    fn scope(&self, mode: ClientMode) -> PlanScope<'_> {
        let is_bound = mode == ClientMode::Answer && self.plan.author != EMBEDDED;
        let ledger = &self.state.ledger;
        let planned = self.plan.root_causes.iter().flat_map(|cause| &cause.tests);
        let planned = planned.chain(&self.plan.affected_tests);
        let cases = ledger.failing_cases().chain(planned.filter_map(|id| ledger.case(id)));
        let tests = cases.flat_map(test_files).cloned();
        let others = tests.chain(self.plan.files.iter().cloned()).collect();
        let root = self.fx.worktree.root().display().to_string();
        let said = ledger.failing_cases().filter_map(|case| case.failure.as_ref());
        let said: String = said
            .map(|failure| {
                let stack = excerpt::frames_inside(&failure.stack, &root);
                format!("{}\n{stack}\n", failure.message)
            })
            .collect();
        // The folders of this machine have names too.
        let mut failures = excerpt::without_machine_paths(&said, &root);
        let failing = ledger.failing_cases().flat_map(test_files);
        let sources: BTreeSet<&str> = failing.filter_map(|file| self.context.text(file)).collect();
        failures.extend(sources);
        let points = if is_bound { self.plan.modification_points.as_slice() } else { &[] };
        PlanScope { points, others, failures }
    }

    /// Checks edits against the guards, the plan, earlier attempts and the project's check command.
    async fn vet(
        &self,
        (edits, mode): (EditSet, ClientMode),
        summary: String,
        confidence: Option<f64>,
    ) -> Result<Reading<VettedEdits>, EffectError> {
        let mut problems = self.fixer.refusals(&edits, &self.tests, self.state, self.fx).await?;
        let outside = self.scope(mode).violations(&edits, &new_files::is_needed);
        problems.extend(outside.iter().map(ToString::to_string));
        if self.state.disproved.contains(&repair::fingerprint(&edits)) {
            problems.push("this very change was tried before and did not help".into());
        }
        if problems.is_empty() {
            problems.extend(self.new_complaint(&edits).await?);
        }
        if problems.is_empty() {
            return Ok(Reading::Good(VettedEdits { edits, summary }, confidence));
        }
        let number = self.state.current_iteration;
        self.fx.screen.show(&Event::Rejected { iteration: number, reasons: problems.clone() });
        Ok(Reading::SendBack(problems))
    }
}

#[async_trait]
impl Reader<VettedEdits> for EditsReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        None
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = prompt::room(model, Role::Fixer, self.state.selected_strategy);
        let parts = self.context.for_fixer(self.state, self.plan, &self.problems, room);
        let subject = prompt_context::subject(self.state);
        let fence = self.fixer.asker.fence();
        match model.mode() {
            ClientMode::Answer => prompt::build(Role::Fixer, &subject, &parts, room, fence),
            ClientMode::Agent => prompt::build_for_agent(&subject, &parts, room, fence),
        }
    }

    async fn read(
        &self,
        model: &dyn Model,
        answer: &Answer,
    ) -> Result<Reading<VettedEdits>, EffectError> {
        if model.mode() == ClientMode::Agent {
            let edits = self.fx.worktree.collect(AGENT, &self.state.accepted_tree).await?;
            if edits.files.is_empty() {
                return Ok(Reading::Useless(
                    FallbackTrigger::Unparseable,
                    "it changed nothing".into(),
                ));
            }
            let summary = line(&answer.text, "an edit made in a checkout");
            // An agent states no confidence: the tests judge its edits.
            return self.vet((edits, ClientMode::Agent), summary, None).await;
        }
        let task = prompt_context::subject(self.state).task;
        let response: EditsResponse = match code_answer::parse(&answer.text, &task) {
            Ok(response) => response,
            Err(Unreadable::Code(why)) => return Ok(Reading::SendBack(vec![why])),
            Err(Unreadable::Nothing(why)) => {
                return Ok(Reading::Useless(FallbackTrigger::Unparseable, why));
            }
        };
        let confidence = response.confidence_score.unwrap_or(self.plan.confidence);
        if let Err(why) = answer::check_confidence(confidence) {
            return Ok(Reading::Useless(FallbackTrigger::Unparseable, why));
        }
        if let Some(why) = response.contradiction() {
            return Ok(Reading::Useless(FallbackTrigger::PlanIsWrong, one_line(why, 500)));
        }
        self.assess(&response, confidence).await
    }

    async fn checkout(&self, model: &dyn Model) -> Result<Option<PathBuf>, EffectError> {
        match model.mode() {
            ClientMode::Answer => Ok(None),
            ClientMode::Agent => {
                Ok(Some(self.fx.worktree.export_for_agent(&self.state.accepted_tree, AGENT).await?))
            }
        }
    }

    /// The next checkout of an agent begins without its change, so that is shown with its words.
    async fn refused_text(
        &self,
        model: &dyn Model,
        answer: &Answer,
    ) -> Result<String, EffectError> {
        let text = answer.text.clone();
        if model.mode() == ClientMode::Answer {
            return Ok(text);
        }
        let edits = self.fx.worktree.collect(AGENT, &self.state.accepted_tree).await?;
        let change = FailedChange::of(&edits, None, &self.state.ledger, false);
        let blocks: String = change.edits.iter().map(edit_blocks::block).collect();
        Ok(format!("{text}\n\nYour change, which is not in the folder any more:\n\n{blocks}"))
    }
}

impl EditsReader<'_> {
    /// The change that came with the plan, vetted like any other.
    pub async fn planned(&self) -> Result<Reading<VettedEdits>, EffectError> {
        let edits = self.plan.edits.iter().map(|one| ReportedEdit {
            file: one.file.clone(),
            search: one.search.clone(),
            replace: one.replace.clone(),
            reason: self.plan.approach.clone(),
        });
        let response = EditsResponse { edits: edits.collect(), ..EditsResponse::default() };
        self.assess(&response, self.plan.confidence).await
    }

    /// Applies edits to the sources and vets the result.
    async fn assess(
        &self,
        response: &EditsResponse,
        confidence: f64,
    ) -> Result<Reading<VettedEdits>, EffectError> {
        let texts = self.texts(response).await?;
        match responses::edit_set(response, &|file| texts.get(file).cloned().flatten()) {
            Err(problems) => Ok(Reading::SendBack(problems)),
            Ok(edits) => {
                let reasons = response.edits.iter().map(|edit| edit.reason.as_str());
                let mut reasons =
                    reasons.chain([response.notes.as_str(), self.plan.approach.as_str()]);
                let first = reasons.find(|text| !text.trim().is_empty());
                let summary = line(first.unwrap_or_default(), "an edit without a reason");
                // The engine's own estimate says nothing about the edits of a model.
                let is_stated = response.confidence_score.is_some() || self.plan.author != EMBEDDED;
                let stated = is_stated.then_some(confidence);
                self.vet((edits, ClientMode::Answer), summary, stated).await
            }
        }
    }
}

/// The files of a test. Some tools name none, and then the frames of a failure show them.
fn test_files(case: &TestCase) -> impl Iterator<Item = &RepoPath> {
    let frames = case.failure.iter().flat_map(|failure| &failure.frames);
    let frames = frames.map(|frame| &frame.file).filter(|file| test_paths::is_test(file));
    case.file.iter().chain(frames.filter(|_| case.file.is_none()))
}

/// The name of the scratch checkout in which agents work.
const AGENT: &str = "agent";

/// The first non-blank line of an untrusted text, truncated and without control characters.
fn line(text: &str, otherwise: &str) -> String {
    let first = first_line(text);
    one_line(if first.is_empty() { otherwise } else { first }, 200)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::test::{FailureText, Frame, Scope, Status};

    #[test]
    fn frames_show_the_files_of_a_test_whose_tool_names_none() {
        let file = |path: &str| RepoPath::parse(path).unwrap();
        let frame = |path: &str| Frame { file: file(path), line: 3, function: String::new() };
        let table = [
            (None, vec!["cart/cart.go", "cart/cart_test.go"], vec!["cart/cart_test.go"]),
            (
                None,
                vec!["src/test/java/CartTest.java", "src/main/java/Cart.java"],
                vec!["src/test/java/CartTest.java"],
            ),
            (None, vec!["tests/cart.rs"], vec!["tests/cart.rs"]),
            (None, vec!["src/lib.rs"], vec![]),
            (Some("test_a.py"), vec!["tests/helper.py"], vec!["test_a.py"]),
        ];
        for (own, frames, expected) in table {
            let frames = frames.into_iter().map(frame).collect();
            let mut case = crate::domain::latest_results::tests::results(
                Scope::Full,
                &[("t", Status::Failed)],
            )
            .cases
            .remove(0);
            case.file = own.map(file);
            case.failure = Some(FailureText { frames, ..FailureText::default() });
            let found: Vec<&str> = test_files(&case).map(RepoPath::as_str).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_summary_is_the_first_line_without_control_characters() {
        let table = [
            ("\n  \nfixes it\nmore", "fixes it"),
            ("", "nothing said"),
            ("bell \u{7}here", "bell here"),
        ];
        for (text, expected) in table {
            assert_eq!(line(text, "nothing said"), expected);
        }
        assert_eq!(line(&"x".repeat(900), "").len(), 200);
    }
}
