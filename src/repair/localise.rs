//! Spectrum-based fault localisation: ranks lines that failing tests run and passing tests do not.
//!
//! Uses Ochiai over per-test line coverage where it is available, stack frames, and lines that
//! changed since the base. Source: specification.md 4.12; Abreu et al., "On the Accuracy of
//! Spectrum-based Fault Localization" (2007).

use std::collections::{BTreeMap, BTreeSet};

use crate::code::conditions::deciding_lines;
use crate::code::language::Language;
use crate::code::lint::reason_to_leave;
use crate::code::mutate::inline_test_lines;
use crate::code::outline::{self, Declaration, DeclarationKind};
use crate::domain::explanation::SuspectFunction;
use crate::domain::fix_plan::{FixPlan, ModificationPoint, RootCause};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::provider::EMBEDDED;
use crate::domain::source_text;
use crate::domain::test::{CaseKind, Frame, Status, TestCase};
use crate::domain::text::has_word;
use crate::effect::{EffectError, Trace};

use super::left_alone::{macros_called_by, tests_explained_by};
use super::search_settings::Search;
use super::spectrum::{Evidence, Outlines, lines_of, score_lines};
use super::unknown_name::UnknownNames;

/// Maximum number of passing tests to trace; more tests change the ranking little.
const TRACED: usize = 300;

/// Functions that are named for a cluster, and lines of all of them together.
pub(super) const NAMED_FUNCTIONS: usize = 5;
const NAMED_LINES: usize = 10;

/// A group of failing tests that one edit may repair.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// The failing tests; the first is the most specific one.
    pub tests: Vec<TestId>,
    /// Suspiciousness of lines, from 0 upwards.
    pub lines: BTreeMap<RepoPath, BTreeMap<u32, f64>>,
    pub top: Option<ModificationPoint>,
    /// The functions that may hold the cause, most suspicious first; empty if nothing points at any.
    pub functions: Vec<SuspectFunction>,
    /// Whether the cause may as well be in the body of a macro, so that what repairs a part of it bends the rest.
    pub calls_macro: bool,
}

/// Where the failures may come from.
#[derive(Debug, Default)]
pub struct Diagnosis {
    /// Groups of failures, largest first.
    pub clusters: Vec<Cluster>,
    /// Sources that may be edited.
    pub sources: BTreeMap<RepoPath, String>,
    /// What is not edited, each with what it is.
    pub left_alone: BTreeMap<String, String>,
    /// The files of the failing tests.
    pub tests: BTreeMap<RepoPath, String>,
    /// The names of the functions of the sources.
    pub functions: BTreeSet<String>,
    pub traces: Vec<Trace>,
    /// The clusters as a plan for people and files.
    pub plan: Option<FixPlan>,
}

impl Diagnosis {
    /// Passing tests that run a line of one of these files, quickest first, then all others.
    pub fn reaching(
        &self,
        files: &BTreeSet<RepoPath>,
        passing: &[TestCase],
    ) -> (Vec<TestId>, Vec<TestId>) {
        let reaches: BTreeMap<&TestId, &Trace> = self
            .traces
            .iter()
            .filter(|trace| files.iter().any(|file| trace.lines.contains_key(file)))
            .map(|trace| (&trace.test, trace))
            .collect();
        let (mut near, far): (Vec<TestId>, Vec<TestId>) =
            ids(passing).partition(|test| reaches.contains_key(test));
        near.sort_by_key(|test| reaches.get(test).map(|trace| trace.duration));
        (near, far)
    }
}

