//! The result of phase 5 for JSON and in one line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::coverage::CoverageResult;
use crate::domain::quality::{QualityDecision, Stage};
use crate::domain::test_plan::generation::{GateResult, Generation};
use crate::domain::text::count;
use crate::report::markdown::line;
use crate::report::mutation;

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
    let work = production.written_work();
    let tests = match (totals.files, work.obstacle.as_str()) {
        (0, "") => "no test was written".to_owned(),
        (0, obstacle) => format!("no test was written ({obstacle})"),
        (files, _) => format!("{} in {}", count(totals.tests, "test"), count(files, "file")),
    };
    // None is decided where the session ends before.
    let shown = match totals.requirements {
        0 => String::new(),
        all => format!(", {} of {all} requirements shown", totals.shown),
    };
    format!("{tests}{shown}{findings}")
}

/// Sums up phase 5 with the gates that are not met, for every output.
pub fn headline(production: &Generation) -> String {
    let mut text = format!("written before the first run: {}", written(production));
    for (name, gate) in
        decided_gates(production).filter(|(_, gate)| gate.decision != QualityDecision::Pass)
    {
        text.push_str(&format!("; the {name} is not met: {}", line(&gate.reason, 200)));
    }
    let shortfall = production.describe_shortfall();
    if !shortfall.is_empty() {
        text.push_str(&format!("; not reached: {}", line(&shortfall, 300)));
    }
    text
}

/// The gates that have decided, with their names; none where there is nothing to judge.
pub(super) fn decided_gates(
    production: &Generation,
) -> impl Iterator<Item = (&'static str, &GateResult)> {
    let gates = [(Stage::Code, &production.validation), (Stage::Tests, &production.review)];
    let is_judged = !production.has_no_file();
    let judged = gates.into_iter().filter(move |_| is_judged);
    judged.filter_map(|(stage, gate)| Some((stage.gate(), gate.as_ref()?)))
}

/// Phase 5 in the JSON document of `regreen test --json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ProducedDocument {
    /// Number of tests that are kept.
    pub tests: usize,
    /// The files that contain them.
    pub files: Vec<String>,
    /// Coverage of what was asked for, before and after.
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
    /// The numbers that the tests do not reach, with the reason; none of them fails a gate.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shortfall: String,
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
        gate.as_ref().map(|judgement| match judgement.decision {
            QualityDecision::HardFail if production.has_no_file() => judgement.reason.clone(),
            decision => format!("{decision}: {}", judgement.reason),
        })
    };
    ProducedDocument {
        tests: totals.tests,
        files: production.files().into_iter().map(|(file, _)| file.to_string()).collect(),
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
                what: {
                    let test =
                        one.test.as_ref().map_or_else(String::new, |test| format!("{test} in "));
                    format!("{test}{}:{} {}", one.subject, one.line, one.function)
                },
                reason: one.evidence.clone(),
            })
            .collect(),
        authors: production
            .written_tests()
            .filter_map(|one| Some((one.file.as_ref()?.to_string(), one.author.clone())))
            .collect(),
        given_up: production.written_tests().flat_map(|one| one.dropped.clone()).collect(),
        shown: totals.shown,
        open: production
            .decided_requirements()
            .filter_map(|one| {
                let what = format!("{} {} {}", one.id, one.layer, one.text);
                Some(Reasoned { what, reason: one.open.clone()? })
            })
            .collect(),
        validation: describe(&production.validation),
        review: describe(&production.review),
        gates_met: production.is_met(),
        shortfall: production.describe_shortfall(),
        commit: production.commit.as_ref().map(ToString::to_string),
    }
}
