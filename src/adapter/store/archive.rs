//! The archive: sessions that met their gate, and a manifest of what each taught.
//!
//! A marker in the session's folder holds the manifest entry from before the move until the
//! manifest names the session, so a kill or a full disk at any step leaves something that the
//! next start finishes (specification.md 8.12).

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::adapter::host::{crash, files};
use crate::domain::archive::{ManifestEntry, entry};
use crate::domain::fix_loop::FixLoop;
use crate::domain::id::SessionId;
use crate::domain::session::files::{LOOP, RECORD, file_path};
use crate::domain::session::{SessionRecord, SessionStatus};
use crate::effect::StoreError;

use super::session::{
    ACTIVE, Lock, archive_folder, io, lock, open, read_record, read_value, session_folder,
    write_value,
};

/// Marker file in a session's folder: archiving has begun.
const MARKER: &str = ".archiving";

/// The manifest, which lists every archived session.
const MANIFEST: &str = "manifest.json";

/// Archives a locked session; repeatable, as a later run adds what a failure left out.
pub fn archive(root: &Path, id: &SessionId, now: &str) -> Result<PathBuf, StoreError> {
    let (from, to) = (session_folder(root, id), archive_folder(root, id));
    if from.is_dir() {
        let marker = file_path(&from, MARKER);
        if !marker.exists() {
            let entry = entry_of(&from, now)?;
            write_value(&marker, &serde_json::to_value(entry).unwrap_or_default())?;
        }
        files::create_folder(&root.join("archives")).map_err(io("create", &to))?;
        crash::point();
        fs::rename(&from, &to).map_err(io("move", &from))?;
        crash::point();
    }
    let marker = file_path(&to, MARKER);
    let known = match read_value(&marker) {
        Ok(Some(entry)) => entry,
        // A marker that cannot be read is made again; the folder still holds everything.
        Ok(None) | Err(_) => serde_json::to_value(entry_of(&to, now)?).unwrap_or_default(),
    };
    add(root, known)?;
    files::remove(&marker).map_err(io("remove", &marker))?;
    crash::point();
    Ok(to)
}

/// Sessions whose archiving has begun, or should have, with their locks; held ones are left out.
pub fn half_archived(root: &Path) -> Vec<(SessionId, Lock)> {
    let mut found = Vec::new();
    for part in [ACTIVE, &["archives"]].concat() {
        let Ok(entries) = fs::read_dir(root.join(part)) else { continue };
        for entry in entries.flatten() {
            let folder = entry.path();
            let Ok(id) = SessionId::parse(entry.file_name().to_string_lossy()) else { continue };
            let begun = || file_path(&folder, MARKER).exists();
            let ended = || {
                let record = read_record(&folder).ok().flatten();
                record.is_some_and(|record| record.status == SessionStatus::Completed)
            };
            let unfinished = || begun() || part != "archives" && ended();
            if !unfinished() {
                continue;
            }
            // Checked again with the lock held: its holder may just have finished.
            if let Ok(held) = lock(&folder, &id)
                && unfinished()
            {
                found.push((id, held));
            }
        }
    }
    found
}

fn add(root: &Path, entry: Value) -> Result<(), StoreError> {
    let archives = root.join("archives");
    // Locked, since sessions of one repository may end at the same time.
    let path = archives.join(".lock");
    let guard = open(&path).map_err(io("lock", &path))?;
    guard.lock().map_err(io("lock", &path))?;
    let manifest = archives.join(MANIFEST);
    let mut entries = match read_value(&manifest)? {
        Some(Value::Array(entries)) => entries,
        Some(_) => {
            let (path, expected) = (manifest, "expected a list of sessions".to_owned());
            return Err(StoreError::Corrupt { path, line: 1, column: 1, expected });
        }
        None => Vec::new(),
    };
    if entries.iter().all(|old| old["session_id"] != entry["session_id"]) {
        entries.push(entry);
        write_value(&manifest, &Value::Array(entries))?;
    }
    Ok(())
}