/// Traces the tests, groups the failures, and ranks the lines of each group.
pub async fn diagnose(search: &Search<'_>) -> Result<Diagnosis, EffectError> {
    let failing: Vec<TestId> = search.failing.iter().map(|case| case.id.clone()).collect();
    let near = near_first(search);
    let mut traced = failing.clone();
    traced.extend(near.iter().take(TRACED).cloned());
    let traces = search.trial.runner.trace(&traced).await?;
    let sources = sources(search, &traces).await?;
    let reason = |(file, text): (&RepoPath, &String)| {
        Some((file.to_string(), reason_to_leave(file, text)?.to_owned()))
    };
    let mut left_alone: BTreeMap<String, String> = sources.iter().filter_map(reason).collect();
    let (sources, left): (BTreeMap<_, _>, BTreeMap<_, _>) =
        sources.into_iter().partition(|(file, _)| !left_alone.contains_key(file.as_str()));
    let tests = test_texts(search).await?;
    let outlines = outlines(&sources);
    let mut clusters = clusters(search, &traces, &sources, &tests, &outlines);
    let explained = tests_explained_by(&left.keys().collect(), &traces, &sources);
    let outlines_of_left = self::outlines(&left);
    for cluster in &mut clusters {
        if let Some((file, line)) = cluster.tests.iter().find_map(|test| explained.get(test)) {
            let lines = [(file.clone(), [(*line, 1.0)].into())].into();
            let functions = ranked_functions(&lines, &outlines_of_left, &[]);
            *cluster = Cluster { tests: cluster.tests.clone(), functions, ..Cluster::default() };
        }
        let macros = macros_called_by(&cluster.lines, &sources);
        cluster.calls_macro = !macros.is_empty();
        left_alone.extend(macros.into_iter().map(|name| (name, "is a macro".to_owned())));
    }
    let plan = plan(&clusters, search.failing);
    let functions = outlines.into_values().flatten().map(|function| function.name).collect();
    Ok(Diagnosis { clusters, sources, left_alone, tests, functions, traces, plan })
}

fn ids(cases: &[TestCase]) -> impl Iterator<Item = TestId> {
    cases.iter().map(|case| case.id.clone())
}

/// Passing tests; those from the same file or class as a failure come first.
fn near_first(search: &Search<'_>) -> Vec<TestId> {
    let stem = |id: &TestId| {
        let text = id.as_str();
        let cut = text.rfind("::").or_else(|| text.rfind('.')).unwrap_or(text.len());
        text.get(..cut).unwrap_or_default().to_owned()
    };
    let hot: BTreeSet<String> = search.failing.iter().map(|case| stem(&case.id)).collect();
    let (mut near, far): (Vec<TestId>, Vec<TestId>) =
        ids(search.passing).partition(|test| hot.contains(&stem(test)));
    near.extend(far);
    near
}

/// Texts of source files that failing tests ran, stacks name or the base diff contains, no tests.
async fn sources(
    search: &Search<'_>,
    traces: &[Trace],
) -> Result<BTreeMap<RepoPath, String>, EffectError> {
    // Only the place of a failed check, or a name that a compiler does not know, shows which files a command
    // without a report checks, and which are its checks.
    let is_located = |case: &TestCase| {
        let mut frames = case.failure.iter().flat_map(|failure| &failure.frames);
        let names = UnknownNames::of(std::iter::once(case), std::iter::empty(), |_| true);
        case.kind != CaseKind::Command
            || !names.is_empty()
            || frames.any(|frame| (search.is_test)(&frame.file))
    };
    if !search.failing.iter().all(is_located) {
        return Ok(BTreeMap::new());
    }
    let mut files: BTreeSet<RepoPath> = BTreeSet::new();
    for trace in traces.iter().filter(|trace| trace.status == Status::Failed) {
        files.extend(trace.lines.keys().cloned());
    }
    for case in search.failing {
        let frames = case.failure.iter().flat_map(|failure| &failure.frames);
        files.extend(frames.map(|frame| frame.file.clone()));
    }
    files.extend(search.base_diff.iter().map(|diff| diff.file.clone()));
    let covered = traces.iter().any(|trace| !trace.lines.is_empty());
    if !covered {
        // Without coverage any source may be at fault; `related` holds what the tests import.
        files.extend(search.related.iter().cloned());
    }
    let mut sources = read_sources(search, &files).await?;
    if covered {
        // A file of values runs before any test does, where its language says so at all.
        let others: BTreeSet<RepoPath> = search.related.iter().cloned().collect();
        let others = read_sources(search, &others.difference(&files).cloned().collect()).await?;
        let is_named = |(file, text): &(RepoPath, String)| {
            let values = Language::of(file).map(|language| values_of(language, text));
            values.into_iter().flatten().any(|one| {
                let name = one.name.rsplit('.').next().unwrap_or_default();
                sources.values().any(|text| has_word(text, name))
            })
        };
        let named: Vec<(RepoPath, String)> = others.into_iter().filter(is_named).collect();
        sources.extend(named);
    }
    Ok(sources)
}

