//! Expressions of Rust for parameters of a type, most typical first.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::code::pattern::Pattern;

static LIFETIME: Pattern = Pattern::new(r"'\w+\s*,?\s*");

/// Expressions for the types of the language and its library, most typical first.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "&str",
        &[
            "\"hello\"",
            "\"\"",
            "\"Hello World\"",
            "\"a\"",
            "\"fooBar_baz-qux XMLHttp\"",
            "\"one two three four five six seven\"",
            "\"123\"",
            "\"a,b;c\"",
            "\"1h 30min 5s\"",
            "\"ÄÖÜ ß é\"",
            "\"  two  words \"",
            "\"line one\\n  line two\\n\\n    three\"",
            "\"2024-02-29T12:30:00Z\"",
            "\"-1.5\"",
            "\"/a/b.txt\"",
        ],
    ),
    ("bool", &["true", "false"]),
    ("&[u8]", &["b\"hello\"", "b\"\"", "&[0, 255, 7]", "b\"a b,c\""]),
    ("char", &["'a'", "'Z'", "' '", "'7'", "'-'", "'é'"]),
    (
        "Duration",
        &[
            "std::time::Duration::from_secs(90)",
            "std::time::Duration::ZERO",
            "std::time::Duration::from_millis(1500)",
            "std::time::Duration::from_secs(100_000_000)",
            "std::time::Duration::from_nanos(1_002_003)",
        ],
    ),
    (
        "SystemTime",
        &[
            "std::time::UNIX_EPOCH",
            "std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_709_209_800)",
            "std::time::UNIX_EPOCH + std::time::Duration::from_nanos(1_500_000_002)",
        ],
    ),
];

const NUMBERS: &[&str] = &["3", "0", "1", "2", "7", "10", "20", "80", "100"];
const FRACTIONS: &[&str] = &["1.5", "0.0", "-2.25", "0.5", "3.0", "100.0", "1e-9"];

/// How deep values inside of values are written.
const DEEPEST: u32 = 3;

/// What a file declares.
#[derive(Default)]
pub struct RustTypes {
    /// Enums with variants that need no values.
    pub variants: BTreeMap<String, Vec<String>>,
    /// Functions that make an object: by its type, name and the types of the parameters.
    pub constructors: BTreeMap<String, (String, Vec<String>)>,
    /// Structs whose fields are all public: names and types.
    pub fields: BTreeMap<String, Vec<(String, String)>>,
    /// Traits that texts have.
    pub of_texts: Vec<String>,
}

impl RustTypes {
    /// Expressions of a type; none if it is unknown how to write one.
    pub fn values_of_type(&self, declared: &str) -> Vec<String> {
        self.values(declared, 0)
    }

    fn values(&self, declared: &str, depth: u32) -> Vec<String> {
        let declared = declared.rsplit("time::").next().unwrap_or(declared).trim();
        if let Some((_, list)) = KNOWN.iter().find(|(name, _)| *name == declared) {
            return list.iter().map(|one| (*one).to_owned()).collect();
        }
        if is_integer(declared) {
            let signed = declared.starts_with('i').then_some(["-1", "-5"]).into_iter().flatten();
            return NUMBERS.iter().copied().chain(signed).map(str::to_owned).collect();
        }
        if matches!(declared, "f32" | "f64") {
            return FRACTIONS.iter().map(|one| (*one).to_owned()).collect();
        }
        if depth > DEEPEST || declared.starts_with("&mut") {
            return Vec::new();
        }
        if let Some((given, result)) =
            declared.strip_prefix("Fn(").and_then(|one| one.split_once(')'))
        {
            return self.closures(given, result.trim_start_matches(" ->").trim(), depth);
        }
        self.composed(declared, depth).unwrap_or_else(|| self.made(declared, depth))
    }

    /// Expressions of a type that is made of others.
    fn composed(&self, declared: &str, depth: u32) -> Option<Vec<String>> {
        let inner = |start: &str, end: &str| {
            let inner = declared.strip_prefix(start)?.strip_suffix(end)?;
            Some(self.values(inner, depth + 1)).filter(|list| !list.is_empty())
        };
        let each = |list: Vec<String>, write: &dyn Fn(&str) -> String| -> Vec<String> {
            list.iter().map(|one| write(one)).collect()
        };
        let rows = |list: &[String], open: &str| -> Vec<String> {
            let pick = |row: &[usize]| -> Vec<String> {
                row.iter().filter_map(|at| list.get(at % list.len().max(1)).cloned()).collect()
            };
            let rows: [&[usize]; 4] = [&[0, 2, 3], &[0], &[3, 2, 0, 2], &[1, 4]];
            rows.iter().map(|row| format!("{open}{}]", pick(row).join(", "))).collect()
        };
        if declared == "String" {
            return Some(each(self.values("&str", depth + 1), &|one| format!("{one}.to_string()")));
        }
        if let Some(list) = inner("&[", "]") {
            return Some(rows(&list, "&["));
        }
        if let Some(list) = inner("Vec<", ">") {
            return Some(rows(&list, "vec!["));
        }
        if let Some(list) = inner("Option<", ">") {
            let some = each(list, &|one| format!("Some({one})"));
            return Some(some.into_iter().take(4).chain(["None".to_owned()]).collect());
        }
        if let Some(list) = inner("Iterator<", ">") {
            return Some(each(rows(&list, "vec!["), &|one| format!("{one}.into_iter()")));
        }
        inner("&", "").map(|list| each(list, &|one| format!("&{one}")))
    }

