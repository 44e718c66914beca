//! The runner for files of `node --test` that stays alive, started as a process as regreen does.

#![expect(
    clippy::disallowed_methods,
    reason = "the driver and its files are real ones in a folder of the test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::adapter::host::process::{self, Invocation};
use crate::adapter::suite::format::driver_lines;
use crate::adapter::suite::line_server::LineServer;
use crate::domain::test::Status;

const DRIVER: &str = include_str!("../driver/warm_node.mjs");
const APPEND: &str = include_str!("../driver/append_record.cjs");
const REPORTER: &str = include_str!("../driver/node_reporter.mjs");
const PRELOAD: &str = include_str!("../driver/node_tests.cjs");
const END: &str = include_str!("../driver/process_end.cjs");
const LIMIT: &str = include_str!("../driver/sync_limit.cjs");

/// A module, and tests that fail where anything is left of an earlier run.
const MODULE: &str = "let calls = 0;\nexports.next = () => (calls += 1);\n";
const LEAVES_NOTHING: &str = "const test = require('node:test');
const assert = require('node:assert');
const { next } = require('./counter');
test('patched', () => {
  assert.strictEqual([].left, undefined);
  Object.defineProperty(Array.prototype, 'left', { value: 'yes' });
  require('node:os').homedir();
  require('node:os').homedir = () => assert.fail('left');
});
test('first', () => {
  assert.deepStrictEqual([process.env.LEFT, globalThis.left, next()], [undefined, undefined, 1]);
  process.env.LEFT = globalThis.left = 'yes';
});
test('second', () => assert.strictEqual(next(), 2));
";
const HOOKS: &str = "const { test, beforeEach } = require('node:test');
const assert = require('node:assert');
let runs = 0;
beforeEach(() => (runs += 1));
test('once', () => assert.strictEqual(runs, 1));
";
const MODERN: &str = "import test from 'node:test';
import assert from 'node:assert';
import { value } from './value.mjs';
test('imports', () => assert.strictEqual(value, 1));
test.run();
";

/// What it leaves behind keeps its thread alive.
const STAYS: &str = "import test from 'node:test';
setInterval(() => {}, 1000);
test('stays', () => {});
";

const WAITS: &str = "const test = require('node:test');
test('waits', async () => { await require('./counter').next(); });
";

/// A test that replaces what regreen could use to run the next ones.
const HOSTILE: &str = "const test = require('node:test');
const assert = require('node:assert');
const { Script } = require('node:vm');
const fs = require('node:fs');
const limited = Symbol.for('regreen.limited');
test('patches', () => {
  Reflect.apply = performance.now = () => {};
  fs.writeFileSync = fs.appendFileSync = fs.writeSync = () => {};
  Script.prototype.runInThisContext = () => {};
  Object.getPrototypeOf(Script.prototype).runInContext = () => {};
});
test('fails', () => assert.fail('must be seen'));
test('traps', () => {
  Object.defineProperty(globalThis, limited, { configurable: true, get: () => () => {}, set() {} });
});
test('fails behind it', () => assert.fail('must be seen'));
";

/// Two tests of a helper, of which one computes without end.
const HELPED: &str = "const { check } = require('./helper');
process.argv = ['node', 'cli'];
check('ends', () => {});
check('loops', () => { for (;;); });
";
const HELPER: &str = "const test = require('node:test');
exports.check = (name, run) => test(name, run);
";

struct Runner {
    server: LineServer,
    folder: tempfile::TempDir,
}

impl Runner {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("warm_node.mjs", DRIVER),
            ("node_reporter.mjs", REPORTER),
            ("append_record.cjs", APPEND),
            ("node_tests.cjs", PRELOAD),
            ("process_end.cjs", END),
            ("sync_limit.cjs", LIMIT),
            ("hostile.test.js", HOSTILE),
            ("helped.test.js", HELPED),
            ("helper.js", HELPER),
            ("counter.js", MODULE),
            ("leaves.test.js", LEAVES_NOTHING),
            ("hooks.test.js", HOOKS),
            ("modern.test.mjs", MODERN),
            ("waits.test.js", WAITS),
            ("stays.test.mjs", STAYS),
            ("value.mjs", "export const value = 1;\n"),
        ];
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let path = |name: &str| folder.path().join(name).display().to_string();
        let argv = vec![
            "node".to_owned(),
            format!("--require={}", path("node_tests.cjs")),
            format!("--test-reporter={}", path("node_reporter.mjs")),
            "--test-reporter-destination=stderr".to_owned(),
            path("warm_node.mjs"),
            path("report"),
        ];
        let environment = BTreeMap::from([
            ("PATH".to_owned(), std::env::var("PATH").unwrap()),
            ("REGREEN_CASES".to_owned(), path("report")),
            ("REGREEN_COMPUTING_LIMIT".to_owned(), "1".to_owned()),
        ]);
        let directory = folder.path().to_owned();
        let invocation = Invocation { argv, directory, environment, access: None };
        let mut server = LineServer::start(&invocation).unwrap();
        let ready: serde_json::Value =
            server.receive(Duration::from_secs(20)).await.unwrap().unwrap();
        assert_eq!(ready["ready"], true);
        Self { server, folder }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Whether a run of a file ended, and how many of its tests passed and failed.
    async fn run(&mut self, file: &str, changed: &[&str], limit: f64) -> (bool, usize, usize) {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let changed: Vec<String> = changed.iter().map(|name| path(name)).collect();
        let request = serde_json::json!({ "file": path(file), "changed": changed, "limit": limit });
        self.server.send(&request).await.unwrap();
        let answer: serde_json::Value =
            self.server.receive(Duration::from_mins(1)).await.unwrap().unwrap();
        let text = fs::read_to_string(path("report")).unwrap_or_default();
        let cases = driver_lines::parse(&text).cases;
        let count = |status| cases.iter().filter(|case| case.status == Some(status)).count();
        (answer["ended"] == true, count(Status::Passed), count(Status::Failed))
    }
}

