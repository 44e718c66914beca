//! Which framework a repository uses, and what is missing to run it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use ignore::WalkBuilder;

use crate::adapter::host::environment;
use crate::adapter::host::process::{self, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::code::language::Language;
use crate::domain::id::RepoPath;
use crate::domain::shell;
use crate::effect::{RunError, SuiteFacts};

use super::format::without_colours;
use super::framework::{COMMAND, FRAMEWORKS, Framework, Scratch, Site};
use super::shims;

/// Files that are counted for the languages at most.
const COUNTED: usize = 20_000;

/// What was detected.
pub struct Detection {
    /// For people and for the session.
    pub facts: SuiteFacts,
    /// Frameworks that could have been meant as well.
    pub others: Vec<String>,
    /// What is missing, with how to get it; empty when the suite can start.
    pub missing: Vec<String>,
    pub(super) framework: &'static Framework,
    pub(super) site: Site,
}

/// Detects the framework in the nearest folder from `start` up to the root.
///
/// # Errors
///
/// [`RunError::UnknownFramework`] when no folder shows any sign.
pub fn detect(
    root: &Path,
    start: &str,
    command: Option<&str>,
    report: Option<&str>,
) -> Result<Detection, RunError> {
    let mut directory = start.to_owned();
    let path = search_path(root, start);
    loop {
        let site = Site {
            root: root.to_owned(),
            directory: directory.clone(),
            command: command.map(str::to_owned),
            report: report.map(str::to_owned),
            path: path.clone(),
        };
        let mut found: Vec<(&'static Framework, String)> = FRAMEWORKS
            .iter()
            // A report that is named is read, whatever the command runs.
            .filter(|_| report.is_none())
            .filter_map(|framework| Some((*framework, (framework.detect)(&site)?)))
            .collect();
        if found.is_empty()
            && let Some(evidence) = (COMMAND.detect)(&site)
        {
            found.push((COMMAND, evidence));
        }
        if let Some((framework, evidence)) = choose(&site, &found) {
            let others = found
                .iter()
                .filter(|(other, _)| other.name != framework.name)
                .map(|(other, evidence)| format!("{} ({evidence})", other.name))
                .collect();
            return Ok(describe(framework, site, evidence, others));
        }
        match directory.rsplit_once('/') {
            Some((parent, _)) => directory = parent.to_owned(),
            None if directory.is_empty() => {
                return Err(RunError::UnknownFramework {
                    directory: root.join(start),
                    looked_for: FRAMEWORKS.iter().map(|row| row.signals.to_owned()).collect(),
                });
            }
            None => directory.clear(),
        }
    }
}

/// Detects the framework, or where there are no tests yet, chooses one to begin with: that of the
/// language with most sources, and there what the language brings; a project that means pytest says
/// so somewhere, and is detected.
///
/// # Errors
///
/// [`RunError::UnknownFramework`] when there is no framework, and no Python and no JavaScript.
pub fn detect_or_begin(
    root: &Path,
    start: &str,
    command: Option<&str>,
) -> Result<Detection, RunError> {
    let error = match detect(root, start, command, None) {
        Err(error @ RunError::UnknownFramework { .. }) if command.is_none() => error,
        other => return other,
    };
    let site = Site {
        root: root.to_owned(),
        directory: start.to_owned(),
        command: None,
        report: None,
        path: search_path(root, start),
    };
    for language in languages(&site.folder()) {
        let names: &[&str] = match language.as_str() {
            "Python" => &["unittest"],
            "JavaScript" => &["node --test"],
            _ => continue,
        };
        let rows = names.iter().filter_map(|name| FRAMEWORKS.iter().find(|row| row.name == *name));
        for row in rows.copied() {
            if version(row, &site).is_some() {
                let evidence = format!("sources in {language} and no tests yet");
                return Ok(describe(row, site, evidence, Vec::new()));
            }
        }
    }
    Err(error)
}

/// The first that is found; pytest that is only hinted at and not installed yields to unittest.
fn choose(
    site: &Site,
    found: &[(&'static Framework, String)],
) -> Option<(&'static Framework, String)> {
    let (first, evidence) = found.first()?;
    if first.name == "pytest"
        && site.command.is_none()
        && version(first, site).is_none()
        && let Some((second, other)) = found.iter().find(|(row, _)| row.name == "unittest")
    {
        return Some((second, other.clone()));
    }
    Some((first, evidence.clone()))
}

fn describe(
    framework: &'static Framework,
    site: Site,
    evidence: String,
    others: Vec<String>,
) -> Detection {
    let version = version(framework, &site);
    let mut missing = Vec::new();
    if version.is_none() && !(framework.version)(&site).is_empty() {
        missing.push(format!("{} does not start: {}", framework.name, framework.install));
    }
    let nowhere = Path::new("");
    let scratch =
        Scratch { drivers: nowhere.into(), cases: nowhere.into(), chosen: nowhere.into() };
    let plan = (framework.plan)(&site, None, &scratch);
    let facts = SuiteFacts {
        framework: framework.name.to_owned(),
        version: version.unwrap_or_default(),
        directory: site.directory.clone(),
        command: plan.typed.unwrap_or_else(|| shell::line(&plan.argv)),
        format: framework.format.to_owned(),
        languages: languages(&site.folder()),
        evidence: vec![evidence],
    };
    Detection { facts, others, missing, framework, site }
}

/// The first line with a number; Gradle draws a rule above it, and Maven prints it in bold.
fn version_line(output: &str) -> Option<String> {
    let plain = without_colours(output);
    let line = plain.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()));
    line.or_else(|| plain.lines().find(|line| !line.trim().is_empty()))
        .map(|line| line.trim().to_owned())
}

/// The line in which the framework prints its version; `None` when it does not start.
fn version(framework: &Framework, site: &Site) -> Option<String> {
    let argv = (framework.version)(site);
    if argv.is_empty() {
        return None;
    }
    version_line(&said(argv, site)?)
}

/// The search path of children in a folder, where shims would stand in their way.
fn search_path(root: &Path, start: &str) -> Option<String> {
    let site = Site {
        root: root.to_owned(),
        directory: start.to_owned(),
        command: None,
        report: None,
        path: None,
    };
    let ask = |argv: &[&str]| {
        let said = said(argv.iter().map(|word| (*word).to_owned()).collect(), &site)?;
        said.lines().last().map(|line| line.trim().to_owned())
    };
    shims::past(&environment::variable("PATH")?, &ask)
}

/// What a short command of the project prints; `None` when it fails.
fn said(argv: Vec<String>, site: &Site) -> Option<String> {
    let home = tempfile::tempdir().ok()?;
    // Also a version is printed by code of the repository, where it brings its own tools.
    let access = Access {
        checkouts: Vec::new(),
        scratch: home.path().canonicalize().ok()?,
        kept: vec![site.root.clone()],
    };
    let mut environment = environment::of_child(home.path());
    environment.extend(site.path.clone().map(|path| ("PATH".to_owned(), path)));
    let invocation =
        Invocation { argv, directory: site.folder(), environment, access: Some(access) };
    process::output(&invocation, Duration::from_secs(20)).ok()
}

/// Languages of the sources, most files first.
#[must_use]
pub fn languages(folder: &Path) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in WalkBuilder::new(folder).build().flatten().take(COUNTED) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(language) = RepoPath::parse(name).ok().and_then(|name| Language::of(&name)) {
            *counts.entry(language.name()).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    counts.into_iter().map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::version_line;

    #[test]
    fn rules_and_bold_print_are_no_version() {
        let table = [
            ("\n-----\nGradle 4.4.1\n-----\n", Some("Gradle 4.4.1")),
            ("\u{1b}[1mApache Maven 3.8.7\u{1b}[m\nMaven home: /x1\n", Some("Apache Maven 3.8.7")),
            ("unknown\n", Some("unknown")),
            ("\n", None),
        ];
        for (output, expected) in table {
            assert_eq!(version_line(output).as_deref(), expected, "{output}");
        }
    }
}
