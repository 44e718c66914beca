//! Writes the files that document each transition of the fix loop.

use serde_json::Value;

use crate::domain::event::Event;
use crate::domain::fix_loop::{FixLoop, FixStep, IterationResult};
use crate::domain::integration::Integration;
use crate::domain::integration::iteration::read_loop;
use crate::domain::session::files::{INTEGRATION, REFLECTION_LOG, TODO_LIST};
use crate::domain::task::TaskStatus;
use crate::domain::test_plan::task::SUITE_TASK;
use crate::effect::read_or_forget;
use crate::report::decision::decision;
use crate::report::{fix_tasks, planning, reflection_log, state_files};

use crate::cycle::error::Failure;
use crate::cycle::session_files::{planned_session, read, write};

use super::perform::Performer;

/// What each iteration tried and came to.
const HISTORY: &str = ".process/fix-history.json";

fn task_file(iteration: u32) -> String {
    format!(".task/IMPL-fix-{iteration}.json")
}

/// Where the task of an iteration goes whose edit was taken back.
fn rolled_back_file(iteration: u32) -> String {
    format!(".task/rolled-back/IMPL-fix-{iteration}.json")
}

impl Performer<'_> {
    /// Writes the files of a transition, derived from the states alone, so repeatable.
    pub(super) async fn write_records(&self, old: &FixLoop, new: &FixLoop) -> Result<(), Failure> {
        let store = self.fx.store;
        let number = new.current_iteration;
        let process = |name: &str| format!(".process/iteration-{number}-{name}");
        let now = self.fx.clock.now();
        if number > old.current_iteration {
            store.write_json(&process("failures.json"), &state_files::failures(new, &now)).await?;
        }
        if old.next == FixStep::Diagnose {
            if let Some(analysis) = state_files::analysis(new, &now) {
                store.write_text(&process("analysis.md"), &analysis).await?;
            }
            self.begin_task(new).await?;
        }
        let ended = new.iterations.get(old.iterations.len());
        if old.next == FixStep::Propose {
            // A search without an edit ends its iteration, and the next one may have begun.
            let file = format!(".process/iteration-{}-cli-output.txt", old.current_iteration);
            store.write_text(&file, &state_files::search_log(new, ended)).await?;
        }
        if old.next == FixStep::Apply {
            self.write_task(new, TaskStatus::InProgress).await?;
        }
        if let Some(ended) = ended {
            let ended_number = ended.row.iteration;
            let status = match ended.result {
                IterationResult::Improved | IterationResult::Unchanged => TaskStatus::Completed,
                IterationResult::Regression => TaskStatus::RolledBack,
                IterationResult::SkippedDegraded => TaskStatus::Skipped,
                IterationResult::Error => TaskStatus::Failed,
            };
            self.write_task(old, status).await?;
            if status == TaskStatus::RolledBack {
                store.rename(&task_file(ended_number), &rolled_back_file(ended_number)).await?;
            }
            if let Some(text) = decision(old, ended) {
                let file = format!(".process/iteration-{ended_number}-decision.md");
                store.write_text(&file, &text).await?;
            }
            let known = read_or_forget::<Value>(store, HISTORY).await?;
            let history = state_files::history(new, known.as_ref(), &now);
            store.write_json(HISTORY, &history).await?;
            let summary = format!(".summaries/iteration-summaries/iteration-{ended_number}.md");
            store.write_text(&summary, &state_files::iteration_summary(ended)).await?;
        }
        if new.iterations.len() != old.iterations.len()
            || number != old.current_iteration
            || new.is_finished()
        {
            self.reflect(new).await?;
            self.write_list(new, &now).await?;
        }
        Ok(())
    }

    /// Writes what the iterations so far teach to the state and the log of an integration session.
    async fn reflect(&self, state: &FixLoop) -> Result<(), Failure> {
        let Some(known) = read::<Integration>(self.fx, INTEGRATION).await? else { return Ok(()) };
        let (iterations, fix_history) = read_loop(state);
        let reflected = Integration { iterations, fix_history, ..known };
        write(self.fx, INTEGRATION, &reflected).await?;
        let log = reflection_log::render(&reflected);
        Ok(self.fx.store.write_text(REFLECTION_LOG, &log).await?)
    }

    /// Writes the task list, with a test session's plan, and the task that runs the suite.
    async fn write_list(&self, state: &FixLoop, now: &str) -> Result<(), Failure> {
        let store = self.fx.store;
        let Some(mut plan) = planned_session(self.fx).await? else {
            store.write_text(TODO_LIST, &state_files::todo(state)).await?;
            let file = format!(".task/{SUITE_TASK}.json");
            let known = read_or_forget::<Value>(store, &file).await?;
            store.write_json(&file, &fix_tasks::suite_task(state, known.as_ref(), now)).await?;
            return Ok(());
        };
        if let Some(task) = plan.tasks.iter_mut().find(|task| task.id == SUITE_TASK) {
            task.change_status(fix_tasks::suite_status(state), now);
            write(self.fx, task.file(), &*task).await?;
        }
        self.fx.screen.show(&Event::Tasks { tasks: planning::rows(&plan) });
        let text = planning::render_todo(&plan, &state_files::iterations(state));
        store.write_text(TODO_LIST, &text).await?;
        Ok(())
    }

    /// Writes the task of a begun iteration, in place of one from before a renewed baseline.
    async fn begin_task(&self, state: &FixLoop) -> Result<(), Failure> {
        let now = self.fx.clock.now();
        if let Some(task) = fix_tasks::task(state, TaskStatus::InProgress, None, &now) {
            self.fx.store.write_json(&task_file(state.current_iteration), &task).await?;
        }
        Ok(())
    }

    /// Writes the task of the current iteration again, with another status; what it was about stays.
    async fn write_task(&self, state: &FixLoop, status: TaskStatus) -> Result<(), Failure> {
        let (store, number) = (self.fx.store, state.current_iteration);
        let mut known = read_or_forget::<Value>(store, &task_file(number)).await?;
        if known.is_none() {
            // A killed run may have moved it already.
            known = read_or_forget(store, &rolled_back_file(number)).await?;
        }
        let now = self.fx.clock.now();
        if let Some(task) = fix_tasks::task(state, status, known.as_ref(), &now) {
            store.write_json(&task_file(number), &task).await?;
        }
        Ok(())
    }
}
