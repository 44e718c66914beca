//! What must be tested, as Markdown: the results, the seven parts behind them, cases by file.

use crate::domain::test_plan::analysis::{Advice, FileRequirements, TestAnalysis};
use crate::domain::test_plan::context::Package;
use crate::domain::test_plan::layer::SubLayer;
use crate::report::markdown::{block, cell, code, line};

use super::prose;

/// `TEST_ANALYSIS_RESULTS.md`: the mandatory sections of specification.md 8.8.
#[must_use]
pub fn analysis(analysis: &TestAnalysis) -> String {
    let mut page = format!(
        "# Test analysis of {}\n\nProject Type: {}\nTest Framework: {}\nCoverage Target: {}\n\nAsked for: {}\n",
        analysis.session_id,
        line(&analysis.project_type, 100),
        line(analysis.framework.framework.name(), 100),
        analysis.coverage_target,
        code(&analysis.description),
    );
    page.push_str("\n## Project type\n\n");
    // Confidence is shown in percent, without a fraction.
    let percent = (analysis.project_type_confidence * 100.0).round();
    page.push_str(&format!("- {} (confidence {percent} %)\n", line(&analysis.project_type, 100)));
    list(&mut page, &analysis.project_type_evidence);
    page.push_str(&format!(
        "\n## Coverage assessment\n\n- now: {}\n- target: {}\n",
        prose(&analysis.current_coverage),
        analysis.coverage_target
    ));
    page.push_str(&conventions(analysis));
    page.push_str(
        "\n## Multi-layered test plan\n\n| Layer | About | Requirements |\n|---|---|--:|\n",
    );
    let counts = analysis.by_layer();
    for layer in SubLayer::ALL {
        if let Some(number) = counts.get(layer) {
            page.push_str(&format!("| {layer} | {} | {number} |\n", layer.title()));
        }
    }
    page.push_str(&format!("| | all | {} |\n", analysis.total()));
    page.push_str("\n## AI issue scan\n\n");
    if analysis.ai_issues.is_empty() {
        page.push_str("No placeholder in what is going to be tested.\n");
    }
    for one in &analysis.ai_issues {
        let place = format!("{}:{}", one.file, one.line);
        page.push_str(&format!("- {} {} at {}\n", one.severity, prose(&one.issue), code(&place)));
    }
    page.push_str("\n## Requirements by file\n");
    for file in &analysis.files {
        page.push_str(&of_file(file));
    }
    if !analysis.deferred.is_empty() {
        page.push_str("\n### Left for another session\n\n");
        list(&mut page, &analysis.deferred);
    }
    if !analysis.dropped.is_empty() {
        page.push_str("\n### Asked for, and not borne out by the code\n\n");
        list(&mut page, &analysis.dropped);
    }
    page.push_str("\n## Generation strategy\n\n");
    list(&mut page, &analysis.strategy);
    page.push_str("\n## Implementation targets\n\n| Test file | For | Requirements | New |\n|---|---|--:|---|\n");
    for file in &analysis.files {
        page.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            cell(file.test_file.as_str()),
            cell(file.file.as_str()),
            file.requirements.len(),
            if file.test_file_exists { "no" } else { "yes" }
        ));
    }
    page.push_str("\n## Quality assurance criteria\n\n- each requirement has a test that names it\n- at least two assertions per test where there is more than one thing to see\n- no test depends on another, on the clock, or on a network\n");
    page.push_str("\n## Success criteria\n\n");
    list(&mut page, &analysis.success_criteria);
    page
}

fn list(page: &mut String, lines: &[String]) {
    for text in lines {
        page.push_str(&format!("- {}\n", prose(text)));
    }
}

