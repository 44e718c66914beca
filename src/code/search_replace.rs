//! Applies search-and-replace blocks to a text. Each must match exactly once: verbatim, else
//! without trailing white space, else with shifted indentation. There is no fuzzy matching. A
//! replacement takes the line ends of the text.

use std::ops::Range;

/// A text to search for, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// The text to replace, verbatim.
    pub search: &'a str,
    /// The text that replaces it.
    pub replace: &'a str,
}

/// Why the blocks cannot be applied. `block` counts from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("block {block}: `search` is empty; to add lines, repeat a line beside them")]
    Empty { block: usize },
    #[error(
        "block {block}: `search` does not occur in the file; the nearest lines are:\n{nearest}"
    )]
    Missing {
        block: usize,
        /// The most similar lines of the file, verbatim.
        nearest: String,
    },
    #[error("block {block}: `search` occurs {times} times; include more of the lines around it")]
    Ambiguous { block: usize, times: usize },
    /// Two blocks change the same lines.
    #[error("blocks {first} and {second} overlap; join them")]
    Overlap {
        /// The earlier one in the file.
        first: usize,
        /// The later of the two blocks.
        second: usize,
    },
}

/// Applies all blocks to a text. Each block is located in the original text, so their order is
/// irrelevant.
///
/// # Errors
///
/// The first block that does not match exactly once, or overlaps another.
pub fn apply(text: &str, blocks: &[Block<'_>]) -> Result<String, EditError> {
    let located = (1..).zip(blocks).map(|(number, block)| {
        locate(text, block, number).map(|(range, replacement)| (range, replacement, number))
    });
    let mut found = located.collect::<Result<Vec<(Range<usize>, String, usize)>, _>>()?;
    found.sort_by_key(|(range, ..)| (range.start, range.end));
    for pair in found.windows(2) {
        if let [(first, _, a), (second, _, b)] = pair
            && second.start < first.end
        {
            return Err(EditError::Overlap { first: *a, second: *b });
        }
    }
    let ends_in_crlf = text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'));
    let mut after = String::with_capacity(text.len());
    let mut from = 0;
    for (range, replacement, _) in found {
        after.push_str(text.get(from..range.start).unwrap_or_default());
        if ends_in_crlf {
            after.push_str(&replacement.replace("\r\n", "\n").replace('\n', "\r\n"));
        } else {
            after.push_str(&replacement);
        }
        from = range.end;
    }
    after.push_str(text.get(from..).unwrap_or_default());
    Ok(after)
}

fn locate(
    text: &str,
    block: &Block<'_>,
    number: usize,
) -> Result<(Range<usize>, String), EditError> {
    if block.search.trim().is_empty() {
        return Err(EditError::Empty { block: number });
    }
    let exact: Vec<usize> = text.match_indices(block.search).map(|(at, _)| at).take(100).collect();
    match exact.as_slice() {
        [at] => return Ok((*at..*at + block.search.len(), block.replace.to_owned())),
        [] => {}
        several => return Err(EditError::Ambiguous { block: number, times: several.len() }),
    }
    let lines = lines_of(text);
    let searched: Vec<&str> = block.search.trim_matches('\n').lines().collect();
    for forgiving in [by_trailing_space, by_indentation] {
        let hits: Vec<(usize, String)> = lines
            .windows(searched.len().max(1))
            .enumerate()
            .filter_map(|(index, window)| {
                forgiving(window, &searched, block.replace).map(|text| (index, text))
            })
            .take(100)
            .collect();
        match hits.as_slice() {
            [(index, replacement)] => {
                let (Some(first), Some(last)) =
                    (lines.get(*index), lines.get(*index + searched.len() - 1))
                else {
                    continue;
                };
                return Ok((first.0..last.0 + last.1.len(), replacement.clone()));
            }
            [] => {}
            several => return Err(EditError::Ambiguous { block: number, times: several.len() }),
        }
    }
    Err(EditError::Missing { block: number, nearest: nearest(&lines, &searched) })
}

/// Lines with their offsets, without line ends.
fn lines_of(text: &str) -> Vec<(usize, &str)> {
    let mut from = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let start = from;
            from += line.len();
            (start, line.trim_end_matches('\n').trim_end_matches('\r'))
        })
        .collect()
}

