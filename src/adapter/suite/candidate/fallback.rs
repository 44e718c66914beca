//! Tries candidates in warm processes for as long as these start and answer, and with the suite's own
//! command from then on: what a plugin starts while tests are loaded, such as a thread, ends no session.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::OnceCell;

use crate::domain::id::TestId;
use crate::domain::proposal::EditSet;
use crate::effect::{CandidateRunner, CandidateRunnerRequest, CaseResult, RunError, Speed, Trace};

use super::checkout_copy::copy_checkout;
use super::command::CommandRunner;
use crate::adapter::suite::project_suite::ProjectSuite;

/// Least time for the tests of a candidate when the runner starts for it.
const STARTED: Duration = Duration::from_secs(30);

pub struct FallbackRunner {
    warm: Box<dyn CandidateRunner>,
    cold: CommandRunner,
    root: PathBuf,
    copy: PathBuf,
    /// Set once the warm processes failed and the copy of the cold runner lies there.
    copied: OnceCell<()>,
}

/// Puts a cold runner behind a warm one.
pub fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
    warm: Box<dyn CandidateRunner>,
) -> FallbackRunner {
    let copy = suite.settings.scratch.join("cold");
    let cold = CommandRunner::new(suite, &copy);
    let root = request.root.to_owned();
    FallbackRunner { warm, cold, root, copy, copied: OnceCell::new() }
}

#[async_trait]
impl CandidateRunner for FallbackRunner {
    fn speed(&self) -> Speed {
        if self.copied.initialized() { Speed::Cold } else { self.warm.speed() }
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        self.warm.trace(tests).await
    }

    async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        let failed = if self.copied.initialized() {
            None
        } else {
            match self.warm.run(edits, tests, limit, stop_at_failure).await {
                Ok(results) => return Ok(results),
                Err(error) => Some(error),
            }
        };
        let copying = || async {
            if let Some(error) = failed {
                tracing::warn!(%error, "candidates are tried by the suite's own command");
            }
            copy_checkout(&self.root, &self.copy).map(drop)
        };
        self.copied.get_or_try_init(copying).await?;
        self.cold.run(edits, tests, limit.max(STARTED), stop_at_failure).await
    }
}
