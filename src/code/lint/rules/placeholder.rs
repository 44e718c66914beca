//! Lint rules about unfinished code: placeholder comments and bodies that do nothing.

use tree_sitter::Node;

use crate::code::lint::rule::{ALL, Detection, GO, JAVA, JS, LintRule, PY, RS, code_rule};
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::tree::{FUNCTIONS, around, line, statements};
use crate::domain::quality::Severity::Error;

/// The rules about unfinished code.
pub const RULES: &[LintRule] = &[
    code_rule(
        ("placeholder_code", "todo-code"),
        Error,
        ("a placeholder comment instead of an implementation", "write the implementation"),
        Detection::Function(ALL, phrases),
    ),
    code_rule(
        ("placeholder_code", "not-implemented"),
        Error,
        ("an unimplemented function", "write the implementation, or take the function out"),
        Detection::Query(
            &[
                (
                    PY,
                    "((raise_statement [(identifier) @n (call function: (identifier) @n)]) @here (#eq? @n \"NotImplementedError\"))",
                ),
                (
                    JS,
                    "((throw_statement (new_expression arguments: (arguments . (string) @s))) @here (#match? @s \"(?i)not (yet )?implemented|^.todo\"))",
                ),
                (
                    RS,
                    "((macro_invocation macro: (identifier) @m) @here (#match? @m \"^(todo|unimplemented)$\"))",
                ),
                (
                    GO,
                    "((call_expression function: (identifier) @f arguments: (argument_list . (interpreted_string_literal) @s)) @here (#eq? @f \"panic\") (#match? @s \"(?i)not (yet )?implemented|todo\"))",
                ),
                (
                    JAVA,
                    "((throw_statement (object_creation_expression type: (type_identifier) @t arguments: (argument_list) @a)) @here (#match? @t \"^(UnsupportedOperation|NotImplemented|Runtime|IllegalState)Exception$\") (#match? @a \"(?i)not (yet )?implemented|todo\"))",
                ),
            ],
            is_unfinished,
        ),
    ),
    code_rule(
        ("placeholder_code", "bare-pass"),
        Error,
        ("the whole body is `pass`", "write the body, or say in a docstring why there is none"),
        Detection::Query(
            &[(PY, "(function_definition body: (block (pass_statement) @here))")],
            is_whole_body,
        ),
    ),
    code_rule(
        ("placeholder_code", "ellipsis-statement"),
        Error,
        ("the whole body is `...`", "write the body"),
        Detection::Query(
            &[(PY, "(function_definition body: (block (expression_statement (ellipsis) @here)))")],
            is_whole_body,
        ),
    ),
];

static PHRASE: Pattern = Pattern::new(concat!(
    r"(?i)add your (?:own )?(?:code|implementation|logic) here|implementation pending|your code (?:goes )?here",
    r"|\b(?:TODO|FIXME)\b\W{0,4}(?:please )?(?:implement\b|add (?:the )?implementation|write (?:this|the (?:code|implementation)))",
    r"|^\W*\.\.\.\W*(?:existing|rest of|remaining)(?: the)? (?:code|implementation|function|file)",
    r"|placeholder implementation",
));

/// Notes of planned work, which are a placeholder only in an otherwise empty function.
static PLAN: Pattern = Pattern::new(r"(?i)\b(?:TODO|FIXME)\b|placeholder implementation");

/// Finds placeholder comments, and TODO notes in nearly empty functions.
fn phrases(source: &Source<'_>) -> Vec<Hit> {
    source
        .comments()
        .filter(|node| {
            let text = source.of(*node);
            // Documentation comments may mention such phrases; placeholders are ordinary comments.
            let inside = ["/**", "///", "//!"].iter().all(|doc| !text.starts_with(doc));
            inside
                && PHRASE.is_match(text)
                && (!PLAN.is_match(text) || (is_short(text) && is_bare(*node)))
        })
        .map(|node| Hit::at(line(node)))
        .collect()
}

/// A placeholder comment is short; a longer one usually explains existing code.
fn is_short(text: &str) -> bool {
    text.split_whitespace().count() <= 9
}

/// Whether the function around a comment holds at most one statement.
fn is_bare(comment: Node<'_>) -> bool {
    let Some(function) = around(comment, FUNCTIONS) else { return false };
    let Some(body) = function.child_by_field_name("body") else { return false };
    let list = statements(body);
    let inner = match list.as_slice() {
        [only] if only.kind() == "statement_list" => statements(*only).len(),
        list => list.len(),
    };
    inner <= 1
}

/// Whether raising a not-implemented error is unfinished code: in a function, or with "not yet".
fn is_unfinished<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    let text = source.of(node).to_ascii_lowercase();
    let later = ["yet", "todo", "to be implemented"].iter().any(|word| text.contains(word));
    let method = around(node, &["class_definition"]).is_some();
    let whole = around(node, &["function_definition"]).is_some_and(|function| {
        function.child_by_field_name("body").is_some_and(|body| {
            statements(body).iter().filter(|one| !source.of(**one).starts_with(['"', '\''])).count()
                == 1
        })
    });
    match node.kind() {
        "raise_statement" => {
            let decorated = around(node, &["decorated_definition"]).is_some();
            whole && !decorated && (later || !method)
        }
        // Another message usually explains why the line is unreachable.
        "macro_invocation" => later || text.len() < 24 || text.contains("implement this"),
        // In a class that is meant to be extended, such a method is abstract.
        "throw_statement" => {
            let class = around(node, &["class_declaration", "class", "abstract_class_declaration"]);
            let extended = class.is_some_and(|class| {
                let name = source.field(class, "name");
                class.kind().starts_with("abstract")
                    || name.starts_with("Abstract")
                    || name.starts_with("Base")
                    || source.text.contains(&format!("extends {name} "))
            });
            later || !extended
        }
        // A Go file with build constraints may stub what its platforms lack.
        _ => !source.text.contains("\n//go:build") && !source.text.starts_with("//go:build"),
    }
}

/// Whether a statement is the whole body of a top-level function without decorators, comments, or a
/// name such as `noop` that explains why it does nothing. Stub files (`.pyi`) are exempt.
fn is_whole_body<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    let Some(function) = around(node, &["function_definition"]) else { return false };
    let body = function.child_by_field_name("body");
    let alone = body.is_some_and(|body| statements(body).len() == 1);
    let top = function.parent().is_some_and(|parent| parent.kind() == "module");
    let is_explained = source.inside(function).any(|inner| inner.kind() == "comment");
    let name = source.field(function, "name");
    let quiet = ["noop", "no_op", "nop", "dummy", "null", "empty", "ignore", "_"]
        .iter()
        .any(|word| name.contains(word) && (*word != "_" || name.starts_with('_')));
    alone && top && !quiet && !is_explained && source.path.extension() != "pyi"
}
