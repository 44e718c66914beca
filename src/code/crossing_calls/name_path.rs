//! What an expression or a type names, as a root and the steps from it: `self`, then `repo`, then `save`.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::code::imports::{Import, Index, join, local_module, read_nodes};
use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{end_line, field_of, line, text_of};
use crate::domain::id::RepoPath;

/// The step to what a call gives.
pub const CALLED: &str = "()";

/// The step from a class to an object of it.
pub const INSTANCE: &str = "@";

/// Where a path begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathRoot {
    Name(String),
    /// `self` or `this`.
    Own,
    Super,
    /// Modules in these files.
    Files(Vec<RepoPath>),
    /// A module outside of the repository; empty for a built-in value.
    Outside(String),
    /// An object whose functions are in these lines.
    Lines(u32, u32),
    Unknown,
}

/// A root and the steps from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePath {
    pub root: PathRoot,
    pub steps: Vec<String>,
}

impl NamePath {
    pub fn from_root(root: PathRoot) -> Self {
        Self { root, steps: Vec::new() }
    }

    pub fn from_name(name: &str) -> Self {
        Self::from_root(PathRoot::Name(name.to_owned()))
    }

    pub fn unknown_path() -> Self {
        Self::from_root(PathRoot::Unknown)
    }

    /// The path, or a name where it is not known what the expression names, as a function without a name.
    #[must_use]
    pub fn or_name(self, name: &str) -> Self {
        if self == Self::unknown_path() { Self::from_name(name) } else { self }
    }

    /// A path without a name in the repository.
    pub fn built_in() -> Self {
        Self::from_root(PathRoot::Outside(String::new()))
    }

    #[must_use]
    pub fn with_step(mut self, step: &str) -> Self {
        self.steps.push(step.to_owned());
        self
    }
}

/// Expressions that name a part of another one, with the fields of both.
const MEMBERS: &[(&str, &str, &str)] = &[
    ("attribute", "object", "attribute"),
    ("member_expression", "object", "property"),
    ("nested_identifier", "object", "property"),
    ("selector_expression", "operand", "field"),
    ("qualified_type", "package", "name"),
];

/// Nodes that stand for the first expression in them.
const WRAPPERS: &[&str] = &[
    "parenthesized_expression",
    "await_expression",
    "await",
    "unary_expression",
    "non_null_expression",
    "as_expression",
    "satisfies_expression",
    "generic_type",
    "expression_list",
];

/// Literals, which have only the methods of built-in types.
const LITERALS: &[&str] = &["string", "list", "dictionary", "array", "integer", "number", "float"];

/// A type: marks and wrappers that its methods pass through, its path, and the rest.
static TYPE: Pattern =
    Pattern::new(r#"^(?:[:*?\s'"]|(?:typing\.)?Optional\[)*([\w$]+(?:\.[\w$]+)*)\s*(.*)"#);

/// A source file among all files of a repository.
#[derive(Clone, Copy)]
pub struct SourceFile<'a> {
    pub file: &'a RepoPath,
    pub language: Language,
    pub text: &'a str,
    pub index: &'a Index,
    pub files: &'a BTreeMap<RepoPath, String>,
}

