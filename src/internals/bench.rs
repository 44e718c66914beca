//! Re-exports of the functions that the benchmarks measure.

pub use crate::adapter::suite::ReportedTest;
pub use crate::adapter::suite::parse_junit;
pub use crate::code::imports::Graph;
pub use crate::domain::id::{RepoPath, SessionId};
pub use crate::role::test_plan::{PlanSize, plan_without_io};
