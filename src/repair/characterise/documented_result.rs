//! Compares what calls gave with what documentation says about them.

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::signature::{
    Callable, DocumentedResult, Example, is_constant_name, is_whole_repr,
};
use crate::effect::{Call, CallOutcome, ResultKind};

use super::inputs::list_callees;
use super::{Case, is_without_result};

/// Exceptions that a test can name without importing them.
const BUILT_IN: &str = "ArithmeticError AssertionError AttributeError IndexError KeyError \
    LookupError NotImplementedError OverflowError RuntimeError StopIteration TypeError \
    UnicodeError ValueError ZeroDivisionError error Error EvalError RangeError ReferenceError \
    SyntaxError URIError";

/// The calls in the documentation of a function, with what is said about each.
pub fn documented_calls<'a>(
    language: Language,
    callable: &'a Callable,
    local: &str,
) -> Vec<(Call, &'a Example)> {
    let callees = list_callees(language, callable, local);
    let mut found = Vec::new();
    for example in &callable.examples {
        let arguments = example.arguments.clone();
        let method = callable.called_method();
        let is_object = |one: &&String| {
            one.contains(['(', '"']) || language == Language::Python && is_constant_name(one)
        };
        let receiver = example.receiver.as_ref().filter(is_object);
        match receiver.filter(|_| callable.class.as_ref().is_some_and(|class| !class.is_static)) {
            Some(receiver) => {
                let setup = example.setup.clone();
                let call = Call::new(format!("{receiver}.{method}"), arguments);
                found.push((Call { setup, ..call }, example));
            }
            None => found.extend(
                callees.iter().map(|callee| (Call::new(callee, arguments.clone()), example)),
            ),
        }
    }
    found
}

/// Enters documented results in a function's cases, and takes out incomparable ones.
pub fn enter_documented(
    language: Language,
    callable: &Callable,
    local: &str,
    known: &mut Vec<Case>,
) {
    for (call, example) in documented_calls(language, callable, local) {
        if let Some(text) = &example.printed {
            known.retain_mut(|case| case.call != call || compare_printed(case, text));
        }
        let result = example.result.as_ref();
        let same = known.iter_mut().find(|case| case.call == call && case.documented.is_none());
        if let Some(case) = same {
            let mut seen = case.seen.outcome.clone();
            // An object is compared with an object, as it is documented.
            if let CallOutcome::Value { way: way @ ResultKind::Attributes, .. } = &mut seen
                && language == Language::Rust
            {
                *way = ResultKind::Plain;
            }
            case.documented = result.and_then(|said| expected_outcome(said, &seen));
        }
    }
}

