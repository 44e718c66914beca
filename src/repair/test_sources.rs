//! The sources of failing tests, and the literals in them.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::name_of;
use crate::code::test_paths;
use crate::domain::id::{RepoPath, TreeId};
use crate::domain::test::TestCase;
use crate::effect::{GitError, Worktree};

use super::edit_traits::literals;

/// Words of a test's id that are shorter name too much.
const SHORTEST: usize = 4;

/// Literals that stand in the files of failing tests.
pub async fn test_literals(
    worktree: &dyn Worktree,
    tree: &TreeId,
    failing: &mut (dyn Iterator<Item = &TestCase> + Send),
) -> Result<BTreeSet<String>, GitError> {
    let sources = test_sources(worktree, tree, failing).await?;
    Ok(sources.values().flat_map(|text| literals(text)).collect())
}

/// The files of failing tests, or those with a test's own name where reports name none.
pub async fn test_sources(
    worktree: &dyn Worktree,
    tree: &TreeId,
    failing: &mut (dyn Iterator<Item = &TestCase> + Send),
) -> Result<BTreeMap<RepoPath, String>, GitError> {
    let (mut files, mut unplaced) = (BTreeSet::new(), Vec::new());
    for case in failing {
        match &case.file {
            Some(file) => drop(files.insert(file.clone())),
            None => unplaced.push(case.id.as_str()),
        }
    }
    let mut sources = BTreeMap::new();
    let is_candidate = |file: &RepoPath| test_paths::is_test(file) && name_of(file).is_some();
    let more = if unplaced.is_empty() { Vec::new() } else { worktree.files(tree).await? };
    let more = more.into_iter().filter(is_candidate).filter(|file| !files.contains(file));
    for file in files.iter().cloned().chain(more) {
        let bytes = worktree.read(tree, &file).await?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if files.contains(&file) || unplaced.iter().any(|id| holds_test(id, &file, &text)) {
            sources.insert(file, text);
        }
    }
    Ok(sources)
}

fn holds_test(id: &str, file: &RepoPath, text: &str) -> bool {
    let words = || id.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut last = words().filter(|word| word.len() >= SHORTEST).rev().take(2);
    words().any(|word| word == file.stem()) || last.any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_without_a_file_is_found_by_its_name() {
        let go = "func TestRaised(t *testing.T) {}";
        let table = [
            ("example.org/till/till.TestRaised", "till/price_test.go", go, true),
            ("example.org/till/till.TestRaised/57", "till/price_test.go", go, true),
            ("example.org/till/till.TestLowered", "till/price_test.go", go, false),
            ("org.example.PriceTest.raises", "src/test/java/PriceTest.java", "", true),
            ("Price is raised", "spec/price_spec.rb", "it 'is raised' do", true),
        ];
        for (id, file, text, expected) in table {
            let file = RepoPath::parse(file).unwrap();
            assert_eq!(holds_test(id, &file, text), expected, "{id}");
        }
    }
}
