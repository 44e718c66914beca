//! Candidate runners, which try edits on a copy of the checkout.

mod checkout_copy;
mod command;
mod compile_error;
mod persistent;

pub use checkout_copy::{copy_checkout, refresh_copy};

use crate::effect::{CandidateRunner, CandidateRunnerRequest, RunError};

use super::project_suite::ProjectSuite;

/// Opens the framework's persistent runner where there is one and it reproduces the suite's
/// results, for as long as its processes work, else a runner that starts the suite's own command for each candidate.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Result<Box<dyn CandidateRunner>, RunError> {
    let warm = persistent::open(suite, request).await?;
    Ok(command::open(suite, request, warm))
}
