//! Files that git would write by a program or in an encoding: their content comes from the object store of
//! Git LFS or from the user's own file, where that is known to be what git wrote.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use git2::{AttrCheckFlags, AttrValue, Index, IndexTime, Repository};

use crate::adapter::host::files;
use crate::adapter::repo::{failed, io as io_failed};
use crate::domain::checkout_gap::{CheckoutGap, GapCause};
use crate::effect::GitError;

use super::lfs::Pointer;
use super::survey::{Entry, Survey};
use super::{Origin, Place, is_inside};

/// Replaces what stands in the tree by the content that git would write; returns what cannot be had.
pub fn replace_missing(
    repo: &Repository,
    survey: &Survey,
    folder: &Path,
    place: Place<'_>,
    origin: &Origin,
) -> Result<Vec<CheckoutGap>, GitError> {
    let mut gaps = Vec::new();
    if !survey.has_filters {
        return Ok(gaps);
    }
    let theirs = origin.repo.index().map_err(failed("read the index of the checkout"))?;
    let mut index = repo.index().map_err(failed("read the index"))?;
    let mut is_written = false;
    for file in &survey.files {
        let is_plain = file.mode & 0o170_000 == 0o100_000;
        let Some((cause, pointer)) = stands_in(repo, file).filter(|_| is_plain) else { continue };
        // Git passes a file through unchanged whose filter is not set up.
        if let GapCause::Filter(name) = &cause
            && !is_set_up(origin, name)
        {
            continue;
        }
        let source = match &pointer {
            Some(pointer) => object(pointer, file, folder, origin),
            None => written_by_git(file, &theirs, origin),
        };
        let Some(source) = source else {
            gaps.push(CheckoutGap { path: file.path.clone(), cause });
            continue;
        };
        let copied = copy_once(&source, folder, file);
        let copied = copied.map_err(io_failed(format!("write {}", file.path)))?;
        if let (Place::Checkout, Some(facts)) = (place, copied) {
            record(&mut index, file, &facts).map_err(failed("write the index"))?;
            is_written = true;
        }
    }
    if is_written {
        index.write().map_err(failed("write the index"))?;
    }
    Ok(gaps)
}

/// Why the content of a file in git is not what a checkout has; with the pointer of Git LFS.
fn stands_in(repo: &Repository, file: &Entry) -> Option<(GapCause, Option<Pointer>)> {
    let value = |name: &str| {
        let path = Path::new(&file.path);
        let value = repo.get_attr(path, name, AttrCheckFlags::FILE_THEN_INDEX).ok()?;
        match AttrValue::from_string(value) {
            AttrValue::String(text) => Some(text.to_owned()),
            AttrValue::True | AttrValue::False | AttrValue::Bytes(_) | AttrValue::Unspecified => {
                None
            }
        }
    };
    match value("filter") {
        Some(name) if name == "lfs" => {
            let blob = repo.find_blob(file.id).ok()?;
            Some((GapCause::Lfs, Some(Pointer::parse(blob.content())?)))
        }
        Some(name) => Some((GapCause::Filter(name), None)),
        None => {
            let name = value("working-tree-encoding")?;
            let is_other =
                !name.eq_ignore_ascii_case("utf-8") && !name.eq_ignore_ascii_case("utf8");
            is_other.then_some((GapCause::Encoding(name), None))
        }
    }
}

/// The content for which a pointer stands: an object, or the user's file.
fn object(pointer: &Pointer, file: &Entry, folder: &Path, origin: &Origin) -> Option<PathBuf> {
    let object = pointer.object(origin.repo.commondir());
    let own = Some(origin.root.join(&file.path)).filter(|_| is_inside(&origin.root, &file.path));
    let is_content = |source: &PathBuf| {
        fs::symlink_metadata(source).is_ok_and(|facts| {
            let is_sized = facts.is_file() && facts.len() == pointer.size;
            let is_there = || is_copied(&facts, &folder.join(&file.path));
            is_sized && (is_there() || pointer.is_content_of(source))
        })
    };
    [Some(object), own].into_iter().flatten().find(is_content)
}

/// The user's file, if git wrote it from the same blob and it was not modified since.
fn written_by_git(file: &Entry, theirs: &Index, origin: &Origin) -> Option<PathBuf> {
    let known = theirs.get_path(Path::new(&file.path), 0).filter(|entry| entry.id == file.id)?;
    let source =
        Some(origin.root.join(&file.path)).filter(|_| is_inside(&origin.root, &file.path))?;
    let facts = fs::symlink_metadata(&source).ok().filter(Metadata::is_file)?;
    let is_unmodified = known.mtime == time_of(facts.mtime(), facts.mtime_nsec())
        && known.file_size == cut(facts.len());
    is_unmodified.then_some(source)
}

/// Whether the checkout's configuration, or that of its user, has a filter of this name.
fn is_set_up(origin: &Origin, name: &str) -> bool {
    origin.repo.config().is_ok_and(|config| {
        ["smudge", "process", "clean"]
            .iter()
            .any(|key| config.get_entry(&format!("filter.{name}.{key}")).is_ok())
    })
}

/// Whether a file was copied from one with these facts.
fn is_copied(source: &Metadata, target: &Path) -> bool {
    fs::symlink_metadata(target).is_ok_and(|facts| {
        facts.is_file()
            && facts.len() == source.len()
            && (facts.mtime(), facts.mtime_nsec()) == (source.mtime(), source.mtime_nsec())
    })
}

/// Copies a file, unless that is done; returns the facts of the copy, which keeps the time of its source: by
/// it the copy is recognised, and the index takes it for unmodified.
fn copy_once(source: &Path, folder: &Path, file: &Entry) -> io::Result<Option<Metadata>> {
    let (facts, target) = (fs::metadata(source)?, folder.join(&file.path));
    if is_copied(&facts, &target) {
        return Ok(None);
    }
    files::remove(&target)?;
    if !Path::new(&file.path)
        .parent()
        .and_then(Path::to_str)
        .is_some_and(|at| is_inside(folder, at))
    {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "its folder is a link"));
    }
    fs::copy(source, &target)?;
    fs::set_permissions(&target, Permissions::from_mode(file.mode & 0o777))?;
    File::options().append(true).open(&target)?.set_modified(facts.modified()?)?;
    fs::symlink_metadata(target).map(Some)
}

/// Records a copy as what git wrote for the blob.
fn record(index: &mut Index, file: &Entry, facts: &Metadata) -> Result<(), git2::Error> {
    let Some(mut entry) = index.get_path(Path::new(&file.path), 0) else { return Ok(()) };
    entry.mtime = time_of(facts.mtime(), facts.mtime_nsec());
    entry.ctime = time_of(facts.ctime(), facts.ctime_nsec());
    entry.ino = cut(facts.ino());
    entry.file_size = cut(facts.len());
    index.add(&entry)
}

fn time_of(seconds: i64, nanoseconds: i64) -> IndexTime {
    IndexTime::new(
        i32::try_from(seconds).unwrap_or_default(),
        u32::try_from(nanoseconds).unwrap_or_default(),
    )
}

/// A number as an index holds it: its lower half.
fn cut(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default()
}
