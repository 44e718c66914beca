//! [`Context`]: the excerpts of the repository in a prompt: failing tests, code on their stacks,
//! suspects, outlines of imports, the change since the base, and earlier attempts.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::language::Language;
use crate::code::{edit_blocks, test_paths};
use crate::domain::assertion::assertion;
use crate::domain::budget::BYTES_PER_TOKEN;
use crate::domain::fix_loop::FixLoop;
use crate::domain::fix_plan::{FixPlan, ModificationPoint};
use crate::domain::guard::EditScope;
use crate::domain::id::RepoPath;
use crate::domain::source_text;
use crate::domain::test::TestCase;
use crate::domain::text::bounded;
use crate::effect::{Effects, FileDiff, GitError};

use super::attempt_history::attempt_history;
use super::excerpt::{self, WIDTHS, Width};
use super::prompt::{PromptPart, Section, Subject};
use super::prompt_budget::cut;

/// Maximum number of failures shown in full; others are shown by their first line.
const IN_FULL: usize = 12;

/// Maximum number of files that are shown by their outline.
const OUTLINES: usize = 40;

/// How much of a test file is shown.
const TEST_WIDTH: Width = Width { whole: 200, around: 25 };

/// A source of at most this many lines is shown as a whole, in the widest excerpt.
const SHOWN_WHOLE: usize = WIDTHS[0].whole;

/// Maximum number of stack frames whose lines the fixer sees, besides those of planned files.
const FRAMES: usize = 8;

/// Number of lines shown before and after such a frame.
const NEAR: u32 = 4;

/// Maximum number of lines quoted for one location of a plan.
const IN_PLAN: usize = 20;

/// Maximum number of characters of the reasoning that the fixer sees.
const REASONING: usize = 2_000;

/// Maximum number of causes and of places of a plan that the fixer sees.
const CAUSES: usize = 6;
const PLACES: usize = 10;

/// Maximum number of characters of one sentence of a plan.
const SENTENCE: usize = 500;

/// Maximum number of bytes of a refused change, and of the reasons for that, that the fixer sees.
const REFUSED_CHANGE: usize = 6_000;
const REFUSALS: usize = 4_000;

