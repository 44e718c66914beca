//! Reads the answers of a generator: refused, sent back, or a file that runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;

use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::domain::chain::FallbackTrigger;
use crate::domain::event::Event;
use crate::domain::proposal::EditSet;
use crate::domain::provider::ClientMode;
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::role::answer::{self, ToldEdit, ToldFile};
use crate::role::ask::{Reader, Reading};
use crate::role::prompt::{self, Part, Prompt, Role};
use crate::role::test_plan::run_specific;

use super::WriteRequest;
use super::desk::Desk;
use super::refuse::checked;
use super::runs::{self, Sheet, Track};
use super::told::TestFiles;

/// A file that was accepted, with what each of its tests claims to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The file and what its tests said.
    pub sheet: Sheet,
    /// Requirements by the name of a test.
    pub covers: BTreeMap<String, BTreeSet<String>>,
}

/// The scratch checkout that agents write into.
const AGENT: &str = "agent";

/// What an agent did to its checkout in the form in which others answer, so that both are looked
/// at by the same rules: new files are its answer, and what it did to others is refused by name.
/// Its last words may say what each test shows. One that only answered is taken at its word.
fn harvested(edits: EditSet, said: &str, task: &str) -> String {
    let mut told = answer::read::<TestFiles>(said, task).unwrap_or_else(|_| {
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let notes = first.chars().filter(|c| !c.is_control()).take(200).collect();
        TestFiles { notes, ..TestFiles::default() }
    });
    if !edits.files.is_empty() {
        (told.edits, told.new_files) = (Vec::new(), Vec::new());
    }
    for one in edits.files {
        let file = one.file.to_string();
        match (one.before, one.after) {
            (None, Some(content)) => {
                told.new_files.push(ToldFile { file, content, ..ToldFile::default() });
            }
            _ => told.edits.push(ToldEdit { file, ..ToldEdit::default() }),
        }
    }
    task.clone_into(&mut told.task_id);
    serde_json::to_string(&told).unwrap_or_default()
}

/// How sure an answer counts that does not say.
const UNSAID: f64 = 0.7;

/// Reads test files of one commission.
pub struct AuthorReader<'a> {
    /// What is asked for.
    pub commission: &'a WriteRequest<'a>,
    /// The repository.
    pub desk: &'a Desk,
    /// Where the file goes.
    pub place: crate::domain::id::RepoPath,
    /// What is shown.
    pub parts: Vec<Part>,
    /// Names the question.
    pub task: String,
    /// The word around foreign text.
    pub fence: &'a str,
    /// Everything.
    pub fx: &'a Effects<'a>,
    /// Why answers were refused so far.
    pub refused: Mutex<Vec<String>>,
}

impl AuthorReader<'_> {
    /// Why answers were refused, each with its author.
    pub fn refusals(&self) -> Vec<String> {
        self.refused.lock().map(|list| list.clone()).unwrap_or_default()
    }

    fn refuse(&self, model: &dyn Model, problems: Vec<String>) -> Reading<Draft> {
        if let Ok(mut refused) = self.refused.lock() {
            refused.push(format!("refused, by {}: {}", model.name(), problems.join("; ")));
        }
        self.fx.screen.show(&Event::Rejected { iteration: 0, reasons: problems.clone() });
        Reading::Again(problems)
    }

    /// The sources that the new file is laid on.
    pub fn track(&self) -> Track<'_> {
        Track {
            tree: self.commission.tree,
            known: self.commission.known,
            jobs: self.commission.jobs,
        }
    }
}

/// Why nothing is written `again`: some changes of the code can be seen by no test, some lines be
/// run by none, and a provider that says so is not asked for a file again.
fn declined(told: &TestFiles, again: bool) -> Option<String> {
    let notes = told.notes.trim();
    let nothing = told.new_files.is_empty() && told.edits.is_empty() && !notes.is_empty();
    (nothing && again).then(|| format!("it writes no test: {notes}"))
}

