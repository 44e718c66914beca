//! Gaps to new tests: pins today's behaviour of functions, runs each new test at once, and keeps
//! what holds and adds something. Asks nobody.

mod draft;
mod places;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::code::language::Language;
use crate::code::signature::{self, Callable};
use crate::domain::event::Event;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::pin::{Coverage, Dropped, PinReport, PinnedFile, PinnedFunction};
use crate::domain::proposal::EditSet;
use crate::effect::{Effects, Lines, Observer, Speed, Trace, Trial, TrialRequest};
use crate::repair::{self, FileTask, Framework, Limits, Pinned, RepairError, Scoring, Site, Split};

use super::WorkError;
pub use draft::whole_file;
pub use places::{entered, functions_at, suspects};
pub use verify::{is_fatal, packages};

use draft::Sheet;

/// Limit of one call of a function.
const CALL: Duration = Duration::from_secs(1);

/// Mutants of one judgement when tests run in a warm process.
const WARM_MUTANTS: u32 = 3_000;

/// Mutants of one judgement when each costs a cold start.
const COLD_MUTANTS: u32 = 40;

/// Bytes of a source that is looked at; longer ones are generated or bundled.
const SOURCE: usize = 300_000;

/// Sources that are searched for calls to learn from.
const SEARCHED: usize = 1_500;

/// Wall time of the judgement that chooses between calls; choosing is worth less than measuring.
const CHOOSING: Duration = Duration::from_secs(90);

/// Attempts to write a file whose tests hold (product.md 4.7).
const ATTEMPTS: usize = 3;

/// Code without tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The file.
    pub file: RepoPath,
    /// Functions of it, methods with or without their class; empty means all.
    pub functions: Vec<String>,
}

/// What tests are asked for.
#[derive(Clone, Debug)]
pub struct GenerateRequest<'a> {
    /// The sources.
    pub tree: &'a TreeId,
    /// What to write tests for.
    pub gaps: &'a [Gap],
    /// Tests that pass on these sources, to measure what they reach; may be empty.
    pub before: &'a [TestId],
    /// Share of mutants that tests should notice, in percent.
    pub threshold: u32,
    /// Processes at the same time.
    pub jobs: usize,
    /// Wall time of judging the kept tests by mutants.
    pub time: Duration,
    /// Functions that are not called, with the reason.
    pub held: &'a BTreeMap<Place, String>,
    /// Functions that are searched further, because tests have missed something in them.
    pub deeper: &'a BTreeSet<Place>,
}

/// A function: its file, and its name with its class before a dot.
pub type Place = (RepoPath, String);

/// Tests that hold.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The new files; empty when nothing was kept.
    pub edits: EditSet,
    /// The sources with them.
    pub tree: TreeId,
    /// What was found, kept and dropped, and why.
    pub report: PinReport,
    /// Lines of the files in the gaps that the new tests execute; empty where nothing tells.
    pub reached: Lines,
}

/// Writes tests that pin today's behaviour of the functions in the gaps, and measures them.
///
/// Leaves the checkout with the kept files in place. Repeatable: the same sources give the same
/// tests, as far as time limits allow.
///
/// # Errors
///
/// When sources cannot be read or tests cannot be run at all. A function that cannot be pinned, and
/// a test that does not hold, are in the report.
pub async fn generate(
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    fx: &Effects<'_>,
) -> Result<Generated, WorkError> {
    let began = fx.clock.elapsed();
    let mut made = pin(request, observer, fx).await?;
    if !made.edits.files.is_empty() {
        let subjects: Vec<RepoPath> = request.gaps.iter().map(|gap| gap.file.clone()).collect();
        made.reached = measure(&made.tree, &subjects, request, fx, &mut made.report).await?;
    }
    made.report.seconds = fx.clock.elapsed().saturating_sub(began).as_secs_f64();
    Ok(made)
}

/// The same without measuring what the tests reach and notice.
///
/// # Errors
///
/// Those of [`generate`].
pub async fn pin(
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    fx: &Effects<'_>,
) -> Result<Generated, WorkError> {
    fx.worktree.checkout(request.tree).await?;
    let mut report = PinReport {
        schema_version: 1,
        framework: fx.suite.facts().framework.clone(),
        ..PinReport::default()
    };
    step(fx, "calling functions to see what they do");
    let mut sheets = observe(request, observer, fx, &mut report).await?;
    if !sheets.is_empty() {
        step(fx, "running each call as a test of its own");
        verify::probe(&mut sheets, request, fx, &mut report).await?;
        step(fx, "choosing the calls that notice broken code");
        minimise(&mut sheets, request, fx).await?;
        step(fx, "running the tests alone, turned round, and three times");
        verify::accept(&mut sheets, request, fx, &mut report).await?;
    }
    let edits = draft::edits(&sheets);
    let tree = fx.worktree.graft(request.tree, &edits).await?;
    fx.worktree.checkout(&tree).await?;
    fill(&sheets, &mut report);
    Ok(Generated { edits, tree, report, reached: Lines::new() })
}

