//! Configured test commands: what is run and shown is what was asked for, and a command that fails is
//! never green.

use serde_json::Value;

use super::support::{CALC, TestRepo, plugin_python, sample_step};

/// A repository whose framework would be detected as unittest, and whose tests all pass.
const GREEN: &[(&str, &str)] = &[
    ("shop.py", "def total(prices):\n    return sum(prices)\n"),
    (
        "test_shop.py",
        "import unittest\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(shop.total([1, 2]), 3)\n\n    def test_nothing(self):\n        self.assertEqual(shop.total([]), 0)\n",
    ),
    (
        "checks/check_shop.py",
        "import unittest\nimport shop\n\n\nclass C(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(shop.total([1]), 1)\n",
    ),
    ("checks/__init__.py", ""),
    ("fails.sh", "echo 'the price list is out of date'; exit 4\n"),
    ("unittest.sh", "sh fails.sh\n"),
    ("tap.sh", "echo 1..1; echo 'ok 1 - sums'; sh fails.sh\n"),
];

fn look(repo: &TestRepo, command: &str) -> Value {
    let ran = repo.regreen(&["fix", "--dry-run", "--json", "--test-command", command]);
    ran.document()
}

#[test]
fn a_command_that_fails_is_never_green_whatever_words_it_contains() {
    let repo = TestRepo::new(GREEN);
    for command in [
        "sh unittest.sh",
        "python3 -m unittest && sh fails.sh",
        "python3 -m unittest discover; sh fails.sh",
        "cargo=1 sh fails.sh # cargo test",
        "echo ok; sh fails.sh",
    ] {
        let ran =
            repo.regreen(&["fix", "--json", "--max-iterations", "1", "--test-command", command]);
        let document = ran.document();
        assert_eq!(ran.code, Some(1), "{command}: {document:#}\n{}", ran.err);
        assert_eq!(document["initial"]["failed"], 1, "{command}: {document:#}");
        assert_eq!(document["failing-tests"][0]["test"], command, "{command}: {document:#}");
        assert!(ran.err.contains("leaves no report, so that it counts as one test"), "{}", ran.err);
        assert!(ran.err.contains("the price list is out of date"), "{command}: {}", ran.err);
    }
    let ran = repo.regreen(&["fix", "--json", "--test-command", "sh tap.sh"]);
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    let reason = "every test passes already, but `sh tap.sh` ends with exit code 4";
    assert_eq!(ran.document()["reason"], reason);
    for command in ["", "  "] {
        let ran = repo.regreen(&["fix", "--json", "--test-command", command]);
        assert_eq!(ran.code, Some(3), "{command}: {}\n{}", ran.out, ran.err);
        assert!(ran.err.contains("reported no tests"), "{command}: {}", ran.err);
    }
}

