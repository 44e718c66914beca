//! Doubles and test tools that reached product code.

use tree_sitter::Node;

use crate::code::lint::rule::{CODE_RULE, Detection, GO, JAVA, JS, LintRule, PY, RS};
use crate::code::lint::source::Source;
use crate::code::tree::around;
use crate::domain::quality::Severity::{Critical, Error};

/// Rules about doubles and test tools in product code.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "mock-in-production",
        category: "mock_leakage",
        severity: Critical,
        issue: "a mock in product code",
        detection: Detection::FilteredQuery(
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
        suggestion: "use the real thing, and mock it in tests",
        ..CODE_RULE
    },
    LintRule {
        id: "stub-in-production",
        category: "mock_leakage",
        severity: Critical,
        issue: "a spy or stub in product code",
        detection: Detection::FilteredQuery(
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
        suggestion: "use the real thing, and stub it in tests",
        ..CODE_RULE
    },
    LintRule {
        id: "test-import-in-production",
        category: "mock_leakage",
        severity: Error,
        issue: "product code imports a test tool",
        detection: Detection::FilteredQuery(
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
        suggestion: "move what needs it into a test file",
        ..CODE_RULE
    },
];

/// Product code proper, not a helper for tests beside it.
fn proper<'a>(source: &Source<'a>, _: Node<'a>) -> bool {
    !source.is_support()
}

/// An import of product code that runs when the file is loaded: a file may test itself when it is
/// run as a program.
fn shipped<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    !source.is_support()
        && around(node, &["if_statement", "function_definition", "try_statement"]).is_none()
}
