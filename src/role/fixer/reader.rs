//! Reads what a provider would change, and holds it against sources, guards and checks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::Value;

use crate::domain::chain::FallbackTrigger;
use crate::domain::event::Event;
use crate::domain::fix_loop::FixLoop;
use crate::domain::id::RepoPath;
use crate::domain::plan::FixPlan;
use crate::domain::proposal::EditSet;
use crate::domain::provider::ClientMode;
use crate::effect::{Answer, EffectError, Effects, Model};
use crate::repair;
use crate::role::answer::{self, Edits};
use crate::role::ask::{Reader, Reading};
use crate::role::context::{self, Context};
use crate::role::prompt::{self, Prompt, Role};

use super::Fixer;

/// Edits that fit the sources and pass the guards.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// What to change.
    pub edits: EditSet,
    /// Why, in one line.
    pub summary: String,
}

/// Reads edits of one iteration.
pub struct FixReader<'a> {
    /// Whose settings and guards apply.
    pub fixer: &'a Fixer,
    /// Where the loop stands.
    pub state: &'a FixLoop,
    /// What the question shows.
    pub context: &'a Context,
    /// What is asked for.
    pub plan: &'a FixPlan,
    /// Sources and the suite.
    pub fx: &'a Effects<'a>,
}

impl FixReader<'_> {
    /// Edits of an answer, or what is wrong with them.
    async fn edits(&self, told: &Edits) -> Result<Result<EditSet, Vec<String>>, EffectError> {
        let mut texts: BTreeMap<RepoPath, Option<String>> = BTreeMap::new();
        let edited = told.edits.iter().map(|edit| &edit.file);
        for name in edited.chain(told.new_files.iter().map(|file| &file.file)).take(200) {
            if let Ok(file) = RepoPath::parse(name.trim_start_matches("./")) {
                let bytes = self.fx.worktree.read(&self.state.accepted_tree, &file).await?;
                texts.insert(file, bytes.and_then(|bytes| String::from_utf8(bytes).ok()));
            }
        }
        Ok(answer::edit_set(told, &|file| texts.get(file).cloned().flatten()))
    }

    /// What the project's own check says against the edits and did not say before.
    async fn checked(&self, edits: &EditSet) -> Result<Option<String>, EffectError> {
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

    async fn weigh(
        &self,
        edits: EditSet,
        summary: String,
        confidence: f64,
    ) -> Result<Reading<Told>, EffectError> {
        let mut problems = self.fixer.refusals(&edits, self.state, self.fx).await?;
        if self.state.disproved.contains(&repair::fingerprint(&edits)) {
            problems.push("this very change was tried before and did not help".into());
        }
        if problems.is_empty() {
            problems.extend(self.checked(&edits).await?);
        }
        if problems.is_empty() {
            return Ok(Reading::Good(Told { edits, summary }, confidence));
        }
        let number = self.state.current_iteration;
        self.fx.screen.show(&Event::Rejected { iteration: number, reasons: problems.clone() });
        Ok(Reading::Again(problems))
    }
}

#[async_trait]
impl Reader<Told> for FixReader<'_> {
    fn form(&self) -> Option<(&'static str, Value)> {
        Some(("edits", answer::form::<Edits>()))
    }

    fn prompt(&self, model: &dyn Model) -> Prompt {
        let room = model.context_tokens().saturating_mul(3) / 4;
        let parts = self.context.for_fixer(self.state, self.plan);
        let subject = context::subject(self.state);
        let fence = self.fixer.asker.fence();
        match model.manner() {
            ClientMode::Answer => prompt::build(Role::Fixer, &subject, &parts, room, fence),
            ClientMode::Agent => prompt::build_for_agent(&subject, &parts, room, fence),
        }
    }

    async fn read(&self, model: &dyn Model, answer: &Answer) -> Result<Reading<Told>, EffectError> {
        if model.manner() == ClientMode::Agent {
            let edits = self.fx.worktree.collect(AGENT, &self.state.accepted_tree).await?;
            if edits.files.is_empty() {
                return Ok(Reading::Useless(
                    FallbackTrigger::Unparseable,
                    "it changed nothing".into(),
                ));
            }
            let summary = line(&answer.text, "an edit made in a checkout");
            return self.weigh(edits, summary, self.plan.confidence).await;
        }
        let task = context::subject(self.state).task;
        let sure = |told: &Edits| told.confidence_score.unwrap_or(self.plan.confidence);
        let (told, confidence) = match answer::read_with(&answer.text, &task, sure) {
            Ok(read) => read,
            Err(why) => return Ok(Reading::Useless(FallbackTrigger::Unparseable, why)),
        };
        match self.edits(&told).await? {
            Err(problems) => Ok(Reading::Again(problems)),
            Ok(edits) => {
                let reason = told.edits.iter().map(|edit| edit.reason.as_str());
                let reason = reason.chain([told.notes.as_str(), self.plan.approach.as_str()]);
                let first = reason.into_iter().find(|text| !text.trim().is_empty());
                let summary = line(first.unwrap_or_default(), "an edit without a reason");
                self.weigh(edits, summary, confidence).await
            }
        }
    }

    async fn checkout(&self, model: &dyn Model) -> Result<Option<PathBuf>, EffectError> {
        match model.manner() {
            ClientMode::Answer => Ok(None),
            ClientMode::Agent => {
                Ok(Some(self.fx.worktree.export(&self.state.accepted_tree, AGENT).await?))
            }
        }
    }
}

/// The scratch checkout that agents edit.
const AGENT: &str = "agent";

/// The first line of a foreign text, bounded.
fn line(text: &str, otherwise: &str) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or(otherwise);
    first.chars().filter(|c| !c.is_control()).take(200).collect()
}
