//! `regreen clients`: installs the command-line clients of models.

use crate::adapter::host::console::println;
use crate::app::{self, AppError};
use crate::cli::args::{ClientsAction, ClientsArguments};
use crate::cli::exit_code::exit;

use super::print_document;

/// Runs the verb. A client that cannot be installed counts as a failure of the environment.
pub async fn run(arguments: ClientsArguments) -> Result<u8, AppError> {
    let ClientsAction::Install { clients, folder, json } = arguments.action;
    let installed = app::install_clients(&clients, folder).await?;
    if json {
        print_document(&installed);
    } else {
        for one in &installed.clients {
            println!("{}", one.program.display());
        }
    }
    Ok(exit::MET)
}
