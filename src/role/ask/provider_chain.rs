//! [`ProviderChain`]: the providers for phases 3 to 5 of a test session, with their usage log.

use futures::lock::Mutex;

use crate::domain::chain::FallbackTrigger;
use crate::domain::event::Event;
use crate::domain::id::SessionId;
use crate::domain::provider::ClientMode;
use crate::domain::test_plan::usage_log::{USAGE_LOG, UsageLog};
use crate::effect::{EffectError, Effects, StoreError, read_as, read_or_forget};

use crate::role::prompt::Role;

use super::asker::{Ask, Asker};
use super::chain::{AskEffects, AskSettings, ChainEntry, Slot, models_of};
use super::exchange_log::UncountedCalls;
use super::reader::{Reader, Reply};
use super::usage_key::UsageKey;

/// The providers of a test session, with its usage log. All questions of a run share one chain, so
/// that a provider found unavailable is not asked again.
pub struct ProviderChain {
    asker: Asker,
    chain: Vec<ChainEntry>,
    log: Mutex<UsageLog>,
    settings: AskSettings,
}

impl ProviderChain {
    /// Opens the usage log of a session; what earlier runs spent counts towards its limits.
    pub async fn open(
        session: &SessionId,
        chain: Vec<ChainEntry>,
        ask: AskSettings,
        fx: &Effects<'_>,
    ) -> Result<Self, StoreError> {
        let mut log = opened_usage_log(session, fx.into()).await?;
        let asker = Asker::new(ask.clone());
        if let Some(UncountedCalls { work, calls }) =
            asker.uncounted(false, log.spent().calls, fx.into()).await?
        {
            log.note(&work, &calls);
            store(&log, fx).await?;
        }
        Ok(Self { asker, chain, log: Mutex::new(log), settings: ask })
    }

    /// Whether the chain starts with a provider, and some provider can play this role.
    pub fn prefers_provider(&self, role: Role, fx: &Effects<'_>) -> bool {
        self.chain.first() != Some(&ChainEntry::Embedded) && !self.models(role, fx).is_empty()
    }

    /// Whether the embedded engine may write tests.
    pub fn has_embedded(&self) -> bool {
        self.chain.contains(&ChainEntry::Embedded)
    }

    /// The random word that delimits untrusted text in prompts.
    pub fn fence(&self) -> &str {
        self.asker.fence()
    }

    /// The minimum confidence of a good answer.
    pub fn min_confidence(&self) -> f64 {
        self.asker.rules().min_confidence
    }

    /// Replaces secrets in an untrusted text.
    pub fn redact(&self, text: &str) -> String {
        self.settings.redactor.redact(text).into()
    }

    /// The models that can play a role. Agents, which edit a checkout, only generate tests; the
    /// other roles need models that answer in text. If there are none, an agent also acts as judge,
    /// in an empty folder: otherwise, defects that its tests find would be lost.
    pub fn models<'m>(&self, role: Role, fx: &Effects<'m>) -> Vec<Slot<'m>> {
        if role == Role::Generator {
            return models_of(&self.chain, fx, |_| true);
        }
        let answering = models_of(&self.chain, fx, |mode| mode == ClientMode::Answer);
        if answering.is_empty() && role == Role::Judge {
            return models_of(&self.chain, fx, |_| true);
        }
        answering
    }

    /// Asks the providers in order for `work` under `name`; a failing one is no error.
    pub async fn ask<T: Send + Sync>(
        &self,
        (work, name): (&str, &str),
        role: Role,
        reader: &dyn Reader<T>,
        fx: &Effects<'_>,
    ) -> Result<Reply<T>, EffectError> {
        let models = self.models(role, fx);
        let mut log = self.log.lock().await;
        let usage = UsageKey {
            id: format!("{}/{name}", log.session_id),
            work: work.to_owned(),
            iteration: 0,
            raw: format!(".process/{name}-cli-output"),
            session: log.spent(),
            here: log.spent_on(work),
            before: 0,
        };
        let mut calls = Vec::new();
        let ask = Ask { usage: &usage, role, models: &models, careful: false };
        let reply = self.asker.ask(&ask, reader, &mut calls, fx.into()).await;
        log.note(work, &calls);
        store(&log, fx).await?;
        reply
    }

    /// Whether the last question failed because of a timeout (specification.md 3.1 phase 3).
    pub async fn timed_out(&self) -> bool {
        let log = self.log.lock().await;
        let last = log.calls.last().and_then(|entry| entry.call.trigger);
        last == Some(FallbackTrigger::TimedOut)
    }
}

/// The usage log that a run continues. An unreadable one is replaced, with a notice, because the
/// limits of the session then count from zero.
pub(super) async fn opened_usage_log(
    session: &SessionId,
    fx: AskEffects<'_>,
) -> Result<UsageLog, StoreError> {
    let log = match read_as::<UsageLog>(fx.store, USAGE_LOG).await {
        Err(error @ StoreError::Corrupt { .. }) => {
            let text = format!("what providers spent before this run is unknown: {error}");
            fx.screen.show(&Event::Notice { text });
            None
        }
        log => log?,
    };
    let own = log.filter(|log| log.session_id == *session);
    Ok(own.unwrap_or_else(|| UsageLog::new(session.clone())))
}

/// The usage log of a session; `None` without questions, or if it is unreadable or another's.
pub async fn stored_usage_log(
    session: &SessionId,
    fx: &Effects<'_>,
) -> Result<Option<UsageLog>, StoreError> {
    let log = read_or_forget::<UsageLog>(fx.store, USAGE_LOG).await?;
    Ok(log.filter(|log| log.session_id == *session))
}

async fn store(log: &UsageLog, fx: &Effects<'_>) -> Result<(), StoreError> {
    fx.store.write_json(USAGE_LOG, &serde_json::to_value(log).unwrap_or_default()).await
}
