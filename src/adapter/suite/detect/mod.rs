//! Detects the test framework of a repository, and what is missing to run it.

mod unrun;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ignore::WalkBuilder;

use crate::adapter::host::environment;
use crate::adapter::host::process::{self, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::code::language::{self, Language};
use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;
use crate::domain::test_command::TestCommand;
use crate::effect::{RunError, SuiteFacts};

use super::format::without_colours;
use super::framework::{
    DETECTION_ORDER, FrameworkAdapter, NamedRunner, RunFiles, SAMPLES, Site, adapter,
    is_certainly_pytest, named_runner, plugins_of_settings, starts_framework, words,
};
use super::python_environment::{self, Managed};
use super::version_managers;

/// Files that are counted at most to rank the languages.
const COUNTED: usize = 20_000;

/// Folders between a root and a package of it.
const PACKAGE_DEPTH: usize = 4;

/// The detected framework, and how it is run.
pub struct Detection {
    pub facts: SuiteFacts,
    /// Other frameworks of which signs were found in the same folder.
    pub others: Vec<String>,
    /// Folders below with tests of other frameworks, which are not run.
    pub packages: Vec<Package>,
    /// Suites of other languages beside the one that a configured command runs.
    pub beside_command: Vec<String>,
    /// Missing tools, with how to install them; empty when the suite can start.
    pub missing: Vec<String>,
    pub(super) adapter: &'static FrameworkAdapter,
    pub(super) site: Site,
}

impl Detection {
    /// Says which files the commit holds: none of them passes for a report of an earlier run.
    pub fn keep_committed(&mut self, files: &[RepoPath]) {
        let files = files.iter().map(|file| PathBuf::from(file.as_str()));
        self.site.committed = Arc::new(files.collect());
    }
}

/// A folder with tests of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Relative to the root of the repository.
    pub folder: String,
    pub framework: Framework,
    pub evidence: String,
}

/// Detects the framework in the nearest folder from `start` up to the root.
/// Fails with [`RunError::UnknownFramework`] when none of these folders shows signs of one, and with
/// [`RunError::ReportWithoutCommand`] when nobody named the command that writes a report.
pub fn detect(
    root: &Path,
    start: &str,
    command: Option<&str>,
    report: Option<&str>,
) -> Result<Detection, RunError> {
    if report.is_some() && command.is_none() {
        let found = detect(root, start, None, None).ok().map(|found| found.facts.framework);
        return Err(RunError::ReportWithoutCommand { found });
    }
    let mut directory = start.to_owned();
    let path = search_path(root, start);
    loop {
        let mut site = Site {
            command: command.map(TestCommand::new),
            report: report
                .map(|pattern| pattern_below(&root.join(&directory), pattern))
                .transpose()?,
            path: path.clone(),
            ..Site::new(root, &directory)
        };
        let managed = use_environment(&mut site);
        // A configured report is read as such, whatever the command runs.
        let mut matches = if report.is_none() { matches(&site) } else { Vec::new() };
        if matches.is_empty() {
            matches.extend(Match::of(Framework::Command, &site));
        }
        if let Some(best) = choose(&site, &matches, managed.as_ref()) {
            let others = matches
                .iter()
                .filter(|other| other.adapter.framework != best.adapter.framework)
                .map(|other| format!("{} ({})", other.adapter.framework, other.evidence))
                .collect();
            return Ok(with_environment(describe(best, site, others), managed));
        }
        if let Some(error) = needs_command(&site) {
            return Err(error);
        }
        match directory.rsplit_once('/') {
            Some((parent, _)) => directory = parent.to_owned(),
            None if directory.is_empty() => {
                return Err(unknown(&Site { path, ..Site::new(root, start) }));
            }
            None => directory.clear(),
        }
    }
}

/// A report pattern relative to the suite's folder, or [`RunError::ReportOutside`].
fn pattern_below(folder: &Path, pattern: &str) -> Result<String, RunError> {
    let resolved = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let path = Path::new(pattern);
    let below = path.strip_prefix(folder).or_else(|_| path.strip_prefix(&resolved)).unwrap_or(path);
    let leaves = below.components().any(|part| part == Component::ParentDir);
    match below.to_str().filter(|_| below.is_relative() && !leaves) {
        Some(below) => Ok(below.to_owned()),
        None => Err(RunError::ReportOutside { pattern: pattern.to_owned() }),
    }
}

