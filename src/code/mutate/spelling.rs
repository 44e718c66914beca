//! [`Spelling`]: language syntax that edit operators insert, and commonly confused names.

use crate::code::language::Language;

/// Text to put before and after a value, such as `abs(` and `)`.
pub type Affix = (&'static str, &'static str);

/// The syntax that edits insert in a language; `None` or empty where it has none.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    pub truths: [&'static str; 2],
    pub nothing: &'static str,
    /// `and` and `or`.
    pub logic: [&'static str; 2],
    /// The negation operator, with a trailing space if one is needed.
    pub not: &'static str,
    pub equal: &'static str,
    pub comparisons: &'static [&'static str],
    pub arithmetic: &'static [&'static str],
    /// Division that drops the remainder.
    pub floor_division: Option<&'static str>,
    pub augmented: &'static [&'static str],
    /// The functions for the maximum and the minimum of two values.
    pub extremes: [&'static str; 2],
    /// What stands before, between and behind two sequences that are joined.
    pub concatenation: Option<[&'static str; 3]>,
    /// Functions that are often forgotten around a value.
    pub wrappers: &'static [&'static str],
    /// Functions that are seldom forgotten around a value.
    pub rare_wrappers: &'static [&'static str],
    /// Groups of method and function names that are often confused.
    pub confused: &'static [&'static [&'static str]],
    /// Suffixes that take part of a sequence.
    pub slices: &'static [&'static str],
    /// Put around a position: the slice before it and the slice from it on.
    pub cuts: [Affix; 2],
    /// Put around an index: accesses that are confused with taking the element.
    pub index_confusions: &'static [Affix],
    /// Whether a sum in an index is written without spaces, as `gofmt` does.
    pub has_close_indices: bool,
    /// The suffix that takes the last element.
    pub last: &'static str,
    /// Method calls on a value that are often forgotten.
    pub suffixes: &'static [&'static str],
    /// Method calls that are often forgotten between two others.
    pub chained: &'static [&'static str],
    /// Method calls that are often forgotten on a text before it is taken apart.
    pub normalizers: &'static [&'static str],
    /// Put around a sequence: what takes each of its elements once, if that is an expression.
    pub distinct: Option<Affix>,
    /// Put around a variable: statements that are often forgotten before it is returned.
    pub finishers: &'static [Affix],
    /// Put around a variable: values that are often assigned back to it.
    pub reassignments: &'static [Affix],
    /// Put around a returned value: changes that are seldom the right repair.
    pub return_wrappers: &'static [Affix],
    /// The argument that makes a sort descending.
    pub reverse_sort: Option<&'static str>,
    pub await_keyword: Option<&'static str>,
    /// The child indices of the true and the false result in a conditional expression.
    pub choice_results: [u32; 2],
    /// The keywords of an `if` and of a loop, if they are interchangeable.
    pub if_while: Option<[&'static str; 2]>,
    /// The prefix to remove from `elif` to make it a separate `if`.
    pub elif_prefix: Option<&'static str>,
    /// The statement without effect.
    pub empty_statement: Option<&'static str>,
    /// One level of indentation, if blocks are marked by indentation.
    pub indentation: Option<&'static str>,
    /// Put around the condition of an `if` that is inserted before a single statement.
    pub if_affix: Affix,
    /// What follows that statement.
    pub if_end: &'static str,
    /// Whether values of another type in a place would not compile.
    pub is_typed: bool,
    /// Values without content: zero, an empty text, an empty list.
    pub empties: &'static [&'static str],
    /// The statement terminator.
    pub end: &'static str,
}

impl Spelling {
    pub fn opposite(&self, truth: &str) -> &'static str {
        let [yes, no] = self.truths;
        if truth == yes { no } else { yes }
    }
}

