//! Functions that a test could call: parameters with their likely types, literals and
//! examples near them, and what in their text speaks against pinning them.

mod call_arguments;
mod compiled_examples;
pub mod date_texts;
mod declared_values;
mod django_views;
mod documentation_examples;
mod entry_input;
mod entry_points;
mod example_statements;
mod example_variables;
mod examples;
pub mod express_routes;
pub mod factory_exports;
mod file_inputs;
mod go;
mod go_values;
mod imported_types;
mod java;
mod java_examples;
mod java_values;
mod matching_text;
pub mod module_exports;
mod parameter_names;
mod parameter_types;
mod private_objects;
pub mod prototype_methods;
mod python;
mod python_function;
mod reached_functions;
mod rust;
mod rust_values;
mod script;
pub mod special_method_calls;
mod standard_modules;
mod unnamed_examples;
mod unsupported;

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::{Node, Tree};

use super::language::Language;
use super::number_constants::constants_below;
use super::tree::{field_of, named_children, named_nodes, text_of, visit};

pub use call_arguments::{ChainedCall, call_arguments, chained_calls};
pub use declared_values::{DeclaredValues, interleave_columns};
pub use django_views::add_django_views;
pub use documentation_examples::{is_entry_point, is_page, source_examples, unread_examples};
pub use entry_input::{EntryInput, InputPlace};
pub use entry_points::{EntryPoint, add_entry_points};
pub use example_variables::{is_whole_repr, own_maker};
pub use examples::{DocumentedResult, Example, assign_examples, is_constant_name, is_defined};
pub use file_inputs::{FileText, learn_files};
pub use go_values::is_basic_go;
use java_examples::is_constant;
use matching_text::notation_texts;
pub use parameter_names::typical_value;
pub use parameter_types::{Type, type_of_literal, used_types};
pub use python::{mark_internal, offered_names};
pub use python_function::is_observed_operator;
use reached_functions::{
    add_constants, learn_from_helpers, list_patterns, matching_texts_for, named_functions,
    reached_lines,
};
pub use script::exports;

/// Maximum number of literals kept per function, and of one with several parameters.
const LITERALS: usize = 32;
const LITERALS_OF_SEVERAL: usize = 14;

/// Maximum number of string literals kept from outside functions.
const AROUND: usize = 32;

/// Words for a file that asks what kind of characters it has: written from right to left with and
/// without digits, with a combining mark, and in an ideographic script.
const SCRIPTS: &[&str] = &[
    "\"שלום\"",
    "\"مرحبا\"",
    "\"שלום1\"",
    "\"مرحبا١\"",
    "\"e\\u0301\"",
    "\"\\u0301e\"",
    "\"日本語\"",
];

/// Maximum length in bytes of a literal used as input.
const LITERAL: usize = 80;

/// A parameter with its likely types and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// The types it may have, likeliest first; empty when nothing is known.
    pub types: Vec<Type>,
    /// Whether only its default value, its uses and its name tell its types.
    pub is_guessed: bool,
    /// Whether its types are those of documented and existing calls, so that no other is meant.
    pub has_shown_types: bool,
    /// Whether a call may omit it.
    pub optional: bool,
    /// Whether it receives all remaining arguments.
    pub rest: bool,
    pub passing: Passing,
    /// The keys that the function reads from it, if it may be an options object.
    pub keys: Vec<String>,
    /// Values of these that the file compares them with.
    pub compared: Vec<(String, String)>,
    /// The class of the same file whose objects it takes.
    pub class: Option<Class>,
    /// What its declared type allows, in TypeScript, as far as its file tells.
    pub declared: Option<DeclaredValues>,
    /// Values that the documentation of its function shows for it.
    pub shown: Vec<String>,
    /// Expressions for it, where its type alone decides what is accepted: in compiled languages.
    pub values: Vec<String>,
    /// Its type as declared, in compiled languages.
    pub declared_type: String,
}

/// How a parameter may be given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passing {
    Position,
    Name,
    #[default]
    Either,
}

