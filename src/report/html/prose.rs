//! Renders foreign Markdown with a few plain elements: headings, lists, paragraphs, code. Links,
//! images and HTML are shown as the text they are.

use super::change::cut;
use super::writer::{Html, short};

/// Longest line that is shown, in characters.
const WIDTH: usize = 1_000;

/// Writes `text` within `bytes` and says whether all of it fitted.
pub(super) fn write(html: &mut Html, text: &str, bytes: usize) -> bool {
    let began = html.len();
    let mut fits = true;
    html.inside("div", &[("class", "prose")], |html| {
        let mut list = false;
        let mut fence = false;
        for row in without_front_matter(text).lines() {
            if html.len() - began > bytes {
                fits = false;
                break;
            }
            let trimmed = row.trim_start();
            if trimmed.starts_with("```") {
                fence = !fence;
                continue;
            }
            let item = trimmed
                .strip_prefix("- ")
                .or_else(|| trimmed.strip_prefix("* "))
                .filter(|_| !fence);
            if list && item.is_none() {
                html.close();
            }
            if !list && item.is_some() {
                html.open("ul", &[]);
            }
            list = item.is_some();
            if fence {
                html.leaf("p", "code", &cut(row, WIDTH));
            } else if let Some(item) = item {
                html.inside("li", &[], |html| inline(html, &short(item, WIDTH)));
            } else if trimmed.starts_with('#') {
                html.leaf("h4", "", &short(trimmed.trim_start_matches('#'), WIDTH));
            } else if !trimmed.is_empty() {
                html.inside("p", &[], |html| inline(html, &short(trimmed, WIDTH)));
            }
        }
    });
    fits
}

/// The text without its header, which is a block between two lines of `---` at the start.
fn without_front_matter(text: &str) -> &str {
    text.strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(text, |(_, rest)| rest)
}

/// Renders code spans; everything else is plain text.
pub(super) fn inline(html: &mut Html, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        html.text(before);
        let fence = from.len() - from.trim_start_matches('`').len();
        let (marks, inner) = from.split_at(fence);
        if let Some(end) = closing(inner, fence) {
            html.leaf("code", "", inner.get(..end).unwrap_or_default().trim());
            rest = inner.get(end + fence..).unwrap_or_default();
        } else {
            html.text(marks);
            rest = inner;
        }
    }
    html.text(rest);
}

/// Position of the next run of exactly `fence` backticks.
fn closing(text: &str, fence: usize) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find('`').map(|at| from + at) {
        let run = text.get(at..)?.bytes().take_while(|byte| *byte == b'`').count();
        if run == fence {
            return Some(at);
        }
        from = at + run;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_a_few_elements_and_nothing_more() {
        let mut html = Html::default();
        let text = "---\nk: v\n---\n## Why <b>\n\nSee `` a`b `` and [x](javascript:y) `open\n- one\n- `two`\n\n```py\n  x < 1\n```\n";
        assert!(write(&mut html, text, 9_999));
        insta::assert_snapshot!(html.finish(), @r#"
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
            let mut html = Html::default();
            write(&mut html, &text.repeat(50), 2_000);
            proptest::prop_assert!(html.finish().len() < 12_000);
        }
    }
}
