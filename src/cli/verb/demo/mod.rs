//! `regreen demo`: fixes a small example project that is embedded in the binary.

use crate::adapter::host::console::eprintln;
use crate::adapter::host::process::own_program;
use crate::adapter::repo;
use crate::app::{AppError, FixRequest, ModelOptions, RunOptions, check_page};
use crate::cli::args::DemoArguments;
use crate::cli::progress::Terminal;
use crate::domain::shell;

use super::fix;

mod example;

/// Runs `regreen demo` and returns its exit code.
pub async fn run(arguments: &DemoArguments) -> Result<u8, AppError> {
    let failed = |action: &str, error: &dyn std::error::Error| {
        let message = format!("cannot {action}: {error}");
        AppError::environment(message, "choose another place with `--into FOLDER`")
    };
    if let Some(file) = &arguments.html {
        check_page(file)?;
    }
    let folder = match &arguments.into {
        Some(folder) => folder.clone(),
        // It stays after the end: the output invites the reader to look around in it.
        None => tempfile::Builder::new()
            .prefix("regreen-demo-")
            .tempdir()
            .map_err(|error| failed("make a temporary folder", &error))?
            .keep(),
    };
    repo::seed(&folder, example::FILES, "Sell things")
        .map_err(|error| failed(&format!("make the example in {}", folder.display()), &error))?;
    if !arguments.output.quiet {
        eprintln!("An example repository was made in {}", folder.display());
    }
    let request = FixRequest {
        repository: folder.clone(),
        html: arguments.html.clone(),
        // The embedded engine alone, so that the demo is the same with and without an API key.
        models: ModelOptions {
            providers: vec![crate::domain::provider::EMBEDDED.to_owned()],
            ..ModelOptions::default()
        },
        // One iteration per bug, plus some for attempts that fail.
        run: RunOptions { max_iterations: Some(20), ..RunOptions::default() },
        ..FixRequest::default()
    };
    let screen = Terminal::new(arguments.output.quiet, arguments.output.json);
    let code = fix::show(&request, &screen, arguments.output.json).await?;
    if !arguments.output.quiet {
        let program =
            own_program().map_or_else(|_| "regreen".into(), |path| path.display().to_string());
        let program = shell::word(&program);
        eprintln!("The example is in            {}", folder.display());
        eprintln!("`regreen` stands for         {program}");
        eprintln!("In a repository of your own: {program} fix");
    }
    Ok(code)
}
