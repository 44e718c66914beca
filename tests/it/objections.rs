//! "Every test passes, the command does not": edits are judged by the tests, kept and offered, and the
//! run is not green.

use super::frameworks::npm_install;
use super::support::{TestRepo, plugin_python};

/// A runner of checks that writes a JUnit report, ends with 1 where one fails, and goes on with
/// `more.py` otherwise.
const RUNNER: &str = r#"import html
import os
import runpy
import sys
import traceback

sys.path[:0] = [os.getcwd()]
from tests import test_shop

rows, failed = [], 0
for name, call in test_shop.ALL:
    try:
        call()
        rows.append(f'<testcase classname="checks" name="{name}"/>')
    except Exception:
        failed += 1
        text = html.escape(traceback.format_exc())
        rows.append(f'<testcase classname="checks" name="{name}"><failure message="fails">{text}</failure></testcase>')
with open("report.xml", "w") as report:
    report.write("<testsuite>" + "".join(rows) + "</testsuite>")
sys.exit(1) if failed else runpy.run_path("more.py")
"#;

const CHECKS: &str = r"import shop


def same(actual, expected):
    assert actual == expected, f'{actual} is not {expected}'


ALL = [
    ('total', lambda: same(shop.total([1, 2, 3]), 6)),
    ('nothing', lambda: same(shop.total([]), 0)),
]
";

const RIGHT: &str = "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result\n";

/// What such a command does after its checks: the threshold of a runner, and a process that fails late.
const MORE: &str = "import sys\n\nprint('coverage is 71 %, and 90 % are required')\nsys.exit(2)\n";

const COMMAND: [&str; 4] = ["--test-command", "python3 run.py", "--report", "report.xml"];

fn repository(shop: &str, more: &str) -> TestRepo {
    TestRepo::new(&[
        ("run.py", RUNNER),
        ("tests/__init__.py", ""),
        ("tests/test_shop.py", CHECKS),
        ("shop.py", shop),
        ("more.py", more),
        (".gitignore", "report.xml\n"),
    ])
}

fn fix<'a>(options: &[&'a str]) -> Vec<&'a str> {
    [&["fix"], options, &COMMAND[..]].concat()
}

#[test]
fn a_command_that_fails_for_more_than_tests_ends_at_once_and_says_its_last_lines() {
    let repo = repository(RIGHT, MORE);
    let ran = repo.regreen(&fix(&[]));
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains("Not green: 100.0 % pass, the command does not"), "{}", ran.out);
    let reason = "Every test passes already, but `python3 run.py` ends with exit code 2.";
    assert!(ran.out.contains(reason), "{}", ran.out);
    assert_eq!(ran.out.matches("coverage is 71 %").count(), 1, "{}", ran.out);
    assert!(!ran.err.contains("iteration 1"), "nothing is searched: {}", ran.err);
    assert!(!ran.out.contains("--resume"), "another search would help nobody: {}", ran.out);
}

#[test]
fn what_repairs_the_tests_is_kept_and_offered_where_the_command_fails_for_more() {
    let repo = repository(&RIGHT.replace("+=", "-="), MORE);
    let ran = repo.regreen(&fix(&["--json"]));
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["result"], "failure");
    let reason = "every test passes, but `python3 run.py` ends with exit code 2";
    assert_eq!(document["reason"], reason);
    let tail = document["objections"][0]["command"]["tail"].as_str().unwrap_or_default();
    assert_eq!(tail, "coverage is 71 %, and 90 % are required");
    let iterations = document["iterations"].as_array().expect("iterations");
    assert_eq!((iterations.len(), &iterations[0]["outcome"]), (1, &"improved".into()));
    assert!(document["minimised"]["complete"].as_bool().unwrap(), "{document:#}");
    assert_eq!(ran.err.matches("coverage is 71 %").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("after 1 iteration, the command does not"), "{}", ran.err);
    assert!(ran.err.contains("git merge --squash regreen/WFS-test-main"), "{}", ran.err);
    let fixed = repo.git(&["show", "regreen/WFS-test-main:shop.py"]);
    assert_eq!(format!("{fixed}\n"), RIGHT);
    let tip = repo.git(&["ls-tree", "-r", "--name-only", "regreen/WFS-test-main"]);
    assert!(!tip.contains(".workflow"), "the tip can be merged: {tip}");
    let report = repo.regreen(&["report", "WFS-test-main"]);
    assert_eq!(report.out.matches("coverage is 71 %").count(), 1, "{}", report.out);
    // A later run finds the tests repaired and the command corrected.
    repo.git(&["merge", "-q", "regreen/WFS-test-main"]);
    repo.write(&[("more.py", "")]);
    repo.git(&["commit", "-qam", "cover more"]);
    let again = repo.regreen(&fix(&[]));
    assert_eq!(again.code, Some(0), "{}\n{}", again.out, again.err);
}

