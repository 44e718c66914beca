//! One run: command, process, report, evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use globset::Glob;

use crate::adapter::host::environment;
use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::coverage::Measured;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::request::ToolCommands;
use crate::domain::shell;
use crate::domain::test::{Layer, Results, Scope};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, Clock, Concern, FixedFiles, LintReport, RunError,
    RunRequest, Suite, SuiteFacts,
};

use super::detect::Detection;
use super::format::{Place, settle_all};
use super::framework::command_files;
use super::framework::{Left, Plan, Read, Scratch, Site};
use super::set_up::Prepared;
use super::{check, cold, coverage, warm};
use super::{fixers, tools};

/// One test may take this part of the limit of a whole run.
const TESTS_PER_RUN: u32 = 20;

/// Bytes of output that an error shows.
const EVIDENCE: u64 = 2 << 10;

/// What a suite is opened with, besides what was detected.
#[derive(Clone, Debug)]
pub struct SuiteSettings {
    /// Limit of one run.
    pub timeout: Duration,
    /// The session's folder, for logs.
    pub session: PathBuf,
    /// Folder for the home of test code, drivers and results.
    pub scratch: PathBuf,
    /// Globs of test files by layer.
    pub layers: BTreeMap<String, String>,
    /// Commands that prepare a checkout before its first run.
    pub setup: Vec<String>,
    /// Commands instead of the detected tools.
    pub tools: ToolCommands,
}

/// The suite of one repository.
pub struct ProjectSuite<'a> {
    pub(super) detection: Detection,
    pub(super) settings: SuiteSettings,
    pub(super) prepared: Prepared,
    clock: &'a dyn Clock,
}

/// Prepares the scratch folder and opens the suite.
///
/// # Errors
///
/// [`RunError::Io`] when the scratch folder cannot be written.
pub fn open(
    detection: Detection,
    settings: SuiteSettings,
    clock: &dyn Clock,
) -> Result<ProjectSuite<'_>, RunError> {
    let folders = [settings.scratch.join("home"), settings.scratch.join("drivers")];
    for folder in &folders {
        files::create_folder(folder).map_err(|error| io("create", folder, &error))?;
    }
    for (name, text) in DRIVERS {
        let path = settings.scratch.join("drivers").join(name);
        files::write(&path, text.as_bytes()).map_err(|error| io("write", &path, &error))?;
    }
    Ok(ProjectSuite { detection, settings, prepared: Prepared::default(), clock })
}

/// Programs of ours that run inside the project's interpreter.
const DRIVERS: &[(&str, &str)] = &[
    ("regreen_pytest.py", include_str!("driver/regreen_pytest.py")),
    ("unittest_driver.py", include_str!("driver/unittest_driver.py")),
    ("node_reporter.mjs", include_str!("driver/node_reporter.mjs")),
    ("warm_node.mjs", include_str!("driver/warm_node.mjs")),
    ("warm_vitest.mjs", include_str!("driver/warm_vitest.mjs")),
    ("warm_jest.mjs", include_str!("driver/warm_jest.mjs")),
    ("apart.mjs", include_str!("driver/apart.mjs")),
    ("vitest_lines.mjs", include_str!("driver/vitest_lines.mjs")),
    ("jest_lines.cjs", include_str!("driver/jest_lines.cjs")),
    ("script_trace.cjs", include_str!("driver/script_trace.cjs")),
    ("script_lines.cjs", include_str!("driver/script_lines.cjs")),
    ("nextest.toml", include_str!("driver/nextest.toml")),
    ("gradle_init.gradle", include_str!("driver/gradle_init.gradle")),
    ("warm_python.py", include_str!("driver/warm_python.py")),
    ("observe_python.py", include_str!("driver/observe_python.py")),
    ("observe_node.mjs", include_str!("driver/observe_node.mjs")),
    ("observe_types.mjs", include_str!("driver/observe_types.mjs")),
];

fn io(action: &str, path: &Path, error: &std::io::Error) -> RunError {
    RunError::Io { action: format!("{action} {}", path.display()), reason: error.to_string() }
}

