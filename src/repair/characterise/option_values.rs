//! Objects for parameters whose keys a function reads.

use std::collections::BTreeSet;

use regex::Captures;

use crate::code::pattern::Pattern;
use crate::code::signature::{Parameter, interleave_columns, typical_value};

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
    let compared = parameter.compared.iter();
    let mut found: Vec<String> = compared.map(|(key, value)| object(pair(key, value))).collect();
    for value in [yes, no, "2", "\"x\""] {
        let named = |key: &String| typical_value(key).filter(|_| value == "\"x\"");
        let given = |key| object(pair(key, named(key).map_or(value, |(_, typical)| typical)));
        found.extend(keys.iter().map(given));
    }
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
            ["{ charset: 'utf-8' }", "{ depth: 5 }", "{ charset: true }", "{ decoder: true }"]
        );
        assert!(found.contains(&"{ separator: \"-\" }".to_owned()), "{found:?}");
        let keys = vec!["no-cache".to_owned()];
        let parameter = Parameter { keys, ..Parameter::default() };
        assert_eq!(list_options(&parameter, false)[0], "{ \"no-cache\": true }");
    }
}
