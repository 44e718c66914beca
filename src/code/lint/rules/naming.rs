//! Names that promise another type than the code gives.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::code::lint::rule::{ALL, Detection, LintRule, code_rule};
use crate::code::lint::source::{Hit, Source};
use crate::code::pattern::Pattern;
use crate::code::tree::{FUNCTIONS, first_field, line};
use crate::domain::quality::Severity::Error;

/// The rule about names. Linters check how a name is written, not what it promises.
pub const RULES: &[LintRule] = &[code_rule(
    ("naming_issues", "misleading-predicate"),
    Error,
    ("named like a question, and it does not return a boolean", "rename it, or return a boolean"),
    Detection::Function(ALL, misleading),
)];

static PREDICATE: Pattern = Pattern::new(
    r"^(?:_*(?:is|has|can|should)_[a-z]|(?:is|has|can|should|Is|Has|Can|Should)[A-Z])",
);
static NOT_BOOLEAN: Pattern = Pattern::new(
    r"^(?:str|[sS]tring|&(?:'\w+ )?str|int|Integer|number|float|double|long|[iu](?:8|16|32|64|size)|f32|f64|u?int(?:8|16|32|64)|float(?:32|64)|bytes|(?:list|dict|List|Map|Vec|Array|Promise<string|Promise<number)\b.*|(?:string|number)\[\]|\[\](?:string|byte))$",
);

/// Functions named like a question with a result of another type; each name once in a file.
fn misleading(source: &Source<'_>) -> Vec<Hit> {
    let mut reported = BTreeSet::new();
    let named = source.of_kind(FUNCTIONS).filter_map(|node| {
        let own = node.child_by_field_name("name");
        Some((node, own.or_else(|| node.parent()?.child_by_field_name("name"))?))
    });
    let predicates = named.filter(|(_, name)| PREDICATE.is_match(source.of(*name)));
    predicates
        .filter_map(|(node, name)| {
            let note = format!("{} returns {}", source.of(name), result_type(source, node)?);
            reported.insert(source.of(name)).then(|| Hit::noted(line(name), note))
        })
        .collect()
}

/// The declared type of a result that is no truth value, or `text` where all results are texts.
fn result_type<'a>(source: &Source<'a>, function: Node<'a>) -> Option<&'a str> {
    let declared = first_field(function, &["return_type", "result", "type"]);
    if let Some(declared) = declared.map(|one| source.of(one).trim_start_matches([':', ' '])) {
        return NOT_BOOLEAN.is_match(declared).then_some(declared);
    }
    let is_text = |node: Node<'_>| ["string", "template_string"].contains(&node.kind());
    let body = function.child_by_field_name("body")?;
    let results = source.inside(body).filter(|node| node.kind() == "return_statement");
    let results: Vec<_> = results.map(|node| node.named_child(0).is_some_and(is_text)).collect();
    let returns_text = !results.is_empty() && !results.contains(&false);
    (is_text(body) || returns_text).then_some("text")
}
