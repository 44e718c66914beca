//! What `pin` and `score` share: a private checkout, chosen files, passing tests.

use std::time::Duration;

use crate::adapter::host::clock::HostClock;
use crate::adapter::repo::RepositoryFacts;
use crate::adapter::suite::Detection;
use crate::adapter::{Workspace, repo};
use crate::cli::args::{FixArguments, SubjectArguments};
use crate::cli::failure::Failure;
use crate::config::Settings;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::mutation::MIN_MUTATION_SCORE;
use crate::domain::test::{Scope, Status};
use crate::effect::{Effects, RunError, RunRequest};
use crate::role::is_subject;

use super::fix;
use super::settings::{configured, contain, engine_time};

/// The settings that apply.
pub struct Subject {
    /// Git as it was found.
    pub facts: RepositoryFacts,
    /// Share that must be noticed, in percent.
    pub threshold: u32,
    /// Wall time of the engine.
    pub time: Duration,
    /// Processes at the same time.
    pub jobs: usize,
    arguments: FixArguments,
    settings: Settings,
}

/// Reads flags and file. The file is that of the repository unless another is named.
pub fn read(what: &SubjectArguments) -> Result<Subject, Failure> {
    let facts = repo::discover(&what.repository)?;
    let settings = configured(&facts.root, what.config.as_ref(), &what.set)?;
    contain(&settings)?;
    let gate = settings.gate.as_ref().and_then(|gate| gate.min_mutation_score);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Subject {
        threshold: what.min_mutation_score.or(gate).unwrap_or(MIN_MUTATION_SCORE),
        time: engine_time(what.budget_minutes, &settings),
        jobs: what.jobs.map_or(cores, usize::from),
        arguments: FixArguments {
            repository: what.repository.clone(),
            test_command: what.test_command.clone(),
            test_timeout: what.test_timeout.clone(),
            ..FixArguments::default()
        },
        facts,
        settings,
    })
}

impl Subject {
    /// The command of flags or file.
    pub fn command(&self) -> Option<String> {
        let test = self.settings.test.as_ref();
        self.arguments.test_command.clone().or_else(|| test?.command.clone())
    }

    /// Opens a private checkout; without `keep` nothing stays of it.
    pub async fn open<'a>(
        &self,
        detection: Detection,
        keep: bool,
        clock: &'a HostClock,
    ) -> Result<Workspace<'a>, Failure> {
        let arguments = FixArguments { dry_run: !keep, ..self.arguments.clone() };
        let request = fix::request(&arguments, &self.settings)?;
        Ok(Workspace::open_with(&request, self.facts.clone(), detection, clock).await?)
    }
}

/// Files of a tree below the chosen paths, or all code when none is chosen.
pub async fn files(
    fx: &Effects<'_>,
    tree: &TreeId,
    paths: &[String],
) -> Result<Vec<RepoPath>, Failure> {
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
            return Err(Failure::usage(
                format!("`{path}` is no file or folder of code in this commit"),
                "name paths from the root of the repository, and commit new files first",
            ));
        }
        chosen.extend(found);
    }
    chosen.sort();
    chosen.dedup();
    Ok(chosen)
}

/// Tests that pass in a full run of the suite; none when there are none yet.
pub async fn passing(fx: &Effects<'_>) -> Result<Vec<TestId>, RunError> {
    let request = RunRequest {
        root: fx.worktree.root(),
        scope: &Scope::Full,
        log: ".process/test-output.log",
    };
    let results = fx.suite.run(&request).await?;
    let passed = results.cases.into_iter().filter(|case| case.status == Status::Passed);
    Ok(passed.map(|case| case.id).collect())
}
