//! Does a text parse, and where not.

use super::language::Language;

/// A place where a text does not parse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// The first place where a text does not parse; `None` when it does.
#[must_use]
pub fn first_error(language: Language, text: &str) -> Option<SyntaxError> {
    let tree = language.parse(text)?;
    let mut node = tree.root_node();
    if !node.has_error() {
        return None;
    }
    loop {
        let mut cursor = node.walk();
        let inner =
            node.children(&mut cursor).find(|child| child.has_error() || child.is_missing());
        match inner {
            Some(child) if !node.is_error() => node = child,
            _ => break,
        }
    }
    let place = node.start_position();
    let number = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
    Some(SyntaxError { line: number(place.row), column: number(place.column) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_has_a_line() {
        assert_eq!(first_error(Language::Python, "def f():\n    return 1\n"), None);
        let error = first_error(Language::Python, "x = 1\ndef f(:\n    pass\n").unwrap();
        assert_eq!(error.line, 2);
        assert!(first_error(Language::JavaScript, "const a = (1;\n").is_some());
        assert!(first_error(Language::Go, "package a\nfunc f() {\n").is_some());
    }
}
