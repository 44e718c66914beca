//! The persistent runner for tests of JUnit; its Java side is `driver/warm_java.java`. It uses what calls of the same
//! session were compiled against. Whatever it cannot do as the suite does is an error: the suite's own command tries
//! such candidates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use tokio::sync::Mutex;

use crate::adapter::host::files;
use crate::adapter::host::process::{self, Invocation};
use crate::code::language::Language;
use crate::domain::id::{RepoPath, TestId, in_folder};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::test::{Status, TestCase};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, Speed, Trace,
};

use super::super::checkout_copy::{Side, refresh_copy, write_edits};
use super::super::command::file_of;
use super::probed_sources::ProbedSources;
use crate::adapter::suite::compiled_calls::{JVM_OPTIONS, ModulePlace, class_path_file};
use crate::adapter::suite::io_error::cannot;
use crate::adapter::suite::java_modules::list_modules;
use crate::adapter::suite::line_server::LineServer;
use crate::adapter::suite::project_suite::{ProjectSuite, SHORT_LIVED};

/// Time for a start of the process and for compiling, besides that of the tests.
const COMPILING: Duration = Duration::from_secs(30);

/// Time limit of the project's own tool.
const BUILDING: Duration = Duration::from_mins(3);

/// Time limit of all tests while nothing is changed.
const TRACING: Duration = Duration::from_mins(1);

/// Maximum number of modules: each takes processes, once its tests run.
const MODULES: usize = 4;

/// Bytes of a class path that is used.
const CLASS_PATH_LIMIT: u64 = 1 << 20;

/// Maximum number of processes of a module.
const SLOTS: usize = 2;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    /// The message of the compiler, if it refuses the sources.
    refused: String,
    /// Why the tests cannot be run in this way.
    unfit: String,
    results: Vec<TestAnswer>,
    /// Whether a test that did not end in time still runs.
    goes_on: bool,
}

#[derive(Deserialize)]
struct TestAnswer {
    test: TestId,
    status: Status,
    milliseconds: u64,
    /// Class and message of what it threw; `None` if it did not end in time.
    failure: Option<(String, String)>,
    /// The marks of probes that ran.
    #[serde(default)]
    reached: Vec<String>,
}

/// Runs the tests of one project, those of each module in a process of its own.
pub struct JavaRunner {
    modules: Vec<Module>,
}

struct Module {
    invocation: Invocation,
    /// The checkout, and the folder of the module in it with a `/` at its end.
    root: PathBuf,
    folder: String,
    /// The copy of the project that it was built in, and the class path of its tests.
    copy: PathBuf,
    class_path: String,
    /// Whether the tests pass while nothing is changed.
    is_green: bool,
    /// One for each candidate at a time.
    slots: Vec<Slot>,
}

struct Slot {
    /// Where candidates are compiled to.
    scratch: PathBuf,
    /// One process, which gives its answers one after the other.
    server: Mutex<Option<LineServer>>,
}

/// Opens a runner for failing tests, whose project is built for it. `None` where that fails for a module of theirs.
pub async fn open_failing(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
) -> Option<JavaRunner> {
    let site = suite.site(request.root);
    let all: Vec<String> = list_modules(&site.root, &site.directory)
        .iter()
        .map(|module| in_folder(module, ""))
        .filter(|module| site.root.join(module).join("src/test/java").is_dir())
        .collect();
    let module_of = |case: &TestCase| {
        let file = test_file(&case.id);
        all.iter().find(|module| site.root.join(module).join(&file).is_file())
    };
    let needed: BTreeSet<&String> = request.failing.iter().map(module_of).collect::<Option<_>>()?;
    if needed.len() > MODULES {
        return None;
    }
    // The others have tests that pass, and that may break.
    let others = all.iter().filter(|module| !needed.contains(module));
    let modules: Vec<&String> = needed.iter().copied().chain(others).take(MODULES).collect();
    // Another module may have changed since it was built for calls.
    let _turn = suite.calls.lock().await;
    let scratch = suite.settings.scratch.join("calls");
    files::remove_tree(&scratch).ok()?;
    files::create_folder(&scratch).ok()?;
    let folder = site.working_folder();
    let mut build = None;
    for module in &modules {
        let place = ModulePlace { root: request.root, module, folder: &folder, scratch: &scratch };
        let Ok(copied) = place.copy_project("") else { continue };
        for (path, text) in &copied.files {
            // The folder is that of the tests, unless somebody has put a link in its place.
            files::write_below(&scratch, path.strip_prefix(&scratch).ok()?, text.as_bytes())
                .ok()?;
        }
        build = copied.build.map(|argv| (copied.folder, argv)).or(build);
    }
    if let Some((directory, argv)) = build {
        let copy = scratch.join("project");
        let invocation = Invocation { directory, ..suite.invocation(&copy, argv) };
        process::run(&invocation, BUILDING, &scratch.join("build.log")).await.ok()?;
    }
    let open =
        |module: &&String| Some(Module { is_green: false, ..open_module(suite, request, module)? });
    let modules: Vec<Module> = modules.iter().filter_map(open).collect();
    let is_open = |folder: &&String| modules.iter().any(|one| one.folder == **folder);
    needed.iter().all(is_open).then_some(JavaRunner { modules })
}

