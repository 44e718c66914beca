//! Phases 2 to 4 of a test session: what is there, what must be tested, by which tasks
//! (product.md 3.1, 4.3 to 4.6). No code is written here and no test is judged.

mod advice;
mod consult;
mod coverage;
mod covered;
mod documents;
mod explorer;
mod framework;
mod gather;
mod packages;
mod parts;
mod planner;
mod project;
mod requirements;
mod sentence;
mod survey;
mod told;

#[cfg(any(test, feature = "internals"))]
pub use advice::ToldAdvice;
pub use consult::{Advised, Consulted, advise, consult};
pub use coverage::Ran;
pub use covered::{Covered, covered};
pub use documents::Documents;
pub(super) use framework::run_specific;
#[cfg(test)]
use gather::Gathered;
pub use gather::{GatherError, Request, gather};
pub use planner::plan;
pub use requirements::analyse;
pub use survey::Survey;
#[cfg(any(test, feature = "internals"))]
pub use told::ToldSurvey;

/// Phases 2 to 4 on texts, without git and without a run of the suite; for the benches. Files that
/// are worked on, requirements, tasks.
#[cfg(feature = "internals")]
#[must_use]
pub fn rehearse(
    texts: std::collections::BTreeMap<crate::domain::id::RepoPath, String>,
    description: &str,
    session: &crate::domain::id::SessionId,
) -> (usize, u32, usize) {
    let survey = Survey::of(texts.keys().cloned().collect(), texts);
    let named = crate::code::names::find(description, &survey.known);
    let facts = crate::effect::SuiteFacts {
        framework: crate::domain::framework::Framework::Pytest,
        version: String::new(),
        directory: String::new(),
        command: "python3 -m pytest".into(),
        format: String::new(),
        languages: Vec::new(),
        evidence: Vec::new(),
    };
    let source = crate::domain::test_plan::context::CoverageSource::Mapping {
        reason: "no test is run".into(),
    };
    let target = crate::domain::coverage::CoverageTarget::default();
    let ran = Ran { source, ..Ran::default() };
    let request = Request {
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
    (files, requirements, plan.tasks.len())
}

#[cfg(test)]
mod tests;
