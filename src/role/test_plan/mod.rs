//! Phases 2 to 4 of a test session: explores the repository, derives requirements and plans tasks
//! (specification.md 3.1, 4.3 to 4.6). No test is written or run here.

mod code_requirements;
mod context_package;
mod coverage;
mod external_calls;
mod framework;
mod gather;
mod measure_coverage;
mod planner;
mod project;
mod requirement_text;
mod requirements;
mod responses;
mod survey;
mod survey_question;
mod validate_survey;

pub use coverage::ExecutedLines;
pub(super) use framework::run_specific;
#[cfg(test)]
use gather::Gathered;
pub use gather::{GatherError, GatherRequest, gather};
pub use measure_coverage::{CoverageOutcome, measure_coverage};
pub use planner::plan;
pub use requirements::analyse;
#[cfg(any(test, feature = "internals"))]
pub use responses::SurveyResponse;
pub use survey::Survey;
pub use survey_question::{SurveyOutcome, consult};

/// The size of a plan, as the benchmarks report it.
#[cfg(feature = "internals")]
pub struct PlanSize {
    pub files: usize,
    pub requirements: u32,
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
    let named = crate::code::description_match::find(description, &survey.known);
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
    let source = crate::domain::test_plan::context::CoverageSource::Mapping {
        reason: "no test is run".into(),
    };
    let target = crate::domain::coverage::CoverageTarget::default();
    let ran = ExecutedLines { source, ..ExecutedLines::default() };
    let request = GatherRequest {
        session,
        description,
        source: None,
        report: None,
        measure: false,
        now: "",
        target,
    };
    let found = gather::assemble(&request, &named, ran, &facts, &survey);
    let analysis = analyse(session, description, &found.package, &survey, &found.ran, "");
    let (files, requirements) = (analysis.files.len(), analysis.total());
    let plan = plan(analysis, &found.package, 10);
    PlanSize { files, requirements, tasks: plan.tasks.len() }
}

#[cfg(test)]
mod tests;
