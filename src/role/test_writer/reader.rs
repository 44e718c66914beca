//! [`GenerateReader`]: asks a generator for a test file, and vets and runs the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;

use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::domain::chain::FallbackTrigger;
use crate::domain::event::Event;
use crate::domain::id::RepoPath;
use crate::domain::proposal::EditSet;
use crate::domain::provider::ClientMode;
use crate::domain::text::{first_line, one_line};
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::role::answer;
use crate::role::ask::{ProviderChain, Reader, Reading};
use crate::role::code_answer::{self, Unreadable};
use crate::role::prompt::{self, Prompt, PromptPart, Role};
use crate::role::responses::{ReportedEdit, ReportedFile};

use super::crossing::find_one_sided;
use super::refusals::accepted_text;
use super::request::WriteRequest;
use super::responses::GenerateResponse;
use super::run_file::{DraftFile, FileRun, RunContext, run_file};
use super::source_index::SourceIndex;

/// An accepted test file, with the requirements that its tests claim to cover.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub file: DraftFile,
    pub covers: BTreeMap<String, BTreeSet<String>>,
}

/// The name of the scratch checkout in which agents work.
const AGENT: &str = "agent";

/// Converts an agent's edits to the answer format of other models, so that the same rules apply:
/// new files are the answer, and changes of existing files are refused. Its text may state what
/// each test covers. If there are no edits, only the text counts.
fn edits_from_checkout(edits: EditSet, text: &str, task: &str) -> String {
    let mut response = code_answer::parse::<GenerateResponse>(text, task).unwrap_or_else(|_| {
        let notes = one_line(first_line(text), 200);
        GenerateResponse { notes, ..GenerateResponse::default() }
    });
    if !edits.files.is_empty() {
        (response.edits, response.new_files) = (Vec::new(), Vec::new());
    }
    for one in edits.files {
        let file = one.file.to_string();
        match (one.before, one.after) {
            (None, Some(content)) => {
                response.new_files.push(ReportedFile { file, content, ..ReportedFile::default() });
            }
            _ => response.edits.push(ReportedEdit { file, ..ReportedEdit::default() }),
        }
    }
    task.clone_into(&mut response.task_id);
    serde_json::to_string(&response).unwrap_or_default()
}

/// The assumed confidence of an answer that does not state one.
const DEFAULT_CONFIDENCE: f64 = 0.7;

/// The [`Reader`] for the test file of one request.
pub struct GenerateReader<'a> {
    request: &'a WriteRequest<'a>,
    pub sources: &'a SourceIndex,
    path: RepoPath,
    pub parts: Vec<PromptPart>,
    task: String,
    providers: &'a ProviderChain,
    fx: &'a Effects<'a>,
    refused: Mutex<Vec<String>>,
}

impl<'a> GenerateReader<'a> {
    /// Creates a reader that has not refused any answer yet.
    pub fn new(
        request: &'a WriteRequest<'a>,
        sources: &'a SourceIndex,
        path: RepoPath,
        parts: Vec<PromptPart>,
        task: String,
        providers: &'a ProviderChain,
        fx: &'a Effects<'a>,
    ) -> Self {
        Self { request, sources, path, parts, task, providers, fx, refused: Mutex::default() }
    }

    /// Creates a reader for another question about the same file.
    pub fn with_question(&self, task: String, parts: Vec<PromptPart>) -> Self {
        let (request, sources, path) = (self.request, self.sources, self.path.clone());
        Self::new(request, sources, path, parts, task, self.providers, self.fx)
    }

    /// Why answers were refused, each with the name of the provider.
    pub fn refusals(&self) -> Vec<String> {
        self.refused.lock().map(|list| list.clone()).unwrap_or_default()
    }

