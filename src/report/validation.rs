//! The report of the code check: JSON document, Markdown page, terminal text, annotations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::check::Level;
use crate::domain::quality::{Finding, FindingCounts, MAX_RETRIES, QualityDecision, Severity};
use crate::domain::text::count;

use super::findings::tables;
use super::markdown::{cell, line};
use super::phrases::sentence;
use super::runner_commands::{REMARKS, remark};
use super::test_quality::{self, TestQuality};

/// Counts of findings and of validated files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Files that were validated.
    pub files_validated: u32,
    /// How many findings are critical.
    pub critical: u32,
    /// How many findings are errors.
    pub error: u32,
    /// How many findings are warnings.
    pub warning: u32,
}

/// A file that was not validated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// The file, or the check, that was skipped.
    pub what: String,
    /// Why it was skipped.
    pub reason: String,
}

/// `code-validation-report.json` (specification.md 6.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationReport {
    /// Version of this document format.
    pub schema_version: u32,
    /// The session; `None` when the gate ran alone.
    pub session_id: Option<String>,
    /// Time of the check, in UTC.
    pub timestamp: String,
    /// Decision of the gate.
    pub status: QualityDecision,
    /// Counts of the remaining findings.
    pub summary: Summary,
    /// Remaining findings, by severity.
    pub findings: BTreeMap<Severity, Vec<Finding>>,
    /// What was repaired.
    pub auto_fixes_applied: Vec<Finding>,
    /// Reason for the decision.
    pub gate_decision: String,
    /// Number of retries so far.
    pub retry_count: u32,
    /// Highest number of retries.
    pub max_retries: u32,
    /// What was not validated, and why.
    pub skipped: Vec<Skipped>,
    /// The gate on tests, when it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestQuality>,
}

impl ValidationReport {
    /// All findings, worst first.
    fn all(&self) -> Vec<&Finding> {
        let tests = self.tests.iter().flat_map(|tests| &tests.findings);
        let mut all: Vec<&Finding> =
            self.findings.iter().chain(tests).flat_map(|(_, list)| list).collect();
        all.sort_by_key(|one| one.severity);
        all
    }
}

/// The inputs of a report.
pub struct Parts {
    /// The session, if any.
    pub session: Option<String>,
    /// Time of the report, in UTC.
    pub timestamp: String,
    /// Files that were validated.
    pub files: usize,
    /// Remaining findings.
    pub findings: Vec<Finding>,
    /// What was repaired.
    pub fixed: Vec<Finding>,
    /// Decision of the gate, with its reason.
    pub decision: (QualityDecision, String),
    /// What was not validated.
    pub skipped: Vec<Skipped>,
    /// Number of retries after repairs.
    pub retries: u32,
    /// The gate on tests, when it was asked.
    pub tests: Option<TestQuality>,
}

/// Groups findings by severity.
pub fn by_severity(list: Vec<Finding>) -> BTreeMap<Severity, Vec<Finding>> {
    let mut findings: BTreeMap<Severity, Vec<Finding>> = BTreeMap::new();
    for finding in list {
        findings.entry(finding.severity).or_default().push(finding);
    }
    findings
}

impl From<Parts> for ValidationReport {
    fn from(parts: Parts) -> Self {
        let counts = FindingCounts::of(parts.findings.iter());
        let findings = by_severity(parts.findings);
        Self {
            schema_version: 1,
            session_id: parts.session,
            timestamp: parts.timestamp,
            status: parts.decision.0,
            summary: Summary {
                files_validated: u32::try_from(parts.files).unwrap_or(u32::MAX),
                critical: counts.critical,
                error: counts.error,
                warning: counts.warning,
            },
            findings,
            auto_fixes_applied: parts.fixed,
            gate_decision: parts.decision.1,
            retry_count: parts.retries,
            max_retries: MAX_RETRIES,
            skipped: parts.skipped,
            tests: parts.tests,
        }
    }
}

fn totals(report: &ValidationReport) -> String {
    let summary = report.summary;
    format!(
        "{} checked: {} critical, {}, {}",
        count(summary.files_validated, "file"),
        summary.critical,
        count(summary.error, "error"),
        count(summary.warning, "warning"),
    )
}

/// Findings that a terminal shows in full; the JSON has all.
const SHOWN: usize = 200;

/// Findings as workflow commands, worst first, and no more than GitHub shows beside the code; a
/// last one says how many are left out.
pub fn annotations(report: &ValidationReport) -> Vec<String> {
    let mut lines = Vec::new();
    for (level, severities) in [
        (Level::Failure, &[Severity::Critical, Severity::Error][..]),
        (Level::Warning, &[Severity::Warning]),
    ] {
        let all: Vec<&Finding> =
            report.all().into_iter().filter(|one| severities.contains(&one.severity)).collect();
        let shown = if all.len() > REMARKS { REMARKS - 1 } else { all.len() };
        for one in all.iter().take(shown) {
            let file = line(one.file.as_str(), 500);
            let title = format!("{} ({})", one.id, one.severity);
            let message = line(&format!("{}; {}", one.message, one.suggestion), 500);
            lines.push(remark(level, Some((&file, one.line)), &title, &message));
        }
        if all.len() > shown {
            let left = format!("{} more in the log and the report", all.len() - shown);
            lines.push(remark(level, None, "regreen", &left));
        }
    }
    lines
}

