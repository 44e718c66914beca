//! Builds parts of the context package from explorations and imports.

use std::collections::BTreeMap;

use crate::domain::id::RepoPath;
use crate::domain::test_plan::exploration::{Exploration, ExplorationResults, RelevantFile};
use crate::domain::test_plan::exploration_angle::tier;
use crate::domain::test_plan::priorities::{PrioritizedContext, PriorityTiers, UserIntent};

use super::explorer::Topic;
use super::planner::distinct;
use super::survey::Survey;

/// Maximum number of files in one session (specification.md 3.1 mode B 5).
pub const FILES: usize = 50;

/// The files that explorations name, most relevant first.
fn ranked_files(explorations: &[Exploration]) -> Vec<RelevantFile> {
    let mut found: BTreeMap<&RepoPath, (f64, u32)> = BTreeMap::new();
    for file in explorations.iter().flat_map(|one| &one.relevant_files) {
        let (sum, mentions) = found.entry(&file.path).or_default();
        (*sum, *mentions) = (*sum + file.relevance, *mentions + 1);
    }
    let ranked = |(path, (sum, mentions)): (&RepoPath, (f64, u32))| RelevantFile {
        path: path.clone(),
        relevance: sum / f64::from(mentions),
    };
    let mut list: Vec<_> = found.into_iter().map(ranked).collect();
    list.sort_by(|a, b| b.relevance.total_cmp(&a.relevance).then(a.path.cmp(&b.path)));
    list
}

/// What all explorations found about couplings and importers.
pub fn results(explorations: &[Exploration]) -> ExplorationResults {
    let points = explorations.iter().flat_map(|one| &one.integration_points);
    ExplorationResults {
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
}
