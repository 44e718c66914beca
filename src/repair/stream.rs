//! `Stream`: the candidate edits for one cluster of failures, best first.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::code::language::Language;
use crate::code::mutate::{self, Candidate, OperatorId};
use crate::code::syntax;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::memory::Prior;
use crate::domain::proposal::{EditSet, FileEdit};
use crate::effect::FileDiff;

use super::localise::Cluster;
use super::misspelt_text::respelled_texts;
use super::unknown_name::UnknownNames;

/// The least suspiciousness of a line that a stack frame names.
const OF_FRAME: f64 = 0.5;

/// Operators that are tried where a file does not load: they take nothing away.
const WHERE_UNLOADED: &[OperatorId] =
    &[OperatorId::Arithmetic, OperatorId::Comparison, OperatorId::OffByOne];

/// An edit to try, with its place in the order.
#[derive(Clone, Debug)]
pub struct RankedEdit {
    pub edits: EditSet,
    pub operators: Vec<OperatorId>,
    /// Squared suspiciousness times the operator's weight, adjusted by [`Bias`].
    pub priority: f64,
    /// The edit in one line.
    pub summary: String,
    /// The edits that it consists of: one, or two of a pair; none if it takes changes back.
    pub parts: Vec<EditPart>,
    /// A test that has to pass, since one of the parts alone does without it.
    pub goal: Option<TestId>,
}

/// One edit of one file.
#[derive(Clone, Debug)]
pub struct EditPart {
    pub file: RepoPath,
    pub candidate: Candidate,
}

impl EditPart {
    /// The edit alone; `None` where its result does not parse.
    pub fn ranked(
        &self,
        sources: &BTreeMap<RepoPath, String>,
        priority: f64,
    ) -> Option<RankedEdit> {
        let Self { file, candidate } = self;
        let (language, source) = (Language::of(file)?, sources.get(file)?);
        let after = candidate.apply(source);
        if syntax::first_error(language, &after).is_some() {
            return None;
        }
        Some(RankedEdit {
            edits: single(file.clone(), source, after),
            operators: vec![candidate.operator],
            priority,
            summary: summarise(file, source, candidate),
            parts: vec![self.clone()],
            goal: None,
        })
    }
}

/// A heap entry; entries of equal priority keep the order of the text, so every run is the same.
struct Entry {
    priority: f64,
    /// Whether the file was repaired in an earlier session; it decides between equals only.
    is_known: bool,
    order: usize,
    part: EditPart,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let known = self.is_known.cmp(&other.is_known);
        self.priority.total_cmp(&other.priority).then(known).then(other.order.cmp(&self.order))
    }
}

/// Adjustments of the priority of candidates.
#[derive(Clone, Debug)]
pub struct Bias<'a> {
    /// Names of the operators whose edits were kept in this session.
    pub patterns: &'a [String],
    /// What earlier sessions suggest.
    pub prior: &'a Prior,
    /// Whether large edits are tried last.
    pub surgical: bool,
    /// Names that the failures call unknown.
    pub unknown: UnknownNames,
    /// Numbers and texts in the failing tests.
    pub literals: BTreeSet<String>,
    /// Whether the failures are that tests do not load.
    pub is_unloaded: bool,
}

/// Edits that are tried instead of one that was kept.
const REPLACEMENTS: usize = 200;

/// Yields candidates best first; each is parsed only when it is taken.
pub struct Stream<'a> {
    sources: &'a BTreeMap<RepoPath, String>,
    reversals: std::vec::IntoIter<RankedEdit>,
    /// Take turns with the others.
    replacements: std::vec::IntoIter<RankedEdit>,
    is_replacement_next: bool,
    heap: BinaryHeap<Entry>,
}

