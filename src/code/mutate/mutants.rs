//! Mutants: few, small breaks of code that tests should notice, out of the same operators that
//! repair. In languages without operators of their own, tokens are exchanged.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::syntax;

use super::table::spelling;
use super::{Candidate, candidates_by};

/// Operators that break code in ways that people do, first those that tests most often miss.
const BREAKING: &[&str] = &[
    "comparison",
    "constant",
    "arithmetic",
    "logic",
    "negate",
    "drop negation",
    "truth",
    "off by one",
    "augmented assignment",
    "update",
    "method",
    "slice",
    "sign",
    "swap arguments",
    "swap branches",
    "flip returns",
    "exception",
    "drop operand",
    "string",
    "await",
    "unwrap call",
    "drop statement",
    "drop argument",
];

/// How many mutants are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Of one operator at one place.
    pub per_place: usize,
    /// Of one line.
    pub per_line: usize,
}

impl Depth {
    /// Enough to measure tests by.
    pub const SCORE: Self = Self { per_place: 1, per_line: 5 };
    /// More, to choose between tests: those that are kept should notice what was never measured.
    pub const CHOICE: Self = Self { per_place: 3, per_line: 14 };
}

/// Callees whose arguments are read by people only.
const TOLD: &[&str] = &["log", "logger", "logging", "print", "console", "warnings", "debug"];

/// All mutants on the lines that `wanted` accepts, top to bottom. Each parses, no two write the
/// same text, and what nobody could notice is left out: documentation, messages, version numbers.
#[must_use]
pub fn mutants(
    language: Language,
    source: &str,
    depth: Depth,
    wanted: &dyn Fn(u32) -> bool,
) -> Vec<Candidate> {
    let Some(tree) = language.parse(source) else { return Vec::new() };
    let root = tree.root_node();
    let mut found = if spelling(language).is_some() {
        candidates_by(language, source, wanted, &[], BREAKING)
    } else {
        tokens(root, source, wanted)
    };
    found.retain(|one| {
        let (start, end) = (one.range.start, one.range.end);
        let old = source.get(start..end).unwrap_or_default();
        let first = start + old.len() - old.trim_start().len();
        let home = root.descendant_for_byte_range(start, end);
        let leaf = root.descendant_for_byte_range(first, first);
        BREAKING.contains(&one.operator)
            && home.is_none_or(|node| is_at_home(node, one.operator))
            && leaf.is_none_or(|node| !is_unheard(node, one, source))
    });
    // The likeliest edits of each operator at each place stand for their kin.
    let mut best: BTreeMap<(usize, usize, &str), Vec<Candidate>> = BTreeMap::new();
    for one in found {
        best.entry((one.range.start, one.range.end, one.operator)).or_default().push(one);
    }
    let mut lines: BTreeMap<u32, Vec<Candidate>> = BTreeMap::new();
    for mut list in best.into_values() {
        list.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        for one in list.into_iter().take(depth.per_place) {
            lines.entry(one.line).or_default().push(one);
        }
    }
    let mut seen = BTreeSet::new();
    let mut chosen = Vec::new();
    let Some(mut again) = syntax::Again::of(language, source) else { return Vec::new() };
    for list in lines.values_mut() {
        list.sort_by_key(|one| turn(one.operator));
        let mut taken = 0;
        for (index, one) in spread(list) {
            if taken == depth.per_line {
                break;
            }
            let text = one.apply(source);
            let parses = again.parses(&one.range, &one.text, &text);
            if seen.insert(text) && parses {
                chosen.push((one.line, index, one));
                taken += 1;
            }
        }
    }
    chosen.sort_by_key(|(line, index, _)| (*line, *index));
    chosen.into_iter().map(|(_, _, one)| one).collect()
}

fn turn(operator: &str) -> usize {
    BREAKING.iter().position(|one| *one == operator).unwrap_or(BREAKING.len())
}

/// The candidates of a line, one of each operator before a second one of any.
fn spread(list: &[Candidate]) -> Vec<(usize, Candidate)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows: Vec<(usize, usize, &Candidate)> = Vec::new();
    for (index, one) in list.iter().enumerate() {
        let row = counts.entry(one.operator).or_default();
        rows.push((*row, index, one));
        *row += 1;
    }
    rows.sort_by_key(|(row, index, _)| (*row, *index));
    rows.into_iter().map(|(_, index, one)| (index, one.clone())).collect()
}

