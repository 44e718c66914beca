//! `regreen score`: break the code in small ways and count what the tests notice.

use crate::adapter::host::clock::HostClock;
use crate::adapter::suite;
use crate::cli::args::ScoreArguments;
use crate::cli::failure::{Failure, exit};
use crate::cli::progress::Terminal;
use crate::domain::event::Event;
use crate::domain::mutation::Score;
use crate::effect::{CandidateRunnerRequest, Effects, Speed};
use crate::report::mutation;
use crate::role::{Limits, Scoring, score};

use super::subject::{self, Subject};

/// Mutants when tests run in a warm process.
const WARM: u32 = 3_000;

/// Mutants when each costs a cold start.
const COLD: u32 = 200;

/// Survivors that are printed.
const PRINTED: usize = 50;

/// Runs the verb. Below the threshold the gate is not met.
pub async fn run(arguments: &ScoreArguments) -> Result<u8, Failure> {
    let what = &arguments.what;
    let screen = Terminal::new(what.quiet, what.json || what.markdown);
    let subject = subject::read(what)?;
    let facts = &subject.facts;
    let detection =
        suite::detect(&facts.root, &facts.subdirectory, subject.command().as_deref(), None)?;
    let clock = HostClock::start();
    let workspace = subject.open(detection, false, &clock).await?;
    let head = workspace.record.git.head_sha.clone();
    let fx = workspace.hands.effects(&[], &screen);
    let scored = async {
        let tree = fx.worktree.tree_of(&head).await?;
        fx.worktree.checkout(&tree).await?;
        measure(arguments, &subject, &tree, &fx).await
    }
    .await;
    screen.clear();
    // Nothing was changed: no branch, no checkout and no session stay.
    workspace.abandon().await?;
    let score = scored?;
    if what.json {
        println!("{}", serde_json::to_string_pretty(&score).unwrap_or_default());
    } else if what.markdown {
        print!("{}", mutation::markdown(&score));
    } else {
        show(&score);
    }
    Ok(if score.is_met() { exit::MET } else { exit::NOT_MET })
}

async fn measure(
    arguments: &ScoreArguments,
    subject: &Subject,
    tree: &crate::domain::id::TreeId,
    fx: &Effects<'_>,
) -> Result<Score, Failure> {
    let step = |doing: &str| {
        fx.screen.show(&Event::Step { iteration: 0, doing: doing.to_owned() });
    };
    let files = subject::files(fx, tree, &arguments.what.paths).await?;
    step("running the full suite");
    let tests = subject::passing(fx).await?;
    step("breaking the code to see what the tests notice");
    let request =
        CandidateRunnerRequest { root: fx.worktree.root(), failing: &[], jobs: subject.jobs };
    let trial = fx.suite.trial(&request).await?;
    let many = if trial.speed() == Speed::Warm { WARM } else { COLD };
    let scored = score(&Scoring {
        worktree: fx.worktree,
        tree,
        trial: trial.as_ref(),
        clock: fx.clock,
        files: &files,
        within: None,
        tests: &tests,
        known: None,
        limits: Limits { candidates: arguments.mutants.unwrap_or(many), time: subject.time },
        threshold: subject.threshold,
        jobs: subject.jobs,
        all_tests: false,
        progress: &|done, total| {
            let unit = "mutants".to_owned();
            fx.screen.show(&Event::Progress { done, total: Some(total), unit });
        },
    })
    .await?;
    Ok(scored.score)
}

fn show(score: &Score) {
    for mutant in score.survivors.iter().take(PRINTED) {
        println!("{}", mutation::survivor(mutant));
    }
    if score.survivors.len() > PRINTED {
        println!("and {} more", score.survivors.len() - PRINTED);
    }
    if !score.survivors.is_empty() {
        println!();
    }
    println!("{}", mutation::headline(score));
    for remark in mutation::remarks(score) {
        println!("  {remark}");
    }
}
