//! Task status, and the order of tasks with dependencies (specification.md 5.1, 5.7, 5.8).

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The status of a task (specification.md 5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    Pending,
    /// Running, or interrupted while it was running.
    InProgress,
    /// Its edit was kept, or was tested and had no effect.
    Completed,
    Blocked,
    /// It ended with an error, and may be tried again.
    Failed,
    /// Deliberately not done: what it would rest on is too weak, or nothing of it was wanted.
    Skipped,
    /// The edit of the task broke tests and was taken back.
    RolledBack,
}

display_stored_name!(TaskStatus);

impl TaskStatus {
    /// Whether the task ended, well or not.
    #[must_use]
    pub fn is_ended(self) -> bool {
        !matches!(self, Self::Pending | Self::InProgress)
    }

    /// How it ended, as a word for people; `None` when it is open or completed.
    #[must_use]
    pub fn setback(self) -> Option<&'static str> {
        match self {
            Self::Pending | Self::InProgress | Self::Completed => None,
            Self::Blocked => Some("blocked"),
            Self::Failed => Some("failed"),
            Self::Skipped => Some("skipped"),
            Self::RolledBack => Some("taken back"),
        }
    }
}

/// Why tasks have no execution order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// A task depends on one that does not exist.
    #[error("{task} depends on {missing}, which is not planned")]
    Missing {
        /// The task that waits.
        task: String,
        /// The task that does not exist.
        missing: String,
    },
    /// Tasks depend on one another.
    #[error("these tasks wait for one another: {}", tasks.join(", "))]
    Cycle {
        /// All tasks that can never start.
        tasks: Vec<String>,
    },
    /// Two tasks have the same id.
    #[error("{task} is planned twice")]
    Twice { task: String },
}

/// The order in which tasks may run; of several that could be next, the first in the list.
pub fn order(tasks: &[(String, Vec<String>)]) -> Result<Vec<String>, OrderError> {
    let mut waiting: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (task, needs) in tasks {
        let needs = needs.iter().map(String::as_str).collect();
        if waiting.insert(task, needs).is_some() {
            return Err(OrderError::Twice { task: task.clone() });
        }
    }
    for (task, needs) in tasks {
        if let Some(missing) = needs.iter().find(|need| !waiting.contains_key(need.as_str())) {
            return Err(OrderError::Missing { task: task.clone(), missing: missing.clone() });
        }
    }
    let mut done: Vec<String> = Vec::new();
    while done.len() < tasks.len() {
        let next = tasks.iter().map(|(task, _)| task.as_str()).find(|task| {
            waiting
                .get(task)
                .is_some_and(|needs| needs.iter().all(|need| !waiting.contains_key(need)))
        });
        let Some(next) = next else {
            let tasks = waiting.into_keys().map(str::to_owned).collect();
            return Err(OrderError::Cycle { tasks });
        };
        waiting.remove(next);
        done.push(next.to_owned());
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tasks(list: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
        let own = |text: &&str| (*text).to_owned();
        list.iter().map(|(task, needs)| (own(task), needs.iter().map(own).collect())).collect()
    }

    #[test]
    fn tasks_run_behind_what_they_need() {
        let good = tasks(&[("c", &["b"]), ("a", &[]), ("b", &["a"]), ("d", &[])]);
        assert_eq!(order(&good).unwrap(), ["a", "b", "c", "d"]);
        let lost = tasks(&[("a", &["x"])]);
        assert_eq!(order(&lost).unwrap_err().to_string(), "a depends on x, which is not planned");
        let round = tasks(&[("a", &["b"]), ("b", &["c"]), ("c", &["a"]), ("d", &[])]);
        let message = order(&round).unwrap_err().to_string();
        assert_eq!(message, "these tasks wait for one another: a, b, c");
        assert!(order(&tasks(&[("a", &["a"])])).is_err());
        assert!(matches!(order(&tasks(&[("a", &[]), ("a", &[])])), Err(OrderError::Twice { .. })));
    }

    proptest! {
        #[test]
        fn an_order_is_found_exactly_when_there_is_no_cycle(
            edges in prop::collection::vec((0usize..7, 0usize..7), 0..14),
        ) {
            let list: Vec<(String, Vec<String>)> = (0..7)
                .map(|task| {
                    let needs = edges.iter().filter(|(from, _)| *from == task);
                    (task.to_string(), needs.map(|(_, to)| to.to_string()).collect())
                })
                .collect();
            // Reachability by brute force.
            let mut reach = [[false; 7]; 7];
            for (from, to) in &edges {
                reach[*from][*to] = true;
            }
            for middle in 0..7 {
                for from in 0..7 {
                    for to in 0..7 {
                        reach[from][to] |= reach[from][middle] && reach[middle][to];
                    }
                }
            }
            let cyclic = (0..7).any(|task| reach[task][task]);
            match order(&list) {
                Ok(found) => {
                    prop_assert!(!cyclic);
                    for (from, to) in &edges {
                        let at = |task: usize| found.iter().position(|one| *one == task.to_string());
                        prop_assert!(at(*to) < at(*from));
                    }
                }
                Err(_) => prop_assert!(cyclic),
            }
        }
    }
}
