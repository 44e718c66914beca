//! The runner for tests that a compiler builds before they start: many candidates are branches of one build,
//! and each takes a start of the built tests. What passes there counts only once it passes in a build of the
//! candidate alone. Builds and runs happen in a copy of the checkout.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, MutexGuard, OnceCell};
use tokio::time::Instant;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, ExitReason, Invocation};
use crate::adapter::suite::format::{PathMapper, to_test_cases};
use crate::adapter::suite::framework::read_text;
use crate::adapter::suite::io_error::cannot;
use crate::adapter::suite::project_suite::ProjectSuite;
use crate::code::line_probes::REACHED;
use crate::code::switched_source::CHOSEN;
use crate::domain::id::TestId;
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::{Status, TestCase};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, Speed, Trace,
};

use super::super::checkout_copy::copy_checkout;
use super::super::command::{CommandRunner, case_results, trace_of};
use super::joint_build::{Build, Builds, changes_of};
use super::probed_sources::ProbedSources;
use super::toolchain::{BuildError, TestProgram, Toolchain};
use super::trace_or_failed;

/// Candidates in one build.
const BATCH: usize = 160;

/// Builds of one candidate that are kept.
const KEPT: usize = 4;

/// How often a build is tried again without the candidates that it refuses.
const ROUNDS: usize = 5;

/// Logs of runs that are kept, more than ever run side by side.
const LOGS: usize = 64;

/// Time limit of a build.
const BUILDING: Duration = Duration::from_mins(3);

/// Time limit of all tests while nothing is changed.
const TRACING: Duration = Duration::from_secs(20);

/// Time limit of one test whose lines are counted.
const TRACING_ONE: Duration = Duration::from_secs(3);

/// Least time for tests that the suite's own command runs.
const STARTED: Duration = Duration::from_secs(30);

/// Why there is no program to start.
enum NotBuilt {
    Refused(String),
    Failed(RunError),
}

impl From<RunError> for NotBuilt {
    fn from(error: RunError) -> Self {
        Self::Failed(error)
    }
}

pub struct CompiledRunner {
    from: PathBuf,
    toolchain: Box<dyn Toolchain>,
    /// Set once the copy lies there.
    copied: OnceCell<()>,
    /// Runs in the copy what the toolchain builds no program for.
    command: CommandRunner,
    invocation: Invocation,
    copy: PathBuf,
    scratch: PathBuf,
    paths: PathMapper,
    builds: Mutex<Builds>,
    /// Numbers the logs of runs, which may happen side by side.
    runs: AtomicUsize,
}

fn built_folder(suite: &ProjectSuite<'_>) -> PathBuf {
    suite.settings.scratch.join("built")
}

/// The copy of the checkout in which everything is built.
pub fn copy_of(suite: &ProjectSuite<'_>) -> PathBuf {
    built_folder(suite).join("copy")
}

/// Creates a runner; nothing is built before the first test.
pub fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
    toolchain: Box<dyn Toolchain>,
) -> CompiledRunner {
    let copy = copy_of(suite);
    CompiledRunner {
        from: request.root.to_owned(),
        toolchain,
        copied: OnceCell::new(),
        command: CommandRunner::new(suite, &copy),
        invocation: suite.invocation(&copy, Vec::new()),
        paths: suite.path_mapper(&copy),
        copy,
        scratch: built_folder(suite),
        builds: Mutex::default(),
        runs: AtomicUsize::new(0),
    }
}

