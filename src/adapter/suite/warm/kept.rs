//! Tries candidates on Vitest and Jest suites: copies of the checkout that are kept ready, each with a
//! runner that has started once and transforms again only what changed; `driver/warm_vitest.mjs` and
//! `driver/warm_jest.mjs` are its other halves. Every run gets modules of its own, in workers as the
//! project's pool and isolation say, or in an environment as Jest gives to each file.
//!
//! A test file is first run both ways on the unchanged sources; where the answers differ it keeps the
//! suite's own command. So does a candidate that changes what the runner reads once, at its start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::adapter::host::files;
use crate::adapter::host::process::Invocation;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::EditSet;
use crate::domain::test::{Status, TestCase};
use crate::effect::{
    CandidateRunner, CandidateRunnerRequest, CaseResult, Lines, RunError, Speed, Trace,
};

use super::super::ProjectSuite;
use super::super::cold::{Cold, copy_tree, results, write_edits};
use super::super::format::jest::{self, Writer};
use super::super::format::{Place, REPORT_LIMIT, bounded, settle_all};
use super::server::Server;
use super::{file_of, files_of, free, traced};

/// One framework.
pub struct Kind {
    driver: &'static str,
    writer: Writer,
}

/// Vitest, by its Node API; tried with 1.6, 2.1, 3.2 and 4.1.
pub const VITEST: Kind = Kind { driver: "warm_vitest.mjs", writer: Writer::Vitest };

/// Jest, in one process; tried with 29.7 and 30.5.
pub const JEST: Kind = Kind { driver: "warm_jest.mjs", writer: Writer::Jest };

/// Time in which a runner must start.
const LOADING: Duration = Duration::from_mins(1);

/// Limit of one test file on the unchanged sources.
const UNCHANGED: Duration = Duration::from_mins(2);

/// A run may take so many times what it took on the unchanged sources, besides the limit of its
/// tests: new workers start slower while others run.
const STARTING: u32 = 3;

/// The least that is allowed for starting workers.
const LEAST: Duration = Duration::from_millis(1500);

/// Memory of one process of Node.js, in megabytes.
const MEMORY: u32 = 2048;

/// Names of files that say how sources are read.
const SETTINGS: &[&str] = &[
    "package.json",
    "tsconfig",
    "jsconfig",
    ".env",
    ".swcrc",
    ".babelrc",
    "babel.config.",
    "jest.",
    "vite.",
    "vitest.",
];

/// One copy of the checkout with what belongs to it.
struct Lane {
    kind: &'static Kind,
    root: PathBuf,
    place: Place,
    cold: Cold,
    invocation: Invocation,
    report: PathBuf,
    server: Option<Server>,
    /// Files written since the server was last told.
    dirty: BTreeSet<PathBuf>,
    /// Files that the server read once.
    settings: BTreeSet<RepoPath>,
}

/// How a test file is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// In the runner that is kept; with what it takes to start workers.
    Warm(Duration),
    /// By the suite's own command.
    Cold,
}

struct Kept {
    lanes: Vec<Mutex<Lane>>,
    ways: Mutex<BTreeMap<String, Way>>,
    /// Files that any lane's server read once.
    settings: Mutex<BTreeSet<RepoPath>>,
}

#[derive(Serialize)]
struct Request<'a> {
    file: String,
    changed: &'a BTreeSet<PathBuf>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    ready: bool,
    #[serde(default)]
    ended: bool,
    #[serde(default)]
    seconds: f64,
    /// It has taken so much memory that another should be started.
    #[serde(default)]
    grown: bool,
    #[serde(default)]
    settings: BTreeSet<String>,
}

/// What a run came to, and what it took.
#[derive(Default)]
struct Told {
    cases: Vec<TestCase>,
    took: Duration,
}

/// One line of what `driver/script_trace.cjs` appends.
#[derive(Deserialize)]
struct Ran {
    file: String,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    lines: BTreeMap<String, Vec<u32>>,
    #[serde(default)]
    shared: BTreeMap<String, Vec<u32>>,
}

/// Opens the runner, unless it cannot be kept here or does not reproduce the failing tests.
pub async fn open(
    suite: &ProjectSuite<'_>,
    request: &CandidateRunnerRequest<'_>,
    kind: &'static Kind,
) -> Result<Option<Box<dyn CandidateRunner>>, RunError> {
    let mut lanes = Vec::new();
    for number in 0..request.jobs.max(1) {
        lanes.push(Mutex::new(lane(suite, request.root, (number, kind))?));
    }
    let kept = Kept { lanes, ways: Mutex::default(), settings: Mutex::default() };
    if let Some(first) = kept.lanes.first() {
        let mut lane = first.lock().await;
        lane.server = lane.start(&BTreeMap::new()).await?;
        if lane.server.is_none() {
            return Ok(None);
        }
    }
    // Without a failure to reproduce, the caller compares what passes.
    let Some(first) = request.failing.get(..1) else { return Ok(Some(Box::new(kept))) };
    let traces = kept.trace(first).await?;
    let reproduced = traces.iter().any(|trace| trace.status == Status::Failed);
    Ok(reproduced.then(|| Box::new(kept) as Box<dyn CandidateRunner>))
}

