//! `regreen validate`: runs the code check on its own, on any repository.

use crate::adapter::host::console::{eprintln, print};
use crate::adapter::host::environment;
use crate::app;
use crate::cli::args::ValidateArguments;
use crate::cli::request;
use crate::report::validation::{ValidationReport, annotations, render_text};

/// Runs the verb. The decision of the gate determines the exit code.
pub async fn run(arguments: ValidateArguments) -> Result<u8, app::AppError> {
    let json = arguments.json;
    let outcome = app::validate(&request::validate(arguments)).await?;
    show(&outcome.report, json);
    Ok(super::code_of(outcome.met))
}

/// Prints the report on standard output, and annotations on standard error to keep them apart.
pub fn show(report: &ValidationReport, json: bool) {
    if environment::path_from("GITHUB_ACTIONS").is_some_and(|value| value.as_os_str() == "true") {
        for annotation in annotations(report) {
            eprintln!("{annotation}");
        }
    }
    print!("{}", if json { app::report_document(report) } else { render_text(report) });
}
