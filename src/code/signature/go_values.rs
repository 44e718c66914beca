//! Expressions of Go for parameters of a type, most typical first. Types are as they are written in
//! the package.

use std::collections::BTreeMap;

use super::Type;

/// What the files of a package declare about its types.
#[derive(Clone, Debug, Default)]
pub struct GoTypes {
    /// The fields of structs, in order: name and type.
    pub structs: BTreeMap<String, Vec<(String, String)>>,
    /// The types that other types are made of: `int` of `type Level int`.
    pub underlying: BTreeMap<String, String>,
    /// Constants by their type.
    pub constants: BTreeMap<String, Vec<String>>,
    /// Functions that make a value: result type, name, and parameter types.
    pub constructors: Vec<(String, String, Vec<String>)>,
}

/// How deep values inside of values are written.
const DEEPEST: u32 = 3;

/// Expressions for the types of the language and its library.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "string",
        &[
            "\"hello\"",
            "\"\"",
            "\"Hello World\"",
            "\"JSONData\"",
            "\"a\"",
            "\"one \\\"two three\\\" 'four' # five\"",
            "\"123\"",
            "\"a,b;c\"",
            "\"fooBar_baz-qux\"",
            "\"1.5 MB\"",
            "\"ÄÖÜ ß é\"",
            "\"-1.5\"",
            "\"  two  words \"",
            "\"line one\\n  line two\"",
            "\"x=1&y=2\"",
            "\"2024-02-29\"",
            "\"/a/b.txt\"",
            "\"open \\\"quote\\\\\"",
            "\"it's\"",
            "\"a\\\\\"",
        ],
    ),
    ("bool", &["true", "false"]),
    ("rune", &["'a'", "'Z'", "' '", "'7'", "'-'", "'é'", "'\\n'"]),
    ("byte", &["'a'", "'_'", "'.'", "0", "255"]),
    ("uint8", &["'a'", "'_'", "'.'", "0", "255"]),
    ("[]byte", &["[]byte(\"hello\")", "[]byte(\"\")", "[]byte(\"a b,c\")", "[]byte{0, 255, 7}"]),
    (
        "[]rune",
        &[
            "[]rune(\"hello\")",
            "[]rune(\"\")",
            "[]rune(\"lo\")",
            "[]rune(\"help\")",
            "[]rune(\"äöü\")",
        ],
    ),
    ("error", &["nil", "errors.New(\"failed\")"]),
    ("any", &["\"hello\"", "2", "nil", "1.5", "true", "[]int{1, 2}", "map[string]int{\"a\": 1}"]),
    (
        "io.Reader",
        &[
            "strings.NewReader(\"hello world\")",
            "strings.NewReader(\"\")",
            "strings.NewReader(\"one 'two three' \\\"four\\\" # five\")",
            "strings.NewReader(\"a,b\\n1,2\\n\")",
            "strings.NewReader(\"a\\\\ b \\\"open\")",
        ],
    ),
    ("io.Writer", &["&bytes.Buffer{}"]),
    ("*bytes.Buffer", &["&bytes.Buffer{}", "bytes.NewBufferString(\"hello\")"]),
    ("*strings.Builder", &["&strings.Builder{}"]),
    ("context.Context", &["context.Background()"]),
    (
        "time.Duration",
        &["90 * time.Second", "0", "-time.Minute", "36 * time.Hour", "1500 * time.Millisecond"],
    ),
    (
        "time.Time",
        &[
            "time.Date(2024, 2, 29, 12, 30, 0, 0, time.UTC)",
            "time.Date(2024, 2, 29, 12, 31, 5, 0, time.UTC)",
            "time.Date(2024, 2, 26, 8, 0, 0, 0, time.UTC)",
            "time.Date(2023, 12, 31, 23, 59, 59, 0, time.UTC)",
            "time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)",
            "time.Time{}",
        ],
    ),
    (
        "*big.Int",
        &[
            "big.NewInt(1234567)",
            "big.NewInt(0)",
            "big.NewInt(-42)",
            "big.NewInt(1000)",
            "big.NewInt(7)",
        ],
    ),
    ("*big.Float", &["big.NewFloat(1234.5)", "big.NewFloat(0)", "big.NewFloat(-0.25)"]),
    ("*regexp.Regexp", &["regexp.MustCompile(`a+`)", "regexp.MustCompile(`\\d`)"]),
];