impl<'a> Stream<'a> {
    /// All candidates on and next to the suspicious lines of a cluster.
    #[must_use]
    pub fn new(
        cluster: &Cluster,
        sources: &'a BTreeMap<RepoPath, String>,
        base_diff: &[FileDiff],
        bias: &Bias<'_>,
    ) -> Self {
        let mut heap = BinaryHeap::new();
        let mut order = 0;
        for (file, scores) in &cluster.lines {
            let (Some(language), Some(source)) = (Language::of(file), sources.get(file)) else {
                continue;
            };
            let is_known = bias.prior.files.contains(file);
            let named = scores.iter().filter(|(_, score)| **score >= OF_FRAME);
            let named: Vec<u32> = named.map(|(line, _)| *line).collect();
            if syntax::first_error(language, source).is_some() {
                // Nothing else can be tried where the text does not parse.
                for candidate in mutate::syntax_repairs(language, source, &named) {
                    let priority = candidate.weight;
                    let part = EditPart { file: file.clone(), candidate };
                    heap.push(Entry { priority, is_known, order, part });
                    order += 1;
                }
                continue;
            }
            let scores = with_neighbours(scores);
            let accepts_line = |line: u32| scores.contains_key(&line);
            for candidate in bias.unknown.candidates(language, source, &accepts_line) {
                let priority = candidate.weight;
                let part = EditPart { file: file.clone(), candidate };
                heap.push(Entry { priority, is_known, order, part });
                order += 1;
            }
            // What only has to load would also do so with the line that fails cut off: only the operators and
            // numbers of the line itself are tried, and where a name is not known, other names.
            let mut others = if bias.is_unloaded && !bias.unknown.is_empty() {
                bias.unknown.variables_instead(language, source, &accepts_line)
            } else if bias.is_unloaded {
                let is_named = |line: u32| named.contains(&line);
                let mut found = mutate::candidates(language, source, &is_named, &[]);
                found.retain(|candidate| WHERE_UNLOADED.contains(&candidate.operator));
                found
            } else {
                mutate::candidates(language, source, &accepts_line, &[])
            };
            others.extend(respelled_texts(source, &bias.literals, &accepts_line));
            let foreign = bias.unknown.foreign_lines(source);
            others.retain(|candidate| !foreign.contains(&candidate.line));
            for candidate in others {
                let score = scores.get(&candidate.line).copied().unwrap_or(0.05);
                let mut kept = bias.patterns.iter().chain(&bias.prior.operators);
                let known = kept.any(|pattern| *pattern == candidate.operator.name());
                let bonus = if known { 1.3 } else { 1.0 };
                let size = candidate.text.len().max(candidate.range.len());
                let small = if bias.surgical && size > 30 { 0.3 } else { 1.0 };
                let priority = score * score * candidate.weight * bonus * small;
                let part = EditPart { file: file.clone(), candidate };
                heap.push(Entry { priority, is_known, order, part });
                order += 1;
            }
        }
        let reversals = reversals(sources, base_diff).into_iter();
        let (replacements, is_replacement_next) = (Vec::new().into_iter(), true);
        Self { sources, reversals, replacements, is_replacement_next, heap }
    }

    /// Adds edits that stand for one that was kept on a suspicious line: what repaired some tests may have been
    /// wrong, and the right one repairs the others too.
    #[must_use]
    pub fn with_replacements(self, cluster: &Cluster, kept: &[FileDiff], bias: &Bias<'_>) -> Self {
        let reversals = reversals(self.sources, kept).into_iter();
        let found = reversals.flat_map(|one| replacements(one, cluster, bias)).collect::<Vec<_>>();
        Self { replacements: found.into_iter(), ..self }
    }
}

impl Iterator for Stream<'_> {
    type Item = RankedEdit;

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.reversals.len() + self.replacements.len() + self.heap.len()))
    }

    fn next(&mut self) -> Option<RankedEdit> {
        if let Some(reversal) = self.reversals.next() {
            return Some(reversal);
        }
        let is_turn = self.is_replacement_next;
        self.is_replacement_next = !is_turn;
        if let Some(replacement) = is_turn.then(|| self.replacements.next()).flatten() {
            return Some(replacement);
        }
        while let Some(Entry { priority, part, .. }) = self.heap.pop() {
            if let Some(ranked) = part.ranked(self.sources, priority) {
                return Some(ranked);
            }
        }
        None
    }
}

pub fn single(file: RepoPath, before: &str, after: String) -> EditSet {
    EditSet { files: vec![FileEdit { file, before: Some(before.to_owned()), after: Some(after) }] }
}

/// A multi-line statement counts as executed only on its first line, so unmeasured lines near it get
/// a share of its score: the best that a neighbour gives.
fn with_neighbours(scores: &BTreeMap<u32, f64>) -> BTreeMap<u32, f64> {
    let mut all = scores.clone();
    for (line, score) in scores {
        for (near, factor) in [(line + 1, 0.6), (line.saturating_sub(1), 0.5), (line + 2, 0.4)] {
            if near > 0 && !scores.contains_key(&near) {
                let share = all.entry(near).or_insert(0.0);
                *share = share.max(score * factor);
            }
        }
    }
    all
}

