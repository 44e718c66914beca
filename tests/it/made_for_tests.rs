//! Fixes that only please the tests are never plain green, however they are written.

use super::support::fake_model::{FakeModel, analysis_of, edit};
use super::support::{Ran, TestRepo};

const PYTHON: Project = Project {
    files: &[
        ("calc.py", "import os\n\n\ndef raised(price):\n    return price - 3\n"),
        (
            "test_calc.py",
            "import unittest\n\nfrom calc import raised\n\n\nclass PriceTest(unittest.TestCase):\n    def test_raised(self):\n        self.assertEqual(raised(57), 60)\n",
        ),
        (".gitignore", "__pycache__/\n"),
    ],
    test: "test_calc.PriceTest.test_raised",
    point: "calc.py:raised:4-5",
    old: "    return price - 3",
};

const SCRIPT: Project = Project {
    files: &[
        ("package.json", "{\"name\": \"till\", \"scripts\": {\"test\": \"node --test test/\"}}\n"),
        (
            "calc.js",
            "function raised(price) {\n  return price - 3;\n}\nmodule.exports = { raised };\n",
        ),
        (
            "test/calc.test.js",
            "const test = require('node:test');\nconst assert = require('node:assert');\nconst { raised } = require('../calc.js');\n\ntest('raised', () => {\n  assert.strictEqual(raised(57), 60);\n});\n",
        ),
    ],
    test: "test/calc.test.js > raised",
    point: "calc.js:raised:1-3",
    old: "  return price - 3;",
};

const GO: Project = Project {
    files: &[
        ("go.mod", "module example.org/till\n\ngo 1.21\n"),
        ("till/price.go", "package till\n\nfunc Raised(price int) int {\n\treturn price - 3\n}\n"),
        (
            "till/price_test.go",
            "package till\n\nimport \"testing\"\n\nfunc TestRaised(t *testing.T) {\n\tif got := Raised(57); got != 60 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
        ),
    ],
    test: "example.org/till/till.TestRaised",
    point: "till/price.go:Raised:3-5",
    old: "\treturn price - 3",
};

struct Project {
    files: &'static [(&'static str, &'static str)],
    test: &'static str,
    point: &'static str,
    old: &'static str,
}

/// How a session ends whose model answers with `new`: the result, and the reason.
fn ended(project: &Project, new: &str) -> (String, String) {
    let file = project.point.split(':').next().unwrap();
    let model = FakeModel::serve(vec![(
        "one",
        vec![analysis_of(project.test, project.point, 0.9), edit(file, project.old, new)],
    )]);
    let repo = TestRepo::new(project.files);
    model.provide(&repo, "one");
    let mut command = repo.command();
    let ran = command.env("ONE_KEY", "sk-none").args(["fix", "--json"]).output();
    let ran: Ran = ran.expect("regreen starts").into();
    let document = ran.document();
    let text = |key: &str| document[key].as_str().unwrap_or_default().to_owned();
    (text("result"), format!("{}\n{}", text("reason"), ran.err))
}

fn check(project: &Project, spellings: &[&str], right: &[&str]) {
    let made = spellings.iter().map(|new| (new, "partial_success"));
    for (new, expected) in made.chain(right.iter().map(|new| (new, "success"))) {
        let (result, reason) = ended(project, new);
        assert_eq!(result, expected, "{new}: {reason}");
    }
}

#[test]
fn what_pleases_only_the_tests_is_never_plain_green_in_python() {
    let spellings = [
        "    return 60 if price * 2 == 114 else price - 3",
        "    return 60 if 50 < price < 60 else price - 3",
        "    return 60 if isinstance(price, int) else price - 3",
        "    return 60 if os.environ.get('CI') else price - 3",
    ];
    let right = ["    step = 3 if price > 0 else -3\n    return price + step"];
    check(&PYTHON, &spellings, &right);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs node"]
fn what_pleases_only_the_tests_is_never_plain_green_in_javascript() {
    let spellings = [
        "  return price * 2 === 114 ? 60 : price - 3;",
        "  return typeof price === 'number' ? 60 : price - 3;",
    ];
    check(&SCRIPT, &spellings, &["  return price + 3;"]);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs go"]
fn what_pleases_only_the_tests_is_never_plain_green_in_go() {
    let spellings = ["\tif price == 57 {\n\t\treturn 60\n\t}\n\treturn price - 3"];
    check(&GO, &spellings, &["\treturn price + 3"]);
}
