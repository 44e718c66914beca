//! Renders cases as a Rust test file that uses the library from outside.

use std::collections::BTreeSet;

use crate::code::pattern::Pattern;
use crate::effect::{CallOutcome, ResultKind};

use super::line_breaks::{BreakStyle, Layout, break_line};
use super::{Case, Draft, Naming, ObservedFunction, case_of, compared_message, is_long_float};

/// The longest line that rustfmt leaves as it is.
const WIDTH: usize = 100;

/// Types in expressions.
static TYPE: Pattern = Pattern::new(r"\b([A-Z]\w+)(?:::|\(| \{)");

/// Texts, in which names mean nothing.
static TEXT: Pattern = Pattern::new(r#""(?:[^"\\]|\\.)*""#);

/// Names that need no import.
const PRELUDE: &[&str] = &["Duration", "String", "Vec", "Some", "Ok", "Err"];

/// The complete text of a test file.
pub fn render_rust_file(naming: &Naming, functions: &[ObservedFunction], draft: &Draft) -> String {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut body = String::new();
    let layout = Layout { width: WIDTH, step: "    ", style: BreakStyle::Rustfmt };
    for test in &draft.tests {
        let Some((one, case)) = case_of(functions, test) else { continue };
        names.insert(one.local.clone());
        let is_panic = matches!(
            case.expected_outcome(),
            CallOutcome::Raised { class, .. } if class == "panic"
        );
        body.push_str("\n#[test]\n");
        if is_panic {
            let CallOutcome::Raised { message, explicit, .. } = case.expected_outcome() else {
                continue;
            };
            let says = compared_message(message, *explicit);
            let says = says.map_or_else(String::new, |says| format!("(expected = {says})"));
            body.push_str(&format!("#[should_panic{says}]\n"));
        }
        body.push_str(&format!("fn {}() {{\n", test.name));
        for line in statements(one, case) {
            body.push_str(&break_line(&line, 1, layout));
        }
        body.push_str("}\n");
    }
    let body = body
        .replace("std::time::Duration::", "Duration::")
        .replace("std::time::UNIX_EPOCH", "UNIX_EPOCH");
    let code = TEXT.replace_all(&body, "");
    let found = TYPE.captures(&code).filter_map(|found| Some(found.get(1)?.as_str().to_owned()));
    names.extend(found.filter(|name| !PRELUDE.contains(&name.as_str())));
    let standard: Vec<&str> =
        ["Duration", "UNIX_EPOCH"].into_iter().filter(|name| code.contains(*name)).collect();
    let group = |path: &str, names: &[&str]| match names {
        [] => String::new(),
        [one] => format!("use {path}::{one};\n"),
        all => {
            let line = format!("use {path}::{{{}}};\n", all.join(", "));
            if line.len() <= WIDTH { line } else { format!("use {path}::{{\n{}}};\n", packed(all)) }
        }
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let parsed = if code.contains("::from_str(") { "use std::str::FromStr;\n" } else { "" };
    let standard = format!("{parsed}{}", group("std::time", &standard));
    let space = if standard.is_empty() { "" } else { "\n" };
    let library = naming.subject.split("::").next().unwrap_or_default();
    let is_declared = naming.package.is_declared;
    let declared = if is_declared { format!("extern crate {library};\n\n") } else { String::new() };
    format!("{declared}{standard}{space}{}{body}", group(&naming.subject, &names))
}

/// Names in lines that are as full as may be, each with a comma behind it.
fn packed(names: &[&str]) -> String {
    let (mut text, mut line) = (String::new(), "   ".to_owned());
    for name in names {
        if line.len() + name.len() + 2 > WIDTH {
            text.push_str(&format!("{line}\n"));
            "   ".clone_into(&mut line);
        }
        line.push_str(&format!(" {name},"));
    }
    format!("{text}{line}\n")
}

/// The lines of code of one case.
fn statements(one: &ObservedFunction, case: &Case) -> Vec<String> {
    let mut lines = Vec::new();
    let mut callee = case.call.callee.clone();
    if let Some((object, method)) =
        case.call.callee.rsplit_once('.').filter(|_| !case.call.setup.is_empty())
    {
        lines.push(format!("let mut subject = {object};"));
        lines.extend(case.call.setup.iter().map(|before| format!("subject.{before};")));
        callee = format!("subject.{method}");
    }
    let call = format!("{callee}({})", case.call.arguments.join(", "));
    let result = one.callable.results.first().map_or("", String::as_str);
    let is_result = result.split('<').next().is_some_and(|head| head.ends_with("Result"));
    let call = match case.expected_outcome() {
        CallOutcome::Value { .. } if is_result => format!("{call}.unwrap()"),
        _ => call,
    };
    lines.push(match case.expected_outcome() {
        CallOutcome::Value { literal, way: ResultKind::Text } => {
            format!("assert_eq!({call}.to_string(), {literal});")
        }
        CallOutcome::Value { literal, way: ResultKind::Attributes } => {
            format!("assert_eq!(format!(\"{{:?}}\", {call}), {literal});")
        }
        CallOutcome::Value { literal, .. } => match literal.as_str() {
            "true" => format!("assert!({call});"),
            "false" => format!("assert!(!{call});"),
            "[]" => format!("assert!({call}.is_empty());"),
            // The last digits may differ between machines.
            literal if is_long_float(literal) => {
                format!("assert!(({call} - {literal}).abs() < 1e-12);")
            }
            literal => format!("assert_eq!({call}, {literal});"),
        },
        CallOutcome::Raised { class, message, explicit, .. } if class == "error" => {
            match compared_message(message, *explicit) {
                Some(says) => format!("assert_eq!({call}.unwrap_err().to_string(), {says});"),
                None => format!("assert!({call}.is_err());"),
            }
        }
        CallOutcome::Raised { .. } => format!("{call};"),
        CallOutcome::Refused(_) => String::new(),
    });
    lines
}
