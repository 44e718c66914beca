//! Reads Go cover profiles: lines of `file:from.column,to.column statements count`.

use super::{BadReport, Report};

/// Maximum number of lines of one block, so that a bad report cannot exhaust memory.
const BLOCK: u32 = 100_000;

/// Reads a profile; a line counts as run if any block that contains it ran.
pub fn read(text: &str) -> Result<Report, BadReport> {
    let mut report = Report::of("Go cover profile");
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("mode: ") || line.trim().is_empty() {
            continue;
        }
        let block = block(line).ok_or_else(|| {
            BadReport::at(index + 1, "`file.go:line.column,line.column statements count`")
        })?;
        let file = report.file(block.file);
        // The last line of a block often holds only its closing brace, which is not a statement.
        let last =
            if block.to > block.from && block.to_column <= 3 { block.to - 1 } else { block.to };
        for line in block.from..=last.min(block.from.saturating_add(BLOCK)) {
            file.line(line, block.count);
        }
    }
    Ok(report)
}

struct Block<'a> {
    file: &'a str,
    from: u32,
    to: u32,
    to_column: u32,
    count: u64,
}

fn block(line: &str) -> Option<Block<'_>> {
    let (file, rest) = line.rsplit_once(':')?;
    let mut parts = rest.split_whitespace();
    let (from, to) = parts.next()?.split_once(',')?;
    let _statements: u32 = parts.next()?.parse().ok()?;
    let count = parts.next()?.parse().ok()?;
    let (from, _) = from.split_once('.')?;
    let (to, to_column) = to.split_once('.')?;
    Some(Block {
        file,
        from: from.parse().ok()?,
        to: to.parse().ok()?,
        to_column: to_column.parse().ok()?,
        count,
    })
}
