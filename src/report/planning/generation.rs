//! Renders the result of phase 5: summaries of tasks and gates, and the end of the session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::characterisation_report::LineCounts;
use crate::domain::coverage::CoverageResult;
use crate::domain::quality::{QualityDecision, Stage};
use crate::domain::test_plan::generation::{GateResult, Generation, TaskTests};
use crate::domain::test_plan::task::TestTask;
use crate::domain::text::count;
use crate::report::markdown::{cell, code, line};
use crate::report::{characterisation, coverage, mutation};

use super::{ROWS, prose, table};

/// Entries of each kind that a terminal shows.
const SHOWN: usize = 8;

/// `.summaries/IMPL-001-summary.md` of a task that wrote tests (specification.md 9.2).
pub fn made(task: &TestTask, made: &TaskTests) -> String {
    let report = &made.report;
    let mut page = format!(
        "# {}: {}\n\n{}; lines reached: {} before, {} after.\n",
        task.id,
        prose(&task.title),
        characterisation::headline(report),
        characterisation::reached(report.before),
        characterisation::reached(report.after)
    );
    for one in report.unfinished.iter().take(ROWS) {
        page.push_str(&format!("The time limit was reached: {}.\n", prose(one)));
    }
    if made.rounds > 1 {
        let again = count(made.rounds - 1, "more round");
        page.push_str(&format!("Survivors were given back in {again}.\n"));
    }
    page.push_str(&table(
        "\n## Files\n\n| Tests of | File | Tests | Assertions |\n|---|---|--:|--:|\n",
        report.files.iter().map(|file| {
            let (subject, path) = (cell(file.subject.as_str()), cell(file.file.as_str()));
            [subject, path, file.tests.len().to_string(), file.assertions.to_string()]
        }),
    ));
    if !made.requirements.is_empty() {
        let shown = made.requirements.iter().filter(|one| one.open.is_none()).count();
        let all = made.requirements.len();
        page.push_str(&format!("\n## Requirements\n\n{shown} of {all} shown.\n"));
    }
    page.push_str(&table(
        "\n| Open | Layer | What | Why |\n|---|---|---|---|\n",
        made.requirements.iter().filter_map(|one| {
            let why = cell(one.open.as_deref()?);
            Some([cell(&one.id), one.layer.to_string(), cell(&one.text), why])
        }),
    ));
    let left: Vec<_> = report.functions.iter().filter(|one| one.assertions == 0).collect();
    if !left.is_empty() {
        page.push_str("\n## Functions without tests\n\n");
    }
    for one in left.iter().take(ROWS) {
        page.push_str(&format!(
            "- {}: {}\n",
            code(&format!("{}:{} {}", one.file, one.line, one.name)),
            prose(&characterisation::reasons(&one.dropped))
        ));
    }
    let findings = || made.written.iter().flat_map(|one| &one.findings);
    if findings().next().is_some() {
        page.push_str("\n## Findings\n\nThese tests fail, and the code is wrong: they go to the fix loop.\n\n");
    }
    for one in findings().take(ROWS) {
        page.push_str(&format!(
            "- {} in {}: {} Said by {}: {}\n",
            code(one.test.as_str()),
            code(&format!("{}:{} {}", one.subject, one.line, one.function)),
            prose(&one.message),
            code(&one.judge),
            prose(&one.evidence)
        ));
    }
    if !report.dropped.is_empty() {
        page.push_str("\n## Tests that were dropped\n\n");
    }
    for one in report.dropped.iter().take(ROWS) {
        page.push_str(&format!("- {}: {}\n", one.count, prose(&one.reason)));
    }
    page
}

/// `.summaries/IMPL-001.3-summary.md` and `.summaries/IMPL-001.5-summary.md`.
pub fn judged(id: &str, judgement: Option<&GateResult>, production: &Generation) -> String {
    let Some(judgement) = judgement else { return format!("# {id}: not judged yet\n") };
    let mut page = format!(
        "# {id}: {}\n\n{}.\n\n- {}\n- {} made\n- tried again {}\n",
        judgement.decision,
        prose(&judgement.reason),
        count(production.files().len(), "file of tests"),
        count(judgement.repairs, "safe repair"),
        count(judgement.retries, "time"),
    );
    for one in &production.dropped {
        page.push_str(&format!("- dropped {}: {}\n", code(one.file.as_str()), prose(&one.reason)));
    }
    page
}