fn step(fx: &Effects<'_>, doing: &str) {
    fx.screen.show(&Event::Step { iteration: 0, doing: doing.to_owned() });
}

/// Calls the functions of all gaps.
async fn observe(
    request: &GenerateRequest<'_>,
    observer: &dyn Observer,
    fx: &Effects<'_>,
    report: &mut PinReport,
) -> Result<Vec<Sheet>, WorkError> {
    let files: BTreeSet<RepoPath> = fx.worktree.files(request.tree).await?.into_iter().collect();
    let facts = fx.suite.facts();
    let Some(framework) = Framework::named(&facts.framework) else {
        report.dropped.push(Dropped {
            reason: format!("tests for {} cannot be written yet", facts.framework),
            count: 1,
        });
        return Ok(Vec::new());
    };
    let read = async |file: &RepoPath| -> Result<Option<String>, WorkError> {
        let bytes = fx.worktree.read(request.tree, file).await?;
        let bytes = bytes.filter(|bytes| bytes.len() <= SOURCE);
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    };
    let package = if facts.directory.is_empty() {
        "package.json".to_owned()
    } else {
        format!("{}/package.json", facts.directory)
    };
    let package = match RepoPath::parse(package) {
        Ok(package) => read(&package).await?,
        Err(_) => None,
    };
    let modules = package
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .is_some_and(|package| package["type"] == "module");
    let site = Site { framework, directory: &facts.directory, files: &files, modules };
    let mut found: Vec<(Gap, String, Vec<Callable>)> = Vec::new();
    for gap in request.gaps {
        let (Some(language), Some(text)) = (Language::of(&gap.file), read(&gap.file).await?) else {
            continue;
        };
        let mut callables = signature::callables(language, &text);
        callables.retain(|one| {
            let short = one.name.rsplit('.').next().unwrap_or_default();
            gap.functions.is_empty()
                || gap.functions.iter().any(|name| *name == one.name || name == short)
        });
        let foreign = obstacle_of(language, framework);
        for callable in &mut callables {
            let held = request.held.get(&(gap.file.clone(), callable.name.clone()));
            let held = held.cloned().or_else(|| callable.obstacle.take());
            callable.obstacle = foreign.map(str::to_owned).or(held);
        }
        found.push((gap.clone(), text, callables));
    }
    let names: BTreeSet<String> = found
        .iter()
        .flat_map(|(_, _, callables)| callables)
        .map(|one| one.name.rsplit('.').next().unwrap_or_default().to_owned())
        .collect();
    let mut examples: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    let searched = files.iter().filter(|file| {
        Language::of(file)
            .is_some_and(|language| framework.is_python() == (language == Language::Python))
    });
    for file in searched.take(SEARCHED) {
        if let (Some(language), Some(text)) = (Language::of(file), read(file).await?) {
            for (name, calls) in signature::calls(language, &text, &names) {
                examples.entry(name).or_default().extend(calls);
            }
        }
    }
    let mut sheets: Vec<Sheet> = Vec::new();
    let mut taken = BTreeSet::new();
    let total = found.len() as u64;
    for (done, (gap, text, callables)) in (1_u64..).zip(found) {
        let Some(language) = Language::of(&gap.file) else { continue };
        let deeper: BTreeSet<String> = request
            .deeper
            .iter()
            .filter(|(file, _)| *file == gap.file)
            .map(|(_, name)| name.clone())
            .collect();
        let task = FileTask {
            root: fx.worktree.root(),
            file: &gap.file,
            language,
            module: &repair::module_of(&gap.file, &facts.directory),
            callables: &callables,
            examples: &examples,
            limit: CALL,
            deeper: &deeper,
        };
        let pinned = repair::characterise(observer, &task).await?;
        for one in &pinned {
            report.functions.push(function(&gap.file, one));
        }
        if let Some((path, naming)) = repair::place(&site, &gap.file, &text, &taken)
            && pinned.iter().any(|one| !one.cases.is_empty())
        {
            taken.insert(path.clone());
            sheets.push(Sheet::new(path, gap.file.clone(), naming, pinned));
        }
        let unit = "files".to_owned();
        fx.screen.show(&Event::Progress { done, total: Some(total), unit });
    }
    Ok(sheets)
}

/// Why functions of a language cannot be pinned under a framework.
fn obstacle_of(language: Language, framework: Framework) -> Option<&'static str> {
    match language {
        Language::Python if framework.is_python() => None,
        Language::JavaScript if !framework.is_python() => None,
        Language::TypeScript | Language::Tsx => Some("TypeScript is not called here yet"),
        _ => Some("the detected test framework is one of another language"),
    }
}

fn function(file: &RepoPath, one: &Pinned) -> PinnedFunction {
    PinnedFunction {
        file: file.clone(),
        name: one.callable.name.clone(),
        line: one.callable.start,
        tried: one.tried,
        kept: 0,
        dropped: one
            .dropped
            .iter()
            .map(|(reason, count)| Dropped { reason: reason.clone(), count: *count })
            .collect(),
    }
}

