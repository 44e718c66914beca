//! [`map`]: processes many items in parallel on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `work` for each item on all processors and collects the results, in no particular order.
///
/// Files differ widely in size, so each idle worker takes the next item. A panic in `work` is
/// propagated to the caller, so that a missing result cannot go unnoticed.
pub fn map<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut results = Vec::new();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            results.push(work(item));
        }
        results
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .flat_map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_worked_on_exactly_once() {
        for count in [0u32, 1, 2, 1000] {
            let items: Vec<u32> = (0..count).collect();
            let mut results = map(&items, |item| item * 2);
            results.sort_unstable();
            assert_eq!(results, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic(expected = "item 3")]
    fn a_panic_of_one_item_reaches_the_caller() {
        map(&[1, 2, 3], |item| assert!(*item != 3, "item 3"));
    }
}
