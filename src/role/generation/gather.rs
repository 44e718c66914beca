//! Phase 2: the context package of a test session (product.md 3.1, 4.3, 4.4).

use std::collections::{BTreeMap, BTreeSet};

use crate::code::conventions::Habits;
use crate::code::coverage as reports;
use crate::code::names::{self, Named};
use crate::domain::coverage::CoverageTarget;
use crate::domain::coverage::Measured;
use crate::domain::generation::angle::{angles, complexity, conflict_risk, tier};
use crate::domain::generation::context::{
    Asset, Assets, ConflictDetection, ContextPackage, CoverageSource, Dependencies,
    ExplorationResults, ImplementationSummary, InternalDependency, Metadata, Package,
    PrioritizedContext, ProjectContext, SourceContext, SourceSession, TestContextPackage,
    TestCoverage, TestMetadata,
};
use crate::domain::generation::exploration::{Exploration, ExplorationsManifest, ManifestLine};
use crate::domain::id::{RepoPath, SessionId};
use crate::effect::{Effects, SuiteFacts};

use super::coverage::{Only, Ran, assess};
use super::explorer::{Topic, explore_all};
use super::framework::describe;
use super::project;
use super::survey::Survey;

/// Files that one session works on at most (product.md 3.1 mode B 5).
const FILES: usize = 50;

/// Names that are offered for a description that names nothing.
const OFFERED: usize = 5;

/// What phase 2 is given.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The test session.
    pub session: &'a SessionId,
    /// What is asked for.
    pub description: &'a str,
    /// The finished session, in session mode.
    pub source: Option<&'a SourceSession>,
    /// A coverage report that was named, with its name.
    pub report: Option<(&'a str, &'a str)>,
    /// Whether the suite may be run under its coverage tool.
    pub measure: bool,
    /// RFC 3339.
    pub now: &'a str,
    /// Percentages below which a file has a gap.
    pub target: CoverageTarget,
}

/// What phase 2 found.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The package.
    pub package: Package,
    /// Explorations behind it; none in session mode.
    pub explorations: Vec<Exploration>,
    /// Their manifest.
    pub manifest: Option<ExplorationsManifest>,
    /// What ran, of the files of the package.
    pub ran: Ran,
}

/// Why there is nothing to gather.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GatherError {
    /// The repository has no function that could be tested.
    #[error("there is no function to test in this repository")]
    NoSources,
    /// No word of the description is a name here.
    #[error("the description names nothing in this repository: \"{description}\"")]
    NamesNothing {
        /// Its beginning.
        description: String,
        /// Names that are there, nearest first.
        nearest: Vec<String>,
    },
    /// No file of the finished session is a source here.
    #[error("session {session} changed no source that is still here")]
    SourceNamesNothing {
        /// The session.
        session: SessionId,
        /// Files it names.
        named: Vec<RepoPath>,
    },
    /// The report that was named cannot be read.
    #[error("{file}: {reason}")]
    Report {
        /// As it was named.
        file: String,
        /// What is wrong, with its line.
        reason: String,
    },
}

