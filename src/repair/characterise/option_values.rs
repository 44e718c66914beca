//! Objects for parameters whose keys a function reads.

/// Texts that objects hold, and keys of which one holds an object.
pub const NESTED_TEXTS: usize = 8;
pub const NESTED_KEYS: usize = 3;

/// Values of a parameter whose keys the function reads: objects with one key each, or with all.
pub fn list_options(keys: &[String], python: bool) -> Vec<String> {
    let (yes, no) = if python { ("True", "False") } else { ("true", "false") };
    let pair = |key: &String, value: &str| {
        if python { format!("\"{key}\": {value}") } else { format!("{key}: {value}") }
    };
    let object =
        |inner: String| if python { format!("{{{inner}}}") } else { format!("{{ {inner} }}") };
    let mut found = Vec::new();
    for value in [yes, no, "2", "\"x\""] {
        found.extend(keys.iter().map(|key| object(pair(key, value))));
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
        let quote = if python { "\"" } else { "" };
        let pairs = pairs.iter().map(|(key, value)| format!("{quote}{key}{quote}: {value}"));
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

/// The first value of each column, then the second of each, without repetitions.
pub fn interleave_columns(columns: &[Vec<String>]) -> Vec<String> {
    let longest = columns.iter().map(Vec::len).max().unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for row in 0..longest {
        for value in columns.iter().filter_map(|column| column.get(row)) {
            if !found.contains(value) {
                found.push(value.clone());
            }
        }
    }
    found
}
