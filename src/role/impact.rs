//! [`Impact`]: which tests a change can affect, by the import graph (specification.md 7.14, 13.2).

use std::collections::{BTreeMap, BTreeSet};

use crate::code::imports::Graph;
use crate::code::language::{self, Language};
use crate::code::test_paths;
use crate::domain::fix_loop::FixLoop;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::proposal::EditSet;
use crate::domain::test::{Status, TestCase};
use crate::effect::{Effects, GitError};

/// Maximum number of files in the graph; in larger repositories every test counts as affected.
const FILES: usize = 50_000;

/// Maximum number of bytes read of one source file.
const FILE_LIMIT: usize = 1 << 20;

/// The package of a file, for languages in which files of a package see each other without imports.
/// Java tests are in another folder but in the same package.
fn package(file: &RepoPath) -> Option<String> {
    match Language::of(file)? {
        Language::Go => Some(format!("go {}", file.parent())),
        Language::Java => {
            let folder = format!("{}/", file.parent());
            Some(format!("java {}", folder.replace("src/test/java/", "src/main/java/")))
        }
        Language::Python
        | Language::JavaScript
        | Language::TypeScript
        | Language::Tsx
        | Language::Rust => None,
    }
}

/// Sources of languages that are not parsed, at most.
const NAMED: usize = 20;

/// What the id and the failure of a test say.
fn words_of(case: &TestCase) -> String {
    let failure =
        case.failure.iter().map(|failure| format!("{}\n{}", failure.message, failure.stack));
    format!("{}\n{}\n", case.id, failure.collect::<String>())
}

/// The sources of languages that are not parsed whose names the tests, or their failures, mention: a class
/// of its file, a header, a file that is loaded. Case and `_` do not count.
fn named_sources(
    tests: &BTreeSet<RepoPath>,
    said: &str,
    files: &BTreeMap<RepoPath, String>,
) -> Vec<RepoPath> {
    let is_unparsed = |file: &RepoPath| Language::of(file).is_none();
    let folded = |word: &str| word.replace(['_', '-'], "").to_lowercase();
    let texts = tests.iter().filter(|file| is_unparsed(file)).filter_map(|file| files.get(file));
    let texts = texts.map(String::as_str).chain([said]);
    let is_inner = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let words: BTreeSet<String> =
        texts.flat_map(|text| text.split(move |c| !is_inner(c))).map(folded).collect();
    let named =
        files.keys().filter(|file| is_unparsed(file) && words.contains(&folded(file.stem())));
    named.filter(|file| !test_paths::is_test(file)).take(NAMED).cloned().collect()
}

/// The import graph of the accepted sources, kept up to date between iterations.
#[derive(Default)]
pub struct Impact {
    known: Option<(TreeId, BTreeMap<RepoPath, String>, Graph)>,
}

impl Impact {
    /// The tests that an edit may affect, failing ones first. If it may affect any test, the list
    /// is empty, and a run of the whole suite is needed.
    pub async fn affected(
        &mut self,
        state: &FixLoop,
        edits: &EditSet,
        fx: &Effects<'_>,
    ) -> Result<Vec<TestId>, GitError> {
        let changed: BTreeSet<RepoPath> =
            edits.files.iter().map(|edit| edit.file.clone()).collect();
        // Files that are not source code may be read by any test.
        if changed.iter().any(|file| Language::of(file).is_none()) {
            return Ok(Vec::new());
        }
        let Some(graph) = self.graph(&state.accepted_tree, fx).await? else {
            return Ok(Vec::new());
        };
        let reached = graph.affected_by(&changed);
        let beside: BTreeSet<String> = changed.iter().filter_map(package).collect();
        let affected = |file: Option<&RepoPath>| {
            file.is_none_or(|file| {
                reached.contains_key(file) || package(file).is_some_and(|one| beside.contains(&one))
            })
        };
        let planned = state.attempt.iter().filter_map(|attempt| attempt.plan.as_ref());
        let planned: BTreeSet<&TestId> = planned.flat_map(|plan| &plan.affected_tests).collect();
        let mut tests: Vec<(bool, &TestId)> = state
            .ledger
            .cases()
            .filter(|case| case.status != Status::Skipped)
            .filter(|case| affected(case.file.as_ref()) || planned.contains(&case.id))
            .map(|case| (case.status != Status::Failed, &case.id))
            .collect();
        tests.sort();
        Ok(tests.into_iter().map(|(_, id)| id.clone()).collect())
    }

