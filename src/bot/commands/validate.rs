//! `/regreen validate`: runs the code check on the change in a process without a token, and stores safe
//! repairs for `/regreen apply`.

use std::time::Duration;

use crate::adapter::host::files;
use crate::adapter::store::STATE_FOLDER;
use crate::domain::budget::minutes;
use crate::domain::commit;
use crate::domain::quality::QualityDecision;
use crate::report::markdown::{code, prose};
use crate::report::validation::{ValidationReport, render_markdown};

use crate::bot::commits::Commits;
use crate::bot::context::Context;
use crate::bot::error::BotError;
use crate::bot::job;
use crate::bot::limits::{self, Destination};
use crate::bot::prepare;
use crate::bot::sessions::{check_out, free_name};
use crate::bot::worker::{self, Worker};

/// Time limit when the configuration sets none.
const LIMIT: Duration = Duration::from_mins(20);

/// Interval at which the worker is checked.
const LOOK: Duration = Duration::from_millis(200);

/// Largest report and largest repaired file, in bytes.
const REPORT_LIMIT: u64 = 16 << 20;
const FILE_LIMIT: u64 = 8 << 20;

/// Findings of each severity that a comment shows.
const SHOWN: usize = 50;

/// The verdict of the gate.
pub struct Verdict {
    /// The reply.
    pub text: String,
    /// Whether the gate is met; `false` without a report.
    pub met: bool,
}

/// Runs the gate and returns its verdict.
pub async fn validate(context: &Context<'_>, strict: bool, fix: bool) -> Result<Verdict, BotError> {
    let keys = context.prepared.settings.validate.as_ref();
    let fix = fix || keys.and_then(|keys| keys.fix) == Some(true);
    let facts = check_out(context, vec![])?;
    let place = prepare::folder(context.target);
    let (bundle, output) = (place.join("validate"), place.join("said.json"));
    let job = job::of_validation(context, facts.root.clone(), strict, fix)?;
    let environment = worker::keyless_environment(context);
    let started = Worker::start(&job, environment, &place, &bundle, &output).await;
    let mut worker = started.map_err(|error| {
        BotError::environment(format!("the check cannot start: {error}"), "check the image")
    })?;
    let limit = limits::ceiling(&context.prepared.settings);
    let limit = limit.minutes.map_or(LIMIT, minutes);
    let (end, stopped) = wait(context, &mut worker, limit).await?;
    let report = files::read(&output, REPORT_LIMIT).ok().flatten().unwrap_or_default();
    let Ok(mut report) = serde_json::from_slice::<ValidationReport>(&report) else {
        let why = no_report(stopped, worker.problem(), end);
        return Ok(Verdict { text: format!("There is no report: {why}"), met: false });
    };
    let offer = if fix { store_repairs(context).await? } else { String::new() };
    for list in report.findings.values_mut() {
        list.truncate(SHOWN);
    }
    report.auto_fixes_applied.truncate(SHOWN);
    report.skipped.truncate(SHOWN);
    report.gate_decision = prose(&report.gate_decision, 300);
    let met = report.status == QualityDecision::Pass;
    Ok(Verdict { text: format!("{}{offer}", flat(&render_markdown(&report))), met })
}

/// Waits for the end of a worker: its exit code, and why it was asked to stop, if it was.
async fn wait(
    context: &Context<'_>,
    worker: &mut Worker,
    limit: Duration,
) -> Result<(i32, Option<&'static str>), BotError> {
    let clock = context.clock;
    let until = clock.elapsed().saturating_add(limit);
    let mut stopped = None;
    loop {
        let ended = worker.exit_code().map_err(|error| {
            BotError::environment(format!("the check is lost: {error}"), "start it again")
        })?;
        if let Some(code) = ended {
            return Ok((code, stopped));
        }
        if stopped.is_none() {
            stopped = if clock.stop_requested() {
                Some("this job was stopped; start the check again")
            } else {
                (clock.elapsed() >= until)
                    .then_some("it exceeded its time limit; raise `budget.minutes`")
            };
            if stopped.is_some() {
                worker.stop();
            }
        }
        clock.wait(LOOK).await;
    }
}

/// Why a worker left no report, and what to do.
fn no_report(stopped: Option<&str>, problem: Option<(String, String)>, exit_code: i32) -> String {
    match (stopped, problem) {
        (Some(why), _) => why.to_owned(),
        (None, Some((what, hint))) => format!("{}; {}", code(&what), prose(&hint, 300)),
        (None, None) => {
            format!("the check ended with code {exit_code}; look at the log of this run")
        }
    }
}

/// Turns the headings of a page into bold lines, to make it part of a comment.
fn flat(page: &str) -> String {
    let line = |line: &str| match line.trim_start_matches('#') {
        rest if rest.len() < line.len() && rest.starts_with(' ') => {
            format!("**{}**\n", rest.trim())
        }
        _ => format!("{line}\n"),
    };
    page.lines().map(line).collect()
}

/// Stores the repairs in the checkout as one commit; returns a line for the reply.
async fn store_repairs(context: &Context<'_>) -> Result<String, BotError> {
    let clone = &context.prepared.clone;
    let edited = clone.edited(FILE_LIMIT)?;
    if edited.is_empty() {
        return Ok("\nNothing can be repaired safely.\n".into());
    }
    let Some(session) = free_name(context).await? else {
        return Ok("\nNo branch name is free for the repairs.\n".into());
    };
    let head = &context.target.head;
    let made = clone.with_files(head, &edited, &commit::repaired(&session))?;
    let diff = clone.diff(head, &clone.tree_of(&made)?, STATE_FOLDER)?;
    let facts = check_out(context, vec![])?;
    let mut commits = Commits::new(context, &session, Destination::Stored, None, &facts);
    if let Err(error) = commits.offer_result(&made, diff).await {
        return Ok(format!("\nThe repairs could not be stored: {}\n", code(&error)));
    }
    Ok(match &commits.published.held {
        Some(why) => format!("\n{}\n", prose(why, 500)),
        None => {
            format!("\nThe repairs are stored; `/regreen apply {made}` publishes exactly them.\n")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_report_has_a_reason_and_a_hint() {
        let problem = || Some(("no git".to_owned(), "install git".to_owned()));
        let table = [
            (Some("it was stopped; again"), problem(), "it was stopped; again"),
            (None, problem(), "`no git`; install git"),
            (None, None, "the check ended with code 137; look at the log of this run"),
        ];
        for (stopped, problem, expected) in table {
            assert_eq!(no_report(stopped, problem, 137), expected);
        }
    }

    #[test]
    fn headings_are_bold_and_everything_else_stays() {
        assert_eq!(flat("# A: b\n\n## C\n#no\n`# d`\n"), "**A: b**\n\n**C**\n#no\n`# d`\n");
    }
}
