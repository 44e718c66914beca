//! The command-line interface: parses arguments, runs a verb, prints text or one JSON document.
//!
//! All decisions about a session are made by `cycle` and `domain`, never here.

mod args;
mod exit_code;
mod log_writer;
mod progress;
mod request;
mod text;
mod verb;

use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use crate::adapter::host::console::{eprint, eprintln, println};
use crate::app::AppError;

use args::{Arguments, Verb};
use exit_code::exit;

use crate::domain::test_plan::pipeline::Goal;

/// Entry point of the bot, passed in because `cli` must not import `bot`. Handles the event of the
/// runner, or publishes the bundle in the given folder, and returns the exit code.
pub type Bot = fn(Option<PathBuf>) -> Pin<Box<dyn Future<Output = u8> + Send>>;

/// Parses the arguments, runs the verb, and returns the exit code of the process.
pub fn run(arguments: impl Iterator<Item = OsString>, bot: Bot) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let wants_json = arguments.iter().any(|argument| argument == "--json");
    let parsed = match Arguments::try_parse_from(arguments) {
        Ok(parsed) => parsed,
        Err(mut error) => {
            suggest_how_to_undo(&mut error);
            // `--help` and `--version` succeed; every other parse error is wrong usage.
            let code = if error.use_stderr() { exit::USAGE } else { exit::MET };
            if wants_json && error.use_stderr() {
                println!("{}", exit_code::document(&wrong_usage(&error)));
            }
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
    // Threads that still read the output of a killed child must not delay the exit.
    runtime.shutdown_background();
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            if json {
                println!("{}", exit_code::document(&error));
            }
            eprint!("{}", exit_code::text(&error));
            ExitCode::from(exit_code::code_of_error(&error))
        }
    }
}

/// A parse error as those of use cases are printed.
fn wrong_usage(error: &clap::Error) -> AppError {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let message = first.strip_prefix("error: ").unwrap_or(first);
    AppError::usage(message, "`--help` lists the flags")
}

/// Adds a tip to the error about undoing: a fix stands on a branch until somebody merges it.
fn suggest_how_to_undo(error: &mut clap::Error) {
    let verb = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(verb)) => verb.as_str(),
        _ => return,
    };
    if ["undo", "rollback", "revert"].contains(&verb) {
        let tip = "a fix is a branch: `git branch -D regreen/SESSION` discards it, `git revert` takes a merged one back, \
            `/regreen rollback` in a comment takes back an iteration";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
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
        Verb::Memory(arguments) => verb::memory::run(arguments),
        Verb::Integration(arguments) => Box::pin(verb::integration::run(*arguments)).await,
        Verb::Pin(arguments) => verb::pin::run(&arguments).await,
        Verb::Score(arguments) => verb::score::run(&arguments).await,
        Verb::Demo(arguments) => verb::demo::run(&arguments).await,
        Verb::Status(arguments) => verb::status::run(&arguments),
        Verb::Doctor(arguments) => verb::doctor::run(&arguments).await,
        Verb::Clients(arguments) => verb::clients::run(arguments).await,
        Verb::Report(request) => verb::report::run(&request),
        Verb::Validate(arguments) => verb::validate::run(arguments).await,
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

/// Sends the program's own logs to standard error: warnings by default, more with `-v`.
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
        .with_writer(|| log_writer::NeutralisingWriter(std::io::stderr()))
        .finish();
    // Setting a subscriber fails only when a test in the same process has already set one.
    drop(tracing::subscriber::set_global_default(logs));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_at_undoing_gets_a_tip() {
        for (verb, tip) in
            [("undo", true), ("rollback", true), ("revert", true), ("fxi", false), ("xyzzy", false)]
        {
            let mut error = Arguments::try_parse_from(["regreen", verb]).unwrap_err();
            suggest_how_to_undo(&mut error);
            let text = error.to_string();
            assert_eq!(text.contains("git branch -D regreen/SESSION"), tip, "{text}");
        }
    }
}
