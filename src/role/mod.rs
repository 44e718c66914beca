//! The roles that models and the embedded engine play, each mapping a typed request to a typed
//! answer: diagnosing, proposing and vetting edits, planning and writing tests.
//!
//! A role does not decide how the loop continues; that is up to `cycle`.

mod analyst;
mod answer;
mod ask;
mod attempt_history;
mod characterise;
mod code_answer;
mod contradictions;
mod embedded;
mod excerpt;
mod existing_tests;
mod failing_set_up;
mod fixer;
mod hindrances;
mod impact;
pub mod integration;
mod minimise;
mod missing_installation;
mod missing_resource;
mod new_files;
mod new_test_review;
mod project_docs;
mod prompt;
mod prompt_budget;
mod prompt_context;
mod requirement_lines;
mod responses;
mod static_review;
mod test_files;
mod test_path;
pub mod test_plan;
mod test_writer;
#[cfg(test)]
mod tests;
pub mod vet;

pub use ask::exchange_log::{UncountedCalls, find_uncounted};
pub use ask::{AskSettings, Budgeted, ChainEntry, ProviderChain, stored_usage_log};
pub use characterise::{
    Gap, GenerateRequest, Generated, Missed, Place, characterise, generate, measure, rescore,
    suspects,
};
pub use existing_tests::{existing_tests, has_test_files, run_existing};
pub use fixer::{Fixer, FixerSettings, StepInput};
pub use hindrances::hindrances;
pub use impact::Impact;
pub use minimise::minimise;
pub use new_test_review::{InspectRequest, inspect};
pub use project_docs::Documents;
pub use prompt::{PromptPart, Role};
#[cfg(any(test, feature = "internals"))]
pub use responses::{AnalysisResponse, EditsResponse};
pub use static_review::{
    ReviewRequest, ReviewResult, add_findings, is_reviewable, review, tool_findings,
    unchecked_languages,
};
#[cfg(test)]
pub use test_writer::{GenerateResponse, JudgeResponse};
pub use test_writer::{SourceIndex, WriteOutcome, WriteRequest, read_task_steps, write_tests};

pub use crate::repair::{Limits, Scoring, Trial, is_subject, score, suite_lines};

/// Parsers of model answers, to be fuzzed with arbitrary text.
#[cfg(any(test, feature = "internals"))]
pub const READERS: &[crate::domain::Reader] = &[
    ("analysis", |text| {
        if let Ok(response) = answer::parse::<AnalysisResponse>(text, "IMPL-fix-1") {
            drop(responses::parse_points(&response, &|_| Some("def f():\n    return 1\n")));
        }
    }),
    ("edits", |text| {
        if let Ok(response) = code_answer::parse::<EditsResponse>(text, "IMPL-fix-1") {
            let source = "def add(a, b):\n    return a - b\n";
            drop(responses::edit_set(&response, &|_| Some(source.to_owned())));
        }
    }),
    ("test-survey", |text| {
        drop(answer::parse::<test_plan::SurveyResponse>(text, "analysis-1"));
    }),
    ("test-design", |text| {
        drop(answer::parse::<integration::DesignResponse>(text, "design-1"));
    }),
    ("test-files", test_writer::read_generated),
    ("verdicts", test_writer::read_verdicts),
];
