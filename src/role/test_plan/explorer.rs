//! Explores a repository from one [`Angle`], such as errors or dependencies, without a model, by
//! text search and the import graph (specification.md 4.4).

use std::collections::{BTreeMap, BTreeSet};

use crate::code::description_match::DescriptionMatch;
use crate::code::{parallel, test_paths};
use crate::domain::id::RepoPath;
use crate::domain::test_plan::exploration::{Exploration, RelevantFile};
use crate::domain::test_plan::exploration_angle::{Angle, relevance};

use super::survey::Survey;

/// Maximum number of files that an exploration reports.
const FILES: usize = 30;

/// Maximum number of files examined in detail.
const CANDIDATES: usize = 400;

/// Code patterns of dynamic couplings, which imports do not show (specification.md 4.4).
const RUNTIME: &[&str] = &[
    "getattr(",
    "importlib",
    "__import__",
    "globals()",
    "eval(",
    "require(",
    "Class.forName",
    "reflect.",
    "render_template",
    "dispatch",
    "registry",
];

/// What all explorers look for.
#[derive(Clone, Copy)]
pub struct Topic<'a> {
    pub description: &'a str,
    pub named: &'a DescriptionMatch,
    pub survey: &'a Survey,
}

/// Runs one explorer per angle in parallel.
pub fn explore_all(angles: &[Angle], topic: Topic<'_>) -> Vec<Exploration> {
    let numbered: Vec<(usize, Angle)> = angles.iter().copied().enumerate().collect();
    let mut found = parallel::map(&numbered, |(index, angle)| (*index, explore(*angle, topic)));
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, exploration)| exploration).collect()
}

/// Explores the repository from one angle.
pub fn explore(angle: Angle, topic: Topic<'_>) -> Exploration {
    let Topic { named, survey, .. } = topic;
    let near = candidates(named, survey);
    let mut files: Vec<RelevantFile> =
        near.iter().map(|(file, distance)| relevant(file, *distance, angle, topic)).collect();
    files.sort_by(|a, b| b.relevance.total_cmp(&a.relevance).then(a.path.cmp(&b.path)));
    files.truncate(FILES);
    let chosen: Vec<RepoPath> = files.iter().map(|file| file.path.clone()).collect();
    let importers = chosen.iter().map(|file| (survey.graph.importers_of(file).count(), file));
    let mut importers: Vec<_> = importers.filter(|(count, _)| *count > 0).collect();
    importers.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    Exploration {
        integration_points: importers
            .into_iter()
            .take(8)
            .map(|(count, file)| format!("files that import {file}: {count}"))
            .collect(),
        constraints: runtime(&chosen, survey),
        relevant_files: files,
    }
}

/// The named files, those they import and those that import them, with the distance in imports.
/// Neighbouring files are added if there are fewer than three.
fn candidates(named: &DescriptionMatch, survey: &Survey) -> BTreeMap<RepoPath, u32> {
    let mut found: BTreeMap<RepoPath, u32> =
        named.files.keys().take(CANDIDATES).map(|file| (file.clone(), 0)).collect();
    for distance in 1..=2 {
        let edge: Vec<RepoPath> = found
            .iter()
            .filter(|(_, known)| **known == distance - 1)
            .map(|(file, _)| file.clone())
            .collect();
        for file in edge {
            let around = survey.graph.imports_of(&file).chain(survey.graph.importers_of(&file));
            for other in around {
                if found.len() < CANDIDATES && survey.texts.contains_key(other) {
                    found.entry(other.clone()).or_insert(distance);
                }
            }
        }
    }
    if found.len() < 3 {
        let folders: BTreeSet<String> = found.keys().map(|file| file.parent().to_owned()).collect();
        let beside = survey.texts.keys().filter(|file| folders.contains(file.parent()));
        for file in beside.take(8) {
            found.entry(file.clone()).or_insert(3);
        }
        for file in survey.known.keys().take(3) {
            found.entry(file.clone()).or_insert(4);
        }
    }
    found
}