#[tokio::test]
#[ignore = "needs node"]
async fn each_run_of_a_file_starts_with_what_the_first_one_had() {
    let mut runner = Runner::start().await;
    for _ in 0..3 {
        let changed = ["counter.js"];
        assert_eq!(runner.run("leaves.test.js", &changed, 20.0).await, (true, 3, 0));
        assert_eq!(runner.run("hooks.test.js", &[], 20.0).await, (true, 1, 0));
        assert_eq!(runner.run("modern.test.mjs", &["value.mjs"], 20.0).await, (true, 1, 0));
        assert_eq!(runner.run("stays.test.mjs", &[], 20.0).await, (true, 1, 0));
    }
}

#[tokio::test]
#[ignore = "needs node"]
async fn nothing_that_a_test_replaces_makes_the_next_one_pass() {
    let mut runner = Runner::start().await;
    for _ in 0..2 {
        assert_eq!(runner.run("hostile.test.js", &[], 20.0).await, (true, 2, 2));
    }
}

#[tokio::test]
#[ignore = "needs node"]
async fn tests_of_a_helper_belong_to_its_caller_and_one_that_loops_fails_alone() {
    let mut runner = Runner::start().await;
    for _ in 0..2 {
        assert_eq!(runner.run("helped.test.js", &[], 20.0).await, (true, 1, 1));
        let report = fs::read_to_string(runner.folder.path().join("report")).unwrap();
        let cases = driver_lines::parse(&report).cases;
        assert!(cases.iter().all(|case| case.id.contains("helped.test.js::")), "{report}");
    }
}

#[tokio::test]
#[ignore = "needs node"]
async fn a_candidate_is_read_anew_and_its_end_is_not_that_of_the_next() {
    let mut runner = Runner::start().await;
    let changed = ["counter.js"];
    let table = [
        ("as it is", MODULE.to_owned(), 20.0, (true, 3, 0)),
        ("wrong", MODULE.replace("+= 1", "+= 2"), 20.0, (true, 1, 2)),
        ("does not load", MODULE.replace("let", "throw"), 20.0, (true, 0, 0)),
        ("as it is", MODULE.to_owned(), 20.0, (true, 3, 0)),
        ("ends the thread", format!("process.exit(0);\n{MODULE}"), 20.0, (true, 0, 0)),
        ("hangs", MODULE.replace("(calls += 1)", "{ for (;;); }"), 0.5, (false, 0, 0)),
        ("as it is", MODULE.to_owned(), 20.0, (true, 3, 0)),
    ];
    for (why, text, limit, expected) in table {
        runner.write("counter.js", &text);
        assert_eq!(runner.run("leaves.test.js", &changed, limit).await, expected, "{why}");
    }
    let never = MODULE.replace("(calls += 1)", "new Promise(() => {})");
    for (text, expected) in [(MODULE, (true, 1, 0)), (&never, (true, 0, 1)), (MODULE, (true, 1, 0))]
    {
        runner.write("counter.js", text);
        assert_eq!(runner.run("waits.test.js", &changed, 20.0).await, expected, "{text}");
    }
    for (value, expected) in [(2, (true, 0, 1)), (1, (true, 1, 0))] {
        runner.write("value.mjs", &format!("export const value = {value};\n"));
        assert_eq!(runner.run("modern.test.mjs", &["value.mjs"], 20.0).await, expected);
    }
}

/// A process of its own, as in a run of the whole suite.
#[tokio::test]
#[ignore = "needs node"]
async fn a_process_ends_although_it_waits_for_something_when_its_tests_are_over() {
    let runner = Runner::start().await;
    let body = "setInterval(() => {}, 1000);\ntest('ends', () => new Promise((resolve) => setTimeout(resolve, 1500)));\n";
    runner.write("left.test.js", &format!("const test = require('node:test');\n{body}"));
    let path = |name: &str| runner.folder.path().join(name).display().to_string();
    let argv = vec![
        "node".to_owned(),
        "--test".to_owned(),
        format!("--require={}", path("node_tests.cjs")),
        format!("--test-reporter={}", path("node_reporter.mjs")),
        "--test-reporter-destination=stderr".to_owned(),
        "left.test.js".to_owned(),
    ];
    let environment = BTreeMap::from([
        ("PATH".to_owned(), std::env::var("PATH").unwrap()),
        ("REGREEN_CASES".to_owned(), path("left")),
        ("REGREEN_TEST_LIMIT".to_owned(), "1".to_owned()),
    ]);
    let directory = runner.folder.path().to_owned();
    let invocation = Invocation { argv, directory, environment, access: None };
    let log = runner.folder.path().join("log");
    let ending = process::run(&invocation, Duration::from_mins(1), &log).await.unwrap();
    let report = fs::read_to_string(path("left")).unwrap();
    let cases = driver_lines::parse(&report).cases;
    let statuses: Vec<_> = cases.iter().map(|case| case.status.unwrap()).collect();
    assert_eq!(statuses, [Status::Passed, Status::Failed], "{report} {ending:?}");
    let message = "the process did not end within 1 s after its last test and waits for: Timeout";
    assert_eq!(cases[1].message, message);
}