/// The texts of those files that are sources and no tests.
async fn read_sources(
    search: &Search<'_>,
    files: &BTreeSet<RepoPath>,
) -> Result<BTreeMap<RepoPath, String>, EffectError> {
    let mut sources = BTreeMap::new();
    for file in files {
        if Language::of(file).is_none() || (search.is_test)(file) {
            continue;
        }
        if let Some(bytes) = search.trial.worktree.read(search.trial.tree, file).await?
            && let Some(text) = source_text::decode(file, bytes)
        {
            sources.insert(file.clone(), text);
        }
    }
    Ok(sources)
}

/// The files of the failing tests.
async fn test_texts(search: &Search<'_>) -> Result<BTreeMap<RepoPath, String>, EffectError> {
    let files: BTreeSet<&RepoPath> =
        search.failing.iter().filter_map(|case| case.file.as_ref()).collect();
    let mut texts = BTreeMap::new();
    for file in files {
        if let Some(bytes) = search.trial.worktree.read(search.trial.tree, file).await?
            && let Some(text) = source_text::decode(file, bytes)
        {
            texts.insert(file.clone(), text);
        }
    }
    Ok(texts)
}

/// Lines of the head that differ from the base.
pub(super) fn changed_lines(search: &Search<'_>) -> BTreeMap<RepoPath, BTreeSet<u32>> {
    let mut changed: BTreeMap<RepoPath, BTreeSet<u32>> = BTreeMap::new();
    for diff in search.base_diff {
        let lines = changed.entry(diff.file.clone()).or_default();
        for hunk in &diff.hunks {
            lines.extend(hunk.new_start..=hunk.new_start + hunk.new_lines.saturating_sub(1));
        }
    }
    changed
}

fn outlines(sources: &BTreeMap<RepoPath, String>) -> Outlines {
    let functions = |(file, text): (&RepoPath, &String)| {
        Some((file.clone(), outline::functions(Language::of(file)?, text)))
    };
    sources.iter().filter_map(functions).collect()
}

/// What is not known of where a failure comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Blindness {
    None,
    /// It runs no body of a function.
    NoBody,
    /// Likewise, and it failed around the tests, or at no place that is known.
    Around,
}

fn clusters(
    search: &Search<'_>,
    traces: &[Trace],
    sources: &BTreeMap<RepoPath, String>,
    tests: &BTreeMap<RepoPath, String>,
    outlines: &Outlines,
) -> Vec<Cluster> {
    let mut passed: BTreeMap<(&RepoPath, u32), u32> = BTreeMap::new();
    for trace in traces.iter().filter(|trace| trace.status == Status::Passed) {
        for line in lines_of(trace, sources) {
            *passed.entry(line).or_default() += 1;
        }
    }
    let changed = changed_lines(search);
    let inline_tests = sources
        .iter()
        .filter_map(|(file, text)| Some((file, inline_test_lines(Language::of(file)?, text))))
        .collect();
    let decisions = sources
        .iter()
        .filter_map(|(file, text)| Some((file, deciding_lines(Language::of(file)?, text))))
        .collect();
    let declared = sources
        .iter()
        .filter_map(|(file, text)| Some((file, values_of(Language::of(file)?, text))))
        .collect();
    let evidence = Evidence {
        search,
        traces,
        sources,
        tests,
        outlines,
        passed,
        changed,
        decisions,
        declared,
        inline_tests,
    };
    let width = |test: &TestId| {
        let trace = traces.iter().find(|trace| trace.test == *test);
        trace.map_or(usize::MAX, |trace| lines_of(trace, sources).count())
    };
    // Failures with the same most suspicious function form a group. For failures that run no
    // function body this is only a guess, so their group comes last and does not hold up others; least is
    // known of what failed at no place or around the tests, which is nobody's cause but its own.
    let mut groups: BTreeMap<(Blindness, String), Vec<TestId>> = BTreeMap::new();
    for case in search.failing {
        let alone = score_lines(&evidence, std::slice::from_ref(&case.id));
        let top = ranked_functions(&alone, outlines, &search.prior.files).into_iter().next();
        let mut name = top.map_or_else(String::new, |one| format!("{}:{}", one.file, one.function));
        let mut reached = traces.iter().filter(|trace| trace.test == case.id);
        let blind = !reached.any(|trace| {
            lines_of(trace, sources).any(|(file, line)| is_in_body(file, line, outlines))
        });
        let blindness = match blind {
            true if case.kind == CaseKind::Hook || case.is_placeless() => Blindness::Around,
            true => Blindness::NoBody,
            false => Blindness::None,
        };
        if case.kind == CaseKind::Hook && blindness == Blindness::Around {
            name = case.id.to_string();
        }
        groups.entry((blindness, name)).or_default().push(case.id.clone());
    }
    let mut clusters: Vec<(Blindness, Cluster)> = groups
        .into_iter()
        .map(|((blind, _), mut tests)| {
            let slow = |test: &TestId| search.prior.slow.get(test).copied().unwrap_or_default();
            tests.sort_by_key(|test| (width(test), slow(test), test.clone()));
            let lines = score_lines(&evidence, &tests);
            let mut functions = ranked_functions(&lines, outlines, &search.prior.files);
            let top = functions.first().map(SuspectFunction::point);
            let mut runs = traces.iter().filter(|trace| tests.contains(&trace.test));
            if runs.all(|trace| lines_of(trace, sources).next().is_none()) {
                // Without coverage every line of a source is listed.
                let in_stack = |one: &SuspectFunction| {
                    frames_of(search, &tests).any(|frame| {
                        frame.file == one.file && (one.start..=one.end).contains(&frame.line)
                    })
                };
                functions.retain(in_stack);
            }
            let functions = first_functions(functions);
            (blind, Cluster { tests, lines, top, functions, calls_macro: false })
        })
        .collect();
    clusters.sort_by(|(a_blind, a), (b_blind, b)| {
        let size = b.tests.len().cmp(&a.tests.len());
        a_blind.cmp(b_blind).then(size).then(a.tests.cmp(&b.tests))
    });
    clusters.into_iter().map(|(_, cluster)| cluster).collect()
}

