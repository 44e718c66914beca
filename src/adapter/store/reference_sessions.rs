//! Reads sessions in the layout of the reference project as sources of test sessions
//! (specification.md 2.1, 3.1 phase 1); writes nothing to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::adapter::host::files;
use crate::domain::id::{RepoPath, SessionId};
use crate::domain::session::files::{INTEGRATION, RECORD};
use crate::domain::test_plan::source_session::{ImplementationSummary, SourceSession};

/// Folders below `.workflow` that hold sessions, newest layout first.
const PLACES: &[&str] = &["active", "archives", ""];

/// Bytes of one file that are read at most.
const FILE_LIMIT: u64 = 1 << 20;

/// Tasks and summaries that are read at most.
const FILES: usize = 200;

/// Why a source session cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("source session {session} was not found")]
    NotFound {
        session: SessionId,
        root: PathBuf,
        /// Existing sessions, those with the most similar ids first.
        known: Vec<String>,
    },
    #[error("source session {session} is a {kind} session, not an implementation")]
    WrongKind { session: SessionId, kind: String },
    #[error(
        "source session {session} is incomplete: {done} of {all} implementation tasks are completed"
    )]
    Incomplete { session: SessionId, done: usize, all: usize },
    #[error("{}: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
}

impl SourceError {
    /// What the reader can do next, in one imperative clause.
    pub fn hint(&self) -> String {
        match self {
            Self::NotFound { known, root, .. } if known.is_empty() => {
                format!(
                    "there is no session below {}; describe what is to be tested",
                    root.display()
                )
            }
            Self::NotFound { known, .. } => format!("choose one of {}", known.join(", ")),
            Self::WrongKind { .. } => "name the session that implemented the feature".into(),
            Self::Incomplete { .. } => {
                "finish at least one of its tasks, or describe what is to be tested".into()
            }
            Self::Unreadable { .. } => "repair or remove the file".into(),
        }
    }
}

/// Sessions of the reference project below a state folder, except test sessions.
pub fn sources(root: &Path) -> Vec<SessionId> {
    let mut found = BTreeSet::new();
    for place in PLACES {
        let Ok(entries) = fs::read_dir(root.join(place)) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if let (true, Ok(id)) = (is_folder, SessionId::parse(name))
                && id.as_str().starts_with("WFS-")
                && !id.as_str().starts_with("WFS-test-")
            {
                found.insert(id);
            }
        }
    }
    found.into_iter().collect()
}

/// Reads a source session below a state folder; the error names existing ones.
pub fn read_source(root: &Path, id: &SessionId) -> Result<SourceSession, SourceError> {
    let folder = PLACES
        .iter()
        .map(|place| root.join(place).join(id.as_str()))
        .find(|folder| fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir()));
    let Some(folder) = folder else {
        let mut known: Vec<String> = sources(root).iter().map(ToString::to_string).collect();
        known.sort_by(|a, b| {
            let near = |name: &String| strsim::jaro_winkler(name, id.as_str());
            near(b).total_cmp(&near(a))
        });
        known.truncate(5);
        return Err(SourceError::NotFound { session: id.clone(), root: root.to_owned(), known });
    };
    let record = json(&folder.join(RECORD))?.unwrap_or_default();
    let kind = record["type"].as_str().unwrap_or("workflow");
    if matches!(kind, "test" | "review" | "docs") {
        return Err(SourceError::WrongKind { session: id.clone(), kind: kind.to_owned() });
    }
    let tasks = tasks(&folder)?;
    let all = tasks.len();
    let summaries: Vec<ImplementationSummary> =
        tasks.into_iter().filter(|(completed, _)| *completed).map(|(_, task)| task).collect();
    if summaries.is_empty() {
        return Err(SourceError::Incomplete { session: id.clone(), done: 0, all });
    }
    let text = |key: &str| record[key].as_str().map(str::to_owned);
    let description = ["description", "project", "title"].into_iter().find_map(text);
    Ok(SourceSession {
        id: id.clone(),
        description: description.unwrap_or_else(|| id.to_string()),
        summaries,
    })
}

/// The `state.json` of an integration session below a state folder such as `.workflow`, with its path;
/// `None` where there is none.
pub fn read_integration(
    root: &Path,
    id: &SessionId,
) -> Result<Option<(PathBuf, Value)>, SourceError> {
    let path = root.join(".integration-test").join(id.as_str()).join(INTEGRATION);
    Ok(json(&path)?.map(|state| (path, state)))
}

/// Implementation tasks with their summaries, and whether each is completed. An archived session may
/// hold nothing but summaries.
fn tasks(folder: &Path) -> Result<Vec<(bool, ImplementationSummary)>, SourceError> {
    let mut found: Vec<(bool, ImplementationSummary)> = Vec::new();
    for (id, file) in names(folder, ".task", &[".json"]) {
        let value = json(&folder.join(file))?.unwrap_or_default();
        let completed = matches!(value["status"].as_str(), Some("completed" | "done"));
        let named = format!("{} {}", value["flow_control"]["target_files"], value["files"]);
        let task_id = value["id"].as_str().unwrap_or(&id).to_owned();
        found.push((completed, ImplementationSummary { task_id, ..summary(folder, &id, &named)? }));
    }
    for (id, _) in names(folder, ".summaries", &["-summary.md", ".md"]) {
        if found.iter().all(|(_, task)| task.task_id != id) {
            found.push((true, summary(folder, &id, "")?));
        }
    }
    Ok(found)
}

