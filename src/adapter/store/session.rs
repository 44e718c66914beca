//! The folder of one session: lock, record, state files and event log.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::adapter::host::{crash, files, redaction};
use crate::domain::id::SessionId;
use crate::domain::session::SessionRecord;
use crate::domain::session::files::{EVENTS, OPTIONS, RECORD, file_path, integration_path};
use crate::domain::test_plan::generation::{GENERATION_FILE, Generation};
use crate::effect::{Store, StoreError};

use super::SCHEMA_VERSION;

/// Bytes of one state file that are read at most.
const FILE_LIMIT: u64 = 256 << 20;

/// Largest state file that is stored in commits, in bytes.
const TRAVELLING_LIMIT: u64 = 4 << 20;

/// Folders of sessions that are not archived, below a state root.
pub(super) const ACTIVE: &[&str] = &["active", ".integration-test"];

/// The folder of an active session.
pub fn session_folder(root: &Path, id: &SessionId) -> PathBuf {
    root.join(id.state_folder())
}

/// The folder of an archived session.
pub fn archive_folder(root: &Path, id: &SessionId) -> PathBuf {
    root.join("archives").join(id.as_str())
}

/// Ids of active sessions, those with the newest record first.
pub fn active(root: &Path) -> Result<Vec<SessionId>, StoreError> {
    newest_first(root, ACTIVE)
}

/// Ids of archived sessions, newest first.
pub fn archived(root: &Path) -> Result<Vec<SessionId>, StoreError> {
    newest_first(root, &["archives"])
}

/// The session whose record changed last, active or archived.
pub fn newest(root: &Path) -> Result<Option<SessionId>, StoreError> {
    Ok(newest_first(root, &[ACTIVE, &["archives"]].concat())?.into_iter().next())
}

fn newest_first(root: &Path, parts: &[&str]) -> Result<Vec<SessionId>, StoreError> {
    let mut found = Vec::new();
    for part in parts {
        found.extend(sessions_in(&root.join(part))?);
    }
    found.sort_by(|a, b| b.cmp(a));
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

/// Sessions in a folder with the time of their last record.
fn sessions_in(folder: &Path) -> Result<Vec<(Option<SystemTime>, SessionId)>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io("read", folder)(error)),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let record = file_path(&entry.path(), RECORD);
        if let (Ok(id), Ok(meta)) = (SessionId::parse(name), fs::metadata(record)) {
            found.push((meta.modified().ok(), id));
        }
    }
    Ok(found)
}

/// The folder of a session, active or archived, and whether it is archived.
pub fn find(root: &Path, id: &SessionId) -> Result<(PathBuf, bool), StoreError> {
    let folder = session_folder(root, id);
    if folder.is_dir() {
        return Ok((folder, false));
    }
    let archived = archive_folder(root, id);
    if archived.is_dir() {
        return Ok((archived, true));
    }
    let known = active(root)?.iter().map(ToString::to_string).collect();
    Err(StoreError::Missing { session: id.to_string(), known })
}

/// The record of the session in a folder; `None` when there is none.
pub fn read_record(folder: &Path) -> Result<Option<SessionRecord>, StoreError> {
    let path = file_path(folder, RECORD);
    read_bytes(&path)?.map(|bytes| parse_record(&path, &bytes)).transpose()
}

/// Writes the record of the session in a folder, whose lock the caller holds.
pub fn save_record(folder: &Path, record: &SessionRecord) -> Result<(), StoreError> {
    let path = file_path(folder, RECORD);
    let mut value = read_value(&path)?.unwrap_or_default();
    let new = serde_json::to_value(record).unwrap_or_default();
    if let (Value::Object(old), Value::Object(new)) = (&mut value, new) {
        old.extend(new);
    }
    write_value(&path, &value)
}

/// The tasks of a session: id, title and status of each readable file, in the order of ids.
pub fn tasks(folder: &Path) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(file_path(folder, ".task")) else { return Vec::new() };
    let mut tasks: Vec<(String, Value)> = entries
        .flatten()
        .filter_map(|entry| {
            let task = read_value(&entry.path()).ok()??;
            let id = task["id"].as_str()?.to_owned();
            let row = json!({"id": id, "title": task["title"], "status": task["status"]});
            Some((id, row))
        })
        .collect();
    tasks.sort_by(|a, b| a.0.cmp(&b.0));
    tasks.into_iter().map(|(_, row)| row).collect()
}

/// Whether the session in a folder has written no test, as far as its files say.
pub fn wrote_nothing(folder: &Path) -> Result<bool, StoreError> {
    let Some(value) = read_file(folder, GENERATION_FILE)? else { return Ok(true) };
    let generation = serde_json::from_value::<Generation>(value);
    Ok(generation.is_ok_and(|one| one.files().is_empty() && one.drafts.is_empty()))
}