fn relevant(file: &RepoPath, distance: u32, angle: Angle, topic: Topic<'_>) -> RelevantFile {
    let Topic { named, survey, .. } = topic;
    let text = survey.text(file).to_lowercase();
    let direct = named.files.get(file).map_or(0.0, |(score, _)| *score);
    let words = angle.signs().iter().map(|sign| (*sign).to_owned());
    let words = words.chain(named.keywords.iter().map(|word| word.to_lowercase()));
    let (mut hit, mut asked) = (0_u32, 0_u32);
    for word in words {
        asked += 1;
        hit += u32::from(text.contains(&word) || file.as_str().to_lowercase().contains(&word));
    }
    // A file that contains half of all words gets the full score.
    let density = (f64::from(hit) * 2.0 / f64::from(asked.max(1))).min(1.0);
    let depth = file.as_str().matches('/').count();
    let position = if test_paths::is_test(file) {
        0.4
    } else if depth <= 2 {
        1.0
    } else {
        0.7
    };
    let link = match distance {
        0 | 1 => 1.0,
        2 => 0.5,
        _ => 0.0,
    };
    let score = relevance(direct, density, position, link);
    let score = (score * 1000.0).round() / 1000.0;
    RelevantFile { path: file.clone(), relevance: score }
}

/// Dynamic couplings that imports do not show.
fn runtime(files: &[RepoPath], survey: &Survey) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        for (index, line) in survey.text(file).lines().enumerate() {
            let sign = RUNTIME.iter().find(|sign| line.contains(**sign));
            if let Some(sign) = sign
                && !line.trim_start().starts_with(['#', '/', '*'])
            {
                let sign = sign.trim_end_matches('(');
                found.push(format!("{file}:{} looks up names while running (`{sign}`)", index + 1));
                break;
            }
        }
    }
    found.truncate(10);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn couplings_that_imports_do_not_show_are_named_with_their_lines() {
        let path = |name: &str| RepoPath::parse(name).unwrap();
        let texts: BTreeMap<RepoPath, String> = [
            (path("a.py"), "# getattr(x)\nvalue = getattr(x, 'y')\n".to_owned()),
            (path("b.py"), "value = 1\n".to_owned()),
        ]
        .into();
        let files: Vec<RepoPath> = texts.keys().cloned().collect();
        let survey = Survey::of(files.clone(), texts);
        assert_eq!(runtime(&files, &survey), ["a.py:2 looks up names while running (`getattr`)"]);
    }

    fn topic_survey(files: usize) -> Survey {
        let texts: BTreeMap<RepoPath, String> = (0..files)
            .map(|at| {
                let path = RepoPath::parse(format!("shop/m{at}.py")).unwrap();
                (path, format!("def price_{at}(x):\n    return x\n"))
            })
            .collect();
        Survey::of(texts.keys().cloned().collect(), texts)
    }

    #[test]
    fn an_exploration_looks_beside_what_is_named_until_it_has_three_files() {
        for (files, expected) in [(1, 1), (2, 2), (3, 3), (9, 8)] {
            let survey = topic_survey(files);
            let named = crate::code::description_match::find("shop/m0.py", &survey.known);
            let found = candidates(&named, &survey);
            assert_eq!(found.len(), expected, "{found:?}");
            assert_eq!(found[&RepoPath::parse("shop/m0.py").unwrap()], 0);
        }
    }

    proptest::proptest! {
        #[test]
        fn relevance_is_a_share_and_the_best_file_comes_first(
            files in 1usize..12, word in "[a-z_]{1,8}",
        ) {
            let survey = topic_survey(files);
            let text = format!("shop/m0.py {word}");
            let named = crate::code::description_match::find(&text, &survey.known);
            let topic = Topic { description: &text, named: &named, survey: &survey };
            let found = explore(Angle::EdgeCases, topic).relevant_files;
            proptest::prop_assert!(!found.is_empty());
            proptest::prop_assert!(found.iter().all(|one| (0.0..=1.0).contains(&one.relevance)));
            proptest::prop_assert!(found.windows(2).all(|two| two[0].relevance >= two[1].relevance));
        }
    }
}
