//! Asks one question along the provider chain: the order of providers, retries, budget, stored
//! answers, and when an answer is good enough (specification.md 7.11).

mod asker;
mod budget;
mod calls;
mod chain;
mod conversation;
pub mod exchange_log;
mod provider_chain;
mod reader;
mod retry;
#[cfg(test)]
pub mod tests;
mod usage_key;

pub use asker::{Ask, Asker};
pub use chain::{AskSettings, ChainEntry, Slot, models_of};
pub use provider_chain::{ProviderChain, stored_usage_log};
pub use reader::{Answered, Budgeted, Reader, Reading, Reply};
pub use usage_key::UsageKey;
