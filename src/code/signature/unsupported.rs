//! Detects why a function is unsuitable for a characterisation test, such as I/O or global state.
//! This static check is a first filter; calls are also monitored when they are executed.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::code::language::{GO, JAVA, JS, Language, PY, RS};
use crate::code::side_effects::{SideEffect, effect_of_callee};
use crate::code::tree::{field_of, first_field, named_children, named_nodes, text_of, visit};

/// A language, callees or prefixes of callees, and their effect.
type CalleeRow = (&'static [Language], &'static [&'static str], &'static str);

const STATE: &str = "changes state outside of itself";

/// Callees that rule out a test of this kind, in addition to those of [`effect_of_callee`].
const CALLEES: &[CalleeRow] = &[
    // Files, databases and settings of the environment are left to those who watch the calls.
    (PY, &["np.load", "np.save"], "opens a file"),
    (JS, &["fs.", "fsp."], "opens a file"),
    (PY, &["os.chmod", "os.chown"], "changes files"),
    (PY, &["os.chdir"], "changes its working folder"),
    (PY, &["os.symlink", "os.link"], "makes links"),
    (PY, &["socket.", "http."], "uses the network"),
    (JS, &["http.", "https.", "net."], "uses the network"),
    (PY, &["subprocess.", "os.exec", "os.spawn", "sys.exit"], "starts or ends processes"),
    (JS, &["child_process.", "spawn", "spawnSync"], "starts or ends processes"),
    (PY, &["time.sleep"], "sleeps"),
    (GO, &["time.Sleep"], "sleeps"),
    (RS, &["thread::sleep", "std::thread::sleep"], "sleeps"),
    (JS, &["Date.now", "performance.now", "process.hrtime"], "reads the clock"),
    (
        PY,
        &[
            "random.",
            "secrets.",
            "uuid.uuid1",
            "uuid.uuid4",
            "os.urandom",
            "np.random.",
            "numpy.random.",
        ],
        "uses random numbers",
    ),
    (JS, &["Math.random", "crypto.random", "crypto.getRandomValues"], "uses random numbers"),
    (JS, &["console.", "process.stdout.", "process.stderr."], "prints"),
    (PY, &["sys.stdin.", "getpass."], "asks a person"),
    (JS, &["prompt", "confirm", "alert"], "asks a person"),
    (PY, &["os.getcwd", "os.getpid", "socket.gethostname", "platform."], "asks about its machine"),
    (JS, &["process.cwd"], "asks about its machine"),
    (
        PY,
        &["threading.", "multiprocessing.", "concurrent.", "asyncio.create_task"],
        "starts background work",
    ),
    (JS, &["setTimeout", "setInterval", "setImmediate"], "starts background work"),
    (JS, &["document.", "window.", "localStorage.", "sessionStorage."], "needs a browser"),
    (
        GO,
        &[
            "os.Getenv",
            "os.LookupEnv",
            "os.Environ",
            "os.Hostname",
            "os.Getwd",
            "os.Getpid",
            "runtime.",
        ],
        "asks about its machine",
    ),
    (
        GO,
        &["os.Exit", "os.StartProcess", "exec.", "syscall.", "signal."],
        "starts or ends processes",
    ),
    (GO, &["log.Fatal", "log.Fatalf", "log.Fatalln"], "starts or ends processes"),
    (
        GO,
        &["os.", "ioutil.", "filepath.Abs", "filepath.Glob", "filepath.Walk", "filepath.WalkDir"],
        "opens a file",
    ),
    (
        GO,
        &["net.Dial", "net.Listen", "net.LookupHost", "net.LookupIP", "net.Interfaces"],
        "uses the network",
    ),
    (
        GO,
        &["time.Now", "time.Since", "time.Until", "time.After", "time.Tick", "time.NewTimer"],
        "reads the clock",
    ),
    (GO, &["rand."], "uses random numbers"),
    (
        GO,
        &[
            "fmt.Print",
            "fmt.Println",
            "fmt.Printf",
            "log.Print",
            "log.Println",
            "log.Printf",
            "println",
            "print",
        ],
        "prints",
    ),
    (RS, &["fs::", "std::fs::", "File::"], "opens a file"),
    (RS, &["env::", "std::env::"], "asks about its machine"),
    (RS, &["SystemTime::now", "Instant::now", "std::time::SystemTime::now"], "reads the clock"),
    (RS, &["thread::spawn", "std::thread::spawn"], "starts background work"),
    (RS, &["process::", "std::process::", "Command::"], "starts or ends processes"),
    (GO, &["fmt.Scan", "fmt.Scanln", "fmt.Scanf"], "asks a person"),
    (
        JAVA,
        &[
            "Files.",
            "new FileReader",
            "new FileWriter",
            "new FileInputStream",
            "new FileOutputStream",
            "new RandomAccessFile",
            "new PrintWriter",
        ],
        "opens a file",
    ),
    (
        JAVA,
        &[
            "System.getenv",
            "System.getProperty",
            "Locale.getDefault",
            "TimeZone.getDefault",
            "ZoneId.systemDefault",
            "Charset.defaultCharset",
            "InetAddress.",
            "Runtime.getRuntime",
        ],
        "asks about its machine",
    ),
    (JAVA, &["new Thread", "Executors.", "CompletableFuture."], "starts background work"),
    (JAVA, &["new ProcessBuilder"], "starts or ends processes"),
    (
        JAVA,
        &[
            "System.currentTimeMillis",
            "System.nanoTime",
            "Instant.now",
            "LocalDate.now",
            "LocalTime.now",
            "LocalDateTime.now",
            "ZonedDateTime.now",
            "OffsetDateTime.now",
            "Clock.",
            "new Date()",
            "Calendar.getInstance",
        ],
        "reads the clock",
    ),
    (
        JAVA,
        &[
            "new Random()",
            "new SecureRandom",
            "Math.random",
            "ThreadLocalRandom.",
            "UUID.randomUUID",
            "System.identityHashCode",
        ],
        "uses random numbers",
    ),
    (JAVA, &["System.out.", "System.err."], "prints"),
    (JAVA, &["System.in."], "asks a person"),
    (JAVA, &["System.setProperty", "Locale.setDefault", "TimeZone.setDefault"], STATE),
];

/// Methods that modify the object they are called on.
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

/// Functions of JavaScript that modify their first argument.
const OBJECT_CHANGES: &[&str] =
    &["Object.assign", "Object.defineProperty", "Object.defineProperties", "Object.setPrototypeOf"];

/// Calls that change files, on whatever they are made in Java.
const FILE_CHANGES: &[&str] = &["createNewFile()", "delete()", "mkdir()", "mkdirs()"];

/// The first reason in a function's text against a characterisation test of it.
pub fn unsupported_reason(
    language: Language,
    function: Node<'_>,
    parameters: &[&str],
    text: &str,
) -> Option<String> {
    let mut own: BTreeSet<&str> = parameters.iter().copied().collect();
    own.extend(["self", "cls", "this", "super", "_"]);
    for node in named_nodes(function) {
        own.extend(own_names(node, text));
    }
    let mut found = None;
    visit(function, |node| {
        found = found.take().or_else(|| reason(language, node, text, &own));
        found = found.or_else(|| change_of_argument(node, text, &own));
        found.is_none()
    });
    found.map(str::to_owned)
}

/// Nodes that access a part of another expression.
const PARTS: &[&str] = &[
    "subscript",
    "attribute",
    "member_expression",
    "subscript_expression",
    "selector_expression",
    "index_expression",
];

/// The names that a node of a function assigns or declares.
fn own_names<'a>(node: Node<'_>, text: &'a str) -> Vec<&'a str> {
    let target = match node.kind() {
        "assignment"
        | "augmented_assignment"
        | "for_statement"
        | "for_in_clause"
        | "for_in_statement"
        | "short_var_declaration"
        | "range_clause" => node.child_by_field_name("left"),
        "named_expression"
        | "variable_declarator"
        | "function_definition"
        | "function_declaration"
        | "class_definition"
        | "class_declaration" => node.child_by_field_name("name"),
        "as_pattern" => node.child_by_field_name("alias"),
        "var_spec"
        | "parameter_declaration"
        | "variadic_parameter_declaration"
        | "formal_parameters"
        | "parameters"
        | "lambda_parameters"
        | "with_item"
        | "import_statement"
        | "import_from_statement" => Some(node),
        "arrow_function" | "catch_clause" => node.child_by_field_name("parameter"),
        _ => None,
    };
    let is_name = |node: &Node<'_>| {
        matches!(
            node.kind(),
            "identifier" | "shorthand_property_identifier_pattern" | "as_pattern_target"
        )
    };
    let target = target.filter(|target| !PARTS.contains(&target.kind()));
    let names = target.map(named_nodes).unwrap_or_default().into_iter().filter(is_name);
    names.map(|name| text_of(name, text)).collect()
}

