//! What a session leaves to later ones.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::chain::{FallbackTrigger, ProviderCall};
use crate::domain::fix_loop::{FixLoop, IterationRecord, IterationResult};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::Status;

use super::entries::{EACH, fitting};
use super::{
    Entry, FactMemory, FixMemory, FlakyMemory, Memory, ProviderMemory, SlowTestMemory, joined,
};

/// Tests that take less pass within any limit, so their time is no news.
pub const SLOW_MS: u64 = 250;

/// Longest text of an entry, in bytes.
const TEXT: usize = 200;

/// What a session has learned until `now`, with its suite's facts; lessons are for people.
pub fn learn(state: &FixLoop, facts: &[(&str, &str)], now: Timestamp) -> Memory {
    let flaky = |test: &TestId| FlakyMemory {
        at: now,
        test: test.clone(),
        head: state.head.clone(),
        evidence: "it failed, and passed when it ran again alone".to_owned(),
    };
    let slow = state.ledger.cases().filter(|case| case.status == Status::Passed);
    let slow = slow.filter(|case| case.duration_ms >= SLOW_MS).map(|case| SlowTestMemory {
        at: now,
        test: case.id.clone(),
        ms: case.duration_ms,
    });
    let mut slow_tests: Vec<SlowTestMemory> = slow.collect();
    // Where not all fit, the slowest ones matter.
    slow_tests.sort_by(|a, b| b.ms.cmp(&a.ms).then_with(|| a.test.cmp(&b.test)));
    slow_tests.truncate(SlowTestMemory::MOST);
    let facts = facts.iter().filter(|(_, value)| !value.trim().is_empty());
    let facts = facts.map(|(name, value)| FactMemory {
        at: now,
        name: (*name).to_owned(),
        value: fitting(value, TEXT),
    });
    Memory {
        fixes: sound(state.iterations.iter().filter_map(|one| fix(state, one, now))),
        flaky: sound(state.flaky.iter().map(flaky)),
        slow_tests: sound(slow_tests.into_iter()),
        providers: sound(providers(state, now).into_iter()),
        facts: sound(facts),
        lessons: Vec::new(),
    }
}

fn sound<E: Entry>(entries: impl Iterator<Item = E>) -> Vec<E> {
    let entries: Vec<E> = entries.filter(Entry::is_sound).collect();
    joined(&entries, &[])
}

/// An iteration that changed the sources, for better or worse.
fn fix(state: &FixLoop, one: &IterationRecord, now: Timestamp) -> Option<FixMemory> {
    if !matches!(one.result, IterationResult::Improved | IterationResult::Regression) {
        return None;
    }
    let files = one.row.files.iter().filter_map(|file| RepoPath::parse(file.as_str()).ok());
    Some(FixMemory {
        at: now,
        head: state.head.clone(),
        session: state.session_id.clone(),
        iteration: one.row.iteration,
        result: one.result,
        operators: one.operators.iter().take(EACH).cloned().collect(),
        files: files.take(EACH).collect(),
        tests: one.repaired.iter().take(EACH).cloned().collect(),
        provider: one.row.provider.clone(),
    })
}

/// The last news of each provider that was asked.
fn providers(state: &FixLoop, now: Timestamp) -> Vec<ProviderMemory> {
    let rows = state.iterations.iter().flat_map(|one| &one.row.calls);
    let open = state.attempt.iter().flat_map(|attempt| &attempt.calls);
    let mut last: BTreeMap<&str, &ProviderCall> = BTreeMap::new();
    for call in rows.chain(open) {
        last.insert(&call.provider, call);
    }
    let news = |(name, call): (&str, &ProviderCall)| ProviderMemory {
        at: now,
        name: name.to_owned(),
        failure: call
            .trigger
            .filter(|trigger| is_outage(*trigger))
            .map(|trigger| fitting(&format!("{trigger}: {}", call.reason), TEXT)),
    };
    last.into_iter().map(news).collect()
}

/// Whether a call failed for a reason that lies with the provider and may last.
fn is_outage(trigger: FallbackTrigger) -> bool {
    matches!(
        trigger,
        FallbackTrigger::RateLimited
            | FallbackTrigger::Server
            | FallbackTrigger::TimedOut
            | FallbackTrigger::Connection
    )
}
