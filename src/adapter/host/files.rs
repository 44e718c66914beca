//! File helpers: atomic writes, bounded reads, and removal that accepts a missing file.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::domain::secret::Redacted;

/// Writes a file atomically: after a failure or power cut it holds all of `bytes` or its old
/// content. A symbolic link at `path` is replaced, never followed.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    super::crash::point();
    replace_file(path, bytes, File::sync_data)?;
    // Without this a power cut may lose the new name.
    File::open(folder_of(path))?.sync_all()?;
    super::crash::point();
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Puts a new file in the place of another, `finished` before it gets its name.
fn replace_file(
    path: &Path,
    bytes: &[u8],
    finished: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<File> {
    let mut file = tempfile::Builder::new().prefix(".regreen-").tempfile_in(folder_of(path))?;
    file.write_all(bytes)?;
    finished(file.as_file())?;
    file.persist(path).map_err(|error| error.error)
}

/// Writes a program for a test. A shell writes it, as a process that another thread is just starting
/// would hold a file open that is open here, and Linux starts no program that somebody may write to.
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test starts the shell that writes")]
pub fn write_program(path: &Path, text: &str) {
    use std::process::Command;

    let mut shell = Command::new("/bin/sh");
    let script = "cat > \"$0.new\" && chmod 755 \"$0.new\" && mv \"$0.new\" \"$0\"";
    shell.args(["-c", script]).arg(path).stdin(std::process::Stdio::piped());
    // Another test would take it for a process that its own run left behind.
    let (mut writer, _live) =
        super::Live::start("", || shell.spawn(), |child| Some(child.id())).expect("a shell");
    let mut input = writer.stdin.take().expect("its input");
    input.write_all(text.as_bytes()).expect("a program is written");
    drop(input);
    assert!(writer.wait().expect("an ending").success(), "{} is not written", path.display());
}

/// Writes a text for people or programs like [`write()`].
pub fn write_text(path: &Path, text: &Redacted) -> io::Result<()> {
    write(path, text.as_bytes())
}

/// Writes a file below `root` like [`write()`], but fails with `InvalidInput` if a folder on the
/// path is a symbolic link: test code may have placed it to redirect the write out of `root`.
pub fn write_below(root: &Path, relative: &Path, bytes: &[u8]) -> io::Result<()> {
    refuse_links(root, relative)?;
    write(&root.join(relative), bytes)
}

/// The same in a copy that is of no use after a power cut: it does not wait for the disk, which takes
/// longer than many a test.
pub fn write_in_copy(root: &Path, relative: &Path, bytes: &[u8]) -> io::Result<()> {
    refuse_links(root, relative)?;
    replace_file(&root.join(relative), bytes, |_| Ok(())).map(drop)
}

fn refuse_links(root: &Path, relative: &Path) -> io::Result<()> {
    let mut folder = root.to_owned();
    for part in relative.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        if fs::symlink_metadata(&folder).is_ok_and(|facts| facts.is_symlink()) {
            let text = format!("{} is a link", folder.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    }
    Ok(())
}

/// Reads a file that test code left, like [`read`], but fails with `InvalidInput` for anything
/// except a plain file: a link could expose what only we can read, and a pipe could block.
pub fn read_untrusted(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if is_plain(path)? { read(path, limit) } else { Ok(None) }
}

/// Whether a plain file is at `path`; anything else there is an error.
fn is_plain(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_file() => Ok(true),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// At most `limit` bytes of a file, else `InvalidData`; `None` when there is no such file.
pub fn read(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let text = format!("larger than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    Ok(Some(bytes))
}

/// A text file to which whole lines are appended, each visible to readers at once.
pub struct AppendFile(File);

impl AppendFile {
    /// Creates an empty file at `path`, replacing what is there.
    pub fn create(path: &Path) -> io::Result<Self> {
        write(path, b"")?;
        Ok(Self(File::options().append(true).open(path)?))
    }

    /// Opens the file at `path` for appending; creates it when it is missing.
    pub fn go_on(path: &Path) -> io::Result<Self> {
        Ok(Self(File::options().append(true).create(true).open(path)?))
    }

    /// Appends one line with a single write.
    pub fn line(&mut self, text: &Redacted) -> io::Result<()> {
        self.0.write_all(format!("{text}\n").as_bytes())
    }
}

/// At most `limit` bytes of a growing file behind `from`; `InvalidInput` for no plain file.
pub fn read_from(path: &Path, from: u64, limit: u64) -> io::Result<Vec<u8>> {
    if !is_plain(path)? {
        return Ok(Vec::new());
    }
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Creates an empty file that only our user can read, replacing an existing one.
pub fn create(path: &Path) -> io::Result<File> {
    Ok(AppendFile::create(path)?.0)
}

/// Appends text to a file of another program; creates a missing one.
pub fn append(path: &Path, text: &Redacted) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Creates a folder and its parents.
pub fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Replaces a folder by the plain files of another; never follows a link in place of `to`.
pub fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Ok(found) if !found.is_dir() => return Err(io::ErrorKind::AlreadyExists.into()),
        Ok(_) => remove_tree(to)?,
        Err(_missing) => {}
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Creates a named pipe: what a program must not read.
#[cfg(test)]
pub fn create_pipe(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0)?)
}

/// A new folder below `below`, removed when dropped; its random name keeps it empty until then.
pub fn private_folder(below: &Path, prefix: &str) -> io::Result<tempfile::TempDir> {
    create_folder(below)?;
    tempfile::Builder::new().prefix(prefix).tempdir_in(below)
}

/// Removes a file; a missing one is not an error.
pub fn remove(path: &Path) -> io::Result<()> {
    unless_gone(fs::remove_file(path))
}

/// Removes a folder with its content; a missing one is not an error.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    unless_gone(fs::remove_dir_all(folder))
}

fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

/// Removes what it can of a private folder; the rest goes with the session's scratch folder.
pub fn remove_folder(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder) {
        tracing::debug!(folder = %folder.display(), %error, "a private folder stays");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_folder_replaces_folders_and_follows_no_link() {
        let world = tempfile::tempdir().unwrap();
        let at = |name: &str| world.path().join(name);
        for (folder, file) in [("from", "new"), ("to", "old"), ("elsewhere", "kept")] {
            fs::create_dir(at(folder)).unwrap();
            write(&at(folder).join(file), file.as_bytes()).unwrap();
        }
        copy_folder(&at("from"), &at("to")).unwrap();
        assert!(at("to/new").exists() && !at("to/old").exists());
        std::os::unix::fs::symlink(at("elsewhere"), at("link")).unwrap();
        assert!(copy_folder(&at("from"), &at("link")).is_err());
        assert!(at("elsewhere/kept").exists() && !at("elsewhere/new").exists());
    }

    #[test]
    fn links_of_test_code_are_neither_written_through_nor_read() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("copy"), folder.path().join("outside"));
        fs::create_dir_all(inside.join("src")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        write(&outside.join("secret"), b"key").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("lib")).unwrap();
        std::os::unix::fs::symlink(outside.join("secret"), inside.join("report")).unwrap();
        write_below(&inside, Path::new("src/a.py"), b"1").unwrap();
        let through = write_below(&inside, Path::new("lib/a.py"), b"1");
        assert_eq!(through.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(!outside.join("a.py").exists());
        assert_eq!(read_untrusted(&inside.join("src/a.py"), 9).unwrap().unwrap(), b"1");
        assert_eq!(read_untrusted(&inside.join("none"), 9).unwrap(), None);
        for name in ["report", "lib"] {
            let read = read_untrusted(&inside.join(name), 9).unwrap_err();
            assert_eq!(read.kind(), io::ErrorKind::InvalidInput, "{name}");
        }
    }
}