#[test]
fn nothing_is_edited_behind_a_command_that_names_no_check() {
    let check = "import calc\n\ndef check():\n    for value, want in [(5, 3), (2, 2), (-1, 0)]:\n        got = calc.clamp(value, 0, 3)\n        if got != want:\n            raise SystemExit(f'clamp({value}) is {got}, expected {want}')\n";
    let files = [
        CALC,
        &[
            ("checks/__init__.py", ""),
            ("checks/core.py", check),
            ("check.py", "from checks import core\n\ncore.check()\n"),
            ("Makefile", "check:\n\t@python3 check.py\n"),
        ],
    ]
    .concat();
    let repo = TestRepo::new(&files);
    let ran = repo.regreen(&["fix", "--json", "--test-command", "make check"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
    assert_eq!(document["initial"]["failed"], 1, "{document:#}");
    assert_eq!(document["patch"], "", "{document:#}");
    let reason = document["reason"].as_str().unwrap();
    assert!(reason.contains("its output names no place"), "{reason}");
}

#[test]
fn places_that_a_command_names_are_not_denied() {
    let module = "def double(n):\n    \"\"\"\n    >>> double(2)\n    4\n    >>> double(3)\n    6\n    \"\"\"\n    return n + 2\n";
    let repo = TestRepo::new(&[("price.py", module)]);
    let command = "python3 -m doctest price.py";
    let ran = repo.regreen(&["fix", "--json", "--test-command", command]);
    let document = ran.document();
    assert_eq!(document["patch"], "", "{document:#}\n{}", ran.err);
    let reason = document["reason"].as_str().unwrap();
    assert!(reason.contains("does not say at which of the places that it names"), "{reason}");
}

#[test]
fn the_check_that_a_command_without_a_report_names_leads_to_the_product() {
    let script = "const assert = require('assert');\nconst { clamp } = require('../lib/clamp');\nassert.strictEqual(clamp(2, 3), 2);\nassert.strictEqual(clamp(5, 3), 3);\n";
    let lib =
        "exports.clamp = (value, top) => {\n  if (value < top) return top;\n  return value;\n};\n";
    let check = "from calc import clamp\n\nassert clamp(2, 0, 3) == 2\nassert clamp(-1, 0, 3) == 0\nassert clamp(5, 0, 3) == 3, clamp(5, 0, 3)\n";
    let makefile = "check:\n\tpython3 check.py\n";
    let rows = [
        ("make check", [CALC, &[("check.py", check), ("Makefile", makefile)]].concat(), "calc.py"),
        (
            "node scripts/verify.js",
            vec![("lib/clamp.js", lib), ("scripts/verify.js", script)],
            "lib/clamp.js",
        ),
    ];
    for (command, files, file) in rows {
        let repo = TestRepo::new(&files);
        let ran = repo.regreen(&["fix", "--json", "--test-command", command]);
        let document = ran.document();
        let patch = document["patch"].as_str().unwrap();
        assert!(patch.contains(&format!("--- a/{file}")), "{command}: {document:#}\n{}", ran.err);
        assert_eq!(patch.matches("--- a/").count(), 1, "{patch}");
        let reason = document["reason"].as_str().unwrap();
        assert!(
            reason.contains("only its exit code and its output say so: a person must confirm"),
            "{reason}"
        );
    }
}

#[test]
fn a_committed_file_that_the_pattern_of_reports_matches_stays_and_is_no_report() {
    let writes = "import calc, os, sys\nsize = os.path.getsize('fixtures/sample.xml')\nwrong = calc.total([1, 2]) != 3 or not size\nbad = '<failure message=\"x\"/>' if wrong else ''\nif 'quiet' not in sys.argv:\n    with open('r.xml', 'w') as out:\n        out.write(f'<testsuite name=\"p\" tests=\"1\"><testcase name=\"t\">{bad}</testcase></testsuite>')\nsys.exit(wrong)\n";
    let sample = "<testsuite name=\"s\" tests=\"1\"><testcase name=\"s\"><failure message=\"x\"/></testcase></testsuite>\n";
    let total = "def total(values):\n    result = 0\n    for value in values:\n        result -= value\n    return result\n";
    let repo = TestRepo::new(&[
        ("calc.py", total),
        ("check.py", writes),
        ("fixtures/sample.xml", sample),
        (".gitignore", "r.xml\n"),
    ]);
    let quiet =
        repo.regreen(&["fix", "--test-command", "python3 check.py quiet", "--report", "**/*.xml"]);
    assert_eq!(quiet.code, Some(3), "{}", quiet.err);
    assert!(quiet.err.contains("wrote no file that matches"), "{}", quiet.err);
    let ran = repo.regreen(&[
        "fix",
        "--json",
        "--test-command",
        "python3 check.py",
        "--report",
        "**/*.xml",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let document = ran.document();
    assert!(
        document["patch"].as_str().unwrap().contains("+        result += value"),
        "{document:#}"
    );
}

#[cfg(feature = "slow-tests")]
#[test]
fn the_report_of_pytest_leads_to_the_product() {
    let tests = "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\ndef test_none():\n    assert total([]) == 0\n";
    let total = "def total(prices):\n    result = 0\n    for price in prices:\n        result += price\n    return result\n";
    let names = "NAMES = ['ann', 'bob']\nFIRST = NAMES[1 + 1]\n\n\n";
    let rows = [
        (total.replace("+=", "-="), 1, "+        result += price"),
        (format!("{names}{total}"), 0, "+FIRST = NAMES[1 "),
    ];
    for (product, passed, repair) in rows {
        let command = "python3 -m pytest -q --junitxml=reports/junit.xml";
        for options in [&["--test-command", command, "--report", "reports/*.xml"][..], &[]] {
            let repo = TestRepo::new(&[("shop.py", &product), ("test_shop.py", tests)]);
            let ran = repo.regreen(&[&["fix", "--json"], options].concat());
            let document = ran.document();
            assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
            assert_eq!(document["initial"]["passed"], passed, "{document:#}");
            assert_eq!(document["last"]["passed"], 2, "{document:#}");
            let patch = document["patch"].as_str().unwrap();
            assert!(patch.contains(repair), "{patch}");
        }
    }
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_name_that_go_does_not_know_is_repaired_behind_go_run() {
    let repo = TestRepo::new(&[
        ("go.mod", "module example.org/price\n\ngo 1.21\n"),
        (
            "price/price.go",
            "package price\n\nfunc Total(prices []int) int {\n\tresult := 0\n\tfor _, price := range prices {\n\t\tresult += price\n\t}\n\treturn resul\n}\n",
        ),
        (
            "cmd/check/main.go",
            "package main\n\nimport (\n\t\"os\"\n\n\t\"example.org/price/price\"\n)\n\nfunc main() {\n\tif price.Total([]int{1, 2}) != 3 {\n\t\tos.Exit(1)\n\t}\n}\n",
        ),
    ]);
    let ran = repo.regreen(&["fix", "--json", "--test-command", "go run ./cmd/check"]);
    let document = ran.document();
    let patch = document["patch"].as_str().unwrap();
    assert!(patch.contains("+\treturn result"), "{document:#}\n{}", ran.err);
    assert_eq!(document["result"], "partial_success", "{document:#}");
}

#[test]
fn a_shell_script_leads_to_the_module_that_it_names() {
    let script = "echo 1..2\nout=$(python3 -c 'from calc import clamp; print(clamp(2, 0, 3))')\nif [ \"$out\" = 2 ]; then echo 'ok 1 - inside'; else echo 'not ok 1 - inside'; fi\nout=$(python3 -c 'from calc import clamp; print(clamp(5, 0, 3))')\nif [ \"$out\" = 3 ]; then echo 'ok 2 - above'; else echo 'not ok 2 - above'; fi\n";
    let repo = TestRepo::new(&[CALC, &[("check.sh", script)]].concat());
    let ran = repo.regreen(&["fix", "--json", "--test-command", "sh check.sh"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    let patch = document["patch"].as_str().unwrap();
    assert!(patch.contains("--- a/calc.py") && !patch.contains("check.sh"), "{patch}");
}

#[test]
fn unittest_runs_the_tests_that_the_command_names() {
    let repo = TestRepo::new(GREEN);
    for (command, count) in [
        ("python3 -m unittest", 2),
        ("python3 -m unittest -k nothing", 1),
        ("python3 -B -m unittest test_shop.T.test_total", 1),
        ("python3 -m unittest -v test_shop.py", 2),
        ("python3 -m unittest discover -s checks -t . -p 'check_*.py'", 1),
        ("X=1 python3 -m unittest discover -p 'test_s*.py'", 2),
    ] {
        let own = repo.shell(&format!("{command} 2>&1")).output().unwrap();
        let own = String::from_utf8_lossy(&own.stdout).into_owned();
        assert!(own.contains(&format!("Ran {count} test")), "{command}: {own}");
        let document = look(&repo, command);
        assert_eq!(document["initial"]["passed"], count, "{command}: {document:#}");
        assert_eq!(document["initial"]["failed"], 0, "{command}");
    }
}

#[test]
fn the_file_that_the_command_runs_is_a_test_and_the_product_is_repaired() {
    let check = "import calc\n\nprint('1..2')\nfor number, (value, want) in enumerate([(5, 3), (2, 2)], 1):\n    if calc.clamp(value, 0, 3) == want:\n        print('ok', number, '-', value)\n    else:\n        print('not ok', number, '-', value)\n";
    let files = [CALC, &[("check.py", check)]].concat();
    let repo = TestRepo::new(&files);
    let ran = repo.regreen(&["fix", "--json", "--test-command", "python3 check.py"]);
    let document = ran.document();
    let patch = document["patch"].as_str().unwrap_or_default();
    assert!(!patch.contains("check.py"), "{document:#}\n{}", ran.err);
    assert_eq!(document["initial"]["failed"], 1, "{document:#}");
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_check_that_no_product_can_satisfy_is_not_edited_however_the_command_reaches_it() {
    let check = "import calc\n\n\ndef same(got, want):\n    return got == want\n\n\nprint('1..2')\nfor number, want in enumerate([2, 9], 1):\n    right = same(calc.clamp(2, 0, 3), want)\n    print('ok' if right else 'not ok', number, '-', want)\n    if not right:\n        print('  ---\\n  message: differs\\n  stack: File \"stage/cmp.py\", line 5, in same\\n  ...')\n";
    let package = r#"{"scripts": {"test": "npm run check", "check": "python3 stage/cmp.py"}}"#;
    let files = [
        CALC,
        &[
            ("stage/cmp.py", check),
            ("go.sh", "exec python3 \"$(dirname \"$0\")/stage/cmp.py\"\n"),
            ("Makefile", "PY ?= python3\nall:\n\ttrue\ncheck: stage/cmp.py\n\t@$(PY) $<\n"),
            ("package.json", package),
        ],
    ]
    .concat();
    let repo = TestRepo::new(&files);
    let commands = [
        "make check",
        "python3 -m stage.cmp",
        "sh go.sh",
        "env PYTHONPATH=. timeout 60 python3 -X dev stage/cmp.py",
        "sh -c 'python3 stage/cmp.py'",
    ];
    for command in commands.iter().step_by(sample_step(1, 3)) {
        let command = format!("export PYTHONPATH=.; {command}");
        let ran =
            repo.regreen(&["fix", "--json", "--max-iterations", "1", "--test-command", &command]);
        let document = ran.document();
        assert_eq!(document["initial"]["failed"], 1, "{command}: {document:#}\n{}", ran.err);
        let patch = document["patch"].as_str().unwrap_or_default();
        assert!(!patch.contains("cmp.py"), "{command}: {patch}");
        assert_eq!(ran.code, Some(1), "{command}: {}", ran.err);
    }
}

/// A test that no alarm ends, beside two that fail.
const HANGING: &[(&str, &str)] = &[
    ("shop.py", "def total(prices):\n    return -sum(prices)\n"),
    (
        "test_shop.py",
        "import time\nimport unittest\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_a_long_wait(self):\n        while True:\n            try:\n                time.sleep(100)\n            except BaseException:\n                pass\n\n    def test_one(self):\n        self.assertEqual(shop.total([1]), 1)\n\n    def test_two(self):\n        self.assertEqual(shop.total([1, 2]), 3)\n",
    ),
];

fn a_test_that_hangs_fails_alone(command: &str, name: &str) {
    let repo = TestRepo::new(HANGING);
    let flags = ["fix", "--json", "--dry-run", "--budget-minutes", "0.4", "--test-timeout", "6s"];
    let ran = repo.regreen(&[&flags[..], &["--test-command", command]].concat());
    let document = ran.document();
    assert_eq!(document["initial"]["failed"], 3, "{document:#}\n{}", ran.err);
    let said = "the test did not end, and the run was stopped after 6 s";
    assert!(ran.out.contains(name) && ran.out.contains(said), "{document:#}\n{}", ran.err);
}

#[test]
fn a_test_of_unittest_that_hangs_fails_alone() {
    a_test_that_hangs_fails_alone("python3 -m unittest", "test_shop.T.test_a_long_wait");
}

#[test]
#[ignore = "needs pytest"]
fn a_test_of_pytest_that_hangs_fails_alone() {
    a_test_that_hangs_fails_alone("python3 -m pytest", "test_shop.py::T::test_a_long_wait");
}

#[test]
fn tests_of_the_same_name_are_several() {
    let repo = TestRepo::new(&[(
        "tap.sh",
        "echo 1..3; echo 'ok 1 - adds'; echo 'not ok 2 - adds'; echo 'ok 3 - adds'\n",
    )]);
    let document = look(&repo, "sh tap.sh");
    assert_eq!(document["initial"]["passed"], 2, "{document:#}");
    assert_eq!(document["initial"]["failed"], 1, "{document:#}");
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs tox"]
fn tox_passes_the_report_of_pytest_on() {
    // An environment that tox makes sees only what is installed for the system, and pytest need not be.
    let python = plugin_python();
    let settings = format!(
        "[tox]\nskipsdist = true\n[testenv]\nallowlist_externals = *\ncommands = {python} -m pytest\n"
    );
    let repo = TestRepo::new(&[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        ("test_calc.py", "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n"),
        ("conftest.py", ""),
        ("tox.ini", &settings),
    ]);
    let document = look(&repo, "tox -q");
    assert_eq!(document["initial"]["failed"], 1, "{document:#}");
}

/// Runs a command that hides its runner's exit code, whose output has this line.
fn assert_hidden(repo: &TestRepo, command: &str, line: &str) {
    let ran = repo.regreen(&["fix", "--json", "--max-iterations", "1", "--test-command", command]);
    let document = ran.document();
    assert_eq!(ran.code, Some(1), "{command}: {document:#}\n{}", ran.err);
    assert_eq!(document["initial"]["failed"], 1, "{command}: {document:#}");
    let said = format!("{document}{}", ran.err);
    assert!(said.contains("it ends with 0 although its output says"), "{command}: {said}");
    assert!(said.contains(line) && said.contains("set -o pipefail"), "{command}: {said}");
}

#[test]
fn an_exit_code_that_a_command_hides_is_never_green() {
    let sums = "import unittest\nfrom calc import clamp\n\nclass Sums(unittest.TestCase):\n    def test_clamp(self):\n        self.assertEqual(clamp(5, 0, 3), 3)\n\n    def test_price(self):\n        self.assertEqual(clamp(2, 0, 3), 2)\n";
    let tests = "from calc import clamp\n\ndef test_clamp():\n    assert clamp(5, 0, 3) == 3\n";
    let wrapper = "import pytest\n\npytest.main(['-q', 'checks_of_calc.py'])\n";
    let script = "python3 -m pytest -q checks_of_calc.py 2>&1 | cat\n";
    let files = [
        CALC,
        &[
            ("sums.py", sums),
            ("checks_of_calc.py", tests),
            ("wrapper.py", wrapper),
            ("run-tests.sh", script),
            ("Makefile", "test:\n\t-python3 -m unittest sums\n"),
        ],
    ]
    .concat();
    let repo = TestRepo::new(&files);
    for (command, line) in [
        ("python3 -m unittest sums || true", "FAILED (failures=1)"),
        ("make test", "FAILED (failures=1)"),
        ("sh run-tests.sh", "1 failed in "),
        ("python3 wrapper.py", "1 failed in "),
    ] {
        assert_hidden(&repo, command, line);
    }
}

#[test]
fn a_report_is_not_green_where_the_output_says_that_another_runner_failed() {
    let report = r#"'<testsuite tests="1"><testcase name="a"/></testsuite>' > report.xml"#;
    let sums = "import unittest\n\nclass Sums(unittest.TestCase):\n    def test_sum(self):\n        self.fail()\n";
    let makefile = format!("test:\n\t-python3 -m unittest sums\n\t@echo {report}\n");
    let files = [("sums.py", sums), ("Makefile", &makefile), (".gitignore", "report.xml\n")];
    let repo = TestRepo::new(&files);
    let ran = repo.regreen(&["fix", "--test-command", "make test", "--report", "report.xml"]);
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    let reason = "Every test passes already, but `make test` ends with 0 although its output says \"FAILED (failures=1)\".";
    assert!(ran.out.contains(reason), "{}", ran.out);
}

#[test]
fn a_name_that_a_report_holds_twice_is_two_tests_where_nothing_says_that_it_is_a_retry() {
    let report = r#"<testsuite tests="2" failures="1"><testcase classname="c" name="x"><failure message="no"/></testcase><testcase classname="c" name="x"/></testsuite>"#;
    let repo = TestRepo::new(&[("written.xml", report), (".gitignore", "report.xml\n")]);
    let command = "cp written.xml report.xml";
    let ran = repo.regreen(&["fix", "--test-command", command, "--report", "report.xml"]);
    assert_eq!(ran.code, Some(1), "{}\n{}", ran.out, ran.err);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(said.contains("the report names `c::x` 2 times, failing and passing"), "{said}");
    assert!(said.contains("Not green: 50.0 % pass"), "{said}");
}

#[test]
fn a_suite_that_skips_every_test_runs_once_and_says_so() {
    let skipped = "import unittest\n\n@unittest.skip('no database')\nclass Sums(unittest.TestCase):\n    def test_sum(self):\n        pass\n";
    let tap = "1..1\nok 1 # SKIP no network\n";
    let repo = TestRepo::new(&[("test_sums.py", skipped), ("out.tap", tap)]);
    for options in [&[][..], &["--test-command", "cat out.tap"]] {
        let ran = repo.regreen(&[&["fix"], options].concat());
        assert_eq!(ran.code, Some(1), "{options:?}: {}\n{}", ran.out, ran.err);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains("Ended without a test result"), "{options:?}: {said}");
        assert!(
            said.contains("Every test was skipped, so nothing was tested"),
            "{options:?}: {said}"
        );
        assert_eq!(said.matches("ran 0 tests").count(), 1, "{options:?}: {said}");
    }
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs go"]
fn an_exit_code_of_go_that_a_command_hides_is_never_green() {
    let go =
        "package shop\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) { t.Fatal(\"no\") }\n";
    let repo = TestRepo::new(&[("go.mod", "module shop\n\ngo 1.21\n"), ("sum_test.go", go)]);
    for (command, line) in
        [("go test ./... | cat", "FAIL"), ("go test -json ./... || true", "Action")]
    {
        assert_hidden(&repo, command, line);
    }
}
