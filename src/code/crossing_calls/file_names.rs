//! What one file says of its names: declarations, bindings with their scopes, attributes, base classes,
//! exports, and the calls.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::call_sites::{CallSite, call_site, is_call};
use super::imported_names::{exported_names, imported_names};
use super::name_path::{NamePath, PathRoot, SourceFile};
use crate::code::go_packages::package_name;
use crate::code::language::Language;
use crate::code::outline::{
    Declaration, DeclarationKind, Function, declarations_below, qualified_functions, route_handlers,
};
use crate::code::signature::module_exports::{assigned_value, member};
use crate::code::tree::{FUNCTIONS, around, end_line, line, named_children, named_nodes};

/// The first and the last byte in which a name holds.
pub type Span = (usize, usize);

/// The scope of a whole file.
pub const WHOLE: Span = (0, usize::MAX);

/// What a name stands for in a scope.
#[derive(Clone, Debug)]
pub struct Binding {
    pub scope: Span,
    /// The byte from which its path is resolved.
    pub at: usize,
    pub path: NamePath,
}

/// The names of a file and its calls.
#[derive(Debug, Default)]
pub struct FileNames {
    /// The package of a file in Go.
    pub package: String,
    pub functions: Vec<Function>,
    pub declared: BTreeMap<String, Declaration>,
    pub bindings: BTreeMap<String, Vec<Binding>>,
    /// What attributes hold, by class and name.
    pub attributes: BTreeMap<(String, String), Vec<Binding>>,
    /// The base classes, by class.
    pub bases: BTreeMap<String, Vec<Binding>>,
    pub exports: BTreeMap<String, Vec<NamePath>>,
    /// Modules all of whose names are imported or exported.
    pub stars: Vec<NamePath>,
    pub calls: Vec<CallSite>,
    /// Assignments to names that are bound elsewhere.
    assigned: Vec<(String, Binding)>,
    classes: Vec<(Span, String)>,
}

/// Nodes that bind a name: fields of name (else the first child), type and value.
const BINDERS: &[(&str, &str, &str, &str)] = &[
    ("assignment", "left", "type", "right"),
    ("named_expression", "name", "", "value"),
    ("typed_parameter", "", "type", ""),
    ("default_parameter", "name", "", "value"),
    ("typed_default_parameter", "name", "type", "value"),
    ("assignment_pattern", "left", "", "right"),
    ("for_statement", "left", "", ""),
    ("for_in_clause", "left", "", ""),
    ("as_pattern", "alias", "", ""),
    ("for_in_statement", "left", "", ""),
    ("variable_declarator", "name", "type", "value"),
    ("assignment_expression", "left", "", "right"),
    ("field_definition", "property", "", "value"),
    ("public_field_definition", "name", "type", "value"),
    ("required_parameter", "pattern", "type", "value"),
    ("optional_parameter", "pattern", "type", ""),
    ("short_var_declaration", "left", "", "right"),
    ("assignment_statement", "left", "", "right"),
    ("var_spec", "name", "type", "value"),
    ("parameter_declaration", "name", "type", ""),
    ("range_clause", "left", "", ""),
    ("field_declaration", "name", "type", ""),
];

/// Nodes whose children are parameters without a type.
const PARAMETER_LISTS: &[&str] = &["parameters", "lambda_parameters", "formal_parameters"];

const BASE_LISTS: &[&str] = &["class_heritage", "extends_clause"];

