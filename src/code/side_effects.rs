//! Detects side effects in test code: deleting files, long waits, network access, starting
//! programs. This static check is incomplete; the sandbox blocks what it misses.

use std::fmt;

use tree_sitter::Node;

use super::language::{GO, JAVA, JS, Language, PY, RS};
use super::pattern::Pattern;
use super::tree::{field_of, line, named_nodes, text_of};

/// The longest acceptable pause of a test, in milliseconds.
const PAUSE: f64 = 1_000.0;

/// Something that tests must not do. The displayed names are stable, because reports and tests
/// refer to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SideEffect {
    DeletesFiles,
    /// Waits for more than a second, for an unknown time, or for user input.
    Sleeps,
    UsesNetwork,
    /// Runs a shell command.
    StartsPrograms,
    EndsRun,
    /// Contains an endless loop.
    NeverEnds,
}

impl fmt::Display for SideEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DeletesFiles => "deletes-files",
            Self::Sleeps => "sleeps",
            Self::UsesNetwork => "uses-network",
            Self::StartsPrograms => "starts-programs",
            Self::EndsRun => "ends-run",
            Self::NeverEnds => "endless-loop",
        })
    }
}

/// A call with a side effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideEffectCall {
    pub effect: SideEffect,
    /// The line, from 1.
    pub line: u32,
    /// The callee as written.
    pub call: String,
}

