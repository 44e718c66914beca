//! How suspicious each line is: by the tests that run it, the stacks that name it and the conditions that lead to it.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::outline::{self, Declaration, Function};
use crate::domain::explanation::ochiai;
use crate::domain::id::{RepoPath, TestId};
use crate::effect::Trace;

use super::clues::Clues;
use super::search_settings::Search;

/// Maximum number of lines of a cluster, most suspicious first.
const LINES: usize = 400;

/// Added to the suspiciousness of a line that changed since the base.
const CHANGED_BONUS: f64 = 0.6;

pub type Outlines = BTreeMap<RepoPath, Vec<Function>>;

/// What the suspiciousness of lines follows from.
pub struct Evidence<'a> {
    pub search: &'a Search<'a>,
    pub traces: &'a [Trace],
    pub sources: &'a BTreeMap<RepoPath, String>,
    /// The files of the failing tests.
    pub tests: &'a BTreeMap<RepoPath, String>,
    pub outlines: &'a Outlines,
    /// How many passing tests run each line.
    pub passed: BTreeMap<(&'a RepoPath, u32), u32>,
    pub changed: BTreeMap<RepoPath, BTreeSet<u32>>,
    /// Lines with conditions, and the first line that each decides over.
    pub decisions: BTreeMap<&'a RepoPath, Vec<(u32, u32)>>,
    /// Values outside of functions, and constants.
    pub declared: BTreeMap<&'a RepoPath, Vec<Declaration>>,
    /// Lines of tests inside of the sources.
    pub inline_tests: BTreeMap<&'a RepoPath, BTreeSet<u32>>,
}

impl Evidence<'_> {
    pub fn is_test_line(&self, file: &RepoPath, line: u32) -> bool {
        self.inline_tests.get(file).is_some_and(|lines| lines.contains(&line))
    }
}

/// Lines that a test executed in the editable sources.
pub fn lines_of<'a>(
    trace: &'a Trace,
    sources: &'a BTreeMap<RepoPath, String>,
) -> impl Iterator<Item = (&'a RepoPath, u32)> {
    trace
        .lines
        .iter()
        .filter(|(file, _)| sources.contains_key(*file))
        .flat_map(|(file, lines)| lines.iter().map(move |line| (file, *line)))
}

/// A branch that is wrongly taken is as suspicious where it is decided, and less so where that is decided.
fn deciding_lines_of(
    evidence: &Evidence<'_>,
    scored: &[(f64, RepoPath, u32)],
) -> Vec<(f64, RepoPath, u32)> {
    /// Of the suspiciousness of a decision, what the decision over it has.
    const OUTER: f64 = 0.9;
    let decided_by = |(score, file, line): &(f64, RepoPath, u32), share: f64| {
        let decisions = evidence.decisions.get(file).into_iter().flatten();
        let deciding = decisions.filter(|(_, first)| first == line);
        deciding.map(|(line, _)| (score * share, file.clone(), *line)).collect::<Vec<_>>()
    };
    let inner: Vec<_> = scored.iter().flat_map(|one| decided_by(one, 1.0)).collect();
    let outer: Vec<_> = inner.iter().flat_map(|one| decided_by(one, OUTER)).collect();
    [inner, outer].concat()
}

/// A value outside of functions that nothing covers, since it is made before any test runs, is a little less
/// suspicious than the lines that name it.
fn declared_lines_of(
    evidence: &Evidence<'_>,
    scored: &[(f64, RepoPath, u32)],
) -> Vec<(f64, RepoPath, u32)> {
    /// Of the suspiciousness of the most suspicious line that names it, what a value of one line has.
    const SHARE: f64 = 0.95;
    let mut words: BTreeMap<&str, f64> = BTreeMap::new();
    for (file, text) in evidence.sources {
        let lines: Vec<&str> = text.lines().collect();
        for (score, _, line) in scored.iter().filter(|(_, known, _)| known == file) {
            let text = usize::try_from(*line).ok().and_then(|line| lines.get(line.checked_sub(1)?));
            for word in
                text.map_or("", |text| text).split(|c: char| !c.is_alphanumeric() && c != '_')
            {
                let known = words.entry(word).or_default();
                *known = known.max(*score);
            }
        }
    }
    let declared =
        evidence.declared.iter().flat_map(|(file, all)| all.iter().map(move |one| (file, one)));
    let named = declared.filter_map(|(file, one)| {
        let name = one.name.rsplit('.').next().unwrap_or_default();
        let lines = one.start..=one.end;
        // A table has many entries, of which one is wrong.
        let score = words.get(name)? * SHARE / f64::from(one.end - one.start + 1).sqrt();
        let is_covered =
            scored.iter().any(|(_, known, line)| known == *file && lines.contains(line));
        let lines = lines.filter(move |line| !is_covered && !evidence.is_test_line(file, *line));
        Some(lines.map(move |line| (score, (*file).clone(), line)))
    });
    named.flatten().collect()
}

