//! Reads and writes the files of a test session, and loads what several phases need from them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::budget::Spending;
use crate::domain::id::SessionId;
use crate::domain::session::files::PIPELINE;
use crate::domain::test_plan::analysis::{RESULTS, TestAnalysis};
use crate::domain::test_plan::context::{CONTEXT, ContextPackage, TEST_CONTEXT};
use crate::domain::test_plan::generation::{GENERATION_FILE, Generation};
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::test_plan::plan_input::PlanInput;
use crate::domain::test_plan::task::{
    self, FIRST_TASK, REVIEW_TASK, TestPlan, TestTask, VALIDATION_TASK,
};
use crate::effect::{EffectError, Effects, StateFile, StoreError, read_as, read_or_forget};
use crate::role::stored_usage_log;

use super::error::Failure;

/// File that shows the progress of the session to other programs.
pub const PROGRESS: &str = ".process/progress.json";

/// File of the lines that the suite executed, for the files of the context package.
pub const RAN: &str = ".process/coverage-lines.json";

/// Reads a JSON file; `None` when it is missing or cannot be read as `F`.
pub async fn read<F: DeserializeOwned>(fx: &Effects<'_>, file: &str) -> Result<Option<F>, Failure> {
    Ok(read_or_forget(fx.store, file).await?)
}

/// Writes a JSON file.
pub async fn write<F: Serialize + Sync>(
    fx: &Effects<'_>,
    file: &str,
    value: &F,
) -> Result<(), Failure> {
    let value = serde_json::to_value(value).map_err(|error| Failure::serialise(&error))?;
    fx.store.write_json(file, &value).await?;
    Ok(())
}

/// A session whose tests are planned.
pub struct PlannedSession {
    /// Context package of phase 2.
    pub package: ContextPackage,
    /// Analysis and tasks of phases 3 and 4.
    pub plan: TestPlan,
}

/// Reads a session that planned tests; `None` for a session that only fixes, or when a file is
/// missing or broken.
pub async fn planned_session(fx: &Effects<'_>) -> Result<Option<PlannedSession>, Failure> {
    let Some(state) = read::<Pipeline>(fx, PIPELINE).await? else { return Ok(None) };
    let package = package(&state, fx).await?;
    let plan = test_plan(fx).await?;
    Ok(package.zip(plan).map(|(package, plan)| PlannedSession { package, plan }))
}

/// Reads the context package of this session; `None` when it is missing, broken, or belongs to
/// another session.
pub async fn package(
    state: &Pipeline,
    fx: &Effects<'_>,
) -> Result<Option<ContextPackage>, Failure> {
    let file = match state.entry {
        PlanInput::Session(_) => TEST_CONTEXT,
        PlanInput::Document(_) | PlanInput::Text(_) => CONTEXT,
    };
    let package: Option<ContextPackage> = read(fx, file).await?;
    Ok(package.filter(|package| package.metadata.session_id == state.session_id))
}

/// Reads the analysis and its tasks; `None` when phase 4 has not written all of them, or when one
/// cannot be read or carried out.
pub async fn test_plan(fx: &Effects<'_>) -> Result<Option<TestPlan>, Failure> {
    match stored_plan(fx).await {
        Err(EffectError::Store(StoreError::Corrupt { .. })) => Ok(None),
        plan => Ok(plan?.filter(|plan| task::contradictions(plan).is_empty())),
    }
}

/// Reads the plan that is about to be carried out, whose task files a person may have edited: what is
/// wrong in them is an error, and never planned again over the edit (specification.md 5.9).
pub async fn plan_to_carry_out(
    session: &SessionId,
    fx: &Effects<'_>,
) -> Result<Option<TestPlan>, Failure> {
    let wrong = |file: String, reason| Failure::Task { file, reason, session: session.clone() };
    let plan = match stored_plan(fx).await {
        Err(EffectError::Store(StoreError::Corrupt { path, expected, .. }))
            if path.parent().is_some_and(|folder| folder.ends_with(TASKS)) =>
        {
            return Err(wrong(path.display().to_string(), expected));
        }
        Err(EffectError::Store(StoreError::Corrupt { .. })) => return Ok(None),
        plan => plan?,
    };
    let problems = plan.as_ref().map(task::contradictions).unwrap_or_default();
    if problems.is_empty() {
        return Ok(plan);
    }
    Err(wrong(fx.store.folder().join(TASKS).display().to_string(), problems.join("; ")))
}

/// Folder of the task files.
const TASKS: &str = ".task";

async fn stored_plan(fx: &Effects<'_>) -> Result<Option<TestPlan>, EffectError> {
    let results = format!("{RESULTS}.json");
    let Some(analysis) = read_or_forget::<TestAnalysis>(fx.store, &results).await? else {
        return Ok(None);
    };
    let mut tasks: Vec<TestTask> = Vec::new();
    for (id, suffix) in
        [(FIRST_TASK, ""), (VALIDATION_TASK, "-validation"), (REVIEW_TASK, "-review")]
    {
        let Some(task) = read_as(fx.store, &format!("{TASKS}/{id}{suffix}.json")).await? else {
            return Ok(None);
        };
        tasks.push(task);
    }
    for number in 2..=task::MOST {
        match read_as(fx.store, &format!("{TASKS}/IMPL-{number:03}.json")).await? {
            Some(task) => tasks.push(task),
            None => break,
        }
    }
    let order = task::ordered(&tasks).unwrap_or_default();
    tasks.sort_by_key(|task| order.iter().position(|id| *id == task.id));
    Ok(Some(TestPlan { analysis, tasks }))
}

/// Reads what phase 5 has produced so far; `None` before its first step.
pub async fn generation(fx: &Effects<'_>) -> Result<Option<Generation>, Failure> {
    read(fx, GENERATION_FILE).await
}

/// The session's files for a commit, below `prefix`; none where its state does not travel.
pub async fn committed_files(
    travels: bool,
    prefix: &str,
    fx: &Effects<'_>,
) -> Result<Vec<StateFile>, Failure> {
    let files = if travels { fx.store.committed_files().await? } else { Vec::new() };
    let below = |(path, bytes)| StateFile { path: format!("{prefix}/{path}"), bytes };
    Ok(files.into_iter().map(below).collect())
}

/// What providers used in phases 3 to 5.
pub async fn spent(session: &SessionId, fx: &Effects<'_>) -> Result<Spending, Failure> {
    Ok(stored_usage_log(session, fx)
        .await?
        .map(|stored_usage_log| stored_usage_log.spent())
        .unwrap_or_default())
}
