//! Chooses among plausible edits, and makes those for several groups of failures one proposal.

use std::collections::BTreeSet;

use crate::domain::explanation::ClosestEdit;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::{EditSet, Proposal};
use crate::domain::provider::EMBEDDED;
use crate::repair::stream::RankedEdit;

/// An edit that repairs tests and breaks none that were tried.
pub(super) struct Plausible {
    pub(super) ranked: RankedEdit,
    /// The place in the stream of candidates, from 1.
    pub(super) order: u32,
    pub(super) repairs: Vec<TestId>,
    /// How many of the tests that it lets run fail.
    pub(super) failing_behind: usize,
    /// How many failing tests outside of its cluster pass with it; `None` if there are none.
    pub(super) beyond: Option<usize>,
    pub(super) suspicion: Option<String>,
    pub(super) special_case: Option<String>,
}

impl Plausible {
    /// As an edit that was not proposed, for its own sake or because of the macro that its place calls.
    pub(super) fn as_closest(&self) -> Option<ClosestEdit> {
        let reason = || "the cause may be in a macro, which regreen does not edit".to_owned();
        let suspicion = Some(self.suspicion.clone().unwrap_or_else(reason));
        let summary = self.ranked.summary.clone();
        Some(ClosestEdit { summary, test: self.repairs.first()?.clone(), suspicion })
    }

    /// Whether nothing behind it can be better: it repairs its cluster and is not suspicious.
    pub(super) fn is_conclusive(&self, tests: usize) -> bool {
        self.repairs.len() >= tests && self.suspicion.is_none() && self.failing_behind == 0
    }
}

/// Index of the edit to propose: complete, then unsuspicious, then most repairs, in its cluster and
/// outside, then fewest failures of tests that it lets run, then one edit before two, then rank.
pub(super) fn best(plausible: &[Plausible], expected: usize) -> usize {
    let key = |one: &Plausible| {
        let whole = one.repairs.len() >= expected;
        let behind = std::cmp::Reverse(one.failing_behind);
        let parts = std::cmp::Reverse(one.ranked.parts.len());
        let repairs = one.repairs.len().min(expected);
        (whole, one.suspicion.is_none(), repairs, one.beyond, behind, parts)
    };
    let better = |(_, a): &(usize, &Plausible), (_, b): &(usize, &Plausible)| {
        let rank = a.ranked.priority.total_cmp(&b.ranked.priority);
        key(a).cmp(&key(b)).then(rank).then(b.order.cmp(&a.order))
    };
    plausible.iter().enumerate().max_by(better).map_or(0, |(index, _)| index)
}

/// Of edits that change the same file, the first one, because all started from the same text.
pub(super) fn apart(chosen: Vec<Plausible>) -> Vec<Plausible> {
    let mut files: BTreeSet<RepoPath> = BTreeSet::new();
    let mut apart = chosen;
    apart.retain(|one| {
        let own = one.ranked.edits.files.iter().map(|edit| edit.file.clone());
        let own: BTreeSet<RepoPath> = own.collect();
        let is_free = files.is_disjoint(&own);
        files.extend(own.into_iter().filter(|_| is_free));
        is_free
    });
    apart
}

/// Edits of different files as one.
pub(super) fn joined<'e>(all: impl Iterator<Item = &'e Plausible>) -> EditSet {
    let files = all.flat_map(|one| one.ranked.edits.files.iter().cloned());
    let mut edits = EditSet { files: files.collect() };
    edits.files.sort_by(|a, b| a.file.cmp(&b.file));
    edits
}

/// Merges the edits of several clusters into one proposal, with the operators that made it.
pub(super) fn merge(chosen: Vec<Plausible>, tried: u32) -> Option<(Proposal, Vec<String>)> {
    let edits = joined(chosen.iter());
    let (mut summaries, mut repairs) = (Vec::new(), Vec::new());
    let (mut suspicion, mut special_case) = (None, None);
    let mut operators = Vec::new();
    for plausible in chosen {
        operators.extend(plausible.ranked.operators.iter().map(|one| one.name().to_owned()));
        summaries.push(plausible.ranked.summary);
        repairs.extend(plausible.repairs);
        suspicion = suspicion.or(plausible.suspicion);
        special_case = special_case.or(plausible.special_case);
    }
    if edits.files.is_empty() {
        return None;
    }
    repairs.sort();
    repairs.dedup();
    let proposal = Proposal {
        author: EMBEDDED.into(),
        edits,
        summary: summaries.join("; "),
        confidence: Some(if suspicion.is_some() { 0.4 } else { 0.7 }),
        repairs,
        tried,
        suspicion,
        special_case,
        unread: None,
        // The search changes product code only.
        edits_tests: false,
    };
    Some((proposal, operators))
}
