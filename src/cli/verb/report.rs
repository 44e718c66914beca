//! `regreen report`: what a session left to read.

use crate::adapter::host::files;
use crate::adapter::{repo, state_root, store};
use crate::app::{AppError, check_page, draw_page, write_page};
use crate::cli::args::ReportArguments;
use crate::cli::failure::exit;
use crate::domain::session;
use crate::effect::StoreError;

/// Runs the verb.
pub fn run(arguments: &ReportArguments) -> Result<u8, AppError> {
    let facts = repo::discover(&arguments.of.repository)?;
    let root = state_root(&facts);
    let id = super::named(arguments.of.session.as_deref(), &root)?;
    let (folder, _) = store::find(&root, &id)?;
    if let Some(file) = &arguments.html {
        check_page(file)?;
        write_page(file, &draw_page(&folder)?)?;
        println!("{}", file.display());
        return Ok(exit::MET);
    }
    let path = folder.join(session::files::REPORT);
    if arguments.path {
        println!("{}", path.display());
        return Ok(exit::MET);
    }
    let bytes = files::read(&path, 64 << 20).map_err(|source| StoreError::Io {
        action: "read",
        path: path.clone(),
        source,
    })?;
    let Some(bytes) = bytes else {
        return Err(AppError::usage(
            format!("session {id} has no report yet"),
            format!("let it end: `regreen fix --resume {id}`"),
        ));
    };
    print!("{}", String::from_utf8_lossy(&bytes));
    Ok(exit::MET)
}
