//! [`Builds`]: what has been built, and [`Build`]: candidates that are built together, as branches of the functions
//! that they edit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::code::language::Language;
use crate::code::switched_source::{SwitchedSource, switch_file};
use crate::domain::id::RepoPath;
use crate::domain::proposal::{EditSet, FileEdit};
use crate::effect::RunError;

use super::super::checkout_copy::{Side, write_edits};
use super::probed_sources::ProbedSources;
use super::toolchain::TestProgram;

/// What has been built.
#[derive(Default)]
pub struct Builds {
    pub started: usize,
    pub batch: Option<Build>,
    /// Programs that count the lines that run, of the sources as they are in the checkout.
    pub counting: BTreeMap<String, Option<Arc<Vec<TestProgram>>>>,
    /// The probes in them, for a compiler that counts nothing.
    pub probed: Option<ProbedSources>,
    /// Builds of one candidate each, the newest last.
    pub alone: Vec<Build>,
    /// What lies in the copy instead of the sources of the checkout.
    pub written: Vec<FileEdit>,
}

impl Builds {
    /// Writes sources into the copy instead of those that lie there.
    pub fn write_sources(&mut self, copy: &Path, files: Vec<FileEdit>) -> Result<(), RunError> {
        let is_kept = |old: &FileEdit| files.iter().any(|new| new.file == old.file);
        let stale = self.written.iter().filter(|old| !is_kept(old)).cloned().collect();
        write_edits(copy, &EditSet { files: stale }, Side::Before)?;
        let is_new = |new: &&FileEdit| !self.written.contains(new);
        let changed = files.iter().filter(is_new).cloned().collect();
        write_edits(copy, &EditSet { files: changed }, Side::After)?;
        self.written = files;
        Ok(())
    }
}

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

/// Edits without those that change nothing.
pub fn changes_of(edits: &EditSet) -> EditSet {
    let changes = edits.files.iter().filter(|edit| edit.before != edit.after);
    EditSet { files: changes.cloned().collect() }
}
