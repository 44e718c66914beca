//! Finds the boundaries of a module: the calls between its files and others, by pair of files.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::crossing_calls::CallIndex;
use crate::domain::coverage::FileLines;
use crate::domain::id::RepoPath;
use crate::domain::integration::exploration::{BoundaryCall, IntegrationKind, IntegrationPoint};
use crate::effect::Trace;
use crate::repair::is_subject;
use crate::role::characterise::Crossing;
use crate::role::test_plan::Survey;

/// Calls that are listed of one boundary.
const CALLS: usize = 40;

/// The boundaries of the files of a module, without contracts. Calls that run while a file is loaded
/// are left out: no test makes them.
pub fn find_boundaries(
    module: &BTreeSet<RepoPath>,
    index: &CallIndex,
    survey: &Survey,
) -> Vec<IntegrationPoint> {
    let mut found: BTreeMap<(RepoPath, RepoPath), Vec<BoundaryCall>> = BTreeMap::new();
    let sources = survey.known.keys().filter(|file| is_subject(file));
    for from in sources {
        for call in index.calls_of(from) {
            let is_crossing = module.contains(from) || module.contains(&call.target);
            if !is_crossing || call.caller.is_empty() || !survey.known.contains_key(&call.target) {
                continue;
            }
            let calls = found.entry((from.clone(), call.target)).or_default();
            let (caller, callee) = (call.caller, call.callee);
            if calls.len() < CALLS {
                let (line, arguments) = (call.line, call.arguments);
                calls.push(BoundaryCall { caller, callee, line, arguments });
            }
        }
    }
    let point = |((from, to), calls)| IntegrationPoint {
        from,
        to,
        kind: IntegrationKind::Api,
        contract: String::new(),
        calls,
        crossed: None,
        crossed_by: Vec::new(),
    };
    found.into_iter().map(point).collect()
}

/// What a run must execute to cross a boundary.
#[must_use]
pub fn crossing_of(point: &IntegrationPoint) -> Crossing {
    Crossing {
        calls: point.calls.clone(),
        to: point.to.clone(),
        documented: None,
        avoided: Vec::new(),
        taken: Vec::new(),
    }
}

/// Records which boundaries the suite crosses, by the lines that it runs.
pub fn mark_covered(points: &mut [IntegrationPoint], ran: &BTreeMap<RepoPath, FileLines>) {
    for point in points {
        let Some(lines) = ran.get(&point.from) else { continue };
        // A statement of several lines is measured at its first.
        let runs =
            |line: u32| lines.lines.range(..=line).next_back().is_some_and(|(_, hits)| *hits > 0);
        point.crossed = Some(point.calls.iter().any(|call| runs(call.line)));
    }
}

/// Records which tests cross which boundaries.
pub fn mark_crossed(points: &mut [IntegrationPoint], traces: &[Trace]) {
    let traces: Vec<Trace> = traces.iter().cloned().map(Trace::without_loading).collect();
    for point in points {
        let crossing = crossing_of(point);
        let crossed = traces.iter().filter(|trace| crossing.is_in(&point.from, trace));
        point.crossed_by = crossed.map(|trace| trace.test.clone()).collect();
        point.crossed = point.crossed.or(Some(!point.crossed_by.is_empty()));
    }
}