impl<'a> SourceFile<'a> {
    pub fn text_of(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.text)
    }

    pub fn field_of(&self, node: Node<'_>, field: &str) -> &'a str {
        field_of(node, field, self.text)
    }

    /// The files of the module that an import names; none if it is outside of the repository.
    pub fn modules_of(&self, import: &Import) -> Vec<RepoPath> {
        let module = import.module.as_str();
        let holds =
            |path: &str| RepoPath::parse(path).is_ok_and(|one| self.files.contains_key(&one));
        let is_package =
            |folder: &str| join(folder, "__init__.py").is_some_and(|path| holds(&path));
        let local = local_module(self.file, self.language, module, &holds);
        let beside = || {
            let name = module.replace('.', "/");
            let path = join(self.file.parent(), &format!("{name}.py"))?;
            (self.language == Language::Python && holds(&path)).then_some(path)
        };
        if let Some(path) = local.or_else(beside) {
            return RepoPath::parse(path).into_iter().collect();
        }
        let mut found = self.index.targets(self.file, self.language, import);
        match self.language {
            // A module of another program is rarely inside of a package.
            Language::Python => found.retain(|file| {
                let stem = file.as_str().trim_end_matches(".py").trim_end_matches("/__init__");
                let root = stem.strip_suffix(&module.replace('.', "/"));
                root.is_some_and(|root| !is_package(root))
            }),
            Language::Go => return found,
            _ if module.contains('/') => {}
            _ => found.clear(),
        }
        found.truncate(1);
        found
    }

    /// The module that an import names.
    pub fn module_path(&self, import: &Import) -> NamePath {
        let files = self.modules_of(import);
        let module = || PathRoot::Outside(import.module.clone());
        NamePath::from_root(if files.is_empty() { module() } else { PathRoot::Files(files) })
    }

    /// What an expression names.
    pub fn path_of(&self, node: Node<'_>) -> NamePath {
        let path_in =
            |field: &str| node.child_by_field_name(field).map(|inner| self.path_of(inner));
        let member = MEMBERS.iter().find(|(kind, ..)| *kind == node.kind());
        if let Some((_, object, name)) = member {
            let object = path_in(object).unwrap_or_else(NamePath::unknown_path);
            return object.with_step(self.field_of(node, name));
        }
        match node.kind() {
            "this" => NamePath::from_root(PathRoot::Own),
            "super" => NamePath::from_root(PathRoot::Super),
            "call" | "call_expression" => self.path_of_call(node),
            "new_expression" => {
                path_in("constructor").unwrap_or_else(NamePath::unknown_path).with_step(CALLED)
            }
            "composite_literal" => self.type_path(self.field_of(node, "type")),
            "object" => NamePath::from_root(PathRoot::Lines(line(node), end_line(node))),
            kind if kind.ends_with("identifier") => self.path_of_name(self.text_of(node)),
            kind if WRAPPERS.contains(&kind) => {
                node.named_child(0).map_or_else(NamePath::unknown_path, |inner| self.path_of(inner))
            }
            kind if LITERALS.iter().any(|literal| kind.starts_with(literal)) => {
                NamePath::built_in()
            }
            // A class or function that is a value.
            _ => match self.field_of(node, "name") {
                "" => NamePath::unknown_path(),
                name => NamePath::from_name(name),
            },
        }
    }

    pub fn path_of_name(&self, name: &str) -> NamePath {
        match (self.language, name) {
            (Language::Python, "self" | "cls") => NamePath::from_root(PathRoot::Own),
            _ => NamePath::from_name(name),
        }
    }

    fn path_of_call(&self, node: Node<'_>) -> NamePath {
        let Some(function) = node.child_by_field_name("function") else {
            return NamePath::unknown_path();
        };
        if self.language == Language::Python && self.text_of(function) == "super" {
            return NamePath::from_root(PathRoot::Super);
        }
        let mut loaded = read_nodes(self.language, &[node], self.text).into_iter();
        if let Some(import) = loaded.next().filter(|_| self.language.is_script()) {
            return self.module_path(&import);
        }
        self.path_of(function).with_step(CALLED)
    }

    /// An object of a type as it is written.
    pub fn type_path(&self, written: &str) -> NamePath {
        let Some(found) = TYPE.captures(written).next() else { return NamePath::built_in() };
        let group = |at| found.get(at).map_or("", |one| one.as_str());
        let rest = group(2).trim_start_matches(['"', '\'']).trim_start();
        let nothing = ["| None", "| null", "| undefined"];
        let is_plain = rest.is_empty()
            || rest.starts_with(['<', ']', '='])
            || rest.starts_with('[') && !rest.starts_with("[]")
            || nothing.iter().any(|end| rest.trim_end_matches(['"', '\'']) == *end);
        let mut parts = group(1).split('.');
        match parts.next().filter(|_| is_plain) {
            Some(first) => {
                let path = self.path_of_name(first);
                parts.fold(path, NamePath::with_step).with_step(INSTANCE)
            }
            None => NamePath::built_in(),
        }
    }
}
