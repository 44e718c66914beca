//! What an agent changes in its checkout, so that a recording can repeat it without the agent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::adapter::host::files;
use crate::domain::id::{RepoPath, sha256_hex};
use crate::domain::secret::Redactor;

/// Larger files are left out: no fix writes them.
const FILE_LIMIT: u64 = 1 << 20;

/// A file that an agent wrote or deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    path: RepoPath,
    /// Its new text; `None` when it was deleted.
    text: Option<String>,
}

/// The files of a checkout, each with a digest.
pub struct Snapshot(BTreeMap<RepoPath, String>);

impl Snapshot {
    pub fn of(folder: &Path) -> io::Result<Self> {
        let mut digests = BTreeMap::new();
        for (path, file) in files_below(folder)? {
            digests.extend(read(&file)?.map(|bytes| (path, sha256_hex(&bytes))));
        }
        Ok(Self(digests))
    }

    /// The files that differ by now, without secrets. What is no text is left out.
    pub fn changes(&self, folder: &Path, redactor: &Redactor) -> io::Result<Vec<ChangedFile>> {
        let mut changes = Vec::new();
        let now = files_below(folder)?;
        for (path, file) in &now {
            let Some(bytes) = read(file)? else { continue };
            if self.0.get(path) == Some(&sha256_hex(&bytes)) {
                continue;
            }
            if let Ok(text) = String::from_utf8(bytes) {
                let text = Some(redactor.redact(&text).into());
                changes.push(ChangedFile { path: path.clone(), text });
            }
        }
        let gone = self.0.keys().filter(|path| !now.contains_key(path));
        changes.extend(gone.map(|path| ChangedFile { path: path.clone(), text: None }));
        Ok(changes)
    }
}

/// Changes the files of a checkout as the agent did.
pub fn repeat(changes: &[ChangedFile], folder: &Path) -> io::Result<()> {
    for ChangedFile { path, text } in changes {
        let path = Path::new(path.as_str());
        match text {
            Some(text) => {
                files::create_folder(&folder.join(path.parent().unwrap_or(Path::new(""))))?;
                files::write_below(folder, path, text.as_bytes())?;
            }
            None => files::remove(&folder.join(path))?,
        }
    }
    Ok(())
}

/// The plain files below a folder, by their path in it. Follows no links.
fn files_below(folder: &Path) -> io::Result<BTreeMap<RepoPath, PathBuf>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let below = path.strip_prefix(folder).ok().and_then(Path::to_str);
                let below = below.and_then(|below| RepoPath::parse(below).ok());
                found.extend(below.map(|below| (below, path)));
            }
        }
    }
    Ok(found)
}

/// The bytes of a file; `None` when it is too large.
fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    match files::read_untrusted(file, FILE_LIMIT) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::secret::SecretKey;

    #[test]
    fn what_an_agent_wrote_and_deleted_is_repeated_elsewhere() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for folder in [one.path(), two.path()] {
            files::create_folder(&folder.join("src")).unwrap();
            for (name, text) in [("kept", "a"), ("src/changed", "b"), ("gone", "c")] {
                files::write(&folder.join(name), text.as_bytes()).unwrap();
            }
        }
        let snapshot = Snapshot::of(one.path()).unwrap();
        files::write(&one.path().join("src/changed"), b"the key is 0123456789").unwrap();
        files::create_folder(&one.path().join("new")).unwrap();
        files::write(&one.path().join("new/file"), b"d").unwrap();
        files::write(&one.path().join("binary"), &[0xff, 0xfe]).unwrap();
        files::remove(&one.path().join("gone")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", one.path().join("link")).unwrap();
        let redactor = Redactor::new([&SecretKey::new("0123456789")]);
        let changes = snapshot.changes(one.path(), &redactor).unwrap();
        repeat(&changes, two.path()).unwrap();
        let names: Vec<_> = files_below(two.path()).unwrap().into_keys().collect();
        let names: Vec<&str> = names.iter().map(RepoPath::as_str).collect();
        assert_eq!(names, ["kept", "new/file", "src/changed"]);
        let changed = std::fs::read_to_string(two.path().join("src/changed")).unwrap();
        assert_eq!(changed, "the key is [redacted]");
        let hostile = r#"{ "path": "../outside", "text": "x" }"#;
        assert!(serde_json::from_str::<ChangedFile>(hostile).is_err());
    }
}
