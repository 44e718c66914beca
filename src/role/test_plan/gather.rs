//! Phase 2: finds the files that a session is about, with their tests and gaps (specification.md 3.1,
//! 4.3, 4.4).

use std::collections::BTreeSet;

use crate::code::conventions;
use crate::code::coverage as reports;
use crate::code::demands::find_demands;
use crate::code::description_match::{self, DescriptionMatch};
use crate::domain::coverage::{CoverageTarget, Measured};
use crate::domain::id::{RepoPath, SessionId};
use crate::domain::test_plan::framework::TestFramework;
use crate::domain::test_plan::plan::TestPlan;
use crate::domain::test_plan::source_session::{ImplementationSummary, SourceSession};
use crate::effect::{Effects, SuiteFacts};

use super::coverage::{CoverageSource, ExecutedLines, FunctionFilter, assess, named_in};
use super::project;
use super::survey::Survey;

/// Maximum number of files in one session.
pub const FILES: usize = 50;

/// Number of names suggested if a description matches nothing.
const OFFERED: usize = 5;

/// Code patterns of dynamic couplings, which imports do not show (specification.md 4.4).
const RUNTIME: &str = "getattr( importlib __import__ globals() eval( require( Class.forName reflect. \
                       render_template dispatch registry";

/// The input of phase 2.
#[derive(Clone, Copy)]
pub struct GatherRequest<'a> {
    pub session: &'a SessionId,
    pub description: &'a str,
    pub source: Option<&'a SourceSession>,
    pub report: Option<(&'a str, &'a str)>,
    /// Why the suite is not run under its coverage tool, if it is not.
    pub unmeasured: Option<&'a str>,
    /// The minimum percentages; files below them have a gap.
    pub target: CoverageTarget,
}

/// The result of phase 2.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The plan without requirements and tasks.
    pub plan: TestPlan,
    pub ran: ExecutedLines,
}

/// Why there is nothing to plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GatherError {
    #[error("there is no function to test in this repository")]
    NoSources,
    #[error("the description names nothing in this repository: \"{description}\"")]
    NamesNothing {
        description: String,
        /// Existing names, most similar first.
        nearest: Vec<String>,
    },
    #[error("session {session} changed no source that is still here")]
    SourceNamesNothing { session: SessionId, named: Vec<RepoPath> },
    #[error("{file}: {reason}")]
    Report { file: String, reason: String },
}

impl GatherError {
    /// What the user can do next, as one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::NoSources => "run in a repository with sources in Python, JavaScript, TypeScript, Rust, Go or Java".into(),
            Self::NamesNothing { nearest, .. } if nearest.is_empty() => {
                "name a file, a folder or a function of this repository".into()
            }
            Self::NamesNothing { nearest, .. } => {
                format!("name a file, a folder or a function, such as {}", nearest.join(", "))
            }
            Self::SourceNamesNothing { named, .. } if named.is_empty() => {
                "name changed files in its summaries, or describe what is to be tested".into()
            }
            Self::SourceNamesNothing { .. } => {
                "check out the commit with its files, or describe what is to be tested".into()
            }
            Self::Report { .. } => {
                "name a report of lcov, Cobertura, JaCoCo, coverage.py, c8, V8 or Go".into()
            }
        }
    }
}

/// Finds what to test. Only reads, except that it runs the suite once if coverage is requested.
pub async fn gather(
    request: GatherRequest<'_>,
    survey: &Survey,
    fx: &Effects<'_>,
) -> Result<Gathered, GatherError> {
    if survey.known.values().all(Vec::is_empty) {
        return Err(GatherError::NoSources);
    }
    let named = chosen(&request, survey)?;
    let known: BTreeSet<RepoPath> = survey.texts.keys().cloned().collect();
    let ran = if let Some((file, text)) = request.report {
        reported(file, text, &known, survey, fx)?
    } else if let Some(reason) = request.unmeasured {
        mapped(reason.to_owned())
    } else {
        match fx.suite.coverage(fx.worktree.root(), &known).await {
            Measured::Lines { command, format, files } => ExecutedLines {
                source: CoverageSource::Measured { command, format },
                files,
                ..ExecutedLines::default()
            },
            Measured::NoTests { command, files } => ExecutedLines {
                source: CoverageSource::NoTests { command },
                files,
                ..ExecutedLines::default()
            },
            Measured::Nothing { reason } => mapped(reason),
        }
    };
    let ran = ExecutedLines { target: request.target, ..ran };
    Ok(assemble(&request, &named, ran, fx.suite.facts(), survey))
}

