//! `regreen status`: lists the sessions of a repository that are not archived.

use crate::adapter::host::console::{eprintln, println};
use crate::app::{self, AppError};
use crate::cli::args::RepositoryArguments;
use crate::cli::exit_code::exit;
use crate::cli::text;
use crate::report::phrases::single_safe_line;

/// Runs `regreen status` and returns its exit code.
pub fn run(arguments: &RepositoryArguments) -> Result<u8, AppError> {
    let found = app::status(&arguments.repository)?;
    for notice in &found.notices {
        eprintln!("{}", single_safe_line(notice, 400));
    }
    if arguments.json {
        super::print_document(&found);
        return Ok(exit::MET);
    }
    if found.sessions.is_empty() {
        println!("no session here can be resumed; start one with `regreen fix`");
    }
    for row in &found.sessions {
        println!("{}", text::resumable_session(row));
    }
    Ok(exit::MET)
}
