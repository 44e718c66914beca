//! The page of a session: its files read, drawn by [`html`], and written to a file.

use std::path::Path;

use serde_json::Value;

use crate::adapter::host::{clock, environment, files, redaction};
use crate::adapter::store;
use crate::cycle::Machine as _;
use crate::domain::event::{Event, Outcome};
use crate::domain::fix_loop::FixLoop;
use crate::domain::session;
use crate::report::html::{self, PageFacts};
use crate::report::view::View;

use super::AppError;

/// The page inside a session's folder, beside the report.
pub const PAGE: &str = ".summaries/report.html";

/// The page inside a bundle.
pub const BUNDLED: &str = "report.html";

/// Bytes of a session's file, and of one analysis, that are read at most.
const LIMIT: u64 = 1 << 30;
const ANALYSIS: u64 = 1 << 20;

/// Fails early when no file can be written at the requested place.
pub fn check_page(file: &Path) -> Result<(), AppError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if file.is_dir() || !folder.unwrap_or(Path::new(".")).is_dir() {
        return Err(AppError::usage(
            format!("no file can be written at {}", file.display()),
            "name a file for `--html` in an existing folder",
        ));
    }
    Ok(())
}

/// Renders a session's folder, even an incomplete one; fails when it holds nothing readable.
pub fn draw_page(folder: &Path) -> Result<String, AppError> {
    let read = |name: &str, limit: u64| {
        files::read(&store::file_path(folder, name), limit).map_err(|error| {
            let message = format!("{}: {error}", folder.join(name).display());
            AppError::environment(message, "make it readable, then repeat the command")
        })
    };
    let bytes = read(session::files::EVENTS, LIMIT)?.unwrap_or_default();
    // A kill may cut the last line, and a newer version may write events that we do not know.
    let lines = bytes.split(|byte| *byte == b'\n');
    let events: Vec<Event> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let mut view = View::of(&events);
    let outcome = read(session::files::OUTCOME, LIMIT)?
        .and_then(|bytes| serde_json::from_slice::<Outcome>(&bytes).ok())
        // The outcome of an earlier run says nothing about a session that was resumed.
        .filter(|outcome| outcome.iterations.len() >= view.rows.len());
    if let Some(outcome) = outcome {
        view.add(&Event::Closed(Box::new(outcome)));
    }
    if view.session.is_empty() {
        return Err(AppError::usage(
            format!("{} holds nothing to show yet", folder.display()),
            "run the session first: `regreen fix --resume`",
        ));
    }
    let target = read(FixLoop::STATE_FILE, LIMIT)?
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .and_then(|state| u32::try_from(state["terms"]["target"].as_u64()?).ok());
    let mut facts = PageFacts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        made: clock::now(),
        target,
        repository: server(),
        ..PageFacts::default()
    };
    for row in view.rows.iter().filter(|row| row.analysis.is_empty()) {
        let name = format!(".process/iteration-{}-analysis.md", row.iteration);
        if let Some(bytes) = read(&name, ANALYSIS).ok().flatten() {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            facts.analyses.insert(row.iteration, text);
        }
    }
    Ok(html::page(&view, &facts))
}

/// Writes a page atomically.
pub fn write_page(file: &Path, page: &str) -> Result<(), AppError> {
    files::write_text(file, &redaction::redact(page)).map_err(|error| {
        AppError::environment(
            format!("cannot write {}: {error}", file.display()),
            "make room or permission, then `regreen report --html FILE`",
        )
    })
}

/// The repository's address on GitHub, from the variables of a job.
fn server() -> Option<String> {
    let server = environment::variable("GITHUB_SERVER_URL")?;
    Some(format!("{server}/{}", environment::variable("GITHUB_REPOSITORY")?))
}
