//! Reads a unified diff as rows, and marks the part of each line that differs.

use std::ops::Range;

use serde_json::{Value, json};

use super::limits::{cut_line, take_fitting};

/// Limits of the whole change, in bytes and in lines.
const BYTES: usize = 250_000;
const LINES: usize = 2_000;

/// Longest line that is shown, in characters.
const WIDTH: usize = 400;

/// Lines of a run whose parts are compared.
const COMPARED: usize = 40;

/// The rows of the whole change.
pub(super) fn read_whole(change: &str) -> Value {
    read(change, &mut { BYTES }, LINES, "the session's `patches/all.patch`")
}

/// The rows of a unified diff that fit in `room` bytes and in `lines`; `place` says where the rest is.
pub(super) fn read(patch: &str, room: &mut usize, lines: usize, place: &str) -> Value {
    let rows = take_fitting(&mut compare_runs(patch, lines).into_iter(), room);
    json!({ "left": patch.lines().count() - rows.len(), "rows": rows, "place": place })
}

/// A kind, and a line in three parts, of which the second differs.
type Row = (&'static str, String, String, String);

fn compare_runs(patch: &str, most: usize) -> Vec<Row> {
    let lines = classify_lines(patch, most);
    let runs: Vec<&[(&str, String)]> = lines.chunk_by(|one, next| one.0 == next.0).collect();
    let run =
        |at: usize, kind: &str| runs.get(at).filter(|run| run.iter().all(|row| row.0 == kind));
    let mut rows = Vec::new();
    for (at, lines) in runs.iter().enumerate() {
        // If as many lines are added as removed, each is compared with its counterpart.
        let other = match run(at, "gone") {
            Some(_) => run(at + 1, "come"),
            None => run(at, "come").and_then(|_| run(at.checked_sub(1)?, "gone")),
        };
        let other = other.filter(|other| other.len() == lines.len() && lines.len() <= COMPARED);
        for (index, (kind, line)) in lines.iter().enumerate() {
            let differing = other.and_then(|other| find_difference(line, &other.get(index)?.1));
            let (from, to) = differing.unwrap_or((line.len(), line.len()));
            let part = |range: Range<usize>| line.get(range).unwrap_or_default().to_owned();
            rows.push((*kind, part(0..from), part(from..to), part(to..line.len())));
        }
    }
    rows
}

/// The first lines, cut to their width, and what kind each is.
fn classify_lines(patch: &str, most: usize) -> Vec<(&'static str, String)> {
    let lines: Vec<&str> = patch.lines().take(most + 1).collect();
    let mut header = true;
    let mut kind = |at: usize, line: &str| {
        if line.starts_with("@@") {
            header = false;
        } else if line.starts_with("diff --git") {
            header = true;
        } else if line.starts_with("--- ") && !header {
            // A removed line may begin with `-- `, but only a header is followed by `+++`.
            header = lines.get(at + 1).is_some_and(|next| next.starts_with("+++ "));
        }
        match line.as_bytes().first() {
            _ if header => "file",
            Some(b'-') => "gone",
            Some(b'+') => "come",
            Some(b'@') => "hunk",
            Some(b'\\' | b'd' | b'i' | b'n' | b'o' | b'r' | b's') => "file",
            _ => "same",
        }
    };
    // An empty line would collapse to no height.
    let shown = |line: &str| if line.is_empty() { " ".to_owned() } else { cut_line(line, WIDTH) };
    let lines = lines.iter().take(most).enumerate();
    lines.map(|(at, line)| (kind(at, line), shown(line))).collect()
}

/// The byte range of `row`, after its sign, that remains when the common start and end with `other`
/// are removed. `None` when little is common, as marking everything marks nothing.
fn find_difference(row: &str, other: &str) -> Option<(usize, usize)> {
    let (inner, beside) = (row.get(1..)?, other.get(1..)?);
    let same = |a: &mut dyn Iterator<Item = char>, b: &mut dyn Iterator<Item = char>| -> usize {
        a.zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let ahead = same(&mut inner.chars(), &mut beside.chars());
    let (rest, other_rest) = (inner.get(ahead..)?, beside.get(ahead..)?);
    let behind = same(&mut rest.chars().rev(), &mut other_rest.chars().rev());
    // Words are marked as a whole.
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let middle = |rest: &str| rest.get(..rest.len() - behind).unwrap_or_default().to_owned();
    let (mine, theirs) = (middle(rest), middle(other_rest));
    let (before, after) = (inner.get(..ahead)?, rest.get(rest.len() - behind..)?);
    let ahead = if mine.starts_with(word) || theirs.starts_with(word) {
        before.trim_end_matches(word).len()
    } else {
        ahead
    };
    let behind = if mine.ends_with(word) || theirs.ends_with(word) {
        after.trim_start_matches(word).len()
    } else {
        behind
    };
    let known = inner.get(..ahead)?.trim_start().len() + behind;
    (known * 3 >= inner.trim_start().len() && inner.len() > ahead + behind)
        .then_some((1 + ahead, row.len() - behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::html::templates::render_template;

    #[test]
    fn the_part_that_differs_is_found_within_characters() {
        let table = [
            ("-a < b", "+a <= b", None),
            ("+a <= b", "-a < b", Some("=")),
            ("-price(ä, 1)", "+price(ö, 1)", Some("ä")),
            ("-nothing alike", "+xyz", None),
            ("-same", "+same", None),
            ("-text.lower()", "+text.upper()", Some("lower")),
            ("+if x not in y:", "-if x in y:", Some("not ")),
            ("-if x in y:", "+if x not in y:", None),
        ];
        for (row, other, expected) in table {
            let found = find_difference(row, other).and_then(|(from, to)| row.get(from..to));
            assert_eq!(found, expected, "{row} {other}");
        }
    }

    #[test]
    fn a_line_that_looks_like_a_header_is_a_line() {
        let text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1 @@\n--- a comment\n same\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n";
        let kinds: Vec<&str> = compare_runs(text, 99).into_iter().map(|(kind, ..)| kind).collect();
        assert_eq!(
            kinds,
            ["file", "file", "hunk", "gone", "same", "file", "file", "hunk", "gone", "come"]
        );
    }

    #[test]
    fn a_huge_change_is_cut_and_counted() {
        let text =
            format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n{}", "+a line of a change\n".repeat(500_000));
        let read = read(&text, &mut 5_000, 9_999, "the branch");
        let change = json!({ "id": "change", "body": { "change": read }, "intro": "", "tail": "" });
        let page = render_template("part.html", &json!({ "part": change })).unwrap();
        assert!(page.len() < 10_000, "{}", page.len());
        assert!(page.contains("more lines are not drawn here: the branch."), "{page}");
    }
}