fn entry_of(folder: &Path, now: &str) -> Result<ManifestEntry, StoreError> {
    let path = file_path(folder, RECORD);
    let record: SessionRecord = read_record(folder)?.ok_or_else(|| StoreError::Corrupt {
        path,
        line: 0,
        column: 0,
        expected: "expected a session record".into(),
    })?;
    let state = read_value(&file_path(folder, LOOP)).ok().flatten();
    let state = state.and_then(|value| serde_json::from_value::<FixLoop>(value).ok());
    Ok(entry(&record, state.as_ref(), now))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test builds the folder that is archived")]

    use super::*;

    const NOW: &str = "2026-01-02T00:00:00Z";

    fn id() -> SessionId {
        SessionId::parse("WFS-test-main").unwrap()
    }

    /// A state root with one completed session.
    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let folder = session_folder(root.path(), &id());
        fs::create_dir_all(folder.join(".process")).unwrap();
        let record = include_str!("../../../tests/data/state/v1/workflow-session.json")
            .replace("\"blocked\"", "\"completed\"");
        let state = include_str!("../../../tests/data/state/v1/iteration-state.json");
        fs::write(folder.join("workflow-session.json"), record).unwrap();
        fs::write(folder.join(".process/iteration-state.json"), state).unwrap();
        root
    }

    fn manifest(root: &Path) -> Vec<ManifestEntry> {
        let text = fs::read_to_string(root.join("archives/manifest.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_manifest_that_is_no_list_is_kept() {
        let root = root();
        let file = root.path().join("archives/manifest.json");
        fs::create_dir_all(root.path().join("archives")).unwrap();
        fs::write(&file, "{\"lessons\": \"of years\"}").unwrap();
        let error = archive(root.path(), &id(), NOW).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
        assert!(fs::read_to_string(&file).unwrap().contains("of years"));
    }

    #[test]
    fn an_archived_session_is_moved_named_once_and_unmarked() {
        let root = root();
        let to = archive(root.path(), &id(), NOW).unwrap();
        assert_eq!(archive(root.path(), &id(), NOW).unwrap(), to, "it may be repeated");
        let entries = manifest(root.path());
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].archived_at, NOW);
        assert_eq!(entries[0].lessons.challenges.len(), 1);
        assert!(to.join("workflow-session.json").is_file() && !to.join(MARKER).exists());
        assert!(!session_folder(root.path(), &id()).exists());
        assert!(half_archived(root.path()).is_empty());
    }

    #[test]
    fn a_move_that_fails_leaves_the_session_active_and_is_tried_again() {
        let root = root();
        let occupied = archive_folder(root.path(), &id());
        fs::create_dir_all(occupied.join("in the way")).unwrap();
        let error = archive(root.path(), &id(), NOW).unwrap_err();
        assert!(matches!(error, StoreError::Io { action: "move", .. }), "{error}");
        assert!(read_record(&session_folder(root.path(), &id())).unwrap().is_some());
        fs::remove_dir_all(occupied).unwrap();
        let found = half_archived(root.path());
        assert_eq!(found.len(), 1);
        archive(root.path(), &found[0].0, "later").unwrap();
        assert_eq!(manifest(root.path())[0].archived_at, NOW, "the entry is that of the marker");
    }

    #[test]
    fn a_manifest_that_cannot_be_written_gets_its_entry_later() {
        let root = root();
        let manifest_path = root.path().join("archives/manifest.json");
        fs::create_dir_all(&manifest_path).unwrap();
        assert!(archive(root.path(), &id(), NOW).is_err());
        assert!(archive_folder(root.path(), &id()).join(MARKER).is_file());
        fs::remove_dir(&manifest_path).unwrap();
        let found = half_archived(root.path());
        assert_eq!(found.len(), 1, "the marker is found in the archive");
        archive(root.path(), &found[0].0, NOW).unwrap();
        assert_eq!(manifest(root.path()).len(), 1);
        drop(found);
        assert!(half_archived(root.path()).is_empty());
    }

    #[test]
    fn a_session_that_somebody_works_on_is_left_alone() {
        let root = root();
        let held = lock(&session_folder(root.path(), &id()), &id()).unwrap();
        assert!(half_archived(root.path()).is_empty());
        drop(held);
        assert_eq!(half_archived(root.path()).len(), 1, "it is completed and not archived");
    }
}
