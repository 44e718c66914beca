//! Finds the calls in a file of Python, JavaScript, TypeScript or Go that go to code that another file of
//! the repository declares.
//!
//! Imports, re-exports, annotations and constructor calls are followed; no types are inferred beyond
//! them, so a call of an object of unknown origin is found only where its method has one owner.

pub(super) mod call_sites;
pub(super) mod file_names;
mod imported_names;
pub(super) mod name_path;
mod resolution;

use std::collections::BTreeMap;

use super::imports::Index;
use super::language::Language;
use super::outline::enclosing;
use super::parallel;
use crate::domain::id::RepoPath;
pub use call_sites::{SeveredCalls, sever_calls};
use file_names::FileNames;
use name_path::SourceFile;
use resolution::Resolver;

/// A call of something that another file of the repository declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossingCall {
    /// The function around the call, by the outline; empty at load or in one without a name.
    pub caller: String,
    /// The called declaration by its file's outline: `price`, `Repository.save`, or a class.
    pub callee: String,
    /// The file that declares it.
    pub target: RepoPath,
    /// The line of the call, from 1.
    pub line: u32,
    /// The arguments as written, each on one line and at most 80 characters.
    pub arguments: Vec<String>,
}

/// The names and the calls of all files of a repository.
#[derive(Debug, Default)]
pub struct CallIndex {
    files: BTreeMap<RepoPath, FileNames>,
}

/// Whether calls between files of a language are found.
#[must_use]
pub fn follows_calls(language: Language) -> bool {
    language.is_script() || matches!(language, Language::Python | Language::Go)
}

impl CallIndex {
    /// Reads the texts of all source files, each once. Files of other languages are ignored.
    #[must_use]
    pub fn from_files(files: &BTreeMap<RepoPath, String>) -> Self {
        let index = Index::of(files);
        let list: Vec<(&RepoPath, &String)> = files.iter().collect();
        let read = parallel::map(&list, |(file, text)| {
            let language = Language::of(file).filter(|language| follows_calls(*language))?;
            let source = SourceFile { file, language, text, index: &index, files };
            Some(((*file).clone(), FileNames::read(&source)))
        });
        Self { files: read.into_iter().flatten().collect() }
    }

    /// The calls in a file that go to other files, in the order of its text.
    pub fn calls_of(&self, file: &RepoPath) -> Vec<CrossingCall> {
        let Some(names) = self.files.get(file) else { return Vec::new() };
        let resolver = Resolver::new(self);
        let crossing = |call: &call_sites::CallSite| {
            let (target, callee) = resolver.target_of(file, call)?;
            let caller = enclosing(&names.functions, call.line);
            Some(CrossingCall {
                caller: caller.map(|one| one.name.clone()).unwrap_or_default(),
                callee,
                target,
                line: call.line,
                arguments: call.arguments.clone(),
            })
        };
        names.calls.iter().filter_map(crossing).collect()
    }
}

#[cfg(test)]
mod tests;
