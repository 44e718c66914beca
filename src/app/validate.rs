//! Use case: check the quality of code and tests (the code check) in any repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::adapter::host::{clock, files, redaction};
use crate::adapter::repo::{self, RepositoryFacts, Sources};
use crate::adapter::suite;
use crate::adapter::{state_root, store, work_root};
use crate::config::glob_set;
use crate::domain::id::RepoPath;
use crate::domain::quality::{
    Finding, FindingCounts, FindingLimits, MAX_RETRIES, QualityDecision, Stage, decide,
};
use crate::domain::request::ToolCommands;
use crate::effect::{Concern, LintReport, StoreError};
use crate::report::test_quality::{self, TestQuality};
use crate::report::validation::{Parts, Skipped, ValidationReport, by_severity, render_markdown};
use crate::role::{
    ReviewRequest, ReviewResult, add_findings, review, tool_findings, unchecked_languages,
};

use super::settings::{configured, contain, limits, tool_commands};
use super::{AppError, ValidateRequest};

/// The report of one check, and whether both gates are met.
pub struct ValidateOutcome {
    /// The findings and the decision.
    pub report: ValidationReport,
    /// Whether both gates are met.
    pub met: bool,
}

/// What to check, and how strictly, with the configuration merged in.
struct Scope<'a> {
    request: &'a ValidateRequest,
    files: Vec<String>,
    skip_types: bool,
    autofix: bool,
}

/// Checks code and tests, repairs what the configuration allows, and writes the reports.
///
/// # Errors
///
/// When the request or the configuration is wrong, or files cannot be read or written.
pub async fn validate(request: &ValidateRequest) -> Result<ValidateOutcome, AppError> {
    let (facts, below) = place(&request.paths)?;
    let settings = configured(&facts.root, request.config.as_ref(), &request.set)?;
    let keys = settings.validate.clone().unwrap_or_default();
    let scope = Scope {
        request,
        files: keys.files.unwrap_or_default(),
        skip_types: keys.skip_types == Some(true),
        autofix: keys.fix == Some(true),
    };
    if scope.autofix && scope.files.is_empty() && request.base.is_none() && request.paths.is_empty()
    {
        return Err(AppError::usage(
            "--fix changes only files that are named or changed",
            "name a PATH, or add `--files GLOB` or `--base REF`",
        ));
    }
    contain(&settings)?;
    let commands = tool_commands(&settings);
    let folder = match &request.session {
        Some(id) => Some(store::find(&state_root(&facts), id)?.0.join(".process")),
        None => request.report.clone(),
    };
    let mut sources = repo::read_sources(&facts);
    let chosen = choose(&scope, &facts, &below, &sources)?;
    let scratch = work_root(&facts).join("validate");
    files::create_folder(&scratch).map_err(|source| failed(&scratch, source))?;
    let inspection = Inspection {
        scope: &scope,
        facts: &facts,
        chosen: &chosen,
        scratch: &scratch,
        commands: &commands,
    };
    let mut inspected = inspection.run(&sources).await;
    let (fixed, retries) = inspection.repair(&mut inspected, &mut sources).await?;
    let session = request.session.as_ref().map(ToString::to_string);
    let unread = sources.unread.into_iter().map(|(what, reason)| Skipped { what, reason });
    inspected.skipped = unread.chain(inspected.skipped).collect();
    let outcome = decide_on(inspected, limits(&settings), session, fixed, retries);
    if let Some(folder) = &folder {
        write_reports(&outcome.report, folder)?;
    }
    Ok(outcome)
}

/// For each line after a repair, the line before it, or for a new one that above it, from 1.
fn original_lines(before: &str, after: &str) -> Vec<u32> {
    let mut lines = Vec::new();
    for change in similar::TextDiff::from_lines(before, after).ops() {
        let old = change.old_range();
        for offset in 0..change.new_range().len() {
            // The last line of the old range, or the line above an empty one.
            let line = (old.start + offset + 1).min(old.end).max(1);
            lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        }
    }
    lines
}

/// Sets the lines of findings in repaired files to those of the files before all repairs.
fn restore_lines(
    findings: &mut [Finding],
    originals: &BTreeMap<RepoPath, String>,
    sources: &Sources,
) {
    for (file, before) in originals {
        let Some(after) = sources.files.get(file) else { continue };
        let lines = original_lines(before, after);
        for finding in findings.iter_mut().filter(|one| one.file == *file) {
            let index =
                (finding.line as usize).saturating_sub(1).min(lines.len().saturating_sub(1));
            finding.line = lines.get(index).copied().unwrap_or(finding.line);
        }
    }
}

