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
#[serde(from = "StoredPriorities")]
pub struct PrioritizedContext {
    pub user_intent: UserIntent,
    pub priority_tiers: PriorityTiers,
    /// The files that are worked on, each behind those that it needs.
    pub dependency_order: Vec<RepoPath>,
    pub sorting_rationale: String,
}

/// The stored form; that of earlier builds has no groups.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct StoredPriorities {
    user_intent: Option<UserIntent>,
    priority_tiers: Option<PriorityTiers>,
    dependency_order: Vec<RepoPath>,
    sorting_rationale: String,
    #[serde(flatten)]
    intent: UserIntent,
    #[serde(flatten)]
    tiers: PriorityTiers,
}

impl From<StoredPriorities> for PrioritizedContext {
    fn from(stored: StoredPriorities) -> Self {
        Self {
            user_intent: stored.user_intent.unwrap_or(stored.intent),
            priority_tiers: stored.priority_tiers.unwrap_or(stored.tiers),
            dependency_order: stored.dependency_order,
            sorting_rationale: stored.sorting_rationale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_are_read_with_and_without_groups() {
        let flat =
            r#"{"goal": "g", "scope": ["a.py:f"], "high": ["a.py"], "dependency_order": ["a.py"]}"#;
        let read: PrioritizedContext = serde_json::from_str(flat).unwrap();
        assert_eq!((read.user_intent.goal.as_str(), read.user_intent.scope.len()), ("g", 1));
        assert_eq!(read.priority_tiers.high, read.dependency_order);
        let text = serde_json::to_string(&read).unwrap();
        assert!(text.starts_with(r#"{"user_intent":{"goal":"g""#), "{text}");
        assert_eq!(serde_json::from_str::<PrioritizedContext>(&text).unwrap(), read);
    }
}
