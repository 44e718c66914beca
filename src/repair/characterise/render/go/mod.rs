//! Renders cases as a Go test file: a table for what differs in arguments and results only, and a
//! subtest of its own for all else.

mod table;

use crate::code::go_packages::import_lines;
use crate::effect::{CallOutcome, ResultKind};

use self::table::CaseTable;
use super::test_name::{Detail, case_words};
use super::{
    Case, Draft, DraftTest, Naming, ObservedFunction, case_of, compared_message, is_long_float,
    lower_first, upper_first,
};

/// What stands between the literals of several results.
const BETWEEN: char = '\u{1f}';

/// The class of a panic; others are errors: the variable that holds one, or `error`.
const PANIC: &str = "panic";

/// Names that the lines of a test use themselves.
const OWN_NAMES: &[&str] = &["t", "tt", "tests", "name", "got", "want", "wantErr", "err", "thrown"];

/// The name under which a test runs: `TestFee/gift_3`, or `TestFee` for the only case.
pub fn test_name(naming: &Naming, one: &ObservedFunction, case: &Case, detail: Detail) -> String {
    let own = one.callable.name.replace('.', "_");
    let mark = if own.starts_with(|c: char| c.is_ascii_uppercase()) { "" } else { "_" };
    let first = format!("Test{mark}{own}");
    let further = (2..).map(|number| format!("{first}More{number}"));
    let mut all = [first.clone(), format!("{first}More")].into_iter().chain(further);
    let function = all.find(|name| !naming.package.taken.contains(name)).unwrap_or(first);
    if one.cases.len() == 1 {
        return function;
    }
    let words = case_words(naming.framework, one, case, detail);
    let words: Vec<&str> = words.split_whitespace().collect();
    let words = if words.is_empty() { "called".to_owned() } else { words.join("_") };
    format!("{function}/{words}")
}

/// The complete text of a test file.
pub fn render_file(naming: &Naming, functions: &[ObservedFunction], draft: &Draft) -> String {
    let mut body = String::new();
    let mut open: &[DraftTest] = &draft.tests;
    while let Some(first) = open.first() {
        let count = open.iter().take_while(|test| test.function == first.function).count();
        let (own, rest) = open.split_at(count);
        open = rest;
        let cases: Vec<(&str, &Case)> = own
            .iter()
            .filter_map(|test| Some((test.name.as_str(), case_of(functions, test)?.1)))
            .collect();
        if let Some(one) = functions.get(first.function) {
            body.push_str(&function(one, &cases));
        }
    }
    let needed = functions.iter().flat_map(|one| &one.cases).flat_map(|case| &case.seen.needs);
    let mut known = naming.package.imports.clone();
    for path in needed {
        known.entry(crate::code::go_packages::last_name(path).to_owned()).or_insert(path.clone());
    }
    let package = &naming.subject;
    let imports = import_lines(&format!("package p\n{body}"), &known);
    format!("package {package}\n\n{imports}{}", body.trim_start())
}

fn function(one: &ObservedFunction, cases: &[(&str, &Case)]) -> String {
    let Some((first, single)) = cases.first() else { return String::new() };
    let name = first.split('/').next().unwrap_or(first);
    let mut text = format!("\nfunc {name}(t *testing.T) {{\n");
    if cases.len() == 1 && !first.contains('/') {
        text.push_str(&indented(1, &statements(one, single)));
        return text + "}\n";
    }
    let (mut rows, mut others): (Vec<_>, Vec<_>) =
        cases.iter().partition(|(_, case)| is_tabular(one, case));
    if rows.len() < 2 {
        others = cases.iter().collect();
        rows = Vec::new();
    }
    if !rows.is_empty() {
        text.push_str(&CaseTable::new(one, &rows).render_text());
    }
    for (name, case) in others {
        text.push_str(&format!("\tt.Run({:?}, func(t *testing.T) {{\n", shown_name(name)));
        text.push_str(&indented(2, &statements(one, case)));
        text.push_str("\t})\n");
    }
    text + "}\n"
}

fn shown_name(name: &str) -> String {
    name.split_once('/').map_or(name, |(_, words)| words).replace('_', " ")
}

fn indented(depth: usize, lines: &[String]) -> String {
    let indent = "\t".repeat(depth);
    lines.iter().map(|line| format!("{indent}{line}\n")).collect()
}

/// Whether arguments and results say all about a case.
fn is_tabular(one: &ObservedFunction, case: &Case) -> bool {
    let is_plain = match case.expected_outcome() {
        CallOutcome::Value { literal, way } => {
            *way == ResultKind::Plain && values(one, literal).len() == plain_results(one).len()
        }
        CallOutcome::Raised { class, .. } => class != PANIC,
        CallOutcome::Refused(_) => false,
    };
    is_plain && case.call.setup.is_empty() && case.seen.after.is_empty()
}

