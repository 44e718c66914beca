//! Bundles, by which the worker passes its result to the publisher (specification.md 4.14): a pack
//! of commits, and a list of the files they change. The publisher trusts neither: it opens the pack
//! in a scratch repository and inspects every object before it imports any.

mod inspect;

use std::path::Path;

use git2::Sort;
use serde::{Deserialize, Serialize};

use crate::adapter::host::files;
use crate::domain::id::{CommitId, RepoPath, SessionId, sha256_hex};
use crate::domain::secret::Redactor;
use crate::effect::{FileDiff, GitError};

use super::objects::{history, oid, pack, unpack};
use super::pack_limits::{Bounds, PackFault, check_limits, object_count};
use super::{RepositoryFacts, io, open};
use inspect::{changed_files, inspect, line};

/// Version of `bundle.json`.
const VERSION: u32 = 1;

const MANIFEST: &str = "bundle.json";
const PACK: &str = "commits.pack";

/// Limits of a bundle; a normal repair stays far below each.
const MANIFEST_LIMIT: u64 = 4 << 20;
const PACK_LIMIT: u64 = 64 << 20;
const OBJECTS: u32 = 50_000;
const COMMITS: usize = 500;
const FILES: usize = 2000;
const FILE_LIMIT: usize = 8 << 20;

/// Inflated sizes that the objects of a pack may have.
const BOUNDS: Bounds = Bounds { object: FILE_LIMIT as u64, all: 512 << 20 };

/// The content of `bundle.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// Version of the format, always 1.
    pub schema_version: u32,
    pub of: BundleOf,
    /// The commits after `head` up to `tip`, oldest first.
    pub commits: Vec<CommitId>,
    /// Files that differ between `head` and `tip`, sorted.
    pub files: Vec<BundledFile>,
    /// SHA-256 of `commits.pack`, in hexadecimal digits.
    pub pack_digest: String,
    pub pack_bytes: u64,
}

/// The session, repository and commits that a bundle belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundleOf {
    pub session: SessionId,
    /// The repository as `owner/name`.
    pub repository: String,
    pub branch: String,
    pub head: CommitId,
    /// The commit of the base branch that the change was compared with.
    pub base: Option<CommitId>,
    pub tip: CommitId,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundledFile {
    pub file: RepoPath,
    /// SHA-256 before; `None` for a new file.
    pub before: Option<String>,
    /// SHA-256 after; `None` for a deleted file.
    pub after: Option<String>,
    /// Size after, in bytes.
    pub bytes: u64,
}

/// A bundle whose every object was inspected and is in the object store now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub bundle: Bundle,
    /// Its changes without the session's own state files, for the guards.
    pub diff: Vec<FileDiff>,
}

