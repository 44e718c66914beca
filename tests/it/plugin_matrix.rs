//! Suites with the plugins and options that people have: the counts are those of the runner itself, the
//! seeded bug is repaired, and nothing false is said.

#![expect(clippy::unwrap_used, reason = "a test runs the runner itself beside regreen")]

use std::sync::{Mutex, PoisonError};

use super::frameworks::npm_install;
use super::support::{Ran, TestRepo, plugin_python};

/// What no session says of these projects.
const FALSE: &[&str] =
    &["edits little", "disk space", "nothing to try", "permissions", "exit code 3", "node_modules"];

const RIGHT: &str = "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result\n\n\ndef half(price):\n    return price / 2\n";

const TESTS: &str = "import pytest\n\nfrom price import half, total\n\n\n@pytest.mark.parametrize('number', range(6))\ndef test_half(number):\n    assert half(2 * number) == number\n\n\ndef test_total():\n    assert total([1, 2, 3]) == 6\n\n\n@pytest.mark.skip\ndef test_later():\n    pass\n";

/// A plugin of pytest: what switches it off, options that projects give it, and tests that need it.
struct Plugin {
    name: &'static str,
    off: &'static str,
    options: &'static str,
    tests: &'static str,
}

const PLUGINS: &[Plugin] = &[
    Plugin {
        name: "xdist",
        off: "xdist",
        options: "-n 2",
        tests: "def test_worker(worker_id):\n    assert worker_id\n",
    },
    Plugin {
        name: "rerunfailures",
        off: "rerunfailures",
        options: "--reruns 2",
        tests: "RUNS = []\n\n\ndef test_second_time():\n    RUNS.append(1)\n    assert len(RUNS) > 1\n",
    },
    Plugin {
        name: "cov",
        off: "pytest_cov",
        options: "--cov=price --cov-fail-under=60",
        tests: "def test_cov(cov):\n    pass\n",
    },
    Plugin {
        name: "randomly",
        off: "randomly",
        options: "",
        tests: "import random\n\nVALUE = random.random()\n\n\ndef test_random():\n    assert random.random() != VALUE\n",
    },
    Plugin {
        name: "timeout",
        off: "timeout",
        options: "--timeout=20",
        tests: "import time\n\nimport pytest\n\n\n@pytest.mark.xfail(strict=True)\n@pytest.mark.timeout(0.3)\ndef test_limit():\n    time.sleep(1.5)\n",
    },
    Plugin { name: "sugar", off: "sugar", options: "", tests: "def test_sweet():\n    pass\n" },
    Plugin {
        name: "asyncio",
        off: "asyncio",
        options: "--asyncio-mode=auto",
        tests: "import asyncio\n\nfrom price import total\n\n\nasync def test_async():\n    await asyncio.sleep(0)\n    assert total([4]) == 4\n",
    },
    Plugin {
        name: "django",
        off: "django",
        options: "--ds=settings",
        tests: "import pytest\n\n\n@pytest.mark.django_db\ndef test_database():\n    from django.db import connection\n\n    connection.cursor().execute('select 1')\n",
    },
    Plugin {
        name: "mock",
        off: "pytest_mock",
        options: "",
        tests: "import price\n\n\ndef test_mock(mocker):\n    mocker.patch('price.half', return_value=7)\n    assert price.half(1) == 7\n",
    },
    Plugin {
        name: "benchmark",
        off: "benchmark",
        options: "--benchmark-max-time=0.01",
        tests: "from price import half\n\n\ndef test_speed(benchmark):\n    assert benchmark(half, 4) == 2\n",
    },
];

const SETTINGS: &str = "SECRET_KEY = 'x'\nUSE_TZ = True\nDATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\n";

/// A project in which these plugins take part, with more options in its settings, on the command line, and
/// more tests.
#[derive(Clone, Default)]
struct Row {
    plugins: Vec<&'static str>,
    options: &'static str,
    typed: &'static str,
    tests: &'static str,
    /// Tests that fail besides the one that the bug fails, and that no edit repairs.
    others: u64,
}