fn fails(one: &ObservedFunction) -> bool {
    one.callable.results.last().is_some_and(|last| last == "error")
}

/// The types of the results without the error.
fn plain_results(one: &ObservedFunction) -> &[String] {
    let results = one.callable.results.as_slice();
    if fails(one) { results.split_last().map_or(results, |(_, plain)| plain) } else { results }
}

/// The literals of the results, as short as their declared types allow.
fn values(one: &ObservedFunction, literal: &str) -> Vec<String> {
    let types = plain_results(one);
    if types.is_empty() {
        return Vec::new();
    }
    let parts = literal.split(BETWEEN).enumerate();
    parts.map(|(at, part)| short(part, types.get(at).map_or("", String::as_str))).collect()
}

/// A literal without the conversion that its place makes anyway.
fn short(literal: &str, declared: &str) -> String {
    if literal == format!("({declared})(nil)") {
        return "nil".into();
    }
    let inner = literal.strip_prefix(declared).and_then(|rest| rest.strip_prefix('('));
    let inner = inner.and_then(|rest| rest.strip_suffix(')'));
    let is_name = declared.chars().all(|c| c.is_alphanumeric() || c == '_');
    inner.filter(|_| is_name && !declared.is_empty()).unwrap_or(literal).to_owned()
}

/// How a result is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Operator,
    Deep,
    /// The last digits of a float may differ between machines.
    Close,
}

fn comparison<'l>(
    declared: &str,
    mut literals: impl Iterator<Item = &'l str> + Clone,
) -> Comparison {
    let is_basic = |literal: &str| {
        let inner = literal.split_once('(').map_or(literal, |(_, rest)| rest);
        let inner = if literal.starts_with("math.") { "0" } else { inner };
        inner.starts_with(|c: char| c.is_ascii_digit() || "\"'-.".contains(c))
            || matches!(inner, "true" | "false" | "nil" | "true)" | "false)")
    };
    let composed = |literal: &str| {
        literal.starts_with('[')
            || literal.contains('{')
            || literal.contains(".Date(")
            || literal.contains(".NewInt(")
    };
    if declared == "float64" && literals.clone().any(is_long_float) {
        return Comparison::Close;
    }
    if literals.all(|one| is_basic(one) && !composed(one)) {
        Comparison::Operator
    } else {
        Comparison::Deep
    }
}

/// The condition under which a result is wrong.
fn differs(comparison: Comparison, got: &str, want: &str) -> String {
    match comparison {
        Comparison::Operator if want == "true" => format!("!{got}"),
        Comparison::Operator if want == "false" => got.to_owned(),
        Comparison::Operator => format!("{got} != {want}"),
        Comparison::Deep => format!("!reflect.DeepEqual({got}, {want})"),
        Comparison::Close => format!("math.Abs({got}-{want}) > 1e-12*math.Abs({want})"),
    }
}

/// The verb that shows a value of a type in a message.
fn verb(declared: &str) -> &'static str {
    match declared {
        "string" | "[]string" | "rune" | "byte" | "[]byte" | "[]rune" => "%q",
        _ => "%v",
    }
}

fn is_shown(declared: &str) -> bool {
    let name = declared.trim_start_matches("[]");
    name == "string" || crate::code::signature::is_basic_go(name)
}

/// The statements of a case outside of a table.
fn statements(one: &ObservedFunction, case: &Case) -> Vec<String> {
    let mut lines = Vec::new();
    let mut given = case.call.arguments.clone();
    let mut changed = Vec::new();
    for (index, after) in &case.seen.after {
        let Some(place) = given.get_mut(*index) else { continue };
        let own = one.callable.parameters.get(*index).map_or("", |one| one.name.as_str());
        let name = free_name(own, one);
        lines.push(format!("{name} := {place}"));
        place.clone_from(&name);
        changed.push((name, after));
    }
    if given.len() > 1 {
        given = given.iter().map(|one| one.replace(" * time.", "*time.")).collect();
    }
    let mut callee = case.call.callee.clone();
    if let Some((object, method)) =
        case.call.callee.rsplit_once('.').filter(|_| !case.call.setup.is_empty())
    {
        let name = free_name(&lower_first(&one.local), one);
        lines.push(format!("{name} := {}", unwrapped(object)));
        lines.extend(case.call.setup.iter().map(|before| format!("{name}.{before}")));
        callee = format!("{name}.{method}");
    }
    let call = format!("{callee}({})", given.join(", "));
    let shown = format!("{}()", one.callable.short_name());
    lines.extend(checks(one, case, &call, &shown));
    for (name, after) in changed {
        let wanted = format!("want{}", upper_first(&name));
        lines.push(format!("{wanted} := {after}"));
        lines.push(format!("if !reflect.DeepEqual({name}, {wanted}) {{"));
        lines.push(format!("\tt.Errorf(\"{name} = %v after {shown}, want %v\", {name}, {wanted})"));
        lines.push("}".into());
    }
    lines
}

