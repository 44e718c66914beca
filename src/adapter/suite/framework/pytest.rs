//! pytest, with a plugin of ours that writes each test as it ends.

use std::collections::BTreeMap;

use crate::domain::framework::Framework;

use super::super::format::lines;
use super::adapter::{
    CoverageCommand, CoverageRequest, FrameworkAdapter, PersistentRunner, ReportLocation,
    RunCommand, Site, heads, words,
};

/// The row of Pytest.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Pytest,
    format: "JSON lines of a plugin",
    signals: "pytest.ini, tox.ini, setup.cfg, pyproject.toml, conftest.py, requirements",
    detect,
    version: |site| vec![site.python(), "-m".into(), "pytest".into(), "--version".into()],
    install: "pip install pytest",
    command: |site, selection, files| {
        let mut run =
            RunCommand { display: Some("python3 -m pytest".into()), ..RunCommand::default() };
        let custom = site.command.as_ref();
        run.argv = if let Some(command) = custom {
            vec!["sh".into(), "-c".into(), command.clone()]
        } else {
            let mut argv = vec![site.python()];
            argv.extend(words(&["-m", "pytest", "-q", "-p", "no:cacheprovider"]));
            argv
        };
        if let Some(command) = custom {
            run.display = Some(command.clone());
        } else if let Some(ids) = selection {
            argv_of_files(&mut run.argv, ids, site);
        }
        // One file that does not load must not hide the results of all others.
        let options = "-p regreen_pytest --continue-on-collection-errors";
        run.environment.insert("PYTEST_ADDOPTS".into(), options.into());
        run.environment.insert("REGREEN_CASES".into(), files.results.display().to_string());
        if selection.is_some() {
            let file = files.selection.display().to_string();
            run.environment.insert("REGREEN_SELECT".into(), file);
        }
        run
    },
    read: |artifacts| Ok(lines::parse(&artifacts.results_text()?)),
    coverage: |request| {
        let suite = words(&["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
        Ok(python_coverage(request, suite, "python3 -m pytest"))
    },
    persistent: Some(PersistentRunner::Python),
};

/// The suite under coverage.py; `suite` are the arguments of Python that run it, `display` is the
/// suite's command as a person types it.
pub fn python_coverage(
    request: &CoverageRequest<'_>,
    suite: Vec<String>,
    display: &str,
) -> CoverageCommand {
    let python = || vec![request.site.python()];
    let data = format!("--data-file={}", request.output_path("data"));
    let run = words(&["-m", "coverage", "run", "--branch", "--source=.", &data]);
    let json =
        words(&["-m", "coverage", "json", "-q", &data, "-o", &request.output_path("report")]);
    CoverageCommand {
        display: display.replacen("python3", "python3 -m coverage run --branch", 1),
        argv: vec![[python(), run, suite].concat(), [python(), json].concat()],
        environment: BTreeMap::new(),
        reports: ReportLocation::File(request.output.join("report")),
    }
}

/// Only the files of the selected tests are collected.
fn argv_of_files(argv: &mut Vec<String>, ids: &[crate::domain::id::TestId], site: &Site) {
    for file in heads(ids, "::") {
        if site.has(file) {
            argv.push(file.to_owned());
        }
    }
}

fn detect(site: &Site) -> Option<String> {
    if let Some(command) = &site.command {
        return command.contains("pytest").then(|| format!("the command `{command}`"));
    }
    if site.has("pytest.ini") {
        return Some("pytest.ini".into());
    }
    for (file, mark) in [
        ("pyproject.toml", "[tool.pytest"),
        ("setup.cfg", "[tool:pytest]"),
        ("tox.ini", "[pytest]"),
    ] {
        if site.text(file).is_some_and(|text| text.contains(mark)) {
            return Some(format!("{mark} in {file}"));
        }
    }
    for folder in ["", "tests/", "test/"] {
        let file = format!("{folder}conftest.py");
        if site.has(&file) {
            return Some(file);
        }
    }
    for file in [
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
    ] {
        if site.text(file).is_some_and(|text| text.contains("pytest")) {
            return Some(format!("pytest named in {file}"));
        }
    }
    None
}
