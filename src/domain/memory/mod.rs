//! [`Memory`]: what sessions of a repository leave for later ones: fixes, flaky tests, slow tests,
//! failures of providers, facts about the suite, and lessons.
//!
//! A memory is a prior and no evidence. It is read from a reference that anybody with write access
//! can move, so every entry is checked and all of them are bounded in number and size.

mod entries;
mod learn;
mod prior;

use std::collections::BTreeMap;

pub use jiff::Timestamp as Moment;
use jiff::ToSpan as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::id::{RepoPath, TestId};

pub use entries::{
    Entry, FactMemory, FixMemory, FlakyMemory, LessonMemory, ProviderMemory, SlowTestMemory,
};
pub use learn::learn;
pub use prior::{Prior, after_outages, listed};

/// Version of the form.
pub const VERSION: u64 = 1;

/// Largest memory that is read, in bytes; no memory that was merged exceeds it.
pub const LIMIT: usize = 2 << 20;

/// How a line begins that says what earlier sessions decide.
pub const EARLIER: &str = "From earlier sessions: ";

/// How far the clock of another machine may be ahead.
const AHEAD_HOURS: i64 = 24;

/// How old an entry may become before the same news is stored again.
const REFRESH_DAYS: i64 = 7;

/// What earlier sessions left. Each list is sorted, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Iterations that changed something, be it for better or worse.
    pub fixes: Vec<FixMemory>,
    /// Tests that failed and passed on the same sources.
    pub flaky: Vec<FlakyMemory>,
    /// What slow tests took when they passed.
    pub slow_tests: Vec<SlowTestMemory>,
    /// The last news of each provider.
    pub providers: Vec<ProviderMemory>,
    /// What is known of the suite.
    pub facts: Vec<FactMemory>,
    pub lessons: Vec<LessonMemory>,
}

/// A memory as it is stored: entries of any form, since one that cannot be read spoils no other.
#[derive(Deserialize)]
#[serde(default)]
struct Stored {
    schema_version: u64,
    fixes: Vec<Value>,
    flaky: Vec<Value>,
    slow_tests: Vec<Value>,
    providers: Vec<Value>,
    facts: Vec<Value>,
    lessons: Vec<Value>,
}

impl Default for Stored {
    fn default() -> Self {
        let none = Vec::new;
        Self {
            schema_version: VERSION,
            fixes: none(),
            flaky: none(),
            slow_tests: none(),
            providers: none(),
            facts: none(),
            lessons: none(),
        }
    }
}

/// Why a text is no memory.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    #[error("it is larger than {} MiB", LIMIT >> 20)]
    TooLarge,
    #[error("it is not the JSON of a memory: {0}")]
    Form(String),
    #[error("it has version {0} of the form, and this regreen knows {VERSION}")]
    Newer(u64),
}

/// Which entries to forget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forget {
    Test(TestId),
    File(RepoPath),
}

impl Memory {
    /// Reads a memory as of `now`, without expired, future or unsound entries.
    pub fn parse(text: &[u8], now: Moment) -> Result<Self, MemoryError> {
        if text.len() > LIMIT {
            return Err(MemoryError::TooLarge);
        }
        let value: Value =
            serde_json::from_slice(text).map_err(|error| MemoryError::Form(error.to_string()))?;
        if !value.is_object() {
            return Err(MemoryError::Form("it is not a JSON object".to_owned()));
        }
        let stored: Stored =
            serde_json::from_value(value).map_err(|error| MemoryError::Form(error.to_string()))?;
        if stored.schema_version > VERSION {
            return Err(MemoryError::Newer(stored.schema_version));
        }
        Ok(Self {
            fixes: read(stored.fixes, now),
            flaky: read(stored.flaky, now),
            slow_tests: read(stored.slow_tests, now),
            providers: read(stored.providers, now),
            facts: read(stored.facts, now),
            lessons: read(stored.lessons, now),
        })
    }