fn mapped(reason: String) -> ExecutedLines {
    ExecutedLines { source: CoverageSource::by_names(reason), ..ExecutedLines::default() }
}

fn reported(
    file: &str,
    text: &str,
    known: &BTreeSet<RepoPath>,
    survey: &Survey,
    fx: &Effects<'_>,
) -> Result<ExecutedLines, GatherError> {
    let source = |path: &str| {
        let own = survey.texts.keys().find(|file| path.ends_with(&format!("/{file}")))?;
        Some(survey.text(own).to_owned())
    };
    let report = reports::read(text, &source).map_err(|error| GatherError::Report {
        file: file.to_owned(),
        reason: error.to_string(),
    })?;
    let files = report.placed(&fx.worktree.root().display().to_string(), "", known);
    if files.is_empty() {
        let reason = "it names no file of this repository".to_owned();
        return Err(GatherError::Report { file: file.to_owned(), reason });
    }
    let format = report.format.to_owned();
    let source = CoverageSource::Report { file: file.to_owned(), format };
    Ok(ExecutedLines { source, files, ..ExecutedLines::default() })
}

/// The files and functions that the request refers to.
fn chosen(request: &GatherRequest<'_>, survey: &Survey) -> Result<DescriptionMatch, GatherError> {
    if let Some(source) = request.source {
        let named: Vec<RepoPath> =
            source.summaries.iter().flat_map(|one| one.changed_files.clone()).collect();
        let mut found = DescriptionMatch::default();
        for file in named.iter().filter(|file| survey.known.contains_key(file)) {
            found.files.insert(file.clone(), true);
        }
        if found.files.is_empty() {
            return Err(GatherError::SourceNamesNothing { session: source.id.clone(), named });
        }
        return Ok(found);
    }
    let mut found = survey.find_described(request.description);
    // A demand that names no function may be about any in its file.
    let names = found.functions.values().flatten().map(String::as_str);
    let named: Vec<&str> = names.chain(found.files.keys().map(RepoPath::as_str)).collect();
    let is_about = |demand: &String| named.iter().any(|name| demand.contains(name));
    if !find_demands(request.description, named.iter().copied()).iter().all(is_about) {
        found.files.values_mut().for_each(|is_whole| *is_whole = true);
    }
    // Files without functions contain nothing to test.
    found.files.retain(|file, _| survey.known.get(file).is_some_and(|names| !names.is_empty()));
    if found.files.is_empty() {
        return Err(GatherError::NamesNothing {
            description: request.description.chars().take(80).collect(),
            nearest: description_match::nearest(request.description, &survey.known, OFFERED),
        });
    }
    Ok(found)
}

/// The functions to which a file is restricted because only they, not the file, were named.
fn only(named: &DescriptionMatch) -> FunctionFilter {
    let whole = |file: &RepoPath| named.files.get(file).copied().unwrap_or_default();
    named
        .functions
        .iter()
        .filter(|(file, _)| !whole(file))
        .map(|(a, b)| (a.clone(), b.clone()))
        .collect()
}

