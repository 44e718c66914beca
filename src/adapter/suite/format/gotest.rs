//! Parses the events of `go test -json`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::domain::test::{CaseKind, Status};

use super::{ReportedTest, STACK_LIMIT, milliseconds};

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
/// not build, or panics outside of one) is a failing test named after the package, unless the runtime itself
/// ends the process, as for endless recursion, while one test runs: that is the failure of this test. Tests print
/// files without their folder, which is the package's below `module`.
pub fn parse(text: &str, module: &str) -> Vec<ReportedTest> {
    let mut tests: Vec<ReportedTest> = Vec::new();
    let mut outputs: BTreeMap<String, String> = BTreeMap::new();
    // Tests that have begun and not ended, with their packages.
    let mut running: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
        let id = match &line.test {
            Some(test) => format!("{}.{test}", line.package),
            None => line.package.clone(),
        };
        let status = match line.action.as_str() {
            "output" | "build-output" => {
                let id = if line.import_path.is_empty() { id } else { line.import_path.clone() };
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
            if status != Status::Failed || explained {
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
        let own = if let [test] = unended.as_slice()
            && is_fatal
        {
            Some((*test).to_owned())
        } else {
            line.test.as_ref().map(|_| id.clone())
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
            if !unended.is_empty() && kind == CaseKind::Unloaded {
                let names = unended.join("`, `");
                let verb = if unended.len() == 1 { "was" } else { "were" };
                test.message
                    .push_str(&format!(" (the process ended while `{names}` {verb} running)"));
            }
            test.stack = output;
        }
        tests.push(test);
    }
    tests
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
