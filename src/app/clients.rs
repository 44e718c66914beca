//! Installs the command-line clients of models at the versions that regreen was tested with.

use std::path::PathBuf;

use serde::Serialize;

use crate::adapter::{clients_folder, models};
use crate::domain::provider::ClientProgram;

use super::AppError;

/// The clients that are installed now.
#[derive(Debug, Serialize)]
pub struct InstalledClients {
    pub clients: Vec<InstalledClient>,
}

/// A client, and where its program is.
#[derive(Debug, Serialize)]
pub struct InstalledClient {
    pub client: ClientProgram,
    pub program: PathBuf,
}

/// Installs clients, one after the other, up to the first that fails; those before it stay.
pub async fn install_clients(
    clients: &[ClientProgram],
    folder: Option<PathBuf>,
) -> Result<InstalledClients, AppError> {
    let folder = folder.unwrap_or_else(clients_folder);
    let mut installed = InstalledClients { clients: Vec::new() };
    for &client in clients {
        let program = models::install(client, &folder).await.map_err(|error| {
            AppError::environment(error, "check Node.js, npm and the network, and try again")
        })?;
        installed.clients.push(InstalledClient { client, program });
    }
    Ok(installed)
}