/// The mutation section of `test-quality-report.md`.
pub fn score(production: &Generation) -> String {
    let Some(score) = production.scored() else {
        return "\n## Mutation score\n\nNo test was kept, so none was tried on broken code.\n"
            .into();
    };
    format!("\n{}", mutation::markdown(&score))
}

/// Sums up phase 5 in one line.
pub fn written(production: &Generation) -> String {
    let totals = production.totals();
    let findings = match production.findings().len() {
        0 => String::new(),
        number => format!(", {} of the code", count(number, "finding")),
    };
    format!(
        "{} in {}, {} of {} requirements shown{findings}",
        count(totals.tests, "test"),
        count(totals.files, "file"),
        totals.shown,
        totals.requirements
    )
}

/// Sums up phase 5 with the gates that are not met, for every output.
pub fn headline(production: &Generation) -> String {
    let mut text = format!("written before the first run: {}", written(production));
    for (name, gate) in gates(production).filter(|(_, gate)| gate.decision != QualityDecision::Pass)
    {
        text.push_str(&format!("; the {name} is not met: {}", line(&gate.reason, 200)));
    }
    text
}

/// The gates that have decided, with their names.
fn gates(production: &Generation) -> impl Iterator<Item = (&'static str, &GateResult)> {
    let gates = [(Stage::Code, &production.validation), (Stage::Tests, &production.review)];
    gates.into_iter().filter_map(|(stage, gate)| Some((stage.gate(), gate.as_ref()?)))
}

/// Phase 5 for a terminal. Foreign text is shortened and free of control characters.
pub fn produced(production: &Generation) -> String {
    let totals = production.totals();
    let mut text = format!("\ntests       {}\n", written(production));
    for (file, subject) in production.files().iter().take(SHOWN) {
        text.push_str(&format!(
            "            {} of {}\n",
            line(file.as_str(), 100),
            line(subject.as_str(), 100)
        ));
    }
    text.push_str(&format!(
        "lines       {} before, {} after\n",
        characterisation::reached(totals.before),
        characterisation::reached(totals.after)
    ));
    if let Some(reached) = &production.coverage {
        text.push_str(&format!("coverage    {}\n", coverage::describe(reached)));
    }
    if let Some(score) = &totals.score {
        text.push_str(&format!("score       {}\n", mutation::headline(score)));
    }
    let flaky = match totals.flaky {
        0 => "none".to_owned(),
        number => format!("{}, not kept", count(number, "new test")),
    };
    text.push_str(&format!("flaky       {flaky}\n"));
    for (name, gate) in gates(production) {
        let reason = line(&gate.reason, 200);
        text.push_str(&format!("{name:<12}{}: {reason}\n", gate.decision));
    }
    let unfinished = production.tasks.iter().flat_map(|made| &made.report.unfinished);
    for one in unfinished.take(SHOWN) {
        text.push_str(&format!("not done    {}: the time limit was reached\n", line(one, 200)));
    }
    for one in production.findings().into_iter().take(SHOWN) {
        text.push_str(&format!(
            "finding     {}:{} {}: {}\n",
            line(one.subject.as_str(), 80),
            one.line,
            line(&one.function, 60),
            line(&one.message, 160)
        ));
    }
    for one in production.dropped.iter().take(SHOWN) {
        text.push_str(&format!(
            "dropped     {}: {}\n",
            line(one.file.as_str(), 100),
            line(&one.reason, 160)
        ));
    }
    let requirements = || production.tasks.iter().flat_map(|made| &made.requirements);
    let open = || requirements().filter_map(|one| Some((one, one.open.as_deref()?)));
    for (one, why) in open().take(SHOWN) {
        text.push_str(&format!(
            "open        {} {} {}: {}\n",
            one.id,
            one.layer,
            line(&one.text, 100),
            line(why, 120)
        ));
    }
    let more = open().count().saturating_sub(SHOWN);
    if more > 0 {
        text.push_str(&format!("            and {more} more in the summaries\n"));
    }
    text
}

