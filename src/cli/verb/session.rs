//! `regreen session`: sessions as they stand, replayed, and their end.

use crate::adapter::host::console::{print, println};
use crate::app::{self, AppError, SessionSelection};
use crate::cli::args::{ReplayArguments, SessionArguments, SessionVerb};
use crate::cli::exit_code::exit;
use crate::cli::text;

use super::{code_of, print_document};

/// Runs the actions of `regreen session` and returns their exit code.
pub fn run(arguments: &SessionArguments) -> Result<u8, AppError> {
    let (of, json) = (&arguments.of.of, arguments.of.json);
    match arguments.what {
        SessionVerb::List => {
            let list = app::list_sessions(&of.repository)?;
            if json { print_document(&list) } else { print!("{}", text::sessions(&list)) }
        }
        SessionVerb::Status => {
            let row = app::show_session(of)?;
            if json { print_document(&row) } else { print!("{}", text::session(&row)) }
        }
        SessionVerb::Replay => return replay(&arguments.of),
        SessionVerb::Complete => archive(of, true, json)?,
        SessionVerb::Archive => archive(of, false, json)?,
    }
    Ok(exit::MET)
}

fn archive(of: &SessionSelection, complete: bool, json: bool) -> Result<(), AppError> {
    let end = app::archive_session(of, complete)?;
    if json {
        print_document(&end);
    } else {
        println!("{} is archived: {}", end.session, end.archive.display());
    }
    Ok(())
}

fn replay(arguments: &ReplayArguments) -> Result<u8, AppError> {
    let end = app::replay(&arguments.of)?;
    let (differences, count) = (&end.replayed.differences, end.replayed.transitions);
    if arguments.json {
        print_document(&end.replayed);
    } else if differences.is_empty() {
        println!("{}: {count} transitions decided again, nothing would differ", end.session);
    } else {
        println!("{}: {count} transitions decided again, and this would differ:", end.session);
        for difference in differences {
            println!("  {difference}");
        }
    }
    Ok(code_of(differences.is_empty()))
}