type CallRow = (SideEffect, &'static [Language], &'static [&'static str]);

/// Callees with a side effect. A trailing dot or `::` marks a prefix, a leading dot a suffix;
/// anything else must equal the callee or its last segment.
const CALLS: &[CallRow] = &[
    (
        SideEffect::DeletesFiles,
        PY,
        &[
            "os.remove",
            "os.unlink",
            "os.rmdir",
            "os.removedirs",
            "shutil.rmtree",
            "rmtree",
            ".unlink",
            ".rmdir",
            ".rmtree",
            "os.truncate",
        ],
    ),
    (
        SideEffect::DeletesFiles,
        JS,
        &[
            ".rm",
            ".rmSync",
            ".rmdir",
            ".rmdirSync",
            ".unlink",
            ".unlinkSync",
            "rmSync",
            "unlinkSync",
            "rimraf",
            "rimraf.",
            ".emptyDir",
            ".emptyDirSync",
            ".truncateSync",
        ],
    ),
    (
        SideEffect::DeletesFiles,
        RS,
        &[
            "fs::remove_file",
            "fs::remove_dir",
            "fs::remove_dir_all",
            "remove_file",
            "remove_dir_all",
        ],
    ),
    (SideEffect::DeletesFiles, GO, &["os.Remove", "os.RemoveAll", "os.Truncate"]),
    (
        SideEffect::DeletesFiles,
        JAVA,
        &["Files.delete", "Files.deleteIfExists", "FileUtils.deleteDirectory", ".deleteOnExit"],
    ),
    (
        SideEffect::UsesNetwork,
        PY,
        &[
            "requests.",
            "httpx.",
            "aiohttp.",
            "urllib.request.",
            "urlopen",
            "http.client.",
            "socket.create_connection",
            "socket.socket",
            "smtplib.",
            "ftplib.",
        ],
    ),
    (
        SideEffect::UsesNetwork,
        JS,
        &[
            "fetch",
            "axios",
            "axios.",
            "got",
            "http.get",
            "http.request",
            "https.get",
            "https.request",
            "net.connect",
            "net.createConnection",
            "dns.",
            "WebSocket",
        ],
    ),
    (
        SideEffect::UsesNetwork,
        RS,
        &["reqwest::", "ureq::", "TcpStream::connect", "UdpSocket::bind"],
    ),
    (
        SideEffect::UsesNetwork,
        GO,
        &["http.Get", "http.Post", "http.Head", "net.Dial", "net.DialTimeout", "net.LookupHost"],
    ),
    (
        SideEffect::UsesNetwork,
        JAVA,
        &["HttpClient.newHttpClient", ".openConnection", ".openStream", "Socket"],
    ),
    (
        SideEffect::StartsPrograms,
        PY,
        &["os.system", "os.popen", "os.execv", "os.fork", "os.kill", "pty.spawn"],
    ),
    (SideEffect::StartsPrograms, JS, &["execSync", "child_process.exec", "child_process.execSync"]),
    (SideEffect::StartsPrograms, JAVA, &["Runtime.getRuntime().exec"]),
    (SideEffect::EndsRun, PY, &["os._exit", "os.abort"]),
    (SideEffect::EndsRun, JS, &["process.exit", "process.abort", "process.kill"]),
    (SideEffect::EndsRun, RS, &["process::exit", "process::abort"]),
    (SideEffect::EndsRun, GO, &["os.Exit"]),
    (SideEffect::EndsRun, JAVA, &["System.exit"]),
    (SideEffect::Sleeps, PY, &["input", "signal.pause", "breakpoint"]),
];

/// Callees that wait, with the milliseconds per unit of their argument.
const PAUSES: &[(&[Language], &[&str], f64)] = &[
    (PY, &["time.sleep", "asyncio.sleep", "sleep", "anyio.sleep"], 1_000.0),
    (JS, &["setTimeout", "sleep", "delay", "Atomics.wait"], 1.0),
    (RS, &["thread::sleep", "time::sleep", "sleep"], 1.0),
    (GO, &["time.Sleep"], 1.0),
    (JAVA, &["Thread.sleep"], 1.0),
];

/// Parts of shell commands that delete files or access the network.
const SHELL: &[&str] =
    &["\"rm\"", "'rm'", "rm -", "\"curl\"", "'curl'", "curl ", "\"wget\"", "'wget'", "wget "];

/// The calls with side effects in a source text.
pub fn side_effects(language: Language, text: &str) -> Vec<SideEffectCall> {
    let Some(tree) = language.parse(text) else { return Vec::new() };
    // With a fake clock, waiting takes no time.
    let doubled = text.contains("useFakeTimers") || text.contains("mock.timers");
    let short = |text: &str| text.chars().take(80).collect::<String>();
    let mut found = Vec::new();
    for node in named_nodes(tree.root_node()) {
        let line = line(node);
        let callee = match node.kind() {
            "call" | "call_expression" => field_of(node, "function", text),
            "new_expression" => field_of(node, "constructor", text),
            "object_creation_expression" => field_of(node, "type", text),
            "method_invocation" => {
                let list = node.child_by_field_name("arguments");
                let end = list.map_or(node.end_byte(), |list| list.start_byte());
                text.get(node.start_byte()..end).unwrap_or_default()
            }
            _ => "",
        };
        let call: String = callee.chars().filter(|c| !c.is_whitespace()).collect();
        let arguments = field_of(node, "arguments", text);
        let effect =
            if call.is_empty() { None } else { effect_of(language, &call, arguments, doubled) };
        found.extend(effect.map(|effect| SideEffectCall { effect, line, call: short(&call) }));
        if is_endless(node, text) {
            let call = short(text_of(node, text).lines().next().unwrap_or_default());
            found.push(SideEffectCall { effect: SideEffect::NeverEnds, line, call });
        }
    }
    found
}

/// Whether a loop has neither a terminating condition nor an exit in its body.
fn is_endless(node: Node<'_>, text: &str) -> bool {
    let condition = field_of(node, "condition", text).trim_matches(['(', ')', ' ', ';']);
    let open = match node.kind() {
        "while_statement" => matches!(condition, "True" | "true" | "1"),
        "loop_expression" => true,
        "for_statement" => {
            let body = node.child_by_field_name("body").map_or(node.end_byte(), |b| b.start_byte());
            let head = text.get(node.start_byte()..body).unwrap_or_default();
            matches!(
                head.split_whitespace().collect::<String>().as_str(),
                "for" | "for(;;)" | "for;;"
            )
        }
        _ => false,
    };
    let out = ["break", "return", "raise", "throw", "yield", "panic", "Fatal", "exit"];
    open && !text_of(node, text)
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| out.iter().any(|known| word.starts_with(known)))
}

/// The side effect that a callee has with any arguments.
pub fn effect_of_callee(language: Language, call: &str) -> Option<SideEffect> {
    let row = CALLS.iter().find(|(_, languages, calls)| {
        languages.contains(&language) && calls.iter().any(|known| is(call, known))
    });
    row.map(|(effect, ..)| *effect)
}

fn effect_of(language: Language, call: &str, arguments: &str, doubled: bool) -> Option<SideEffect> {
    if let Some(effect) = effect_of_callee(language, call) {
        return Some(effect);
    }
    let runs =
        ["subprocess.", "child_process.", "spawnSync", "spawn", "Command::new", "exec.Command"];
    if runs.iter().any(|known| is(call, known)) && SHELL.iter().any(|word| arguments.contains(word))
    {
        return Some(SideEffect::StartsPrograms);
    }
    let (.., unit) = PAUSES.iter().find(|(languages, calls, _)| {
        languages.contains(&language) && calls.iter().any(|known| is(call, known))
    })?;
    (!doubled && pause(language, arguments, *unit).is_none_or(|time| time > PAUSE))
        .then_some(SideEffect::Sleeps)
}

fn is(call: &str, known: &str) -> bool {
    if known.ends_with('.') || known.ends_with("::") {
        return call.starts_with(known);
    }
    if known.starts_with('.') {
        return call.ends_with(known);
    }
    let behind = |mark: &str| call.ends_with(&format!("{mark}{known}"));
    call == known || (known.contains(['.', ':']) && (behind(".") || behind("::")))
}

static NUMBER: Pattern = Pattern::new(r"^[\d_]+(?:\.\d+)?$");

/// The length of a wait in milliseconds; `None` if it is not a literal.
fn pause(language: Language, arguments: &str, unit: f64) -> Option<f64> {
    let number = |text: &str| -> Option<f64> {
        let text = text.trim();
        NUMBER.is_match(text).then(|| text.replace('_', "").parse().ok()).flatten()
    };
    let inner = arguments.trim().strip_prefix('(')?.strip_suffix(')')?.trim();
    match language {
        Language::Python | Language::Java => number(inner).map(|time| time * unit),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            // The last of several arguments is the delay; with a single callback there is none.
            let last = inner.rsplit(',').next().unwrap_or_default();
            if inner.contains(',') {
                number(last).map(|time| time * unit)
            } else {
                number(inner).or(Some(0.0))
            }
        }
        Language::Rust => {
            let (_, rest) = inner.rsplit_once("from_")?;
            let (unit, rest) = rest.split_once('(')?;
            let time = number(rest.trim_end_matches(')'))?;
            Some(time * if unit.starts_with("secs") { 1_000.0 } else { 1.0 })
        }
        Language::Go => {
            let (count, unit) = inner.split_once('*').unwrap_or(("1", inner));
            let unit = match unit.trim() {
                "time.Second" => 1_000.0,
                "time.Millisecond" => 1.0,
                "time.Microsecond" | "time.Nanosecond" => 0.001,
                _ => return None,
            };
            number(count).map(|time| time * unit)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_test_should_not_do_is_named_and_the_rest_is_left_alone() {
        use Language::{Go, Java, JavaScript, Python, Rust};
        use SideEffect::{DeletesFiles, EndsRun, NeverEnds, Sleeps, StartsPrograms, UsesNetwork};
        let table: &[(Language, &str, Option<SideEffect>)] = &[
            (Python, "import shutil\nshutil.rmtree('/')\n", Some(DeletesFiles)),
            (Python, "from shutil import rmtree\nrmtree('x')\n", Some(DeletesFiles)),
            (Python, "Path('a').unlink()\n", Some(DeletesFiles)),
            (Python, "items.remove(1)\n", None),
            (Python, "time.sleep(3600)\n", Some(Sleeps)),
            (Python, "time.sleep(0.01)\n", None),
            (Python, "time.sleep(LONG)\n", Some(Sleeps)),
            (Python, "from time import sleep\nsleep(10 ** 9)\n", Some(Sleeps)),
            (Python, "name = input()\n", Some(Sleeps)),
            (Python, "requests.get('http://x')\n", Some(UsesNetwork)),
            (Python, "patch('shop.requests.get', fake)\n", None),
            (Python, "os.system('true')\n", Some(StartsPrograms)),
            (Python, "subprocess.run(['rm', '-rf', '/'])\n", Some(StartsPrograms)),
            (Python, "subprocess.run([sys.executable, 'store.py'])\n", None),
            (Python, "os._exit(0)\n", Some(EndsRun)),
            (Python, "while True: price('2')\n", Some(NeverEnds)),
            (Python, "while True:\n    if price('2'):\n        break\n", None),
            (JavaScript, "for (;;) { price(); }\n", Some(NeverEnds)),
            (JavaScript, "for (let i = 0; i < 3; i++) { price(); }\n", None),
            (Go, "package a\nfunc a() { for { b() } }\n", Some(NeverEnds)),
            (Rust, "fn a() { loop { b(); } }\n", Some(NeverEnds)),
            (JavaScript, "fs.rmSync('x', { recursive: true });\n", Some(DeletesFiles)),
            (JavaScript, "await fetch('http://x');\n", Some(UsesNetwork)),
            (JavaScript, "new WebSocket('ws://x');\n", Some(UsesNetwork)),
            (JavaScript, "setTimeout(done, 60000);\n", Some(Sleeps)),
            (JavaScript, "setTimeout(done, 10);\n", None),
            (JavaScript, "jest.useFakeTimers(); setTimeout(done, 60000);\n", None),
            (JavaScript, "process.exit(0);\n", Some(EndsRun)),
            (JavaScript, "prefetch('x'); list.delete(1);\n", None),
            (Rust, "fn a() { std::fs::remove_dir_all(\"x\"); }\n", Some(DeletesFiles)),
            (Rust, "fn a() { std::thread::sleep(Duration::from_secs(9)); }\n", Some(Sleeps)),
            (Rust, "fn a() { std::thread::sleep(Duration::from_millis(9)); }\n", None),
            (Go, "package a\nfunc a() { time.Sleep(5 * time.Second) }\n", Some(Sleeps)),
            (Go, "package a\nfunc a() { time.Sleep(5 * time.Millisecond) }\n", None),
            (Go, "package a\nfunc a() { os.RemoveAll(\"x\") }\n", Some(DeletesFiles)),
            (Java, "class A { void a() { Thread.sleep(9000); } }\n", Some(Sleeps)),
            (Java, "class A { void a() { Files.delete(path); } }\n", Some(DeletesFiles)),
            (Java, "class A { void a() { list.remove(1); } }\n", None),
        ];
        for (language, text, expected) in table {
            let found = side_effects(*language, text);
            assert_eq!(found.first().map(|act| act.effect), *expected, "{text}: {found:?}");
        }
    }

    fn effects(language: Language, text: &str) -> Vec<SideEffect> {
        side_effects(language, text).into_iter().map(|one| one.effect).collect()
    }

    #[test]
    fn pauses_are_measured_in_the_units_of_their_language() {
        use Language::{Go, Java, JavaScript, Python, Rust};
        let table = [
            (Python, "time.sleep(1)\n", false),
            (Python, "time.sleep(1.5)\n", true),
            (Python, "await asyncio.sleep(0)\n", false),
            (Python, "time.sleep(1_000)\n", true),
            (JavaScript, "setTimeout(f);\n", false),
            (JavaScript, "setTimeout(f, 1_000);\n", false),
            (JavaScript, "setTimeout(f, 1001);\n", true),
            (JavaScript, "await delay(20);\n", false),
            (JavaScript, "await sleep(ms(2), 5000);\n", true),
            (Rust, "fn a() { sleep(Duration::from_secs(1)); }\n", false),
            (Rust, "fn a() { tokio::time::sleep(Duration::from_millis(1500)).await; }\n", true),
            (Rust, "fn a() { thread::sleep(PAUSE); }\n", true),
            (Go, "package a\nfunc a() { time.Sleep(time.Second) }\n", false),
            (Go, "package a\nfunc a() { time.Sleep(2 * time.Second) }\n", true),
            (Go, "package a\nfunc a() { time.Sleep(9 * time.Microsecond) }\n", false),
            (Go, "package a\nfunc a() { time.Sleep(time.Hour) }\n", true),
            (Java, "class A { void a() { Thread.sleep(1000); } }\n", false),
            (Java, "class A { void a() { Thread.sleep(1001L); } }\n", true),
        ];
        for (language, text, expected) in table {
            assert_eq!(effects(language, text).contains(&SideEffect::Sleeps), expected, "{text}");
        }
    }

    #[test]
    fn loops_end_by_any_way_out() {
        use Language::{Go, Java, JavaScript, Python, Rust};
        let table = [
            (Python, "while 1:\n    f()\n", true),
            (Python, "while f():\n    g()\n", false),
            (Python, "while True:\n    raise E\n", false),
            (Python, "def g():\n    while True:\n        yield 1\n", false),
            (JavaScript, "while (true) f();\n", true),
            (JavaScript, "for (;;) { if (f()) break; }\n", false),
            (JavaScript, "while (true) { throw e; }\n", false),
            (Go, "package a\nfunc a() { for { return } }\n", false),
            (Go, "package a\nfunc a() { for i := 0; i < 3; i++ { b() } }\n", false),
            (Go, "package a\nfunc a() { for ;; { b() } }\n", true),
            (Rust, "fn a() { loop { break; } }\n", false),
            (Rust, "fn a() { while true { b(); } }\n", false),
            (Java, "class A { void a() { while (true) { b(); } } }\n", true),
            (Java, "class A { void a() { for (;;) { b(); } } }\n", true),
        ];
        for (language, text, expected) in table {
            assert_eq!(
                effects(language, text).contains(&SideEffect::NeverEnds),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn commands_of_the_shell_count_when_they_delete_or_load() {
        let table = [
            (Language::Python, "subprocess.run(['curl', url])\n", true),
            (Language::Python, "subprocess.run('rm -rf x', shell=True)\n", true),
            (Language::Python, "subprocess.run(['git', 'status'])\n", false),
            (Language::JavaScript, "spawnSync('wget', [url]);\n", true),
            (Language::JavaScript, "spawnSync(process.execPath, ['a.js']);\n", false),
            (Language::Go, "package a\nfunc a() { exec.Command(\"rm\", \"x\") }\n", true),
            (Language::Rust, "fn a() { Command::new(\"curl\"); }\n", true),
            (Language::Rust, "fn a() { Command::new(\"true\"); }\n", false),
        ];
        for (language, text, expected) in table {
            let found = effects(language, text).contains(&SideEffect::StartsPrograms);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn callees_match_by_beginning_end_or_whole_name() {
        let table = [
            ("requests.get", "requests.", true),
            ("shop.requests.get", "requests.", false),
            ("reqwest::get", "reqwest::", true),
            ("path.unlink", ".unlink", true),
            ("unlink", ".unlink", false),
            ("os.remove", "os.remove", true),
            ("my.os.remove", "os.remove", true),
            ("std::fs::remove_file", "fs::remove_file", true),
            ("fetch", "fetch", true),
            ("prefetch", "fetch", false),
            ("api.fetch", "fetch", false),
        ];
        for (call, known, expected) in table {
            assert_eq!(is(call, known), expected, "{call} {known}");
        }
    }

    #[test]
    fn every_effect_has_a_name_of_its_own_and_a_call_its_line() {
        use SideEffect::{DeletesFiles, EndsRun, NeverEnds, Sleeps, StartsPrograms, UsesNetwork};
        let all = [DeletesFiles, EndsRun, NeverEnds, Sleeps, StartsPrograms, UsesNetwork];
        let names: std::collections::BTreeSet<String> =
            all.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), all.len());
        let found = side_effects(Language::Python, "x = 1\n\nos . remove('a')\n");
        assert_eq!((found[0].line, found[0].call.as_str()), (3, "os.remove"));
        let long = format!("requests.{}()\n", "a".repeat(200));
        assert_eq!(side_effects(Language::Python, &long)[0].call.len(), 80);
    }
}
