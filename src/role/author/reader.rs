//! Reads the answers of a generator: refused, sent back, or a file that runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use async_trait::async_trait;
use minijinja::context;
use serde_json::Value;

use crate::domain::chain::Trigger;
use crate::domain::event::Event;
use crate::domain::mutation::Mutant;
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::role::answer;
use crate::role::ask::{Reader, Reading};
use crate::role::generation::run_specific;
use crate::role::prompt::{self, Part, Prompt, Role};

use super::Commission;
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

/// How sure an answer counts that does not say.
const UNSAID: f64 = 0.7;

/// Reads test files of one commission.
pub struct AuthorReader<'a> {
    /// What is asked for.
    pub commission: &'a Commission<'a>,
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

/// Why nothing is written about survivors: some changes of the code can be seen by no test, and a
/// provider that says so is not asked for a file again.
fn declined(told: &TestFiles, survivors: &[Mutant]) -> Option<String> {
    let notes = told.notes.trim();
    let nothing = told.new_files.is_empty() && told.edits.is_empty() && !notes.is_empty();
    (nothing && !survivors.is_empty()).then(|| format!("it writes no test: {notes}"))
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
            framework => self.commission.framework.framework.as_str(),
            command => run_specific(self.commission.framework, &self.place),
            survivors => !self.commission.survivors.is_empty(),
        };
        prompt::build_about_tests(Role::Generator, &values, &self.parts, room, self.fence)
    }

    async fn read(
        &self,
        model: &dyn Model,
        answer: &Answer,
    ) -> Result<Reading<Draft>, EffectError> {
        let sure = |told: &TestFiles| told.confidence_score.unwrap_or(UNSAID);
        let (told, confidence) = match answer::read_with(&answer.text, &self.task, sure) {
            Ok(read) => read,
            Err(why) => return Ok(Reading::Useless(Trigger::Unparseable, why)),
        };
        if let Some(why) = declined(&told, &self.commission.survivors) {
            return Ok(Reading::Useless(Trigger::General, why));
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
    use crate::role::answer::ToldFile;

    #[test]
    fn nothing_is_written_only_about_survivors_and_only_with_a_reason() {
        let survivor: Mutant = serde_json::from_value(serde_json::json!({
            "file": "a.py", "line": 3, "operator": "unwrap call",
            "before": "x = str(x)", "after": "x = x",
        }))
        .unwrap();
        let said = TestFiles { notes: "`x` is a text already".into(), ..TestFiles::default() };
        let with_file =
            TestFiles { new_files: vec![ToldFile::default()], notes: "n".into(), ..said.clone() };
        let table = [
            (&said, vec![survivor.clone()], Some("it writes no test: `x` is a text already")),
            (&said, Vec::new(), None),
            (&TestFiles::default(), vec![survivor.clone()], None),
            (&with_file, vec![survivor], None),
        ];
        for (told, survivors, expected) in table {
            assert_eq!(declined(told, &survivors).as_deref(), expected, "{told:?}");
        }
    }
}
