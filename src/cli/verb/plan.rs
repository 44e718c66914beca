//! `regreen plan` and `regreen test`.

use crate::app::{self, AppError, TestOutcome};
use crate::cli::args::PlanArguments;
use crate::cli::failure::exit;
use crate::cli::progress::Terminal;
use crate::cli::request;
use crate::domain::test_plan::pipeline::Goal;
use crate::report::phrases::harmless;
use crate::report::planning;

/// Runs the verb.
pub async fn run(arguments: &PlanArguments, goal: Goal) -> Result<u8, AppError> {
    let request = request::test(arguments)?;
    let screen = Terminal::new(arguments.quiet, arguments.json);
    let outcome = match goal {
        Goal::Plan => app::plan(&request, &screen).await?,
        Goal::Test => app::test(&request, &screen).await?,
    };
    screen.clear();
    Ok(show(&outcome, arguments.json))
}

/// Prints the outcome, and returns the exit code.
pub fn show(outcome: &TestOutcome, json: bool) -> u8 {
    let (run, produced) = (&outcome.planned, outcome.produced.as_ref());
    if json {
        let document = planning::document(run, produced, &outcome.folder);
        println!("{}", serde_json::to_string_pretty(&document).unwrap_or_default());
    } else {
        // Everything foreign in it is shortened and harmless already.
        print!("{}", planning::summary(run, produced, &harmless(&outcome.folder, 300)));
    }
    if outcome.met { exit::MET } else { exit::NOT_MET }
}
