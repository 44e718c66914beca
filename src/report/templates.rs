//! Renders the templates of documents. Every value passes through [`prose`], or through [`line()`] for a
//! terminal, so foreign text cannot become markup, unless a filter makes it a span, a cell or a line.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{Environment, Error, Output, State, UndefinedBehavior, Value};

use crate::domain::text::count;
use crate::report::markdown::{self, brief, cell, code, in_cell, line};

const TEMPLATES: &[(&str, &str)] = &[
    ("analysis.md", include_str!("planning/analysis.md")),
    ("comment.md", include_str!("planning/comment.md")),
    ("design.md", include_str!("design.md")),
    ("gate.md", include_str!("planning/gate.md")),
    ("reflection_log.md", include_str!("reflection_log/log.md")),
    ("plan.md", include_str!("planning/plan.md")),
    ("suite.md", include_str!("planning/suite.md")),
    ("task.md", include_str!("planning/task.md")),
    ("terminal.txt", include_str!("planning/terminal.txt")),
    ("todo.md", include_str!("planning/todo.md")),
];

/// Turns a text into Markdown that is safe.
type Filter = fn(&str) -> String;

/// Longest sentence, in characters.
const SENTENCE: usize = 600;

/// Entries of a list that the filters for lists show.
pub const LISTED: usize = 12;

/// A sentence of ours that may quote foreign words.
fn prose(text: &str) -> String {
    markdown::prose(text, SENTENCE)
}

/// A value as templates see it.
pub fn as_value<T: serde::Serialize>(value: &T) -> Value {
    Value::from(Serde(value))
}

/// Renders a template, all constants that tests render completely, so without errors.
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
    let filters: [(&str, Filter); 4] = [
        ("cell", cell),
        ("code", code),
        ("plain", |text| line(text, SENTENCE)),
        ("trusted", str::to_owned),
    ];
    for (name, filter) in filters {
        environment.add_filter(name, move |text: Value| {
            Value::from_safe_string(filter(&text.to_string()))
        });
    }
    environment.add_filter("in_cell", |text: Value| safe(in_cell(&as_markdown(&text))));
    environment.add_filter("short", |text: Value, limit: usize| {
        Value::from_safe_string(line(&text.to_string(), limit))
    });
    environment.add_filter("pad", |text: Value, width: usize| {
        Value::from_safe_string(format!("{:<width$}", line(&text.to_string(), SENTENCE)))
    });
    environment.add_filter("many", |number: u64, noun: &str| count(number, noun));
    add_list_filters(&mut environment);
    for (name, source) in TEMPLATES.iter().filter(|(known, _)| *known == name) {
        environment.add_template(name, source)?;
    }
    environment.get_template(name)?.render(values)
}

/// Filters for lists of any length, of which the first entries are shown. All return Markdown that is safe.
fn add_list_filters(environment: &mut Environment<'_>) {
    environment.add_filter("names", |all: Vec<Value>| {
        safe(join_first(&all, ", ", |name| brief(&name.to_string())))
    });
    environment.add_filter("phrases", |all: Vec<Value>| safe(join_first(&all, "; ", as_markdown)));
    environment.add_filter("bullets", |all: Vec<Value>, indent: Option<usize>| {
        let indent = " ".repeat(indent.unwrap_or_default());
        let lines = all.iter().take(LISTED).map(as_markdown);
        let rest = Some(describe_rest(all.len())).filter(|rest| !rest.is_empty());
        safe(lines.chain(rest).map(|text| format!("{indent}- {text}\n")).collect())
    });
    environment.add_filter("rest", |all: Vec<Value>, mark: Option<&str>| {
        let rest = Some(describe_rest(all.len())).filter(|rest| !rest.is_empty());
        safe(rest.map_or_else(String::new, |rest| mark.unwrap_or_default().to_owned() + &rest))
    });
    environment.add_filter("facts", |all: Vec<Vec<Value>>, indent: Option<usize>| {
        let indent = " ".repeat(indent.unwrap_or_default());
        let pairs = all.iter().filter_map(|pair| Some((pair.first()?, as_markdown(pair.get(1)?))));
        let pairs = pairs.filter(|(_, text)| !text.is_empty());
        safe(pairs.map(|(label, text)| format!("{indent}- {label}: {text}\n")).collect())
    });
}

fn safe(text: String) -> Value {
    Value::from_safe_string(text)
}

/// A value as Markdown: what a filter made stays, anything else is a sentence.
fn as_markdown(value: &Value) -> String {
    let text = value.to_string();
    if value.is_safe() || value.kind() == ValueKind::Number { text } else { prose(&text) }
}

fn join_first(all: &[Value], between: &str, show: impl Fn(&Value) -> String) -> String {
    let shown: Vec<String> = all.iter().take(LISTED).map(show).collect();
    format!("{} {}", shown.join(between), describe_rest(all.len())).trim_end().to_owned()
}

/// How many entries of a list are not shown; empty for a short one.
fn describe_rest(all: usize) -> String {
    if all > LISTED { format!("and {} more", all - LISTED) } else { String::new() }
}

/// Writes a value as a sentence, or for a terminal as a line, unless a filter has made it safe.
fn write_prose(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    let is_finished = value.is_safe() || value.kind() == ValueKind::Number;
    Ok(out.write_str(&match () {
        () if !is_finished && state.name().ends_with(".txt") => line(&value.to_string(), SENTENCE),
        () => as_markdown(value),
    })?)
}