/// The leftmost name of an access path: `a` for `a.b[c].d`.
fn root<'a>(mut node: Node<'_>, text: &'a str) -> Option<&'a str> {
    while PARTS.contains(&node.kind()) {
        node = first_field(node, &["object", "value", "operand"])?;
    }
    matches!(node.kind(), "identifier" | "this").then(|| text_of(node, text))
}

/// The effect of a callee that rules out a characterisation test; `None` if it has none.
fn forbidden_effect(language: Language, name: &str) -> Option<&'static str> {
    let is_known = |one: &&str| {
        if one.ends_with(['.', '_', ':']) { name.starts_with(*one) } else { name == *one }
    };
    let row = CALLEES
        .iter()
        .find(|(languages, names, _)| languages.contains(&language) && names.iter().any(is_known));
    row.map(|(.., does)| *does).or_else(|| {
        Some(match effect_of_callee(language, name)? {
            SideEffect::DeletesFiles if language == Language::Python => return None,
            SideEffect::DeletesFiles => "changes files",
            SideEffect::UsesNetwork => "uses the network",
            SideEffect::StartsPrograms | SideEffect::EndsRun => "starts or ends processes",
            SideEffect::Sleeps | SideEffect::NeverEnds => "asks a person",
        })
    })
}

/// Gives each function the effects of those that it calls, by their names.
pub fn spread_effects(
    effects: &mut BTreeMap<String, String>,
    called: &BTreeMap<String, BTreeSet<String>>,
) {
    loop {
        let reached = called.iter().filter(|(name, _)| !effects.contains_key(*name));
        let new: Vec<(String, String)> = reached
            .filter_map(|(name, called)| {
                let reason = called.iter().find_map(|one| effects.get(one))?;
                Some((name.clone(), reason.clone()))
            })
            .collect();
        if new.is_empty() {
            return;
        }
        effects.extend(new);
    }
}

