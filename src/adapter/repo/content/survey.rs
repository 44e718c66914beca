//! Reads what a tree holds besides files that libgit2 writes by itself.

use std::collections::BTreeSet;

use git2::build::TreeUpdateBuilder;
use git2::{
    IndexEntry, IndexEntryExtendedFlag, IndexTime, ObjectType, Oid, Repository, Tree, TreeWalkMode,
    TreeWalkResult,
};

use crate::adapter::repo::failed;
use crate::domain::checkout_gap::{CheckoutGap, GapCause};
use crate::domain::id::RepoPath;
use crate::effect::GitError;

use super::Origin;

/// A file or folder of a tree.
pub struct Entry {
    pub path: String,
    pub id: Oid,
    pub mode: u32,
}

/// What a tree holds.
#[derive(Default)]
pub struct Survey {
    pub files: Vec<Entry>,
    pub submodules: Vec<(String, Oid)>,
    /// Files that the origin leaves out, and objects that are not there.
    absent: Vec<Entry>,
    /// The same, by the topmost folder that holds nothing else.
    left_out: BTreeSet<String>,
    /// Whether attributes may ask for a filter or an encoding.
    pub has_filters: bool,
}

impl Survey {
    pub fn of(repo: &Repository, tree: &Tree<'_>, origin: &Origin) -> Result<Self, GitError> {
        let odb = repo.odb().map_err(failed("open the object store"))?;
        let skipped = skipped(&origin.repo)?;
        let mut survey = Self::default();
        let mut kept = BTreeSet::new();
        tree.walk(TreeWalkMode::PreOrder, |parent, entry| {
            let Ok(name) = entry.name() else { return TreeWalkResult::Ok };
            let (path, id, kind) = (format!("{parent}{name}"), entry.id(), entry.kind());
            let mode = u32::try_from(entry.filemode()).unwrap_or_default();
            let is_link = kind == Some(ObjectType::Commit);
            if skipped.contains(path.as_bytes()) || !is_link && !odb.exists(id) {
                survey.absent.push(Entry { path, id, mode });
                return TreeWalkResult::Skip;
            }
            match kind {
                Some(ObjectType::Blob) => survey.add_file(repo, name, Entry { path, id, mode }),
                Some(_) if is_link && RepoPath::parse(&*path).is_ok() => {
                    survey.submodules.push((path, id));
                }
                Some(_) | None => return TreeWalkResult::Ok,
            }
            kept.extend(folders_of(parent).map(str::to_owned));
            TreeWalkResult::Ok
        })
        .map_err(failed("list a tree"))?;
        let local = origin.repo.commondir().join("info/attributes");
        survey.has_filters |= std::fs::read_to_string(local).is_ok_and(|text| asks(&text));
        let topmost = |entry: &Entry| {
            let folder = folders_of(&entry.path).find(|folder| !kept.contains(*folder));
            folder.unwrap_or(&entry.path).to_owned()
        };
        survey.left_out = survey.absent.iter().map(topmost).collect();
        Ok(survey)
    }

    fn add_file(&mut self, repo: &Repository, name: &str, file: Entry) {
        if name == ".gitattributes" {
            let blob = repo.find_blob(file.id);
            self.has_filters |=
                blob.is_ok_and(|blob| asks(&String::from_utf8_lossy(blob.content())));
        }
        self.files.push(file);
    }

    /// What is absent, as gaps.
    pub fn gaps(&self) -> impl Iterator<Item = CheckoutGap> {
        self.left_out
            .iter()
            .map(|path| CheckoutGap { cause: GapCause::LeftOut, path: path.clone() })
    }

    /// The tree without what is absent.
    pub fn without_absent<'r>(
        &self,
        repo: &'r Repository,
        tree: &Tree<'r>,
    ) -> Result<Tree<'r>, GitError> {
        if self.left_out.is_empty() {
            return Ok(tree.clone());
        }
        let mut update = TreeUpdateBuilder::new();
        for path in &self.left_out {
            update.remove(&**path);
        }
        let kept = update.create_updated(repo, tree).and_then(|id| repo.find_tree(id));
        kept.map_err(failed("leave files out of a tree"))
    }

    /// Records that the absent files are left out on purpose; takes no object that is not there.
    pub fn mark_absent(&self, repo: &Repository) -> Result<(), GitError> {
        if self.absent.is_empty() {
            return Ok(());
        }
        let never = IndexTime::new(0, 0);
        let mark = || {
            let mut index = repo.index()?;
            let odb = repo.odb()?;
            for file in self.absent.iter().filter(|file| odb.exists(file.id)) {
                index.add(&IndexEntry {
                    ctime: never,
                    mtime: never,
                    dev: 0,
                    ino: 0,
                    mode: file.mode,
                    uid: 0,
                    gid: 0,
                    file_size: 0,
                    id: file.id,
                    flags: 0,
                    flags_extended: IndexEntryExtendedFlag::SKIP_WORKTREE.bits(),
                    path: file.path.clone().into_bytes(),
                })?;
            }
            index.write()
        };
        mark().map_err(failed("write the index"))
    }
}

/// Whether attributes ask for what libgit2 does not do by itself.
fn asks(attributes: &str) -> bool {
    attributes.contains("filter") || attributes.contains("working-tree-encoding")
}

/// The files that a sparse checkout leaves out.
fn skipped(origin: &Repository) -> Result<BTreeSet<Vec<u8>>, GitError> {
    let flag = IndexEntryExtendedFlag::SKIP_WORKTREE.bits();
    let index = origin.index().map_err(failed("read the index of the checkout"))?;
    Ok(index
        .iter()
        .filter(|entry| entry.flags_extended & flag != 0)
        .map(|entry| entry.path)
        .collect())
}

/// The folders around a path, topmost first.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(end, _)| path.get(..end))
}
