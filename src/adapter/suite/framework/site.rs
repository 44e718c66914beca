//! The folder of a suite, with the user's settings for it, and what is asked of its files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::adapter::host::files;
use crate::domain::test_command::TestCommand;

/// Folders whose files are input of tests, or examples, or foreign.
pub const SAMPLES: &[&str] =
    &["data", "examples", "fixtures", "node_modules", "templates", "testdata"];

/// A folder that may contain a suite, with the user's settings for it.
#[derive(Clone, Debug)]
pub struct Site {
    pub root: PathBuf,
    /// The folder below the root; empty for the root itself.
    pub directory: String,
    pub command: Option<TestCommand>,
    pub report: Option<String>,
    /// Files of the commit that the pattern of `report` may match, below the root: no run removes them.
    pub committed: Arc<BTreeSet<PathBuf>>,
    /// The search path of child processes, when it differs from ours.
    pub path: Option<String>,
    /// The environment of Python that a tool of the project has made, outside of its own checkouts.
    pub environment: Option<PathBuf>,
}

impl Site {
    /// A folder without user settings.
    #[must_use]
    pub fn new(root: &Path, directory: &str) -> Self {
        let (root, directory) = (root.to_owned(), directory.to_owned());
        Self {
            root,
            directory,
            command: None,
            report: None,
            committed: Arc::default(),
            path: None,
            environment: None,
        }
    }

    /// The folder in which commands run.
    pub fn working_folder(&self) -> PathBuf {
        self.root.join(&self.directory)
    }

    /// Whether a file is one of the commit, whatever a pattern of reports says.
    pub fn is_committed(&self, file: &Path) -> bool {
        file.strip_prefix(&self.root).is_ok_and(|below| self.committed.contains(below))
    }

    /// Whether a small text file contains these words.
    pub fn file_contains(&self, file: &str, words: &str) -> bool {
        self.read_small_text(file).is_some_and(|text| text.contains(words))
    }

    /// Whether a file or folder exists.
    pub fn has_path(&self, name: &str) -> bool {
        self.working_folder().join(name).exists()
    }

    /// The content of a small text file, if it exists and is readable.
    pub fn read_small_text(&self, name: &str) -> Option<String> {
        String::from_utf8(files::read(&self.working_folder().join(name), 1 << 20).ok()??).ok()
    }

    /// The parsed `package.json`, if it exists and is valid.
    pub fn read_package(&self) -> Option<serde_json::Value> {
        serde_json::from_str(&self.read_small_text("package.json")?).ok()
    }

    /// Whether `package.json` lists a dependency.
    pub fn depends_on(&self, name: &str) -> bool {
        self.read_package().is_some_and(|package| {
            ["dependencies", "devDependencies"].iter().any(|key| package[key][name].is_string())
        })
    }

    /// The test script of `package.json`; the one that `npm init` writes is none.
    pub fn test_script(&self) -> Option<String> {
        let script = self.read_package()?["scripts"]["test"].as_str()?.trim().to_owned();
        (!script.is_empty() && !script.contains("no test specified")).then_some(script)
    }

    /// Whether a file name below the folder, at most four levels deep, satisfies `matches`.
    pub fn has_file(&self, matches: &dyn Fn(&str) -> bool) -> bool {
        !self.find_files(1, matches, &|_| false).is_empty()
    }

    /// At most `limit` matching files, four levels deep, outside of samples and `is_apart` folders.
    pub fn find_files(
        &self,
        limit: usize,
        matches: &dyn Fn(&str) -> bool,
        is_apart: &dyn Fn(&Path) -> bool,
    ) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![(self.working_folder(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let mut entries: Vec<_> =
                fs::read_dir(folder).into_iter().flatten().flatten().collect();
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let name = entry.file_name().to_string_lossy().into_owned();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_file() && matches(&name) {
                    found.push(entry.path());
                    if found.len() >= limit {
                        return found;
                    }
                }
                let is_skipped = name.starts_with('.')
                    || ["target", "venv"].contains(&name.as_str())
                    || SAMPLES.contains(&name.as_str());
                if kind.is_dir() && depth < 4 && !is_skipped && !is_apart(&entry.path()) {
                    folders.push((entry.path(), depth + 1));
                }
            }
        }
        found
    }

    /// The Python of the checkout's virtual environment, else the one on the path.
    pub fn find_python(&self) -> String {
        [".venv", "venv"]
            .iter()
            .flat_map(|name| [self.working_folder().join(name), self.root.join(name)])
            .map(|folder| folder.join("bin/python"))
            .find(|path| path.exists())
            .map_or_else(|| "python3".to_owned(), |path| path.display().to_string())
    }
}
