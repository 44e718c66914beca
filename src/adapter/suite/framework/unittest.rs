//! Python's unittest, through a driver of our own that reports each test as it ends.

use crate::domain::framework::Framework;

use super::super::format::driver_lines;
use super::adapter::{FrameworkAdapter, PersistentRunner, RunCommand, Site, read_text, shell_argv};
use super::pytest::python_coverage;
use super::python_command::{PythonCommand, module_at};

/// The table row for unittest.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Unittest,
    format: "JSON lines of a driver",
    signals: "test*.py",
    is_run_by: |command| module_at(command, "unittest").is_some(),
    detect: |site| site.has_file(&is_test_file).then(|| "files named test*.py".into()),
    version: |site| vec![site.python(), "--version".into()],
    install: "install Python 3.8 or later",
    command: |site, selection, files| {
        let mut driver = vec![
            files.drivers.join("unittest_driver.py").display().to_string(),
            files.results.display().to_string(),
        ];
        if selection.is_some() {
            driver.extend(["--select".to_owned(), files.selection.display().to_string()]);
        }
        let Some(command) = &site.command else {
            return RunCommand::new([vec![site.python()], driver].concat(), discovery(site));
        };
        // `-m unittest` gives way to the driver, which reads the same arguments.
        driver.push("--".to_owned());
        let line = PythonCommand::of(site, "unittest").line(&driver);
        RunCommand::new(shell_argv(&line), command.text())
    },
    read: |artifacts| Ok(driver_lines::parse(&read_text(artifacts.results)?)),
    coverage: |request| {
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

fn is_test_file(name: &str) -> bool {
    name.starts_with("test") && name.ends_with(".py")
}

/// The discovery command as a person types it. It starts in the folder of tests if that is not a
/// package, as our driver does, because unittest searches only packages.
pub fn discovery(site: &Site) -> String {
    let plain = "python3 -m unittest discover";
    let holds = |folder: &str| {
        let entries = std::fs::read_dir(site.folder().join(folder)).into_iter().flatten();
        entries.flatten().any(|entry| is_test_file(&entry.file_name().to_string_lossy()))
    };
    let apart = |folder: &&str| {
        !site.has(&format!("{folder}/__init__.py"))
            // A project without tests will get them in `tests`.
            && (holds(folder) || *folder == "tests" && !site.has_file(&is_test_file))
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
        let table: [(&[&str], &str); 6] = [
            (&["test_a.py"], ""),
            (&["tests/test_a.py"], " -s tests"),
            (&["tests/__init__.py", "tests/test_a.py"], ""),
            (&["test/test_a.py"], " -s test"),
            (&["test_a.py", "tests/test_b.py"], ""),
            (&["a.py"], " -s tests"),
        ];
        for (files, more) in table {
            let folder = tempfile::tempdir().unwrap();
            for file in files {
                let path = folder.path().join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "").unwrap();
            }
            let root = folder.path().to_owned();
            let site =
                Site { root, directory: String::new(), command: None, report: None, path: None };
            assert_eq!(
                discovery(&site),
                format!("python3 -m unittest discover{more}"),
                "{files:?}"
            );
        }
    }
}
