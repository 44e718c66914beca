//! Ends publishing: posts what is pending, marks the last commit of the fix, adds a label, and
//! writes summary and outputs.

use crate::adapter::host::console::println;
use crate::adapter::host::random;
use crate::adapter::host::{files, redaction};
use crate::domain::check::Level;
use crate::domain::id::CommitId;
use crate::effect::{ForgeError, ForgeErrorKind, Label, LabelErrors};
use crate::report::check;
use crate::report::final_state::{CheckedCommit, FinalState};
use crate::report::forge_page::JobFailure;
use crate::report::job_summary::job_summary;
use crate::report::markdown;
use crate::report::outputs::outputs;
use crate::report::runner_commands;

use super::{Publisher, too_late};
use crate::bot::{environment, prepare};

/// Names the labels that could not be made, with the reasons; `None` when there are none.
pub fn missing_labels(left_out: &LabelErrors) -> Option<String> {
    let missing: Vec<String> =
        left_out.iter().map(|(name, why)| format!("`{name}` ({why})")).collect();
    (!missing.is_empty()).then(|| format!("missing labels: {}", missing.join(", ")))
}

/// The label of a pull request that needs a person.
const REVIEW: &str = "regreen: review";

impl Publisher<'_> {
    /// A summary of what was published, as a reply.
    pub fn push_summary(&self) -> String {
        let url = self.pull_url.as_deref().or(self.branch_url.as_deref());
        let notices: Vec<String> =
            self.push_notices.iter().map(|text| markdown::prose(text, 500)).collect();
        match (&self.tip, url) {
            (Some(tip), Some(url)) => {
                let more = if notices.is_empty() {
                    String::new()
                } else {
                    format!("; {}", notices.join("; "))
                };
                format!("{} is published: {}{more}", tip.short(), markdown::link("the fix", url))
            }
            _ => format!("nothing was published: {}", notices.join("; ")),
        }
    }

    /// Posts everything that is pending, then writes summary and outputs.
    pub async fn end(&mut self) {
        if let Some(failure) = &self.failure {
            let text = match failure {
                JobFailure::NoResult { message, hint } => format!("{message}; {hint}"),
                JobFailure::Refused { reason } => reason.clone(),
            };
            let text = markdown::line(&text, 800);
            println!("{}", runner_commands::remark(Level::Failure, None, "regreen", &text));
        }
        self.settle().await;
        if self.context.clock.stop_requested() {
            self.write();
            return;
        }
        self.label().await;
        self.write();
        self.warn_of_stale_pages();
    }

    /// Posts how the session stands, on its head and on its fix.
    pub async fn settle(&mut self) {
        (self.idle, self.comment.stale, self.check.stale) = (true, true, true);
        self.show(self.patience(), true).await;
        self.describe().await;
        if !self.context.clock.stop_requested() {
            // A push with a job's token starts no workflow, so a branch rule that requires this check
            // would wait for ever.
            self.check_fix([&self.tip, &self.signed].into_iter().flatten()).await;
        }
    }

    /// Adds a check run to commits of the fix.
    pub async fn check_fix(&self, commits: impl IntoIterator<Item = &CommitId>) {
        let decided = self.is_met() || self.state() == Some(FinalState::Reverted);
        let may = self.context.target.writes && !self.check.closed && !self.is_silent;
        for tip in commits.into_iter().filter(|_| decided && may) {
            let check = self.put_check((tip, CheckedCommit::Fix), "");
            let result = tokio::time::timeout(self.patience(), check).await;
            let result = result.unwrap_or_else(|_elapsed| Err(too_late("write the check run")));
            if let Err(error) = result {
                let text = format!("the check of {} is missing: {error}", tip.short());
                println!("{}", runner_commands::remark(Level::Warning, None, "regreen", &text));
            }
        }
    }

    /// A partial success needs a person, so it gets a label (specification.md 9.3).
    async fn label(&self) {
        let states = [Some(FinalState::MostlyFixed), Some(FinalState::GreenWithNotes)];
        let partial = states.contains(&self.state());
        let Some(number) =
            self.context.target.number.filter(|_| partial && self.context.target.writes)
        else {
            return;
        };
        let label = Label {
            name: REVIEW.into(),
            colour: "fbca04".into(),
            description: "regreen met the gate and left low-criticality failures".into(),
        };
        let text = match self.context.forge.add_labels(number, &[label]).await {
            Ok(left_out) => missing_labels(&left_out),
            Err(ForgeError { kind: ForgeErrorKind::DeniedBefore, .. }) => None,
            Err(error) => Some(format!("{error}; {}", error.hint())),
        };
        if let Some(text) = text {
            println!("{}", runner_commands::remark(Level::Warning, None, "regreen", &text));
        }
    }

    /// Writes the job summary and returns it.
    pub fn write_summary(&self) -> String {
        let summary = job_summary(&self.view, &self.facts(""));
        environment::append(self.context.env.get("GITHUB_STEP_SUMMARY"), &summary);
        summary
    }

    /// Writes the job summary, the outputs, and the report for the artefact.
    pub fn write(&self) {
        let facts = self.facts("");
        let summary = self.write_summary();
        if !self.context.target.writes {
            // Without permission to write a check run, annotations go to the log.
            for remark in runner_commands::remarks(&check::annotations(&self.view)) {
                println!("{remark}");
            }
        }
        let report = self.context.env.folder("bundle").map(|folder| folder.join("report.md"));
        let report =
            report.unwrap_or_else(|| prepare::folder(self.context.target).join("report.md"));
        if let Err(error) = files::write_text(&report, &redaction::redact(&summary)) {
            tracing::warn!(%error, "the report is not written");
        }
        let shown = report.display().to_string();
        let unpushed = self.unpushed.as_ref().map(|folder| folder.display().to_string());
        let values = outputs(&self.view, &facts, Some(&shown), unpushed.as_deref());
        let text =
            random::word().ok().and_then(|word| runner_commands::assignments(&values, &word));
        match text {
            Some(text) => environment::append(self.context.env.get("GITHUB_OUTPUT"), &text),
            None => println!(
                "{}",
                runner_commands::remark(Level::Warning, None, "regreen", "no outputs")
            ),
        }
    }

    /// Warns in the log about pages that could not be updated.
    pub(super) fn warn_of_stale_pages(&self) {
        let closed = [("check run", &self.check), ("comment", &self.comment)];
        for (name, channel) in closed {
            if let Some(why) = channel.error.as_ref().filter(|_| channel.stale) {
                let text = format!("the {name} is not up to date: {}", markdown::line(why, 500));
                println!("{}", runner_commands::remark(Level::Warning, None, "regreen", &text));
            }
        }
    }
}
