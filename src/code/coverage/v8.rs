//! Reads raw V8 coverage: nested character ranges with counts, where the innermost range decides.

use serde_json::Value;

use super::{BadReport, Report};

/// Maximum size of a source in bytes.
const SOURCE: usize = 4 << 20;

/// Reads a report; `source` returns the text of a file, without which its offsets have no lines.
pub fn read(value: &Value, source: &dyn Fn(&str) -> Option<String>) -> Result<Report, BadReport> {
    let mut report = Report::of("V8 JSON");
    for script in value["result"].as_array().into_iter().flatten() {
        let url = script["url"].as_str().ok_or_else(|| BadReport::at(1, "`url` of each script"))?;
        let Some(path) = url.strip_prefix("file://") else { continue };
        let Some(text) = source(path).filter(|text| text.len() <= SOURCE) else { continue };
        // V8 counts offsets in UTF-16 code units.
        let mut counts: Vec<Option<u64>> = vec![None; text.encode_utf16().count()];
        let mut functions = Vec::new();
        for function in script["functions"].as_array().into_iter().flatten() {
            let ranges = function["ranges"].as_array();
            for range in ranges.into_iter().flatten() {
                let at = |key: &str| usize::try_from(range[key].as_u64()?).ok();
                let (Some(from), Some(to)) = (at("startOffset"), at("endOffset")) else {
                    return Err(BadReport::at(1, "`startOffset` and `endOffset` of each range"));
                };
                let to = to.min(counts.len());
                if let Some(part) = counts.get_mut(from..to) {
                    part.fill(Some(range["count"].as_u64().unwrap_or(0)));
                }
            }
            let first = ranges.and_then(|ranges| ranges.first());
            if let (Some(name), Some(first)) = (function["functionName"].as_str(), first)
                && !name.is_empty()
            {
                let start = usize::try_from(first["startOffset"].as_u64().unwrap_or(0));
                let hits = first["count"].as_u64().unwrap_or(0);
                functions.push((name.to_owned(), start.unwrap_or(0), hits));
            }
        }
        let file = report.file(path);
        let mut offset = 0;
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let length = line.encode_utf16().count();
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let own = counts.get(offset..offset + length).unwrap_or_default();
            let holds_code = line.chars().any(char::is_alphanumeric);
            // A line counts as run if its first non-blank character did; the rest may belong to a
            // nested function or branch.
            let blank = line.chars().take_while(|c| c.is_whitespace()).map(char::len_utf16).sum();
            let first = own.get::<usize>(blank).copied().flatten();
            if let (true, Some(hits)) = (holds_code, first) {
                file.line(number, hits);
            }
            for (name, start, hits) in &functions {
                if (offset..offset + length).contains(start) {
                    file.functions.insert(name.clone(), (number, *hits));
                }
            }
            offset += length;
        }
    }
    Ok(report)
}
