//! The JSON lines that our own drivers for pytest, unittest and `node --test` write.

use serde::Deserialize;

use crate::domain::test::Status;

use super::{ParsedReport, ReportedTest};

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: String,
    #[serde(default)]
    names: Option<Vec<Option<String>>>,
    status: Option<Status>,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    ms: u64,
    #[serde(default)]
    class: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    stack: String,
    #[serde(default)]
    end: bool,
}

/// Reads the lines. One that is torn by a crash, or is not ours, is passed over.
#[must_use]
pub fn parse(text: &str) -> ParsedReport {
    let mut report = ParsedReport::default();
    for line in text.lines() {
        let Ok(line) = serde_json::from_str::<Line>(line) else { continue };
        if line.end {
            report.complete = true;
            continue;
        }
        let id = match (line.names, &line.file) {
            (Some(names), file) => {
                let names: Vec<String> = names.into_iter().flatten().collect();
                let file = file.clone().unwrap_or_default();
                if names.is_empty() { file } else { format!("{file}::{}", names.join(" > ")) }
            }
            (None, _) => line.id,
        };
        report.tests.push(ReportedTest {
            id,
            status: line.status,
            file: line.file,
            line: line.line,
            duration_ms: line.ms,
            class: line.class,
            message: line.message,
            stack: line.stack,
        });
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_last_line_and_a_missing_end_are_seen() {
        let text = "{\"id\":\"a\",\"status\":\"passed\",\"ms\":3}\n{\"id\":\"b\",\"sta";
        let report = parse(text);
        assert_eq!(report.tests.len(), 1);
        assert!(!report.complete);
        assert!(parse("{\"end\": true}\n").complete);
    }
}
