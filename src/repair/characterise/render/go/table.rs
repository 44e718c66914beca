//! The table of the cases of one function, and the loop over it.

use std::collections::BTreeSet;

use crate::effect::CallOutcome;

use super::{
    Case, ObservedFunction, compared_message, comparison, differs, fails, free_name, indented,
    is_shown, lower_first, plain_results, result_names, shown_name, unwrapped, values, verb,
};

struct Column {
    name: String,
    declared: String,
    cells: Vec<String>,
}

/// The table of a function's cases and the loop over it.
pub struct CaseTable<'a> {
    one: &'a ObservedFunction,
    names: Vec<String>,
    /// The object that the method is called on, where it differs between the cases.
    object: Option<Column>,
    given: Vec<Column>,
    wants: Vec<Column>,
    /// The expected error, its text, or whether there is one; no column where none is expected.
    failure: Option<Column>,
    callee: String,
}

impl<'a> CaseTable<'a> {
    pub fn new(one: &'a ObservedFunction, rows: &[&(&str, &'a Case)]) -> Self {
        let cases: Vec<&Case> = rows.iter().map(|(_, case)| *case).collect();
        let names = rows.iter().map(|(name, _)| format!("{:?}", shown_name(name))).collect();
        let callees: BTreeSet<&str> = cases.iter().map(|case| case.call.callee.as_str()).collect();
        let mut callee = cases.first().map_or_else(String::new, |case| case.call.callee.clone());
        let made = one.callable.class.as_ref().and_then(|class| class.construction.as_ref());
        let mut object = None;
        if let Some(made) = made.filter(|_| callees.len() > 1) {
            let parts = |case: &&Case| {
                let object = case.call.callee.rsplit_once('.').map_or("", |(object, _)| object);
                unwrapped(object).to_owned()
            };
            let name = free_name(&lower_first(&one.local), one);
            let is_named = one.callable.parameters.iter().any(|other| other.name == name);
            let name = if is_named { "object".to_owned() } else { name };
            callee = format!("tt.{name}.{}", one.callable.short_name());
            let cells = cases.iter().map(parts).collect();
            object = Some(Column { name, declared: made.declared.clone(), cells });
        }
        let wants = want_columns(one, &cases);
        let failure = failure_column(&cases);
        Self { one, names, object, given: given_columns(one, &cases), wants, failure, callee }
    }

    fn columns(&self) -> impl Iterator<Item = &Column> {
        self.object.iter().chain(&self.given).chain(&self.wants).chain(&self.failure)
    }

    pub fn render_text(&self) -> String {
        let mut text = "\ttests := []struct {\n".to_owned();
        let longest = self.columns().map(|column| column.name.len()).max().unwrap_or(0).max(4);
        text.push_str(&format!("\t\t{:longest$} string\n", "name"));
        for column in self.columns() {
            text.push_str(&format!("\t\t{:longest$} {}\n", column.name, column.declared));
        }
        text.push_str("\t}{\n");
        for (row, name) in self.names.iter().enumerate() {
            let cells = self.columns().filter_map(|column| column.cells.get(row).cloned());
            let cells: Vec<String> = std::iter::once(name.clone()).chain(cells).collect();
            text.push_str(&format!("\t\t{{{}}},\n", cells.join(", ")));
        }
        text.push_str("\t}\n\tfor _, tt := range tests {\n");
        text.push_str("\t\tt.Run(tt.name, func(t *testing.T) {\n");
        text.push_str(&indented(3, &self.body()));
        text + "\t\t})\n\t}\n"
    }

    /// The statements that check one row.
    fn body(&self) -> Vec<String> {
        let parameters = &self.one.callable.parameters;
        let given = self.given.iter().zip(parameters).map(|(column, parameter)| {
            let spread = if parameter.rest { "..." } else { "" };
            format!("tt.{}{spread}", column.name)
        });
        let call = format!("{}({})", self.callee, given.collect::<Vec<_>>().join(", "));
        let is_shown = self.given.iter().all(|column| is_shown(&column.declared));
        let shown_columns = || self.given.iter().filter(|_| is_shown && self.object.is_none());
        let verbs: Vec<&str> = shown_columns().map(|column| verb(&column.declared)).collect();
        let shown = format!("{}({})", self.one.callable.short_name(), verbs.join(", "));
        let shown_values: String =
            shown_columns().map(|column| format!("tt.{}, ", column.name)).collect();
        let mut lines = Vec::new();
        let (fails, names) = (fails(self.one), result_names(self.wants.len()));
        let ignored = plain_results(self.one).len() - self.wants.len();
        let all: Vec<String> = names
            .iter()
            .cloned()
            .chain(vec!["_".to_owned(); ignored])
            .chain(fails.then(|| "err".to_owned()))
            .collect();
        if let ([want], [got], false) = (self.wants.as_slice(), names.as_slice(), fails) {
            let cells = want.cells.iter().map(String::as_str);
            let wrong = differs(comparison(&want.declared, cells), got, "tt.want");
            lines.push(format!("if got := {call}; {wrong} {{"));
            lines.push(mismatch(&want.declared, &shown, &shown_values, got, "want"));
            lines.push("}".into());
            return lines;
        }
        lines.push(format!("{} := {call}", all.join(", ")));
        lines.extend(self.error_lines(&shown, &shown_values));
        let is_compared = |one: &Column| one.declared != "string";
        if fails && !self.failure.as_ref().is_some_and(is_compared) {
            lines.push("if err != nil {".into());
            lines.push(format!("\tt.Fatalf(\"{shown} error: %v\", {shown_values}err)"));
            lines.push("}".into());
        }
        for (want, got) in self.wants.iter().zip(&names) {
            let cells = want.cells.iter().map(String::as_str);
            let wanted = format!("tt.{}", want.name);
            let wrong = differs(comparison(&want.declared, cells), got, &wanted);
            lines.push(format!("if {wrong} {{"));
            lines.push(mismatch(&want.declared, &shown, &shown_values, got, &want.name));
            lines.push("}".into());
        }
        lines
    }

    /// The statements that compare the error of one row; a text alone leaves open that there is none.
    fn error_lines(&self, shown: &str, values: &str) -> Vec<String> {
        let Some(failure) = &self.failure else { return Vec::new() };
        let (wrong, is_wanted, want) = match failure.declared.as_str() {
            "string" => {
                ("err == nil || err.Error() != tt.wantErr", "tt.wantErr != \"\"", "want %q")
            }
            "bool" => ("(err != nil) != tt.wantErr", "tt.wantErr", "wantErr %v"),
            _ => ("!errors.Is(err, tt.wantErr)", "tt.wantErr != nil", "want %v"),
        };
        let message = format!("(\"{shown} error = %v, {want}\", {values}err, tt.wantErr)");
        if failure.declared == "string" {
            vec![
                format!("if {is_wanted} {{"),
                format!("\tif {wrong} {{"),
                format!("\t\tt.Errorf{message}"),
                "\t}".to_owned(),
                "\treturn".to_owned(),
                "}".to_owned(),
            ]
        } else {
            let check = [format!("if {wrong} {{"), format!("\tt.Fatalf{message}"), "}".into()];
            let ending = [format!("if {is_wanted} {{"), "\treturn".into(), "}".into()];
            let ending = ending.into_iter().filter(|_| !self.wants.is_empty());
            check.into_iter().chain(ending).collect()
        }
    }
}

