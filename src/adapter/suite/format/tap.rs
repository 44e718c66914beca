//! Parses the Test Anything Protocol; its YAML blocks are kept as text.

use crate::domain::test::Status;

use super::{ReportedTest, STACK_LIMIT};

/// Whether an output is TAP whose plans (TAP 14, "The Plan") are kept; `None` without a plan. The
/// lines of tests alone prove nothing, as `go test` begins some of its own with `ok` too.
pub fn keeps_plan(output: &str) -> Option<bool> {
    let plan = |line: &str| -> Option<usize> {
        line.strip_prefix("1..")?.split(" #").next()?.trim_end().parse().ok()
    };
    let planned: Vec<usize> = output.lines().filter_map(plan).collect();
    let tests = output.lines().filter(|line| test_line(line).is_some()).count();
    (!planned.is_empty()).then(|| tests >= planned.iter().sum())
}

/// Parses TAP in the output of a command, skipping other lines. The name of a subtest begins with
/// those of its parents.
pub fn parse(text: &str) -> Vec<ReportedTest> {
    let mut tests: Vec<ReportedTest> = Vec::new();
    let mut pending: Vec<(usize, Vec<ReportedTest>)> = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        let content = line.trim_start();
        let depth = (line.len() - content.len()) / 4;
        if in_block {
            if content == "..." {
                in_block = false;
            } else if let Some(last) = tests.last_mut().filter(|t| t.stack.len() < STACK_LIMIT) {
                if last.message.is_empty()
                    && let Some(message) = content.strip_prefix("message:")
                {
                    message.trim().trim_matches(['\'', '"']).clone_into(&mut last.message);
                }
                last.stack.push_str(content);
                last.stack.push('\n');
            }
            continue;
        }
        if content == "---" {
            in_block = true;
            continue;
        }
        let Some((name, status)) = test_line(content) else { continue };
        // Subtests are printed before the line of their parent, which then completes their names.
        while pending.last().is_some_and(|(level, _)| *level > depth) {
            let Some((_, children)) = pending.pop() else { break };
            for mut child in children {
                child.id = format!("{name} > {}", child.id);
                tests.push(child);
            }
        }
        let own =
            ReportedTest { id: name.to_owned(), status: Some(status), ..ReportedTest::default() };
        if depth > 0 {
            match pending.last_mut() {
                Some((level, tests)) if *level == depth => tests.push(own),
                _ => pending.push((depth, vec![own])),
            }
        } else {
            tests.push(own);
        }
    }
    tests.extend(pending.into_iter().flat_map(|(_, tests)| tests));
    tests
}

/// Name and status of a test; `None` for any other line.
fn test_line(content: &str) -> Option<(&str, Status)> {
    let (passed, rest) = match content.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, content.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start().trim_start_matches("- ");
    let (name, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
    let directive = directive.to_ascii_lowercase();
    let status = match passed {
        _ if directive.starts_with("skip") || directive.starts_with("todo") => Status::Skipped,
        true => Status::Passed,
        false => Status::Failed,
    };
    Some((name.trim(), status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_blocks_and_subtests_are_read() {
        let text = "TAP version 13\n1..3\nok 1 - adds\n    ok 1 - inner\nok 2 - outer\nnot ok 3 - fails\n  ---\n  message: 'no'\n  ...\nok 4 - later # SKIP not here\nokay then\n";
        let tests = parse(text);
        let short: Vec<_> = tests.iter().map(|t| (t.id.as_str(), t.status.unwrap())).collect();
        assert_eq!(
            short,
            [
                ("adds", Status::Passed),
                ("outer > inner", Status::Passed),
                ("outer", Status::Passed),
                ("fails", Status::Failed),
                ("later", Status::Skipped),
            ]
        );
        assert_eq!(tests[3].message, "no");
    }
}
