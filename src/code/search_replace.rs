//! Applies search-and-replace blocks to a text. Each must match whole lines exactly once: verbatim,
//! else without trailing white space, else with shifted indentation. There is no fuzzy matching. A
//! replacement takes the line ends of the text.

use std::ops::Range;

/// A text to search for, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// The lines to replace, verbatim.
    pub search: &'a str,
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
    let lines = lines_of(text);
    let exact: Vec<&str> = block.search.lines().collect();
    let searched: Vec<&str> = block.search.trim_matches('\n').lines().collect();
    let replace = block.replace.trim_matches('\n');
    let mut found = hits(&lines, &exact, |line| line)
        .map(|window| (range_of(window), block.replace.to_owned()))
        .take(MANY)
        .collect::<Vec<_>>();
    if let [(range, replacement)] = found.as_mut_slice() {
        let rest = text.get(range.end..).unwrap_or_default();
        let rest = rest.strip_prefix('\r').unwrap_or(rest);
        let is_last = !rest.starts_with('\n');
        match (block.search.ends_with('\n'), replacement.ends_with('\n')) {
            // The block holds the end of its last line, unless that is the last of the text.
            (true, _) if is_last => replacement.truncate(replacement.trim_end_matches('\n').len()),
            (true, true) => range.end = text.len() - rest.len() + 1,
            (true, false) if replacement.is_empty() => range.end = text.len() - rest.len() + 1,
            // Only one side has the end of the line, which stays as it is.
            (false, true) => replacement.truncate(replacement.trim_end_matches(['\r', '\n']).len()),
            (true | false, false) => {}
        }
    }
    if found.is_empty() {
        found = hits(&lines, &searched, str::trim_end)
            .map(|window| (range_of(window), replace.to_owned()))
            .take(MANY)
            .collect();
    }
    if found.is_empty() {
        found = hits(&lines, &searched, str::trim)
            .filter_map(|window| Some((range_of(window), shifted(window, &searched, replace)?)))
            .take(MANY)
            .collect();
    }
    match (found.len(), found.pop()) {
        (1, Some(found)) => Ok(found),
        (_, None) => Err(EditError::Missing { block: number, nearest: nearest(&lines, &searched) }),
        (times, Some(_)) => Err(EditError::Ambiguous { block: number, times }),
    }
}

/// Maximum number of places that are looked at for one block.
const MANY: usize = 100;

/// A line with its offset, without its end.
type Line<'a> = (usize, &'a str);

fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut from = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let start = from;
            from += line.len();
            let line = line.strip_suffix('\n').unwrap_or(line);
            (start, line.strip_suffix('\r').unwrap_or(line))
        })
        .collect()
}

/// The bytes of some lines, without the end of the last one.
fn range_of(window: &[Line<'_>]) -> Range<usize> {
    let (start, end) = (window.first(), window.last());
    start.map_or(0, |(start, _)| *start)..end.map_or(0, |(start, line)| start + line.len())
}

/// All places of the searched lines, by `key`, in linear time (Knuth, Morris, Pratt).
fn hits<'a, 't>(
    lines: &'a [Line<'t>],
    searched: &[&str],
    key: impl for<'k> Fn(&'k str) -> &'k str,
) -> impl Iterator<Item = &'a [Line<'t>]> {
    let same = |a: Option<&&str>, b: &str| a.is_some_and(|a| key(a) == key(b));
    // For each beginning, the length of its longest proper beginning that is also its end.
    let mut borders = vec![0; searched.len() + 1];
    let mut length = 0;
    for (index, line) in searched.iter().enumerate().skip(1) {
        while length > 0 && !same(searched.get(length), line) {
            length = borders.get(length).copied().unwrap_or_default();
        }
        length += usize::from(same(searched.get(length), line));
        if let Some(border) = borders.get_mut(index + 1) {
            *border = length;
        }
    }
    let mut found = Vec::new();
    let mut length = 0;
    for (index, (_, line)) in lines.iter().enumerate() {
        while length > 0 && !same(searched.get(length), line) {
            length = borders.get(length).copied().unwrap_or_default();
        }
        length += usize::from(same(searched.get(length), line));
        if length == searched.len() {
            found.push(index + 1 - length);
        }
    }
    let count = searched.len();
    found.into_iter().filter_map(move |start| lines.get(start..start + count))
}