fn apply(
    repairs: &BTreeMap<RepoPath, String>,
    root: &Path,
    sources: &mut Sources,
) -> Result<(), AppError> {
    for (file, text) in repairs {
        files::write_below(root, Path::new(file.as_str()), text.as_bytes())
            .map_err(|source| failed(&root.join(file.as_str()), source))?;
        sources.files.insert(file.clone(), text.clone());
    }
    Ok(())
}

/// The JSON document of a report.
pub fn document(report: &ValidationReport) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

/// Applies both gates to the findings.
fn decide_on(
    inspected: Inspected,
    limits: FindingLimits,
    session: Option<String>,
    fixed: Vec<Finding>,
    retries: u32,
) -> ValidateOutcome {
    let (own, about): (Vec<Finding>, Vec<Finding>) =
        inspected.findings.into_iter().partition(|one| one.stage == Stage::Code);
    let decision = decide(FindingCounts::of(own.iter()), limits, retries);
    let tests = inspected.tests.then(|| {
        let (status, gate_decision) = decide(FindingCounts::of(about.iter()), limits, 0);
        TestQuality { status, gate_decision, coverage: None, findings: by_severity(about) }
    });
    let met = decision.0 == QualityDecision::Pass
        && tests.as_ref().is_none_or(|tests| tests.status == QualityDecision::Pass);
    let report = ValidationReport::from(Parts {
        session,
        timestamp: clock::now(),
        files: inspected.files,
        findings: own,
        fixed,
        decision,
        skipped: inspected.skipped,
        retries,
        tests,
    });
    ValidateOutcome { report, met }
}

fn write_reports(report: &ValidationReport, folder: &Path) -> Result<(), AppError> {
    files::create_folder(folder).map_err(|source| failed(folder, source))?;
    let quality = report.tests.as_ref();
    for (name, text) in [
        ("code-validation-report.json", Some(document(report))),
        ("code-validation-report.md", Some(render_markdown(report))),
        ("test-quality-report.md", quality.map(test_quality::render_markdown)),
    ] {
        let Some(text) = text else { continue };
        let path = folder.join(name);
        files::write_text(&path, &redaction::redact(&text))
            .map_err(|source| failed(&path, source))?;
    }
    Ok(())
}

fn failed(path: &Path, source: std::io::Error) -> AppError {
    StoreError::Io { action: "write", path: path.to_owned(), source }.into()
}

/// The repository that contains the paths, and the paths relative to its root.
fn place(paths: &[PathBuf]) -> Result<(RepositoryFacts, Vec<String>), AppError> {
    let current = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &current[..] } else { paths };
    let mut facts: Option<RepositoryFacts> = None;
    let mut below = Vec::new();
    for path in paths {
        let full = path.canonicalize().map_err(|error| {
            AppError::usage(
                format!("{}: {error}", path.display()),
                "name files and folders that exist",
            )
        })?;
        let folder = if full.is_dir() { full.as_path() } else { full.parent().unwrap_or(&full) };
        let found = match facts.take() {
            Some(found) => found,
            None => repo::discover(folder)?,
        };
        let relative =
            full.strip_prefix(&found.root).ok().and_then(Path::to_str).ok_or_else(|| {
                AppError::usage(
                    format!("{} is not in {}", path.display(), found.root.display()),
                    "name paths of one repository",
                )
            })?;
        below.push(relative.to_owned());
        facts = Some(found);
    }
    let facts = facts.ok_or_else(|| AppError::usage("no path is named", "name a repository"))?;
    Ok((facts, below))
}

/// The result of one inspection.
struct Inspected {
    files: usize,
    findings: Vec<Finding>,
    skipped: Vec<Skipped>,
    /// New texts of files that the project's own fixers and formatters can repair.
    repairs: BTreeMap<RepoPath, String>,
    /// Whether the tests were reviewed too.
    tests: bool,
}

/// What the inspections before and after a repair have in common.
struct Inspection<'a> {
    scope: &'a Scope<'a>,
    facts: &'a RepositoryFacts,
    chosen: &'a BTreeSet<RepoPath>,
    scratch: &'a Path,
    commands: &'a ToolCommands,
}