fn lane(
    suite: &ProjectSuite<'_>,
    from: &Path,
    (number, kind): (usize, &'static Kind),
) -> Result<Lane, RunError> {
    let scratch = &suite.settings.scratch;
    let root = scratch.join(format!("lane-{number}"));
    let failed = |error: std::io::Error| RunError::Io {
        action: "copy the checkout".into(),
        reason: error.to_string(),
    };
    if root.exists() {
        std::fs::remove_dir_all(&root).map_err(failed)?;
    }
    copy_tree(from, &root).map_err(failed)?;
    let root = root.canonicalize().map_err(failed)?;
    let report = root.with_extension("report");
    let driver = scratch.join("drivers").join(kind.driver);
    let mut environment = suite.environment(&root);
    environment.insert("NODE_OPTIONS".into(), format!("--max-old-space-size={MEMORY}"));
    let argv = ["node".into(), driver.display().to_string(), report.display().to_string()];
    Ok(Lane {
        kind,
        place: suite.place(&root),
        cold: Cold::on(suite, &root),
        invocation: Invocation {
            argv: argv.into(),
            directory: suite.site(&root).folder(),
            environment,
            access: Some(suite.access(&root)),
        },
        report,
        server: None,
        dirty: BTreeSet::new(),
        settings: BTreeSet::new(),
        root,
    })
}

impl Lane {
    /// A runner that is ready; `None` where it cannot be had.
    async fn start(&mut self, more: &BTreeMap<String, String>) -> Result<Option<Server>, RunError> {
        let mut invocation = self.invocation.clone();
        invocation.environment.extend(more.clone());
        let mut server =
            Server::start(&invocation).map_err(|error| io(Path::new("node"), &error))?;
        match server.receive::<Answer>(LOADING).await {
            Ok(Some(answer)) if answer.ready => {
                self.learn(&answer);
                Ok(Some(server))
            }
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// Runs one test file in `server`, which is kept in `self` where it can be used again; `None` when
    /// the file hung, or ended the process.
    async fn ask(
        &mut self,
        mut server: Server,
        file: &str,
        limit: Duration,
    ) -> Result<(Option<Server>, Option<Told>), RunError> {
        let file = self.root.join(file).display().to_string();
        let asked = server.send(&Request { file, changed: &self.dirty }).await;
        let answer = match asked {
            Ok(()) => server.receive::<Answer>(limit).await,
            Err(error) => Err(error),
        };
        // What hangs ends with its process group.
        let Ok(Some(answer)) = answer else { return Ok((None, None)) };
        self.dirty.clear();
        self.learn(&answer);
        let kept = (!answer.grown).then_some(server);
        if !answer.ended {
            return Ok((kept, None));
        }
        let bytes = files::read_left(&self.report, REPORT_LIMIT)
            .map_err(|error| io(&self.report, &error))?;
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        let told = jest::parse(&text, self.kind.writer).unwrap_or_default();
        let took = Duration::try_from_secs_f64(answer.seconds).unwrap_or_default();
        Ok((kept, Some(Told { cases: settle_all(&told, &self.place), took })))
    }

    /// The same in the runner that is kept, which is started anew after one that ended. `None` when
    /// there is none to be had; no cases when the file hung or ended the process.
    async fn run_warm(&mut self, file: &str, limit: Duration) -> Result<Option<Told>, RunError> {
        let server = match self.server.take() {
            Some(server) => Some(server),
            None => self.start(&BTreeMap::new()).await?,
        };
        let Some(server) = server else { return Ok(None) };
        let (server, told) = self.ask(server, file, limit).await?;
        self.server = server;
        Ok(Some(told.unwrap_or_default()))
    }

    fn write(&mut self, edits: &EditSet, after: bool) -> Result<(), RunError> {
        self.dirty.extend(edits.files.iter().map(|edit| self.root.join(edit.file.as_str())));
        write_edits(&self.root, edits, after)
    }

    fn learn(&mut self, answer: &Answer) {
        let read = answer.settings.iter().filter_map(|path| self.place.inside(path));
        self.settings.extend(read);
    }
}

/// Whether an edit changes what a runner reads once, or which files there are.
fn steers(edits: &EditSet, settings: &BTreeSet<RepoPath>) -> bool {
    edits.files.iter().any(|edit| {
        let name = edit.file.file_name();
        edit.before.is_none()
            || edit.after.is_none()
            || SETTINGS.iter().any(|known| name.starts_with(known))
            || settings.contains(&edit.file)
    })
}

impl Kept {
    /// How a file is run, found out on the unchanged sources of `lane`.
    async fn way(&self, lane: &mut Lane, file: &str) -> Result<Way, RunError> {
        if let Some(way) = self.ways.lock().await.get(file) {
            return Ok(*way);
        }
        let alone = lane.cold.broken(&[TestId(file.to_owned())], UNCHANGED).await?;
        let Told { cases, took } = lane.run_warm(file, UNCHANGED).await?.unwrap_or_default();
        let alone = endings(alone, file);
        let same = !alone.is_empty() && endings(cases, file) == alone;
        let way = if same { Way::Warm(LEAST.max(took * STARTING)) } else { Way::Cold };
        self.ways.lock().await.insert(file.to_owned(), way);
        Ok(way)
    }
}

/// How the tests of a file ended; one may fail either way and for another reason.
fn endings(cases: Vec<TestCase>, file: &str) -> BTreeMap<TestId, (Status, String)> {
    let own = cases.into_iter().filter(|case| file_of(&case.id) == file);
    own.map(|case| {
        let said = case.failure.map(|said| said.message).unwrap_or_default();
        (case.id, (case.status, said))
    })
    .collect()
}

fn io(path: &Path, error: &std::io::Error) -> RunError {
    RunError::Io { action: format!("use {}", path.display()), reason: error.to_string() }
}

#[async_trait]
impl CandidateRunner for Kept {
    fn speed(&self) -> Speed {
        Speed::Warm
    }

    async fn trace(&self, tests: &[TestId]) -> Result<Vec<Trace>, RunError> {
        let Some(lane) = self.lanes.first() else { return Ok(Vec::new()) };
        let mut lane = lane.lock().await;
        let out = lane.root.with_extension("lines");
        let environment = [
            ("REGREEN_LINES".to_owned(), out.display().to_string()),
            ("REGREEN_ROOT".to_owned(), lane.root.display().to_string()),
        ];
        let environment = environment.into();
        let mut server = None;
        let mut cases: BTreeMap<TestId, TestCase> = BTreeMap::new();
        let mut lines: BTreeMap<Named, Lines> = BTreeMap::new();
        for file in files_of(tests) {
            files::write(&out, b"").map_err(|error| io(&out, &error))?;
            let own = match server.take() {
                Some(server) => server,
                None => match lane.start(&environment).await? {
                    Some(server) => server,
                    None => break,
                },
            };
            let (kept, told) = lane.ask(own, file, UNCHANGED).await?;
            server = kept;
            let told = told.unwrap_or_default().cases;
            cases.extend(told.into_iter().map(|case| (case.id.clone(), case)));
            let bytes = files::read_left(&out, REPORT_LIMIT).map_err(|error| io(&out, &error))?;
            let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
            lines.extend(executed(&text, &lane.place));
        }
        let traced = tests.iter().map(|test| {
            traced(test, cases.remove(test), lines.remove(&named(test)).unwrap_or_default())
        });
        Ok(traced.collect())
    }

    async fn judge(
        &self,
        edits: &EditSet,
        tests: &[TestId],
        limit: Duration,
        stop_at_failure: bool,
    ) -> Result<Vec<CaseResult>, RunError> {
        let Some(mut lane) = free(&self.lanes).await else { return Ok(Vec::new()) };
        // In the order of the tests, which begins with those that fail.
        let mut wanted: Vec<(&str, Way)> = Vec::new();
        for file in files_of(tests) {
            wanted.push((file, self.way(&mut lane, file).await?));
        }
        let steers = {
            let mut settings = self.settings.lock().await;
            settings.extend(lane.settings.iter().cloned());
            steers(edits, &settings)
        };
        lane.write(edits, true)?;
        let ran = run(&mut lane, &wanted, tests, (limit, steers, stop_at_failure)).await;
        lane.write(edits, false)?;
        Ok(results(&ran?, tests, stop_at_failure))
    }
}

/// Runs files in a lane, up to the first with a failing test when `limits` say so.
async fn run(
    lane: &mut Lane,
    wanted: &[(&str, Way)],
    tests: &[TestId],
    limits: (Duration, bool, bool),
) -> Result<Vec<TestCase>, RunError> {
    let (limit, steers, stop_at_failure) = limits;
    let mut cases = Vec::new();
    for (file, way) in wanted {
        let asked: Vec<TestId> =
            tests.iter().filter(|test| file_of(test) == *file).cloned().collect();
        let warm = match way {
            Way::Warm(starting) if !steers => lane.run_warm(file, limit + *starting).await?,
            Way::Warm(_) | Way::Cold => None,
        };
        let ran = match warm {
            Some(told) => told.cases,
            None => lane.cold.broken(&asked, limit.max(UNCHANGED)).await?,
        };
        let failed =
            results(&ran, &asked, true).iter().any(|result| result.status == Status::Failed);
        cases.extend(ran);
        if failed && stop_at_failure {
            break;
        }
    }
    Ok(cases)
}

/// A test by its file and its whole name in one text, which is all that Jest tells to a test.
type Named = (String, String);

fn named(test: &TestId) -> Named {
    let (file, names) = test.as_str().split_once("::").unwrap_or((test.as_str(), ""));
    (file.to_owned(), names.replace(" > ", " "))
}

/// Lines that each test ran, with those that its file ran outside of single tests.
fn executed(text: &str, place: &Place) -> BTreeMap<Named, Lines> {
    let mut found: BTreeMap<Named, Lines> = BTreeMap::new();
    let add = |into: &mut Lines, told: &BTreeMap<String, Vec<u32>>| {
        for (path, lines) in told {
            let Some(file) = place.inside(path) else { continue };
            let known = into.entry(file).or_default();
            known.extend(lines);
            known.sort_unstable();
            known.dedup();
        }
    };
    for line in text.lines() {
        // One that a crash has torn says nothing.
        let Ok(ran) = serde_json::from_str::<Ran>(line) else { continue };
        let Some(file) = place.inside(&ran.file) else { continue };
        if ran.names.is_empty() {
            let own = found.iter_mut().filter(|(test, _)| test.0 == file.as_str());
            own.for_each(|(_, lines)| add(lines, &ran.shared));
        } else {
            let id = format!("{file}::{}", ran.names.join(" > "));
            let key = named(&TestId(bounded(&id, 1000)));
            add(found.entry(key).or_default(), &ran.lines);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::proposal::FileEdit;

    #[test]
    fn what_a_file_ran_while_it_was_loaded_belongs_to_all_of_its_tests() {
        let place = Place { root: "/copy".into(), directory: String::new(), layers: Vec::new() };
        let text = concat!(
            r#"{"file":"/copy/a.test.ts","names":["cart","sums"],"lines":{"/copy/cart.ts":[3,4]}}"#,
            "\n",
            r#"{"file":"/copy/b.test.ts","names":["else"],"lines":{"/copy/cart.ts":[9]}}"#,
            "\n",
            r#"{"file":"/copy/a.test.ts","names":["cart","sums"],"lines":{"/copy/cart.ts":[6,4]}}"#,
            "\n",
            r#"{"file":"/copy/a.test.ts","shared":{"/copy/cart.ts":[1],"/elsewhere/x.ts":[1],"/copy/node_modules/y.js":[1]},"known":{}}"#,
            "\n",
            r#"{"file":"/copy/a.test.ts","nam"#,
        );
        let cart = RepoPath::parse("cart.ts").unwrap();
        let expected = [
            (named(&"a.test.ts::cart > sums".into()), [(cart.clone(), vec![1, 3, 4, 6])].into()),
            (named(&"b.test.ts::else".into()), [(cart, vec![9])].into()),
        ];
        assert_eq!(executed(text, &place), BTreeMap::from(expected));
        let at_once = ("a.test.ts".to_owned(), "cart sums".to_owned());
        assert_eq!(named(&"a.test.ts::cart > sums".into()), at_once, "as Jest tells it");
    }

    #[test]
    fn what_is_read_once_is_not_tried_warm() {
        let edit = |file: &str, before: Option<&str>| EditSet {
            files: vec![FileEdit {
                file: RepoPath::parse(file).unwrap(),
                before: before.map(str::to_owned),
                after: Some(String::new()),
            }],
        };
        let settings = [RepoPath::parse("test/before-all.ts").unwrap()].into();
        let table = [
            ("src/cart.ts", false),
            ("tsconfig.build.json", true),
            ("packages/a/vitest.config.ts", true),
            ("test/before-all.ts", true),
            ("src/vite-like.ts", false),
        ];
        for (file, expected) in table {
            assert_eq!(steers(&edit(file, Some("")), &settings), expected, "{file}");
        }
        assert!(steers(&edit("src/cart.ts", None), &settings), "a file that was not there");
    }

    #[test]
    fn files_come_in_the_order_of_their_tests() {
        let tests = ["b.ts::x", "a.ts::y", "b.ts::z"].map(TestId::from);
        assert_eq!(files_of(&tests), ["b.ts", "a.ts"]);
    }
}
