//! Renders cases as a test class of JUnit in the package of the class under test.

use std::collections::BTreeSet;

use crate::code::java_packages::{JUnit, standard_imports};
use crate::code::signature::Construction;
use crate::effect::{CallOutcome, ResultKind};

use super::line_breaks::{BreakStyle, Layout, break_line};
use super::test_name::{Detail, case_words};
use super::{
    Case, Draft, Naming, ObservedFunction, arguments, case_of, compared_message, lower_first,
};

/// The longest line that is left as it is.
const WIDTH: usize = 100;

/// Classes whose objects are compared by their text.
const TEXT_BUFFERS: &[&str] = &["StringWriter", "StringBuilder", "StringBuffer", "CharArrayWriter"];

/// Assertions that a test may use.
const ASSERTIONS: &[&str] = &[
    "assertArrayEquals",
    "assertEquals",
    "assertFalse",
    "assertNull",
    "assertThrows",
    "assertTrue",
];

/// Methods without parameters that every object has: a test with such a name would override one.
const OBJECT_METHODS: &str = "clone finalize getClass hashCode notify notifyAll toString wait";

/// The name of a test: `shippingOf6000Is0`, `parseThrowsForEmptyString`, `sizeAfterAddIs1`. How its object is
/// made is only said where that differs between the cases.
pub fn test_name(naming: &Naming, one: &ObservedFunction, case: &Case, detail: Detail) -> String {
    let object =
        |case: &Case| case.call.callee.rsplit_once('.').map(|(object, _)| object.to_owned());
    let mut named = case.clone();
    if one.cases.iter().all(|other| object(other) == object(case)) {
        one.callable.short_name().clone_into(&mut named.call.callee);
    }
    let words = case_words(naming.framework, one, &named, detail);
    let is_chained = chain_length(one, case) == case.call.setup.len();
    let words = if is_chained { words.replace("after ", "with ") } else { words };
    let words = words.trim();
    let starts = ["throws", "is ", "changes", "after", "with", "at limit", "above", "below"];
    let is_said = words.is_empty() || starts.iter().any(|word| words.starts_with(word));
    let of = if is_said { "" } else { "of" };
    let class = one.callable.class.as_ref().map_or("", |class| class.name.as_str());
    let inner = class.split_once('.').map_or("", |(_, inner)| inner);
    let is_new = one.callable.is_constructor();
    let own = if is_new { "constructor" } else { one.callable.short_name() };
    let name = camel_case(&format!("{inner} {own} {of} {words}"));
    if !OBJECT_METHODS.split(' ').any(|method| method == name) {
        return name;
    }
    let result = one.callable.results.first().map_or("", String::as_str);
    camel_case(&format!("{name} returns {result}"))
}

/// Words as a name in Java, with an underscore between numbers: `1_2_3`.
fn camel_case(words: &str) -> String {
    let mut name = String::new();
    for word in words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let is_number = |letter: char| letter.is_ascii_digit();
        if name.ends_with(is_number) && word.starts_with(is_number) {
            name.push('_');
        }
        let mut letters = word.chars();
        let first = letters
            .next()
            .map(|c| if name.is_empty() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() });
        name.extend(first.into_iter().chain(letters));
    }
    name
}

/// The complete text of a test file.
pub fn render_java_file(naming: &Naming, functions: &[ObservedFunction], draft: &Draft) -> String {
    let junit = naming.package.junit;
    let mut methods = Vec::new();
    let mut needed: BTreeSet<String> = BTreeSet::new();
    for test in &draft.tests {
        let Some((one, case)) = case_of(functions, test) else { continue };
        methods.push(method(naming, &test.name, one, case));
        needed.extend(case.seen.needs.iter().cloned());
    }
    let body = methods.join("\n");
    needed.extend(standard_imports(&body));
    let own: Vec<&String> = naming.package.imports.values().collect();
    needed.extend(own.into_iter().filter(|path| names_class(&body, path)).cloned());
    let (test, assertions) = match junit {
        JUnit::Jupiter => ("org.junit.jupiter.api.Test", "org.junit.jupiter.api.Assertions"),
        JUnit::Four | JUnit::Early => ("org.junit.Test", "org.junit.Assert"),
    };
    needed.insert(test.to_owned());
    let used = ASSERTIONS.iter().filter(|name| body.contains(&format!("{name}(")));
    let fixed: String = used.map(|name| format!("import static {assertions}.{name};\n")).collect();
    let imports: String = needed.iter().map(|path| format!("import {path};\n")).collect();
    let package = match naming.package.name.as_str() {
        "" => String::new(),
        name => format!("package {name};\n\n"),
    };
    let public = if junit == JUnit::Jupiter { "" } else { "public " };
    let (header, class) = (&naming.package.header, &naming.subject);
    format!("{header}{package}{fixed}\n{imports}\n{public}class {class} {{\n{body}}}\n")
}

