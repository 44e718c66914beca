//! What a session leaves to read: its report, or a page drawn of it.

use std::path::PathBuf;

use clap::Args;

use crate::adapter::host::files;
use crate::adapter::store;
use crate::domain::session::files::{REFLECTION_LOG, REPORT};
use crate::effect::StoreError;

use super::session::{FoundSession, find};
use super::{AppError, SessionSelection, page};

/// A request for the report of a session.
#[derive(Args, Clone, Debug)]
pub struct ReportRequest {
    #[command(flatten)]
    pub of: SessionSelection,
    /// Print the path of the report instead.
    #[arg(long)]
    pub path: bool,
    /// Draw the session as one page of HTML in this file instead.
    #[arg(long, value_name = "FILE", conflicts_with = "path")]
    pub html: Option<PathBuf>,
}

/// What a request for a report brings.
#[derive(Debug)]
pub enum ReportOutcome {
    /// The file of the report, or of the page that was drawn.
    File(PathBuf),
    /// The report itself.
    Text(String),
}

/// Finds the report of a session, or draws the session as a page.
pub fn report(request: &ReportRequest) -> Result<ReportOutcome, AppError> {
    let FoundSession { id, folder, .. } = find(&request.of)?;
    if let Some(file) = &request.html {
        page::check_page(file)?;
        page::write_page(file, &page::draw_page(&folder)?)?;
        return Ok(ReportOutcome::File(file.clone()));
    }
    let report = store::file_path(&folder, REPORT);
    // A session of integration tests that ends before its iterations has only its log.
    let log = store::file_path(&folder, REFLECTION_LOG);
    let path = if log.exists() && !report.exists() { log } else { report };
    if request.path {
        return Ok(ReportOutcome::File(path));
    }
    let read = files::read(&path, 64 << 20);
    let bytes = read.map_err(|source| StoreError::Io { action: "read", path, source })?;
    let bytes = bytes.ok_or_else(|| {
        AppError::usage(
            format!("session {id} has no report yet"),
            "`regreen status` says whether it can be resumed",
        )
    })?;
    Ok(ReportOutcome::Text(String::from_utf8_lossy(&bytes).into_owned()))
}
