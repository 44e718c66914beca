//! Reviews files for the code check and the static half of the test review: runs the lint rules, and
//! converts reports of the project's own tools into findings of the same catalogue.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::lint::{self, LintRule, Project};
use crate::domain::framework::Framework;
use crate::domain::id::RepoPath;
use crate::domain::quality::{Finding, Remark, Stage};
use crate::effect::{Concern, LintReport};

/// Which files to review, and how.
pub struct ReviewRequest<'a> {
    /// All files of the repository; those that are not read as text are empty.
    pub files: &'a BTreeMap<RepoPath, String>,
    pub chosen: &'a [&'a RepoPath],
    /// The files of installed packages that are imported by path, by package.
    pub installed: &'a BTreeMap<String, Vec<String>>,
    /// The framework that runs the suite, if it is known.
    pub framework: Option<Framework>,
    pub tests: bool,
}

/// The result of a review.
#[derive(Debug, Default)]
pub struct ReviewResult {
    pub findings: Vec<Finding>,
    /// Generated files, which are not reviewed.
    pub generated: Vec<RepoPath>,
    /// Files that are nested too deeply to be reviewed.
    pub too_deep: Vec<RepoPath>,
    /// Checks that were not performed, with the reason.
    pub skipped: Vec<(String, String)>,
    /// The project's own tools that gave no answer, with the reason.
    pub failed_tools: Vec<(String, String)>,
}

/// Reviews the chosen files. Never fails; syntax errors are findings.
///
/// Source: specification.md 6.3, 6.4, 6.6.
pub fn review(request: &ReviewRequest<'_>) -> ReviewResult {
    let mut project = Project::of(request.files);
    if let Some(framework) = request.framework {
        project.declare_framework(framework);
    }
    for (package, files) in request.installed {
        project.install(package, files.iter().cloned());
    }
    let is_generated = |file: &&RepoPath| {
        request.files.get(*file).is_some_and(|text| lint::is_generated(file, text))
    };
    let (generated, own): (Vec<&RepoPath>, Vec<&RepoPath>) =
        request.chosen.iter().partition(|file| is_generated(file));
    let scanned = lint::scan(&own, request.files, &project);
    let mut findings = scanned.findings;
    findings.retain(|one| request.tests || one.stage == Stage::Code);
    ReviewResult {
        findings,
        generated: generated.into_iter().cloned().collect(),
        too_deep: scanned.too_deep,
        ..ReviewResult::default()
    }
}

/// Whether a file is written in a language that can be reviewed.
pub fn is_reviewable(file: &RepoPath) -> bool {
    Language::of(file).is_some()
}

/// The lint rule that corresponds to a message of a tool.
fn rule_of(concern: Concern, language: Language, message: &str) -> Option<&'static LintRule> {
    let applies = |id: &str| lint::rule(id).filter(|rule| rule.languages().contains(&language));
    let (known, general) = match concern {
        Concern::Types => (lint::rule_of_tool_message(message), "type-mismatch"),
        Concern::Rules => (lint::rule_of_tool_message(message), "project-rule"),
        Concern::Format => (None, "format"),
    };
    known.and_then(applies).or_else(|| applies(general))
}

/// A tool's messages on a concern as findings; `can_fix` tells whether `--fix` can repair.
pub fn tool_findings(
    concern: Concern,
    remarks: &[(Concern, Remark)],
    reviewed: &BTreeSet<RepoPath>,
    can_fix: impl Fn(&RepoPath) -> bool,
) -> Vec<Finding> {
    let about = remarks.iter().filter(|one| one.0 == concern && reviewed.contains(&one.1.0));
    about
        .filter_map(|(_, (file, line, message))| {
            let rule = rule_of(concern, Language::of(file)?, message)?;
            // Ruff marks messages with safe fixes like this.
            let auto_fixable = can_fix(file) || rule.fixable && message.contains("[*]");
            Some(Finding { auto_fixable, ..rule.finding(file, *line, message) })
        })
        .collect()
}