/// The report for a terminal.
pub fn render_text(report: &ValidationReport) -> String {
    let mut text = String::new();
    let all = report.all();
    for finding in all.iter().take(SHOWN) {
        let fixable = if finding.auto_fixable { " (`--fix` does it)" } else { "" };
        text.push_str(&format!(
            "{}:{}: {} [{}] {}\n    {}{fixable}\n",
            line(finding.file.as_str(), 200),
            finding.line,
            finding.severity,
            finding.id,
            line(&finding.message, 300),
            finding.suggestion,
        ));
    }
    if all.len() > SHOWN {
        text.push_str(&format!("... and {} more\n", all.len() - SHOWN));
    }
    for fixed in &report.auto_fixes_applied {
        text.push_str(&format!(
            "fixed {}:{}: {}\n",
            line(fixed.file.as_str(), 200),
            fixed.line,
            line(&fixed.message, 300)
        ));
    }
    for skipped in report.skipped.iter().take(20) {
        text.push_str(&format!(
            "not checked: {}: {}\n",
            line(&skipped.what, 200),
            line(&skipped.reason, 200)
        ));
    }
    if report.skipped.len() > 20 {
        text.push_str(&format!("not checked: {} more\n", report.skipped.len() - 20));
    }
    text.push_str(&format!(
        "\n{}\ncode check: {}: {}\n",
        totals(report),
        report.status,
        report.gate_decision
    ));
    if let Some(tests) = &report.tests {
        text.push_str(&test_quality::render_text(tests));
    }
    text
}

/// Writes `code-validation-report.md`.
pub fn render_markdown(report: &ValidationReport) -> String {
    let mut text = format!(
        "# Code validation: {}\n\n{}. {}.\n",
        report.status,
        totals(report),
        sentence(&report.gate_decision)
    );
    text.push_str(&tables(&report.findings));
    if !report.auto_fixes_applied.is_empty() {
        text.push_str("\n## Fixed\n\n");
        for fixed in &report.auto_fixes_applied {
            text.push_str(&format!(
                "- {} {}\n",
                cell(&format!("{}:{}", fixed.file, fixed.line)),
                cell(&fixed.message)
            ));
        }
    }
    if !report.skipped.is_empty() {
        text.push_str("\n## Not checked\n\n");
        for skipped in &report.skipped {
            text.push_str(&format!("- {}: {}\n", cell(&skipped.what), cell(&skipped.reason)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RepoPath;
    use crate::domain::quality::Stage;

    fn finding(file: &str, severity: Severity, message: &str) -> Finding {
        Finding {
            stage: Stage::Code,
            id: "unknown-package".into(),
            category: "hallucinated_imports".into(),
            severity,
            file: RepoPath::parse(file).unwrap(),
            line: 3,
            message: message.into(),
            suggestion: "declare it".into(),
            auto_fixable: false,
        }
    }

    fn report(findings: Vec<Finding>) -> ValidationReport {
        ValidationReport::from(Parts {
            session: None,
            timestamp: "2026-01-02T03:04:05Z".into(),
            files: 1,
            findings,
            fixed: Vec::new(),
            decision: (QualityDecision::HardFail, "1 critical, none is tolerated".into()),
            skipped: Vec::new(),
            retries: 0,
            tests: None,
        })
    }

    #[test]
    fn annotations_name_the_place_and_carry_no_second_command() {
        let hostile = finding("a,b:c%0A.js", Severity::Critical, "x\n::set-env name=A::b%0A::stop");
        insta::assert_snapshot!(annotations(&report(vec![hostile])).join("\n"), @"::error file=a%2Cb%3Ac%250A.js,line=3,title=unknown-package (critical)::x ::set-env name=A::b%250A::stop; declare it");
    }

    #[test]
    fn annotations_are_as_many_as_are_shown_and_the_worst_come_first() {
        let mut list = vec![finding("z.js", Severity::Critical, "worst")];
        list.extend((0..30).map(|_| finding("a.js", Severity::Error, "bad")));
        list.extend((0..3).map(|_| finding("a.js", Severity::Warning, "so so")));
        let lines = annotations(&report(list));
        let errors: Vec<_> = lines.iter().filter(|line| line.starts_with("::error")).collect();
        assert_eq!(errors.len(), 10, "{lines:#?}");
        assert!(errors[0].contains("worst") && errors[9].contains("22 more"), "{errors:#?}");
        assert_eq!(lines.len(), 13);
    }

    #[test]
    fn no_file_has_a_name_that_begins_a_command() {
        assert!(RepoPath::parse("::error x.js").is_err());
    }

    #[test]
    fn report_shows_place_and_advice_and_disarms_a_hostile_name() {
        let report =
            report(vec![finding("src/a.js", Severity::Critical, "no manifest: `x|<img>`")]);
        insta::assert_snapshot!(render_text(&report), @r"
        src/a.js:3: critical [unknown-package] no manifest: `x|<img>`
            declare it

        1 file checked: 1 critical, 0 errors, 0 warnings
        code check: HARD_FAIL: 1 critical, none is tolerated
        ");
        let page = render_markdown(&report);
        assert!(page.contains("`` no manifest: `x\\|<img>` ``"), "{page}");
        let verdict =
            "\n1 file checked: 1 critical, 0 errors, 0 warnings. 1 critical, none is tolerated.\n";
        assert!(page.contains(verdict), "{page}");
    }
}
