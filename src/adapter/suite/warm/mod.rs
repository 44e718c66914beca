//! Tries candidates in prepared processes. One file per way of keeping them.

mod kept;
mod node;
mod python;
mod server;

pub use server::Server;

use crate::effect::{RunError, Trial, TrialRequest};

use super::ProjectSuite;

/// Opens a warm trial; `None` where the framework has no warm runner, or the runner does not see
/// what the suite sees.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &TrialRequest<'_>,
) -> Result<Option<Box<dyn Trial>>, RunError> {
    match suite.detection.facts.framework.as_str() {
        "unittest" | "pytest" => python::open(suite, request).await,
        "node --test" => node::open(suite, request).await,
        "Vitest" => kept::open(suite, request, &kept::VITEST).await,
        "Jest" => kept::open(suite, request, &kept::JEST).await,
        _ => Ok(None),
    }
}
