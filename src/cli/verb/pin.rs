//! `regreen pin`: characterisation tests, on a branch of their own.

use crate::app::{self, CharacteriseRequest};
use crate::cli::args::PinArguments;
use crate::cli::failure::exit;
use crate::cli::progress::Terminal;
use crate::domain::characterisation::CharacterisationReport;
use crate::report::phrases::harmless;
use crate::report::{characterised, mutation};

/// Runs the verb. Without a kept test, or below the threshold, the gate is not met.
pub async fn run(arguments: &PinArguments) -> Result<u8, app::AppError> {
    let what = &arguments.what;
    let screen = Terminal::new(what.quiet, what.json || what.markdown);
    let request = CharacteriseRequest {
        code: what.selection(),
        functions: arguments.function.clone(),
        dry_run: arguments.dry_run,
    };
    let outcome = app::characterise(&request, &screen).await;
    screen.clear();
    let outcome = outcome?;
    if what.json {
        println!("{}", serde_json::to_string_pretty(&outcome.report).unwrap_or_default());
    } else if what.markdown {
        print!("{}", characterised::markdown(&outcome.report));
    } else {
        print!("{}", outcome.patch);
        show(&outcome.report);
    }
    Ok(if outcome.met { exit::MET } else { exit::NOT_MET })
}

fn show(report: &CharacterisationReport) {
    for one in report.functions.iter().filter(|one| one.kept == 0) {
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