/// Adds findings of tools, except for those that the lint rules already reported on the same line.
pub fn add_findings(findings: &mut Vec<Finding>, reported: Vec<Finding>) {
    for one in reported {
        let same = |known: &Finding| {
            known.id == one.id && known.file == one.file && known.line == one.line
        };
        if !findings.iter().any(same) {
            findings.push(one);
        }
    }
}

/// The tools, by language, that check the rules which we do not check ourselves.
const LINTERS: &[(&[Language], &[&str])] = &[
    (&[Language::Python], &["ruff", "mypy"]),
    (&[Language::JavaScript, Language::TypeScript, Language::Tsx], &["eslint", "tsc"]),
    (&[Language::Rust], &["cargo check", "clippy"]),
    (&[Language::Go], &["go vet"]),
    (&[Language::Java], &[]),
];

/// The languages of reviewed files that no linter or type checker has checked, with the reason.
/// Tools that failed to answer have separate entries.
pub fn unchecked_languages(
    reviewed: &BTreeSet<RepoPath>,
    lint_report: &LintReport,
) -> Vec<(String, String)> {
    let skipped = lint_report.skipped.iter().map(|(tool, _)| tool);
    let known: BTreeSet<&str> =
        lint_report.started.iter().chain(skipped).map(String::as_str).collect();
    if ["the lint command", "the build command"].iter().any(|command| known.contains(command)) {
        return Vec::new();
    }
    LINTERS
        .iter()
        .filter(|(_, tools)| !tools.iter().any(|tool| known.contains(tool)))
        .filter_map(|(languages, _)| {
            let language =
                reviewed.iter().filter_map(Language::of).find(|l| languages.contains(l))?;
            let reason = "the project has set up no linter or type checker that reports names, \
                          swallowed errors, casts and leaks";
            Some((format!("lint rules for {}", language.name()), reason.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    #[test]
    fn the_message_of_a_tool_gets_the_category_and_severity_of_the_catalogue() {
        use Concern::{Format, Rules, Types};
        let table = [
            (
                Rules,
                "a.py",
                "F401 [*] `os` imported but unused",
                "unused-import",
                "imports",
                "warning",
            ),
            (
                Rules,
                "a.py",
                "F821 Undefined name `x`",
                "undefined-variable",
                "variables",
                "critical",
            ),
            (Rules, "a.py", "E501 Line too long", "project-rule", "lint", "warning"),
            (
                Rules,
                "a.js",
                "'x' is not defined. (no-undef)",
                "undefined-variable",
                "variables",
                "critical",
            ),
            (
                Rules,
                "a.js",
                "'x' is already declared. (no-shadow)",
                "shadowing",
                "variables",
                "error",
            ),
            (Rules, "a.js", "Expected '===' (eqeqeq)", "project-rule", "lint", "warning"),
            (Rules, "a.rs", "unused import: `x`", "unused-import", "imports", "warning"),
            (Rules, "a.rs", "this `if` has identical blocks", "project-rule", "lint", "warning"),
            (
                Types,
                "a.py",
                "Cannot find module [import-not-found]",
                "unresolved-import",
                "imports",
                "critical",
            ),
            (
                Types,
                "a.py",
                "Incompatible types [assignment]",
                "type-mismatch",
                "types",
                "critical",
            ),
            (
                Types,
                "a.ts",
                "TS2304: Cannot find name 'x'.",
                "undefined-variable",
                "variables",
                "critical",
            ),
            (Types, "a.ts", "TS2322: Type 'x'", "type-mismatch", "types", "critical"),
            (
                Types,
                "a.rs",
                "[E0425]: cannot find value `x`",
                "undefined-variable",
                "variables",
                "critical",
            ),
            (Types, "a.rs", "[E0308]: mismatched types", "type-mismatch", "types", "critical"),
            (Types, "a.go", "undefined: x", "undefined-variable", "variables", "critical"),
            // It breaks the build, so a warning would be too mild.
            (Types, "a.go", "declared and not used: x", "type-mismatch", "types", "critical"),
            // The rule does not apply to this language, so the general rule is used.
            (Types, "a.java", "unused import: `x`", "type-mismatch", "types", "critical"),
            (Format, "a.py", "`black` would change it", "format", "lint", "warning"),
        ];
        for (concern, file, text, id, category, severity) in table {
            let file = path(file);
            let remarks = [(concern, (file.clone(), 3, text.to_owned()))];
            let found = tool_findings(concern, &remarks, &BTreeSet::from([file]), |_| false);
            let shown: Vec<(&str, &str, String, u32)> = found
                .iter()
                .map(|one| {
                    (one.id.as_str(), one.category.as_str(), one.severity.to_string(), one.line)
                })
                .collect();
            assert_eq!(shown, [(id, category, severity.to_owned(), 3)], "{text}");
            assert_eq!(found[0].auto_fixable, text.contains("[*]"), "{text}");
            assert!(tool_findings(concern, &remarks, &BTreeSet::new(), |_| false).is_empty());
            let mut all = found.clone();
            add_findings(&mut all, found);
            assert_eq!(all.len(), 1, "a known finding is not reported twice");
        }
    }

    #[test]
    fn languages_that_no_tool_checked_are_named() {
        let table = [
            (vec!["a.py"], vec![], vec!["lint rules for Python"]),
            (vec!["a.py", "b.ts", "c.tsx"], vec!["ruff"], vec!["lint rules for TypeScript"]),
            (vec!["a.py"], vec!["mypy"], vec![]),
            (vec!["a.rs", "a.go"], vec!["cargo check", "go vet"], vec![]),
            (vec!["a.java"], vec!["ruff"], vec!["lint rules for Java"]),
            (vec!["a.java", "a.py"], vec!["the lint command"], vec![]),
            (vec!["README.md"], vec![], vec![]),
        ];
        for (files, tools, expected) in table {
            let reviewed: BTreeSet<RepoPath> = files.iter().map(|file| path(file)).collect();
            let names = tools.iter().map(|tool| (*tool).to_owned());
            let asked = LintReport { started: names.clone().collect(), ..LintReport::default() };
            let failed = LintReport {
                skipped: names.map(|tool| (tool, "it failed".to_owned())).collect(),
                ..LintReport::default()
            };
            for lint_report in [asked, failed] {
                let found = unchecked_languages(&reviewed, &lint_report);
                let found: Vec<&str> = found.iter().map(|(what, _)| what.as_str()).collect();
                assert_eq!(found, expected, "{files:?} {tools:?}");
            }
        }
    }

    #[test]
    fn only_reviewable_files_that_nobody_generated_are_reviewed() {
        let files: BTreeMap<RepoPath, String> = [
            ("shop/price.py", "def price():\n    pass\n"),
            ("vendor/other.py", "def price():\n    pass\n"),
            ("shop/deep.py", &format!("x = {}1{}\n", "(\n".repeat(5000), ")\n".repeat(5000))),
            ("tests/test_price.py", "def test_price():\n    assert True\n"),
        ]
        .into_iter()
        .map(|(name, text)| (path(name), text.to_owned()))
        .collect();
        let chosen: Vec<&RepoPath> = files.keys().collect();
        for tests in [false, true] {
            let installed = BTreeMap::new();
            let request = ReviewRequest {
                files: &files,
                chosen: &chosen,
                installed: &installed,
                framework: None,
                tests,
            };
            let result = review(&request);
            let found: Vec<&str> = result.findings.iter().map(|one| one.id.as_str()).collect();
            let expected = if tests {
                vec!["bare-pass", "subject-not-imported", "tautology"]
            } else {
                vec!["bare-pass"]
            };
            assert_eq!(found, expected);
            assert_eq!(result.generated, [path("vendor/other.py")]);
            assert_eq!(result.too_deep, [path("shop/deep.py")]);
        }
        assert!(is_reviewable(&path("a.tsx")) && !is_reviewable(&path("a.toml")));
    }
}