/// Summary of an edit in one line: the code before and after it.
pub fn summarise(file: &RepoPath, source: &str, candidate: &Candidate) -> String {
    let start =
        source.get(..candidate.range.start).and_then(|s| s.rfind('\n')).map_or(0, |at| at + 1);
    let end = source
        .get(candidate.range.end..)
        .and_then(|s| s.find('\n'))
        .map_or(source.len(), |at| candidate.range.end + at);
    let before = source.get(start..end).unwrap_or_default();
    let head = source.get(start..candidate.range.start).unwrap_or_default();
    let tail = source.get(candidate.range.end..end).unwrap_or_default();
    let after = format!("{head}{}{tail}", candidate.text);
    let line = |text: &str| {
        let lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
        let joined = lines.collect::<Vec<_>>().join(" ⏎ ");
        let short: String = joined.chars().take(90).collect();
        if short.len() < joined.len() { format!("{short}…") } else { short }
    };
    format!("{file}:{}: `{}` → `{}`", candidate.line, line(before), line(&after))
}

/// Edits that revert the change since the base: each hunk, each file, everything.
fn reversals(sources: &BTreeMap<RepoPath, String>, base_diff: &[FileDiff]) -> Vec<RankedEdit> {
    let mut found = Vec::new();
    let mut whole = EditSet::default();
    for diff in base_diff {
        let (Some(source), Some(before)) = (sources.get(&diff.file), &diff.before) else {
            continue;
        };
        if diff.after.as_deref() != Some(source.as_str()) {
            continue;
        }
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.split_inclusive('\n').collect(), source.split_inclusive('\n').collect());
        let mut put = |after: String, what: String| {
            let edits = single(diff.file.clone(), source, after);
            found.push(reversal(edits, format!("{}: take back {what}", diff.file)));
        };
        for hunk in &diff.hunks {
            let at = |start: u32, lines: u32| {
                let first = if lines == 0 { start } else { start.saturating_sub(1) };
                let first = usize::try_from(first).unwrap_or(usize::MAX);
                (first, first + usize::try_from(lines).unwrap_or_default())
            };
            let (new_from, new_to) = at(hunk.new_start, hunk.new_lines);
            let (old_from, old_to) = at(hunk.old_start, hunk.old_lines);
            let (Some(head), Some(middle), Some(tail)) =
                (new.get(..new_from), old.get(old_from..old_to), new.get(new_to..))
            else {
                continue;
            };
            let after: String = head.iter().chain(middle).chain(tail).copied().collect();
            put(after, format!("the change at line {}", hunk.new_start));
        }
        if diff.hunks.len() > 1 {
            put(before.clone(), "all changes since the base".into());
        }
        whole.files.extend(single(diff.file.clone(), source, before.clone()).files);
    }
    if whole.files.len() > 1 {
        found.push(reversal(whole, "take back all changes since the base".into()));
    }
    found
}

/// The best single edits of one file without a part that is taken back on a suspicious line of it.
fn replacements(
    RankedEdit { edits, summary, .. }: RankedEdit,
    cluster: &Cluster,
    bias: &Bias<'_>,
) -> Vec<RankedEdit> {
    let [FileEdit { file, before: Some(source), after: Some(without) }] = edits.files.as_slice()
    else {
        return Vec::new();
    };
    let same = source.lines().zip(without.lines()).take_while(|(now, before)| now == before);
    let line = u32::try_from(same.count() + 1).unwrap_or(u32::MAX);
    let lines = cluster.lines.get(file).filter(|lines| lines.contains_key(&line));
    let Some(lines) = lines.cloned() else { return Vec::new() };
    let sources = BTreeMap::from([(file.clone(), without.clone())]);
    let near = Cluster { lines: BTreeMap::from([(file.clone(), lines)]), ..cluster.clone() };
    let others = Stream::new(&near, &sources, &[], bias).take(REPLACEMENTS);
    let replaced = others.filter_map(|other| {
        let after = other.edits.files.into_iter().next()?.after?;
        (after != *source).then(|| RankedEdit {
            edits: single(file.clone(), source, after),
            summary: format!("{summary}; {}", other.summary),
            parts: Vec::new(),
            ..other
        })
    });
    replaced.collect()
}

fn reversal(edits: EditSet, summary: String) -> RankedEdit {
    let operator = OperatorId::ReverseChange;
    let (operators, priority) = (vec![operator], operator.base_yield());
    RankedEdit { edits, operators, priority, summary, parts: Vec::new(), goal: None }
}

