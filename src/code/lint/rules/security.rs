//! Secrets in text, secrets in logs, text that is run.

use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::code::lint::rule::{ALL, CODE_RULE, Detection, JAVA, JS, LintRule, PY};
use crate::code::lint::source::{Hit, Source};
use crate::code::tree::line;
use crate::domain::quality::Severity::{Critical, Warning};

/// Rules about secrets and text that runs as code.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "hard-coded-secret",
        category: "security_issues",
        severity: Critical,
        issue: "a secret in the source",
        detection: Detection::Function(ALL, hard_coded),
        suggestion: "revoke it, and read it from the environment",
        ..CODE_RULE
    },
    LintRule {
        id: "sensitive-log",
        category: "security_issues",
        severity: Warning,
        issue: "a secret goes to a log",
        detection: Detection::Function(ALL, logged),
        suggestion: "leave it out of the message",
        ..CODE_RULE
    },
    LintRule {
        id: "dynamic-evaluation",
        category: "security_issues",
        severity: Critical,
        issue: "text is run as code",
        detection: Detection::FilteredQuery(
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
            is_dynamic,
        ),
        suggestion: "parse the text, or choose among functions by name",
        ..CODE_RULE
    },
];

static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}\b|\bsk_live_[A-Za-z0-9]{20,}|\bxox[baprs]-[A-Za-z0-9-]{20,}|\bAIza[0-9A-Za-z_-]{35}\b|-----BEGIN (?:RSA |EC |OPENSSH )?PRIVATE KEY-----\s*\S{20,}").ok()
});
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|_|\b)(?:password|passwd|secret|api_?key|access_?key|auth_?token|private_?key|secret_?key|client_?secret|access_?token)$|(?:Password|Secret|ApiKey|AccessKey|AuthToken|PrivateKey|SecretKey|ClientSecret|AccessToken)$").ok()
});
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)example|your|change|placeholder|dummy|test|xxx|todo|\$\{|<|%s|\{\}|redacted|sample|default|secret|password|token|key|\*\*\*|^[a-z]+(?:[-_. /:][a-z]+)*$").ok()
});

/// Bits of information in a character of a text.
fn entropy(text: &str) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    for character in text.chars() {
        *counts.entry(character).or_insert(0u32) += 1;
    }
    let total = f64::from(u32::try_from(text.chars().count()).unwrap_or(u32::MAX));
    counts.values().map(|count| f64::from(*count) / total).map(|share| -share * share.log2()).sum()
}

/// Literals shaped like a known kind of key, and random-looking ones given to a name that says
/// password, secret or key. What was found is never repeated.
fn hard_coded(source: &Source<'_>) -> Vec<Hit> {
    let (Some(shape), Some(name), Some(placeholder)) =
        (SHAPE.as_ref(), NAME.as_ref(), PLACEHOLDER.as_ref())
    else {
        return Vec::new();
    };
    if source.is_support() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for node in source.of_kind(&[
        "string",
        "string_literal",
        "interpreted_string_literal",
        "raw_string_literal",
        "template_string",
    ]) {
        let value = source.of(node).trim_matches(['"', '\'', '`']);
        if shape.is_match(value) && !value.contains("EXAMPLE") {
            hits.push(Hit::noted(line(node), "its form is that of a known key"));
            continue;
        }
        let random = value.len() >= 12
            && value.len() <= 200
            && !value.contains(char::is_whitespace)
            && value.bytes().any(|byte| byte.is_ascii_digit())
            && value.bytes().any(|byte| byte.is_ascii_alphabetic())
            && entropy(value) >= 3.3
            && !placeholder.is_match(value);
        if random && given_to(source, node).is_some_and(|given| name.is_match(given)) {
            hits.push(Hit::noted(line(node), "its name and its randomness say so"));
        }
    }
    hits
}

/// The name that a literal is given to.
fn given_to<'a>(source: &Source<'a>, node: Node<'a>) -> Option<&'a str> {
    let mut parent = node.parent()?;
    if parent.kind() == "expression_list" {
        parent = parent.parent()?;
    }
    let name = ["left", "name", "key", "pattern"]
        .iter()
        .find_map(|field| parent.child_by_field_name(field))?;
    (name.id() != node.id()).then(|| source.of(name).trim_matches(['"', '\'']))
}

static SENSITIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:\w*_)?(?:password|passwd|secret|api_?key|access_?token|auth_?token|private_?key|credit_?card|card_?number|ssn|cvv)$|(?:Password|Secret|ApiKey|AccessToken|AuthToken|PrivateKey|CreditCard|CardNumber)$").ok()
});
static LOGS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:console\.(?:log|info|warn|error|debug)|print|logging\.\w+|(?:self\.|this\.)?_?(?:logger|log|LOG|LOGGER)\.\w+|log\.\w+|fmt\.Print\w*|System\.out\.print\w*|println|eprintln|info|warn|error|debug|trace|tracing::\w+|log::\w+|dbg)$").ok()
});

/// Names of secrets among the arguments of a call that logs or prints.
fn logged(source: &Source<'_>) -> Vec<Hit> {
    let (Some(logs), Some(sensitive)) = (LOGS.as_ref(), SENSITIVE.as_ref()) else {
        return Vec::new();
    };
    if source.is_support() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for node in
        source.of_kind(&["call", "call_expression", "method_invocation", "macro_invocation"])
    {
        let callee = match node.kind() {
            "method_invocation" => {
                format!("{}.{}", source.field(node, "object"), source.field(node, "name"))
            }
            "macro_invocation" => source.field(node, "macro").to_owned(),
            _ => source.field(node, "function").to_owned(),
        };
        if !logs.is_match(&callee) {
            continue;
        }
        let arguments = node.child_by_field_name("arguments").or_else(|| {
            let mut cursor = node.walk();
            node.children(&mut cursor).find(|child| child.kind() == "token_tree")
        });
        let Some(arguments) = arguments else { continue };
        let found = source.inside(arguments).find(|inner| {
            let callee = inner.parent().is_some_and(|parent| {
                matches!(parent.kind(), "call" | "call_expression" | "keyword_argument")
                    && parent
                        .child_by_field_name("value")
                        .is_none_or(|value| value.id() != inner.id())
            });
            inner.child_count() == 0
                && inner.kind().ends_with("identifier")
                && !callee
                && sensitive.is_match(source.of(*inner))
        });
        if let Some(found) = found {
            hits.push(Hit::noted(line(found), source.of(found)));
        }
    }
    hits
}

/// Whether the text given to an evaluator is put together at run time, and not a constant.
fn is_dynamic<'a>(source: &Source<'a>, node: Node<'a>) -> bool {
    let Some(arguments) = node.child_by_field_name("arguments") else { return false };
    let first = arguments.named_child(0);
    first.is_some_and(|first| {
        let constant = matches!(first.kind(), "string" | "string_literal")
            && !source.inside(first).any(|inner| inner.kind() == "interpolation");
        // `compile` has been told what it is; its file name is shown to people.
        !constant && !source.of(first).starts_with("compile(")
    })
}
