//! Parses the events of `go test -json`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::domain::test::{CaseKind, Status};

use super::{ReportedTest, STACK_LIMIT, milliseconds};

/// How Go begins to say that the tests of a package took longer than they may.
const TIMED_OUT: &str = "panic: test timed out after ";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Line {
    action: String,
    package: String,
    test: Option<String>,
    elapsed: f64,
    output: String,
    /// Import path, in events with output of the compiler.
    import_path: String,
    failed_build: String,
}

/// Reads the events. Ids are `package.Test`; a package that fails without a failing test (it does
/// not build, or panics outside of one) is a failing test named after the package, unless one test ran when the
/// runtime itself ended the process, as for endless recursion, or when the time was over: that is the failure of
/// this test. Tests print files without their folder, which is the package's below `module`.
pub fn parse(text: &str, module: &str) -> Vec<ReportedTest> {
    let mut tests: Vec<ReportedTest> = Vec::new();
    let mut outputs: BTreeMap<String, String> = BTreeMap::new();
    // Tests that have begun and not ended, with their packages.
    let mut running: Vec<(String, String)> = Vec::new();
    // Packages whose time is over. What they print then stands under the name of any of their tests.
    let mut timed_out: BTreeSet<String> = BTreeSet::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
        let id = match &line.test {
            Some(test) => format!("{}.{test}", line.package),
            None => line.package.clone(),
        };
        let status = match line.action.as_str() {
            "output" | "build-output" => {
                if line.output.starts_with(TIMED_OUT) {
                    timed_out.insert(line.package.clone());
                }
                let id = match line.import_path.as_str() {
                    "" if timed_out.contains(&line.package) => line.package.clone(),
                    "" => id,
                    path => path.to_owned(),
                };
                let output = outputs.entry(id).or_default();
                if output.len() < STACK_LIMIT {
                    output.push_str(&placed(&line, module));
                }
                continue;
            }
            "pass" => Status::Passed,
            "fail" => Status::Failed,
            "skip" => Status::Skipped,
            "run" => {
                running.push((line.package, id));
                continue;
            }
            _ => continue,
        };
        running.retain(|(_, test)| *test != id);
        if line.test.is_none() {
            let inner = format!("{}.", line.package);
            let explained = tests
                .iter()
                .any(|test| test.id.starts_with(&inner) && test.status == Some(Status::Failed));
            let hung = timed_out.contains(&line.package);
            if status != Status::Failed || explained && !hung {
                continue;
            }
        }
        let mut output = outputs.remove(&id).unwrap_or_default();
        // What ends the process is printed under the name of whichever test runs.
        let unended: Vec<&str> = running
            .iter()
            .filter(|(package, _)| line.test.is_none() && *package == line.package)
            .map(|(_, test)| test.as_str())
            .collect();
        let printed: String =
            unended.iter().filter_map(|test| outputs.get(*test).cloned()).collect();
        output = format!("{printed}{output}");
        if let Some(build) = outputs.get(&line.failed_build) {
            output = format!("{build}{output}");
        }
        let is_fatal = output.lines().any(|line| line.starts_with("fatal error: "));
        let hung =
            hung_test(&output).map(|(name, time)| (format!("{}.{name}", line.package), time));
        let is_innermost = |test: &&&str| !unended.iter().any(|other| is_below(other, test));
        let innermost: Vec<&&str> = unended.iter().filter(is_innermost).collect();
        let own = match (innermost.as_slice(), &hung) {
            (_, Some((test, _))) if unended.contains(&test.as_str()) => Some(test.clone()),
            ([test], _) if is_fatal => Some((**test).to_owned()),
            _ => line.test.as_ref().map(|_| id.clone()),
        };
        let kind = if own.is_some() { CaseKind::Test } else { CaseKind::Unloaded };
        let id = own.unwrap_or(id);
        let mut test = ReportedTest { id, kind, status: Some(status), ..ReportedTest::default() };
        test.duration_ms = milliseconds(line.elapsed);
        if status == Status::Failed {
            let is_message = |line: &&str| {
                let line = line.trim();
                let heading = ["===", "---", "# "].iter().any(|mark| line.starts_with(mark));
                !line.is_empty() && !heading
            };
            let is_crash =
                |line: &&str| line.starts_with("panic: ") || line.starts_with("fatal error: ");
            let crash = output.lines().find(is_crash).filter(|_| line.test.is_none());
            let first = crash.or_else(|| output.lines().find(is_message)).unwrap_or_default();
            first.trim().clone_into(&mut test.message);
            if let Some((_, time)) = hung.filter(|_| kind == CaseKind::Test) {
                test.message = format!("the test was stopped after {time}");
            } else if !unended.is_empty() && kind == CaseKind::Unloaded {
                let names = unended.join("`, `");
                let verb = if unended.len() == 1 { "was" } else { "were" };
                test.message
                    .push_str(&format!(" (the process ended while `{names}` {verb} running)"));
            }
            test.stack = output;
        }
        // As where a subtest fails by itself.
        let outer = unended.iter().filter(|outer| is_below(&test.id, outer));
        let outer = outer.map(|outer| ReportedTest { id: (*outer).to_owned(), ..test.clone() });
        tests.extend(outer.collect::<Vec<_>>());
        tests.push(test);
    }
    tests
}

