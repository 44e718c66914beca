//! Writes well-formed HTML. Markup is fixed at compile time; all other text is escaped in
//! [`Html::text`] or in an attribute, so foreign text cannot become markup.

use crate::report::markdown::{digits, is_invisible, line};

/// Attributes of one element; the values are escaped.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A growing HTML document. Open elements are closed in the right order.
#[derive(Debug, Default)]
pub struct Html {
    out: String,
    open: Vec<&'static str>,
}

impl Html {
    /// Begins an empty document.
    pub fn new() -> Self {
        Self { out: String::from("<!DOCTYPE html>\n"), open: Vec::new() }
    }

    /// Number of bytes written so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Opens an element.
    pub fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.start(tag, attributes);
        self.out.push('>');
        self.open.push(tag);
    }

    /// Closes the element that was opened last.
    pub fn close(&mut self) {
        if let Some(tag) = self.open.pop() {
            self.out.push_str("</");
            self.out.push_str(tag);
            self.out.push('>');
            if !INLINE.contains(&tag) {
                self.out.push('\n');
            }
        }
    }

    /// Writes an element around what `fill` writes.
    pub fn inside(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        fill: impl FnOnce(&mut Self),
    ) {
        self.open(tag, attributes);
        let depth = self.open.len();
        fill(self);
        while self.open.len() >= depth {
            self.close();
        }
    }

    /// Writes an element that contains only text.
    pub fn leaf(&mut self, tag: &'static str, class: &str, text: &str) {
        let class = [("class", class)];
        self.open(tag, if class[0].1.is_empty() { &[] } else { &class });
        self.text(text);
        self.close();
    }

    /// Writes a table that scrolls on its own, with a caption for screen readers.
    pub fn table(&mut self, class: &str, caption: &str, fill: impl FnOnce(&mut Self)) {
        let region =
            [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)];
        self.inside("div", &region, |html| {
            html.inside("table", &[("class", class)], |html| {
                html.leaf("caption", "unseen", caption);
                fill(html);
            });
        });
    }

    /// Writes the head of a table, with one column per name.
    pub fn header(&mut self, names: &[&str]) {
        self.inside("thead", &[], |html| {
            html.inside("tr", &[], |html| {
                for name in names {
                    html.inside("th", &[("scope", "col")], |html| html.text(name));
                }
            });
        });
    }

    pub fn row_head(&mut self, fill: impl FnOnce(&mut Self)) {
        self.inside("th", &[("scope", "row")], fill);
    }

    /// Writes a term with its description, inside a `dl`.
    pub fn term(&mut self, name: &str, fill: impl FnOnce(&mut Self)) {
        self.inside("div", &[], |html| {
            html.leaf("dt", "", name);
            html.inside("dd", &[], fill);
        });
    }

    /// Writes an element without content, in a form that is also valid XML.
    pub fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.start(tag, attributes);
        self.out.push_str("/>");
    }

    /// Text, escaped. Invisible characters are shown by their number.
    pub fn text(&mut self, text: &str) {
        for character in text.chars() {
            put(&mut self.out, character);
        }
    }

    /// Writes one line of foreign text as code, at most `limit` characters.
    pub fn code(&mut self, text: &str, limit: usize) {
        self.leaf("code", "", &short(text, limit));
    }

    /// Writes the style of the page unescaped; it is ours and contains neither `<` nor `&`.
    pub fn style(&mut self, style: &'static str) {
        self.out.push_str("<style>");
        self.out.push_str(style);
        self.out.push_str("</style>\n");
    }

    /// Closes all open elements and returns the document.
    #[must_use]
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn start(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            for character in value.chars() {
                put(&mut self.out, character);
            }
            self.out.push('"');
        }
    }
}

/// Elements without a line break after them, because there it would be visible.
const INLINE: &[&str] = &["a", "b", "code", "del", "em", "ins", "mark", "small", "span"];

fn put(out: &mut String, character: char) {
    match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        '\n' | '\t' => out.push(character),
        _ if character.is_control() || is_invisible(character) => {
            out.push_str(&format!("⟨U+{:04X}⟩", u32::from(character)));
        }
        _ => out.push(character),
    }
}

/// One line of at most `limit` characters; of a long text only the beginning is read.
pub fn short(text: &str, limit: usize) -> String {
    let ahead: String = text.chars().take(limit * 2 + 64).collect();
    let mut shown = line(&ahead, limit);
    if ahead.len() < text.len() && !shown.ends_with('…') {
        shown.push('…');
    }
    shown
}

/// A number with its thousands separated by a space that does not break: `12 345`.
pub fn number(value: u64) -> String {
    digits(value, '\u{a0}')
}

/// `1 test`, `12 345 tests`.
pub fn many(amount: usize, noun: &str) -> String {
    format!("{} {noun}{}", number(amount as u64), if amount == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_text_wherever_it_stands() {
        let mut html = Html::default();
        html.inside("p", &[("title", "\"><img onerror='x'>")], |html| {
            html.open("b", &[]);
            html.text("<script>&\u{202e}\u{1b}[31m");
        });
        assert_eq!(
            html.finish(),
            "<p title=\"&quot;&gt;&lt;img onerror=&#39;x&#39;&gt;\"><b>&lt;script&gt;&amp;⟨U+202E⟩⟨U+001B⟩[31m</b></p>\n"
        );
    }

    #[test]
    fn numbers_read_well() {
        let table =
            [(0, "0"), (999, "999"), (1000, "1\u{a0}000"), (1_234_567, "1\u{a0}234\u{a0}567")];
        for (value, expected) in table {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        assert_eq!(short("abc", 3), "abc");
        assert_eq!(short("abcd", 3), "abc…");
        assert_eq!(short(&format!("ab{}", " ".repeat(500)), 3), "ab…");
        assert_eq!(short(&"x".repeat(10_000_000), 3), "xxx…");
    }
}