/// Opens a runner where calls were made in one module, whose sources are still the same.
pub fn open(suite: &ProjectSuite<'_>, request: &CandidateRunnerRequest<'_>) -> Option<JavaRunner> {
    let site = suite.site(request.root);
    let modules = list_modules(&site.root, &site.directory);
    let calls = suite.settings.scratch.join("calls");
    let is_built = |module: &String| class_path_file(&calls, module).is_file();
    let mut built = modules.iter().map(|module| in_folder(module, "")).filter(is_built);
    let (module, None) = (built.next()?, built.next()) else { return None };
    Some(JavaRunner { modules: vec![open_module(suite, request, &module)?] })
}

/// Opens a module that was built, unless its sources have changed since.
fn open_module(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
    module: &str,
) -> Option<Module> {
    let scratch = &suite.settings.scratch;
    let calls = scratch.join("calls");
    let copy = calls.join("project");
    let sources = request.root.join(module).join("src/main");
    let [path, options] = [class_path_file(&calls, module), calls.join(JVM_OPTIONS)];
    if refresh_copy(&sources, &copy.join(module).join("src/main")) {
        // What was compiled before is of no use to anybody.
        fs::remove_file(&path).ok()?;
        return None;
    }
    if sources.join("java/module-info.java").is_file() || !options.is_file() {
        return None;
    }
    // The project's own tests wrote it.
    let written = files::read_untrusted(&path, CLASS_PATH_LIMIT).ok()??;
    let class_path = String::from_utf8(written).ok()?;
    let driver = scratch.join("drivers/warm_java.java").display().to_string();
    let files = [path, options].map(|path| format!("@{}", path.display()));
    let argv = ["java".to_owned()].into_iter().chain(files);
    let argv = argv.chain(SHORT_LIVED.split(' ').map(str::to_owned)).chain([driver]).collect();
    let directory = copy.join(module);
    let slot = |number: usize| Slot {
        scratch: scratch.join(format!("warm-java-{number}")).join(module),
        server: Mutex::new(None),
    };
    Some(Module {
        invocation: Invocation { directory, ..suite.invocation(request.root, argv) },
        root: request.root.to_owned(),
        folder: module.to_owned(),
        copy,
        class_path,
        is_green: true,
        slots: (0..request.jobs.clamp(1, SLOTS)).map(slot).collect(),
    })
}

/// The source of a test below its module.
fn test_file(test: &TestId) -> String {
    let class = file_of(test).split('$').next().unwrap_or_default();
    format!("src/test/java/{}.java", class.replace('.', "/"))
}

fn failed(reason: &impl ToString) -> RunError {
    RunError::Io { action: "talk to the warm runner".into(), reason: reason.to_string() }
}

