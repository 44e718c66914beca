//! The project's own type checkers, linters and formatters, on the checkout as it lies there.
//!
//! They load code and settings of the repository, so they run like tests: nothing of the checkout
//! can be written. A missing tool skips its check and says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::host::environment;
use crate::adapter::host::files;
use crate::adapter::host::process::{self, Ending, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::id::RepoPath;
use crate::domain::request::ToolCommands;
use crate::effect::{Concern, LintReport};

use super::lint_output::{self, OutputFormat};

/// Time for one check (specification.md 6.3).
const LIMIT: Duration = Duration::from_mins(1);

/// Bytes of the output of a check that are read.
const OUTPUT_LIMIT: u64 = 256 << 10;

/// One tool: what tells that the project uses it, and its command.
struct Tool {
    name: &'static str,
    concern: Concern,
    /// File and the words it must hold.
    signs: &'static [(&'static str, &'static str)],
    argv: &'static [&'static str],
    output_format: OutputFormat,
    /// The command that prints a file as it should be, without the file.
    rewrite: &'static [&'static str],
}

const fn tool(
    name: &'static str,
    concern: Concern,
    signs: &'static [(&'static str, &'static str)],
    argv: &'static [&'static str],
    output_format: OutputFormat,
) -> Tool {
    Tool { name, concern, signs, argv, output_format, rewrite: &[] }
}

use Concern::{Format, Rules, Types};
use OutputFormat::{EslintJson, FileList, Lints, Locations};

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
        Locations,
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
        Locations,
    ),
    tool(
        "cargo check",
        Types,
        &[("Cargo.toml", "")],
        &["cargo", "check", "--all-targets", "--quiet", "--message-format", "short"],
        Locations,
    ),
    tool("go vet", Types, &[("go.mod", "")], &["go", "vet", "./..."], Locations),
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
        EslintJson,
    ),
    tool(
        "clippy",
        Rules,
        &[("clippy.toml", ""), (".clippy.toml", ""), ("Cargo.toml", "lints.clippy]")],
        &["cargo", "clippy", "--all-targets", "--quiet", "--message-format", "short"],
        Lints,
    ),
    tool(
        "ruff",
        Rules,
        RUFF,
        &["ruff", "check", "--no-cache", "--output-format", "concise", "."],
        Locations,
    ),
    Tool {
        rewrite: &["gofmt"],
        ..tool("gofmt", Format, &[("go.mod", "")], &["gofmt", "-l", "."], FileList)
    },
    tool(
        "cargo fmt",
        Format,
        &[("rustfmt.toml", ""), (".rustfmt.toml", "")],
        &["cargo", "fmt", "--", "--check", "-l"],
        FileList,
    ),
    Tool {
        rewrite: &["node_modules/.bin/prettier"],
        ..tool(
            "prettier",
            Format,
            &[(".prettierrc", ""), (".prettierrc.json", ""), ("package.json", "\"prettier\": {")],
            &["node_modules/.bin/prettier", "--list-different", "."],
            FileList,
        )
    },
    tool(
        "black",
        Format,
        &[("pyproject.toml", "[tool.black]")],
        &["black", "--check", "."],
        FileList,
    ),
    tool(
        "ruff format",
        Format,
        &[("pyproject.toml", "[tool.ruff.format"), ("ruff.toml", "[format]")],
        &["ruff", "format", "--no-cache", "--check", "."],
        FileList,
    ),
];

/// Whether the project has set a tool up.
fn is_set_up(tool: &Tool, root: &Path) -> bool {
    tool.signs.iter().any(|(file, words)| {
        let text = files::read(&root.join(file), 4 << 20).ok().flatten();
        text.is_some_and(|text| String::from_utf8_lossy(&text).contains(words))
    })
}

/// Whether the project has set up the tool of this name.
pub(super) fn is_named_set_up(name: &str, root: &Path) -> bool {
    TOOLS.iter().any(|tool| tool.name == name && is_set_up(tool, root))
}

/// Whether the table has a tool of this name.
#[cfg(test)]
pub(super) fn is_known(name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.name == name)
}