impl FileNames {
    /// Reads a file; nothing is known of one that cannot be parsed.
    pub fn read(source: &SourceFile<'_>) -> Self {
        let Some(tree) = source.language.parse(source.text) else { return Self::default() };
        let nodes = named_nodes(tree.root_node());
        let mut names = Self::default();
        names.read_declarations(source, tree.root_node(), &nodes);
        names.read_package(source);
        for node in nodes {
            for (name, path) in imported_names(source, node) {
                match name.as_str() {
                    "*" => names.stars.push(path),
                    _ => names.bind(&name, node, path),
                }
            }
            for (name, path) in exported_names(source, node) {
                match name.as_str() {
                    "*" => names.stars.push(path),
                    _ => names.exports.entry(name).or_default().push(path),
                }
            }
            names.read_binder(source, node);
            names.read_parameters(source, node);
            names.read_bases(source, node);
            names.calls.extend(call_site(source, node));
        }
        for (name, mut binding) in std::mem::take(&mut names.assigned) {
            let scope = names.bindings_at(&name, binding.at).first().map(|known| known.scope);
            binding.scope = scope.unwrap_or(WHOLE);
            names.bindings.entry(name).or_default().push(binding);
        }
        names
    }

    /// The innermost class that contains a byte.
    pub fn class_at(&self, at: usize) -> Option<&str> {
        let around = self.classes.iter().filter(|(span, _)| is_inside(at, *span));
        around.min_by_key(|((start, end), _)| end - start).map(|(_, name)| name.as_str())
    }

    /// The bindings of a name in the innermost scope that contains a byte.
    pub fn bindings_at(&self, name: &str, at: usize) -> Vec<&Binding> {
        let mut found: Vec<&Binding> = self.bindings.get(name).into_iter().flatten().collect();
        found.retain(|one| is_inside(at, one.scope));
        let inner = found.iter().map(|one| one.scope.1 - one.scope.0).min();
        found.retain(|one| Some(one.scope.1 - one.scope.0) == inner);
        found
    }