fn limits(trial: &dyn Trial, time: Duration) -> Limits {
    let candidates = match trial.speed() {
        Speed::Warm => WARM_MUTANTS,
        Speed::Cold => COLD_MUTANTS,
    };
    Limits { candidates, time }
}

async fn trial(
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
) -> Result<Box<dyn Trial>, WorkError> {
    let request = TrialRequest { root: fx.worktree.root(), failing: &[], jobs: request.jobs };
    Ok(fx.suite.trial(&request).await?)
}

/// Keeps the fewest calls that reach and notice what all of them do.
async fn minimise(
    sheets: &mut [Sheet],
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
) -> Result<(), WorkError> {
    let trial = trial(request, fx).await?;
    let traces: Vec<Trace> = sheets.iter().flat_map(Sheet::traces).collect();
    let tests: Vec<TestId> = traces.iter().map(|trace| trace.test.clone()).collect();
    let files: Vec<RepoPath> = sheets.iter().map(|sheet| sheet.subject.clone()).collect();
    let draft = fx.worktree.graft(request.tree, &draft::edits(sheets)).await?;
    let scored = repair::score(&Scoring {
        worktree: fx.worktree,
        tree: &draft,
        trial: trial.as_ref(),
        clock: fx.clock,
        files: &files,
        within: None,
        tests: &tests,
        known: Some(&traces),
        limits: limits(trial.as_ref(), request.time.min(CHOOSING)),
        threshold: request.threshold,
        jobs: request.jobs,
        all_tests: true,
        progress: &progress(fx),
    })
    .await?;
    let mut notices: BTreeMap<TestId, BTreeSet<usize>> = BTreeMap::new();
    for (mutant, tests) in scored.noticed_by.into_iter().enumerate() {
        for test in tests {
            notices.entry(test).or_default().insert(mutant);
        }
    }
    for sheet in sheets {
        sheet.keep_telling(&notices);
        sheet.write(Split::Grouped);
    }
    Ok(())
}

fn progress<'a>(fx: &'a Effects<'_>) -> impl Fn(u64, u64) + Sync + 'a {
    |done, total| {
        let unit = "mutants".to_owned();
        fx.screen.show(&Event::Progress { done, total: Some(total), unit });
    }
}

/// Breaks `files` of `tree` to see what the kept tests of a report notice, and notes what is
/// reached before and after. Answers with the lines of the files that the kept tests execute.
///
/// # Errors
///
/// When sources cannot be read or tests not be run.
pub async fn measure(
    tree: &TreeId,
    files: &[RepoPath],
    request: &GenerateRequest<'_>,
    fx: &Effects<'_>,
    report: &mut PinReport,
) -> Result<Lines, WorkError> {
    step(fx, "breaking the code to see what the tests notice");
    fx.worktree.checkout(tree).await?;
    let trial = trial(request, fx).await?;
    let kept = report.files.iter().flat_map(|file| &file.tests);
    let tests: Vec<TestId> = kept.cloned().collect();
    let before =
        if request.before.is_empty() { Vec::new() } else { trial.trace(request.before).await? };
    let scored = repair::score(&Scoring {
        worktree: fx.worktree,
        tree,
        trial: trial.as_ref(),
        clock: fx.clock,
        files,
        within: None,
        tests: &tests,
        known: None,
        limits: limits(trial.as_ref(), request.time),
        threshold: request.threshold,
        jobs: request.jobs,
        all_tests: false,
        progress: &progress(fx),
    })
    .await?;
    let mut reached = Lines::new();
    for (file, lines) in scored.traces.iter().flat_map(|trace| &trace.lines) {
        if files.contains(file) {
            reached.entry(file.clone()).or_default().extend(lines);
        }
    }
    for lines in reached.values_mut() {
        lines.sort_unstable();
        lines.dedup();
    }
    let after: Vec<Trace> = before.iter().cloned().chain(scored.traces).collect();
    let coverage = async |traces: &[Trace]| -> Result<Coverage, RepairError> {
        let (covered, lines) = repair::reach(fx.worktree, tree, files, traces).await?;
        Ok(Coverage { covered, lines })
    };
    report.before = coverage(&before).await?;
    report.after = coverage(&after).await?;
    report.score = Some(scored.score);
    Ok(reached)
}

/// Counts what was kept.
fn fill(sheets: &[Sheet], report: &mut PinReport) {
    for sheet in sheets.iter().filter(|sheet| !sheet.ids.is_empty()) {
        let kept = sheet.kept();
        for (name, count) in &kept {
            let of_file = report.functions.iter_mut().filter(|one| one.file == sheet.subject);
            for one in of_file.filter(|one| one.name == *name) {
                one.kept = *count;
            }
        }
        report.files.push(PinnedFile {
            file: sheet.path.clone(),
            subject: sheet.subject.clone(),
            tests: sheet.ids.values().cloned().collect(),
            assertions: kept.values().sum(),
        });
    }
}