/// What is called, and what is expected of its results.
fn checks(one: &ObservedFunction, case: &Case, call: &str, shown: &str) -> Vec<String> {
    match case.expected_outcome() {
        CallOutcome::Value { literal, way: ResultKind::Text } => vec![
            format!("if got := {call}.String(); got != {literal} {{"),
            format!("\tt.Errorf(\"{shown} = %q, want %q\", got, {literal})"),
            "}".into(),
        ],
        CallOutcome::Value { literal, .. } => value_checks(one, &values(one, literal), call, shown),
        CallOutcome::Raised { class, message, explicit, .. } if class != PANIC => {
            let ignored = "_, ".repeat(plain_results(one).len());
            let says = compared_message(message, *explicit);
            let wrong = match says {
                _ if class != "error" => format!("!errors.Is(err, {class})"),
                Some(says) => format!("err == nil || err.Error() != {says}"),
                None => "err == nil".to_owned(),
            };
            vec![
                format!("if {ignored}err := {call}; {wrong} {{"),
                format!("\tt.Errorf(\"{shown} error = %v\", err)"),
                "}".into(),
            ]
        }
        CallOutcome::Raised { message, explicit, .. } => {
            let says = compared_message(message, *explicit);
            let wrong = says
                .map_or("thrown == nil".to_owned(), |says| format!("fmt.Sprint(thrown) != {says}"));
            vec![
                "defer func() {".into(),
                format!("\tif thrown := recover(); {wrong} {{"),
                format!("\t\tt.Errorf(\"{shown} panics with %v\", thrown)"),
                "\t}".into(),
                "}()".into(),
                call.to_owned(),
            ]
        }
        CallOutcome::Refused(_) => Vec::new(),
    }
}

/// The comparison of each result with the wanted one.
fn value_checks(one: &ObservedFunction, wants: &[String], call: &str, shown: &str) -> Vec<String> {
    let (types, fails) = (plain_results(one), fails(one));
    let names = result_names(types.len());
    let all: Vec<&str> = names.iter().map(String::as_str).chain(fails.then_some("err")).collect();
    let mut lines = Vec::new();
    let how = |kind: &str, want: &str| comparison(kind, std::iter::once(want));
    let is_single = match (types, wants) {
        ([kind], [want]) => !fails && how(kind, want) != Comparison::Deep,
        _ => false,
    };
    match all.as_slice() {
        _ if is_single => {}
        [] => lines.push(call.to_owned()),
        all => lines.push(format!("{} := {call}", all.join(", "))),
    }
    if fails {
        lines.push("if err != nil {".into());
        lines.push(format!("\tt.Fatalf(\"{shown} error: %v\", err)"));
        lines.push("}".into());
    }
    for ((got, want), kind) in names.iter().zip(wants).zip(types) {
        let how = how(kind, want);
        let name = got.replacen("got", "want", 1);
        if how == Comparison::Deep {
            lines.push(format!("{name} := {want}"));
        }
        let want = if how == Comparison::Deep { &name } else { want };
        let head = if is_single { format!("got := {call}; ") } else { String::new() };
        let verb = verb(kind);
        lines.push(format!("if {head}{} {{", differs(how, got, want)));
        lines.push(format!("\tt.Errorf(\"{shown} = {verb}, want {verb}\", {got}, {want})"));
        lines.push("}".into());
    }
    lines
}

/// `got`, or `got`, `got1` and so on.
fn result_names(count: usize) -> Vec<String> {
    (0..count).map(|at| if at == 0 { "got".to_owned() } else { format!("got{at}") }).collect()
}

/// A name for a variable or field that hides nothing that the test needs.
fn free_name(wanted: &str, one: &ObservedFunction) -> String {
    let is_taken = wanted.is_empty()
        || wanted == "_"
        || OWN_NAMES.contains(&wanted)
        || wanted == one.local
        || crate::code::go_packages::is_standard(wanted)
        || crate::code::syntax::first_error(
            crate::code::language::Language::Go,
            &format!("package p\n\nvar {wanted} = 1\n"),
        )
        .is_some();
    match (is_taken, wanted.is_empty() || wanted == "_") {
        (false, _) => wanted.to_owned(),
        (true, true) => "given".into(),
        (true, false) if wanted == one.local => "object".into(),
        (true, false) => format!("{wanted}Given"),
    }
}

/// An expression without the parentheses around all of it.
fn unwrapped(expression: &str) -> &str {
    let inner = expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.filter(|inner| !inner.contains(['(', ')'])).unwrap_or(expression)
}
