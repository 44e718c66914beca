//! The report of characterisation tests, which `regreen pin` writes, as Markdown.

use crate::domain::characterisation_report::{CharacterisationReport, DropReason, LineCounts};
use crate::domain::text::count;

use super::markdown::{cell, code, line};
use super::mutation;

/// Number of functions that are listed.
const LISTED: usize = 300;

/// Sums the report up in one sentence.
pub fn headline(report: &CharacterisationReport) -> String {
    let functions = count(report.functions.len(), "function");
    if report.files.is_empty() {
        return format!("{functions} found, no test was kept");
    }
    format!(
        "{} of {functions} pinned by {} in {}",
        report.pinned(),
        count(report.tests(), "test"),
        count(report.files.len(), "file")
    )
}

/// `84 of 120 with mutants`: lines that no mutant changes do not count.
pub fn reached(coverage: LineCounts) -> String {
    format!("{} of {} with mutants", coverage.covered, coverage.lines)
}

/// The three most frequent reasons, on one line.
pub fn reasons(dropped: &[DropReason]) -> String {
    let list: Vec<String> = dropped
        .iter()
        .take(3)
        .map(|one| {
            let reason = line(&one.reason, 120);
            if one.count > 1 { format!("{reason} ({} calls)", one.count) } else { reason }
        })
        .collect();
    list.join("; ")
}

pub fn markdown(report: &CharacterisationReport) -> String {
    let mut text = format!("## Today's behaviour, pinned\n\n{}.\n\n", headline(report));
    text.push_str("The tests describe what the code does, not what it should do: read them before you merge.\n\n");
    text.push_str(&format!(
        "- lines reached: {} before, {} after\n- tests whose result changed between runs: {}\n",
        reached(report.before),
        reached(report.after),
        report.flaky.len()
    ));
    for one in &report.findings {
        text.push_str(&format!(
            "- {}: the code contradicts its documentation: {}\n",
            code(&format!("{}:{} {}", one.subject, one.line, one.function)),
            line(&one.message, 300)
        ));
    }
    for one in &report.unfinished {
        text.push_str(&format!("- not done for lack of time: {}\n", line(one, 200)));
    }
    for one in &report.dropped {
        text.push_str(&format!(
            "- dropped {}: {}\n",
            count(one.count, "test"),
            line(&one.reason, 200)
        ));
    }
    text.push_str(
        "\n| function | calls tried | assertions kept | left out because |\n|:--|--:|--:|:--|\n",
    );
    for one in report.functions.iter().take(LISTED) {
        let reasons = reasons(&one.dropped);
        let reasons = if reasons.is_empty() { String::new() } else { cell(&reasons) };
        text.push_str(&format!(
            "| {} | {} | {} | {reasons} |\n",
            cell(&format!("{}:{} {}", one.file, one.line, one.name)),
            one.tried,
            one.assertions
        ));
    }
    if report.functions.len() > LISTED {
        text.push_str(&format!("\nand {} more functions.\n", report.functions.len() - LISTED));
    }
    if let Some(score) = &report.score {
        text.push_str(&format!("\n{}", mutation::markdown(score)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::characterisation_report::{CharacterisationFile, CharacterisedFunction};
    use crate::domain::id::RepoPath;

    #[test]
    fn the_report_names_what_was_left_out_and_why() {
        let file = RepoPath::parse("shop/fees.py").unwrap();
        let function = |name: &str, assertions, dropped: &[(&str, u32)]| CharacterisedFunction {
            assertions,
            dropped: dropped
                .iter()
                .map(|(reason, count)| DropReason { reason: (*reason).into(), count: *count })
                .collect(),
            ..CharacterisedFunction::without_tests(file.clone(), name, 3, 72)
        };
        let report = CharacterisationReport {
            functions: vec![
                function("fee", 6, &[("TypeError is not raised on purpose", 12)]),
                function("wipe", 0, &[("changes `files` | <img>", 1)]),
            ],
            files: vec![CharacterisationFile {
                file: RepoPath::parse("tests/test_fees.py").unwrap(),
                subject: file.clone(),
                tests: vec!["tests/test_fees.py::test_fee".into()],
                assertions: 6,
            }],
            unfinished: vec!["the search for calls of `a|b.py` was cut short".into()],
            before: LineCounts { covered: 0, lines: 20 },
            after: LineCounts { covered: 17, lines: 20 },
            ..CharacterisationReport::default()
        };
        insta::assert_snapshot!(markdown(&report), @r##"
    ## Today's behaviour, pinned

    1 of 2 functions pinned by 1 test in 1 file.

    The tests describe what the code does, not what it should do: read them before you merge.

    - lines reached: 0 of 20 with mutants before, 17 of 20 with mutants after
    - tests whose result changed between runs: 0
    - not done for lack of time: the search for calls of `a|b.py` was cut short

    | function | calls tried | assertions kept | left out because |
    |:--|--:|--:|:--|
    | `shop/fees.py:3 fee` | 72 | 6 | `TypeError is not raised on purpose (12 calls)` |
    | `shop/fees.py:3 wipe` | 72 | 0 | ``changes `files` \| <img>`` |
    "##);
    }
}