/// Whether an operator changes what stands there, rather than adding something to any value: such
/// additions break nearly everything, and noticing them says nothing about tests.
fn is_at_home(node: Node<'_>, operator: &str) -> bool {
    let kinds: &[&str] = match operator {
        "arithmetic" => &[
            "binary_operator",
            "binary_expression",
            "+",
            "-",
            "*",
            "/",
            "%",
            "//",
            "**",
            "&",
            "|",
            "^",
            "<<",
            ">>",
        ],
        "constant" | "off by one" => &[
            "integer",
            "float",
            "number",
            "none",
            "null",
            "undefined",
            "integer_literal",
            "decimal_integer_literal",
            "int_literal",
            "binary_operator",
            "binary_expression",
        ],
        "slice" => &["slice", "subscript", "subscript_expression", "integer", "number"],
        _ => return true,
    };
    kinds.contains(&node.kind())
}

/// Whether an edit at a node is one that no test could be blamed for missing.
fn is_unheard(node: Node<'_>, candidate: &Candidate, source: &str) -> bool {
    let text = |node: Node<'_>| source.get(node.byte_range()).unwrap_or_default();
    let mut current = Some(node);
    while let Some(node) = current {
        let documentation = node.kind() == "expression_statement"
            && node.named_child_count() == 1
            && node.named_child(0).is_some_and(|child| child.kind() == "string");
        let told = matches!(node.kind(), "call" | "call_expression" | "macro_invocation")
            && text(node).split(['.', '(', '!']).next().is_some_and(|head| TOLD.contains(&head));
        let message = candidate.operator != "exception"
            && matches!(node.kind(), "raise_statement" | "throw_statement");
        let head = text(node).lines().next().unwrap_or_default();
        let outside = node.kind() == "if_statement"
            && (head.contains("__name__") || head.contains("TYPE_CHECKING"))
            || node.kind() == "assignment" && head.starts_with("__");
        let testing = node.kind() == "mod_item"
            && node.prev_sibling().is_some_and(|before| text(before).contains("cfg(test)"));
        if documentation || told || message || outside || testing {
            return true;
        }
        current = node.parent();
    }
    false
}

/// Tokens and what stands in their place, as Rust, Go and Java write them.
const TOKENS: &[(&str, &str, &str)] = &[
    ("<", "<=", "comparison"),
    ("<=", "<", "comparison"),
    (">", ">=", "comparison"),
    (">=", ">", "comparison"),
    ("==", "!=", "comparison"),
    ("!=", "==", "comparison"),
    ("+", "-", "arithmetic"),
    ("-", "+", "arithmetic"),
    ("*", "/", "arithmetic"),
    ("/", "*", "arithmetic"),
    ("%", "*", "arithmetic"),
    ("&&", "||", "logic"),
    ("||", "&&", "logic"),
    ("+=", "-=", "augmented assignment"),
    ("-=", "+=", "augmented assignment"),
    ("*=", "/=", "augmented assignment"),
    ("++", "--", "update"),
    ("--", "++", "update"),
];

/// Mutants by token, in languages without operators of their own.
fn tokens(root: Node<'_>, source: &str, wanted: &dyn Fn(u32) -> bool) -> Vec<Candidate> {
    let mut found = Vec::new();
    collect(root, source, wanted, &mut found);
    found
}

