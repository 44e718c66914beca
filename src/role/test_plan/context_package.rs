//! Builds parts of the context package from explorations, imports or a finished session.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::id::{RepoPath, SessionId};
use crate::domain::test_plan::context::{
    Asset, Assets, ConflictDetection, Dependencies, InternalDependency, SourceSession, TestCoverage,
};
use crate::domain::test_plan::exploration::{
    Exploration, ExplorationEntry, ExplorationResults, ExplorationsManifest, MANIFEST,
};
use crate::domain::test_plan::exploration_angle::{complexity, conflict_risk, tier};
use crate::domain::test_plan::priorities::{PrioritizedContext, PriorityTiers, UserIntent};

use super::explorer::Topic;
use super::planner::distinct;
use super::project;
use super::survey::Survey;

/// Maximum number of files in one session (specification.md 3.1 mode B 5).
pub const FILES: usize = 50;

/// The assets from a finished session: its summaries, its sources and their tests.
pub fn assets_of_session(source: &SourceSession, coverage: &TestCoverage) -> Vec<Asset> {
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

/// A file that explorations name.
struct RankedFile {
    path: RepoPath,
    relevance: f64,
    mentions: u32,
}

/// The files that explorations name, most relevant first.
fn ranked_files(explorations: &[Exploration]) -> Vec<RankedFile> {
    let mut found: BTreeMap<&RepoPath, (f64, u32)> = BTreeMap::new();
    for file in explorations.iter().flat_map(|one| &one.relevant_files) {
        let (sum, mentions) = found.entry(&file.path).or_default();
        (*sum, *mentions) = (*sum + file.relevance, *mentions + 1);
    }
    let ranked = |(path, (sum, mentions)): (&RepoPath, (f64, u32))| RankedFile {
        path: path.clone(),
        relevance: sum / f64::from(mentions),
        mentions,
    };
    let mut list: Vec<_> = found.into_iter().map(ranked).collect();
    list.sort_by(|a, b| b.relevance.total_cmp(&a.relevance).then(a.path.cmp(&b.path)));
    list
}

/// The content of `explorations-manifest.json`.
pub fn manifest(
    session: &SessionId,
    topic: Topic<'_>,
    explorations: &[Exploration],
) -> ExplorationsManifest {
    let entry = |one: &Exploration| {
        let (angle, index) = (one.metadata.exploration_angle, one.metadata.exploration_index);
        let file = format!("exploration-{}.json", angle.word());
        ExplorationEntry { angle, path: format!(".process/{file}"), file, index }
    };
    let explorations: Vec<_> = explorations.iter().map(entry).collect();
    ExplorationsManifest {
        session_id: session.clone(),
        task_description: topic.description.to_owned(),
        timestamp: topic.now.to_owned(),
        complexity: complexity(topic.description),
        exploration_count: u32::try_from(explorations.len()).unwrap_or(u32::MAX),
        angles_explored: explorations.iter().map(|one| one.angle).collect(),
        explorations,
    }
}

/// What all explorations found. Files are ranked by the share of explorations that name them (60 %)
/// and by their relevance (40 %).
pub fn results(
    explorations: &[Exploration],
    manifest: &ExplorationsManifest,
) -> ExplorationResults {
    let all = f64::from(manifest.exploration_count.max(1));
    let rank = |one: &RankedFile| 0.6 * f64::from(one.mentions) / all + 0.4 * one.relevance;
    let mut ranked = ranked_files(explorations);
    ranked.sort_by(|a, b| rank(b).total_cmp(&rank(a)).then(a.path.cmp(&b.path)));
    let points = explorations.iter().flat_map(|one| &one.integration_points);
    ExplorationResults {
        manifest_path: MANIFEST.to_owned(),
        exploration_count: manifest.exploration_count,
        angles: manifest.angles_explored.clone(),
        explorations: manifest.explorations.clone(),
        critical_files: ranked.into_iter().take(15).map(|one| one.path).collect(),
        aggregated_insights: distinct(constraints(explorations).iter().chain(points)),
    }
}

/// Couplings that explorations saw and imports do not show.
fn constraints(explorations: &[Exploration]) -> Vec<String> {
    distinct(explorations.iter().flat_map(|one| &one.constraints))
}

/// The goal, the scope, and the order of the work.
pub fn prioritized(
    topic: Topic<'_>,
    scope: Vec<String>,
    explorations: &[Exploration],
    targets: &[RepoPath],
) -> PrioritizedContext {
    let ranked = ranked_files(explorations);
    let of = |name: &str| -> Vec<RepoPath> {
        let own = ranked.iter().filter(|one| tier(one.relevance) == name);
        own.take(FILES).map(|one| one.path.clone()).collect()
    };
    let rationale = if topic.named.everything {
        "files without tests first, then what a file needs"
    } else {
        "how well a file fits the description, then what it needs"
    };
    PrioritizedContext {
        user_intent: UserIntent {
            goal: topic.description.chars().take(500).collect(),
            scope,
            key_constraints: constraints(explorations),
        },
        priority_tiers: PriorityTiers {
            critical: of("critical"),
            high: of("high"),
            medium: of("medium"),
        },
        dependency_order: dependency_order(targets, topic.survey),
        sorting_rationale: rationale.to_owned(),
    }
}

/// Files in the order of their imports: what other files need comes first.
fn dependency_order(files: &[RepoPath], survey: &Survey) -> Vec<RepoPath> {
    let (mut order, mut left): (Vec<RepoPath>, Vec<&RepoPath>) =
        (Vec::new(), files.iter().collect());
    while !left.is_empty() {
        let free = left.iter().position(|file| {
            let mut needs = survey.graph.imports_of(file);
            needs.all(|other| other == *file || !left.contains(&other))
        });
        // Of files that need one another, the first one goes first.
        order.push(left.remove(free.unwrap_or(0)).clone());
    }
    order
}

/// The assets from explorations: the relevant files, and those that describe the project.
pub fn assets(explorations: &[Exploration], survey: &Survey) -> Assets {
    let mut assets = Assets::default();
    let relevant = ranked_files(explorations).into_iter().filter(|one| one.relevance > 0.5);
    for RankedFile { path: file, relevance, .. } in relevant.take(FILES) {
        let kind = project::asset_kind(&file);
        let asset = Asset {
            kind: kind.to_owned(),
            path: file.to_string(),
            relevance: tier(relevance).to_owned(),
            relevance_score: relevance,
            priority: tier(relevance).to_owned(),
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

/// The imports of the chosen files, up to two levels deep.
pub fn dependencies(files: &[RepoPath], survey: &Survey) -> Dependencies {
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

/// Possible conflicts of changing the chosen files: their importers and modules.
pub fn conflicts(files: &[RepoPath], survey: &Survey) -> ConflictDetection {
    let dependents: BTreeSet<&RepoPath> =
        files.iter().flat_map(|file| survey.graph.importers_of(file)).collect();
    let modules: BTreeSet<String> = files.iter().map(|file| file.parent().to_owned()).collect();
    ConflictDetection {
        risk_level: conflict_risk(files.len()).to_owned(),
        risk_factors: vec![
            format!("files to test: {}", files.len()),
            format!("files that import them: {}", dependents.len()),
        ],
        affected_modules: modules
            .into_iter()
            .map(|name| if name.is_empty() { ".".into() } else { name })
            .collect(),
        mitigation_strategy: "only test files are written; sources stay as they are".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(files: &[(&str, &str)]) -> Survey {
        let texts: BTreeMap<RepoPath, String> =
            files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
        Survey::of(texts.keys().cloned().collect(), texts)
    }

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name).unwrap()
    }

    #[test]
    fn what_other_files_need_comes_first() {
        let chain = survey(&[
            ("shop/a.py", "from shop.b import b\n\n\ndef a():\n    return b()\n"),
            ("shop/b.py", "from shop.c import c\n\n\ndef b():\n    return c()\n"),
            ("shop/c.py", "def c():\n    return 1\n"),
        ]);
        let files = [path("shop/a.py"), path("shop/b.py"), path("shop/c.py")];
        let order = dependency_order(&files, &chain);
        assert_eq!(order, [path("shop/c.py"), path("shop/b.py"), path("shop/a.py")]);
        let circle = survey(&[
            ("shop/a.py", "from shop.b import b\n\n\ndef a():\n    return b()\n"),
            ("shop/b.py", "from shop.a import a\n\n\ndef b():\n    return a()\n"),
        ]);
        assert_eq!(dependency_order(&files[..2], &circle).len(), 2, "a circle ends too");
    }

    #[test]
    fn imports_and_importers_are_found() {
        let survey = survey(&[
            ("shop/a.py", "import requests\nfrom shop.b import b\n\n\ndef a():\n    return b()\n"),
            ("shop/b.py", "def b():\n    return 1\n"),
        ]);
        let found = dependencies(&[path("shop/a.py")], &survey);
        assert_eq!(found.internal.len(), 1);
        assert_eq!(found.external[0].package, "requests");
        let found = conflicts(&[path("shop/b.py")], &survey);
        assert_eq!(found.risk_factors, ["files to test: 1", "files that import them: 1"]);
        assert_eq!(found.affected_modules, ["shop"]);
    }
}