    fn refuse(&self, model: &dyn Model, problems: Vec<String>) -> Reading<Draft> {
        if let Ok(mut refused) = self.refused.lock() {
            refused.push(format!("refused, by {}: {}", model.name(), problems.join("; ")));
        }
        self.fx.screen.show(&Event::Rejected { iteration: 0, reasons: problems.clone() });
        Reading::SendBack(problems)
    }

    /// Removes tests of one side of the boundary, or says why none is left or can be.
    async fn drop_one_sided(
        &self,
        file: &mut DraftFile,
    ) -> Result<Result<(), String>, EffectError> {
        let Some(crossing) = self.request.crossing else { return Ok(Ok(())) };
        let from = &self.request.subject.file;
        let found = find_one_sided(file, (from, crossing), self.run_context(), self.fx).await?;
        let gone = match found {
            Ok(gone) => gone,
            Err(reason) => return Ok(Err(format!("one-sided: {reason}"))),
        };
        let reason = format!(
            "one-sided: it is not shown to run the call of {from} and code of {}, or passes without that call",
            crossing.to
        );
        if gone.len() == file.results.len() || !gone.is_empty() && !file.cut(&gone) {
            return Ok(Err(reason));
        }
        if let Ok(mut refused) = self.refused.lock() {
            refused.extend(gone.iter().map(|test| format!("{test}: {reason}")));
        }
        Ok(Ok(()))
    }

    /// The environment in which the new file is run.
    pub fn run_context(&self) -> RunContext<'_> {
        let WriteRequest { tree, known, jobs, .. } = *self.request;
        RunContext { tree, known, jobs, hash_seed: 0 }
    }
}

/// Why a provider writes no test in a later round, which is a valid answer then: some mutants
/// cannot be detected, and some lines cannot be executed.
fn reason_for_no_test(response: &GenerateResponse, is_later_round: bool) -> Option<String> {
    let notes = response.notes.trim();
    let is_empty = response.new_files.is_empty() && response.edits.is_empty() && !notes.is_empty();
    (is_empty && is_later_round).then(|| format!("it writes no test: {notes}"))
}

