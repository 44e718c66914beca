//! Reads raw V8 coverage: nested character ranges with counts, where the innermost range decides.

use serde_json::Value;

use super::script_branches::ScriptCounts;
use super::{BadReport, Report};
use crate::domain::coverage::FileLines;

/// Maximum size of a source in bytes.
const SOURCE: usize = 4 << 20;

/// The place in a line, in UTF-16 code units, that decides whether the line ran: its first character
/// besides closing brackets, because in `} else if (a) {` the condition is what runs. The rest of the
/// line may belong to a nested function or branch.
pub fn first_code(line: &str) -> usize {
    let is_closing = |c: char| c.is_whitespace() || "})];,".contains(c);
    let code = line.trim_start_matches(is_closing);
    let code = if code.is_empty() { line.trim_start() } else { code };
    line.encode_utf16().count() - code.encode_utf16().count()
}

/// The lines of a script that V8 has not loaded, which is in no report.
pub fn unloaded_lines(text: &str) -> FileLines {
    let mut file = FileLines::default();
    for (number, _) in (1..).zip(text.lines()) {
        file.line(number, 0);
    }
    file
}

/// The text of a script that a driver of ours adds where it is not that of the file, and the lines of the
/// file by its offsets.
fn made_text(script: &Value) -> Option<(String, Vec<(usize, u32)>)> {
    let pair = |pair: &Value| {
        let number = |at: usize| usize::try_from(pair[at].as_u64()?).ok();
        Some((number(0)?, u32::try_from(number(1)?).ok()?))
    };
    let lines = script["lines"].as_array()?.iter().filter_map(pair).collect();
    Some((script["source"].as_str()?.to_owned(), lines))
}

/// A named function: its name, where it begins, and how often it ran.
type Named = (String, usize, u64);

/// Reads a report; `source` returns the text of a file, without which its offsets have no lines.
pub fn read(value: &Value, source: &dyn Fn(&str) -> Option<String>) -> Result<Report, BadReport> {
    let mut report = Report::of("V8 JSON");
    for script in value["result"].as_array().into_iter().flatten() {
        let url = script["url"].as_str().ok_or_else(|| BadReport::at(1, "`url` of each script"))?;
        let Some(path) = url.strip_prefix("file://") else { continue };
        let (text, lines) = match made_text(script) {
            Some((text, lines)) => (Some(text), Some(lines)),
            None => (source(path), None),
        };
        let Some(text) = text.filter(|text| text.len() <= SOURCE) else { continue };
        let (counts, functions) = counts(script, &text)?;
        // What a loader made of the file has other places.
        let is_own = end(script) == counts.len();
        if lines.is_none() {
            let functions = if is_own { functions } else { Vec::new() };
            note_lines(report.file(path), &text, &counts, &functions);
        }
        let counts: Vec<u64> = counts.into_iter().map(Option::unwrap_or_default).collect();
        if is_own {
            report.add_script(path, ScriptCounts { text, lines, counts });
        }
    }
    Ok(report)
}

/// Where the text of a script ends.
fn end(script: &Value) -> usize {
    let functions = script["functions"].as_array().into_iter().flatten();
    let ranges = functions.flat_map(|function| function["ranges"].as_array().into_iter().flatten());
    let ends = ranges.filter_map(|range| usize::try_from(range["endOffset"].as_u64()?).ok());
    ends.max().unwrap_or(0)
}

/// The count of each UTF-16 code unit, in which V8 states offsets, and the functions.
fn counts(script: &Value, text: &str) -> Result<(Vec<Option<u64>>, Vec<Named>), BadReport> {
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
    Ok((counts, functions))
}

/// Notes all lines, those without code too, as Node.js and c8 count them.
fn note_lines(file: &mut FileLines, text: &str, counts: &[Option<u64>], functions: &[Named]) {
    let mut offset = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let length = line.encode_utf16().count();
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let own = counts.get(offset..offset + length).unwrap_or_default();
        // A line did not run if it lies whole in what did not, with its indentation.
        let width = line.trim_end().encode_utf16().count().max(1);
        let hits = own.get(..width).and_then(|own| own.iter().max());
        if let Some(hits) = hits.copied().flatten() {
            file.line(number, hits);
        }
        for (name, start, hits) in functions {
            if (offset..offset + length).contains(start) {
                file.add_function(name, number, *hits);
            }
        }
        offset += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_of_an_else_decides_its_line() {
        // The first branch did not run, and the condition of the second one did.
        let text = "if (a) {\n  b();\n} else if (c) {\n  d();\n}\n";
        let range = |from: usize, to: usize, count: u64| serde_json::json!({ "startOffset": from, "endOffset": to, "count": count });
        let ranges = [range(0, text.len(), 1), range(7, 18, 0), range(31, 41, 0)];
        let function = serde_json::json!({ "functionName": "", "ranges": ranges });
        let value =
            serde_json::json!({ "result": [{ "url": "file:///a.js", "functions": [function] }] });
        let report = read(&value, &|_| Some(text.to_owned())).unwrap();
        let hits: Vec<(u32, u64)> =
            report.files["/a.js"].lines.iter().map(|(line, hits)| (*line, *hits)).collect();
        assert_eq!(hits, [(1, 1), (2, 0), (3, 1), (4, 0), (5, 0)]);
    }

    #[test]
    fn closing_brackets_decide_only_a_line_of_their_own() {
        for (line, expected) in
            [("  a();", 2), ("  } else {", 4), ("\u{1f600}", 0), ("  });", 2), ("", 0)]
        {
            assert_eq!(first_code(line), expected, "{line:?}");
        }
    }
}
