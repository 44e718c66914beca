//! [`Impact`]: which tests a change can affect, by the import graph (specification.md 7.14).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use globset::GlobSet;

use crate::code::imports::Graph;
use crate::code::language::{self, Language};
use crate::code::test_paths;
use crate::domain::fix_loop::FixLoop;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::proposal::EditSet;
use crate::domain::test::{Status, TestCase};
use crate::effect::{Effects, GitError};

use super::test_files::{Sources, TestFiles};

/// Maximum number of files in the graph; in larger repositories every test counts as affected.
const FILES: usize = 50_000;

/// Maximum number of bytes read of one source file.
const FILE_LIMIT: usize = 1 << 20;

/// The package of a file where its files see each other; Java tests are in another folder.
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
/// of its file, a header, a file that is loaded; of a shell script also those that are parsed. Case and `_`
/// do not count.
fn named_sources(
    tests: &BTreeSet<RepoPath>,
    said: &str,
    files: &BTreeMap<RepoPath, String>,
) -> Vec<RepoPath> {
    let is_unparsed = |file: &RepoPath| Language::of(file).is_none();
    let folded = |word: &str| word.replace(['_', '-'], "").to_lowercase();
    let is_inner = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let words = |text: &str| text.split(|c| !is_inner(c)).map(folded).collect::<BTreeSet<_>>();
    let of_tests = |is_meant: &dyn Fn(&RepoPath) -> bool| -> BTreeSet<String> {
        let texts = tests.iter().filter(|file| is_meant(file)).filter_map(|file| files.get(file));
        texts.flat_map(|text| words(text)).collect()
    };
    let of_scripts = of_tests(&|file| language::name_of(file).is_none());
    let of_others = of_tests(&is_unparsed).into_iter().chain(words(said)).collect::<BTreeSet<_>>();
    let named = files.keys().filter(|file| {
        let name = folded(file.stem());
        of_scripts.contains(&name) || is_unparsed(file) && of_others.contains(&name)
    });
    named.filter(|file| !test_paths::is_test(file)).take(NAMED).cloned().collect()
}

/// The import graph of the accepted sources, kept up to date between iterations.
pub struct Impact {
    known: Option<(TreeId, Arc<Sources>)>,
    /// Globs of the files that the test command runs by themselves.
    run: GlobSet,
}

impl Impact {
    /// The impact of edits in a repository of which nothing is read so far.
    pub fn new(run: GlobSet) -> Self {
        Self { known: None, run }
    }

    /// Which files of the accepted sources are tests.
    pub async fn test_files(
        &mut self,
        state: &FixLoop,
        fx: &Effects<'_>,
    ) -> Result<TestFiles, GitError> {
        let sources = self.sources(&state.accepted_tree, fx).await?.unwrap_or_default();
        let (run, stacks) = (self.run.clone(), state.assertion_stacks.clone());
        Ok(TestFiles { sources, run, stacks })
    }

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
        let Some(sources) = self.sources(&state.accepted_tree, fx).await? else {
            return Ok(Vec::new());
        };
        let reached = sources.imports.affected_by(&changed);
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
        let has_none = |case: &TestCase| own(case).is_empty();
        let is_unlocated = state.ledger.failing_cases().any(has_none);
        let said: String = state.ledger.failing_cases().map(words_of).collect();
        let Some(sources) = self.sources(&state.accepted_tree, fx).await? else {
            return Ok(Vec::new());
        };
        let Sources { files, imports } = &*sources;
        if is_unlocated {
            // What the command runs by itself leads to what it checks.
            tests.extend(files.keys().filter(|file| self.run.is_match(file.as_str())).cloned());
        }
        // Files in the same package as a test are visible to it without an import.
        let packages: BTreeSet<String> = tests.iter().filter_map(package).collect();
        let beside = |file: &&RepoPath| package(file).is_some_and(|one| packages.contains(&one));
        let beside: Vec<RepoPath> = files.keys().filter(beside).cloned().collect();
        tests.extend(beside.iter().cloned());
        let mut needed: Vec<RepoPath> = beside;
        needed.extend(imports.needed_by(&tests));
        needed.extend(named_sources(&tests, &said, files));
        let mut seen = BTreeSet::new();
        needed.retain(|file| !test_paths::is_test(file) && seen.insert(file.clone()));
        Ok(needed)
    }

    /// The sources of a tree with their imports; only files that changed since the last call are parsed.
    async fn sources(
        &mut self,
        tree: &TreeId,
        fx: &Effects<'_>,
    ) -> Result<Option<Arc<Sources>>, GitError> {
        if let Some((_, sources)) = self.known.as_ref().filter(|(known, _)| known == tree) {
            return Ok(Some(Arc::clone(sources)));
        }
        let sources = if let Some((old, sources)) = self.known.take() {
            let mut sources = Arc::unwrap_or_clone(sources);
            let diffs = fx.worktree.diff(&old, tree).await?;
            let changed: BTreeSet<RepoPath> = diffs.iter().map(|diff| diff.file.clone()).collect();
            for diff in diffs {
                match diff.after {
                    Some(text) => drop(sources.files.insert(diff.file, text)),
                    None => drop(sources.files.remove(&diff.file)),
                }
            }
            sources.imports.update(&changed, &sources.files);
            sources
        } else {
            let names = fx.worktree.files(tree).await?;
            if names.len() > FILES {
                return Ok(None);
            }
            let mut files = BTreeMap::new();
            let is_read = |name: &RepoPath| {
                language::name_of(name).is_some() || self.run.is_match(name.as_str())
            };
            for name in names.into_iter().filter(is_read) {
                let bytes = fx.worktree.read(tree, &name).await?.unwrap_or_default();
                if bytes.len() <= FILE_LIMIT {
                    files.insert(name, String::from_utf8_lossy(&bytes).into_owned());
                }
            }
            let imports = Graph::build(&files);
            Sources { files, imports }
        };
        let sources = Arc::new(sources);
        self.known = Some((tree.clone(), Arc::clone(&sources)));
        Ok(Some(sources))
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
        let script: BTreeMap<RepoPath, String> = [
            ("check.sh", "python3 -c 'from shop.price import total'"),
            ("shop/price.py", ""),
            ("shop/tax.py", ""),
        ]
        .map(|(file, text)| (path(file), text.to_owned()))
        .into();
        let tests = [path("check.sh")].into();
        assert_eq!(named_sources(&tests, "tax", &script), [path("shop/price.py")]);
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
