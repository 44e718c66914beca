//! Static facts about functions: parameters, branches, errors, return values, state changes.
//!
//! The facts come from syntax trees alone; no code is run and no types are inferred.

mod body;
mod describe;
mod exports_and_imports;
pub(super) mod kinds;
mod reachability;
pub(super) mod walk;

use std::collections::BTreeSet;

use super::language::Language;
use super::signature::{self, prototype_methods::prototype_classes};
use crate::domain::text::has_word;

pub use describe::condition;

/// A parameter as written in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    /// The type as written; empty without one.
    pub kind: String,
    /// Whether a call may omit it.
    pub optional: bool,
}

/// The conditions under which a line of code is reached, outermost first.
pub type Guard = Vec<Condition>;

/// What a call must meet to reach a place. Texts are code as written, on one line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Condition {
    /// A condition of the source holds, or does not.
    Source { text: String, holds: bool },
    /// The statement in this line does not end the call.
    Past(u32),
    /// The loop in this line begins.
    LoopEntered(u32),
    /// What a loop goes over is not empty.
    Filled(String),
    /// A `switch` or `match` over the subject selects a case.
    Case { subject: String, label: String },
    /// None of the cases of a subject holds; the subject may be empty.
    OtherCase(String),
    /// An error of this class is caught; empty for any error.
    Caught(String),
    /// An option or result holds no value.
    Missing(String),
}

impl Condition {
    /// A condition of the source that must hold.
    fn holding(text: String) -> Self {
        Self::Source { text, holds: true }
    }

    /// A condition of the source that must not hold.
    fn denied(text: String) -> Self {
        Self::Source { text, holds: false }
    }

    /// Whether it says only that the body of a loop was entered.
    pub fn is_loop_entry(&self) -> bool {
        matches!(self, Self::LoopEntered(_) | Self::Filled(_))
    }

    /// Whether its code has a name in it.
    pub fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Past(_) | Self::LoopEntered(_) => false,
            Self::Source { text, .. }
            | Self::Filled(text)
            | Self::OtherCase(text)
            | Self::Caught(text)
            | Self::Missing(text) => has_word(text, name),
            Self::Case { subject, label } => has_word(subject, name) || has_word(label, name),
        }
    }
}

/// A statement that ends the function with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raise {
    /// The line, from 1.
    pub line: u32,
    /// Class or kind: `ValueError`, `Err`, `panic`, `error`.
    pub class: String,
    /// The message as written, when it is a literal.
    pub message: Option<String>,
    /// The conditions under which the error is raised.
    pub guard: Guard,
}

/// A statement or tail expression that returns a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Return {
    /// The line, from 1.
    pub line: u32,
    /// The expression on one line.
    pub value: String,
    /// The conditions under which the value is returned.
    pub guard: Guard,
}

/// A comparison with a constant, whose neighbourhood is worth testing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// The line, from 1.
    pub line: u32,
    pub left: String,
    /// `<`, `<=`, `>`, `>=`, `==` or `!=`.
    pub operator: String,
    pub right: String,
}

/// An exception handler, such as `except` or `catch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// The line, from 1.
    pub line: u32,
    /// The line of its first statement, from 1; its own where it has none.
    pub body: u32,
    /// The errors that it catches; empty for all.
    pub catches: String,
}

/// The behaviour of one function or method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// The name, with its class before a dot.
    pub name: String,
    /// The first line, from 1.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
    /// The parameters without `self`.
    pub parameters: Vec<Parameter>,
    /// Whether code in other files may call it.
    pub is_public: bool,
    pub is_async: bool,
    /// Text of the attributes before it, such as `@app.get("/users")`.
    pub marks: Vec<String>,
    /// The number of conditions, loops and cases.
    pub decisions: u32,
    pub raises: Vec<Raise>,
    pub returns: Vec<Return>,
    pub boundaries: Vec<Boundary>,
    pub handlers: Vec<Handler>,
    /// Fields and module variables that it assigns, with the line.
    pub changes: Vec<(u32, String)>,
    /// The sequences that its loops go over, with the line.
    pub loops: Vec<(u32, String)>,
    /// The calls as written, with the line.
    pub calls: Vec<(u32, String)>,
}

impl Behaviour {
    /// Its name without the class.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// All functions of a source text, in order; nested functions count as part of the enclosing one.
pub fn read(language: Language, text: &str) -> Vec<Behaviour> {
    let Some(tree) = language.parse(text) else { return Vec::new() };
    let mut found = Vec::new();
    let exported = language
        .is_script()
        .then(|| signature::exports(tree.root_node(), text).into_keys().collect());
    let source = walk::FunctionSource { language, text, exported: exported.as_ref() };
    walk::functions(tree.root_node(), source, "", &mut found);
    if language.is_script() {
        let classes = prototype_classes(tree.root_node(), text);
        for one in found.iter_mut().filter(|one| classes.contains(one.name.as_str())) {
            one.name.push_str(".constructor");
        }
    }
    // Overloads in Python declare types only.
    found.retain(|one| !one.marks.iter().any(|mark| mark.ends_with("overload")));
    for function in &mut found {
        function.is_public = exports_and_imports::is_public(function, language, exported.as_ref());
    }
    found
}

/// The top-level names of the modules and packages that a file imports.
pub fn packages(language: Language, text: &str) -> BTreeSet<String> {
    let Some(tree) = language.parse(text) else { return BTreeSet::new() };
    exports_and_imports::packages(tree.root_node(), language, text)
}

#[cfg(test)]
mod tests;