/// Everything a prompt may show of the repository, read once per iteration.
#[derive(Default)]
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
                let lossy = String::from_utf8_lossy(&bytes).into_owned();
                let text = source_text::decode(&file, bytes).unwrap_or(lossy);
                texts.insert(file, text);
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

    /// A context with these texts, for tests.
    #[cfg(test)]
    pub fn sample(state: &FixLoop, files: &[(&str, &str)], root: &str) -> Self {
        let texts =
            files.iter().map(|(file, text)| (RepoPath::parse(*file).unwrap(), (*text).to_owned()));
        Self {
            texts: texts.collect(),
            failing: state.ledger.failing_cases().cloned().collect(),
            root: root.to_owned(),
            ..Self::default()
        }
    }

    /// The parts of the analyst's prompt, which has `room` tokens.
    pub fn for_analyst(&self, state: &FixLoop, room: u32) -> Vec<PromptPart> {
        let scope = state.edit_scope();
        let mut parts = self.sources(room, scope);
        parts.extend(self.tests(scope));
        parts.extend(self.failures());
        parts.extend(self.changes());
        parts.extend(self.history(state));
        parts.extend(self.outlines());
        parts
    }

    /// The parts of the fixer's prompt of `room` tokens, with `problems` of the plan's change.
    pub fn for_fixer(
        &self,
        state: &FixLoop,
        plan: &FixPlan,
        problems: &[String],
        room: u32,
    ) -> Vec<PromptPart> {
        let scope = state.edit_scope();
        let plan_part = part(Section::Plan, "The plan", self.plan_text(plan, problems), true);
        let mut parts = vec![plan_part];
        let files: BTreeSet<&RepoPath> =
            plan.modification_points.iter().map(|point| &point.file).collect();
        let each = bytes_each(room, files.len());
        for file in &files {
            let Some(text) = self.texts.get(*file) else { continue };
            let points: Vec<&ModificationPoint> =
                plan.modification_points.iter().filter(|point| point.file == **file).collect();
            // SEARCH must be a verbatim copy, so the code is shown without line numbers.
            let shown = fitting(each, |width| excerpt::around(text, &points, width));
            let title = format!("The source {file}{}", read_only(file, text, scope));
            parts.push(part(Section::Sources, &title, shown, true));
        }
        parts.extend(self.frames(&files));
        parts.extend(self.tests(scope));
        parts.extend(self.failures());
        parts.extend(self.history(state));
        parts
    }

    /// The lines on the stacks of failing tests in files that no plan names.
    fn frames(&self, planned: &BTreeSet<&RepoPath>) -> Option<PromptPart> {
        let frames = self.frame_points();
        let mut seen = BTreeSet::new();
        let text: String = frames
            .iter()
            .filter(|frame| {
                !planned.contains(&frame.file) && seen.insert((&frame.file, frame.start))
            })
            .take(FRAMES)
            .filter_map(|frame| {
                let text = self.texts.get(&frame.file)?;
                let first = frame.start.saturating_sub(NEAR).max(1);
                let lines = excerpt::lines(text, first, frame.start + NEAR, IN_PLAN);
                Some(format!("{}\n{lines}", frame.file))
            })
            .collect();
        let title = "Other lines on the stacks of failing tests";
        (!text.is_empty()).then(|| part(Section::Sources, title, text, true))
    }

    /// The plan with the lines it names, and what was wrong with the change that came with it.
    fn plan_text(&self, plan: &FixPlan, problems: &[String]) -> String {
        let sentence = |text: &str| bounded(text, SENTENCE);
        // What was refused goes first: the end of a long plan may be cut off.
        let mut text = format!("{}\n", sentence(&plan.approach));
        if !problems.is_empty() {
            text.push_str("\nThis change was written with the plan and is refused:\n");
            let change: String = plan.edits.iter().map(edit_blocks::block).collect();
            text.push_str(&first_lines(&change, REFUSED_CHANGE));
            let problems: String = problems.iter().map(|one| format!("- {one}\n")).collect();
            text.push_str(&first_lines(&problems, REFUSALS));
            text.push('\n');
        }
        for cause in plan.root_causes.iter().take(CAUSES) {
            text.push_str(&format!("- cause: {} ({})\n", sentence(&cause.cause), cause.point));
        }
        for point in plan.modification_points.iter().take(PLACES) {
            text.push_str(&format!("- change at {point}\n"));
            if let Some(source) = self.texts.get(&point.file) {
                text.push_str(&excerpt::lines(source, point.start, point.end, IN_PLAN));
            }
        }
        let more = plan.modification_points.len().saturating_sub(PLACES);
        if more > 0 {
            text.push_str(&format!("- and at {more} more places\n"));
        }
        text.push_str(&format!("- expected: {}\n", sentence(&plan.expected_outcome)));
        if !plan.report.is_empty() {
            let report = bounded(&plan.report, REASONING);
            text.push_str(&format!("- reasoning:\n{}\n", excerpt::ends(&report, 40)));
        }
        text
    }

    /// What was tried before.
    fn history(&self, state: &FixLoop) -> Option<PromptPart> {
        let text = self.plain(&attempt_history(state, &self.root));
        (!text.is_empty()).then(|| part(Section::History, "What was tried before", text, true))
    }

    /// The current text of a file that was read.
    pub fn text(&self, file: &RepoPath) -> Option<&str> {
        self.texts.get(file).map(String::as_str)
    }

    fn failures(&self) -> Option<PromptPart> {
        let mut text = String::new();
        for (index, case) in self.failing.iter().enumerate() {
            text.push_str(&format!("- {}", case.id));
            if index >= IN_FULL {
                text.push_str(&format!(": {}\n", self.plain(&assertion(case))));
                continue;
            }
            let failure = case.failure.clone().unwrap_or_default();
            let stack = excerpt::frames_inside(&failure.stack, &self.root);
            // Most stacks end with the message.
            let is_told = failure.message.lines().all(|line| stack.contains(line.trim()));
            if !is_told {
                text.push_str(&format!("\n{}", self.plain(&excerpt::ends(&failure.message, 40))));
            }
            text.push_str(&format!("\n{}\n", self.plain(&excerpt::ends(stack.trim_end(), 60))));
        }
        let title = "Failing tests and what they said";
        (!text.is_empty()).then(|| part(Section::Failures, title, text, true))
    }

    fn plain(&self, text: &str) -> String {
        excerpt::without_machine_paths(text, &self.root)
    }

    /// The source of the failing tests; of long files, the head and the tests.
    fn tests(&self, scope: EditScope) -> Vec<PromptPart> {
        let mut by_file: BTreeMap<&RepoPath, Vec<ModificationPoint>> = BTreeMap::new();
        for case in self.failing.iter().take(IN_FULL * 2) {
            if let Some(file) = &case.file {
                let line = case.line.unwrap_or(1);
                by_file
                    .entry(file)
                    .or_insert_with(|| vec![point(file, 1, 1)])
                    .push(point(file, line, line));
            }
        }
        by_file
            .into_iter()
            .filter_map(|(file, points)| {
                let text = self.texts.get(file)?;
                let points: Vec<&ModificationPoint> = points.iter().collect();
                let shown = excerpt::around(text, &points, TEST_WIDTH);
                let title = format!("The test file {file}{}", read_only(file, text, scope));
                Some(part(Section::Tests, &title, shown, true))
            })
            .collect()
    }

    /// The frames of failing tests in product code.
    fn frame_points(&self) -> Vec<ModificationPoint> {
        let failures = self.failing.iter().filter_map(|case| case.failure.as_ref());
        failures
            .flat_map(|failure| &failure.frames)
            .filter(|frame| !test_paths::is_test(&frame.file))
            .map(|frame| point(&frame.file, frame.line, frame.line))
            .collect()
    }

    /// The locations to look at, by file: stack frames, then suspects.
    fn suspicious(&self) -> Vec<(&RepoPath, Vec<ModificationPoint>)> {
        let mut files: Vec<(&RepoPath, Vec<ModificationPoint>)> = Vec::new();
        for point in self.frame_points().into_iter().chain(self.suspects.iter().cloned()) {
            let Some((file, _)) = self.texts.get_key_value(&point.file) else { continue };
            match files.iter_mut().find(|(known, _)| *known == file) {
                Some((_, points)) => points.push(point),
                None => files.push((file, vec![point])),
            }
        }
        files
    }

    /// The code at stack frames and at suspicious locations.
    fn sources(&self, room: u32, scope: EditScope) -> Vec<PromptPart> {
        let files = self.suspicious();
        let each = bytes_each(room, files.len());
        files
            .into_iter()
            .filter_map(|(file, points)| {
                let text = self.texts.get(file)?;
                let ranges: Vec<String> = points
                    .iter()
                    .take(8)
                    .map(|point| format!("{}:{}-{}", point.function, point.start, point.end))
                    .collect();
                let points: Vec<&ModificationPoint> = points.iter().collect();
                let shown = fitting(each, |width| excerpt::numbered(text, &points, width));
                let (note, ranges) = (read_only(file, text, scope), ranges.join(", "));
                let title = format!("The source {file}{note}, suspicious at {ranges}");
                Some(part(Section::Sources, &title, shown, true))
            })
            .collect()
    }

    /// Outlines of imported files that are not shown as a whole.
    fn outlines(&self) -> Option<PromptPart> {
        let suspicious = self.suspicious();
        let is_shown = |file: &RepoPath, text: &str| {
            suspicious.iter().any(|(known, _)| *known == file)
                && text.lines().count() <= SHOWN_WHOLE
        };
        let mut text = String::new();
        for file in self.related.iter().take(OUTLINES) {
            let (Some(source), Some(language)) = (self.texts.get(file), Language::of(file)) else {
                continue;
            };
            let outline = excerpt::outline(language, source);
            if !outline.is_empty() && !is_shown(file, source) {
                text.push_str(&format!("{file}\n{outline}"));
            }
        }
        let title = "Outlines of what the tests import";
        (!text.is_empty()).then(|| part(Section::Outlines, title, text, true))
    }

    fn changes(&self) -> Option<PromptPart> {
        let text: String = self
            .base_diff
            .iter()
            .filter(|diff| !test_paths::is_test(&diff.file))
            .map(|diff| diff.patch.clone())
            .collect();
        let title = "The change since the base, the first suspect";
        (!text.is_empty()).then(|| part(Section::Changes, title, text, true))
    }
}

