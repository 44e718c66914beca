//! Types that are evaded: escape types, casts through everything, chains of assertions.

use tree_sitter::Node;

use crate::code::language::Language::{Python, Tsx, TypeScript};
use crate::code::lint::rule::{CODE_RULE, Detection, JAVA, LintRule, PY, TS};
use crate::code::lint::source::Source;
use crate::code::tree::around;
use crate::domain::quality::Severity::{Error, Warning};

/// Rules about types that are evaded.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "escape-type",
        category: "type_abuse",
        severity: Warning,
        issue: "more than five escape types in one file",
        detection: Detection::FilteredQuery(
            &[
                (TS, "((predefined_type) @here (#eq? @here \"any\"))"),
                (PY, "((type (identifier) @here) (#eq? @here \"Any\"))"),
                (
                    JAVA,
                    "((annotation name: (identifier) @n arguments: (annotation_argument_list) @a) @here (#eq? @n \"SuppressWarnings\") (#match? @a \"unchecked|rawtypes\"))",
                ),
            ],
            beyond_five,
        ),
        suggestion: "name the types; five escapes are tolerated",
        ..CODE_RULE
    },
    LintRule {
        id: "double-cast",
        category: "type_abuse",
        severity: Error,
        issue: "cast through a type that fits everything",
        detection: Detection::Query(&[
            (
                TS,
                "(as_expression (as_expression (_) [(predefined_type) (type_identifier)] @t) (#match? @t \"^(unknown|any)$\")) @here",
            ),
            (
                PY,
                "((call function: (identifier) @f arguments: (argument_list (call function: (identifier) @g arguments: (argument_list . (identifier) @t)))) @here (#eq? @f \"cast\") (#eq? @g \"cast\") (#eq? @t \"Any\"))",
            ),
            (
                JAVA,
                "((cast_expression value: [(cast_expression type: (type_identifier) @t) (parenthesized_expression (cast_expression type: (type_identifier) @t))]) @here (#eq? @t \"Object\"))",
            ),
        ]),
        suggestion: "convert the value, or check its type",
        ..CODE_RULE
    },
    LintRule {
        id: "chained-assertion",
        category: "type_abuse",
        severity: Error,
        issue: "assertions about types on top of each other",
        detection: Detection::FilteredQuery(
            &[
                (
                    TS,
                    "(non_null_expression (member_expression object: (non_null_expression (member_expression object: (non_null_expression))))) @here",
                ),
                (
                    TS,
                    "((as_expression (as_expression (_) (_) @t)) @here (#not-match? @t \"^(unknown|any)$\"))",
                ),
            ],
            outermost,
        ),
        suggestion: "check the value once, where it comes from",
        ..CODE_RULE
    },
];

/// The sixth place of its kind in a file: five are tolerated.
fn beyond_five<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    let text = source.of(node);
    !source.path.as_str().ends_with(".d.ts")
        && is_escape(source, node)
        && source
            .nodes
            .iter()
            .filter(|one| one.kind() == node.kind() && one.start_byte() < node.start_byte())
            .filter(|one| source.of(**one) == text && is_escape(source, **one))
            .count()
            == 5
}

/// Whether an escape type is the whole type of a value. `Any` inside another type, and the type of
/// "all other arguments", have no better name.
fn is_escape<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    let Some(parent) = node.parent() else { return false };
    let rest = |outer: Node<'a>| source.of(outer).starts_with(['*', '.']);
    match source.language {
        Python => {
            parent.kind() == "type"
                && parent.parent().is_some_and(|outer| {
                    outer.kind() != "type_parameter"
                        && !outer.kind().ends_with("_type")
                        && !rest(outer)
                })
        }
        TypeScript | Tsx => {
            !around(node, &["required_parameter", "optional_parameter"]).is_some_and(rest)
        }
        _ => true,
    }
}

/// A cast that is not the inner part of a longer chain.
fn outermost<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    node.parent().is_none_or(|parent| parent.kind() != node.kind())
        && !source.of(node).contains("as const")
}
