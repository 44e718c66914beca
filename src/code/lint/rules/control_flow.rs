//! Control flow: loops without an exit, and branches that swallow errors.

use tree_sitter::Node;

use crate::code::language::Language;

use crate::code::lint::rule::{ALL, CODE_RULE, Detection, GO, JAVA, JS, LintRule, PY, RS};
use crate::code::lint::source::{Hit, Source};
use crate::code::tree::{FUNCTIONS, line, statements};
use crate::domain::quality::Severity::{Error, Warning};

/// Rules about the flow of control.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "empty-catch",
        category: "control_flow",
        severity: Error,
        issue: "an error is swallowed",
        detection: Detection::FilteredQuery(
            &[
                (PY, "((except_clause . (block)) @here)"),
                (
                    PY,
                    "((except_clause (identifier) @t (block)) @here (#match? @t \"^(Exception|BaseException)$\"))",
                ),
                (JS, "(catch_clause) @here"),
                (
                    RS,
                    "((if_expression condition: (let_condition pattern: (tuple_struct_pattern type: (identifier) @t)) !alternative) @here (#eq? @t \"Err\"))",
                ),
                (
                    GO,
                    "((if_statement condition: (binary_expression left: (identifier) @e right: (nil)) !alternative) @here (#match? @e \"^err\"))",
                ),
                (
                    JAVA,
                    "((catch_clause (catch_formal_parameter name: (identifier) @n)) @here (#not-match? @n \"^(ignore|ignored|expected|unused|_)\"))",
                ),
            ],
            is_silent,
        ),
        suggestion: "handle the error, or say in a comment why it does not matter",
        ..CODE_RULE
    },
    LintRule {
        id: "endless-loop",
        category: "control_flow",
        severity: Warning,
        issue: "a loop without an exit",
        detection: Detection::Function(ALL, endless),
        suggestion: "give the loop a condition or a limit",
        ..CODE_RULE
    },
];

/// Names of calls that wait or end; a loop around them is a server, not a mistake.
const WAITS: &[&str] = &[
    "sleep",
    "recv",
    "accept",
    "read",
    "wait",
    "select",
    "next",
    "exit",
    "get",
    "poll",
    "serve",
    "receive",
    "take",
    "park",
    "abort",
    "input",
    "_exit",
    "run",
    "pop",
    "listen",
    "step",
    "tick",
    "process",
    "handle",
    "yield_now",
    "spin",
    "fail",
    "panic",
    "unreachable",
];

/// Loops whose condition is always true and that nothing in them leaves.
fn endless(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for node in source.of_kind(&[
        "while_statement",
        "for_statement",
        "loop_expression",
        "while_expression",
        "do_statement",
    ]) {
        let condition = source.field(node, "condition").trim_matches(['(', ')', ' ', ';']);
        let head = source.of(node).lines().next().unwrap_or_default().replace(' ', "");
        let always = match node.kind() {
            "loop_expression" => true,
            "for_statement" if source.language == Language::Go => {
                head.starts_with("for{") || head.starts_with("for;;")
            }
            "for_statement" => head.starts_with("for(;;)"),
            _ => matches!(condition, "true" | "True" | "1"),
        };
        if !always {
            continue;
        }
        let leaves = source.inside(node).any(|inner| {
            let foreign = FUNCTIONS.contains(&inner.kind());
            let exit = matches!(
                inner.kind(),
                "return_statement"
                    | "raise_statement"
                    | "throw_statement"
                    | "return_expression"
                    | "yield"
                    | "yield_expression"
                    | "await"
                    | "await_expression"
                    | "try_expression"
                    | "select_statement"
                    | "break_statement"
                    | "break_expression"
                    | "goto_statement"
                    | "receive_statement"
                    | "yield_statement"
                    | "macro_invocation"
                    | "send_statement"
                    | "with_statement"
            ) || (inner.kind() == "unary_expression"
                && source.of(inner).starts_with("<-"));
            let called = matches!(inner.kind(), "call" | "call_expression" | "method_invocation")
                && {
                    let callee = inner
                        .child_by_field_name("function")
                        .or_else(|| inner.child_by_field_name("name"))
                        .map(|callee| source.of(callee))
                        .unwrap_or_default();
                    let last =
                        callee.rsplit(['.', ':']).next().unwrap_or_default().to_ascii_lowercase();
                    WAITS.iter().any(|word| last.starts_with(word))
                        || ["park", "exit", "sleep", "wait", "throw"]
                            .iter()
                            .any(|word| last.contains(word))
                };
            !foreign && (exit || called)
        });
        if !leaves {
            hits.push(Hit::at(line(node)));
        }
    }
    hits
}

/// Names of calls that tidy up; when they fail there is nothing left to do.
const TIDY: &[&str] = &[
    "close",
    "detach",
    "flush",
    "unlink",
    "remove",
    "rmtree",
    "rmdir",
    "kill",
    "terminate",
    "cancel",
    "disconnect",
    "release",
    "shutdown",
    "cleanup",
    "stop",
    "destroy",
    "dispose",
    "unref",
    "delete",
];

/// Whether what a handler passes over is answered all the same: only tidying up was tried, or the
/// code behind returns what stands for the failure.
fn is_answered<'a>(source: &Source<'a>, handler: Node<'a>) -> bool {
    let Some(whole) = handler.parent().filter(|up| up.kind() == "try_statement") else {
        return false;
    };
    let Some(body) = whole.child_by_field_name("body") else { return false };
    let tried = statements(body);
    let tidies = matches!(tried.as_slice(), [only] if {
        let text = source.of(*only);
        let call = text.split('(').next().unwrap_or_default();
        let last = call.rsplit(['.', ' ']).next().unwrap_or_default().to_ascii_lowercase();
        only.kind() == "delete_statement" || TIDY.iter().any(|word| last.starts_with(word))
    });
    let returns = |node: Option<Node<'a>>| node.is_some_and(|one| one.kind() == "return_statement");
    tidies || returns(tried.last().copied()) && returns(whole.next_named_sibling())
}

/// Whether a block does nothing and says nothing.
fn is_silent<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    let block = node
        .child_by_field_name("body")
        .or_else(|| node.child_by_field_name("consequence"))
        .or_else(|| node.child(node.child_count().saturating_sub(1)));
    let Some(block) = block else { return false };
    let empty = statements(block).iter().all(|inner| {
        inner.kind() == "pass_statement"
            || source.of(*inner) == "..."
            || (inner.kind() == "statement_list" && statements(*inner).is_empty())
    });
    // The reason may stand behind the handler too.
    let spoken = source.has_comment(node)
        || source.text.get(node.end_byte()..).and_then(|rest| rest.lines().next()).is_some_and(
            |rest| {
                rest.contains('#')
                    && !rest.contains("expect:")
                    && source.language == Language::Python
            },
        );
    let said = source
        .inside(node)
        .filter(|inner| inner.kind().ends_with("comment"))
        .any(|inner| !source.of(inner).contains("expect:"));
    empty && !is_answered(source, node) && (!spoken || !said && source.has_comment(node))
}
