//! Collects what keeps failing tests from passing whatever the code does.

use std::collections::BTreeMap;

use crate::domain::hindrance::Hindrance;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::missing_package::{self, package_of_example};
use crate::domain::test::{Results, Status, TestCase};
use crate::effect::{GitError, Worktree};

use super::contradictions::contradictions;
use super::failing_set_up::failing_set_up;
use super::missing_installation::missing_installation;
use super::missing_resource::missing_resource;
use super::project_docs::is_document;

/// Files that are read at most, those of failing tests first.
const FILES: usize = 600;

/// The size of such a file at most, in bytes.
const BYTES: usize = 256 << 10;

/// Why failing tests cannot pass, each with the evidence. Where tests are written, these hold what the code does,
/// so that it does not change for an example of a document.
pub async fn hindrances(
    (results, writes_tests): (&Results, bool),
    tree: &TreeId,
    worktree: &dyn Worktree,
) -> Result<BTreeMap<TestId, Hindrance>, GitError> {
    let mut found = BTreeMap::new();
    if results.count(Status::Failed) == 0 {
        return Ok(found);
    }
    let all = worktree.files(tree).await?;
    let failures = || results.failed().filter_map(|case| case.failure.as_ref());
    let frames = failures().flat_map(|failure| failure.frames.iter().map(|frame| &frame.file));
    let failing = results.failed().filter_map(|case| case.file.as_ref());
    let cases = results.cases.iter().filter_map(|case| case.file.as_ref());
    let mut sources: BTreeMap<RepoPath, String> = BTreeMap::new();
    for file in failing.chain(frames).chain(cases).chain(&all) {
        if sources.len() == FILES {
            break;
        }
        if !sources.contains_key(file) {
            let text = worktree.read(tree, file).await?;
            let is_text = |text: &Vec<u8>| text.len() <= BYTES && !text.contains(&0);
            let text = text.filter(is_text).unwrap_or_default();
            sources.insert(file.clone(), String::from_utf8_lossy(&text).into_owned());
        }
    }
    // What a fixture sets up for every test, no test file shows.
    let sets_up = |(file, text): (&RepoPath, &String)| {
        file.file_name() == "conftest.py" && text.contains("autouse")
    };
    if !sources.iter().any(sets_up) {
        let all = contradictions(results, &sources).into_iter();
        found.extend(all.map(|(test, evidence)| (test, Hindrance::Contradiction(evidence))));
    }
    let others: Vec<&TestCase> =
        results.failed().filter(|case| !found.contains_key(&case.id)).collect();
    for case in others {
        let set_up = || failing_set_up(case, &sources).map(Hindrance::SetUp);
        let resource = missing_resource(case, &sources, &all).map(Hindrance::Environment);
        let uninstalled =
            || missing_installation(case, &sources, &all).map(Hindrance::NotInstalled);
        let document = case.file.as_ref().filter(|file| writes_tests && is_document(file));
        let document = document.map(|file| match package_of_example(case, &all) {
            Some(package) => Hindrance::Environment(missing_package::reason(&[package].into())),
            None => Hindrance::Document(format!(
                "an example in {file} does not hold; `--test-command` may leave it out"
            )),
        });
        let hindrance = resource.or_else(uninstalled).or(document).or_else(set_up);
        found.extend(hindrance.map(|hindrance| (case.id.clone(), hindrance)));
    }
    Ok(found)
}