/// A JSON file of the session in a folder; `None` when it is not there.
pub fn read_file(folder: &Path, name: &str) -> Result<Option<Value>, StoreError> {
    read_value(&file_path(folder, name))
}

/// Parses a session's record; `path` names its origin in errors.
pub fn parse_record(path: &Path, bytes: &[u8]) -> Result<SessionRecord, StoreError> {
    let value = parse(path, bytes)?;
    serde_json::from_value(value).map_err(|error| corrupt(path, "a session record", &error))
}

/// Removes the folder of a session that never changed anything.
pub fn forget(root: &Path, id: &SessionId) -> Result<(), StoreError> {
    let path = session_folder(root, id);
    files::remove_tree(&path).map_err(io("remove", &path))
}

fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    files::read(path, FILE_LIMIT).map_err(io("read", path))
}

/// A JSON file; `None` when it is not there.
pub(super) fn read_value(path: &Path) -> Result<Option<Value>, StoreError> {
    read_bytes(path)?.map(|bytes| parse(path, &bytes)).transpose()
}

/// Converts an I/O error into one that names the action and the path.
pub(super) fn io(action: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Io { action, path: path.clone(), source }
}

fn corrupt(path: &Path, expected: &str, error: &serde_json::Error) -> StoreError {
    StoreError::Corrupt {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
        expected: format!("expected {expected} ({error})"),
    }
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Value, StoreError> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| corrupt(path, "JSON", &error))?;
    if let Some(found) = value["schema_version"].as_u64().filter(|found| *found > SCHEMA_VERSION) {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: SCHEMA_VERSION });
    }
    Ok(value)
}

pub(super) fn write_value(path: &Path, value: &Value) -> Result<(), StoreError> {
    let clean = redaction::redact_json(value.clone());
    let mut text = serde_json::to_string_pretty(&clean).unwrap_or_default();
    text.push('\n');
    files::write(path, text.as_bytes()).map_err(io("write", path))
}

/// The lock of a session, held until drop, or until the process ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child that is being started shares the file, and with it the lock, until it is another program.
        self.file.unlock().unwrap_or_default();
    }
}

/// Takes the lock of the session in an existing folder.
pub(super) fn lock(folder: &Path, id: &SessionId) -> Result<Lock, StoreError> {
    let path = file_path(folder, ".lock");
    let mut file = open(&path).map_err(io("lock", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            let mut holder = String::new();
            file.take(100).read_to_string(&mut holder).map_err(io("read", &path))?;
            return Err(StoreError::Locked {
                session: id.to_string(),
                holder: holder.trim().to_owned(),
            });
        }
        Err(fs::TryLockError::Error(error)) => return Err(io("lock", &path)(error)),
    }
    let mut write = || -> io::Result<()> {
        file.set_len(0)?;
        writeln!(file, "{}", std::process::id())
    };
    write().map_err(io("write", &path))?;
    Ok(Lock { file })
}

/// The files of one session, locked for this process.
#[derive(Debug)]
pub struct SessionStore {
    folder: PathBuf,
    /// The lines and bytes of each file after the last [`Store::append`], so that a long session does
    /// not read its whole log for each line.
    appended: Mutex<BTreeMap<String, (u64, u64)>>,
    _lock: Lock,
}

impl SessionStore {
    /// Opens or creates a session's folder and locks it; may be [`StoreError::Locked`].
    pub fn open(root: &Path, id: &SessionId) -> Result<Self, StoreError> {
        let folder = session_folder(root, id);
        for name in [".process", ".task", ".summaries/iteration-summaries"] {
            let inner = file_path(&folder, name);
            files::create_folder(&inner).map_err(io("create", &inner))?;
        }
        let lock = lock(&folder, id)?;
        Ok(Self { folder, appended: Mutex::default(), _lock: lock })
    }

    /// Writes the files of a session that was stored on a branch into its empty folder: those that a
    /// session commits, whatever else somebody put beside them.
    pub fn restore(&self, contents: &[(String, Vec<u8>)]) -> Result<(), StoreError> {
        for (name, bytes) in contents.iter().filter(|(name, _)| is_committed(name)) {
            put(&self.path(name)?, bytes)?;
        }
        Ok(())
    }

    /// A path inside the folder; rejects names that lead out of it.
    fn path(&self, file: &str) -> Result<PathBuf, StoreError> {
        let safe = !file.is_empty()
            && !file.starts_with('/')
            && file.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        if safe {
            return Ok(file_path(&self.folder, file));
        }
        Err(StoreError::Corrupt {
            path: PathBuf::from(file),
            line: 0,
            column: 0,
            expected: "expected a path inside the session folder".into(),
        })
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    create_parent(path).and_then(|()| files::write(path, bytes)).map_err(io("write", path))
}

fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), files::create_folder)
}