    /// The text that [`Memory::parse`] reads, with its version.
    pub fn to_json(&self) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        value["schema_version"] = VERSION.into();
        serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
    }

    /// Both memories in one, in any order and number, so that parallel jobs lose nothing.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        Self {
            fixes: joined(&self.fixes, &other.fixes),
            flaky: joined(&self.flaky, &other.flaky),
            slow_tests: joined(&self.slow_tests, &other.slow_tests),
            providers: joined(&self.providers, &other.providers),
            facts: joined(&self.facts, &other.facts),
            lessons: joined(&self.lessons, &other.lessons),
        }
    }

    /// Whether merging this into `known` would tell something new: an entry that is unknown, or a
    /// newer date of one that is a week old. Of a provider, only failures and their end are news.
    pub fn is_news_to(&self, known: &Self) -> bool {
        is_news(&self.fixes, &known.fixes)
            || is_news(&self.flaky, &known.flaky)
            || is_news(&self.slow_tests, &known.slow_tests)
            || self.providers.iter().any(|one| {
                let mut failed = known.providers.iter().filter(|old| old.failure.is_some());
                one.failure.is_some() || failed.any(|old| old.name == one.name)
            })
            || is_news(&self.facts, &known.facts)
            || is_news(&self.lessons, &known.lessons)
    }

    /// The memory without some entries.
    #[must_use]
    pub fn without(mut self, forget: &Forget) -> Self {
        match forget {
            Forget::Test(test) => {
                self.fixes.retain(|fix| !fix.tests.contains(test));
                self.flaky.retain(|one| one.test != *test);
                self.slow_tests.retain(|one| one.test != *test);
                self.lessons.retain(|one| !one.text.contains(test.as_str()));
            }
            Forget::File(file) => {
                let of_file =
                    |test: &TestId| test.as_str().split("::").next() == Some(file.as_str());
                self.fixes.retain(|fix| !fix.files.contains(file));
                self.flaky.retain(|one| !of_file(&one.test));
                self.slow_tests.retain(|one| !of_file(&one.test));
                self.lessons.retain(|one| !one.text.contains(file.as_str()));
            }
        }
        self
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        let Self { fixes, flaky, slow_tests, providers, facts, lessons } = self;
        fixes.len() + flaky.len() + slow_tests.len() + providers.len() + facts.len() + lessons.len()
    }
}

/// The sound entries of a list that hold at `now`.
fn read<E: Entry + DeserializeOwned>(values: Vec<Value>, now: Moment) -> Vec<E> {
    let entries = values.into_iter().filter_map(|value| serde_json::from_value::<E>(value).ok());
    let entries: Vec<E> = entries
        .filter(|entry| {
            let hours = now.duration_since(entry.at()).as_hours();
            entry.is_sound() && (-AHEAD_HOURS..E::DAYS * 24).contains(&hours)
        })
        .collect();
    joined(&entries, &[])
}

/// The newest entries of two lists for each key, as many as are kept.
fn joined<E: Entry>(a: &[E], b: &[E]) -> Vec<E> {
    let mut newest: BTreeMap<E::Key, &E> = BTreeMap::new();
    for entry in a.iter().chain(b) {
        let known = newest.entry(entry.key()).or_insert(entry);
        *known = (*known).max(entry);
    }
    let mut entries: Vec<E> = newest.into_values().cloned().collect();
    entries.sort_by(|a, b| b.cmp(a));
    entries.truncate(E::MOST);
    entries
}

fn is_news<E: Entry>(new: &[E], known: &[E]) -> bool {
    new.iter().any(|entry| {
        let old = known.iter().find(|one| one.key() == entry.key());
        old.is_none_or(|old| {
            old.at().checked_add((REFRESH_DAYS * 24).hours()).is_ok_and(|due| due < entry.at())
        })
    })
}

#[cfg(test)]
mod tests;
