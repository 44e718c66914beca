//! [`Prior`]: what a session takes from the memory when it begins.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::fix_loop::IterationResult;
use crate::domain::id::{RepoPath, TestId};

use super::learn::SLOW_MS;
use super::{EARLIER, Memory};

/// Operators and files that a session prefers, at most.
const OPERATORS: usize = 5;
const FILES: usize = 20;

/// Longest time that a failing test is given because of what it took when it passed.
const LONGEST_MS: u64 = 20_000;

/// Minutes for which a failed provider is asked last.
const OUTAGE_MINUTES: i64 = 60;

/// Names that a sentence shows.
const SHOWN: usize = 3;

/// What earlier sessions suggest. It decides about order, about how often a failing test runs again
/// before a cause is looked for, and about the time that a test may take; never about a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prior {
    /// Edit operators whose edits were kept more often than they regressed, best first.
    pub operators: Vec<String>,
    /// Files in which edits were kept, latest first.
    pub files: Vec<RepoPath>,
    /// Tests that failed and passed on the same sources.
    pub flaky: BTreeSet<TestId>,
    /// What slow tests took when they passed, in milliseconds.
    pub slow: BTreeMap<TestId, u64>,
}

impl Prior {
    /// The prior of a memory.
    pub fn of(memory: &Memory) -> Self {
        let mut balance: BTreeMap<&str, i64> = BTreeMap::new();
        let mut files: Vec<RepoPath> = Vec::new();
        for fix in &memory.fixes {
            let kept = fix.result == IterationResult::Improved;
            for name in &fix.operators {
                *balance.entry(name).or_default() += if kept { 1 } else { -1 };
            }
            for file in fix.files.iter().filter(|_| kept) {
                if !files.contains(file) && files.len() < FILES {
                    files.push(file.clone());
                }
            }
        }
        let mut operators: Vec<(&str, i64)> =
            balance.into_iter().filter(|(_, balance)| *balance > 0).collect();
        operators.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let slow = memory.slow_tests.iter().filter(|one| one.ms >= SLOW_MS);
        Self {
            operators: operators.iter().take(OPERATORS).map(|(name, _)| (*name).into()).collect(),
            files,
            flaky: memory.flaky.iter().map(|one| one.test.clone()).collect(),
            slow: slow.map(|one| (one.test.clone(), one.ms.min(LONGEST_MS))).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How the search for edits uses it, in one line; `None` if it does not.
    pub fn search_notice<'a>(&self, failing: impl Iterator<Item = &'a TestId>) -> Option<String> {
        let mut uses = Vec::new();
        if !self.operators.is_empty() {
            uses.push(format!(
                "a search tries edits of the kinds that were kept first ({})",
                listed(self.operators.iter())
            ));
        }
        if !self.files.is_empty() {
            uses.push(format!(
                "between equal candidates, files that were repaired come first ({})",
                listed(self.files.iter().map(RepoPath::as_str))
            ));
        }
        let slow: Vec<&TestId> = failing.filter(|test| self.slow.contains_key(*test)).collect();
        if !slow.is_empty() {
            uses.push(format!(
                "edits get the time that {} took when passing",
                listed(slow.iter().map(|test| test.as_str()))
            ));
        }
        (!uses.is_empty()).then(|| format!("{EARLIER}{}.", uses.join("; ")))
    }

    /// Those of some failing tests that were flaky before.
    pub fn suspects(&self, failing: &[TestId]) -> Vec<TestId> {
        failing.iter().filter(|test| self.flaky.contains(*test)).cloned().collect()
    }
}

/// The first of some names as code, and how many more there are.
pub fn listed<'a>(names: impl Iterator<Item = impl AsRef<str> + 'a>) -> String {
    let names: Vec<String> =
        names.map(|name| format!("`{}`", name.as_ref().replace('`', "'"))).collect();
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The providers of a chain in the order in which they are asked, with those last that failed within
/// the last hour; `None` if that changes nothing. The second value says why, in one line.
pub fn after_outages(
    providers: &[String],
    memory: &Memory,
    now: Timestamp,
) -> Option<(Vec<String>, String)> {
    let minutes = |name: &String| {
        let news = memory.providers.iter().find(|one| one.name == *name)?;
        news.failure.as_ref()?;
        let minutes = now.duration_since(news.at).as_mins();
        (0..OUTAGE_MINUTES).contains(&minutes).then_some(minutes)
    };
    let (down, mut order): (Vec<String>, Vec<String>) =
        providers.iter().cloned().partition(|name| minutes(name).is_some());
    order.extend(down.iter().cloned());
    if order == providers {
        return None;
    }
    let ago = down.iter().filter_map(minutes).min().unwrap_or_default();
    let text = format!(
        "{EARLIER}{} failed in a session that ended {} ago, so the other providers are asked first.",
        listed(down.iter()),
        crate::domain::text::count(ago.max(1).unsigned_abs(), "minute")
    );
    Some((order, text))
}
