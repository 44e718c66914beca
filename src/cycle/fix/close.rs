//! Closes a run of the fix loop: computes its outcome, writes the report, updates the status.

use std::path::Path;

use crate::domain::chain::spent_by;
use crate::domain::event::{Ending, Outcome, WrittenWork};
use crate::domain::fix_loop::{FixLoop, FixStep, SessionLocation, Stopped};
use crate::domain::session;
use crate::domain::session::files::ALL_PATCH;
use crate::effect::Store;
use crate::report::handover;
use crate::report::markdown_page::report;
use crate::report::view::View;
use crate::role::{UncountedCalls, find_uncounted};

use crate::cycle::error::Failure;

use super::perform::Performer;

/// Computes the outcome of a run and writes its report. `stopped` says why a run without a verdict
/// ended; `options` are those of its command line, `earlier` says how earlier sessions led it, `written` what a
/// session of tests wrote; `archive` is the future folder of a session that met its gate.
pub async fn close(
    state: &FixLoop,
    performer: &Performer<'_>,
    onto: Option<String>,
    stopped: Stopped,
    (options, earlier, written): (Vec<String>, Vec<String>, Option<WrittenWork>),
    archive: &Path,
) -> Result<Outcome, Failure> {
    let store = performer.fx.store;
    let met = state.verdict.as_ref().is_some_and(|verdict| verdict.ending.is_done());
    let obstacle =
        written.as_ref().filter(|one| one.files.is_empty()).map(|one| one.obstacle.clone());
    // A session that met its gate is archived right after this, so its paths name the archive.
    let is_empty = obstacle.is_some()
        && state.session_id.is_integration()
        && state.accepted_tree == state.head_tree;
    let folder = if met && !is_empty { archive.to_owned() } else { store.folder().to_owned() };
    let mut outcome = state.outcome(
        SessionLocation {
            branch: performer.fx.worktree.branch().to_owned(),
            onto,
            report: session::files::file_path(&folder, session::files::REPORT)
                .display()
                .to_string(),
            folder: folder.display().to_string(),
            patch: performer.patch(&state.head_tree, &state.accepted_tree).await?,
            options: if state.terms.dry_run { options } else { Vec::new() },
            earlier,
            base: performer.base.clone(),
            protection: performer.protection.clone(),
            written,
        },
        stopped,
    );
    // A session for tests that has neither a test nor a repair is no success, however green the suite is.
    if let Some(obstacle) = obstacle.filter(|_| met && is_empty) {
        outcome.result = Ending::Failure;
        outcome.reason = format!("no test that crosses a boundary was left: {obstacle}");
    }
    // A search that was stopped is repeated, so the state does not count what it had tried.
    if let (Some(unfinished), FixStep::Propose) = (&mut outcome.unfinished, state.next) {
        let searched = performer.fixer.searched_so_far();
        unfinished.candidates += searched.tried;
        outcome.searched = (!searched.places.is_empty()).then_some(searched).or(outcome.searched);
    }
    // A step that a limit of time or a kill ended has paid for calls that the state does not count
    // before the step is repeated.
    if let Some(UncountedCalls { calls, .. }) = find_uncounted(state.spending.calls, store).await? {
        outcome.spending.join(spent_by(&calls));
        outcome.unfinished_calls.extend(calls);
    }
    write_reports(state, &outcome, store).await?;
    Ok(outcome)
}

async fn write_reports(
    state: &FixLoop,
    outcome: &Outcome,
    store: &dyn Store,
) -> Result<(), Failure> {
    let summary = report(&View::of_outcome(outcome));
    let report = format!("{summary}{}", handover::render(state, outcome));
    store.write_text(session::files::REPORT, &report).await?;
    if outcome.result == Ending::Failure {
        store.write_text(".summaries/failure-report.md", &report).await?;
    }
    let value = serde_json::to_value(outcome).map_err(|error| Failure::serialise(&error))?;
    store.write_json(session::files::OUTCOME, &value).await?;
    if !outcome.patch.is_empty() {
        store.write_text(ALL_PATCH, &outcome.patch).await?;
    }
    Ok(())
}
