//! [`ChainEntry`] and [`AskSettings`]: the order of providers, and the limits for asking them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::lock::Mutex;

use crate::domain::budget::SpendingLimits;
use crate::domain::chain::{Breaker, Rules};
use crate::domain::provider::ClientMode;
use crate::domain::secret::Redactor;
use crate::effect::{Clock, Effects, Model, Screen, Store};

/// One entry of the provider chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainEntry {
    Embedded,
    /// A provider, by its name among the configured models.
    Provider(String),
}

/// The settings of an asker.
#[derive(Clone, Debug)]
pub struct AskSettings {
    pub rules: Rules,
    pub session: SpendingLimits,
    pub iteration: SpendingLimits,
    /// The random word that delimits untrusted text in the prompts of this run.
    pub fence: String,
    /// Removes secrets from everything that is sent or stored.
    pub redactor: Redactor,
    pub limit: Duration,
    /// The providers that are not asked now; shared by everything that asks in a run.
    pub outages: Arc<Mutex<Outages>>,
}

/// The providers that are not asked now, and those of them that people know about.
#[derive(Clone, Debug, Default)]
pub struct Outages {
    pub breaker: Breaker,
    announced: BTreeSet<String>,
}

impl Outages {
    /// Why a provider is skipped, and whether this is the first time; `None` if it may be asked.
    pub fn skips(&mut self, provider: &str, now: Duration) -> Option<(String, bool)> {
        let why = self.breaker.open(provider, now);
        if why.is_none() {
            self.announced.remove(provider);
        }
        Some((why?, self.announced.insert(provider.to_owned())))
    }
}

/// The effects that asking needs.
#[derive(Clone, Copy)]
pub struct AskEffects<'a> {
    pub store: &'a dyn Store,
    pub clock: &'a dyn Clock,
    pub screen: &'a dyn Screen,
}

impl<'a> From<&Effects<'a>> for AskEffects<'a> {
    fn from(fx: &Effects<'a>) -> Self {
        Self { store: fx.store, clock: fx.clock, screen: fx.screen }
    }
}

/// A model with its position in the chain, from 1.
pub type Slot<'m> = (u32, &'m dyn Model);

/// The models of a chain whose mode `accepts` accepts, in order.
pub fn models_of<'m>(
    chain: &[ChainEntry],
    fx: &Effects<'m>,
    accepts: impl Fn(ClientMode) -> bool,
) -> Vec<Slot<'m>> {
    chain
        .iter()
        .zip(1..)
        .filter_map(|(entry, slot)| match entry {
            ChainEntry::Embedded => None,
            ChainEntry::Provider(name) => fx
                .models
                .iter()
                .find(|model| model.name() == name && accepts(model.mode()))
                .map(|model| (slot, model.as_ref())),
        })
        .collect()
}