const SIGNED: &[&str] = &["3", "0", "1", "-1", "2", "7", "10", "100", "-5", "120"];
const LARGE: &[&str] = &["255", "1000", "1000000", "123456789"];
const FRACTIONS: &[&str] = &["1.5", "0", "-2.25", "0.5", "3", "100", "-1", "1e-9", "12345.678"];

/// The type as the search for inputs knows it, if literals of any language fit.
pub fn plain_type(declared: &str) -> Option<Type> {
    match declared {
        "string" => Some(Type::Text),
        "bool" => Some(Type::Bool),
        "float32" | "float64" => Some(Type::Float),
        _ if is_integer(declared) && !matches!(declared, "byte" | "uint8") => Some(Type::Int),
        _ => None,
    }
}

/// Whether values of a type are numbers or truth values.
pub fn is_basic_go(declared: &str) -> bool {
    plain_type(declared).is_some() || matches!(declared, "rune" | "byte" | "uint8")
}

fn is_integer(name: &str) -> bool {
    let bits = name.strip_prefix('u').unwrap_or(name).strip_prefix("int");
    bits.is_some_and(|bits| bits.chars().all(|c| c.is_ascii_digit()))
}

impl GoTypes {
    /// Expressions of a type; none if it is unknown how to write one.
    pub fn values_of_type(&self, declared: &str) -> Vec<String> {
        self.values_at(declared, 0)
    }

    fn values_at(&self, declared: &str, depth: u32) -> Vec<String> {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let declared = if declared == "interface{}" { "any" } else { declared.trim() };
        if let Some((_, list)) = KNOWN.iter().find(|(name, _)| *name == declared) {
            return owned(list);
        }
        if plain_type(declared) == Some(Type::Float) {
            return owned(FRACTIONS);
        }
        if is_integer(declared) {
            let is_small = declared.ends_with('8');
            let is_signed = !declared.starts_with('u');
            let list = SIGNED.iter().filter(|one| is_signed || !one.starts_with('-'));
            return list
                .chain(LARGE.iter().filter(|_| !is_small))
                .map(|one| (*one).to_owned())
                .collect();
        }
        if depth > DEEPEST {
            return Vec::new();
        }
        self.composed(declared, depth)
    }

    fn composed(&self, declared: &str, depth: u32) -> Vec<String> {
        if let Some(element) = declared.strip_prefix("[]") {
            return lists(declared, &self.values_at(element, depth + 1));
        }
        if let Some((key, value)) =
            declared.strip_prefix("map[").and_then(|rest| rest.split_once(']'))
        {
            let (keys, values) = (self.values_at(key, depth + 1), self.values_at(value, depth + 1));
            return maps(declared, &keys, &values);
        }
        if declared.starts_with("func(") {
            return self.function(declared, depth).into_iter().collect();
        }
        let mut found = self.made_by_constructors(declared, depth);
        let name = declared.trim_start_matches('*');
        let is_pointer = name.len() < declared.len();
        if let Some(fields) = self.structs.get(name) {
            let mark = if is_pointer { "&" } else { "" };
            found.extend(
                self.literals(name, fields, depth).iter().map(|one| format!("{mark}{one}")),
            );
        } else if !is_pointer {
            let constants = self.constants.get(name).into_iter().flatten().cloned();
            found.extend(constants);
            if let Some(under) = self.underlying.get(name) {
                let values = self.values_at(under, depth + 1);
                // Constants without a type are accepted as they are.
                let is_plain =
                    plain_type(under).is_some() || matches!(under.as_str(), "rune" | "byte");
                let wrap = |one: String| match one.strip_prefix(under.as_str()) {
                    _ if is_plain => one,
                    Some(rest) if rest.starts_with('{') => format!("{name}{rest}"),
                    _ => format!("{name}({one})"),
                };
                found.extend(values.into_iter().map(wrap));
            }
        }
        found
    }

