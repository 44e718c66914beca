//! `regreen score`: measures the mutation score of the tests.

use crate::adapter::host::console::{print, println};
use crate::app::{self, ScoreRequest};
use crate::cli::args::CodeArguments;
use crate::cli::progress::Terminal;
use crate::domain::mutation::Score;
use crate::report::mutation;

use super::{code_of, print_json};

/// Number of surviving mutants that are printed.
const PRINTED: usize = 50;

/// Runs the verb. The gate is not met when the score is below the threshold.
pub async fn run(arguments: &CodeArguments<ScoreRequest>) -> Result<u8, app::AppError> {
    let screen = Terminal::new(arguments.quiet, arguments.json || arguments.markdown);
    let score = app::score(&arguments.request, &screen).await?;
    drop(screen);
    if arguments.json {
        print_json(&score);
    } else if arguments.markdown {
        print!("{}", mutation::markdown(&score));
    } else {
        show(&score);
    }
    Ok(code_of(score.is_met()))
}

fn show(score: &Score) {
    for mutant in score.survivors.iter().take(PRINTED) {
        println!("{}", mutation::survivor(mutant));
    }
    if score.survivors.len() > PRINTED {
        println!("and {} more", score.survivors.len() - PRINTED);
    }
    if !score.survivors.is_empty() {
        println!();
    }
    println!("{}", mutation::headline(score));
    for remark in mutation::remarks(score) {
        println!("  {remark}");
    }
}
