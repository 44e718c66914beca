//! The evidence behind each cluster of a diagnosis: its most suspicious line, which runs execute it,
//! and what else speaks for it.

use std::collections::BTreeSet;

use crate::code::mutate::OperatorId;
use crate::domain::assertion::assertion;
use crate::domain::explanation::{
    ExplainedCluster, LineOrigin, SearchBudget, SearchedPlace, Spectrum, SuspiciousLine,
};
use crate::domain::id::{RepoPath, TestId};
use crate::domain::test::{Status, TestCase};

use super::localise::{Cluster, Diagnosis, NAMED_FUNCTIONS, changed_lines};
use super::search_settings::{Limits, Search};

/// Each cluster with the evidence that the tests themselves give.
#[must_use]
pub fn explain(search: &Search<'_>, diagnosis: &Diagnosis) -> Vec<ExplainedCluster> {
    let explain = |cluster: &Cluster| ExplainedCluster {
        place: place(search, diagnosis, cluster),
        functions: cluster.functions.clone(),
        ..unlocated(search.failing, cluster.tests.clone())
    };
    diagnosis.clusters.iter().map(explain).collect()
}

/// The most suspicious places of a diagnosis, those of each group first.
#[must_use]
pub fn suspicious_places(diagnosis: &Diagnosis) -> Vec<SearchedPlace> {
    let mut places: Vec<SearchedPlace> = Vec::new();
    let most = diagnosis.clusters.iter().map(|cluster| cluster.functions.len()).max();
    for rank in 0..most.unwrap_or_default() {
        for cluster in &diagnosis.clusters {
            let Some(suspect) = cluster.functions.get(rank) else { continue };
            let Some(line) = suspect.lines.first().copied() else { continue };
            let spectrum = spectrum(diagnosis, cluster, &suspect.file, line);
            let (file, function) = (suspect.file.clone(), suspect.function.clone());
            let is_new = !places.iter().any(|one| (&one.file, one.line) == (&file, line));
            places.extend(is_new.then_some(SearchedPlace { file, function, line, spectrum }));
        }
    }
    places.truncate(NAMED_FUNCTIONS);
    places
}

/// Failing tests without any hint where the cause may be.
#[must_use]
pub fn unlocated(failing: &[TestCase], tests: Vec<TestId>) -> ExplainedCluster {
    let first = failing.iter().find(|case| tests.first() == Some(&case.id));
    ExplainedCluster {
        message: first.map(assertion).unwrap_or_default(),
        tests,
        place: None,
        functions: Vec::new(),
        analysis: None,
        preexisting: 0,
        introduced: 0,
        origin: LineOrigin::Unknown,
    }
}

/// What a search of these sources may use up.
#[must_use]
pub fn budget(diagnosis: &Diagnosis, limits: Limits) -> SearchBudget {
    let kinds = if diagnosis.sources.is_empty() { 0 } else { OperatorId::ALL.len() };
    SearchBudget {
        kinds: u32::try_from(kinds).unwrap_or(u32::MAX),
        candidates: limits.candidates,
        seconds: limits.time.as_secs(),
    }
}

/// The most suspicious line of a cluster; `None` when no run, stack or change points at it.
fn place(search: &Search<'_>, diagnosis: &Diagnosis, cluster: &Cluster) -> Option<SuspiciousLine> {
    let point = cluster.top.as_ref()?;
    let scores = cluster.lines.get(&point.file)?;
    // The head of a function runs at import, and is named only when nothing in the body is known.
    let body = scores.range((point.start + 1).min(point.end)..=point.end);
    let scores =
        if body.clone().next().is_some() { body } else { scores.range(point.start..=point.end) };
    let best = scores.clone().map(|(_, score)| *score).fold(f64::MIN, f64::max);
    let mut top = scores.filter(|(_, score)| **score >= best).map(|(line, _)| *line).peekable();
    let line = *top.peek()?;
    let equals = u32::try_from(top.count()).unwrap_or(u32::MAX);
    let spectrum = spectrum(diagnosis, cluster, &point.file, line);
    let cases = cluster_cases(search, cluster);
    let mut frames =
        (cases.iter()).filter_map(|case| case.failure.as_ref()).flat_map(|failure| &failure.frames);
    let in_stack = frames.any(|frame| frame.file == point.file && frame.line == line);
    let raised_at = raised_at(&cases, &point.file);
    let changed = changed_lines(search);
    let is_changed = changed.get(&point.file).is_some_and(|lines| lines.contains(&line));
    let is_run = spectrum.is_some_and(|spectrum| spectrum.failing > 0);
    (is_run || in_stack || is_changed).then(|| SuspiciousLine {
        file: point.file.clone(),
        function: point.function.clone(),
        start: point.start,
        end: point.end,
        line,
        equals,
        spectrum,
        in_stack,
        is_changed,
        raised_at,
    })
}

fn cluster_cases<'a>(search: &'a Search<'_>, cluster: &Cluster) -> Vec<&'a TestCase> {
    search.failing.iter().filter(|case| cluster.tests.contains(&case.id)).collect()
}

/// Where the first message comes from that neither the suspected file nor its own test raised.
fn raised_at(cases: &[&TestCase], suspected: &RepoPath) -> Option<String> {
    let origins = cases.iter().filter_map(|case| {
        let innermost = case.failure.as_ref()?.frames.first()?;
        let is_own = innermost.file == *suspected || case.file.as_ref() == Some(&innermost.file);
        (!is_own).then(|| format!("{}:{}", innermost.file, innermost.line))
    });
    origins.into_iter().next()
}

/// Which runs execute a line; `None` where coverage cannot be had.
fn spectrum(
    diagnosis: &Diagnosis,
    cluster: &Cluster,
    file: &RepoPath,
    line: u32,
) -> Option<Spectrum> {
    let traces = || diagnosis.traces.iter();
    traces().any(|trace| !trace.lines.is_empty()).then_some(())?;
    let tests: BTreeSet<&TestId> = cluster.tests.iter().collect();
    let mut spectrum = Spectrum { failing: 0, failing_of: 0, passing: 0, passing_of: 0 };
    for trace in traces() {
        let runs = u32::from(trace.lines.get(file).is_some_and(|lines| lines.contains(&line)));
        match trace.status {
            Status::Passed => {
                spectrum.passing += runs;
                spectrum.passing_of += 1;
            }
            Status::Failed if tests.contains(&trace.test) => {
                spectrum.failing += runs;
                spectrum.failing_of += 1;
            }
            Status::Failed | Status::Skipped => {}
        }
    }
    Some(spectrum)
}
