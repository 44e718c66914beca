//! The suite of one repository: its settings, and the environment of processes that run its code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use globset::Glob;

use crate::adapter::host::environment;
use crate::adapter::host::files;
use crate::adapter::host::process::Invocation;
use crate::adapter::host::sandbox::Access;
use crate::domain::language::Language;
use crate::domain::request::ToolCommands;
use crate::domain::test::Layer;
use crate::effect::{Clock, RunError};

use super::detect::Detection;
use super::format::PathMapper;
use super::framework::{self, RunFiles, Site};
use super::io_error::cannot;
use super::python_environment;
use super::suite_command::{COMPUTING_LIMIT, SuiteCommand};

/// The settings of a suite, besides what was detected.
#[derive(Clone, Debug)]
pub struct SuiteSettings {
    pub timeout: Duration,
    /// The session's folder, for logs.
    pub session: PathBuf,
    /// Folder for the home of test code, for drivers and for results.
    pub scratch: PathBuf,
    /// Globs of test files by layer.
    pub layers: BTreeMap<String, String>,
    /// Commands that prepare a checkout before its first run.
    pub setup: Vec<String>,
    /// Configured commands that replace detected tools.
    pub tools: ToolCommands,
}

/// The checkouts in which the set-up commands ran, with their inodes: a folder that was removed and
/// created again counts as another one.
pub type PreparedCheckouts = tokio::sync::Mutex<BTreeSet<(PathBuf, u64)>>;

/// The suite of one repository.
pub struct ProjectSuite<'a> {
    pub(super) detection: Detection,
    pub(super) settings: SuiteSettings,
    pub(super) prepared: PreparedCheckouts,
    /// Checkouts in which set-up commands ran, to which editable installations may lead.
    pub(super) installed: Mutex<BTreeSet<PathBuf>>,
    /// One program of calls at a time: their folder is shared.
    pub(super) calls: tokio::sync::Mutex<()>,
    /// Since a test hung: the limit of the others, from those that passed.
    pub(super) computing_limit: Mutex<Option<Duration>>,
    pub(super) clock: &'a dyn Clock,
}

/// Prepares the scratch folder and opens the suite.
/// Fails with [`RunError::UnlistablePath`] where Python may run and could not find our part.
pub fn open(
    detection: Detection,
    settings: SuiteSettings,
    clock: &dyn Clock,
) -> Result<ProjectSuite<'_>, RunError> {
    let language = detection.facts.framework.language();
    let may_be_python = language.is_none_or(|language| language == Language::Python);
    if may_be_python && std::env::join_paths([&settings.scratch]).is_err() {
        return Err(RunError::UnlistablePath { folder: settings.scratch });
    }
    let folders = [settings.scratch.join("home"), settings.scratch.join("drivers")];
    for folder in &folders {
        files::create_folder(folder).map_err(cannot("create", folder))?;
    }
    let nextest = framework::profile_settings(detection.site.command.as_ref());
    let drivers = DRIVERS.iter().copied().chain([("nextest.toml", nextest.as_str())]);
    for (name, text) in drivers {
        let path = settings.scratch.join("drivers").join(name);
        files::write(&path, text.as_bytes()).map_err(cannot("write", &path))?;
    }
    Ok(ProjectSuite {
        detection,
        settings,
        prepared: PreparedCheckouts::default(),
        installed: Mutex::default(),
        calls: tokio::sync::Mutex::default(),
        computing_limit: Mutex::default(),
        clock,
    })
}

/// Programs of ours that run inside the project's interpreter.
const DRIVERS: &[(&str, &str)] = &[
    ("regreen_pytest.py", include_str!("driver/regreen_pytest.py")),
    ("regreen_django.py", include_str!("driver/regreen_django.py")),
    ("regreen_lines.py", include_str!("driver/regreen_lines.py")),
    ("sitecustomize.py", include_str!("driver/sitecustomize.py")),
    ("unittest_driver.py", include_str!("driver/unittest_driver.py")),
    ("rspec_report.rb", include_str!("driver/rspec_report.rb")),
    ("minitest_report.rb", include_str!("driver/minitest_report.rb")),
    ("append_record.cjs", include_str!("driver/append_record.cjs")),
    ("ava_cache.cjs", include_str!("driver/ava_cache.cjs")),
    ("jasmine_reporter.cjs", include_str!("driver/jasmine_reporter.cjs")),
    ("load_error.cjs", include_str!("driver/load_error.cjs")),
    ("mocha_reporter.cjs", include_str!("driver/mocha_reporter.cjs")),
    ("early_exit.cjs", include_str!("driver/early_exit.cjs")),
    ("node_tests.cjs", include_str!("driver/node_tests.cjs")),
    ("process_end.cjs", include_str!("driver/process_end.cjs")),
    ("process_end.py", include_str!("driver/process_end.py")),
    ("sync_limit.cjs", include_str!("driver/sync_limit.cjs")),
    ("node_reporter.mjs", include_str!("driver/node_reporter.mjs")),
    ("warm_node.mjs", include_str!("driver/warm_node.mjs")),
    ("warm_vitest.mjs", include_str!("driver/warm_vitest.mjs")),
    ("warm_jest.mjs", include_str!("driver/warm_jest.mjs")),
    ("warm_java.java", include_str!("driver/warm_java.java")),
    ("apart.mjs", include_str!("driver/apart.mjs")),
    ("vitest_lines.mjs", include_str!("driver/vitest_lines.mjs")),
    ("jest_lines.cjs", include_str!("driver/jest_lines.cjs")),
    ("script_trace.cjs", include_str!("driver/script_trace.cjs")),
    ("script_lines.cjs", include_str!("driver/script_lines.cjs")),
    ("gradle_init.gradle", include_str!("driver/gradle_init.gradle")),
    ("warm_python.py", include_str!("driver/warm_python.py")),
    ("observe_python.py", include_str!("driver/observe_python.py")),
    ("observe_node.mjs", include_str!("driver/observe_node.mjs")),
    ("observe_types.mjs", include_str!("driver/observe_types.mjs")),
];

