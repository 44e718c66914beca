//! The table of frameworks: what tells them, how they are run, how their results are read.
//!
//! Adding one is adding a file and a row.

mod cargo_test;
mod command;
mod go_test;
mod gradle;
mod jest;
mod maven;
mod nextest;
mod node_test;
mod pytest;
mod unittest;
mod vitest;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::adapter::host::files;
use crate::domain::id::TestId;
use crate::effect::RunError;

use super::format::{REPORT_LIMIT, Told};

/// A folder in which a suite may live, and what the user said about it.
#[derive(Clone, Debug)]
pub struct Site {
    /// Root of the checkout.
    pub root: PathBuf,
    /// Folder below it; empty for the root.
    pub directory: String,
    /// Configured command.
    pub command: Option<String>,
    /// Configured report glob.
    pub report: Option<String>,
    /// The search path of children, where it is not that of this process.
    pub path: Option<String>,
}

impl Site {
    /// The folder in which commands run.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.root.join(&self.directory)
    }

    /// Whether a file or folder is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.folder().join(name).exists()
    }

    /// A small text file, when it is there and readable.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        let bytes = files::read(&self.folder().join(name), 1 << 20).ok()??;
        String::from_utf8(bytes).ok()
    }

    /// `package.json`, when it is there and JSON.
    #[must_use]
    pub fn package(&self) -> Option<serde_json::Value> {
        serde_json::from_str(&self.text("package.json")?).ok()
    }

    /// Whether `package.json` names a dependency.
    #[must_use]
    pub fn depends_on(&self, name: &str) -> bool {
        self.package().is_some_and(|package| {
            ["dependencies", "devDependencies"].iter().any(|key| package[key][name].is_string())
        })
    }

    /// The test script of `package.json`.
    #[must_use]
    pub fn test_script(&self) -> Option<String> {
        Some(self.package()?["scripts"]["test"].as_str()?.to_owned())
    }

    /// Whether a file below the folder, at most four levels deep, has such a name.
    #[must_use]
    pub fn has_file(&self, wanted: &dyn Fn(&str) -> bool) -> bool {
        let mut folders = vec![(self.folder(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_file() && wanted(&name) {
                    return true;
                }
                let skipped = name.starts_with('.')
                    || ["node_modules", "target", "venv"].contains(&name.as_str());
                if kind.is_dir() && depth < 4 && !skipped {
                    folders.push((entry.path(), depth + 1));
                }
            }
        }
        false
    }

    /// The Python of the checkout's virtual environment, else the one on the path.
    #[must_use]
    pub fn python(&self) -> String {
        [".venv", "venv"]
            .iter()
            .flat_map(|name| [self.folder().join(name), self.root.join(name)])
            .map(|folder| folder.join("bin/python"))
            .find(|path| path.exists())
            .map_or_else(|| "python3".to_owned(), |path| path.display().to_string())
    }
}

/// What a run is given besides its scope.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Folder with our drivers.
    pub drivers: PathBuf,
    /// File to which results are written, fresh for each run.
    pub cases: PathBuf,
    /// File that holds the chosen ids, one per line; written for a run of some tests.
    pub chosen: PathBuf,
}

/// How a framework is started.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// As a person would type it, when that is shorter.
    pub typed: Option<String>,
    /// Variables to add.
    pub environment: BTreeMap<String, String>,
    /// Report files to remove before the run, as a glob below the folder.
    pub stale: Option<String>,
}

/// What a run left behind.
#[derive(Clone, Debug)]
pub struct Left<'a> {
    /// The folder the command ran in.
    pub folder: &'a Path,
    /// As a person would type the command.
    pub typed: &'a str,
    /// Results file, where the framework writes one.
    pub cases: &'a Path,
    /// All output.
    pub log: &'a Path,
    /// The site.
    pub site: &'a Site,
}