/// The class that a method belongs to, or what else functions are set on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    pub name: String,
    /// The parameters of its constructor; empty for a static method.
    pub parameters: Vec<Parameter>,
    /// Whether the method is called on the class rather than on an instance.
    pub is_static: bool,
    /// The arguments that its constructor is given in documentation and in the repository.
    pub examples: Vec<Vec<String>>,
    /// How documentation makes objects to call methods on, without the constructor: what stands behind the name
    /// of the class, as `.parse("1.0")`, or a call of a function, as `parsed("1.0")`.
    pub makers: Vec<String>,
    /// In compiled languages, how objects are made.
    pub construction: Option<Construction>,
}

/// How objects are made in a compiled language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Construction {
    /// The function that makes one; empty where the one parameter is the object itself.
    pub function: String,
    /// The type of what it makes.
    pub declared: String,
    /// In Java, methods that return the object itself, so that calls can be chained.
    pub fluent: BTreeSet<String>,
}

impl Construction {
    /// Whether a call that is written without its object returns an object of the same kind.
    pub fn is_fluent(&self, call: &str) -> bool {
        self.fluent.contains(call.split('(').next().unwrap_or(call))
    }
}

/// A function that a test could call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callable {
    /// The name, with its class before a dot where there is one.
    pub name: String,
    /// The first line, from 1.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
    pub class: Option<Class>,
    /// The parameters without `self`.
    pub parameters: Vec<Parameter>,
    /// Literals in its body, as written, and values of the constants that it names.
    pub literals: Vec<String>,
    /// Texts outside of functions in its file, as they are written there: tables of words and the
    /// like; with words of several scripts where the file asks about characters.
    pub around: Vec<String>,
    /// Texts that match the regular expressions that it uses, and texts in the notations that it reads.
    pub matching: Vec<String>,
    /// Its calls in documentation.
    pub examples: Vec<Example>,
    /// In JavaScript, the name under which it is exported; `default` for the default export.
    pub export: Option<String>,
    /// Whether it is read as an attribute rather than called.
    pub is_property: bool,
    /// What may be assigned to it, if it is such an attribute.
    pub assigned: Option<Parameter>,
    /// The types of its results as declared, in compiled languages.
    pub results: Vec<String>,
    /// Whether its package does not offer it to others, as opposed to another function of its file.
    pub is_internal: bool,
    /// Variables of the environment that it asks for, each with a value that is not its default.
    pub settings: Vec<(String, String)>,
    /// The application or the command through which it is called, instead of by its name.
    pub entry: Option<EntryPoint>,
    /// Why no test should pin it, judging by its text.
    pub unsupported: Option<String>,
}

impl Callable {
    /// The name that a test imports: the class of a method, or else the function.
    pub fn subject(&self) -> &str {
        if let Some(entry) = &self.entry {
            return &entry.object;
        }
        self.class.as_ref().map_or(self.name.as_str(), |class| class.name.as_str())
    }

    /// Whether it is a special method, such as `__len__`, that an expression calls.
    pub fn is_operator(&self) -> bool {
        self.class.as_ref().is_some_and(|class| !class.is_static)
            && self.short_name().starts_with("__")
    }

    /// Whether it is an attribute without code of its own, which documentation reads.
    pub fn is_attribute(&self) -> bool {
        self.is_property && self.start == self.end
    }

    /// The names by which documentation speaks of it: its own, and that of its class.
    pub fn shown_names(&self) -> Vec<String> {
        vec![self.called_name().to_owned(), self.subject().to_owned()]
    }

    /// Whether it makes an object of its class.
    pub fn is_constructor(&self) -> bool {
        let special = ["constructor", "__init__", "__new__", "__post_init__"];
        let name = self.short_name();
        self.class.as_ref().is_some_and(|class| {
            special.contains(&name) || class.name.rsplit('.').next() == Some(name)
        })
    }

    /// The name by which it is called: that of the class for a constructor.
    pub fn called_name(&self) -> &str {
        let class = self.class.as_ref().filter(|_| self.is_constructor());
        class.map_or(self.short_name(), |class| &class.name)
    }

    /// Whether it returns an object of its class, so that only calls behind it show what it does.
    pub fn is_fluent(&self) -> bool {
        let made = self.class.as_ref().and_then(|class| class.construction.as_ref());
        made.is_some_and(|made| made.is_fluent(self.short_name()))
    }

