//! Anti-patterns of tests: what a test asserts, shares, leaves behind and never tries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;
use tree_sitter::Node;

use crate::code::language::Language;

use super::source::{FUNCTIONS, Hit, Source, line, statements};

/// One test of a file.
struct Trial<'a> {
    node: Node<'a>,
    body: Option<Node<'a>>,
    name: &'a str,
    marks: String,
}

fn regex(cell: &'static LazyLock<Option<Regex>>) -> impl Fn(&str) -> bool {
    move |text| cell.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// The tests of a file.
fn trials<'a>(source: &Source<'a>) -> Vec<Trial<'a>> {
    let mut trials = Vec::new();
    for node in source.nodes.iter().copied() {
        let name = source.field(node, "name");
        let marks = match (source.language, node.kind()) {
            (Language::Python, "function_definition") if name.starts_with("test") => source.marks(node),
            (Language::Go, "function_declaration")
                if name.starts_with("Test") && source.field(node, "parameters").contains("testing.T") =>
            {
                String::new()
            }
            (Language::Rust, "function_item") => {
                let marks = source.marks(node);
                if !marks.contains("test]") && !marks.contains("test(") && !marks.contains("rstest") {
                    continue;
                }
                marks
            }
            (Language::Java, "method_declaration") => {
                let mut cursor = node.walk();
                let marks = node.children(&mut cursor).find(|one| one.kind() == "modifiers").map(|one| source.of(one)).unwrap_or_default();
                if !marks.contains("@Test") && !marks.contains("@ParameterizedTest") {
                    continue;
                }
                marks.to_owned()
            }
            (_, "call_expression") if source.is_script() => {
                let callee = source.field(node, "function");
                if !matches!(callee, "it" | "test" | "it.only" | "test.only" | "fit" | "it.concurrent" | "test.concurrent") {
                    continue;
                }
                let Some(arguments) = node.child_by_field_name("arguments") else { continue };
                let parts = statements(arguments);
                let body = parts.iter().rev().find(|one| FUNCTIONS.contains(&one.kind()));
                let title = parts.first().map(|one| source.of(*one)).unwrap_or_default();
                if let Some(body) = body {
                    trials.push(Trial { node, body: body.child_by_field_name("body"), name: title, marks: String::new() });
                }
                continue;
            }
            _ => continue,
        };
        trials.push(Trial { node, body: node.child_by_field_name("body"), name, marks });
    }
    trials
}

static ASSERTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^(?:\w+[.:]+)*_*(?:assert|expect|should|verify|check|must|ensure|validate|fail|raises|warns|require|compare|match|snapshot|approve|report|panic|unreachable|reject|throw|is_ok|run_test|t\.(?:error|fatal|is|ok|equal|deepequal|plan|run|true|false|not|pass))",
        r"|^t\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow|Run)$|^(?:assert|require|is|qt|c|g|t|should|chai|sinon)\.|\.(?:unwrap|expect|unwrap_err|expect_err|toBe|toEqual|to|andExpect|isEqualTo|expectStatus|should|rejects|resolves|assert\w*|verify\w*|check\w*|fail\w*)$",
    ))
    .ok()
});

/// Calls of a part of the tree, as callee and node.
fn calls<'a>(source: &Source<'a>, outer: Node<'a>) -> Vec<(String, Node<'a>)> {
    source
        .inside(outer)
        .filter_map(|node| {
            let callee = match node.kind() {
                "call" | "call_expression" => source.field(node, "function").to_owned(),
                "macro_invocation" => format!("{}!", source.field(node, "macro")),
                "method_invocation" => match source.field(node, "object") {
                    "" => source.field(node, "name").to_owned(),
                    object => format!("{object}.{}", source.field(node, "name")),
                },
                _ => return None,
            };
            Some((callee, node))
        })
        .collect()
}

