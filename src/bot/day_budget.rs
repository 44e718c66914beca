//! The money that all sessions of a repository spend on one day (specification.md 2.8). A snapshot
//! on the server counts it, so that it holds across jobs and machines.

use std::collections::BTreeMap;

use crate::domain::budget::{dollars, micro_usd};
use crate::domain::id::{CommitId, SessionId};

use super::context::Context;
use super::prepare::PrepareError;
use super::session_snapshots::{self, SessionSnapshot};
use super::worker::EVENTS;

/// Attempts to add to the count, which other jobs change too.
const ATTEMPTS: u32 = 3;

/// What was spent today, in millionths of a dollar, by session, job, step and time.
type Spent = BTreeMap<String, u64>;

/// The budget of one day (UTC).
pub struct DayBudget {
    /// Names the snapshot of the day.
    id: SessionId,
    limit: u64,
    /// `None` when the count on the server is unreadable.
    spent: Option<u64>,
}

impl DayBudget {
    /// Reads what was spent today; `None` where the configuration sets no limit.
    pub async fn read(context: &Context<'_>) -> Result<Option<Self>, PrepareError> {
        let budget = context.prepared.settings.budget.as_ref();
        let Some(limit) = budget.and_then(|budget| budget.day_usd).map(micro_usd) else {
            return Ok(None);
        };
        let now = context.clock.now();
        let Ok(id) = SessionId::parse(format!("spending-{}", now.get(..10).unwrap_or_default()))
        else {
            return Ok(None);
        };
        let spent = match spent(context, &id).await?.1 {
            Ok(spent) => Some(spent.values().fold(0, |sum, one| one.saturating_add(sum))),
            Err(reason) => {
                tracing::error!(%reason, snapshot = %id, "the count of the day is unreadable");
                None
            }
        };
        Ok(Some(Self { id, limit, spent }))
    }

    /// The dollars that a session may have spent at the end of this run, when it has spent `before`
    /// millionths so far and may spend `own` dollars. An unknown sum leaves nothing of the day.
    pub fn allows(&self, own: Option<f64>, before: u64) -> f64 {
        let spent = self.spent.unwrap_or(self.limit);
        let left = self.limit.saturating_sub(spent).saturating_add(before);
        #[expect(clippy::cast_precision_loss, reason = "an amount of money for one day")]
        let left = left as f64 / 1e6;
        own.map_or(left, |own| own.min(left))
    }

    /// What the people of the repository are shown.
    pub fn notice(&self) -> String {
        let limit = dollars(self.limit);
        let Some(spent) = self.spent.map(dollars) else {
            return format!(
                "How much of the {limit} that `budget.day-usd` allows was spent today is unknown, so \
                 this run spends nothing. Delete `refs/regreen/sessions/{}` to count anew.",
                self.id
            );
        };
        format!(
            "{spent} of the {limit} that `budget.day-usd` allows were spent today before this run."
        )
    }

    /// Adds what this job spent on a session. A failure is logged: the next run counts less.
    pub async fn add(&self, context: &Context<'_>, session: &str, micro_usd: u64) {
        if micro_usd == 0 {
            return;
        }
        let job = ["GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB", "GITHUB_ACTION"]
            .map(|name| context.env.get(name));
        // The time separates the jobs of a matrix, which share all names.
        let key = format!("{session} {} {}", job.join(" "), context.clock.now());
        for _ in 0..ATTEMPTS {
            match self.try_add(context, &key, micro_usd).await {
                Ok(()) => return,
                Err(error) if error.is_push_denied() => return,
                Err(error) => tracing::warn!(%error, "what this run spent is not counted yet"),
            }
        }
    }

    async fn try_add(
        &self,
        context: &Context<'_>,
        key: &str,
        micro_usd: u64,
    ) -> Result<(), PrepareError> {
        let (before, spent) = spent(context, &self.id).await?;
        let mut spent = spent.map_err(|error| PrepareError::NotSaved {
            session: self.id.clone(),
            reason: format!("what it holds is unreadable: {error}"),
            hint: "delete the reference of this snapshot",
        })?;
        spent.insert(key.to_owned(), micro_usd);
        let events = serde_json::to_vec(&spent).unwrap_or_default();
        let snapshot = SessionSnapshot { events, ..SessionSnapshot::default() };
        session_snapshots::save_on(context.prepared, &self.id, &snapshot, before).await
    }
}

/// The commit of this snapshot, and what was spent on its day as far as that is readable.
async fn spent(
    context: &Context<'_>,
    id: &SessionId,
) -> Result<(Option<CommitId>, serde_json::Result<Spent>), PrepareError> {
    let commit = session_snapshots::snapshot_commit(context.prepared, id).await?;
    let Some(tip) = &commit else { return Ok((None, Ok(Spent::new()))) };
    let bytes = context.prepared.clone.file_of(tip, EVENTS)?.unwrap_or_default();
    Ok((commit, serde_json::from_slice(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_the_day_limits_a_session() {
        let day = |spent| DayBudget {
            id: SessionId::parse("spending-2026-01-31").unwrap(),
            limit: 5_000_000,
            spent,
        };
        let table = [
            ("nothing was spent", Some(0), None, 0, 5.0),
            ("its own limit is lower", Some(1_000_000), Some(2.0), 0, 2.0),
            ("the rest of the day is lower", Some(4_500_000), Some(2.0), 0, 0.5),
            (
                "earlier runs of the session count already",
                Some(4_500_000),
                Some(2.0),
                1_000_000,
                1.5,
            ),
            ("nothing is left", Some(9_000_000), None, 0, 0.0),
            ("the sum is unknown", None, Some(2.0), 1_000_000, 1.0),
        ];
        for (why, spent, own, before, expected) in table {
            let allowed = day(spent).allows(own, before);
            assert!((allowed - expected).abs() < 1e-9, "{why}: {allowed}");
        }
        assert!(day(Some(1_500_000)).notice().starts_with("$1.50 of the $5.00 that"));
    }
}
