//! Handlers of routes of Express, which a test reaches through its application by the client `supertest`.

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{
    FUNCTIONS, around, end_line, field_of, line, named_children, named_nodes, text_of,
};
use crate::domain::text::has_word;

use super::entry_input::{EntryInput, InputPlace};
use super::entry_points::EntryPoint;
use super::module_exports::{Exports, of_module};
use super::{Callable, Parameter, Type, literals};

/// The client that tests ask an application by.
pub const CLIENT: &str = "supertest";

/// Methods of requests that routes are named after.
const METHODS: &[&str] = &["get", "post", "put", "patch", "delete"];

static PARAMETER: Pattern = Pattern::new(r":(\w+)");

/// What a handler takes from its request: `req.query.page`, `{ page } = req.query`.
static MEMBER: Pattern = Pattern::new(r"(\w+)\.(query|body)\??\.(\w+)");
static FIELDS: Pattern = Pattern::new(r"\{([^{}]*)\}\s*=\s*(\w+)\.(query|body)\b");

/// A handler of a route.
#[derive(Clone, Debug)]
pub struct RouteHandler<'a, 't> {
    /// The name of its function; for one without, the method and the path of its route: `GET /orders/:id`.
    pub name: String,
    pub function: Node<'t>,
    /// The variable of the application or the router.
    host: &'a str,
    method: &'a str,
    path: &'a str,
}

/// The handlers that a file writes where it declares their routes.
pub fn list_handlers<'a, 't>(root: Node<'t>, text: &'a str) -> Vec<RouteHandler<'a, 't>> {
    if !text.contains("express") {
        return Vec::new();
    }
    let calls = named_nodes(root).into_iter().filter(|one| one.kind() == "call_expression");
    calls.filter_map(|call| read_handler(call, text)).collect()
}

fn read_handler<'a, 't>(call: Node<'t>, text: &'a str) -> Option<RouteHandler<'a, 't>> {
    let (host, method) = field_of(call, "function", text).rsplit_once('.')?;
    let given = named_children(call.child_by_field_name("arguments")?);
    let path = given.first().filter(|one| one.kind() == "string")?;
    let path = unquote(text_of(*path, text));
    if !METHODS.contains(&method) || !path.starts_with('/') {
        return None;
    }
    let function = *given.last().filter(|one| FUNCTIONS.contains(&one.kind()))?;
    let name = match field_of(function, "name", text) {
        "" => format!("{} {path}", method.to_uppercase()),
        own => own.to_owned(),
    };
    Some(RouteHandler { name, function, host, method, path })
}

/// Puts the handlers of routes in the place of the plain functions of a file. `hosts` are other files, by the paths
/// from which a test imports them, that may put its routers into applications.
pub fn add_routes(
    found: &mut Vec<Callable>,
    (file, text): (&str, &str),
    language: Language,
    hosts: &[(String, String)],
) {
    let Some(tree) = language.parse(text) else { return };
    let root = tree.root_node();
    let handlers = list_handlers(root, text);
    let own = (file.to_owned(), text.to_owned());
    let entries = handlers.iter().filter_map(|handler| {
        let is_router = made_by(handler.host, root, text)?;
        let (host, prefix) = if is_router {
            let mounted = std::iter::once(&own).chain(hosts);
            mounted.into_iter().find_map(|host| find_mount(handler.host, file, host, language))?
        } else {
            (find_application(handler.host, &own, language)?, String::new())
        };
        let body = handler.function.child_by_field_name("body")?;
        Some(Callable {
            name: handler.name.clone(),
            start: line(handler.function),
            end: end_line(handler.function),
            literals: literals(body, text),
            entry: Some(entry_of(handler, (host, &prefix), text)),
            ..Callable::default()
        })
    });
    let entries: Vec<Callable> = entries.collect();
    found.retain(|one| entries.iter().all(|entry| entry.name != one.name));
    found.extend(entries);
}

/// Whether a variable is a router, or `false` for an application; `None` for anything else.
fn made_by(name: &str, root: Node<'_>, text: &str) -> Option<bool> {
    let declared = declaration_of(name, root, text)?;
    match field_of(declared, "value", text) {
        "express()" => Some(false),
        value if value.starts_with("express.Router(") || value.starts_with("Router(") => Some(true),
        _ => None,
    }
}

