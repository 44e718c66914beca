//! Reads coverage reports of many formats into one form: executed lines and taken branches.
//!
//! Reports are untrusted input: their size is limited, and a path counts only if it names an
//! existing file.

mod cobertura;
mod go_profile;
mod istanbul;
mod jacoco;
mod lcov;
mod python;
mod script_branches;
mod v8;
mod xml;

pub use v8::{first_code, unloaded_lines};

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::domain::coverage::FileLines;
use crate::domain::id::{RepoPath, in_folder};

use script_branches::ScriptCounts;

/// Maximum size of a report in bytes.
pub const LIMIT: u64 = 256 << 20;

/// A parsed report; its paths are as the tool wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub format: &'static str,
    /// Coverage per file, by the path in the report.
    pub files: BTreeMap<String, FileLines>,
    /// Scripts whose branches are read from their text once all reports are merged.
    scripts: BTreeMap<String, ScriptCounts>,
}

impl Report {
    fn of(format: &'static str) -> Self {
        Self { format, ..Self::default() }
    }

    fn file(&mut self, path: &str) -> &mut FileLines {
        self.files.entry(path.to_owned()).or_default()
    }

    fn add_script(&mut self, path: &str, script: ScriptCounts) {
        match self.scripts.entry(path.to_owned()) {
            Entry::Occupied(mut known) => known.get_mut().add_counts(&script),
            Entry::Vacant(free) => drop(free.insert(script)),
        }
    }

    /// Merges another report of the same run, such as that of another module.
    pub fn merge(&mut self, other: Self) {
        self.format = other.format;
        for (path, lines) in other.files {
            add(self.files.entry(path).or_default(), lines);
        }
        for (path, script) in other.scripts {
            self.add_script(&path, script);
        }
    }

    /// Maps the report of a run in `folder` to repository paths. A path belongs to the file it names
    /// in that folder or below `root`, or else to the only file with the same ending; other paths are
    /// dropped.
    pub fn placed(
        &self,
        root: &str,
        folder: &str,
        files: &BTreeSet<RepoPath>,
    ) -> BTreeMap<RepoPath, FileLines> {
        let mut by_name: BTreeMap<&str, Vec<&RepoPath>> = BTreeMap::new();
        for file in files {
            by_name.entry(file.file_name()).or_default().push(file);
        }
        let place = |path: &str| {
            let path = path.replace('\\', "/");
            let path = path.trim_start_matches("file://").trim_start_matches("./");
            let below = path.strip_prefix(root).map_or(path, |rest| rest.trim_start_matches('/'));
            let named = [in_folder(folder, path), below.to_owned()].map(RepoPath::parse);
            let exact = named.into_iter().flatten().find(|file| files.contains(file));
            exact.or_else(|| by_ending(below, &by_name))
        };
        let mut placed: BTreeMap<RepoPath, FileLines> = BTreeMap::new();
        for (path, lines) in &self.files {
            if let Some(file) = place(path) {
                add(placed.entry(file).or_default(), lines.clone());
            }
        }
        for (path, script) in &self.scripts {
            let Some(file) = place(path) else { continue };
            let Some(language) = Language::of(&file) else { continue };
            let mut lines = FileLines::default();
            for (line, taken) in script.read_branches(language) {
                lines.branch(line, u32::from(taken), 1);
            }
            add(placed.entry(file).or_default(), lines);
        }
        placed
    }
}

/// Merges the coverage of the same file from another report.
fn add(known: &mut FileLines, lines: FileLines) {
    for (line, hits) in lines.lines {
        known.line(line, hits);
    }
    for (line, pair) in lines.branches {
        let old = known.branches.entry(line).or_default();
        *old = (old.0.max(pair.0), old.1.max(pair.1));
    }
    for (name, (line, hits)) in lines.functions {
        known.add_function(&name, line, hits);
    }
}

/// The only file that shares the most trailing path components with a path.
fn by_ending(path: &str, by_name: &BTreeMap<&str, Vec<&RepoPath>>) -> Option<RepoPath> {
    let name = path.rsplit('/').next()?;
    let shared = |file: &RepoPath| {
        let (a, b) = (path.rsplit('/'), file.as_str().rsplit('/'));
        a.zip(b).take_while(|(a, b)| a == b).count()
    };
    let candidates = by_name.get(name)?;
    let best = candidates.iter().map(|file| shared(file)).max()?;
    let mut found = candidates.iter().filter(|file| shared(file) == best);
    match (found.next(), found.next()) {
        (Some(file), None) => Some((*file).clone()),
        _ => None,
    }
}

/// Whether a report in this form that names no branch means that there is none.
pub fn tells_branches(format: &str) -> bool {
    ["coverage.py JSON", "V8 JSON", "Istanbul JSON"].contains(&format)
}

/// Why and where a report cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}")]
pub struct BadReport {
    /// The line of the report, from 1.
    pub line: u32,
    /// A description of the expected text.
    pub expected: String,
}

impl BadReport {
    fn at(line: usize, expected: impl Into<String>) -> Self {
        Self { line: u32::try_from(line).unwrap_or(u32::MAX).max(1), expected: expected.into() }
    }

    fn json(error: &serde_json::Error) -> Self {
        Self::at(error.line(), format!("JSON ({error})"))
    }
}

/// Converts a JSON number to a line number.
fn number(value: &serde_json::Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

/// Reads a report of any known form, recognised by its text. `source` gives the text of a
/// file by the tool's path, for forms that count characters.
///
/// # Errors
///
/// [`BadReport`] with the line of the error, also if the format is unknown.
pub fn read(text: &str, source: &dyn Fn(&str) -> Option<String>) -> Result<Report, BadReport> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with("mode: ") {
        return go_profile::read(start);
    }
    if start.starts_with("TN:") || start.starts_with("SF:") {
        return lcov::read(start);
    }
    if start.starts_with('<') {
        let head: String = start.chars().take(4096).collect();
        return if head.contains("<coverage") { cobertura::read(text) } else { jacoco::read(text) };
    }
    if start.starts_with('{') {
        let value: serde_json::Value =
            serde_json::from_str(start).map_err(|error| BadReport::json(&error))?;
        return if value["result"].is_array() {
            v8::read(&value, source)
        } else if value["files"].is_object() {
            python::read(&value)
        } else {
            istanbul::read(&value)
        };
    }
    Err(BadReport::at(
        1,
        "lcov, Cobertura XML, JaCoCo XML, JSON of coverage.py, c8 or V8, or a Go cover profile",
    ))
}

#[cfg(test)]
mod tests;
