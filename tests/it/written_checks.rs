//! Commands that people write themselves: the product is repaired or nothing is, and never the check.

use serde_json::Value;

use super::support::TestRepo;

const PYTHON: &[(&str, &str)] = &[
    (
        "shop/price.py",
        "def total(prices):\n    result = 0\n    for price in prices:\n        result -= price\n    return result\n\n\ndef largest(prices):\n    return max(prices)\n",
    ),
    ("shop/__init__.py", ""),
    (
        "checks/cases.py",
        "from shop import price\n\nCASES = [\n    ('total', lambda: price.total([1, 2, 3]), 6),\n    ('none', lambda: price.total([]), 0),\n    ('largest', lambda: price.largest([3, 9, 4]), 9),\n]\n",
    ),
    ("checks/compare.py", "def differs(actual, expected):\n    return actual != expected\n"),
    (
        "checks/run.py",
        "import os\nimport sys\n\nsys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]\nfrom checks.cases import CASES\nfrom checks.compare import differs\n\nif '--tap' in sys.argv:\n    print(f'1..{len(CASES)}')\nfailed = 0\nfor number, (name, call, expected) in enumerate(CASES, 1):\n    is_wrong = differs(call(), expected)\n    failed += is_wrong\n    if '--tap' in sys.argv:\n        print('not ok' if is_wrong else 'ok', number, '-', name)\nsys.exit(1 if failed else 0)\n",
    ),
    ("Makefile", "check:\n\t@python3 checks/run.py --tap\n\nquiet:\n\t@python3 checks/run.py\n"),
    ("run-tests.sh", "exec python3 \"$(dirname \"$0\")/checks/run.py\" \"$@\"\n"),
    (".gitignore", "__pycache__/\nreports/\n"),
];

const SCRIPT: &[(&str, &str)] = &[
    (
        "src/price.js",
        "const assert = require('node:assert');\n\nfunction total(prices) {\n  assert(Array.isArray(prices));\n  let result = 0;\n  for (const price of prices) {\n    result -= price;\n  }\n  return result;\n}\n\nmodule.exports = { total };\n",
    ),
    (
        "scripts/lib/same.js",
        "let number = 0;\nconst isTap = process.argv.includes('--tap');\n\nfunction same(name, actual, expected) {\n  number += 1;\n  const isSame = actual === expected;\n  if (isTap) console.log(`${isSame ? 'ok' : 'not ok'} ${number} - ${name}`);\n  if (!isSame) process.exitCode = 1;\n}\n\nmodule.exports = { same };\n",
    ),
    (
        "scripts/verify.js",
        "const { same } = require('./lib/same');\nconst { total } = require('../src/price');\n\nif (process.argv.includes('--tap')) console.log('1..2');\nsame('three', total([1, 2, 3]), 6);\nsame('none', total([]), 0);\n",
    ),
];

const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.org/shop\n\ngo 1.21\n"),
    (
        "price/price.go",
        "package price\n\nfunc Total(prices []int) int {\n\tresult := 0\n\tfor _, price := range prices {\n\t\tresult -= price\n\t}\n\treturn result\n}\n",
    ),
    (
        "cmd/check/main.go",
        "package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n\t\"example.org/shop/price\"\n)\n\nfunc main() {\n\tok := price.Total([]int{1, 2, 3}) == 6\n\tif len(os.Args) > 1 {\n\t\tword := map[bool]string{true: \"ok\", false: \"not ok\"}[ok]\n\t\tfmt.Printf(\"1..1\\n%s 1 - total\\n\", word)\n\t}\n\tif !ok {\n\t\tos.Exit(1)\n\t}\n}\n",
    ),
];

const DOCUMENTED: &[(&str, &str)] = &[
    (
        "price.py",
        "def total(prices):\n    \"\"\"The sum.\n\n    >>> total([1, 2, 3])\n    6\n    >>> total([])\n    0\n    \"\"\"\n    result = 0\n    for price in prices:\n        result -= price\n    return result\n",
    ),
    (".gitignore", "__pycache__/\n"),
];

/// The files that a fix changes, and its document.
fn fix(files: &[(&str, &str)], arguments: &[&str]) -> (Vec<String>, Value) {
    let repo = TestRepo::new(files);
    let ran = repo.regreen(&[&["fix", "--json", "--max-iterations", "2"], arguments].concat());
    let document = ran.document();
    assert!(document["initial"]["failed"] == 1, "{arguments:?}: {document:#}\n{}", ran.err);
    let patch = document["patch"].as_str().unwrap_or_default();
    let changed = patch.lines().filter_map(|line| line.strip_prefix("+++ b/"));
    (changed.map(str::to_owned).collect(), document)
}

#[test]
fn the_product_behind_a_command_with_a_report_is_repaired() {
    let table = [
        (PYTHON, "python3 checks/run.py --tap", "shop/price.py"),
        (PYTHON, "make check", "shop/price.py"),
        (PYTHON, "sh ./run-tests.sh --tap", "shop/price.py"),
        (SCRIPT, "node scripts/verify.js --tap", "src/price.js"),
    ];
    for (files, command, expected) in table {
        let (changed, document) = fix(files, &["--test-command", command]);
        assert_eq!(changed, [expected], "{command}: {document:#}");
        assert_eq!(document["result"], "success", "{command}: {document:#}");
    }
}

