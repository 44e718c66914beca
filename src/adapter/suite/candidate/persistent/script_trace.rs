//! Parses the executed lines that `driver/script_trace.cjs` writes in workers of Vitest and Jest.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::adapter::suite::format::{PathMapper, bounded};
use crate::domain::id::TestId;
use crate::effect::Lines;

use super::add_lines;

/// One JSON line that `driver/script_trace.cjs` appends.
#[derive(Deserialize)]
struct TraceRecord {
    file: String,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    lines: BTreeMap<String, Vec<u32>>,
    #[serde(default)]
    shared: BTreeMap<String, Vec<u32>>,
}

/// A test's file and its joined names, which is all that Jest reveals to a test.
pub type TestKey = (String, String);

pub fn test_key(test: &TestId) -> TestKey {
    let (file, names) = test.as_str().split_once("::").unwrap_or((test.as_str(), ""));
    (file.to_owned(), names.replace(" > ", " "))
}

/// The executed lines of each test, including those that its file executed outside of tests.
pub fn executed_lines(text: &str, paths: &PathMapper) -> BTreeMap<TestKey, Lines> {
    let mut found: BTreeMap<TestKey, Lines> = BTreeMap::new();
    let add = |into: &mut Lines, reported: &BTreeMap<String, Vec<u32>>| {
        for (path, lines) in reported {
            let Some(file) = paths.repo_path(path) else { continue };
            add_lines(into, file, lines.iter().copied());
        }
    };
    for line in text.lines() {
        // A crash can cut the last line short.
        let Ok(record) = serde_json::from_str::<TraceRecord>(line) else { continue };
        let Some(file) = paths.repo_path(&record.file) else { continue };
        if record.names.is_empty() {
            let own = found.iter_mut().filter(|(test, _)| test.0 == file.as_str());
            own.for_each(|(_, lines)| add(lines, &record.shared));
        } else {
            let id = format!("{file}::{}", record.names.join(" > "));
            let key = test_key(&TestId(bounded(&id, 1000)));
            add(found.entry(key).or_default(), &record.lines);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RepoPath;

    #[test]
    fn what_a_file_executed_while_it_was_loaded_belongs_to_all_of_its_tests() {
        let paths =
            PathMapper { root: "/copy".into(), directory: String::new(), layers: Vec::new() };
        let text = concat!(
            r#"{"file":"/copy/a.test.ts","names":["cart","sums"],"lines":{"/copy/cart.ts":[3,4]}}"#,
            "\n",
            r#"{"file":"/copy/b.test.ts","names":["else"],"lines":{"/copy/cart.ts":[9]}}"#,
            "\n",
            r#"{"file":"/copy/a.test.ts","names":["cart","sums"],"lines":{"/copy/cart.ts":[6,4]}}"#,
            "\n",
            r#"{"file":"/copy/a.test.ts","shared":{"/copy/cart.ts":[1],"/elsewhere/x.ts":[1],"/copy/node_modules/y.js":[1]},"known":{}}"#,
            "\n",
            r#"{"file":"/copy/a.test.ts","nam"#,
        );
        let cart = RepoPath::parse("cart.ts").unwrap();
        let expected = [
            (test_key(&"a.test.ts::cart > sums".into()), [(cart.clone(), vec![1, 3, 4, 6])].into()),
            (test_key(&"b.test.ts::else".into()), [(cart, vec![9])].into()),
        ];
        assert_eq!(executed_lines(text, &paths), BTreeMap::from(expected));
        let at_once = ("a.test.ts".to_owned(), "cart sums".to_owned());
        assert_eq!(test_key(&"a.test.ts::cart > sums".into()), at_once, "as Jest shows it");
    }
}
