//! The order in which providers and the embedded engine are used.

use crate::domain::provider::ClientMode;
use crate::effect::{Effects, Model};

/// One entry of the provider chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainEntry {
    /// The embedded engine.
    Embedded,
    /// A provider, by its name among the models of the effects.
    Provider(String),
}

/// A model with its position in the chain, counted from 1.
pub type Slot<'m> = (u32, &'m dyn Model);

/// The models of a chain whose mode `accepts`, in the order of the chain.
#[must_use]
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
                .find(|model| model.name() == name && accepts(model.manner()))
                .map(|model| (slot, model.as_ref())),
        })
        .collect()
}