impl Inspection<'_> {
    /// Reviews the files, and runs the tools of the project on them.
    async fn run(&self, sources: &Sources) -> Inspected {
        let mut reviewed = self.review(sources);
        let mut skipped = Vec::new();
        self.second_opinion(&mut reviewed.findings, &mut skipped);
        if !reviewed.generated.is_empty() {
            skipped.push(Skipped {
                what: reviewed
                    .generated
                    .iter()
                    .take(3)
                    .map(RepoPath::as_str)
                    .collect::<Vec<_>>()
                    .join(", "),
                reason: format!(
                    "{} made by a program, copied, or data of tests",
                    reviewed.generated.len()
                ),
            });
        }
        skipped.extend(reviewed.too_deep.iter().map(|file| Skipped {
            what: file.as_str().to_owned(),
            reason: "it is nested too deeply".into(),
        }));
        let own: BTreeSet<RepoPath> =
            self.chosen.iter().filter(|file| !reviewed.generated.contains(file)).cloned().collect();
        let mut inspected = Inspected {
            files: own.len(),
            findings: reviewed.findings,
            skipped,
            repairs: BTreeMap::new(),
            tests: self.scope.request.tests,
        };
        self.tools(&own, &mut inspected).await;
        inspected.findings.sort_by(|one, other| {
            (&one.file, one.line, &one.id).cmp(&(&other.file, other.line, &other.id))
        });
        inspected
    }

    /// Repairs and inspects until nothing is left; returns what was fixed and the rounds.
    async fn repair(
        &self,
        inspected: &mut Inspected,
        sources: &mut Sources,
    ) -> Result<(Vec<Finding>, u32), AppError> {
        let mut fixed = Vec::new();
        let mut originals = BTreeMap::new();
        let mut retries = 0;
        // One repair may make another one possible.
        while self.scope.autofix && !inspected.repairs.is_empty() && retries < MAX_RETRIES {
            let repairs = std::mem::take(&mut inspected.repairs);
            for file in repairs.keys().filter(|_| self.scope.request.original_lines) {
                let text = sources.files.get(file).cloned().unwrap_or_default();
                originals.entry(file.clone()).or_insert(text);
            }
            apply(&repairs, &self.facts.root, sources)?;
            retries += 1;
            let before = std::mem::replace(inspected, self.run(sources).await).findings;
            restore_lines(&mut inspected.findings, &originals, sources);
            fixed.extend(before.into_iter().filter(|one| {
                let remains = |left: &Finding| {
                    (&left.id, &left.file, &left.message) == (&one.id, &one.file, &one.message)
                };
                repairs.contains_key(&one.file) && !inspected.findings.iter().any(remains)
            }));
        }
        Ok((fixed, retries))
    }

    fn review(&self, sources: &Sources) -> ReviewResult {
        let list: Vec<&RepoPath> = self.chosen.iter().collect();
        let installed =
            repo::installed(self.facts, &packages_imported_by_path(self.chosen, sources));
        review(&ReviewRequest {
            files: &sources.files,
            chosen: &list,
            installed: &installed,
            framework: None,
            tests: self.scope.request.tests,
        })
    }

    /// Drops syntax errors that only our grammar reports, not the language's own parser.
    fn second_opinion(&self, findings: &mut Vec<Finding>, skipped: &mut Vec<Skipped>) {
        let doubted: Vec<RepoPath> = findings
            .iter()
            .filter(|one| one.id == "syntax-error")
            .map(|one| one.file.clone())
            .collect();
        if doubted.is_empty() || self.scope.request.skip_tools {
            return;
        }
        let accepted = suite::files_that_parse(&self.facts.root, self.scratch, &doubted);
        findings.retain(|one| one.id != "syntax-error" || !accepted.contains_key(&one.file));
        skipped.extend(accepted.into_iter().map(|(file, tool)| Skipped {
            what: file.as_str().to_owned(),
            reason: format!("only {tool} can read it"),
        }));
    }

    /// Asks the tools of the project: types, rules, formatting.
    async fn tools(&self, own: &BTreeSet<RepoPath>, inspected: &mut Inspected) {
        let skip =
            |flag: &str| Skipped { what: "the project's own tools".into(), reason: flag.into() };
        if self.scope.request.skip_tools {
            inspected.skipped.push(skip("--skip-tools"));
            return;
        }
        let mut concerns = vec![Concern::Rules, Concern::Format];
        if self.scope.skip_types {
            inspected.skipped.push(skip("--skip-types"));
        } else {
            concerns.push(Concern::Types);
        }
        if own.is_empty() {
            return;
        }
        let lint_report =
            suite::run_tools(&self.facts.root, self.scratch, &concerns, self.commands).await;
        inspected.skipped.extend(
            lint_report.skipped.iter().cloned().map(|(what, reason)| Skipped { what, reason }),
        );
        let unchecked = unchecked_languages(own, &lint_report).into_iter();
        inspected.skipped.extend(unchecked.map(|(what, reason)| Skipped { what, reason }));
        for concern in [Concern::Types, Concern::Rules] {
            let reported = tool_findings(concern, &lint_report.remarks, own, |_| false);
            add_findings(&mut inspected.findings, reported);
        }
        let repairs = self.repairs(own, &lint_report, &mut inspected.skipped).await;
        let can_fix = |file: &RepoPath| repairs.contains_key(file);
        inspected.findings.extend(tool_findings(
            Concern::Format,
            &lint_report.remarks,
            own,
            can_fix,
        ));
        inspected.repairs = repairs;
    }

    /// Texts that the project's formatters make of files, and with `--fix` its fixers of rules.
    async fn repairs(
        &self,
        own: &BTreeSet<RepoPath>,
        lint_report: &LintReport,
        skipped: &mut Vec<Skipped>,
    ) -> BTreeMap<RepoPath, String> {
        let (root, scratch) = (&self.facts.root, self.scratch);
        let files = |concerns: &[Concern]| -> BTreeSet<RepoPath> {
            let about = lint_report.remarks.iter().filter(|one| concerns.contains(&one.0));
            about.map(|one| one.1.0.clone()).filter(|file| own.contains(file)).collect()
        };
        if self.scope.autofix {
            let files: Vec<RepoPath> =
                files(&[Concern::Rules, Concern::Format]).into_iter().collect();
            let made = suite::format_files(root, scratch, &files, false).await;
            skipped.extend(made.skipped.into_iter().map(|(what, reason)| Skipped { what, reason }));
            return made.texts;
        }
        let is_shown = |file: &RepoPath| {
            matches!(
                file.extension(),
                "go" | "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts"
            )
        };
        let files: Vec<RepoPath> = files(&[Concern::Format]).into_iter().filter(is_shown).collect();
        suite::format_files(root, scratch, &files, true).await.texts
    }
}

