//! What a request demands of the code: the points of its lists and the sentences beside them.

use std::collections::BTreeSet;

use crate::domain::text;

use super::description_match::{content_words, share_stem};

/// Maximum number of demands that are read from one request.
const DEMANDS: usize = 60;

/// Maximum length of a demand, in characters.
const LENGTH: usize = 300;

/// The demands of a request, in order. Points and sentences of which every word is a name in `names`,
/// or says only that tests are wanted, demand nothing of the code.
pub fn find_demands<'a>(
    description: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let parts: BTreeSet<String> = names.into_iter().flat_map(text::words_of_name).collect();
    let mut found: Vec<String> = Vec::new();
    for point in points(description).into_iter().filter(|point| says_more(point, &parts)) {
        if !found.contains(&point) && found.len() < DEMANDS {
            found.push(point.chars().take(LENGTH).collect());
        }
    }
    found
}

/// Whether a point has a word that is part of no name.
fn says_more(point: &str, parts: &BTreeSet<String>) -> bool {
    let is_name =
        |word: &String| parts.contains(word) || parts.iter().any(|part| share_stem(part, word));
    content_words(point).iter().any(|word| !text::words_of_name(word).iter().all(is_name))
}

/// Points of lists and sentences of paragraphs, without headings, introductions and code.
fn points(description: &str) -> Vec<String> {
    let mut blocks: Vec<(bool, String)> = Vec::new();
    let (mut is_code, mut is_new) = (false, true);
    for line in description.lines() {
        let text = line.trim();
        let is_fence = text.starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || text.is_empty() || text.starts_with(['#', '|', '>']) {
            is_new = true;
            continue;
        }
        match (list_item(text), blocks.last_mut()) {
            (Some(item), _) => blocks.push((true, item.to_owned())),
            (None, Some((_, block))) if !is_new => block.push_str(&format!(" {text}")),
            (None, _) => blocks.push((false, text.to_owned())),
        }
        is_new = false;
    }
    let mut found = Vec::new();
    for (is_item, block) in blocks.into_iter().filter(|(_, block)| !block.ends_with(':')) {
        if is_item {
            found.push(block);
        } else {
            found.extend(sentences(&block));
        }
    }
    found
}

/// The text of a point of a list: `- one`, `* [ ] one`, `1. one`.
fn list_item(line: &str) -> Option<&str> {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let item =
        ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).or_else(|| {
            let rest = number.strip_prefix(". ").or_else(|| number.strip_prefix(") "));
            rest.filter(|_| number.len() < line.len())
        })?;
    let boxes = ["[ ] ", "[x] ", "[X] "];
    Some(boxes.iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item).trim())
}

/// The sentences of a paragraph. A full stop inside backticks ends none.
fn sentences(paragraph: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let (mut is_code, mut is_end) = (false, false);
    for c in paragraph.chars() {
        if is_end && c.is_whitespace() {
            found.push(String::new());
        }
        is_code ^= c == '`';
        is_end = !is_code && matches!(c, '.' | '!' | '?' | ';');
        if let Some(last) = found.last_mut() {
            last.push(c);
        }
    }
    let whole = found.iter().map(|one| one.trim().trim_end_matches(['.', ';']).to_owned());
    whole.filter(|one| !one.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["parse_price", "Cart.add", "shop"];

    #[test]
    fn points_and_sentences_are_demands_and_names_alone_are_none() {
        let table: &[(&str, &[&str])] = &[
            ("parse_price", &[]),
            ("write tests for the shop", &[]),
            ("price parsing", &[]),
            (
                "slugs must never be longer than the maximum",
                &["slugs must never be longer than the maximum"],
            ),
            (
                "A cart is empty at first. It forgets nothing; ever!",
                &["A cart is empty at first", "It forgets nothing", "ever!"],
            ),
            (
                "# Rules for carts\n\nThe rules:\n\n- no negative amount\n  of articles\n* [ ] `Cart.add` returns itself\n\n```\nnot read\n```\n1. round. Always.\n",
                &["no negative amount of articles", "`Cart.add` returns itself", "round. Always."],
            ),
            ("`add(1.5)` gives a warning", &["`add(1.5)` gives a warning"]),
        ];
        for (text, expected) in table {
            assert_eq!(find_demands(text, NAMES.iter().copied()), *expected, "{text}");
        }
        let many: String = (0..100).map(|at| format!("- never {at} stripes\n")).collect();
        assert_eq!(find_demands(&many, NAMES.iter().copied()).len(), DEMANDS);
    }
}
