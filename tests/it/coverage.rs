//! Coverage that is measured with nothing installed for it.

use std::path::PathBuf;

use serde_json::Value;

use super::support::{Ran, TestRepo};

/// Functions that tests reach in ways that disturb a tracer.
const CART: &str = r#""""A cart."""


def price(text):
    if not text:
        raise ValueError("empty price")
    return float(text)


def deep(depth):
    return deep(depth + 1)


def delivered():
    return 3


def forked():
    return 4


def last():
    return 5


def never():
    return [
        6,
    ]
"#;

/// A module that no test loads.
const UNUSED: &str = "\"\"\"Nobody's.\"\"\"\n\n\ndef tax(price):\n    return price / 5\n";

/// What is left out of the measure, beside what is not.
const MARKED: &str = r#"import functools


class Marked:
    """A class."""

    value: int = 1


@functools.lru_cache(
    maxsize=None,
)
def debug():  # pragma: no cover
    return 1


if Marked.value > 1:  # pragma: no cover
    debug()

try:
    VALUE = Marked.value
except AttributeError:  # pragma: no cover
    VALUE = 0


def shown():
    """A function."""
    return VALUE
"#;

const TESTS: &str = r##"import os
import sys
import threading
import unittest
from unittest import mock

from shop import cart, marked


class CartTest(unittest.TestCase):
    def test_0_replaces_what_tracers_call(self):
        with mock.patch("os.path.join", None), mock.patch("os.path.normpath", None):
            self.assertEqual(cart.price("2"), 2.0)

    def test_1_prints_what_regreen_looks_for(self):
        print("# tests 0\npython3: No module named coverage", file=sys.stderr)

    def test_2_exhausts_the_stack(self):
        with self.assertRaises(RecursionError):
            cart.deep(0)

    def test_3_ends_tracing(self):
        sys.settrace(None)
        threading.settrace(None)

    def test_4_starts_a_thread(self):
        thread = threading.Thread(target=cart.delivered)
        thread.start()
        thread.join()

    def test_5_forks(self):
        child = os.fork()
        if child == 0:
            try:
                cart.forked()
                sys.exit(0)
            except SystemExit:
                os._exit(0)
        os.waitpid(child, 0)

    def test_6_is_still_counted(self):
        os.chdir("/")
        self.assertIsNone(marked.__doc__)
        cart.last()
"##;

/// Statements that decide, and what only looks like one.
const DECISIONS: &str = r#"import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os


def kinds(values):
    for value in values:
        if value == 1:
            continue
        elif (
            value == 2
            and values
        ):
            break
        if value == 3: return value
    else:
        return None
    while True:
        values = values[1:]
        if not values:
            break
    return [one for one in values if one]


def last(values):
    with open("/dev/null") as file:
        for line in file:
            print(line)
    try:
        if values[0]:
            return 1
    except IndexError:
        return 2
    finally:
        values = values or []
    if any(
        one > 1
        for one in values
    ):
        return 3


def marked(value):
    if value:  # pragma: no cover
        return 1
    if value:
        raise ValueError(value)  # pragma: no cover
    if value:  # pragma: no branch
        return 2
    return 3


def generated(count):
    while count:
        count -= 1
        if (yield count):
            yield -1


async def awaited(count):
    if await asyncio.sleep(0, count):
        return 1
    async for one in counted():
        if one:
            count += one


async def counted():
    yield 0
    yield 1


if __name__ == "__main__":
    kinds([])
"#;

const DECIDED: &str = r"import asyncio
import unittest

import decisions


class DecisionsTest(unittest.TestCase):
    def test_it(self):
        for values in ([], [1, 2], [3]):
            decisions.kinds(values)
        for values in ([], [1], [0]):
            decisions.last(values)
        decisions.marked(0)
        self.assertEqual(list(decisions.generated(2)), [1, 0])
        asyncio.run(decisions.awaited(0))
";

/// A checkout with an environment of Python beside it that holds nothing.
fn bare(files: &[(&str, &str)]) -> TestRepo {
    let repo = TestRepo::new(files);
    let environment = repo.around().join("bare").display().to_string();
    let made = repo.shell(&format!("python3 -m venv --without-pip {environment}")).status();
    assert!(made.unwrap().success());
    repo
}