/// A stack frame proves that its line was active at the time of the failure.
fn add_frames(evidence: &Evidence<'_>, tests: &[TestId], scored: &mut Vec<(f64, RepoPath, u32)>) {
    for case in evidence.search.failing.iter().filter(|case| tests.contains(&case.id)) {
        let frames = case.failure.iter().flat_map(|failure| &failure.frames);
        let frames = frames.filter(|frame| evidence.sources.contains_key(&frame.file));
        let frames = frames.filter(|frame| !evidence.is_test_line(&frame.file, frame.line));
        for (depth, frame) in frames.enumerate() {
            let bonus = 0.5 / (1.0 + f64::from(u32::try_from(depth).unwrap_or(u32::MAX)));
            let of_frame = |(_, file, line): &&mut (f64, RepoPath, u32)| {
                *file == frame.file && *line == frame.line
            };
            match scored.iter_mut().find(of_frame) {
                Some(known) => known.0 += bonus,
                None => scored.push((0.5 + bonus, frame.file.clone(), frame.line)),
            }
        }
    }
}

/// Suspiciousness of each line for some failing tests.
pub fn score_lines(
    evidence: &Evidence<'_>,
    tests: &[TestId],
) -> BTreeMap<RepoPath, BTreeMap<u32, f64>> {
    let Evidence { search, traces, sources, outlines, passed, changed, .. } = evidence;
    let failed = u32::try_from(tests.len()).unwrap_or(u32::MAX);
    let mut covering: BTreeMap<(&RepoPath, u32), u32> = BTreeMap::new();
    for trace in traces.iter().filter(|trace| tests.contains(&trace.test)) {
        for line in lines_of(trace, sources) {
            *covering.entry(line).or_default() += 1;
        }
    }
    let mut scored: Vec<(f64, RepoPath, u32)> = covering
        .iter()
        .map(|((file, line), count)| {
            let passed = passed.get(&(*file, *line)).copied().unwrap_or_default();
            (ochiai(*count, failed, passed), (*file).clone(), *line)
        })
        .collect();
    scored.extend(deciding_lines_of(evidence, &scored));
    add_frames(evidence, tests, &mut scored);
    if covering.is_empty() {
        for (file, text) in *sources {
            let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
            let named = scored.iter().any(|(_, known, _)| known == file);
            let base = if named { 0.3 } else { 0.1 };
            let lines = (1..=lines).filter(|line| !evidence.is_test_line(file, *line));
            scored.extend(lines.map(|line| (base, file.clone(), line)));
        }
    }
    let cases = search.failing.iter().filter(|case| tests.contains(&case.id));
    let clues = Clues::from_cases(cases, evidence.tests);
    for (score, file, line) in &mut scored {
        let functions = outlines.get(file).map_or(&[][..], Vec::as_slice);
        let function = outline::enclosing(functions, *line);
        *score *= function.map_or(1.0, |function| clues.weigh_function(&function.name));
        if changed.get(file).is_some_and(|lines| lines.contains(line)) {
            *score += CHANGED_BONUS;
        }
    }
    scored.extend(declared_lines_of(evidence, &scored));
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    scored.truncate(LINES);
    let mut lines: BTreeMap<RepoPath, BTreeMap<u32, f64>> = BTreeMap::new();
    for (score, file, line) in scored {
        let known = lines.entry(file).or_default().entry(line).or_default();
        *known = known.max(score);
    }
    lines
}
