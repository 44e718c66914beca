//! `regreen doctor`: shows what was detected in a repository, and what is missing.

use crate::adapter::host::console::print;
use crate::app::{self, AppError};
use crate::cli::args::RepositoryArguments;
use crate::cli::exit_code::exit;
use crate::cli::text;

use super::print_document;

/// Runs the verb. A suite that cannot start counts as a failure of the environment.
pub async fn run(arguments: &RepositoryArguments) -> Result<u8, AppError> {
    let found = app::doctor(&arguments.repository).await?;
    if arguments.json {
        print_document(&found);
    } else {
        print!("{}", text::diagnosis(&found));
    }
    Ok(if found.missing.is_empty() { exit::MET } else { exit::ENVIRONMENT })
}
