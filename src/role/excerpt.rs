//! Excerpts of sources and stack traces for prompts.

use crate::code::language::Language;
use crate::code::outline::{self, Function};
use crate::code::pattern::Pattern;
use crate::domain::assertion::own_frames;
use crate::domain::fix_plan::ModificationPoint;

/// How much of a file is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Maximum number of lines of a file that is shown as a whole.
    pub whole: usize,
    /// Number of lines shown before and after a location in a longer file.
    pub around: u32,
}

/// Widths from generous to narrow; the first that fits is used.
pub const WIDTHS: [Width; 3] = [
    Width { whole: 400, around: 60 },
    Width { whole: 150, around: 25 },
    Width { whole: 40, around: 8 },
];

/// A file verbatim; of a long one, only the lines around the locations.
pub fn around(text: &str, points: &[&ModificationPoint], width: Width) -> String {
    shown(text, points, width, &|_, line| line.to_owned())
}

/// As [`around`], with line numbers.
pub fn numbered(text: &str, points: &[&ModificationPoint], width: Width) -> String {
    shown(text, points, width, &|number, line| format!("{number:>4}| {line}"))
}

/// Some lines of a file with their numbers, at most `most` of them.
pub fn lines(text: &str, start: u32, end: u32, most: usize) -> String {
    let from = usize::try_from(start.max(1)).unwrap_or(1);
    let count = usize::try_from(end.saturating_sub(start) + 1).unwrap_or(1);
    let lines = text.lines().enumerate().skip(from - 1).take(count.min(most));
    lines.map(|(index, line)| format!("{:>4}| {line}\n", index + 1)).collect()
}