fn names_class(text: &str, path: &str) -> bool {
    let class = path.rsplit('.').next().unwrap_or(path);
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == class)
}

fn method(naming: &Naming, name: &str, one: &ObservedFunction, case: &Case) -> String {
    let junit = naming.package.junit;
    let indent = naming.package.indent.as_str();
    let public = if junit == JUnit::Jupiter { "" } else { "public " };
    let throws = if one.callable.results.len() > 1 { " throws Exception" } else { "" };
    let expected = match case.expected_outcome() {
        CallOutcome::Raised { class, .. } if junit == JUnit::Early => {
            format!("(expected = {class}.class)")
        }
        _ => String::new(),
    };
    let mut text = format!("{indent}@Test{expected}\n{indent}{public}void {name}(){throws} {{\n");
    let layout = Layout { width: WIDTH, step: indent, style: BreakStyle::Rustfmt };
    for line in statements(junit, one, case) {
        text.push_str(&break_line(&line, 2, layout));
    }
    text + indent + "}\n"
}

/// The lines of code of one case.
fn statements(junit: JUnit, one: &ObservedFunction, case: &Case) -> Vec<String> {
    let mut lines = Vec::new();
    let mut callee = case.call.callee.clone();
    let is_story = !case.call.setup.is_empty();
    if let Some((object, method)) = case.call.callee.rsplit_once('.').filter(|_| is_story) {
        let (chained, rest) = case.call.setup.split_at(chain_length(one, case));
        let object =
            format!("{object}{}", chained.iter().map(|one| format!(".{one}")).collect::<String>());
        callee = format!("{object}.{method}");
        if !rest.is_empty() {
            let name = object_name(one);
            let declared = construction(one).map_or("Object", |made| made.declared.as_str());
            lines.push(format!("{declared} {name} = {object};"));
            let is_fluent = |step: &str| construction(one).is_some_and(|made| made.is_fluent(step));
            lines.extend(rest.iter().map(|step| {
                let kept = if is_fluent(step) { format!("{name} = ") } else { String::new() };
                format!("{kept}{name}.{step};")
            }));
            callee = format!("{name}.{method}");
        }
    }
    let (given, named) = arguments(one, case);
    for (index, (name, value)) in named.iter().enumerate() {
        let parameter =
            case.seen.after.get(index).and_then(|(at, _)| one.callable.parameters.get(*at));
        let declared = parameter.map_or("Object", |one| one.declared_type.as_str());
        lines.push(format!("{declared} {name} = {value};"));
    }
    let call = format!("{callee}({})", given.join(", "));
    lines.extend(assertions(junit, one, case, &call));
    if matches!(case.expected_outcome(), CallOutcome::Value { .. }) {
        for ((name, given), (_, value)) in named.iter().zip(&case.seen.after) {
            let is_text =
                TEXT_BUFFERS.iter().any(|class| given.starts_with(&format!("new {class}(")));
            let text = if is_text { ".toString()" } else { "" };
            lines.push(equality(junit, "", value, &format!("{name}{text}")));
        }
    }
    lines
}

fn construction(one: &ObservedFunction) -> Option<&Construction> {
    one.callable.class.as_ref()?.construction.as_ref()
}

