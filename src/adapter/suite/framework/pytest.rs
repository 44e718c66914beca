//! pytest, with a plugin of our own that reports each test as it ends.

use std::path::Path;

use crate::adapter::host::files;
use crate::domain::framework::Framework;
use crate::domain::id::TestId;
use crate::domain::shell;
use crate::domain::test::{CaseKind, Status};

use super::super::format::{Report, ReportedTest, driver_lines};
use super::adapter::{
    CoverageCommand, CoverageRequest, FrameworkAdapter, PersistentRunner, RunCommand, Site, Tracer,
    heads, read_text, shell_argv, words,
};
use super::python_command::PythonCommand;

/// The table row for pytest.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Pytest,
    format: "JSON lines of a plugin",
    signals: "pytest.ini, tox.ini, setup.cfg, pyproject.toml, conftest.py, requirements",
    // The plugin is named in the environment, so any command that starts pytest will do.
    is_run_by: |command| names_pytest(command.text()),
    detect: |site| configuration(site).or_else(|| named(site)),
    detect_by_tests: used_by_tests,
    // Before version 7, `--version` went to standard error.
    version: |site| {
        let python = match &site.command {
            Some(command) => PythonCommand::of_installed(command, site, "pytest"),
            None => Some(PythonCommand::of(site, "pytest")),
        };
        let print = words(&["-c", "import pytest; print(pytest.__version__)"]);
        python.map_or_else(Vec::new, |python| python.running(&print))
    },
    install: |_| "install Python 3.8 or later, then `pip install pytest`; or name the command that starts it elsewhere, such as `--test-command 'uv run python3 -m pytest'`",
    command: |site, selection, files| {
        // Without it nothing ran, so that everything has to.
        let is_conftest = |id: &TestId| id.as_str().ends_with(CONFTEST);
        let chosen = selection.filter(|ids| !ids.iter().any(is_conftest));
        let mut run = if let Some(command) = &site.command {
            RunCommand::new(shell_argv(command.text()), command.text())
        } else {
            let mut argv = words(&[&site.find_python()]);
            argv.extend(words(SUITE));
            // Only the files of the selected tests are collected.
            let files = heads(chosen.unwrap_or_default(), "::").into_iter();
            argv.extend(files.filter(|file| site.has_path(file)).map(str::to_owned));
            RunCommand::new(argv, "python3 -m pytest")
        };
        // Neither a file that fails to load nor a failing test hides the results of the others, whatever
        // the project's settings say; the words of the command come after these, and win.
        let options = "-p regreen_pytest --continue-on-collection-errors --maxfail=0";
        run.environment.insert("PYTEST_ADDOPTS".into(), options.into());
        run.environment.insert("REGREEN_CASES".into(), files.results.display().to_string());
        // tox passes on only what is listed (in versions 4 and 3).
        let passed = ["PYTEST_ADDOPTS", "PYTHONPATH", "REGREEN_*"];
        let named = format!("testenv.pass_env+={}", passed.join(","));
        run.environment.insert("TOX_OVERRIDE".into(), named);
        run.environment.insert("TOX_TESTENV_PASSENV".into(), passed.join(" "));
        if chosen.is_some() {
            let file = files.selection.display().to_string();
            run.environment.insert("REGREEN_SELECT".into(), file);
        }
        run
    },
    read: |artifacts| {
        let report = driver_lines::parse(&read_text(artifacts.results)?);
        if report.complete || !report.cases.is_empty() {
            return Ok(report);
        }
        let unloaded =
            unloaded_conftest(&read_text(artifacts.log)?, &artifacts.site.working_folder());
        Ok(unloaded.map_or(report, |test| Report::of(vec![test])))
    },
    coverage: |request| {
        let python = PythonCommand::of(request.site, "pytest");
        // Run as a script, the plugin is `pytest`, which does not search modules in its folder.
        let plugin = request.drivers.join("regreen_pytest.py").display().to_string();
        let mut suite = if python.from_folder {
            words(SUITE)
        } else {
            vec![plugin, "-q".into(), "-p".into(), "no:cacheprovider".into()]
        };
        suite.extend(python.arguments());
        let display =
            shell::line(&[words(&["python3", "-m", "pytest"]), python.arguments()].concat());
        let mut coverage = python_coverage(request, &python, suite, &display);
        // With its `--cov`, pytest-cov would take over from what measures here; of the workers of pytest-xdist
        // nothing would be seen.
        let plugin = [
            ("PYTEST_ADDOPTS", "-p regreen_pytest --continue-on-collection-errors"),
            ("REGREEN_CANDIDATE", "measured"),
        ];
        coverage.environment.extend(plugin.map(|(name, value)| (name.into(), value.into())));
        Ok(coverage)
    },
    persistent: Some(PersistentRunner::Python),
};

