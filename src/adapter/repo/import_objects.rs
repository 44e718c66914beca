//! Creates missing objects: a whole repository from files in the binary, or the trees that the
//! state of a session refers to.

use std::path::Path;

use git2::{Repository, RepositoryInitOptions, Signature, Sort};

use crate::adapter::host::files;
use crate::domain::id::CommitId;
use crate::effect::GitError;

use super::objects::{history, oid, tree_of};
use super::{RepositoryFacts, failed, io, tree};

/// Creates a repository on branch `main` with one commit that holds `contents`.
pub fn seed(root: &Path, contents: &[(&str, &str)], message: &str) -> Result<(), GitError> {
    let mut options = RepositoryInitOptions::new();
    options.initial_head("main").no_reinit(true);
    let repo = Repository::init_opts(root, &options).map_err(failed("create a repository"))?;
    let mut index = repo.index().map_err(failed("open the index"))?;
    for (path, text) in contents {
        let file = root.join(path);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(io(format!("create {}", folder.display())))?;
        }
        files::write(&file, text.as_bytes()).map_err(io(format!("write {path}")))?;
        index.add_path(Path::new(path)).map_err(failed(format!("add {path}")))?;
    }
    index.write().map_err(failed("write the index"))?;
    let tree = index.write_tree().map_err(failed("write a tree"))?;
    let tree = repo.find_tree(tree).map_err(failed("read a tree"))?;
    let author = repo
        .signature()
        .or_else(|_| Signature::now("regreen", "regreen@localhost"))
        .map_err(failed("sign"))?;
    repo.commit(Some("HEAD"), &author, &author, message, &tree, &[])
        .map_err(failed("write a commit"))?;
    Ok(())
}

/// Writes the trees of a session's commits without its own files, which no clone has.
pub fn recover_trees(
    facts: &RepositoryFacts,
    branch: &str,
    head: &CommitId,
    state_root: &str,
) -> Result<(), GitError> {
    let repo = super::open::reopen(facts)?;
    let Some(tip) = super::tip_of(facts, branch) else { return Ok(()) };
    let own = tree_of(&repo, head)?;
    for id in history(&repo, oid(&tip)?, &[oid(head)?], Sort::NONE)? {
        let found = id.and_then(|id| repo.find_commit(id)).and_then(|commit| commit.tree());
        let tree = found.map_err(failed("walk the history"))?;
        if tree.get_name(state_root).is_some() {
            tree::with_entry_of(&repo, &tree, &own, state_root)?;
        }
    }
    Ok(())
}
