//! The work: typed request to typed answer. Diagnoses, proposes, vets, selects tests.
//!
//! It runs no step of the loop by itself and decides nothing about how the loop goes on.

mod account;
mod analyst;
mod answer;
mod ask;
mod author;
mod context;
mod embedded;
mod fixer;
pub mod generation;
mod generator;
mod impact;
mod inspector;
mod minimise;
mod panel;
mod prompt;
mod receipt;
mod reviewer;
pub mod vet;

pub use answer::{Analysis, Edits};
pub use ask::AskSettings;
pub use author::{Came, Commission, Desk, author};
#[cfg(test)]
pub use author::{TestFiles, Verdicts};
pub use fixer::{Fixer, FixerSettings, Link};
pub use generator::{
    Gap, GenerateRequest, Generated, Missed, Place, generate, measure, pin, suspects,
};
pub use impact::Impact;
pub use inspector::{Sheets, inspect, rescore};
pub use minimise::minimise;
pub use panel::{Panel, books};
pub use prompt::Role;
#[cfg(test)]
pub use receipt::{Receipt, UnderWay};
pub use reviewer::{Review, Reviewed, add, reads, review, told};

pub use crate::repair::{Limits, Scoring, is_subject, score};

/// What models say, as readers of foreign text.
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
    ("test-survey", |text| drop(answer::read::<generation::ToldSurvey>(text, "analysis-1"))),
    ("test-advice", |text| drop(answer::read::<generation::ToldAdvice>(text, "enrichment"))),
    ("test-files", author::refused),
    ("verdicts", author::ruled),
];
