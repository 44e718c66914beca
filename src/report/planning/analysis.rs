//! Renders the analysis of what must be tested, and the reports of providers, as Markdown.

use crate::domain::test_plan::analysis::{FileRequirements, TestAnalysis};
use crate::report::markdown::{block, cell, code, line};

use super::{list, prose, table};

/// `TEST_ANALYSIS_RESULTS.md`: the mandatory sections of specification.md 8.8.
pub fn analysis(analysis: &TestAnalysis) -> String {
    let kind = line(&analysis.project_type, 100);
    let mut page = format!(
        "# Test analysis of {}\n\nProject Type: {kind}\nTest Framework: {}\nCoverage Target: {}\n\nAsked for: {}\n",
        analysis.session_id,
        line(analysis.framework.framework.name(), 100),
        analysis.coverage_target,
        code(&analysis.description),
    );
    let mut section = |title: &str, text: String| {
        page.push_str(&format!("\n## {title}\n\n{text}"));
    };
    // Confidence is shown in percent, without a fraction.
    let percent = (analysis.project_type_confidence * 100.0).round();
    let evidence = list(&analysis.project_type_evidence);
    section("Project type", format!("- {kind} (confidence {percent} %)\n{evidence}"));
    let (now, target) = (prose(&analysis.current_coverage), analysis.coverage_target);
    section("Coverage assessment", format!("- now: {now}\n- target: {target}\n"));
    section("Test framework and conventions", conventions(analysis));
    let layers = analysis.by_layer().into_iter();
    let layers =
        layers.map(|(layer, number)| [layer.to_string(), layer.title().into(), number.to_string()]);
    let total = [[String::new(), "all".into(), analysis.total().to_string()]];
    let head = "| Layer | About | Requirements |\n|---|---|--:|\n";
    section("Multi-layered test plan", table(head, layers.chain(total)));
    let issues: String = analysis
        .ai_issues
        .iter()
        .map(|one| {
            let place = code(&format!("{}:{}", one.file, one.line));
            format!("- {} {} at {place}\n", one.severity, prose(&one.issue))
        })
        .collect();
    let none = "No placeholder in what is going to be tested.\n";
    section("AI issue scan", if issues.is_empty() { none.into() } else { issues });
    let mut files: String = analysis.files.iter().map(of_file).collect();
    for (title, texts) in [
        ("Left for another session", &analysis.deferred),
        ("Asked for, and not supported by the code", &analysis.dropped),
    ] {
        if !texts.is_empty() {
            files.push_str(&format!("\n### {title}\n\n{}", list(texts)));
        }
    }
    section("Requirements by file", files.trim_start().to_owned());
    section("Generation strategy", list(&analysis.strategy));
    let targets = analysis.files.iter().map(|file| {
        let new = if file.test_file_exists { "no" } else { "yes" };
        let (test, source) = (cell(file.test_file.as_str()), cell(file.file.as_str()));
        [test, source, file.requirements.len().to_string(), new.into()]
    });
    let head = "| Test file | For | Requirements | New |\n|---|---|--:|---|\n";
    section("Implementation targets", table(head, targets));
    section("Quality assurance criteria", "- each requirement has a test that names it\n- at least two assertions per test where there is more than one thing to see\n- no test depends on another, on the clock, or on a network\n".into());
    section("Success criteria", list(&analysis.success_criteria));
    page
}

fn conventions(analysis: &TestAnalysis) -> String {
    let own = &analysis.framework;
    let known =
        |list: &[String]| if list.is_empty() { "none seen".to_owned() } else { list.join(", ") };
    let folder =
        if own.test_directory.is_empty() { "beside the sources" } else { &own.test_directory };
    let rows = [
        ("framework", format!("{} {}", own.framework, own.version)),
        ("test files", own.test_pattern.clone()),
        ("folder", folder.to_owned()),
        ("structure", own.conventions.test_structure.clone()),
        ("assertions", known(&own.conventions.assertion_style)),
        ("many values", known(&own.conventions.parametrisation)),
        ("set-up", own.conventions.setup_teardown.clone()),
        ("fixtures", known(&own.conventions.fixtures)),
        ("doubles", own.mocking_framework.clone()),
        ("sample", own.conventions.sample.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("all tests", own.commands.run_tests.clone()),
        ("with coverage", own.commands.run_coverage.clone()),
        ("one file", own.commands.run_specific.clone()),
    ];
    rows.into_iter()
        .map(|(name, value)| {
            let value = value.trim();
            let value = if value.is_empty() { "none seen".into() } else { code(value) };
            format!("- {name}: {value}\n")
        })
        .collect()
}

fn of_file(file: &FileRequirements) -> String {
    let mut page = format!(
        "\n### {} → {}\n\nPriority {}: {}. {} requirements",
        code(file.file.as_str()),
        code(file.test_file.as_str()),
        file.priority,
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
        page.push_str(&format!("\nDoubles:\n\n{}", list(&file.mocks)));
    }
    page
}

/// The reports of providers, each an analysis in seven parts (specification.md 8.8).
pub fn raw_analysis(analysis: &TestAnalysis, reports: &[String]) -> String {
    let mut page = format!("# Raw test analysis by {}\n", line(&analysis.author, 60));
    for report in reports {
        page.push_str(&format!("\n{}", block(report, "markdown")));
    }
    page
}
