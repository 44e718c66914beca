//! Reads foreign Markdown as a few plain elements: headings, lists, paragraphs, code. Links, images
//! and HTML stay the text they are.

use serde_json::{Value, json};

use super::limits::{cut_line, shorten_line, take_fitting};

/// Longest line that is shown, in characters.
const WIDTH: usize = 1_000;

/// The lines that fit in `room` bytes, in groups of one element, and whether all fitted.
pub(super) fn read(text: &str, room: &mut usize) -> Value {
    let mut fenced = false;
    let mut lines =
        without_front_matter(text).lines().filter_map(|line| read_element(line, &mut fenced));
    let shown = take_fitting(&mut lines, room);
    let groups: Vec<&[(&str, String)]> = shown.chunk_by(|one, next| one.0 == next.0).collect();
    json!({ "groups": groups, "is_whole": lines.next().is_none() })
}

/// The element that shows a line, and its text.
fn read_element(line: &str, fenced: &mut bool) -> Option<(&'static str, String)> {
    let trimmed = line.trim_start();
    let item = trimmed.strip_prefix("- ").or_else(|| trimmed.strip_prefix("* "));
    if trimmed.starts_with("```") {
        *fenced = !*fenced;
        return None;
    }
    match item {
        _ if *fenced => Some(("code", cut_line(line, WIDTH))),
        Some(item) => Some(("li", shorten_line(item, WIDTH))),
        None if trimmed.is_empty() => None,
        None if trimmed.starts_with('#') => {
            Some(("h4", shorten_line(trimmed.trim_start_matches('#'), WIDTH)))
        }
        None => Some(("p", shorten_line(trimmed, WIDTH))),
    }
}

/// The text without its header, which is a block between two lines of `---` at the start.
fn without_front_matter(text: &str) -> &str {
    text.strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, rest)| rest)
}

/// The pieces of a text, and whether each is a code span.
pub(super) fn split_spans(text: &str) -> Vec<(bool, &str)> {
    let mut spans = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        let inner = from.trim_start_matches('`');
        let (marks, _) = from.split_at(from.len() - inner.len());
        spans.push((false, before));
        if let Some((code, after)) = split_at_run(inner, marks.len()) {
            spans.push((true, code.trim()));
            rest = after;
        } else {
            spans.push((false, marks));
            rest = inner;
        }
    }
    spans.push((false, rest));
    spans
}

/// What is before and after the next run of exactly `length` backticks.
fn split_at_run(text: &str, length: usize) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find('`').map(|at| from + at) {
        let after = text.get(at..)?.trim_start_matches('`');
        from = text.len() - after.len();
        if from - at == length {
            return Some((text.get(..at)?, after));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::html::templates::render_template;

    /// The analysis as it stands on the page.
    fn written(text: &str, mut room: usize) -> String {
        render_template("prose.html", &json!({ "prose": read(text, &mut room) })).unwrap()
    }

    #[test]
    fn markdown_becomes_a_few_elements_and_nothing_more() {
        let text = "---\nk: v\n---\n## Why <b>\n\nSee `` a`b `` and [x](javascript:y) `open\n- one\n- `two`\n\n```py\n  x < 1\n```\n";
        insta::assert_snapshot!(written(text, 9_999), @r#"
        <div class="prose"><h4>Why &lt;b&gt;</h4>
        <p>See <code>a`b</code> and [x](javascript:y) `open</p>
        <ul><li>one</li>
        <li><code>two</code></li>
        </ul>
        <p class="code">  x &lt; 1</p>
        </div>
        "#);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_bounded(text in "[`#\\-* a\n]{0,400}") {
            proptest::prop_assert!(written(&text.repeat(50), 2_000).len() < 12_000);
        }
    }
}