/// Two edits of one file as one; `None` if they overlap, change different files, or a free number makes them fit
/// most tests by chance: both change one, or one beside the other on its line.
pub fn pair(
    sources: &BTreeMap<RepoPath, String>,
    a: &EditPart,
    b: &EditPart,
) -> Option<RankedEdit> {
    let in_order = a.candidate.range.start <= b.candidate.range.start;
    let parts = if in_order { [a, b] } else { [b, a] };
    let [first, second] = parts.map(|part| &part.candidate);
    let overlaps = second.range.start < first.range.end || first.range == second.range;
    let is_number =
        |one: &Candidate| matches!(one.operator, OperatorId::Constant | OperatorId::OffByOne);
    if a.file != b.file || overlaps || is_number(first) && is_number(second) {
        return None;
    }
    let (file, source) = (&a.file, sources.get(&a.file)?);
    let between = source.get(first.range.start..second.range.start).unwrap_or_default();
    if (is_number(first) || is_number(second)) && !between.contains('\n') {
        return None;
    }
    // Apply the later edit first, so that the range of the earlier one stays valid.
    let after = first.apply(&second.apply(source));
    let language = Language::of(file)?;
    if syntax::first_error(language, &after).is_some() {
        return None;
    }
    Some(RankedEdit {
        edits: single(file.clone(), source, after),
        operators: vec![first.operator, second.operator],
        priority: first.weight * second.weight / 100.0,
        summary: format!("{}; {}", summarise(file, source, first), summarise(file, source, second)),
        parts: parts.map(EditPart::clone).into(),
        goal: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_that_names_what_a_library_lacks_is_left_alone() {
        let file = RepoPath::parse("shop.py").unwrap();
        let source =
            "import asyncio\n\n\ndef f(x):\n    y = asyncio.coroutine(x + 1)\n    return y - 1\n";
        let sources = BTreeMap::from([(file.clone(), source.to_owned())]);
        let lines = BTreeMap::from([(file, BTreeMap::from([(5, 1.0), (6, 1.0)]))]);
        let cluster = Cluster { lines, ..Cluster::default() };
        let message = "module 'asyncio' has no attribute 'coroutine'";
        let table = [(message, "", false), ("assert 1 == 2", message, true), ("", "", true)];
        for (message, stack, is_tried) in table {
            let case = crate::domain::test::TestCase {
                id: "a".into(),
                kind: crate::domain::test::CaseKind::Test,
                status: crate::domain::test::Status::Failed,
                file: None,
                line: None,
                duration_ms: 0,
                layer: crate::domain::test::Layer::Unit,
                failure: Some(crate::domain::test::FailureText {
                    message: message.into(),
                    stack: stack.into(),
                    ..Default::default()
                }),
            };
            let unknown = UnknownNames::of(std::iter::once(&case), std::iter::empty(), |_| false);
            let prior = Prior::default();
            let bias = Bias {
                patterns: &[],
                prior: &prior,
                surgical: false,
                unknown,
                literals: BTreeSet::new(),
                is_unloaded: false,
            };
            let tried: Vec<RankedEdit> = Stream::new(&cluster, &sources, &[], &bias).collect();
            let on = |line: u32| {
                let mut parts = tried.iter().flat_map(|one| &one.parts);
                parts.any(|part| part.candidate.line == line)
            };
            assert_eq!((on(5), on(6)), (is_tried, true), "{message} {stack}");
        }
    }

    #[test]
    fn no_pair_fits_a_free_number_to_the_tests() {
        let file = RepoPath::parse("dates.py").unwrap();
        let source = "def f(y):\n    a = y % 4 == 0 and y % 100 != 0\n    return a + y - 1\n";
        let sources = BTreeMap::from([(file.clone(), source.to_owned())]);
        let part = |from: &str, to: &str, operator| {
            let start = source.find(from).unwrap();
            let range = start..start + from.len();
            let candidate = Candidate { range, text: to.into(), operator, weight: 1.0, line: 2 };
            EditPart { file: file.clone(), candidate }
        };
        let four = part("4", "8", OperatorId::Constant);
        let table = [
            (part("100", "101", OperatorId::OffByOne), false),
            (part("- 1", "- 2", OperatorId::Constant), false),
            (part("!=", "==", OperatorId::Comparison), false),
            (part("+ y", "- y", OperatorId::Arithmetic), true),
        ];
        for (other, is_pair) in table {
            let found = pair(&sources, &four, &other);
            assert_eq!(found.is_some(), is_pair, "{:?}", other.candidate.text);
        }
    }

    #[test]
    fn a_line_between_two_suspects_takes_the_better_share_and_keeps_its_own() {
        let scores = BTreeMap::from([(1, 0.2), (10, 0.1), (12, 0.9), (13, 0.1)]);
        let shares: Vec<(u32, u32)> = with_neighbours(&scores)
            .into_iter()
            .map(|(line, score)| (line, f64::round(score * 100.0).to_string().parse().unwrap()))
            .collect();
        let expected = [
            (1, 20),
            (2, 12),
            (3, 8),
            (9, 5),
            (10, 10),
            (11, 45),
            (12, 90),
            (13, 10),
            (14, 36),
            (15, 4),
        ];
        assert_eq!(shares, expected);
    }
}
