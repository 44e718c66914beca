//! Renders the templates of the page. The engine passes every value through [`write_escaped`], so
//! foreign text cannot become markup, and what a template may call is listed here.

use std::fmt::Write as _;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, Output, State, UndefinedBehavior, Value};

use crate::report::markdown::{digits, is_invisible};
use crate::report::phrases::{sentence, time};

use super::limits::{NAME, shorten_line};
use super::prose::split_spans;

const TEMPLATES: &[(&str, &str)] = &[
    ("page.html", include_str!("page.html")),
    ("macros.html", include_str!("macros.html")),
    ("part.html", include_str!("part.html")),
    ("chart.html", include_str!("chart.html")),
    ("grid.html", include_str!("grid.html")),
    ("iterations.html", include_str!("iterations.html")),
    ("prose.html", include_str!("prose.html")),
    ("time.html", include_str!("time.html")),
];

/// A space that does not break, between the thousands of a number.
const NO_BREAK: char = '\u{a0}';

/// Renders the page, whose constant templates are tested completely, so without errors.
pub(super) fn render(values: &serde_json::Value) -> String {
    render_template("page.html", values)
        .unwrap_or_else(|error| format!("[the page is broken: {error:#}]"))
}

pub(super) fn render_template(name: &str, values: &serde_json::Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_formatter(write_escaped);
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    environment.add_filter("short", |text: &str, limit: Option<usize>| {
        shorten_line(text, limit.unwrap_or(NAME))
    });
    environment.add_filter("sentence", |text: &str| sentence(text));
    environment.add_filter("time", |milliseconds: u64| time(milliseconds));
    environment.add_filter("number", |value: u64| digits(value, NO_BREAK));
    environment.add_filter("many", |amount: u64, noun: &str| count_grouped(amount, noun));
    environment.add_filter("spans", |text: &str| Value::from(Serde(split_spans(text))));
    environment.add_filter("breaks", |text: &str| -> Value {
        text.split_inclusive(['_', '.', ':', '/']).collect()
    });
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    environment.get_template(name)?.render(Value::from(Serde(values)))
}

/// Writes a value as text. Invisible characters are shown by their number.
fn write_escaped(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let text = value.to_string();
    if value.is_safe() {
        return Ok(out.write_str(&text)?);
    }
    for character in text.chars() {
        match character {
            '&' => out.write_str("&amp;")?,
            '<' => out.write_str("&lt;")?,
            '>' => out.write_str("&gt;")?,
            '"' => out.write_str("&quot;")?,
            '\'' => out.write_str("&#39;")?,
            '\n' | '\t' => out.write_char(character)?,
            _ if character.is_control() || is_invisible(character) => {
                write!(out, "⟨U+{:04X}⟩", u32::from(character))?;
            }
            _ => out.write_char(character)?,
        }
    }
    Ok(())
}

/// `1 test`, `12 345 tests`.
fn count_grouped(amount: u64, noun: &str) -> String {
    format!("{} {noun}{}", digits(amount, NO_BREAK), if amount == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_text_wherever_it_stands() {
        let mut environment = Environment::new();
        environment.set_formatter(write_escaped);
        let values = minijinja::context! { name => "\"><img onerror='x'>", text => "<script>&\u{202e}\u{1b}[31m" };
        assert_eq!(
            environment
                .render_str("<p title=\"{{ name }}\"><b>{{ text }}</b></p>", values)
                .unwrap(),
            "<p title=\"&quot;&gt;&lt;img onerror=&#39;x&#39;&gt;\"><b>&lt;script&gt;&amp;⟨U+202E⟩⟨U+001B⟩[31m</b></p>"
        );
    }

    #[test]
    fn nothing_but_the_style_is_trusted() {
        let sources: String = TEMPLATES.iter().map(|(_, source)| *source).collect();
        assert_eq!(sources.matches("safe").count(), 1);
        assert!(sources.contains("<style>{{ style|safe }}</style>"));
        assert!(!sources.contains("autoescape"));
    }

    #[test]
    fn numbers_read_well() {
        let table = [
            (0, "0 tests"),
            (1, "1 test"),
            (999, "999 tests"),
            (1000, "1\u{a0}000 tests"),
            (1_234_567, "1\u{a0}234\u{a0}567 tests"),
        ];
        for (value, expected) in table {
            assert_eq!(count_grouped(value, "test"), expected);
        }
    }
}
