//! The project's own type checkers, linters and formatters, on the checkout as it lies there.
//!
//! They load code and settings of the repository, so they run like tests: nothing of the checkout
//! can be written. A missing tool skips its check and says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::id::RepoPath;
use crate::domain::quality::Remark;
use crate::domain::request::ToolCommands;

/// Time for one check (product.md 6.3).
const LIMIT: Duration = Duration::from_mins(1);

/// Bytes of what a check said that are read.
const SAID: u64 = 256 << 10;

/// What a tool is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Do the types fit?
    Types,
    /// Are the project's own rules kept?
    Rules,
    /// Which files are not formatted?
    Format,
}

/// What the tools said, and what could not be asked.
#[derive(Debug, Default)]
pub struct Said {
    /// Remarks, with the question they answer.
    pub remarks: Vec<(Question, Remark)>,
    /// Checks that were skipped, with the reason.
    pub skipped: Vec<(String, String)>,
}

/// How a tool's answer is read.
#[derive(Clone, Copy)]
enum Form {
    /// `file:line:column: message`.
    Places,
    /// One file on a line, behind words of the tool.
    Files,
    /// `ESLint`'s JSON.
    Eslint,
}

/// One tool: what tells that the project uses it, and its command.
struct Tool {
    name: &'static str,
    question: Question,
    /// File and the words it must hold.
    signs: &'static [(&'static str, &'static str)],
    argv: &'static [&'static str],
    form: Form,
    /// The command that prints a file as it should be, without the file.
    rewrite: &'static [&'static str],
}

const fn tool(
    name: &'static str,
    question: Question,
    signs: &'static [(&'static str, &'static str)],
    argv: &'static [&'static str],
    form: Form,
) -> Tool {
    Tool { name, question, signs, argv, form, rewrite: &[] }
}

use Form::{Eslint, Files, Places};
use Question::{Format, Rules, Types};

const RUFF: &[(&str, &str)] =
    &[("pyproject.toml", "[tool.ruff"), ("ruff.toml", ""), (".ruff.toml", "")];

/// Every tool; a new one is a row.
const TOOLS: &[Tool] = &[
    tool(
        "tsc",
        Types,
        &[("tsconfig.json", "")],
        &[
            "node_modules/.bin/tsc",
            "--noEmit",
            "--incremental",
            "false",
            "--pretty",
            "false",
            "-p",
            ".",
        ],
        Places,
    ),
    tool(
        "mypy",
        Types,
        &[
            ("mypy.ini", ""),
            (".mypy.ini", ""),
            ("pyproject.toml", "[tool.mypy]"),
            ("setup.cfg", "[mypy]"),
        ],
        &["mypy", "--no-error-summary", "--no-color-output", "."],
        Places,
    ),
    tool(
        "cargo check",
        Types,
        &[("Cargo.toml", "")],
        &["cargo", "check", "--all-targets", "--quiet", "--message-format", "short"],
        Places,
    ),
    tool("go vet", Types, &[("go.mod", "")], &["go", "vet", "./..."], Places),
    tool(
        "eslint",
        Rules,
        &[
            ("eslint.config.js", ""),
            ("eslint.config.mjs", ""),
            ("eslint.config.cjs", ""),
            (".eslintrc.json", ""),
            (".eslintrc.js", ""),
            (".eslintrc.cjs", ""),
        ],
        &["node_modules/.bin/eslint", "--format", "json", "."],
        Eslint,
    ),
    tool(
        "ruff",
        Rules,
        RUFF,
        &["ruff", "check", "--no-cache", "--output-format", "concise", "."],
        Places,
    ),
    Tool {
        rewrite: &["gofmt"],
        ..tool("gofmt", Format, &[("go.mod", "")], &["gofmt", "-l", "."], Files)
    },
    tool(
        "cargo fmt",
        Format,
        &[("rustfmt.toml", ""), (".rustfmt.toml", "")],
        &["cargo", "fmt", "--", "--check", "-l"],
        Files,
    ),
    Tool {
        rewrite: &["node_modules/.bin/prettier"],
        ..tool(
            "prettier",
            Format,
            &[(".prettierrc", ""), (".prettierrc.json", ""), ("package.json", "\"prettier\": {")],
            &["node_modules/.bin/prettier", "--list-different", "."],
            Files,
        )
    },
    tool("black", Format, &[("pyproject.toml", "[tool.black]")], &["black", "--check", "."], Files),
    tool(
        "ruff format",
        Format,
        &[("pyproject.toml", "[tool.ruff.format"), ("ruff.toml", "[format]")],
        &["ruff", "format", "--no-cache", "--check", "."],
        Files,
    ),
];

