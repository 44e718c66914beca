//! The git directory of a checkout that tests run in: a repository of its own that has the objects, the
//! branch, the references and the remotes of the user's, and in which the files under test are what is
//! committed. What tests do with git does not reach the user's repository.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{ConfigLevel, DiffOptions, Oid, Repository, Tree};

use crate::adapter::host::files;
use crate::effect::{GitError, INDEX_OF_COPIES};

use super::{failed, io, transport};

/// Settings of a repository that are taken over, by prefixes; none runs a program or is secret.
const SETTINGS: &[&str] = &[
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.symlinks",
    "branch.",
    "extensions.partialclone",
    "init.defaultbranch",
    "remote.",
    "user.email",
    "user.name",
];

/// Settings of a remote that are taken over.
const OF_REMOTES: &[&str] = &[".url", ".fetch", ".promisor", ".partialclonefilter"];

/// Files below the shared git directory that are taken over.
const FILES: &[&str] = &["shallow", "info/exclude", "info/attributes"];

/// What git directories take over from the user's repository.
pub struct UserRepository {
    common: PathBuf,
    /// The branch that is checked out.
    branch: Option<String>,
    settings: Vec<(String, String)>,
    /// References with their targets, as `packed-refs` lists them.
    references: String,
    /// References to other ones.
    symbolic: Vec<(String, String)>,
}

impl UserRepository {
    /// Reads a repository, in which `fix_branch` is ours and not the user's.
    pub fn read(
        repo: &Repository,
        common: &Path,
        branch: Option<&str>,
        fix_branch: &str,
    ) -> Result<Self, git2::Error> {
        let mut settings = Vec::new();
        repo.config()?.entries(None)?.for_each(|entry| {
            let (Ok(name), Ok(value)) = (entry.name(), entry.value()) else { return };
            let is_known = SETTINGS.iter().any(|known| name.starts_with(known))
                && (!name.starts_with("remote.")
                    || OF_REMOTES.iter().any(|known| name.ends_with(known)));
            if entry.level() == ConfigLevel::Local && is_known {
                let is_address = name.ends_with(".url") && value.contains("://");
                let value = if is_address { transport::redacted(value) } else { value.to_owned() };
                settings.push((name.to_owned(), value));
            }
        })?;
        let own = branch.map(|branch| format!("refs/heads/{branch}"));
        let (mut direct, mut symbolic) = (Vec::new(), Vec::new());
        for reference in repo.references()?.flatten() {
            let Ok(name) = reference.name() else { continue };
            let is_ours = name.strip_prefix("refs/heads/") == Some(fix_branch)
                || name.starts_with("refs/regreen/");
            if is_ours {
                continue;
            }
            match (reference.target(), reference.symbolic_target()) {
                (Some(target), _) if own.as_deref() != Some(name) => {
                    direct.push((name.to_owned(), target));
                }
                (None, Ok(Some(target))) => symbolic.push((name.to_owned(), target.to_owned())),
                _ => {}
            }
        }
        direct.sort();
        let references = direct.iter().map(|(name, target)| format!("{target} {name}\n")).collect();
        let (common, branch) = (common.to_owned(), branch.map(str::to_owned));
        Ok(Self { common, branch, settings, references, symbolic })
    }

    /// Writes the git directory of a checkout, replacing what is there: `tree` is what is committed, in the commit
    /// `head`. `known` is an index with what a sparse checkout leaves out. Copies of the checkout find an
    /// index that takes every file for unchanged, so that no edit of a candidate shows.
    pub fn write_directory(
        &self,
        checkout: &Path,
        head: Oid,
        tree: &Tree<'_>,
        known: &Path,
    ) -> Result<(), GitError> {
        let folder = checkout.join(".git");
        remove_any(&folder).map_err(io("remove the git directory of a checkout"))?;
        self.write_files(&folder, head).map_err(io("write the git directory of a checkout"))?;
        for (name, is_of_copies) in [("index", false), (INDEX_OF_COPIES, true)] {
            let index = folder.join(name);
            if known.exists() {
                fs::copy(known, &index).map_err(io("copy an index"))?;
            }
            write_index(&index, tree, is_of_copies)
                .map_err(failed("write the index of a checkout"))?;
        }
        let configure = || {
            let mut config = git2::Config::open(&folder.join("config"))?;
            self.settings
                .iter()
                .try_for_each(|(name, value)| config.set_multivar(name, "$^", value))
        };
        configure().map_err(failed("write the settings of a checkout"))?;
        if let Err(error) = refresh_index(checkout) {
            tracing::warn!(%error, "the index of a checkout was not refreshed");
        }
        Ok(())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "it is written anew for each run, and tests may run as another user, who reads it"
    )]
    fn write_files(&self, folder: &Path, head: Oid) -> std::io::Result<()> {
        for part in ["hooks", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags"] {
            fs::create_dir_all(folder.join(part))?;
        }
        let put = |file: &str, text: String| {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)
        };
        let objects = self.common.join("objects");
        put("objects/info/alternates", format!("{}\n", objects.display()))?;
        put("packed-refs", self.references.clone())?;
        put("config", "[core]\n\tbare = false\n".to_owned())?;
        for (name, target) in &self.symbolic {
            put(name, format!("ref: {target}\n"))?;
        }
        match &self.branch {
            Some(branch) => {
                put(&format!("refs/heads/{branch}"), format!("{head}\n"))?;
                put("HEAD", format!("ref: refs/heads/{branch}\n"))?;
            }
            None => put("HEAD", format!("{head}\n"))?,
        }
        for file in FILES {
            let from = self.common.join(file);
            if from.is_file() {
                fs::copy(from, folder.join(file))?;
            }
        }
        Ok(())
    }
}

/// Removes whatever is at a path; test code may have put it there.
fn remove_any(path: &Path) -> std::io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(facts) if !facts.is_dir() => files::remove(path),
        _ => files::remove_tree(path),
    }
}

/// Writes the times of unchanged files into the index: a test may ask git without refreshing it.
fn refresh_index(checkout: &Path) -> Result<(), git2::Error> {
    let repo = Repository::open(checkout)?;
    repo.diff_index_to_workdir(None, Some(DiffOptions::new().update_index(true))).map(drop)
}

/// Makes an index that of a tree, and keeps what it says of files that have not changed.
fn write_index(path: &Path, tree: &Tree<'_>, is_of_copies: bool) -> Result<(), git2::Error> {
    let mut index = git2::Index::open(path)?;
    index.read_tree(tree)?;
    let entries: Vec<_> = if is_of_copies { index.iter().collect() } else { Vec::new() };
    for mut entry in entries {
        entry.flags |= git2::IndexEntryFlag::VALID.bits();
        index.add(&entry)?;
    }
    index.write()
}
