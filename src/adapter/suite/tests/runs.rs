//! Tests of whole suite runs whose test command is a line of shell.

#![expect(clippy::disallowed_methods, reason = "a suite is a real folder")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::adapter::host::clock::HostClock;
use crate::adapter::host::process::Invocation;
use crate::adapter::suite::line_server::LineServer;
use crate::adapter::suite::{Detection, ProjectSuite, SuiteSettings, detect, open};
use crate::domain::coverage::Measured;
use crate::domain::id::{RepoPath, TestId};
use crate::domain::proposal::{EditSet, FileEdit};
use crate::domain::request::ToolCommands;
use crate::domain::test::{CaseKind, Layer, Objection, Results, Scope, Status, TestCase};
use crate::effect::{CandidateRunnerRequest, RunError, RunRequest, Speed, Suite as _};

/// A test that failed, of which nothing else is known.
pub fn failing_case(id: &str) -> TestCase {
    TestCase {
        id: TestId::from(id),
        kind: CaseKind::Test,
        status: Status::Failed,
        file: None,
        line: None,
        duration_ms: 0,
        layer: Layer::Unit,
        failure: None,
    }
}

/// A folder with a suite of one command.
pub struct Shell {
    _folder: tempfile::TempDir,
    base: PathBuf,
    clock: HostClock,
}

impl Shell {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["repo", "session"] {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        Self { _folder: folder, base, clock: HostClock::start() }
    }

    pub fn root(&self) -> PathBuf {
        self.base.join("repo")
    }

    pub fn suite(
        &self,
        command: &str,
        change: impl FnOnce(&mut SuiteSettings),
    ) -> ProjectSuite<'_> {
        self.suite_with_report(command, None, change)
    }

    fn suite_with_report(
        &self,
        command: &str,
        report: Option<&str>,
        change: impl FnOnce(&mut SuiteSettings),
    ) -> ProjectSuite<'_> {
        let detection: Detection = detect(&self.root(), "", Some(command), report).unwrap();
        let mut settings = SuiteSettings {
            timeout: Duration::from_secs(20),
            session: self.base.join("session"),
            scratch: self.base.join("scratch"),
            layers: BTreeMap::new(),
            setup: Vec::new(),
            tools: ToolCommands::default(),
        };
        change(&mut settings);
        open(detection, settings, &self.clock).unwrap()
    }

    async fn results(&self, suite: &ProjectSuite<'_>, scope: &Scope) -> Result<Results, RunError> {
        let root = self.root();
        suite.run(&RunRequest::new(&root, scope, ".process/test.log")).await
    }

    async fn run(&self, suite: &ProjectSuite<'_>) -> Result<Vec<(String, Status)>, RunError> {
        let results = self.results(suite, &Scope::Full).await?;
        Ok(results.cases.into_iter().map(|case| (case.id.to_string(), case.status)).collect())
    }
}

#[tokio::test]
async fn every_way_a_command_can_end_has_its_error() {
    let shell = Shell::new();
    let table = [
        ("echo 1..0", None, "reported no tests"),
        ("echo 1..2; exit 3", None, "exit code 3 and left no complete report of its tests"),
        ("no-such-program-here", None, "could not be started"),
        ("true; ./repo", None, "could not be started"),
        ("echo 'ok 1 - a'; sleep 30", None, "was stopped after 1 s"),
        (
            "echo 1..1; echo \"not ok 1 - ${GH_DEPLOY_TOKEN%???}\"",
            None,
            "printed `GH_DEPLOY_TOKEN`",
        ),
        ("true", Some("out/*.xml"), "wrote no file that matches the report pattern `out/*.xml`"),
        ("mkdir -p out; echo nonsense > out/a.xml", Some("out/*.xml"), "expected JUnit XML or TAP"),
    ];
    for (command, report, expected) in table {
        let limit = if command.contains("sleep") { 1 } else { 20 };
        let change = |settings: &mut SuiteSettings| settings.timeout = Duration::from_secs(limit);
        let suite = shell.suite_with_report(command, report, change);
        let error = shell.run(&suite).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{command}: {error}");
    }
}

