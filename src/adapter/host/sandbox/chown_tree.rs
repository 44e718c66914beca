//! Gives folders to the user that test code runs as. No link is followed, and exactly the
//! entry that was inspected changes its owner: test code may be running beside us.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, Stat, Uid, chownat, fstat, openat};

use super::super::invocation::Access;

/// Folders nested deeper than this keep their owner; only misbehaving test code makes them.
const DEPTH: u32 = 100;

/// Entries that keep their owner: a checkout's git directory, and drivers in a scratch folder.
const OURS: &[&[u8]] = &[b".git", b"drivers"];

/// Changes the owner of the content of checkouts and scratch folder. The folders themselves keep
/// their owner and become sticky, so that regreen's own files in them cannot be moved away.
pub(super) fn chown_tree(access: &Access, user: u32) -> io::Result<()> {
    for folder in access.checkouts.iter().chain([&access.scratch]) {
        reachable(folder)?;
    }
    chown_without_path(access, user)
}

/// Like [`chown_tree`], but does not check that the user can reach a folder: a container mounts it.
pub(super) fn chown_without_path(access: &Access, user: u32) -> io::Result<()> {
    for folder in access.checkouts.iter().chain([&access.scratch]) {
        let open = File::open(folder)?;
        open.set_permissions(std::fs::Permissions::from_mode(0o1777))?;
        let git = openat(&open, ".git", OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
        if let Ok(git) = git.map(File::from) {
            git.set_permissions(std::fs::Permissions::from_mode(0o1777))?;
            below(&git.into(), user, 0)?;
        }
        below(&open.into(), user, 0)?;
        let drivers = folder.join("drivers");
        if *folder == access.scratch && drivers.is_dir() {
            readable(&drivers)?;
        }
    }
    Ok(())
}

/// Makes the drivers readable for all. Nobody else can write to the folder, so it holds no traps.
fn readable(folder: &Path) -> io::Result<()> {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?;
    for entry in std::fs::read_dir(folder)? {
        std::fs::set_permissions(entry?.path(), std::fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}

/// Fails unless other users can traverse every parent folder.
fn reachable(folder: &Path) -> io::Result<()> {
    for above in folder.ancestors().skip(1) {
        if std::fs::metadata(above)?.permissions().mode() & 0o001 == 0 {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "the user that runs test code cannot enter {}: set REGREEN_WORK_DIR to a folder that every user can enter",
                    above.display()
                ),
            ));
        }
    }
    Ok(())
}

fn below(folder: &OwnedFd, user: u32, depth: u32) -> io::Result<()> {
    if depth > DEPTH {
        return Ok(());
    }
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = depth == 0 && OURS.contains(&name.to_bytes());
        if matches!(name.to_bytes(), b"." | b"..") || is_ours {
            continue;
        }
        // `O_PATH` opens the entry itself, whatever it is by now, without any effect on it.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(fd) = openat(folder, name, flags, Mode::empty()) else { continue };
        let facts = fstat(&fd)?;
        if facts.st_uid != user && may_be_given(&facts) {
            let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
            chownat(fd.as_fd(), c"", Some(uid), Some(gid), AtFlags::EMPTY_PATH)?;
        }
        if FileType::from_raw_mode(facts.st_mode) == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            below(&openat(&fd, c".", flags, Mode::empty())?, user, depth + 1)?;
        }
    }
    Ok(())
}

/// Whether the owner may change; a file with several hard links may be a file of ours elsewhere.
fn may_be_given(facts: &Stat) -> bool {
    match FileType::from_raw_mode(facts.st_mode) {
        FileType::Directory | FileType::Symlink => true,
        FileType::RegularFile => facts.st_nlink == 1,
        _ => false,
    }
}