/// Detects the framework or, for a project without tests, chooses the one built into the language
/// with the most sources. A project that uses pytest mentions it somewhere, so it is detected.
/// Fails like [`detect`] when nothing is detected and there are no Python and no JavaScript sources.
pub fn detect_or_begin(
    root: &Path,
    start: &str,
    command: Option<&str>,
    report: Option<&str>,
) -> Result<Detection, RunError> {
    let error = match detect(root, start, command, report) {
        Err(error @ RunError::UnknownFramework { .. }) if command.is_none() && report.is_none() => {
            error
        }
        other => return other,
    };
    let site = Site { path: search_path(root, start), ..Site::new(root, start) };
    for language in languages(&site.working_folder()) {
        let Some(framework) = Framework::built_into(language) else { continue };
        let adapter = adapter(framework);
        if version(adapter, &site).is_some() {
            let evidence = format!("sources in {} and no tests yet", language.name());
            return Ok(describe(Match { adapter, evidence }, site, Vec::new()));
        }
    }
    Err(error)
}

/// Puts the environment that a tool of the project has made in front of the search path.
fn use_environment(site: &mut Site) -> Option<Managed> {
    let own = site.clone();
    let managed = python_environment::find(&own, &|argv| {
        // It keeps environments and settings in the user's home.
        let home = environment::real_home()?;
        let scratch = tempfile::tempdir().ok()?;
        let mut variables = environment::of_child(&home);
        for name in ["UV_CACHE_DIR", "XDG_STATE_HOME"] {
            variables.insert(name.to_owned(), scratch.path().display().to_string());
        }
        printed(argv, &own, scratch.path(), variables)
    })?;
    if let Some(folder) = &managed.environment {
        let path = site.path.clone().or_else(|| environment::variable("PATH")).unwrap_or_default();
        let folders = [folder.join("bin")].into_iter().chain(std::env::split_paths(&path));
        site.path = std::env::join_paths(folders).ok().and_then(|path| path.into_string().ok());
        site.environment = Some(folder.clone());
    }
    Some(managed)
}

/// The same suite of Python, with what is known of its environment.
fn with_environment(mut detection: Detection, managed: Option<Managed>) -> Detection {
    let framework = detection.facts.framework;
    let Some(managed) = managed.filter(|_| framework.is_python()) else { return detection };
    let Managed { sign, environment, advice } = managed;
    match environment {
        Some(folder) => {
            detection
                .facts
                .evidence
                .push(format!("{sign} with the environment {}", folder.display()));
        }
        // A command of the user's starts the tool, which then says it.
        None if detection.site.command.is_some() => {}
        None if detection.missing.is_empty() => {
            detection.facts.evidence.push(format!(
                "{sign}, but its environment is not there, so that the python3 of the search path runs the tests ({advice})"
            ));
        }
        None => {}
    }
    // What lacks only a plugin starts without it.
    if !detection.missing.is_empty() && detection.facts.version.is_empty() {
        detection.missing = vec![format!("{framework} does not start: {advice}")];
    }
    detection
}

/// The runner of a folder that somebody has to name a command for.
fn needs_command(site: &Site) -> Option<RunError> {
    let found = named_runner(site).filter(|_| site.command.is_none() && site.report.is_none())?;
    let NamedRunner { name: runner, evidence, options } = found;
    Some(RunError::NeedsCommand { runner, evidence, options })
}

/// Why nothing is detected in a folder: tests further below, or a script that is not known.
fn unknown(site: &Site) -> RunError {
    let packages = packages(site, None).into_iter();
    RunError::UnknownFramework {
        directory: site.root.join(&site.directory).components().collect(),
        script: site.test_script(),
        packages: packages.map(|one| (one.folder, one.framework)).collect(),
        looked_for: DETECTION_ORDER.map(|framework| adapter(framework).signals.to_owned()).into(),
    }
}

/// The frameworks of a folder, by the configured command or manifests, then by test files.
fn matches(site: &Site) -> Vec<Match> {
    let found = DETECTION_ORDER.into_iter().filter_map(|framework| Match::of(framework, site));
    let mut found: Vec<Match> = found.collect();
    // What the test script of npm starts runs the tests; others may be installed for another purpose.
    found.sort_by_key(|one| site.command.is_none() && !starts_framework(site, one.adapter));
    // Beside a test script of npm, files named like tests of Python are not what the project runs.
    let is_scripted = site.test_script().is_some();
    let by_tests =
        |framework: &Framework| site.command.is_none() && !(is_scripted && framework.is_python());
    for framework in DETECTION_ORDER.into_iter().filter(by_tests) {
        let adapter = adapter(framework);
        if !found.iter().any(|known| known.adapter.framework == framework)
            && let Some(evidence) = (adapter.detect_by_tests)(site)
        {
            found.push(Match { adapter, evidence });
        }
    }
    found
}

/// A framework that a folder uses, with the evidence.
#[derive(Clone)]
struct Match {
    adapter: &'static FrameworkAdapter,
    evidence: String,
}

