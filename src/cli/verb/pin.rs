//! `regreen pin`: writes characterisation tests on a branch of their own.

use crate::adapter::host::console::print;
use crate::app::{self, CharacteriseRequest};
use crate::cli::args::CodeArguments;
use crate::cli::progress::Terminal;
use crate::cli::text;
use crate::report::characterisation;

use super::{code_of, print_json};

/// Runs the verb. Without any test, or below the threshold, the gate is not met.
pub async fn run(arguments: &CodeArguments<CharacteriseRequest>) -> Result<u8, app::AppError> {
    let screen = Terminal::new(arguments.quiet, arguments.json || arguments.markdown);
    let outcome = app::characterise(&arguments.request, &screen).await?;
    drop(screen);
    if arguments.json {
        print_json(&outcome.report);
    } else if arguments.markdown {
        print!("{}", characterisation::markdown(&outcome.report));
    } else {
        print!("{}{}", outcome.patch, text::characterisation(&outcome.report));
    }
    Ok(code_of(outcome.met))
}
