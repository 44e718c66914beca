//! Which values fit a parameter: by its declared type, its name and its class.

use crate::code::signature::{Callable, Parameter, Type, type_of_literal};
use crate::effect::{Call, CallOutcome};

use super::Case;
use super::arguments::values_of;

/// How an argument of JavaScript begins that is the object that another one is: `arguments[0]`.
pub const SAME: &str = "arguments[";

/// Names of parameters that stand for another object of the same class.
const OTHERS: &[&str] = &["other", "that", "another", "rhs"];

/// The type of a text, a number, a list or a map.
pub fn kind_of(literal: &str) -> Option<Type> {
    let kind = type_of_literal(literal)?;
    (!matches!(kind, Type::Bool | Type::Nothing | Type::Bytes | Type::Set)).then_some(kind)
}

/// Whether a declared type allows a value, as far as that is known.
pub fn accepts_value(parameter: &Parameter, value: &str) -> bool {
    if lacks_function(parameter, value) || is_no_object(parameter, value) {
        return false;
    }
    let Some(declared) = &parameter.declared else {
        return !parameter.has_shown_types
            || type_of_literal(value).is_none_or(|kind| is_shown(parameter, kind));
    };
    let kind = kind_of(value);
    declared.values.iter().any(|known| known == value)
        || declared.open.iter().any(|one| Some(*one) == kind)
        || parameter.optional && value == "undefined"
        || value.starts_with(SAME)
}

/// Whether an object gives something else for a key whose value the code calls.
fn lacks_function(parameter: &Parameter, value: &str) -> bool {
    let is_function = |given: &str| given.contains("=>") || given == "String";
    let called = parameter.compared.iter().filter(|(_, given)| is_function(given));
    let mut given = called.filter_map(|(key, _)| value.split_once(&format!("{{ {key}: ")));
    given.any(|(_, rest)| !is_function(rest.trim_end_matches([' ', '}'])))
}

/// Whether a value has no keys, where all that is known of a parameter is that its keys are read.
fn is_no_object(parameter: &Parameter, value: &str) -> bool {
    let is_object = |kind: &Type| matches!(kind, Type::Any | Type::Map | Type::Nothing);
    let kind = type_of_literal(value);
    let has_none = matches!(kind, Some(Type::Int | Type::Float | Type::Text | Type::Bool));
    has_none && !parameter.keys.is_empty() && parameter.types.iter().all(is_object)
}

/// Whether existing calls pass values of a type.
fn is_shown(parameter: &Parameter, kind: Type) -> bool {
    parameter.types.iter().any(|one| match (one, kind) {
        (Type::Int | Type::Float, Type::Int | Type::Float)
        | (Type::Map, Type::Set)
        | (Type::Set, Type::Map) => true,
        (one, kind) => *one == kind,
    })
}

/// Whether all arguments of a call are of the declared types.
pub fn fits_types(callable: &Callable, call: &Call) -> bool {
    let given = values_of(&callable.parameters, &call.arguments);
    let last = callable.parameters.last();
    given.iter().enumerate().all(|(index, value)| {
        let parameter = callable.parameters.get(index).or(last);
        value.as_ref().zip(parameter).is_none_or(|(value, one)| accepts_value(one, value))
    })
}

/// Whether a call gives a value that its function is not meant to be given: a literal where existing
/// calls give objects, one that a type of TypeScript does not show, or nothing where something is needed.
pub fn gives_unmeant(
    callable: &Callable,
    case: &Case,
    examples: &[Vec<String>],
    is_typed: bool,
) -> bool {
    let is_raised = matches!(case.seen.outcome, CallOutcome::Raised { explicit: true, .. });
    let shown: Vec<_> = examples.iter().map(|one| values_of(&callable.parameters, one)).collect();
    let given = values_of(&callable.parameters, &case.call.arguments);
    let is_unmeant = |(place, (parameter, value)): (usize, (&Parameter, &Option<String>))| {
        let Some(value) = value else { return false };
        let Some(kind) = type_of_literal(value) else { return false };
        let known = shown.iter().filter_map(|one| one.get(place)?.as_deref());
        let kinds: Vec<Option<Type>> = known.map(type_of_literal).collect();
        if kind == Type::Nothing {
            let is_allowed = parameter.optional || parameter.types.contains(&kind);
            return !is_raised && !is_allowed && !kinds.contains(&Some(kind));
        }
        let takes_objects = !kinds.is_empty() && kinds.iter().all(Option::is_none);
        let is_declared = parameter.declared.is_some() && accepts_value(parameter, value);
        takes_objects || is_typed && kind != Type::Map && !is_declared && kinds.is_empty()
    };
    case.documented.is_none()
        && callable.entry.is_none()
        && callable.parameters.iter().zip(&given).enumerate().any(is_unmeant)
}