/// Numbers, texts and constants, which may be wrong where all around them is as documented.
static VALUE: Pattern = Pattern::new(r#"\d[\d.,]*|'[^'\\]*'|"[^"\\]*"|\b(?:None|True|False)\b"#);

/// Compares what the prompt shows of a result with what documentation shows; whether a test may speak of the
/// call. Where more than a value differs, documentation may have left something out.
fn compare_printed(case: &mut Case, said: &str) -> bool {
    let Some(seen) = &case.seen.printed else { return false };
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (seen, said) = (one_line(seen), one_line(said));
    let plain = |text: &str| VALUE.replace_all(text, "0");
    if seen == said {
        case.documented = Some(case.seen.outcome.clone());
    } else if is_whole_repr(&said) && plain(&seen) == plain(&said) {
        let literal = serde_json::Value::from(said).to_string();
        case.documented = Some(CallOutcome::Value { literal, way: ResultKind::Text });
    }
    case.documented.is_some()
}

/// The documented outcome of a call; `None` if it cannot be compared with what was seen.
fn expected_outcome(said: &DocumentedResult, seen: &CallOutcome) -> Option<CallOutcome> {
    let way = match seen {
        // What is documented is all of a result.
        CallOutcome::Value {
            way:
                ResultKind::None
                | ResultKind::Nan
                | ResultKind::Members
                | ResultKind::Printed
                | ResultKind::Texts,
            ..
        } => return None,
        CallOutcome::Refused(why) if !is_without_result(why) => return None,
        CallOutcome::Refused(_) => ResultKind::Plain,
        CallOutcome::Value { way, .. } | CallOutcome::Raised { way, .. } => *way,
    };
    let as_seen = || Some(seen.clone());
    // A list with names of its own is compared as an object.
    let is_named = |literal: &str| way == ResultKind::Attributes && literal.starts_with('[');
    let value =
        |literal: String| (!is_named(&literal)).then_some(CallOutcome::Value { literal, way });
    match (said, seen) {
        (DocumentedResult::Value(said), CallOutcome::Value { literal, .. })
            if is_rounded(literal, said) =>
        {
            as_seen()
        }
        (DocumentedResult::Value(said), _) => value(said.clone()),
        (DocumentedResult::Printed(said), CallOutcome::Value { literal, .. }) => {
            if is_printed_as(literal, said) || is_rounded(literal, said) {
                as_seen()
            } else if [is_text, is_collection].iter().any(|one| one(literal) && one(said)) {
                value(said.clone())
            } else if is_text(literal) {
                value(serde_json::Value::from(said.as_str()).to_string())
            } else {
                let is_number = |text: &str| text.parse::<f64>().is_ok();
                (is_number(literal) && is_number(said)).then_some(())?;
                value(said.clone())
            }
        }
        (DocumentedResult::Raised(said), CallOutcome::Raised { class, .. })
            if class.rsplit('.').next() == Some(said.as_str()) =>
        {
            as_seen()
        }
        (DocumentedResult::Raised(said), _) if BUILT_IN.split(' ').any(|one| one == said) => {
            let (class, message) = (said.clone(), String::new());
            Some(CallOutcome::Raised { class, message, explicit: false, way })
        }
        (DocumentedResult::Printed(_) | DocumentedResult::Raised(_), _) => None,
    }
}

fn is_text(literal: &str) -> bool {
    literal.starts_with(['"', '\''])
}

/// Whether a value is printed as a text: strings with or without their quotes, all else as written, but
/// for blanks between the elements of a list and the kind of quotes.
fn is_printed_as(literal: &str, text: &str) -> bool {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    let plain = |text: &str| text.replace('"', "'").replace(char::is_whitespace, "");
    literal == text
        || is_text(literal) && [text, text.trim_matches(['"', '\''])].contains(&inner)
        || is_collection(literal) && plain(literal) == plain(text)
}

/// Whether a text is a list, object or dictionary as a program has it, and none that was cut.
fn is_collection(text: &str) -> bool {
    let ends = [('[', ']'), ('{', '}')];
    let is_whole =
        !["...", "…", " more item", "[Object", "[Array", "<"].iter().any(|one| text.contains(one));
    is_whole && ends.iter().any(|(open, close)| text.starts_with(*open) && text.ends_with(*close))
}

/// Whether a documented number is the seen one with fewer digits: documentation rounds.
fn is_rounded(seen: &str, said: &str) -> bool {
    let (Some((_, digits)), Ok(number), Ok(short)) =
        (said.split_once('.'), seen.parse::<f64>(), said.parse::<f64>())
    else {
        return false;
    };
    let places = digits.len();
    let is_plain = digits.chars().all(|c| c.is_ascii_digit());
    is_plain
        && seen.len() > said.len()
        && format!("{number:.places$}") == format!("{short:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(literal: &str) -> CallOutcome {
        CallOutcome::Value { literal: literal.into(), way: ResultKind::Plain }
    }

    fn raised(class: &str, message: &str) -> CallOutcome {
        let (class, message) = (class.into(), message.into());
        CallOutcome::Raised { class, message, explicit: false, way: ResultKind::Plain }
    }

    #[test]
    fn what_is_documented_is_expected_where_it_can_be_compared() {
        use DocumentedResult::{Printed, Raised, Value};
        let none = CallOutcome::Value { literal: "None".into(), way: ResultKind::None };
        let table = [
            (Value("[2, 5]".into()), value("[2]"), Some(value("[2, 5]"))),
            (Value("0.33".into()), value("0.3333333333333333"), Some(value("0.3333333333333333"))),
            (Value("0.34".into()), value("0.3333333333333333"), Some(value("0.34"))),
            (Value("3".into()), raised("IndexError", "out of range"), Some(value("3"))),
            (Value("3".into()), CallOutcome::Refused("prints".into()), None),
            (Value("3".into()), none, None),
            (Printed("a b".into()), value("'a b'"), Some(value("'a b'"))),
            (Printed("a b".into()), value("'a'"), Some(value("\"a b\""))),
            (Printed("'a b'".into()), value("\"a b\""), Some(value("\"a b\""))),
            (Printed("'a b'".into()), value("\"a\""), Some(value("'a b'"))),
            (Printed("4".into()), value("4"), Some(value("4"))),
            (Printed("4".into()), value("3"), Some(value("4"))),
            (Printed("a".into()), value("[1]"), None),
            (Printed("[ 1, 'a' ]".into()), value("[1, \"a\"]"), Some(value("[1, \"a\"]"))),
            (Printed("[ 1, 2 ]".into()), value("[1]"), Some(value("[ 1, 2 ]"))),
            (Printed("[ 1, ... 99 more items ]".into()), value("[1]"), None),
            (Raised("Low".into()), raised("shop.Low", "no"), Some(raised("shop.Low", "no"))),
            (Raised("Low".into()), value("3"), None),
            (Raised("ValueError".into()), value("3"), Some(raised("ValueError", ""))),
        ];
        for (said, seen, expected) in table {
            assert_eq!(expected_outcome(&said, &seen), expected, "{said:?} {seen:?}");
        }
    }
}