/// Phase 5 in the JSON document of `regreen test --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ProducedDocument {
    /// Number of tests that are kept.
    pub tests: usize,
    /// The files that contain them.
    pub files: Vec<String>,
    /// Lines of the files with gaps that the tests reached before.
    pub coverage_before: LineCounts,
    /// Lines of the same files that are reached with the new tests.
    pub coverage_after: LineCounts,
    /// Coverage of the requested functions, before and after.
    #[serde(default)]
    pub coverage: Option<CoverageResult>,
    /// Percentage of tried mutants that the tests noticed, cut to one decimal.
    pub mutation_score: Option<String>,
    /// New tests whose result changed between runs; none of them is kept.
    pub flaky: usize,
    /// Files that a gate dropped, with the reason.
    pub dropped: Vec<Reasoned>,
    /// Tests that fail because the code is wrong, with the evidence.
    #[serde(default)]
    pub findings: Vec<Reasoned>,
    /// Provider of each file; files that are not listed were written by the embedded engine.
    #[serde(default)]
    pub authors: std::collections::BTreeMap<String, String>,
    /// Answers and tests of providers that were discarded, with the reason.
    #[serde(default)]
    pub given_up: Vec<String>,
    /// Number of requirements that the tests verify.
    pub shown: usize,
    /// Requirements that stay open, with the reason.
    pub open: Vec<Reasoned>,
    /// Decision of the code check.
    pub validation: Option<String>,
    /// Decision of the test review.
    pub review: Option<String>,
    /// Whether both gates are met.
    pub gates_met: bool,
    /// The commit that holds the tests.
    pub commit: Option<String>,
}

/// An item and its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Reasoned {
    /// What was left out.
    pub what: String,
    /// Why it was left out.
    pub reason: String,
}

/// Phase 5 as a JSON document.
pub fn produced_document(production: &Generation) -> ProducedDocument {
    let totals = production.totals();
    let describe = |gate: &Option<GateResult>| {
        gate.as_ref().map(|judgement| format!("{}: {}", judgement.decision, judgement.reason))
    };
    let requirements = production.tasks.iter().flat_map(|made| &made.requirements);
    let written = || production.tasks.iter().flat_map(|made| &made.written);
    ProducedDocument {
        tests: totals.tests,
        files: production.files().into_iter().map(|(file, _)| file.to_string()).collect(),
        coverage_before: totals.before,
        coverage_after: totals.after,
        coverage: production.coverage.clone(),
        mutation_score: totals
            .score
            .as_ref()
            .and_then(crate::domain::mutation::Score::per_mille)
            .map(|share| share.to_string()),
        flaky: totals.flaky,
        dropped: production
            .dropped
            .iter()
            .map(|one| Reasoned { what: one.file.to_string(), reason: one.reason.clone() })
            .collect(),
        findings: production
            .findings()
            .into_iter()
            .map(|one| Reasoned {
                what: format!("{} in {}:{} {}", one.test, one.subject, one.line, one.function),
                reason: one.evidence.clone(),
            })
            .collect(),
        authors: written()
            .filter_map(|one| Some((one.file.as_ref()?.to_string(), one.author.clone())))
            .collect(),
        given_up: written().flat_map(|one| one.dropped.clone()).collect(),
        shown: totals.shown,
        open: requirements
            .filter_map(|one| {
                let what = format!("{} {} {}", one.id, one.layer, one.text);
                Some(Reasoned { what, reason: one.open.clone()? })
            })
            .collect(),
        validation: describe(&production.validation),
        review: describe(&production.review),
        gates_met: production.is_met(),
        commit: production.commit.as_ref().map(ToString::to_string),
    }
}
