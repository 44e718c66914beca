//! Retries of one question to one provider, and whether an error disables the provider for the run.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

use crate::domain::chain::FallbackTrigger;
use crate::effect::{Answer, Clock, Model, ModelError, ModelErrorKind, Question};

/// Asks a model. Waits once if the provider states a waiting time below `longest_wait`, and retries
/// a few times with back-off after a temporary failure.
pub async fn ask_with_retries(
    model: &dyn Model,
    question: &Question,
    longest_wait: Duration,
    clock: &dyn Clock,
) -> Result<Answer, ModelError> {
    let mut pauses = ExponentialBuilder::default()
        .with_jitter()
        .with_min_delay(Duration::from_millis(500))
        .with_max_delay(Duration::from_secs(8))
        .with_max_times(2)
        .build();
    let mut waited = false;
    loop {
        let error = match model.ask(question).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let pause = match &error.kind {
            ModelErrorKind::RateLimited { retry_after: Some(time) } => {
                let may_wait = *time < longest_wait && !waited;
                waited = true;
                may_wait.then_some(*time)
            }
            ModelErrorKind::RateLimited { retry_after: None }
            | ModelErrorKind::Server { .. }
            | ModelErrorKind::Connection
            | ModelErrorKind::Truncated => pauses.next(),
            ModelErrorKind::Unauthorised
            | ModelErrorKind::OutOfQuota
            | ModelErrorKind::NotFound
            | ModelErrorKind::BadRequest { .. }
            | ModelErrorKind::TooLong
            | ModelErrorKind::Refused { .. }
            | ModelErrorKind::TimedOut { .. }
            | ModelErrorKind::Garbage
            | ModelErrorKind::Client { .. }
            | ModelErrorKind::Replay { .. } => None,
        };
        let Some(pause) = pause else { return Err(error) };
        tracing::info!(provider = model.name(), kind = error.kind.word(), ?pause, "asked again");
        clock.wait(pause).await;
    }
}

/// The fallback trigger for an error, and whether the error is permanent, so that asking this
/// provider again in this run would fail as well.
pub fn trigger_of(kind: &ModelErrorKind) -> (FallbackTrigger, bool) {
    match kind {
        ModelErrorKind::RateLimited { .. } => (FallbackTrigger::RateLimited, false),
        ModelErrorKind::Server { .. } => (FallbackTrigger::Server, false),
        ModelErrorKind::NotFound => (FallbackTrigger::Server, true),
        ModelErrorKind::TimedOut { .. } => (FallbackTrigger::TimedOut, false),
        ModelErrorKind::Connection | ModelErrorKind::Truncated => {
            (FallbackTrigger::Connection, false)
        }
        ModelErrorKind::Garbage => (FallbackTrigger::Unparseable, false),
        ModelErrorKind::TooLong | ModelErrorKind::Refused { .. } => {
            (FallbackTrigger::Refused, false)
        }
        ModelErrorKind::Unauthorised
        | ModelErrorKind::OutOfQuota
        | ModelErrorKind::BadRequest { .. }
        | ModelErrorKind::Client { .. }
        | ModelErrorKind::Replay { .. } => (FallbackTrigger::Refused, true),
    }
}