static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:vet: )?(?:\./)?([^\s:(]+)[:(](\d+)(?:[:,]\d+)?\)?:?\s*(?:error(?:\[?\s*\w*\]?)?:\s*)?(.+)$").ok()
});

/// A path that a tool printed, below the root.
fn below(root: &Path, file: &str) -> Option<RepoPath> {
    let prefix = format!("{}/", root.display());
    let file = file.strip_prefix(&prefix).unwrap_or(file);
    RepoPath::parse(file.strip_prefix("./").unwrap_or(file)).ok()
}

/// Reads `file:line:column: message` and `file(line,column): error: message`; notes and warnings
/// are none of its business.
fn places(text: &str, root: &Path) -> Vec<Remark> {
    let Some(place) = PLACE.as_ref() else { return Vec::new() };
    text.lines()
        .filter(|line| {
            !line.contains(": warning")
                && !line.contains(": note:")
                && !line.starts_with([' ', '#'])
        })
        .filter_map(|line| {
            let found = place.captures(line)?;
            let file = below(root, found.get(1)?.as_str())?;
            Some((file, found.get(2)?.as_str().parse().ok()?, found.get(3)?.as_str().to_owned()))
        })
        .collect()
}

/// Reads files, one on a line.
fn files_of(text: &str, root: &Path, tool: &str) -> Vec<Remark> {
    text.lines()
        .map(|line| {
            line.trim_start_matches("would reformat ").trim_start_matches("Would reformat: ")
        })
        .filter(|line| !line.contains(' ') && line.contains('.'))
        .filter_map(|line| Some((below(root, line)?, 1, format!("`{tool}` would change it"))))
        .collect()
}

/// Reads `ESLint`'s errors; its warnings are not what a gate is for.
fn eslint(text: &str, root: &Path) -> Vec<Remark> {
    let start = text.find('[').unwrap_or(text.len());
    let Ok(value) =
        serde_json::from_str::<serde_json::Value>(text.get(start..).unwrap_or_default())
    else {
        return Vec::new();
    };
    let mut remarks = Vec::new();
    for file in value.as_array().into_iter().flatten() {
        let path = file.get("filePath").and_then(|path| path.as_str()).unwrap_or_default();
        let Some(path) = below(root, path) else { continue };
        for message in file.get("messages").and_then(|list| list.as_array()).into_iter().flatten() {
            let number = |key: &str| message.get(key).and_then(serde_json::Value::as_u64);
            let word =
                |key: &str| message.get(key).and_then(|text| text.as_str()).unwrap_or_default();
            if number("severity") == Some(2) {
                let line = number("line").and_then(|line| u32::try_from(line).ok()).unwrap_or(1);
                let text = format!("{} ({})", word("message"), word("ruleId"));
                remarks.push((path.clone(), line, text));
            }
        }
    }
    remarks
}

fn read(tool: &Tool, text: &str, root: &Path) -> Vec<Remark> {
    match tool.form {
        Places => places(text, root),
        Files => files_of(text, root, tool.name),
        Eslint => eslint(text, root),
    }
}

/// Whether the project has set a tool up.
fn is_set_up(tool: &Tool, root: &Path) -> bool {
    tool.signs.iter().any(|(file, words)| {
        let text = files::read(&root.join(file), 4 << 20).ok().flatten();
        text.is_some_and(|text| String::from_utf8_lossy(&text).contains(words))
    })
}

/// The program of a command: the project's own where it has one.
fn program(root: &Path, argv: &[&str]) -> Vec<String> {
    let mut argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    if let Some(first) = argv.first_mut() {
        let own = root.join(".venv/bin").join(&*first);
        if first.contains('/') {
            *first = root.join(&*first).display().to_string();
        } else if own.is_file() {
            *first = own.display().to_string();
        }
    }
    argv
}