/// Whether an edit may change what the compiler copies into other classes.
fn changes_constant(edit: &FileEdit) -> bool {
    let before = edit.before.as_deref().unwrap_or_default();
    let after = edit.after.as_deref().unwrap_or_default();
    let same = before.lines().zip(after.lines()).take_while(|(one, other)| one == other).count();
    let lines: Vec<&str> = before.lines().take(same + 1).collect();
    let ends = |line: &&&str| line.trim_end().ends_with([';', '{', '}']);
    let statement = lines.iter().rev().skip(1).take_while(|line| !ends(line));
    before != after
        && (before.contains("interface ")
            || lines.last().into_iter().chain(statement).any(|line| line.contains("final ")))
}

impl Module {
    /// Whether it has the test, in the checkout or by the edits.
    fn has_test(&self, edits: &EditSet, test: &TestId) -> bool {
        let file = format!("{}{}", self.folder, test_file(test));
        edits.files.iter().any(|edit| edit.file.as_str() == file) || self.root.join(file).is_file()
    }

    /// Whether its tests can reach a source: it is its own, or that of a module on its class path.
    fn can_reach(&self, file: &RepoPath) -> bool {
        let Some((module, _)) = file.as_str().split_once("src/main/") else { return true };
        let place = self.copy.join(module).display().to_string();
        let place = place.trim_end_matches('/');
        module == self.folder
            || ["target", "build"]
                .iter()
                .any(|built| self.class_path.contains(&format!("{place}/{built}/")))
    }

    /// Compiles the edited sources and the classes of the tests, and runs these.
    async fn ask(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop: bool,
    ) -> Result<Answer, RunError> {
        let reached = edits.files.iter().filter(|edit| self.can_reach(&edit.file));
        let edits = &EditSet { files: reached.cloned().collect() };
        let waiting =
            self.slots.iter().map(|slot| Box::pin(async move { (slot, slot.server.lock().await) }));
        let ((slot, mut server), ..) = futures::future::select_all(waiting).await;
        let folder = &slot.scratch;
        files::remove_tree(folder).map_err(cannot("remove", folder))?;
        files::create_folder(folder).map_err(cannot("create", folder))?;
        let edited: BTreeSet<&Path> =
            edits.files.iter().map(|edit| Path::new(edit.file.as_str())).collect();
        let mut sources: BTreeSet<PathBuf> = edited.iter().map(|file| folder.join(file)).collect();
        for parent in sources.iter().filter_map(|path| path.parent()) {
            files::create_folder(parent).map_err(cannot("create", parent))?;
        }
        write_edits(folder, edits, Side::After)?;
        for test in tests {
            let file = format!("{}{}", self.folder, test_file(test));
            if !edited.contains(Path::new(&file)) {
                sources.insert(self.root.join(file));
            }
        }
        let sources: Vec<String> = sources.iter().map(|path| path.display().to_string()).collect();
        let own = self.root.join(&self.folder).join("src").display().to_string();
        let is_constant = edits.files.iter().any(changes_constant);
        let all =
            if is_constant { format!("{own}/main/java:{own}/test/java") } else { String::new() };
        let tests: Vec<&str> = tests.iter().map(TestId::as_str).collect();
        let (place, millis) = (folder.display(), limit.as_millis());
        let asked = [sources.join(":"), tests.join("\u{1f}")].join("|");
        let asked = format!("{place}|{millis}|{stop}|{all}|{asked}");
        let mut process = match server.take() {
            Some(process) => process,
            None => LineServer::start(&self.invocation).map_err(|error| failed(&error))?,
        };
        process.send(&asked).await.map_err(|error| failed(&error))?;
        let answer: Option<Answer> =
            process.receive(limit + COMPILING).await.map_err(|error| failed(&error))?;
        let answer = answer.ok_or_else(|| failed(&"it ended"))?;
        let is_same = edits.files.iter().all(|edit| edit.before == edit.after);
        let is_odd = !answer.refused.is_empty()
            || self.is_green && answer.results.iter().any(|one| one.status != Status::Passed);
        if !answer.unfit.is_empty() || is_same && is_odd {
            return Err(failed(&format!(
                "not as in the suite: {}{}",
                answer.unfit, answer.refused
            )));
        }
        // It would disturb the tests of the next candidate.
        *server = (!answer.goes_on).then_some(process);
        Ok(answer)
    }
}

