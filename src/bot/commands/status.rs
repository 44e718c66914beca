//! `/regreen status` lists the sessions, `/regreen estimate` predicts the cost of a run.

use crate::bot::context::Context;
use crate::bot::error::BotError;
use crate::bot::{limits, session_snapshots, sessions};
use crate::domain::event::Ending;
use crate::report::estimate::{self, Evidence};
use crate::report::markdown;

/// Lists the sessions of the target.
pub async fn status(context: &Context<'_>) -> Result<String, BotError> {
    let mut rows = String::new();
    for known in sessions::known(context).await? {
        let session = known.session;
        let (record, tip) = match known.branch {
            Some(branch) => (branch.record, branch.tip.short().to_owned()),
            None => match session_snapshots::pending(context.prepared, &session).await? {
                Some(pending) => (Some(pending.record), "no branch yet".to_owned()),
                None => continue,
            },
        };
        let (status, commit, began) = match record {
            Some(record) => (
                serde_json::to_value(record.status)
                    .ok()
                    .and_then(|value| value.as_str().map(str::to_owned))
                    .unwrap_or_default(),
                record.git.head_sha.short().to_owned(),
                record.created_at,
            ),
            None => ("not of regreen".to_owned(), String::new(), String::new()),
        };
        let began = markdown::line(&began, 40);
        rows.push_str(&format!("| `{session}` | {status} | {commit} | {began} | {tip} |\n"));
    }
    if rows.is_empty() {
        return Ok("This pull request has no session.".into());
    }
    Ok(format!("| Session | Status | Tested | Started | Tip |\n|---|---|---|---|---|\n{rows}"))
}

/// Answers `/regreen stop` in its own job, which begins when no other one runs any more.
pub async fn stop_session(context: &Context<'_>) -> Result<String, BotError> {
    let newest = sessions::newest(context).await?;
    if let Some(known) = newest {
        let outcome = known.view(context).await?.outcome;
        if outcome.is_some_and(|outcome| outcome.result == Ending::Blocked) {
            let session = known.session;
            return Ok(format!("{session} is stopped. `/regreen resume` continues it."));
        }
    }
    Ok("This job found no run to stop. `/regreen status` lists the sessions.".into())
}

/// Estimates the time and cost of a run.
pub async fn estimate(context: &Context<'_>) -> Result<String, BotError> {
    let settings = &context.prepared.settings;
    let mut views = Vec::new();
    for known in sessions::known(context).await? {
        views.push(known.view(context).await?);
    }
    let price = |name: &String| settings.provider.as_ref()?.get(name)?.price.clone();
    let names = settings.providers.iter().flatten();
    let providers: Vec<_> = names.map(|name| (name.clone(), price(name))).collect();
    Ok(estimate::estimate(&Evidence {
        sessions: &views,
        head: &context.target.head,
        limits: &limits::ceiling(settings),
        providers: &providers,
    }))
}