const PYTHON: Spelling = Spelling {
    truths: ["True", "False"],
    nothing: "None",
    logic: ["and", "or"],
    not: "not ",
    equal: "==",
    comparisons: &["<", "<=", ">", ">=", "==", "!=", "in", "not in", "is", "is not"],
    arithmetic: &["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"],
    floor_division: Some("//"),
    augmented: &["+=", "-=", "*=", "/=", "//=", "%=", "|=", "&=", "^=", "<<=", ">>="],
    extremes: ["max", "min"],
    concatenation: Some(["", " + ", ""]),
    wrappers: &["abs", "len", "int", "str", "sorted", "set", "list", "sum"],
    rare_wrappers: &["max", "min", "round", "float", "reversed", "tuple", "bool"],
    confused: &[
        &["append", "extend", "insert", "add"],
        &["strip", "lstrip", "rstrip"],
        &["upper", "lower", "swapcase", "title", "capitalize"],
        &["isupper", "islower"],
        &["isdigit", "isalpha", "isalnum", "isnumeric", "isspace"],
        &["startswith", "endswith"],
        &["find", "rfind", "index", "rindex"],
        &["split", "rsplit", "splitlines", "partition", "rpartition"],
        &["keys", "values", "items"],
        &["update", "setdefault"],
        &["pop", "popleft", "remove", "discard"],
        &["append", "appendleft"],
        &["union", "intersection", "difference", "symmetric_difference"],
        &["issubset", "issuperset"],
        &["min", "max", "sum"],
        &["any", "all"],
        &["floor", "ceil", "round", "trunc"],
        &["sort", "reverse"],
        &["sorted", "reversed", "list"],
        &["int", "float", "round", "str"],
        &["ljust", "rjust", "center"],
        &["range", "enumerate"],
        &["bin", "hex", "oct"],
        &["heappush", "heappop"],
        &["is_file", "is_dir", "exists"],
        &["isoformat", "ctime"],
        &["days", "seconds"],
        &["hour", "minute", "second"],
        &["year", "month", "day"],
        &["encode", "decode"],
        &["loads", "load"],
        &["dumps", "dump"],
        &["weekday", "isoweekday"],
        &["sum", "len"],
        &["ValueError", "KeyError", "TypeError", "IndexError", "LookupError", "AttributeError"],
    ],
    slices: &["[1:]", "[:-1]", "[::-1]", "[0]", "[-1]", "[2:]", "[1]"],
    cuts: [("[:", "]"), ("[", ":]")],
    index_confusions: &[("[:", "]"), ("[", ":]"), (".get(", ")"), ("[-", "]")],
    has_close_indices: false,
    last: "[-1]",
    chained: &[],
    normalizers: &[".lower()", ".strip()"],
    distinct: None,
    finishers: &[("", ".sort()"), ("", ".reverse()")],
    suffixes: &[
        ".strip()",
        ".lower()",
        ".upper()",
        ".swapcase()",
        ".copy()",
        ".items()",
        ".values()",
        ".keys()",
    ],
    reassignments: &[
        ("sorted(", ")"),
        ("abs(", ")"),
        ("list(", ")"),
        ("", ".lower()"),
        ("", ".strip()"),
    ],
    return_wrappers: &[("(", ") % 2 == 1")],
    reverse_sort: Some("reverse=True"),
    await_keyword: None,
    choice_results: [0, 2],
    if_while: Some(["if ", "while "]),
    elif_prefix: Some("el"),
    empty_statement: Some("pass"),
    indentation: Some("    "),
    if_affix: ("if ", ":"),
    if_end: "",
    is_typed: false,
    empties: &["0", "[]", "\"\""],
    end: "",
};

const SCRIPT: Spelling = Spelling {
    truths: ["true", "false"],
    nothing: "null",
    logic: ["&&", "||"],
    not: "!",
    equal: "===",
    comparisons: &["<", "<=", ">", ">=", "===", "!==", "==", "!=", "in", "instanceof"],
    arithmetic: &["+", "-", "*", "/", "%", "**", "&", "|", "^", "<<", ">>"],
    floor_division: None,
    augmented: &["+=", "-=", "*=", "/=", "%=", "|=", "&=", "??=", "||="],
    extremes: ["Math.max", "Math.min"],
    concatenation: Some(["", ".concat(", ")"]),
    wrappers: &["Math.abs", "Number", "String"],
    rare_wrappers: &[
        "Math.floor",
        "Math.ceil",
        "Math.round",
        "Math.max",
        "Math.min",
        "parseInt",
        "Boolean",
        "Array.from",
    ],
    confused: &[
        &["push", "unshift", "concat"],
        &["pop", "shift"],
        &["slice", "splice", "substring"],
        &["map", "filter", "forEach", "flatMap"],
        &["find", "filter", "findLast", "findIndex"],
        &["some", "every"],
        &["floor", "ceil", "round", "trunc"],
        &["min", "max"],
        &["trim", "trimStart", "trimEnd"],
        &["toUpperCase", "toLowerCase"],
        &["startsWith", "endsWith", "includes"],
        &["indexOf", "lastIndexOf"],
        &["padStart", "padEnd"],
        &["keys", "values", "entries"],
        &["has", "get"],
        &["add", "delete"],
        &["replace", "replaceAll"],
        &["parseInt", "parseFloat", "Number"],
        &["reduce", "reduceRight"],
        &["getDate", "getDay"],
        &["getMonth", "getDate", "getFullYear"],
        &["getUTCMonth", "getUTCDate", "getUTCFullYear", "getUTCDay"],
        &["getHours", "getMinutes", "getSeconds"],
        &["length", "size"],
        &["all", "race", "any", "allSettled"],
        &["stringify", "parse"],
        &["then", "catch", "finally"],
    ],
    slices: &[".slice(1)", ".slice(0, -1)", "[0]", ".at(-1)", ".length", ".slice()"],
    cuts: [(".slice(0, ", ")"), (".slice(", ")")],
    index_confusions: &[],
    has_close_indices: false,
    last: ".at(-1)",
    chained: &[".reverse()", ".sort()"],
    normalizers: &[".toLowerCase()", ".trim()"],
    distinct: Some(("[...new Set(", ")]")),
    finishers: &[("", ".sort()"), ("", ".sort((a, b) => a - b)"), ("", ".reverse()")],
    suffixes: &[
        ".trim()",
        ".toLowerCase()",
        ".toUpperCase()",
        ".toString()",
        ".reverse()",
        ".sort()",
        ".flat()",
    ],
    reassignments: &[],
    return_wrappers: &[],
    reverse_sort: None,
    await_keyword: Some("await "),
    choice_results: [1, 2],
    if_while: None,
    elif_prefix: None,
    empty_statement: None,
    indentation: None,
    if_affix: ("if (", ")"),
    if_end: "",
    is_typed: false,
    empties: &["0", "[]", "\"\""],
    end: ";",
};

