//! The warm Python runner must judge candidates like a fresh start of the suite, whether it
//! replaces functions that are loaded or imports the module again.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test runs Python and reads its answers"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::support::TestRepo;

const MODULE: &str = "\
import functools


def shout(function):
    def louder(*words):
        return function(*words) + '!'
    return louder


def build():
    return [1, 2, 3]


TABLE = build()
SQUARES = [n * n for n in range(3)]


def add(a, b=1):
    return a + b


@shout
def greet(name):
    return 'hello ' + name


@functools.lru_cache
def cached(n):
    return n * 2


class Till:
    limit = 3

    def total(self, prices):
        return sum(prices)


def outer(n):
    def inner():
        return n + 1
    return inner()
";

const PYTEST: &str = "\
import pytest
import unittest

import shop


@pytest.fixture
def till():
    return shop.Till()


@pytest.mark.parametrize('a, b, c', [(1, 2, 3), (4, 5, 9)])
def test_add(a, b, c):
    assert shop.add(a, b) == c


def test_default():
    assert shop.add(1) == 2


def test_table():
    assert shop.TABLE == [1, 2, 3]


def test_squares():
    assert shop.SQUARES == [0, 1, 4]


def test_greet():
    assert shop.greet('ada') == 'hello ada!'


def test_cached():
    assert shop.cached(3) == 6


def test_till(till):
    assert till.total([1, 2]) == 3 and till.limit == 3


def test_outer():
    assert shop.outer(1) == 2


def test_skipped():
    pytest.skip('not here')


class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(shop.add(2, 2), 4)
";

const UNITTEST: &str = "\
import unittest

import shop


class Tests(unittest.TestCase):
    def test_add(self):
        self.assertEqual(shop.add(1, 2), 3)

    def test_default(self):
        self.assertEqual(shop.add(1), 2)

    def test_table(self):
        self.assertEqual(shop.TABLE, [1, 2, 3])

    def test_squares(self):
        self.assertEqual(shop.SQUARES, [0, 1, 4])

    def test_greet(self):
        self.assertEqual(shop.greet('ada'), 'hello ada!')

    def test_cached(self):
        self.assertEqual(shop.cached(3), 6)

    def test_till(self):
        self.assertEqual((shop.Till().total([1, 2]), shop.Till.limit), (3, 3))

    def test_outer(self):
        self.assertEqual(shop.outer(1), 2)

    def test_skipped(self):
        self.skipTest('not here')
";

/// The text to replace, its replacement, and the tests that must then fail, by the part of their
/// names after `test_`.
const CANDIDATES: &[(&str, &str, &[&str])] = &[
    ("a + b", "b + a", &[]),
    ("a + b", "a - b", &["add", "default", "old"]),
    ("b=1", "b=2", &["default"]),
    ("[1, 2, 3]", "[1, 2]", &["table"]),
    ("n * n for", "n + n for", &["squares"]),
    ("'hello ' + name", "name", &["greet"]),
    ("+ '!'", "+ '?'", &["greet"]),
    ("n * 2", "n * 3", &["cached"]),
    ("limit = 3", "limit = 4", &["till"]),
    ("sum(prices)", "max(prices)", &["till"]),
    ("n + 1", "n + 2", &["outer"]),
    // An endless loop also fails the tests that would run after it.
    ("    return n * 2", "    while True: pass", &["cached", "till", "outer", "skipped", "old"]),
];

