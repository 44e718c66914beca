//! The work: typed request to typed answer. Diagnoses, proposes, vets, selects tests.
//!
//! It runs no step of the loop by itself and decides nothing about how the loop goes on.

mod analyst;
mod answer;
mod ask;
mod characterise;
mod context;
mod embedded;
mod exchange_log;
mod fixer;
mod impact;
mod inspector;
mod minimise;
mod prompt;
mod provider_chain;
mod reviewer;
pub mod test_plan;
mod test_writer;
mod usage_key;
pub mod vet;

#[cfg(any(test, feature = "internals"))]
pub use answer::{Analysis, Edits};
pub use ask::AskSettings;
pub use characterise::{
    Gap, GenerateRequest, Generated, Missed, Place, characterise, generate, measure, suspects,
};
#[cfg(test)]
pub use exchange_log::{Receipt, UnderWay};
pub use fixer::{ChainEntry, Fixer, FixerSettings};
pub use impact::Impact;
pub use inspector::{InspectRequest, inspect, rescore};
pub use minimise::minimise;
pub use prompt::Role;
pub use provider_chain::{ProviderChain, books};
pub use reviewer::{
    ReviewRequest, ReviewResult, add_findings, is_reviewable, review, tool_findings,
    unchecked_names,
};
pub use test_writer::{Desk, WriteOutcome, WriteRequest, author};
#[cfg(test)]
pub use test_writer::{TestFiles, Verdicts};

pub use crate::repair::{Limits, Scoring, is_subject, score};

/// What models say, as readers of foreign text.
#[cfg(any(test, feature = "internals"))]
pub const READERS: &[crate::domain::Reader] = &[
    ("analysis", |text| {
        if let Ok(told) = answer::read::<Analysis>(text, "IMPL-fix-1") {
            drop(answer::points(&told, &|_| Some(40)));
        }
    }),
    ("edits", |text| {
        if let Ok(told) = answer::read::<Edits>(text, "IMPL-fix-1") {
            let source = "def add(a, b):\n    return a - b\n";
            drop(answer::edit_set(&told, &|_| Some(source.to_owned())));
        }
    }),
    ("test-survey", |text| drop(answer::read::<test_plan::ToldSurvey>(text, "analysis-1"))),
    ("test-advice", |text| drop(answer::read::<test_plan::ToldAdvice>(text, "enrichment"))),
    ("test-files", test_writer::refused),
    ("verdicts", test_writer::ruled),
];
