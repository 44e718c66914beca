//! Secrets in the source and in logs.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::code::lint::rule::{ALL, Detection, LintRule, code_rule};
use crate::code::lint::source::{Hit, Source};
use crate::code::lint::test_rules::calls_and_assertions::calls;
use crate::code::pattern::Pattern;
use crate::code::tree::{children, field_of, first_field, line};
use crate::domain::guard;
use crate::domain::quality::Severity::{Critical, Warning};

/// Rules about secrets.
pub const RULES: &[LintRule] = &[
    LintRule {
        codes: &["S105", "S106", "S107"],
        ..code_rule(
            ("security_issues", "hard-coded-secret"),
            Critical,
            ("a secret in the source", "revoke it, and read it from the environment"),
            Detection::Function(ALL, hard_coded),
        )
    },
    code_rule(
        ("security_issues", "sensitive-log"),
        Warning,
        ("a secret goes to a log", "leave it out of the message"),
        Detection::Function(ALL, logged),
    ),
];

const STRINGS: &[&str] = &[
    "string",
    "string_literal",
    "interpreted_string_literal",
    "raw_string_literal",
    "template_string",
];

static NAME: Pattern = Pattern::new(
    r"(?i)(?:^|_|\b)(?:password|passwd|secret|api_?key|access_?key|auth_?token|private_?key|secret_?key|client_?secret|access_?token)$|(?:Password|Secret|ApiKey|AccessKey|AuthToken|PrivateKey|SecretKey|ClientSecret|AccessToken)$",
);
static PLACEHOLDER: Pattern = Pattern::new(
    r"(?i)example|your|change|placeholder|dummy|test|xxx|todo|\$\{|<|%s|\{\}|redacted|sample|default|secret|password|token|key|\*\*\*|\s|^[a-z]+(?:[-_./:][a-z]+)*$",
);

/// Finds literals of known key formats, and random-looking passwords; never repeats them.
fn hard_coded(source: &Source<'_>) -> Vec<Hit> {
    if source.is_support() {
        return Vec::new();
    }
    let note = |node: Node<'_>| -> Option<&str> {
        let value = source.of(node).trim_matches(['"', '\'', '`']);
        if guard::keys_in(value) > 0 && !value.contains("EXAMPLE") {
            return Some("it has the form of a known key");
        }
        let named = is_random(value) && NAME.is_match(given_to(source, node)?);
        named.then_some("it looks random and its name suggests a secret")
    };
    let strings = source.of_kind(STRINGS);
    strings.filter_map(|node| Some(Hit::noted(line(node), note(node)?))).collect()
}

/// Whether a value looks randomly generated, unlike words or a placeholder.
fn is_random(value: &str) -> bool {
    (12..=200).contains(&value.len())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value.chars().collect::<BTreeSet<_>>().len() >= 10
        && !PLACEHOLDER.is_match(value)
}

/// The name of the variable, field or parameter that a literal is assigned to.
fn given_to<'a>(source: &Source<'a>, node: Node<'_>) -> Option<&'a str> {
    let mut parent = node.parent()?;
    if parent.kind() == "expression_list" {
        parent = parent.parent()?;
    }
    let name = first_field(parent, &["left", "name", "key", "pattern"])?;
    (name.id() != node.id()).then(|| source.of(name).trim_matches(['"', '\'']))
}

static SENSITIVE: Pattern = Pattern::new(
    r"(?i)^(?:\w*_)?(?:password|passwd|secret|api_?key|access_?token|auth_?token|private_?key|credit_?card|card_?number|ssn|cvv)$|(?-i:(?:Password|Secret|ApiKey|AccessToken|AuthToken|PrivateKey|CreditCard|CardNumber)$)",
);
static LOGS: Pattern = Pattern::new(
    r"(?i)^(?:console\.(?:log|info|warn|error|debug|trace)|p?print|(?:self\.|this\.)?_?(?:logging|logger|log|slog)\.(?:debug|info|warn|error|critical|exception|fatal|severe|trace|log|print)\w*|fmt\.print\w*|system\.(?:out|err)\.print\w*|(?:e?print(?:ln)?|dbg|(?:(?:tracing|log)::)?(?:trace|debug|info|warn|error))!)$",
);
/// What follows a name of which only a part, or a comparison, is logged.
static PARTIAL: Pattern =
    Pattern::new(r"^\s*(?:[.(\[:?<>=]|!=|&&|\|\||(?:is|in|and|or|if|instanceof)\b)");
/// Kinds of nodes that make another value of what is in them, unless the call only formats it.
static CHANGES: Pattern =
    Pattern::new("call|invoc|not_|unary|compar|condition|ternary|lambda|function|token_tree");
static FORMATS: Pattern = Pattern::new(r"(?:^|\W)(?:format|Sprintf|str|String|concat)$");

/// Names of secrets whose values a call logs or prints.
fn logged(source: &Source<'_>) -> Vec<Hit> {
    let root = source.nodes.first().filter(|_| !source.is_support());
    let calls = root.into_iter().flat_map(|root| calls(source, *root));
    let logs = calls.filter(|(callee, _)| LOGS.is_match(callee));
    let names = logs.filter_map(|(_, call)| {
        let arguments = *children(call).last()?;
        source.inside(arguments).find(|name| is_secret(source, *name, arguments))
    });
    names.map(|name| Hit::noted(line(name), source.of(name))).collect()
}

/// Whether a node among the arguments of a call is the name of a secret and shown as it is.
fn is_secret(source: &Source<'_>, name: Node<'_>, arguments: Node<'_>) -> bool {
    let rest = source.text.get(name.end_byte()..).unwrap_or_default();
    let outer = std::iter::successors(name.parent(), Node::parent);
    name.kind().ends_with("identifier")
        && SENSITIVE.is_match(source.of(name))
        && !PARTIAL.is_match(rest)
        && !outer.take_while(|up| up.id() != arguments.id()).any(|up| {
            CHANGES.is_match(up.kind()) && !FORMATS.is_match(field_of(up, "function", source.text))
        })
}
