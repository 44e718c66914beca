//! The events of `go test -json`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::domain::test::Status;

use super::{STACK_LIMIT, Told};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    elapsed: f64,
    #[serde(default)]
    output: String,
}

/// Reads the events. Ids are `package.Test`; a package that fails without a failing test (it does
/// not build, or panics outside of one) is a failing test named after the package.
#[must_use]
pub fn parse(text: &str) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    let mut outputs: BTreeMap<String, String> = BTreeMap::new();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
        let id = match &line.test {
            Some(test) => format!("{}.{test}", line.package),
            None => line.package.clone(),
        };
        let status = match line.action.as_str() {
            "output" | "build-output" => {
                let kept = outputs.entry(id).or_default();
                if kept.len() < STACK_LIMIT {
                    kept.push_str(&line.output);
                }
                continue;
            }
            "pass" => Status::Passed,
            "fail" => Status::Failed,
            "skip" => Status::Skipped,
            _ => continue,
        };
        if line.test.is_none() {
            let inner = format!("{}.", line.package);
            let explained = told
                .iter()
                .any(|test| test.id.starts_with(&inner) && test.status == Some(Status::Failed));
            if status != Status::Failed || explained {
                continue;
            }
        }
        let output = outputs.remove(&id).unwrap_or_default();
        let mut test = Told { id, status: Some(status), ..Told::default() };
        // Seconds as Go prints them: two decimals, far below where f64 loses them.
        test.duration_ms = std::time::Duration::try_from_secs_f64(line.elapsed)
            .map_or(0, |took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        if status == Status::Failed {
            let told_of = |line: &&str| {
                let line = line.trim();
                !line.is_empty() && !line.starts_with("===") && !line.starts_with("---")
            };
            let first = output.lines().find(told_of).unwrap_or_default();
            first.trim().clone_into(&mut test.message);
            test.stack = output;
        }
        told.push(test);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let told = parse(text);
        let short: Vec<_> = told.iter().map(|t| (t.id.as_str(), t.status.unwrap())).collect();
        assert_eq!(
            short,
            [
                ("m/a.TestX/sub", Status::Failed),
                ("m/a.TestX", Status::Failed),
                ("m/a.TestY", Status::Skipped),
                ("m/b", Status::Failed),
            ]
        );
        assert_eq!(told[0].message, "a_test.go:5: got 1");
        assert_eq!(told[0].duration_ms, 10);
    }
}
