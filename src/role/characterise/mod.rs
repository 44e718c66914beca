//! Gaps to new tests: pins today's behaviour of functions, runs each new test at once, and keeps
//! what holds and adds something. Asks nobody.

mod draft;
mod gauge;
mod places;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::code::language::Language;
use crate::code::signature::{self, Callable};
use crate::domain::characterisation::{Dropped, PinReport, PinnedFile, PinnedFunction};
use crate::domain::event::Event;
use crate::domain::id::{RepoPath, TestId, TreeId};
use crate::domain::proposal::EditSet;
use crate::effect::{EffectError, Effects, Lines, Observer};
use crate::repair::{self, FileTask, Framework, Pinned, Site};

pub use draft::whole_file;
pub use gauge::measure;
pub use places::{entered, suspects};
pub use verify::{is_fatal, packages};

use draft::Sheet;
use gauge::{minimise, trial};

/// Limit of one call of a function.
const CALL: Duration = Duration::from_secs(1);

/// Bytes of a source that is looked at; longer ones are generated or bundled.
const SOURCE: usize = 300_000;

/// Sources that are searched for calls to learn from.
const SEARCHED: usize = 1_500;

/// What a measurement has at least, however late it is: a score of a few mutants tells more than
/// none.
const LEAST: Duration = Duration::from_secs(15);

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
    /// When it should be over, on the clock of the effects. What is not done by then is left out,
    /// and the report says so.
    pub until: Duration,
    /// Functions that are not called, with the reason.
    pub held: &'a BTreeMap<Place, String>,
    /// Lines where tests have missed something: functions that run them are searched further.
    pub missed: &'a Missed,
}

/// Lines by file where tests have missed something.
pub type Missed = BTreeMap<RepoPath, BTreeSet<u32>>;

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
) -> Result<Generated, EffectError> {
    let began = fx.clock.elapsed();
    let mut made = pin(request, observer, fx).await?;
    if !made.edits.files.is_empty() {
        let subjects: Vec<RepoPath> = request.gaps.iter().map(|gap| gap.file.clone()).collect();
        made.reached = measure(&made.tree, &subjects, request, fx, &mut made.report).await?;
    }
    made.report.seconds = fx.clock.elapsed().saturating_sub(began).as_secs_f64();
    Ok(made)
}

/// When the calls and the choice between them end, so that there is time left to measure: after
/// three and five tenths of what is left.
fn stages(now: Duration, until: Duration) -> (Duration, Duration) {
    let left = until.saturating_sub(now);
    (now + left * 3 / 10, now + left / 2)
}

/// How long a measurement may take that should be over at `until`.
pub fn left(now: Duration, until: Duration) -> Duration {
    until.saturating_sub(now).max(LEAST)
}

