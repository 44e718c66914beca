//! The parts of the context package that come from explorations, imports and a finished session.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::id::RepoPath;
use crate::domain::test_plan::context::{
    Asset, Assets, ConflictDetection, Dependencies, InternalDependency, SourceSession, TestCoverage,
};
use crate::domain::test_plan::exploration::Exploration;
use crate::domain::test_plan::exploration_angle::{conflict_risk, tier};

use super::project;
use super::survey::Survey;

/// Files that one session works on at most (specification.md 3.1 mode B 5).
pub const FILES: usize = 50;

/// The assets of a finished session: its summaries, its sources and their tests.
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

/// The files that explorations name with their mean relevance, most relevant first.
fn ranked_files(explorations: &[Exploration]) -> Vec<(RepoPath, f64)> {
    let mut found: BTreeMap<&RepoPath, Vec<f64>> = BTreeMap::new();
    for file in explorations.iter().flat_map(|one| &one.relevant_files) {
        found.entry(&file.path).or_default().push(file.relevance);
    }
    let mean =
        |all: &[f64]| all.iter().sum::<f64>() / f64::from(u32::try_from(all.len()).unwrap_or(1));
    let mut list: Vec<_> =
        found.into_iter().map(|(file, all)| (file.clone(), mean(&all))).collect();
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    list
}

/// The files that explorations name, and those that describe the project.
pub fn assets(explorations: &[Exploration], survey: &Survey) -> Assets {
    let mut assets = Assets::default();
    let relevant = ranked_files(explorations).into_iter().filter(|(_, relevance)| *relevance > 0.5);
    for (file, relevance) in relevant.take(FILES) {
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

/// Imports of the chosen files, to depth 2.
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

/// What the chosen files may conflict with: their importers and modules.
pub fn conflicts(files: &[RepoPath], survey: &Survey) -> ConflictDetection {
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
    fn imports_and_importers_are_found() {
        let survey = survey(&[
            ("shop/a.py", "import requests\nfrom shop.b import b\n\n\ndef a():\n    return b()\n"),
            ("shop/b.py", "def b():\n    return 1\n"),
        ]);
        let found = dependencies(&[path("shop/a.py")], &survey);
        assert_eq!(found.internal.len(), 1);
        assert_eq!(found.external[0].package, "requests");
        let found = conflicts(&[path("shop/b.py")], &survey);
        assert_eq!(found.risk_factors, ["1 files are worked on", "1 files import them"]);
        assert_eq!(found.affected_modules, ["shop"]);
    }
}
