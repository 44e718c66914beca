//! The memory of a repository as text for people.

use crate::domain::id::{RepoPath, TestId};
use crate::domain::memory::{Entry, Memory, Moment};

use super::runner_commands::neutralise_commands;

/// The memory as text; `None` is a repository without one.
pub fn text(memory: Option<&Memory>) -> String {
    let Some(memory) = memory else { return "there is no memory in this clone\n".to_owned() };
    let Memory { fixes, flaky, slow_tests, providers, facts, lessons } = memory;
    let mut text = String::new();
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("{title}\n"));
            for line in lines {
                text.push_str(&format!("  {line}\n"));
            }
        }
    };
    list(
        "Fixes",
        fixes
            .iter()
            .map(|one| {
                let by = match one.operators.join(" + ") {
                    kinds if kinds.is_empty() => one.provider.clone(),
                    kinds => format!("{} ({kinds})", one.provider),
                };
                let files: Vec<&str> = one.files.iter().map(RepoPath::as_str).collect();
                let tests: Vec<&str> = one.tests.iter().map(TestId::as_str).collect();
                let tests = match tests.join(", ") {
                    none if none.is_empty() => none,
                    tests => format!(", for {tests}"),
                };
                dated(one, &format!("{} by {by} in {}{tests}", one.result, files.join(", ")))
            })
            .collect(),
    );
    list(
        "Flaky tests",
        flaky
            .iter()
            .map(|one| {
                dated(one, &format!("{}: {} at {}", one.test, one.evidence, one.head.short()))
            })
            .collect(),
    );
    list(
        "Slow tests",
        slow_tests.iter().map(|one| dated(one, &format!("{}: {} ms", one.test, one.ms))).collect(),
    );
    list(
        "Providers",
        providers
            .iter()
            .map(|one| {
                dated(
                    one,
                    &format!("{}: {}", one.name, one.failure.as_deref().unwrap_or("answers")),
                )
            })
            .collect(),
    );
    list(
        "Project",
        facts.iter().map(|one| dated(one, &format!("{}: {}", one.name, one.value))).collect(),
    );
    list(
        "Lessons",
        lessons
            .iter()
            .map(|one| dated(one, &format!("[{}:{}] {}", one.kind, one.tag, one.text)))
            .collect(),
    );
    if text.is_empty() {
        text.push_str("the memory of this clone is empty\n");
    }
    text.lines().map(|line| neutralise_commands(line) + "\n").collect()
}

fn dated<E: Entry>(entry: &E, line: &str) -> String {
    let at: Moment = entry.at();
    format!("{} {line}", at.to_string().get(..10).unwrap_or_default())
}
