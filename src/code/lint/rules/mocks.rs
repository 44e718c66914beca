//! Lint rules about mocks and test tools that are used in product code.

use tree_sitter::Node;

use crate::code::lint::rule::{Detection, GO, JAVA, JS, LintRule, PY, RS, code_rule};
use crate::code::lint::source::Source;
use crate::code::tree::around;
use crate::domain::quality::Severity::{Critical, Error};

/// The rules about mocks and test tools in product code.
pub const RULES: &[LintRule] = &[
    code_rule(
        ("mock_leakage", "mock-in-production"),
        Critical,
        ("a mock, spy or stub in product code", "use the real thing, and replace it in tests"),
        Detection::Query(
            &[
                (
                    PY,
                    "((call function: (_) @f) @here (#match? @f \"^(mock\\\\.|unittest\\\\.mock\\\\.)?(MagicMock|AsyncMock|Mock|create_autospec)$|^mock\\\\.patch(\\\\.object|\\\\.dict)?$|^patch\\\\.(object|dict)$|^(mocker|monkeypatch)\\\\.\\\\w+$\"))",
                ),
                (
                    JS,
                    "((call_expression function: (member_expression) @f) @here (#match? @f \"^(jest|vi)\\\\.(fn|mock|doMock|spyOn|stubGlobal)$|^sinon\\\\.(mock|stub|spy|fake)$\"))",
                ),
                (
                    RS,
                    "((attribute_item (attribute (identifier) @a)) @here (#match? @a \"^(automock|double)$\"))",
                ),
                (
                    RS,
                    "((call_expression function: (scoped_identifier) @f) @here (#match? @f \"^(mockito::Server::new|((wiremock|httpmock)::)?MockServer::start)$\"))",
                ),
                (
                    GO,
                    "((call_expression function: (selector_expression) @f) @here (#match? @f \"^(gomock\\\\.NewController|sqlmock\\\\.New|gock\\\\.New|httpmock\\\\.Activate|monkey\\\\.Patch)$\"))",
                ),
                (
                    JAVA,
                    "((method_invocation object: (identifier) @o name: (identifier) @n) @here (#eq? @o \"Mockito\") (#match? @n \"^(mock|spy|when|verify|doReturn)$\"))",
                ),
                (
                    JAVA,
                    "((marker_annotation name: (identifier) @n) @here (#match? @n \"^(Mock|MockBean|InjectMocks)$\"))",
                ),
            ],
            |source, _| !source.is_support(),
        ),
    ),
    code_rule(
        ("mock_leakage", "test-import-in-production"),
        Error,
        ("product code imports a test tool", "move what needs it into a test file"),
        Detection::Query(
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
    ),
];

/// Whether product code imports a test tool when it is loaded. An import inside a function or
/// condition is fine: a file may test itself when it is run as a program.
fn shipped<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    !source.is_support()
        && around(node, &["if_statement", "function_definition", "try_statement"]).is_none()
}
