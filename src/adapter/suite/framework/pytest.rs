//! pytest, with a plugin of ours that writes each test as it ends.

use super::super::format::lines;
use super::{Framework, Plan, Read, Site, words};

/// The row.
pub const FRAMEWORK: Framework = Framework {
    name: "pytest",
    format: "JSON lines of a plugin",
    signals: "pytest.ini, tox.ini, setup.cfg, pyproject.toml, conftest.py, requirements",
    detect,
    version: |site| vec![site.python(), "-m".into(), "pytest".into(), "--version".into()],
    install: "pip install pytest",
    plan: |site, chosen, scratch| {
        let mut plan = Plan { typed: Some("python3 -m pytest".into()), ..Plan::default() };
        let custom = site.command.as_ref();
        plan.argv = if let Some(command) = custom {
            vec!["sh".into(), "-c".into(), command.clone()]
        } else {
            let mut argv = vec![site.python()];
            argv.extend(words(&["-m", "pytest", "-q", "-p", "no:cacheprovider"]));
            argv
        };
        if let Some(command) = custom {
            plan.typed = Some(command.clone());
        } else if let Some(ids) = chosen {
            argv_of_files(&mut plan.argv, ids, site);
        }
        // One file that does not load must not hide the results of all others.
        let options = "-p regreen_pytest --continue-on-collection-errors";
        plan.environment.insert("PYTEST_ADDOPTS".into(), options.into());
        plan.environment.insert("REGREEN_CASES".into(), scratch.cases.display().to_string());
        if chosen.is_some() {
            let file = scratch.chosen.display().to_string();
            plan.environment.insert("REGREEN_SELECT".into(), file);
        }
        plan
    },
    read: |left| {
        let recorded = lines::parse(&left.cases_text()?);
        Ok(Read { told: recorded.told, complete: recorded.complete })
    },
};

/// Only the files of the chosen tests are collected.
fn argv_of_files(argv: &mut Vec<String>, ids: &[crate::domain::id::TestId], site: &Site) {
    for file in super::heads(ids, "::") {
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
