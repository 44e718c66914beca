//! `regreen integration`: writes integration tests for a module and prints what came of it.

use crate::adapter::host::console::print;
use crate::app::{self, AppError, IntegrationEnd};
use crate::cli::args::IntegrationArguments;
use crate::cli::exit_code::code_of_ending;
use crate::cli::progress::Terminal;
use crate::cli::request;
use crate::domain::event::Ending;
use crate::report::integration::render_end;

use super::print_json;

/// Runs the verb, and returns its exit code.
pub async fn run(arguments: IntegrationArguments) -> Result<u8, AppError> {
    let output = arguments.output;
    let request = request::integration_request(arguments)?;
    let screen = Terminal::new(output.quiet, output.json);
    let end = Box::pin(app::write_integration_tests(&request, &screen)).await?;
    drop(screen);
    Ok(print_end(&end, output.json))
}

/// Prints how the session ended, and returns the exit code.
pub fn print_end(end: &IntegrationEnd, json: bool) -> u8 {
    if json {
        print_json(&end.state);
    } else {
        if end.folder.is_empty() {
            print!("{}\n", end.log);
        }
        print!("{}", render_end(&end.state, &end.folder, end.stopped.as_ref()));
    }
    let summary = end.state.summary.as_ref().map(|summary| summary.result);
    let ending = end.outcome.as_ref().map(|outcome| outcome.result).or(summary);
    code_of_ending(ending.unwrap_or(Ending::Planned))
}
