//! What in the text of a function speaks against pinning it. A first look only: calls are watched
//! when they are made.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::of;

/// Beginnings of callees, and what they do.
const CALLEES: &[(&[&str], &str)] = &[
    (
        &["open", "io.open", "codecs.open", "fs.", "fsp.", "Path.read_", "np.load", "np.save"],
        "opens a file",
    ),
    (
        &[
            "os.remove",
            "os.unlink",
            "os.rename",
            "os.replace",
            "os.mkdir",
            "os.makedirs",
            "os.rmdir",
            "os.chmod",
            "os.chdir",
            "shutil.",
            "tempfile.",
            "rimraf",
        ],
        "changes files",
    ),
    (
        &[
            "os.listdir",
            "os.walk",
            "os.scandir",
            "glob.glob",
            "os.path.exists",
            "os.path.isfile",
            "os.path.isdir",
            "os.path.getsize",
            "os.stat",
        ],
        "asks about files",
    ),
    (
        &[
            "socket.",
            "requests.",
            "urllib.request.",
            "http.client.",
            "httpx.",
            "aiohttp.",
            "http.",
            "https.",
            "net.",
            "fetch",
            "axios",
            "dns.",
        ],
        "uses the network",
    ),
    (
        &[
            "subprocess.",
            "os.system",
            "os.popen",
            "os.exec",
            "os.spawn",
            "os.fork",
            "os.kill",
            "child_process.",
            "execSync",
            "spawn",
            "spawnSync",
            "process.exit",
            "sys.exit",
            "process.kill",
        ],
        "starts or ends processes",
    ),
    (
        &[
            "time.time",
            "time.sleep",
            "time.monotonic",
            "time.perf_counter",
            "time.localtime",
            "time.gmtime",
            "time.strftime",
            "datetime.now",
            "datetime.datetime.now",
            "datetime.utcnow",
            "datetime.datetime.utcnow",
            "datetime.today",
            "date.today",
            "datetime.date.today",
            "datetime.datetime.today",
            "Date.now",
            "performance.now",
            "process.hrtime",
        ],
        "reads the clock",
    ),
    (
        &[
            "random.",
            "secrets.",
            "uuid.uuid1",
            "uuid.uuid4",
            "os.urandom",
            "np.random.",
            "numpy.random.",
            "Math.random",
            "crypto.random",
            "crypto.getRandomValues",
        ],
        "uses random numbers",
    ),
    (
        &[
            "print",
            "pprint.pprint",
            "console.",
            "process.stdout.",
            "process.stderr.",
            "sys.stdout.",
            "sys.stderr.",
        ],
        "prints",
    ),
    (&["input", "sys.stdin.", "getpass.", "prompt", "confirm", "alert"], "asks a person"),
    (
        &[
            "os.getenv",
            "os.environ.",
            "os.getcwd",
            "os.getpid",
            "process.cwd",
            "socket.gethostname",
            "platform.",
        ],
        "asks about its surroundings",
    ),
    (
        &[
            "threading.",
            "multiprocessing.",
            "concurrent.",
            "asyncio.create_task",
            "setTimeout",
            "setInterval",
            "setImmediate",
        ],
        "starts something that goes on",
    ),
    (&["document.", "window.", "localStorage.", "sessionStorage."], "needs a browser"),
];

/// Methods that change what they are called on.
const CHANGES: &[&str] = &[
    "append",
    "extend",
    "insert",
    "update",
    "setdefault",
    "clear",
    "pop",
    "popitem",
    "remove",
    "discard",
    "add",
    "push",
    "unshift",
    "shift",
    "splice",
    "set",
    "delete",
];

/// The first thing in a function's text that a pinned function must not do.
#[must_use]
pub fn unsupported_reason(function: Node<'_>, parameters: &[&str], text: &str) -> Option<String> {
    let mut own: BTreeSet<String> = parameters.iter().map(|name| (*name).to_owned()).collect();
    own.extend(["self", "cls", "this", "super"].map(str::to_owned));
    collect_own(function, text, &mut own);
    look(function, text, &own)
}

