//! The lint rule about tests with too many mocks.

use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::tree::line;

use super::calls_and_assertions::{assertions, calls};
use crate::code::lint::rule::{ALL, Detection, LintRule, test_rule};
use crate::domain::quality::Severity::Warning;

/// The rule about tests with too many mocks.
pub const RULES: &[LintRule] = &[test_rule(
    ("ai_generated_issues", "over-mocked"),
    Warning,
    (
        "four doubles or more, and fewer assertions",
        "let the code work with real values, and replace only what leaves the process",
    ),
    Detection::Function(ALL, over_mocked),
)];

/// Number of mocks in one test from which on little real code is left to test.
const DOUBLES: usize = 4;

static DOUBLE: Pattern = Pattern::new(concat!(
    r"^(?:(?:mock|mocker|unittest\.mock)\.)?(?:Mock|MagicMock|AsyncMock|create_autospec|patch|patch\.object|patch\.dict)$",
    r"|^mocker\.(?:patch|patch\.object|spy|stub)$|^monkeypatch\.setattr$",
    r"|^(?:jest|vi|sinon|mock|t\.mock)\.(?:fn|mock|spyOn|stub|spy|method)$",
    r"|^(?:Mockito\.)?(?:mock|spy|when|doReturn|doNothing)$|^Mock\w+::(?:new|default)$",
    r"|^(?:\w+\.)?NewMock\w+$|^gomock\.NewController$|^new\(\w*Mock\w*\)$",
));
static DECORATED: Pattern =
    Pattern::new(r"@(?:mock\.|unittest\.mock\.)?patch(?:\.object|\.dict)?\(");

/// Finds tests with at least four mocks and fewer assertions than mocks.
fn over_mocked(source: &Source<'_>) -> Vec<Hit> {
    source
        .tests
        .iter()
        .filter_map(|test| {
            let body = test.body?;
            let mut doubles =
                calls(source, body).iter().filter(|(callee, _)| DOUBLE.is_match(callee)).count();
            // Go's `&Mocked{}` literals and Python's decorators are not calls in the body.
            doubles += source
                .inside(body)
                .filter(|node| {
                    node.kind() == "composite_literal"
                        && source.field(*node, "type").contains("Mock")
                })
                .count();
            doubles += DECORATED.regex().map_or(0, |mark| mark.find_iter(&test.marks).count());
            let checked = assertions(source, test).len();
            (doubles >= DOUBLES && doubles > checked)
                .then(|| Hit::noted(line(test.node), format!("{doubles} doubles")))
        })
        .collect()
}
