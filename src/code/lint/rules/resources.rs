//! What is opened and not closed, started and not stopped.

use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::code::language::Language;

use crate::code::lint::rule::{CODE_RULE, Detection, JS, JS_GO, LintRule, PY_JS_GO_JAVA};
use crate::code::lint::source::{Hit, Source};
use crate::code::tree::{FUNCTIONS, around, line};
use crate::domain::quality::Severity::{Error, Warning};

/// Rules about resources that leak.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "listener-not-removed",
        category: "resource_leaks",
        severity: Warning,
        issue: "a listener that nothing removes",
        detection: Detection::Function(JS, unremoved),
        suggestion: "remove it where its owner ends",
        ..CODE_RULE
    },
    LintRule {
        id: "unclosed-resource",
        category: "resource_leaks",
        severity: Error,
        issue: "opened and never closed",
        detection: Detection::Function(PY_JS_GO_JAVA, unclosed),
        suggestion: "close it on every way out: `with`, `defer`, try-with-resources, `finally`",
        ..CODE_RULE
    },
    LintRule {
        id: "subscription-not-cancelled",
        category: "resource_leaks",
        severity: Warning,
        issue: "started and never stopped",
        detection: Detection::Function(JS_GO, unstopped),
        suggestion: "keep the handle, and cancel it where its owner ends",
        ..CODE_RULE
    },
];

static OPENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:open|io\.open|os\.Open|os\.Create|os\.OpenFile|net\.Dial|fs\.openSync|socket\.socket|socket\.create_connection|sqlite3\.connect)$").ok()
});
static STREAMS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:FileInputStream|FileOutputStream|FileReader|FileWriter|RandomAccessFile|Socket|ServerSocket)$").ok()
});

/// Files and connections bound to a local name that is neither closed, handed on nor returned.
fn unclosed(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for node in source.of_kind(&["call", "call_expression", "object_creation_expression"]) {
        let (regex, callee) = if node.kind() == "object_creation_expression" {
            (&STREAMS, source.field(node, "type"))
        } else {
            (&OPENS, source.field(node, "function"))
        };
        if !regex.as_ref().is_some_and(|regex| regex.is_match(callee)) {
            continue;
        }
        let Some(owner) = around(node, FUNCTIONS) else { continue };
        let Some(parent) = node.parent() else { continue };
        // Read in one breath and never bound: nobody can close it.
        if source.language == Language::Python
            && parent.kind() == "attribute"
            && matches!(
                source.field(parent, "attribute"),
                "read" | "readlines" | "write" | "readline"
            )
        {
            hits.push(Hit::at(line(node)));
            continue;
        }
        let binding = match (source.language, parent.kind()) {
            (Language::Python, "assignment") => parent.child_by_field_name("left"),
            (Language::Go, "expression_list") => parent
                .parent()
                .filter(|declaration| declaration.kind() == "short_var_declaration")
                .and_then(|declaration| declaration.child_by_field_name("left"))
                .and_then(|left| left.named_child(0)),
            (_, "variable_declarator") => parent.child_by_field_name("name"),
            _ => None,
        };
        let Some(name) = binding.filter(|name| name.kind() == "identifier") else { continue };
        let text = source.of(name);
        let kept = source.inside(owner).any(|inner| {
            inner.kind().ends_with("identifier")
                && source.of(inner) == text
                && inner.id() != name.id()
                && is_taken_care_of(source, inner)
        });
        if !kept && text != "_" {
            hits.push(Hit::noted(line(node), text));
        }
    }
    hits
}

/// Whether a use of a name closes it or gives it to somebody else.
fn is_taken_care_of<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    let Some(parent) = node.parent() else { return false };
    match parent.kind() {
        "attribute" | "member_expression" | "selector_expression" => {
            let called = parent
                .child_by_field_name("attribute")
                .or_else(|| parent.child_by_field_name("property"))
                .or_else(|| parent.child_by_field_name("field"))
                .map(|one| source.of(one).to_ascii_lowercase())
                .unwrap_or_default();
            called.contains("close") || called == "detach" || called == "shutdown"
        }
        "method_invocation" => {
            let own = parent.child_by_field_name("object").is_some_and(|one| one.id() == node.id());
            !own || source.field(parent, "name").contains("close")
        }
        // Compared, or written to again: still nobody else's.
        "expression_list" => parent.parent().is_some_and(|up| {
            up.kind() == "return_statement"
                || up.child_by_field_name("right").is_some_and(|right| right.id() == parent.id())
        }),
        "comparison_operator" | "binary_expression" | "if_statement" => {
            parent.parent().is_some_and(|up| up.kind() == "return_statement")
        }
        _ => true,
    }
}

/// Subscriptions, intervals and tickers whose handle is thrown away or never stopped.
fn unstopped(source: &Source<'_>) -> Vec<Hit> {
    let has = |words: &[&str]| words.iter().any(|word| source.text.contains(word));
    let mut hits = Vec::new();
    for node in source.of_kind(&["call_expression"]) {
        let callee = source.field(node, "function");
        let last = callee.rsplit('.').next().unwrap_or_default();
        let parent = node.parent().map_or("", |parent| parent.kind());
        let found = if source.language == Language::Go {
            callee == "time.NewTicker" && !has(&[".Stop()", "Stop("])
        } else {
            let dropped = parent == "expression_statement";
            let inside = around(node, FUNCTIONS).is_some();
            (last == "setInterval" && dropped && inside && !has(&["clearInterval", ".unref("]))
                || (last == "subscribe"
                    && dropped
                    && around(node, &["class_body"]).is_some()
                    && !has(&[
                        "unsubscribe",
                        "takeUntil",
                        "take(1)",
                        "first()",
                        "async pipe",
                        "toPromise",
                        "DestroyRef",
                        "firstValueFrom",
                    ]))
        };
        if found {
            hits.push(Hit::at(line(node)));
        }
    }
    hits
}

/// Listeners on what outlives the listener, in a file that removes none.
fn unremoved(source: &Source<'_>) -> Vec<Hit> {
    if ["removeEventListener", "once: true", "once:true", "signal", "removeAllListeners", ".off("]
        .iter()
        .any(|word| source.text.contains(word))
    {
        return Vec::new();
    }
    source
        .of_kind(&["call_expression"])
        .filter(|node| {
            matches!(
                source.field(*node, "function"),
                "window.addEventListener"
                    | "document.addEventListener"
                    | "globalThis.addEventListener"
            ) && around(*node, FUNCTIONS).is_some()
        })
        .map(|node| Hit::at(line(node)))
        .collect()
}
