//! Values of each type, as literals of Python and of JavaScript.

use crate::code::signature::Type;

const INTS: &[&str] = &["3", "0", "1", "-1", "2", "7", "10", "100", "-5", "255", "1000000"];
const FLOATS: &[&str] =
    &["1.5", "0.0", "-2.25", "0.5", "3", "100.0", "-1", "0", "1e-9", "12345.678"];
const TEXTS: &[&str] = &[
    "\"hello\"",
    "\"\"",
    "\"Hello World\"",
    "\"a\"",
    "\"  two  words \"",
    "\"123\"",
    "\"a,b;c\"",
    "\"_fooBar-baz_\"",
    "\"ÄÖÜ ß é\"",
    "\"-1.5\"",
    "\"line one\\n  line two\\n    three\"",
    "\"<b>&amp;</b>\"",
    "\"x=1&y=2\"",
    "\"aabbb\"",
    "\"2024-02-29\"",
    "\"/a/b.txt\"",
];

/// Versions in full.
const VERSIONS: &[&str] = &["\"1.2.3-beta.4\"", "\"2.0.0-rc+build.5\"", "\"1.10\""];

const DATES: &[&str] =
    &["datetime.date(2024, 2, 29)", "datetime.date(2023, 12, 31)", "datetime.date(2024, 1, 1)"];
const TIMES: &[&str] = &[
    "datetime.datetime(2024, 2, 29, 12, 30)",
    "datetime.datetime(2023, 12, 31, 23, 59, 59)",
    "datetime.datetime(2024, 1, 1)",
];
const DURATIONS: &[&str] = &[
    "datetime.timedelta(days=1)",
    "datetime.timedelta(hours=36, seconds=5)",
    "datetime.timedelta(0)",
];
const FILES: &[&str] = &[
    "io.StringIO(\"one\\ntwo = 2\\n\")",
    "io.StringIO(\"# note\\nexport A='b c'\\nD=\\\"e f\\\" # g\\n\")",
    "io.BytesIO(b\"one = 1\\ntwo = 2\\n\")",
    "io.StringIO(\"\")",
];

const PYTHON_FUNCTIONS: &[&str] =
    &["str", "lambda x: x != 2", "lambda x: x * 2", "len", "lambda *x: x[0] > 1 if x else True"];

/// Texts in the notation of what a name stands for, besides the one that a reader expects.
pub fn further_texts(name: &str) -> Vec<String> {
    let versions = VERSIONS.iter().filter(|_| name.to_ascii_lowercase().ends_with("version"));
    versions.map(|&text| text.to_owned()).collect()
}

/// Whether a literal is one of the texts that are tried where nothing is known of a text.
pub fn is_typical_text(literal: &str) -> bool {
    TEXTS.contains(&literal)
}

fn standard_objects(kind: Type, python: bool) -> Vec<String> {
    let list = match (kind, python) {
        (Type::Date, true) => DATES,
        (Type::DateTime, true) => TIMES,
        (Type::Delta, true) => DURATIONS,
        (Type::File, true) => FILES,
        (Type::DateTime, false) => &["new Date(\"2024-02-29T12:30:00Z\")", "new Date(0)"],
        _ => &[],
    };
    list.iter().map(|text| (*text).to_owned()).collect()
}

/// Values of a type as literals of a language, most typical first.
pub fn typical_values(kind: Type, python: bool) -> Vec<String> {
    let own = |python_list: &[&str], script: &[&str]| -> Vec<String> {
        let list = if python { python_list } else { script };
        list.iter().map(|text| (*text).to_owned()).collect()
    };
    let both = |list: &[&str]| own(list, list);
    match kind {
        Type::Int => both(INTS),
        Type::Float => both(FLOATS),
        Type::Bool => own(&["True", "False"], &["true", "false"]),
        Type::Text => both(TEXTS),
        Type::Bytes => own(
            &["b\"hello\"", "b\"\"", "b\"\\x00\\xff\"", "b\"a b\""],
            &["Buffer.from(\"hello\")", "Buffer.from(\"\")", "new Uint8Array([0, 255, 7])"],
        ),
        Type::Nothing => own(&["None"], &["null", "undefined"]),
        Type::Map => own(
            &[
                "{\"a\": 1, \"b\": 2}",
                "{}",
                "{\"a\": {\"b\": [1, 2]}, \"c\": None}",
                "{\"name\": \"Ada\", \"age\": 36}",
                "{1: \"x\"}",
            ],
            &[
                "{ a: 1, b: 2 }",
                "{}",
                "{ a: { b: [1, 2] }, c: null }",
                "{ name: \"Ada\", age: 36 }",
                "{ \"x-y\": \"z\" }",
            ],
        ),
        Type::Set => own(&["{1, 2, 3}", "set()", "{\"a\"}"], &["new Set([1, 2, 3])", "new Set()"]),
        Type::Function => own(
            PYTHON_FUNCTIONS,
            &[
                "(x) => x * 2",
                "(x) => x > 1",
                "(x) => x",
                "(x, y) => (x < y ? -1 : 1)",
                "() => true",
                "String",
            ],
        ),
        Type::Pattern => own(&["\"a+\"", "r\"\\d+\""], &["/a+/", "/\\d+/g"]),
        Type::Date | Type::DateTime | Type::Delta | Type::File => standard_objects(kind, python),
        Type::List(element) => lists(*element, python),
        Type::Any => {
            let kinds = [Type::Text, Type::Int, Type::List(&Type::Int), Type::Map, Type::Nothing];
            let more = [Type::Float, Type::Bool, Type::List(&Type::Text)];
            let columns: Vec<Vec<String>> =
                kinds.iter().chain(&more).map(|kind| typical_values(*kind, python)).collect();
            let rows = (0..5).flat_map(|row| columns.iter().filter_map(move |list| list.get(row)));
            rows.cloned().collect()
        }
    }
}

fn lists(element: Type, python: bool) -> Vec<String> {
    let numbers = ["[1, 2, 3]", "[]", "[3, 1, 2, 3]", "[5]", "[-1, 0, 10]", "[2, 2, 2, 2]"];
    let texts =
        ["[\"a\", \"b\"]", "[]", "[\"b\", \"a\", \"b\"]", "[\"hello world\"]", "[\"\", \"x\"]"];
    let list: Vec<&str> = match element {
        Type::Int => numbers.to_vec(),
        Type::Float => vec!["[1.5, 2.5]", "[]", "[3.0, -1.0, 2.0]", "[0.1, 0.2, 0.3]", "[7]"],
        Type::Text => texts.to_vec(),
        Type::Bool if python => vec!["[True, False]", "[]"],
        Type::Bool => vec!["[true, false]", "[]"],
        Type::Map if python => vec!["[{\"a\": 1}, {\"a\": 2}]", "[]", "[{}]"],
        Type::Map => vec!["[{ a: 1 }, { a: 2 }]", "[]", "[{}]"],
        Type::List(_) => vec!["[[1, 2], [3, 4]]", "[]", "[[1], []]", "[[\"a\", 1], [\"b\", 2]]"],
        _ => [
            &numbers[..4],
            &texts[..3],
            &[
                "[[1, 2], [3, [4]]]",
                if python { "[0, None, \"\", False, 2]" } else { "[0, null, \"\", false, 2]" },
            ],
        ]
        .concat(),
    };
    list.into_iter().map(str::to_owned).collect()
}