/// The note in the title of a file that says what of it the guards do not let change.
fn read_only(file: &RepoPath, text: &str, scope: EditScope) -> &'static str {
    let has_tests = Language::of(file) == Some(Language::Rust) && text.contains("#[cfg(test)]");
    match (scope, test_paths::is_test(file)) {
        (EditScope::Code, true) | (EditScope::Tests, false) => " (read only)",
        (EditScope::Code, false) if has_tests => " (its tests are read only)",
        (EditScope::Code, false) | (EditScope::Tests, true) | (EditScope::Either, _) => "",
    }
}

fn first_lines(text: &str, bytes: usize) -> String {
    let beginning = cut(text, bytes);
    if beginning.len() == text.len() {
        return text.to_owned();
    }
    let end = beginning.rfind('\n').map_or(0, |at| at + 1);
    format!("{}[the rest is left out]\n", cut(beginning, end))
}

/// The bytes that each of several sources may have: two thirds of the room together.
fn bytes_each(room: u32, sources: usize) -> usize {
    let room = usize::try_from(room).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
    room / 3 * 2 / sources.max(1)
}

/// The widest excerpt that has at most so many bytes, else the narrowest.
fn fitting(bytes: usize, write: impl Fn(Width) -> String) -> String {
    let mut excerpt = String::new();
    for width in WIDTHS {
        excerpt = write(width);
        if excerpt.len() <= bytes {
            break;
        }
    }
    excerpt
}