/// Notes what a time limit left out.
fn unfinished(report: &mut PinReport, what: String) {
    if !report.unfinished.contains(&what) {
        report.unfinished.push(what);
    }
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
) -> Result<Generated, EffectError> {
    fx.worktree.checkout(request.tree).await?;
    let (calls_end, choice_ends) = stages(fx.clock.elapsed(), request.until);
    let mut report = PinReport {
        schema_version: 1,
        framework: fx.suite.facts().framework.clone(),
        ..PinReport::default()
    };
    step(fx, "calling functions to see what they do");
    let mut sheets = observe(request, observer, calls_end, fx, &mut report).await?;
    if !sheets.is_empty() {
        step(fx, "running each call as a test of its own");
        verify::probe(&mut sheets, request, fx, &mut report).await?;
        step(fx, "choosing the calls that notice broken code");
        minimise(&mut sheets, request, choice_ends, fx, &mut report).await?;
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
    ends: Duration,
    fx: &Effects<'_>,
    report: &mut PinReport,
) -> Result<Vec<Sheet>, EffectError> {
    let files: BTreeSet<RepoPath> = fx.worktree.files(request.tree).await?.into_iter().collect();
    let facts = fx.suite.facts();
    let Some(framework) = Framework::named(&facts.framework) else {
        report.dropped.push(Dropped {
            reason: format!("tests for {} cannot be written yet", facts.framework),
            count: 1,
        });
        return Ok(Vec::new());
    };
    let read = async |file: &RepoPath| -> Result<Option<String>, EffectError> {
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
        let foreign = obstacle_of(language, framework, &facts.version);
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
    let total = found.len();
    let made = AtomicU64::new(0);
    let began = fx.clock.elapsed();
    for (done, (gap, text, callables)) in found.into_iter().enumerate() {
        let Some(language) = Language::of(&gap.file) else { continue };
        let none = BTreeSet::new();
        // Each file has its part, so that the last one is called too.
        let left = ends.saturating_sub(fx.clock.elapsed().max(began));
        let files = u32::try_from(total - done).unwrap_or(u32::MAX).max(1);
        let part = fx.clock.elapsed() + left / files;
        let goes_on = |more: u64| {
            let done = made.fetch_add(more, Ordering::Relaxed) + more;
            if more > 0 {
                let unit = "calls".to_owned();
                fx.screen.show(&Event::Progress { done, total: None, unit });
            }
            fx.clock.elapsed() < part
        };
        let task = FileTask {
            root: fx.worktree.root(),
            file: &gap.file,
            language,
            module: &repair::module_of(&gap.file, &facts.directory),
            callables: &callables,
            examples: &examples,
            limit: CALL,
            text: &text,
            missed: request.missed.get(&gap.file).unwrap_or(&none),
            goes_on: &goes_on,
        };
        let pinned = repair::characterise(observer, &task).await?;
        if fx.clock.elapsed() >= part && pinned.iter().any(|one| one.callable.obstacle.is_none()) {
            let what = format!("the search for calls of {} was cut short", gap.file);
            unfinished(report, what);
        }
        for one in &pinned {
            report.functions.push(function(&gap.file, one));
        }
        if let Some((path, naming)) = repair::place(&site, &gap.file, &text, &taken)
            && pinned.iter().any(|one| !one.cases.is_empty())
        {
            taken.insert(path.clone());
            sheets.push(Sheet::new(path, gap.file.clone(), naming, pinned));
        }
    }
    Ok(sheets)
}

/// Why functions of a language cannot be pinned under a framework; `version` is the framework's, and
/// that of Node.js for its own.
fn obstacle_of(language: Language, framework: Framework, version: &str) -> Option<&'static str> {
    match language {
        Language::Python if framework.is_python() => None,
        Language::JavaScript if !framework.is_python() => None,
        Language::TypeScript | Language::Tsx if framework.is_python() => {
            Some("the detected test framework is one of another language")
        }
        Language::TypeScript if framework == Framework::NodeTest && strips_types(version) => None,
        Language::TypeScript | Language::Tsx if framework == Framework::NodeTest => {
            Some("`node --test` loads TypeScript from Node.js 22.18 on, and no TSX")
        }
        Language::TypeScript | Language::Tsx => None,
        _ => Some("the detected test framework is one of another language"),
    }
}

/// Whether a version of Node.js loads TypeScript by itself.
fn strips_types(version: &str) -> bool {
    let digits = |c: char| !c.is_ascii_digit();
    let mut parts = version.split(digits).filter(|part| !part.is_empty());
    let mut next = || parts.next().and_then(|part| part.parse::<u32>().ok()).unwrap_or_default();
    let (major, minor) = (next(), next());
    matches!((major, minor), (22, 18..) | (23, 6..) | (24.., _))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_has_its_part_of_the_time_and_a_measurement_always_some() {
        let s = Duration::from_secs;
        let table = [
            (s(0), s(100), (s(30), s(50)), s(100)),
            (s(60), s(100), (s(72), s(80)), s(40)),
            (s(100), s(100), (s(100), s(100)), LEAST),
            (s(120), s(100), (s(120), s(120)), LEAST),
        ];
        for (now, until, expected, measured) in table {
            assert_eq!(stages(now, until), expected, "{now:?} {until:?}");
            assert_eq!(left(now, until), measured, "{now:?} {until:?}");
        }
    }

    #[test]
    fn typescript_is_pinned_where_its_tests_can_load_it() {
        use Framework::{Jest, NodeTest, Pytest, Vitest};
        let table = [
            (Language::TypeScript, Vitest, "", true),
            (Language::Tsx, Jest, "29.7.0", true),
            (Language::TypeScript, NodeTest, "v20.20.2", false),
            (Language::TypeScript, NodeTest, "22.17.1", false),
            (Language::TypeScript, NodeTest, "v22.18.0", true),
            (Language::TypeScript, NodeTest, "24.0.0", true),
            (Language::Tsx, NodeTest, "24.0.0", false),
            (Language::TypeScript, Pytest, "9.2.0", false),
            (Language::JavaScript, NodeTest, "v18.0.0", true),
            (Language::Rust, NodeTest, "v24.0.0", false),
        ];
        for (language, framework, version, pinned) in table {
            let said = obstacle_of(language, framework, version);
            assert_eq!(said.is_none(), pinned, "{language:?} {framework:?} {version}: {said:?}");
        }
    }
}
