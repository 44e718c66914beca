//! Domain types and pure decisions: no I/O, no async, no clock, no randomness.
//!
//! A decision gets everything that it depends on as arguments, and returns its reason. This module
//! depends on no other module of the crate.

#[macro_use]
mod stored_name;

pub mod agent_files;
pub mod archive;
pub mod assertion;
pub mod budget;
pub mod chain;
pub mod characterisation_report;
pub mod check;
pub mod checkout_gap;
pub mod command;
pub mod commit;
pub mod coverage;
pub mod criticality;
pub mod declared;
pub mod environment;
mod escaped_secret;
pub mod event;
pub mod expected_failure;
pub mod explanation;
pub mod failure;
pub mod fix_loop;
pub mod fix_plan;
pub mod framework;
pub mod gate;
pub mod guard;
pub mod hindrance;
pub mod id;
pub mod integration;
pub mod known_failure;
pub mod language;
pub mod latest_results;
pub mod memory;
pub mod missing_package;
pub mod mutation;
pub mod plan_scope;
pub mod progress;
pub mod proposal;
pub mod provider;
pub mod quality;
pub mod rate;
pub mod request;
pub mod retry;
pub mod secret;
pub mod session;
pub mod shell;
pub mod similarity;
pub mod source_text;
pub mod strategy;
pub mod task;
pub mod test;
pub mod test_command;
pub mod test_plan;
pub mod test_scripts;
pub mod text;
pub mod threshold;
mod token_shape;

/// A named parser of untrusted text: it may reject any text, but must not panic on any.
#[cfg(any(test, feature = "internals"))]
pub type Reader = (&'static str, fn(&str));
