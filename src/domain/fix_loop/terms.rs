//! What a session may do and when it is done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::guard::FixScope;
use crate::domain::threshold::Thresholds;

/// What a session may do and when it is done; fixed when it opens, save for a raised limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Whether the change is made smaller when the gate is met.
    #[serde(default)]
    pub minimise: bool,
    /// What stays of a regressing attempt.
    #[serde(default)]
    pub regressed: RegressionTrace,
    /// Whether the session's state travels in its commits (specification.md 13.1).
    #[serde(default = "yes")]
    pub state_travels: bool,
    /// Whether tests that fail on the merge base too count neither in the rate nor in the gate.
    #[serde(default)]
    pub ignore_preexisting: bool,
    /// The numbers behind the decisions.
    #[serde(default)]
    pub thresholds: Thresholds,
    /// What a fix may change.
    #[serde(default)]
    pub scope: FixScope,
}

/// States of older sessions do not say it.
fn yes() -> bool {
    true
}

/// What stays visible of a regressing attempt (specification.md 7.12, 13.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RegressionTrace {
    /// The commit and the revert of exactly that commit, when the fall is hard.
    #[default]
    Commits,
    /// A patch file of the iteration; the branch never holds it.
    Patch,
}
