//! `regreen plan` and `regreen test`: run the test pipeline and print its result.

use crate::adapter::host::console::print;
use crate::app::{self, AppError, TestOutcome};
use crate::cli::args::PlanArguments;
use crate::cli::progress::Terminal;
use crate::cli::request;
use crate::domain::test_plan::pipeline::Goal;
use crate::report::phrases::single_safe_line;
use crate::report::planning;

use super::{code_of, print_json};

/// Runs `regreen plan` or `regreen test`, depending on `goal`, and returns its exit code.
pub async fn run(arguments: PlanArguments, goal: Goal) -> Result<u8, AppError> {
    let output = arguments.output;
    let request = request::test(arguments)?;
    let screen = Terminal::new(output.quiet, output.json);
    let outcome = match goal {
        Goal::Plan => app::plan(&request, &screen).await?,
        Goal::Test => app::test(&request, &screen).await?,
    };
    drop(screen);
    Ok(show(&outcome, output.json))
}

/// Prints the outcome, and returns the exit code.
pub fn show(outcome: &TestOutcome, json: bool) -> u8 {
    let (run, generation) = (&outcome.planned, outcome.generation.as_ref());
    if json {
        print_json(&planning::document(run, generation, &outcome.folder));
    } else {
        // All foreign text in the summary is already shortened and escaped.
        print!(
            "{}",
            planning::render_summary(run, generation, &single_safe_line(&outcome.folder, 300))
        );
    }
    code_of(outcome.met)
}