fn declaration_of<'t>(name: &str, root: Node<'t>, text: &str) -> Option<Node<'t>> {
    let mut all = named_nodes(root).into_iter().filter(|one| one.kind() == "variable_declarator");
    all.find(|one| field_of(*one, "name", text) == name)
}

/// How a test imports and names an application: the path, the exported name, and the expression.
type Imported = (String, String, String);

/// The application of a variable, by what its file exports: itself, or a function that returns it and needs no argument.
fn find_application(
    name: &str,
    (path, text): &(String, String),
    language: Language,
) -> Option<Imported> {
    let tree = language.parse(text)?;
    let root = tree.root_node();
    let exports: Exports = of_module(root, text);
    if let Some(export) = exports.get(name) {
        return Some((path.clone(), export.clone(), name.to_owned()));
    }
    let maker = around(declaration_of(name, root, text)?, FUNCTIONS)?;
    let own = field_of(maker, "name", text);
    let is_left_out = |one: &Node<'_>| {
        ["assignment_pattern", "optional_parameter"].contains(&one.kind())
            || one.child_by_field_name("value").is_some()
    };
    let parameters = maker.child_by_field_name("parameters").map(named_children);
    let is_free = parameters.is_some_and(|all| all.iter().all(is_left_out));
    let returns = field_of(maker, "body", text).contains(&format!("return {name}"));
    let export = exports.get(own).filter(|_| is_free && returns)?;
    Some((path.clone(), export.clone(), format!("{own}()")))
}

/// The application that a file puts a router of another one into, or one of its own, with the prefix.
fn find_mount(
    router: &str,
    file: &str,
    host: &(String, String),
    language: Language,
) -> Option<(Imported, String)> {
    let (path, text) = host;
    let tree = language.parse(text)?;
    let root = tree.root_node();
    let stem = file.rsplit('/').next()?.split('.').next()?;
    let is_router = |given: &str| {
        if path == file {
            return given == router;
        }
        let names_file = |text: &str| {
            text.contains(&format!("/{stem}'"))
                || text.contains(&format!("/{stem}\""))
                || text.contains(&format!("/{stem}."))
        };
        let imports = || {
            let mut lines = text.lines().filter(|line| names_file(line));
            lines.any(|line| has_word(line, given))
        };
        names_file(given) || imports()
    };
    let calls = named_nodes(root).into_iter().filter(|one| one.kind() == "call_expression");
    calls.into_iter().find_map(|call| {
        let application = field_of(call, "function", text).strip_suffix(".use")?;
        let given = named_children(call.child_by_field_name("arguments")?);
        let last = given.last().filter(|one| is_router(text_of(**one, text)))?;
        let prefix = given.first().filter(|one| one.id() != last.id() && one.kind() == "string");
        let prefix = prefix.map_or("", |one| unquote(text_of(*one, text)));
        (made_by(application, root, text) == Some(false)).then_some(())?;
        Some((find_application(application, host, language)?, prefix.to_owned()))
    })
}

fn unquote(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}

fn entry_of(
    handler: &RouteHandler<'_, '_>,
    ((path, export, object), prefix): (Imported, &str),
    text: &str,
) -> EntryPoint {
    let joined = format!("{}{}", prefix.trim_end_matches('/'), handler.path);
    let route = PARAMETER.replace_all(&joined, "{$1}");
    let code = text_of(handler.function, text);
    let mut inputs: Vec<EntryInput> = PARAMETER
        .captures(&joined)
        .filter_map(|one| Some(input(one.get(1)?.as_str(), InputPlace::Path, code)))
        .collect();
    let place_of = |kind: &str| {
        if kind == "body" { InputPlace::Json } else { InputPlace::Query }
    };
    let mut add = |name: &str, kind: &str| {
        let is_known = inputs.iter().any(|one| one.parameter.name == name);
        if !is_known && !name.is_empty() {
            inputs.push(input(name, place_of(kind), code));
        }
    };
    for found in FIELDS.captures(code) {
        let part = |index: usize| found.get(index).map_or("", |one| one.as_str());
        for name in part(1).split(',') {
            add(name.split(['=', ':']).next().unwrap_or_default().trim(), part(3));
        }
    }
    for found in MEMBER.captures(code) {
        let part = |index: usize| found.get(index).map_or("", |one| one.as_str());
        add(part(3), part(2));
    }
    let imported = object.trim_end_matches("()").to_owned();
    EntryPoint {
        callee: format!("request({object}).{}", handler.method),
        route: Some(route),
        inputs,
        imports: vec![
            ("request".to_owned(), format!("{CLIENT}#default")),
            (imported.clone(), format!("{path}#{export}")),
        ],
        object: imported,
        ..EntryPoint::default()
    }
}

