//! Which files a transition writes, so that the next reader can follow it.

use crate::domain::fix_loop::{FixLoop, Step};
use crate::report::records;

use super::Failure;
use super::perform::Performer;

impl Performer<'_> {
    /// Writes the files that belong to a transition. All are folded from the state, so writing
    /// them again changes nothing.
    pub async fn document(&self, old: &FixLoop, new: &FixLoop) -> Result<(), Failure> {
        let store = self.fx.store;
        let number = new.current_iteration;
        let process = |name: &str| format!(".process/iteration-{number}-{name}");
        let now = self.fx.clock.now();
        if number > old.current_iteration {
            store.write_json(&process("failures.json"), &records::failures(new, &now)).await?;
            store.write_text(&process("strategy.md"), &records::strategy(new)).await?;
        }
        if old.next == Step::Diagnose {
            if let Some(analysis) = records::analysis(new, &now) {
                store.write_text(&process("analysis.md"), &analysis).await?;
                store.write_text(&process("strategy.md"), &records::strategy(new)).await?;
            }
            self.write_task(new, "in_progress").await?;
        }
        if old.next == Step::Propose && new.attempt.is_some() {
            store.write_text(&process("cli-output.txt"), &records::search_log(new)).await?;
        }
        if old.next == Step::Apply {
            self.write_task(new, "in_progress").await?;
        }
        if let Some(ended) = new.iterations.get(old.iterations.len()) {
            let ended_number = ended.row.iteration;
            let status = match ended.row.outcome.as_str() {
                "improved" | "unchanged" => "completed",
                "regression" => "rolled_back",
                _ => "blocked",
            };
            self.write_task(old, status).await?;
            if status == "rolled_back" {
                let name = format!("IMPL-fix-{ended_number}.json");
                store
                    .rename(&format!(".task/{name}"), &format!(".task/rolled-back/{name}"))
                    .await?;
            }
            store.write_json(".process/fix-history.json", &records::history(new)).await?;
            let summary = format!(".summaries/iteration-summaries/iteration-{ended_number}.md");
            store.write_text(&summary, &records::iteration_summary(ended)).await?;
        }
        if new.iterations.len() != old.iterations.len()
            || number != old.current_iteration
            || new.is_finished()
        {
            store.write_text("TODO_LIST.md", &records::todo(new)).await?;
            store.write_json(".task/IMPL-002.json", &records::suite_task(new)).await?;
        }
        Ok(())
    }

    async fn write_task(&self, state: &FixLoop, status: &str) -> Result<(), Failure> {
        if let Some(task) = records::task(state, status) {
            let file = format!(".task/IMPL-fix-{}.json", state.current_iteration);
            self.fx.store.write_json(&file, &task).await?;
        }
        Ok(())
    }
}
