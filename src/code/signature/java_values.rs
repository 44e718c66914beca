//! Expressions of Java for parameters of a type, most typical first. All are in the language of Java 8.

use std::collections::{BTreeMap, BTreeSet};

use super::Type;

/// How objects of a class are made, as far as its package tells.
#[derive(Clone, Debug, Default)]
pub struct JavaType {
    /// The constants of an enum.
    pub constants: Vec<String>,
    /// Constructors and then static factories: the text before the arguments, the parameters with
    /// their names and types, and whether it declares that it throws.
    pub makers: Vec<Maker>,
    pub is_generic: bool,
    /// Methods that return the object, if there are such.
    pub fluent: BTreeSet<String>,
}

/// What makes an object.
#[derive(Clone, Debug, Default)]
pub struct Maker {
    pub function: String,
    pub parameters: Vec<(String, String)>,
    pub throws: String,
    pub is_public: bool,
}

impl Maker {
    /// How hard it is to make an object of a class with it: one that is given something shows more of the
    /// class, and numbers are accepted more often than texts, which may name what does not exist.
    pub fn order_key(&self, class: &str) -> (bool, bool, u8) {
        let hardness = |(name, kind): &(String, String)| match plain_java_type(kind) {
            _ if kind == class => 4,
            Some(Type::Text) if PLACES.iter().any(|word| name.to_lowercase().contains(word)) => 3,
            Some(Type::Text) => 1,
            Some(_) => 0,
            None => 2,
        };
        let hardest = self.parameters.iter().map(hardness).max().unwrap_or_default();
        (self.parameters.is_empty(), !self.is_public, hardest)
    }
}

/// Words in the names of texts that say where something is.
const PLACES: &[&str] = &["file", "path", "resource", "url", "uri"];

/// The types of a package by their simple names.
#[derive(Clone, Debug, Default)]
pub struct JavaTypes(pub BTreeMap<String, JavaType>);

/// How deep values inside of values are written.
const DEEPEST: u32 = 3;

const TEXTS: &[&str] = &[
    "\"hello\"",
    "\"\"",
    "\"Hello World\"",
    "\"a\"",
    "null",
    "\"123\"",
    "\"a,b;c\"",
    "\"fooBar_baz-qux\"",
    "\"one two three four five six seven\"",
    "\"  two  words \"",
    "\"\\u00e4\\u00d6 \\u00df\"",
    "\"-1.5\"",
    "\"line one\\n  line two\"",
    "\"true\"",
    "\"2024-02-29\"",
    "\"/a/b.txt\"",
];

/// Expressions for the types of the language and its library.
const KNOWN: &[(&str, &[&str])] = &[
    ("String", TEXTS),
    ("CharSequence", TEXTS),
    ("boolean", &["true", "false"]),
    ("Boolean", &["true", "false", "null"]),
    ("char", &["'a'", "'Z'", "' '", "'7'", "'-'", "'\\u00e9'", "'\\n'"]),
    ("Character", &["'a'", "'Z'", "'7'", "'-'", "null"]),
    (
        "int",
        &["3", "0", "1", "-1", "2", "7", "10", "100", "-5", "120", "1000", "Integer.MAX_VALUE"],
    ),
    ("Integer", &["2", "0", "1", "-1", "7", "100", "null"]),
    ("long", &["3", "0", "1", "-1", "7", "100", "-5", "1000", "1000000", "123456789"]),
    ("Long", &["2L", "0L", "-1L", "100L", "null"]),
    ("short", &["(short) 2", "(short) 0", "(short) -1"]),
    ("byte", &["(byte) 2", "(byte) 0", "(byte) -1", "(byte) 127"]),
    ("double", &["1.5", "0.0", "-2.25", "0.5", "3.0", "100.0", "-1.0", "12345.678", "Double.NaN"]),
    ("Double", &["1.5", "0.0", "-2.25", "3.0", "null"]),
    ("float", &["1.5f", "0.0f", "-2.25f", "3.0f"]),
    ("Float", &["1.5f", "0.0f", "-2.25f"]),
    ("Number", &["10", "2", "0", "1.5", "-1L"]),
    ("Object", &["\"hello\"", "2", "null", "1.5", "true", "'a'"]),
    ("BigDecimal", &["new BigDecimal(\"12.50\")", "BigDecimal.ZERO", "new BigDecimal(\"-3\")"]),
    ("BigInteger", &["BigInteger.valueOf(12)", "BigInteger.ZERO", "BigInteger.valueOf(-3)"]),
    ("StringBuilder", &["new StringBuilder(\"hello\")", "new StringBuilder()"]),
    ("Appendable", &["new StringBuilder()"]),
    ("Reader", &["new StringReader(\"hello world\")", "new StringReader(\"a,b\\n1,2\\n\")"]),
    ("Writer", &["new StringWriter()"]),
    (
        "InputStream",
        &["new ByteArrayInputStream(\"hello world\".getBytes(StandardCharsets.UTF_8))"],
    ),
    ("byte[]", &["\"hello\".getBytes(StandardCharsets.UTF_8)", "new byte[] {0, 127, -1}"]),
    ("Locale", &["Locale.ENGLISH", "Locale.GERMANY", "Locale.ROOT"]),
    ("Charset", &["StandardCharsets.UTF_8", "StandardCharsets.US_ASCII"]),
    ("Duration", &["Duration.ofSeconds(90)", "Duration.ZERO", "Duration.ofMillis(1500)"]),
    (
        "LocalDate",
        &["LocalDate.of(2024, 2, 29)", "LocalDate.of(2023, 12, 31)", "LocalDate.of(2010, 1, 1)"],
    ),
    ("LocalTime", &["LocalTime.of(12, 30)", "LocalTime.MIDNIGHT"]),
    (
        "LocalDateTime",
        &["LocalDateTime.of(2024, 2, 29, 12, 30)", "LocalDateTime.of(2023, 12, 31, 23, 59, 59)"],
    ),
    ("Instant", &["Instant.EPOCH", "Instant.parse(\"2024-02-29T12:30:00Z\")"]),
    ("DayOfWeek", &["DayOfWeek.MONDAY", "DayOfWeek.SUNDAY"]),
    ("Date", &["new Date(0)", "new Date(1709209800000L)"]),
    ("URI", &["URI.create(\"https://example.com/a?b=1\")"]),
    ("UUID", &["UUID.fromString(\"123e4567-e89b-12d3-a456-426614174000\")"]),
    ("Throwable", &["new IllegalStateException(\"failed\")"]),
    ("Exception", &["new IllegalStateException(\"failed\")"]),
    ("Runnable", &["() -> {}"]),
    ("Class<?>", &["String.class", "int.class"]),
];