/// What has braces and types in common.
const TYPED: Spelling = Spelling {
    truths: ["true", "false"],
    nothing: "null",
    logic: ["&&", "||"],
    not: "!",
    equal: "==",
    comparisons: &["<", "<=", ">", ">=", "==", "!="],
    arithmetic: &["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"],
    floor_division: None,
    augmented: &["+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>="],
    extremes: ["max", "min"],
    concatenation: None,
    wrappers: &[],
    rare_wrappers: &[],
    confused: &[],
    slices: &[],
    cuts: [("[:", "]"), ("[", ":]")],
    index_confusions: &[],
    has_close_indices: false,
    last: "",
    suffixes: &[],
    chained: &[],
    normalizers: &[],
    distinct: None,
    finishers: &[],
    reassignments: &[],
    return_wrappers: &[],
    reverse_sort: None,
    await_keyword: None,
    choice_results: [1, 2],
    if_while: None,
    elif_prefix: None,
    empty_statement: None,
    indentation: None,
    if_affix: ("if ", " {"),
    if_end: " }",
    is_typed: true,
    empties: &["0", "\"\""],
    end: ";",
};

const GO: Spelling = Spelling {
    nothing: "nil",
    has_close_indices: true,
    concatenation: Some(["append(", ", ", "...)"]),
    wrappers: &["len", "int", "string"],
    rare_wrappers: &["float64", "math.Abs", "strings.ToLower", "strings.TrimSpace"],
    finishers: &[
        ("sort.Ints(", ")"),
        ("sort.Strings(", ")"),
        ("slices.Sort(", ")"),
        ("slices.Reverse(", ")"),
    ],
    confused: &[
        &["ToUpper", "ToLower", "Title"],
        &["HasPrefix", "HasSuffix", "Contains"],
        &["TrimLeft", "TrimRight", "Trim"],
        &["TrimPrefix", "TrimSuffix"],
        &["Index", "LastIndex"],
        &["Split", "SplitN", "SplitAfter", "Fields"],
        &["Floor", "Ceil", "Round", "Trunc"],
        &["Max", "Min"],
        &["max", "min"],
        &["Ints", "Strings", "Float64s"],
        &["IsUpper", "IsLower", "IsLetter", "IsDigit", "IsSpace"],
        &["Atoi", "Itoa"],
        &["Sprint", "Sprintf", "Sprintln"],
        &["Replace", "ReplaceAll"],
        &["Lock", "RLock"],
        &["Unlock", "RUnlock"],
        &["Before", "After", "Equal"],
        &["Pow", "Sqrt"],
        &["MaxInt", "MinInt"],
        &["MaxInt32", "MinInt32"],
        &["MaxInt64", "MinInt64"],
    ],
    slices: &["[1:]", "[0]"],
    if_while: Some(["if ", "for "]),
    end: "",
    ..TYPED
};

