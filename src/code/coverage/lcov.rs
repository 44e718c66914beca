//! Reads lcov tracefiles: one record per line, where `SF` starts the section of a file.

use super::{BadReport, Report};

pub fn read(text: &str) -> Result<Report, BadReport> {
    let mut report = Report::of("lcov");
    let mut current: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        let bad = |expected: &str| BadReport::at(index + 1, expected);
        let (kind, rest) = line.split_once(':').unwrap_or((line.trim(), ""));
        if kind == "SF" {
            report.file(rest);
            current = Some(rest.to_owned());
            continue;
        }
        if kind == "end_of_record" {
            current = None;
            continue;
        }
        let Some(path) = &current else { continue };
        let file = report.file(path);
        let parts: Vec<&str> = rest.split(',').collect();
        match (kind, parts.as_slice()) {
            ("DA", [line, hits, ..]) => {
                let line = line.parse().map_err(|_none| bad("`DA:line,count`"))?;
                // Some tools write fractional or negative counts.
                let hits: f64 = hits.parse().map_err(|_none| bad("`DA:line,count`"))?;
                file.line(line, u64::from(hits > 0.0));
            }
            ("DA", _) => return Err(bad("`DA:line,count`")),
            ("BRDA", [line, .., count]) if parts.len() >= 4 => {
                let line = line.parse().map_err(|_none| bad("`BRDA:line,block,branch,taken`"))?;
                file.branch(line, u32::from(!matches!(*count, "-" | "0")), 1);
            }
            ("FN", [start, .., name]) => {
                if let Ok(start) = start.parse() {
                    file.functions.entry((*name).to_owned()).or_insert((start, 0));
                }
            }
            ("FNDA", [hits, name]) => {
                if let (Ok(hits), Some(known)) = (hits.parse(), file.functions.get_mut(*name)) {
                    known.1 = hits;
                }
            }
            _ => {}
        }
    }
    Ok(report)
}
