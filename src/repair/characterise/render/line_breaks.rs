//! Breaks statements that are longer than a line, for projects without a formatter.

use crate::code::java_packages::outer_marks;

use super::super::arguments::split_arguments;

/// How long lines are broken.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    pub width: usize,
    /// One level of indentation.
    pub step: &'a str,
    pub style: BreakStyle,
}

/// Whose style a broken line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakStyle {
    /// That of Black: on one line if it fits, else with a comma behind each element.
    Black,
    /// That of Prettier: a list or an object that comes last begins on the line of the call.
    Prettier,
    /// That of rustfmt for macros: each element on its own line.
    Rustfmt,
}

/// A statement with its indent of `depth` levels. What is longer than a line is broken in its last brackets.
pub fn break_line(line: &str, depth: usize, layout: Layout<'_>) -> String {
    let indented = line.strip_prefix(layout.step).filter(|_| !layout.step.is_empty());
    if let Some(inner) = indented {
        return break_line(inner, depth + 1, layout);
    }
    let (pad, deeper) = (layout.step.repeat(depth), layout.step.repeat(depth + 1));
    let is_long = pad.len() + line.chars().count() > layout.width;
    let broken = last_brackets(line).filter(|(_, inner, _)| is_long && !inner.trim().is_empty());
    let Some((head, mut inner, tail)) = broken else { return format!("{pad}{line}\n") };
    let (mut head, mut tail) = (head.to_owned(), tail.to_owned());
    if let Some(last) = split_arguments(inner).last()
        && let Some((open, list, close)) = last_brackets(last)
        && layout.style == BreakStyle::Prettier
        && last.starts_with(['{', '['])
    {
        head = format!("{head}{}{open}", inner.strip_suffix(last).unwrap_or_default());
        tail = format!("{close}{tail}");
        inner = list;
    }
    let is_black = layout.style == BreakStyle::Black;
    if is_black && deeper.len() + inner.chars().count() <= layout.width {
        return format!("{pad}{head}\n{deeper}{inner}\n{pad}{tail}\n");
    }
    let elements = split_arguments(inner);
    let rows = elements.iter().enumerate().map(|(index, one)| {
        let comma = if is_black || index + 1 < elements.len() { "," } else { "" };
        break_line(&format!("{one}{comma}"), depth + 1, layout)
    });
    format!("{pad}{head}\n{}{pad}{tail}\n", rows.collect::<String>())
}

/// A statement before, within and after its last outer brackets.
fn last_brackets(line: &str) -> Option<(&str, &str, &str)> {
    let marks = outer_marks(line);
    let (start, _) = marks.iter().rfind(|(_, mark)| "([{".contains(*mark))?;
    let (head, rest) = line.split_at_checked(start + 1)?;
    let (end, _) = outer_marks(rest).into_iter().find(|(_, mark)| ")]}".contains(*mark))?;
    let (inner, tail) = rest.split_at_checked(end)?;
    Some((head, inner, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Layout<'_> = Layout { width: 24, step: "    ", style: BreakStyle::Black };

    #[test]
    fn long_lines_are_broken_in_their_last_brackets() {
        let table = [
            ("assert f(1) == 2", "assert f(1) == 2\n"),
            ("assert f(1) == [10, 20, 30]", "assert f(1) == [\n    10, 20, 30\n]\n"),
            (
                "assert f(1) == [\"a, (b\", \"another text\"]",
                "assert f(1) == [\n    \"a, (b\",\n    \"another text\",\n]\n",
            ),
            ("assert f(12345, 6789) == 1234567", "assert f(\n    12345, 6789\n) == 1234567\n"),
            ("    assert f(1) == [10, 2]", "    assert f(1) == [\n        10, 2\n    ]\n"),
            (
                "assert \"a long text without any\" in x",
                "assert \"a long text without any\" in x\n",
            ),
        ];
        for (line, expected) in table {
            assert_eq!(break_line(line, 0, BLACK), expected, "{line}");
        }
    }

    #[test]
    fn a_list_that_comes_last_begins_on_the_line_of_the_call() {
        let layout = Layout { step: "  ", style: BreakStyle::Prettier, ..BLACK };
        let line = "assert.deepEqual(f(1), { days: 1, hours: 20 });";
        let expected = "assert.deepEqual(f(1), {\n  days: 1,\n  hours: 20\n});\n";
        assert_eq!(break_line(line, 0, layout), expected);
        let layout = Layout { style: BreakStyle::Rustfmt, ..BLACK };
        let expected = "assert_eq!(\n    f(1, 2),\n    vec![1, 2, 3, 4]\n);\n";
        assert_eq!(break_line("assert_eq!(f(1, 2), vec![1, 2, 3, 4]);", 0, layout), expected);
    }
}