/// A child that can read the checkout and write only below `scratch`.
fn invocation(argv: Vec<String>, root: &Path, scratch: &Path) -> Invocation {
    let mut environment = process::environment(scratch);
    for (name, folder) in [("CARGO_TARGET_DIR", "target"), ("MYPY_CACHE_DIR", "mypy")] {
        environment.insert(name.into(), scratch.join(folder).display().to_string());
    }
    let access =
        Access { checkouts: Vec::new(), scratch: scratch.to_owned(), kept: vec![root.to_owned()] };
    Invocation { argv, directory: root.to_owned(), environment, access: Some(access) }
}

/// A command that the project names instead of the tools that are detected.
fn named(commands: &ToolCommands, question: Question) -> Option<&str> {
    match question {
        Types => commands.build.as_deref(),
        Rules => commands.lint.as_deref(),
        Format => None,
    }
}

/// Asks every tool that the project has set up, in the root of the checkout, or the commands it
/// names instead. `scratch` is an own folder; what lies in it from before makes a check quicker.
pub async fn tools(
    root: &Path,
    scratch: &Path,
    questions: &[Question],
    commands: &ToolCommands,
) -> Said {
    let mut said = Said::default();
    for question in questions {
        let Some(command) = named(commands, *question) else { continue };
        let argv = vec!["sh".into(), "-c".into(), command.to_owned()];
        let read = |text: &str| {
            let listed = eslint(text, root);
            if listed.is_empty() { places(text, root) } else { listed }
        };
        match ask(invocation(argv, root, scratch), scratch, read).await {
            Ok(remarks) => said.remarks.extend(remarks.into_iter().map(|one| (*question, one))),
            Err(reason) => said.skipped.push((command.to_owned(), reason)),
        }
    }
    for tool in TOOLS.iter().filter(|tool| questions.contains(&tool.question)) {
        if named(commands, tool.question).is_some() || !is_set_up(tool, root) {
            continue;
        }
        if tool.name == "cargo check" && !root.join("Cargo.lock").is_file() {
            let reason = "there is no Cargo.lock, and nothing may be written";
            said.skipped.push((tool.name.to_owned(), reason.into()));
            continue;
        }
        let child = invocation(program(root, tool.argv), root, scratch);
        match ask(child, scratch, |text| read(tool, text, root)).await {
            Ok(remarks) => said.remarks.extend(remarks.into_iter().map(|one| (tool.question, one))),
            Err(reason) => said.skipped.push((tool.name.to_owned(), reason)),
        }
    }
    said
}

/// Runs one check; what it said, or why that cannot be known.
async fn ask(
    child: Invocation,
    scratch: &Path,
    read: impl Fn(&str) -> Vec<Remark>,
) -> Result<Vec<Remark>, String> {
    let log = scratch.join("tool.log");
    match process::run(&child, LIMIT, &log).await {
        Ok(Ending::Exit(code)) => {
            let text = process::tail_of(&log, SAID);
            let remarks = read(&text);
            if code == 0 || !remarks.is_empty() {
                return Ok(remarks);
            }
            let last = text.lines().rev().find(|line| !line.trim().is_empty());
            Err(format!("exit code {code}: {}", last.unwrap_or("it said nothing").trim()))
        }
        Ok(ending) => Err(format!("it was stopped by {ending}")),
        Err(error) => Err(format!("it could not be started: {error}")),
    }
}

/// The text of a file as the project's own formatter prints it; `None` when no such formatter is
/// there or it does not know the file.
#[must_use]
pub fn formatted(root: &Path, scratch: &Path, file: &RepoPath) -> Option<String> {
    let path = root.join(file.as_str()).display().to_string();
    let of = |tool: &&Tool| match file.extension() {
        "go" => tool.name == "gofmt",
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => tool.name == "prettier",
        _ => false,
    };
    let tool = TOOLS.iter().find(of).filter(|tool| is_set_up(tool, root))?;
    let mut argv = program(root, tool.rewrite);
    argv.push(path);
    let text = process::output(&invocation(argv, root, scratch), LIMIT).ok()?;
    (!text.is_empty()).then_some(text)
}