/// The program of a command: the project's own where it has one.
pub(super) fn program(root: &Path, argv: &[&str]) -> Vec<String> {
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
pub(super) fn invocation(argv: Vec<String>, root: &Path, scratch: &Path) -> Invocation {
    let mut environment = environment::of_child(scratch);
    for (name, folder) in [("CARGO_TARGET_DIR", "target"), ("MYPY_CACHE_DIR", "mypy")] {
        environment.insert(name.into(), scratch.join(folder).display().to_string());
    }
    let access = Access {
        checkouts: Vec::new(),
        scratch: scratch.to_owned(),
        protected: vec![root.to_owned()],
    };
    Invocation { argv, directory: root.to_owned(), environment, access: Some(access) }
}

/// Asks every tool that the project has set up, in the root of the checkout; a command of its own
/// stands for the tools of its concern. `scratch` is an own folder; what lies in it from before
/// makes a check quicker.
pub async fn run_tools(
    root: &Path,
    scratch: &Path,
    concerns: &[Concern],
    own: &ToolCommands,
) -> LintReport {
    let mut report = LintReport::default();
    let commands =
        [(Rules, "the lint command", &own.lint), (Types, "the build command", &own.build)];
    for (concern, name, command) in commands {
        if let Some(command) = command.as_ref().filter(|_| concerns.contains(&concern)) {
            let argv = vec!["sh".to_owned(), "-c".to_owned(), command.clone()];
            let run = ToolRun { name, concern, output_format: OutputFormat::Any, argv };
            run_tool(&run, root, scratch, &mut report).await;
        }
    }
    let replaced = |concern| match concern {
        Rules => own.lint.is_some(),
        Types => own.build.is_some(),
        Format => false,
    };
    for tool in TOOLS.iter().filter(|tool| concerns.contains(&tool.concern)) {
        if replaced(tool.concern) || !is_set_up(tool, root) {
            continue;
        }
        if tool.argv.first() == Some(&"cargo")
            && tool.concern != Format
            && !root.join("Cargo.lock").is_file()
        {
            let reason = "there is no Cargo.lock, and nothing may be written";
            report.skipped.push((tool.name.to_owned(), reason.into()));
            continue;
        }
        let argv = program(root, tool.argv);
        let run = ToolRun {
            name: tool.name,
            concern: tool.concern,
            output_format: tool.output_format,
            argv,
        };
        run_tool(&run, root, scratch, &mut report).await;
    }
    report
}

/// One command that is run.
struct ToolRun {
    name: &'static str,
    concern: Concern,
    output_format: OutputFormat,
    argv: Vec<String>,
}

async fn run_tool(run: &ToolRun, root: &Path, scratch: &Path, report: &mut LintReport) {
    report.asked.push(run.name.to_owned());
    let log = scratch.join("tool.log");
    let child = invocation(run.argv.clone(), root, scratch);
    let reason = match process::run(&child, LIMIT, &log).await {
        Ok(Ending::Exit(code)) => {
            let text = process::tail_of(&log, OUTPUT_LIMIT);
            let remarks = lint_output::parse(run.output_format, &text, root, run.name);
            if code == 0 || !remarks.is_empty() {
                report.remarks.extend(remarks.into_iter().map(|one| (run.concern, one)));
                return;
            }
            let last = text.lines().rev().find(|line| !line.trim().is_empty());
            let last: String =
                last.unwrap_or("it printed nothing").trim().chars().take(200).collect();
            format!("exit code {code}: {last}")
        }
        Ok(ending) => format!("it was stopped by {ending}"),
        Err(error) => format!("it could not be started: {error}"),
    };
    report.skipped.push((run.name.to_owned(), reason));
}

/// The text of a file as the project's own formatter prints it; `None` when no such formatter is
/// there or it does not know the file.
#[must_use]
pub fn format_file(root: &Path, scratch: &Path, file: &RepoPath) -> Option<String> {
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
/// grammar does not know a form of syntax, the language's own parser decides.
#[must_use]
pub fn files_that_parse(
    root: &Path,
    scratch: &Path,
    doubted: &[RepoPath],
) -> BTreeMap<RepoPath, &'static str> {
    const PYTHON: &str = "import sys; name = sys.argv[1]; compile(open(name, 'rb').read(), name, 'exec', dont_inherit=True); print('ok')";
    // The project's own TypeScript, which says only whether it can be read.
    const SCRIPT: &str = "const [root, name] = process.argv.slice(1); \
        const ts = require(root + '/node_modules/typescript'); \
        const text = require('fs').readFileSync(name, 'utf8'); \
        const result = ts.transpileModule(text, { fileName: name, reportDiagnostics: true }); \
        if (result.diagnostics.length) process.exit(1); console.log('ok')";
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
