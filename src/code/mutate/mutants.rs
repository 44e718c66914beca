//! Generates mutants, which are small defects that tests should detect, with the operators of the
//! repair search.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::syntax;
use crate::code::tree::text_of;

use super::edit_site::Candidate;
use super::node_kind::NodeKind;
use super::operator_id::OperatorId;
use super::search::candidates_by;
use super::spelling::spelling;

/// Operators that imitate human mistakes, first those that tests most often miss.
const BREAKING: &[OperatorId] = &[
    OperatorId::Comparison,
    OperatorId::Constant,
    OperatorId::Arithmetic,
    OperatorId::Logic,
    OperatorId::Negate,
    OperatorId::DropNegation,
    OperatorId::Truth,
    OperatorId::OffByOne,
    OperatorId::AugmentedAssignment,
    OperatorId::Update,
    OperatorId::Method,
    OperatorId::Slice,
    OperatorId::Sign,
    OperatorId::SwapArguments,
    OperatorId::SwapBranches,
    OperatorId::FlipReturns,
    OperatorId::Exception,
    OperatorId::DropOperand,
    OperatorId::Text,
    OperatorId::Await,
    OperatorId::UnwrapCall,
    OperatorId::DropStatement,
    OperatorId::DropArgument,
];

/// Operators of which a compiler refuses most: it counts arguments, and a result is of another type than what it
/// is made from.
const REFUSED_BY_TYPES: &[OperatorId] = &[OperatorId::DropArgument, OperatorId::UnwrapCall];

/// Limits on how many mutants are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Maximum number of mutants per operator and node.
    pub per_place: usize,
    /// The most mutants of one line.
    pub per_line: usize,
}

impl Depth {
    /// Enough to measure a mutation score.
    pub const SCORE: Self = Self { per_place: 1, per_line: 5 };
    /// More, for selecting tests, which should detect mutants not used for the selection as well.
    pub const CHOICE: Self = Self { per_place: 3, per_line: 14 };
}

/// Callees whose arguments are only logged or printed.
const LOGGERS: &[&str] =
    &["log", "logger", "logging", "print", "println", "eprintln", "console", "warnings", "debug"];

/// All mutants on the lines that `accepts_line` accepts, top to bottom. Each parses, no two have
/// the same text, and edits that no test could detect are left out: documentation, messages,
/// version numbers.
pub fn mutants(
    language: Language,
    source: &str,
    depth: Depth,
    accepts_line: &dyn Fn(u32) -> bool,
) -> Vec<Candidate> {
    let Some(tree) = language.parse(source) else { return Vec::new() };
    let root = tree.root_node();
    let mut candidates = candidates_by(language, source, accepts_line, &[], BREAKING);
    let is_typed = spelling(language).is_typed;
    candidates.retain(|one| {
        is_noticeable(root, one, source) && !(is_typed && REFUSED_BY_TYPES.contains(&one.operator))
    });
    choose(language, source, &by_line(candidates, depth.per_place), depth.per_line)
}

/// Whether a test could detect an edit, and detecting it would say something about the tests.
fn is_noticeable(root: Node<'_>, one: &Candidate, source: &str) -> bool {
    let (start, end) = (one.range.start, one.range.end);
    let old = source.get(start..end).unwrap_or_default();
    let first = start + old.len() - old.trim_start().len();
    let home = root.descendant_for_byte_range(start, end);
    let leaf = root.descendant_for_byte_range(first, first);
    BREAKING.contains(&one.operator)
        && home.is_none_or(|node| changes_existing(node, one.operator))
        && leaf.is_none_or(|node| !is_unobservable(node, one, source))
}

/// The likeliest edits of each operator at each node, grouped by line and ordered by operator.
fn by_line(candidates: Vec<Candidate>, per_place: usize) -> BTreeMap<u32, Vec<Candidate>> {
    let mut places: BTreeMap<(usize, usize, OperatorId), Vec<Candidate>> = BTreeMap::new();
    for one in candidates {
        places.entry((one.range.start, one.range.end, one.operator)).or_default().push(one);
    }
    let mut lines: BTreeMap<u32, Vec<Candidate>> = BTreeMap::new();
    for mut list in places.into_values() {
        list.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        for one in list.into_iter().take(per_place) {
            lines.entry(one.line).or_default().push(one);
        }
    }
    for list in lines.values_mut() {
        list.sort_by_key(|one| BREAKING.iter().position(|known| *known == one.operator));
    }
    lines
}

