//! Views of Django: the paths by which `urlpatterns` lead to those of a file, and what they read of their requests.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::tree::{field_of, named_children, named_nodes, statements, text_of};

use super::Callable;
use super::entry_input::{EntryInput, InputPlace};
use super::entry_points::{EntryPoint, METHODS};
use super::entry_points::{read_path, replace_functions, take_declared_types, texts_of};
use super::file_inputs::keys_given;
use super::python_function::{read_parameters, strip_decorators};

/// How deep files with routes are included in each other.
const DEPTH: usize = 8;

/// Parts of a request that say nothing about what a caller sends in its body.
const OTHER_PARTS: &[&str] = &["headers", "META", "session", "COOKIES", "FILES", "kwargs"];

/// The parsed body of a request.
static BODY: Pattern = Pattern::new(r"json\.loads\(\s*request\.body(?:\.decode\([^()]*\))?\s*\)");

/// A path of `urlpatterns`, with the module in which it stands.
struct Route {
    module: String,
    path: String,
    /// The view, or the included module, by its full name.
    target: String,
    is_include: bool,
}

/// Puts what routes of `hosts` lead to in the place of the plain functions of a file.
pub fn add_django_views(
    found: &mut Vec<Callable>,
    (file, text): (&str, &str),
    hosts: &[(String, String)],
) {
    let Some(tree) = Language::Python.parse(text) else { return };
    let module = file.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
    let views = list_views(tree.root_node(), (&module, text), hosts);
    replace_functions(found, views, text);
}

/// The views of a file with the definitions that answer.
fn list_views<'t>(
    root: Node<'t>,
    (module, text): (&str, &str),
    hosts: &[(String, String)],
) -> Vec<(Node<'t>, EntryPoint)> {
    let routes: Vec<Route> =
        hosts.iter().flat_map(|(host, source)| list_routes(host, source)).collect();
    let mut found = Vec::new();
    for node in statements(root) {
        let (definition, marks) = strip_decorators(node, text);
        let name = field_of(definition, "name", text);
        let leads = |one: &&Route| {
            let (holder, view) = one.target.rsplit_once('.').unwrap_or_default();
            !one.is_include && view == name && is_module(module, holder)
        };
        let Some(route) = routes.iter().find(leads) else { continue };
        let path = full_path(route, &routes);
        if definition.kind() == "function_definition" {
            let code = text_of(definition, text);
            let methods = answered_methods(&marks.concat(), code).into_iter();
            let mut entries = methods.map(|method| read_view(definition, text, (method, &path)));
            let Some(mut first) = entries.next() else { continue };
            first.others = entries.collect();
            found.push((definition, first));
        } else if let Some(body) = definition.child_by_field_name("body") {
            for inner in statements(body) {
                let (function, _) = strip_decorators(inner, text);
                let method = field_of(function, "name", text);
                if METHODS.contains(&method) {
                    found.push((function, read_view(function, text, (method, &path))));
                }
            }
        }
    }
    found
}

/// Whether a name is that of a module, of a package that offers what it has, or its end.
fn is_module(module: &str, name: &str) -> bool {
    let is_end =
        module.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let is_package = module.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    !name.is_empty() && (is_end || is_package)
}

/// The path of a route with those of the files that include its own.
fn full_path(route: &Route, routes: &[Route]) -> String {
    let (mut path, mut module) = (route.path.clone(), route.module.as_str());
    for _ in 0..DEPTH {
        let includes = |one: &&Route| one.is_include && is_module(module, &one.target);
        let Some(outer) = routes.iter().find(includes) else { break };
        path = outer.path.clone() + &path;
        module = &outer.module;
    }
    format!("/{path}")
}

/// The routes of a file. Those of regular expressions are left out.
fn list_routes(module: &str, text: &str) -> Vec<Route> {
    let Some(tree) = Language::Python.parse(text) else { return Vec::new() };
    let names = imported_names(tree.root_node(), (module, text));
    let is_path =
        |one: &Node<'_>| one.kind() == "call" && field_of(*one, "function", text) == "path";
    let own = |call: Node<'_>| texts_of(call, text).into_iter().next().unwrap_or_default();
    let read = |call: Node<'_>| {
        let given = named_children(call.child_by_field_name("arguments")?);
        let (target, is_include) = read_target(*given.get(1)?, text)?;
        let mut path = own(call);
        for outer in std::iter::successors(call.parent(), Node::parent).filter(is_path) {
            path = own(outer) + &path;
        }
        let (first, rest) = target.split_at(target.find('.').unwrap_or(target.len()));
        let known = names.get(first).map(|full| format!("{full}{rest}"));
        let target = known.unwrap_or(target);
        Some(Route { module: module.to_owned(), path, target, is_include })
    };
    named_nodes(tree.root_node()).into_iter().filter(is_path).filter_map(read).collect()
}