    /// Remembers how objects of the classes that it needs are made elsewhere.
    pub fn learn_objects(&mut self, made: &BTreeMap<String, Vec<Vec<String>>>) {
        let of_parameters = self.parameters.iter_mut().filter_map(|one| one.class.as_mut());
        for class in self.class.iter_mut().chain(of_parameters) {
            let is_fitting = |given: &&Vec<String>| {
                class.construction.as_ref().is_none_or(|made| {
                    made.function.trim_start_matches("new ") == class.name
                        && given.len() == class.parameters.len()
                })
            };
            let known = made.get(&class.name).into_iter().flatten();
            class.examples.extend(known.filter(is_fitting).cloned());
        }
    }

    /// Remembers how documentation makes objects of the classes that it needs without their constructors.
    pub(super) fn learn_makers(&mut self, makers: &BTreeMap<String, Vec<String>>) {
        let of_parameters = self.parameters.iter_mut().filter_map(|one| one.class.as_mut());
        for class in self.class.iter_mut().chain(of_parameters) {
            let known = makers.get(&class.name).into_iter().flatten();
            let further: Vec<String> =
                known.filter(|one| !class.makers.contains(one)).cloned().collect();
            class.makers.extend(further);
        }
    }

    /// The method that is called on an object: `to_string` for what writes it in Rust.
    pub fn called_method(&self) -> &str {
        let is_written = self.class.is_some() && self.short_name() == "fmt";
        if is_written { "to_string" } else { self.short_name() }
    }

    /// Its name without the class.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// All functions of a file that a test could call or read, top to bottom. Private functions, whose
/// name starts with an underscore, are left out, but not operators.
pub fn callables(language: Language, text: &str) -> Vec<Callable> {
    callables_among(language, text, &[])
}

/// All functions of a file, where types may be declared in others: of its package, or imported.
pub fn callables_among(language: Language, text: &str, siblings: &[String]) -> Vec<Callable> {
    if matches!(language, Language::TypeScript | Language::Tsx) && !siblings.is_empty() {
        let types: Vec<String> =
            siblings.iter().map(|one| imported_types::type_declarations(language, one)).collect();
        let whole = format!("{text}\n{}", types.concat());
        let last = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let mut found = callables_among(language, &whole, &[]);
        found.retain(|one| one.start <= last);
        return found;
    }
    let Some(tree) = language.parse(text) else { return Vec::new() };
    let imported: Vec<(Tree, &str)> = siblings
        .iter()
        .filter(|_| language == Language::Python)
        .filter_map(|one| Some((language.parse(one)?, one.as_str())))
        .collect();
    let mut found = match language {
        Language::Python => python::callables(tree.root_node(), text, &imported),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            let mut found = script::callables(tree.root_node(), text);
            private_objects::hold_private_objects(&mut found, text);
            found
        }
        Language::Go => go::go_callables(tree.root_node(), text, siblings),
        Language::Rust => rust::rust_callables(tree.root_node(), text),
        Language::Java => java::java_callables(tree.root_node(), text, siblings),
    };
    let mut around = words_around(tree.root_node(), text);
    if language == Language::Python && text.contains("unicodedata") {
        around.extend(SCRIPTS.iter().map(|&word| word.to_owned()));
    }
    let mut patterns = list_patterns(tree.root_node(), text);
    for (tree, text) in &imported {
        let named = list_patterns(tree.root_node(), text).into_iter();
        patterns.extend(named.map(|(_, name, pattern)| (0, name, pattern)));
    }
    let functions = named_functions(tree.root_node(), text);
    let constants = constants_below(tree.root_node(), text);
    for one in &mut found {
        if one.parameters.len() > 1 {
            one.literals.truncate(LITERALS_OF_SEVERAL);
        }
        let lines = reached_lines(one, &functions, text);
        add_constants(one, &lines, &constants);
        one.matching = matching_texts_for(&lines, &patterns);
        if !matches!(language, Language::Java | Language::Rust) {
            one.matching.extend(notation_texts(&lines));
        }
        one.around.clone_from(&around);
    }
    if language == Language::Python || language.is_script() {
        learn_from_helpers(&mut found, text);
    }
    assign_examples(language, &mut found, &source_examples(language, tree.root_node(), text));
    if !matches!(language, Language::Java | Language::Rust) {
        unnamed_examples::assign_rows(language, tree.root_node(), text, &mut found);
    }
    found
}

