//! Phase 3 without a model: derives requirements from functions (specification.md 6.1, 6.2, 8.8).

use std::collections::BTreeSet;

use crate::code::behaviour::{self, Behaviour};
use crate::code::language::Language;
use crate::code::lint::{self, Project};
use crate::domain::coverage::CoverageTarget;
use crate::domain::id::{RepoPath, SessionId};
use crate::domain::provider::EMBEDDED;
use crate::domain::test_plan::analysis::{AnalysisFinding, FileRequirements, TestAnalysis};
use crate::domain::test_plan::context::{
    ContextPackage, CoverageSource, MissingTest, TestCoverage,
};
use crate::domain::test_plan::layer::SubLayer;

use super::code_requirements::Found;
use super::coverage::{ExecutedLines, TestReach, callable};
use super::requirement_text::{RequirementDraft, RequirementWriter};
use super::survey::Survey;
use super::{external_calls, framework, project};

/// Maximum number of requirements per file; the others are counted.
const PER_FILE: usize = 40;

/// Maximum number of files per analysis; the others are listed as deferred.
const FILES: usize = 50;

/// Maximum number of findings to keep.
const FINDINGS: usize = 100;

/// Derives requirements from the gaps in `package`, unless executed lines in `ran` meet them.
pub fn analyse(
    session: &SessionId,
    description: &str,
    package: &ContextPackage,
    survey: &Survey,
    ran: &ExecutedLines,
    now: &str,
) -> TestAnalysis {
    let coverage = &package.test_coverage;
    let own = &package.test_framework;
    let kind = project::classify(survey);
    let mut number = 0;
    let mut files = Vec::new();
    let mut deferred = Vec::new();
    for missing in &coverage.missing_tests {
        if files.len() == FILES {
            deferred.push(format!("{}: {}", missing.implementation_file, missing.reason));
            continue;
        }
        let requirements = of_file(missing, coverage, package, survey, ran, &mut number);
        if requirements.requirements.is_empty() {
            deferred.push(format!(
                "{}: {}, and no requirement can be derived from its source",
                missing.implementation_file, missing.reason
            ));
        } else {
            files.push(requirements);
        }
    }
    let target = ran.target;
    TestAnalysis {
        session_id: session.clone(),
        timestamp: now.to_owned(),
        author: EMBEDDED.into(),
        description: description.to_owned(),
        project_type: kind.name,
        project_type_confidence: kind.confidence,
        project_type_evidence: kind.evidence,
        current_coverage: current(coverage),
        coverage_target: target,
        framework: own.clone(),
        ai_issues: issues(&files, survey),
        strategy: strategy(&files, package),
        success_criteria: criteria(&files, package, target),
        files,
        deferred,
        dropped: Vec::new(),
    }
}

/// A description of the present coverage.
fn current(coverage: &TestCoverage) -> String {
    let stats = &coverage.coverage_stats;
    let mut text = format!(
        "{} of {} files have tests ({} %)",
        stats.files_with_tests, stats.total_implementation_files, stats.coverage_percentage
    );
    if let Some(lines) = &stats.line_percentage {
        text.push_str(&format!(", lines {lines} %"));
    }
    if let Some(branches) = &stats.branch_percentage {
        text.push_str(&format!(", branches {branches} %"));
    }
    text.push_str(&match &coverage.source {
        CoverageSource::Measured { command, .. } => format!("; measured by `{command}`"),
        CoverageSource::Report { file, format } => format!("; read from {file} ({format})"),
        CoverageSource::Mapping { reason } => format!("; by names and imports only: {reason}"),
    });
    text
}