/// Files among `doubted` that the parser of the language itself accepts, with its name: where our
/// grammar does not know a form, the language's own word counts.
#[must_use]
pub fn accepted(
    root: &Path,
    scratch: &Path,
    doubted: &[RepoPath],
) -> BTreeMap<RepoPath, &'static str> {
    const PYTHON: &str = "import sys; name = sys.argv[1]; compile(open(name, 'rb').read(), name, 'exec', dont_inherit=True); print('ok')";
    // The project's own TypeScript, which says only whether it can be read.
    const SCRIPT: &str = "const [root, name] = process.argv.slice(1); \
        const ts = require(root + '/node_modules/typescript'); \
        const text = require('fs').readFileSync(name, 'utf8'); \
        const said = ts.transpileModule(text, { fileName: name, reportDiagnostics: true }); \
        if (said.diagnostics.length) process.exit(1); console.log('ok')";
    let mut known = BTreeMap::new();
    let at = root.display().to_string();
    // Each file takes a process; a tree of broken files is broken.
    for file in doubted.iter().take(40) {
        let path: PathBuf = root.join(file.as_str());
        let (name, argv): (&str, Vec<&str>) = match file.extension() {
            "py" => ("python", vec!["python3", "-c", PYTHON]),
            "js" | "mjs" | "cjs" => ("node", vec!["node", "--check"]),
            "ts" | "tsx" | "mts" | "cts" => ("TypeScript", vec!["node", "-e", SCRIPT, &at]),
            "go" => ("gofmt", vec!["gofmt", "-e", "-l"]),
            "rs" => {
                ("rustfmt", vec!["rustfmt", "--edition", "2024", "--emit", "stdout", "--quiet"])
            }
            _ => continue,
        };
        let mut argv = program(root, &argv);
        argv.push(path.display().to_string());
        if process::output(&invocation(argv, root, scratch), LIMIT).is_ok() {
            known.insert(file.clone(), name);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_every_checker_are_read() {
        let table = [
            ("src/a.ts(3,7): error TS2322: Type 'x'", "src/a.ts", 3),
            ("app/b.py:12: error: Incompatible types", "app/b.py", 12),
            ("src/c.rs:5:9: error[E0308]: mismatched types", "src/c.rs", 5),
            ("vet: ./d.go:4:2: undefined: x", "d.go", 4),
            ("/r/e.go:4:2: unusedresult", "e.go", 4),
            ("f.py:1:8: F401 [*] `os` imported but unused", "f.py", 1),
        ];
        for (text, file, line) in table {
            let said = places(text, Path::new("/r"));
            let first = said.first().map(|(file, line, _)| (file.as_str(), *line));
            assert_eq!(first, Some((file, line)), "{text}");
        }
        assert!(places("src/c.rs:5:9: warning: unused", Path::new("/r")).is_empty());
        assert!(places("# example.com/m", Path::new("/r")).is_empty());
    }

    #[test]
    fn files_of_every_formatter_are_read() {
        let table = [
            ("tax/tax.go", "tax/tax.go"),
            ("would reformat /r/app/a.py", "app/a.py"),
            ("Would reformat: app/a.py", "app/a.py"),
            ("/r/src/main.rs", "src/main.rs"),
        ];
        for (text, file) in table {
            let said = files_of(text, Path::new("/r"), "tool");
            assert_eq!(said.first().map(|one| one.0.as_str()), Some(file), "{text}");
        }
        for text in ["All done!", "1 file would be reformatted.", "", "Oh no! Boom."] {
            assert!(files_of(text, Path::new("/r"), "tool").is_empty(), "{text}");
        }
    }

    #[test]
    fn errors_of_eslint_are_read_and_its_warnings_are_not() {
        let text = r#"[{"filePath":"/r/a.js","messages":[
            {"ruleId":"eqeqeq","severity":2,"message":"Expected '==='","line":3},
            {"ruleId":"semi","severity":1,"message":"Missing semicolon","line":4}]}]"#;
        let said = eslint(text, Path::new("/r"));
        let lines: Vec<(&str, u32, &str)> =
            said.iter().map(|(file, line, text)| (file.as_str(), *line, text.as_str())).collect();
        assert_eq!(lines, [("a.js", 3, "Expected '===' (eqeqeq)")]);
        assert!(eslint("Oops! Something went wrong", Path::new("/r")).is_empty());
    }
}