/// A variable that lists folders, if they can be listed.
pub(super) fn search_variable(
    name: &str,
    folders: impl IntoIterator<Item = PathBuf>,
) -> Option<(String, String)> {
    let joined = std::env::join_paths(folders).ok()?.into_string().ok()?;
    Some((name.to_owned(), joined))
}

/// Code that is compiled once needs more stack than the same code optimised, and the compiler of Java recurses.
const MORE_STACK: &str = "-Xss4m";

/// Options for a Java process that soon ends.
pub(super) const SHORT_LIVED: &str = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

impl ProjectSuite<'_> {
    /// The environment of test code in a checkout.
    pub(super) fn environment(&self, root: &Path) -> BTreeMap<String, String> {
        let mut environment = environment::of_child(&self.settings.scratch.join("home"));
        let drivers = self.settings.scratch.join("drivers");
        environment.insert("REGREEN_DRIVERS".into(), drivers.display().to_string());
        environment.extend(search_variable("PYTHONPATH", [drivers]));
        let limit = *self.computing_limit.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = limit.map(|limit| (COMPUTING_LIMIT.into(), limit.as_secs_f64().to_string()));
        environment.extend(limit);
        let installed = self.installed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sources = installed.into_iter().chain([self.detection.site.root.clone()]);
        let folders = [root.to_owned()].into_iter().chain(sources.filter(|source| source != root));
        // Not a search path: the folders of other people may have a `:` in their names.
        let folders: Vec<String> = folders.map(|folder| folder.display().to_string()).collect();
        environment.insert("REGREEN_EDITABLE".into(), folders.join("\n"));
        // Java reads the home folder from the user database and ignores `HOME`.
        let own = self.settings.scratch.join("home");
        let repository = environment::real_home().map(|home| home.join(".m2/repository"));
        let repository =
            repository.filter(|path| path.is_dir()).unwrap_or_else(|| own.join(".m2/repository"));
        let option = format!("-Dmaven.repo.local={}", repository.display());
        // Maven ends before a better compiler would pay.
        environment.insert("MAVEN_OPTS".into(), format!("{option} {SHORT_LIVED} {MORE_STACK}"));
        let gradle = own.join(".gradle").display().to_string();
        environment.entry("GRADLE_USER_HOME".into()).or_insert(gradle);
        environment.extend(self.detection.site.path.clone().map(|path| ("PATH".to_owned(), path)));
        // Commands that set a checkout up make an environment of its own there.
        let managed = self.detection.site.environment.as_deref();
        let managed = managed.filter(|_| self.settings.setup.is_empty());
        environment.extend(managed.map(python_environment::variables).unwrap_or_default());
        environment
    }

    /// What test code in a checkout may read and write.
    pub(super) fn access(&self, root: &Path) -> Access {
        Access {
            checkouts: vec![root.to_owned()],
            scratch: self.settings.scratch.clone(),
            protected: vec![self.detection.site.root.clone(), self.settings.session.clone()],
            ..Access::default()
        }
    }

    /// The suite's folder and settings in the given checkout.
    pub(super) fn site(&self, root: &Path) -> Site {
        Site { root: root.to_owned(), ..self.detection.site.clone() }
    }

    /// A child that runs code of a checkout in the suite's folder.
    pub(super) fn invocation(&self, root: &Path, argv: Vec<String>) -> Invocation {
        Invocation {
            argv,
            directory: self.site(root).working_folder(),
            environment: self.environment(root),
            access: Some(self.access(root)),
        }
    }

    /// The suite's own command in a checkout; its scratch files' names begin with `name`.
    pub(super) fn command(&self, root: &Path, name: &str, log: PathBuf) -> SuiteCommand {
        let scratch = &self.settings.scratch;
        SuiteCommand {
            adapter: self.detection.adapter,
            site: self.site(root),
            environment: self.environment(root),
            access: self.access(root),
            files: RunFiles {
                drivers: scratch.join("drivers"),
                results: scratch.join(format!("{name}cases")),
                selection: scratch.join(format!("{name}chosen")),
            },
            log,
        }
    }

    /// Maps the paths of reports into the repository.
    pub(super) fn path_mapper(&self, root: &Path) -> PathMapper {
        let layers = self.settings.layers.iter().filter_map(|(name, glob)| {
            let layer: Layer = serde_json::from_value(name.as_str().into()).unwrap_or_default();
            Some((Glob::new(glob).ok()?.compile_matcher(), layer))
        });
        PathMapper {
            root: root.canonicalize().unwrap_or_else(|_| root.to_owned()),
            directory: self.detection.site.directory.clone(),
            layers: layers.collect(),
        }
    }
}