/// Assembles the plan from data already gathered, without any I/O.
pub fn assemble(
    request: &GatherRequest<'_>,
    named: &DescriptionMatch,
    mut ran: ExecutedLines,
    facts: &SuiteFacts,
    survey: &Survey,
) -> Gathered {
    let framework = TestFramework {
        framework: facts.framework,
        version: facts.version.clone(),
        conventions: conventions::read(facts.framework, &survey.tests),
        run_tests: facts.command.clone(),
        run_coverage: ran.source.measuring_command().to_owned(),
        run_specific: facts.framework.run_file().unwrap_or(&facts.command).to_owned(),
    };
    let only = only(named);
    let targets = targets(named, &only, survey, &framework, &ran);
    ran.files.retain(|file, _| targets.contains(file));
    ran.about = targets.iter().map(|file| (file.clone(), named_in(file, &only))).collect();
    let assessed = assess(&targets, &only, survey, &framework, &ran);
    let kind = project::classify(survey);
    let plan = TestPlan {
        session_id: request.session.clone(),
        source_session_id: request.source.map(|source| source.id.clone()),
        description: request.description.to_owned(),
        project_type: kind.name,
        project_type_evidence: kind.evidence,
        coverage: assessed.coverage,
        coverage_target: request.target,
        summaries: request.source.map(|source| here(source, survey)).unwrap_or_default(),
        couplings: runtime_couplings(&targets, survey),
        files: assessed.gaps,
        framework,
        issues: Vec::new(),
        not_understood: Vec::new(),
        unread_examples: Vec::new(),
        left_out: Vec::new(),
        tasks: Vec::new(),
    };
    Gathered { plan, ran }
}

/// Dynamic couplings that imports do not show.
fn runtime_couplings(files: &[RepoPath], survey: &Survey) -> Vec<String> {
    let sign_of = |line: &str| RUNTIME.split_whitespace().find(|sign| line.contains(sign));
    let first_of = |file: &RepoPath| {
        let lines = (1..).zip(survey.text(file).lines());
        let mut code = lines.filter(|(_, line)| !line.trim_start().starts_with(['#', '/', '*']));
        code.find_map(|(number, line): (u32, &str)| {
            let sign = sign_of(line)?.trim_end_matches('(');
            Some(format!("{file}:{number} looks up names while running (`{sign}`)"))
        })
    };
    files.iter().filter_map(first_of).take(10).collect()
}

/// The summaries, restricted to files that still exist in the repository.
fn here(source: &SourceSession, survey: &Survey) -> Vec<ImplementationSummary> {
    let names: BTreeSet<&RepoPath> = survey.names.iter().collect();
    let mut summaries = source.summaries.clone();
    for one in &mut summaries {
        one.changed_files.retain(|file| names.contains(file));
    }
    summaries
}

