//! Anti-patterns of tests: what a test asserts, shares, leaves behind and never tries.

mod assertion;
mod coverage;
mod emptiness;
mod isolation;
mod shape;

use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::code::language::Language;

use super::source::{FUNCTIONS, Source, around, statements};

pub use assertion::{copied, defined_only, mock_only, snapshots, tautology, truthy_only};
pub use coverage::{Tried, no_edge, no_negative, no_subject, not_awaited, tried};
pub use emptiness::{empty, setup_only, skipped, skipped_silently};
pub use isolation::{no_cleanup, shared_state};
pub use shape::{conditional, order, over_mocked};

/// One test of a file.
struct TestBody<'a> {
    node: Node<'a>,
    body: Option<Node<'a>>,
    name: &'a str,
    marks: String,
}

fn regex(cell: &'static LazyLock<Option<Regex>>) -> impl Fn(&str) -> bool {
    move |text| cell.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// The tests of a file.
fn trials<'a>(source: &Source<'a>) -> Vec<TestBody<'a>> {
    let mut trials = Vec::new();
    for node in source.nodes.iter().copied() {
        // Looking a field up is dear, and few nodes can be tests.
        let may = matches!(
            node.kind(),
            "function_definition"
                | "function_declaration"
                | "function_item"
                | "method_declaration"
                | "call_expression"
        );
        if !may {
            continue;
        }
        let name = source.field(node, "name");
        let marks = match (source.language, node.kind()) {
            // Inside another function it is data of a test; with a fixture's mark it serves tests.
            (Language::Python, "function_definition")
                if name.starts_with("test") && around(node, FUNCTIONS).is_none() =>
            {
                let marks = source.marks(node);
                if marks.contains("fixture") {
                    continue;
                }
                marks
            }
            (Language::Go, "function_declaration")
                if name.starts_with("Test")
                    && source.field(node, "parameters").contains("testing.T") =>
            {
                String::new()
            }
            (Language::Rust, "function_item") => {
                let marks = source.marks(node);
                if !marks.contains("test]") && !marks.contains("test(") && !marks.contains("rstest")
                {
                    continue;
                }
                marks
            }
            (Language::Java, "method_declaration") => {
                let mut cursor = node.walk();
                let marks = node
                    .children(&mut cursor)
                    .find(|one| one.kind() == "modifiers")
                    .map(|one| source.of(one))
                    .unwrap_or_default();
                if !marks.contains("@Test") && !marks.contains("@ParameterizedTest") {
                    continue;
                }
                marks.to_owned()
            }
            (_, "call_expression") if source.is_script() => {
                let callee = source.field(node, "function");
                if !matches!(
                    callee,
                    "it" | "test"
                        | "it.only"
                        | "test.only"
                        | "fit"
                        | "it.concurrent"
                        | "test.concurrent"
                ) {
                    continue;
                }
                let Some(arguments) = node.child_by_field_name("arguments") else { continue };
                let parts = statements(arguments);
                let body = parts.iter().rev().find(|one| FUNCTIONS.contains(&one.kind()));
                let title = parts.first().map(|one| source.of(*one)).unwrap_or_default();
                if let Some(body) = body {
                    trials.push(TestBody {
                        node,
                        body: body.child_by_field_name("body"),
                        name: title,
                        marks: String::new(),
                    });
                }
                continue;
            }
            _ => continue,
        };
        trials.push(TestBody { node, body: node.child_by_field_name("body"), name, marks });
    }
    trials
}

static ASSERTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^(?:\w+[.:]+)*_*(?:assert|expect|should|verify|check|must|ensure|validate|fail|raises|warns|require|compare|match|snapshot|approve|report|panic|unreachable|reject|throw|is_ok|run_test|t\.(?:error|fatal|is|ok|equal|deepequal|plan|run|true|false|not|pass))",
        r"|^t\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow|Run)$|^(?:assert|require|is|qt|c|g|t|should|chai|sinon)\.|\.(?:unwrap|expect|unwrap_err|expect_err|toBe|toEqual|to|andExpect|isEqualTo|expectStatus|should|rejects|resolves|assert\w*|verify\w*|check\w*|fail\w*)$",
    ))
    .ok()
});

/// Calls of a part of the tree, as callee and node.
fn calls<'a>(source: &Source<'a>, outer: Node<'a>) -> Vec<(String, Node<'a>)> {
    source
        .inside(outer)
        .filter_map(|node| {
            let callee = match node.kind() {
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

/// Whether a part of the tree asserts, by itself or through a function of this file.
fn asserts<'a>(source: &Source<'a>, outer: Node<'a>, depth: u32) -> bool {
    let is_assert = regex(&ASSERTS);
    let direct = source.inside(outer).any(|node| {
        matches!(
            node.kind(),
            "assert_statement" | "raise_statement" | "throw_statement" | "try_expression"
        )
    });
    if direct {
        return true;
    }
    // What a macro of Rust holds is not a tree; a call with types and no values is checked by the
    // compiler.
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
    if rust {
        return true;
    }
    let calls = calls(source, outer);
    if calls.iter().any(|(callee, _)| {
        is_assert(callee) || is_assert(callee.rsplit(['.', ':']).next().unwrap_or_default())
    }) {
        return true;
    }
    // Something of the test itself goes to a helper: it can fail there.
    let given = calls.iter().any(|(callee, node)| {
        source.language == Language::Go
            && !callee.starts_with("t.")
            && node.child_by_field_name("arguments").is_some_and(|list| {
                source.inside(list).any(|one| one.kind() == "identifier" && source.of(one) == "t")
            })
    });
    given
        || depth > 0
            && calls.iter().any(|(callee, _)| {
                let last =
                    callee.trim_end_matches('!').rsplit(['.', ':']).next().unwrap_or_default();
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

fn body_statements<'a>(source: &Source<'a>, trial: &TestBody<'a>) -> Vec<Node<'a>> {
    let Some(body) = trial.body else { return Vec::new() };
    let mut list = statements(body);
    if let [only] = list.as_slice()
        && only.kind() == "statement_list"
    {
        list = statements(*only);
    }
    list.retain(|node| {
        let text = source.of(*node);
        node.kind() != "pass_statement"
            && text != "..."
            && !(node.kind() == "expression_statement"
                && text.starts_with(['"', '\''])
                && node.named_child(0).is_some_and(|one| one.kind() == "string"))
    });
    list
}

/// The assertions of a test, as one line of text each.
fn assertions<'a>(source: &Source<'a>, trial: &TestBody<'a>) -> Vec<(Node<'a>, String)> {
    let is_assert = regex(&ASSERTS);
    let Some(body) = trial.body else { return Vec::new() };
    let mut found: Vec<(Node<'a>, String)> = Vec::new();
    for node in source.inside(body) {
        let callee = match node.kind() {
            "assert_statement" => "assert".to_owned(),
            "call" | "call_expression" => source.field(node, "function").to_owned(),
            "macro_invocation" => source.field(node, "macro").to_owned(),
            "method_invocation" => match source.field(node, "object") {
                "" => source.field(node, "name").to_owned(),
                object => format!("{object}.{}", source.field(node, "name")),
            },
            _ => continue,
        };
        let inner = found.last().is_some_and(|(last, _)| last.end_byte() >= node.end_byte());
        let last = callee.rsplit(['.', ':']).next().unwrap_or_default();
        if !inner && (is_assert(&callee) || is_assert(last)) {
            let text: String = source.of(node).split_whitespace().collect::<Vec<_>>().join(" ");
            found.push((node, text));
        }
    }
    found
}