fn of_file(
    missing: &MissingTest,
    coverage: &TestCoverage,
    package: &ContextPackage,
    survey: &Survey,
    ran: &ExecutedLines,
    number: &mut u32,
) -> FileRequirements {
    let file = &missing.implementation_file;
    let text = survey.text(file);
    let tests = coverage.files.iter().find(|row| row.file == *file);
    let tests = tests.map(|row| row.tests.clone()).unwrap_or_default();
    let reach = TestReach::of(file, &tests, survey, ran);
    let functions = callable(file, text, &package.only());
    let mut found = Found::default();
    if let Some(language) = Language::of(file) {
        let writer = RequirementWriter { file, language };
        for function in &functions {
            found.unit(writer, function, &reach);
        }
        found.integration(writer, &functions, survey, &reach);
    }
    let Found { mut drafts, covered } = found;
    drafts.sort_by(|a, b| a.line.cmp(&b.line).then(a.layer.cmp(&b.layer)));
    drafts.dedup();
    let left_out = drafts.len().saturating_sub(PER_FILE);
    let drafts = fewest(drafts);
    let test_file = &missing.suggested_test_file;
    let own = &package.test_framework;
    let checks = if drafts.is_empty() { Vec::new() } else { static_checks(test_file, package) };
    let drafts = drafts.into_iter().map(|draft| {
        let check = framework::check(own, test_file, &draft.function);
        (draft, check)
    });
    let numbered = |(draft, check): (RequirementDraft, String)| {
        *number += 1;
        draft.numbered(*number, check)
    };
    let requirements = checks.into_iter().chain(drafts).map(numbered).collect();
    FileRequirements {
        file: file.clone(),
        test_file: test_file.clone(),
        test_file_exists: survey.tests.contains_key(test_file),
        priority: missing.priority,
        reason: missing.reason.clone(),
        functions: functions.iter().map(Behaviour::signature).collect(),
        lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
        mocks: mocks(&functions, Language::of(file), text),
        fixtures: own.conventions.fixtures.clone(),
        requirements,
        already_covered: covered,
        left_out: u32::try_from(left_out).unwrap_or(u32::MAX),
    }
}

/// Keeps the most important requirements if there are too many: errors and results before edges.
fn fewest(drafts: Vec<RequirementDraft>) -> Vec<RequirementDraft> {
    if drafts.len() <= PER_FILE {
        return drafts;
    }
    let mut ranked: Vec<(SubLayer, usize)> =
        drafts.iter().enumerate().map(|(at, draft)| (draft.layer, at)).collect();
    ranked.sort();
    let chosen: BTreeSet<usize> = ranked.into_iter().take(PER_FILE).map(|(_, at)| at).collect();
    let drafts = drafts.into_iter().enumerate().filter(|(at, _)| chosen.contains(at));
    drafts.map(|(_, draft)| draft).collect()
}

/// The static checks (L0) of the test file that will be written.
fn static_checks(
    test_file: &RepoPath,
    package: &ContextPackage,
) -> Vec<(RequirementDraft, String)> {
    let own = &package.test_framework;
    let draft = |layer, claim: &str, expect: &str| RequirementDraft {
        layer,
        function: String::new(),
        line: 1,
        text: format!("{test_file} {claim}"),
        given: "the file as it was written".into(),
        expect: expect.to_owned(),
    };
    vec![
        (draft(SubLayer::Compilation, "compiles", "no error"), framework::compile(own, test_file)),
        (
            draft(SubLayer::Imports, "imports only what is there", "it loads"),
            framework::collect(own, test_file),
        ),
        (
            draft(
                SubLayer::AiIssues,
                "has no critical issue of the catalogue",
                "0 critical, at most 3 errors",
            ),
            format!("regreen validate --files {test_file}"),
        ),
    ]
}

/// Calls that tests must mock, with the reason.
fn mocks(functions: &[Behaviour], language: Option<Language>, text: &str) -> Vec<String> {
    let imported = language.map(|language| behaviour::packages(language, text)).unwrap_or_default();
    let service = external_calls::has_service(&imported);
    let mut found = BTreeSet::new();
    for function in functions {
        for (line, call) in &function.calls {
            if external_calls::is_request(call, service) {
                found.insert(format!("`{call}`: accesses the network (line {line})"));
            } else if external_calls::is_non_deterministic(call) {
                found.insert(format!("`{call}`: answers differently each time (line {line})"));
            }
        }
    }
    found.into_iter().take(10).collect()
}

/// Lint findings of placeholder code in the files to be tested (specification.md 6.3), because
/// testing a placeholder is pointless.
fn issues(files: &[FileRequirements], survey: &Survey) -> Vec<AnalysisFinding> {
    let chosen: Vec<&RepoPath> = files.iter().map(|file| &file.file).collect();
    let project = Project::of(&survey.texts);
    let findings = lint::scan(&chosen, &survey.texts, &project).findings;
    findings
        .into_iter()
        .filter(|one| one.category == "placeholder_code")
        .take(FINDINGS)
        .map(|one| AnalysisFinding {
            severity: one.severity.to_string().to_uppercase(),
            issue: format!("{}: {}", one.category, one.message),
            file: one.file,
            line: one.line,
        })
        .collect()
}