/// Whether a part of the tree asserts, by itself or through a function of this file.
fn asserts<'a>(source: &Source<'a>, outer: Node<'a>, depth: u32) -> bool {
    let is_assert = regex(&ASSERTS);
    let direct = source.inside(outer).any(|node| {
        matches!(node.kind(), "assert_statement" | "raise_statement" | "throw_statement" | "try_expression")
    });
    if direct {
        return true;
    }
    let calls = calls(source, outer);
    if calls.iter().any(|(callee, _)| is_assert(callee) || is_assert(callee.rsplit(['.', ':']).next().unwrap_or_default())) {
        return true;
    }
    // Something of the test itself goes to a helper: it can fail there.
    let given = calls.iter().any(|(callee, node)| {
        source.language == Language::Go
            && !callee.starts_with("t.")
            && node.child_by_field_name("arguments").is_some_and(|list| {
                source.inside(list).any(|one| one.kind() == "identifier" && source.of(one) == "t")
            })
    });
    given
        || depth > 0
            && calls.iter().any(|(callee, _)| {
                let last = callee.trim_end_matches('!').rsplit(['.', ':']).next().unwrap_or_default();
                source.of_kind(FUNCTIONS).chain(source.of_kind(&["variable_declarator", "macro_definition"])).any(|function| {
                    source.field(function, "name") == last
                        && (function.kind() == "macro_definition" || !outer.byte_range().contains(&function.start_byte()) && asserts(source, function, depth - 1))
                })
            })
}

fn body_statements<'a>(source: &Source<'a>, trial: &Trial<'a>) -> Vec<Node<'a>> {
    let Some(body) = trial.body else { return Vec::new() };
    let mut list = statements(body);
    if let [only] = list.as_slice()
        && only.kind() == "statement_list"
    {
        list = statements(*only);
    }
    list.retain(|node| {
        let text = source.of(*node);
        node.kind() != "pass_statement" && text != "..." && !(node.kind() == "expression_statement" && text.starts_with(['"', '\'']) && node.named_child(0).is_some_and(|one| one.kind() == "string"))
    });
    list
}

/// Tests without a statement.
pub fn empty(source: &Source<'_>) -> Vec<Hit> {
    trials(source)
        .iter()
        .filter(|trial| trial.body.is_some_and(|body| body.kind().ends_with("block")) && body_statements(source, trial).is_empty())
        .filter(|trial| skip_of(source, trial).is_none())
        .map(|trial| Hit::noted(line(trial.node), trial.name))
        .collect()
}

/// Tests that do something and assert nothing.
pub fn setup_only(source: &Source<'_>) -> Vec<Hit> {
    trials(source)
        .iter()
        .filter(|trial| !body_statements(source, trial).is_empty())
        .filter(|trial| skip_of(source, trial).is_none())
        .filter(|trial| {
            let expects = ["should_panic", "expected", "raises", "-> Result"];
            let head = source.of(trial.node).lines().next().unwrap_or_default();
            !expects.iter().any(|word| trial.marks.contains(word) || head.contains(word))
        })
        .filter(|trial| !asserts(source, trial.node, 2))
        .map(|trial| Hit::noted(line(trial.node), trial.name))
        .collect()
}

static SKIP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^@(?:unittest\.)?skip\b|^@pytest\.mark\.(?:skip|xfail)\b|#\[ignore|@Disabled|@Ignore|^\s*t\.Skip|^(?:it|test|describe)\.skip$|^x(?:it|test|describe)$").ok()
});

/// The mark that skips a test, and whether it says why.
fn skip_of<'a>(source: &Source<'a>, trial: &Trial<'a>) -> Option<bool> {
    let marks = trial.marks.as_str();
    let found = match source.language {
        Language::Python => marks.split('@').skip(1).map(|mark| format!("@{mark}")).find(|mark| regex(&SKIP)(mark)),
        Language::Go => trial.body.and_then(|body| {
            let list = body_statements(source, trial);
            let first = list.first().map(|one| source.of(*one).to_owned()).unwrap_or_default();
            (body.start_byte() > 0 && regex(&SKIP)(&first)).then_some(first)
        }),
        _ => marks.split(['\n', ']']).map(str::trim).find(|mark| regex(&SKIP)(mark)).map(str::to_owned),
    }?;
    Some(found.contains(['"', '\'']))
}