impl ProjectSuite<'_> {
    /// The environment of test code in a checkout.
    pub(super) fn environment(&self, root: &Path) -> BTreeMap<String, String> {
        let mut environment = environment::of_child(&self.settings.scratch.join("home"));
        let folder = root.join(&self.detection.site.directory);
        let mut search: Vec<PathBuf> = vec![self.settings.scratch.join("drivers")];
        // The checkout goes before any editable installation of the user's own files.
        search.extend(
            [folder.join("src"), root.join("src")].into_iter().filter(|path| path.is_dir()),
        );
        search.push(folder);
        search.dedup();
        if let Ok(joined) = std::env::join_paths(&search)
            && let Some(joined) = joined.to_str()
        {
            environment.insert("PYTHONPATH".into(), joined.to_owned());
        }
        // Java takes the home of the password file, whatever the environment says.
        let own = self.settings.scratch.join("home");
        let repository = environment::real_home().map(|home| home.join(".m2/repository"));
        let repository =
            repository.filter(|path| path.is_dir()).unwrap_or_else(|| own.join(".m2/repository"));
        let option = format!("-Dmaven.repo.local={}", repository.display());
        environment.insert("MAVEN_OPTS".into(), option);
        let gradle = own.join(".gradle").display().to_string();
        environment.entry("GRADLE_USER_HOME".into()).or_insert(gradle);
        environment.extend(self.detection.site.path.clone().map(|path| ("PATH".to_owned(), path)));
        environment
    }

    /// What test code in a checkout may touch.
    pub(super) fn access(&self, root: &Path) -> Access {
        Access {
            checkouts: vec![root.to_owned()],
            scratch: self.settings.scratch.clone(),
            kept: vec![self.detection.site.root.clone(), self.settings.session.clone()],
        }
    }

    /// The site, moved to the checkout that is tested.
    pub(super) fn site(&self, root: &Path) -> Site {
        Site { root: root.to_owned(), ..self.detection.site.clone() }
    }

    /// Where paths of reports belong.
    pub(super) fn place(&self, root: &Path) -> Place {
        let layers = self.settings.layers.iter().filter_map(|(name, glob)| {
            let layer = match name.as_str() {
                "static" => Layer::Static,
                "integration" => Layer::Integration,
                "e2e" => Layer::EndToEnd,
                _ => Layer::Unit,
            };
            Some((Glob::new(glob).ok()?.compile_matcher(), layer))
        });
        Place {
            root: root.canonicalize().unwrap_or_else(|_| root.to_owned()),
            directory: self.detection.site.directory.clone(),
            layers: layers.collect(),
        }
    }

    async fn start(
        &self,
        root: &Path,
        scope: &Scope,
        log: &Path,
    ) -> Result<(Plan, Read, Ending), RunError> {
        let site = self.site(root);
        let scratch = Scratch {
            drivers: self.settings.scratch.join("drivers"),
            cases: self.settings.scratch.join("cases"),
            chosen: self.settings.scratch.join("chosen"),
        };
        clear(&scratch.cases)?;
        let chosen = match scope {
            Scope::Full => None,
            Scope::Tests(ids) => {
                write_chosen(&scratch.chosen, ids)?;
                Some(ids.as_slice())
            }
        };
        let plan = (self.detection.framework.plan)(&site, chosen, &scratch);
        let folder = site.folder();
        if let Some(pattern) = &plan.stale {
            for old in command_files(&folder, pattern)? {
                clear(&old)?;
            }
        }
        let mut environment = self.environment(root);
        environment.extend(plan.environment.clone());
        // A test that hangs is a failing test where the framework lets us stop it.
        let limit = (self.settings.timeout / TESTS_PER_RUN).max(Duration::from_secs(5));
        environment.insert("REGREEN_TEST_LIMIT".into(), limit.as_secs().to_string());
        let access = Some(self.access(root));
        let invocation =
            Invocation { argv: plan.argv.clone(), directory: folder.clone(), environment, access };
        let typed = typed(&plan);
        let ending =
            process::run(&invocation, self.settings.timeout, log).await.map_err(|error| {
                RunError::NotStarted { command: typed.clone(), reason: error.to_string() }
            })?;
        if ending == Ending::TimedOut {
            let limit = self.settings.timeout;
            return Err(RunError::TimedOut { command: typed, limit, log: log.to_owned() });
        }
        // A shell answers 127 for a command it cannot find.
        if ending == Ending::Exit(127) {
            let reason = process::tail_of(log, 300).trim().to_owned();
            return Err(RunError::NotStarted { command: typed, reason });
        }
        let left = Left { folder: &folder, typed: &typed, cases: &scratch.cases, log, site: &site };
        let read = (self.detection.framework.read)(&left)?;
        Ok((plan, read, ending))
    }
}