fn collect(node: Node<'_>, source: &str, wanted: &dyn Fn(u32) -> bool, found: &mut Vec<Candidate>) {
    let line = u32::try_from(node.start_position().row + 1).unwrap_or(u32::MAX);
    let text = source.get(node.byte_range()).unwrap_or_default();
    let mut put = |node: Node<'_>, text: String, operator: &'static str| {
        if wanted(line) {
            found.push(Candidate { range: node.byte_range(), text, operator, line, weight: 1.0 });
        }
    };
    match node.kind() {
        "binary_expression"
        | "compound_assignment_expr"
        | "assignment_expression"
        | "assignment_statement"
        | "update_expression"
        | "inc_statement"
        | "dec_statement" => {
            let mut cursor = node.walk();
            for token in node.children(&mut cursor) {
                let row = TOKENS.iter().find(|(from, _, _)| *from == token.kind());
                if let Some((_, to, operator)) = row {
                    put(token, (*to).to_owned(), operator);
                }
            }
        }
        "boolean_literal" | "true" | "false" => {
            put(node, if text == "true" { "false" } else { "true" }.to_owned(), "truth");
        }
        "integer_literal" | "decimal_integer_literal" | "int_literal" => {
            if let Some(next) = text.parse::<i64>().ok().and_then(|number| number.checked_add(1)) {
                put(node, next.to_string(), "constant");
            }
        }
        "unary_expression" if text.starts_with('!') => {
            put(node, text.trim_start_matches('!').to_owned(), "drop negation");
        }
        "unary_expression" if text.starts_with('-') => {
            put(node, text.trim_start_matches('-').to_owned(), "sign");
        }
        "if_expression" | "if_statement" | "while_expression" | "while_statement" => {
            if let Some(condition) = node.child_by_field_name("condition")
                && !condition.kind().starts_with("let")
            {
                let inner = source.get(condition.byte_range()).unwrap_or_default();
                let bare = inner.trim_start_matches('(').trim_end_matches(')');
                let outer = condition.kind() == "parenthesized_expression";
                let text = if outer { format!("(!{inner})") } else { format!("!({bare})") };
                if outer || !inner.contains(['(', ')']) {
                    put(condition, text, "negate");
                }
            }
        }
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let skipped = matches!(
            child.kind(),
            "attribute_item"
                | "import_declaration"
                | "use_declaration"
                | "annotation"
                | "marker_annotation"
        );
        if !skipped {
            collect(child, source, wanted, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(language: Language, source: &str) -> Vec<String> {
        mutants(language, source, Depth::SCORE, &|_| true)
            .iter()
            .map(|one| {
                let text = one.apply(source);
                let line = usize::try_from(one.line).unwrap() - 1;
                format!("{}: {}", one.operator, text.lines().nth(line).unwrap_or_default().trim())
            })
            .collect()
    }

    #[test]
    fn mutants_of_python_are_small_and_few() {
        let source = "def f(a, b):\n    '''Says > 3.'''\n    if a < 3 and b:\n        raise ValueError('a is below 3')\n    log.info('x > %d', 3)\n    return a + b\n";
        let found = made(Language::Python, source);
        assert!(
            found.iter().all(|one| !one.contains("-a <") && !one.contains("raise")),
            "{found:#?}"
        );
        assert!(found.contains(&"comparison: if a <= 3 and b:".to_owned()), "{found:#?}");
        assert!(found.contains(&"logic: if a < 3 or b:".to_owned()), "{found:#?}");
        assert!(found.contains(&"arithmetic: return a - b".to_owned()), "{found:#?}");
        assert!(
            found.iter().all(|one| !one.contains("Says") && !one.contains("info")),
            "{found:#?}"
        );
        let of_line = found.iter().filter(|one| one.contains("if ")).count();
        assert!(of_line <= Depth::SCORE.per_line, "{found:#?}");
    }

    #[test]
    fn languages_without_operators_exchange_tokens() {
        let table = [
            (
                Language::Rust,
                "fn f(a: i32) -> bool { a < 3 && !true }\n#[cfg(test)]\nmod tests { fn g() -> bool { 1 < 2 } }\n",
            ),
            (Language::Go, "package a\n\nfunc f(a int) bool { return a < 3 && !true }\n"),
            (Language::Java, "class A { boolean f(int a) { return a < 3 && !true; } }\n"),
        ];
        for (language, source) in table {
            let found = made(language, source);
            for wanted in ["a <= 3 && !true", "a < 3 || !true", "a < 4 && !true", "a < 3 && true"] {
                assert!(found.iter().any(|one| one.contains(wanted)), "{wanted}: {found:#?}");
            }
            assert!(found.iter().all(|one| !one.contains("1 <= 2")), "{found:#?}");
        }
    }

    #[test]
    fn no_two_mutants_are_the_same_text_and_all_parse() {
        let source = "export function f(a, b) {\n  for (let i = 0; i < a.length; i++) {\n    if (a[i] > b || !b) return i * 2;\n  }\n  return -1;\n}\n";
        let mut seen = BTreeSet::new();
        for one in mutants(Language::JavaScript, source, Depth::CHOICE, &|_| true) {
            let text = one.apply(source);
            assert!(syntax::first_error(Language::JavaScript, &text).is_none(), "{text}");
            assert!(seen.insert(text));
        }
        assert!(seen.len() > 8, "{}", seen.len());
    }
}
