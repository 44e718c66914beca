//! What the name of a parameter suggests about its type, where nothing else does, and a value that a
//! reader would expect there.

use super::parameter_types::{Type, documented};

/// Last words of names, their type, and a value for Python and JavaScript alike.
const NAMES: &[(&[&str], Type, &str)] = &[
    (&["name", "user", "author", "owner"], Type::Text, "\"Ada\""),
    (&["title", "label", "description", "message", "subject"], Type::Text, "\"Hello World\""),
    (&["text", "string", "str", "sentence", "line", "source"], Type::Text, "\"hello world\""),
    (&["word", "token", "key", "k", "prefix", "suffix", "tag", "kind"], Type::Text, "\"hello\""),
    (&["version", "semver"], Type::Text, "\"1.2.3\""),
    (&["domain", "host", "hostname"], Type::Text, "\"example.com\""),
    (&["country"], Type::Text, "\"DE\""),
    (&["currency"], Type::Text, "\"EUR\""),
    (&["locale", "lang", "language"], Type::Text, "\"de\""),
    (&["separator", "sep", "delimiter", "delim"], Type::Text, "\"-\""),
    (&["characters", "chars"], Type::Text, "\"_\""),
    (&["email", "mail"], Type::Text, "\"ada@example.com\""),
    (&["url", "uri", "href", "link"], Type::Text, "\"https://example.com/a?b=1\""),
    (&["path", "filename", "file"], Type::Text, "\"a/b.txt\""),
    (&["date", "day"], Type::Text, "\"2024-02-29\""),
    (&["sku", "code", "id"], Type::Text, "\"A-1\""),
    (&["count", "quantity", "qty", "times", "n", "number", "num"], Type::Int, "3"),
    (&["index", "position", "offset", "start", "depth", "level"], Type::Int, "1"),
    // With few elements, calls in a row reach the limit.
    (&["maxsize", "maxlen", "capacity"], Type::Int, "2"),
    (&["ttl", "timeout", "seconds"], Type::Int, "10"),
    (&["size", "length", "width", "height", "limit", "end", "stop"], Type::Int, "10"),
    (&["cents", "amount", "price", "cost", "total", "balance", "fee"], Type::Int, "250"),
    (&["percent", "percentage"], Type::Int, "10"),
    (&["age"], Type::Int, "36"),
    (&["year"], Type::Int, "2024"),
    (&["rate", "ratio", "factor", "weight", "fraction"], Type::Float, "0.5"),
    (&["items", "values", "list", "numbers", "elements", "array"], Type::List(&Type::Int), ""),
    (&["seq", "seqs", "sequence", "iterable", "iterables"], Type::List(&Type::Int), ""),
    (&["words", "names", "lines", "tags", "strings"], Type::List(&Type::Text), ""),
    (
        &[
            "f",
            "callback",
            "func",
            "function",
            "fn",
            "predicate",
            "pred",
            "iteratee",
            "keyfunc",
            "getsizeof",
            "timer",
        ],
        Type::Function,
        "",
    ),
    (&["dt", "datetime", "timestamp"], Type::DateTime, ""),
    (&["delta", "timedelta"], Type::Delta, ""),
    (&["fp", "fileobj", "stream"], Type::File, ""),
];

/// The last word of a name in lower case: `price` of `unit_price` and `unitPrice`.
fn last_word(name: &str) -> String {
    let start = name.rfind(|c: char| c == '_' || c.is_ascii_uppercase()).unwrap_or_default();
    name.get(start..).unwrap_or(name).trim_start_matches('_').to_ascii_lowercase()
}

fn hint(name: &str) -> Option<&'static (&'static [&'static str], Type, &'static str)> {
    let word = last_word(name);
    NAMES.iter().find(|(words, ..)| words.contains(&word.as_str()))
}

/// The type that a name suggests, and that it may be another; empty for a name that says nothing.
pub fn suggested_types(name: &str) -> Vec<Type> {
    let own = |kind: Type| if kind == Type::Function { vec![kind] } else { vec![kind, Type::Any] };
    hint(name).map(|(_, kind, _)| own(*kind)).unwrap_or_default()
}

/// The types of a parameter from the strongest evidence to the weakest: as stated in its declaration,
/// in documentation, by its default value and its uses (`further`), by its name; and whether only
/// default, uses and name tell them.
pub fn infer_types(
    name: &str,
    stated: Vec<Type>,
    documentation: &str,
    further: impl FnOnce() -> Vec<Type>,
) -> (Vec<Type>, bool) {
    let mut types = if stated.is_empty() { documented(documentation, name) } else { stated };
    let is_guessed = types.is_empty() || types == [Type::Nothing];
    if is_guessed {
        types.extend(further());
    }
    if types.is_empty() {
        types = suggested_types(name);
    }
    types.dedup();
    (types, is_guessed)
}

/// A literal that a reader would expect for a parameter of this name.
pub fn typical_value(name: &str) -> Option<(Type, &'static str)> {
    hint(name).filter(|(.., value)| !value.is_empty()).map(|(_, kind, value)| (*kind, *value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_name_suggests_a_type_and_a_value() {
        let table = [
            ("name", Some((Type::Text, "\"Ada\""))),
            ("unit_price", Some((Type::Int, "250"))),
            ("unitPrice", Some((Type::Int, "250"))),
            ("x", None),
            ("renamed", None),
        ];
        for (name, expected) in table {
            assert_eq!(typical_value(name), expected, "{name}");
        }
        assert_eq!(suggested_types("words"), [Type::List(&Type::Text), Type::Any]);
        assert_eq!(suggested_types("getsizeof"), [Type::Function]);
        assert_eq!(suggested_types("x"), []);
    }
}