fn typed(plan: &Plan) -> String {
    plan.typed.clone().unwrap_or_else(|| shell::line(&plan.argv))
}

fn clear(path: &Path) -> Result<(), RunError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io("remove", path, &error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// One id per line; an id with a line break cannot be chosen and is left out.
pub(super) fn write_chosen(path: &Path, ids: &[TestId]) -> Result<(), RunError> {
    let lines: Vec<&str> = ids.iter().map(TestId::as_str).filter(|id| !id.contains('\n')).collect();
    files::write(path, lines.join("\n").as_bytes()).map_err(|error| io("write", path, &error))
}

#[async_trait]
impl Suite for ProjectSuite<'_> {
    fn facts(&self) -> &SuiteFacts {
        &self.detection.facts
    }

    async fn check(&self, root: &Path, files: &[RepoPath]) -> Option<String> {
        let log = self.settings.scratch.join("check.log");
        let child = (self.environment(root), self.access(root));
        let build = self.settings.tools.build.as_deref();
        check::check(&self.site(root), root, (files, build), child, &log).await
    }

    async fn opinions(&self, root: &Path, concerns: &[Concern], own: &ToolCommands) -> LintReport {
        let scratch = self.settings.scratch.join("tools");
        match files::create_folder(&scratch) {
            Ok(()) => tools::tools(root, &scratch, concerns, own).await,
            Err(error) => {
                let reason = format!("{}: {error}", scratch.display());
                let skipped = vec![("the project's own tools".to_owned(), reason)];
                LintReport { skipped, ..LintReport::default() }
            }
        }
    }

    async fn mended(&self, root: &Path, chosen: &[RepoPath]) -> FixedFiles {
        let scratch = self.settings.scratch.join("tools");
        match files::create_folder(&scratch) {
            Ok(()) => fixers::mended(root, &scratch, chosen).await,
            Err(_) => FixedFiles::default(),
        }
    }

    async fn coverage(&self, root: &Path, files: &BTreeSet<RepoPath>) -> Measured {
        let around = coverage::Around {
            site: &self.site(root),
            root,
            out: self.settings.scratch.join("coverage"),
            drivers: self.settings.scratch.join("drivers"),
            child: (self.environment(root), self.access(root)),
            limit: self.settings.timeout,
            log: self.settings.session.join(".process/coverage.log"),
            tools: &self.settings.tools,
        };
        coverage::measure(&self.detection.facts.framework, files, &around).await
    }

    async fn run(&self, request: &RunRequest<'_>) -> Result<Results, RunError> {
        self.set_up(request.root).await?;
        let log = self.settings.session.join(request.log);
        let started_at = self.clock.now();
        let began = self.clock.elapsed();
        let (plan, read, ending) = self.start(request.root, request.scope, &log).await?;
        let took = self.clock.elapsed().saturating_sub(began);
        let command = typed(&plan);
        if read.told.is_empty() && (ending == Ending::Exit(0) || read.complete) {
            return Err(RunError::NoTests { command, log });
        }
        if !read.complete {
            let tail = process::tail_of(&log, EVIDENCE);
            return Err(RunError::NoReport { command, ending: ending.to_string(), tail, log });
        }
        let cases = settle_all(&read.told, &self.place(request.root));
        let exit_code = match ending {
            Ending::Exit(code) => Some(code),
            Ending::Signal(_) | Ending::TimedOut => None,
        };
        Ok(Results {
            cases,
            scope: request.scope.clone(),
            command,
            exit_code,
            started_at,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            log: request.log.to_owned(),
        })
    }

    async fn trial(
        &self,
        request: &CandidateRunnerRequest<'_>,
    ) -> Result<Box<dyn CandidateRunner>, RunError> {
        self.set_up(request.root).await?;
        if let Some(trial) = warm::open(self, request).await? {
            return Ok(trial);
        }
        cold::open(self, request)
    }
}