/// The only test that ran when the time of its package was over, and for how long: Go lists those that ran, and
/// those around them.
fn hung_test(output: &str) -> Option<(&str, &str)> {
    let mut lines = output.lines().skip_while(|line| !line.starts_with(TIMED_OUT)).skip(1);
    lines.next().filter(|line| line.trim() == "running tests:")?;
    let listed = lines.map_while(|line| line.strip_prefix("\t\t")?.strip_suffix(')'));
    let listed: Vec<(&str, &str)> = listed.filter_map(|line| line.split_once(" (")).collect();
    let mut innermost =
        listed.iter().filter(|(outer, _)| !listed.iter().any(|(name, _)| is_below(name, outer)));
    innermost.next().copied().filter(|_| innermost.next().is_none())
}

/// Whether a test is a subtest of another one.
fn is_below(name: &str, outer: &str) -> bool {
    name.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
}

/// A line of output whose leading file name is completed to a path inside the module.
fn placed(line: &Line, module: &str) -> String {
    let text = line.output.trim_start();
    let folder = line.package.strip_prefix(module).map(|rest| rest.trim_start_matches('/'));
    let file = text.split(':').next().unwrap_or_default();
    let is_bare = file.ends_with(".go") && !file.contains(['/', ' ']);
    match folder.filter(|folder| is_bare && !folder.is_empty() && !module.is_empty()) {
        Some(folder) => {
            let indent = line.output.len() - text.len();
            format!("{:indent$}{folder}/{text}", "")
        }
        None => line.output.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ends_early_shows_its_panic_and_the_test_that_was_running() {
        let text = r#"{"Action":"run","Package":"m/a","Test":"TestLeaks"}
{"Action":"pass","Package":"m/a","Test":"TestLeaks","Elapsed":0}
{"Action":"run","Package":"m/a","Test":"TestWaits"}
{"Action":"output","Package":"m/a","Test":"TestWaits","Output":"=== RUN   TestWaits\n"}
{"Action":"output","Package":"m/a","Test":"TestWaits","Output":"panic: late: socket closed\n"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a\t0.041s\n"}
{"Action":"fail","Package":"m/a","Elapsed":0.04}"#;
        let tests = parse(text, "m");
        let failed = tests.iter().find(|test| test.status == Some(Status::Failed)).unwrap();
        assert_eq!(
            (failed.id.as_str(), failed.message.as_str()),
            (
                "m/a",
                "panic: late: socket closed (the process ended while `m/a.TestWaits` was running)"
            )
        );
    }

    #[test]
    fn endless_recursion_is_the_failure_of_the_test_that_runs() {
        let text = r#"{"Action":"run","Package":"m/a","Test":"TestDeep"}
{"Action":"output","Package":"m/a","Test":"TestDeep","Output":"runtime: goroutine stack exceeds 1000000000-byte limit\n"}
{"Action":"output","Package":"m/a","Test":"TestDeep","Output":"fatal error: stack overflow\n"}
{"Action":"fail","Package":"m/a","Elapsed":1.5}"#;
        let tests = parse(text, "m");
        let [test] = tests.as_slice() else { panic!("{tests:?}") };
        let shown = (test.id.as_str(), test.kind, test.message.as_str());
        assert_eq!(shown, ("m/a.TestDeep", CaseKind::Test, "fatal error: stack overflow"));
    }

    #[test]
    fn what_hangs_is_the_failure_of_the_test_that_ran_when_the_time_was_over() {
        let output = |text: &str| {
            format!(r#"{{"Action":"output","Package":"m/a","Test":"TestOther","Output":"{text}"}}"#)
        };
        let lines = [
            r#"{"Action":"run","Package":"m/a","Test":"TestHangs"}"#.to_owned(),
            r#"{"Action":"run","Package":"m/a","Test":"TestHangs/full"}"#.to_owned(),
            r#"{"Action":"fail","Package":"m/a","Test":"TestHangs/short","Elapsed":0}"#.to_owned(),
            r#"{"Action":"run","Package":"m/a","Test":"TestOther"}"#.to_owned(),
            output(r"panic: test timed out after 5s\n"),
            output(r"\trunning tests:\n"),
            output(r"\t\tTestHangs (5s)\n"),
            output(r"\t\tTestHangs/full (5s)\n"),
            output(r"\n"),
            output(r"\t/src/a/ring.go:40 +0xb7\n"),
            r#"{"Action":"pass","Package":"m/a","Test":"TestOther","Elapsed":0}"#.to_owned(),
            r#"{"Action":"fail","Package":"m/a","Elapsed":5.01}"#.to_owned(),
        ];
        let tests = parse(&lines.join("\n"), "m");
        let [short, other, outer, hung] = tests.as_slice() else { panic!("{tests:?}") };
        assert_eq!(
            (short.id.as_str(), short.status),
            ("m/a.TestHangs/short", Some(Status::Failed))
        );
        assert_eq!((other.id.as_str(), other.status), ("m/a.TestOther", Some(Status::Passed)));
        for (test, id) in [(outer, "m/a.TestHangs"), (hung, "m/a.TestHangs/full")] {
            let shown = (test.id.as_str(), test.kind, test.message.as_str());
            assert_eq!(shown, (id, CaseKind::Test, "the test was stopped after 5s"));
        }
        assert!(hung.stack.contains("/src/a/ring.go:40"), "{}", hung.stack);
    }

    #[test]
    fn subtests_and_packages_that_do_not_build_are_read() {
        let text = r#"{"Action":"run","Package":"m/a","Test":"TestX"}
{"Action":"output","Package":"m/a","Test":"TestX/sub","Output":"    a_test.go:5: got 1\n"}
{"Action":"fail","Package":"m/a","Test":"TestX/sub","Elapsed":0.01}
{"Action":"fail","Package":"m/a","Test":"TestX","Elapsed":0.01}
{"Action":"skip","Package":"m/a","Test":"TestY","Elapsed":0}
{"Action":"fail","Package":"m/a","Elapsed":0.02}
{"Action":"output","Package":"m/b","Output":"b.go:3:1: syntax error\n"}
{"Action":"fail","Package":"m/b","Elapsed":0}
not json"#;
        let tests = parse(text, "m");
        let short: Vec<_> = tests.iter().map(|t| (t.id.as_str(), t.status.unwrap())).collect();
        assert_eq!(
            short,
            [
                ("m/a.TestX/sub", Status::Failed),
                ("m/a.TestX", Status::Failed),
                ("m/a.TestY", Status::Skipped),
                ("m/b", Status::Failed),
            ]
        );
        assert_eq!(tests[0].message, "a/a_test.go:5: got 1");
        assert_eq!(tests[0].duration_ms, 10);
    }
}
