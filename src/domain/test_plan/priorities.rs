//! What is asked for, and which files matter most for it (specification.md 8.7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::id::RepoPath;

/// What is asked for, and what it names here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UserIntent {
    pub goal: String,
    /// What it names here: files, and functions as `file:function`.
    pub scope: Vec<String>,
    /// Couplings of these files that imports do not show.
    pub key_constraints: Vec<String>,
}

/// Files by their tier, most relevant first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PriorityTiers {
    /// From a relevance of 0.85.
    pub critical: Vec<RepoPath>,
    /// From 0.70.
    pub high: Vec<RepoPath>,
    /// From 0.50.
    pub medium: Vec<RepoPath>,
}

/// What is asked for, and the order in which it enters prompts and the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrioritizedContext {
    pub user_intent: UserIntent,
    pub priority_tiers: PriorityTiers,
    /// The files that are worked on, each behind those that it needs.
    pub dependency_order: Vec<RepoPath>,
    pub sorting_rationale: String,
}
