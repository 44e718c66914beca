//! Draws a unified diff as HTML, and marks the part of each line that differs.

use super::writer::{Html, number};

/// Limits of the whole change, in bytes and in lines.
const BYTES: usize = 250_000;
const LINES: usize = 2_000;

/// Longest line that is shown, in characters.
const WIDTH: usize = 400;

/// Lines of a run whose parts are compared.
const COMPARED: usize = 40;

pub(super) fn whole(html: &mut Html, change: &str) {
    patch(html, change, BYTES, LINES, "the session's `patches/all.patch`");
}

/// Draws a unified diff within `bytes` and `lines`; `place` says where the rest is.
pub(super) fn patch(html: &mut Html, patch: &str, bytes: usize, lines: usize, place: &str) {
    let began = html.len();
    let mut shown = 0;
    let mut rows = patch.lines().peekable();
    let region =
        [("class", "diff"), ("tabindex", "0"), ("role", "region"), ("aria-label", "Change")];
    html.inside("pre", &region, |html| {
        html.inside("code", &[], |html| {
            let mut header = true;
            while let Some(first) = rows.peek().copied() {
                if shown >= lines || html.len() - began > bytes {
                    break;
                }
                if first.starts_with("@@") {
                    header = false;
                } else if first.starts_with("diff --git") || (first.starts_with("--- ") && !header)
                {
                    // A removed line may begin with `-- `, but only a header is followed by `+++`.
                    let mut ahead = rows.clone();
                    ahead.next();
                    header = first.starts_with("diff")
                        || ahead.next().is_some_and(|next| next.starts_with("+++ "));
                }
                if header || !first.starts_with(['-', '+']) {
                    rows.next();
                    shown += 1;
                    whole_line(html, if header { "file" } else { kind(first) }, first);
                    continue;
                }
                let most = COMPARED.min(lines - shown);
                let gone = run(&mut rows, '-', most);
                let come = run(&mut rows, '+', most);
                shown += gone.len() + come.len();
                pair(html, &gone, &come);
            }
        });
    });
    let total =
        memchr::memchr_iter(b'\n', patch.as_bytes()).count() + usize::from(!patch.ends_with('\n'));
    if shown < total {
        let text = number((total - shown) as u64);
        html.leaf("p", "left", &format!("{text} more lines are not drawn here: {place}."));
    }
}

fn run<'a>(
    rows: &mut std::iter::Peekable<std::str::Lines<'a>>,
    sign: char,
    most: usize,
) -> Vec<&'a str> {
    let mut found = Vec::new();
    while found.len() < most {
        match rows.next_if(|row| row.starts_with(sign)) {
            Some(row) => found.push(row),
            None => break,
        }
    }
    found
}

fn kind(row: &str) -> &'static str {
    match row.as_bytes().first() {
        Some(b'@') => "hunk",
        Some(b'\\' | b'd' | b'i' | b'n' | b'o' | b'r' | b's') => "file",
        _ => "same",
    }
}

/// Draws removed and added lines. If there are equally many, the part that differs is marked.
fn pair(html: &mut Html, gone: &[&str], come: &[&str]) {
    let alike = gone.len() == come.len();
    let draw = |html: &mut Html,
                class: &'static str,
                mark: &'static str,
                row: &str,
                other: Option<&&str>| {
        let row = cut(row, WIDTH);
        let Some((from, to)) = other.and_then(|other| differs(&row, &cut(other, WIDTH))) else {
            whole_line(html, class, &row);
            return;
        };
        let part = |from: usize, to: usize| row.get(from..to).unwrap_or_default();
        html.inside("span", &[("class", class)], |html| {
            html.text(part(0, from));
            html.leaf(mark, "", part(from, to));
            html.text(part(to, row.len()));
        });
    };
    for (at, row) in gone.iter().enumerate() {
        draw(html, "gone", "del", row, come.get(at).filter(|_| alike));
    }
    for (at, row) in come.iter().enumerate() {
        draw(html, "come", "ins", row, gone.get(at).filter(|_| alike));
    }
}

fn whole_line(html: &mut Html, class: &str, row: &str) {
    // An empty line would collapse to no height.
    let row = cut(row, WIDTH);
    html.leaf("span", class, if row.is_empty() { " " } else { &row });
}

/// At most `width` characters of a line.
pub(super) fn cut(row: &str, width: usize) -> String {
    match row.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", row.get(..end).unwrap_or_default()),
        None => row.to_owned(),
    }
}

/// The byte range of `row`, after its sign, that remains when the common start and end with `other`
/// are removed. `None` when little is common, as marking everything marks nothing.
fn differs(row: &str, other: &str) -> Option<(usize, usize)> {
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
            let found = differs(row, other).and_then(|(from, to)| row.get(from..to));
            assert_eq!(found, expected, "{row} {other}");
        }
    }

    #[test]
    fn a_line_that_looks_like_a_header_is_a_line() {
        let mut html = Html::default();
        let text = "--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1 @@\n--- a comment\n same\n--- a/b.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n";
        patch(&mut html, text, 9_999, 99, "nowhere");
        let page = html.finish();
        let lines: Vec<&str> = page.split("<span class=\"").skip(1).collect();
        let kinds: Vec<&str> = lines.iter().map(|line| line.split('"').next().unwrap()).collect();
        assert_eq!(
            kinds,
            ["file", "file", "hunk", "gone", "same", "file", "file", "hunk", "gone", "come"],
            "{page}"
        );
    }

    #[test]
    fn a_huge_change_is_cut_and_counted() {
        let mut html = Html::default();
        let text =
            format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n{}", "+a line of a change\n".repeat(500_000));
        patch(&mut html, &text, 5_000, 9_999, "the branch");
        let page = html.finish();
        assert!(page.len() < 10_000, "{}", page.len());
        assert!(page.contains("more lines are not drawn here: the branch."), "{page}");
    }
}
