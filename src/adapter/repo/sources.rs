//! Reads the files of a checkout: sources and manifests as text, all others by name only.

use std::collections::{BTreeMap, BTreeSet};

use git2::{DiffOptions, Repository};

use crate::adapter::host::files;
use crate::code::language::Language;
use crate::code::lint::is_manifest;
use crate::domain::id::RepoPath;
use crate::effect::GitError;

use super::RepositoryFacts;
use super::failed;

/// Larger sources are assumed to be generated, and are not read.
const SOURCE_LIMIT: u64 = 1 << 20;

/// Larger limit for manifests, since lock files are among them.
const MANIFEST_LIMIT: u64 = 16 << 20;

/// The files of a checkout.
#[derive(Debug, Default)]
pub struct Sources {
    /// File texts by path; empty for files that are not read.
    pub files: BTreeMap<RepoPath, String>,
    /// Sources that cannot be read, with the reason.
    pub unread: Vec<(String, String)>,
}

/// Reads a checkout without ignored files or links; names the files that cannot be read.
pub fn read_sources(facts: &RepositoryFacts) -> Sources {
    let mut sources = Sources::default();
    let walk = ignore::WalkBuilder::new(&facts.root)
        .hidden(false)
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "node_modules")
        .build();
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                sources.unread.push(("a folder".into(), error.to_string()));
                continue;
            }
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let Some(path) = entry.path().strip_prefix(&facts.root).ok().and_then(|path| path.to_str())
        else {
            sources
                .unread
                .push((entry.path().display().to_string(), "its name is not UTF-8".into()));
            continue;
        };
        let Ok(path) = RepoPath::parse(path) else { continue };
        let manifest = is_manifest(&path);
        let mut text = String::new();
        if manifest || Language::of(&path).is_some() {
            let limit = if manifest { MANIFEST_LIMIT } else { SOURCE_LIMIT };
            let reason = match files::read(entry.path(), limit) {
                Ok(Some(bytes)) if bytes.contains(&0) => Some("it is binary".to_owned()),
                Ok(Some(bytes)) => match String::from_utf8(bytes) {
                    Ok(read) => {
                        text = read;
                        None
                    }
                    Err(_) => Some("it is not UTF-8".to_owned()),
                },
                Ok(None) => continue,
                Err(error) => Some(error.to_string()),
            };
            if let Some(reason) = reason {
                sources.unread.push((path.as_str().to_owned(), reason));
                continue;
            }
        }
        sources.files.insert(path, text);
    }
    sources
}

/// Files that differ from the merge base with `reference`, uncommitted and untracked ones included.
pub fn changed_since(
    facts: &RepositoryFacts,
    reference: &str,
) -> Result<BTreeSet<RepoPath>, GitError> {
    let repo = Repository::open(&facts.root).map_err(failed("open the repository"))?;
    let find = |name: &str| repo.revparse_single(name).and_then(|object| object.peel_to_commit());
    let other = find(reference).map_err(failed(format!("find {reference}")))?;
    let head = find("HEAD").map_err(failed("read HEAD"))?;
    let base = repo
        .merge_base(other.id(), head.id())
        .map_err(failed(format!("find what HEAD and {reference} have in common")))?;
    let tree = repo
        .find_commit(base)
        .and_then(|commit| commit.tree())
        .map_err(failed("read the merge base"))?;
    let mut options = DiffOptions::new();
    options.include_untracked(true).recurse_untracked_dirs(true);
    let diff = repo
        .diff_tree_to_workdir_with_index(Some(&tree), Some(&mut options))
        .map_err(failed("compare with the merge base"))?;
    Ok(diff
        .deltas()
        .filter_map(|delta| delta.new_file().path()?.to_str().map(str::to_owned))
        .filter_map(|path| RepoPath::parse(path).ok())
        .collect())
}

/// Files of those npm `packages` that are installed and declare no `exports`, by package.
pub fn installed(
    facts: &RepositoryFacts,
    packages: &BTreeSet<String>,
) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for package in packages {
        let folder = facts.root.join("node_modules").join(package);
        let manifest = files::read(&folder.join("package.json"), MANIFEST_LIMIT);
        let Ok(Some(manifest)) = manifest else { continue };
        if String::from_utf8_lossy(&manifest).contains("\"exports\"") {
            continue;
        }
        let list = ignore::WalkBuilder::new(&folder)
            .standard_filters(false)
            .build()
            .flatten()
            .take(20_000)
            .filter_map(|entry| {
                let path = entry.path().strip_prefix(&folder).ok()?;
                path.to_str().map(str::to_owned)
            })
            .collect();
        found.insert(package.clone(), list);
    }
    found
}