impl JavaRunner {
    /// The tests of each module, that of the first test first.
    fn by_module(
        &self,
        edits: &EditSet,
        tests: &[TestId],
    ) -> Result<Vec<(&Module, Vec<TestId>)>, RunError> {
        let mut parts: Vec<(&Module, Vec<TestId>)> = Vec::new();
        for test in tests {
            let module = self.modules.iter().find(|module| module.has_test(edits, test));
            let module = module.ok_or_else(|| failed(&format!("{test} is in no module of it")))?;
            match parts.iter_mut().find(|(known, _)| known.folder == module.folder) {
                Some((_, own)) => own.push(test.clone()),
                None => parts.push((module, vec![test.clone()])),
            }
        }
        Ok(parts)
    }

    /// What each module answers for its tests; the first that does not compile says so for all.
    async fn ask(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop: bool,
    ) -> Result<Answer, RunError> {
        let mut all = Answer::default();
        for (module, own) in self.by_module(edits, tests)? {
            let answer = module.ask(edits, &own, limit, stop).await?;
            let is_red = answer.results.iter().any(|one| one.status == Status::Failed);
            all.results.extend(answer.results);
            all.refused = answer.refused;
            if !all.refused.is_empty() || stop && is_red {
                break;
            }
        }
        Ok(all)
    }

    /// The lines that tests run, as far as they can be had.
    async fn probe_tests(&self, tests: &[TestId]) -> BTreeMap<TestId, Lines> {
        let root = self.modules.first().map(|module| module.root.as_path());
        let probed = root.and_then(|root| ProbedSources::read(root, Language::Java));
        let Some(probed) = probed else { return BTreeMap::new() };
        let edits = EditSet { files: probed.edits.clone() };
        let results = self.ask(&edits, tests, TRACING, false).await.unwrap_or_default().results;
        let reached = |one: TestAnswer| {
            let lines = probed.lines_of(one.reached.iter().map(String::as_str));
            (one.test, lines)
        };
        results.into_iter().map(reached).collect()
    }
}

#[async_trait]
impl CandidateRunner for JavaRunner {
    fn speed(&self) -> Speed {
        Speed::Warm
    }

    fn concurrency(&self, jobs: usize) -> usize {
        jobs.clamp(1, SLOTS)
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let answer = self.ask(&EditSet::default(), tests, TRACING, false).await?;
        let mut lines = self.probe_tests(tests).await;
        let trace = |one: TestAnswer| Trace {
            status: one.status,
            duration: Duration::from_millis(one.milliseconds),
            lines: lines.remove(&one.test).unwrap_or_default(),
            test: one.test,
            loaded: Lines::new(),
            failure: None,
        };
        Ok(answer.results.into_iter().map(trace).collect())
    }

    async fn run(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        let answer = self.ask(edits, tests, limit, stop_at_failure).await?;
        if !answer.refused.is_empty() {
            let refused = |test: &TestId| CaseResult::not_built(test.clone(), &answer.refused);
            return Ok(tests.iter().map(refused).collect());
        }
        let result = |one: TestAnswer| CaseResult {
            status: one.status,
            failure: one.failure,
            test: one.test,
            frames: Vec::new(),
            failing_behind: 0,
        };
        Ok(answer.results.into_iter().map(result).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_compiler_copies_into_other_classes_is_seen() {
        let table = [
            ("class A {\n  static final int N = 1;\n}\n", "1", "2", true),
            ("class A {\n  final int n =\n      1;\n  int two;\n}\n", "1", "2", true),
            ("class A {\n  final int n = 0;\n  int one = 1;\n}\n", "1", "2", false),
            ("interface A {\n  int N = 1;\n}\n", "1", "2", true),
            ("interface A {\n  int N = 1;\n}\n", "1", "1", false),
        ];
        for (text, from, to, expected) in table {
            let file = RepoPath::parse("A.java").unwrap();
            let after = Some(text.replace(from, to));
            let edit = FileEdit { file, before: Some(text.to_owned()), after };
            assert_eq!(changes_constant(&edit), expected, "{text}");
        }
    }
}
