//! [`ProbedSources`]: the product code of a project with probes, which say what ran.

use std::fs;
use std::path::Path;

use crate::adapter::host::files;
use crate::code::language::Language;
use crate::code::line_probes::{add_probes, read_mark};
use crate::code::outline;
use crate::domain::id::{RepoPath, in_folder};
use crate::domain::proposal::FileEdit;
use crate::effect::Lines;

use super::add_lines;

/// Files, and bytes of all of them, beyond which nothing is probed: the build would take too long.
const MAX_FILES: usize = 200;
const MAX_BYTES: u64 = 2_000_000;

/// Folders beside the sources without product code.
const OTHER_FOLDERS: &[&str] = &["target", "build", "tests", "test", "benches", "examples"];

pub struct ProbedSources {
    pub edits: Vec<FileEdit>,
    /// The files, in the order of their numbers.
    files: Vec<RepoPath>,
}

impl ProbedSources {
    /// Probes the product code of a checkout. `None` where there is too much, or only one function, so that
    /// nothing is to be told apart.
    pub fn read(root: &Path, language: Language) -> Option<Self> {
        let mut found = Vec::new();
        list_sources(root, "", language, &mut found);
        // What Maven and Gradle call tests stands beside.
        let is_product = |file: &RepoPath| {
            language != Language::Java || format!("/{file}").contains("/src/main/")
        };
        found.retain(is_product);
        found.sort();
        let (mut edits, mut bytes, mut functions) = (Vec::new(), 0, 0);
        for (number, file) in found.iter().enumerate() {
            // Tests of the project have run, and may have put anything here.
            let read = files::read_untrusted(&root.join(file.as_str()), MAX_BYTES);
            let text = String::from_utf8(read.ok()??).ok()?;
            bytes += text.len() as u64;
            if found.len() > MAX_FILES || bytes > MAX_BYTES {
                return None;
            }
            functions += outline::functions(language, &text).len();
            if let Some(after) = add_probes(language, &text, number) {
                let (file, before, after) = (file.clone(), Some(text), Some(after));
                edits.push(FileEdit { file, before, after });
            }
        }
        (functions > 1).then_some(Self { edits, files: found })
    }

    /// The lines that marks name.
    pub fn lines_of<'a>(&self, marks: impl Iterator<Item = &'a str>) -> Lines {
        let mut lines = Lines::new();
        for (number, line) in marks.filter_map(read_mark) {
            if let Some(file) = self.files.get(number) {
                add_lines(&mut lines, file.clone(), [line]);
            }
        }
        lines
    }
}

/// Adds the sources of a language below a folder; links are not followed.
fn list_sources(root: &Path, folder: &str, language: Language, files: &mut Vec<RepoPath>) {
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
            continue;
        };
        let path = in_folder(folder, &name);
        let is_beside = !path.split('/').any(|part| part == "src");
        let is_other = name.starts_with('.') || is_beside && OTHER_FOLDERS.contains(&name.as_str());
        if kind.is_dir() && !is_other && files.len() <= MAX_FILES {
            list_sources(root, &path, language, files);
        } else if let Some(file) = RepoPath::parse(path).ok().filter(|_| kind.is_file()) {
            files.extend((Language::of(&file) == Some(language)).then_some(file));
        }
    }
}
