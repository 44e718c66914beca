//! `regreen pin`: characterisation tests, on a branch of their own.

use crate::app::{self, CharacteriseRequest};
use crate::cli::args::CodeArguments;
use crate::cli::progress::Terminal;
use crate::domain::characterisation::CharacterisationReport;
use crate::report::phrases::harmless;
use crate::report::{characterised, mutation};

use super::{code_of, print_json};

/// Runs the verb. Without a kept test, or below the threshold, the gate is not met.
pub async fn run(arguments: &CodeArguments<CharacteriseRequest>) -> Result<u8, app::AppError> {
    let screen = Terminal::new(arguments.quiet, arguments.json || arguments.markdown);
    let outcome = app::characterise(&arguments.request, &screen).await;
    screen.clear();
    let outcome = outcome?;
    if arguments.json {
        print_json(&outcome.report);
    } else if arguments.markdown {
        print!("{}", characterised::markdown(&outcome.report));
    } else {
        print!("{}", outcome.patch);
        show(&outcome.report);
    }
    Ok(code_of(outcome.met))
}

fn show(report: &CharacterisationReport) {
    for one in report.functions.iter().filter(|one| one.assertions == 0) {
        let place = format!("{}:{} {}", one.file, one.line, one.name);
        let reasons = characterised::reasons(&one.dropped);
        println!("not pinned  {}  {}", harmless(&place, 200), harmless(&reasons, 300));
    }
    for one in &report.unfinished {
        println!("not done    {}: the time limit was reached", harmless(one, 200));
    }
    for one in &report.dropped {
        println!("dropped     {} tests: {}", one.count, harmless(&one.reason, 200));
    }
    for file in &report.files {
        let count = file.tests.len();
        println!(
            "kept        {}  {count} tests, {} assertions",
            harmless(file.file.as_str(), 200),
            file.assertions
        );
    }
    println!("\n{} in {:.1} s", characterised::headline(report), report.seconds);
    println!(
        "lines reached: {} before, {} after",
        characterised::reached(report.before),
        characterised::reached(report.after)
    );
    if let Some(score) = &report.score {
        println!("{}", mutation::headline(score));
    }
    if let Some(branch) = &report.branch {
        println!("on branch {}; read the tests before you merge them", harmless(branch, 200));
    }
}
