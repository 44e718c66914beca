//! Renders the templates of this folder. Every value passes through [`prose`], or through [`line()`] for a
//! terminal, so foreign text cannot become markup, unless a filter makes it a span, a cell or a line.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{Environment, Error, Output, State, UndefinedBehavior, Value};

use crate::domain::text::count;
use crate::report::markdown::{self, cell, code, in_cell, line};

const TEMPLATES: &[(&str, &str)] = &[
    ("analysis.md", include_str!("analysis.md")),
    ("comment.md", include_str!("comment.md")),
    ("gate.md", include_str!("gate.md")),
    ("plan.md", include_str!("plan.md")),
    ("suite.md", include_str!("suite.md")),
    ("task.md", include_str!("task.md")),
    ("terminal.txt", include_str!("terminal.txt")),
    ("todo.md", include_str!("todo.md")),
];

/// Turns a text into Markdown that is safe.
type Filter = fn(&str) -> String;

/// Longest sentence, in characters.
const SENTENCE: usize = 600;

/// A sentence of ours that may quote foreign words.
fn prose(text: &str) -> String {
    markdown::prose(text, SENTENCE)
}

/// Renders a template. All are constants that tests render completely, so an error cannot occur for
/// users.
pub fn render(name: &str, values: Value) -> String {
    rendered(name, values).unwrap_or_else(|error| format!("[{name} is broken: {error:#}]"))
}

fn rendered(name: &str, values: Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_formatter(write_prose);
    if let Ok(syntax) = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()
    {
        environment.set_syntax(syntax);
    }
    let filters: [(&str, Filter); 5] = [
        ("cell", cell),
        ("code", code),
        ("in_cell", |text| in_cell(&prose(text))),
        ("plain", |text| line(text, SENTENCE)),
        ("trusted", str::to_owned),
    ];
    for (name, filter) in filters {
        environment.add_filter(name, move |text: Value| {
            Value::from_safe_string(filter(&text.to_string()))
        });
    }
    environment.add_filter("short", |text: Value, limit: usize| {
        Value::from_safe_string(line(&text.to_string(), limit))
    });
    environment.add_filter("pad", |text: Value, width: usize| {
        Value::from_safe_string(format!("{:<width$}", line(&text.to_string(), SENTENCE)))
    });
    environment.add_filter("many", |number: u64, noun: &str| count(number, noun));
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    environment.get_template(name)?.render(values)
}

/// Writes a value as a sentence, or for a terminal as a line, unless a filter has made it safe.
fn write_prose(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    let text = value.to_string();
    Ok(out.write_str(&match () {
        () if value.is_safe() || value.kind() == ValueKind::Number => text,
        () if state.name().ends_with(".txt") => line(&text, SENTENCE),
        () => prose(&text),
    })?)
}
