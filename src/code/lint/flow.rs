//! Control flow: code after an exit, loops without one, branches that swallow errors.

use tree_sitter::Node;

use crate::code::language::Language;

use super::source::{FUNCTIONS, Hit, Source, line, statements};

const BLOCKS: &[&str] = &["block", "statement_block", "statement_list", "switch_case", "program"];

const EXITS: &[&str] = &[
    "return_statement",
    "raise_statement",
    "throw_statement",
    "break_statement",
    "continue_statement",
    "return_expression",
    "break_expression",
    "continue_expression",
];

/// The exit that a statement is.
fn is_exit(node: Node<'_>) -> bool {
    let inner =
        if node.kind() == "expression_statement" { node.named_child(0) } else { Some(node) };
    inner.is_some_and(|inner| EXITS.contains(&inner.kind()))
}

/// Statements behind an exit of the same block.
pub fn unreachable(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for block in source.of_kind(BLOCKS) {
        let list = statements(block);
        for pair in list.windows(2) {
            let [exit, next] = pair else { continue };
            // Functions and bare variables are lifted; labels and cases are jumped to.
            let reached = matches!(
                next.kind(),
                "function_declaration"
                    | "generator_function_declaration"
                    | "class_declaration"
                    | "variable_declaration"
                    | "labeled_statement"
                    | "function_item"
                    | "struct_item"
                    | "use_declaration"
                    | "enum_item"
                    | "const_item"
                    | "impl_item"
                    | "empty_statement"
                    | "type_alias_declaration"
                    | "interface_declaration"
                    | "function_definition"
            ) || source.of(*next) == "yield"
                || source.of(*next).starts_with("yield")
                || !source.marks(*exit).is_empty();
            if is_exit(*exit) && !reached {
                hits.push(Hit::at(line(*next)));
                break;
            }
        }
    }
    hits
}

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
pub fn endless(source: &Source<'_>) -> Vec<Hit> {
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
pub fn is_silent<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
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
