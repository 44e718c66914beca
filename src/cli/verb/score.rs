//! `regreen score`: the mutation score of the tests.

use crate::app::{self, ScoreRequest};
use crate::cli::args::ScoreArguments;
use crate::cli::failure::exit;
use crate::cli::progress::Terminal;
use crate::domain::mutation::Score;
use crate::report::mutation;

/// Survivors that are printed.
const PRINTED: usize = 50;

/// Runs the verb. Below the threshold the gate is not met.
pub async fn run(arguments: &ScoreArguments) -> Result<u8, app::AppError> {
    let what = &arguments.what;
    let screen = Terminal::new(what.quiet, what.json || what.markdown);
    let request = ScoreRequest { code: what.selection(), mutants: arguments.mutants };
    let score = app::score(&request, &screen).await;
    screen.clear();
    let score = score?;
    if what.json {
        println!("{}", serde_json::to_string_pretty(&score).unwrap_or_default());
    } else if what.markdown {
        print!("{}", mutation::markdown(&score));
    } else {
        show(&score);
    }
    Ok(if score.is_met() { exit::MET } else { exit::NOT_MET })
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
