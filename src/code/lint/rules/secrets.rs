//! Secrets in the source.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::code::lint::rule::{ALL, Detection, LintRule, code_rule};
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::tree::{first_field, line};
use crate::domain::guard;
use crate::domain::quality::Severity::Critical;

/// The rule about secrets.
pub const RULES: &[LintRule] = &[LintRule {
    codes: &["S105", "S106", "S107"],
    ..code_rule(
        ("security_issues", "hard-coded-secret"),
        Critical,
        ("a secret in the source", "revoke it, and read it from the environment"),
        Detection::Function(ALL, hard_coded),
    )
}];

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

/// Literals shaped like a known kind of key, and random-looking ones given to a name that says
/// password, secret or key. The finding never repeats the literal.
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
        named.then_some("its name and its randomness say so")
    };
    let strings = source.of_kind(STRINGS);
    strings.filter_map(|node| Some(Hit::noted(line(node), note(node)?))).collect()
}

/// Whether a value looks like one that a program drew, and not like words or a placeholder.
fn is_random(value: &str) -> bool {
    (12..=200).contains(&value.len())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value.chars().collect::<BTreeSet<_>>().len() >= 10
        && !PLACEHOLDER.is_match(value)
}

/// The name that a literal is given to.
fn given_to<'a>(source: &Source<'a>, node: Node<'_>) -> Option<&'a str> {
    let mut parent = node.parent()?;
    if parent.kind() == "expression_list" {
        parent = parent.parent()?;
    }
    let name = first_field(parent, &["left", "name", "key", "pattern"])?;
    (name.id() != node.id()).then(|| source.of(name).trim_matches(['"', '\'']))
}