/// Selects the first mutants of each line that parse and differ from all others.
fn choose(
    language: Language,
    source: &str,
    lines: &BTreeMap<u32, Vec<Candidate>>,
    per_line: usize,
) -> Vec<Candidate> {
    let Some(mut reparser) = syntax::Reparser::of(language, source) else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let mut chosen = Vec::new();
    for list in lines.values() {
        let mut of_line: Vec<(usize, Candidate)> = Vec::new();
        for (index, one) in interleave(list) {
            if of_line.len() == per_line {
                break;
            }
            let text = one.apply(source);
            let parses = reparser.parses(&one.range, &one.text, &text);
            if seen.insert(text) && parses {
                of_line.push((index, one));
            }
        }
        of_line.sort_by_key(|(index, _)| *index);
        chosen.extend(of_line.into_iter().map(|(_, one)| one));
    }
    chosen
}

/// The candidates of a line, taking one of each operator in turn.
fn interleave(list: &[Candidate]) -> Vec<(usize, Candidate)> {
    let mut counts: BTreeMap<OperatorId, usize> = BTreeMap::new();
    let mut rows: Vec<(usize, usize, &Candidate)> = Vec::new();
    for (index, one) in list.iter().enumerate() {
        let row = counts.entry(one.operator).or_default();
        rows.push((*row, index, one));
        *row += 1;
    }
    rows.sort_by_key(|(row, index, _)| (*row, *index));
    rows.into_iter().map(|(_, index, one)| (index, one.clone())).collect()
}

/// Whether an edit changes existing code; adding to a value breaks nearly everything.
fn changes_existing(node: Node<'_>, operator: OperatorId) -> bool {
    let kind = node.kind();
    let is_binary = matches!(kind, "binary_operator" | "binary_expression");
    match operator {
        // Operator tokens are unnamed nodes.
        OperatorId::Arithmetic => is_binary || !node.is_named(),
        OperatorId::Constant | OperatorId::OffByOne => {
            is_binary || matches!(NodeKind::of(node), NodeKind::Number | NodeKind::Nothing)
        }
        OperatorId::Slice => {
            matches!(NodeKind::of(node), NodeKind::Slice | NodeKind::Subscript | NodeKind::Number)
        }
        _ => true,
    }
}

/// Whether an edit at a node cannot be detected by any reasonable test.
fn is_unobservable(node: Node<'_>, candidate: &Candidate, source: &str) -> bool {
    let text = |node: Node<'_>| text_of(node, source);
    std::iter::successors(Some(node), Node::parent).any(|node| {
        let documentation = node.kind() == "expression_statement"
            && node.named_child_count() == 1
            && node.named_child(0).is_some_and(|child| child.kind() == "string");
        let logging = matches!(node.kind(), "call" | "call_expression" | "macro_invocation")
            && text(node).split(['.', '(', '!']).next().is_some_and(|head| LOGGERS.contains(&head));
        let message = candidate.operator != OperatorId::Exception
            && matches!(node.kind(), "raise_statement" | "throw_statement");
        let head = text(node).lines().next().unwrap_or_default();
        let outside = node.kind() == "if_statement"
            && (head.contains("__name__") || head.contains("TYPE_CHECKING"))
            || node.kind() == "assignment" && head.starts_with("__");
        documentation || logging || message || outside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(language: Language, source: &str) -> Vec<String> {
        mutants(language, source, Depth::SCORE, &|_| true)
            .iter()
            .map(|one| {
                let text = one.apply(source);
                let line = usize::try_from(one.line).unwrap() - 1;
                format!(
                    "{}: {}",
                    one.operator.name(),
                    text.lines().nth(line).unwrap_or_default().trim()
                )
            })
            .collect()
    }

    #[test]
    fn mutants_of_python_are_small_and_few() {
        let source = "def f(a, b):\n    '''Says > 3.'''\n    if a < 3 and b:\n        raise ValueError('a is below 3')\n    log.info('x > %d', 3)\n    return a + b\n";
        let found = generate(Language::Python, source);
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
            let found = generate(language, source);
            for expected in ["a <= 3 && !true", "a < 3 || !true", "a < 4 && !true", "a < 3 && true"]
            {
                assert!(found.iter().any(|one| one.contains(expected)), "{expected}: {found:#?}");
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
