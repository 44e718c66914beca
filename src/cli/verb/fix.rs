//! `regreen fix`: runs one fix session and prints its outcome.

use crate::app::{self, AppError, FixRequest};
use crate::cli::args::FixArguments;
use crate::cli::exit_code::code_of_ending;
use crate::cli::progress::Terminal;
use crate::cli::request;
use crate::report::document::Document;

/// Runs `regreen fix` and returns its exit code.
pub async fn run(arguments: FixArguments) -> Result<u8, AppError> {
    let output = arguments.output;
    let screen = Terminal::new(output.quiet, output.json);
    show(&request::fix(arguments)?, &screen, output.json).await
}

/// Runs a request and, with `json`, prints its outcome as a JSON document.
pub async fn show(request: &FixRequest, screen: &Terminal, json: bool) -> Result<u8, AppError> {
    let outcome = app::fix(request, screen).await?;
    if json {
        super::print_json(&Document::from(&outcome));
    }
    Ok(code_of_ending(outcome.result))
}