/// What a route leads to, as written there: a view, also in what wraps it, or an included module.
fn read_target(node: Node<'_>, text: &str) -> Option<(String, bool)> {
    if node.kind() != "call" {
        return ["identifier", "attribute"]
            .contains(&node.kind())
            .then(|| (text_of(node, text).to_owned(), false));
    }
    let callee = field_of(node, "function", text);
    if let Some(view) = callee.strip_suffix(".as_view") {
        return Some((view.to_owned(), false));
    }
    let given = named_children(node.child_by_field_name("arguments")?);
    if callee != "include" {
        return read_target(*given.first()?, text);
    }
    let mut named = named_nodes(*given.first()?).into_iter();
    let module = named.find(|one| ["string", "identifier", "attribute"].contains(&one.kind()))?;
    let is_inline = given.first()?.kind() == "list";
    (!is_inline).then(|| (text_of(module, text).trim_matches(['"', '\'']).to_owned(), true))
}

/// What a file imports: the names there with the full ones.
fn imported_names(root: Node<'_>, (module, text): (&str, &str)) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for node in named_nodes(root).into_iter().filter(|one| one.kind().starts_with("import_")) {
        let source = field_of(node, "module_name", text);
        let dots = source.len() - source.trim_start_matches('.').len();
        let mut holder: Vec<&str> = module.split('.').collect();
        holder.truncate(if dots == 0 { 0 } else { holder.len().saturating_sub(dots) });
        holder.extend(source.trim_start_matches('.').split('.').filter(|part| !part.is_empty()));
        for name in node.children_by_field_name("name", &mut node.walk()) {
            let alias = field_of(name, "alias", text);
            let plain = text_of(name.child_by_field_name("name").unwrap_or(name), text);
            let full = [holder.as_slice(), &[plain]].concat().join(".");
            // `import shop.views` binds the package alone.
            if !alias.is_empty() || !plain.contains('.') {
                found.insert(if alias.is_empty() { plain } else { alias }.to_owned(), full);
            }
        }
    }
    found
}

/// The methods of requests that a function answers.
fn answered_methods(marks: &str, code: &str) -> Vec<&'static str> {
    if marks.contains("require_POST") {
        return vec!["post"];
    }
    if marks.contains("require_GET") || marks.contains("require_safe") {
        return vec!["get"];
    }
    let reads_body = ["request.POST", "request.body", "request.data"];
    if marks.contains("require_http_methods") || marks.contains("api_view") {
        let marks = marks.to_lowercase();
        let is_listed = |method: &&str| {
            marks.contains(&format!("\"{method}\"")) || marks.contains(&format!("'{method}'"))
        };
        METHODS.iter().copied().filter(is_listed).collect()
    } else if code.contains("request.method") {
        let is_asked = |method: &&str| *method == "get" || code.contains(&method.to_uppercase());
        METHODS.iter().copied().filter(is_asked).collect()
    } else if reads_body.iter().any(|part| code.contains(part)) {
        vec!["post"]
    } else {
        vec!["get"]
    }
}

/// How a function is asked by a method.
fn read_view(function: Node<'_>, text: &str, (method, path): (&str, &str)) -> EntryPoint {
    let (route, mut inputs) = read_path(path);
    take_declared_types(&mut inputs, &read_parameters(function, text, 0, &|_| None));
    let code = text_of(function, text);
    inputs.extend(read_inputs(code).into_iter().filter(|one| {
        method != "get" || !matches!(one.place, InputPlace::Form | InputPlace::Json)
    }));
    EntryPoint {
        object: "Client".to_owned(),
        callee: format!("Client().{method}"),
        route: Some(route),
        inputs,
        imports: vec![("Client".to_owned(), "django.test".to_owned())],
        ..EntryPoint::default()
    }
}

