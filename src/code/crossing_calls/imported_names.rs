//! The names that an import statement introduces, and those that a script exports.

use tree_sitter::Node;

use super::name_path::{NamePath, PathRoot, SourceFile};
use crate::code::go_packages::{last_name, package_name};
use crate::code::imports::{Import, read_nodes, submodule};
use crate::code::language::Language;
use crate::code::signature::module_exports::{assigned_value, member};
use crate::code::tree::{named_children, named_nodes};

/// A name with what it stands for; `*` for all names of a module.
pub type NamedPath = (String, NamePath);

/// The names that a node introduces if it is an import statement.
pub fn imported_names(source: &SourceFile<'_>, node: Node<'_>) -> Vec<NamedPath> {
    let statements =
        ["import_statement", "import_from_statement", "import_spec", "import_declaration"];
    if !statements.contains(&node.kind()) {
        return Vec::new();
    }
    let imports = read_nodes(source.language, &[node], source.text);
    match source.language {
        Language::Python => python_names(source, node, &imports),
        Language::Go => imports.iter().map(|one| go_name(source, node, one)).collect(),
        _ => imports
            .first()
            .map(|import| script_names(source, node, &source.module_path(import)))
            .unwrap_or_default(),
    }
}

fn python_names(source: &SourceFile<'_>, node: Node<'_>, imports: &[Import]) -> Vec<NamedPath> {
    let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut node.walk()).collect();
    let local = |name: Node<'_>| source.text_of(name.child_by_field_name("alias").unwrap_or(name));
    let files = |module: &str| -> NamePath {
        let first = imports.first().cloned();
        let import =
            first.map(|one| Import { module: module.to_owned(), names: Vec::new(), ..one });
        import.map_or_else(NamePath::unknown_path, |import| source.module_path(&import))
    };
    if node.kind() == "import_statement" {
        let pairs = imports.iter().zip(names);
        return pairs.map(|(one, name)| (local(name).to_owned(), files(&one.module))).collect();
    }
    let Some(import) = imports.first() else { return Vec::new() };
    let module = files(&import.module);
    if names.is_empty() {
        return vec![("*".to_owned(), module)];
    }
    let target = |name: &String| {
        // A folder without `__init__.py` is a package too.
        let inner = match module.root {
            PathRoot::Outside(_) => Some(files(&submodule(&import.module, name))),
            _ => None,
        };
        let inner = inner.filter(|path| matches!(path.root, PathRoot::Files(_)));
        inner.unwrap_or_else(|| module.clone().with_step(name))
    };
    let pairs = import.names.iter().zip(names);
    pairs.map(|(name, node)| (local(node).to_owned(), target(name))).collect()
}

fn script_names(source: &SourceFile<'_>, statement: Node<'_>, module: &NamePath) -> Vec<NamedPath> {
    let name = |node: Node<'_>| match (node.kind(), node.parent()?.kind()) {
        ("identifier", "import_clause") => {
            Some((source.text_of(node).to_owned(), module.clone().with_step("default")))
        }
        ("identifier", "namespace_import") => {
            Some((source.text_of(node).to_owned(), module.clone()))
        }
        ("import_specifier", _) => {
            let name = node.child_by_field_name("name")?;
            let local = node.child_by_field_name("alias").unwrap_or(name);
            let path = module.clone().with_step(source.text_of(name));
            Some((source.text_of(local).to_owned(), path))
        }
        _ => None,
    };
    named_nodes(statement).into_iter().filter_map(name).collect()
}

fn go_name(source: &SourceFile<'_>, node: Node<'_>, import: &Import) -> NamedPath {
    let module = source.module_path(import);
    let file = match &module.root {
        PathRoot::Files(files) => files.first(),
        _ => None,
    };
    let text = file.and_then(|file| source.files.get(file));
    let package = text.and_then(|text| package_name(text));
    let local = match source.field_of(node, "name") {
        "" => package.unwrap_or_else(|| last_name(&import.module)),
        "." => "*",
        name => name,
    };
    (local.to_owned(), module)
}

