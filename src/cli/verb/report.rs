//! `regreen report`: what a session left to read.

use crate::app::{self, AppError, ReportOutcome, ReportRequest};
use crate::cli::failure::exit;

/// Runs the verb.
pub fn run(request: &ReportRequest) -> Result<u8, AppError> {
    match app::report(request)? {
        ReportOutcome::File(file) => println!("{}", file.display()),
        ReportOutcome::Text(text) => print!("{text}"),
    }
    Ok(exit::MET)
}