/// The effect of a call or of making an object in Java.
fn java_effect(node: Node<'_>, text: &str) -> Option<&'static str> {
    match node.kind() {
        "method_invocation" => {
            let (object, name) = (field_of(node, "object", text), field_of(node, "name", text));
            let call = format!("{name}{}", field_of(node, "arguments", text));
            if !matches!(object, "" | "this") && FILE_CHANGES.contains(&call.as_str()) {
                return Some("changes files");
            }
            forbidden_effect(Language::Java, &format!("{object}.{name}"))
        }
        "object_creation_expression" => {
            let made = format!("new {}", field_of(node, "type", text));
            let is_plain = field_of(node, "arguments", text) == "()";
            let plain = Some(format!("{made}()")).filter(|_| is_plain);
            let plain = plain.and_then(|made| forbidden_effect(Language::Java, &made));
            plain.or_else(|| forbidden_effect(Language::Java, &made))
        }
        _ => None,
    }
}

/// The variable of the file that a callee such as `seen.Store` changes; all else may be a package.
fn go_change<'tree>(callee: Node<'tree>, text: &str) -> Option<Node<'tree>> {
    let operand = callee.child_by_field_name("operand")?;
    let name = field_of(callee, "field", text).to_lowercase();
    let changes = name == "store" || CHANGES.contains(&name.as_str());
    let variable = format!("\nvar {} ", text_of(operand, text));
    (changes && text.contains(&variable)).then_some(operand)
}

