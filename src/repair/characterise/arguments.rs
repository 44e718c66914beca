//! How the arguments of a call are written: by position, or in Python by name, where others are left
//! out.

use crate::code::java_packages::outer_marks;
use crate::code::language::Language;
use crate::code::signature::{Parameter, Passing};

/// A value for each parameter in order; `None` leaves it out, further ones go to the last.
pub type Values = Vec<Option<String>>;

/// The name and the value of an argument.
pub fn split_name(argument: &str) -> (Option<&str>, &str) {
    let name = argument.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    let parts = name.and_then(|end| {
        let (name, rest) = argument.split_at_checked(end)?;
        let value = rest.strip_prefix('=').filter(|value| !value.starts_with(['=', '>']))?;
        (!name.is_empty()).then_some((Some(name), value))
    });
    parts.unwrap_or((None, argument))
}

/// Arguments as they are separated by commas outside of texts and brackets.
pub fn split_arguments(text: &str) -> Vec<&str> {
    let commas = outer_marks(text).into_iter().filter(|(_, mark)| *mark == ',');
    let ends = commas.map(|(at, _)| at).chain([text.len()]);
    let mut start = 0;
    let parts = ends.filter_map(|end| {
        let part = text.get(start..end)?;
        let (_, value) = split_name(part.trim());
        // The parameters of a lambda are no arguments.
        let is_open = value.starts_with("lambda ") && !value.contains(':') && end < text.len();
        (!is_open).then(|| {
            start = end + 1;
            part.trim()
        })
    });
    parts.filter(|one| !one.is_empty()).collect()
}

/// The values that the arguments of a call give to its parameters.
pub fn values_of(parameters: &[Parameter], arguments: &[String]) -> Values {
    let mut values: Values = vec![None; parameters.len()];
    for (index, argument) in arguments.iter().enumerate() {
        let (name, value) = split_name(argument);
        let named = parameters.iter().position(|one| Some(one.name.as_str()) == name);
        match values.get_mut(named.unwrap_or(index)) {
            Some(place) if named.is_some() => *place = Some(value.to_owned()),
            Some(place) if name.is_none() => *place = Some(argument.clone()),
            _ => values.push(Some(argument.clone())),
        }
    }
    values
}

/// The arguments of these values; JavaScript has `undefined` for those left out between.
pub fn write_arguments(
    language: Language,
    parameters: &[Parameter],
    values: &[Option<String>],
) -> Vec<String> {
    if language != Language::Python {
        let last = values.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let given = values.iter().take(last);
        return given.map(|value| value.clone().unwrap_or_else(|| "undefined".into())).collect();
    }
    let rest = parameters.iter().position(|one| one.rest).unwrap_or(parameters.len());
    // All others have to stand before those of `*args`.
    let before = values.iter().take(rest);
    let has_rest = before.clone().all(Option::is_some)
        && values.get(rest).is_some_and(|value| rest < parameters.len() && value.is_some());
    let (mut placed, mut named) = (Vec::new(), Vec::new());
    for (index, value) in values.iter().enumerate() {
        let Some(value) = value else { continue };
        let Some(parameter) = parameters.get(index) else {
            if has_rest || rest == parameters.len() {
                placed.push(value.clone());
            }
            continue;
        };
        let by_name = match parameter.passing {
            Passing::Name => true,
            Passing::Position => false,
            Passing::Either => parameter.optional && index > 0 && !(has_rest && index < rest),
        };
        match (parameter.rest, by_name) {
            (true, _) if !has_rest => {}
            (true, _) | (false, false) => placed.push(value.clone()),
            (false, true) => named.push(format!("{}={value}", parameter.name)),
        }
    }
    placed.extend(named);
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::signature::callables;

    #[test]
    fn values_are_written_by_position_and_by_name_and_read_again() {
        let python = "def f(a, b=1, *c, d, e=2):\n    return a\n";
        let plain = "def f(a, b=1, /, c=2):\n    return a\n";
        let script = "export function f(a, b = 1, ...c) { return a; }";
        let some = |text: &str| Some(text.to_owned());
        let table = [
            (Language::Python, python, vec![some("1"), None, None, some("4"), None], "1, d=4"),
            (
                Language::Python,
                python,
                vec![some("1"), some("2"), None, some("4"), some("5")],
                "1, b=2, d=4, e=5",
            ),
            (
                Language::Python,
                python,
                vec![some("1"), some("2"), some("3"), some("4"), None],
                "1, 2, 3, d=4",
            ),
            (Language::Python, plain, vec![some("1"), some("2"), some("3")], "1, 2, c=3"),
            (Language::JavaScript, script, vec![some("1"), None, some("3")], "1, undefined, 3"),
            (Language::JavaScript, script, vec![some("1"), None, None], "1"),
        ];
        for (language, text, values, expected) in table {
            let parameters = callables(language, text).remove(0).parameters;
            let written = write_arguments(language, &parameters, &values);
            assert_eq!(written.join(", "), expected, "{text}");
            if language == Language::Python {
                assert_eq!(values_of(&parameters, &written), values, "{text}");
            }
        }
    }

    #[test]
    fn the_parameters_of_a_lambda_are_no_arguments() {
        let found = split_arguments("1, how=lambda x, y: x + y, [2, 3]");
        assert_eq!(found, ["1", "how=lambda x, y: x + y", "[2, 3]"]);
    }

    #[test]
    fn only_a_name_before_an_equals_sign_is_a_name() {
        let table = [
            ("sep='-'", (Some("sep"), "'-'")),
            ("'a=b'", (None, "'a=b'")),
            ("lambda x=1: x", (None, "lambda x=1: x")),
            ("x => x", (None, "x => x")),
            ("a==b", (None, "a==b")),
            ("-1", (None, "-1")),
        ];
        for (argument, expected) in table {
            assert_eq!(split_name(argument), expected, "{argument}");
        }
    }
}
