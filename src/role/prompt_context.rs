//! [`Context`]: the excerpts of the repository in a prompt: failing tests, code on their stacks,
//! suspects, outlines of imports, the change since the base, and earlier attempts.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::pattern::Pattern;
use crate::code::{outline, test_paths};
use crate::domain::assertion::{assertion, own_frames};
use crate::domain::fix_loop::{FixLoop, IterationResult};
use crate::domain::fix_plan::{FixPlan, ModificationPoint};
use crate::domain::id::RepoPath;
use crate::domain::test::{Layer, TestCase};
use crate::effect::{Effects, FileDiff, GitError};

use super::prompt::{PromptPart, Subject};

/// Maximum number of failures shown in full; others are shown by their first line.
const IN_FULL: usize = 12;

/// Number of lines shown before and after a location in a long file.
const AROUND: u32 = 60;

/// Maximum number of lines of a file that is shown as a whole.
const WHOLE: usize = 400;

/// Everything a prompt may show of the repository, read once per iteration.
pub struct Context {
    /// The texts of the source and test files to quote from.
    texts: BTreeMap<RepoPath, String>,
    failing: Vec<TestCase>,
    suspects: Vec<ModificationPoint>,
    related: Vec<RepoPath>,
    base_diff: Vec<FileDiff>,
    root: String,
}

/// Maximum number of files read for one prompt.
const FILES: usize = 60;

/// Maximum number of bytes read of one file.
const FILE_LIMIT: usize = 256 << 10;

