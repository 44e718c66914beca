//! `regreen pin`: tests that describe what functions do today, on a branch of their own.

use std::collections::BTreeMap;

use crate::adapter::host::clock::HostClock;
use crate::adapter::{Workspace, suite};
use crate::cli::args::PinArguments;
use crate::cli::failure::{Failure, exit};
use crate::cli::progress::Terminal;
use crate::domain::characterisation::PinReport;
use crate::domain::commit;
use crate::domain::event::Event;
use crate::domain::id::TestId;
use crate::domain::mutation::Score;
use crate::effect::{CommitRequest, Effects, RunError};
use crate::report::terminal::harmless;
use crate::report::{characterised, mutation};
use crate::role::{Gap, GenerateRequest, Generated, generate};

use super::subject::{self, Subject};

/// Tests of the project whose reach is measured at most.
const MEASURED: usize = 400;

/// The report inside the session folder.
const REPORT: &str = "pin-report.json";

/// Runs the verb. Without a kept test, or below the threshold, the gate is not met.
pub async fn run(arguments: &PinArguments) -> Result<u8, Failure> {
    let what = &arguments.what;
    let screen = Terminal::new(what.quiet, what.json || what.markdown);
    let subject = subject::read(what)?;
    let facts = &subject.facts;
    let command = subject.command();
    let detection = suite::detect_or_begin(&facts.root, &facts.subdirectory, command.as_deref())?;
    let clock = HostClock::start();
    let mut workspace = subject.open(detection, !arguments.dry_run, &clock).await?;
    let done = work(arguments, &subject, &workspace, &screen).await;
    screen.clear();
    let (report, patch) = match done {
        Ok(done) => done,
        Err(failure) => {
            workspace.abandon().await?;
            return Err(failure);
        }
    };
    if report.branch.is_some() {
        workspace.close("pinned").await?;
        workspace.finish().await?;
    } else {
        workspace.abandon().await?;
    }
    if what.json {
        println!("{}", serde_json::to_string_pretty(&report).unwrap_or_default());
    } else if what.markdown {
        print!("{}", characterised::markdown(&report));
    } else {
        print!("{patch}");
        show(&report);
    }
    let met = !report.files.is_empty() && report.score.as_ref().is_none_or(Score::is_met);
    Ok(if met { exit::MET } else { exit::NOT_MET })
}

/// Generates and commits; answers with the report, and the diff of a dry run.
async fn work(
    arguments: &PinArguments,
    subject: &Subject,
    workspace: &Workspace<'_>,
    screen: &Terminal,
) -> Result<(PinReport, String), Failure> {
    let fx = workspace.hands.effects(&[], screen);
    let head = workspace.record.git.head_sha.clone();
    let tree = fx.worktree.tree_of(&head).await?;
    fx.worktree.checkout(&tree).await?;
    let files = subject::files(&fx, &tree, &arguments.what.paths).await?;
    let gaps: Vec<Gap> =
        files.into_iter().map(|file| Gap { file, functions: arguments.function.clone() }).collect();
    let before = before(&fx).await?;
    let request = GenerateRequest {
        tree: &tree,
        gaps: &gaps,
        before: &before,
        threshold: subject.threshold,
        jobs: subject.jobs,
        until: fx.clock.elapsed() + subject.time,
        held: &BTreeMap::new(),
        missed: &BTreeMap::new(),
    };
    let Generated { tree: new, mut report, edits, .. } =
        generate(&request, workspace.observer(), &fx).await?;
    let mut patch = String::new();
    if arguments.dry_run {
        for one in fx.worktree.diff(&tree, &new).await? {
            patch.push_str(&one.patch);
        }
    } else if !edits.files.is_empty() {
        report.branch = Some(fx.worktree.branch().to_owned());
        let message = commit::pinned(&workspace.record.session_id, &report);
        let time = fx.clock.now();
        let request = CommitRequest { tree: new, message, state: Vec::new(), time };
        fx.worktree.commit(&request).await?;
    }
    let value = serde_json::to_value(&report).unwrap_or_default();
    fx.store.write_json(REPORT, &value).await?;
    Ok((report, patch))
}

/// Tests of the project that pass already; none where there are none, or too many to measure.
async fn before(fx: &Effects<'_>) -> Result<Vec<TestId>, Failure> {
    fx.screen.show(&Event::Step { iteration: 0, doing: "running the full suite".into() });
    let passing = match subject::passing(fx).await {
        Ok(passing) => passing,
        Err(
            RunError::NoTests { .. } | RunError::NoReport { .. } | RunError::NoReportFile { .. },
        ) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    if passing.len() > MEASURED {
        let text =
            format!("{} tests are there already; what they reach is not measured", passing.len());
        fx.screen.show(&Event::Notice { text });
        return Ok(Vec::new());
    }
    Ok(passing)
}

fn show(report: &PinReport) {
    for one in report.functions.iter().filter(|one| one.kept == 0) {
        let place = format!("{}:{} {}", one.file, one.line, one.name);
        let reasons = characterised::reasons(&one.dropped);
        println!("not pinned  {}  {}", harmless(&place, 200), harmless(&reasons, 300));
    }
    for one in &report.unfinished {
        println!("not done    {}: the time limit was reached", harmless(one, 200));
    }
    for one in &report.dropped {
        println!("dropped     {} tests: {}", one.count, harmless(&one.reason, 200));
    }
    for file in &report.files {
        let count = file.tests.len();
        println!(
            "kept        {}  {count} tests, {} assertions",
            harmless(file.file.as_str(), 200),
            file.assertions
        );
    }
    println!("\n{} in {:.1} s", characterised::headline(report), report.seconds);
    println!(
        "lines reached: {} before, {} after",
        characterised::reached(report.before),
        characterised::reached(report.after)
    );
    if let Some(score) = &report.score {
        println!("{}", mutation::headline(score));
    }
    if let Some(branch) = &report.branch {
        println!("on branch {}; read the tests before you merge them", harmless(branch, 200));
    }
}
