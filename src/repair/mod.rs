//! Repair by search over syntax trees, without a model or network: fault localisation, candidate
//! edits, mutation testing and characterisation tests.
//!
//! It proposes; it does not commit, judge an iteration, or touch a checkout.

mod characterise;
mod clues;
mod edit_traits;
mod engine;
mod explain;
mod left_alone;
mod localise;
mod misspelt_text;
mod score;
mod search_settings;
mod spectrum;
mod stream;
mod test_progress;
mod test_sources;
mod unknown_name;

pub use characterise::{
    Case, Contribution, Draft, DraftTest, FileTask, InputComparison, MANY, Naming,
    ObservedFunction, ProjectLayout, TestStyle, answered_code, boundary_pairs, can_render,
    characterise, choose_cover, client_imports, compared_functions, counts_rounds, gives_unmeant,
    imports_from, is_edge, is_garbled, is_of_other_runner, is_subject, list_bindings, list_imports,
    locate_test_file, module_of, named_parts, rank_case, render, shown_code,
};
pub use edit_traits::{fingerprint, size, special_case, suspicion};
pub use engine::{SearchOutcome, has_candidates, search};
pub use explain::{budget, explain, suspicious_places, unlocated};
pub use localise::{Diagnosis, diagnose};
pub use score::{Ranges, Scoring, reach, score, suite_lines};
pub use search_settings::{Limits, Search, Trial};
pub use test_sources::{test_literals, test_sources};
