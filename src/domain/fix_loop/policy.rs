//! `FixTerms`: the limits and switches of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::guard::FixScope;
use crate::domain::known_failure::KnownFailure;
use crate::domain::memory::Prior;
use crate::domain::threshold::Thresholds;

/// The limits and switches of a session; after it opens, only the iteration limit can change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own, off or on")]
pub struct FixTerms {
    /// Pass rate of the gate in percent.
    pub target: u32,
    pub max_iterations: u32,
    /// Whether kept edits are committed.
    pub commits: bool,
    /// Stop after the baseline and its diagnosis.
    pub dry_run: bool,
    /// Whether a merge base is known, to run failing tests there.
    pub has_base: bool,
    /// Whether the change is minimised once the gate is met; its hunks are proven in any case.
    #[serde(default)]
    pub minimise: bool,
    /// How a regressing attempt is recorded.
    #[serde(default)]
    pub regressed: RegressionTrace,
    /// Whether commits carry the session's state files (specification.md 8.10).
    #[serde(default = "yes")]
    pub state_is_committed: bool,
    /// Whether tests that also fail on the merge base are excluded from the rate and the gate.
    #[serde(default)]
    pub ignore_preexisting: bool,
    /// The numbers behind the decisions.
    #[serde(default)]
    pub thresholds: Thresholds,
    /// What a fix may change.
    #[serde(default)]
    pub scope: FixScope,
    /// Failures that the configuration excuses today.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_failures: Vec<KnownFailure>,
    /// Suites that were found beside the one that runs, each with the way to run it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<String>,
    /// What earlier sessions suggest.
    #[serde(default, skip_serializing_if = "Prior::is_empty")]
    pub prior: Prior,
}

/// Default for the states of older sessions, which lack this field.
fn yes() -> bool {
    true
}

/// How a regressing attempt is recorded (specification.md 7.12).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RegressionTrace {
    /// A commit and its revert, if the rate fell by more than the limit.
    #[default]
    Commits,
    /// A patch file of the iteration; the branch never contains the attempt.
    Patch,
}
