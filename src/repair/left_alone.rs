//! What is not edited, and the failures that it explains.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::mutate::calls_of_own_macros;
use crate::domain::explanation::ochiai;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::Status;
use crate::effect::Trace;

/// The failing tests that a line of a file which is not edited explains better than any line of `sources`: more of
/// those that run it fail. An edit elsewhere would only hide what is wrong there.
pub fn tests_explained_by(
    left: &BTreeSet<&RepoPath>,
    traces: &[Trace],
    sources: &BTreeMap<RepoPath, String>,
) -> BTreeMap<TestId, (RepoPath, u32)> {
    if left.is_empty() {
        return BTreeMap::new();
    }
    let failed: Vec<&Trace> = traces.iter().filter(|one| one.status == Status::Failed).collect();
    let mut counts: BTreeMap<(&RepoPath, u32), [u32; 2]> = BTreeMap::new();
    for trace in traces {
        for (file, lines) in &trace.lines {
            for line in lines {
                let [failing, passing] = counts.entry((file, *line)).or_default();
                match trace.status {
                    Status::Failed => *failing += 1,
                    Status::Passed => *passing += 1,
                    Status::Skipped => {}
                }
            }
        }
    }
    let all = u32::try_from(failed.len()).unwrap_or(u32::MAX);
    let explain = |trace: &Trace| {
        let (mut of_left, mut of_sources, mut place) = (0.0_f64, 0.0_f64, None);
        for (file, line) in
            trace.lines.iter().flat_map(|(file, lines)| lines.iter().map(move |line| (file, *line)))
        {
            let [failing, passing] = counts.get(&(file, line)).copied().unwrap_or_default();
            let score = ochiai(failing, all, passing);
            if left.contains(file) && score > of_left {
                (of_left, place) = (score, Some((file.clone(), line)));
            } else if sources.contains_key(file) {
                of_sources = of_sources.max(score);
            }
        }
        place.filter(|_| of_left > of_sources)
    };
    let explained = failed.into_iter().map(|trace| (trace.test.clone(), explain(trace)));
    explained.filter_map(|(test, place)| Some((test, place?))).collect()
}

/// The macros of the project that the most suspicious of some lines call. Their bodies are not edited.
pub fn macros_called_by(
    suspicious: &BTreeMap<RepoPath, BTreeMap<u32, f64>>,
    sources: &BTreeMap<RepoPath, String>,
) -> BTreeSet<String> {
    let scores = suspicious.values().flat_map(BTreeMap::values);
    let most = scores.copied().fold(0.0, f64::max);
    let rust = suspicious.iter().filter(|(file, _)| Language::of(file) == Some(Language::Rust));
    let calls = rust.flat_map(|(file, lines)| {
        let calls = sources.get(file).map(|text| calls_of_own_macros(text)).unwrap_or_default();
        calls.into_iter().filter(|(line, _)| lines.get(line).is_some_and(|one| *one >= most))
    });
    calls.map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::effect::Lines;

    #[test]
    fn what_fails_behind_a_generated_file_is_explained_by_it() {
        let file = |name: &str| RepoPath::parse(name).unwrap();
        let (table, sum) = (file("table.go"), file("sum.go"));
        let trace = |test: &str, is_failed: bool, lines: &[(&RepoPath, u32)]| Trace {
            test: test.into(),
            status: if is_failed { Status::Failed } else { Status::Passed },
            duration: Duration::ZERO,
            lines: lines.iter().map(|(file, line)| ((*file).clone(), vec![*line])).collect(),
            loaded: Lines::new(),
            failure: None,
        };
        let sources = [(sum.clone(), String::new())].into();
        let day = trace("day", true, &[(&table, 3)]);
        let total = trace("total", true, &[(&table, 3), (&sum, 5)]);
        let good = trace("good", false, &[(&table, 3)]);
        let cases: [(&str, Vec<Trace>, &[&str]); 4] = [
            ("both", vec![day.clone(), total.clone()], &["day", "total"]),
            ("the file may be right", vec![total.clone()], &[]),
            ("passing tests run it as well", vec![total.clone(), good.clone()], &[]),
            ("the first fails for another reason", vec![day, total, good], &["day", "total"]),
        ];
        for (why, traces, expected) in cases {
            let found = tests_explained_by(&BTreeSet::from([&table]), &traces, &sources);
            let tests: Vec<&str> = found.keys().map(TestId::as_str).collect();
            assert_eq!(tests, expected, "{why}");
            assert!(found.values().all(|place| *place == (table.clone(), 3)), "{why}");
            assert!(tests_explained_by(&BTreeSet::new(), &traces, &sources).is_empty(), "{why}");
        }
    }

    #[test]
    fn the_macro_that_a_suspicious_line_calls_is_named() {
        let file = RepoPath::parse("src/lib.rs").unwrap();
        let text = "macro_rules! clamp {\n    ($v:expr) => { $v };\n}\nfn f(n: i32) -> i32 {\n    clamp!(n)\n}\n";
        let sources = [(file.clone(), text.to_owned())].into();
        for (lines, expected) in [(vec![(5, 1.0)], 1), (vec![(4, 1.0), (5, 0.5)], 0)] {
            let lines = [(file.clone(), lines.into_iter().collect())].into();
            assert_eq!(macros_called_by(&lines, &sources).len(), expected);
        }
    }
}