/// The files to test: the best matches, and if there are too many, those with gaps first.
fn targets(
    named: &DescriptionMatch,
    only: &FunctionFilter,
    survey: &Survey,
    framework: &TestFramework,
    ran: &ExecutedLines,
) -> Vec<RepoPath> {
    let mut files: Vec<RepoPath> = named.files.keys().cloned().collect();
    files.sort_by_key(|file| !named.files.get(file).copied().unwrap_or_default());
    if files.len() > FILES {
        let assessed = assess(&files, only, survey, framework, ran);
        let gaps: BTreeSet<RepoPath> = assessed.gaps.into_iter().map(|one| one.file).collect();
        files.sort_by_key(|file| !gaps.contains(file));
        files.truncate(FILES);
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::framework::Framework;
    use crate::role::test_plan::coverage;

    #[test]
    fn every_error_has_a_hint() {
        let session = || SessionId::parse("WFS-x").unwrap();
        let named = |names: &[&str]| names.iter().map(|one| (*one).to_owned()).collect();
        let file = RepoPath::parse("a.py").unwrap();
        let nothing = |nearest| GatherError::NamesNothing { description: "zebra".into(), nearest };
        let table = [
            (GatherError::NoSources, "run in a repository"),
            (nothing(named(&[])), "name a file, a folder or a function of this repository"),
            (nothing(named(&["f", "g"])), "name a file, a folder or a function, such as f, g"),
            (
                GatherError::SourceNamesNothing { session: session(), named: Vec::new() },
                "name changed files",
            ),
            (
                GatherError::SourceNamesNothing { session: session(), named: vec![file] },
                "check out the commit",
            ),
            (GatherError::Report { file: "x".into(), reason: "y".into() }, "name a report"),
        ];
        for (error, expected) in table {
            assert!(error.hint().starts_with(expected), "{}", error.hint());
        }
    }

    #[test]
    fn a_function_narrows_a_file_that_is_not_named_itself() {
        let file = |name: &str| RepoPath::parse(name).unwrap();
        let names = |name: &str| BTreeSet::from([name.to_owned()]);
        let named = DescriptionMatch {
            files: [(file("a.py"), true), (file("b.py"), false)].into(),
            functions: [(file("a.py"), names("f")), (file("b.py"), names("g"))].into(),
        };
        assert_eq!(only(&named), [(file("b.py"), names("g"))].into());
    }

    #[test]
    fn couplings_that_imports_do_not_show_are_named_with_their_lines() {
        let files = [("a.py", "# getattr(x)\nvalue = getattr(x, 'y')\n"), ("b.py", "value = 1\n")]
            .map(|(name, text)| (RepoPath::parse(name).unwrap(), text.to_owned()));
        let names = files.each_ref().map(|(name, _)| name.clone());
        let survey = Survey::of(names.to_vec(), files.into());
        let found = runtime_couplings(&names, &survey);
        assert_eq!(found, ["a.py:2 looks up names while running (`getattr`)"]);
    }

    #[test]
    fn new_tests_go_where_a_runner_of_python_finds_them() {
        let (unittest, pytest) = (Framework::Unittest, Framework::Pytest);
        let table: [(Framework, &[&str], &str, &str); 7] = [
            (
                unittest,
                &["src/tests.py", "src/roman/__init__.py"],
                "src/roman/__init__.py",
                "tests/test_roman.py",
            ),
            (pytest, &["shop/test_a.py", "lib/rates.py"], "lib/rates.py", "lib/test_rates.py"),
            (unittest, &["shop/test_a.py", "lib/rates.py"], "lib/rates.py", "tests/test_rates.py"),
            (unittest, &["src/test_a.py", "src/shop.py"], "src/shop.py", "src/test_shop.py"),
            (
                unittest,
                &["app/__init__.py", "app/tests.py", "app/views.py"],
                "app/views.py",
                "app/test_views.py",
            ),
            (unittest, &["tests/test_a.py", "src/shop.py"], "src/shop.py", "tests/test_shop.py"),
            (unittest, &["tests.py", "shop.py"], "shop.py", "test_shop.py"),
        ];
        for (framework, files, source, expected) in table {
            let path = |text: &str| RepoPath::parse(text).unwrap();
            let texts =
                files.iter().map(|file| (path(file), "def test_f():\n    assert 1\n".into()));
            let survey = Survey::of(files.iter().map(|file| path(file)).collect(), texts.collect());
            let conventions = conventions::read(framework, &survey.tests);
            let habits = TestFramework { framework, conventions, ..TestFramework::default() };
            let found = coverage::suggest_test_file(&path(source), &survey, &habits);
            assert_eq!(found.as_str(), expected, "{framework}: {files:?}");
        }
    }

    #[test]
    fn at_most_fifty_files_are_worked_on_and_those_with_gaps_come_first() {
        let texts: std::collections::BTreeMap<RepoPath, String> = (0..FILES + 10)
            .map(|at| (format!("shop/m{at:02}.py"), format!("def f{at}(x):\n    return x\n")))
            .chain((0..9).map(|at| {
                let test = format!(
                    "from shop.m{at:02} import f{at}\n\n\ndef test_f{at}():\n    assert f{at}(1)\n"
                );
                (format!("tests/test_m{at:02}.py"), test)
            }))
            .map(|(name, text)| (RepoPath::parse(name).unwrap(), text))
            .collect();
        let survey = Survey::of(texts.keys().cloned().collect(), texts);
        let mut named = DescriptionMatch::default();
        for file in survey.known.keys() {
            named.files.insert(file.clone(), false);
        }
        let conventions = conventions::read(Framework::Pytest, &survey.tests);
        let framework = TestFramework { conventions, ..TestFramework::default() };
        let ran = ExecutedLines::default();
        let chosen = targets(&named, &FunctionFilter::new(), &survey, &framework, &ran);
        assert_eq!(chosen.len(), FILES);
        assert!(!chosen.iter().any(|file| file.as_str() < "shop/m09.py"), "{chosen:?}");
    }
}
