//! Findings of the gates as Markdown tables.

use std::collections::BTreeMap;

use crate::domain::quality::{Finding, Severity};

use super::markdown::{cell, line};

/// Renders one table per severity.
pub(super) fn tables(findings: &BTreeMap<Severity, Vec<Finding>>) -> String {
    let mut text = String::new();
    for (severity, list) in findings {
        text.push_str(&format!("\n## {} ({})\n\n| Where | Gate | Category | What | What to do |\n|---|---|---|---|---|\n", severity, list.len()));
        for finding in list {
            let gate = finding.stage.gate();
            text.push_str(&format!(
                "| {} | {gate} | {} | {} | {} |\n",
                cell(&format!("{}:{}", finding.file, finding.line)),
                finding.category,
                cell(&finding.message),
                line(&finding.suggestion, 300),
            ));
        }
    }
    text
}