/// The file that pytest loads before it collects tests.
const CONFTEST: &str = "conftest.py";

/// The failure of a `conftest.py` that does not load, which pytest only prints.
fn unloaded_conftest(log: &str, folder: &Path) -> Option<ReportedTest> {
    let (_, rest) = log.split_once("ImportError while loading conftest '")?;
    let (path, text) = rest.split_once("'.")?;
    let file = Path::new(path).strip_prefix(folder.canonicalize().ok()?).ok()?;
    let error = text.lines().rev().find_map(|line| line.strip_prefix("E   "))?.trim();
    let (class, message) = error.split_once(": ").unwrap_or(("", error));
    Some(ReportedTest {
        id: file.to_str()?.to_owned(),
        kind: CaseKind::Prerequisite,
        status: Some(Status::Failed),
        file: Some(path.to_owned()),
        class: class.rsplit('.').next().unwrap_or_default().to_owned(),
        message: message.to_owned(),
        stack: text.trim().to_owned(),
        ..ReportedTest::default()
    })
}

/// Python's arguments that run the suite.
const SUITE: &[&str] = &["-m", "pytest", "-q", "-p", "no:cacheprovider"];

/// Runs the suite under coverage.py, and under a tracer of ours where it is missing; `suite` holds
/// Python's arguments that run it, `display` is the suite's command as a person types it.
pub fn python_coverage(
    request: &CoverageRequest<'_>,
    python: &PythonCommand,
    suite: Vec<String>,
    display: &str,
) -> CoverageCommand {
    let data = format!("--data-file={}", request.output_path("data"));
    let run = words(&["-m", "coverage", "run", "--branch", "--source=.", &data]);
    let json =
        words(&["-m", "coverage", "json", "-q", &data, "-o", &request.output_path("report")]);
    let driver = request.drivers.join("regreen_lines.py").display().to_string();
    let trace = vec![driver, request.output.display().to_string()];
    let tracer = Tracer {
        display: run_by("…/regreen_lines.py", display),
        argv: python.running(&[trace, suite.clone()].concat()),
        files: request.output.join("files.json"),
    };
    let argv = vec![python.running(&[run, suite].concat()), python.running(&json)];
    let (display, report) =
        (run_by("-m coverage run --branch", display), request.output.join("report"));
    let tracer = Some(tracer);
    CoverageCommand { argv, tracer, ..CoverageCommand::new(&display, Vec::new(), report) }
}

/// A command of Python in which a tool runs the module or the script.
fn run_by(tool: &str, command: &str) -> String {
    let mut words: Vec<&str> = command.split(' ').collect();
    let is_run = |word: &&str| *word == "-m" || word.ends_with(".py");
    let at = words.iter().position(is_run).unwrap_or(words.len());
    words.insert(at, tool);
    words.join(" ")
}

/// Whether a word of a command is pytest, which tox and nox nearly always run.
fn names_pytest(command: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let mut words = command.split(|c| !is_part(c));
    words.any(|word| {
        ["pytest", "py.test", "tox", "nox"].contains(&word.rsplit('/').next().unwrap_or_default())
    })
}

/// A file of pytest itself, or its section in another.
fn configuration(site: &Site) -> Option<String> {
    if let Some(name) = ["pytest.ini", ".pytest.ini"].into_iter().find(|name| site.has_path(name)) {
        return Some(name.into());
    }
    for (file, mark) in [
        ("pyproject.toml", "[tool.pytest.ini_options]"),
        ("pyproject.toml", "[tool.pytest]"),
        ("setup.cfg", "[tool:pytest]"),
        ("tox.ini", "[pytest]"),
    ] {
        if site.file_contains(file, mark) {
            return Some(format!("{mark} in {file}"));
        }
    }
    for folder in ["", "tests/", "test/"] {
        let file = format!("{folder}conftest.py");
        if site.has_path(&file) {
            return Some(file);
        }
    }
    None
}