/// Why a bundle is rejected.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("the bundle has no `{0}`")]
    Missing(&'static str),
    #[error("bundle.json cannot be read: {0}")]
    Manifest(String),
    /// It was made for another repository or commit.
    #[error("the bundle is for {what} {found}, and this is {expected}")]
    Stale { what: &'static str, found: String, expected: String },
    /// A digest or size differs.
    #[error("{0} is not what bundle.json says")]
    Digest(String),
    #[error("the bundle exceeds a limit: {0}")]
    TooLarge(String),
    #[error("commits.pack cannot be read: {0}")]
    Pack(String),
    /// The commits are not a linear history from `head` to `tip`, or not of the session.
    #[error("commit {commit}: {reason}")]
    Commit { commit: String, reason: &'static str },
    #[error("commits.pack holds {0}, which no commit of the bundle needs")]
    ExtraObject(String),
    #[error("commits.pack holds the token of this job in {0}")]
    Secret(String),
    /// A path that must not be written.
    #[error("{0}")]
    Path(String),
    /// A link, a submodule, or a changed mode.
    #[error("{file}: {reason}")]
    Kind { file: String, reason: &'static str },
    #[error(transparent)]
    Git(#[from] GitError),
}

impl BundleError {
    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::Stale { .. } => "run the fix again on the present commit".into(),
            Self::Git(error) => error.hint(),
            Self::Secret(_) => "look for the test that shows it".into(),
            Self::Missing(_) => "name the folder that `regreen fix` wrote the bundle to".into(),
            _ => "do not publish it; run the fix again".into(),
        }
    }
}

/// Writes the commits after `of.head` up to `of.tip` into a folder. The manifest is written last,
/// so a folder that has one is complete. A repeated export replaces both files.
/// Rejects everything that an import would reject.
pub fn export_bundle(
    facts: &RepositoryFacts,
    of: &BundleOf,
    folder: &Path,
) -> Result<Bundle, BundleError> {
    let repo = open::reopen(facts)?;
    let commits = line(&repo, of)?;
    let files = changed_files(&repo, of)?;
    let pack = pack(&repo, history(&repo, oid(&of.tip)?, &[oid(&of.head)?], Sort::NONE)?)?;
    let bundle = Bundle {
        schema_version: VERSION,
        of: of.clone(),
        commits,
        files,
        pack_digest: sha256_hex(&pack),
        pack_bytes: pack.len() as u64,
    };
    files::create_folder(folder).map_err(io("create the folder of the bundle"))?;
    files::write(&folder.join(PACK), &pack).map_err(io("write the pack"))?;
    let mut text = serde_json::to_vec_pretty(&bundle)
        .map_err(|error| BundleError::Manifest(error.to_string()))?;
    text.push(b'\n');
    files::write(&folder.join(MANIFEST), &text).map_err(io("write the list of the bundle"))?;
    Ok(bundle)
}

/// The current state that a bundle must match to be published.
#[derive(Clone, Debug)]
pub struct Present {
    /// The repository as `owner/name`.
    pub repository: String,
    /// The present head on the server.
    pub head: CommitId,
    /// The present base on the server.
    pub base: Option<CommitId>,
    /// Folder of the session's state files inside commits, which the guards skip.
    pub state_folder: String,
    /// Finds what no object of a bundle may hold.
    pub secrets: Redactor,
}

/// Checks a bundle and imports its objects; moves no branch. `scratch` is created for the
/// inspection and removed afterwards.
/// On failure the object store is unchanged.
pub fn import_bundle(
    facts: &RepositoryFacts,
    folder: &Path,
    present: &Present,
    scratch: &Path,
) -> Result<Imported, BundleError> {
    let (bundle, pack) = read(folder)?;
    still(&bundle, present)?;
    files::remove_folder(scratch);
    let imported = inspect(facts, &bundle, &pack, present, scratch);
    files::remove_folder(scratch);
    let diff = imported?;
    unpack(&open::reopen(facts)?, &pack)?;
    Ok(Imported { bundle, diff })
}

/// Reads a plain file of the bundle.
fn part(folder: &Path, name: &'static str, limit: u64) -> Result<Vec<u8>, BundleError> {
    let path = folder.join(name);
    match std::fs::symlink_metadata(&path) {
        Ok(facts) if facts.is_file() && facts.len() > limit => {
            return Err(BundleError::TooLarge(format!("`{name}` is above {limit} bytes")));
        }
        Ok(facts) if facts.is_file() => {}
        _ => return Err(BundleError::Missing(name)),
    }
    let bytes = files::read(&path, limit).map_err(io(format!("read {name}")))?;
    bytes.ok_or(BundleError::Missing(name))
}

/// Reads the manifest of a bundle, without checking it against the pack.
pub fn manifest(folder: &Path) -> Result<Bundle, BundleError> {
    let bundle: Bundle = serde_json::from_slice(&part(folder, MANIFEST, MANIFEST_LIMIT)?)
        .map_err(|error| BundleError::Manifest(error.to_string()))?;
    if bundle.schema_version != VERSION {
        return Err(BundleError::Manifest(format!(
            "version {} is not known",
            bundle.schema_version
        )));
    }
    Ok(bundle)
}

fn read(folder: &Path) -> Result<(Bundle, Vec<u8>), BundleError> {
    let bundle = manifest(folder)?;
    let pack = part(folder, PACK, PACK_LIMIT)?;
    if pack.len() as u64 != bundle.pack_bytes || sha256_hex(&pack) != bundle.pack_digest {
        return Err(BundleError::Digest(PACK.into()));
    }
    let count = object_count(&pack);
    let count = count.ok_or_else(|| BundleError::Pack("it does not begin like one".into()))?;
    if count > OBJECTS || bundle.commits.len() > COMMITS || bundle.files.len() > FILES {
        return Err(BundleError::TooLarge(format!(
            "{count} objects, {} commits, {} files",
            bundle.commits.len(),
            bundle.files.len()
        )));
    }
    check_limits(&pack, BOUNDS).map_err(|fault| match fault {
        PackFault::Object { .. } | PackFault::All { .. } => {
            BundleError::TooLarge(fault.to_string())
        }
        PackFault::Broken { .. } => BundleError::Pack(fault.to_string()),
    })?;
    Ok((bundle, pack))
}

fn still(bundle: &Bundle, present: &Present) -> Result<(), BundleError> {
    let base =
        |base: &Option<CommitId>| base.as_ref().map_or_else(|| "none".into(), CommitId::to_string);
    let of = &bundle.of;
    let pairs = [
        ("repository", of.repository.clone(), present.repository.clone()),
        ("head", of.head.to_string(), present.head.to_string()),
        ("base", base(&of.base), base(&present.base)),
    ];
    for (what, found, expected) in pairs {
        if found != expected {
            return Err(BundleError::Stale { what, found, expected });
        }
    }
    Ok(())
}