impl CompiledRunner {
    /// The builds, in a copy that exists.
    async fn open_builds(&self) -> Result<MutexGuard<'_, Builds>, RunError> {
        let copying = || async { copy_checkout(&self.from, &self.copy).map(drop) };
        self.copied.get_or_try_init(copying).await?;
        Ok(self.builds.lock().await)
    }

    /// Runs the compiler on the copy as it lies there.
    async fn compile(
        &self,
        unit: &str,
        number: usize,
    ) -> Result<Result<Arc<Vec<TestProgram>>, Vec<BuildError>>, RunError> {
        let folder = self.scratch.join(number.to_string());
        files::create_folder(&folder).map_err(cannot("create", &folder))?;
        self.build_in(self.toolchain.build(unit, &folder), unit, &folder).await
    }

    async fn build_in(
        &self,
        argv: Vec<String>,
        unit: &str,
        folder: &Path,
    ) -> Result<Result<Arc<Vec<TestProgram>>, Vec<BuildError>>, RunError> {
        let log = self.scratch.join("build.log");
        let command = argv.join(" ");
        let invocation = Invocation { argv, ..self.invocation.clone() };
        let started = process::run(&invocation, BUILDING, &log).await;
        let ending = started.map_err(|error| RunError::NotStarted {
            command: command.clone(),
            reason: error.to_string(),
        })?;
        let text = read_text(&log)?;
        if ending != ExitReason::Exit(0) {
            return Ok(Err(self.toolchain.errors(&text)));
        }
        let mut programs = self.toolchain.programs(unit, folder, &text);
        for (index, program) in programs.iter_mut().enumerate() {
            if !program.path.starts_with(folder) {
                program.path = self.keep_program(&program.path, folder, index).await?;
            }
        }
        Ok(Ok(Arc::new(programs)))
    }

    /// Copies a program that the next build replaces. The path is what the build printed, and code of the
    /// project runs in a build: so the copy is made with no more rights than that code has.
    async fn keep_program(
        &self,
        built: &Path,
        folder: &Path,
        index: usize,
    ) -> Result<PathBuf, RunError> {
        let kept = folder.join(index.to_string());
        let [from, to] = [built, &kept].map(|path| path.display().to_string());
        let argv = ["cp", "--", &from, &to].map(str::to_owned).to_vec();
        let invocation = Invocation { argv, ..self.invocation.clone() };
        let log = self.scratch.join("keep.log");
        process::run(&invocation, BUILDING, &log).await.map_err(cannot("copy", built))?;
        Ok(kept)
    }

    /// The programs of a batch, built without the candidates that the compiler refuses.
    async fn build_batch(
        &self,
        builds: &mut Builds,
        unit: &str,
    ) -> Result<Option<Arc<Vec<TestProgram>>>, RunError> {
        let Some(mut batch) = builds.batch.take() else { return Ok(None) };
        if let Some(programs) = batch.programs.get(unit) {
            let found = programs.clone();
            builds.batch = Some(batch);
            return Ok(Some(found));
        }
        for _ in 0..ROUNDS {
            let (files, sources) = batch.switched_sources();
            if files.is_empty() {
                break;
            }
            builds.write_sources(&self.copy, files)?;
            let errors = match self.compile(unit, batch.number).await? {
                Ok(programs) => {
                    batch.programs.insert(unit.to_owned(), programs.clone());
                    builds.batch = Some(batch);
                    return Ok(Some(programs));
                }
                Err(errors) => errors,
            };
            let known = batch.refused.len();
            for error in errors {
                let mut joined = sources.iter().filter(|(file, _)| error.is_in(file));
                let number = joined.find_map(|(_, joined)| joined.number_at(error.line));
                batch.refused.extend(number.map(|number| (number, error.message)));
            }
            if batch.refused.len() == known {
                break;
            }
        }
        // Each of the others is built alone.
        batch.left_out.extend(0..batch.candidates.len());
        builds.batch = Some(batch);
        Ok(None)
    }

    /// The programs of one candidate.
    async fn build_alone(
        &self,
        builds: &mut Builds,
        edits: &EditSet,
        unit: &str,
    ) -> Result<Arc<Vec<TestProgram>>, NotBuilt> {
        let same = |build: &Build| build.candidates.iter().all(|one| one == edits);
        let place = builds.alone.iter().position(same);
        let mut build = if let Some(place) = place {
            builds.alone.remove(place)
        } else {
            builds.started += 1;
            Build::new(builds.started, vec![edits.clone()])
        };
        if !build.programs.contains_key(unit) {
            builds.write_sources(&self.copy, edits.files.clone())?;
            match self.compile(unit, build.number).await? {
                Ok(programs) => drop(build.programs.insert(unit.to_owned(), programs)),
                Err(errors) => {
                    let first = errors.into_iter().next().map(|first| first.message);
                    let message = first.unwrap_or_else(|| "the build fails".into());
                    return Err(NotBuilt::Refused(message));
                }
            }
        }
        let found = build.programs.get(unit).cloned().unwrap_or_default();
        builds.alone.push(build);
        if builds.alone.len() > KEPT {
            let oldest = builds.alone.remove(0);
            files::remove_folder(&self.scratch.join(oldest.number.to_string()));
        }
        Ok(found)
    }

    /// Runs tests in built programs.
    async fn start_tests(
        &self,
        programs: &[TestProgram],
        tests: &[TestId],
        (chosen, profile): (Option<usize>, Option<String>),
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        let mut cases = Vec::new();
        for program in programs {
            let Some(mut argv) = self.toolchain.run(program, tests) else { continue };
            argv.extend(profile.clone());
            let mut environment = self.invocation.environment.clone();
            environment.extend(program.environment.clone());
            environment.extend(chosen.map(|number| (CHOSEN.to_owned(), number.to_string())));
            let directory = program.directory.clone();
            let invocation = Invocation { argv, directory, environment, ..self.invocation.clone() };
            let run = self.runs.fetch_add(1, Ordering::Relaxed) % LOGS;
            let log = self.scratch.join(format!("run-{run}.log"));
            process::run(&invocation, limit, &log).await.map_err(|error| RunError::NotStarted {
                command: invocation.argv.join(" "),
                reason: error.to_string(),
            })?;
            let reported = self.toolchain.read(program, &read_text(&log)?);
            cases.extend(to_test_cases(&reported, &self.paths));
        }
        Ok(cases)
    }

    /// Builds the sources with probes, but for files that the compiler then refuses.
    async fn build_probed(
        &self,
        builds: &mut Builds,
        unit: &str,
        folder: &Path,
    ) -> Result<Option<Arc<Vec<TestProgram>>>, RunError> {
        let language = self.toolchain.probed_language();
        let probed = language.and_then(|one| ProbedSources::read(&self.from, one));
        let Some(mut probed) = probed else { return Ok(None) };
        for _ in 0..ROUNDS {
            builds.write_sources(&self.copy, probed.edits.clone())?;
            let built = self.build_in(self.toolchain.build(unit, folder), unit, folder).await?;
            let errors = match built {
                Ok(programs) => {
                    let mark = self.scratch.join("profile").display().to_string();
                    let mut programs = programs.as_ref().clone();
                    for program in &mut programs {
                        program.environment.insert(REACHED.to_owned(), mark.clone());
                    }
                    builds.probed = Some(probed);
                    return Ok(Some(Arc::new(programs)));
                }
                Err(errors) => errors,
            };
            let all = probed.edits.len();
            let is_refused = |edit: &FileEdit| errors.iter().any(|one| one.is_in(&edit.file));
            probed.edits.retain(|edit| !is_refused(edit));
            if probed.edits.len() == all {
                break;
            }
        }
        Ok(None)
    }

    /// Runs a test alone on the sources of the checkout, with the lines that it runs; `None` where these cannot
    /// be counted.
    async fn trace_test(&self, test: &TestId) -> Result<Option<Trace>, RunError> {
        let Some(unit) = self.toolchain.unit_of(test) else { return Ok(None) };
        let mut builds = self.open_builds().await?;
        if !builds.counting.contains_key(&unit) {
            builds.write_sources(&self.copy, Vec::new())?;
            let folder = self.scratch.join("counting");
            files::create_folder(&folder).map_err(cannot("create", &folder))?;
            let built = match self.toolchain.build_counting(&unit, &folder) {
                Some(argv) => self.build_in(argv, &unit, &folder).await.ok().and_then(Result::ok),
                None => self.build_probed(&mut builds, &unit, &folder).await?,
            };
            builds.counting.insert(unit.clone(), built);
        }
        let programs = builds.counting.get(&unit).cloned().flatten();
        drop(builds);
        let Some(programs) = programs else { return Ok(None) };
        let profile = self.scratch.join("profile");
        files::remove(&profile).map_err(cannot("remove", &profile))?;
        let option = self.toolchain.profile_option(&profile);
        let tests = std::slice::from_ref(test);
        let cases = self.start_tests(&programs, tests, (None, option), TRACING_ONE).await?;
        let written = read_text(&profile).unwrap_or_default();
        let lines = match &self.builds.lock().await.probed {
            Some(probed) => probed.lines_of(written.lines()),
            None => self.toolchain.executed_lines(&written),
        };
        let case = cases.into_iter().find(|case| case.id == *test);
        Ok(Some(trace_or_failed(test, case, lines)))
    }

    /// Results in the batch, if the edits are a branch of it.
    async fn run_branch(
        &self,
        edits: &EditSet,
        (unit, tests): (&str, &[TestId]),
        limit: Duration,
    ) -> Result<Option<Result<Vec<TestCase>, String>>, RunError> {
        let mut builds = self.open_builds().await?;
        let place = |builds: &Builds| {
            let batch = builds.batch.as_ref()?;
            let number = batch.candidates.iter().position(|one| one == edits)?;
            Some((number, batch.left_out.contains(&number), batch.refused.get(&number).cloned()))
        };
        let is_alone = builds.alone.iter().any(|build| build.candidates.first() == Some(edits));
        if is_alone || place(&builds).is_none_or(|(_, is_out, _)| is_out) {
            return Ok(None);
        }
        let programs = self.build_batch(&mut builds, unit).await?;
        let Some((number, false, refused)) = place(&builds) else { return Ok(None) };
        if let Some(message) = refused {
            return Ok(Some(Err(message)));
        }
        drop(builds);
        let Some(programs) = programs else { return Ok(None) };
        Ok(Some(Ok(self.start_tests(&programs, tests, (Some(number), None), limit).await?)))
    }

    /// Results in a build of the edits alone.
    async fn run_alone(
        &self,
        edits: &EditSet,
        (unit, tests): (&str, &[TestId]),
        limit: Duration,
    ) -> Result<Vec<TestCase>, NotBuilt> {
        let mut builds = self.open_builds().await?;
        let programs = self.build_alone(&mut builds, edits, unit).await?;
        drop(builds);
        Ok(self.start_tests(&programs, tests, (None, None), limit).await?)
    }

    /// Results of tests that no program holds, by the suite's own command.
    async fn run_others(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
    ) -> Result<Vec<TestCase>, RunError> {
        let mut builds = self.open_builds().await?;
        builds.write_sources(&self.copy, edits.files.clone())?;
        self.command.run_edited(tests, limit.max(STARTED)).await
    }

    /// What is built for tests, with those of them that it holds.
    fn by_unit(&self, tests: &[TestId]) -> BTreeMap<Option<String>, Vec<TestId>> {
        let mut units: BTreeMap<Option<String>, Vec<TestId>> = BTreeMap::new();
        for test in tests {
            units.entry(self.toolchain.unit_of(test)).or_default().push(test.clone());
        }
        units
    }

    /// The results of tests on edited sources; the message of a compiler that refuses them.
    async fn run_units(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
    ) -> Result<Vec<TestCase>, NotBuilt> {
        let mut cases = Vec::new();
        for (unit, tests) in self.by_unit(tests) {
            let Some(unit) = unit else {
                cases.extend(self.run_others(edits, &tests, limit).await?);
                continue;
            };
            let part = (unit.as_str(), tests.as_slice());
            match self.run_branch(edits, part, limit).await? {
                Some(Err(message)) => return Err(NotBuilt::Refused(message)),
                Some(Ok(found)) if !has_passed(&found, &tests) => cases.extend(found),
                Some(Ok(_)) | None => cases.extend(self.run_alone(edits, part, limit).await?),
            }
        }
        Ok(cases)
    }
}

