//! Rows of the eight categories of what generated code gets wrong. Source: product.md 6.3.

use tree_sitter::Node;

use crate::code::language::Language::{Python, Tsx, TypeScript};
use crate::code::lint::source::{Source, around};
use crate::code::lint::{Detection, Row, flow, imports, naming, placeholder, resource, security};
use crate::domain::quality::Severity::{Critical, Error, Warning};

use super::{
    ALL, GO, JAVA, JS, JS_GO, NOT_SCRIPT, PY, PY_JS_GO_JAVA, PY_JS_RS_GO, RS, TS, both, code,
    proper,
};

/// The rows.
pub const ROWS: &[Row] = &[
    // hallucinated_imports
    both(code(
        "unknown-package",
        "hallucinated_imports",
        Critical,
        "no manifest or lock file names this package",
        Detection::Named(PY_JS_RS_GO, imports::unknown_package),
        "declare the package after checking that it exists, or use one that is declared",
    )),
    both(code(
        "wrong-sub-path",
        "hallucinated_imports",
        Critical,
        "the package holds no such path",
        Detection::Named(PY_JS_GO_JAVA, imports::wrong_sub_path),
        "import a path that the package has",
    )),
    both(code(
        "misspelt-package",
        "hallucinated_imports",
        Critical,
        "nearly the name of a known package",
        Detection::Named(ALL, imports::misspelt_package),
        "correct the spelling",
    )),
    // placeholder_code
    code(
        "todo-code",
        "placeholder_code",
        Error,
        "a comment stands for an implementation",
        Detection::Named(ALL, placeholder::phrases),
        "write the implementation",
    ),
    code(
        "not-implemented",
        "placeholder_code",
        Error,
        "says that it is not implemented",
        Detection::Filtered(
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
            placeholder::is_unfinished,
        ),
        "write the implementation, or take the function out",
    ),
    code(
        "bare-pass",
        "placeholder_code",
        Error,
        "the whole body is `pass`",
        Detection::Filtered(
            &[(PY, "(function_definition body: (block (pass_statement) @here))")],
            placeholder::is_whole_body,
        ),
        "write the body, or say in a docstring why there is none",
    ),
    code(
        "ellipsis-statement",
        "placeholder_code",
        Error,
        "the whole body is `...`",
        Detection::Filtered(
            &[(PY, "(function_definition body: (block (expression_statement (ellipsis) @here)))")],
            placeholder::is_whole_body,
        ),
        "write the body",
    ),
    // mock_leakage
    code(
        "mock-in-production",
        "mock_leakage",
        Critical,
        "a mock in product code",
        Detection::Filtered(
            &[
                (
                    PY,
                    "((call function: (_) @f) @here (#match? @f \"^(mock\\\\.|unittest\\\\.mock\\\\.)?(MagicMock|AsyncMock|Mock|create_autospec)$\"))",
                ),
                (
                    JS,
                    "((call_expression function: (member_expression) @f) @here (#match? @f \"^(jest|vi)\\\\.(fn|mock|doMock)$|^sinon\\\\.mock$\"))",
                ),
                (
                    RS,
                    "((attribute_item (attribute (identifier) @a)) @here (#match? @a \"^(automock|double)$\"))",
                ),
                (
                    GO,
                    "((call_expression function: (selector_expression) @f) @here (#match? @f \"^(gomock\\\\.NewController|sqlmock\\\\.New)$\"))",
                ),
                (
                    JAVA,
                    "((method_invocation object: (identifier) @o name: (identifier) @n) @here (#eq? @o \"Mockito\") (#eq? @n \"mock\"))",
                ),
                (
                    JAVA,
                    "((marker_annotation name: (identifier) @n) @here (#match? @n \"^(Mock|MockBean|InjectMocks)$\"))",
                ),
            ],
            proper,
        ),
        "use the real thing, and mock it in tests",
    ),
    code(
        "stub-in-production",
        "mock_leakage",
        Critical,
        "a spy or stub in product code",
        Detection::Filtered(
            &[
                (
                    PY,
                    "((call function: (_) @f) @here (#match? @f \"^(mock\\\\.)?patch(\\\\.object|\\\\.dict)?$|^(mocker|monkeypatch)\\\\.\\\\w+$\") (#not-match? @f \"^patch$\"))",
                ),
                (
                    JS,
                    "((call_expression function: (member_expression) @f) @here (#match? @f \"^(jest|vi)\\\\.(spyOn|stubGlobal)$|^sinon\\\\.(stub|spy|fake)$\"))",
                ),
                (
                    RS,
                    "((call_expression function: (scoped_identifier) @f) @here (#match? @f \"^(mockito::Server::new|wiremock::MockServer::start|MockServer::start|httpmock::MockServer::start)$\"))",
                ),
                (
                    GO,
                    "((call_expression function: (selector_expression) @f) @here (#match? @f \"^(gock\\\\.New|httpmock\\\\.Activate|monkey\\\\.Patch)$\"))",
                ),
                (
                    JAVA,
                    "((method_invocation object: (identifier) @o name: (identifier) @n) @here (#eq? @o \"Mockito\") (#match? @n \"^(spy|when|verify|doReturn)$\"))",
                ),
            ],
            proper,
        ),
        "use the real thing, and stub it in tests",
    ),
    code(
        "test-import-in-production",
        "mock_leakage",
        Error,
        "product code imports a test tool",
        Detection::Filtered(
            &[
                (
                    PY,
                    "((import_statement name: (dotted_name) @m) @here (#match? @m \"^(pytest|unittest|nose|hypothesis|responses|pytest_mock)(\\\\.|$)\"))",
                ),
                (
                    PY,
                    "((import_from_statement module_name: (dotted_name) @m) @here (#match? @m \"^(pytest|unittest|nose|hypothesis|responses|pytest_mock)(\\\\.|$)\"))",
                ),
                (
                    JS,
                    "((import_statement source: (string) @m) @here (#match? @m \"^.(vitest|@jest/globals|chai|sinon|@testing-library/[a-z-]+|enzyme|supertest|nock|node:test).$\"))",
                ),
                (
                    RS,
                    "((use_declaration argument: (_) @m) @here (#match? @m \"^(mockall|proptest|rstest|quickcheck|wiremock|mockito|insta)(::|$)\"))",
                ),
                (
                    GO,
                    "((import_spec path: (_) @m) @here (#match? @m \"^.(testing|github.com/stretchr/testify/[a-z]+|github.com/golang/mock/gomock|net/http/httptest).$\"))",
                ),
                (
                    JAVA,
                    "((import_declaration (_) @m) @here (#match? @m \"^(org\\\\.junit|org\\\\.mockito|org\\\\.hamcrest|org\\\\.assertj|org\\\\.testng)\\\\.\"))",
                ),
            ],
            shipped,
        ),
        "move what needs it into a test file",
    ),
    // type_abuse
    code(
        "escape-type",
        "type_abuse",
        Warning,
        "more than five escape types in one file",
        Detection::Filtered(
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
        "name the types; five escapes are tolerated",
    ),
    code(
        "double-cast",
        "type_abuse",
        Error,
        "cast through a type that fits everything",
        Detection::Query(&[
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
        "convert the value, or check its type",
    ),
    code(
        "chained-assertion",
        "type_abuse",
        Error,
        "assertions about types on top of each other",
        Detection::Filtered(
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
        "check the value once, where it comes from",
    ),
    // naming_issues
    code(
        "mixed-naming",
        "naming_issues",
        Warning,
        "two naming conventions in one file",
        Detection::Named(ALL, naming::mixed),
        "follow the convention of the file",
    ),
    code(
        "misspelt-identifier",
        "naming_issues",
        Warning,
        "a misspelt name",
        Detection::Named(ALL, naming::misspelt),
        "correct the spelling everywhere",
    ),
    code(
        "misleading-predicate",
        "naming_issues",
        Error,
        "named like a question, answers no truth value",
        Detection::Named(NOT_SCRIPT, naming::misleading),
        "rename it, or answer with a truth value",
    ),
    // control_flow
    code(
        "empty-catch",
        "control_flow",
        Error,
        "an error is swallowed",
        Detection::Filtered(
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
            flow::is_silent,
        ),
        "handle the error, or say in a comment why it does not matter",
    ),
    code(
        "unreachable-code",
        "control_flow",
        Warning,
        "nothing leads here",
        Detection::Named(ALL, flow::unreachable),
        "take it out, or move the exit",
    ),
    code(
        "endless-loop",
        "control_flow",
        Warning,
        "a loop without an exit",
        Detection::Named(ALL, flow::endless),
        "give the loop a condition or a limit",
    ),
    // resource_leaks
    code(
        "listener-not-removed",
        "resource_leaks",
        Warning,
        "a listener that nothing removes",
        Detection::Named(JS, resource::unremoved),
        "remove it where its owner ends",
    ),
    code(
        "unclosed-resource",
        "resource_leaks",
        Error,
        "opened and never closed",
        Detection::Named(PY_JS_GO_JAVA, resource::unclosed),
        "close it on every way out: `with`, `defer`, try-with-resources, `finally`",
    ),
    code(
        "subscription-not-cancelled",
        "resource_leaks",
        Warning,
        "started and never stopped",
        Detection::Named(JS_GO, resource::unstopped),
        "keep the handle, and cancel it where its owner ends",
    ),
    // security_issues
    code(
        "hard-coded-secret",
        "security_issues",
        Critical,
        "a secret in the source",
        Detection::Named(ALL, security::hard_coded),
        "revoke it, and read it from the environment",
    ),
    code(
        "sensitive-log",
        "security_issues",
        Warning,
        "a secret goes to a log",
        Detection::Named(ALL, security::logged),
        "leave it out of the message",
    ),
    code(
        "dynamic-evaluation",
        "security_issues",
        Critical,
        "text is run as code",
        Detection::Filtered(
            &[
                (PY, "((call function: (identifier) @f) @here (#match? @f \"^(eval|exec)$\"))"),
                (JS, "((call_expression function: (identifier) @f) @here (#eq? @f \"eval\"))"),
                (
                    JS,
                    "((new_expression constructor: (identifier) @f arguments: (arguments (_))) @here (#eq? @f \"Function\"))",
                ),
                (
                    JAVA,
                    "((method_invocation object: (identifier) @o name: (identifier) @f) @here (#match? @o \"(?i)^(script)?engine$\") (#eq? @f \"eval\"))",
                ),
            ],
            security::is_dynamic,
        ),
        "parse the text, or choose among functions by name",
    ),
];

/// An import of product code that runs when the file is loaded: a file may test itself when it is
/// run as a program.
fn shipped<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    !source.is_support()
        && around(node, &["if_statement", "function_definition", "try_statement"]).is_none()
}

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
