//! Runs the project's own type checkers, linters and formatters on the checkout.
//!
//! They load code and settings of the repository, so they run in the sandbox of tests, without
//! write access to the checkout. A missing tool is skipped with a notice.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::adapter::host::environment;
use crate::adapter::host::files;
use crate::adapter::host::process::{self, ExitReason, Invocation};
use crate::adapter::host::sandbox::Access;
use crate::domain::id::RepoPath;
use crate::domain::request::ToolCommands;
use crate::effect::{Concern, LintReport};

use super::framework::shell_argv;
use super::lint_output::{self, OutputFormat};
use super::syntax_check::COMPILE_PYTHON;

/// Time limit of one check (specification.md 6.3).
const LIMIT: Duration = Duration::from_mins(1);

/// Bytes of the output of a check that are read.
const OUTPUT_LIMIT: u64 = 256 << 10;

/// One tool: what shows that the project uses it, and its commands as a person types them.
pub(super) struct Tool {
    pub name: &'static str,
    pub concern: Concern,
    /// Configuration files, each with the words that it must contain.
    signs: &'static [(&'static str, &'static str)],
    /// Empty for what only fixes.
    command: &'static str,
    output_format: OutputFormat,
    pub fixer: Option<Fixer>,
}

/// How a tool fixes a text.
pub(super) struct Fixer {
    /// Extensions of the files it handles.
    pub endings: &'static [&'static str],
    /// Reads the text from standard input; `{}` stands for the path.
    pub command: &'static str,
    pub output: FixerOutput,
}

/// How a fixer returns the new text.
#[derive(Clone, Copy)]
pub(super) enum FixerOutput {
    /// The output is the new text.
    Text,
    /// The JSON report of `ESLint`, with the text in `output` when it differs.
    Eslint,
}

const fn tool(
    name: &'static str,
    concern: Concern,
    signs: &'static [(&'static str, &'static str)],
    command: &'static str,
    output_format: OutputFormat,
) -> Tool {
    Tool { name, concern, signs, command, output_format, fixer: None }
}

impl Tool {
    const fn fixing(mut self, endings: &'static [&'static str], command: &'static str) -> Self {
        self.fixer = Some(Fixer { endings, command, output: FixerOutput::Text });
        self
    }
}

use Concern::{Format, Rules, Types};
use OutputFormat::{Any, EslintJson, FileList, Lints, Locations};

const RUFF: &[(&str, &str)] =
    &[("pyproject.toml", "[tool.ruff"), ("ruff.toml", ""), (".ruff.toml", "")];
const ESLINT: &[(&str, &str)] = &[
    ("eslint.config.js", ""),
    ("eslint.config.mjs", ""),
    ("eslint.config.cjs", ""),
    (".eslintrc.json", ""),
    (".eslintrc.js", ""),
    (".eslintrc.cjs", ""),
    (".eslintrc.yml", ""),
    (".eslintrc.yaml", ""),
    (".eslintrc", ""),
    ("eslint.config.ts", ""),
    ("package.json", "\"eslintConfig\""),
];
const PRETTIER: &[(&str, &str)] = &[
    (".prettierrc", ""),
    (".prettierrc.json", ""),
    (".prettierrc.yml", ""),
    (".prettierrc.yaml", ""),
    (".prettierrc.toml", ""),
    (".prettierrc.js", ""),
    (".prettierrc.cjs", ""),
    (".prettierrc.mjs", ""),
    ("prettier.config.js", ""),
    ("prettier.config.cjs", ""),
    ("prettier.config.mjs", ""),
    ("package.json", "\"prettier\": {"),
];
const ISORT: &[(&str, &str)] = &[
    ("pyproject.toml", "[tool.isort"),
    (".isort.cfg", ""),
    ("setup.cfg", "[isort]"),
    ("tox.ini", "[isort]"),
    (".pre-commit-config.yaml", "id: isort"),
];
const BLACK: &[(&str, &str)] =
    &[("pyproject.toml", "[tool.black]"), (".pre-commit-config.yaml", "id: black")];
const PYTHON: &[&str] = &["py", "pyi"];
const SCRIPT: &[&str] = &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"];

