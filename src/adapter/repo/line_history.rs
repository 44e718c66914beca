//! Finds the commit that last changed some lines of a file.

use std::ops::RangeInclusive;
use std::path::Path;

use git2::{BlameOptions, Oid, Repository};

use crate::domain::explanation::LineOrigin;
use crate::domain::id::{CommitId, RepoPath};
use crate::domain::text::bounded;
use crate::effect::GitError;

use super::failed;
use super::objects::{message_of, name, oid};

/// First parents that are followed where no merge base bounds the search.
const FOLLOWED: usize = 200;

/// The newest commit between `base` and `head` that changed one of the lines.
pub fn last_change(
    repo: &Repository,
    head: &CommitId,
    file: &RepoPath,
    lines: RangeInclusive<u32>,
    base: Option<&CommitId>,
) -> Result<LineOrigin, GitError> {
    let head = oid(head)?;
    let oldest = match base {
        Some(base) => oid(base)?,
        None => ancestor(repo, head)?,
    };
    let mut options = BlameOptions::new();
    let number = |line: &u32| usize::try_from(*line).unwrap_or(usize::MAX);
    options.newest_commit(head).oldest_commit(oldest);
    options.min_line(number(lines.start())).max_line(number(lines.end()));
    let blame = repo
        .blame_file(Path::new(file.as_str()), Some(&mut options))
        .map_err(failed(format!("read the history of {file}")))?;
    let is_older = |id: Oid| id == oldest || repo.graph_descendant_of(oldest, id).unwrap_or(false);
    let newest = blame
        .iter()
        .map(|hunk| hunk.final_commit_id())
        .filter(|id| !is_older(*id))
        .filter_map(|id| repo.find_commit(id).ok())
        .max_by_key(|commit| commit.time().seconds());
    match newest {
        Some(commit) => Ok(LineOrigin::Commit {
            id: name(commit.id())?,
            title: bounded(message_of(&commit).lines().next().unwrap_or_default(), 200),
        }),
        // Without a base, older than what was searched says nothing.
        None => Ok(base.map_or(LineOrigin::Unknown, |_| LineOrigin::BeforeBase)),
    }
}

/// An ancestor of `head` that bounds a search.
fn ancestor(repo: &Repository, head: Oid) -> Result<Oid, GitError> {
    let mut commit = repo.find_commit(head).map_err(failed("read the head"))?;
    for _ in 0..FOLLOWED {
        let Ok(parent) = commit.parent(0) else { break };
        commit = parent;
    }
    Ok(commit.id())
}

#[cfg(test)]
mod tests {
    use git2::{Signature, Time};

    use super::*;

    /// Commits a text on top of the commits made so far.
    fn commit(repo: &Repository, number: i64, text: &str) -> CommitId {
        let blob = repo.blob(text.as_bytes()).unwrap();
        let mut files = repo.treebuilder(None).unwrap();
        files.insert("a.py", blob, 0o100_644).unwrap();
        let tree = repo.find_tree(files.write().unwrap()).unwrap();
        let ada = Signature::new("Ada", "ada@localhost", &Time::new(number, 0)).unwrap();
        let parent = repo.head().ok().map(|head| head.peel_to_commit().unwrap());
        let parents: Vec<_> = parent.iter().collect();
        let title = format!("change {number}\n\nmore");
        name(repo.commit(Some("HEAD"), &ada, &ada, &title, &tree, &parents).unwrap()).unwrap()
    }

    #[test]
    fn the_newest_commit_since_the_base_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repository::init(folder.path()).unwrap();
        let texts = ["1\n2\n3\n", "0\n1\n2\n3\n", "0\n1\ntwo\n3\n", "0\none\ntwo\n3\n"];
        let commits: Vec<CommitId> =
            texts.iter().zip(1..).map(|(text, number)| commit(&repo, number, text)).collect();
        let (file, head) = (RepoPath::parse("a.py").unwrap(), &commits[3]);
        let made = |number: usize| LineOrigin::Commit {
            id: commits[number - 1].clone(),
            title: format!("change {number}"),
        };
        let table = [
            ("one line", 3..=3, Some(0), made(3)),
            ("the newest of several", 1..=4, Some(0), made(4)),
            ("as on the base", 4..=4, Some(1), LineOrigin::BeforeBase),
            ("changed by the base itself", 1..=1, Some(1), LineOrigin::BeforeBase),
            ("the base is the head", 1..=4, Some(3), LineOrigin::BeforeBase),
            ("no base", 2..=2, None, made(4)),
            ("no base and no change", 4..=4, None, LineOrigin::Unknown),
        ];
        for (why, lines, base, expected) in table {
            let base = base.map(|at: usize| &commits[at]);
            assert_eq!(last_change(&repo, head, &file, lines, base).unwrap(), expected, "{why}");
        }
        let absent = RepoPath::parse("b.py").unwrap();
        assert!(last_change(&repo, head, &absent, 1..=1, None).is_err());
    }
}