#[async_trait]
impl Reader<Draft> for GenerateReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        None
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = prompt::room(model, Role::Generator, None);
        let values = context! {
            task => self.task.as_str(),
            place => self.path.as_str(),
            file => self.request.subject.file.as_str(),
            framework => self.request.framework.framework.name(),
            command => self.request.framework.run_file(&self.path),
            survivors => !self.request.survivors.is_empty(),
            uncovered_lines => !self.request.uncovered_lines.is_empty(),
            called => self.request.crossing.map_or("", |crossing| crossing.to.as_str()),
            agent => model.mode() == ClientMode::Agent,
        };
        let fence = self.providers.fence();
        match model.mode() {
            ClientMode::Answer => {
                prompt::build_about_tests(Role::Generator, &values, &self.parts, room, fence)
            }
            ClientMode::Agent => prompt::build_tests_by_agent(&values, &self.parts, room, fence),
        }
    }

    async fn checkout(&self, model: &dyn Model) -> Result<Option<PathBuf>, EffectError> {
        match model.mode() {
            ClientMode::Answer => Ok(None),
            ClientMode::Agent => {
                Ok(Some(self.fx.worktree.export_for_agent(self.request.tree, AGENT).await?))
            }
        }
    }

    async fn collect_edits(
        &self,
        model: &dyn Model,
        answer: &Answer,
    ) -> Result<Option<String>, EffectError> {
        if model.mode() == ClientMode::Answer {
            return Ok(None);
        }
        let edits = self.fx.worktree.collect(AGENT, self.request.tree).await?;
        Ok(Some(edits_from_checkout(edits, &answer.text, &self.task)))
    }

    async fn read(
        &self,
        model: &dyn Model,
        answer: &Answer,
    ) -> Result<Reading<Draft>, EffectError> {
        let response: GenerateResponse = match code_answer::parse(&answer.text, &self.task) {
            Ok(response) => response,
            Err(Unreadable::Code(why)) => return Ok(self.refuse(model, vec![why])),
            Err(Unreadable::Nothing(why)) => {
                return Ok(Reading::Useless(FallbackTrigger::Unparseable, why));
            }
        };
        let confidence = response.confidence_score.unwrap_or(DEFAULT_CONFIDENCE);
        if let Err(why) = answer::check_confidence(confidence) {
            return Ok(Reading::Useless(FallbackTrigger::Unparseable, why));
        }
        if let Some(why) = reason_for_no_test(&response, self.request.round > 1) {
            return Ok(Reading::Useless(FallbackTrigger::General, why));
        }
        let framework = self.request.framework.framework;
        let text = match accepted_text(&response, &self.path, &self.sources.texts, framework) {
            Ok(text) => text,
            Err(problems) => return Ok(self.refuse(model, problems)),
        };
        let mut file = DraftFile { path: self.path.clone(), text, results: Vec::new() };
        match run_file(&file, self.run_context(), self.fx).await? {
            FileRun::Results(results) => file.results = results,
            FileRun::Refused(problem) => return Ok(self.refuse(model, vec![problem])),
        }
        if let Err(problem) = self.drop_one_sided(&mut file).await? {
            return Ok(self.refuse(model, vec![problem]));
        }
        let mut covers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for one in response.covers {
            let ids = one.requirements.into_iter();
            let ids = ids.filter(|id| self.request.ids.contains(id));
            covers.entry(one.test).or_default().extend(ids);
        }
        Ok(Reading::Good(Draft { file, covers }, Some(confidence)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::proposal::FileEdit;

    #[test]
    fn what_an_agent_did_to_its_checkout_is_an_answer_like_any_other() {
        let edit = |file: &str, before: Option<&str>, after: Option<&str>| FileEdit {
            file: RepoPath::parse(file).unwrap(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let read = |edits: Vec<FileEdit>, text: &str| {
            let text = edits_from_checkout(EditSet { files: edits }, text, "IMPL-001-1");
            answer::parse::<GenerateResponse>(&text, "IMPL-001-1").unwrap()
        };
        let new = || edit("tests/test_a.py", None, Some("x"));
        let response = read(vec![new(), edit("a.py", Some("1"), Some("2"))], "I wrote it.\nBye.");
        assert_eq!(response.new_files[0].file, "tests/test_a.py");
        assert_eq!(response.edits[0].file, "a.py", "to be refused");
        assert_eq!(response.notes, "I wrote it.");
        let gone = read(vec![edit("a.py", Some("1"), None)], "");
        assert_eq!(gone.edits.len(), 1, "a file that is deleted is refused too");
        let covers = r#"Done. {"task_id": "IMPL-001-1", "covers": [{"test": "test_a", "requirements": ["R-001"]}], "new_files": [{"file": "b.py", "content": "y"}]}"#;
        let response = read(vec![new()], covers);
        assert_eq!(response.covers[0].requirements, ["R-001"]);
        assert_eq!(response.new_files.len(), 1, "what lies in the checkout is the answer");
        assert_eq!(
            read(Vec::new(), covers).new_files[0].file,
            "b.py",
            "its word, where it did nothing"
        );
    }

    #[test]
    fn nothing_is_written_in_later_rounds_only_and_only_with_a_reason() {
        let declined = GenerateResponse {
            notes: "`x` is a text already".into(),
            ..GenerateResponse::default()
        };
        let with_file = GenerateResponse {
            new_files: vec![ReportedFile::default()],
            notes: "n".into(),
            ..declined.clone()
        };
        let table = [
            (&declined, true, Some("it writes no test: `x` is a text already")),
            (&declined, false, None),
            (&GenerateResponse::default(), true, None),
            (&with_file, true, None),
        ];
        for (response, is_later_round, expected) in table {
            let reason = reason_for_no_test(response, is_later_round);
            assert_eq!(reason.as_deref(), expected, "{response:?}");
        }
    }
}