/// All tools, those that change code before those that only format; each is a row.
pub(super) const TOOLS: &[Tool] = &[
    tool(
        "tsc",
        Types,
        &[("tsconfig.json", "")],
        "node_modules/.bin/tsc --noEmit --incremental false --pretty false -p .",
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
        "mypy --no-error-summary --no-color-output .",
        Locations,
    ),
    tool(
        "cargo check",
        Types,
        &[("Cargo.toml", "")],
        "cargo check --all-targets --quiet --message-format short",
        Locations,
    ),
    tool("go vet", Types, &[("go.mod", "")], "go vet ./...", Locations),
    Tool {
        fixer: Some(Fixer {
            endings: SCRIPT,
            command: "node_modules/.bin/eslint --fix-dry-run --format json --stdin --stdin-filename {}",
            output: FixerOutput::Eslint,
        }),
        ..tool("eslint", Rules, ESLINT, "node_modules/.bin/eslint --format json .", EslintJson)
    },
    tool(
        "clippy",
        Rules,
        &[("clippy.toml", ""), (".clippy.toml", ""), ("Cargo.toml", "lints.clippy]")],
        "cargo clippy --all-targets --quiet --message-format short",
        Lints,
    ),
    // Only fixes that ruff calls safe; unsafe ones need a flag that is not passed.
    tool("ruff", Rules, RUFF, "ruff check --no-cache --output-format concise .", Locations).fixing(
        PYTHON,
        "ruff check --no-cache --fix --exit-zero --quiet --force-exclude --stdin-filename {} -",
    ),
    // Both print the text that they made.
    tool(
        "standard",
        Rules,
        &[("package.json", "\"standard\":")],
        "node_modules/.bin/standard",
        Locations,
    )
    .fixing(&["js", "jsx", "mjs", "cjs"], "node_modules/.bin/standard --fix --stdin"),
    tool(
        "xo",
        Rules,
        &[("package.json", "\"xo\":")],
        "node_modules/.bin/xo --reporter json",
        EslintJson,
    )
    .fixing(SCRIPT, "node_modules/.bin/xo --fix --stdin --stdin-filename {}"),
    tool("gofmt", Format, &[("go.mod", "")], "gofmt -l .", FileList).fixing(&["go"], "gofmt"),
    tool(
        "cargo fmt",
        Format,
        &[("rustfmt.toml", ""), (".rustfmt.toml", "")],
        "cargo fmt -- --check -l",
        FileList,
    )
    .fixing(&["rs"], "rustfmt --emit stdout --quiet --edition {edition}"),
    tool("prettier", Format, PRETTIER, "node_modules/.bin/prettier --list-different .", FileList)
        .fixing(SCRIPT, "node_modules/.bin/prettier --stdin-filepath {}"),
    tool(
        "ruff format",
        Format,
        &[
            ("pyproject.toml", "[tool.ruff.format"),
            ("ruff.toml", "[format]"),
            (".pre-commit-config.yaml", "id: ruff-format"),
        ],
        "ruff format --no-cache --check .",
        FileList,
    )
    .fixing(PYTHON, "ruff format --no-cache --quiet --force-exclude --stdin-filename {} -"),
    tool("isort", Format, ISORT, "", Any).fixing(PYTHON, "isort --quiet --filename {} -"),
    tool("black", Format, BLACK, "black --check .", FileList)
        .fixing(PYTHON, "black --quiet --stdin-filename {} -"),
];

/// Configured commands, which replace the tools of their concern.
const LINT_COMMAND: Tool = tool("the lint command", Rules, &[], "", Any);
const BUILD_COMMAND: Tool = tool("the build command", Types, &[], "", Any);

impl Tool {
    /// Whether the project uses the tool, judged by its configuration files.
    pub(super) fn is_set_up(&self, root: &Path) -> bool {
        self.signs.iter().any(|(file, words)| {
            let text = files::read(&root.join(file), 4 << 20).ok().flatten();
            text.is_some_and(|text| String::from_utf8_lossy(&text).contains(words))
        })
    }
}

/// The program of a command, preferably the project's own installation.
pub(super) fn program<'a>(root: &Path, argv: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut argv: Vec<String> = argv.into_iter().map(str::to_owned).collect();
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
    // Tools of npm, xo among them, keep their caches in `CACHE_DIR`, else in the checkout.
    let folders =
        [("CARGO_TARGET_DIR", "target"), ("MYPY_CACHE_DIR", "mypy"), ("CACHE_DIR", "cache")];
    for (name, folder) in folders {
        environment.insert(name.into(), scratch.join(folder).display().to_string());
    }
    let access = Access {
        checkouts: Vec::new(),
        scratch: scratch.to_owned(),
        protected: vec![root.to_owned()],
        ..Access::default()
    };
    Invocation { argv, directory: root.to_owned(), environment, access: Some(access) }
}