const RUST: Spelling = Spelling {
    nothing: "None",
    extremes: ["std::cmp::max", "std::cmp::min"],
    confused: &[
        &["min", "max"],
        &["first", "last"],
        &["is_some", "is_none"],
        &["is_ok", "is_err"],
        &["is_positive", "is_negative"],
        &["any", "all"],
        &["skip", "take"],
        &["starts_with", "ends_with", "contains"],
        &["find", "rfind"],
        &["trim", "trim_start", "trim_end"],
        &["to_lowercase", "to_uppercase"],
        &["to_ascii_lowercase", "to_ascii_uppercase"],
        &["is_uppercase", "is_lowercase", "is_alphabetic", "is_alphanumeric", "is_numeric"],
        &["push", "insert", "extend"],
        &["push_front", "push_back"],
        &["pop_front", "pop_back"],
        &["push", "push_str"],
        &["floor", "ceil", "round", "trunc"],
        &["sum", "product"],
        &["saturating_add", "wrapping_add", "checked_add"],
        &["saturating_sub", "wrapping_sub", "checked_sub"],
        &["chars", "bytes"],
        &["keys", "values", "iter"],
        &["map", "filter", "filter_map", "flat_map"],
        &["take_while", "skip_while"],
        &["unwrap_or", "unwrap_or_default"],
        &["len", "capacity"],
        &["split", "splitn", "rsplit", "split_whitespace"],
        &["sort", "reverse"],
        &["MAX", "MIN"],
        &["Ok", "Err"],
        &["and_then", "or_else"],
        &["Greater", "Less", "Equal"],
        &["windows", "chunks"],
    ],
    slices: &["[1..]"],
    cuts: [("[..", "]"), ("[", "..]")],
    chained: &[".rev()", ".skip(1)"],
    normalizers: &[".to_lowercase()", ".trim()"],
    finishers: &[("", ".sort()"), ("", ".dedup()"), ("", ".reverse()")],
    suffixes: &[".abs()", ".rev()", ".clone()", ".trim()", ".to_lowercase()", ".to_string()"],
    if_while: Some(["if ", "while "]),
    empties: &["0", "\"\"", "Vec::new()", "vec![]", "String::new()", "0.0"],
    ..TYPED
};

const JAVA: Spelling = Spelling {
    extremes: ["Math.max", "Math.min"],
    wrappers: &["Math.abs"],
    rare_wrappers: &["Math.floor", "Math.ceil", "Math.round"],
    confused: &[
        &["min", "max"],
        &["floor", "ceil", "round"],
        &["toUpperCase", "toLowerCase"],
        &["isUpperCase", "isLowerCase", "isLetter", "isDigit", "isLetterOrDigit"],
        &["startsWith", "endsWith", "contains"],
        &["indexOf", "lastIndexOf"],
        &["equals", "equalsIgnoreCase"],
        &["add", "remove"],
        &["addFirst", "addLast", "add"],
        &["pollFirst", "pollLast", "poll", "peek"],
        &["removeFirst", "removeLast"],
        &["getFirst", "getLast"],
        &["push", "pop", "peek"],
        &["keySet", "values", "entrySet"],
        &["containsKey", "containsValue"],
        &["put", "putIfAbsent"],
        &["get", "getOrDefault"],
        &["anyMatch", "allMatch", "noneMatch"],
        &["replace", "replaceAll", "replaceFirst"],
        &["append", "insert"],
        &["sort", "reverse"],
        &["MAX_VALUE", "MIN_VALUE"],
        &["isBefore", "isAfter", "isEqual"],
        &["pow", "sqrt"],
    ],
    suffixes: &[".trim()", ".toLowerCase()", ".size()", ".length()"],
    chained: &[".sorted()", ".distinct()", ".reverse()"],
    normalizers: &[".toLowerCase()", ".trim()"],
    finishers: &[("Collections.sort(", ")"), ("Collections.reverse(", ")")],
    cuts: [(".substring(0, ", ")"), (".substring(", ")")],
    if_while: Some(["if ", "while "]),
    if_affix: ("if (", ") {"),
    empties: &["0", "\"\"", "new ArrayList<>()"],
    ..TYPED
};

/// Whether the package of a function, if the language names it before the function, is imported.
pub fn has_package(function: &str, source: &str) -> bool {
    let package = function.split_once('.').map(|(package, _)| package);
    let package = package.filter(|one| one.starts_with(|c: char| c.is_lowercase()));
    package.is_none_or(|one| source.contains(&format!("\"{one}\"")))
}

/// The syntax of a language.
pub fn spelling(language: Language) -> &'static Spelling {
    match language {
        Language::Python => &PYTHON,
        Language::JavaScript | Language::TypeScript | Language::Tsx => &SCRIPT,
        Language::Rust => &RUST,
        Language::Go => &GO,
        Language::Java => &JAVA,
    }
}
