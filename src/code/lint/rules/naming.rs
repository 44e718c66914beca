//! Names: two conventions in one file, misspelt words, predicates that answer no truth.

use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::code::language::Language;

use crate::code::lint::rule::{ALL, CODE_RULE, Detection, LintRule, NOT_SCRIPT};
use crate::code::lint::source::{Hit, Source};
use crate::code::lint::word_lists::MISSPELLINGS;
use crate::code::tree::{FUNCTIONS, around, line};
use crate::domain::quality::Severity::{Error, Warning};

/// Rules about names.
pub const RULES: &[LintRule] = &[
    LintRule {
        id: "mixed-naming",
        category: "naming_issues",
        severity: Warning,
        issue: "two naming conventions in one file",
        detection: Detection::Function(ALL, mixed),
        suggestion: "follow the convention of the file",
        ..CODE_RULE
    },
    LintRule {
        id: "misspelt-identifier",
        category: "naming_issues",
        severity: Warning,
        issue: "a misspelt name",
        detection: Detection::Function(ALL, misspelt),
        suggestion: "correct the spelling everywhere",
        ..CODE_RULE
    },
    LintRule {
        id: "misleading-predicate",
        category: "naming_issues",
        severity: Error,
        issue: "named like a question, answers no truth value",
        detection: Detection::Function(NOT_SCRIPT, misleading),
        suggestion: "rename it, or answer with a truth value",
        ..CODE_RULE
    },
];

static SNAKE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^_*[a-z][a-z0-9]*(_[a-z0-9]+)+$").ok());
static CAMEL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^_*[a-z][a-z0-9]*([A-Z][a-z0-9]+)+$").ok());

/// Names of functions the file defines.
fn functions<'a>(source: &Source<'a>) -> Vec<Node<'a>> {
    source
        .of_kind(FUNCTIONS)
        .filter_map(|node| node.child_by_field_name("name"))
        .chain(source.of_kind(&["variable_declarator", "let_declaration"]).filter_map(|node| {
            node.child_by_field_name("name").or_else(|| node.child_by_field_name("pattern"))
        }))
        .filter(|name| name.kind().ends_with("identifier"))
        .collect()
}

/// Functions and variables of one file in two conventions, at least two of each; told at the first
/// of the rarer one.
fn mixed(source: &Source<'_>) -> Vec<Hit> {
    let (Some(snake), Some(camel)) = (SNAKE.as_ref(), CAMEL.as_ref()) else { return Vec::new() };
    let mut names = functions(source);
    // A method of a class that extends another may carry a name that the other one gave.
    names.retain(|name| {
        let method =
            around(*name, &["function_definition", "method_definition", "method_declaration"]);
        let class =
            method.and_then(|one| around(one, &["class_definition", "class_declaration", "class"]));
        class.is_none_or(|class| {
            let mut cursor = class.walk();
            class.child_by_field_name("superclasses").is_none()
                && class.child_by_field_name("superclass").is_none()
                && class.child_by_field_name("interfaces").is_none()
                && !class.children(&mut cursor).any(|one| one.kind() == "class_heritage")
        })
    });
    let of = |regex: &Regex| -> Vec<Node<'_>> {
        names.iter().copied().filter(|name| regex.is_match(source.of(*name))).collect()
    };
    let (snakes, camels) = (of(snake), of(camel));
    // A few strangers among many are names that somebody else gave.
    let (few, many) = (snakes.len().min(camels.len()), snakes.len().max(camels.len()));
    if few < 2 || few * 4 < many {
        return Vec::new();
    }
    let rare = if snakes.len() <= camels.len() { &snakes } else { &camels };
    rare.first()
        .map(|name| {
            Hit::noted(
                line(*name),
                format!("{} snake_case, {} camelCase", snakes.len(), camels.len()),
            )
        })
        .into_iter()
        .collect()
}

/// Definitions whose name holds a misspelt word; each word once in a file.
fn misspelt(source: &Source<'_>) -> Vec<Hit> {
    let mut reported = std::collections::BTreeSet::new();
    let mut hits = Vec::new();
    let parameters = source.of_kind(&["identifier"]).filter(|node| {
        node.parent().is_some_and(|parent| {
            matches!(
                parent.kind(),
                "parameters"
                    | "formal_parameters"
                    | "required_parameter"
                    | "typed_parameter"
                    | "default_parameter"
                    | "parameter"
                    | "parameter_declaration"
                    | "formal_parameter"
                    | "assignment"
                    | "short_var_declaration"
            )
        })
    });
    for name in functions(source).into_iter().chain(parameters) {
        for word in words(source.of(name)) {
            if let Some(right) = MISSPELLINGS.get(word.as_str())
                && reported.insert(word.clone())
            {
                hits.push(Hit::noted(line(name), format!("{word}, for {right}")));
            }
        }
    }
    hits
}

/// The words of an identifier, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && small) {
            words.push(String::new());
        }
        small = character.is_lowercase();
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words
}

static PREDICATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:_*(?:is|has|can|should)_[a-z]|(?:is|has|can|should|Is|Has|Can|Should)[A-Z])")
        .ok()
});
static NO_TRUTH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:str|string|String|&str|int|Integer|number|float|double|long|i8|i16|i32|i64|u8|u16|u32|u64|usize|isize|f32|f64|int64|int32|float64|bytes|list\b.*|dict\b.*|List<.*|Map<.*|Vec<.*|string\[\]|number\[\]|\[\]string|\[\]byte|Array<.*)$").ok()
});

/// Functions named like a question whose declared answer is a value of another kind; each name once
/// in a file. One that answers nothing checks and throws: that is a convention.
fn misleading(source: &Source<'_>) -> Vec<Hit> {
    let (Some(predicate), Some(wrong)) = (PREDICATE.as_ref(), NO_TRUTH.as_ref()) else {
        return Vec::new();
    };
    let field = match source.language {
        Language::Go => "result",
        Language::Java => "type",
        _ => "return_type",
    };
    let mut reported = std::collections::BTreeSet::new();
    source
        .of_kind(&[
            "function_definition",
            "function_declaration",
            "method_definition",
            "function_item",
            "method_declaration",
        ])
        .filter_map(|node| {
            let name = node.child_by_field_name("name")?;
            let answer = source.field(node, field).trim_start_matches([':', '-', '>', ' ']);
            // A test is named after what it checks; a setter may carry the name of its flag.
            let fits = predicate.is_match(source.of(name)) && wrong.is_match(answer);
            (fits && reported.insert(source.of(name)))
                .then(|| Hit::noted(line(name), format!("{} answers {answer}", source.of(name))))
        })
        .collect()
}
