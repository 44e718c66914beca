//! The face in a terminal: arguments in, lines and one JSON document out.
//!
//! It decides nothing about the loop.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this room talks to the terminal")]

mod args;
mod failure;
mod log;
mod progress;
mod request;
mod text;
mod verb;

use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;

use clap::Parser;

use crate::app::AppError;

use args::{Arguments, Verb};
use failure::exit;

use crate::domain::test_plan::pipeline::Goal;

/// Runs the bot, which this room does not know: handles the event, or publishes the bundle in a
/// folder; returns the exit code.
pub type Bot = fn(Option<PathBuf>) -> Pin<Box<dyn Future<Output = u8> + Send>>;

/// Runs the command line.
pub fn run(arguments: impl Iterator<Item = OsString>, bot: Bot) -> ExitCode {
    let parsed = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help and version are answers; everything else is wrong usage.
            let code = if error.use_stderr() { exit::USAGE } else { exit::MET };
            if error.print().is_err() {
                return ExitCode::from(exit::ENVIRONMENT);
            }
            return ExitCode::from(code);
        }
    };
    log_to_stderr(parsed.verbose);
    let json = parsed.verb.wants_json();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: cannot start: {error}");
            return ExitCode::from(exit::ENVIRONMENT);
        }
    };
    let done = runtime.block_on(dispatch(parsed.verb, bot));
    // Blocking readers of a killed child must not hold the process up.
    runtime.shutdown_background();
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            if json {
                println!("{}", failure::document(&error));
            }
            eprint!("{}", failure::text(&error));
            ExitCode::from(failure::code_of_error(&error))
        }
    }
}

async fn dispatch(verb: Verb, bot: Bot) -> Result<u8, AppError> {
    match verb {
        Verb::Action => Ok(bot(None).await),
        Verb::Publish { bundle } => Ok(bot(Some(bundle)).await),
        Verb::Fix(arguments) => Box::pin(verb::fix::run(*arguments)).await,
        Verb::Plan(arguments) => Box::pin(verb::plan::run(*arguments, Goal::Plan)).await,
        Verb::Test(arguments) => Box::pin(verb::plan::run(*arguments, Goal::Test)).await,
        Verb::Work => Box::pin(verb::work::run()).await,
        Verb::Session(arguments) => verb::session::run(&arguments),
        Verb::Pin(arguments) => verb::pin::run(&arguments).await,
        Verb::Score(arguments) => verb::score::run(&arguments).await,
        Verb::Demo(arguments) => verb::demo::run(&arguments).await,
        Verb::Status(arguments) => verb::status::run(&arguments),
        Verb::Doctor(arguments) => verb::doctor::run(&arguments),
        Verb::Report(request) => verb::report::run(&request),
        Verb::Validate(arguments) => verb::validate::run(arguments).await,
        Verb::Replay(arguments) => verb::session::replay(&arguments),
        Verb::Config(arguments) => verb::config::run(&arguments),
        Verb::Completions { shell } => {
            use clap::CommandFactory;
            clap_complete::generate(
                shell,
                &mut Arguments::command(),
                "regreen",
                &mut std::io::stdout(),
            );
            Ok(exit::MET)
        }
    }
}

/// Logs of the program itself: warnings, more with `-v`.
fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => tracing::Level::WARN,
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    let logs = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_writer(|| log::Tamed(std::io::stderr()))
        .finish();
    // A second subscriber is only ever set by a test in the same process.
    drop(tracing::subscriber::set_global_default(logs));
}
