//! `regreen status`: the sessions of a repository.

use serde_json::json;

use crate::adapter::{repo, resume_archiving, state_root, store};
use crate::app::AppError;
use crate::cli::args::RepositoryArguments;
use crate::cli::failure::exit;
use crate::domain::session::files::{LOOP, RECORD};
use crate::report::phrases::harmless;

/// Runs the verb.
pub fn run(arguments: &RepositoryArguments) -> Result<u8, AppError> {
    let facts = repo::discover(&arguments.repository)?;
    let root = state_root(&facts);
    for notice in resume_archiving(&facts) {
        eprintln!("{}", harmless(&notice, 400));
    }
    let mut rows = Vec::new();
    for id in store::active(&root)? {
        let folder = store::session_folder(&root, &id);
        // A session whose files cannot be read is listed without what they hold.
        let read = |name: &str| store::read_file(&folder, name).ok().flatten().unwrap_or_default();
        let (record, state) = (read(RECORD), read(LOOP));
        rows.push(json!({
            "session": id,
            "status": record["status"],
            "result": record["result"],
            "created-at": record["created_at"],
            "iteration": state["current_iteration"],
            "max-iterations": record["max_iterations"],
            "next": state["next"]["step"],
            "branch": record["git"]["branch"],
        }));
    }
    if arguments.json {
        super::print_json(&json!({ "sessions": rows }));
        return Ok(exit::MET);
    }
    if rows.is_empty() {
        println!("no session here can be resumed; start one with `regreen fix`");
    }
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
        println!(
            "{}  {}  iteration {} of {}  next: {}  {}",
            text("session"),
            text("status"),
            row["iteration"],
            row["max-iterations"],
            text("next"),
            text("branch")
        );
    }
    Ok(exit::MET)
}
