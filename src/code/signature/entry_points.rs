//! Functions of Python that are reached through an application or a command: handlers of routes of Flask and of
//! `FastAPI` by the test client of their framework, commands of click and typer by their runner, and a `main` that
//! takes the words of a command line.

use tree_sitter::Node;

use crate::code::language::Language;
use crate::code::tree::{around, end_line, field_of, line, named_children, named_nodes, text_of};

use super::date_texts::dates_of_key;
use super::entry_input::{EntryInput, InputPlace};
use super::file_inputs::keys_given;
use super::parameter_types::annotated;
use super::python_function::{read_parameters, strip_decorators};
use super::{Callable, DeclaredValues, Parameter, Type, literals};

/// The decorator by which click and typer declare a command.
const COMMAND: &str = "command";

/// How a function is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryPoint {
    /// What a test imports: the application, what makes it, or the command.
    pub object: String,
    /// What is called: `app.test_client().get`, `CliRunner().invoke`, `main`.
    pub callee: String,
    /// The path of a route, with its parameters in braces; `None` for a command.
    pub route: Option<String>,
    /// What stands before the words of a command: the command itself, for its runner.
    pub first: Vec<String>,
    /// Words that come first on a command line.
    pub words: Vec<String>,
    pub inputs: Vec<EntryInput>,
    /// Names that the call uses besides those of the file, with their modules.
    pub imports: Vec<(String, String)>,
    /// The same function by other methods of requests.
    pub others: Vec<Self>,
}

/// Methods of requests that store something.
const STORES: &[&str] = &["post", "put", "patch"];

impl EntryPoint {
    /// The client that asks a route, and the method of the request; `None` for a command.
    pub fn split_request(&self) -> Option<(&str, &str)> {
        self.callee.rsplit_once('.').filter(|_| self.route.is_some())
    }

    /// Whether it is a request that stores something.
    pub fn stores_something(&self) -> bool {
        self.split_request().is_some_and(|(_, method)| STORES.contains(&method))
    }

    /// Whether it is asked by the client of Django, which takes what it sends by position.
    pub fn is_django(&self) -> bool {
        self.object == "Client"
    }
}

/// An application, or a part of one with routes of its own.
struct Application {
    /// The name of its variable.
    name: String,
    /// How a test reaches the application; empty for a part that no application has.
    object: String,
    is_flask: bool,
    prefix: String,
}

/// Methods of requests that decorators are named after.
pub(super) const METHODS: &[&str] = &["get", "post", "put", "patch", "delete"];

/// Puts what is reached through an application or a command in the place of the plain functions. `hosts` are the
/// files that put routes of others into applications, with the names of their modules.
pub fn add_entry_points(found: &mut Vec<Callable>, text: &str, hosts: &[(String, String)]) {
    let Some(tree) = Language::Python.parse(text) else { return };
    let root = tree.root_node();
    let mut applications = list_applications(root, text);
    for one in applications.iter_mut().filter(|one| one.object.is_empty()) {
        adopt_part(one, hosts);
    }
    let mut entries = Vec::new();
    for node in named_nodes(root) {
        let Some(entry) = read_entry(node, text, &applications) else { continue };
        entries.push((strip_decorators(node, text).0, entry));
    }
    replace_functions(found, entries, text);
}

