//! Python's unittest, through a driver of our own that reports each test as it ends.

use std::path::Path;

use crate::domain::framework::Framework;
use crate::domain::test_command::TestCommand;

use super::super::format::driver_lines;
use super::adapter::{
    FrameworkAdapter, PersistentRunner, RunCommand, RunFiles, Site, TypedCommand, read_text,
    shell_argv, words,
};
use super::pytest::python_coverage;
use super::python_command::{PythonCommand, behind_options, module_at};

/// The table row for unittest.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Unittest,
    format: "JSON lines of a driver",
    signals: "manage.py, test*.py",
    is_run_by: |command| module_at(command, "unittest").is_some() || django_test(command).is_some(),
    detect: |site| is_django(site).then(|| "manage.py of Django".to_owned()),
    detect_by_tests: |site| {
        let found = site.find_files(1, &is_test_file, &|folder| !is_searched(site, folder));
        (!found.is_empty()).then(|| "files named test*.py".into())
    },
    version: |site| vec![site.find_python(), "--version".into()],
    install: |_| "install Python 3.8 or later",
    command: |site, selection, files| {
        if is_django(site) {
            return django_run(site, selection.is_some(), files);
        }
        let mut driver = vec![
            files.drivers.join("unittest_driver.py").display().to_string(),
            files.results.display().to_string(),
        ];
        if selection.is_some() {
            driver.extend(["--select".to_owned(), files.selection.display().to_string()]);
        }
        let Some(command) = &site.command else {
            return RunCommand::new([vec![site.find_python()], driver].concat(), discovery(site));
        };
        // `-m unittest` gives way to the driver, which reads the same arguments.
        driver.push("--".to_owned());
        let line = PythonCommand::of(site, "unittest").line(&driver);
        RunCommand::new(shell_argv(&line), command.text())
    },
    read: |artifacts| Ok(driver_lines::parse(&read_text(artifacts.results)?)),
    coverage: |request| {
        if is_django(request.site) {
            let suite = words(&["manage.py", "test", DJANGO_RUNNER]);
            let python = PythonCommand::of(request.site, "unittest");
            let mut coverage = python_coverage(request, &python, suite, MANAGE);
            coverage.environment.insert("REGREEN_CASES".into(), request.output_path("cases"));
            return Ok(coverage);
        }
        // Our driver also finds tests in folders that are not packages, unlike unittest itself.
        let driver = request.drivers.join("unittest_driver.py").display().to_string();
        let mut suite = vec![driver, request.output_path("cases")];
        let python = PythonCommand::of(request.site, "unittest");
        let display = match &request.site.command {
            None => discovery(request.site),
            Some(command) => {
                suite.push("--".to_owned());
                suite.extend(python.arguments());
                command.text().to_owned()
            }
        };
        Ok(python_coverage(request, &python, suite, &display))
    },
    persistent: Some(PersistentRunner::Python),
};

/// The command of a project of Django as a person types it.
const MANAGE: &str = "python3 manage.py test";

/// The option that makes Django use a runner of ours, which extends the project's own.
const DJANGO_RUNNER: &str = "--testrunner=regreen_django.Runner";

/// Whether the tests are those of Django, which prepares databases and settings for them.
pub fn is_django(site: &Site) -> bool {
    match &site.command {
        Some(command) => django_test(command).is_some(),
        None => site.file_contains("manage.py", "django"),
    }
}

/// The number of words up to `manage.py test` in a simple command that runs it.
fn django_test(command: &TestCommand) -> Option<usize> {
    let direct = || command.after(&["manage.py", "test"]);
    let words = command.words();
    let by_python = || {
        let at = behind_options(command)?;
        let file = words.get(at)?.rsplit('/').next()?;
        (file == "manage.py" && words.get(at + 1)? == "test").then_some(at + 2)
    };
    direct().or_else(by_python)
}

fn django_run(site: &Site, is_selected: bool, files: &RunFiles) -> RunCommand {
    let mut run = match &site.command {
        None => {
            let argv =
                [words(&[&site.find_python()]), words(&["manage.py", "test", DJANGO_RUNNER])];
            RunCommand::new(argv.concat(), MANAGE)
        }
        Some(command) => {
            let mut typed = TypedCommand::configured(command);
            typed.insert(django_test(command).unwrap_or_default(), words(&[DJANGO_RUNNER]));
            typed.into_run()
        }
    };
    run.environment.insert("REGREEN_CASES".into(), files.results.display().to_string());
    if is_selected {
        let file = files.selection.display().to_string();
        run.environment.insert("REGREEN_SELECT".into(), file);
    }
    run
}

/// Whether discovery looks into a folder, as unittest does: packages, and usual folders of tests.
fn is_searched(site: &Site, folder: &Path) -> bool {
    let is_top = |name| site.working_folder().join(name) == folder;
    ["tests", "test"].into_iter().any(is_top) || folder.join("__init__.py").exists()
}

fn is_test_file(name: &str) -> bool {
    name.starts_with("test") && name.ends_with(".py")
}

/// The discovery command as typed, from the folder of tests if that is no package.
pub fn discovery(site: &Site) -> String {
    let plain = "python3 -m unittest discover";
    let names = |folder: &str| {
        let entries = std::fs::read_dir(site.working_folder().join(folder)).into_iter().flatten();
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned())
    };
    let holds = |folder: &str| names(folder).any(|name| is_test_file(&name));
    let is_module = |name: String| name.ends_with(".py") && name != "setup.py";
    let apart = |folder: &&str| {
        !site.has_path(&format!("{folder}/__init__.py"))
            // A package without tests will get them in `tests`, a module beside it.
            && (holds(folder)
                || *folder == "tests" && !site.has_file(&is_test_file) && !names("").any(is_module))
    };
    match ["tests", "test"].into_iter().find(apart) {
        Some(folder) if !holds("") => format!("{plain} -s {folder}"),
        _ => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "discovery is about real folders")]

    use super::*;

    #[test]
    fn what_is_typed_finds_the_tests() {
        let table: [(&[&str], &str); 7] = [
            (&["test_a.py"], ""),
            (&["tests/test_a.py"], " -s tests"),
            (&["tests/__init__.py", "tests/test_a.py"], ""),
            (&["test/test_a.py"], " -s test"),
            (&["test_a.py", "tests/test_b.py"], ""),
            (&["setup.py", "shop/a.py"], " -s tests"),
            (&["a.py"], ""),
        ];
        for (files, more) in table {
            let folder = tempfile::tempdir().unwrap();
            for file in files {
                let path = folder.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            let root = folder.path().to_owned();
            let site = Site::new(&root, "");
            assert_eq!(
                discovery(&site),
                format!("python3 -m unittest discover{more}"),
                "{files:?}"
            );
        }
    }
}