/// How many of the first calls before the observed one can be chained.
fn chain_length(one: &ObservedFunction, case: &Case) -> usize {
    let is_fluent = |step: &&String| construction(one).is_some_and(|made| made.is_fluent(step));
    case.call.setup.iter().take_while(is_fluent).count()
}

/// The lines that make the call and compare what it gives.
fn assertions(junit: JUnit, one: &ObservedFunction, case: &Case, call: &str) -> Vec<String> {
    let declared = one.callable.results.first().map_or("", String::as_str);
    match case.expected_outcome() {
        CallOutcome::Value { way: ResultKind::None, .. } => vec![format!("{call};")],
        CallOutcome::Value { literal, way: ResultKind::Text } => {
            vec![format!("assertEquals({literal}, {call}.toString());")]
        }
        CallOutcome::Value { literal, way: ResultKind::Attributes } => {
            let parts: Vec<(&str, &str)> =
                literal.split('\u{1f}').filter_map(|part| part.split_once('=')).collect();
            if let [(method, value)] = parts.as_slice() {
                return vec![equality(junit, "", value, &format!("{call}.{method}"))];
            }
            let mut lines = vec![format!("{declared} result = {call};")];
            let each = parts.iter();
            lines.extend(
                each.map(|(method, value)| equality(junit, "", value, &format!("result.{method}"))),
            );
            lines
        }
        CallOutcome::Value { literal, .. } => vec![equality(junit, declared, literal, call)],
        CallOutcome::Raised { class, message, explicit, .. } => match junit {
            JUnit::Early => vec![format!("{call};")],
            JUnit::Four | JUnit::Jupiter => match compared_message(message, *explicit) {
                Some(says) => vec![
                    format!("{class} thrown = assertThrows({class}.class, () -> {call});"),
                    format!("assertEquals({says}, thrown.getMessage());"),
                ],
                None => vec![format!("assertThrows({class}.class, () -> {call});")],
            },
        },
        CallOutcome::Refused(_) => Vec::new(),
    }
}

/// The assertion that an expression has a value; `declared` is its type as far as known.
fn equality(junit: JUnit, declared: &str, literal: &str, actual: &str) -> String {
    let boxes = ["Integer", "Long", "Double", "Float", "Character", "Short", "Byte", "Boolean"];
    let is_boxed = boxes.contains(&declared) || declared.is_empty();
    let is_collection =
        ["List<", "Set<", "Map<", "Collection<"].iter().any(|start| declared.starts_with(start));
    match literal {
        "true" => format!("assertTrue({actual});"),
        "false" => format!("assertFalse({actual});"),
        "null" => format!("assertNull({actual});"),
        "List.of()" | "Set.of()" | "Map.of()" if is_collection => {
            format!("assertTrue({actual}.isEmpty());")
        }
        _ if literal.starts_with("new ") && literal.ends_with('}') => {
            let delta =
                if literal.starts_with("new double[] ") || literal.starts_with("new float[] ") {
                    ", 0"
                } else {
                    ""
                };
            format!("assertArrayEquals({literal}, {actual}{delta});")
        }
        _ if junit != JUnit::Jupiter && (is_fraction(literal) && !is_boxed) => {
            format!("assertEquals({literal}, {actual}, 0);")
        }
        _ if junit != JUnit::Jupiter && is_boxed && is_primitive(literal) => {
            format!("assertEquals((Object) {literal}, {actual});")
        }
        _ => format!("assertEquals({literal}, {actual});"),
    }
}

fn is_fraction(literal: &str) -> bool {
    literal.trim_end_matches('f').parse::<f64>().is_ok() && literal.contains('.')
        || literal.starts_with("Double.")
        || literal.starts_with("Float.")
}

fn is_primitive(literal: &str) -> bool {
    is_fraction(literal) || literal.starts_with(|c: char| c.is_ascii_digit() || "-'(".contains(c))
}

/// The name of a variable for the object of a story.
fn object_name(one: &ObservedFunction) -> String {
    let name = lower_first(one.local.rsplit('.').next().unwrap_or(&one.local));
    let is_taken = one.callable.parameters.iter().any(|other| other.name == name);
    if is_taken { "object".into() } else { name }
}
