//! `regreen fix`: one session, one end.

use crate::app::{self, AppError, FixRequest};
use crate::cli::args::FixArguments;
use crate::cli::failure::code_of_ending;
use crate::cli::progress::Terminal;
use crate::cli::request;
use crate::report::document::Document;

/// Runs the verb.
pub async fn run(arguments: &FixArguments) -> Result<u8, AppError> {
    let screen = Terminal::new(arguments.quiet, arguments.json);
    show(&request::fix(arguments)?, &screen, arguments.json).await
}

/// Runs a request, and prints its document where one is wanted.
pub async fn show(request: &FixRequest, screen: &Terminal, json: bool) -> Result<u8, AppError> {
    let outcome = app::fix(request, screen).await?;
    if json {
        let document = serde_json::to_string_pretty(&Document::from(&outcome)).unwrap_or_default();
        println!("{document}");
    }
    Ok(code_of_ending(outcome.result))
}
