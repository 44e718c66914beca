//! What differs between languages: kinds of nodes, spellings, and names that are often confused.

use tree_sitter::Node;

use crate::code::language::Language;

/// What a node is, whatever the grammar calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number.
    Number,
    /// A string.
    Text,
    /// True or false.
    Truth,
    /// None, null, undefined.
    Nothing,
    /// A variable or function name.
    Name,
    /// The name behind a dot.
    Property,
    /// Arithmetic and bits.
    Arithmetic,
    /// Comparison.
    Compare,
    /// And, or.
    Logic,
    /// Negation.
    Not,
    /// A sign.
    Sign,
    /// A call.
    Call,
    /// What stands in the parentheses of a call.
    Arguments,
    /// An element or slice of something.
    Subscript,
    /// `a:b:c` inside a subscript.
    Slice,
    /// `a.b`.
    Member,
    /// A return statement.
    Return,
    /// An assignment.
    Assign,
    /// `+=` and its kin.
    Augment,
    /// `++` and `--`.
    Update,
    /// An if with its condition.
    If,
    /// A while with its condition.
    While,
    /// A loop over something.
    For,
    /// `a if c else b`, `c ? a : b`.
    Choice,
    /// Elements side by side.
    Sequence,
    /// Statements one below the other.
    Block,
    /// An awaited expression.
    Await,
    /// An expression of another kind.
    OtherExpression,
    /// Anything else.
    Other,
}

/// How a language writes things.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    /// Truth and falsehood.
    pub truths: [&'static str; 2],
    /// Nothing.
    pub nothing: &'static str,
    /// And, or.
    pub logic: [&'static str; 2],
    /// Negation, with a space where one is needed.
    pub not: &'static str,
    /// Comparison operators.
    pub comparisons: &'static [&'static str],
    /// Arithmetic operators.
    pub arithmetic: &'static [&'static str],
    /// Operators of augmented assignments.
    pub augmented: &'static [&'static str],
    /// Functions that a value is often forgotten to be wrapped in.
    pub wrappers: &'static [&'static str],
    /// Groups of method and function names that are often confused.
    pub confused: &'static [&'static [&'static str]],
    /// Suffixes that take a part of a sequence.
    pub slices: &'static [&'static str],
    /// Calls on a value that are often forgotten.
    pub suffixes: &'static [&'static str],
    /// Whether blocks are told by indentation.
    pub indented: bool,
    /// Ends a statement.
    pub end: &'static str,
}

const PYTHON: Spelling = Spelling {
    truths: ["True", "False"],
    nothing: "None",
    logic: ["and", "or"],
    not: "not ",
    comparisons: &["<", "<=", ">", ">=", "==", "!=", "in", "not in", "is", "is not"],
    arithmetic: &["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"],
    augmented: &["+=", "-=", "*=", "/=", "//=", "%=", "|=", "&=", "^=", "<<=", ">>="],
    wrappers: &[
        "abs", "len", "int", "str", "sorted", "set", "list", "sum", "max", "min", "round", "float",
        "reversed", "tuple", "bool",
    ],
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
    suffixes: &[".strip()", ".lower()", ".upper()", ".copy()", ".items()", ".values()", ".keys()"],
    indented: true,
    end: "",
};

const SCRIPT: Spelling = Spelling {
    truths: ["true", "false"],
    nothing: "null",
    logic: ["&&", "||"],
    not: "!",
    comparisons: &["<", "<=", ">", ">=", "===", "!==", "==", "!=", "in", "instanceof"],
    arithmetic: &["+", "-", "*", "/", "%", "**", "&", "|", "^", "<<", ">>"],
    augmented: &["+=", "-=", "*=", "/=", "%=", "|=", "&=", "??=", "||="],
    wrappers: &[
        "Math.abs",
        "Number",
        "String",
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
    suffixes: &[
        ".trim()",
        ".toLowerCase()",
        ".toUpperCase()",
        ".toString()",
        ".reverse()",
        ".flat()",
    ],
    indented: false,
    end: ";",
};

/// How a language writes things; `None` where candidates are not made yet.
#[must_use]
pub fn spelling(language: Language) -> Option<&'static Spelling> {
    match language {
        Language::Python => Some(&PYTHON),
        Language::JavaScript | Language::TypeScript | Language::Tsx => Some(&SCRIPT),
        Language::Rust | Language::Go | Language::Java => None,
    }
}

/// What a node is.
#[must_use]
pub fn kind(node: Node<'_>) -> Kind {
    match node.kind() {
        "integer" | "float" | "number" => Kind::Number,
        "string" | "template_string" | "concatenated_string" => Kind::Text,
        "true" | "false" => Kind::Truth,
        "none" | "null" | "undefined" => Kind::Nothing,
        "identifier" | "this" | "shorthand_property_identifier" => Kind::Name,
        "property_identifier" => Kind::Property,
        "binary_operator" => Kind::Arithmetic,
        "comparison_operator" => Kind::Compare,
        "boolean_operator" => Kind::Logic,
        "binary_expression" => match operator(node).map(|token| token.kind()) {
            Some("&&" | "||" | "??") => Kind::Logic,
            Some(token) if SCRIPT.comparisons.contains(&token) => Kind::Compare,
            _ => Kind::Arithmetic,
        },
        "not_operator" => Kind::Not,
        "unary_expression" if operator(node).is_some_and(|token| token.kind() == "!") => Kind::Not,
        "unary_operator" | "unary_expression" => Kind::Sign,
        "call" | "call_expression" | "new_expression" => Kind::Call,
        "argument_list" | "arguments" => Kind::Arguments,
        "subscript" | "subscript_expression" => Kind::Subscript,
        "slice" => Kind::Slice,
        "attribute" | "member_expression" => Kind::Member,
        "return_statement" => Kind::Return,
        "assignment" | "assignment_expression" | "variable_declarator" => Kind::Assign,
        "augmented_assignment" | "augmented_assignment_expression" => Kind::Augment,
        "update_expression" => Kind::Update,
        "if_statement" | "elif_clause" | "if_clause" => Kind::If,
        "while_statement" | "do_statement" => Kind::While,
        "for_statement" | "for_in_statement" | "for_in_clause" => Kind::For,
        "conditional_expression" | "ternary_expression" => Kind::Choice,
        "tuple" | "list" | "expression_list" | "pattern_list" | "array" | "array_pattern"
        | "set" | "tuple_pattern" => Kind::Sequence,
        "block" | "statement_block" | "module" | "program" => Kind::Block,
        "await" | "await_expression" => Kind::Await,
        "parenthesized_expression"
        | "dictionary"
        | "list_comprehension"
        | "generator_expression"
        | "set_comprehension"
        | "dictionary_comprehension"
        | "lambda"
        | "object"
        | "arrow_function" => Kind::OtherExpression,
        _ => Kind::Other,
    }
}

/// The operator token of a binary, unary or augmented node.
#[must_use]
pub fn operator(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("operator").or_else(|| {
        let mut cursor = node.walk();
        node.children_by_field_name("operators", &mut cursor).next()
    })
}

/// Whether a node can stand where a value is wanted.
#[must_use]
pub fn is_value(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Other
            | Kind::Block
            | Kind::Arguments
            | Kind::Slice
            | Kind::Return
            | Kind::Assign
            | Kind::Augment
            | Kind::If
            | Kind::While
            | Kind::For
            | Kind::Property
            | Kind::Update
    )
}
