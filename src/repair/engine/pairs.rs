//! [`Pairs`]: edits that get failing tests further, each combined with edits of other functions.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::outline;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::{FailureText, TestCase};
use crate::effect::CaseResult;
use crate::repair::clues::Clues;
use crate::repair::localise::Diagnosis;
use crate::repair::stream::{EditPart, RankedEdit, pair};

/// Edits that others are combined with.
const MAX_BASES: usize = 10;

/// Edits of a function that each of them is combined with.
const MAX_PARTNERS: usize = 120;

/// Pairs to try, best first.
pub(super) struct Pairs<'a> {
    sources: &'a BTreeMap<RepoPath, String>,
    /// Edits with those that they are combined with, best first, and a test that fails without these.
    bases: Vec<(EditPart, Vec<EditPart>, TestId)>,
    /// Numbers of a base and of its partner, by the sum of their ranks.
    queue: BTreeSet<(usize, usize, usize)>,
    /// Whether a single edit comes next.
    is_single_next: bool,
    is_stopped: bool,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(sources: &'a BTreeMap<RepoPath, String>) -> Self {
        let (bases, queue) = (Vec::new(), BTreeSet::new());
        Self { sources, bases, queue, is_single_next: true, is_stopped: false }
    }

    /// Combines a single edit with the best `others` that change other functions of its file: with another file, a
    /// prepared process would have to be started for each two of them.
    pub(super) fn add_base<I: Iterator<Item = RankedEdit>>(
        &mut self,
        base: &RankedEdit,
        goal: TestId,
        others: impl FnOnce() -> I,
    ) {
        let [base] = base.parts.as_slice() else { return };
        if self.is_stopped || self.bases.len() == MAX_BASES {
            return;
        }
        let text = self.sources.get(&base.file).zip(Language::of(&base.file));
        let functions = text.map(|(text, language)| outline::functions(language, text));
        let functions = functions.unwrap_or_default();
        let place = |part: &EditPart| {
            outline::enclosing(&functions, part.candidate.line).map_or(0, |function| function.start)
        };
        let (number, own) = (self.bases.len(), place(base));
        let mut partners = Vec::new();
        // The rank counts within the function, so that each is searched.
        let mut ranks: BTreeMap<u32, usize> = BTreeMap::new();
        let others = others().flat_map(|other| other.parts);
        for partner in others.filter(|other| other.file == base.file).take(MAX_PARTNERS * 4) {
            let place = place(&partner);
            let rank = ranks.entry(place).or_default();
            *rank += 1;
            if place != own && *rank <= MAX_PARTNERS {
                self.queue.insert((number + *rank, number, partners.len()));
                partners.push(partner);
            }
        }
        self.bases.push((base.clone(), partners, goal));
    }

    /// Gives no further pairs.
    pub(super) fn end_pairs(&mut self) {
        self.queue.clear();
        self.is_stopped = true;
    }

    /// The next pair that parses.
    fn next_pair(&mut self) -> Option<RankedEdit> {
        while let Some((_, base, partner)) = self.queue.pop_first() {
            let joined = self.bases.get(base).and_then(|(base, partners, goal)| {
                let pair = pair(self.sources, base, partners.get(partner)?)?;
                Some(RankedEdit { goal: Some(goal.clone()), ..pair })
            });
            if joined.is_some() {
                return joined;
            }
        }
        None
    }

    /// The next candidate: pairs and single edits take turns while there are both.
    pub(super) fn next_of(
        &mut self,
        singles: &mut impl Iterator<Item = RankedEdit>,
    ) -> Option<RankedEdit> {
        let is_single = self.is_single_next;
        self.is_single_next = !is_single;
        if is_single {
            singles.next().or_else(|| self.next_pair())
        } else {
            self.next_pair().or_else(|| singles.next())
        }
    }
}

/// The lines of the functions that a test uses where it fails with an edit: those in the stack, and those that the
/// statement names.
pub(super) fn lines_ahead(
    diagnosis: &Diagnosis,
    case: &TestCase,
    after: &CaseResult,
) -> BTreeMap<RepoPath, BTreeMap<u32, f64>> {
    let failure = FailureText { frames: after.frames.clone(), ..FailureText::default() };
    let moved = TestCase { failure: Some(failure), ..case.clone() };
    let clues = Clues::from_cases(std::iter::once(&moved), &diagnosis.tests);
    let mut lines: BTreeMap<RepoPath, BTreeMap<u32, f64>> = BTreeMap::new();
    for (file, text) in &diagnosis.sources {
        let functions = Language::of(file).map(|language| outline::functions(language, text));
        for function in functions.unwrap_or_default() {
            let own = function.start..=function.end;
            let is_in_stack =
                after.frames.iter().any(|frame| frame.file == *file && own.contains(&frame.line));
            if is_in_stack || clues.is_named(&function.name) {
                let known = lines.entry(file.clone()).or_default();
                known.extend((function.start + 1..=function.end).map(|line| (line, 1.0)));
            }
        }
    }
    lines
}