fn by_trailing_space(window: &[(usize, &str)], searched: &[&str], replace: &str) -> Option<String> {
    window
        .iter()
        .zip(searched)
        .all(|((_, line), searched)| line.trim_end() == searched.trim_end())
        .then(|| replace.trim_matches('\n').to_owned())
}

/// Finds the lines of a block with all of them indented by the same white space more or less.
fn by_indentation(window: &[(usize, &str)], searched: &[&str], replace: &str) -> Option<String> {
    let mut shift: Option<(String, String)> = None;
    for ((_, line), searched) in window.iter().zip(searched) {
        if line.trim() != searched.trim() {
            return None;
        }
        if line.trim().is_empty() {
            continue;
        }
        let (there, here) = (indentation(line), indentation(searched));
        // Both indentations share an ending; the rest is how far the lines are shifted.
        let this = if let Some(more) = there.strip_suffix(here) {
            (String::new(), more.to_owned())
        } else if let Some(less) = here.strip_suffix(there) {
            (less.to_owned(), String::new())
        } else {
            return None;
        };
        if shift.as_ref().is_some_and(|known| *known != this) {
            return None;
        }
        shift = Some(this);
    }
    let (less, more) = shift?;
    let mut shifted = Vec::new();
    for line in replace.trim_matches('\n').lines() {
        if line.trim().is_empty() {
            shifted.push(String::new());
        } else {
            shifted.push(format!("{more}{}", line.strip_prefix(less.as_str())?));
        }
    }
    Some(shifted.join("\n"))
}

fn indentation(line: &str) -> &str {
    let end = line.len() - line.trim_start().len();
    line.get(..end).unwrap_or_default()
}

/// Number of similar lines shown for a block that does not match.
const SHOWN: usize = 12;