/// Puts functions with their entry points in the place of the plain ones.
pub(super) fn replace_functions(
    found: &mut Vec<Callable>,
    entries: Vec<(Node<'_>, EntryPoint)>,
    text: &str,
) {
    let reached = entries.into_iter().map(|(function, entry)| {
        let own = field_of(function, "name", text);
        let outer = around(function, &["function_definition", "class_definition"]);
        let outer = outer.map(|one| field_of(one, "name", text));
        let body = function.child_by_field_name("body");
        Callable {
            name: outer.map_or_else(|| own.to_owned(), |outer| format!("{outer}.{own}")),
            start: line(function),
            end: end_line(function),
            literals: body.map(|body| literals(body, text)).unwrap_or_default(),
            entry: Some(entry),
            ..Callable::default()
        }
    });
    let reached: Vec<Callable> = reached.collect();
    found.retain(|one| reached.iter().all(|entry| entry.name != one.name));
    found.extend(reached);
}

/// The entry point that a definition is.
fn read_entry(node: Node<'_>, text: &str, applications: &[Application]) -> Option<EntryPoint> {
    if node.kind() == "decorated_definition" {
        let marks: Vec<Node<'_>> =
            named_children(node).into_iter().filter(|one| one.kind() == "decorator").collect();
        let (function, _) = strip_decorators(node, text);
        return marks.iter().find_map(|mark| {
            let mark = mark.named_child(0)?;
            let is_call = mark.kind() == "call";
            let callee =
                if is_call { field_of(mark, "function", text) } else { text_of(mark, text) };
            let (object, method) = callee.rsplit_once('.')?;
            match applications.iter().find(|one| one.name == object) {
                Some(one) => read_route(mark, (method, one), function, text),
                None if method == COMMAND && text.contains(&format!("{object} = typer.Typer(")) => {
                    Some(read_typed_command(object, function, text))
                }
                None if method == COMMAND && text.contains("click") => {
                    Some(read_command(node, function, text))
                }
                None => None,
            }
        });
    }
    let is_top = node.parent().is_some_and(|parent| parent.kind() == "module");
    let takes_words = is_top
        && node.kind() == "function_definition"
        && field_of(node, "name", text) == "main"
        && read_parameters(node, text, 0, &|_| None).first().is_some_and(|one| {
            ["argv", "args", "arguments", "argument_list"].contains(&one.name.as_str())
        });
    (takes_words && text.contains(".parse_args(")).then(|| read_parser(node, text))
}

/// The applications and their parts that a file makes, with how a test reaches them.
fn list_applications(root: Node<'_>, text: &str) -> Vec<Application> {
    let mut found: Vec<Application> = Vec::new();
    for node in named_nodes(root).into_iter().filter(|one| one.kind() == "assignment") {
        let Some(made) = node.child_by_field_name("right").filter(|one| one.kind() == "call")
        else {
            continue;
        };
        let class = field_of(made, "function", text).rsplit('.').next().unwrap_or_default();
        let name = field_of(node, "left", text).to_owned();
        let prefix =
            argument_of(made, "prefix", text).or_else(|| argument_of(made, "url_prefix", text));
        let outer = around(node, &["function_definition"]);
        let (is_flask, is_whole) = match class {
            "Flask" => (true, true),
            "Blueprint" => (true, false),
            "FastAPI" => (false, true),
            "APIRouter" => (false, false),
            _ => continue,
        };
        let object = match outer.filter(|_| is_whole) {
            _ if !is_whole => String::new(),
            None => name.clone(),
            Some(outer) => {
                let given = read_parameters(outer, text, 0, &|_| None);
                let is_free = given.iter().all(|one| one.optional);
                if !is_free || !text_of(outer, text).contains(&format!("return {name}")) {
                    continue;
                }
                format!("{}()", field_of(outer, "name", text))
            }
        };
        let prefix = prefix.map(|one| unquote(&one).to_owned()).unwrap_or_default();
        found.push(Application { name, object, is_flask, prefix });
    }
    let registered = list_registered(root, text);
    for (part, host, prefix) in registered {
        let object = found.iter().find(|one| one.name == host).map(|one| one.object.clone());
        let part = found.iter_mut().find(|one| one.name == part && one.object.is_empty());
        if let (Some(part), Some(object)) = (part, object) {
            part.object = object;
            part.prefix = prefix + &part.prefix;
        }
    }
    found
}

/// The parts that a file puts into applications: their names, those of the applications, and the prefix.
fn list_registered(root: Node<'_>, text: &str) -> Vec<(String, String, String)> {
    let calls = named_nodes(root).into_iter().filter(|one| one.kind() == "call");
    let registered = calls.filter_map(|call| {
        let (host, method) = field_of(call, "function", text).rsplit_once('.')?;
        if !["register_blueprint", "include_router"].contains(&method) {
            return None;
        }
        let part = call.child_by_field_name("arguments")?.named_child(0)?;
        let prefix =
            argument_of(call, "prefix", text).or_else(|| argument_of(call, "url_prefix", text));
        let prefix = prefix.map(|one| unquote(&one).to_owned()).unwrap_or_default();
        Some((text_of(part, text).to_owned(), host.to_owned(), prefix))
    });
    registered.collect()
}

/// Finds the application of another file that has a part: `module` is where that is imported from.
fn adopt_part(part: &mut Application, hosts: &[(String, String)]) {
    for (module, text) in hosts {
        let Some(tree) = Language::Python.parse(text) else { continue };
        let applications = list_applications(tree.root_node(), text);
        for (name, host, prefix) in list_registered(tree.root_node(), text) {
            let is_alias = || text.contains(&format!("import {} as {name}", part.name));
            let is_own = name.rsplit('.').next() == Some(&part.name) || is_alias();
            let object = applications.iter().find(|one| one.name == host && !one.object.is_empty());
            if let Some(object) = object.filter(|_| is_own) {
                part.object = format!("{}:{module}", object.object);
                part.prefix = prefix + &part.prefix;
                return;
            }
        }
    }
}

/// The value of an argument that is given by name.
fn argument_of(call: Node<'_>, name: &str, text: &str) -> Option<String> {
    let list = named_children(call.child_by_field_name("arguments")?).into_iter();
    let mut named = list.filter(|one| one.kind() == "keyword_argument");
    let found = named.find(|one| field_of(*one, "name", text) == name)?;
    Some(field_of(found, "value", text).to_owned())
}

fn unquote(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

/// The texts that a call is given by position.
pub(super) fn texts_of(call: Node<'_>, text: &str) -> Vec<String> {
    let list = call.child_by_field_name("arguments").map(named_children).unwrap_or_default();
    let texts = list.into_iter().filter(|one| one.kind() == "string");
    texts.map(|one| unquote(text_of(one, text)).to_owned()).collect()
}

/// A handler of a route.
fn read_route(
    mark: Node<'_>,
    (method, application): (&str, &Application),
    function: Node<'_>,
    text: &str,
) -> Option<EntryPoint> {
    let own = argument_of(mark, "methods", text).unwrap_or_default().to_lowercase();
    let of_list = METHODS.iter().find(|one| own.contains(**one)).copied().unwrap_or("get");
    let method = if method == "route" { of_list } else { method };
    let (path, object) = (texts_of(mark, text).into_iter().next()?, application.object.as_str());
    if object.is_empty() || !METHODS.contains(&method) {
        return None;
    }
    let (object, module) = object.split_once(':').unwrap_or((object, ""));
    let imported = object.trim_end_matches("()").to_owned();
    let client = ("TestClient".to_owned(), "fastapi.testclient".to_owned());
    let callee = if application.is_flask {
        format!("{object}.test_client().{method}")
    } else {
        format!("TestClient({object}).{method}")
    };
    let (route, mut inputs) = read_path(&format!("{}{path}", application.prefix));
    let given = read_parameters(function, text, 0, &|_| None);
    take_declared_types(&mut inputs, &given);
    if application.is_flask {
        inputs.extend(read_flask_inputs(function, text));
    } else {
        let known: Vec<String> = inputs.iter().map(|one| one.parameter.name.clone()).collect();
        let further = given.into_iter().filter(|one| !known.contains(&one.name));
        inputs.extend(further.flat_map(|one| read_typed_input(one, function, text)));
    }
    let mut imports: Vec<(String, String)> = Vec::new();
    imports.extend((!application.is_flask).then_some(client));
    imports.extend((!module.is_empty()).then(|| (imported.clone(), module.to_owned())));
    Some(EntryPoint {
        object: imported,
        callee,
        route: Some(route),
        inputs,
        imports,
        ..EntryPoint::default()
    })
}

/// Gives parts of a path the types of the parameters that they become.
pub(super) fn take_declared_types(inputs: &mut [EntryInput], given: &[Parameter]) {
    for input in inputs {
        let typed = given.iter().find(|one| one.name == input.parameter.name && !one.is_guessed);
        if let Some(typed) = typed.filter(|_| input.parameter.types.is_empty()) {
            input.parameter.types.clone_from(&typed.types);
        }
    }
}

/// The path of a route with its parameters in braces, and these: `<int:id>` and `{id}` alike.
pub(super) fn read_path(path: &str) -> (String, Vec<EntryInput>) {
    let (mut route, mut inputs) = (String::new(), Vec::new());
    let mut rest = path;
    while let Some(start) = rest.find(['<', '{']) {
        let end = rest.get(start..).and_then(|open| open.find(['>', '}']));
        let Some(end) = end.map(|end| start + end) else { break };
        let inner = rest.get(start + 1..end).unwrap_or_default();
        let is_flask = rest.get(start..).is_some_and(|open| open.starts_with('<'));
        let (kind, name) = match inner.split_once(':') {
            Some((kind, name)) if is_flask => (kind, name),
            Some((name, kind)) => (kind, name),
            None => ("", inner),
        };
        let types = match kind {
            "int" => vec![Type::Int],
            "float" => vec![Type::Float],
            "" => Vec::new(),
            _ => vec![Type::Text],
        };
        route.push_str(rest.get(..start).unwrap_or_default());
        route.push_str(&format!("{{{name}}}"));
        inputs.push(EntryInput::new(name, types, false, InputPlace::Path));
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    (route + rest, inputs)
}

/// What a handler of Flask reads from its request.
fn read_flask_inputs(function: Node<'_>, text: &str) -> Vec<EntryInput> {
    let code = text_of(function, text);
    let mut inputs = Vec::new();
    let takes_json = code.contains("get_json(") || code.contains("request.json");
    for (key, is_optional, holder) in keys_given(code) {
        let place = match holder.as_str() {
            "request.args" => InputPlace::Query,
            "request.form" => InputPlace::Form,
            "request.headers" | "session" => continue,
            _ if takes_json => InputPlace::Json,
            _ => continue,
        };
        let mut input = EntryInput::new(&key, Vec::new(), is_optional, place);
        input.parameter.shown = dates_of_key(code, &key);
        inputs.push(input);
    }
    inputs
}

/// What a parameter of a handler of `FastAPI` takes from its request: a value of the query, or the fields of a model.
fn read_typed_input(parameter: Parameter, function: Node<'_>, text: &str) -> Vec<EntryInput> {
    let header = field_of(function, "parameters", text);
    let mark = format!("{}:", parameter.name);
    let annotation = header.split_once(&mark).map_or("", |(_, rest)| rest);
    let annotation = annotation.split([',', '=', ')']).next().unwrap_or_default().trim();
    let model = text.split_once(&format!("class {annotation}(BaseModel):")).map(|(_, body)| body);
    let Some(body) = model.filter(|_| !annotation.is_empty()) else {
        let is_plain = !parameter.types.is_empty() && !parameter.is_guessed;
        let place = InputPlace::Query;
        return is_plain.then_some(EntryInput { parameter, place }).into_iter().collect();
    };
    let lines = body.lines().skip(1).take_while(|line| line.starts_with(' ') || line.is_empty());
    let fields = lines.filter_map(|line| {
        let (name, kind) = line.trim().split_once(':')?;
        let (kind, optional) = kind.split_once('=').map_or((kind, false), |(kind, _)| (kind, true));
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name.then(|| EntryInput::new(name, annotated(kind), optional, InputPlace::Json))
    });
    fields.collect()
}

/// A command of click or typer.
fn read_command(node: Node<'_>, function: Node<'_>, text: &str) -> EntryPoint {
    let mut inputs = Vec::new();
    for mark in named_children(node).into_iter().filter(|one| one.kind() == "decorator") {
        let Some(call) = mark.named_child(0).filter(|one| one.kind() == "call") else { continue };
        if [".option", ".argument"]
            .iter()
            .any(|end| field_of(call, "function", text).ends_with(end))
        {
            inputs.extend(read_option(call, text));
        }
    }
    let object = field_of(function, "name", text).to_owned();
    let imports = vec![("CliRunner".to_owned(), "click.testing".to_owned())];
    let (callee, first) = ("CliRunner().invoke".to_owned(), vec![object.clone()]);
    EntryPoint { object, callee, first, inputs, imports, ..EntryPoint::default() }
}

/// A command of typer, whose words are the parameters of its function.
fn read_typed_command(application: &str, function: Node<'_>, text: &str) -> EntryPoint {
    let inputs = read_parameters(function, text, 0, &|_| None).into_iter().map(|parameter| {
        let option = format!("--{}", parameter.name.replace('_', "-"));
        let place = match (parameter.optional, parameter.types.first()) {
            (false, _) => InputPlace::Position,
            (true, Some(Type::Bool)) => InputPlace::Flag(option),
            (true, _) => InputPlace::Option(option),
        };
        EntryInput { parameter, place }
    });
    // One command alone is called without its name.
    let is_alone = text.matches(&format!("@{application}.command(")).count() == 1;
    let own = field_of(function, "name", text).replace('_', "-");
    EntryPoint {
        object: application.to_owned(),
        callee: "CliRunner().invoke".to_owned(),
        route: None,
        first: vec![application.to_owned()],
        words: Some(own).filter(|_| !is_alone).into_iter().collect(),
        inputs: inputs.collect(),
        imports: vec![("CliRunner".to_owned(), "typer.testing".to_owned())],
        others: Vec::new(),
    }
}

/// A `main` whose parser the file makes. Of several commands, the first one is called.
fn read_parser(node: Node<'_>, text: &str) -> EntryPoint {
    let mut inputs = Vec::new();
    let mut command: Option<(String, String)> = None;
    let mut root = node;
    while let Some(parent) = root.parent() {
        root = parent;
    }
    for call in named_nodes(root).into_iter().filter(|one| one.kind() == "call") {
        let Some((receiver, method)) = field_of(call, "function", text).rsplit_once('.') else {
            continue;
        };
        let is_other = command.as_ref().is_some_and(|(known, _)| known != receiver);
        let is_parser = receiver.contains("parser") || !is_other;
        match method {
            "add_parser" if command.is_none() => {
                let holder = around(call, &["assignment"]);
                let holder = holder.map_or("", |one| field_of(one, "left", text));
                let word = texts_of(call, text).into_iter().next().unwrap_or_default();
                command = Some((holder.to_owned(), word));
            }
            "add_argument" if command.is_none() || is_parser && !is_other => {
                inputs.extend(read_option(call, text));
            }
            _ => {}
        }
    }
    let words = command.map(|(_, word)| word).into_iter().collect();
    let (object, callee) = ("main".to_owned(), "main".to_owned());
    EntryPoint { object, callee, words, inputs, ..EntryPoint::default() }
}

/// An option or a positional word that a call declares.
fn read_option(call: Node<'_>, text: &str) -> Option<EntryInput> {
    let names = texts_of(call, text);
    let long = names.iter().find(|one| one.starts_with("--")).or(names.first())?;
    let long = long.split(['/', ' ']).next().unwrap_or(long);
    let named = |name: &str| argument_of(call, name, text);
    let types = match named("type").as_deref() {
        Some("int") => vec![Type::Int],
        Some("float") => vec![Type::Float],
        _ => vec![Type::Text],
    };
    let is_flag = named("is_flag").as_deref() == Some("True")
        || named("action").is_some_and(|action| action.contains("store_"));
    let is_required = named("required").as_deref() == Some("True");
    let is_optional = long.starts_with('-') && !is_required
        || named("nargs")
            .is_some_and(|count| ["\"?\"", "'?'", "\"*\"", "'*'"].contains(&count.as_str()));
    let name = long.trim_start_matches('-').replace('-', "_");
    let place = match (long.starts_with('-'), is_flag) {
        (true, true) => InputPlace::Flag(long.to_owned()),
        (true, false) => InputPlace::Option(long.to_owned()),
        (false, _) => InputPlace::Position,
    };
    if long == "--version" || named("action").is_some_and(|action| action.contains("version")) {
        return None;
    }
    let mut found = EntryInput::new(&name, types, is_optional, place);
    let choices =
        named("choices").or_else(|| named("type").filter(|kind| kind.contains("Choice(")));
    if let Some(choices) = choices {
        let values: Vec<String> =
            choices.split(['"', '\'']).skip(1).step_by(2).map(|one| format!("\"{one}\"")).collect();
        let declared = DeclaredValues { values, ..DeclaredValues::default() };
        found.parameter.declared = Some(declared).filter(|one| !one.values.is_empty());
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file, those that put its routes into applications, and the entry points of the first one.
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);

    fn entries(text: &str, hosts: &[(&str, &str)]) -> Vec<String> {
        let mut found = Vec::new();
        let hosts: Vec<(String, String)> =
            hosts.iter().map(|(module, text)| ((*module).to_owned(), (*text).to_owned())).collect();
        add_entry_points(&mut found, text, &hosts);
        let line = |one: &Callable| {
            let entry = one.entry.as_ref().unwrap();
            let inputs = entry.inputs.iter().map(|one| {
                let optional = if one.parameter.optional { "?" } else { "" };
                format!(" {}{optional} {:?}", one.parameter.name, one.place)
            });
            let route = entry.route.as_deref().unwrap_or("");
            format!("{} {} {route}{}", one.name, entry.callee, inputs.collect::<String>())
        };
        found.iter().map(line).collect()
    }

    #[test]
    fn routes_are_reached_by_the_client_of_their_framework() {
        let flask = "app = Flask(__name__)\n\n@app.route('/orders/<int:id>', methods=['POST'])\ndef add(id):\n    return request.get_json()['sku'] + request.args.get('page', '1')\n";
        let factory = "def create_app(config=None):\n    app = Flask(__name__)\n\n    @app.get('/')\n    def index():\n        return 'hello'\n\n    return app\n";
        let part = "orders = Blueprint('orders', __name__, url_prefix='/orders')\n\n@orders.get('/<id>')\ndef show(id):\n    return id\n";
        let host = "from shop.orders import orders\n\ndef create_app():\n    app = Flask(__name__)\n    app.register_blueprint(orders, url_prefix='/v1')\n    return app\n";
        let fast = "app = FastAPI()\n\nclass Order(BaseModel):\n    sku: str\n    count: int = 1\n\n@app.post('/orders/{id}')\ndef add(id: int, order: Order, loud: bool = False):\n    return order\n";
        let table: [Row<'_>; 5] = [
            (flask, &[], &["add app.test_client().post /orders/{id} id Path sku Json page? Query"]),
            (factory, &[], &["create_app.index create_app().test_client().get /"]),
            (part, &[], &[]),
            (
                part,
                &[("shop.web", host)],
                &["show create_app().test_client().get /v1/orders/{id} id Path"],
            ),
            (
                fast,
                &[],
                &["add TestClient(app).post /orders/{id} id Path sku Json count? Json loud? Query"],
            ),
        ];
        for (text, hosts, expected) in table {
            assert_eq!(entries(text, hosts), expected, "{text}");
        }
    }

    #[test]
    fn commands_take_the_words_that_they_declare() {
        let click = "import click\n\n@click.command()\n@click.option('--count', type=int, default=1)\n@click.option('--loud', is_flag=True)\n@click.argument('name')\ndef greet(count, loud, name):\n    pass\n";
        let main = "def main(argv=None):\n    parser = argparse.ArgumentParser()\n    parser.add_argument('path')\n    parser.add_argument('--format', choices=['text', 'json'])\n    parser.add_argument('--version', action='version')\n    return parser.parse_args(argv)\n";
        let table = [
            (
                "app = typer.Typer()\n\n@app.command()\ndef greet(name: str, count: int = 1, loud: bool = False):\n    pass\n",
                "greet CliRunner().invoke  name Position count? Option(\"--count\") loud? Flag(\"--loud\")",
            ),
            (
                click,
                "greet CliRunner().invoke  count? Option(\"--count\") loud? Flag(\"--loud\") name Position",
            ),
            (main, "main main  path Position format? Option(\"--format\")"),
        ];
        for (text, expected) in table {
            assert_eq!(entries(text, &[]), [expected]);
        }
        assert!(
            entries("def main():\n    return argparse.ArgumentParser().parse_args()\n", &[])
                .is_empty()
        );
    }
}
