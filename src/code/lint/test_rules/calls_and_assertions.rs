//! Collects the calls and assertions in the body of a test.

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::lint::source::Source;
use crate::code::pattern::Pattern;
use crate::code::test_cases::TestNode;
use crate::code::tree::FUNCTIONS;

static ASSERTS: Pattern = Pattern::new(concat!(
    r"(?i)^(?:\w+[.:]+)*_*(?:assert|expect|should|verify|check|must|ensure|validate|fail|raises|warns|require|compare|match|snapshot|approve|report|panic|unreachable|reject|throw|is_ok|run_test|t\.(?:error|fatal|is|ok|equal|deepequal|plan|run|true|false|not|pass))",
    r"|^t\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow|Run)$|^(?:assert|require|is|qt|c|g|t|should|chai|sinon)\.|\.(?:unwrap|expect|unwrap_err|expect_err|toBe|toEqual|to|andExpect|isEqualTo|expectStatus|should|rejects|resolves|assert\w*|verify\w*|check\w*|fail\w*)$",
));

/// Calls that call back whatever the code does.
static TIMERS: Pattern =
    Pattern::new(r"^(?:set(?:Timeout|Interval|Immediate)|queueMicrotask|process\.nextTick)$");

/// The calls inside a node, with their callees. An `assert` statement counts as a call.
pub fn calls<'a>(source: &Source<'a>, outer: Node<'a>) -> Vec<(String, Node<'a>)> {
    source
        .inside(outer)
        .filter_map(|node| {
            let callee = match node.kind() {
                "assert_statement" => "assert".to_owned(),
                "call" | "call_expression" => source.field(node, "function").to_owned(),
                "macro_invocation" => format!("{}!", source.field(node, "macro")),
                "method_invocation" => match source.field(node, "object") {
                    "" => source.field(node, "name").to_owned(),
                    object => format!("{object}.{}", source.field(node, "name")),
                },
                _ => return None,
            };
            Some((callee, node))
        })
        .collect()
}

/// Whether a node contains an assertion, directly or in a function of this file that it calls.
pub fn asserts<'a>(source: &Source<'a>, outer: Node<'a>, depth: u32) -> bool {
    let direct = source.inside(outer).any(|node| {
        matches!(node.kind(), "raise_statement" | "throw_statement" | "try_expression")
    });
    // The grammar does not parse macro arguments, so their text is searched. A call with type
    // arguments but no values is an assertion that the compiler checks.
    let rust = source.language == Language::Rust
        && source.inside(outer).any(|node| match node.kind() {
            "token_tree" => ["assert", "panic!", "unreachable!", ".unwrap()", ".expect("]
                .iter()
                .any(|word| source.of(node).contains(word)),
            "call_expression" => {
                source.field(node, "function").ends_with('>')
                    && source.field(node, "arguments") == "()"
            }
            _ => false,
        });
    let calls = calls(source, outer);
    // A function of the file is judged by what it does, whatever its name says.
    let is_local = |callee: &str| {
        depth > 0 && source.of_kind(FUNCTIONS).any(|one| source.field(one, "name") == callee)
    };
    let mut named = calls.iter().filter(|(callee, _)| is_assertion(callee));
    if direct || rust || named.any(|(callee, _)| !is_local(callee)) {
        return true;
    }
    // What receives `t` in Go, or `done` in JavaScript, can fail the test; a timer only ends it.
    let handle = if source.language == Language::Go { "t" } else { "done" };
    let given = calls.iter().any(|(callee, node)| {
        (source.language == Language::Go || source.is_script())
            && !callee.starts_with("t.")
            && !TIMERS.is_match(callee)
            && node.child_by_field_name("arguments").is_some_and(|list| {
                let is_part = |up: Node<'a>| up == list || up.kind() == "literal_element";
                let handles = source.inside(list).filter(|one| source.of(*one) == handle);
                handles.filter_map(|one| one.parent()).any(is_part)
            })
    });
    given
        || depth > 0
            && calls.iter().any(|(callee, _)| {
                let last = last_part(callee);
                source
                    .of_kind(FUNCTIONS)
                    .chain(source.of_kind(&["variable_declarator", "macro_definition"]))
                    .any(|function| {
                        source.field(function, "name") == last
                            && (function.kind() == "macro_definition"
                                || !outer.byte_range().contains(&function.start_byte())
                                    && asserts(source, function, depth - 1))
                    })
            })
}

/// The assertions of a test with their text; calls nested inside an assertion are not listed.
pub fn assertions<'a>(source: &Source<'a>, test: &TestNode<'a>) -> Vec<(Node<'a>, String)> {
    let Some(body) = test.body else { return Vec::new() };
    let mut found: Vec<(Node<'a>, String)> = Vec::new();
    for (callee, node) in calls(source, body) {
        let inner = found.last().is_some_and(|(last, _)| last.end_byte() >= node.end_byte());
        if !inner && is_assertion(&callee) {
            let text: String = source.of(node).split_whitespace().collect::<Vec<_>>().join(" ");
            found.push((node, text));
        }
    }
    found
}

/// The last segment of a callee: `b` for `a.b` and `a::b!`.
fn last_part(callee: &str) -> &str {
    callee.trim_end_matches('!').rsplit(['.', ':']).next().unwrap_or_default()
}

fn is_assertion(callee: &str) -> bool {
    let callee = callee.trim_end_matches('!');
    let is_of_table = callee.starts_with("expected.") && !ASSERTS.is_match(last_part(callee));
    let is_shown = matches!(callee, "t.Log" | "t.Logf" | "t.Helper" | "t.Parallel");
    !is_of_table && !is_shown && (ASSERTS.is_match(callee) || ASSERTS.is_match(last_part(callee)))
}
