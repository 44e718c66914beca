//! `regreen session`: sessions as they stand, and their end (specification.md 8.14).

use std::path::Path;

use serde_json::{Value, json};

use crate::adapter::host::clock;
use crate::adapter::repo::{self, RepositoryFacts};
use crate::adapter::store::{self, STATE_FOLDER};
use crate::adapter::{state_root, work_root};
use crate::app::AppError;
use crate::cli::args::{SessionArguments, SessionVerb};
use crate::cli::failure::exit;
use crate::domain::id::SessionId;
use crate::domain::session::SessionStatus;
use crate::domain::session::files::PIPELINE;
use crate::effect::StoreError;
use crate::report::phrases::harmless;

use super::print_json;

/// Runs the verb.
pub fn run(arguments: &SessionArguments) -> Result<u8, AppError> {
    let (of, json) = (&arguments.of.of, arguments.of.json);
    let facts = repo::discover(&of.repository)?;
    let root = state_root(&facts);
    match arguments.what {
        SessionVerb::List => list(json, &facts, &root)?,
        SessionVerb::Status => {
            let id = super::named(of.session.as_deref(), &root)?;
            let (folder, archived) = store::find(&root, &id)?;
            status(json, row(&id, &folder, archived)?, &folder);
        }
        SessionVerb::Replay => return super::replay::run(&arguments.of),
        SessionVerb::Complete | SessionVerb::Archive => {
            let id = super::named(of.session.as_deref(), &root)?;
            let (folder, archived) = store::find(&root, &id)?;
            if archived {
                return Err(StoreError::Archived { session: id.to_string() }.into());
            }
            let complete = arguments.what == SessionVerb::Complete;
            let moved = end(&facts, &root, &id, &folder, complete)?;
            if json {
                print_json(&json!({"schema-version": 1, "session": id, "archive": moved}));
            } else {
                println!("{id} is archived: {}", moved.display());
            }
        }
    }
    Ok(exit::MET)
}

/// Archives a session with the true statuses of its tasks (specification.md C-23).
fn end(
    facts: &RepositoryFacts,
    root: &Path,
    id: &SessionId,
    folder: &Path,
    complete: bool,
) -> Result<std::path::PathBuf, AppError> {
    let store = store::SessionStore::open(root, id)?;
    if complete && let Some(mut record) = store::read_record(folder)? {
        record.status = SessionStatus::Completed;
        record.completed_at = Some(clock::now());
        store::save_record(folder, &record)?;
    }
    repo::remove_checkout(facts, &work_root(facts), id)?;
    let moved = store::archive(root, id, &clock::now())?;
    drop(store);
    Ok(moved)
}

/// One session as a row.
fn row(id: &SessionId, folder: &Path, archived: bool) -> Result<Value, AppError> {
    let record = store::read_record(folder)?;
    let pipeline = store::read_file(folder, PIPELINE).ok().flatten().unwrap_or_default();
    let tasks = store::tasks(folder);
    let done = tasks.iter().filter(|task| task["status"] == "completed").count();
    let status = record.as_ref().map(|record| record.status);
    let marker = match status {
        _ if archived => "ARCHIVED",
        Some(SessionStatus::Planning | SessionStatus::Active) => "ACTIVE",
        Some(SessionStatus::Initialized | SessionStatus::Paused) => "PAUSED",
        Some(SessionStatus::Completed) => "COMPLETED",
        Some(SessionStatus::Blocked) | None => "ERROR",
    };
    Ok(json!({
        "session": id,
        "marker": marker,
        "status": status,
        "description": record.as_ref().map(|record| &record.description),
        "source": record.as_ref().and_then(|record| record.source_session_id.as_ref()),
        "created-at": record.as_ref().map(|record| &record.created_at),
        "completed": done,
        "tasks": tasks,
        "phases": pipeline["phases"],
        "next": pipeline["next"]["step"],
        "folder": folder,
    }))
}

fn list(json: bool, facts: &RepositoryFacts, root: &Path) -> Result<(), AppError> {
    let mut rows = Vec::new();
    for id in store::active(root)? {
        rows.push(row(&id, &store::session_folder(root, &id), false)?);
    }
    for id in store::archived(root)? {
        rows.push(row(&id, &store::archive_folder(root, &id), true)?);
    }
    let sources = store::sources(&facts.root.join(STATE_FOLDER));
    if json {
        print_json(&json!({"schema-version": 1, "sessions": rows, "sources": sources}));
        return Ok(());
    }
    if rows.is_empty() && sources.is_empty() {
        println!("no session here; begin one with `regreen plan WHAT`");
    }
    for row in &rows {
        let text = |key: &str| harmless(row[key].as_str().unwrap_or("-"), 160);
        let all = row["tasks"].as_array().map_or(0, Vec::len);
        println!(
            "{:<9} {}  {} of {all} tasks  {}  {}",
            text("marker"),
            text("session"),
            row["completed"],
            text("created-at"),
            text("description"),
        );
    }
    for id in sources {
        println!("SOURCE    {id}  `regreen plan {id}` plans its tests");
    }
    Ok(())
}

fn status(json: bool, mut row: Value, folder: &Path) {
    if json {
        row["schema-version"] = json!(1);
        print_json(&row);
        return;
    }
    let text = |value: &Value| harmless(value.as_str().unwrap_or("-"), 200);
    println!("{}  {}", text(&row["session"]), text(&row["marker"]));
    println!("{}", text(&row["description"]));
    for phase in row["phases"].as_array().into_iter().flatten() {
        let (name, summary) = (text(&phase["name"]), text(&phase["summary"]));
        println!("  phase {}  {name:<22} {summary}", phase["phase"]);
    }
    for task in row["tasks"].as_array().into_iter().flatten() {
        let (id, status) = (text(&task["id"]), text(&task["status"]));
        println!("  {id:<11} {status:<12} {}", text(&task["title"]));
    }
    if row["next"].is_string() {
        println!("next: {}", text(&row["next"]));
    }
    println!("{}", harmless(&folder.display().to_string(), 300));
}