impl Match {
    fn of(framework: Framework, site: &Site) -> Option<Self> {
        let adapter = adapter(framework);
        let evidence = adapter.evidence(site)?;
        Some(Self { adapter, evidence })
    }
}

/// The first match, but unittest where a Python exists and the pytest that is only mentioned does not. In
/// an environment that is not there yet, pytest is only not installed.
fn choose(site: &Site, matches: &[Match], managed: Option<&Managed>) -> Option<Match> {
    let first = matches.first()?;
    if first.adapter.framework == Framework::Pytest
        && site.command.is_none()
        && !is_certainly_pytest(site)
        && managed.is_none_or(|managed| managed.environment.is_some())
        && version(first.adapter, site).is_none()
        && let Some(second) =
            matches.iter().find(|other| other.adapter.framework == Framework::Unittest)
        && version(second.adapter, site).is_some()
    {
        return Some(second.clone());
    }
    Some(first.clone())
}

fn describe(best: Match, site: Site, others: Vec<String>) -> Detection {
    let Match { adapter, evidence } = best;
    let version = version(adapter, &site).map(|version| {
        // `Gradle 8.1` of Gradle is shown behind its name.
        let name = format!("{} ", adapter.framework);
        version.strip_prefix(&name).map(str::to_owned).unwrap_or(version)
    });
    let mut missing = Vec::new();
    if version.is_none() && !(adapter.version)(&site).is_empty() {
        let install = (adapter.install)(&site);
        missing.push(format!("{} does not start: {install}", adapter.framework));
    }
    if adapter.framework == Framework::Pytest && version.is_some() && site.command.is_none() {
        let is_missing = |plugin: &String| {
            let asked = format!("import importlib.metadata as it; print(it.version('{plugin}'))");
            output_of(vec![site.find_python(), "-c".into(), asked], &site).is_none()
        };
        let plugin = plugins_of_settings(&site).into_iter().find(is_missing);
        missing.extend(plugin.map(|one| format!("the settings of pytest have an option of {one}, which is not installed: `python3 -m pip install {one}`")));
    }
    let packages = match site.command {
        None => packages(&site, Some(adapter.framework)),
        Some(_) => Vec::new(),
    };
    let unrun = unrun::find(&site, adapter.framework, &packages);
    // Whoever names a command has chosen.
    let (not_run, beside_command) = match site.command {
        None => (unrun, Vec::new()),
        Some(_) => (Vec::new(), unrun),
    };
    let facts = SuiteFacts {
        framework: adapter.framework,
        version: version.unwrap_or_default(),
        directory: site.directory.clone(),
        command: (adapter.command)(&site, None, &no_files()).display,
        format: adapter.format.to_owned(),
        languages: counted(&site.working_folder(), &|file| Some((language::name_of(file)?, ())))
            .into_iter()
            .map(|(name, ())| name.to_owned())
            .collect(),
        evidence: vec![evidence],
        not_run,
    };
    Detection { facts, others, packages, beside_command, missing, adapter, site }
}

/// The files of a command that is shown and not run.
fn no_files() -> RunFiles {
    let nowhere = Path::new("");
    RunFiles { drivers: nowhere.into(), results: nowhere.into(), selection: nowhere.into() }
}

/// Files that begin a package.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "build.gradle",
    "build.gradle.kts",
    "go.mod",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "pytest.ini",
    ".pytest.ini",
    "requirements.txt",
    "setup.cfg",
    "setup.py",
    "tox.ini",
];

/// Packages below a folder: those whose tests `root`, the framework of the folder itself, does not
/// run. In a folder without a framework or a test script, tests of Python make a package too.
fn packages(site: &Site, root: Option<Framework>) -> Vec<Package> {
    let are_tests_enough = root.is_none() && site.test_script().is_none();
    let is_sample = |name: &str| SAMPLES.contains(&name);
    // A least depth would keep ignored folders above it, such as `node_modules`, from being left out.
    let found = WalkBuilder::new(site.working_folder())
        .max_depth(Some(PACKAGE_DEPTH))
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(move |entry| !is_sample(&entry.file_name().to_string_lossy()))
        .build();
    let mut packages: Vec<Package> = Vec::new();
    for entry in found.flatten().take(COUNTED) {
        let name = entry.file_name().to_string_lossy();
        let is_test = are_tests_enough && name.starts_with("test") && name.ends_with(".py");
        let folder = entry.path().parent().and_then(|path| path.strip_prefix(&site.root).ok());
        let Some(mut folder) = folder.and_then(Path::to_str) else { continue };
        if is_test {
            // The folder of tests belongs to what it tests.
            let (above, last) = folder.rsplit_once('/').unwrap_or(("", folder));
            folder = if ["tests", "test"].contains(&last) { above } else { folder };
        }
        let is_known = packages
            .iter()
            .any(|known| known.folder == folder || (is_test && is_below(folder, &known.folder)));
        if is_known || folder == site.directory || !(is_test || MANIFESTS.contains(&&*name)) {
            continue;
        }
        let below = Site { path: site.path.clone(), ..Site::new(&site.root, folder) };
        let best = matches(&below).into_iter().next();
        let is_apart = |best: &Match| {
            Some(best.adapter.framework) != root
                || is_left_out(site, best.adapter.framework, folder)
        };
        packages.extend(best.filter(is_apart).map(|best| {
            let framework = best.adapter.framework;
            Package { folder: folder.to_owned(), framework, evidence: best.evidence }
        }));
    }
    packages
}