/// Names that a function gives a value itself.
fn collect_own(node: Node<'_>, text: &str, own: &mut BTreeSet<String>) {
    let fields: &[&str] = match node.kind() {
        "assignment"
        | "augmented_assignment"
        | "for_statement"
        | "for_in_clause"
        | "for_in_statement" => &["left"],
        "named_expression"
        | "variable_declarator"
        | "function_definition"
        | "function_declaration"
        | "class_definition"
        | "class_declaration" => &["name"],
        "as_pattern" => &["alias"],
        "formal_parameters"
        | "parameters"
        | "lambda_parameters"
        | "with_item"
        | "import_statement"
        | "import_from_statement" => {
            names(node, text, own);
            &[]
        }
        "arrow_function" | "catch_clause" => &["parameter"],
        _ => &[],
    };
    for field in fields {
        if let Some(target) = node.child_by_field_name(field)
            && !matches!(
                target.kind(),
                "subscript" | "attribute" | "member_expression" | "subscript_expression"
            )
        {
            names(target, text, own);
        }
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect_own(child, text, own);
    }
}

fn names(node: Node<'_>, text: &str, own: &mut BTreeSet<String>) {
    if matches!(
        node.kind(),
        "identifier" | "shorthand_property_identifier_pattern" | "as_pattern_target"
    ) {
        own.insert(of(node, text).to_owned());
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        names(child, text, own);
    }
}

/// The name at the beginning of `a.b[c].d`.
fn root<'a>(node: Node<'_>, text: &'a str) -> Option<&'a str> {
    let mut node = node;
    loop {
        match node.kind() {
            "identifier" | "this" => return Some(of(node, text)),
            "attribute" | "member_expression" => node = node.child_by_field_name("object")?,
            "subscript" | "subscript_expression" => {
                node = node
                    .child_by_field_name("value")
                    .or_else(|| node.child_by_field_name("object"))?;
            }
            _ => return None,
        }
    }
}

fn look(node: Node<'_>, text: &str, own: &BTreeSet<String>) -> Option<String> {
    let outside = |target: Node<'_>| root(target, text).is_some_and(|name| !own.contains(name));
    let state = "changes state outside of itself".to_owned();
    match node.kind() {
        "global_statement" => return Some(state),
        "call" | "call_expression" => {
            let callee = node.child_by_field_name("function")?;
            let name = of(callee, text);
            for (beginnings, does) in CALLEES {
                let hit = beginnings.iter().any(|one| {
                    if one.ends_with(['.', '_']) { name.starts_with(one) } else { name == *one }
                });
                let shadowed = root(callee, text).is_some_and(|root| own.contains(root));
                if hit && !shadowed {
                    return Some((*does).to_owned());
                }
            }
            let object = callee.child_by_field_name("object");
            let method = name.rsplit('.').next().unwrap_or_default();
            if let Some(object) = object
                && CHANGES.contains(&method)
                && outside(object)
                && !root(object, text)
                    .is_some_and(|name| name.starts_with(char::is_uppercase) && method == "add")
            {
                return Some(state);
            }
        }
        "new_expression" if of(node, text).replace(' ', "") == "newDate()" => {
            return Some("reads the clock".into());
        }
        "assignment"
        | "augmented_assignment"
        | "assignment_expression"
        | "augmented_assignment_expression" => {
            if let Some(target) = node.child_by_field_name("left")
                && (matches!(
                    target.kind(),
                    "subscript" | "attribute" | "member_expression" | "subscript_expression"
                ) || node.kind().ends_with("_expression") && target.kind() == "identifier")
                && outside(target)
            {
                return Some(state);
            }
        }
        "update_expression" => {
            if let Some(target) = node.child_by_field_name("argument")
                && outside(target)
            {
                return Some(state);
            }
        }
        _ => {}
    }
    let mut cursor = node.walk();
    node.children(&mut cursor).find_map(|child| look(child, text, own))
}