#[test]
#[ignore = "needs the plugins of pytest"]
fn a_threshold_of_coverage_is_not_green_and_no_failing_test() {
    let extra = "\n\ndef unused():\n    first = 1\n    second = 2\n    return first + second\n";
    let wrong = RIGHT.replace("+=", "-=") + extra;
    let test = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n";
    let options = "[pytest]\naddopts = --cov=shop --cov-fail-under=90\n";
    let repo =
        TestRepo::new(&[("shop.py", &wrong), ("test_shop.py", test), ("pytest.ini", options)]);
    let typed = format!("{} -m pytest", plugin_python());
    let ran = repo.regreen(&["fix", "--json", "--test-command", &typed]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["initial"]["failed"], 1, "{document:#}");
    assert_eq!(document["last"]["passed"], 1, "{document:#}");
    assert!(document["patch"].as_str().unwrap().contains("+        result += price"));
    assert_eq!(ran.err.matches("Required test coverage of 90").count(), 1, "{}", ran.err);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn a_threshold_of_jest_is_not_green_and_no_failing_test() {
    let package = r#"{"name": "shop", "scripts": {"test": "jest"}, "devDependencies": {"jest": "^29"},
        "jest": {"collectCoverage": true, "coverageThreshold": {"global": {"functions": 90}}}}"#;
    let shop = "exports.total = prices => prices.reduce((sum, price) => sum - price, 0);\nexports.unused = () => 1;\n";
    let test = "const { total } = require('./shop');\ntest('total', () => expect(total([1, 2])).toBe(3));\n";
    let repo = TestRepo::new(&[
        ("package.json", package),
        ("shop.js", shop),
        ("shop.test.js", test),
        (".gitignore", "node_modules\npackage-lock.json\ncoverage\n"),
    ]);
    npm_install(&repo);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(
        (&document["initial"]["failed"], &document["last"]["passed"]),
        (&1.into(), &1.into())
    );
    assert!(document["patch"].as_str().unwrap().contains("sum + price"), "{document:#}");
    assert_eq!(ran.err.matches("threshold for functions").count(), 1, "{}", ran.err);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn a_rejection_that_vitest_finds_late_is_not_green_and_its_cache_no_reason() {
    let late = "import { test } from 'vitest';\ntest('late', () => { setTimeout(() => { Promise.reject(new Error('socket closed')); }, 5); });\ntest('waits', () => new Promise(done => setTimeout(done, 50)));\n";
    for (name, expected) in [("late.test.js", 1), ("late.js", 0)] {
        let repo = TestRepo::new(&[
            (
                "package.json",
                r#"{"type": "module", "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "^2"}}"#,
            ),
            ("shop.js", "export const half = price => price * 2;\n"),
            (
                "shop.test.js",
                "import { test, expect } from 'vitest';\nimport { half } from './shop.js';\ntest('half', () => expect(half(6)).toBe(3));\n",
            ),
            (name, late),
            (".gitignore", "node_modules\npackage-lock.json\n"),
        ]);
        npm_install(&repo);
        let ran = repo.regreen(&["fix", "--json"]);
        let document = ran.document();
        assert_eq!(ran.code, Some(expected), "{name}: {document:#}\n{}", ran.err);
        assert!(document["patch"].as_str().unwrap().contains("price / 2"), "{name}: {document:#}");
        let times = ran.err.matches("socket closed").count();
        assert_eq!(times > 0, expected == 1, "{name}: {}", ran.err);
    }
}

#[test]
#[ignore = "needs node"]
fn a_test_script_is_green_only_where_all_of_it_is() {
    let package =
        r#"{"scripts": {"test": "node --test unit.test.js && npm run e2e", "e2e": "node e2e.js"}}"#;
    let unit = "const { total } = require('./shop');\nrequire('node:test')('total', () => require('node:assert').equal(total([1, 2]), 3));\n";
    let right = "exports.total = prices => prices.reduce((sum, price) => sum + price, 0);\n";
    let wrong = right.replace("sum + price", "sum - price");
    let fails = "console.log('1 of 3 pages does not open');\nprocess.exit(1);\n";
    let says = "console.log('  2 failing');\n";
    for (shop, script, code, reason) in [
        (right, "", 0, "every test passes already"),
        (right, fails, 1, "every test passes already, but `npm test` ends with exit code 1"),
        (&wrong, fails, 1, "every test passes, but `npm test` ends with exit code 1"),
        (
            right,
            says,
            1,
            "every test passes already, but `npm test` ends with 0 although its output says \"2 failing\"",
        ),
    ] {
        let repo = TestRepo::new(&[
            ("package.json", package),
            ("shop.js", shop),
            ("unit.test.js", unit),
            ("e2e.js", script),
        ]);
        let ran = repo.regreen(&["fix", "--json"]);
        let document = ran.document();
        assert_eq!(ran.code, Some(code), "{document:#}\n{}", ran.err);
        assert_eq!(document["reason"], reason, "{document:#}");
        assert_eq!(document["last"]["failed"], 0, "{document:#}");
    }
}

#[test]
fn a_process_that_waits_for_a_thread_when_its_tests_are_over_ends_and_is_no_success() {
    let code = r#"import threading, time

def add(a, b):
    return a - b

def start():
    thread = threading.Thread(target=time.sleep, args=(3600,), name="clock")
    thread.start()
    return thread
"#;
    let test = r"import unittest
from calc import add, start

class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_start(self):
        self.assertTrue(start().is_alive())
";
    for command in ["python3 -m pytest", "python3 -m unittest"] {
        let repo = TestRepo::new(&[("calc.py", code), ("test_calc.py", test)]);
        let options = ["fix", "--json", "--test-timeout", "60s", "--test-command", command];
        let ran = repo.regreen(&options);
        let document = ran.document();
        assert_eq!(document["result"], "failure", "{document:#}\n{}", ran.err);
        assert_eq!(document["last"]["passed"], 2, "{document:#}");
        let tail = document["objections"][0]["command"]["tail"].as_str().unwrap_or_default();
        let line =
            "Error: the process did not end within 5 s after its last test and waits for: clock";
        assert!(tail.contains(line), "{document:#}");
    }
}
