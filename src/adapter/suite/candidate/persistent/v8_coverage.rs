//! Reads executed lines from the V8 coverage files of Node.js, which hold ranges of characters.

use std::path::Path;

use serde::Deserialize;

use crate::adapter::host::files;
use crate::code::coverage::first_code;
use crate::effect::{Lines, RunError};

use super::add_lines;
use crate::adapter::suite::format::PathMapper;
use crate::adapter::suite::io_error::cannot;

/// Bytes of one coverage file that are read at most.
const COVERAGE_LIMIT: u64 = 64 << 20;

#[derive(Deserialize)]
struct V8Report {
    result: Vec<V8Script>,
}

#[derive(Deserialize)]
struct V8Script {
    url: String,
    functions: Vec<V8Function>,
}

#[derive(Deserialize)]
struct V8Function {
    ranges: Vec<V8Range>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct V8Range {
    start_offset: usize,
    end_offset: usize,
    count: u64,
}

/// Executed lines by file of the repository.
pub fn executed_lines(folder: &Path, paths: &PathMapper) -> Result<Lines, RunError> {
    let mut lines = Lines::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(lines) };
    for entry in entries.flatten() {
        let path = entry.path();
        let bytes = files::read_untrusted(&path, COVERAGE_LIMIT).map_err(cannot("use", &path))?;
        let Ok(coverage) = serde_json::from_slice::<V8Report>(&bytes.unwrap_or_default()) else {
            continue;
        };
        for script in coverage.result {
            let Some(file) = paths.repo_path(&script.url) else { continue };
            let source = paths.root.join(file.as_str());
            let bytes =
                files::read_untrusted(&source, COVERAGE_LIMIT).map_err(cannot("use", &source))?;
            let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            add_lines(&mut lines, file, covered(&text, &script.functions));
        }
    }
    Ok(lines)
}

/// Lines whose deciding character lies in a range that ran; the innermost range decides.
fn covered(text: &str, functions: &[V8Function]) -> Vec<u32> {
    let ranges: Vec<&V8Range> = functions.iter().flat_map(|function| &function.ranges).collect();
    let mut found = Vec::new();
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let position = offset + first_code(line);
        let innermost = ranges
            .iter()
            .filter(|range| range.start_offset <= position && position < range.end_offset)
            .min_by_key(|range| range.end_offset - range.start_offset);
        if !line.trim().is_empty() && innermost.is_some_and(|range| range.count > 0) {
            found.push(u32::try_from(number + 1).unwrap_or(u32::MAX));
        }
        offset += line.encode_utf16().count();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_range_says_whether_a_line_ran() {
        let text = "const a = 1;\nfunction f() {\n  return 2;\n}\n";
        let ranges = |start: usize, end: usize, count| V8Function {
            ranges: vec![V8Range { start_offset: start, end_offset: end, count }],
        };
        let functions = [ranges(0, text.len(), 1), ranges(13, 41, 0)];
        assert_eq!(covered(text, &functions), [1]);
        let functions = [ranges(0, text.len(), 1), ranges(13, 41, 3)];
        assert_eq!(covered(text, &functions), [1, 2, 3, 4]);
        // The first branch did not run, and the condition of the second one did.
        let text = "if (a) {\n  b();\n} else if (c) {\n  d();\n}\n";
        let branches = [ranges(0, text.len(), 1), ranges(7, 17, 0), ranges(31, 41, 0)];
        assert_eq!(covered(text, &branches), [1, 3]);
    }
}