/// Whether a call of JavaScript modifies an object from outside of the function that it is given.
fn change_of_argument(node: Node<'_>, text: &str, own: &BTreeSet<&str>) -> Option<&'static str> {
    let changes = OBJECT_CHANGES.contains(&field_of(node, "function", text));
    let given = node.child_by_field_name("arguments").filter(|_| changes)?;
    let target = root(given.named_child(0)?, text)?;
    (!own.contains(target)).then_some(STATE)
}

/// The method that a callee calls on an object: `os.remove(x)` changes none.
fn called_method(callee: &str) -> &str {
    let method = callee.rsplit('.').next().filter(|_| !callee.starts_with("os."));
    method.unwrap_or_default()
}

/// The reason why a single node rules out a characterisation test, if it does.
fn reason(
    language: Language,
    node: Node<'_>,
    text: &str,
    own: &BTreeSet<&str>,
) -> Option<&'static str> {
    let is_outside = |target: Node<'_>| root(target, text).is_some_and(|name| !own.contains(name));
    if language == Language::Java {
        return java_effect(node, text);
    }
    let changed = match node.kind() {
        // What is assigned in Rust is a part of the function.
        kind if language == Language::Rust && kind.contains("assignment") => None,
        "global_statement" => return Some(STATE),
        "new_expression" if text_of(node, text).replace(' ', "") == "newDate()" => {
            return Some("reads the clock");
        }
        "call" | "call_expression" => {
            let name = field_of(node, "function", text);
            let callee = node.child_by_field_name("function")?;
            let is_shadowed = root(callee, text).is_some_and(|root| own.contains(root));
            if let Some(does) = forbidden_effect(language, name).filter(|_| !is_shadowed) {
                return Some(does);
            }
            let method = called_method(name);
            if language == Language::Go {
                return go_change(callee, text).filter(|one| is_outside(*one)).map(|_| STATE);
            }
            // `Set.add(x)` on a class is a static function, not a modification.
            callee.child_by_field_name("object").filter(|object| {
                let is_class =
                    root(*object, text).is_some_and(|n| n.starts_with(char::is_uppercase));
                CHANGES.contains(&method) && !(is_class && method == "add")
            })
        }
        "assignment"
        | "augmented_assignment"
        | "assignment_expression"
        | "augmented_assignment_expression" => node.child_by_field_name("left").filter(|target| {
            let is_name = target.kind() == "identifier" && node.kind().ends_with("_expression");
            // A regular expression is wound back before it is used.
            let is_place = field_of(*target, "property", text) == "lastIndex";
            PARTS.contains(&target.kind()) && !is_place || is_name
        }),
        "update_expression" => node.child_by_field_name("argument"),
        "macro_invocation" => {
            let name = field_of(node, "macro", text);
            let prints = ["println", "print", "eprintln", "eprint", "dbg"].contains(&name);
            return prints.then_some("prints");
        }
        "go_statement" => return Some("starts background work"),
        "assignment_statement" => {
            let targets = node.child_by_field_name("left").map(named_children).unwrap_or_default();
            targets.into_iter().find(|target| is_outside(*target))
        }
        "inc_statement" | "dec_statement" => node.named_child(0),
        _ => None,
    };
    changed.filter(|target| is_outside(*target)).map(|_| STATE)
}
