//! Describes what a boundary promises, by the declarations of what is called.

use std::collections::BTreeSet;

use crate::code::behaviour::Behaviour;
use crate::domain::integration::exploration::IntegrationPoint;
use crate::domain::text::one_line;

/// Called functions that a contract describes.
const FUNCTIONS: usize = 6;

/// Most characters of a returned expression.
const RETURNED: usize = 60;

/// The contract of a boundary: parameters, results and errors of each called function. `called` are
/// the functions of the called file.
pub fn describe_contract(point: &IntegrationPoint, called: &[Behaviour]) -> String {
    let callees: BTreeSet<&str> = point.calls.iter().map(|call| call.callee.as_str()).collect();
    let known = callees.iter().filter_map(|name| find_callee(name, called));
    let parts: Vec<String> = known.take(FUNCTIONS).map(describe_function).collect();
    match callees.len().saturating_sub(parts.len()) {
        0 => parts.join("; "),
        _ if parts.is_empty() => callees.into_iter().collect::<Vec<_>>().join(", "),
        more => format!("{}; and {more} more", parts.join("; ")),
    }
}

/// The function that a call reaches: the named one, or the constructor of the named class.
pub fn find_callee<'a>(name: &str, called: &'a [Behaviour]) -> Option<&'a Behaviour> {
    let constructors = [".__init__", ".constructor"].map(|end| format!("{name}{end}"));
    called
        .iter()
        .find(|one| one.name == name)
        .or_else(|| called.iter().find(|one| constructors.contains(&one.name)))
}

fn describe_function(one: &Behaviour) -> String {
    let parameters: Vec<String> = one
        .parameters
        .iter()
        .map(|parameter| match parameter.kind.as_str() {
            "" => parameter.name.clone(),
            kind => format!("{}: {kind}", parameter.name),
        })
        .collect();
    let values: BTreeSet<String> =
        one.returns.iter().map(|value| one_line(&value.value, RETURNED)).collect();
    let mut text = format!("{}({})", one.name, parameters.join(", "));
    let mut shown: Vec<&str> =
        values.iter().map(String::as_str).filter(|value| !value.is_empty()).collect();
    shown.truncate(2);
    if !shown.is_empty() {
        text.push_str(&format!(" returns {}", shown.join(" or ")));
    }
    let errors: BTreeSet<&str> = one.raises.iter().map(|raise| raise.class.as_str()).collect();
    if !errors.is_empty() {
        let errors: Vec<&str> = errors.into_iter().collect();
        text.push_str(&format!(", raises {}", errors.join(" or ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::behaviour;
    use crate::code::language::Language;
    use crate::domain::id::RepoPath;
    use crate::domain::integration::exploration::{BoundaryCall, IntegrationKind};

    fn point(callees: &[&str]) -> IntegrationPoint {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let call = |callee: &&str| BoundaryCall {
            caller: "total".into(),
            callee: (*callee).into(),
            line: 3,
            arguments: vec![],
        };
        IntegrationPoint {
            from: path("a.py"),
            to: path("b.py"),
            kind: IntegrationKind::Api,
            contract: String::new(),
            calls: callees.iter().map(call).collect(),
            crossed: None,
            crossed_by: vec![],
        }
    }

    #[test]
    fn a_contract_names_parameters_results_and_errors() {
        let text = "class Rates:\n    def __init__(self, table: dict):\n        self.table = table\n\n    def rate(self, code, year=2026):\n        if code not in self.table:\n            raise KeyError(code)\n        return self.table[code]\n\n\ndef plain():\n    pass\n";
        let called = behaviour::read(Language::Python, text);
        let table = [
            (
                vec!["Rates.rate"],
                "Rates.rate(code, year) returns self.table[code], raises KeyError",
            ),
            (vec!["Rates", "plain"], "Rates.__init__(table: dict); plain()"),
            (vec!["lost"], "lost"),
            (vec!["plain", "lost"], "plain(); and 1 more"),
        ];
        for (callees, expected) in table {
            assert_eq!(describe_contract(&point(&callees), &called), expected, "{callees:?}");
        }
    }
}
