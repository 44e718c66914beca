//! Parses the Test Anything Protocol; its YAML blocks are kept as text.

use crate::domain::declared::{Declared, Document};
use crate::domain::test::Status;

use super::{MESSAGE_LIMIT, Report, ReportedTest, STACK_LIMIT, bounded, count_statuses, tail};

/// What an output declares as TAP, and the lines of tests that it holds; `None` without a plan (TAP 14,
/// "The Plan") and without `Bail out!`. The lines of tests alone prove nothing, as `go test` begins some
/// of its own with `ok` too.
pub fn document_of(output: &str) -> Option<Document> {
    let plan = |line: &str| -> Option<u32> {
        line.strip_prefix("1..")?.split(" #").next()?.trim_end().parse().ok()
    };
    let lines = || output.lines().map(str::trim_end);
    let planned: Vec<u32> = lines().filter_map(plan).collect();
    let aborted = lines().find_map(|line| {
        let reason = line.trim_start().strip_prefix("Bail out!")?.trim();
        Some(if reason.is_empty() {
            "Bail out!".to_owned()
        } else {
            bounded(reason, MESSAGE_LIMIT)
        })
    });
    let is_tap = !planned.is_empty()
        || aborted.is_some()
            && lines().any(|line| line.starts_with("TAP version") || test_line(line).is_some());
    let plan = (!planned.is_empty()).then(|| planned.into_iter().fold(0, u32::saturating_add));
    let held = count_statuses(output.lines().filter_map(test_line).map(|(_, status)| Some(status)));
    let highest = output.lines().filter_map(test_number).chain([held.tests - held.failed]).max();
    let declared = Declared { plan, highest, aborted, ..Declared::default() };
    is_tap.then(|| Document { name: String::new(), declared, held })
}

/// The number of a test that did not fail.
fn test_number(line: &str) -> Option<u32> {
    test_line(line).filter(|(_, status)| *status != Status::Failed)?;
    line.trim_start_matches("not ").split_whitespace().nth(1)?.parse().ok()
}

/// The report of an output, whose tests were parsed from it; nothing where it is no TAP.
pub fn report_of(output: &str, tests: Vec<ReportedTest>) -> Option<Report> {
    let document = document_of(output)?;
    let aborted = document.declared.aborted.clone();
    let problem = aborted.map(|reason| ReportedTest::problem("Bail out!".to_owned(), reason));
    // A plan without any test is no report, unless it plans none.
    let complete = !tests.is_empty() || problem.is_some() || document.declared.plan == Some(0);
    let documents = vec![document];
    let suite_problems = problem.into_iter().collect();
    Some(Report { suite_problems, documents, complete, ..Report::of(tests) })
}

/// The report of a command of which nothing but its words is known, in its output or in a file. It has no
/// plan where the process ended before its tests did. In an output, tests alone are no TAP.
pub fn read_report(text: &str, is_file: bool) -> Option<Report> {
    let tests = parse(text);
    let is_tap = text.lines().any(|line| line.starts_with("TAP version"));
    report_of(text, tests.clone()).or_else(|| {
        let reason = "the report has no plan, so its process may have ended before its tests did";
        let mut problem = ReportedTest::problem("no plan".to_owned(), reason.to_owned());
        tail(text, STACK_LIMIT).clone_into(&mut problem.stack);
        let suite_problems = vec![problem];
        (is_tap || is_file && !tests.is_empty())
            .then(|| Report { suite_problems, ..Report::of(tests) })
    })
}

/// Parses TAP in an output, skipping other lines; subtests begin with their parents' names.
pub fn parse(text: &str) -> Vec<ReportedTest> {
    parse_tests(text, Parents::Counted)
}

/// The same without the tests that only sum up their subtests, as node-tap counts.
pub fn parse_leaves(text: &str) -> Vec<ReportedTest> {
    parse_tests(text, Parents::SumUp)
}