impl Row {
    fn with(plugins: &[&'static str]) -> Self {
        Self { plugins: plugins.to_vec(), ..Self::default() }
    }

    fn name(&self) -> String {
        format!("{} {} {}", self.plugins.join("+"), self.options, self.typed)
    }

    fn repository(&self) -> TestRepo {
        let is_on = |plugin: &Plugin| self.plugins.contains(&plugin.name);
        let options = PLUGINS.iter().map(|plugin| match is_on(plugin) {
            true if plugin.name == "xdist"
                && !(self.options.is_empty() && self.typed.is_empty()) =>
            {
                String::new()
            }
            true => plugin.options.to_owned(),
            false => format!("-p no:{}", plugin.off),
        });
        let options: Vec<String> = options.chain([self.options.to_owned()]).collect();
        let wrong = RIGHT.replace("+=", "-=");
        let settings = format!("[pytest]\npythonpath = .\naddopts = {}\n", options.join(" "));
        let mut files = vec![
            ("price.py".to_owned(), wrong.as_str()),
            ("settings.py".to_owned(), SETTINGS),
            ("pytest.ini".to_owned(), &settings),
            (".gitignore".to_owned(), ".coverage*\n__pycache__/\n.benchmarks/\n.pytest_cache/\n"),
            ("tests/test_price.py".to_owned(), TESTS),
        ];
        let own = PLUGINS.iter().filter(|plugin| is_on(plugin));
        files.extend(own.map(|plugin| (format!("tests/test_{}.py", plugin.name), plugin.tests)));
        if !self.tests.is_empty() {
            files.push(("tests/test_more.py".to_owned(), self.tests));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        TestRepo::new(&files)
    }
}

fn is_false(said: &str) -> Option<&'static str> {
    FALSE.iter().find(|text| said.contains(**text)).copied()
}

/// Passed and failed tests in the closing line of pytest.
fn counts_of(line: &str) -> (u64, u64) {
    let count = |word: &str| {
        let part = line.split(", ").find(|part| part.split_whitespace().nth(1) == Some(word))?;
        part.split_whitespace().next()?.parse::<u64>().ok()
    };
    let of = |words: &[&str]| words.iter().filter_map(|word| count(word)).sum();
    (of(&["passed", "xpassed"]), of(&["failed", "error", "errors"]))
}

fn counts_in(document: &serde_json::Value) -> (u64, u64) {
    let of = |name: &str| document["initial"][name].as_u64().unwrap_or_default();
    (of("passed"), of("failed"))
}

/// What is wrong with a row; nothing where all holds.
fn check_row(row: &Row, python: &str) -> Vec<String> {
    let repo = row.repository();
    let typed = format!("{python} -m pytest {}", row.typed);
    let own = repo
        .shell(&format!("{typed} --maxfail=0 -p no:sugar -p no:cacheprovider"))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&own.stdout).into_owned();
    let line = printed.lines().rfind(|line| line.contains(" in ")).unwrap_or_default();
    let line = line.trim_matches(|c| "= ".contains(c)).to_owned();
    let command = ["fix", "--json", "--providers", "embedded", "--test-command", typed.trim_end()];
    let ran = repo.regreen(&command);
    let Ok(document) = serde_json::from_str::<serde_json::Value>(&ran.out) else {
        return vec![format!("no document: {:?} {}", ran.code, ran.err)];
    };
    let mut wrong = Vec::new();
    if counts_in(&document) != counts_of(&line) {
        wrong.push(format!("{:?} instead of `{line}`", counts_in(&document)));
    }
    if document["last"]["failed"] != row.others {
        wrong.push(format!("left: {}", document["last"]));
    }
    wrong.extend(unrepaired(&repo, &ran, "price.py", RIGHT));
    wrong
}