/// Functions by their interfaces.
const FUNCTIONS: &[(&str, &str)] = &[
    ("UnaryOperator", "one -> one"),
    ("Predicate", "one -> true"),
    ("BinaryOperator", "(one, two) -> one"),
    ("BiPredicate", "(one, two) -> true"),
    ("Consumer", "one -> {}"),
];

/// The type as the search for inputs knows it, if literals of any language fit.
pub fn plain_java_type(declared: &str) -> Option<Type> {
    match declared {
        "String" | "CharSequence" => Some(Type::Text),
        "int" | "long" | "Integer" => Some(Type::Int),
        "double" => Some(Type::Float),
        "boolean" => Some(Type::Bool),
        _ => None,
    }
}

/// The name and the arguments of a generic type.
fn generic_parts(declared: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = declared.split_once('<')?;
    let inner = rest.strip_suffix('>')?;
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, letter) in inner.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.extend(inner.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(inner.get(start..));
    let bound =
        |part: &&str| part.trim_start_matches("? extends ").trim_start_matches("? super ").len();
    let parts = parts.iter().map(|part| {
        let part = part.trim();
        part.get(part.len() - bound(&part)..).unwrap_or(part)
    });
    Some((name, parts.collect()))
}

impl JavaTypes {
    /// Expressions of a type; none if it is unknown how to write one.
    pub fn values_of(&self, declared: &str, depth: u32) -> Vec<String> {
        let owned = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        if let Some((_, list)) = KNOWN.iter().find(|(name, _)| *name == declared) {
            return owned(list);
        }
        if depth > DEEPEST {
            return Vec::new();
        }
        if let Some(element) = declared.strip_suffix("[]") {
            let values = self.elements_of(element, depth);
            let rows = rows_of(&values);
            return rows
                .iter()
                .map(|row| format!("new {declared} {{{}}}", row.join(", ")))
                .collect();
        }
        match generic_parts(declared) {
            Some((name, parts)) => self.generic_values(name, &parts, depth),
            None => self.made_values(declared, depth),
        }
    }

    /// Values for a place inside of others, where null says little.
    fn elements_of(&self, declared: &str, depth: u32) -> Vec<String> {
        let mut values = self.values_of(declared, depth + 1);
        values.retain(|one| one != "null");
        values
    }

