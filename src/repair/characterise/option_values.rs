//! Objects for parameters whose keys a function reads.

use std::collections::BTreeSet;

use regex::{Captures, Regex};

use crate::code::pattern::Pattern;
use crate::code::signature::{Parameter, Type, interleave_columns, typical_value, used_types};

use super::typical_values::typical_values;

/// A key, with the literal that it or its kind is compared with.
static COMPARED: Pattern = Pattern::new(
    r#"(typeof\s+[\w$.?]*?)?\b(\w+)["'\])]*\s*[!=]==?\s*("[^"\\\n]{1,24}"|'[^'\\\n]{1,24}'|\d+)"#,
);

/// The values that a source compares keys with.
pub fn compared_values(keys: &[String], text: &str) -> Vec<(String, String)> {
    let all = COMPARED.captures(text).filter(|one| one.get(1).is_none());
    let owned = |one: &Captures<'_>, at| Some(one.get(at)?.as_str().to_owned());
    let pairs = all.filter_map(|one| Some((owned(&one, 2)?, owned(&one, 3)?)));
    pairs.filter(|(key, _)| keys.contains(key)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// How many values of its type a key is given.
const TYPED: usize = 2;

/// Values of the types that a function of JavaScript shows for the keys that it reads of a parameter.
pub fn typed_values(parameter: &Parameter, source: &str, text: &str) -> Vec<(String, String)> {
    let keys = parameter.keys.iter();
    let typed = keys.filter_map(|key| {
        let kinds = key_types(source, text, &parameter.name, key);
        let kind = kinds.into_iter().find(|kind| !matches!(kind, Type::Nothing | Type::Bool))?;
        let values = typical_values(kind, false).into_iter().filter(|_| kind != Type::Text);
        Some(values.take(TYPED).map(|value| (key.clone(), value)).collect::<Vec<_>>())
    });
    typed.flatten().collect()
}

/// What else a function of JavaScript calls the value of a key of one of its parameters.
static KEY_VARIABLE: Pattern = Pattern::new(
    r"\b(?:var|let|const)\s+([\w$]+)\s*=\s*\(?(?:[^;,\n=]*[^\w$.=])?([\w$]+)\s*(?:\?)?\.([\w$]+)\b\)?\s*(?:(?:\|\||\?\?)\s*([\w$]+))?",
);

/// The types that the uses of the value of a key imply; a function where the default is one of the file.
fn key_types(source: &str, text: &str, parameter: &str, key: &str) -> Vec<Type> {
    let held = KEY_VARIABLE.captures(source).filter(|found| {
        found.get(2).is_some_and(|one| one.as_str() == parameter)
            && found.get(3).is_some_and(|one| one.as_str() == key)
    });
    let mut names = vec![format!("{parameter}.{key}")];
    for found in held {
        let [variable, default] = [1, 4].map(|at| found.get(at).map(|one| one.as_str()));
        if default.is_some_and(|name| is_function(text, name)) {
            return vec![Type::Function];
        }
        names.extend(variable.map(str::to_owned));
    }
    let mut found: Vec<Type> = Vec::new();
    for kind in names.iter().flat_map(|name| used_types(source, name)) {
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    found
}

/// Whether a name stands for a function that a file declares, or that all of JavaScript has.
fn is_function(text: &str, name: &str) -> bool {
    let escaped = regex::escape(name);
    let form = format!(
        r"\bfunction\s+{escaped}\s*\(|\b{escaped}\s*=\s*(?:async\s*)?(?:function\b|\([^)\n]*\)\s*=>)"
    );
    FUNCTIONS.contains(&name) || Regex::new(&form).is_ok_and(|form| form.is_match(text))
}

/// Functions that all of JavaScript has.
const FUNCTIONS: &[&str] =
    &["String", "Number", "Boolean", "encodeURIComponent", "decodeURIComponent", "parseInt"];

/// Texts that objects hold, and keys of which one holds an object.
pub const NESTED_TEXTS: usize = 8;
pub const NESTED_KEYS: usize = 3;

/// Values of a parameter whose keys the function reads: objects with one key each, or with all.
pub fn list_options(parameter: &Parameter, python: bool) -> Vec<String> {
    let keys = &parameter.keys;
    let (yes, no) = if python { ("True", "False") } else { ("true", "false") };
    let pair = |key: &String, value: &str| {
        let quote = if python || key.contains('-') { "\"" } else { "" };
        format!("{quote}{key}{quote}: {value}")
    };
    let object =
        |inner: String| if python { format!("{{{inner}}}") } else { format!("{{ {inner} }}") };
    let typical = keys.iter().filter_map(|key| Some(object(pair(key, typical_value(key)?.1))));
    let compared = parameter.compared.iter().map(|(key, value)| object(pair(key, value)));
    let mut found: Vec<String> = compared.chain(typical).collect();
    for value in [yes, no, "2", "\"x\""] {
        found.extend(keys.iter().map(|key| object(pair(key, value))));
    }
    found.push("{}".into());
    if keys.len() > 1 {
        for value in [yes, no] {
            let all: Vec<String> = keys.iter().map(|key| pair(key, value)).collect();
            found.insert(keys.len().min(found.len()), object(all.join(", ")));
        }
    }
    found
}

/// Objects whose keys hold texts that match regular expressions of the function, or objects of them.
pub fn nested_options(keys: &[String], texts: &[String], python: bool) -> Vec<String> {
    let object = |pairs: &[(&str, String)]| {
        let pairs = pairs.iter().map(|(key, value)| {
            let is_quoted = python || key.contains('-');
            let quote = if is_quoted { "\"" } else { "" };
            format!("{quote}{key}{quote}: {value}")
        });
        let inner = pairs.collect::<Vec<_>>().join(", ");
        if python { format!("{{{inner}}}") } else { format!("{{ {inner} }}") }
    };
    let key = if python { "a b" } else { "\"a b\"" };
    let columns = texts.iter().take(NESTED_TEXTS).map(|text| {
        let held = [("a", text.as_str()), ("a", "\"b c\""), (key, text)];
        let held = held.map(|(key, value)| object(&[(key, value.to_owned())]));
        let values = std::iter::once(text.clone()).chain(held);
        let of_value = |value: String| {
            keys.iter().take(NESTED_KEYS).map(move |nested| {
                let pair = |key: &'_ String| if key == nested { &value } else { text }.clone();
                let pairs: Vec<(&str, String)> =
                    keys.iter().map(|key| (key.as_str(), pair(key))).collect();
                object(&pairs)
            })
        };
        values.flat_map(of_value).collect()
    });
    interleave_columns(&columns.collect::<Vec<Vec<String>>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_the_values_that_the_code_compares_them_with() {
        let text = "if (typeof opts.charset !== 'undefined' && opts.charset !== 'utf-8') throw x;\nif (typeof opts.decoder === 'function') y();\nif (options[\"depth\"] === 5 || other === 'a') z();\n";
        let keys: Vec<String> =
            ["charset", "decoder", "depth", "separator"].map(str::to_owned).into();
        let compared = compared_values(&keys, text);
        let parameter = Parameter { keys, compared, ..Parameter::default() };
        let found = list_options(&parameter, false);
        assert_eq!(
            found[..4],
            ["{ charset: 'utf-8' }", "{ depth: 5 }", "{ depth: 1 }", "{ separator: \"-\" }"]
        );
        assert!(found.contains(&"{ decoder: true }".to_owned()), "{found:?}");
        let keys = vec!["no-cache".to_owned()];
        let parameter = Parameter { keys, ..Parameter::default() };
        assert_eq!(list_options(&parameter, false)[0], "{ \"no-cache\": true }");
    }

    #[test]
    fn options_get_values_of_the_types_that_their_uses_show() {
        let function = "function save(name, opt) {\n  var dec = (opt && opt.decode) || decode;\n  if (null != opt.maxAge) { var maxAge = Math.floor(opt.maxAge); }\n  if (opt.expires) {\n    var expires = opt.expires;\n    if (!isDate(expires)) throw new TypeError('x');\n  }\n  if (opt.secure) return name;\n  return dec(name);\n}\n";
        let text = format!("{function}function decode(text) {{ return text; }}\n");
        let keys = ["decode", "maxAge", "expires", "secure"].map(str::to_owned).into();
        let parameter = Parameter { name: "opt".into(), keys, ..Parameter::default() };
        let found = typed_values(&parameter, function, &text);
        let of = |key: &str| -> Vec<&str> {
            let own = found.iter().filter(|(one, _)| one == key);
            own.map(|(_, value)| value.as_str()).collect()
        };
        assert!(of("decode").iter().all(|one| one.contains("=>")), "{found:?}");
        assert_eq!(of("decode").len(), 2);
        assert!(of("maxAge").iter().all(|one| one.parse::<f64>().is_ok()), "{found:?}");
        assert_eq!(of("expires")[0], "new Date(\"2024-02-29T12:30:00Z\")");
        assert!(of("secure").is_empty(), "{found:?}");
    }
}