impl GatherError {
    /// What the reader can do next, in one imperative clause.
    #[must_use]
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

/// Gathers the package. Reads only; the suite is run once where coverage is asked for.
///
/// # Errors
///
/// [`GatherError`] when the request and the repository have nothing in common.
pub async fn gather(
    request: Request<'_>,
    survey: &Survey,
    fx: &Effects<'_>,
) -> Result<Gathered, GatherError> {
    if survey.known.values().all(Vec::is_empty) {
        return Err(GatherError::NoSources);
    }
    let named = chosen(&request, survey)?;
    let known: BTreeSet<RepoPath> = survey.texts.keys().cloned().collect();
    let ran = if let Some((file, text)) = request.report {
        Ran { target: request.target, ..reported(file, text, &known, survey, fx)? }
    } else if request.measure {
        match fx.suite.coverage(fx.worktree.root(), &known).await {
            Measured::Lines { command, format, files } => Ran {
                source: CoverageSource::Measured { command, format },
                files,
                target: request.target,
            },
            Measured::Nothing { reason } => mapped(reason, request.target),
        }
    } else {
        mapped("no coverage was asked for".to_owned(), request.target)
    };
    Ok(assemble(&request, &named, ran, fx.suite.facts(), survey))
}

fn mapped(reason: String, target: CoverageTarget) -> Ran {
    Ran { source: CoverageSource::Mapping { reason }, files: BTreeMap::new(), target }
}

fn reported(
    file: &str,
    text: &str,
    known: &BTreeSet<RepoPath>,
    survey: &Survey,
    fx: &Effects<'_>,
) -> Result<Ran, GatherError> {
    let source = |path: &str| {
        let own = survey.texts.keys().find(|file| path.ends_with(&format!("/{file}")))?;
        Some(survey.text(own).to_owned())
    };
    let report = reports::read(text, &source).map_err(|error| GatherError::Report {
        file: file.to_owned(),
        reason: error.to_string(),
    })?;
    let files = report.placed(&fx.worktree.root().display().to_string(), known);
    if files.is_empty() {
        let reason = "it names no file of this repository".to_owned();
        return Err(GatherError::Report { file: file.to_owned(), reason });
    }
    let format = report.format.to_owned();
    let source = CoverageSource::Report { file: file.to_owned(), format };
    Ok(Ran { source, files, target: CoverageTarget::default() })
}

/// Which files and functions are meant.
fn chosen(request: &Request<'_>, survey: &Survey) -> Result<Named, GatherError> {
    if let Some(source) = request.source {
        let named: Vec<RepoPath> =
            source.summaries.iter().flat_map(|one| one.changed_files.clone()).collect();
        let mut found = Named::default();
        for file in named.iter().filter(|file| survey.known.contains_key(file)) {
            let why = format!("session {} changed it", source.id);
            found.files.insert(file.clone(), (1.0, why));
        }
        if found.files.is_empty() {
            return Err(GatherError::SourceNamesNothing { session: source.id.clone(), named });
        }
        return Ok(found);
    }
    let mut found = names::find(request.description, &survey.known);
    // Files without a function have nothing that could be called.
    found.files.retain(|file, _| survey.known.get(file).is_some_and(|names| !names.is_empty()));
    if found.files.is_empty() {
        return Err(GatherError::NamesNothing {
            description: request.description.chars().take(80).collect(),
            nearest: names::nearest(request.description, &survey.known, OFFERED),
        });
    }
    Ok(found)
}

/// Functions that alone are meant: those of files that were named only through them.
fn only(named: &Named) -> Only {
    let whole = |file: &RepoPath| named.files.get(file).is_some_and(|(score, _)| *score >= 0.99);
    named
        .functions
        .iter()
        .filter(|(file, _)| !whole(file))
        .map(|(a, b)| (a.clone(), b.clone()))
        .collect()
}

/// Puts the package together; pure.
#[must_use]
pub fn assemble(
    request: &Request<'_>,
    named: &Named,
    mut ran: Ran,
    facts: &SuiteFacts,
    survey: &Survey,
) -> Gathered {
    let (framework, habits) = describe(facts, &survey.tests);
    let only = only(named);
    let targets = targets(named, &only, survey, &habits, &ran);
    ran.files.retain(|file, _| targets.contains(file));
    let coverage = assess(&targets, &only, survey, &habits, &ran);
    let focus = focus(&coverage);
    if let Some(source) = request.source {
        let package = TestContextPackage {
            metadata: TestMetadata {
                test_session_id: request.session.clone(),
                source_session_id: source.id.clone(),
                timestamp: request.now.to_owned(),
                task_type: "test-generation".into(),
                task_description: request.description.to_owned(),
                complexity: complexity(request.description),
            },
            source_context: SourceContext {
                implementation_summaries: here(source, survey),
                tech_stack: if source.tech_stack.is_empty() {
                    project::languages(survey)
                } else {
                    source.tech_stack.clone()
                },
                project_patterns: project::patterns(survey, &targets),
            },
            assets: assets_of_session(source, &coverage),
            test_coverage: coverage,
            test_framework: framework,
            focus_areas: focus,
        };
        let package = Package::Session(Box::new(package));
        return Gathered { package, explorations: Vec::new(), manifest: None, ran };
    }
    let level = complexity(request.description);
    let sides = angles(request.description);
    let topic = Topic { description: request.description, named, survey, now: request.now };
    let explorations = explore_all(&sides, topic);
    let manifest = manifest(request, &explorations);
    let package = ContextPackage {
        metadata: Metadata {
            task_description: request.description.to_owned(),
            timestamp: request.now.to_owned(),
            keywords: named.keywords.iter().take(40).cloned().collect(),
            complexity: level,
            session_id: request.session.clone(),
        },
        project_context: ProjectContext {
            architecture_patterns: project::structure(survey),
            coding_conventions: project::naming(survey, &targets),
            tech_stack: [project::languages(survey), vec![facts.framework.clone()]].concat(),
        },
        assets: assets(&explorations, survey),
        dependencies: dependencies(&targets, survey),
        conflict_detection: conflicts(&targets, survey),
        exploration_results: results(&explorations, &manifest),
        prioritized_context: prioritized(request, named, &only, &explorations, &targets, survey),
        test_coverage: coverage,
        test_framework: framework,
        focus_areas: focus,
    };
    let package = Package::Prompt(Box::new(package));
    Gathered { package, explorations, manifest: Some(manifest), ran }
}

/// Summaries with those of their files that are in the repository.
fn here(source: &SourceSession, survey: &Survey) -> Vec<ImplementationSummary> {
    let names: BTreeSet<&RepoPath> = survey.names.iter().collect();
    let mut summaries = source.summaries.clone();
    for one in &mut summaries {
        one.changed_files.retain(|file| names.contains(file));
    }
    summaries
}

/// The files that are worked on: those that fit best, those with gaps first where there are many.
fn targets(
    named: &Named,
    only: &Only,
    survey: &Survey,
    habits: &Habits,
    ran: &Ran,
) -> Vec<RepoPath> {
    let mut files: Vec<(&RepoPath, f64)> =
        named.files.iter().map(|(file, (score, _))| (file, *score)).collect();
    files.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let mut files: Vec<RepoPath> = files.into_iter().map(|(file, _)| file.clone()).collect();
    if files.len() > FILES {
        let gaps: BTreeSet<RepoPath> = assess(&files, only, survey, habits, ran)
            .missing_tests
            .into_iter()
            .map(|one| one.implementation_file)
            .collect();
        files.sort_by_key(|file| !gaps.contains(file));
        files.truncate(FILES);
    }
    files
}

/// Where to begin, in words.
fn focus(coverage: &TestCoverage) -> Vec<String> {
    let missing = coverage.missing_tests.iter().take(10);
    missing
        .map(|one| format!("{} ({}): {}", one.implementation_file, one.priority.word(), one.reason))
        .collect()
}

fn assets_of_session(source: &SourceSession, coverage: &TestCoverage) -> Vec<Asset> {
    let summaries = source.summaries.iter().map(|one| Asset {
        kind: "implementation_summary".into(),
        path: one.summary_path.clone(),
        relevance: format!("what {} did", one.task_id),
        relevance_score: 1.0,
        priority: "highest".into(),
    });
    let sources = coverage.files.iter().map(|row| Asset {
        kind: "source_code".into(),
        path: row.file.to_string(),
        relevance: format!("changed by {}", source.id),
        relevance_score: 0.9,
        priority: "high".into(),
    });
    let tests = coverage.existing_tests.iter().map(|file| Asset {
        kind: "existing_test".into(),
        path: file.to_string(),
        relevance: "shows how tests are written here".into(),
        relevance_score: 0.7,
        priority: "medium".into(),
    });
    summaries.chain(sources).chain(tests).collect()
}

fn manifest(request: &Request<'_>, explorations: &[Exploration]) -> ExplorationsManifest {
    let lines: Vec<ManifestLine> = explorations
        .iter()
        .map(|one| {
            let angle = one.metadata.exploration_angle;
            let file = format!("exploration-{}.json", angle.word());
            let path = format!(".process/{file}");
            ManifestLine { angle, file, path, index: one.metadata.exploration_index }
        })
        .collect();
    ExplorationsManifest {
        session_id: request.session.clone(),
        task_description: request.description.to_owned(),
        timestamp: request.now.to_owned(),
        complexity: complexity(request.description),
        exploration_count: u32::try_from(lines.len()).unwrap_or(u32::MAX),
        angles_explored: lines.iter().map(|line| line.angle).collect(),
        explorations: lines,
    }
}

/// Files that several explorations name, with their mean relevance and how many name them.
fn merged(explorations: &[Exploration]) -> Vec<(RepoPath, f64, u32)> {
    let mut found: BTreeMap<&RepoPath, (f64, u32)> = BTreeMap::new();
    for file in explorations.iter().flat_map(|one| &one.relevant_files) {
        let known = found.entry(&file.path).or_default();
        known.0 += file.relevance;
        known.1 += 1;
    }
    let mut list: Vec<_> = found
        .into_iter()
        .map(|(file, (sum, times))| (file.clone(), sum / f64::from(times), times))
        .collect();
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    list
}

fn assets(explorations: &[Exploration], survey: &Survey) -> Assets {
    let mut assets = Assets::default();
    for (file, score, _) in merged(explorations).into_iter().filter(|one| one.1 > 0.5).take(FILES) {
        let kind = project::asset_kind(&file);
        let asset = Asset {
            kind: kind.to_owned(),
            path: file.to_string(),
            relevance: tier(score).to_owned(),
            relevance_score: score,
            priority: tier(score).to_owned(),
        };
        match kind {
            "existing_test" => assets.tests.push(asset),
            "documentation" => assets.documentation.push(asset),
            "config" => assets.config.push(asset),
            _ => assets.source_code.push(asset),
        }
    }
    for file in survey.texts.keys().filter(|file| !file.as_str().contains('/')) {
        let kind = project::asset_kind(file);
        let list = match kind {
            "documentation" => &mut assets.documentation,
            "config" => &mut assets.config,
            _ => continue,
        };
        list.push(Asset {
            kind: kind.to_owned(),
            path: file.to_string(),
            relevance: "tells about the project".into(),
            relevance_score: 0.5,
            priority: "medium".into(),
        });
    }
    assets
}

/// Imports of the chosen files, to depth 2.
fn dependencies(files: &[RepoPath], survey: &Survey) -> Dependencies {
    let mut internal = BTreeSet::new();
    let mut edge: Vec<RepoPath> = files.to_vec();
    for _depth in 0..2 {
        let mut next = Vec::new();
        for from in &edge {
            for to in survey.graph.imports_of(from).filter(|to| *to != from) {
                let one = InternalDependency {
                    from: from.clone(),
                    to: to.clone(),
                    kind: "import".into(),
                };
                if internal.len() < 200 && internal.insert(one) {
                    next.push(to.clone());
                }
            }
        }
        edge = next;
    }
    Dependencies {
        internal: internal.into_iter().collect(),
        external: project::external(survey, files),
    }
}

fn conflicts(files: &[RepoPath], survey: &Survey) -> ConflictDetection {
    let dependents: BTreeSet<&RepoPath> =
        files.iter().flat_map(|file| survey.graph.importers_of(file)).collect();
    let modules: BTreeSet<String> = files.iter().map(|file| file.parent().to_owned()).collect();
    ConflictDetection {
        risk_level: conflict_risk(files.len()).to_owned(),
        risk_factors: vec![
            format!("{} files are worked on", files.len()),
            format!("{} files import them", dependents.len()),
        ],
        affected_modules: modules
            .into_iter()
            .map(|name| if name.is_empty() { ".".into() } else { name })
            .collect(),
        mitigation_strategy: "only test files are written; sources stay as they are".into(),
    }
}

fn results(explorations: &[Exploration], manifest: &ExplorationsManifest) -> ExplorationResults {
    let all = u32::try_from(explorations.len()).unwrap_or(u32::MAX).max(1);
    let mut ranked = merged(explorations);
    // 0.6 for how many name it, 0.4 for how well it fits.
    ranked.sort_by(|a, b| {
        let rank =
            |one: &(RepoPath, f64, u32)| 0.6 * f64::from(one.2) / f64::from(all) + 0.4 * one.1;
        rank(b).total_cmp(&rank(a)).then(a.0.cmp(&b.0))
    });
    let mut insights: Vec<String> =
        explorations.iter().flat_map(|one| one.constraints.clone()).collect();
    insights
        .extend(explorations.first().map(|one| one.integration_points.clone()).unwrap_or_default());
    let mut seen = BTreeSet::new();
    insights.retain(|text| seen.insert(text.clone()));
    ExplorationResults {
        manifest_path: ".process/explorations-manifest.json".into(),
        exploration_count: manifest.exploration_count,
        angles: manifest.angles_explored.clone(),
        critical_files: ranked.into_iter().take(15).map(|(file, ..)| file).collect(),
        aggregated_insights: insights,
    }
}

fn prioritized(
    request: &Request<'_>,
    named: &Named,
    only: &Only,
    explorations: &[Exploration],
    targets: &[RepoPath],
    survey: &Survey,
) -> PrioritizedContext {
    let list = merged(explorations);
    let of = |wanted: &str| -> Vec<RepoPath> {
        let own = list.iter().filter(|(_, score, _)| tier(*score) == wanted);
        own.take(FILES).map(|(file, ..)| file.clone()).collect()
    };
    let mut scope = Vec::new();
    for file in targets {
        match only.get(file) {
            Some(names) => scope.extend(names.iter().map(|name| format!("{file}:{name}"))),
            None => scope.push(file.to_string()),
        }
    }
    PrioritizedContext {
        goal: request.description.chars().take(500).collect(),
        scope,
        critical: of("critical"),
        high: of("high"),
        medium: of("medium"),
        dependency_order: ordered(targets, survey),
        sorting_rationale: if named.everything {
            "files without tests first, then by name".into()
        } else {
            "how well a file fits the description, then what it needs first".into()
        },
    }
}

/// Files in the order in which they need one another: what is needed comes first.
fn ordered(files: &[RepoPath], survey: &Survey) -> Vec<RepoPath> {
    let chosen: BTreeSet<&RepoPath> = files.iter().collect();
    let mut done: Vec<RepoPath> = Vec::new();
    let mut left: Vec<&RepoPath> = files.iter().collect();
    while !left.is_empty() {
        let free = left.iter().position(|file| {
            let mut needs = survey.graph.imports_of(file);
            needs.all(|other| other == *file || !chosen.contains(other) || done.contains(other))
        });
        // Of files that need one another the first one goes first.
        done.push(left.remove(free.unwrap_or(0)).clone());
    }
    done
}
