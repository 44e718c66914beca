//! Phases 2 to 4 of a test session: explores the repository, derives requirements and plans tasks
//! (specification.md 3.1, 4.3 to 4.6). No test is written or run here.

mod code_requirements;
mod coverage;
mod gather;
mod measure_coverage;
mod planner;
mod project;
mod requirements;
mod stated_requirements;
mod survey;
mod survey_question;

#[cfg(test)]
use coverage::CoverageSource;
pub use coverage::ExecutedLines;
#[cfg(test)]
use gather::Gathered;
pub use gather::{GatherError, GatherRequest, gather};
pub use measure_coverage::{CoverageOutcome, measure_coverage};
pub use planner::plan_tasks;
pub use requirements::derive_requirements;
pub use survey::Survey;
#[cfg(any(test, feature = "internals"))]
pub use survey_question::SurveyResponse;
pub use survey_question::{SurveyOutcome, consult, one_line, unknown_call, words_near};

/// The size of a plan, as the benchmarks report it.
#[cfg(feature = "internals")]
pub struct PlanSize {
    pub files: usize,
    pub requirements: usize,
    pub tasks: usize,
}

/// Runs phases 2 to 4 on texts, without git and without running the suite; for the benchmarks.
#[cfg(feature = "internals")]
#[must_use]
pub fn plan_without_io(
    texts: std::collections::BTreeMap<crate::domain::id::RepoPath, String>,
    description: &str,
    session: &crate::domain::id::SessionId,
) -> PlanSize {
    let survey = Survey::of(texts.keys().cloned().collect(), texts);
    let named = survey.find_described(description);
    let facts = crate::effect::SuiteFacts {
        framework: crate::domain::framework::Framework::Pytest,
        version: String::new(),
        directory: String::new(),
        command: "python3 -m pytest".into(),
        format: String::new(),
        languages: Vec::new(),
        evidence: Vec::new(),
        not_run: Vec::new(),
    };
    let target = crate::domain::coverage::CoverageTarget::default();
    let ran = ExecutedLines::default();
    let request = GatherRequest {
        session,
        description,
        source: None,
        report: None,
        unmeasured: Some(""),
        target,
    };
    let mut plan = gather::assemble(&request, &named, ran.clone(), &facts, &survey).plan;
    derive_requirements(&mut plan, &survey, &ran);
    plan_tasks(&mut plan, 10);
    PlanSize {
        files: plan.files.len(),
        requirements: plan.requirement_count(),
        tasks: plan.tasks.len(),
    }
}

#[cfg(test)]
mod tests;
