//! The position of a key in a YAML text, found by walking down its path by indentation and braces.

/// Line and column of a key, from 1; if it is not found, those of its nearest parent that is.
pub(super) fn position(text: &str, path: &[String]) -> (usize, usize) {
    let mut found = 0;
    let mut within = Within::Block { from: 0, deeper: None };
    if let Some(start) = flow(text, 0) {
        within = Within::Flow(start);
    }
    for key in path {
        let next = match within {
            Within::Block { from, deeper } => in_block(text, from, deeper, key),
            Within::Flow(from) => in_flow(text, from, key),
        };
        let Some((at, value)) = next else { break };
        found = at;
        within = match (flow(text, value), within) {
            (Some(start), _) => Within::Flow(start),
            (None, Within::Flow(_)) => break,
            (None, Within::Block { .. }) => {
                let rest = text.get(value..).unwrap_or_default();
                let from = rest.find('\n').map_or(text.len(), |end| value + end + 1);
                Within::Block { from, deeper: Some(column(text, at)) }
            }
        };
    }
    let line = text.get(..found).unwrap_or_default().matches('\n').count() + 1;
    (line, column(text, found) + 1)
}

/// Where the children of a key are.
enum Within {
    /// Lines from this byte on that are indented more than this.
    Block { from: usize, deeper: Option<usize> },
    /// Behind the brace at this byte.
    Flow(usize),
}

/// Characters between the begin of the line and a byte.
fn column(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rsplit('\n').next().unwrap_or_default().chars().count()
}

/// The byte of an opening brace that is the value at `from`, behind blanks and comments.
fn flow(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let value = skip(rest);
    value.starts_with('{').then(|| text.len() - value.len())
}

/// Without leading blanks, line ends and comments.
fn skip(mut rest: &str) -> &str {
    loop {
        rest = rest.trim_start();
        match rest.strip_prefix('#') {
            Some(comment) => rest = comment.split_once('\n').map_or("", |(_, after)| after),
            None => return rest,
        }
    }
}

/// The length of a key with its colon when a text begins with it.
fn key_length(text: &str, key: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inner = quote.map_or(Some(text), |quote| text.strip_prefix(quote))?;
    let mut after = inner.strip_prefix(key)?;
    if let Some(quote) = quote {
        after = after.strip_prefix(quote)?;
    }
    let after = after.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    (quote.is_some() || after.is_empty() || after.starts_with(char::is_whitespace))
        .then(|| text.len() - after.len())
}

/// A key among the lines of one level: its byte, and the byte behind its colon.
fn in_block(text: &str, from: usize, deeper: Option<usize>, key: &str) -> Option<(usize, usize)> {
    let mut level = None;
    let mut at = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_start_matches(' ');
        let ignored = content.trim().is_empty()
            || content.starts_with('#')
            || line.starts_with("---")
            || line.starts_with('%');
        if ignored {
            continue;
        }
        let indent = line.len() - content.len();
        if deeper.is_some_and(|parent| indent <= parent) {
            return None;
        }
        // The first line sets the level; what is deeper belongs to a sibling or a long text.
        if indent == *level.get_or_insert(indent)
            && let Some(length) = key_length(content, key)
        {
            return Some((start + indent, start + indent + length));
        }
    }
    None
}

/// A key directly behind the brace at `from`: its byte, and the byte behind its colon.
fn in_flow(text: &str, from: usize, key: &str) -> Option<(usize, usize)> {
    let mut depth = 0u32;
    let mut quote = None;
    for (offset, c) in text.get(from..)?.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth = depth.checked_sub(1).filter(|depth| *depth > 0)?,
            _ => {}
        }
        if quote.is_none() && depth == 1 && matches!(c, '{' | ',') {
            let rest = skip(text.get(from + offset + 1..)?);
            if let Some(length) = key_length(rest, key) {
                let at = text.len() - rest.len();
                return Some((at, at + length));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_key_of_the_path_is_found_not_its_namesake() {
        type Row = (&'static str, &'static str, &'static [&'static str], (usize, usize));
        let table: [Row; 12] = [
            ("plain", "a: 1\nb: 2\n", &["b"], (2, 1)),
            ("a deeper namesake", "a:\n  b: 1\nb: 2\n", &["b"], (3, 1)),
            ("a namesake of a sibling", "a:\n  x: 1\nc:\n  x: 2\n", &["c", "x"], (4, 3)),
            ("deeper within the same", "a:\n  b:\n    x: 1\n  x: 2\n", &["a", "x"], (4, 3)),
            ("behind the end of its parent", "a:\n  b: 1\nx: 2\n", &["a", "x"], (1, 1)),
            ("in braces", "a: { b: { x: 1 }, x: 2 }\n", &["a", "x"], (1, 19)),
            ("braces over lines", "a: {\n  b: 1, # x: 0\n  x: 2\n}\n", &["a", "x"], (3, 3)),
            ("a long text", "a:\n  s: |\n    x: 1\n  x: 2\n", &["a", "x"], (4, 3)),
            ("quoted", "\"a\":\n  'x' : 1\n", &["a", "x"], (2, 3)),
            ("a comment", "# a: 0\na: 1\n", &["a"], (2, 1)),
            ("only braces", "{ a: 1, b: 2 }", &["b"], (1, 9)),
            ("a quoted brace", "a: { s: '}, x: 0', x: 1 }", &["a", "x"], (1, 20)),
        ];
        for (why, text, path, expected) in table {
            let path: Vec<String> = path.iter().map(|&part| part.to_owned()).collect();
            assert_eq!(position(text, &path), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_place(text in "([a-c]: ?|[{}\\[\\],'\"#\n ]|é){0,40}", path in proptest::collection::vec("[a-c]", 0..4)) {
            let (line, column) = position(&text, &path);
            prop_assert!(line >= 1 && line <= text.matches('\n').count() + 1);
            prop_assert!(column >= 1);
        }
    }
}
