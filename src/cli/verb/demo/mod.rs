//! `regreen demo`: the whole loop on an example that the binary carries.

use super::fix;
use crate::adapter::repo;
use crate::cli::args::{DemoArguments, FixArguments};
use crate::cli::asking::AskingArguments;
use crate::cli::failure::{Class, Failure};
use crate::cli::page;

mod example;

/// Runs the verb.
pub async fn run(arguments: &DemoArguments) -> Result<u8, Failure> {
    let failed = |action: &str, error: &dyn std::error::Error| Failure {
        message: format!("cannot {action}: {error}"),
        evidence: String::new(),
        hint: "choose another place with `--into FOLDER`".into(),
        class: Class::Environment,
    };
    if let Some(file) = &arguments.html {
        page::check(file)?;
    }
    let folder = match &arguments.into {
        Some(folder) => folder.clone(),
        // Kept after the end: the reader is told to look around in it.
        None => tempfile::Builder::new()
            .prefix("regreen-demo-")
            .tempdir()
            .map_err(|error| failed("make a temporary folder", &error))?
            .keep(),
    };
    repo::seed(&folder, example::FILES, "Sell things")
        .map_err(|error| failed(&format!("make the example in {}", folder.display()), &error))?;
    if !arguments.quiet {
        eprintln!("An example repository was made in {}", folder.display());
    }
    let arguments = FixArguments {
        repository: folder,
        html: arguments.html.clone(),
        json: arguments.json,
        quiet: arguments.quiet,
        // What it shows must not depend on who has a key.
        asking: AskingArguments {
            engine: vec![crate::config::providers::EMBEDDED.to_owned()],
            ..AskingArguments::default()
        },
        // One iteration per bug, and some for what goes wrong on the way.
        max_iterations: Some(20),
        ..FixArguments::default()
    };
    fix::run(&arguments).await
}