/// Skipped tests, with or without a stated reason.
fn skipped_by(source: &Source<'_>, reason: bool) -> Vec<Hit> {
    let mut hits: Vec<Hit> = trials(source)
        .iter()
        .filter(|trial| skip_of(source, trial) == Some(reason))
        .map(|trial| Hit::noted(line(trial.node), trial.name))
        .collect();
    if source.is_script() {
        for node in source.of_kind(&["call_expression"]) {
            if !regex(&SKIP)(source.field(node, "function")) {
                continue;
            }
            // A reason is a comment on the line or the one above.
            let at = line(node) as usize;
            let spoken = |text: Option<&str>, own: bool| {
                text.is_some_and(|text| {
                    text.split_once("//").is_some_and(|(before, words)| (own || before.trim().is_empty()) && !words.contains("expect:"))
                })
            };
            let has = spoken(source.text.lines().nth(at - 1), true)
                || at >= 2 && spoken(source.text.lines().nth(at - 2), false);
            if has == reason {
                hits.push(Hit::at(line(node)));
            }
        }
    }
    hits
}

static COMMENTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"^(?://|#|/\*)\s*(?:(?:it|test)\(\s*['"`]|def test_\w*\(|func Test\w+\(t |#\[test\]|@Test\b)"#).ok()
});

/// Skipped with a reason, or commented out.
pub fn skipped(source: &Source<'_>) -> Vec<Hit> {
    let commented = regex(&COMMENTED);
    let mut hits = skipped_by(source, true);
    hits.extend(source.comments().filter(|node| commented(source.of(*node))).map(|node| Hit::noted(line(node), "commented out")));
    hits
}

/// Skipped, and nobody knows why.
pub fn skipped_silently(source: &Source<'_>) -> Vec<Hit> {
    skipped_by(source, false)
}

/// The assertions of a test, as one line of text each.
fn assertions<'a>(source: &Source<'a>, trial: &Trial<'a>) -> Vec<(Node<'a>, String)> {
    let is_assert = regex(&ASSERTS);
    let Some(body) = trial.body else { return Vec::new() };
    let mut found: Vec<(Node<'a>, String)> = Vec::new();
    for node in source.inside(body) {
        let callee = match node.kind() {
            "assert_statement" => "assert".to_owned(),
            "call" | "call_expression" => source.field(node, "function").to_owned(),
            "macro_invocation" => source.field(node, "macro").to_owned(),
            "method_invocation" => match source.field(node, "object") {
                "" => source.field(node, "name").to_owned(),
                object => format!("{object}.{}", source.field(node, "name")),
            },
            _ => continue,
        };
        let inner = found.last().is_some_and(|(last, _)| last.end_byte() >= node.end_byte());
        let last = callee.rsplit(['.', ':']).next().unwrap_or_default();
        if !inner && (is_assert(&callee) || is_assert(last)) {
            let text: String = source.of(node).split_whitespace().collect::<Vec<_>>().join(" ");
            found.push((node, text));
        }
    }
    found
}

/// Tests all of whose assertions are of one kind.
fn all_are(source: &Source<'_>, pattern: &'static LazyLock<Option<Regex>>) -> Vec<Hit> {
    let fits = regex(pattern);
    trials(source)
        .iter()
        .filter_map(|trial| {
            let list = assertions(source, trial);
            let (first, _) = list.first()?;
            list.iter().all(|(_, text)| fits(text)).then(|| Hit::noted(line(*first), trial.name))
        })
        .collect()
}

static DEFINED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^expect\(.*\)\.(?:toBeDefined\(\)|not\.toBeUndefined\(\)|not\.toBeNull\(\))$|^assert [\w.\[\]()]+ is not None$|^self\.assertIsNotNone\(|^assert!\(\w+\.is_some\(\)\)$|^(?:assert|require)\.NotNil\(|^(?:Assertions\.)?assertNotNull\(").ok()
});
static TRUTHY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^expect\(\w+\)\.toBeTruthy\(\)$|^assert (?:result|value|output|response|res|ret|data|obj|item|items)$|^self\.assertTrue\((?:result|value|output|response|res|ret|data|obj|item|items)\)$|^assert!\((?:result|value|output|ok)\)$|^(?:assert|require)\.True\(t, (?:result|value|ok)\)$|^(?:Assertions\.)?assertTrue\((?:result|value|output)\)$").ok()
});
static MOCKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^expect\(\w+(?:\.\w+)*\)\.(?:not\.)?toHaveBeenCalled(?:Times\(\d+\)|\(\))$|^\w+(?:\.\w+)*\.assert_called(?:_once)?\(\)$|^assert \w+(?:\.\w+)*\.called$|^(?:Mockito\.)?verify\(\w+\)\.\w+\(\)$|^\w+\.AssertExpectations\(t\)$").ok()
});

/// Only says that something is there.
pub fn defined_only(source: &Source<'_>) -> Vec<Hit> {
    all_are(source, &DEFINED)
}

/// Only says that something counts as true.
pub fn truthy_only(source: &Source<'_>) -> Vec<Hit> {
    all_are(source, &TRUTHY)
}

/// Only says that a mock was called.
pub fn mock_only(source: &Source<'_>) -> Vec<Hit> {
    all_are(source, &MOCKED)
}

/// Files with more than five snapshots that are most of their assertions.
pub fn snapshots(source: &Source<'_>) -> Vec<Hit> {
    let trials = trials(source);
    let list: Vec<(Node<'_>, String)> = trials.iter().flat_map(|trial| assertions(source, trial)).collect();
    let taken: Vec<_> = list.iter().filter(|(_, text)| text.contains("toMatchSnapshot(") || text.contains("toMatchInlineSnapshot(")).collect();
    let (true, Some((first, _))) = (taken.len() > 5 && taken.len() * 2 > list.len(), taken.first()) else {
        return Vec::new();
    };
    vec![Hit::noted(line(*first), format!("{} of {} assertions", taken.len(), list.len()))]
}

static TAUTOLOGY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^assert (?:True|1)$|^self\.assertTrue\(True\)$|^assert!\(true\)$|^(?:Assertions\.)?assertTrue\(true\)$|^(?:assert|require)\.True\(t, true\)$|^expect\(true\)\.(?:toBe\(true\)|toBeTruthy\(\)|toEqual\(true\))$").ok()
});
static PAIRS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const LITERAL: &str = r#"(-?\d+(?:\.\d+)?|"[^"]*"|'[^']*'|true|false|True|False|null|None)"#;
    Regex::new(&[
        format!(r"^assert {LITERAL} == {LITERAL}$"),
        format!(r"^self\.assertEqual\({LITERAL}, {LITERAL}\)$"),
        format!(r"^assert_eq!\({LITERAL}, {LITERAL}\)$"),
        format!(r"^(?:Assertions\.)?assertEquals\({LITERAL}, {LITERAL}\)$"),
        format!(r"^(?:assert|require)\.Equal\(t, {LITERAL}, {LITERAL}\)$"),
        format!(r"^expect\({LITERAL}\)\.to(?:Be|Equal|StrictEqual)\({LITERAL}\)$"),
    ].join("|")).ok()
});

/// Assertions that hold whatever the code does.
pub fn tautology(source: &Source<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for trial in trials(source) {
        for (node, text) in assertions(source, &trial) {
            let same = PAIRS.as_ref().and_then(|pairs| pairs.captures(&text)).is_some_and(|found| {
                let sides: Vec<&str> = found.iter().skip(1).flatten().map(|one| one.as_str()).collect();
                matches!(sides.as_slice(), [left, right] if left == right)
            });
            if same || regex(&TAUTOLOGY)(&text) {
                hits.push(Hit::at(line(node)));
            }
        }
    }
    hits
}

/// Tests of one file whose bodies are the same, word for word.
pub fn copied(source: &Source<'_>) -> Vec<Hit> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut hits = Vec::new();
    for trial in trials(source) {
        let list = body_statements(source, &trial);
        let text: String = list.iter().map(|one| source.of(*one).split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join("\n");
        // Decorated tests differ in what they are given; methods in what surrounds them.
        let place = source.around(trial.node, &["class_definition", "class_declaration"]).map_or(0, |one| one.start_byte());
        if list.len() < 2 || text.len() < 40 || !trial.marks.replace("#[test]", "").replace("@Test", "").trim().trim_end_matches("void").trim_end_matches("public").trim().is_empty() {
            continue;
        }
        let group = if source.is_script() { source.around(trial.node, &["call_expression"]).map_or(0, |one| one.start_byte()) } else { place };
        match seen.get(&format!("{group}{text}")) {
            Some(other) => hits.push(Hit::noted(line(trial.node), format!("{} as {other}", trial.name))),
            None => {
                seen.insert(format!("{group}{text}"), trial.name);
            }
        }
    }
    hits
}

static NEGATIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)rais|throw|reject|invalid|error|\berr\b|fail|except|panic|is_err|unwrap_err|missing|denied|forbidden|refus|illegal|bad|wrong|malformed|not_?found|unauthori|unknown|cannot|no_|without|not_").ok()
});
static EDGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b(?:null|none|nil|undefined|nan|infinity|empty|max|min|0|-1|boundary|is_empty|optional)\b|""|''|\[\]|\{\}|vec!\[\]|empty|_max|maxvalue|zero"#).ok()
});

/// Files of at least three tests of which none tries what must fail, or what is on an edge.
fn never_tries(source: &Source<'_>, pattern: &'static LazyLock<Option<Regex>>) -> Vec<Hit> {
    let trials = trials(source);
    let tries = regex(pattern);
    let (Some(first), true) = (trials.first(), trials.len() >= 3) else { return Vec::new() };
    let none = trials.iter().all(|trial| {
        // What is behind a mark of the samples is no test.
        let text: String = source.of(trial.node).lines().map(|line| line.split("expect:").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
        !tries(&text) && !tries(&trial.marks)
    });
    if none { vec![Hit::noted(line(first.node), format!("{} tests", trials.len()))] } else { Vec::new() }
}

/// No negative path.
pub fn no_negative(source: &Source<'_>) -> Vec<Hit> {
    never_tries(source, &NEGATIVE)
}

/// No edge case.
pub fn no_edge(source: &Source<'_>) -> Vec<Hit> {
    never_tries(source, &EDGE)
}

fn kind_of<'a>(node: Option<Node<'a>>) -> &'a str {
    node.map_or("", |node| node.kind())
}

/// Values outside the functions of a test file that can change.
fn shared_names<'a>(source: &Source<'a>) -> Vec<(Node<'a>, &'a str)> {
    let mut names = Vec::new();
    for node in source.nodes.iter().copied() {
        let parent = node.parent();
        let grand = parent.and_then(|parent| parent.parent());
        let kind = kind_of;
        let name = match (source.language, node.kind()) {
            (Language::Python, "assignment") if kind(grand) == "module" => {
                let value = node.child_by_field_name("right").map_or("", |one| one.kind());
                matches!(value, "list" | "dictionary" | "integer" | "set").then(|| node.child_by_field_name("left")).flatten()
            }
            (Language::Go, "var_spec") if kind(grand) == "source_file" || kind(grand.and_then(|one| one.parent())) == "source_file" => node.child_by_field_name("name"),
            (Language::Java, "field_declaration") => {
                let text = source.of(node);
                (text.contains("static ") && !text.contains("final ")).then(|| {
                    node.child_by_field_name("declarator").and_then(|one| one.child_by_field_name("name"))
                }).flatten()
            }
            (Language::Rust, "static_item") => source.of(node).starts_with("static mut").then(|| node.child_by_field_name("name")).flatten(),
            (_, "variable_declarator") if source.is_script() && kind(grand) == "program" => {
                let value = node.child_by_field_name("value").map_or("", |one| one.kind());
                let fixed = parent.is_some_and(|parent| source.of(parent).starts_with("const"));
                (matches!(value, "array" | "object") || (value == "number" && !fixed)).then(|| node.child_by_field_name("name")).flatten()
            }
            _ => None,
        };
        names.extend(name.filter(|name| name.kind() == "identifier").map(|name| (name, source.of(name))));
    }
    names
}

/// Values outside the tests that a test changes and nothing sets back before each.
pub fn shared_state(source: &Source<'_>) -> Vec<Hit> {
    let reset = |name: &str| {
        source.nodes.iter().any(|node| {
            let text = match node.kind() {
                "call_expression" => source.field(*node, "function"),
                "function_definition" => source.field(*node, "name"),
                "method_declaration" | "decorated_definition" => source.of(*node).lines().next().unwrap_or_default(),
                _ => return false,
            };
            ["beforeEach", "afterEach", "setUp", "tearDown", "setup_function", "setup_method", "teardown", "@BeforeEach", "@AfterEach", "@Before", "@After", "fixture"].iter().any(|word| text.trim().starts_with(word) || (text.starts_with('@') && text.contains(word)))
                && source.of(*node).contains(name)
        })
    };
    let trials = trials(source);
    let mut hits = Vec::new();
    for (node, name) in shared_names(source) {
        let changed = trials.iter().any(|trial| {
            let Some(body) = trial.body else { return false };
            // Set back at the end of the same test.
            let saved = source.of(body).contains("defer ") || source.of(body).contains("finally") || source.of(body).contains("Cleanup(");
            let local = source.inside(body).any(|inner| {
                matches!(inner.kind(), "short_var_declaration" | "variable_declarator" | "local_variable_declaration" | "let_declaration")
                    && ["left", "name", "pattern"].iter().any(|field| source.field(inner, field).split(',').any(|one| one.trim() == name))
            }) || source.language == Language::Python
                && !source.of(body).contains("global ")
                && source.inside(body).any(|inner| inner.kind() == "assignment" && source.field(inner, "left") == name);
            !saved && !local && source.inside(body).any(|inner| changes(source, inner, name))
        });
        if changed && !reset(name) {
            hits.push(Hit::noted(line(node), name));
        }
    }
    hits
}

/// Whether a node changes the value of a name.
fn changes(source: &Source<'_>, node: Node<'_>, name: &str) -> bool {
    let source_of = |node: Option<Node<'_>>| node.and_then(|one| source.text.get(one.byte_range())).unwrap_or_default();
    let field = |name: &str| source_of(node.child_by_field_name(name));
    let own = |text: &str| {
        text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.', ' ']))
    };
    match node.kind() {
        "assignment" | "augmented_assignment" | "assignment_expression" | "augmented_assignment_expression" | "assignment_statement" | "compound_assignment_expr" => own(field("left")),
        "update_expression" | "inc_statement" => source_of(node.named_child(0)) == name,
        "call" | "call_expression" => {
            let callee = field("function");
            ["append", "push", "pop", "clear", "update", "extend", "add", "unshift", "splice", "remove", "insert"]
                .iter()
                .any(|verb| callee == format!("{name}.{verb}"))
        }
        "method_invocation" => field("object") == name && ["add", "put", "remove", "clear"].contains(&field("name")),
        _ => false,
    }
}

static OPENED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"tempfile\.mkdtemp\(|\.start\(\)|os\.environ\[[^\]]+\]\s*=|os\.chdir\(|jest\.useFakeTimers\(|\bspyOn\(|\.listen\(|process\.env\.\w+\s*=|mkdtempSync\(|Files\.createTemp|new ServerSocket\(|System\.setProperty\(|os\.Setenv\(|os\.Chdir\(").ok()
});
static CLEANED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"tearDown|addCleanup|teardown|afterEach|afterAll|restoreMocks|@AfterEach|@After\b|@AfterAll|yield|t\.Cleanup|defer |os\.Unsetenv|finally").ok()
});

/// What a set-up opens or changes and nothing sets back.
pub fn no_cleanup(source: &Source<'_>) -> Vec<Hit> {
    if regex(&CLEANED)(source.text) {
        return Vec::new();
    }
    source
        .nodes
        .iter()
        .copied()
        .filter(|node| {
            let setup = match (source.language, node.kind()) {
                (Language::Python, "function_definition") => matches!(source.field(*node, "name"), "setUp" | "setup_method" | "setup_function" | "setUpClass"),
                (Language::Go, "function_declaration") => source.field(*node, "name").starts_with("Test"),
                (Language::Java, "method_declaration") => {
                    let head = source.of(*node).lines().next().unwrap_or_default();
                    head.contains("@Before")
                }
                (_, "call_expression") => matches!(source.field(*node, "function"), "beforeEach" | "beforeAll" | "before"),
                _ => false,
            };
            setup && regex(&OPENED)(source.of(*node))
        })
        .map(|node| Hit::at(line(node)))
        .collect()
}

/// Calls of asynchronous functions of the repository in tests that wait for nothing.
pub fn not_awaited(source: &Source<'_>) -> Vec<Hit> {
    let imported: BTreeSet<&str> = source
        .imports
        .iter()
        .map(|import| import.bound.as_str())
        .filter(|name| source.project.asynchronous.contains(*name))
        .collect();
    let mut hits = Vec::new();
    for trial in trials(source) {
        let Some(body) = trial.body else { continue };
        let text = source.of(trial.node);
        let waits = ["await", "async ", "asyncio", "run_until_complete", ".then(", "done", "resolves", "rejects", "return ", "anyio", "trio"].iter().any(|word| text.contains(word));
        if waits {
            continue;
        }
        let found = calls(source, body).into_iter().find(|(callee, _)| imported.contains(callee.as_str()));
        hits.extend(found.map(|(callee, node)| Hit::noted(line(node), callee)));
    }
    hits
}

/// Tests of a file of the repository that load nothing of the repository.
pub fn no_subject(source: &Source<'_>) -> Vec<Hit> {
    let name = source.path.file_name();
    let stem = name.split('.').next().unwrap_or_default();
    let subject = stem.trim_start_matches("test_").trim_end_matches("_test").trim_end_matches("Test");
    let trials = trials(source);
    let Some(first) = trials.first() else { return Vec::new() };
    let folder_of = |file: &String| file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let there = source.project.files.iter().any(|file| {
        let base = file.rsplit('/').next().unwrap_or_default();
        file != source.path.as_str()
            && base.split('.').next() == Some(subject)
            && base.rsplit('.').next() == name.rsplit('.').next()
            && !folder_of(file).contains("test")
            && !base.contains("test")
    });
    let loads = if source.language == Language::Python {
        source.imports.iter().any(|import| {
            import.module.starts_with('.') || source.project.python_roots.contains(import.module.split('.').next().unwrap_or_default())
        }) || ["import_module", "__import__", "subprocess", "runpy", "spec_from_file", "patch("].iter().any(|word| source.text.contains(word))
    } else {
        source.imports.iter().any(|import| {
            import.module.starts_with(['.', '@', '~', '#', '/']) || source.project.script.as_ref().is_some_and(|list| list.contains(&import.module))
                && import.module.contains(subject)
        }) || ["spawn", "exec", "require(", "import(", "page.", "cy.", "load", "request("].iter().any(|word| source.text.contains(word))
    };
    if there && !loads { vec![Hit::noted(line(first.node), subject)] } else { Vec::new() }
}
