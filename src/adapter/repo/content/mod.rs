//! Writes a tree as the user's checkout has it: line ends and `ident` as its attributes say, the files of
//! submodules, the objects of Git LFS, and what a filter wrote there. All of it is read from this
//! machine; no program is run and nothing is fetched. What cannot be had is named.

mod lfs;
mod stand_in;
mod survey;

use std::fs;
use std::path::{Path, PathBuf};

use git2::build::CheckoutBuilder;
use git2::{Oid, Repository, Tree};

use crate::adapter::host::files;
use crate::domain::checkout_gap::{CheckoutGap, GapCause};
use crate::domain::id::RepoPath;
use crate::effect::GitError;

use super::{failed, io, open};
use survey::Survey;

/// Largest `.git` file that is read, in bytes.
const LINK_LIMIT: u64 = 4096;

/// The checkout whose files count.
pub struct Origin {
    pub root: PathBuf,
    pub repo: Repository,
    /// Whether further checkouts come from it and must find its submodules' repositories there.
    pub links_submodules: bool,
}

impl Origin {
    /// A checkout that was discovered before.
    pub fn of(root: &Path, links_submodules: bool) -> Result<Self, GitError> {
        let repo = open::discover_trusted(root).map_err(failed("open the repository"))?;
        Ok(Self { root: root.to_owned(), repo, links_submodules })
    }
}

/// Where a tree is written.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// The checkout of the repository itself.
    Checkout,
    /// A folder of its own.
    Folder(&'a Path),
}

/// Writes a tree as the checkout at `origin` has it; returns what cannot be had.
pub fn check_out(
    repo: &Repository,
    tree: &Tree<'_>,
    place: Place<'_>,
    origin: &Origin,
) -> Result<Vec<CheckoutGap>, GitError> {
    let survey = Survey::of(repo, tree, origin)?;
    let kept = survey.without_absent(repo, tree)?;
    let mut options = forced();
    match place {
        Place::Folder(folder) => drop(options.update_index(false).target_dir(folder)),
        Place::Checkout => remove_gone(repo, &kept)?,
    }
    write(repo, &kept, &mut options)?;
    let folder = match place {
        Place::Folder(folder) => folder,
        Place::Checkout => {
            survey.mark_absent(repo)?;
            repo.workdir().unwrap_or(Path::new(""))
        }
    };
    let folder = folder.canonicalize().map_err(io("read the private checkout"))?;
    let mut gaps = stand_in::replace_missing(repo, &survey, &folder, place, origin)?;
    gaps.extend(survey.gaps());
    for (path, commit) in &survey.submodules {
        gaps.extend(write_submodule(&folder, path, *commit, origin)?);
    }
    gaps.sort();
    Ok(gaps)
}

/// Writes the files of a tree byte for byte as committed, without submodules.
pub fn write_raw(
    repo: &Repository,
    tree: &Tree<'_>,
    folder: &Path,
    origin: &Origin,
) -> Result<(), GitError> {
    let kept = Survey::of(repo, tree, origin)?.without_absent(repo, tree)?;
    write(repo, &kept, forced().disable_filters(true).update_index(false).target_dir(folder))
}

fn forced() -> CheckoutBuilder<'static> {
    let mut options = CheckoutBuilder::new();
    options.force().recreate_missing(true);
    options
}

fn write(
    repo: &Repository,
    tree: &Tree<'_>,
    options: &mut CheckoutBuilder<'_>,
) -> Result<(), GitError> {
    repo.checkout_tree(tree.as_object(), Some(options))
        .map_err(failed("write the private checkout"))
}

/// Removes files that are in the index but not in the tree. An empty index is filled, since attributes apply
/// to files that are written before them, too.
fn remove_gone(repo: &Repository, target: &Tree<'_>) -> Result<(), GitError> {
    let mut index = repo.index().map_err(failed("read the index"))?;
    for entry in index.iter() {
        let Ok(path) = std::str::from_utf8(&entry.path) else { continue };
        if RepoPath::parse(path).is_err() || target.get_path(Path::new(path)).is_ok() {
            continue;
        }
        let root = repo.workdir().unwrap_or(Path::new(""));
        files::remove(&root.join(path)).map_err(io(format!("remove {path}")))?;
    }
    if !index.is_empty() {
        return Ok(());
    }
    index.read_tree(target).and_then(|()| index.write()).map_err(failed("write the index"))
}

/// Whether a path leads to what is there without a link, so that nothing outside of `root` is meant.
fn is_inside(root: &Path, path: &str) -> bool {
    root.join(path).canonicalize().is_ok_and(|real| real == root.join(path))
}

/// Writes the files of a submodule below `folder`, if the origin has it with this commit.
fn write_submodule(
    folder: &Path,
    path: &str,
    commit: Oid,
    origin: &Origin,
) -> Result<Vec<CheckoutGap>, GitError> {
    let gap = CheckoutGap { path: path.to_owned(), cause: GapCause::Submodule };
    let Some(git) = git_folder(&origin.root, path) else { return Ok(vec![gap]) };
    let (Ok(repo), Ok(own)) = (open::bare(&git), open::bare(&git)) else { return Ok(vec![gap]) };
    let Ok(tree) = repo.find_commit(commit).and_then(|commit| commit.tree()) else {
        return Ok(vec![gap]);
    };
    let target = folder.join(path);
    if fs::symlink_metadata(&target).is_ok_and(|facts| !facts.is_dir()) {
        files::remove(&target).map_err(io(format!("remove {path}")))?;
    }
    files::create_folder(&target).map_err(io(format!("create {path}")))?;
    if !is_inside(folder, path) {
        return Ok(vec![gap]);
    }
    repo.set_workdir(&target, false).map_err(failed(format!("open the submodule {path}")))?;
    let inner = Origin {
        root: origin.root.join(path),
        repo: own,
        links_submodules: origin.links_submodules,
    };
    let gaps = check_out(&repo, &tree, Place::Folder(&target), &inner)?;
    if origin.links_submodules {
        files::write(&target.join(".git"), format!("gitdir: {}\n", git.display()).as_bytes())
            .map_err(io(format!("link the submodule {path}")))?;
    }
    let below = |gap: CheckoutGap| CheckoutGap { path: format!("{path}/{}", gap.path), ..gap };
    Ok(gaps.into_iter().map(below).collect())
}

/// The git folder of an initialised submodule; none for a path that leads out of the checkout.
fn git_folder(root: &Path, path: &str) -> Option<PathBuf> {
    if !is_inside(root, path) {
        return None;
    }
    let link = root.join(path).join(".git");
    if fs::symlink_metadata(&link).ok()?.is_dir() {
        return Some(link);
    }
    let text = String::from_utf8(files::read_untrusted(&link, LINK_LIMIT).ok()??).ok()?;
    let to = text.strip_prefix("gitdir:")?.trim();
    root.join(path).join(to).canonicalize().ok()
}