fn values_of(language: Language, text: &str) -> Vec<Declaration> {
    let mut all = outline::declarations(language, text);
    all.retain(|one| one.kind == DeclarationKind::Value);
    all
}

/// Whether a line runs only when its function is called; the others run at import.
fn is_in_body(file: &RepoPath, line: u32, outlines: &Outlines) -> bool {
    let functions = outlines.get(file).map_or(&[][..], Vec::as_slice);
    outline::enclosing(functions, line).is_some_and(|function| function.start < line)
}

/// Functions by their most suspicious line, which comes first; of equals, `known` files first.
fn ranked_functions(
    lines: &BTreeMap<RepoPath, BTreeMap<u32, f64>>,
    outlines: &Outlines,
    known: &[RepoPath],
) -> Vec<SuspectFunction> {
    let mut functions: BTreeMap<(&RepoPath, u32, &str, u32), Vec<_>> = BTreeMap::new();
    for (file, scores) in lines {
        let outline = outlines.get(file).map_or(&[][..], Vec::as_slice);
        for (line, score) in scores {
            let function = outline::enclosing(outline, *line);
            // Lines at the top level and heads of functions run at import; they explain little.
            let is_body = function.is_some_and(|one| one.start < *line || one.start == one.end);
            let score = if is_body { *score } else { score * 0.5 };
            let (name, start, end) =
                function.map_or(("<module>", *line, *line), |one| (&one.name, one.start, one.end));
            functions.entry((file, start, name, end)).or_default().push((score, *line));
        }
    }
    let mut ranked: Vec<(f64, SuspectFunction)> = functions
        .into_iter()
        .filter_map(|((file, start, name, end), mut lines)| {
            lines.sort_by(|a: &(f64, u32), b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let (best, _) = *lines.first()?;
            let lines = lines.into_iter().map(|(_, line)| line).collect();
            let (file, function) = (file.clone(), name.to_owned());
            Some((best, SuspectFunction { file, function, start, end, lines }))
        })
        .collect();
    let is_other = |one: &SuspectFunction| !known.contains(&one.file);
    ranked.sort_by(|(a, one), (b, two)| b.total_cmp(a).then(is_other(one).cmp(&is_other(two))));
    ranked.into_iter().map(|(_, function)| function).collect()
}

/// The first functions, with as many lines together as people look at. Each keeps a line.
fn first_functions(mut functions: Vec<SuspectFunction>) -> Vec<SuspectFunction> {
    functions.truncate(NAMED_FUNCTIONS);
    let mut room = NAMED_LINES.saturating_sub(functions.len());
    for function in &mut functions {
        function.lines.truncate(1 + room);
        room -= function.lines.len() - 1;
    }
    functions
}

/// Stack frames of some failing tests, innermost first.
fn frames_of<'a>(search: &'a Search<'_>, tests: &'a [TestId]) -> impl Iterator<Item = &'a Frame> {
    let cases = search.failing.iter().filter(|case| tests.contains(&case.id));
    cases.filter_map(|case| case.failure.as_ref()).flat_map(|failure| &failure.frames)
}

