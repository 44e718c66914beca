//! Shared by characterising and scoring: a private checkout, the selected files, and the tests that
//! pass.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};

use crate::adapter::host::clock::HostClock;
use crate::adapter::repo::RepositoryFacts;
use crate::adapter::suite::Detection;
use crate::adapter::{Session, repo};
use crate::config::Override;
use crate::domain::budget::parse_minutes;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::mutation::MIN_MUTATION_SCORE;
use crate::domain::request::{FixSettings, Mode};
use crate::domain::session::SessionKind;
use crate::domain::test::{Status, TestCase};
use crate::effect::Effects;
use crate::role::is_subject;

use super::fix::resolve;
use super::settings::{configured, contain, engine_time};
use super::{AppError, FixRequest, RunOptions};

/// The code that tests are written for or measured on, and how its suite runs.
#[derive(Args, Clone, Debug, Default)]
pub struct CodeSelection {
    /// Files or folders of the code, from the root of the repository [default: all code that is
    /// no test, example or build output].
    pub paths: Vec<String>,
    /// The repository, or a folder below it.
    #[arg(long, default_value = ".", value_name = "REPO")]
    pub repository: PathBuf,
    /// Command that runs the tests, instead of the detected one.
    #[arg(long, value_name = "COMMAND")]
    pub test_command: Option<String>,
    /// Time limit of one test run, such as 30s, 20m or 2h [default: 20m].
    #[arg(long, value_name = "TIME")]
    pub test_timeout: Option<String>,
    /// Share of mutants that tests must kill, in percent [default: 60].
    #[arg(long, alias = "gate-min-mutation-score", value_name = "PERCENT", value_parser = value_parser!(u32).range(1..=100))]
    pub min_mutation_score: Option<u32>,
    /// Stop after this many minutes, and report what was left out [default: 6, or the key
    /// `budget.engine-minutes`].
    #[arg(long, value_name = "MINUTES", value_parser = parse_minutes)]
    pub budget_minutes: Option<f64>,
    /// Processes at the same time [default: number of cores].
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=64))]
    pub jobs: Option<u16>,
    /// Configuration file, instead of .github/regreen.yml of the repository.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Set a key of the configuration file for this run, such as `loop.stuck-threshold=4`; repeat
    /// for more. `regreen config schema` prints all keys.
    #[arg(long, value_name = "KEY=VALUE", value_parser = Override::parse)]
    pub set: Vec<Override>,
}

/// A selection with the configuration of its repository.
pub(super) struct Subject {
    pub facts: RepositoryFacts,
    /// The mutation score that is required, in percent.
    pub threshold: u32,
    /// Time limit of the embedded engine.
    pub time: Duration,
    pub run: FixSettings,
}

/// Reads the configuration that applies to a selection.
pub(super) fn read(what: &CodeSelection) -> Result<Subject, AppError> {
    let facts = repo::discover(&what.repository)?;
    let settings = configured(&facts.root, what.config.as_ref(), &what.set)?;
    contain(&settings)?;
    let gate = settings.gate.as_ref().and_then(|gate| gate.min_mutation_score);
    let request = FixRequest {
        repository: what.repository.clone(),
        run: RunOptions {
            test_command: what.test_command.clone(),
            test_timeout: what.test_timeout.clone(),
            ..RunOptions::default()
        },
        jobs: what.jobs,
        ..FixRequest::default()
    };
    Ok(Subject {
        threshold: what.min_mutation_score.or(gate).unwrap_or(MIN_MUTATION_SCORE),
        time: engine_time(what.budget_minutes, &settings),
        run: resolve(&request, &settings)?,
        facts,
    })
}

impl Subject {
    /// Opens a private checkout, which has a branch where `mode` is [`Mode::Apply`].
    pub async fn open<'a>(
        &self,
        detection: Detection,
        kind: SessionKind,
        mode: Mode,
        clock: &'a HostClock,
    ) -> Result<Session<'a>, AppError> {
        let request = FixSettings { kind, mode, ..self.run.clone() };
        Ok(Session::open_with(&request, self.facts.clone(), detection, clock).await?)
    }
}

/// Files of a tree below the chosen paths, or all code when none is chosen.
pub(super) async fn files(
    fx: &Effects<'_>,
    tree: &TreeId,
    paths: &[String],
) -> Result<Vec<RepoPath>, AppError> {
    let all = fx.worktree.files(tree).await?;
    if paths.is_empty() {
        return Ok(all.into_iter().filter(is_subject).collect());
    }
    let mut chosen = Vec::new();
    for path in paths {
        let plain = path.trim_start_matches("./").trim_end_matches('/');
        let below = format!("{plain}/");
        let named = |file: &&RepoPath| {
            file.as_str() == plain
                || (plain == "." || file.as_str().starts_with(&below)) && is_subject(file)
        };
        let found: Vec<RepoPath> = all.iter().filter(named).cloned().collect();
        if found.is_empty() {
            return Err(AppError::usage(
                format!("`{path}` is not a file or folder of code in this commit"),
                "name paths from the root of the repository, and commit new files first",
            ));
        }
        chosen.extend(found);
    }
    chosen.sort();
    chosen.dedup();
    Ok(chosen)
}

/// The tests that passed.
pub(super) fn passed(cases: Vec<TestCase>) -> Vec<TestId> {
    let passed = cases.into_iter().filter(|case| case.status == Status::Passed);
    passed.map(|case| case.id).collect()
}