/// Ids of implementation tasks, each with the plain file of a folder that is named after it.
fn names(folder: &Path, inner: &str, endings: &[&str]) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(folder.join(inner)) else { return Vec::new() };
    let files =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut names: Vec<(String, String)> = files
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let id = endings.iter().find_map(|ending| name.strip_suffix(ending))?;
            id.starts_with("IMPL-").then(|| (id.to_owned(), format!("{inner}/{name}")))
        })
        .collect();
    names.sort();
    names.truncate(FILES);
    names
}

/// The result of a task: its summary where there is one, with the files that the task itself names.
fn summary(folder: &Path, id: &str, named: &str) -> Result<ImplementationSummary, SourceError> {
    let (mut summary_path, mut summary) = (String::new(), String::new());
    for name in [format!(".summaries/{id}.md"), format!(".summaries/{id}-summary.md")] {
        if let Some(text) = text(&folder.join(&name))? {
            (summary_path, summary) = (name, text);
        }
    }
    let changed_files = mentioned(&format!("{summary} {named}"));
    Ok(ImplementationSummary { task_id: id.to_owned(), summary_path, changed_files })
}

/// File paths with an extension in a text, each once and without locations such as `:12`.
fn mentioned(text: &str) -> Vec<RepoPath> {
    let mut found = Vec::new();
    let apart = |c: char| {
        c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | ')' | '[' | ']' | ',' | '*' | '|')
    };
    for word in text.split(apart) {
        let word = word.trim_start_matches("./").split(':').next().unwrap_or_default();
        let word = word.trim_matches(['.', ';']);
        if let Ok(file) = RepoPath::parse(word)
            && !file.extension().is_empty()
            && found.len() < FILES
            && !found.contains(&file)
        {
            found.push(file);
        }
    }
    found
}

fn text(path: &Path) -> Result<Option<String>, SourceError> {
    let unreadable = |reason: String| SourceError::Unreadable { path: path.to_owned(), reason };
    let bytes =
        files::read_untrusted(path, FILE_LIMIT).map_err(|error| unreadable(error.to_string()))?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|_bytes| unreadable("not UTF-8".into()))
}

fn json(path: &Path) -> Result<Option<Value>, SourceError> {
    let Some(text) = text(path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| SourceError::Unreadable {
        path: path.to_owned(),
        reason: format!("line {}: {error}", error.line()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session as the reference project leaves one: record, two tasks, one summary.
    fn world(status: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("active/WFS-add-prices");
        let put = |name: &str, text: &str| {
            let path = folder.join(name);
            files::create_folder(path.parent().unwrap()).unwrap();
            files::write(&path, text.as_bytes()).unwrap();
        };
        put(
            "workflow-session.json",
            r#"{"session_id": "WFS-add-prices", "project": "Add price parsing", "status": "completed", "type": "workflow"}"#,
        );
        put(
            ".task/IMPL-001.json",
            &format!(
                r#"{{"id": "IMPL-001", "title": "Add the parser", "status": "{status}", "flow_control": {{"target_files": ["shop/price.py:parse:1-9"]}}}}"#
            ),
        );
        put(".task/IMPL-002.json", r#"{"id": "IMPL-002", "title": "Later", "status": "pending"}"#);
        put(
            ".summaries/IMPL-001-summary.md",
            "# Task IMPL-001\n\n## Files\n- `./shop/tax.py` (new)\n- **shop/price.py**: parse_price\n- gone.py\n",
        );
        root
    }

    fn id(text: &str) -> SessionId {
        SessionId::parse(text).unwrap()
    }

    #[test]
    fn completed_tasks_and_the_files_they_name_are_read() {
        let root = world("completed");
        let read = read_source(root.path(), &id("WFS-add-prices")).unwrap();
        assert_eq!(read.description, "Add price parsing");
        assert_eq!(read.summaries.len(), 1);
        let first = &read.summaries[0];
        assert_eq!(first.task_id, "IMPL-001");
        assert_eq!(first.summary_path, ".summaries/IMPL-001-summary.md");
        let files: Vec<&str> = first.changed_files.iter().map(RepoPath::as_str).collect();
        assert_eq!(files, ["shop/tax.py", "shop/price.py", "gone.py"]);
    }

    #[test]
    fn what_cannot_be_a_source_is_named() {
        let root = world("in_progress");
        let error = read_source(root.path(), &id("WFS-add-prices")).unwrap_err();
        assert!(matches!(error, SourceError::Incomplete { done: 0, all: 2, .. }), "{error}");
        let error = read_source(root.path(), &id("WFS-add-price")).unwrap_err();
        assert_eq!(error.hint(), "choose one of WFS-add-prices");
        let test = root.path().join("active/WFS-test-x");
        files::create_folder(&test).unwrap();
        files::write(&test.join("workflow-session.json"), br#"{"type": "test"}"#).unwrap();
        let error = read_source(root.path(), &id("WFS-test-x")).unwrap_err();
        assert!(matches!(error, SourceError::WrongKind { .. }), "{error}");
        assert_eq!(sources(root.path()), [id("WFS-add-prices")]);
        files::write(&root.path().join("active/WFS-add-prices/.task/IMPL-002.json"), b"{\n x")
            .unwrap();
        let error = read_source(root.path(), &id("WFS-add-prices")).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }

    #[test]
    fn links_out_of_the_session_are_not_followed() {
        let root = world("completed");
        let secret = root.path().join("secret");
        files::write(&secret, b"shop/price.py").unwrap();
        let link = root.path().join("active/WFS-add-prices/.summaries/IMPL-001-summary.md");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&secret, &link).unwrap();
        let error = read_source(root.path(), &id("WFS-add-prices")).unwrap_err();
        assert!(matches!(error, SourceError::Unreadable { .. }), "{error}");
    }
}