/// The facts about the current iteration that a prompt states.
pub fn subject(state: &FixLoop) -> Subject {
    let rate = state.ledger.rate();
    Subject {
        task: format!("IMPL-fix-{}", state.current_iteration),
        failing: state.failing().len(),
        total: rate.map_or(0, |rate| usize::try_from(rate.total).unwrap_or_default()),
        rate: rate.map_or_else(|| "0".to_owned(), |rate| rate.to_string()),
        target: state.terms.target,
        reach: state.edit_scope(),
        strategy: state
            .selected_strategy
            .unwrap_or(crate::domain::strategy::Strategy::Conservative),
        layer: state.main_layer(),
    }
}

fn part(section: Section, title: &str, text: String, may_be_cut: bool) -> PromptPart {
    PromptPart { section, ..PromptPart::new(title, text, may_be_cut) }
}

fn point(file: &RepoPath, start: u32, end: u32) -> ModificationPoint {
    ModificationPoint { file: file.clone(), function: String::new(), start, end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fix_plan::RootCause;

    #[test]
    fn a_question_is_about_the_layer_of_most_failures_and_the_stored_strategy() {
        let mut state = crate::domain::fix_loop::tests::new(95, 10);
        state.current_iteration = 3;
        let about = subject(&state);
        assert_eq!(about.task, "IMPL-fix-3");
        assert_eq!(
            (about.rate.as_str(), about.failing, about.layer),
            ("0", 0, crate::domain::test::Layer::Unit)
        );
        assert_eq!(about.strategy, crate::domain::strategy::Strategy::Conservative);
    }

    #[test]
    fn a_plan_names_causes_places_and_what_is_expected() {
        let file = RepoPath::parse("a.py").unwrap();
        let place = ModificationPoint { function: "price".into(), ..point(&file, 3, 4) };
        let plan = FixPlan {
            author: "one".into(),
            approach: "round up".into(),
            root_causes: vec![RootCause {
                tests: Vec::new(),
                cause: "it rounds down".into(),
                point: place.clone(),
            }],
            modification_points: vec![place],
            files: Vec::new(),
            affected_tests: Vec::new(),
            confidence: 0.9,
            expected_outcome: "t passes".into(),
            verification_steps: Vec::new(),
            impact: String::new(),
            report: String::new(),
            edits: vec![crate::domain::proposal::SearchReplace {
                file: "a.py".into(),
                search: "    return 1\n".into(),
                replace: "    return 2\n".into(),
            }],
        };
        let context = Context {
            texts: [(file, "a\nb\ndef price():\n    return 1\ne\n".to_owned())].into(),
            ..Context::default()
        };
        let text = context.plan_text(&plan, &["the guards say no".into()]);
        for part in [
            "round up\n",
            "- cause: it rounds down (a.py:price:3-4)",
            "- change at a.py:price:3-4\n   3| def price():\n   4|     return 1\n- expected: t passes",
            "is refused:\na.py\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n- the guards say no",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!context.plan_text(&plan, &[]).contains("refused"));

        let long = || "x y\n".repeat(9_000);
        let point = plan.modification_points[0].clone();
        let huge = FixPlan {
            approach: long(),
            root_causes: vec![RootCause { cause: long(), ..plan.root_causes[0].clone() }; 50],
            modification_points: vec![point; 50],
            files: Vec::new(),
            expected_outcome: long(),
            report: long(),
            edits: vec![plan.edits[0].clone(); 2_000],
            ..plan
        };
        let text = context.plan_text(&huge, &[long(), long()]);
        assert!(text.len() < 24_000, "{}", text.len());
        assert!(text.contains("- and at 40 more places\n"), "{text}");
        let part = part(Section::Plan, "The plan", text, true);
        let source =
            PromptPart { section: Section::Sources, ..PromptPart::new("a.py", long(), true) };
        let fitted = super::super::prompt_budget::fit(&[part, source], 12_000, "FENCE");
        let titles =
            |list: &[PromptPart]| list.iter().map(|one| one.title.clone()).collect::<Vec<_>>();
        assert_eq!(
            (titles(&fitted.stable), titles(&fitted.recent)),
            (vec!["a.py".to_owned()], vec!["The plan".to_owned()])
        );
        assert!(fitted.stable[0].text.len() > 3_000, "a long plan leaves room for the source");
    }

    #[test]
    fn a_file_is_called_read_only_where_the_guards_refuse_its_change() {
        use crate::domain::proposal::FileEdit;
        for path in ["shop/a.py", "tests/test_a.py"] {
            let file = RepoPath::parse(path).unwrap();
            let (before, after) = (Some("x = 1\n".to_owned()), Some("x = 2\n".to_owned()));
            let edit = FileEdit { file: file.clone(), before, after };
            for scope in [EditScope::Code, EditScope::Either, EditScope::Tests] {
                let tests = crate::role::test_files::TestFiles::default();
                let is_refused = !crate::role::vet::content(&edit, &tests, scope).is_empty();
                let note = read_only(&file, "x = 1\n", scope);
                assert_eq!(note == " (read only)", is_refused, "{path} {scope:?}");
            }
        }
        let (file, text) = (RepoPath::parse("src/a.rs").unwrap(), "#[cfg(test)]\nmod tests {}\n");
        assert_eq!(read_only(&file, text, EditScope::Code), " (its tests are read only)");
        assert_eq!(read_only(&file, text, EditScope::Tests), " (read only)");
    }
}
