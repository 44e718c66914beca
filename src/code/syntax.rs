//! Finds the first syntax error of a text, and checks many small changes of a text quickly.

use std::ops::Range;

use tree_sitter::{InputEdit, Parser, Point, Tree};

use super::language::Language;

/// The position of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// The first syntax error of a text; `None` if it parses.
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

/// Checks whether a text still parses after a small change, reusing the tree of the original.
pub struct Reparser {
    parser: Parser,
    tree: Tree,
    /// Byte offset of the end of each line.
    ends: Vec<usize>,
}

impl Reparser {
    /// A parser for changes of `text`; `None` if the text cannot be parsed at all.
    pub fn of(language: Language, text: &str) -> Option<Self> {
        let tree = language.parse(text)?;
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).ok()?;
        let ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Some(Self { parser, tree, ends })
    }

    /// Whether the text parses with `range` replaced by `new`; `whole` is the resulting text.
    pub fn parses(&mut self, range: &Range<usize>, new: &str, whole: &str) -> bool {
        let mut tree = self.tree.clone();
        let start_position = self.point(range.start);
        tree.edit(&InputEdit {
            start_byte: range.start,
            old_end_byte: range.end,
            new_end_byte: range.start + new.len(),
            start_position,
            old_end_position: self.point(range.end),
            new_end_position: match new.rfind('\n') {
                None => Point::new(start_position.row, start_position.column + new.len()),
                Some(at) => {
                    Point::new(start_position.row + new.matches('\n').count(), new.len() - at - 1)
                }
            },
        });
        self.parser.parse(whole, Some(&tree)).is_some_and(|tree| !tree.root_node().has_error())
    }

    fn point(&self, byte: usize) -> Point {
        let row = self.ends.partition_point(|end| *end < byte);
        let start = row.checked_sub(1).and_then(|row| self.ends.get(row)).map_or(0, |end| end + 1);
        Point::new(row, byte - start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_text_parses_again_as_it_does_anew() {
        let text = "def f(a, b):\n    if a > b:\n        return [a, b]\n    return (a, b)\n\n\nX = f(1, 2)\n";
        let mut reparser = Reparser::of(Language::Python, text).unwrap();
        let mut counts = (0, 0);
        for start in 0..text.len() {
            for (length, new) in [(1, ""), (0, "("), (2, "a"), (0, "\n"), (1, "x\n  y")] {
                let end = (start + length).min(text.len());
                let part = |range: Range<usize>| text.get(range).unwrap();
                let whole = format!("{}{new}{}", part(0..start), part(end..text.len()));
                let parses = first_error(Language::Python, &whole).is_none();
                assert_eq!(reparser.parses(&(start..end), new, &whole), parses, "{whole}");
                if parses { counts.0 += 1 } else { counts.1 += 1 }
            }
        }
        assert!(counts.0 > 20 && counts.1 > 20, "{counts:?}");
    }

    #[test]
    fn the_first_error_has_a_line() {
        assert_eq!(first_error(Language::Python, "def f():\n    return 1\n"), None);
        let error = first_error(Language::Python, "x = 1\ndef f(:\n    pass\n").unwrap();
        assert_eq!(error.line, 2);
        assert!(first_error(Language::JavaScript, "const a = (1;\n").is_some());
        assert!(first_error(Language::Go, "package a\nfunc f() {\n").is_some());
    }

    #[test]
    fn every_language_tells_whole_texts_from_broken_ones() {
        let table = [
            (Language::Python, "def f(a):\n    return a\n", "def f(a:\n    return a\n"),
            (Language::JavaScript, "const a = () => 1;\n", "const a = ( => 1;\n"),
            (Language::TypeScript, "const a: number = 1;\n", "const a: = 1;\n"),
            (Language::Tsx, "const a = <b>{c}</b>;\n", "const a = <b>{c</b>;\n"),
            (Language::Rust, "fn f() -> u8 { 1 }\n", "fn f() -> { 1 }\n"),
            (Language::Go, "package a\n\nfunc f() {}\n", "package a\n\nfunc f( {}\n"),
            (
                Language::Java,
                "class A { int f() { return 1; } }\n",
                "class A { int f() { return 1 }\n",
            ),
        ];
        for (language, whole, broken) in table {
            assert_eq!(first_error(language, whole), None, "{language:?}");
            assert!(first_error(language, broken).is_some(), "{language:?}");
        }
    }
}