#[tokio::test]
async fn what_fails_a_command_beside_its_tests_objects_with_its_last_lines() {
    let shell = Shell::new();
    let passes = "echo 1..1; echo 'ok 1 - a'";
    let lines: String = (1..=40).map(|number| format!("{number}\n")).collect();
    let table = [
        (format!("{passes}; exit 3"), Some(("exit code 3", "1..1\nok 1 - a"))),
        (format!("{passes}; seq 40; exit 1"), Some(("exit code 1", lines.trim()))),
        (
            format!("{passes}; no-such-program-here"),
            Some(("exit code 127", "no-such-program-here")),
        ),
        (format!("{passes}; echo \"$GH_DEPLOY_TOKEN\"; exit 1"), Some(("exit code 1", ""))),
        (format!("{passes}; exit 0"), None),
        ("echo 1..1; echo 'not ok 1 - a'; exit 3".to_owned(), None),
    ];
    for (command, expected) in table {
        let suite = shell.suite(&command, |_| ());
        let results = shell.results(&suite, &Scope::Full).await.unwrap();
        let Some((way, text)) = expected else {
            assert_eq!(results.objections, [], "{command}");
            continue;
        };
        let [Objection::Command { command: named, ending, tail }] = &results.objections[..] else {
            panic!("{command}: {:?}", results.objections);
        };
        assert_eq!((named, ending.as_str()), (&command, way));
        assert!(
            tail.ends_with(text) || tail.contains(text) && !text.is_empty(),
            "{command}: {tail}"
        );
        assert_eq!(tail.is_empty(), text.is_empty(), "{command}: {tail}");
        assert!(tail.lines().count() <= 40, "{command}: {tail}");
        let some = Scope::Tests(vec!["a".into()]);
        let results = shell.results(&suite, &some).await.unwrap();
        assert_eq!(results.objections, [], "a few tests meet no threshold: {command}");
    }
}

#[test]
fn a_folder_that_python_cannot_be_told_is_refused() {
    let shell = Shell::new();
    let detection: Detection = detect(&shell.root(), "", Some("make check"), None).unwrap();
    let settings = SuiteSettings {
        timeout: Duration::from_secs(20),
        session: shell.base.join("session"),
        scratch: shell.base.join("a:b"),
        layers: BTreeMap::new(),
        setup: Vec::new(),
        tools: ToolCommands::default(),
    };
    let error = open(detection, settings, &shell.clock).err().unwrap();
    assert!(
        error.to_string().ends_with("a:b has a `:` in its path, so Python cannot search there"),
        "{error}"
    );
    assert!(error.hint().contains("REGREEN_WORK_DIR"), "{}", error.hint());
}

#[tokio::test]
async fn a_run_has_the_order_of_sets_that_it_asks_for() {
    let shell = Shell::new();
    let suite = shell.suite("printf 'ok 1 - seed %s\\n1..1\\n' \"$PYTHONHASHSEED\"", |_| ());
    let root = shell.root();
    for hash_seed in [0, 5] {
        let request = RunRequest::new(&root, &Scope::Full, ".process/test.log");
        let results = suite.run(&RunRequest { hash_seed, ..request }).await.unwrap();
        assert!(results.cases[0].id.as_str().ends_with(&format!("seed {hash_seed}")));
    }
}

#[tokio::test]
async fn a_report_of_an_earlier_run_does_not_count() {
    let shell = Shell::new();
    let xml = "<testsuite><testcase name=\"old\"/></testsuite>";
    std::fs::create_dir(shell.root().join("out")).unwrap();
    std::fs::write(shell.root().join("out/old.xml"), xml).unwrap();
    let command = "printf '<testsuite><testcase name=\"new\"/></testsuite>' > out/new.xml";
    let suite = shell.suite_with_report(command, Some("out/*.xml"), |_| {});
    assert_eq!(shell.run(&suite).await.unwrap(), [("new".to_owned(), Status::Passed)]);
}

