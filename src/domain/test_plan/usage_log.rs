//! `UsageLog`: the provider calls of phases 3 to 5, so that a budget holds for the whole session
//! (specification.md 2.8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::budget::Spending;
use crate::domain::chain::{ProviderCall, spent_by};
use crate::domain::id::SessionId;

/// Path of `provider-calls.json` inside the session folder.
pub const USAGE_LOG: &str = ".process/provider-calls.json";

/// Content of `provider-calls.json`; saved after every call, before its answer is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageLog {
    pub session_id: SessionId,
    /// Calls, in the order in which they were made.
    pub calls: Vec<UsageLogEntry>,
}

/// A question and the work it belonged to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageLogEntry {
    /// The work: `analysis`, or the task `IMPL-001`.
    pub work: String,
    /// The question and its outcome.
    pub call: ProviderCall,
}

impl UsageLog {
    /// The record of a session that has asked nobody.
    #[must_use]
    pub fn new(session_id: SessionId) -> Self {
        Self { session_id, calls: Vec::new() }
    }

    /// Adds calls that were made for `work`.
    pub fn note(&mut self, work: &str, calls: &[ProviderCall]) {
        self.calls.extend(
            calls.iter().map(|call| UsageLogEntry { work: work.to_owned(), call: call.clone() }),
        );
    }

    /// What all calls used and cost.
    pub fn spent(&self) -> Spending {
        spent_by(self.calls.iter().map(|one| &one.call))
    }

    /// What the calls for one work used and cost.
    pub fn spent_on(&self, work: &str) -> Spending {
        spent_by(self.calls.iter().filter(|one| one.work == work).map(|one| &one.call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::budget::Usage;

    fn call(tokens: u64, price: Option<u64>) -> ProviderCall {
        ProviderCall {
            role: "generator".into(),
            provider: "one".into(),
            model: "m".into(),
            slot: 1,
            turn: 1,
            used: true,
            trigger: None,
            reason: String::new(),
            confidence: None,
            requests: 1,
            usage: Usage::new(tokens, 1),
            micro_usd: price,
            duration_ms: 1,
            raw: String::new(),
        }
    }

    #[test]
    fn all_works_together_are_what_the_session_spent() {
        let mut stored_usage_log = UsageLog::new(SessionId::parse("WFS-test-x").unwrap());
        assert_eq!(stored_usage_log.spent(), Spending::default());
        stored_usage_log.note("analysis", &[call(10, Some(5))]);
        stored_usage_log.note("IMPL-001", &[call(20, None), call(30, Some(7))]);
        let table = [("analysis", 1, 11, 5), ("IMPL-001", 2, 52, 7), ("IMPL-002", 0, 0, 0)];
        for (work, calls, tokens, money) in table {
            let spent = stored_usage_log.spent_on(work);
            assert_eq!(
                (spent.calls, spent.usage.tokens(), spent.micro_usd),
                (calls, tokens, money)
            );
        }
        assert_eq!(stored_usage_log.calls[1].call, call(20, None));
        let all = stored_usage_log.spent();
        assert_eq!((all.calls, all.usage.tokens(), all.micro_usd, all.unpriced), (3, 63, 12, 1));
    }
}