/// Short string literals outside functions and classes.
fn words_around(root: Node<'_>, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    visit(root, |node| {
        let kind = node.kind();
        let inside = ["function", "class", "method"].iter().any(|word| kind.contains(word))
            || kind.starts_with("import")
            || kind == "comment"
            || field_of(node, "left", text) == "__all__";
        if inside || found.len() >= AROUND {
            return false;
        }
        if !matches!(kind, "string" | "interpreted_string_literal" | "string_literal") {
            return true;
        }
        let value = text_of(node, text);
        let word = value.trim_matches(['"', '\'']);
        let plain = !word.is_empty()
            && word.len() <= 24
            && (word.chars().count() == 1
                || word.chars().all(|c| c.is_alphanumeric() || " -_.:/".contains(c)));
        if plain && value.len() == word.len() + 2 && !found.iter().any(|known| known == value) {
            found.push(value.to_owned());
        }
        false
    });
    found
}

/// Whether a JavaScript text is an ES module, with `import` or `export`.
pub fn is_module(text: &str) -> bool {
    Language::JavaScript.parse(text).is_some_and(|tree| {
        let statements = named_children(tree.root_node());
        statements.iter().any(|one| matches!(one.kind(), "import_statement" | "export_statement"))
    })
}

/// Whether an expression is a literal that needs no context: numbers, texts, collections of them.
fn is_literal(node: Node<'_>) -> bool {
    match node.kind() {
        "integer"
        | "float"
        | "number"
        | "true"
        | "false"
        | "none"
        | "null"
        | "undefined"
        | "regex"
        | "int_literal"
        | "float_literal"
        | "rune_literal"
        | "interpreted_string_literal"
        | "raw_string_literal"
        | "nil"
        | "integer_literal"
        | "boolean_literal"
        | "char_literal"
        | "string_literal" => true,
        "string" | "template_string" | "concatenated_string" => {
            let parts = named_nodes(node);
            !parts.iter().any(|one| matches!(one.kind(), "interpolation" | "template_substitution"))
        }
        "list"
        | "tuple"
        | "set"
        | "dictionary"
        | "pair"
        | "array"
        | "object"
        | "unary_operator"
        | "unary_expression"
        | "reference_expression"
        | "array_expression"
        | "parenthesized_expression" => named_children(node)
            .iter()
            .all(|child| is_literal(*child) || child.kind() == "property_identifier"),
        _ => false,
    }
}

/// The literals in a body, without docstrings and error messages.
fn literals(body: Node<'_>, text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    visit(body, |node| {
        let explains = matches!(node.kind(), "raise_statement" | "throw_statement")
            || node.kind() == "expression_statement"
                && node.named_child(0).is_some_and(|child| child.kind() == "string");
        if explains || found.len() >= LITERALS {
            return false;
        }
        let counts = matches!(
            node.kind(),
            "integer"
                | "float"
                | "number"
                | "string"
                | "int_literal"
                | "float_literal"
                | "rune_literal"
                | "interpreted_string_literal"
                | "integer_literal"
                | "char_literal"
                | "string_literal"
        );
        if !counts || !is_literal(node) {
            return true;
        }
        let value = text_of(node, text);
        // A letter is looked for in texts.
        let value = &value
            .strip_prefix('\'')
            .filter(|_| matches!(node.kind(), "rune_literal" | "char_literal"))
            .map_or_else(
                || value.to_owned(),
                |rest| format!("\"{}\"", rest.trim_end_matches('\'').replace('"', "\\\"")),
            );
        if value.len() <= LITERAL && !found.iter().any(|known| known == value) {
            found.push(value.to_owned());
        }
        false
    });
    found
}

#[cfg(test)]
mod tests;