/// The npm packages of which scripts import a file by its path.
fn packages_imported_by_path(chosen: &BTreeSet<RepoPath>, sources: &Sources) -> BTreeSet<String> {
    let mut packages = BTreeSet::new();
    for text in chosen.iter().filter_map(|file| sources.files.get(file)) {
        for quoted in text.split(['"', '\'']).skip(1).step_by(2).filter(|one| one.len() < 100) {
            let depth = if quoted.starts_with('@') { 2 } else { 1 };
            let parts: Vec<&str> = quoted.split('/').collect();
            let plain = |c: char| c.is_ascii_alphanumeric() || "@/._-".contains(c);
            if parts.len() > depth
                && !parts.contains(&"..")
                && !quoted.starts_with(['.', '/'])
                && quoted.chars().all(plain)
            {
                packages.insert(parts.get(..depth).unwrap_or_default().join("/"));
            }
        }
    }
    packages
}

/// The sources to check: below the named paths, matching the globs, changed since the base.
fn choose(
    scope: &Scope<'_>,
    facts: &RepositoryFacts,
    below: &[String],
    sources: &Sources,
) -> Result<BTreeSet<RepoPath>, AppError> {
    let globs = glob_set(scope.files.iter());
    let changed =
        scope.request.base.as_deref().map(|base| repo::changed_since(facts, base)).transpose()?;
    let is_below = |file: &RepoPath| {
        below.iter().any(|place| {
            place.is_empty()
                || file
                    .as_str()
                    .strip_prefix(place.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    Ok(sources
        .files
        .keys()
        .filter(|file| crate::role::is_reviewable(file) && is_below(file))
        .filter(|file| scope.files.is_empty() || globs.is_match(file.as_str()))
        .filter(|file| changed.as_ref().is_none_or(|changed| changed.contains(*file)))
        .cloned()
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_repaired_files_are_those_of_the_head() {
        let table: [(&str, &str, &[u32]); 8] = [
            ("a b c", "a b c", &[1, 2, 3]),
            ("a b c", "A B C", &[1, 2, 3]),
            ("a b c d", "a B C d", &[1, 2, 3, 4]),
            ("a b d", "a B C D E d", &[1, 2, 2, 2, 2, 3]),
            ("a b c d", "a X d", &[1, 2, 4]),
            ("a b", "x a b y", &[1, 1, 2, 2]),
            ("a b c", "c", &[3]),
            ("", "a b", &[1, 1]),
        ];
        for (before, after, expected) in table {
            let text = |words: &str| {
                words.split_whitespace().fold(String::new(), |text, word| text + word + "\n")
            };
            assert_eq!(
                original_lines(&text(before), &text(after)),
                expected,
                "{before} -> {after}"
            );
        }
    }
}