fn run(repo: &TestRepo, arguments: &[&str]) -> Ran {
    let path = format!("{}:{}", bare_programs(repo), std::env::var("PATH").unwrap());
    repo.command().env("PATH", path).args(arguments).output().unwrap().into()
}

fn bare_programs(repo: &TestRepo) -> String {
    repo.around().join("bare/bin").display().to_string()
}

/// What the plan of a session with this description knows of coverage, and its lines by file.
fn measured(repo: &TestRepo, session: &str) -> (String, Value) {
    let folder: PathBuf = repo.root().join(".git/regreen/active").join(session).join(".process");
    let read = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
    };
    let package = read("context-package.json");
    (package["coverage"].as_str().unwrap().to_owned(), read("coverage-lines.json")["files"].clone())
}

/// The lines of a file that ran, or that did not.
fn lines(files: &Value, file: &str, ran: bool) -> Vec<u32> {
    let lines = files[file]["lines"].as_object().unwrap().iter();
    let chosen = lines.filter(|(_, hits)| (hits.as_u64() > Some(0)) == ran);
    let mut lines: Vec<u32> = chosen.map(|(line, _)| line.parse().unwrap()).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn lines_of_python_are_measured_without_coverage_py_whatever_tests_do() {
    let repo = bare(&[
        ("shop/__init__.py", ""),
        ("shop/cart.py", CART),
        ("shop/marked.py", MARKED),
        ("shop/unused.py", UNUSED),
        ("test_cart.py", TESTS),
        (".gitignore", "__pycache__/\n"),
    ]);
    let before = repo.belongings();
    let ran = run(&repo, &["plan", "shop", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(repo.belongings(), before);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let (coverage, files) = measured(&repo, "WFS-test-shop");
    let by = "measured by `python3 …/regreen_lines.py -m unittest discover`";
    assert!(coverage.ends_with(by) && coverage.contains(", branches 50 %"), "{coverage}");
    assert_eq!(files["shop/cart.py"]["branches"], serde_json::json!({ "5": [1, 2] }));
    let seen = lines(&files, "shop/cart.py", true);
    assert!([4, 5, 7, 10, 14, 15, 22, 23, 26].iter().all(|line| seen.contains(line)), "{files:#}");
    // Other processes are not measured, and before Python 3.12 the stack has no room for a tracer.
    let missed = lines(&files, "shop/cart.py", false);
    assert_eq!(missed.iter().filter(|line| **line != 11).collect::<Vec<_>>(), [&6, &19, &27]);
    assert_eq!(lines(&files, "shop/unused.py", false), [4, 5]);
    assert_eq!(lines(&files, "shop/marked.py", true), [1, 4, 7, 20, 21, 26]);
    assert_eq!(lines(&files, "shop/marked.py", false), [28]);
}

/// What coverage.py reports when another tracer took over: all lines, and none that ran.
const WITHOUT_DATA: &str = r#"import json
import runpy
import sys

if sys.argv[1] == "run":
    sys.argv = sys.argv[sys.argv.index("-m") + 1 :]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    files = {"shop/unused.py": {"executed_lines": [], "missing_lines": [1, 4, 5]}}
    report = {"meta": {"format": 3, "version": "7.6.1", "branch_coverage": False}, "files": files}
    with open(sys.argv[-1], "w") as file:
        json.dump(report, file)
"#;

#[test]
fn a_report_without_data_is_no_coverage_of_nothing() {
    let test = "import unittest\nfrom shop import unused\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(unused)\n";
    let repo = bare(&[
        ("coverage/__main__.py", WITHOUT_DATA),
        ("shop/__init__.py", ""),
        ("shop/unused.py", UNUSED),
        ("test_unused.py", test),
        (".gitignore", "__pycache__/\n"),
    ]);
    let ran = run(&repo, &["plan", "shop", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (coverage, files) = measured(&repo, "WFS-test-shop");
    let by = "measured by `python3 …/regreen_lines.py -m unittest discover`";
    assert!(coverage.ends_with(by) && !coverage.contains("lines 0 %"), "{coverage}");
    assert!(!lines(&files, "shop/unused.py", true).is_empty(), "{files:#}");
}

#[test]
fn tests_are_written_and_held_against_the_gates_without_coverage_py() {
    let repo = bare(&[("unused.py", UNUSED), (".gitignore", "__pycache__/\n")]);
    let ran = run(&repo, &["test", "unused.py"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let coverage = ran.out.lines().find(|line| line.starts_with("coverage ")).unwrap();
    let expected = "lines 0 to 100 % (2 of 2, at least 80 %), public functions 0 to 100 % (1 of 1, at least 90 %), \
                    counted in unused.py";
    assert_eq!(coverage.trim_start_matches("coverage").trim(), expected);
}

/// Writes tests for a function of which a half is out of reach, while the other file of its name runs.
fn half_is_covered(path: &str) {
    let half = "def tax(price):\n    if sum(map(ord, str(price))) == 987654:\n        return 0\n    return price / 5\n";
    let other = "def rest(price):\n    if price > 1:\n        price -= 1\n    return price / 5\n";
    let test = "import unittest\nfrom b import utils\n\n\nclass T(unittest.TestCase):\n    def test_rest(self):\n        self.assertEqual(utils.rest(6), 1)\n";
    let repo = bare(&[
        ("pkg/a/__init__.py", ""),
        ("pkg/a/utils.py", half),
        ("pkg/b/__init__.py", ""),
        ("pkg/b/utils.py", other),
        ("pkg/test_b.py", test),
        (".gitignore", "__pycache__/\n"),
    ]);
    let mut command = repo.command();
    command.env("PATH", path.replace("BARE", &bare_programs(&repo)));
    let ran = command.current_dir(repo.root().join("pkg")).args(["test", "a/utils.py"]).output();
    let ran = Ran::from(ran.unwrap());
    let expected = "coverage    lines 0 to 75 % (3 of 4, at least 80 %, too few)";
    assert!(ran.out.contains(expected), "{}\n{}", ran.out, ran.err);
}

#[test]
fn a_file_of_the_same_name_elsewhere_does_not_count() {
    half_is_covered(&format!("BARE:{}", std::env::var("PATH").unwrap()));
}

#[test]
#[ignore = "needs coverage.py; a_file_of_the_same_name_elsewhere_does_not_count always runs"]
fn nor_does_it_by_coverage_py() {
    half_is_covered(&std::env::var("PATH").unwrap());
}

#[test]
fn a_program_that_does_not_start_is_not_measured() {
    let repo = bare(&[("files.json", "[]")]);
    let tracer = concat!(env!("CARGO_MANIFEST_DIR"), "/src/adapter/suite/driver/regreen_lines.py");
    let ran = repo.shell(&format!("../bare/bin/python {tracer} . -m not_there")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "No module named not_there\n");
    assert!(!ran.status.success() && !repo.root().join("report").exists());
}

/// What follows a statement is known from the lines that run one after the other, by `sys.monitoring` as well
/// as by `sys.settrace`.
#[test]
fn branches_of_python_are_measured_by_every_tracer() {
    let repo = bare(&[("decisions.py", DECISIONS), ("test_decisions.py", DECIDED)]);
    let tracer = concat!(env!("CARGO_MANIFEST_DIR"), "/src/adapter/suite/driver/regreen_lines.py");
    let is_there = |python: &&str| {
        let ran = repo.shell(&format!("{python} -c 'import asyncio'")).output();
        ran.unwrap().status.success()
    };
    let all = ["../bare/bin/python", "python3.11", "python3.12", "python3.13", "python3.14"];
    for python in all.into_iter().filter(is_there) {
        let list = serde_json::to_string(&[repo.root().join("decisions.py")]).unwrap();
        repo.write(&[("files.json", &list)]);
        let ran = repo.shell(&format!("{python} {tracer} . -m unittest -q")).output().unwrap();
        assert!(ran.status.success(), "{python}: {}", String::from_utf8_lossy(&ran.stderr));
        let text = std::fs::read_to_string(repo.root().join("report")).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        let file = report["files"].as_object().unwrap().values().next().unwrap();
        let heads = |key: &str| -> Vec<u64> {
            let arcs = file[key].as_array().unwrap().iter();
            arcs.map(|arc| arc[0].as_u64().unwrap()).collect()
        };
        let taken = [9, 9, 10, 10, 12, 12, 17, 22, 22, 29, 32, 32, 38, 50, 56, 56, 58, 63, 65, 65];
        let missing = [17, 29, 38, 58, 63, 75];
        assert_eq!(heads("executed_branches"), [&taken[..], &[66, 66, 75]].concat(), "{python}");
        assert_eq!(heads("missing_branches"), missing, "{python}");
        assert_eq!(file["missing_lines"], serde_json::json!([30, 42, 51, 59, 64, 76]), "{python}");
    }
}

#[test]
fn a_file_that_tests_cover_through_another_one_misses_none() {
    let source = "def fee(amount):\n    if amount < 0:\n        raise ValueError(amount)\n    return amount // 10\n";
    let test = "import unittest\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(shop.fee(20), 2)\n        self.assertRaises(ValueError, shop.fee, -1)\n";
    let repo = bare(&[
        ("shop/__init__.py", "from .core import fee\n"),
        ("shop/core.py", source),
        ("test_shop.py", test),
        (".gitignore", "__pycache__/\n"),
    ]);
    let ran = run(&repo, &["test", "shop/core.py"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains("no test is missing here"), "{}", ran.out);
    let coverage = "tests reach 1 of 1 file, lines 100 %, branches 100 %";
    assert!(ran.out.contains(coverage), "{}", ran.out);
}

/// Some lines of a script run, in a file with comments, a default export and closing brackets of every kind.
#[test]
fn the_lines_of_a_script_are_counted_as_node_counts_them() {
    let script = "/**\n * Keeps a number inside of bounds.\n */\nexport function clamp(n, low, high) {\n  if (n < low) {\n    return low;\n  }\n\n  // Not below.\n  return n > high ? high : n;\n}\n\nexport const far = (n) => {\n  switch (n) {\n    case 1:\n      return 2;\n    default:\n      return [n].map((one) => {\n        return one + 1;\n      });\n  }\n};\n\nexport class Till {\n  pay(n) {\n    return n;\n  }\n\n  back(n) {\n    return -n;\n  }\n}\n";
    let test = "import assert from 'node:assert';\nimport { test } from 'node:test';\nimport { clamp, far, Till } from '../src/clamp.js';\n\ntest('clamp', () => {\n  assert.equal(clamp(5, 1, 9), 5);\n  assert.equal(far(1), 2);\n  assert.equal(new Till().pay(1), 1);\n});\n";
    let repo = TestRepo::new(&[
        (
            "package.json",
            "{\"type\": \"module\", \"scripts\": {\"test\": \"node --test test/\"}}\n",
        ),
        ("src/clamp.js", script),
        ("test/clamp.test.js", test),
    ]);
    let ran = repo.regreen(&["plan", "src/clamp.js", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (_, files) = measured(&repo, "WFS-test-src-clamp-js");
    let (ran, not) = (lines(&files, "src/clamp.js", true), lines(&files, "src/clamp.js", false));
    let theirs = repo.shell("node --test --experimental-test-coverage test/").output().unwrap();
    let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
    let row = theirs.lines().find(|line| line.contains("clamp.js")).unwrap();
    let percent: f64 = row.split('|').nth(1).unwrap().trim().parse().unwrap();
    let number = |lines: &[u32]| f64::from(u32::try_from(lines.len()).unwrap());
    let ours = 100.0 * number(&ran) / (number(&ran) + number(&not));
    assert!((percent - ours).abs() < 0.01, "{row} {not:?}");
}

/// Real modules, with tests that use a part of each.
const USES: &str = r#"import unittest

from real import json, marked, shlex, textwrap


class RealTest(unittest.TestCase):
    def test_json(self):
        value = {"a": [1, 2.5, None, True, "\u20ac"]}
        self.assertEqual(json.loads(json.dumps(value)), value)
        json.dumps([1, {"b": ()}], indent=2, sort_keys=True)
        with self.assertRaises(ValueError):
            json.loads("{")

    def test_shlex(self):
        self.assertEqual(shlex.split("a 'b c' \\d"), ["a", "b c", "d"])
        self.assertEqual(shlex.quote("a b"), "'a b'")
        list(shlex.shlex("a && b; c", punctuation_chars=True))
        self.assertIsNone(marked.__doc__)

    def test_textwrap(self):
        textwrap.fill("a long text with words " * 9, 20, initial_indent="* ")
        self.assertEqual(textwrap.dedent("  a\n  b"), "a\nb")
"#;

#[test]
#[ignore = "needs coverage.py"]
fn coverage_py_comes_first_and_names_the_same_lines_and_branches_of_real_modules() {
    let own = [("real/__init__.py", ""), ("real/marked.py", MARKED)];
    let repo = bare(&[
        own[0],
        own[1],
        ("real/decisions.py", DECISIONS),
        ("test_real.py", USES),
        ("test_decisions.py", &DECIDED.replace("import decisions", "from real import decisions")),
        (".gitignore", "__pycache__/\n"),
    ]);
    let copy = "cd \"$(python3 -c 'import json, os; print(os.path.dirname(os.path.dirname(json.__file__)))')\" && cp -r json shlex.py textwrap.py";
    let copied = repo.shell(&format!("{copy} {}/real", repo.root().display())).status();
    assert!(copied.unwrap().success());
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "second"]);
    let ran = repo.regreen(&["plan", "real", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (theirs, expected) = measured(&repo, "WFS-test-real");
    assert!(theirs.contains("; measured by `python3 -m coverage run --branch -m "), "{theirs}");
    let ran = run(&repo, &["plan", "real", "--fresh", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (ours, files) = measured(&repo, "WFS-test-real-2");
    assert!(ours.contains("; measured by `python3 …/regreen_lines.py -m "), "{ours}");
    for file in expected.as_object().unwrap().keys() {
        for ran in [true, false] {
            assert_eq!(lines(&files, file, ran), lines(&expected, file, ran), "{file} {ran}");
        }
        assert_eq!(files[file]["branches"], expected[file]["branches"], "{file}");
    }
    assert!(lines(&expected, "real/json/decoder.py", true).len() > 30, "{expected:#}");
}

#[test]
#[ignore = "needs node; a_configured_coverage_command_is_measured_or_says_why_not always runs"]
fn a_project_of_node_without_tests_has_no_lines_that_run() {
    let package = r#"{ "type": "module", "scripts": { "test": "node --test" } }"#;
    let source = "export function price(text) {\n  return Number(text);\n}\n";
    let repo = TestRepo::new(&[("package.json", package), ("price.js", source)]);
    let ran = repo.regreen(&["plan", "price.js", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (coverage, files) = measured(&repo, "WFS-test-price-js");
    let tail = "node --test` runs no test";
    assert!(coverage.starts_with("0 of 1 file have tests; not measured: `"), "{coverage}");
    assert!(coverage.ends_with(tail), "{coverage}");
    assert_eq!(lines(&files, "price.js", false), [1, 2, 3]);
}

/// Branches of a script in two processes, of which each takes a part.
const FEES: &str = r"// Fees.
export function fee(kind, options = {}) {
  const rate = options.rate ?? 2;
  if (kind === 'free' || options.free) return 0;
  switch (kind) {
    case 'small':
    case 'tiny':
      return rate;
    default:
      return kind?.length > 3 ? rate * 2 : rate * 3;
  }
}
";

#[test]
#[ignore = "needs node; branches_of_scripts_are_those_of_istanbul always runs"]
fn branches_of_scripts_are_measured_by_node_itself() {
    let package = r#"{ "type": "module", "scripts": { "test": "node --test" } }"#;
    let test = |call: &str, expected: &str| {
        format!(
            "import assert from 'node:assert';\nimport test from 'node:test';\nimport {{ fee }} from './fees.js';\n\ntest('it', () => assert.equal({call}, {expected}));\n"
        )
    };
    let repo = TestRepo::new(&[
        ("package.json", package),
        ("fees.js", FEES),
        ("a.test.js", &test("fee('tiny')", "2")),
        ("b.test.js", &test("fee('large', { rate: 3 })", "6")),
    ]);
    let ran = repo.regreen(&["plan", "fees.js", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (coverage, files) = measured(&repo, "WFS-test-fees-js");
    assert!(coverage.contains(", branches 72 %, "), "{coverage}");
    let expected = serde_json::json!({ "3": [2, 2], "4": [3, 4], "6": [0, 1], "7": [1, 1], "9": [1, 1], "10": [1, 2] });
    assert_eq!(files["fees.js"]["branches"], expected);
}