#[tokio::test]
async fn an_environment_in_the_log_alone_is_redacted_and_holds_back_nothing() {
    let shell = Shell::new();
    let suite = shell.suite("env; echo 1..1; echo 'ok 1 - a'", |_| {});
    assert_eq!(shell.run(&suite).await.unwrap(), [("a".to_owned(), Status::Passed)]);
    let log = std::fs::read_to_string(shell.base.join("session/.process/test.log")).unwrap();
    assert!(log.contains("GH_DEPLOY_TOKEN=[redacted canary]"), "{log}");
}

#[tokio::test]
async fn a_checkout_is_set_up_once_and_a_folder_made_again_once_more() {
    let shell = Shell::new();
    let suite = shell.suite("echo 1..1; echo \"ok 1 - $(wc -l < count)\"", |settings| {
        settings.setup = vec!["echo x >> count".into()];
    });
    let name = |count: &str| [(count.to_owned(), Status::Passed)];
    assert_eq!(shell.run(&suite).await.unwrap(), name("1"));
    assert_eq!(shell.run(&suite).await.unwrap(), name("1"), "not again");
    std::fs::rename(shell.root(), shell.base.join("old")).unwrap();
    std::fs::create_dir(shell.root()).unwrap();
    assert_eq!(shell.run(&suite).await.unwrap(), name("1"), "another folder of this name");
    let broken = shell.suite("true", |settings| {
        settings.setup = vec!["echo no route; exit 4".into()];
    });
    let error = shell.run(&broken).await.unwrap_err();
    let RunError::SetUp { ending, tail, .. } = &error else { panic!("{error}") };
    assert_eq!((ending.as_str(), tail.trim()), ("exit code 4", "no route"));
}

const SCRIPT: &str =
    "echo 1..2; grep -q good a.txt && echo 'ok 1 - a' || echo 'not ok 1 - a'; echo 'ok 2 - b'";

fn edit(after: Option<&str>) -> EditSet {
    let file = RepoPath::parse("a.txt").unwrap();
    let (before, after) = (Some("bad\n".to_owned()), after.map(str::to_owned));
    EditSet { files: vec![FileEdit { file, before, after }] }
}

#[tokio::test]
async fn candidates_are_tried_in_a_copy_that_is_itself_again_afterwards() {
    let shell = Shell::new();
    let root = shell.root();
    std::fs::write(root.join("a.txt"), "bad\n").unwrap();
    let suite = shell.suite(SCRIPT, |_| {});
    let failing = [failing_case("a")];
    let request = CandidateRunnerRequest { root: &root, failing: &failing, jobs: 1 };
    let runner = suite.open_candidate_runner(&request).await.unwrap();
    assert_eq!((runner.speed(), runner.concurrency(8)), (Speed::Cold, 1));
    let tests = ["a", "b"].map(TestId::from);
    let traced = runner.trace(&tests).await.unwrap();
    let traced: Vec<_> = traced.iter().map(|one| (one.test.as_str(), one.status)).collect();
    assert_eq!(traced, [("a", Status::Failed), ("b", Status::Passed)]);
    let table = [
        (Some("good\n"), false, vec![Status::Passed, Status::Passed]),
        (Some("worse\n"), false, vec![Status::Failed, Status::Passed]),
        (Some("worse\n"), true, vec![Status::Failed]),
        (None, false, vec![Status::Failed, Status::Passed]),
        (Some("good\n"), true, vec![Status::Passed, Status::Passed]),
    ];
    for (after, stop, expected) in table {
        let limit = Duration::from_secs(10);
        let results = runner.run(&edit(after), &tests, limit, stop).await.unwrap();
        let read: Vec<Status> = results.iter().map(|one| one.status).collect();
        assert_eq!(read, expected, "{after:?} {stop}");
        let copy = std::fs::read_to_string(shell.base.join("scratch/cold-1/a.txt")).unwrap();
        assert_eq!(copy, "bad\n");
    }
    assert_eq!(std::fs::read_to_string(root.join("a.txt")).unwrap(), "bad\n");
}