#[async_trait]
impl Reader<Draft> for AuthorReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("test-files", answer::form::<TestFiles>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = model.context_tokens().saturating_mul(3) / 4;
        let values = context! {
            task => self.task.as_str(),
            place => self.place.as_str(),
            file => self.commission.subject.file.as_str(),
            framework => self.commission.framework.framework.name(),
            command => run_specific(self.commission.framework, &self.place),
            survivors => !self.commission.survivors.is_empty(),
            unrun => !self.commission.unrun.is_empty(),
            agent => model.manner() == ClientMode::Agent,
        };
        match model.manner() {
            ClientMode::Answer => {
                prompt::build_about_tests(Role::Generator, &values, &self.parts, room, self.fence)
            }
            ClientMode::Agent => {
                prompt::build_tests_by_agent(&values, &self.parts, room, self.fence)
            }
        }
    }

    async fn checkout(&self, model: &dyn Model) -> Result<Option<PathBuf>, EffectError> {
        match model.manner() {
            ClientMode::Answer => Ok(None),
            ClientMode::Agent => {
                Ok(Some(self.fx.worktree.export(self.commission.tree, AGENT).await?))
            }
        }
    }

    async fn harvest(
        &self,
        model: &dyn Model,
        answer: &Answer,
    ) -> Result<Option<String>, EffectError> {
        if model.manner() == ClientMode::Answer {
            return Ok(None);
        }
        let edits = self.fx.worktree.collect(AGENT, self.commission.tree).await?;
        Ok(Some(harvested(edits, &answer.text, &self.task)))
    }

    async fn read(
        &self,
        model: &dyn Model,
        answer: &Answer,
    ) -> Result<Reading<Draft>, EffectError> {
        let sure = |told: &TestFiles| told.confidence_score.unwrap_or(UNSAID);
        let (told, confidence) = match answer::read_with(&answer.text, &self.task, sure) {
            Ok(read) => read,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        if let Some(why) = declined(&told, self.commission.round > 1) {
            return Ok(Reading::Useless(FallbackTrigger::General, why));
        }
        let text = match checked(&told, &self.place, &self.desk.texts) {
            Ok(text) => text,
            Err(problems) => return Ok(self.refuse(model, problems)),
        };
        let mut sheet = Sheet { place: self.place.clone(), text, ran: Vec::new() };
        match runs::run(&sheet, self.track(), self.fx).await {
            Ok(Ok(ran)) => sheet.ran = ran,
            Ok(Err(problem)) => return Ok(self.refuse(model, vec![problem])),
            Err(EffectError::Git(error)) => return Err(error.into()),
            Err(EffectError::Run(error)) => return Err(error.into()),
            Err(EffectError::Store(error)) => return Err(error.into()),
        }
        let mut covers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for one in told.covers {
            let ids = one.requirements.into_iter();
            let ids = ids.filter(|id| self.commission.ids.contains(id));
            covers.entry(one.test).or_default().extend(ids);
        }
        Ok(Reading::Good(Draft { sheet, covers }, confidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RepoPath;
    use crate::domain::proposal::FileEdit;

    #[test]
    fn what_an_agent_did_to_its_checkout_is_an_answer_like_any_other() {
        let edit = |file: &str, before: Option<&str>, after: Option<&str>| FileEdit {
            file: RepoPath::parse(file).unwrap(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let read = |edits: Vec<FileEdit>, said: &str| {
            let text = harvested(EditSet { files: edits }, said, "IMPL-001-1");
            answer::read::<TestFiles>(&text, "IMPL-001-1").unwrap()
        };
        let new = || edit("tests/test_a.py", None, Some("x"));
        let told = read(vec![new(), edit("a.py", Some("1"), Some("2"))], "I wrote it.\nBye.");
        assert_eq!(told.new_files[0].file, "tests/test_a.py");
        assert_eq!(told.edits[0].file, "a.py", "to be refused");
        assert_eq!(told.notes, "I wrote it.");
        let gone = read(vec![edit("a.py", Some("1"), None)], "");
        assert_eq!(gone.edits.len(), 1, "a file that is deleted is refused too");
        let covers = r#"Done. {"task_id": "IMPL-001-1", "covers": [{"test": "test_a", "requirements": ["R-001"]}], "new_files": [{"file": "b.py", "content": "y"}]}"#;
        let told = read(vec![new()], covers);
        assert_eq!(told.covers[0].requirements, ["R-001"]);
        assert_eq!(told.new_files.len(), 1, "what lies in the checkout is the answer");
        assert_eq!(
            read(Vec::new(), covers).new_files[0].file,
            "b.py",
            "its word, where it did nothing"
        );
    }

    #[test]
    fn nothing_is_written_in_later_rounds_only_and_only_with_a_reason() {
        let said = TestFiles { notes: "`x` is a text already".into(), ..TestFiles::default() };
        let with_file =
            TestFiles { new_files: vec![ToldFile::default()], notes: "n".into(), ..said.clone() };
        let table = [
            (&said, true, Some("it writes no test: `x` is a text already")),
            (&said, false, None),
            (&TestFiles::default(), true, None),
            (&with_file, true, None),
        ];
        for (told, again, expected) in table {
            assert_eq!(declined(told, again).as_deref(), expected, "{told:?}");
        }
    }
}
