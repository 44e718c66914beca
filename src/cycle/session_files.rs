//! Reads and writes the files of a test session, and loads what several phases need from them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::budget::Spending;
use crate::domain::id::SessionId;
use crate::domain::test_plan::generation::{GENERATION_FILE, Generation};
use crate::domain::test_plan::pipeline::Pipeline;
use crate::domain::test_plan::plan::{RESULTS, TestPlan};
use crate::domain::test_plan::task::TaskKind;
use crate::effect::{EffectError, Effects, StateFile, StoreError, read_as, read_or_forget};
use crate::role::stored_usage_log;

use super::error::Failure;

/// File of the lines that the suite executed, for the files of the plan.
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

/// Reads the plan of a session; `None` for one that only fixes, or a missing or broken file.
pub async fn planned_session(fx: &Effects<'_>) -> Result<Option<TestPlan>, Failure> {
    match stored_plan(fx).await {
        Err(EffectError::Store(StoreError::Corrupt { .. })) => Ok(None),
        plan => Ok(plan?.filter(|plan| plan.find_contradictions().is_empty())),
    }
}

/// Reads an earlier phase's plan; `None` when missing, broken, or of another session.
pub async fn unfinished_plan(
    state: &Pipeline,
    file: &str,
    fx: &Effects<'_>,
) -> Result<Option<TestPlan>, Failure> {
    let plan: Option<TestPlan> = read(fx, file).await?;
    Ok(plan.filter(|plan| plan.session_id == state.session_id))
}

/// Reads the plan to carry out, with a person's edits of its tasks (specification.md 5.9).
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
    let problems = plan.as_ref().map(TestPlan::find_contradictions).unwrap_or_default();
    if problems.is_empty() {
        return Ok(plan);
    }
    Err(wrong(fx.store.folder().join(TASKS).display().to_string(), problems.join("; ")))
}

const TASKS: &str = ".task";

async fn stored_plan(fx: &Effects<'_>) -> Result<Option<TestPlan>, EffectError> {
    let results = format!("{RESULTS}.json");
    let Some(mut plan) = read_or_forget::<TestPlan>(fx.store, &results).await? else {
        return Ok(None);
    };
    for kind in TaskKind::ALL {
        let Some(task) = read_as(fx.store, kind.file()).await? else { return Ok(None) };
        plan.tasks.push(task);
    }
    Ok(Some(plan))
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