/// What a request gives under a name; a value with another one in its place may be left out.
fn input(name: &str, place: InputPlace, code: &str) -> EntryInput {
    let has = |marks: &[&str]| marks.iter().any(|mark| code.contains(&format!("{name}{mark}")));
    let optional = has(&[" ||", " ??", " = "]);
    let is_number = ["Number(", "parseInt(", "parseFloat(", "+"].iter().any(|maker| {
        let mut places = code.match_indices(maker);
        places.any(|(at, _)| {
            let rest = code.get(at + maker.len()..).unwrap_or_default();
            rest.split([')', ',', ' ', ';'])
                .next()
                .is_some_and(|one| one.ends_with(&format!(".{name}")))
        })
    });
    let types = if is_number { vec![Type::Int] } else { Vec::new() };
    let parameter = Parameter { name: name.to_owned(), types, optional, ..Parameter::default() };
    EntryInput { parameter, place }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &str = "const express = require('express');\nconst prices = require('./prices');\nconst router = express.Router();\nrouter.get('/price/:sku', (req, res) => {\n  res.json(prices.priceOf(req.params.sku));\n});\nrouter.post('/total', function addUp(req, res) {\n  const { sku, count = 1 } = req.body;\n  res.json(prices.total(sku, count, Number(req.query.page || 1)));\n});\nmodule.exports = router;\n";
    const APP: &str = "const express = require('express');\nconst orders = require('./orders');\nfunction makeApp() {\n  const app = express();\n  app.use('/orders', orders);\n  return app;\n}\nmodule.exports = { makeApp };\n";

    fn routes(file: &str, text: &str, hosts: &[(String, String)]) -> Vec<Callable> {
        let mut found = Vec::new();
        add_routes(&mut found, (file, text), Language::JavaScript, hosts);
        found
    }

    #[test]
    fn handlers_of_a_router_are_asked_through_the_application_of_another_file() {
        let found = routes("src/orders.js", ORDERS, &[("src/app.js".into(), APP.into())]);
        let routes: Vec<_> = found
            .iter()
            .map(|one| {
                let entry = one.entry.as_ref().unwrap();
                let inputs = entry.inputs.iter();
                let inputs: Vec<_> = inputs
                    .map(|one| (one.parameter.name.as_str(), one.parameter.optional))
                    .collect();
                (one.name.as_str(), entry.callee.as_str(), entry.route.as_deref().unwrap(), inputs)
            })
            .collect();
        let get = (
            "GET /price/:sku",
            "request(makeApp()).get",
            "/orders/price/{sku}",
            vec![("sku", false)],
        );
        let given = vec![("sku", false), ("count", true), ("page", true)];
        let post = ("addUp", "request(makeApp()).post", "/orders/total", given);
        assert_eq!(routes, [get, post]);
        let imports = &found[0].entry.as_ref().unwrap().imports;
        assert_eq!(imports[1], ("makeApp".to_owned(), "src/app.js#makeApp".to_owned()));
    }

    #[test]
    fn an_application_that_no_file_exports_has_no_routes_to_ask() {
        let text = "const app = express();\napp.get('/x', (req, res) => res.send('x'));\n";
        let exported = format!("{text}module.exports = app;\n");
        assert!(routes("app.js", text, &[]).is_empty());
        let found = routes("app.js", &exported, &[]);
        assert_eq!(found[0].entry.as_ref().unwrap().callee, "request(app).get");
        assert!(routes("src/orders.js", ORDERS, &[]).is_empty());
        // What has the shape of a route, and is none.
        assert!(routes("a.js", "express;\naxios.get('/x', () => 1);\n", &[]).is_empty());
    }
}
