//! Reads the JSON reports of coverage.py.

use serde_json::Value;

use super::{BadReport, Report, number};

/// Reads a report; `files` is known to be an object.
pub fn read(value: &Value) -> Result<Report, BadReport> {
    let mut files = value["files"].as_object().into_iter().flatten();
    let has_branches = files.any(|(_, file)| file["missing_branches"].is_array());
    let lines_only = "coverage.py JSON, lines only";
    let mut report = Report::of(if has_branches { "coverage.py JSON" } else { lines_only });
    let expected = || BadReport::at(1, "`executed_lines` and `missing_lines` for each file");
    for (path, file_report) in value["files"].as_object().into_iter().flatten() {
        let file = report.file(path);
        for (key, hits) in [("executed_lines", 1), ("missing_lines", 0)] {
            for line in file_report[key].as_array().ok_or_else(expected)? {
                file.line(number(line).ok_or_else(expected)?, hits);
            }
        }
        for (key, ran) in [("executed_branches", 1), ("missing_branches", 0)] {
            for arc in file_report[key].as_array().into_iter().flatten() {
                if let Some(line) = arc.get(0).and_then(number) {
                    file.branch(line, ran, 1);
                }
            }
        }
        for (name, function) in file_report["functions"].as_object().into_iter().flatten() {
            if let (false, Some(start)) = (name.is_empty(), number(&function["start_line"])) {
                let lines = function["executed_lines"].as_array();
                let hits = lines.map_or(0, |lines| lines.len() as u64);
                file.functions.insert(name.clone(), (start, hits));
            }
        }
    }
    Ok(report)
}
