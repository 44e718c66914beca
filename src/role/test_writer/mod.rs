//! Tests written by providers: generated file by file, vetted, run at once, judged when they fail,
//! and reduced to the stable ones (specification.md 3.1 phase 5, 4.7).
//!
//! Choosing tasks is up to the caller; no state is kept between files.

mod crossing;
mod draft_review;
mod reader;
mod refusals;
mod request;
mod responses;
mod run_file;
mod source_index;
mod stability;
mod task_steps;
mod unknown_java_packages;
mod verdicts;
mod write;

pub use request::{WriteOutcome, WriteRequest};
#[cfg(any(test, feature = "internals"))]
pub use responses::{GenerateResponse, JudgeResponse};
pub use source_index::SourceIndex;
pub use task_steps::read_task_steps;
pub use write::write_tests;

#[cfg(any(test, feature = "internals"))]
use crate::domain::framework::Framework;
#[cfg(any(test, feature = "internals"))]
use crate::domain::id::RepoPath;
#[cfg(any(test, feature = "internals"))]
use crate::role::{answer, code_answer};

#[cfg(any(test, feature = "internals"))]
/// Parses a generator's answer and validates it; for the fuzzer.
pub fn read_generated(text: &str) {
    if let (Ok(response), Ok(path)) = (
        code_answer::parse::<GenerateResponse>(text, "IMPL-001-1"),
        RepoPath::parse("tests/test_a.py"),
    ) {
        let texts = std::collections::BTreeMap::new();
        drop(refusals::accepted_text(&response, &path, &texts, Framework::Command));
    }
}

#[cfg(any(test, feature = "internals"))]
/// Parses a judge's answer and validates its verdicts; for the fuzzer.
pub fn read_verdicts(text: &str) {
    if let Ok(response) = answer::parse::<JudgeResponse>(text, "IMPL-001-1-verdict") {
        for verdict in &response.verdicts {
            drop(verdicts::check_verdict(verdict, &[], 40));
        }
    }
}