/// Opens a file for reading and writing; creates it when it is missing.
pub(super) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Whether commits store a file: state and first events, never other logs or raw output.
fn is_committed(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    let is = |known: &str| name == known || name == integration_path(known);
    !name.ends_with(".lock")
        && !name.ends_with(".archiving")
        && (is(EVENTS) || !matches!(ending, Some("log" | "patch" | "jsonl" | "html")))
        && !name.contains("-cli-output")
        && !name.contains("/.regreen-")
        && name != "report.md"
        && !name.starts_with(".trace/cli-")
        && !is(OPTIONS)
}

#[async_trait]
impl Store for SessionStore {
    fn folder(&self) -> &Path {
        &self.folder
    }

    async fn read_json(&self, file: &str) -> Result<Option<Value>, StoreError> {
        read_value(&self.path(file)?)
    }

    async fn write_json(&self, file: &str, value: &Value) -> Result<(), StoreError> {
        let path = self.path(file)?;
        let Value::Object(new) = value else {
            return write_value(&path, value);
        };
        let mut merged = Map::new();
        merged.insert("schema_version".to_owned(), json!(SCHEMA_VERSION));
        merged.extend(new.clone());
        match read_value(&path) {
            Ok(Some(Value::Object(old))) => {
                for (key, value) in old {
                    merged.entry(key).or_insert(value);
                }
            }
            Err(error @ StoreError::Newer { .. }) => return Err(error),
            // An unreadable file is replaced as a whole: its content is lost anyway.
            Ok(_) | Err(_) => {}
        }
        create_parent(&path).map_err(io("create", &path))?;
        write_value(&path, &Value::Object(merged))
    }

    async fn write_text(&self, file: &str, text: &str) -> Result<(), StoreError> {
        // A patch that is changed does not apply.
        let is_patch = Path::new(file).extension().is_some_and(|ending| ending == "patch");
        let clean = if is_patch { redaction::redact_source(text) } else { redaction::redact(text) };
        put(&self.path(file)?, clean.as_bytes())
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let (from, to) = (self.path(from)?, self.path(to)?);
        match create_parent(&to).and_then(|()| fs::rename(&from, &to)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io("move", &from)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    async fn append(&self, file: &str, keep: u64, lines: &[String]) -> Result<(), StoreError> {
        let path = self.path(file)?;
        if lines.is_empty() && !path.exists() {
            return Ok(());
        }
        crash::point();
        let mut appended = self.appended.lock().unwrap_or_else(PoisonError::into_inner);
        let known = appended.remove(file);
        let write = || {
            let mut file = open(&path)?;
            let size = file.metadata()?.len();
            let length = match known {
                Some((count, bytes)) if count == keep && bytes <= size => bytes,
                _ => bytes_of_lines(&mut file, keep)?,
            };
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            let joined: String =
                lines.iter().map(|line| format!("{}\n", redaction::redact(line))).collect();
            file.write_all(joined.as_bytes())?;
            file.sync_data()?;
            Ok(length + joined.len() as u64)
        };
        let bytes = write().map_err(io("write", &path))?;
        appended.insert(file.to_owned(), (keep + lines.len() as u64, bytes));
        crash::point();
        Ok(())
    }

    async fn committed_files(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        committed_files(&self.folder)
    }
}

fn bytes_of_lines(file: &mut fs::File, count: u64) -> io::Result<u64> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.take(usize::try_from(count).unwrap_or(usize::MAX));
    Ok(lines.map(<[u8]>::len).sum::<usize>() as u64)
}

/// The files of a session's folder that are stored in commits, with paths inside it, in order.
pub fn committed_files(root: &Path) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let path = root.join(&folder);
        let io = io("read", &path);
        for entry in fs::read_dir(&path).map_err(&io)? {
            let entry = entry.map_err(&io)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let kind = entry.file_type().map_err(&io)?;
            if kind.is_dir() {
                folders.push(name);
            } else if kind.is_file()
                && is_committed(&name)
                && entry.metadata().is_ok_and(|meta| meta.len() <= TRAVELLING_LIMIT)
            {
                let bytes = files::read(&entry.path(), TRAVELLING_LIMIT).map_err(&io)?;
                found.extend(bytes.map(|bytes| (name, bytes)));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(root: &Path) -> SessionStore {
        SessionStore::open(root, &SessionId::parse("WFS-test-x").unwrap()).unwrap()
    }

    #[tokio::test]
    async fn unknown_fields_of_a_file_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        store.write_json("a.json", &json!({"known": 1, "later": {"x": 2}})).await.unwrap();
        store.write_json("a.json", &json!({"known": 3})).await.unwrap();
        let read = store.read_json("a.json").await.unwrap().unwrap();
        assert_eq!(read, json!({"schema_version": 1, "known": 3, "later": {"x": 2}}));
    }

    #[tokio::test]
    async fn a_newer_a_torn_and_a_hostile_file_are_refused_with_their_place() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        store.write_text("new.json", "{\"schema_version\": 99}").await.unwrap();
        assert!(matches!(
            store.read_json("new.json").await,
            Err(StoreError::Newer { found: 99, .. })
        ));
        store.write_text("torn.json", "{\n  \"a\":").await.unwrap();
        assert!(matches!(
            store.read_json("torn.json").await,
            Err(StoreError::Corrupt { line: 2, .. })
        ));
        for name in ["../x", "/etc/x", "a//b", ""] {
            assert!(store.write_text(name, "x").await.is_err(), "{name}");
        }
    }