#[test]
fn nothing_is_edited_behind_an_exit_code_or_where_only_the_check_could_be_edited() {
    let wrong = |files: &[(&'static str, &'static str)]| -> Vec<(&'static str, String)> {
        let edit = |text: &str| {
            let text = text.replace("result -= price", "result += price");
            text.replace("[1, 2, 3]), 6", "[1, 2, 3]), 5")
        };
        files.iter().map(|(file, text)| (*file, edit(text))).collect()
    };
    let (python, script) = (wrong(PYTHON), wrong(SCRIPT));
    let python: Vec<(&str, &str)> = python.iter().map(|(file, text)| (*file, &**text)).collect();
    let script: Vec<(&str, &str)> = script.iter().map(|(file, text)| (*file, &**text)).collect();
    let table = [
        (PYTHON, "python3 checks/run.py"),
        (PYTHON, "make quiet"),
        (PYTHON, "sh ./run-tests.sh"),
        (SCRIPT, "node scripts/verify.js"),
        (DOCUMENTED, "python3 -m doctest price.py"),
        (&python[..], "python3 checks/run.py --tap"),
        (&script[..], "node scripts/verify.js --tap"),
    ];
    for (files, command) in table {
        let limits = ["--budget-minutes", "0.5", "--test-command", command];
        let (changed, document) = fix(files, &limits);
        // A wrong expectation may be met by the product: the check itself stays.
        let is_product = |file: &String| ["shop/price.py", "src/price.js"].contains(&file.as_str());
        let is_allowed = command.ends_with("--tap") && changed.iter().all(is_product);
        assert!(changed.is_empty() || is_allowed, "{command}: {changed:?} {document:#}");
    }
}

#[test]
#[ignore = "needs go"]
fn a_main_that_checks_is_not_edited() {
    let table = [
        ("go run ./cmd/check tap", vec!["price/price.go"]),
        // Nothing says which of its files is the check.
        ("go run ./cmd/check", vec![]),
    ];
    for (command, expected) in table {
        let (changed, document) = fix(GO, &["--test-command", command]);
        assert_eq!(changed, expected, "{command}: {document:#}");
    }
}

#[test]
#[ignore = "needs pytest"]
fn code_is_repaired_and_its_examples_stay() {
    let (changed, document) =
        fix(DOCUMENTED, &["--test-command", "python3 -m pytest --doctest-modules"]);
    assert_eq!(changed, ["price.py"], "{document:#}");
    let patch = document["patch"].as_str().unwrap_or_default();
    assert!(patch.contains("+        result += price"), "{patch}");
    let changes =
        patch.lines().filter(|line| line.starts_with(['+', '-']) && !line.contains("/price.py"));
    assert_eq!(changes.count(), 2, "{patch}");
}

/// Checks and their runner in a folder that no convention calls tests, with JUnit XML.
#[test]
fn an_expectation_beside_an_assertion_is_never_edited() {
    let files = [
        PYTHON.first().copied().unwrap(),
        ("shop/__init__.py", ""),
        (
            "checks/checks.py",
            "from shop import price\n\n\ndef same(actual, expected):\n    assert actual == expected, f'{actual!r} is not {expected!r}'\n\n\nALL = [\n    ('total', lambda: same(price.total([1, 2, 3]), 6)),\n    ('none', lambda: same(price.total([]), 0)),\n]\n",
        ),
        (
            "checks/style.py",
            "import os\nfrom xml.sax.saxutils import escape, quoteattr\n\n\ndef write(results):\n    os.makedirs('reports', exist_ok=True)\n    with open('reports/junit.xml', 'w') as file:\n        file.write('<testsuite name=\"shop\">')\n        for name, problem, text in results:\n            inner = '' if problem is None else f'<failure message={quoteattr(problem)}>{escape(text)}</failure>'\n            file.write(f'<testcase classname=\"shop.price\" name={quoteattr(name)}>{inner}</testcase>')\n        file.write('</testsuite>')\n    return 1 if any(problem for _, problem, _ in results) else 0\n",
        ),
        (
            "checks/runner.py",
            "import os\nimport sys\nimport traceback\n\nhere = os.path.dirname(os.path.abspath(__file__))\nsys.path[:0] = [here, os.path.dirname(here)]\nimport checks\nimport style\n\nresults = []\nfor name, call in checks.ALL:\n    try:\n        call()\n        results.append((name, None, ''))\n    except Exception as error:\n        text = ''.join(traceback.format_exception(type(error), error, error.__traceback__))\n        results.append((name, f'{type(error).__name__}: {error}', text))\nsys.exit(style.write(results))\n",
        ),
        (".gitignore", "__pycache__/\nreports/\n"),
    ];
    for command in ["python3 checks/runner.py", "python3 $RUNNER"] {
        let command = format!("export RUNNER=checks/runner.py; {command}");
        let (changed, document) =
            fix(&files, &["--test-command", &command, "--report", "reports/*.xml"]);
        assert_eq!(changed, ["shop/price.py"], "{command}: {document:#}");
    }
}