impl Left<'_> {
    /// The results file as text; empty when it is not there.
    pub fn cases_text(&self) -> Result<String, RunError> {
        text_of(self.cases)
    }

    /// The output as text.
    pub fn log_text(&self) -> Result<String, RunError> {
        text_of(self.log)
    }
}

/// A report as text; bytes that are no text become question marks.
fn text_of(path: &Path) -> Result<String, RunError> {
    let bytes = files::read_left(path, REPORT_LIMIT).map_err(|error| RunError::Io {
        action: format!("read {}", path.display()),
        reason: error.to_string(),
    })?;
    Ok(bytes.map_or_else(String::new, into_text))
}

/// Text in the same memory: a log may be large, and a second copy of it larger still.
fn into_text(mut bytes: Vec<u8>) -> String {
    let mut start = 0;
    while let Some(Err(error)) = bytes.get(start..).map(std::str::from_utf8) {
        let at = start + error.valid_up_to();
        start = error.error_len().map_or(bytes.len(), |length| at + length);
        if let Some(foreign) = bytes.get_mut(at..start) {
            foreign.fill(b'?');
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// What a run told, and whether it told it to the end.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// The tests.
    pub told: Vec<Told>,
    /// Unset when the report breaks off.
    pub complete: bool,
}

/// One framework.
pub struct Framework {
    /// Its name for people.
    pub name: &'static str,
    /// How results are read.
    pub format: &'static str,
    /// Files and settings that tell of it, for people.
    pub signals: &'static str,
    /// What tells that a folder uses it; `None` when nothing does.
    pub detect: fn(&Site) -> Option<String>,
    /// The command that prints its version.
    pub version: fn(&Site) -> Vec<String>,
    /// How to get it.
    pub install: &'static str,
    /// How it is started, for all tests or these.
    pub plan: fn(&Site, Option<&[TestId]>, &Scratch) -> Plan,
    /// How its results are read.
    pub read: fn(&Left<'_>) -> Result<Read, RunError>,
}

/// All frameworks, strongest signal first. The configured command is tried before any.
pub const FRAMEWORKS: &[&Framework] = &[
    &vitest::FRAMEWORK,
    &jest::FRAMEWORK,
    &node_test::FRAMEWORK,
    &pytest::FRAMEWORK,
    &unittest::FRAMEWORK,
    &nextest::FRAMEWORK,
    &cargo_test::FRAMEWORK,
    &go_test::FRAMEWORK,
    &maven::FRAMEWORK,
    &gradle::FRAMEWORK,
];

/// A configured command.
pub const COMMAND: &Framework = &command::FRAMEWORK;

/// The parts before `separator` of each id, each once, in order.
fn heads<'a>(ids: &'a [TestId], separator: &str) -> Vec<&'a str> {
    let mut heads: Vec<&str> = Vec::new();
    for id in ids {
        let head = id.as_str().split(separator).next().unwrap_or_default();
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    heads
}

/// Reports together with parts of the build that broke and left none.
fn with_broken(read: Result<Read, RunError>, broken: Vec<Told>) -> Result<Read, RunError> {
    let mut read = match read {
        Err(RunError::NoReportFile { .. }) if !broken.is_empty() => {
            Read { told: Vec::new(), complete: true }
        }
        read => read?,
    };
    read.told.extend(broken);
    Ok(read)
}

fn words(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

pub use command::matching as command_files;
pub use jest::start;
pub use unittest::{discovery as unittest_discovery, options as unittest_options};

#[cfg(test)]
mod tests {
    use super::into_text;

    #[test]
    fn bytes_that_are_no_text_become_question_marks() {
        let table: [(&[u8], &str); 4] =
            [(b"", ""), (b"a\xffb\xc3", "a?b?"), ("ö".as_bytes(), "ö"), (b"\xe2\x82x", "??x")];
        for (bytes, expected) in table {
            assert_eq!(into_text(bytes.to_vec()), expected);
        }
    }
}
