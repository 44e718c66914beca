//! Breaks statements that are longer than a line.

/// How long lines are broken.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    width: usize,
    step: usize,
    /// Whether a list or an object that comes last begins on the line of the call.
    hugs_last: bool,
}

impl Layout {
    /// As Black does.
    pub fn of_black(width: usize) -> Self {
        Self { width, step: 4, hugs_last: false }
    }

    /// As Prettier does.
    pub fn of_prettier() -> Self {
        Self { width: 100, step: 2, hugs_last: true }
    }
}

/// A statement with its indent. What is longer than a line is broken in its last brackets: what they hold
/// on one line, else each element on its own.
pub fn break_line(line: &str, indent: usize, layout: Layout) -> String {
    let pad = " ".repeat(indent);
    let is_long = indent + line.chars().count() > layout.width;
    let broken = last_brackets(line).filter(|(_, inner, _)| is_long && !inner.trim().is_empty());
    let Some((head, inner, tail)) = broken else { return format!("{pad}{line}\n") };
    let (mut head, mut tail) = (head.to_owned(), tail.to_owned());
    let (mut inner, mut elements) = (inner, list_elements(inner));
    if let Some((last, others)) = elements.split_last()
        && let Some((open, list, close)) = last_brackets(last)
        && layout.hugs_last
        && last.starts_with(['{', '['])
    {
        head = format!(
            "{head}{}{open}",
            others.iter().map(|one| format!("{one}, ")).collect::<String>()
        );
        tail = format!("{close}{tail}");
        (inner, elements) = (list, list_elements(list));
    }
    let deeper = indent + layout.step;
    let fits = deeper + inner.chars().count() <= layout.width && !layout.hugs_last;
    let body = if fits {
        format!("{}{inner}\n", " ".repeat(deeper))
    } else {
        let rows = elements.iter().enumerate().map(|(index, one)| {
            let is_last = layout.hugs_last && index + 1 == elements.len();
            break_line(&format!("{one}{}", if is_last { "" } else { "," }), deeper, layout)
        });
        rows.collect()
    };
    format!("{pad}{head}\n{body}{pad}{tail}\n")
}

/// A statement before, within and after its last outer brackets.
fn last_brackets(line: &str) -> Option<(&str, &str, &str)> {
    let mut open = Vec::new();
    let mut found = None;
    for (at, sign) in signs_outside_texts(line) {
        match sign {
            '(' | '[' | '{' => open.push(at),
            ')' | ']' | '}' => {
                let start = open.pop()?;
                found = Some((start, at)).filter(|_| open.is_empty()).or(found);
            }
            _ => {}
        }
    }
    let (start, end) = found?;
    Some((line.get(..=start)?, line.get(start + 1..end)?, line.get(end..)?))
}

/// The elements between commas.
fn list_elements(inner: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0_i32, 0, Vec::new());
    for (at, sign) in signs_outside_texts(inner) {
        match sign {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(inner.get(start..at).unwrap_or_default().trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = inner.get(start..).unwrap_or_default().trim();
    found.extend((!last.is_empty()).then_some(last));
    found
}

/// The characters of a statement that are not within strings.
fn signs_outside_texts(line: &str) -> Vec<(usize, char)> {
    let (mut quote, mut is_escaped, mut found) = (None, false, Vec::new());
    for (at, sign) in line.char_indices() {
        match quote {
            None if matches!(sign, '"' | '\'') => quote = Some(sign),
            None => found.push((at, sign)),
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if sign == '\\' => is_escaped = true,
            Some(open) if open == sign => quote = None,
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (
                "assert \"a long text without any\" in x",
                "assert \"a long text without any\" in x\n",
            ),
        ];
        for (line, expected) in table {
            assert_eq!(break_line(line, 0, Layout::of_black(24)), expected, "{line}");
        }
    }

    #[test]
    fn a_list_that_comes_last_begins_on_the_line_of_the_call() {
        let layout = Layout { width: 24, ..Layout::of_prettier() };
        let line = "assert.deepEqual(f(1), { days: 1, hours: 20 });";
        let expected = "assert.deepEqual(f(1), {\n  days: 1,\n  hours: 20\n});\n";
        assert_eq!(break_line(line, 0, layout), expected);
    }
}