/// Plugins of pytest that bring the options named like them.
const PLUGINS: &[&str] = &["asyncio", "benchmark", "cov", "flake8", "html", "mypy", "timeout"];

/// The plugins without which pytest refuses the options in its settings.
pub fn plugins_of_settings(site: &Site) -> Vec<String> {
    let files = ["pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"];
    let mut texts = files.iter().filter_map(|file| site.read_small_text(file));
    let added = texts.find_map(|text| {
        let rest = text.split_once("\naddopts")?.1;
        rest.split("\n[").next().map(str::to_owned)
    });
    let added = added.unwrap_or_default();
    let is_used = |name: &&&str| added.contains(&format!("--{name}"));
    PLUGINS.iter().filter(is_used).map(|name| format!("pytest-{name}")).collect()
}

/// Whether the folder's tests are certainly those of pytest, and not only mention it somewhere.
pub fn is_certain(site: &Site) -> bool {
    configuration(site).is_some() || used_by_tests(site).is_some()
}

/// Test files that are read at most, and bytes of each.
const TESTS_READ: usize = 100;
const TEST_SIZE: u64 = 1 << 20;

/// Files that begin a project of Python, whose tests are its own.
const MANIFESTS: &[&str] = &[
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
];

/// The test file that needs pytest.
fn used_by_tests(site: &Site) -> Option<String> {
    if site.file_contains("manage.py", "django") {
        return None;
    }
    let is_test = |name: &str| {
        let stem = name.strip_suffix(".py");
        stem.is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
    };
    // Tests may have a list of packages of their own.
    let is_apart = |folder: &Path| {
        let is_named_test =
            folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("test"));
        !is_named_test && MANIFESTS.iter().any(|file| folder.join(file).exists())
    };
    let files = site.find_files(TESTS_READ, &is_test, &is_apart);
    files.iter().find_map(|path| {
        let text = String::from_utf8(files::read(path, TEST_SIZE).ok()??).ok()?;
        let sign = needs_pytest(&text)?;
        let shown = path.strip_prefix(site.working_folder()).unwrap_or(path).display();
        Some(format!("{sign} in {shown}"))
    })
}

/// What in a test file unittest does not know: an import of pytest, or a test that is a function.
fn needs_pytest(text: &str) -> Option<&'static str> {
    let mut quote: Option<&str> = None;
    let mut found = None;
    for line in text.lines() {
        let was_quoted = quote.is_some();
        for mark in ["\"\"\"", "'''"] {
            if quote.is_none_or(|open| open == mark) && line.matches(mark).count() % 2 == 1 {
                quote = if quote.is_none() { Some(mark) } else { None };
                break;
            }
        }
        let mut words = line.split(|c: char| !c.is_alphanumeric() && !"._".contains(c));
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match first {
            _ if was_quoted => {}
            "import" if is_pytest(second) || words.by_ref().any(is_pytest) => {
                return Some("`import pytest`");
            }
            "from" if is_pytest(second) => return Some("`import pytest`"),
            "def" if is_test(second) => found = Some("a test function"),
            "async" if second == "def" && words.next().is_some_and(is_test) => {
                found = Some("a test function");
            }
            _ => {}
        }
    }
    // Beside test cases of unittest such a function may be a helper.
    found.filter(|_| !text.contains("TestCase"))
}

fn is_pytest(module: &str) -> bool {
    module.split('.').next() == Some("pytest")
}

/// Whether a function is a test by its name, besides the two that older runners call.
fn is_test(function: &str) -> bool {
    function.starts_with("test_") && !["test_suite", "test_main"].contains(&function)
}

/// A file that only mentions pytest.
fn named(site: &Site) -> Option<String> {
    let named = [
        "requirements.txt",
        "requirements-dev.txt",
        "dev-requirements.txt",
        "test-requirements.txt",
        "requirements-test.txt",
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "Pipfile",
        "tox.ini",
        "noxfile.py",
        "hatch.toml",
    ];
    let file = named.into_iter().find(|file| site.file_contains(file, "pytest"))?;
    Some(format!("pytest named in {file}"))
}