/// The output of tape with the title of each test, a comment, before the names of its assertions.
pub fn with_titles(text: &str) -> String {
    let mut title = String::new();
    let mut in_block = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.trim() {
            "---" => in_block = true,
            "..." => in_block = false,
            _ => {}
        }
        // Behind the plan, comments hold the counts.
        if !in_block && line.starts_with("1..") {
            title.clear();
        } else if !in_block && let Some(comment) = line.strip_prefix("# ") {
            comment.trim_start_matches("TODO ").trim().clone_into(&mut title);
        }
        let is_test = !in_block && !title.is_empty() && test_line(line).is_some();
        match line.split_once(|c: char| c.is_ascii_digit()).filter(|_| is_test) {
            Some((start, rest)) => {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                let name = rest.trim_start().trim_start_matches("- ");
                lines.push(format!("{start}0 - {title} > {name}"));
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// How YAML announces a text of several lines.
const MARKS: &[&str] = &[">", ">-", "|", "|-"];

/// What the line of a test with subtests is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parents {
    Counted,
    /// No test of its own, unless it failed and none of its subtests did.
    SumUp,
}

fn parse_tests(text: &str, parents: Parents) -> Vec<ReportedTest> {
    let mut tests: Vec<ReportedTest> = Vec::new();
    let mut pending: Vec<(usize, Vec<ReportedTest>)> = Vec::new();
    let (mut in_block, mut block_indent) = (false, None);
    // The test to which a block belongs; its parents may sum up.
    let mut has_block = true;
    for line in text.lines() {
        let content = line.trim_start();
        let depth = (line.len() - content.len()) / 4;
        let last = match pending.last_mut() {
            Some((_, inner)) => inner.last_mut(),
            None => tests.last_mut(),
        };
        if in_block {
            if content == "..." {
                in_block = false;
            } else if let Some(last) = last.filter(|t| has_block && t.stack.len() < STACK_LIMIT) {
                // What stands deeper belongs to another value.
                let indent = line.len() - content.len();
                let base = *block_indent.get_or_insert(indent);
                // A message of several lines begins behind its mark.
                let message = match indent {
                    _ if indent > base && MARKS.contains(&last.message.as_str()) => Some(content),
                    _ if indent == base && last.message.is_empty() => {
                        content.strip_prefix("message:").or(content.strip_prefix("error:"))
                    }
                    _ => None,
                };
                if let Some(message) = message {
                    message.trim().trim_matches(['\'', '"']).clone_into(&mut last.message);
                }
                last.stack.push_str(&frame_line(content).unwrap_or_else(|| content.to_owned()));
                last.stack.push('\n');
            }
            continue;
        }
        if content == "---" {
            (in_block, block_indent) = (true, None);
            continue;
        }
        let Some((name, status)) = test_line(content) else { continue };
        // Subtests are printed before the line of their parent, which then completes their names.
        let mut found: Vec<ReportedTest> = Vec::new();
        while pending.last().is_some_and(|(level, _)| *level > depth) {
            let Some((_, inner)) = pending.pop() else { break };
            found.splice(0..0, inner);
        }
        let sums_up = parents == Parents::SumUp
            && !found.is_empty()
            && (status != Status::Failed
                || found.iter().any(|test| test.status == Some(Status::Failed)));
        for test in &mut found {
            test.id = format!("{name} > {}", test.id);
        }
        has_block = !sums_up;
        if !sums_up {
            let id = name.to_owned();
            found.push(ReportedTest { id, status: Some(status), ..ReportedTest::default() });
        }
        match pending.last_mut() {
            _ if depth == 0 => tests.extend(found),
            Some((level, inner)) if *level == depth => inner.extend(found),
            _ => pending.push((depth, found)),
        }
    }
    tests.extend(pending.into_iter().flat_map(|(_, tests)| tests));
    tests
}

/// A line of a block as V8 writes frames; the runners of Node.js print some without `at`.
fn frame_line(content: &str) -> Option<String> {
    let place = content.strip_prefix("at:").unwrap_or(content).trim().trim_matches('\'');
    let mut parts = place.trim_end_matches(')').rsplit(':');
    let mut is_number = || {
        let part = parts.next().unwrap_or_default();
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_frame = is_number() && is_number() && !place.starts_with("at ");
    (is_frame && parts.next().is_some_and(|file| file.contains('.'))).then(|| format!("at {place}"))
}

/// Name and status of a test; `None` for any other line.
fn test_line(content: &str) -> Option<(&str, Status)> {
    let (passed, rest) = match content.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, content.strip_prefix("ok")?),
    };
    // Behind spaces and a tab, `go test` names a package.
    if !rest.is_empty() && !rest.starts_with(' ') || rest.trim_start_matches(' ').starts_with('\t')
    {
        return None;
    }
    let rest = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start().trim_start_matches("- ");
    let unnamed = rest.strip_prefix("# ").map(|directive| ("", directive));
    let (name, directive) = unnamed.or_else(|| rest.split_once(" # ")).unwrap_or((rest, ""));
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
    use crate::domain::declared::find_objections;
    use crate::domain::test::Objection;

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

    #[test]
    fn a_name_begins_with_those_of_all_parents_and_a_block_belongs_to_its_test() {
        let text = "    # Subtest: halves\n        not ok 1 - half\n          ---\n          message: no\n          ...\n        1..1\n    not ok 1 - halves\n      ---\n      message: sum\n      ...\n    ok 2 - top\n    1..2\nnot ok 1 - a.js\nnot ok 2 - b.js\n1..2\n";
        let names = |tests: Vec<ReportedTest>| {
            tests.into_iter().map(|test| (test.id, test.message)).collect::<Vec<_>>()
        };
        let test = |id: &str, message: &str| (id.to_owned(), message.to_owned());
        let half = test("a.js > halves > half", "no");
        assert_eq!(
            names(parse(text)),
            [
                half.clone(),
                test("a.js > halves", "sum"),
                test("a.js > top", ""),
                test("a.js", ""),
                test("b.js", "")
            ]
        );
        assert_eq!(names(parse_leaves(text)), [half, test("a.js > top", ""), test("b.js", "")]);
    }

    #[test]
    fn a_report_without_a_plan_is_not_whole() {
        let failed = |text: &str, is_file| {
            let report = read_report(text, is_file)?;
            let failed = report.results().filter(|one| one.status == Some(Status::Failed));
            Some(failed.map(|one| one.id.clone()).collect::<Vec<_>>())
        };
        let table: [(&str, bool, Option<&[&str]>); 7] = [
            ("1..1\nok 1", false, Some(&[])),
            ("ok 1 - a\nnot ok 2 - b", true, Some(&["b", "no plan"])),
            ("ok 1 - a", true, Some(&["no plan"])),
            ("TAP version 13\nok 1 - a\n# b", false, Some(&["no plan"])),
            ("TAP version 13\n", true, Some(&["no plan"])),
            ("ok  \texample.com/shop\t0.1s", false, None),
            ("printed", true, None),
        ];
        for (text, is_file, expected) in table {
            let expected = expected.map(|ids| ids.iter().map(ToString::to_string).collect());
            assert_eq!(failed(text, is_file), expected, "{text}");
        }
    }

    #[test]
    fn a_plan_that_its_tests_exceed_objects() {
        let table = [
            ("1..2\nok 1\nok 2", None),
            ("1..2\nok\nok", None),
            ("1..2\nok 2\nok 1\n    ok 3", None),
            ("1..1\nok 1\n1..2\nok 1\nok 2", None),
            ("1..1\nok 1 - a\nnot ok 2 - tear-down", None),
            ("1..1\nok 1\nok  \texample.com/shop\t0.1s", None),
            ("1..1\nok 1 - a\nok 2 - b", Some("the report announces 1 test and holds 2")),
            ("ok\n1..0", Some("the report announces 0 tests and holds 1")),
            ("1..2\nok 1 - a\nok 7 - b", Some("the report announces 2 tests and holds number 7")),
        ];
        for (text, expected) in table {
            let documents = [document_of(text).unwrap()];
            let objections = find_objections(&documents, false, None);
            let clauses: Vec<_> = objections.iter().map(Objection::clause).collect();
            assert_eq!(clauses, Vec::from_iter(expected), "{text}");
        }
    }

    #[test]
    fn a_message_is_read_as_node_and_yaml_write_it() {
        let table = [
            ("  error: '1 == 2'\n", "1 == 2"),
            ("  message: >-\n    Cannot find module\n    a.js\n  at: x\n", "Cannot find module"),
            ("  stack: |-\n    message: deeper\n", ""),
        ];
        for (block, message) in table {
            let tests = parse(&format!("not ok 1 - a\n  ---\n{block}  ...\n"));
            assert_eq!(tests[0].message, message, "{block}");
        }
    }

    #[test]
    fn places_in_a_block_are_frames() {
        let table = [
            ("at: '/repo/a.js:8:29'", Some("at /repo/a.js:8:29")),
            ("at: f (/repo/a.js:8:29)", Some("at f (/repo/a.js:8:29)")),
            ("Test.<anonymous> (a.js:4:27)", Some("at Test.<anonymous> (a.js:4:27)")),
            ("at f (/repo/a.js:8:29)", None),
            ("lineNumber: 4", None),
            ("time: 12:30:01", None),
            ("at: >-", None),
        ];
        for (line, expected) in table {
            assert_eq!(frame_line(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn titles_of_tape_begin_the_names_of_its_assertions() {
        let text = "TAP version 13\n# adds\nok 1 should be equal\n# TODO 2 todo\nnot ok 12 not 3 # TODO\n  ---\n    # no title\n  ...\n\n1..2\n# tests 2\n";
        let tests = parse(&with_titles(text));
        let short: Vec<_> = tests.iter().map(|t| (t.id.as_str(), t.status.unwrap())).collect();
        assert_eq!(
            short,
            [("adds > should be equal", Status::Passed), ("2 todo > not 3", Status::Skipped)]
        );
    }
}
