//! Projects whose tests do not load or compile: the error of the interpreter or the compiler is the
//! failing test, and the tests behind it take its place.

use super::frameworks::npm_install;
use super::support::TestRepo;

const PYTHON_TESTS: &str = "import unittest\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(shop.price(1), 2)\n\n    def test_total(self):\n        self.assertEqual(shop.total([1, 2]), 3)\n";

#[test]
fn a_module_that_does_not_load_is_repaired_and_its_tests_run() {
    let good = "def price(x):\n    return x + 1\n\n\ndef total(xs):\n    return sum(xs)\n\n\nBASE = price(1)\n";
    let table = [
        ("a colon is missing", "total(xs):", "total(xs)"),
        ("a bracket is open", "sum(xs)", "sum(xs"),
        ("a keyword is misspelt", "    return sum", "    retrun sum"),
        ("a name is misspelt", "BASE = price(1)", "BASE = pric(1)"),
    ];
    for (why, from, to) in table {
        let broken = good.replace(from, to);
        let repo = TestRepo::new(&[("shop.py", &broken), ("test_shop.py", PYTHON_TESTS)]);
        let ran = repo.regreen(&["fix", "--json"]);
        let document = ran.document();
        assert_eq!(ran.code, Some(0), "{why}: {document:#}\n{}", ran.err);
        assert_eq!(document["initial"]["failed"], 1, "{why}: {document:#}");
        assert_eq!(document["last"]["passed"], 2, "{why}: {document:#}");
        let shown =
            repo.git(&["show", &format!("{}:shop.py", document["branch"].as_str().unwrap())]);
        assert_eq!(shown.trim_end(), good.trim_end(), "{why}");
    }
}

#[test]
fn an_error_that_cannot_be_sent_is_a_failure_and_no_crash() {
    let repo = TestRepo::new(&[
        ("package.json", "{ \"scripts\": { \"test\": \"node --test\" } }\n"),
        ("calc.js", "exports.twice = async (x) => x * 2;\nexports.half = (x) => x * 2;\n"),
        (
            "calc.test.js",
            "const test = require('node:test');\nconst assert = require('node:assert');\nconst { half, twice } = require('./calc');\ntest('half', () => assert.equal(half(4), 2));\ntest('twice', () => assert.deepStrictEqual([twice(2)], [4]));\n",
        ),
    ]);
    let ran = repo.regreen(&["fix", "--json", "--max-iterations", "1"]);
    let document = ran.document();
    assert_eq!(document["initial"]["failed"], 2, "{document:#}\n{}", ran.err);
    assert_eq!(document["last"]["passed"], 1, "{document:#}\n{}", ran.err);
}

#[test]
fn a_crate_that_does_not_compile_is_repaired_and_its_tests_run() {
    let repo = TestRepo::new(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        (".gitignore", "target\nCargo.lock\n"),
        (
            "src/lib.rs",
            "pub fn total(prices: &[i32]) -> i32 {\n    prices.iter().sum()\n}\n\npub fn twice(prices: &[i32]) -> i32 {\n    2 * totl(prices)\n}\n",
        ),
        (
            "tests/api.rs",
            "#[test]\nfn totals() {\n    assert_eq!(shop::total(&[1, 2]), 3);\n}\n\n#[test]\nfn doubles() {\n    assert_eq!(shop::twice(&[1, 2]), 6);\n}\n",
        ),
    ]);
    let plan = repo.regreen(&["fix", "--dry-run"]);
    assert!(
        plan.out.contains("cannot find function `totl` in this scope (src/lib.rs:6)"),
        "{}",
        plan.out
    );
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert_eq!(document["initial"]["failed"], 1, "{document:#}");
    assert_eq!(document["last"]["passed"], 2, "{document:#}");
    assert!(document["patch"].as_str().unwrap().contains("+    2 * total(prices)"), "{document:#}");
}