/// What is wrong with the branch of a session and with what it said.
fn unrepaired(repo: &TestRepo, ran: &Ran, file: &str, right: &str) -> Vec<String> {
    let name = format!("regreen/WFS-test-main:{file}");
    let fixed = repo.shell(&format!("git show {name}")).output().unwrap();
    let mut wrong = Vec::new();
    if String::from_utf8_lossy(&fixed.stdout) != right {
        wrong.push(format!("not repaired: {}", ran.err));
    }
    let said = format!("{}{}", ran.out, ran.err);
    wrong.extend(is_false(&said).map(|text| format!("says `{text}`: {}", ran.err)));
    wrong
}

/// Checks rows, two at a time.
fn check_all<T: Sync>(
    rows: &[T],
    name: impl Fn(&T) -> String + Sync,
    check: impl Fn(&T) -> Vec<String> + Sync,
) {
    let next = Mutex::new(rows.iter());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(row) = next.lock().unwrap_or_else(PoisonError::into_inner).next()
                    else {
                        break;
                    };
                    let wrong = check(row);
                    if !wrong.is_empty() {
                        failed.lock().unwrap().push(format!(
                            "{}:\n{}",
                            name(row),
                            wrong.join("\n")
                        ));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

const DIES: &str = "import os\nimport signal\n\n\ndef test_native():\n    os.kill(os.getpid(), signal.SIGSEGV)\n\n\ndef test_after():\n    pass\n";

const GROUP: &str = "import pytest\n\nfrom price import total\n\n\n@pytest.mark.xdist_group('money')\ndef test_group():\n    assert total([]) == 0\n";

#[test]
#[ignore = "needs the plugins of pytest"]
fn a_worker_that_dies_is_a_failing_test_where_all_others_pass() {
    let repo = Row { tests: DIES, ..Row::with(&["xdist"]) }.repository();
    repo.write(&[("price.py", RIGHT)]);
    repo.git(&["commit", "-qam", "Repair the total"]);
    let typed = format!("{} -m pytest", plugin_python());
    let command = ["fix", "--json", "--providers", "embedded", "--max-iterations", "1"];
    let ran = repo.regreen(&[&command[..], &["--test-command", &typed]].concat());
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, counts_in(&document)), (Some(1), (9, 1)), "{}", ran.err);
    assert!(ran.out.contains("tests/test_more.py::test_native"), "{}", ran.out);
    assert_eq!(is_false(&ran.err), None, "{}", ran.err);
}

#[test]
#[ignore = "needs the plugins of pytest"]
fn a_test_in_which_workers_die_again_and_again_fails_once() {
    let row = Row { tests: DIES, options: "-n 2", ..Row::with(&["xdist", "rerunfailures"]) };
    let repo = row.repository();
    let typed = format!("{} -m pytest", plugin_python());
    let ran = repo.regreen(&[
        "fix",
        "--json",
        "--dry-run",
        "--providers",
        "embedded",
        "--test-command",
        &typed,
    ]);
    assert!(ran.out.contains("tests/test_more.py::test_native"), "{} {}", ran.out, ran.err);
    assert!(!ran.err.contains("announces"), "{}", ran.err);
}

#[test]
#[ignore = "needs the plugins of pytest"]
fn plugins_of_pytest_change_neither_counts_nor_repairs() {
    let all: Vec<_> = PLUGINS.iter().map(|plugin| plugin.name).collect();
    let rows = [
        Row::with(&["xdist"]),
        Row { typed: "-n 2", ..Row::with(&["xdist"]) },
        Row::with(&["xdist", "rerunfailures"]),
        Row { options: "-q", ..Row::with(&["xdist", "rerunfailures"]) },
        Row { tests: DIES, others: 1, ..Row::with(&["xdist"]) },
        Row::with(&["cov"]),
        Row::with(&["timeout"]),
        Row::with(&all),
    ];
    let python = plugin_python();
    check_all(&rows, Row::name, |row| check_row(row, &python));
}

