//! Finds the position of a key in YAML, by a deserialiser error that is raised there on purpose.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// Message of the error that is raised on purpose at the key.
const FOUND: &str = "the key is here";

/// Line and column, from 1, of a key or of its nearest existing parent.
pub(super) fn position(text: &str, path: &[String]) -> (usize, usize) {
    let mut parents = (1..=path.len()).rev().filter_map(|length| path.get(..length));
    parents.find_map(|path| key_position(text, path)).unwrap_or((1, 1))
}

fn key_position(text: &str, path: &[String]) -> Option<(usize, usize)> {
    let document = serde_yaml::Deserializer::from_str(text);
    let error = Below(path).deserialize(document).err()?;
    let place = error.location().filter(|_| error.to_string().contains(FOUND))?;
    Some((place.line(), place.column()))
}

/// Deserialises a mapping by following this path of keys.
struct Below<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Below<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Below<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((name, rest)) = self.0.split_first() else { return Ok(()) };
        while let Some(is_named) = map.next_key_seed(Key { name, is_last: rest.is_empty() })? {
            if is_named {
                return map.next_value_seed(Below(rest));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// Deserialises a key and compares it with `name`; fails on purpose where the whole path matches.
struct Key<'a> {
    name: &'a str,
    is_last: bool,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<bool, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<bool, E> {
        if key == self.name && self.is_last {
            return Err(E::custom(FOUND));
        }
        Ok(key == self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_key_of_the_path_is_found_not_its_namesake() {
        type Row = (&'static str, &'static str, &'static [&'static str], (usize, usize));
        let table: [Row; 12] = [
            ("plain", "a: 1\nb: 2\n", &["b"], (2, 1)),
            ("a deeper namesake", "a:\n  b: 1\nb: 2\n", &["b"], (3, 1)),
            ("a namesake of a sibling", "a:\n  x: 1\nc:\n  x: 2\n", &["c", "x"], (4, 3)),
            ("deeper within the same", "a:\n  b:\n    x: 1\n  x: 2\n", &["a", "x"], (4, 3)),
            ("behind the end of its parent", "a:\n  b: 1\nx: 2\n", &["a", "x"], (1, 1)),
            ("in braces", "a: { b: { x: 1 }, x: 2 }\n", &["a", "x"], (1, 19)),
            ("braces over lines", "a: {\n  b: 1, # x: 0\n  x: 2\n}\n", &["a", "x"], (3, 3)),
            ("a long text", "a:\n  s: |\n    x: 1\n  x: 2\n", &["a", "x"], (4, 3)),
            ("quoted", "\"a\":\n  'x' : 1\n", &["a", "x"], (2, 3)),
            ("a comment", "# a: 0\na: 1\n", &["a"], (2, 1)),
            ("only braces", "{ a: 1, b: 2 }", &["b"], (1, 9)),
            ("a quoted brace", "a: { s: '}, x: 0', x: 1 }", &["a", "x"], (1, 20)),
        ];
        for (why, text, path, expected) in table {
            let path: Vec<String> = path.iter().map(|&part| part.to_owned()).collect();
            assert_eq!(position(text, &path), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_place(text in "([a-c]: ?|[{}\\[\\],'\"#\n ]|é){0,40}", path in proptest::collection::vec("[a-c]", 0..4)) {
            let (line, column) = position(&text, &path);
            prop_assert!(line >= 1 && line <= text.matches('\n').count() + 1);
            prop_assert!(column >= 1);
        }
    }
}