/// The clusters as a plan that people and files can hold.
fn plan(clusters: &[Cluster], failing: &[TestCase]) -> Option<FixPlan> {
    let root_causes: Vec<RootCause> = clusters
        .iter()
        .filter_map(|cluster| {
            let point = cluster.top.clone()?;
            let mut cases = failing.iter().filter(|case| cluster.tests.contains(&case.id));
            let is_unloaded = cases.any(|case| case.kind.is_unloaded());
            let cause = match (is_unloaded, cluster.tests.as_slice()) {
                (true, tests) => {
                    let first = tests.first().map_or("", TestId::as_str);
                    format!("`{first}` does not load, and `{}` may be the reason", point.file)
                }
                (false, [_]) => {
                    let function = &point.function;
                    format!("1 failing test runs `{function}`")
                }
                (false, tests) => {
                    let (count, function) = (tests.len(), &point.function);
                    format!("{count} failing tests run `{function}`")
                }
            };
            Some(RootCause { tests: cluster.tests.clone(), cause, point })
        })
        .collect();
    let first = root_causes.first()?;
    let mut modification_points: Vec<ModificationPoint> = Vec::new();
    for cause in &root_causes {
        if !modification_points.contains(&cause.point) {
            modification_points.push(cause.point.clone());
        }
    }
    Some(FixPlan {
        author: EMBEDDED.into(),
        approach: format!(
            "Search small edits at the most suspicious lines, {} first, and keep what repairs \
             failing tests and breaks none.",
            first.point
        ),
        affected_tests: first.tests.clone(),
        expected_outcome: format!("{} passes.", first.tests.first().map_or("", TestId::as_str)),
        root_causes,
        modification_points,
        files: Vec::new(),
        report: String::new(),
        edits: Vec::new(),
        confidence: 0.5,
        verification_steps: vec![
            "Run the failing tests on the edit.".into(),
            "Run the passing tests that reach the edit.".into(),
            "Run the whole suite.".into(),
        ],
        impact: "An edit that satisfies the tests may still be wrong where no test looks.".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::outline::Function;

    #[test]
    fn a_head_that_runs_at_import_does_not_name_its_function() {
        type Scores = &'static [(u32, f64)];
        let file = RepoPath::parse("a.py").unwrap();
        let outline = |name: &str, start, end| Function { name: name.into(), start, end };
        let outlines: Outlines =
            [(file.clone(), vec![outline("first", 1, 3), outline("second", 5, 6)])].into();
        let table: [(&str, Scores, &str); 4] = [
            ("the head of another function", &[(1, 1.0), (6, 0.7)], "second"),
            ("a head alone", &[(1, 1.0)], "first"),
            ("a body", &[(2, 0.8), (6, 0.7)], "first"),
            ("the top level", &[(4, 1.0), (6, 0.7)], "second"),
        ];
        for (why, scores, expected) in table {
            let lines = [(file.clone(), scores.iter().copied().collect())].into();
            let ranked = ranked_functions(&lines, &outlines, &[]);
            assert_eq!(ranked[0].function, expected, "{why}");
        }
    }

    #[test]
    fn five_functions_and_ten_lines_are_named() {
        let file = RepoPath::parse("a.py").unwrap();
        let function =
            |at: u32| Function { name: format!("f{at}"), start: 10 * at, end: 10 * at + 9 };
        let outlines: Outlines = [(file.clone(), (1..9).map(function).collect())].into();
        // The later the function the more suspicious; eight lines of each.
        let score = |at: u32, line: u32| (10 * at + line, f64::from(at) - f64::from(line) / 100.0);
        let scores = (1..9).flat_map(|at| (1..9).map(move |line| score(at, line)));
        let lines = [(file, scores.collect())].into();
        let named = first_functions(ranked_functions(&lines, &outlines, &[]));
        let shown: Vec<(&str, usize)> =
            named.iter().map(|one| (one.function.as_str(), one.lines.len())).collect();
        assert_eq!(shown, [("f8", 6), ("f7", 1), ("f6", 1), ("f5", 1), ("f4", 1)]);
        assert_eq!((named[0].start, named[0].end, named[0].lines[0]), (80, 89, 81));
    }
}