/// The constructor's parameter for what a method's parameter takes: another object.
pub fn stands_for<'a>(parameter: &Parameter, callable: &'a Callable) -> Option<&'a Parameter> {
    let made_of = callable.class.as_ref()?.parameters.first()?;
    let is_other = OTHERS.contains(&parameter.name.as_str()) && made_of.name != parameter.name;
    is_other.then_some(made_of)
}

/// Whether a parameter is an object with the keys that the function reads, by its name.
pub fn takes_options(parameter: &Parameter) -> bool {
    let name = parameter.name.to_ascii_lowercase();
    !parameter.keys.is_empty()
        && ["options", "opts", "config", "settings"].iter().any(|word| name.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::language::Language;
    use crate::code::signature::callables;

    #[test]
    fn a_declared_type_tells_which_arguments_fit() {
        let text =
            "export function f(level: 'low' | 'high', count?: number, more) { return more; }";
        let callable = callables(Language::TypeScript, text).remove(0);
        let table = [
            ("'low'", true),
            ("\"x\"", false),
            ("'low', 3", true),
            ("'low', \"x\"", false),
            ("'low', undefined, \"x\"", true),
        ];
        for (given, expected) in table {
            let call = Call::new("f", given.split(", ").map(str::to_owned).collect());
            assert_eq!(fits_types(&callable, &call), expected, "{given}");
        }
    }

    #[test]
    fn a_parameter_of_which_only_keys_are_read_is_an_object() {
        let text = "export function f(req) { return req.url === undefined ? 1 : req.url; }\n";
        let callable = callables(Language::JavaScript, text).remove(0);
        for (value, expected) in [("7", false), ("true", false), ("\"x\"", false), ("{}", true)] {
            assert_eq!(accepts_value(&callable.parameters[0], value), expected, "{value}");
        }
    }

    #[test]
    fn an_option_that_is_called_is_a_function() {
        let compared = vec![("decode".to_owned(), "(x) => x".to_owned())];
        let parameter = Parameter { compared, ..Parameter::default() };
        let table = [
            ("{ decode: true }", false),
            ("{ decode: (x) => x * 2 }", true),
            ("{ strict: true }", true),
            ("\"x\"", true),
        ];
        for (value, expected) in table {
            assert_eq!(accepts_value(&parameter, value), expected, "{value}");
        }
    }

    #[test]
    fn documented_calls_tell_which_arguments_fit() {
        let text = "def keep(rows, name=None):\n    \"\"\"Keep.\n\n    >>> keep({'a': 1}, name='x')\n    1\n    \"\"\"\n    return rows[name]\n";
        let mut callable = callables(Language::Python, text).remove(0);
        callable.learn_types(&[]);
        let table =
            [("{}", true), ("[]", false), ("7", false), ("{}, 'b'", true), ("{}, 2", false)];
        for (given, expected) in table {
            let call = Call::new("keep", given.split(", ").map(str::to_owned).collect());
            assert_eq!(fits_types(&callable, &call), expected, "{given}");
        }
        callable.learn_types(&[vec!["rows".into()]]);
        assert!(callable.parameters[0].has_shown_types);
    }

    #[test]
    fn literals_where_calls_give_objects_are_not_meant() {
        let text = "def send(event, end=None):\n    return event.kind\n";
        let callable = callables(Language::Python, text).remove(0);
        let typed = "export function send(nodes: Nodes) { return nodes.length; }\n";
        let of_script = callables(Language::TypeScript, typed).remove(0);
        let shown = [vec!["Data(b'x')".to_owned()]];
        let table = [
            (&callable, "-2.25", &shown[..], true),
            (&callable, "Data(b'')", &shown, false),
            (&callable, "-2.25", &[], false),
            (&callable, "None", &[], true),
            (&callable, "Data(b''), None", &shown, false),
            (&of_script, "[1, 2, 3]", &[], true),
            (&of_script, "{ a: 1 }", &[], false),
        ];
        for (callable, given, shown, expected) in table {
            let call = Call::new("send", given.split("), ").map(str::to_owned).collect());
            let seen = crate::effect::Observation::refused("");
            let case = Case { call, seen, documented: None };
            let is_typed = std::ptr::eq(callable, &raw const of_script);
            assert_eq!(gives_unmeant(callable, &case, shown, is_typed), expected, "{given}");
        }
    }

    #[test]
    fn options_and_other_objects_are_known_by_their_names() {
        let text =
            "export class V { constructor(text) {} eq(other, options) { return options.loose; } }";
        let found = callables(Language::JavaScript, text);
        let eq = found.iter().find(|one| one.name == "V.eq").unwrap();
        let made_of =
            |index: usize| stands_for(&eq.parameters[index], eq).map(|one| one.name.as_str());
        assert_eq!((made_of(0), made_of(1)), (Some("text"), None));
        let are_options: Vec<bool> = eq.parameters.iter().map(takes_options).collect();
        assert_eq!(are_options, [false, true]);
    }
}
