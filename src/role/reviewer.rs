//! Gate 001.3 and the half of gate 001.5 that needs no run: files in, findings and safe repairs out.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::smell::{self, Project};
use crate::domain::id::RepoPath;
use crate::domain::quality::{Finding, Remark, Stage, TestMetrics};

/// What to look at.
pub struct Review<'a> {
    /// Every file of the repository; those that are not read as text are empty.
    pub files: &'a BTreeMap<RepoPath, String>,
    /// The files to look at.
    pub chosen: &'a [&'a RepoPath],
    /// Files inside installed packages that are asked for by path, by package.
    pub installed: &'a BTreeMap<String, Vec<String>>,
    /// Whether test quality is looked at too.
    pub tests: bool,
}

/// What was found, and what can be repaired safely.
#[derive(Debug, Default)]
pub struct Reviewed {
    /// Findings by file and line.
    pub findings: Vec<Finding>,
    /// How complete the tests are, when that was asked.
    pub metrics: Option<TestMetrics>,
    /// Files that a program made; they are not looked at.
    pub made: Vec<RepoPath>,
    /// Files nested too deeply to be looked at.
    pub deep: Vec<RepoPath>,
    /// New texts, with the findings that they take away.
    pub repairs: BTreeMap<RepoPath, (String, Vec<Finding>)>,
}

/// Looks at the chosen files. Never fails; what cannot be read is a finding.
///
/// Source: product.md 6.3, 6.4, 6.6.
#[must_use]
pub fn review(request: &Review<'_>) -> Reviewed {
    let mut project = Project::of(request.files);
    for (package, files) in request.installed {
        project.install(package, files.iter().cloned());
    }
    let is_made =
        |file: &&RepoPath| request.files.get(*file).is_some_and(|text| smell::is_made(file, text));
    let (made, own): (Vec<&RepoPath>, Vec<&RepoPath>) =
        request.chosen.iter().partition(|file| is_made(file));
    let scanned = smell::scan(&own, request.files, &project);
    let mut found = scanned.found;
    found.retain(|one| request.tests || one.finding.stage == Stage::Code);
    let mut reviewed = Reviewed {
        made: made.into_iter().cloned().collect(),
        deep: scanned.deep,
        ..Reviewed::default()
    };
    for file in &own {
        if let Some(text) = request.files.get(*file)
            && let Some(repair) = smell::repair(file, text, &found)
        {
            reviewed.repairs.insert((*file).clone(), repair);
        }
    }
    if request.tests {
        reviewed.metrics = Some(smell::measure(&own, request.files, &project));
    }
    reviewed.findings = found.into_iter().map(|one| one.finding).collect();
    reviewed
}

/// Whether a file is of a language that can be looked at.
#[must_use]
pub fn reads(file: &RepoPath) -> bool {
    Language::of(file).is_some()
}

/// What a tool of the project said, as findings of a row; of files that are looked at only.
#[must_use]
pub fn told(
    row: &str,
    said: &[Remark],
    chosen: &BTreeSet<RepoPath>,
    can_fix: impl Fn(&RepoPath) -> bool,
) -> Vec<Finding> {
    let Some(row) = smell::row(row) else { return Vec::new() };
    let languages = row.languages();
    said.iter()
        .filter(|(file, _, _)| chosen.contains(file))
        .filter(|(file, _, _)| Language::of(file).is_some_and(|one| languages.contains(&one)))
        .map(|(file, line, text)| smell::finding(row, file, *line, text, can_fix(file)))
        .collect()
}