    #[test]
    fn a_dropped_lock_is_free_though_a_child_that_is_being_started_holds_its_file() {
        let root = tempfile::tempdir().unwrap();
        let id = SessionId::parse("WFS-test-x").unwrap();
        let held = lock(root.path(), &id).unwrap();
        let of_child = held.file.try_clone().unwrap();
        assert!(lock(root.path(), &id).is_err());
        drop(held);
        assert!(lock(root.path(), &id).is_ok());
        drop(of_child);
    }

    #[test]
    fn a_second_process_does_not_get_the_lock() {
        let root = tempfile::tempdir().unwrap();
        let _held = store(root.path());
        let second = SessionStore::open(root.path(), &SessionId::parse("WFS-test-x").unwrap());
        assert!(matches!(second, Err(StoreError::Locked { .. })));
    }

    #[tokio::test]
    async fn events_behind_the_saved_state_are_cut_off() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        store.append("x.jsonl", 0, &["a".into(), "b".into()]).await.unwrap();
        store.append("x.jsonl", 1, &["c".into()]).await.unwrap();
        let path = store.folder().join("x.jsonl");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nc\n");
        store.append("x.jsonl", 2, &["d".into()]).await.unwrap();
        files::write(&path, b"a\nc\nd\nof another\n").unwrap();
        store.append("x.jsonl", 3, &["e".into()]).await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nc\nd\ne\n");
        files::write(&path, b"a\n").unwrap();
        store.append("x.jsonl", 4, &["f".into()]).await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\nf\n", "shorter than it was");
    }

    /// Writing a record keeps the fields that a later version of regreen added.
    #[tokio::test]
    async fn unknown_fields_of_a_stored_record_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        let sample = include_str!("../../../tests/data/state/v1/workflow-session.json");
        let later = sample.replacen('{', "{\"of_a_later_build\": {\"x\": 1},", 1);
        store.write_text(RECORD, &later).await.unwrap();
        let mut record = read_record(store.folder()).unwrap().expect("a record");
        record.review_flag = true;
        let value = serde_json::to_value(&record).unwrap();
        store.write_json(RECORD, &value).await.unwrap();
        let read = store.read_json(RECORD).await.unwrap().unwrap();
        assert_eq!(read["of_a_later_build"]["x"], 1);
        assert_eq!((&read["review_flag"], &read["schema_version"]), (&json!(true), &json!(1)));
        let newer = sample.replace("\"schema_version\": 1", "\"schema_version\": 2");
        store.write_text(RECORD, &newer).await.unwrap();
        let error = read_record(store.folder()).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 2, .. }), "{error}");
    }

    #[tokio::test]
    async fn a_file_of_a_newer_version_is_never_overwritten() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        store.write_text("a.json", "{\"schema_version\": 99, \"x\": 1}").await.unwrap();
        let written = store.write_json("a.json", &json!({"x": 2})).await;
        assert!(matches!(written, Err(StoreError::Newer { .. })));
        assert!(fs::read_to_string(store.folder().join("a.json")).unwrap().contains("99"));
    }

    #[tokio::test]
    async fn a_folder_that_takes_no_file_is_an_error_that_names_the_file() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        store.write_text("taken", "a file where a folder belongs").await.unwrap();
        let error = store.write_text("taken/below.md", "x").await.unwrap_err();
        assert!(error.to_string().contains("taken/below.md"), "{error}");
        assert!(!error.hint().is_empty());
    }

    #[tokio::test]
    async fn logs_and_raw_output_do_not_travel() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path());
        for name in [
            "workflow-session.json",
            ".process/a.json",
            ".process/test-output.log",
            ".process/events.jsonl",
            ".process/outcomes.jsonl",
            ".process/iteration-1-cli-output.txt",
        ] {
            store.write_text(name, "{}").await.unwrap();
        }
        let names: Vec<String> =
            store.committed_files().await.unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, [".process/a.json", ".process/events.jsonl", "workflow-session.json"]);
    }
}