    /// A function that gives a fixed value, or its argument where that has the type of its result.
    fn closures(&self, given: &str, result: &str, depth: u32) -> Vec<String> {
        let types: Vec<&str> =
            given.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        let same = types.iter().position(|one| *one == result);
        let names = |used: Option<usize>| {
            let name = |at: usize| if used == Some(at) { "a" } else { "_" };
            (0..types.len()).map(name).collect::<Vec<_>>().join(", ")
        };
        let fixed = self.values(result, depth + 1).into_iter().take(2);
        let fixed = fixed.map(|value| format!("|{}| {value}", names(None)));
        let own = same.map(|at| format!("|{}| a", names(Some(at))));
        own.into_iter().chain(fixed).collect()
    }

    /// A type without lifetimes, and with types that fit in place of those that are only bounded: `&str`
    /// for `impl AsRef<str>`. `head` is the text that declares the bounds.
    pub fn choose_type(&self, kind: &str, head: &str) -> String {
        let mut kind = LIFETIME.replace_all(kind, "").replace("<>", "");
        let head = &LIFETIME.replace_all(head, "");
        let inner = kind.trim_start_matches('&').trim();
        if let Some(bound) = inner.strip_prefix("impl ").or_else(|| inner.strip_prefix("dyn ")) {
            return self.bounded(bound, &kind);
        }
        let list = head.split_once('<').map_or("", |(_, rest)| rest);
        let form = Regex::new(r"\b([A-Z]\w*)\b\s*(:)?").ok();
        let names: BTreeSet<String> = form
            .iter()
            .flat_map(|form| form.captures_iter(list))
            .filter(|one| one.get(2).is_some() || one.get(1).is_some_and(|name| name.len() == 1))
            .filter_map(|one| Some(one.get(1)?.as_str().to_owned()).filter(|name| name != "Self"))
            .collect();
        for name in names {
            let Ok(word) = Regex::new(&format!(r"&?\b{name}\b")) else { continue };
            if let Some(found) = word.find(&kind) {
                let bound = bound_of(&name, head);
                let by = self.bounded(&bound, found.as_str());
                kind = word.replace_all(&kind, by.as_str()).into_owned();
            }
        }
        kind
    }

    /// A type that has a bound; `place` is what it stands for.
    fn bounded(&self, bound: &str, place: &str) -> String {
        let mark = if place.starts_with('&') { "&" } else { "" };
        let is_text =
            ["str>", "String>", "ToString", "Display"].iter().any(|one| bound.contains(one))
                || self.of_texts.iter().any(|one| !one.is_empty() && bound.contains(one));
        let item = |bound: &str| {
            let item =
                bound.split_once("Item = ").map_or("", |(_, item)| item.trim_end_matches('>'));
            match item {
                "&str" | "String" | "char" => item.to_owned(),
                _ => "i32".into(),
            }
        };
        match bound {
            _ if bound.contains("Fn") && bound.contains('(') => {
                let (_, call) = bound.split_once('(').unwrap_or_default();
                format!("Fn({call}")
            }
            _ if bound.contains("Iterator") && mark == "&" => format!("&[{}]", item(bound)),
            _ if bound.contains("IntoIterator") => format!("Vec<{}>", item(bound)),
            _ if bound.contains("Iterator") => format!("Iterator<{}>", item(bound)),
            _ if bound.contains("[u8]>") => "&[u8]".into(),
            _ if is_text => "&str".into(),
            _ if bound.contains("Options") => "usize".into(),
            _ => format!("{mark}i32"),
        }
    }

    /// Variants of an enum, and objects that constructors make.
    fn made(&self, declared: &str, depth: u32) -> Vec<String> {
        let name = bare_name(declared);
        let mut found = self.variants.get(&name).cloned().unwrap_or_default();
        let fields = self.fields.get(&name).filter(|_| !self.constructors.contains_key(&name));
        for row in 0..fields.map_or(0, |_| 3) {
            let field = |(field, kind): &(String, String)| {
                let pool = self.values(kind, depth + 1);
                Some(format!("{field}: {}", pool.get(row % pool.len().max(1))?))
            };
            let given: Option<Vec<String>> = fields.into_iter().flatten().map(field).collect();
            found.extend(given.map(|given| format!("{name} {{ {} }}", given.join(", "))));
        }
        if let Some((function, types)) = self.constructors.get(&name) {
            let pools: Vec<Vec<String>> =
                types.iter().map(|one| self.values(one, depth + 1)).collect();
            for row in 0..3 {
                let given: Option<Vec<String>> =
                    pools.iter().map(|pool| pool.get(row % pool.len().max(1)).cloned()).collect();
                found.extend(given.map(|given| format!("{function}({})", given.join(", "))));
            }
            found.dedup();
        }
        found
    }
}

pub fn is_integer(name: &str) -> bool {
    let bits = name.strip_prefix(['u', 'i']).unwrap_or_default();
    matches!(bits, "8" | "16" | "32" | "64" | "128" | "size")
}

/// `Point` of `&'a shop::Point<T>`.
pub fn bare_name(kind: &str) -> String {
    let head = kind.trim_start_matches('&').split('<').next().unwrap_or_default();
    head.rsplit([':', ' ']).next().unwrap_or_default().to_owned()
}

/// The bound of a type parameter, in angle brackets or behind `where`.
fn bound_of(name: &str, head: &str) -> String {
    let form = Regex::new(&format!(r"\b{name}\s*:\s*"));
    let Some(found) = form.ok().and_then(|form| Some(form.find(head)?.end())) else {
        return String::new();
    };
    let mut depth = 0;
    let mut before = ' ';
    let rest = head.get(found..).unwrap_or_default();
    let end = rest.find(|c: char| {
        depth +=
            i32::from("<([".contains(c)) - i32::from(")]".contains(c) || c == '>' && before != '-');
        before = c;
        depth < 0 || depth == 0 && ",{".contains(c)
    });
    rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().trim().to_owned()
}