/// The lines most similar to the first line of the search text, with those that follow.
fn nearest(lines: &[(usize, &str)], searched: &[&str]) -> String {
    let first = searched.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default();
    let head = |line: &str| line.trim().chars().take(200).collect::<String>();
    let likeness = |line: &str| strsim::normalized_levenshtein(&head(line), &head(first));
    let scores = lines.iter().take(20_000).map(|(_, line)| likeness(line)).enumerate();
    let best = scores.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index);
    let count = searched.len().clamp(3, SHOWN);
    lines
        .iter()
        .skip(best.saturating_sub(1))
        .take(count)
        .map(|(_, line)| line.chars().take(300).collect::<String>())
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    const TEXT: &str =
        "def f(x):\n    if x:\n        return 1  \n    return 0\n\n\ndef g(x):\n    return 0\n";

    fn one(search: &str, replace: &str) -> Result<String, EditError> {
        apply(TEXT, &[Block { search, replace }])
    }

    #[test]
    fn a_block_matches_exactly_then_without_trailing_space_then_shifted() {
        let table = [
            ("exact", "    if x:\n", "    if not x:\n", "if not x:"),
            (
                "trailing",
                "        return 1\n    return 0",
                "        return 1\n    return 2",
                "return 2\n\n\ndef g",
            ),
            (
                "shifted left",
                "if x:\n    return 1",
                "if x > 0:\n    return 1",
                "    if x > 0:\n        return 1\n",
            ),
            (
                "shifted right",
                "            if x:\n                return 1",
                "            if y:\n                return 1",
                "    if y:\n        return 1\n",
            ),
        ];
        for (why, search, replace, expected) in table {
            let after = one(search, replace).unwrap();
            assert!(after.contains(expected), "{why}: {after}");
        }
    }

    #[test]
    fn a_replacement_takes_the_line_ends_of_the_text() {
        let text = "a = 1\r\nb = 2\r\nc = 3\r\n";
        let table = [
            ("a = 1\nb = 2", "a = 1\nb = 3", "a = 1\r\nb = 3\r\nc = 3\r\n"),
            ("b = 2", "b = 2\nb += 1", "a = 1\r\nb = 2\r\nb += 1\r\nc = 3\r\n"),
            ("b = 2\r\n", "b = 3\r\n", "a = 1\r\nb = 3\r\nc = 3\r\n"),
        ];
        for (search, replace, expected) in table {
            assert_eq!(apply(text, &[Block { search, replace }]).unwrap(), expected, "{search:?}");
        }
    }

    #[test]
    fn what_does_not_match_once_is_an_error_that_helps() {
        assert_eq!(one("return 0", "x"), Err(EditError::Ambiguous { block: 1, times: 2 }));
        assert_eq!(one("  \n", "x"), Err(EditError::Empty { block: 1 }));
        let missing = one("    if xx:\n        return 3", "x").unwrap_err();
        assert!(missing.to_string().contains("    if x:\n        return 1"), "{missing}");
        let both = [
            Block { search: "if x:\n        return 1", replace: "a" },
            Block { search: "return 1", replace: "b" },
        ];
        assert_eq!(apply(TEXT, &both), Err(EditError::Overlap { first: 1, second: 2 }));
    }

    proptest! {
        #[test]
        fn no_block_makes_it_panic(text in ".{0,80}", search in ".{0,20}", replace in ".{0,20}") {
            let blocks = [Block { search: &search, replace: &replace }];
            if let Ok(after) = apply(&text, &blocks) {
                prop_assert!(after.len() <= text.len() + replace.len() * 2 + 100);
            }
        }

        #[test]
        fn an_exact_block_changes_nothing_else(head in "[a-m\n]{0,30}", tail in "[a-m\n]{0,30}") {
            let text = format!("{head}XYZ{tail}");
            let after = apply(&text, &[Block { search: "XYZ", replace: "Q" }]).unwrap();
            prop_assert_eq!(after, format!("{head}Q{tail}"));
        }

        #[test]
        fn swapping_search_and_replace_restores_the_text(
            head in "[a-m\n]{0,30}", middle in "[a-m\n]{1,30}", tail in "[a-m\n]{0,30}",
        ) {
            let text = format!("{head}XYZ{middle}UVW{tail}");
            let there = [
                Block { search: "XYZ", replace: "PQ\nR" },
                Block { search: "UVW", replace: "ST" },
            ];
            let after = apply(&text, &there).unwrap();
            let back: Vec<Block<'_>> = there
                .iter()
                .map(|block| Block { search: block.replace, replace: block.search })
                .collect();
            prop_assert_eq!(apply(&after, &back).unwrap(), text);
        }

        #[test]
        fn the_order_of_blocks_does_not_matter(middle in "[a-m\n]{0,30}") {
            let text = format!("XYZ{middle}UVW");
            let one = Block { search: "XYZ", replace: "1" };
            let two = Block { search: "UVW", replace: "2" };
            let there = apply(&text, &[one.clone(), two.clone()]).unwrap();
            prop_assert_eq!(there, apply(&text, &[two, one]).unwrap());
        }

        #[test]
        fn overlapping_blocks_are_refused(shared in 1usize..4) {
            let text = "start ABCDEFGH end";
            let first = text.get(6..10).unwrap();
            let second = text.get(10 - shared..14).unwrap();
            let blocks = [
                Block { search: second, replace: "x" },
                Block { search: first, replace: "y" },
            ];
            prop_assert_eq!(apply(text, &blocks), Err(EditError::Overlap { first: 2, second: 1 }));
        }
    }

    #[test]
    fn blocks_that_touch_do_not_overlap() {
        let blocks = [Block { search: "ab", replace: "1" }, Block { search: "cd", replace: "2" }];
        assert_eq!(apply("abcd", &blocks).as_deref(), Ok("12"));
    }
}