    /// Structs with values in their fields, and without any.
    fn literals(&self, name: &str, fields: &[(String, String)], depth: u32) -> Vec<String> {
        let pools: Vec<(&str, Vec<String>)> = fields
            .iter()
            .map(|(field, kind)| (field.as_str(), self.values_at(kind, depth + 1)))
            .filter(|(_, pool)| !pool.is_empty())
            .collect();
        let row = |row: usize| {
            let given = pools.iter().enumerate().filter_map(|(at, (field, pool))| {
                Some(format!("{field}: {}", pool.get((row + at * (row % 2)) % pool.len())?))
            });
            format!("{name}{{{}}}", given.collect::<Vec<_>>().join(", "))
        };
        let rows = if pools.is_empty() { 0 } else { 4 };
        let mut found: Vec<String> = (0..rows).map(row).collect();
        found.insert(found.len().min(1), format!("{name}{{}}"));
        found
    }

    fn made_by_constructors(&self, declared: &str, depth: u32) -> Vec<String> {
        let fitting = self.constructors.iter().filter(|(result, ..)| result == declared);
        let call = |(_, name, parameters): &(String, String, Vec<String>)| {
            let given =
                parameters.iter().map(|one| self.values_at(one, depth + 1).into_iter().next());
            Some(format!("{name}({})", given.collect::<Option<Vec<_>>>()?.join(", ")))
        };
        fitting.filter_map(call).take(2).collect()
    }

    /// A function that gives its parameter of the result's type, or else a value of that type.
    fn function(&self, declared: &str, depth: u32) -> Option<String> {
        let (parameters, result) = declared.strip_prefix("func(")?.split_once(')')?;
        let types: Vec<&str> =
            parameters.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        let result = result.trim();
        if types.iter().any(|one| one.contains(['(', ' ', '.'])) || result.contains(['(', ',']) {
            return None;
        }
        let given: Vec<String> =
            types.iter().enumerate().map(|(at, one)| format!("a{at} {one}")).collect();
        let head = format!("func({})", given.join(", "));
        if result.is_empty() {
            return Some(format!("{head} {{}}"));
        }
        let same = types.iter().position(|one| *one == result).map(|at| format!("a{at}"));
        let value = same.or_else(|| self.values_at(result, depth + 1).into_iter().next())?;
        Some(format!("{head} {result} {{ return {value} }}"))
    }
}

fn lists(declared: &str, elements: &[String]) -> Vec<String> {
    // Elements of structs do not repeat their type.
    let element =
        declared.strip_prefix("[]").map(|element| element.replace('*', "&")).unwrap_or_default();
    let at = |index: usize| {
        let one = elements.get(index % elements.len().max(1)).map_or("", String::as_str);
        one.strip_prefix(element.as_str()).filter(|rest| rest.starts_with('{')).unwrap_or(one)
    };
    if elements.is_empty() {
        return vec!["nil".into()];
    }
    let rows = [vec![0, 1, 2], vec![], vec![0], vec![2, 0, 2, 1], vec![3, 4]];
    rows.iter()
        .map(|row| {
            let inner: Vec<&str> = row.iter().map(|index| at(*index)).collect();
            format!("{declared}{{{}}}", inner.join(", "))
        })
        .chain(["nil".to_owned()])
        .collect()
}

fn maps(declared: &str, keys: &[String], values: &[String]) -> Vec<String> {
    let pair = |index: usize| {
        Some(format!("{}: {}", keys.get(index)?, values.get(index % values.len().max(1))?))
    };
    let two: Option<Vec<String>> = [0, 2].into_iter().map(pair).collect();
    let rows = [two, Some(Vec::new()), pair(0).map(|one| vec![one])];
    let rows = rows.into_iter().flatten();
    rows.map(|pairs| format!("{declared}{{{}}}", pairs.join(", ")))
        .chain(["nil".to_owned()])
        .collect()
}