fn conventions(analysis: &TestAnalysis) -> String {
    let own = &analysis.framework;
    let mut page = String::from("\n## Test framework and conventions\n\n");
    let known =
        |list: &[String]| if list.is_empty() { "none seen".to_owned() } else { list.join(", ") };
    let rows = [
        ("framework", format!("{} {}", own.framework, own.version)),
        ("test files", own.test_pattern.clone()),
        (
            "folder",
            if own.test_directory.is_empty() {
                "beside the sources".into()
            } else {
                own.test_directory.clone()
            },
        ),
        ("structure", own.conventions.test_structure.clone()),
        ("assertions", known(&own.conventions.assertion_style)),
        ("many values", known(&own.conventions.parametrisation)),
        ("set-up", own.conventions.setup_teardown.clone()),
        ("fixtures", known(&own.conventions.fixtures)),
        ("doubles", own.mocking_framework.clone()),
        ("sample", own.conventions.sample.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("all tests", own.run_tests.clone()),
        ("with coverage", own.run_coverage.clone()),
        ("one file", own.run_specific.clone()),
    ];
    for (name, value) in rows {
        let value = if value.trim().is_empty() { "none seen".into() } else { code(value.trim()) };
        page.push_str(&format!("- {name}: {value}\n"));
    }
    page
}

fn of_file(file: &FileRequirements) -> String {
    let mut page = format!(
        "\n### {} → {}\n\nPriority {}: {}. {} requirements",
        code(file.file.as_str()),
        code(file.test_file.as_str()),
        file.priority.word(),
        prose(&file.reason),
        file.requirements.len(),
    );
    if file.already_covered > 0 {
        page.push_str(&format!(", {} shown by tests already", file.already_covered));
    }
    if file.left_out > 0 {
        page.push_str(&format!(", {} left out by the limit of one file", file.left_out));
    }
    page.push_str(".\n\n");
    for one in &file.requirements {
        page.push_str(&format!("- [{}] {}: {}\n", one.layer, one.id, prose(&one.text)));
        page.push_str(&format!("  given {}; check: {}\n", prose(&one.given), code(&one.check)));
    }
    if !file.mocks.is_empty() {
        page.push_str("\nDoubles:\n\n");
        list(&mut page, &file.mocks);
    }
    page
}

/// The raw analysis in seven parts (specification.md 8.8).
#[must_use]
pub fn raw_analysis(analysis: &TestAnalysis, package: &Package, reports: &[String]) -> String {
    let coverage = package.coverage();
    let mut page = format!(
        "# Raw test analysis by {}\n\n## 1. Implementation context\n\n",
        line(&analysis.author, 60)
    );
    list(&mut page, package.focus_areas());
    page.push_str(&format!(
        "\n## 2. Coverage assessment\n\n- {}\n",
        prose(&analysis.current_coverage)
    ));
    for row in &coverage.files {
        let lines = row.lines_covered.zip(row.lines_total);
        let lines = lines.map_or_else(
            || "no lines are known".to_owned(),
            |(ran, all)| format!("{ran} of {all} lines ran"),
        );
        let open = if row.uncovered_lines.is_empty() {
            String::new()
        } else {
            format!(", not lines {}", row.uncovered_lines)
        };
        page.push_str(&format!("- {}: {lines}{open}\n", code(row.file.as_str())));
    }
    page.push_str("\n## 3. Existing patterns\n");
    page.push_str(&conventions(analysis));
    page.push_str("\n## 4. Requirements by file\n");
    for file in &analysis.files {
        page.push_str(&of_file(file));
    }
    page.push_str("\n## 5. Generation strategy\n\n");
    list(&mut page, &analysis.strategy);
    page.push_str("\n## 6. Implementation targets\n\n");
    for file in &analysis.files {
        page.push_str(&format!(
            "- {} for {}\n",
            code(file.test_file.as_str()),
            code(file.file.as_str())
        ));
    }
    page.push_str("\n## 7. Success metrics\n\n");
    list(&mut page, &analysis.success_criteria);
    for report in reports {
        page.push_str("\n## In the words of a provider\n\n");
        page.push_str(&block(report, "markdown"));
    }
    page
}

/// `enriched-suggestions.md`: cases of L1 and L2 by file and layer, in the order in which they are
/// best written, and what may go wrong (specification.md 8.8).
#[must_use]
pub fn suggestions(analysis: &TestAnalysis, advice: Option<&Advice>) -> String {
    let mut page = String::from("# Enriched suggestions\n");
    for file in &analysis.files {
        page.push_str(&format!("\n## {}\n\n", code(file.file.as_str())));
        page.push_str("| Layer | Case | Given | Expected | Done when |\n|---|---|---|---|---|\n");
        for one in file.requirements.iter().filter(|one| one.layer.layer() > 0) {
            page.push_str(&format!(
                "| {} | {} | {} | {} | {} |\n",
                one.layer,
                cell(&one.text),
                cell(&one.given),
                cell(&one.expect),
                cell(&one.check)
            ));
        }
    }
    page.push_str("\n## Error scenarios\n\n| Function | Error | Given |\n|---|---|---|\n");
    for file in &analysis.files {
        let errors = [SubLayer::Negative, SubLayer::FailureMode, SubLayer::External];
        for one in file.requirements.iter().filter(|one| errors.contains(&one.layer)) {
            page.push_str(&format!(
                "| {} | {} | {} |\n",
                cell(&one.function),
                cell(&one.expect),
                cell(&one.given)
            ));
        }
    }
    if let Some(advice) = advice {
        page.push_str(&added(advice));
    }
    page
}

/// What a provider added.
fn added(advice: &Advice) -> String {
    let mut page = format!("\n## Added by {}\n\n", code(&advice.author));
    page.push_str("| File | Layer | For | Type | Case | Expected | Doubles | Done when |\n|---|---|---|---|---|---|---|---|\n");
    for one in &advice.suggestions {
        page.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            cell(one.file.as_str()),
            one.layer,
            cell(&one.requirement),
            cell(&one.kind),
            cell(&one.case),
            cell(&one.expected),
            cell(&one.mocks),
            cell(&one.criterion)
        ));
    }
    if !advice.order.is_empty() {
        page.push_str("\nOrder:\n\n");
    }
    for (number, file) in (1..).zip(&advice.order) {
        page.push_str(&format!("{number}. {}\n", code(file.as_str())));
    }
    if !advice.errors.is_empty() {
        page.push_str("\n| Error | When | Expected |\n|---|---|---|\n");
    }
    for one in &advice.errors {
        page.push_str(&format!(
            "| {} | {} | {} |\n",
            cell(&one.error),
            cell(&one.when),
            cell(&one.expected)
        ));
    }
    if !advice.dropped.is_empty() {
        page.push_str("\nThrown away:\n\n");
        list(&mut page, &advice.dropped);
    }
    page
}