    /// The bound name that a path begins with, dotted for `import shop.tax`, and the other steps.
    pub fn split_bound<'s>(&self, name: &str, steps: &'s [String]) -> (String, &'s [String]) {
        let long = (1..=steps.len()).rev().find_map(|count| {
            let (inner, rest) = steps.split_at_checked(count)?;
            let long = format!("{name}.{}", inner.join("."));
            self.bindings.contains_key(&long).then_some((long, rest))
        });
        long.unwrap_or_else(|| (name.to_owned(), steps))
    }

    fn read_declarations(&mut self, source: &SourceFile<'_>, root: Node<'_>, nodes: &[Node<'_>]) {
        let declarations = declarations_below(root, source.text);
        let anonymous = nodes.iter().filter_map(|node| exported_function(source, *node));
        let handlers = if source.language.is_script() {
            route_handlers(root, source.text)
        } else {
            Vec::new()
        };
        let anonymous = anonymous.chain(handlers);
        self.functions = qualified_functions(root, source.text);
        for one in anonymous {
            if !self.functions.iter().any(|known| known.start == one.start) {
                self.functions.push(one);
            }
        }
        for node in nodes {
            let is_node = |one: &&Declaration| {
                one.kind == DeclarationKind::Type
                    && (one.start, one.end) == (line(*node), end_line(*node))
            };
            let is_body = node.child_by_field_name("body").is_some() || node.kind() == "type_spec";
            let class = is_body.then(|| declarations.iter().find(is_node)).flatten();
            let named = class.map(|class| (span_of(*node), class.name.clone()));
            self.classes.extend(named);
        }
        let kind = DeclarationKind::Function;
        let functions = self.functions.iter().cloned();
        let functions =
            functions.map(|Function { name, start, end }| Declaration { kind, name, start, end });
        for one in declarations.into_iter().chain(functions) {
            self.declared.entry(one.name.clone()).or_insert(one);
        }
    }

    /// The names of the other files of its package in Go, which need no import.
    fn read_package(&mut self, source: &SourceFile<'_>) {
        if source.language == Language::Go {
            let files = source.index.companions(source.file, source.language);
            self.stars.push(NamePath::from_root(PathRoot::Files(files)));
            package_name(source.text).unwrap_or_default().clone_into(&mut self.package);
        }
    }

    fn bind(&mut self, name: &str, node: Node<'_>, path: NamePath) {
        let scope = around(node, FUNCTIONS).map_or(WHOLE, span_of);
        let binding = Binding { scope, at: node.start_byte(), path };
        let declares = ["assignment_expression", "assignment_statement"];
        if declares.contains(&node.kind()) {
            self.assigned.push((name.to_owned(), binding));
        } else {
            self.bindings.entry(name.to_owned()).or_default().push(binding);
        }
    }

    fn add_attribute(&mut self, name: &str, node: Node<'_>, path: NamePath) {
        let at = node.start_byte();
        let Some(class) = self.class_at(at).map(str::to_owned) else { return };
        let binding = Binding { scope: WHOLE, at, path };
        self.attributes.entry((class, name.to_owned())).or_default().push(binding);
    }

    fn read_binder(&mut self, source: &SourceFile<'_>, node: Node<'_>) {
        let binder = BINDERS.iter().find(|(kind, ..)| *kind == node.kind());
        let Some((kind, name, type_field, value)) = binder else { return };
        let written = source.field_of(node, type_field);
        let value = match *kind {
            "as_pattern" => node.named_child(0),
            // Other defaults say little of what a parameter is given.
            kind if kind.ends_with("parameter") || kind == "assignment_pattern" => {
                node.child_by_field_name(value).filter(|one| is_call(*one))
            }
            _ => node.child_by_field_name(value),
        };
        let is_function =
            value.is_some_and(|one| FUNCTIONS.contains(&one.kind()) || one.kind() == "class");
        if is_function && *kind == "variable_declarator" && around(node, FUNCTIONS).is_none() {
            return;
        }
        let path = match value {
            _ if !written.is_empty() => source.type_path(written),
            Some(value) if !is_function => source.path_of(value),
            _ => NamePath::unknown_path(),
        };
        let mut targets: Vec<Node<'_>> = match *name {
            "" => node.named_child(0).into_iter().collect(),
            name => node.children_by_field_name(name, &mut node.walk()).collect(),
        };
        if let [list] = targets.as_slice()
            && list.kind() == "expression_list"
        {
            targets = named_children(*list);
        }
        let values = value.filter(|one| one.kind() == "expression_list").map(named_children);
        for (place, target) in targets.into_iter().enumerate() {
            let own = values.iter().flatten().nth(place).map(|value| source.path_of(*value));
            let path = if place == 0 || !written.is_empty() { Some(path.clone()) } else { own };
            self.bind_target(source, node, target, path.unwrap_or_else(NamePath::unknown_path));
        }
    }

    fn bind_target(
        &mut self,
        source: &SourceFile<'_>,
        node: Node<'_>,
        mut target: Node<'_>,
        path: NamePath,
    ) {
        while target.kind() == "as_pattern_target" {
            let inner = target.named_child_count().checked_sub(1);
            let inner = inner.and_then(|last| target.named_child(u32::try_from(last).ok()?));
            let Some(inner) = inner else { return };
            target = inner;
        }
        let is_field = node.kind().ends_with("field_definition")
            || node.kind() == "field_declaration"
            || node.kind() == "assignment"
                && around(node, &[FUNCTIONS, &["class_definition"]].concat())
                    .is_some_and(|inner| inner.kind() == "class_definition");
        let also_field =
            named_children(node).iter().any(|one| one.kind() == "accessibility_modifier");
        let own = source.path_of(target);
        match (&own.root, own.steps.as_slice()) {
            (PathRoot::Own, [name]) => self.add_attribute(name, node, path),
            (PathRoot::Name(name), []) if is_field => self.add_attribute(name, node, path),
            (PathRoot::Name(name), []) => {
                if also_field {
                    self.add_attribute(name, node, path.clone());
                }
                self.bind(name, node, path);
            }
            (_, []) => self.bind_pattern(source, node, target, &path),
            _ => {}
        }
    }

    /// Binds the names of a pattern; those of an object stand for its parts.
    fn bind_pattern(
        &mut self,
        source: &SourceFile<'_>,
        node: Node<'_>,
        pattern: Node<'_>,
        path: &NamePath,
    ) {
        for part in named_children(pattern) {
            let text = source.text_of(part);
            let key = source.field_of(part, "key");
            let left = part.child_by_field_name("left").map_or("", |left| source.text_of(left));
            match part.kind() {
                "shorthand_property_identifier_pattern" => {
                    self.bind(text, node, path.clone().with_step(text));
                }
                "object_assignment_pattern" => self.bind(left, node, path.clone().with_step(left)),
                "pair_pattern" if !source.field_of(part, "value").contains(['{', '[']) => {
                    let local = source.field_of(part, "value");
                    self.bind(local, node, path.clone().with_step(key));
                }
                "identifier" => self.bind(text, node, NamePath::unknown_path()),
                _ => self.bind_pattern(source, node, part, &NamePath::unknown_path()),
            }
        }
    }

    /// Binds parameters without a type, and a function inside of another one: they hide imports.
    fn read_parameters(&mut self, source: &SourceFile<'_>, node: Node<'_>) {
        let parameters = match node.kind() {
            kind if PARAMETER_LISTS.contains(&kind) => named_children(node),
            "arrow_function" => node.named_child(0).into_iter().collect(),
            _ => Vec::new(),
        };
        for one in parameters {
            // What a parameter is by default is no name of its own; a call is what it holds.
            if one.child_by_field_name("right").is_some_and(is_call) {
                continue;
            }
            let one = one.child_by_field_name("left").unwrap_or(one);
            if one.kind() == "identifier" {
                self.bind(source.text_of(one), one, NamePath::unknown_path());
            } else if one.kind().ends_with("_pattern") {
                self.bind_pattern(source, one, one, &NamePath::unknown_path());
            }
        }
        if FUNCTIONS.contains(&node.kind()) && around(node, FUNCTIONS).is_some() {
            self.bind(source.field_of(node, "name"), node, NamePath::unknown_path());
        }
    }

    fn read_bases(&mut self, source: &SourceFile<'_>, node: Node<'_>) {
        let field = |name: &str| node.child_by_field_name(name);
        let bases = match node.kind() {
            "field_declaration" if field("name").is_none() => field("type").into_iter().collect(),
            "class_definition" => field("superclasses").map(named_children).unwrap_or_default(),
            kind if BASE_LISTS.contains(&kind) => named_children(node),
            _ => return,
        };
        let at = node.start_byte();
        let Some(class) = self.class_at(at).map(str::to_owned) else { return };
        for base in bases.into_iter().filter(|base| !base.kind().ends_with("_clause")) {
            let path = source.type_path(source.text_of(base));
            let binding = Binding { scope: WHOLE, at, path };
            self.bases.entry(class.clone()).or_default().push(binding);
        }
    }
}

fn span_of(node: Node<'_>) -> Span {
    (node.start_byte(), node.end_byte())
}

fn is_inside(at: usize, (start, end): Span) -> bool {
    start <= at && at <= end
}

/// A function that a script exports where it is written, which the outline does not list.
fn exported_function(source: &SourceFile<'_>, node: Node<'_>) -> Option<Function> {
    let (value, outside) = match node.kind() {
        "export_statement" => (node.child_by_field_name("value")?, "default"),
        "assignment_expression" if source.language.is_script() => {
            let target = source.field_of(node, "left");
            let is_module = target == "module.exports";
            (assigned_value(node)?, if is_module { "default" } else { member(target)? })
        }
        _ => return None,
    };
    let own = source.field_of(value, "name");
    let name = if own.is_empty() { outside } else { own }.to_owned();
    let found = Function { name, start: line(node), end: end_line(node) };
    FUNCTIONS.contains(&value.kind()).then_some(found)
}