#[tokio::test]
async fn the_configured_build_command_says_what_does_not_compile() {
    let shell = Shell::new();
    let root = shell.root();
    let files = [RepoPath::parse("a.py").unwrap()];
    let table = [
        ("true", None),
        ("echo \"$PWD/a.py:1: error\"; exit 1", Some("a.py:1: error")),
        ("sleep 0; kill -9 $$", None),
    ];
    for (command, expected) in table {
        let suite = shell.suite("true", |settings| settings.tools.build = Some(command.to_owned()));
        let error = suite.check(&root, &files).await;
        let expected = expected.map(|error| format!("{command} says: {error}"));
        assert_eq!(error, expected, "{command}");
    }
}

#[tokio::test]
async fn a_configured_coverage_command_is_measured_or_says_why_not() {
    let shell = Shell::new();
    let root = shell.root();
    std::fs::write(root.join("a.py"), "x = 1\ny = 2\n").unwrap();
    std::fs::write(root.join("b.js"), "export function f() {\n  return 1;\n}\n").unwrap();
    let known = ["a.py", "b.js"].map(|file| RepoPath::parse(file).unwrap()).into();
    let lcov = "printf 'SF:a.py\\nDA:1,3\\nDA:2,0\\nend_of_record\\n' > cover.info";
    let table = [
        (lcov, Some("*.info"), ""),
        (
            "printf 'SF:a.py\\nDA:1,3\\n' > none.info; echo 'no tests ran in 0.01s'",
            Some("none.info"),
            "none ran",
        ),
        (
            "printf 'SF:a.py\\nDA:1,3\\n' > ten.info; echo '  10 passing (2ms)'",
            Some("ten.info"),
            "",
        ),
        (lcov, None, "needs `coverage.report`"),
        ("true", Some("*.none"), "`true` left no report"),
        ("exit 2", Some("*.none"), "left no report (exit code 2;"),
        (
            "echo 'error: no such command: `llvm-cov`'; exit 101",
            Some("*.none"),
            "is not installed: `cargo install cargo-llvm-cov` and `rustup component add llvm-tools`",
        ),
        ("echo '# tests 0'; exit 2", Some("*.none"), "left no report (exit code 2;"),
        ("echo '# tests 0'", Some("*.none"), "no tests"),
    ];
    for (command, report, reason) in table {
        let suite = shell.suite("true", |settings| {
            settings.tools.coverage = Some(command.to_owned());
            settings.tools.coverage_report = report.map(str::to_owned);
        });
        match suite.coverage(&root, &known).await {
            Measured::Lines { files, .. } => assert!(reason.is_empty() && files.len() == 1),
            Measured::NoTests { .. } if reason == "none ran" => {}
            Measured::NoTests { command, files } => {
                assert_eq!((reason, command.as_str()), ("no tests", "echo '# tests 0'"));
                let lines = files.values().map(|file| file.lines.clone()).collect::<Vec<_>>();
                assert_eq!(lines, [BTreeMap::from([(1, 0), (2, 0), (3, 0)])], "scripts alone");
            }
            Measured::Nothing { reason: found } => {
                assert!(!reason.is_empty() && found.contains(reason), "{command}: {found}");
            }
        }
    }
}

fn server(script: &str, directory: &Path) -> LineServer {
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    let directory = directory.to_owned();
    LineServer::start(&Invocation { argv, directory, environment, access: None }).unwrap()
}

#[tokio::test]
async fn a_server_answers_line_by_line_and_every_silence_ends() {
    let folder = tempfile::tempdir().unwrap();
    let limit = Duration::from_secs(10);
    let mut echo = server("cat", folder.path());
    for number in [1_u32, 2] {
        echo.send(&number).await.unwrap();
        assert_eq!(echo.receive::<u32>(limit).await.unwrap(), Some(number));
    }
    let short = Duration::from_millis(50);
    let kind = echo.receive::<u32>(short).await.unwrap_err().kind();
    assert_eq!(kind, std::io::ErrorKind::TimedOut);
    let mut ended = server("exit 0", folder.path());
    assert_eq!(ended.receive::<u32>(limit).await.unwrap(), None);
    let mut garbage = server("echo hello", folder.path());
    assert!(garbage.receive::<u32>(limit).await.is_err());
}
