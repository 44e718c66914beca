//! Who is asked in phases 3 to 5 of a test session, and the books of what that took.

use futures::lock::Mutex;

use crate::domain::id::SessionId;
use crate::domain::provider::ClientMode;
use crate::domain::test_plan::usage_log::{INQUIRIES, UsageLog, UsageLogEntry};
use crate::effect::{EffectError, Effects, Model, StoreError};

use super::ChainEntry;
use super::ask::{Ask, AskSettings, Asker, Reader, Reply, models_of};
use super::prompt::Role;
use super::usage_key::UsageKey;

/// Providers of a test session with its books. One panel serves all questions of a run, so that a
/// provider that is down is not asked again and again.
pub struct ProviderChain {
    asker: Asker,
    chain: Vec<ChainEntry>,
    books: Mutex<UsageLog>,
    settings: AskSettings,
}

impl ProviderChain {
    /// Opens the books of a session; what an earlier run was charged counts too.
    ///
    /// # Errors
    ///
    /// When session files cannot be read.
    pub async fn open(
        session: &SessionId,
        chain: Vec<ChainEntry>,
        ask: AskSettings,
        fx: &Effects<'_>,
    ) -> Result<Self, StoreError> {
        let mut books = books(session, fx).await?.unwrap_or_else(|| UsageLog::new(session.clone()));
        let asker = Asker::new(ask.clone());
        if let Some((work, calls)) = asker.left_open(false, fx).await? {
            for call in calls {
                // It is open until the next question is asked, and counted once.
                let known =
                    |one: &UsageLogEntry| one.call.raw == call.raw && one.call.said == call.said;
                if !books.calls.iter().any(known) {
                    books.note(&work, &[call]);
                }
            }
            let value = serde_json::to_value(&books).unwrap_or_default();
            fx.store.write_json(INQUIRIES, &value).await?;
        }
        Ok(Self { asker, chain, books: Mutex::new(books), settings: ask })
    }

    /// Whether somebody who can be asked in this role stands before the embedded engine: then they
    /// are asked first.
    #[must_use]
    pub fn leads(&self, role: Role, fx: &Effects<'_>) -> bool {
        self.chain.first() != Some(&ChainEntry::Embedded) && !self.models(role, fx).is_empty()
    }

    /// Whether the embedded engine may write tests.
    #[must_use]
    pub fn has_embedded(&self) -> bool {
        self.chain.contains(&ChainEntry::Embedded)
    }

    /// The word around foreign text.
    #[must_use]
    pub fn fence(&self) -> &str {
        self.asker.fence()
    }

    /// Least confidence of an answer that is good.
    #[must_use]
    pub fn min_confidence(&self) -> f64 {
        self.asker.rules().min_confidence
    }

    /// A foreign text without keys.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.settings.redactor.redact(text)
    }

    /// Who is asked in a role. A client that edits a checkout writes tests into one; what has to be
    /// said in words is asked of those who answer with text. Without any of those such a client
    /// judges too, in an empty folder: a defect that its tests found would be lost otherwise.
    #[must_use]
    pub fn models<'m>(&self, role: Role, fx: &Effects<'m>) -> Vec<(u32, &'m dyn Model)> {
        if role == Role::Generator {
            return models_of(&self.chain, fx, |_| true);
        }
        let answering = models_of(&self.chain, fx, |manner| manner == ClientMode::Answer);
        if answering.is_empty() && role == Role::Judge {
            return models_of(&self.chain, fx, |_| true);
        }
        answering
    }

    /// Asks down the chain. `work` is what the budget of one task is counted for, `name` names the
    /// question in the records.
    ///
    /// # Errors
    ///
    /// When records cannot be written or sources not be read; never for a provider's fault.
    pub async fn ask<T: Clone + Send + Sync>(
        &self,
        (work, name): (&str, &str),
        role: Role,
        reader: &dyn Reader<T>,
        fx: &Effects<'_>,
    ) -> Result<Reply<T>, EffectError> {
        let models = self.models(role, fx);
        let mut books = self.books.lock().await;
        let account = UsageKey {
            id: format!("{}/{name}", books.session_id),
            work: work.to_owned(),
            iteration: 0,
            raw: format!(".process/{name}-cli-output"),
            session: books.spent(),
            here: books.spent_on(work),
            counted: books.counted(),
            before: 0,
        };
        let mut calls = Vec::new();
        let round = Ask { account: &account, role, models: &models, careful: false };
        let reply = self.asker.ask(&round, reader, &mut calls, fx).await;
        books.note(work, &calls);
        let value = serde_json::to_value(&*books).unwrap_or_default();
        fx.store.write_json(INQUIRIES, &value).await?;
        reply
    }

    /// Whether the last question failed because a provider took too long (product.md 3.1 phase 3).
    pub async fn timed_out(&self) -> bool {
        let books = self.books.lock().await;
        let last = books.calls.last().and_then(|one| one.call.trigger);
        last == Some(crate::domain::chain::FallbackTrigger::TimedOut)
    }
}

/// The books of a session; `None` when nobody was asked, or they belong to another session.
///
/// # Errors
///
/// When session files cannot be read.
pub async fn books(session: &SessionId, fx: &Effects<'_>) -> Result<Option<UsageLog>, StoreError> {
    let value = match fx.store.read_json(INQUIRIES).await {
        Ok(value) => value,
        Err(StoreError::Corrupt { .. }) => None,
        Err(error) => return Err(error),
    };
    let books = value.and_then(|value| serde_json::from_value::<UsageLog>(value).ok());
    Ok(books.filter(|books| books.session_id == *session))
}
