//! `/regreen validate`: gate 001.3 on the change, by a process without a token; safe repairs are
//! stored for `/regreen apply`.

use std::time::Duration;

use crate::adapter::host::files;
use crate::adapter::store::STATE_FOLDER;
use crate::domain::commit;
use crate::domain::id::SessionId;
use crate::domain::quality::QualityDecision;
use crate::report::markdown::{code, prose};
use crate::report::validation::{ValidationReport, render_markdown};

use super::action::{Run, Trouble};
use super::argv;
use super::commits::Goes;
use super::kept;
use super::limits;
use super::prepare::{self, Unprepared};
use super::start::{check_out, names};
use super::work;
use super::worker::Worker;

/// How long it may take when nothing else is configured.
const LIMIT: Duration = Duration::from_mins(20);

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// A report, and a file that was repaired, in bytes.
const REPORT_LIMIT: u64 = 16 << 20;
const FILE_LIMIT: u64 = 8 << 20;

/// Findings that a comment shows of each severity.
const SHOWN: usize = 50;

/// What the gate came to.
pub struct Verdict {
    /// What is said of it.
    pub text: String,
    /// Whether it is met; nothing is known where no report came.
    pub met: bool,
}

/// Looks, and says what was found.
///
/// # Errors
///
/// When the machine does not do what is needed.
pub async fn validate(run: &Run<'_>, strict: bool, fix: bool) -> Result<Verdict, Trouble> {
    let facts = check_out(run, vec![])?;
    let place = prepare::folder(run.target);
    let (bundle, said) = (place.join("validate"), place.join("said.json"));
    let mut arguments: Vec<String> =
        vec!["validate".into(), "--json".into(), facts.root.display().to_string()];
    let base = run.prepared.base.as_ref();
    arguments.extend(base.into_iter().flat_map(|base| ["--base".into(), base.to_string()]));
    arguments.extend(
        [(strict, "--strict"), (fix, "--fix")]
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, flag)| (*flag).to_owned()),
    );
    arguments.extend(["--config".into(), work::configuration(run)?.display().to_string()]);
    arguments.extend(argv::sets(&run.around.inputs));
    let environment = work::keyless_environment(run);
    let started = Worker::start(arguments, environment, &place, &bundle, &said);
    let mut worker = started.map_err(|error| {
        Trouble::environment(format!("the check cannot start: {error}"), "check the image")
    })?;
    let limit = limits::ceiling(&run.prepared.settings);
    let limit =
        limit.minutes.map_or(LIMIT, |minutes| Duration::from_secs(minutes.saturating_mul(60)));
    let until = run.clock.elapsed().saturating_add(limit);
    let mut told = false;
    loop {
        let ended = worker.ended();
        if ended.is_ok_and(|code| code.is_some()) {
            break;
        }
        if !told && (run.clock.stop_requested() || run.clock.elapsed() >= until) {
            worker.stop();
            told = true;
        }
        run.clock.wait(LOOK).await;
    }
    let report = files::read(&said, REPORT_LIMIT).ok().flatten().unwrap_or_default();
    let Ok(mut report) = serde_json::from_slice::<ValidationReport>(&report) else {
        let (what, hint) = worker.problem().unwrap_or_default();
        let what = if told { "it was stopped at its limit".to_owned() } else { code(&what) };
        let text = format!("there is no report: {what}; {}", prose(&hint, 300));
        return Ok(Verdict { text, met: false });
    };
    let offer = if fix { offered(run).await? } else { String::new() };
    for list in report.findings.values_mut() {
        list.truncate(SHOWN);
    }
    report.auto_fixes_applied.truncate(SHOWN);
    report.skipped.truncate(SHOWN);
    report.gate_decision = prose(&report.gate_decision, 300);
    let met = report.status == QualityDecision::Pass;
    Ok(Verdict { text: format!("{}{offer}", flat(&render_markdown(&report))), met })
}

/// A page as a part of a comment: headings are bold lines.
fn flat(page: &str) -> String {
    let line = |line: &str| match line.trim_start_matches('#') {
        rest if rest.len() < line.len() && rest.starts_with(' ') => {
            format!("**{}**\n", rest.trim())
        }
        _ => format!("{line}\n"),
    };
    page.lines().map(line).collect()
}

/// Stores the repairs of the checkout as one commit.
async fn offered(run: &Run<'_>) -> Result<String, Trouble> {
    let bench = &run.prepared.bench;
    let edited = bench.edited(FILE_LIMIT).map_err(Unprepared::from)?;
    if edited.is_empty() {
        return Ok("\nNothing of it can be repaired safely.\n".into());
    }
    let Some(session) = free(run).await? else {
        return Ok("\nNo name is free for a branch with the repairs.\n".into());
    };
    let made = bench.with_files(&run.target.head, &edited, &commit::repaired(&session));
    let made = made.map_err(Unprepared::from)?;
    let tree = bench.tree_of(&made).map_err(Unprepared::from)?;
    let diff = bench.diff(&run.target.head, &tree, STATE_FOLDER).map_err(Unprepared::from)?;
    let facts = check_out(run, vec![])?;
    let mut commits = work::commits(run, &session, Goes::Stored, None, &facts)?;
    if let Err(error) = commits.offer_result(&made, diff).await {
        return Ok(format!("\nThe repairs could not be stored: {}\n", code(&error)));
    }
    Ok(match &commits.published.held {
        Some(why) => format!("\n{}\n", prose(why, 500)),
        None => {
            format!("\nThe repairs are stored; `/regreen apply {made}` publishes exactly those.\n")
        }
    })
}

/// The first name without a branch and without anything kept.
async fn free(run: &Run<'_>) -> Result<Option<SessionId>, Trouble> {
    for session in names(run) {
        let is_there = prepare::is_on_branch(run.prepared, session.as_str()).await?
            || kept::is_known(run.prepared, &session).await?;
        if !is_there {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_bold_and_everything_else_stays() {
        assert_eq!(flat("# A: b\n\n## C\n#no\n`# d`\n"), "**A: b**\n\n**C**\n#no\n`# d`\n");
    }
}
