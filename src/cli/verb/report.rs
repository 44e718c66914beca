//! `regreen report`: prints the report of a session or its path, or writes the session's HTML page.

use crate::adapter::host::console::{print, println};
use crate::app::{self, AppError, ReportOutcome, ReportRequest};
use crate::cli::exit_code::exit;

/// Runs `regreen report` and returns its exit code.
pub fn run(request: &ReportRequest) -> Result<u8, AppError> {
    match app::report(request)? {
        ReportOutcome::File(file) => println!("{}", file.display()),
        ReportOutcome::Text(text) => print!("{text}"),
    }
    Ok(exit::MET)
}