#[test]
#[ignore = "needs the plugins of pytest"]
fn every_plugin_of_pytest_alone_and_with_xdist() {
    let mut rows = vec![
        Row { options: "-n 2 --dist loadfile", ..Row::with(&["xdist"]) },
        Row { options: "-n 2 --dist loadgroup", tests: GROUP, ..Row::with(&["xdist"]) },
        Row { options: "-n auto --dist worksteal", ..Row::with(&["xdist"]) },
        Row { options: "--maxfail=1", ..Row::with(&["randomly"]) },
    ];
    for plugin in PLUGINS.iter().filter(|plugin| plugin.name != "xdist") {
        rows.push(Row::with(&[plugin.name]));
        rows.push(Row::with(&["xdist", plugin.name]));
    }
    let python = plugin_python();
    check_all(&rows, Row::name, |row| check_row(row, &python));
}

/// Files, the file with the bug and its right text, the test command, and the counts of the first run.
type OtherRow<'a> = (&'a [(&'a str, &'a str)], (&'a str, &'a str, &'a str), &'a str, (u64, u64));

fn check_other((files, (file, right, wrong), command, counts): &OtherRow<'_>) -> Vec<String> {
    let repo = TestRepo::new(&[files, &[(*file, *wrong)][..]].concat());
    if files.iter().any(|(_, text)| text.contains("devDependencies")) {
        npm_install(&repo);
    }
    let typed = ["--test-command", command];
    let typed = if command.is_empty() { &[][..] } else { &typed };
    let ran = repo.regreen(&[&["fix", "--json", "--providers", "embedded"], typed].concat());
    let Ok(document) = serde_json::from_str::<serde_json::Value>(&ran.out) else {
        return vec![format!("no document: {:?} {}", ran.code, ran.err)];
    };
    let mut found = Vec::new();
    if counts_in(&document) != *counts {
        found.push(format!("{:?} instead of {counts:?}", counts_in(&document)));
    }
    found.extend(unrepaired(&repo, &ran, file, right));
    found
}

/// What is wrong with a session that repairs the bug and is not green, as its command goes on failing.
fn check_unmet(
    repo: &TestRepo,
    command: &[&str],
    shown: &str,
    file: &str,
    right: &str,
) -> Vec<String> {
    let ran = repo.regreen(&[&["fix", "--providers", "embedded"], command].concat());
    let mut wrong = unrepaired(repo, &ran, file, right);
    let says = format!("Every test passes, but `{shown}` ends with exit code 1. 1 test regained.");
    let said = format!("{}{}", ran.out, ran.err);
    if ran.code != Some(1) || !said.contains(&says) {
        wrong.push(format!("not `{says}`: {:?} {said}", ran.code));
    }
    wrong
}