#[test]
fn candidates_are_judged_by_unittest_as_by_a_fresh_start_whichever_way_they_are_tried() {
    let names =
        ["add", "default", "table", "squares", "greet", "cached", "till", "outer", "skipped"];
    let tests: Vec<String> =
        names.iter().map(|name| format!("test_shop.Tests.test_{name}")).collect();
    judge("unittest", UNITTEST, &tests);
    // So are those of a module that the tests load by its path: at once, twice, by each test, or as a script.
    let load = "\
import importlib.util


def load():
    spec = importlib.util.spec_from_file_location('loaded', 'shop.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Late:
    def __getattr__(self, name):
        return getattr(load(), name)


";
    for (how, ways) in [
        ("shop = load()", &["functions", "import"][..]),
        ("shop = load()\nload()", &["functions", "import"]),
        ("shop = Late()", &["import"]),
        (
            "import runpy, types\nshop = types.SimpleNamespace(**runpy.run_path('shop.py'))",
            &["import"],
        ),
    ] {
        let suite = UNITTEST.replace("import shop\n", &format!("{load}{how}\n"));
        assert_ne!(suite, UNITTEST);
        assert_eq!(judge("unittest", &suite, &tests), ways, "{how}");
    }
}

#[test]
#[ignore = "needs pytest"]
fn candidates_are_judged_by_pytest_as_by_a_fresh_start_whichever_way_they_are_tried() {
    let names = [
        "test_add[1-2-3]",
        "test_add[4-5-9]",
        "test_default",
        "test_table",
        "test_squares",
        "test_greet",
        "test_cached",
        "test_till",
        "test_outer",
        "test_skipped",
        "Old::test_old",
    ];
    let tests: Vec<String> = names.iter().map(|name| format!("test_shop.py::{name}")).collect();
    let ways = judge("pytest", PYTEST, &tests);
    assert_eq!(ways, ["functions", "import"]);
    // When only functions are needed, modules are loaded again instead of imported.
    let needs = ["test_till", "test_skipped", "Old::"];
    let plain: Vec<String> =
        tests.into_iter().filter(|test| !needs.iter().any(|name| test.contains(name))).collect();
    let ways = judge("pytest", PYTEST, &plain);
    assert_eq!(ways, ["functions", "modules"]);
    let frozen = format!("{PYTEST}\n\nimport gc\ngc.freeze()\n");
    assert_eq!(judge("pytest", &frozen, &plain), ["functions", "modules"]);
    // A module that keeps state in its process must not be loaded twice there.
    let counted = format!(
        r"{PYTEST}

import sys
sys.loads = getattr(sys, 'loads', 0) + 1


def test_loads():
    assert sys.loads == 1
"
    );
    let mut more = plain.clone();
    more.insert(0, "test_shop.py::test_loads".to_owned());
    let ways = judge("pytest", &counted, &more);
    assert_eq!(ways, ["functions", "import"]);
}

/// Compares every candidate with its expected failures; returns the ways they were tried.
fn judge(framework: &str, suite: &str, tests: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let file = root.join("shop.py");
    std::fs::write(&file, MODULE).unwrap();
    std::fs::write(root.join("test_shop.py"), suite).unwrap();
    let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/adapter/suite/driver");
    let mut child = Command::new("python3")
        .arg(drivers.join("warm_python.py"))
        .current_dir(root)
        .env("PYTHONPATH", root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |request: &Value| -> Value {
        writeln!(input, "{request}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let ready = ask(&json!({
        "framework": framework, "root": root, "files": [file], "tests": tests,
        "arguments": [], "from_folder": true, "trace": false,
    }));
    assert_eq!(ready, json!({"ready": true}));
    let mut ways = std::collections::BTreeSet::new();
    for (old, new, failing) in CANDIDATES {
        assert_eq!(MODULE.matches(old).count(), 1, "{old}");
        let text = MODULE.replace(old, new);
        let answer = ask(&json!({
            "sources": {file.to_str().unwrap(): text}, "tests": tests, "limit": 3.0, "stop": false,
        }));
        ways.insert(answer["way"].as_str().unwrap().to_owned());
        let passed: Vec<&str> = answer["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["status"] != "failed")
            .map(|one| one["id"].as_str().unwrap())
            .collect();
        let fails = |test: &str| {
            failing.iter().any(|name| {
                test.rsplit("test_").next().is_some_and(|end| end.split('[').next() == Some(*name))
            })
        };
        let expected: Vec<&str> =
            tests.iter().map(String::as_str).filter(|test| !fails(test)).collect();
        assert_eq!(passed, expected, "{old} -> {new}: {answer}");
    }
    drop(input);
    assert!(child.wait().unwrap().success(), "it ends when nobody asks any more");
    ways.into_iter().collect()
}

#[test]
fn a_module_with_a_byte_order_mark_is_repaired_and_keeps_it() {
    let tests = "import unittest\n\nfrom triple import triple\n\n\nclass Tests(unittest.TestCase):\n    def test_triple(self):\n        self.assertEqual((triple(2), triple(4)), (6, 12))\n";
    let module = "\u{feff}def triple(n):\r\n    return n + 3\r\n";
    let repo = TestRepo::new(&[("triple.py", module), ("test_triple.py", tests)]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    let branch = document["branch"].as_str().unwrap();
    let fixed = repo.git(&["show", &format!("{branch}:triple.py")]);
    assert!(fixed.starts_with("\u{feff}def triple(n):\r\n    return n * 3"), "{fixed:?}");
}

/// A test file that fails in a thread but not in a process, as a thread cannot change its folder.
const MOVING: &str = "\
const test = require('node:test');
const assert = require('node:assert');
const { add } = require('../src/add.js');

test('adds elsewhere', () => {
  process.chdir('/');
  assert.strictEqual(process.cwd(), '/');
  assert.strictEqual(add(2, 3), 5);
});
";

/// The same from a folder that is gone when the tests are over.
const LEAVING: &str = "\
const { test, before, after } = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const { add } = require('../src/add.js');

let folder;
before(() => process.chdir((folder = fs.mkdtempSync(`${__dirname}/at-`))));
after(() => fs.rmSync(folder, { recursive: true }));
test('adds in a folder', () => assert.strictEqual(add(fs.readdirSync('.').length, 3), 3));
";

const STAYING: &str = "\
const test = require('node:test');
const assert = require('node:assert');
const { add, count } = require('../src/add.js');

test('adds', () => assert.strictEqual(add(1, 2), 3));
test('begins anew', () => assert.strictEqual(count(), 1));
";

#[test]
#[ignore = "needs node"]
fn javascript_is_repaired_in_threads_and_where_those_differ_in_processes() {
    for suite in [STAYING, MOVING, LEAVING] {
        let repo = TestRepo::new(&[
            (
                "package.json",
                "{\"name\": \"sum\", \"scripts\": {\"test\": \"node --test test/\"}}\n",
            ),
            (
                "src/add.js",
                r"let calls = 0;

function add(a, b) {
  return a - b;
}

function count() {
  calls += 1;
  return calls;
}

module.exports = { add, count };
",
            ),
            ("test/add.test.js", suite),
        ]);
        let ran = repo.regreen(&["fix", "--json"]);
        let document = ran.document();
        assert_eq!(document["result"], "success", "{}", ran.err);
        assert!(document["patch"].as_str().unwrap().contains("+  return a + b;"), "{document}");
    }
}
