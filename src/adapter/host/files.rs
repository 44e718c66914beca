//! Atomic write, bounded read. A reader never sees half a file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// Writes a file so that it holds all of `bytes` or what it held before, also after a power cut.
/// A link at `path` is replaced, never followed.
///
/// # Errors
///
/// What the operating system says; the old content is then still there.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    super::crash::point();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".regreen-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    file.persist(path).map_err(|error| error.error)?;
    // Without this a power cut may forget the new name.
    File::open(folder)?.sync_all()?;
    super::crash::point();
    Ok(())
}

/// Reads at most `limit` bytes of a file; `None` when there is no such file.
///
/// # Errors
///
/// What the operating system says, and `InvalidData` when the file is larger.
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

/// Creates a folder and its parents.
///
/// # Errors
///
/// What the operating system says.
pub fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Removes a private folder as far as that is possible; what stays lies in a scratch folder that
/// goes with the session.
pub fn remove_folder(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder) {
        tracing::debug!(folder = %folder.display(), %error, "a private folder stays");
    }
}