fn strategy(files: &[FileRequirements], package: &ContextPackage) -> Vec<String> {
    let own = &package.test_framework;
    let mut steps = vec![
        format!("unit tests first (L1), file by file, most urgent first: {} files", files.len()),
        format!("in the manner of this project: {}", conventions_text(package)),
    ];
    if files.iter().any(|file| file.requirements.iter().any(|one| one.layer.layer() == 2)) {
        steps.push("then integration tests (L2), mocking only external systems".into());
    }
    if files.iter().any(|file| !file.mocks.is_empty()) {
        let tool = if own.mocking_framework.is_empty() {
            "the framework's own doubles"
        } else {
            &own.mocking_framework
        };
        steps.push(format!("doubles with {tool}"));
    }
    steps.push(
        "each new test runs at once, and is kept only when it passes and notices a broken line"
            .into(),
    );
    steps
}

fn conventions_text(package: &ContextPackage) -> String {
    let own = &package.test_framework.conventions;
    let mut conventions = vec![format!("files named `{}`", own.file_naming)];
    if !own.test_structure.is_empty() {
        conventions.push(own.test_structure.clone());
    }
    conventions.extend(own.assertion_style.first().cloned());
    conventions.extend(own.parametrisation.first().cloned());
    if let Some(sample) = &own.sample {
        conventions.push(format!("as in {sample}"));
    }
    conventions.join(", ")
}

fn criteria(
    files: &[FileRequirements],
    package: &ContextPackage,
    target: CoverageTarget,
) -> Vec<String> {
    let own = &package.test_framework;
    let total: usize = files.iter().map(|file| file.requirements.len()).sum();
    let mut criteria = vec![
        format!(
            "all {total} requirements are shown by a test that passes: `{}`",
            own.commands.run_tests
        ),
        "no critical issue, at most 3 errors and 10 warnings: `regreen validate`".to_owned(),
    ];
    if !own.commands.run_coverage.is_empty() {
        criteria.push(format!(
            "lines {} %, branches {} %, functions {} %: `{}`",
            target.line, target.branch, target.function, own.commands.run_coverage
        ));
    }
    criteria
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_most_important_requirements_of_a_file_stay_in_their_order(count in 0u32..90) {
            let drafts: Vec<RequirementDraft> = (1..=count)
                .map(|line| RequirementDraft {
                    layer: if line % 3 == 0 { SubLayer::Happy } else { SubLayer::Edge },
                    function: "f".into(),
                    line,
                    text: String::new(),
                    given: String::new(),
                    expect: String::new(),
                })
                .collect();
            let happy = drafts.iter().filter(|one| one.layer == SubLayer::Happy).count();
            let left = fewest(drafts);
            proptest::prop_assert_eq!(left.len(), usize::try_from(count).unwrap().min(PER_FILE));
            proptest::prop_assert!(left.windows(2).all(|pair| pair[0].line < pair[1].line));
            let left_happy = left.iter().filter(|one| one.layer == SubLayer::Happy).count();
            proptest::prop_assert_eq!(left_happy, happy);
        }
    }

    #[test]
    fn the_state_of_coverage_is_said_with_its_source() {
        let stats = crate::domain::test_plan::context::CoverageStats {
            total_implementation_files: 4,
            files_with_tests: 1,
            coverage_percentage: "25.0".into(),
            ..Default::default()
        };
        let with = |source: CoverageSource, lines: Option<&str>| TestCoverage {
            existing_tests: Vec::new(),
            missing_tests: Vec::new(),
            coverage_stats: crate::domain::test_plan::context::CoverageStats {
                line_percentage: lines.map(str::to_owned),
                ..stats.clone()
            },
            source,
            files: Vec::new(),
        };
        let (file, format) = ("x.lcov".to_owned(), "lcov".to_owned());
        let table = [
            (
                CoverageSource::Measured { command: "cov".into(), format: format.clone() },
                Some("61.2"),
                "1 of 4 files have tests (25.0 %), lines 61.2 %; measured by `cov`",
            ),
            (
                CoverageSource::Report { file, format },
                None,
                "1 of 4 files have tests (25.0 %); read from x.lcov (lcov)",
            ),
            (
                CoverageSource::Mapping { reason: "no tool".into() },
                None,
                "1 of 4 files have tests (25.0 %); by names and imports only: no tool",
            ),
        ];
        for (source, lines, expected) in table {
            assert_eq!(current(&with(source, lines)), expected);
        }
    }
}