fn has_passed(cases: &[TestCase], tests: &[TestId]) -> bool {
    cases.iter().any(|case| case.status == Status::Passed && tests.contains(&case.id))
}

#[async_trait]
impl CandidateRunner for CompiledRunner {
    fn speed(&self) -> Speed {
        Speed::Warm
    }

    fn batch(&self) -> usize {
        BATCH
    }

    async fn prepare(&self, candidates: Vec<EditSet>) {
        let mut builds = self.builds.lock().await;
        if let Some(old) = builds.batch.take() {
            files::remove_folder(&self.scratch.join(old.number.to_string()));
        }
        builds.started += 1;
        builds.batch = Some(Build::new(builds.started, candidates));
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let until = Instant::now() + TRACING;
        let (mut traces, mut untraced) = (Vec::new(), Vec::new());
        for test in tests {
            let is_late = Instant::now() > until;
            match if is_late { None } else { self.trace_test(test).await? } {
                Some(trace) => traces.push(trace),
                None => untraced.push(test.clone()),
            }
        }
        let cases = match self.run_units(&EditSet::default(), &untraced, TRACING).await {
            Ok(cases) => cases,
            Err(NotBuilt::Failed(error)) => return Err(error),
            Err(NotBuilt::Refused(reason)) => {
                return Err(RunError::Io { action: "build the tests".into(), reason });
            }
        };
        let reported = untraced.iter().filter_map(|id| cases.iter().find(|case| case.id == *id));
        traces.extend(reported.map(|case| trace_of(case.clone(), Lines::new())));
        Ok(traces)
    }

    async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        match self.run_units(&changes_of(edits), tests, limit).await {
            Ok(cases) => Ok(case_results(&cases, tests, stop_at_failure)),
            Err(NotBuilt::Failed(error)) => Err(error),
            Err(NotBuilt::Refused(message)) => {
                Ok(tests.iter().map(|id| CaseResult::not_built(id.clone(), &message)).collect())
            }
        }
    }
}
