//! What is given to an application or a command: parts of a request, or of a command line.

use super::{Parameter, Type};

/// A part of a request, or of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryInput {
    pub parameter: Parameter,
    pub place: InputPlace,
}

impl EntryInput {
    pub fn new(name: &str, types: Vec<Type>, optional: bool, place: InputPlace) -> Self {
        let parameter =
            Parameter { name: name.to_owned(), types, optional, ..Parameter::default() };
        Self { parameter, place }
    }
}

/// Where a value is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPlace {
    Path,
    Query,
    Json,
    Form,
    Position,
    /// Behind an option such as `--format`.
    Option(String),
    /// As the option itself.
    Flag(String),
}