/// The line that reports a result that is not the wanted one.
fn mismatch(declared: &str, shown: &str, values: &str, got: &str, want: &str) -> String {
    let verb = verb(declared);
    let place = if got == "got" { String::new() } else { format!("{got} of ") };
    format!("\tt.Errorf(\"{place}{shown} = {verb}, want {verb}\", {values}{got}, tt.{want})")
}

/// What tells the cases' errors: their variables, else their texts, else that there is one.
fn failure_column(cases: &[&Case]) -> Option<Column> {
    let failures: Vec<Option<(&str, Option<String>)>> = cases
        .iter()
        .map(|case| match case.expected_outcome() {
            CallOutcome::Raised { class, message, explicit, .. } => {
                Some((class.as_str(), compared_message(message, *explicit)))
            }
            CallOutcome::Value { .. } | CallOutcome::Refused(_) => None,
        })
        .collect();
    let all: Vec<&(&str, Option<String>)> = failures.iter().flatten().collect();
    let (declared, none) = if all.iter().all(|(class, _)| *class != "error") {
        ("error", "nil")
    } else if all.iter().all(|(_, text)| text.is_some()) {
        ("string", "\"\"")
    } else {
        ("bool", "false")
    };
    let cell = |one: &Option<(&str, Option<String>)>| match (one, declared) {
        (None, _) => none.to_owned(),
        (Some((class, _)), "error") => (*class).to_owned(),
        (Some((_, text)), "string") => text.clone().unwrap_or_default(),
        (Some(_), _) => "true".to_owned(),
    };
    let cells = failures.iter().map(cell).collect();
    let column = Column { name: "wantErr".into(), declared: declared.into(), cells };
    (!all.is_empty()).then_some(column)
}