    fn generic_values(&self, name: &str, parts: &[&str], depth: u32) -> Vec<String> {
        let lists = |make: &dyn Fn(&[String]) -> String| -> Vec<String> {
            let values = parts.first().map(|one| self.elements_of(one, depth)).unwrap_or_default();
            rows_of(&values).iter().map(|row| make(row)).collect()
        };
        let list = |row: &[String]| match row {
            [] => "Collections.emptyList()".to_owned(),
            row => format!("Arrays.asList({})", row.join(", ")),
        };
        match (name, parts) {
            ("List" | "Collection" | "Iterable", [_]) => lists(&list),
            ("ArrayList", [_]) => lists(&|row| format!("new ArrayList<>({})", list(row))),
            ("Set", [_]) => lists(&|row| format!("new HashSet<>({})", list(row))),
            ("Map", [key, value]) => {
                let (keys, values) = (self.elements_of(key, depth), self.elements_of(value, depth));
                let (Some(key), Some(value)) = (keys.first(), values.first()) else {
                    return Vec::new();
                };
                vec![
                    format!("Collections.singletonMap({key}, {value})"),
                    "Collections.emptyMap()".into(),
                ]
            }
            ("Optional", [one]) => {
                let some = self.elements_of(one, depth).into_iter().take(2);
                let some = some.map(|one| format!("Optional.of({one})"));
                some.chain(["Optional.empty()".to_owned()]).collect()
            }
            ("Supplier" | "Callable", [one]) => {
                let first = self.elements_of(one, depth).into_iter().take(1);
                first.map(|one| format!("() -> {one}")).collect()
            }
            ("Function", [from, to]) => self.function_values("one", from, to, depth),
            ("BiFunction", [from, _, to]) => self.function_values("(one, two)", from, to, depth),
            ("Comparator", [_]) => vec!["Comparator.naturalOrder()".into()],
            ("Class", [_]) => vec!["String.class".into()],
            ("Comparable", [_]) => self.values_of("String", depth),
            _ => FUNCTIONS
                .iter()
                .filter(|(one, _)| *one == name)
                .map(|(_, text)| (*text).to_owned())
                .chain(self.made_values(name, depth))
                .collect(),
        }
    }

    /// A function of `names`, the first one of type `from`, that gives a `to`.
    fn function_values(&self, names: &str, from: &str, to: &str, depth: u32) -> Vec<String> {
        let is_text = plain_java_type(from) == Some(Type::Text);
        let given = match to {
            _ if from == to => Some("one".to_owned()),
            "Integer" | "Number" | "Object" if is_text => Some("one.length()".to_owned()),
            _ => self.elements_of(to, depth).into_iter().next(),
        };
        given.into_iter().map(|given| format!("{names} -> {given}")).collect()
    }

    /// Constants of an enum, and objects of a class of the package.
    fn made_values(&self, name: &str, depth: u32) -> Vec<String> {
        let Some(found) = self.find_type(name) else { return Vec::new() };
        let mut values = found.constants.clone();
        if let Some(maker) = self.maker_of(found, depth) {
            let pools: Vec<Vec<String>> =
                maker.parameters.iter().map(|(_, kind)| self.values_of(kind, depth + 1)).collect();
            for row in 0..3 {
                let given: Option<Vec<String>> =
                    pools.iter().map(|pool| pool.get(row % pool.len().max(1)).cloned()).collect();
                values
                    .extend(given.map(|given| format!("{}({})", maker.function, given.join(", "))));
            }
            values.dedup();
        }
        values
    }

    /// The type of a name as it is written, with or without the class around it.
    pub fn find_type(&self, name: &str) -> Option<&JavaType> {
        self.0.get(name.split('<').next()?.rsplit('.').next()?)
    }

    /// The first maker whose parameters can all be written.
    pub fn maker_of<'a>(&self, of: &'a JavaType, depth: u32) -> Option<&'a Maker> {
        let can_write = |(_, kind): &(String, String)| !self.values_of(kind, depth + 1).is_empty();
        of.makers.iter().find(|maker| depth <= DEEPEST && maker.parameters.iter().all(can_write))
    }
}

/// Rows of three elements, of none, of one, of four that repeat, and of two.
fn rows_of(values: &[String]) -> Vec<Vec<String>> {
    if values.is_empty() {
        return Vec::new();
    }
    let rows: [&[usize]; 5] = [&[0, 2, 3], &[], &[0], &[3, 2, 0, 2], &[1, 3]];
    let row = |row: &&[usize]| -> Vec<String> {
        row.iter().filter_map(|at| values.get(at % values.len()).cloned()).collect()
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_expressions_of_the_declared_type() {
        let maker = Maker {
            function: "new Money".into(),
            parameters: vec![("cents".into(), "long".into())],
            ..Maker::default()
        };
        let money = JavaType { makers: vec![maker], ..JavaType::default() };
        let types = JavaTypes(BTreeMap::from([("Money".to_owned(), money)]));
        let table = [
            ("int[]", "new int[] {3, 1, -1}"),
            ("List<String>", "Arrays.asList(\"hello\", \"Hello World\", \"a\")"),
            ("List<? extends CharSequence>", "Arrays.asList(\"hello\", \"Hello World\", \"a\")"),
            (
                "Map<String, List<Integer>>",
                "Collections.singletonMap(\"hello\", Arrays.asList(2, 1, -1))",
            ),
            ("Optional<Long>", "Optional.of(2L)"),
            ("Money", "new Money(3)"),
            ("Function<String, String>", "one -> one"),
            ("Function<? super CharSequence, ? extends Number>", "one -> one.length()"),
            ("BiFunction<Long, Long, Boolean>", "(one, two) -> true"),
        ];
        for (declared, expected) in table {
            let found = types.values_of(declared, 0);
            assert_eq!(found.first().map(String::as_str), Some(expected), "{declared}");
        }
        assert!(types.values_of("Elsewhere", 0).is_empty());
    }
}