/// The replacement for lines that are indented otherwise; `None` if they are not the same.
fn shifted(window: &[Line<'_>], searched: &[&str], replace: &str) -> Option<String> {
    let mut shift: Option<(&str, &str)> = None;
    for ((_, line), searched) in window.iter().zip(searched) {
        if line.trim().is_empty() {
            continue;
        }
        let (there, here) = (indentation(line), indentation(searched));
        // Both indentations share an ending; the rest is how far the lines are shifted.
        let more = there.strip_suffix(here).map(|more| ("", more));
        let this = more.or_else(|| here.strip_suffix(there).map(|less| (less, "")))?;
        if shift.is_some_and(|known| known != this) {
            return None;
        }
        shift = Some(this);
    }
    let (less, more) = shift?;
    let mut shifted = Vec::new();
    for line in replace.lines() {
        if line.trim().is_empty() {
            shifted.push(String::new());
        } else {
            shifted.push(format!("{more}{}", line.strip_prefix(less)?));
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

/// Characters of a line that count for its similarity.
const COMPARED: usize = 80;

/// Maximum number of lines that are compared with a block that does not match.
const LOOKED_AT: usize = 5_000;

/// The lines most similar to the first line of the search text, with those that follow.
fn nearest(lines: &[Line<'_>], searched: &[&str]) -> String {
    let first = searched.iter().find(|line| !line.trim().is_empty()).copied().unwrap_or_default();
    let head = |line: &str| line.trim().chars().take(COMPARED).collect::<String>();
    let wanted = head(first);
    let likeness = |line: &str| strsim::normalized_levenshtein(&head(line), &wanted);
    let best =
        lines.iter().position(|(_, line)| line.trim() == first.trim()).unwrap_or_else(|| {
            let scores = lines.iter().take(LOOKED_AT).map(|(_, line)| likeness(line)).enumerate();
            scores.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index)
        });
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
            ("b = 2\n", "b = 3", "a = 1\r\nb = 3\r\nc = 3\r\n"),
            ("b = 2", "b = 3\n", "a = 1\r\nb = 3\r\nc = 3\r\n"),
            ("b = 2\n", "", "a = 1\r\nc = 3\r\n"),
        ];
        for (search, replace, expected) in table {
            assert_eq!(apply(text, &[Block { search, replace }]).unwrap(), expected, "{search:?}");
        }
    }

    #[test]
    fn what_does_not_match_once_is_an_error_that_helps() {
        assert_eq!(one("    return 0", "x"), Err(EditError::Ambiguous { block: 1, times: 2 }));
        assert_eq!(one("return 0", "x"), Err(EditError::Ambiguous { block: 1, times: 2 }));
        assert_eq!(one("  \n", "x"), Err(EditError::Empty { block: 1 }));
        let missing = one("    if xx:\n        return 3", "x").unwrap_err();
        assert!(missing.to_string().contains("    if x:\n        return 1"), "{missing}");
        let both = [
            Block { search: "    if x:\n        return 1", replace: "a" },
            Block { search: "        return 1", replace: "b" },
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
        fn an_exact_block_changes_nothing_else(head in "([a-m]{0,3}\n){0,9}", tail in "([a-m]{0,3}\n){0,9}") {
            let text = format!("{head}XYZ\n{tail}");
            let after = apply(&text, &[Block { search: "XYZ", replace: "Q" }]).unwrap();
            prop_assert_eq!(after, format!("{head}Q\n{tail}"));
            let after = apply(&text, &[Block { search: "XYZ\n", replace: "" }]).unwrap();
            prop_assert_eq!(after, format!("{head}{tail}"));
        }

        #[test]
        fn swapping_search_and_replace_restores_the_text(
            head in "([a-m]{0,3}\n){0,9}", middle in "([a-m]{0,3}\n){0,9}", tail in "[a-m\n]{0,30}",
        ) {
            let text = format!("{head}XYZ\n{middle}UVW\n{tail}");
            let there = [
                Block { search: "XYZ\n", replace: "PQ\nR\n" },
                Block { search: "UVW\n", replace: "ST\n" },
            ];
            let after = apply(&text, &there).unwrap();
            let back: Vec<Block<'_>> = there
                .iter()
                .map(|block| Block { search: block.replace, replace: block.search })
                .collect();
            prop_assert_eq!(apply(&after, &back).unwrap(), text);
        }

        #[test]
        fn the_order_of_blocks_does_not_matter(middle in "([a-m]{0,3}\n){0,9}") {
            let text = format!("XYZ\n{middle}UVW");
            let one = Block { search: "XYZ", replace: "1" };
            let two = Block { search: "UVW", replace: "2" };
            let there = apply(&text, &[one.clone(), two.clone()]).unwrap();
            prop_assert_eq!(there, apply(&text, &[two, one]).unwrap());
        }

        #[test]
        fn overlapping_blocks_are_refused(shared in 1usize..4) {
            let text = "1\n2\n3\n4\n5\n6\n7\n8\n";
            let first = text.get(2..10).unwrap();
            let second = text.get(10 - 2 * shared..16).unwrap();
            let blocks = [
                Block { search: second, replace: "x" },
                Block { search: first, replace: "y" },
            ];
            prop_assert_eq!(apply(text, &blocks), Err(EditError::Overlap { first: 2, second: 1 }));
        }

        #[test]
        fn places_are_those_that_a_plain_search_finds(
            text in proptest::collection::vec("[ab]", 0..40), searched in proptest::collection::vec("[ab]", 1..5),
        ) {
            let lines: Vec<Line<'_>> = text.iter().map(|line| (0, line.as_str())).collect();
            let searched: Vec<&str> = searched.iter().map(String::as_str).collect();
            let is_same = |window: &&[Line<'_>]| window.iter().map(|(_, line)| *line).eq(searched.iter().copied());
            let plain: Vec<&[Line<'_>]> = lines.windows(searched.len()).filter(is_same).collect();
            prop_assert_eq!(hits(&lines, &searched, |line| line).collect::<Vec<_>>(), plain);
        }
    }

    #[test]
    fn blocks_that_touch_do_not_overlap() {
        let blocks =
            [Block { search: "a\nb\n", replace: "1\n" }, Block { search: "c\nd", replace: "2" }];
        assert_eq!(apply("a\nb\nc\nd", &blocks).as_deref(), Ok("1\n2"));
    }

    #[test]
    fn only_whole_lines_match() {
        let text = "max = 1\nx = 1\nx = 12\n  x = 3";
        let table = [
            ("x = 1", "x = 2", "max = 1\nx = 2\nx = 12\n  x = 3"),
            ("x = 1\n", "", "max = 1\nx = 12\n  x = 3"),
            ("max = 1\nx = 1\n", "y\n\n", "y\n\nx = 12\n  x = 3"),
            ("  x = 3\n", "  x = 4\n", "max = 1\nx = 1\nx = 12\n  x = 4"),
            ("x = 3", "x = 4", "max = 1\nx = 1\nx = 12\n  x = 4"),
        ];
        for (search, replace, expected) in table {
            let after = apply(text, &[Block { search, replace }]);
            assert_eq!(after.as_deref(), Ok(expected), "{search:?}");
        }
        let missing = apply(text, &[Block { search: "ax = 1\nx = 1", replace: "" }]);
        assert!(matches!(missing, Err(EditError::Missing { .. })), "{missing:?}");
    }

    #[test]
    fn a_large_block_in_a_large_file_of_equal_lines_is_found_soon() {
        let text = format!("{}    end\n", "    }\n".repeat(60_000));
        let search = format!("{}end\n", "}\n".repeat(30_000));
        // A plain search would compare two billion lines.
        let after = apply(&text, &[Block { search: &search, replace: "x\n" }]).unwrap();
        assert!(after.ends_with("    }\n    x\n"));
    }
}
