//! [`Build`]: candidates that are built together, as branches of the functions that they edit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::code::language::Language;
use crate::code::switched_source::{SwitchedSource, switch_file};
use crate::domain::id::RepoPath;
use crate::domain::proposal::{EditSet, FileEdit};

use super::toolchain::TestProgram;

/// Sources that are built together.
pub struct Build {
    /// Names its files in the scratch folder.
    pub number: usize,
    /// The candidates, in the order of their numbers.
    pub candidates: Vec<EditSet>,
    /// Why the compiler refuses some of them.
    pub refused: BTreeMap<usize, String>,
    /// Candidates that are no branch of it.
    pub left_out: BTreeSet<usize>,
    /// The test programs of what has been built.
    pub programs: BTreeMap<String, Arc<Vec<TestProgram>>>,
}

impl Build {
    pub fn new(number: usize, candidates: Vec<EditSet>) -> Self {
        let (refused, left_out, programs) = Default::default();
        Self { number, candidates, refused, left_out, programs }
    }

    /// The edits of the candidates that are branches, by file.
    fn branches(&self) -> BTreeMap<&RepoPath, Vec<(usize, &FileEdit)>> {
        let mut found: BTreeMap<&RepoPath, Vec<(usize, &FileEdit)>> = BTreeMap::new();
        for (number, edits) in self.candidates.iter().enumerate() {
            let is_out = self.refused.contains_key(&number) || self.left_out.contains(&number);
            for edit in edits.files.iter().filter(|_| !is_out) {
                found.entry(&edit.file).or_default().push((number, edit));
            }
        }
        found
    }

    /// The switched sources of all files, with the files that they need beside them. Candidates without a
    /// branch are left out from then on.
    pub fn switched_sources(&mut self) -> (Vec<FileEdit>, BTreeMap<RepoPath, SwitchedSource>) {
        let (mut files, mut sources) = (Vec::new(), BTreeMap::new());
        let mut present: BTreeMap<usize, BTreeSet<RepoPath>> = BTreeMap::new();
        for (file, edits) in self.branches() {
            let before = edits.first().and_then(|(_, edit)| edit.before.as_deref());
            let (Some(language), Some(before)) = (Language::of(file), before) else { continue };
            let after = |(number, edit): &(usize, &'_ FileEdit)| {
                Some((*number, edit.after.as_deref()?.to_owned()))
            };
            let texts: Vec<(usize, String)> = edits.iter().filter_map(after).collect();
            let texts: Vec<(usize, &str)> =
                texts.iter().map(|(number, text)| (*number, text.as_str())).collect();
            let Some(joined) = SwitchedSource::join_edits(language, before, &texts) else {
                continue;
            };
            for number in joined.branch_numbers() {
                present.entry(number).or_default().insert(file.clone());
            }
            let edit = |file: RepoPath, before: Option<&str>, after: String| FileEdit {
                file,
                before: before.map(str::to_owned),
                after: Some(after),
            };
            files.push(edit(file.clone(), Some(before), joined.text.clone()));
            if let Some((name, text)) = switch_file(language, before)
                && let Ok(beside) = RepoPath::inside(file.parent(), name)
                && files.iter().all(|known: &FileEdit| known.file != beside)
            {
                files.push(edit(beside, None, text));
            }
            sources.insert(file.clone(), joined);
        }
        let refused = |number: &usize| self.refused.contains_key(number);
        let is_whole = |number: &usize| {
            let edited = self.candidates.get(*number).map_or(0, |edits| edits.files.len());
            present.get(number).is_some_and(|files| files.len() == edited)
        };
        self.left_out = (0..self.candidates.len())
            .filter(|number| !is_whole(number) && !refused(number))
            .collect();
        (files, sources)
    }
}