/// Runs every tool that the project has configured, in the root of the checkout; a configured
/// command replaces the tools of its concern. `scratch` is a private folder whose remaining caches
/// speed up the next check.
pub async fn run_tools(
    root: &Path,
    scratch: &Path,
    concerns: &[Concern],
    own: &ToolCommands,
) -> LintReport {
    let mut report = LintReport::default();
    let mut replaced = Vec::new();
    for (tool, command) in [(&LINT_COMMAND, &own.lint), (&BUILD_COMMAND, &own.build)] {
        let Some(command) = command else { continue };
        replaced.push(tool.concern);
        if concerns.contains(&tool.concern) {
            run_tool(tool, shell_argv(command), root, scratch, &mut report).await;
        }
    }
    let asked = |tool: &&Tool| {
        concerns.contains(&tool.concern)
            && !tool.command.is_empty()
            && !replaced.contains(&tool.concern)
            && tool.is_set_up(root)
    };
    for tool in TOOLS.iter().filter(asked) {
        if tool.command.starts_with("cargo")
            && tool.concern != Format
            && !root.join("Cargo.lock").is_file()
        {
            let reason = "there is no Cargo.lock, and the checkout is read-only";
            report.skipped.push((tool.name.to_owned(), reason.into()));
            continue;
        }
        let argv = program(root, tool.command.split(' '));
        run_tool(tool, argv, root, scratch, &mut report).await;
    }
    report
}

/// The exit code of a child that ended by itself, else the reason.
pub(super) fn exit_code(ending: io::Result<ExitReason>) -> Result<i32, String> {
    match ending {
        Ok(ExitReason::Exit(code)) => Ok(code),
        Ok(ending) => Err(format!("it was stopped by {ending}")),
        Err(error) => Err(format!("it could not be started: {error}")),
    }
}

async fn run_tool(
    tool: &Tool,
    argv: Vec<String>,
    root: &Path,
    scratch: &Path,
    report: &mut LintReport,
) {
    report.started.push(tool.name.to_owned());
    let log = scratch.join("tool.log");
    let reason = match exit_code(process::run(&invocation(argv, root, scratch), LIMIT, &log).await)
    {
        Ok(code) => {
            let text = process::tail_of(&log, OUTPUT_LIMIT);
            let remarks = lint_output::parse(tool.output_format, &text, root, tool.name);
            if code == 0 || !remarks.is_empty() {
                report.remarks.extend(remarks.into_iter().map(|one| (tool.concern, one)));
                return;
            }
            let last = text.lines().rev().find(|line| !line.trim().is_empty());
            let last: String =
                last.unwrap_or("it printed nothing").trim().chars().take(200).collect();
            format!("exit code {code}: {last}")
        }
        Err(reason) => reason,
    };
    report.skipped.push((tool.name.to_owned(), reason));
}

/// Files among `doubted` that the language's own parser, by its name, accepts.
pub fn files_that_parse(
    root: &Path,
    scratch: &Path,
    doubted: &[RepoPath],
) -> BTreeMap<RepoPath, &'static str> {
    // The project's own TypeScript, used only to parse.
    const SCRIPT: &str = "const [root, name] = process.argv.slice(1); \
        const ts = require(root + '/node_modules/typescript'); \
        const text = require('fs').readFileSync(name, 'utf8'); \
        const result = ts.transpileModule(text, { fileName: name, reportDiagnostics: true }); \
        if (result.diagnostics.length) process.exit(1); console.log('ok')";
    let mut known = BTreeMap::new();
    let at = root.display().to_string();
    // Each file costs a process; a project with more broken files is simply broken.
    for file in doubted.iter().take(40) {
        let (name, argv): (&str, Vec<&str>) = match file.extension() {
            "py" => ("python", vec!["python3", "-c", COMPILE_PYTHON]),
            "js" | "mjs" | "cjs" => ("node", vec!["node", "--check"]),
            "ts" | "tsx" | "mts" | "cts" => ("TypeScript", vec!["node", "-e", SCRIPT, &at]),
            "go" => ("gofmt", vec!["gofmt", "-e", "-l"]),
            "rs" => {
                ("rustfmt", vec!["rustfmt", "--edition", "2024", "--emit", "stdout", "--quiet"])
            }
            _ => continue,
        };
        let mut argv = program(root, argv);
        argv.push(root.join(file.as_str()).display().to_string());
        if process::output(&invocation(argv, root, scratch), LIMIT).is_ok() {
            known.insert(file.clone(), name);
        }
    }
    known
}
