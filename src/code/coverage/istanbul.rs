//! Reads Istanbul's `coverage-final.json`, as written by c8, nyc, Jest and Vitest.

use serde_json::Value;

use super::{BadReport, Report, number};

/// Reads a report, a JSON object with one entry per file.
pub fn read(value: &Value) -> Result<Report, BadReport> {
    let mut report = Report::of("Istanbul JSON");
    let expected = |what: &str| BadReport::at(1, what);
    let files = value.as_object().ok_or_else(|| expected("an object of files"))?;
    for (path, file_report) in files {
        let statements = file_report["statementMap"]
            .as_object()
            .ok_or_else(|| expected("`statementMap` for each file"))?;
        let file = report.file(path);
        for (id, place) in statements {
            let line = number(&place["start"]["line"]);
            let hits = file_report["s"][id].as_u64().unwrap_or(0);
            file.line(line.ok_or_else(|| expected("a line of each statement"))?, hits);
        }
        for (id, place) in file_report["branchMap"].as_object().into_iter().flatten() {
            let line = number(&place["loc"]["start"]["line"]).or_else(|| number(&place["line"]));
            let counts = file_report["b"][id].as_array();
            if let (Some(line), Some(counts)) = (line, counts) {
                for count in counts {
                    file.branch(line, u32::from(count.as_u64().unwrap_or(0) > 0), 1);
                }
            }
        }
        for (id, place) in file_report["fnMap"].as_object().into_iter().flatten() {
            let line = number(&place["decl"]["start"]["line"]);
            if let (Some(name), Some(line)) = (place["name"].as_str(), line) {
                let hits = file_report["f"][id].as_u64().unwrap_or(0);
                file.add_function(name, line, hits);
            }
        }
    }
    Ok(report)
}