impl Context {
    /// Reads what may be shown. `suspects` come from fault localisation, worst first.
    pub async fn gather(
        state: &FixLoop,
        suspects: &[ModificationPoint],
        related: &[RepoPath],
        base_diff: &[FileDiff],
        fx: &Effects<'_>,
    ) -> Result<Self, GitError> {
        let failing: Vec<TestCase> = state.ledger.failing_cases().cloned().collect();
        let mut files: Vec<RepoPath> = Vec::new();
        files.extend(failing.iter().filter_map(|case| case.file.clone()));
        let frames = failing.iter().filter_map(|case| case.failure.as_ref());
        files.extend(frames.flat_map(|failure| &failure.frames).map(|frame| frame.file.clone()));
        files.extend(suspects.iter().map(|point| point.file.clone()));
        files.extend(base_diff.iter().map(|diff| diff.file.clone()));
        files.extend(related.iter().cloned());
        let mut seen = BTreeSet::new();
        let mut texts = BTreeMap::new();
        for file in files.into_iter().filter(|file| seen.insert(file.clone())).take(FILES) {
            let bytes = fx.worktree.read(&state.accepted_tree, &file).await?;
            if let Some(bytes) = bytes.filter(|bytes| bytes.len() <= FILE_LIMIT) {
                texts.insert(file, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(Self {
            texts,
            failing,
            suspects: suspects.to_vec(),
            related: related.to_vec(),
            base_diff: base_diff.to_vec(),
            root: fx.worktree.root().display().to_string(),
        })
    }

    /// The parts of the analyst's prompt.
    pub fn for_analyst(&self, state: &FixLoop) -> Vec<PromptPart> {
        let mut parts: Vec<PromptPart> = self.failures().into_iter().collect();
        parts.extend(self.tests());
        parts.extend(self.sources());
        parts.extend(self.changes());
        parts.extend(self.outlines());
        parts.extend(history(state));
        parts
    }

    /// The parts of the fixer's prompt.
    pub fn for_fixer(&self, state: &FixLoop, plan: &FixPlan) -> Vec<PromptPart> {
        let mut parts = vec![part("The plan", plan_text(plan), false)];
        let files: BTreeSet<&RepoPath> =
            plan.modification_points.iter().map(|point| &point.file).collect();
        for file in files {
            let Some(text) = self.texts.get(file) else { continue };
            let points: Vec<&ModificationPoint> =
                plan.modification_points.iter().filter(|point| point.file == *file).collect();
            // `search` must be a verbatim copy, so the code is shown without line numbers.
            parts.push(part(&format!("The source {file}"), around(text, &points), false));
        }
        parts.extend(self.failures());
        parts.extend(self.tests());
        parts.extend(history(state));
        parts
    }

    /// The current text of a file that was read.
    pub fn text(&self, file: &RepoPath) -> Option<&str> {
        self.texts.get(file).map(String::as_str)
    }

    fn failures(&self) -> Option<PromptPart> {
        let mut text = String::new();
        for (index, case) in self.failing.iter().enumerate() {
            let failure = case.failure.clone().unwrap_or_default();
            text.push_str(&format!("- {}", case.id));
            if index < IN_FULL {
                text.push_str(&format!(
                    "\n{}\n{}\n",
                    self.plain(&indent(&failure.message, 40)),
                    self.plain(&indent(&own_frames(&failure.stack), 60))
                ));
            } else {
                text.push_str(&format!(": {}\n", self.plain(&assertion(case))));
            }
        }
        (!text.is_empty()).then(|| part("Failing tests and what they said", text, true))
    }

    fn plain(&self, text: &str) -> String {
        without_machine_paths(text, &self.root)
    }

    /// The source of the failing tests.
    fn tests(&self) -> Vec<PromptPart> {
        let mut by_file: BTreeMap<&RepoPath, Vec<&TestCase>> = BTreeMap::new();
        for case in self.failing.iter().take(IN_FULL * 2) {
            if let Some(file) = &case.file {
                by_file.entry(file).or_default().push(case);
            }
        }
        by_file
            .into_iter()
            .filter_map(|(file, cases)| {
                let text = self.texts.get(file)?;
                let lines = text.lines().count();
                let shown = if lines <= WHOLE {
                    text.clone()
                } else {
                    let points: Vec<ModificationPoint> = cases
                        .iter()
                        .map(|case| {
                            let line = case.line.unwrap_or(1);
                            point(file, line, line)
                        })
                        .collect();
                    around(text, &points.iter().collect::<Vec<_>>())
                };
                Some(part(&format!("The test file {file} (read only)"), shown, true))
            })
            .collect()
    }

    /// The code at stack frames and at suspicious locations.
    fn sources(&self) -> Vec<PromptPart> {
        let mut points: Vec<ModificationPoint> = Vec::new();
        for case in &self.failing {
            for frame in case.failure.iter().flat_map(|failure| &failure.frames) {
                if !test_paths::is_test(&frame.file) {
                    points.push(point(&frame.file, frame.line, frame.line));
                }
            }
        }
        points.extend(self.suspects.iter().cloned());
        let mut files: Vec<&RepoPath> = Vec::new();
        for point in &points {
            if !files.contains(&&point.file) {
                files.push(&point.file);
            }
        }
        files
            .into_iter()
            .filter_map(|file| {
                let text = self.texts.get(file)?;
                let here: Vec<&ModificationPoint> =
                    points.iter().filter(|point| point.file == *file).collect();
                let ranges: Vec<String> = here
                    .iter()
                    .take(8)
                    .map(|point| format!("{}:{}-{}", point.function, point.start, point.end))
                    .collect();
                let title = format!("The source {file}, suspicious at {}", ranges.join(", "));
                Some(part(&title, numbered(text, &here), true))
            })
            .collect()
    }

    /// Outlines of imported files in which no location is suspicious.
    fn outlines(&self) -> Option<PromptPart> {
        let mut text = String::new();
        for file in self.related.iter().take(40) {
            let (Some(source), Some(language)) = (self.texts.get(file), Language::of(file)) else {
                continue;
            };
            text.push_str(&format!("{file}\n"));
            for function in outline::functions(language, source) {
                text.push_str(&format!(
                    "  {} {}-{}\n",
                    function.name, function.start, function.end
                ));
            }
        }
        (!text.is_empty()).then(|| part("Outlines of what the tests import", text, true))
    }

    fn changes(&self) -> Option<PromptPart> {
        let text: String = self
            .base_diff
            .iter()
            .filter(|diff| !test_paths::is_test(&diff.file))
            .map(|diff| diff.patch.clone())
            .collect();
        (!text.is_empty()).then(|| part("The change since the base, the first suspect", text, true))
    }
}

/// The facts about the current iteration that a prompt states.
pub fn subject(state: &FixLoop) -> Subject {
    let mut layers: BTreeMap<Layer, usize> = BTreeMap::new();
    for case in state.ledger.failing_cases() {
        *layers.entry(case.layer).or_default() += 1;
    }
    let rate = state.ledger.rate();
    Subject {
        task: format!("IMPL-fix-{}", state.current_iteration),
        iteration: state.current_iteration,
        limit: state.terms.max_iterations,
        failing: state.failing().len(),
        total: rate.map_or(0, |rate| usize::try_from(rate.total).unwrap_or_default()),
        rate: rate.map_or_else(|| "0".to_owned(), |rate| rate.to_string()),
        target: state.terms.target,
        reach: state.edit_scope(),
        strategy: state
            .selected_strategy
            .unwrap_or(crate::domain::strategy::Strategy::Conservative),
        layer: layers
            .into_iter()
            .max_by_key(|(_, count)| *count)
            .map_or(Layer::Unit, |(layer, _)| layer),
    }
}

/// The history: earlier attempts, disproved hypotheses, refused edits, successful edits.
fn history(state: &FixLoop) -> Option<PromptPart> {
    let mut text = String::new();
    for one in state.iterations.iter().rev().take(10).rev() {
        text.push_str(&format!(
            "- iteration {} ({}): {}; {}; {}\n",
            one.row.iteration, one.row.strategy, one.row.outcome, one.row.summary, one.reason
        ));
        if one.result != IterationResult::Improved && !one.points.is_empty() {
            text.push_str(&format!("  disproved: a change at {}\n", one.points.join(", ")));
        }
        for refusal in &one.refusals {
            text.push_str(&format!("  refused: {refusal}\n"));
        }
    }
    for refusal in state.attempt.iter().flat_map(|attempt| &attempt.refusals) {
        text.push_str(&format!("- refused in this iteration: {refusal}\n"));
    }
    if !state.patterns.is_empty() {
        let known: Vec<&str> = state.patterns.iter().take(8).map(String::as_str).collect();
        text.push_str(&format!("- kinds of edits that were kept before: {}\n", known.join(", ")));
    }
    (!text.is_empty()).then(|| part("What was tried before", text, true))
}

fn plan_text(plan: &FixPlan) -> String {
    let mut text = format!("{}\n", plan.approach);
    for cause in &plan.root_causes {
        text.push_str(&format!("- cause: {} ({})\n", cause.cause, cause.point));
    }
    for point in &plan.modification_points {
        text.push_str(&format!("- change at {point}\n"));
    }
    text.push_str(&format!("- expected: {}\n", plan.expected_outcome));
    text
}

fn part(title: &str, text: String, may_be_cut: bool) -> PromptPart {
    PromptPart { title: title.to_owned(), text, may_be_cut }
}

fn point(file: &RepoPath, start: u32, end: u32) -> ModificationPoint {
    ModificationPoint { file: file.clone(), function: String::new(), start, end }
}

fn indent(text: &str, lines: usize) -> String {
    text.lines().take(lines).map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// The merged ranges of lines, from 1, to show around some locations.
fn ranges(lines: u32, points: &[&ModificationPoint]) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = points
        .iter()
        .map(|point| {
            (point.start.saturating_sub(AROUND).max(1), point.end.saturating_add(AROUND).min(lines))
        })
        .collect();
    all.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (start, end) in all {
        match merged.last_mut() {
            Some(last) if start <= last.1 + 1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// Makes a text independent of machine and run by removing private paths and memory addresses.
/// `root` is the root of the checkout.
pub fn without_machine_paths(text: &str, root: &str) -> String {
    static ADDRESS: Pattern = Pattern::new(r"0x[0-9a-fA-F]{6,}");
    let text = text.replace(&format!("{root}/"), "").replace(root, ".");
    // The folder around the checkout also contains private files, such as test drivers.
    let around = root.rsplit_once('/').map_or("", |(around, _)| around);
    let text = if around.len() > 1 { text.replace(around, "…") } else { text };
    ADDRESS.replace_all(&text, "0x…")
}

/// A file verbatim; of a long one, only the lines around the locations.
fn around(text: &str, points: &[&ModificationPoint]) -> String {
    shown(text, points, &|_, line| line.to_owned())
}

/// As [`around`], with line numbers.
fn numbered(text: &str, points: &[&ModificationPoint]) -> String {
    shown(text, points, &|number, line| format!("{number:>5} {line}"))
}

fn shown(
    text: &str,
    points: &[&ModificationPoint],
    write: &dyn Fn(usize, &str) -> String,
) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let ranges = if lines.len() <= WHOLE { vec![(1, count)] } else { ranges(count, points) };
    let mut parts = Vec::new();
    for (start, end) in ranges {
        let from = usize::try_from(start).unwrap_or(1);
        let until = usize::try_from(end).unwrap_or(lines.len());
        parts.push(
            lines
                .iter()
                .enumerate()
                .skip(from.saturating_sub(1))
                .take((until + 1).saturating_sub(from))
                .map(|(index, line)| write(index + 1, line))
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }
    parts.join("\n[lines left out]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_shown_around_their_places() {
        let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        let file = RepoPath::parse("a.py").unwrap();
        let (a, b, c) = (point(&file, 100, 110), point(&file, 150, 150), point(&file, 900, 900));
        let shown = around(&text, &[&c, &a, &b]);
        assert!(shown.starts_with("line 40\n") && shown.ends_with("\nline 960"), "{shown}");
        assert_eq!(shown.matches("[lines left out]").count(), 1, "close places are one range");
        assert!(numbered("x\ny\n", &[]).contains("    2 y"));
    }

    #[test]
    fn machine_paths_and_addresses_are_removed() {
        let table = [
            ("at /tmp/run/checkout/shop/price.py:3", "at shop/price.py:3"),
            ("in /tmp/run/checkout", "in ."),
            ("driver /tmp/run/driver.py", "driver …/driver.py"),
            ("<Cart at 0x7f3a2b10>", "<Cart at 0x…>"),
            ("0xff is 255", "0xff is 255"),
        ];
        for (text, expected) in table {
            assert_eq!(without_machine_paths(text, "/tmp/run/checkout"), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn shown_ranges_cover_every_place_once(starts in proptest::collection::vec(1u32..2_000, 1..12)) {
            let file = RepoPath::parse("a.py").unwrap();
            let points: Vec<ModificationPoint> =
                starts.iter().map(|start| point(&file, *start, *start)).collect();
            let merged = ranges(2_000, &points.iter().collect::<Vec<_>>());
            for start in starts {
                let around = merged.iter().filter(|range| range.0 <= start && start <= range.1);
                proptest::prop_assert_eq!(around.count(), 1);
            }
            proptest::prop_assert!(merged.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
        }
    }

    #[test]
    fn a_question_is_about_the_layer_of_most_failures_and_the_stored_strategy() {
        let mut state = crate::domain::fix_loop::tests::new(95, 10);
        state.current_iteration = 3;
        let about = subject(&state);
        assert_eq!((about.task.as_str(), about.iteration, about.limit), ("IMPL-fix-3", 3, 10));
        assert_eq!((about.rate.as_str(), about.failing, about.layer), ("0", 0, Layer::Unit));
        assert_eq!(about.strategy, crate::domain::strategy::Strategy::Conservative);
        assert!(history(&state).is_none(), "nothing was tried yet");
        state.patterns = vec!["n < 1 to n <= 1".into(); 20];
        let text = history(&state).unwrap().text;
        assert_eq!(text.matches("n <= 1").count(), 8, "the list is bounded: {text}");
    }

    #[test]
    fn a_plan_names_causes_places_and_what_is_expected() {
        let file = RepoPath::parse("a.py").unwrap();
        let place = ModificationPoint { function: "price".into(), ..point(&file, 3, 4) };
        let plan = FixPlan {
            author: "one".into(),
            approach: "round up".into(),
            root_causes: vec![crate::domain::fix_plan::RootCause {
                tests: Vec::new(),
                cause: "it rounds down".into(),
                point: place.clone(),
            }],
            modification_points: vec![place],
            affected_tests: Vec::new(),
            confidence: 0.9,
            expected_outcome: "t passes".into(),
            verification_steps: Vec::new(),
            impact: String::new(),
            report: String::new(),
        };
        let text = plan_text(&plan);
        for part in
            ["round up\n", "- cause: it rounds down (a.py:price:3-4)", "- expected: t passes"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_message_is_indented_and_cut_by_lines() {
        let table = [("a\nb\nc", 2, "  a\n  b"), ("", 3, ""), ("a", 0, "")];
        for (text, lines, expected) in table {
            assert_eq!(indent(text, lines), expected);
        }
    }
}