fn given_columns(one: &ObservedFunction, cases: &[&Case]) -> Vec<Column> {
    let mut found: Vec<Column> = Vec::new();
    for (index, parameter) in one.callable.parameters.iter().enumerate() {
        let mut name = free_name(&parameter.name, one);
        if found.iter().any(|other| other.name == name) {
            name = format!("{name}{index}");
        }
        let declared = &parameter.declared_type;
        let cell = |case: &&Case| {
            let given = case.call.arguments.get(index..).unwrap_or_default();
            match (given, parameter.rest) {
                ([], _) => "nil".to_owned(),
                (all, true) => format!("[]{declared}{{{}}}", all.join(", ")),
                ([one, ..], false) => one.clone(),
            }
        };
        let cells = cases.iter().map(cell).collect();
        let declared = if parameter.rest { format!("[]{declared}") } else { declared.clone() };
        found.push(Column { name, declared, cells });
    }
    found
}

/// The columns of the results; none where every case fails.
fn want_columns(one: &ObservedFunction, cases: &[&Case]) -> Vec<Column> {
    let rows: Vec<Option<Vec<String>>> = cases
        .iter()
        .map(|case| match case.expected_outcome() {
            CallOutcome::Value { literal, .. } => Some(values(one, literal)),
            CallOutcome::Raised { .. } | CallOutcome::Refused(_) => None,
        })
        .collect();
    if rows.iter().all(Option::is_none) {
        return Vec::new();
    }
    let column = |(at, declared): (usize, &String)| {
        let filled = rows.iter().flatten().find_map(|row| row.get(at));
        let zero = zero_of(declared, filled.map_or("", String::as_str));
        let cell = |row: &Option<Vec<String>>| {
            row.as_ref().and_then(|row| row.get(at).cloned()).unwrap_or_else(|| zero.clone())
        };
        Column {
            name: if at == 0 { "want".into() } else { format!("want{at}") },
            declared: declared.clone(),
            cells: rows.iter().map(cell).collect(),
        }
    };
    plain_results(one).iter().enumerate().map(column).collect()
}

/// The value that stands where an error is expected; `like` is another value of the column.
fn zero_of(declared: &str, like: &str) -> String {
    match declared {
        "string" => "\"\"".into(),
        "bool" => "false".into(),
        _ if declared.starts_with(['*', '[']) || declared.starts_with("map[") => "nil".into(),
        _ if like.starts_with('"') => "\"\"".into(),
        _ if like.starts_with(|c: char| c.is_ascii_digit() || c == '-') => "0".into(),
        _ if like.ends_with('}') => format!("{declared}{{}}"),
        _ if like == "true" || like == "false" => "false".into(),
        _ => like.to_owned(),
    }
}