/// What a view reads of its request.
fn read_inputs(code: &str) -> Vec<EntryInput> {
    let takes_json = code.contains("request.body") || code.contains("request.data");
    let read = |(key, is_optional, holder): (String, bool, String)| {
        let place = match holder.rsplit('.').next().unwrap_or_default() {
            "GET" | "query_params" => InputPlace::Query,
            "POST" => InputPlace::Form,
            part if OTHER_PARTS.contains(&part) || !takes_json => return None,
            _ => InputPlace::Json,
        };
        Some(EntryInput::new(&key, Vec::new(), is_optional, place))
    };
    // What is read of the body at once is read of what it holds.
    let code = BODY.replace_all(code, "request.data");
    keys_given(&code).into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file, those with routes, and the views of the first one.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

    fn views(file: &str, text: &str, hosts: &[(&str, &str)]) -> Vec<String> {
        let hosts: Vec<(String, String)> =
            hosts.iter().map(|(module, text)| ((*module).to_owned(), (*text).to_owned())).collect();
        let mut found = Vec::new();
        add_django_views(&mut found, (file, text), &hosts);
        let line = |name: &str, entry: &EntryPoint| {
            let inputs = entry.inputs.iter().map(|one| {
                let optional = if one.parameter.optional { "?" } else { "" };
                format!(" {}{optional} {:?}", one.parameter.name, one.place)
            });
            let route = entry.route.as_deref().unwrap();
            format!("{name} {} {route}{}", entry.callee, inputs.collect::<String>())
        };
        let lines = found.iter().flat_map(|one| {
            let entry = one.entry.as_ref().unwrap();
            std::iter::once(entry).chain(&entry.others).map(|entry| line(&one.name, entry))
        });
        lines.collect()
    }

    #[test]
    fn views_are_reached_by_the_paths_of_their_routes() {
        let show = "def show(request, id):\n    return HttpResponse(id)\n";
        let own = "from . import views\nurlpatterns = [path('orders/<int:id>/', views.show)]\n";
        let outer = "urlpatterns = [path('api/', include(('shop.urls', 'shop')))]\n";
        let class = "class Order(View):\n    def get(self, request):\n        pass\n\n    def post(self, request):\n        return request.POST['sku']\n";
        let table: [Row<'_>; 8] = [
            (show, &[("shop.urls", own)], &["show Client().get /orders/{id}/ id Path"]),
            (
                show,
                &[("shop.urls", own), ("site.urls", outer)],
                &["show Client().get /api/orders/{id}/ id Path"],
            ),
            (show, &[("other.urls", own)], &[]),
            (
                show,
                &[("site.urls", "import shop.views\npath('<id>', csrf_exempt(shop.views.show))")],
                &["show Client().get /{id} id Path"],
            ),
            (
                show,
                &[(
                    "site.urls",
                    "from shop.views import show as it\npath('a/', include([path('<id>', it)]))",
                )],
                &["show Client().get /a/{id} id Path"],
            ),
            (show, &[("site.urls", "from shop.views import show\nre_path('x', show)")], &[]),
            (
                class,
                &[("shop.urls", "from .views import Order\npath('', Order.as_view(), name='a')")],
                &["Order.get Client().get /", "Order.post Client().post / sku Form"],
            ),
            (class, &[("shop.urls", "from .views import show\npath('', show)")], &[]),
        ];
        for (text, hosts, expected) in table {
            assert_eq!(views("src/shop/views.py", text, hosts), expected, "{hosts:?}");
        }
    }

    #[test]
    fn methods_and_inputs_are_those_that_the_code_asks_for() {
        let table: [(&str, &str, &[&str]); 6] = [
            ("@require_POST", "json.loads(request.body)", &["post"]),
            ("@require_http_methods(['GET', 'PUT'])", "", &["get", "put"]),
            ("", "if request.method == 'POST'", &["get", "post"]),
            ("", "request.POST['a']", &["post"]),
            ("@login_required", "", &["get"]),
            ("@api_view([\"DELETE\"])", "", &["delete"]),
        ];
        for (marks, code, expected) in table {
            assert_eq!(answered_methods(marks, code), expected, "{marks} {code}");
        }
        let code = "def f(request):\n    given = json.loads(request.body)\n    given['sku'] + request.GET.get('page') + request.META['HTTP_X'] + request.POST['name']\n";
        let inputs = read_inputs(code);
        let places: Vec<_> = inputs.iter().map(|one| &one.place).collect();
        assert_eq!(places, [&InputPlace::Json, &InputPlace::Query, &InputPlace::Form]);
        let at_once = read_inputs("json.loads(request.body.decode('utf-8'))['sku']");
        assert_eq!(
            (at_once[0].parameter.name.as_str(), &at_once[0].place),
            ("sku", &InputPlace::Json)
        );
    }
}