#[test]
fn tests_that_fail_behind_a_repaired_module_are_the_next_to_be_repaired() {
    let repo = TestRepo::new(&[
        ("shop.py", "def price(x):\n    return x - 1\n\n\ndef total(xs)\n    return sum(xs)\n"),
        ("test_shop.py", PYTHON_TESTS),
    ]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert_eq!(document["last"]["passed"], 2, "{document:#}");
    let patch = document["patch"].as_str().unwrap();
    assert!(patch.contains("+    return x + 1") && patch.contains("+def total(xs):"), "{patch}");
}

#[test]
fn a_file_that_no_edit_lets_load_holds_up_no_other_repair() {
    let missing = "`no_such_package` is not installed; add it to `test.setup`";
    let broken = "`test_apart` does not load, the error is at test_apart.py:2, and regreen has no edit for it";
    for (import, reason, unfixable) in
        [("from shop import nowhere", broken, false), ("import no_such_package", missing, true)]
    {
        let apart = format!(
            "import unittest\n{import}\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n"
        );
        let repo = TestRepo::new(&[
            (
                "shop.py",
                "def price(x):\n    return x - 1\n\n\ndef total(xs):\n    return sum(xs)\n",
            ),
            ("test_shop.py", PYTHON_TESTS),
            ("test_apart.py", &apart),
        ]);
        let ran = repo.regreen(&["fix", "--json"]);
        let document = ran.document();
        assert_eq!(ran.code, Some(1), "{import}: {document:#}\n{}", ran.err);
        assert_eq!(document["last"]["passed"], 2, "{import}: {document:#}");
        assert!(document["patch"].as_str().unwrap().contains("+    return x + 1"), "{document:#}");
        assert!(document["reason"].as_str().unwrap().starts_with(reason), "{document:#}");
        let said = document["unfixable"].as_bool().unwrap_or(false);
        assert_eq!(said, unfixable, "{document:#}");
    }
}

#[test]
#[ignore = "needs pytest"]
fn a_conftest_that_does_not_load_is_a_failure_with_a_place() {
    let repo = TestRepo::new(&[
        ("pytest.ini", "[pytest]\n"),
        ("shop.py", "def price(x):\n    return x + 1\n\n\nBASE = pric(1)\n"),
        ("conftest.py", "import shop\n"),
        ("test_shop.py", "import shop\n\n\ndef test_price():\n    assert shop.price(1) == 2\n"),
    ]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert_eq!(document["initial"]["failed"], 1, "{document:#}");
    assert!(document["patch"].as_str().unwrap().contains("+BASE = price(1)"), "{document:#}");
}

#[test]
#[ignore = "needs go"]
fn a_package_of_go_that_does_not_build_is_repaired_and_its_tests_run() {
    let repo = TestRepo::new(&[
        ("go.mod", "module example.com/m\n\ngo 1.19\n"),
        ("b.go", "package b\n\nvar total = 3\n\nfunc F() int { return totl }\n"),
        (
            "b_test.go",
            "package b\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F() != 3 {\n\t\tt.Error(\"no\")\n\t}\n}\n",
        ),
    ]);
    let ran = repo.regreen(&["fix", "--json"]);
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert!(
        document["patch"].as_str().unwrap().contains("+func F() int { return total }"),
        "{document:#}"
    );
}

#[test]
fn no_line_is_cut_off_so_that_the_rest_loads() {
    let table = [
        (
            "import os\n\n\ndef price(x):\n    return x + 1\n\n\nRATES = load_rates()\n",
            "shop.py:8",
            "continue, of use only with another provider: nothing could be tried so far",
        ),
        (
            "def price(x):\n    return x + 1\n\n\nTABLE = {}['rates']\n",
            "shop.py:5",
            "continue, best with another provider",
        ),
    ];
    for (source, place, advice) in table {
        let tests = "import unittest\nimport shop\n\n\nclass T(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(shop.price(1), 2)\n";
        let repo = TestRepo::new(&[("shop.py", source), ("test_shop.py", tests)]);
        let ran = repo.regreen(&["fix", "--json"]);
        let document = ran.document();
        assert_eq!(ran.code, Some(1), "{document:#}\n{}", ran.err);
        assert_eq!(document["patch"], "", "{document:#}");
        assert!(document["reason"].as_str().unwrap().contains(place), "{document:#}");
        assert!(ran.err.contains(advice), "{}", ran.err);
    }
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn a_suite_of_mocha_or_jasmine_that_does_not_load_is_repaired_and_its_tests_run() {
    let test = "const shop = require('../shop');\ndescribe('shop', () => {\n  it('adds', () => { if (shop.total([1, 2]) !== 3) throw new Error('no'); });\n  it('doubles', () => { if (shop.twice(2) !== 4) throw new Error('no'); });\n});\n";
    let other = "it('is apart', () => {});\n";
    let good = "exports.total = (prices) => prices.reduce((a, b) => a + b, 0);\nexports.twice = (price) => 2 * price;\n";
    let broken = [
        good.replace("b, 0);", "b, 0;"),
        format!("{good}const price = 1;\nexports.base = exports.twice(pric);\n"),
    ];
    for (package, folder, id) in
        [("mocha", "test", "test/shop.spec.js"), ("jasmine", "spec", "spec/shop.spec.js")]
    {
        for source in &broken {
            let manifest = format!(
                "{{\"scripts\": {{\"test\": \"{package} '{folder}/*.js'\"}}, \"devDependencies\": {{\"{package}\": \"*\"}}}}"
            );
            let repo = TestRepo::new(&[
                ("package.json", &manifest),
                (".gitignore", "node_modules\npackage-lock.json\n"),
                ("shop.js", source),
                (&format!("{folder}/apart.spec.js"), other),
                (&format!("{folder}/shop.spec.js"), test),
            ]);
            npm_install(&repo);
            let ran = repo.regreen(&["fix", "--json"]);
            let document = ran.document();
            assert_eq!(ran.code, Some(0), "{package}: {document:#}\n{}", ran.err);
            assert_eq!(document["initial"]["failed"], 1, "{package}: {document:#}");
            assert_eq!(document["initial"]["passed"], 0, "{package}: {document:#}");
            assert_eq!(document["last"]["passed"], 3, "{package}: {document:#}");
            assert!(ran.err.contains(&format!("✗ {id}")), "{package}: {}", ran.err);
        }
    }
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn a_module_that_a_test_of_mocha_cannot_import_is_a_failing_test_with_its_place() {
    let tests = [
        ("test/shop.spec.js", "const shop = require('../nowhere');\nit('adds', () => {});\n"),
        ("test/shop.spec.mjs", "import shop from '../nowhere.mjs';\nit('adds', () => {});\n"),
        ("test/shop.spec.js", "it('adds', () => {\n"),
    ];
    for (path, test) in tests {
        let repo = TestRepo::new(&[
            (
                "package.json",
                r#"{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "*"}}"#,
            ),
            (".gitignore", "node_modules\npackage-lock.json\n"),
            (".mocharc.json", r#"{"spec": "test/*.spec.*"}"#),
            (path, test),
        ]);
        npm_install(&repo);
        let ran = repo.regreen(&["fix", "--json"]);
        let document = ran.document();
        assert_eq!(ran.code, Some(1), "{path}: {document:#}\n{}", ran.err);
        assert_eq!(document["failing-tests"][0]["test"], path, "{document:#}");
    }
}