/// The merged ranges of lines, from 1, to show around some locations.
fn ranges(lines: u32, points: &[&ModificationPoint], around: u32) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = points
        .iter()
        .map(|point| {
            (point.start.saturating_sub(around).max(1), point.end.saturating_add(around).min(lines))
        })
        .collect();
    all.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (start, end) in all {
        match merged.last_mut() {
            Some(last) if start <= last.1 + 1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

fn shown(
    text: &str,
    points: &[&ModificationPoint],
    width: Width,
    write: &dyn Fn(usize, &str) -> String,
) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let is_whole = lines.len() <= width.whole;
    let ranges = if is_whole { vec![(1, count)] } else { ranges(count, points, width.around) };
    let mut parts = Vec::new();
    for (start, end) in ranges {
        let from = usize::try_from(start).unwrap_or(1);
        let until = usize::try_from(end).unwrap_or(lines.len());
        parts.push(
            lines
                .iter()
                .enumerate()
                .skip(from.saturating_sub(1))
                .take((until + 1).saturating_sub(from))
                .map(|(index, line)| write(index + 1, line))
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }
    parts.join("\n[lines left out]\n")
}

/// Names in the outline of one file.
const NAMES: usize = 40;

/// The functions of a file with their lines, one per line, at most 40.
pub fn outline(language: Language, text: &str) -> String {
    let functions: Vec<Function> = outline::functions(language, text);
    let mut shown: String = functions
        .iter()
        .take(NAMES)
        .map(|one| format!("  {} {}-{}\n", one.name, one.start, one.end))
        .collect();
    if functions.len() > NAMES {
        shown.push_str(&format!("  [{} more]\n", functions.len() - NAMES));
    }
    shown
}

/// A stack trace without frames outside of the repository: those of frameworks, of interpreters, and
/// of files elsewhere. An error in the last line always stays. `root` is the root of the
/// checkout.
pub fn frames_inside(stack: &str, root: &str) -> String {
    static PLACE: Pattern = Pattern::new(
        r#"File "(?P<python>/[^"]+)", line |(?:\(|at |file://)(?P<script>/[^():\s]+):\d+|^\s+(?P<go>/[^:\s]+\.go):\d+"#,
    );
    let is_outside = |line: &str| {
        let mut places = PLACE.captures(line);
        places.next().is_some_and(|place| {
            let path = place.iter().skip(1).flatten().next().map_or("", |path| path.as_str());
            !path.starts_with(&format!("{root}/"))
        })
    };
    let depth = |line: &str| line.len() - line.trim_start().len();
    let own = own_frames(stack);
    let mut kept: Vec<&str> = Vec::new();
    let mut lines = own.lines().peekable();
    while let Some(line) = lines.next() {
        if !is_outside(line) {
            kept.push(line);
            continue;
        }
        // Below a frame, Python prints its source, further to the right.
        let is_python = line.trim_start().starts_with("File \"");
        while is_python && lines.peek().is_some_and(|next| depth(next) > depth(line)) {
            lines.next();
        }
    }
    let last = stack.lines().rfind(|line| !line.trim().is_empty());
    let is_frame = |line: &str| line.trim_start().starts_with("at ") || PLACE.is_match(line);
    if let Some(last) = last.filter(|last| !kept.contains(last) && !is_frame(last)) {
        kept.push(last);
    }
    kept.join("\n")
}

/// The first and the last lines of a text, at most `most` of them, indented.
pub fn ends(text: &str, most: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let indented = |lines: &[&str]| {
        lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    };
    if lines.len() <= most {
        return indented(&lines);
    }
    let (head, tail) = (most / 2, most - most / 2);
    let left_out = lines.len() - most;
    let (head, tail) = (lines.get(..head), lines.get(lines.len() - tail..));
    format!(
        "{}\n  [{left_out} lines left out]\n{}",
        indented(head.unwrap_or_default()),
        indented(tail.unwrap_or_default())
    )
}

/// Removes private paths below `root` and memory addresses, so that texts are comparable.
pub fn without_machine_paths(text: &str, root: &str) -> String {
    static ADDRESS: Pattern = Pattern::new(r"0x[0-9a-fA-F]{6,}");
    let text = text.replace(&format!("{root}/"), "").replace(root, ".");
    // The folder around the checkout also contains private files, such as test drivers.
    let around = root.rsplit_once('/').map_or("", |(around, _)| around);
    let text = if around.len() > 1 { text.replace(around, "…") } else { text };
    ADDRESS.replace_all(&text, "0x…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RepoPath;

    fn point(start: u32, end: u32) -> ModificationPoint {
        let file = RepoPath::parse("a.py").unwrap();
        ModificationPoint { file, function: String::new(), start, end }
    }

    #[test]
    fn long_files_are_shown_around_their_places() {
        let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        let (a, b, c) = (point(100, 110), point(150, 150), point(900, 900));
        let shown = around(&text, &[&c, &a, &b], WIDTHS[0]);
        assert!(shown.starts_with("line 40\n") && shown.ends_with("\nline 960"), "{shown}");
        assert_eq!(shown.matches("[lines left out]").count(), 1, "close places are one range");
        assert!(numbered("x\ny\n", &[], WIDTHS[0]).contains("   2| y"));
        assert_eq!(lines("x\ny\nz\n", 2, 3, 1), "   2| y\n");
    }

    #[test]
    fn an_outline_is_bounded() {
        let text: String = (0..6_000).map(|n| format!("def f{n}():\n    pass\n\n\n")).collect();
        let shown = outline(Language::Python, &text);
        assert!(shown.starts_with("  f0 1-2\n"), "{shown}");
        assert!(shown.ends_with("  f39 157-158\n  [5960 more]\n"), "{shown}");
    }

    #[test]
    fn frames_outside_of_the_repository_are_left_out_and_the_error_stays() {
        let table = [
            (
                "Traceback (most recent call last):\n  File \"/home/ci/drivers/unittest_driver.py\", line 117, in call\n    return inner(method)\n           ^^^^^^^^^^^^^\n  File \"/home/ci/checkout/tests/test_a.py\", line 11, in test\n    self.assertEqual(1, 2)\nAssertionError: 1 != 2",
                "Traceback (most recent call last):\n  File \"/home/ci/checkout/tests/test_a.py\", line 11, in test\n    self.assertEqual(1, 2)\nAssertionError: 1 != 2",
            ),
            (
                "Traceback (most recent call last):\n  File \"/usr/lib/python3.11/unittest/case.py\", line 5, in run\n    run()\n  File \"/usr/lib/python3.11/json/decoder.py\", line 3, in decode\n    raise x\nValueError: no",
                "Traceback (most recent call last):\nValueError: no",
            ),
            (
                "Error: no\n    at f (/home/ci/checkout/lib/a.js:3:5)\n    at g (/opt/tool/run.js:1:1)\n    at file:///opt/tool/x.mjs:1:1\n    at node:internal/main:1:1",
                "Error: no\n    at f (/home/ci/checkout/lib/a.js:3:5)",
            ),
            (
                "ImportError: cannot read /x/site-packages/y",
                "ImportError: cannot read /x/site-packages/y",
            ),
            ("", ""),
        ];
        for (stack, expected) in table {
            assert_eq!(frames_inside(stack, "/home/ci/checkout"), expected);
        }
    }

    #[test]
    fn machine_paths_and_addresses_are_removed() {
        let table = [
            ("at /tmp/run/checkout/shop/price.py:3", "at shop/price.py:3"),
            ("in /tmp/run/checkout", "in ."),
            ("driver /tmp/run/driver.py", "driver …/driver.py"),
            ("<Cart at 0x7f3a2b10>", "<Cart at 0x…>"),
            ("0xff is 255", "0xff is 255"),
        ];
        for (text, expected) in table {
            assert_eq!(without_machine_paths(text, "/tmp/run/checkout"), expected);
        }
    }

    #[test]
    fn a_long_text_is_indented_and_keeps_its_head_and_tail() {
        let table = [
            ("a\nb", 2, "  a\n  b"),
            ("a\nb\nc\nd", 2, "  a\n  [2 lines left out]\n  d"),
            ("", 3, ""),
        ];
        for (text, most, expected) in table {
            assert_eq!(ends(text, most), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn shown_ranges_cover_every_place_once(starts in proptest::collection::vec(1u32..2_000, 1..12)) {
            let points: Vec<ModificationPoint> = starts.iter().map(|start| point(*start, *start)).collect();
            let merged = ranges(2_000, &points.iter().collect::<Vec<_>>(), 60);
            for start in starts {
                let around = merged.iter().filter(|range| range.0 <= start && start <= range.1);
                proptest::prop_assert_eq!(around.count(), 1);
            }
            proptest::prop_assert!(merged.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }
    }
}