/// The names that a node exports if it is a statement of a script that does so.
pub fn exported_names(source: &SourceFile<'_>, node: Node<'_>) -> Vec<NamedPath> {
    match node.kind() {
        "export_statement" => module_exports(source, node),
        "assignment_expression" => {
            let Some(value) = assigned_value(node) else { return Vec::new() };
            match source.field_of(node, "left") {
                "module.exports" | "exports" => object_exports(source, value),
                target => member(target)
                    .map(|name| vec![(name.to_owned(), source.path_of(value).or_name(name))])
                    .unwrap_or_default(),
            }
        }
        "call_expression" if source.field_of(node, "function") == "Object.assign" => {
            let list = node.child_by_field_name("arguments").map(named_children);
            let mut list = list.unwrap_or_default().into_iter();
            let target = list.next().map_or("", |first| source.text_of(first));
            let is_export = matches!(target, "exports" | "module.exports");
            list.filter(|_| is_export).flat_map(|one| object_exports(source, one)).collect()
        }
        _ => Vec::new(),
    }
}

fn module_exports(source: &SourceFile<'_>, statement: Node<'_>) -> Vec<NamedPath> {
    let field = |name: &str| statement.child_by_field_name(name);
    let is_default = source.text_of(statement).starts_with("export default");
    if let Some(value) = field("value") {
        let mut found = object_exports(source, value);
        found.retain(|(name, _)| name != "*");
        return found;
    }
    if let Some(declaration) = field("declaration") {
        let own = declaration.child_by_field_name("name").into_iter();
        let variables = named_children(declaration).into_iter();
        let variables = variables.filter(|child| child.kind() == "variable_declarator");
        let names = own.chain(variables.filter_map(|one| one.child_by_field_name("name")));
        let names = names.map(|name| source.text_of(name).to_owned());
        let outside = |name: &String| if is_default { "default".to_owned() } else { name.clone() };
        return names.map(|name| (outside(&name), NamePath::from_name(&name))).collect();
    }
    let imports = read_nodes(source.language, &[statement], source.text);
    let from = imports.first();
    let from = from.map(|one| source.module_path(one));
    let mut found = Vec::new();
    for clause in named_children(statement) {
        match (clause.kind(), &from) {
            ("export_clause", _) => {
                for one in named_children(clause) {
                    let Some(name) = one.child_by_field_name("name") else { continue };
                    let outside = one.child_by_field_name("alias").unwrap_or(name);
                    let name = source.text_of(name);
                    let path = from.clone().map(|from| from.with_step(name));
                    let path = path.unwrap_or_else(|| NamePath::from_name(name));
                    found.push((source.text_of(outside).to_owned(), path));
                }
            }
            ("namespace_export", Some(from)) => {
                let name = clause.named_child(0).map_or("", |name| source.text_of(name));
                found.push((name.to_owned(), from.clone()));
            }
            _ => {}
        }
    }
    let is_all = found.is_empty() && source.text_of(statement).contains('*');
    found.extend(from.filter(|_| is_all).map(|from| ("*".to_owned(), from)));
    found
}

/// What a script exports with a value that stands for the whole module.
fn object_exports(source: &SourceFile<'_>, value: Node<'_>) -> Vec<NamedPath> {
    let path = source.path_of(value);
    if value.kind() != "object" {
        let is_module = matches!(path.root, PathRoot::Files(_)) && path.steps.is_empty();
        let all = is_module.then(|| ("*".to_owned(), path.clone()));
        return all.into_iter().chain([("default".to_owned(), path.or_name("default"))]).collect();
    }
    let entry = |part: Node<'_>| {
        let key = source.field_of(part, "key").trim_matches(['"', '\'']);
        let inner = part.child_by_field_name("value").map(|inner| source.path_of(inner));
        match part.kind() {
            "shorthand_property_identifier" => {
                let name = source.text_of(part);
                Some((name.to_owned(), NamePath::from_name(name)))
            }
            "method_definition" => {
                let name = source.field_of(part, "name");
                Some((name.to_owned(), NamePath::from_name(name)))
            }
            "spread_element" => Some(("*".to_owned(), source.path_of(part.named_child(0)?))),
            "pair" => Some((key.to_owned(), inner?.or_name(key))),
            _ => None,
        }
    };
    named_children(value).into_iter().filter_map(entry).collect()
}