    /// The sources that the failing tests import, for fault localisation without coverage.
    pub async fn related(
        &mut self,
        state: &FixLoop,
        fx: &Effects<'_>,
    ) -> Result<Vec<RepoPath>, GitError> {
        let own = |case: &TestCase| -> Vec<RepoPath> {
            let frames = case.failure.iter().flat_map(|failure| &failure.frames);
            case.file.iter().chain(frames.map(|frame| &frame.file)).cloned().collect()
        };
        let mut tests: BTreeSet<RepoPath> = state.ledger.failing_cases().flat_map(own).collect();
        let said: String = state.ledger.failing_cases().map(words_of).collect();
        if self.graph(&state.accepted_tree, fx).await?.is_none() {
            return Ok(Vec::new());
        }
        let Some((_, files, graph)) = &self.known else { return Ok(Vec::new()) };
        // Files in the same package as a test are visible to it without an import.
        let packages: BTreeSet<String> = tests.iter().filter_map(package).collect();
        let beside = |file: &&RepoPath| package(file).is_some_and(|one| packages.contains(&one));
        let beside: Vec<RepoPath> = files.keys().filter(beside).cloned().collect();
        tests.extend(beside.iter().cloned());
        let mut needed: Vec<RepoPath> = beside;
        needed.extend(graph.needed_by(&tests));
        needed.extend(named_sources(&tests, &said, files));
        let mut seen = BTreeSet::new();
        needed.retain(|file| !test_paths::is_test(file) && seen.insert(file.clone()));
        Ok(needed)
    }

    /// The import graph of a tree; only files that changed since the last call are parsed.
    async fn graph(&mut self, tree: &TreeId, fx: &Effects<'_>) -> Result<Option<&Graph>, GitError> {
        if self.known.as_ref().is_none_or(|(known, ..)| known != tree) {
            self.known = if let Some((old, mut files, mut graph)) = self.known.take() {
                let diffs = fx.worktree.diff(&old, tree).await?;
                let changed: BTreeSet<RepoPath> =
                    diffs.iter().map(|diff| diff.file.clone()).collect();
                for diff in diffs {
                    match diff.after {
                        Some(text) => drop(files.insert(diff.file, text)),
                        None => drop(files.remove(&diff.file)),
                    }
                }
                graph.update(&changed, &files);
                Some((tree.clone(), files, graph))
            } else {
                let names = fx.worktree.files(tree).await?;
                if names.len() > FILES {
                    return Ok(None);
                }
                let mut files = BTreeMap::new();
                for name in names.into_iter().filter(|name| language::name_of(name).is_some()) {
                    let bytes = fx.worktree.read(tree, &name).await?.unwrap_or_default();
                    if bytes.len() <= FILE_LIMIT {
                        files.insert(name, String::from_utf8_lossy(&bytes).into_owned());
                    }
                }
                let graph = Graph::build(&files);
                Some((tree.clone(), files, graph))
            };
        }
        Ok(self.known.as_ref().map(|(_, _, graph)| graph))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_are_not_parsed_are_found_by_their_names() {
        let path = |file: &str| RepoPath::parse(file).unwrap();
        let files: BTreeMap<RepoPath, String> = [
            ("lib/price_list.rb", ""),
            ("lib/cart.rb", ""),
            ("src/Order.php", ""),
            ("a.py", ""),
            ("spec/a_spec.rb", "describe PriceList do\n  a = Cartoon.new\nend\n"),
            ("spec/price_list_spec.rb", ""),
        ]
        .map(|(file, text)| (path(file), text.to_owned()))
        .into();
        let tests = [path("spec/a_spec.rb")].into();
        assert_eq!(named_sources(&tests, "", &files), [path("lib/price_list.rb")]);
        let found = named_sources(&BTreeSet::new(), "OrderTest: no Order\na", &files);
        assert_eq!(found, [path("src/Order.php")]);
    }

    #[test]
    fn files_of_one_package_see_each_other_without_an_import() {
        let table = [
            ("price/price.go", "price/price_test.go", true),
            ("price/price.go", "tax/tax_test.go", false),
            ("src/main/java/shop/A.java", "src/test/java/shop/ATest.java", true),
            ("core/src/main/java/shop/A.java", "core/src/test/java/shop/ATest.java", true),
            ("src/main/java/shop/A.java", "src/test/java/shop/sub/ATest.java", false),
            ("A.java", "ATest.java", true),
            ("shop/a.py", "shop/test_a.py", false),
        ];
        for (one, other, together) in table {
            let of = |name: &str| package(&RepoPath::parse(name).unwrap());
            let same = of(one).is_some() && of(one) == of(other);
            assert_eq!(same, together, "{one} {other}");
        }
    }
}