#[test]
#[ignore = "needs the plugins of pytest"]
fn a_coverage_of_pytest_that_is_not_met_is_said_after_the_repair() {
    let repo = Row { options: "--cov-fail-under=99", ..Row::with(&["cov"]) }.repository();
    let unused =
        RIGHT.replace("+=", "-=") + "\n\ndef unused(price):\n    price += 1\n    return price\n";
    repo.write(&[("price.py", unused.as_str())]);
    repo.git(&["commit", "-qam", "Add what no test calls"]);
    let typed = format!("{} -m pytest", plugin_python());
    let right = unused.replace("-=", "+=");
    let wrong = check_unmet(&repo, &["--test-command", &typed], &typed, "price.py", &right);
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
#[ignore = "needs the plugins of pytest"]
fn tests_that_a_run_left_out_are_not_regained() {
    let repo = Row {
        tests: "from price import total\n\n\ndef test_first():\n    assert total([1]) == 1\n",
        ..Row::default()
    }
    .repository();
    let typed = format!("{} -m pytest -x", plugin_python());
    let ran = repo.regreen(&["fix", "--providers", "embedded", "--test-command", &typed]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(unrepaired(&repo, &ran, "price.py", RIGHT), Vec::<String>::new());
    let said = format!("{}{}", ran.out, ran.err);
    for text in ["the report announces 9 tests and holds 1;", "Every test passes. 1 test regained."]
    {
        assert!(said.contains(text), "{text}: {said}");
    }
}

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.org/price\n\ngo 1.21\n"),
    (
        "price_test.go",
        "package price\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Fatal(\"half\")\n\t}\n}\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]int{1, 2, 3}); got != 6 {\n\t\tt.Fatalf(\"got %d, want 6\", got)\n\t}\n}\n",
    ),
];
const GO_RIGHT: &str = "package price\n\nfunc Half(n int) int { return n / 2 }\n\nfunc Total(prices []int) int {\n\tresult := 0\n\tfor _, price := range prices {\n\t\tresult += price\n\t}\n\treturn result\n}\n";

#[cfg(feature = "slow-tests")]
#[test]
fn options_of_go_and_node_change_neither_counts_nor_repairs() {
    // Without a model, what does not compile is what is repaired in Go.
    let go_wrong = GO_RIGHT.replace("return result\n", "return reslt\n");
    let go = ("price.go", GO_RIGHT, go_wrong.as_str());
    let node: &[(&str, &str)] = &[
        ("package.json", "{\"type\": \"module\"}"),
        (
            "price.test.js",
            "import test from 'node:test';\nimport assert from 'node:assert';\nimport { half, total } from './price.js';\ntest('half', () => assert.equal(half(4), 2));\ntest('total', () => assert.equal(total([1, 2, 3]), 6));\n",
        ),
    ];
    let right = "export const half = (n) => n / 2;\nexport function total(prices) {\n  let result = 0;\n  for (const price of prices) {\n    result += price;\n  }\n  return result;\n}\n";
    let wrong = right.replace("+=", "-=");
    let js = ("price.js", right, wrong.as_str());
    let rows: [OtherRow<'_>; 6] = [
        (GO, go, "go test -shuffle=on ./...", (0, 1)),
        (GO, go, "go test -count=2 ./...", (0, 1)),
        (GO, go, "go test -failfast ./...", (0, 1)),
        (node, js, "node --test --test-reporter=dot", (1, 1)),
        (node, js, "node --test --test-reporter=junit --test-reporter-destination=out.xml", (1, 1)),
        (node, js, "node --test --test-concurrency=1", (1, 1)),
    ];
    check_all(&rows, |row| row.2.to_owned(), check_other);
}

#[test]
#[ignore = "needs the npm registry"]
fn options_of_jest_and_vitest_change_neither_counts_nor_repairs() {
    let tests = "test('half', () => expect(half(4)).toBe(2));\ntest('total', () => expect(total([1, 2, 3])).toBe(6));\n";
    let jest_test = format!(
        "const {{ half, total }} = require('./price');\nlet runs = 0;\njest.retryTimes(2);\ntest('second time', () => {{ runs += 1; expect(runs).toBeGreaterThan(1); }});\n{tests}"
    );
    let jest_right = "exports.half = (n) => n / 2;\nexports.total = (prices) => {\n  let result = 0;\n  for (const price of prices) {\n    result += price;\n  }\n  return result;\n};\n";
    let jest_wrong = jest_right.replace("+=", "-=");
    let vitest_right = jest_right.replace("exports.", "export const ");
    let vitest_wrong = vitest_right.replace("+=", "-=");
    let vitest_test = format!(
        "import {{ expect, test }} from 'vitest';\nimport {{ half, total }} from './price';\nlet runs = 0;\ntest('second time', () => {{ runs += 1; expect(runs).toBeGreaterThan(1); }});\n{tests}"
    );
    let ignore = (".gitignore", "node_modules\npackage-lock.json\ncoverage\n");
    let jest = [
        (
            "package.json",
            r#"{"devDependencies": {"jest": "^29"}, "jest": {"bail": 1, "collectCoverage": true, "coverageThreshold": {"global": {"lines": 60}}}}"#,
        ),
        ("price.test.js", jest_test.as_str()),
        ("z.test.js", "test('later', () => {});\n"),
        ignore,
    ];
    let vitest = [
        (
            "package.json",
            r#"{"type": "module", "devDependencies": {"vitest": "^3", "@vitest/coverage-v8": "^3"}}"#,
        ),
        (
            "vitest.config.js",
            "export default { test: { retry: 2, bail: 1, coverage: { enabled: true, thresholds: { lines: 60 } } } };\n",
        ),
        ("price.test.js", vitest_test.as_str()),
        ignore,
    ];
    let js = ("price.js", jest_right, jest_wrong.as_str());
    let module = ("price.js", vitest_right.as_str(), vitest_wrong.as_str());
    let mut script = jest;
    script[0].1 = r#"{"scripts": {"test": "jest --coverage --bail"}, "devDependencies": {"jest": "^29"}, "jest": {"coverageThreshold": {"global": {"lines": 60}}}}"#;
    let rows: [OtherRow<'_>; 6] = [
        (&script, js, "", (3, 1)),
        (&jest, js, "npx jest --bail", (3, 1)),
        (&jest, js, "npx jest", (3, 1)),
        (&jest, js, "npx jest --shard=1/1 --coverage", (3, 1)),
        (&vitest, module, "npx vitest run", (2, 1)),
        (&vitest, module, "npx vitest run --shard=1/1 --coverage", (2, 1)),
    ];
    check_all(&rows, |row| row.2.to_owned(), check_other);
}

#[test]
#[ignore = "needs the npm registry"]
fn a_threshold_of_the_test_script_that_is_not_met_is_said_after_the_repair() {
    let right = "const total = (prices) => {\n  let result = 0;\n  for (const price of prices) {\n    result += price;\n  }\n  return result;\n};\nconst unused = (price) => {\n  price += 1;\n  return price;\n};\n";
    let test = "test('total', () => expect(total([1, 2, 3])).toBe(6));\ntest('none', () => expect(total([])).toBe(0));\n";
    let rows = [
        (
            "jest --coverage",
            r#"{"scripts": {"test": "jest --coverage"}, "devDependencies": {"jest": "^29"}, "jest": {"coverageThreshold": {"global": {"lines": 99}}}}"#,
            format!("{right}module.exports = {{ total, unused }};\n"),
            format!("const {{ total }} = require('./price');\n{test}"),
        ),
        (
            "vitest run --coverage --coverage.thresholds.lines=99",
            r#"{"type": "module", "scripts": {"test": "vitest run --coverage --coverage.thresholds.lines=99"}, "devDependencies": {"vitest": "^3", "@vitest/coverage-v8": "^3"}}"#,
            format!("{right}export {{ total, unused }};\n"),
            format!(
                "import {{ expect, test }} from 'vitest';\nimport {{ total }} from './price';\n{test}"
            ),
        ),
    ];
    let check = |(shown, package, right, test): &(&str, &str, String, String)| {
        let wrong = right.replacen("result +=", "result -=", 1);
        let repo = TestRepo::new(&[
            ("package.json", package),
            ("price.js", &wrong),
            ("price.test.js", test),
            (".gitignore", "node_modules\npackage-lock.json\ncoverage\n"),
        ]);
        npm_install(&repo);
        check_unmet(&repo, &[], shown, "price.js", right)
    };
    check_all(&rows, |row| row.0.to_owned(), check);
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_thread_that_runs_while_tests_load_makes_candidates_cold_and_ends_no_session() {
    let conftest = "import threading\n\nthreading.Thread(target=threading.Event().wait, daemon=True, name='keeper').start()\n";
    let wrong = RIGHT.replace("+=", "-=");
    let repo = TestRepo::new(&[
        ("price.py", wrong.as_str()),
        ("conftest.py", conftest),
        ("test_price.py", TESTS),
    ]);
    let ran = repo.regreen(&["fix", "--json", "--providers", "embedded"]);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
    let why = "threads run while the tests are loaded: keeper";
    assert_eq!(ran.err.matches(why).count(), 1, "the log says why, once: {}", ran.err);
    assert_eq!(unrepaired(&repo, &ran, "price.py", RIGHT), Vec::<String>::new());
}