/// Whether the framework of a folder leaves out a package below that is its own too.
fn is_left_out(site: &Site, framework: Framework, folder: &str) -> bool {
    match framework {
        // <https://go.dev/ref/mod>: a module ends where another one begins; a folder with such a name is no
        // package for any.
        Framework::GoTest => !folder.split('/').any(|name| name.starts_with('_')),
        // Beside a root package, the members of a workspace are tested on request only.
        Framework::CargoTest | Framework::Nextest => {
            let manifest = std::fs::read_to_string(site.working_folder().join("Cargo.toml"));
            manifest
                .is_ok_and(|text| text.contains("[package]") && !text.contains("default-members"))
        }
        _ => false,
    }
}

/// Whether a folder lies in another one.
fn is_below(folder: &str, other: &str) -> bool {
    folder.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
}

/// The first line with a digit: Gradle prints a rule above its version, Maven prints it in bold.
fn version_line(output: &str) -> Option<String> {
    let plain = without_colours(output);
    let line = plain.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()));
    line.or_else(|| plain.lines().find(|line| !line.trim().is_empty()))
        .map(|line| line.trim().to_owned())
}

/// The line in which the framework prints its version; `None` when it does not start.
fn version(adapter: &FrameworkAdapter, site: &Site) -> Option<String> {
    let argv = (adapter.version)(site);
    if argv.is_empty() {
        return None;
    }
    version_line(&output_of(argv, site)?)
}

/// The search path of children in a folder, with the shims of version managers resolved.
fn search_path(root: &Path, start: &str) -> Option<String> {
    let site = Site::new(root, start);
    let run = |argv: &[&str]| {
        let output = output_of(words(argv), &site)?;
        output.lines().last().map(|line| line.trim().to_owned())
    };
    version_managers::resolve_shims(&environment::variable("PATH")?, &run)
}

/// What a short command of the project prints; `None` when it fails.
fn output_of(argv: Vec<String>, site: &Site) -> Option<String> {
    let home = tempfile::tempdir().ok()?;
    let environment = environment::of_child(home.path());
    printed(argv, site, home.path(), environment)
}

/// What a short command of the project prints that may write to one folder; `None` when it fails.
fn printed(
    argv: Vec<String>,
    site: &Site,
    scratch: &Path,
    mut environment: BTreeMap<String, String>,
) -> Option<String> {
    // Even printing a version runs code of the repository, if it brings its own tools.
    let access = Access {
        checkouts: Vec::new(),
        scratch: scratch.canonicalize().ok()?,
        protected: vec![site.root.clone()],
        ..Access::default()
    };
    environment.extend(site.path.clone().map(|path| ("PATH".to_owned(), path)));
    let invocation =
        Invocation { argv, directory: site.working_folder(), environment, access: Some(access) };
    process::output(&invocation, Duration::from_secs(20)).ok()
}

/// Languages of the sources that are parsed, the most frequent first; TSX counts as TypeScript.
pub fn languages(folder: &Path) -> Vec<Language> {
    let language = |file: &RepoPath| Language::of(file).map(|one| (one.name(), one));
    counted(folder, &language).into_iter().map(|(_, language)| language).collect()
}

/// What names the languages of the files below a folder, the most frequent first.
fn counted<T: Copy>(
    folder: &Path,
    named: &dyn Fn(&RepoPath) -> Option<(&'static str, T)>,
) -> Vec<(&'static str, T)> {
    let mut counts: BTreeMap<&str, (usize, T)> = BTreeMap::new();
    for entry in WalkBuilder::new(folder).build().flatten().take(COUNTED) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some((name, value)) = RepoPath::parse(name).ok().and_then(|name| named(&name)) {
            counts.entry(name).or_insert((0, value)).0 += 1;
        }
    }
    let mut counts: Vec<(&str, (usize, T))> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.0.cmp(&a.1.0).then(a.0.cmp(b.0)));
    counts.into_iter().map(|(name, (_, value))| (name, value)).collect()
}

#[cfg(test)]
mod tests;
