//! Python's unittest, through a driver of our own that reports each test as it ends.

use crate::domain::framework::Framework;
use crate::domain::shell;
use crate::domain::test_command::{TestCommand, unquoted};

use super::super::format::driver_lines;
use super::adapter::{FrameworkAdapter, PersistentRunner, RunCommand, Site, read_text, shell_argv};
use super::pytest::python_coverage;

/// The table row for unittest.
pub const ADAPTER: FrameworkAdapter = FrameworkAdapter {
    framework: Framework::Unittest,
    format: "JSON lines of a driver",
    signals: "test*.py",
    is_run_by: |command| invocation(command).is_some(),
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
        let configured = site.command.as_ref();
        let Some((command, found)) = configured.and_then(|one| Some((one, invocation(one)?)))
        else {
            return RunCommand::new([vec![site.python()], driver].concat(), discovery(site));
        };
        // `-m unittest` gives way to the driver, which reads the same arguments.
        driver.push("--".to_owned());
        let words = command.words();
        let python = words.get(..found.module).unwrap_or_default().join(" ");
        let arguments = words.get(found.module + MODULE.len()..).unwrap_or_default().join(" ");
        let line = format!("{python} {} {arguments}", shell::line(&driver));
        RunCommand::new(shell_argv(line.trim_end()), command.text())
    },
    read: |artifacts| Ok(driver_lines::parse(&read_text(artifacts.results)?)),
    coverage: |request| {
        // Our driver also finds tests in folders that are not packages, unlike unittest itself.
        let driver = request.drivers.join("unittest_driver.py").display().to_string();
        let mut suite = vec![driver, request.output_path("cases")];
        let Some(command) = &request.site.command else {
            return Ok(python_coverage(request, suite, &discovery(request.site)));
        };
        suite.push("--".to_owned());
        suite.extend(arguments(command));
        Ok(python_coverage(request, suite, command.text()))
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

/// Where a command runs unittest.
struct UnittestInvocation {
    /// The index of the word `-m`.
    module: usize,
}

/// Finds `python -m unittest` in a simple command, whatever Python and its options are.
fn invocation(command: &TestCommand) -> Option<UnittestInvocation> {
    let words = command.words();
    let program = PYTHONS.iter().find_map(|name| command.after(&[name]))?;
    let is_module = |pair: &[String]| pair == MODULE;
    let module = words.get(program..)?.windows(MODULE.len()).position(is_module)? + program;
    let is_option = |word: &String| word.starts_with('-') && word != "-c" && word != "-";
    let options = words.get(program..module)?;
    options.iter().all(is_option).then_some(UnittestInvocation { module })
}

/// The words that start unittest.
const MODULE: [&str; 2] = ["-m", "unittest"];

/// Names of Python interpreters.
const PYTHONS: &[&str] = &[
    "python",
    "python3",
    "python3.8",
    "python3.9",
    "python3.10",
    "python3.11",
    "python3.12",
    "python3.13",
    "python3.14",
    "python3.15",
];

/// The arguments that a configured command gives to unittest.
fn arguments(command: &TestCommand) -> Vec<String> {
    let Some(found) = invocation(command) else { return Vec::new() };
    command.words().iter().skip(found.module + MODULE.len()).map(|word| unquoted(word)).collect()
}

/// Folders that a configured command names for discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiscoveryFolders {
    pub start: Option<String>,
    /// The top-level folder of the project.
    pub top: Option<String>,
}

/// The folders in which tests are found by their names.
pub fn discovery_folders(site: &Site) -> DiscoveryFolders {
    let words = site.command.as_ref().map(arguments).unwrap_or_default();
    let value = |short: &str, long: &str| {
        let at = words.iter().position(|word| word == short || word == long)?;
        words.get(at + 1).cloned()
    };
    DiscoveryFolders {
        start: value("-s", "--start-directory"),
        top: value("-t", "--top-level-directory"),
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
