//! Suites in which only a hook fails: its failure is a result, and gone once it is repaired.

use super::frameworks::{counts, failing, look, npm_install};
use super::support::fake_model::{FakeModel, analysis, edit};
use super::support::{Ran, TestRepo};

const STORE: &str = "exports.opened = (stores) => stores - 1;\nexports.name = () => 'shop';\n";

/// A hook that fails because of `STORE`, and tests that do not.
fn suite(head: &str, hook: &str) -> String {
    format!(
        "{head}\ndescribe('store', () => {{\n  {hook}(() => {{ if (store.opened(1) !== 2) throw new Error('not open: ' + store.opened(1)); }});\n  it('has a name', () => {{ if (store.name() !== 'shop') throw new Error('no'); }});\n  it('exists', () => {{}});\n}});\n"
    )
}

/// The package, the test script, the path and the head of the tests, the hook, results of the baseline and
/// the failing ids.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    (u64, u64),
    &'static str,
);

const ROWS: &[Row] = &[
    (
        "mocha",
        "mocha",
        "test/store.js",
        "const store = require('../store');",
        "before",
        (0, 1),
        "test/store.js::store > \"before all\" hook",
    ),
    (
        "mocha",
        "mocha",
        "test/store.js",
        "const store = require('../store');",
        "after",
        (2, 1),
        "test/store.js::store > \"after all\" hook",
    ),
    (
        "jasmine",
        "jasmine",
        "spec/store.spec.js",
        "const store = require('../store');",
        "afterAll",
        (2, 1),
        "spec/store.spec.js::store > beforeAll or afterAll",
    ),
    (
        "jasmine",
        "jasmine",
        "spec/store.spec.js",
        "const store = require('../store');",
        "beforeAll",
        (0, 3),
        "spec/store.spec.js::store > beforeAll or afterAll",
    ),
    (
        "jest",
        "jest",
        "store.test.js",
        "const store = require('./store');",
        "afterAll",
        (2, 1),
        "store.test.js::hook",
    ),
    (
        "vitest",
        "vitest run",
        "store.test.mjs",
        "import { afterAll, beforeAll, describe, it } from 'vitest';\nimport store from './store.js';",
        "beforeAll",
        (0, 1),
        "store.test.mjs::hook",
    ),
    (
        "vitest",
        "vitest run",
        "store.test.mjs",
        "import { afterAll, beforeAll, describe, it } from 'vitest';\nimport store from './store.js';",
        "afterAll",
        (2, 1),
        "store.test.mjs::hook",
    ),
];

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry; a_repaired_class_fixture_of_unittest_ends_green always runs"]
fn a_repaired_hook_of_a_javascript_runner_ends_green() {
    for (package, script, path, head, hook, expected, id) in ROWS {
        let manifest = format!(
            "{{\"scripts\": {{\"test\": \"{script}\"}}, \"devDependencies\": {{\"{package}\": \"*\"}}}}"
        );
        let settings =
            [("spec/support/jasmine.json", r#"{"spec_dir": "spec", "spec_files": ["*.spec.js"]}"#)];
        let repo = TestRepo::new(&[
            ("package.json", &manifest),
            (".gitignore", "node_modules\npackage-lock.json\n"),
            ("store.js", STORE),
            (path, &suite(head, hook)),
        ]);
        if *package == "jasmine" {
            repo.write(&settings);
            repo.git(&["add", "-A"]);
            repo.git(&["commit", "-qm", "settings"]);
        }
        npm_install(&repo);
        let document = look(&repo);
        assert_eq!(counts(&document), *expected, "{package} {hook}: {document:#}");
        assert!(failing(&document).contains(id), "{package} {hook}: {document:#}");
        assert!(document.to_string().contains("not open: 0"), "{package} {hook}: {document:#}");
        let fixed = repo.regreen(&["fix", "--json"]);
        let document = fixed.document();
        assert_eq!(fixed.code, Some(0), "{package} {hook}: {document:#}\n{}", fixed.err);
        assert_eq!(document["last"]["passed"], 2, "{package} {hook}: {document:#}");
        let patch = document["patch"].as_str().unwrap();
        assert!(patch.contains("+exports.opened = (stores) => stores + 1"), "{patch}");
    }
}

#[test]
#[ignore = "needs node"]
fn a_repaired_hook_of_node_test_ends_green() {
    for hook in ["before", "after"] {
        let head = "const { after, before, describe, it } = require('node:test');\nconst store = require('../store');";
        let repo = TestRepo::new(&[
            ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}"),
            ("store.js", STORE),
            ("test/store.test.js", &suite(head, hook)),
        ]);
        let fixed = repo.regreen(&["fix", "--json"]);
        let document = fixed.document();
        assert_eq!(fixed.code, Some(0), "{hook}: {document:#}\n{}", fixed.err);
        assert_eq!(document["last"]["passed"], 2, "{hook}: {document:#}");
    }
}

#[test]
fn a_repaired_class_fixture_of_unittest_ends_green() {
    let fixtures = [
        ("    @classmethod\n    def setUpClass(cls):\n", "test_store.T.setUpClass", (0, 1)),
        ("    @classmethod\n    def tearDownClass(cls):\n", "test_store.T.tearDownClass", (2, 1)),
    ];
    for (fixture, id, expected) in fixtures {
        let tests = format!(
            "import unittest\nimport store\n\n\nclass T(unittest.TestCase):\n{fixture}        assert store.opened(1) == 2, store.opened(1)\n\n    def test_name(self):\n        self.assertEqual(store.name(), 'shop')\n\n    def test_exists(self):\n        self.assertTrue(store)\n"
        );
        let source =
            "def opened(stores):\n    return stores - 1\n\n\ndef name():\n    return 'shop'\n";
        let repo = TestRepo::new(&[("store.py", source), ("test_store.py", &tests)]);
        let document = look(&repo);
        assert_eq!(counts(&document), expected, "{document:#}");
        assert_eq!(failing(&document), [id]);
        let fixed = repo.regreen(&["fix", "--json"]);
        let document = fixed.document();
        assert_eq!(fixed.code, Some(0), "{document:#}\n{}", fixed.err);
        assert_eq!(document["last"]["passed"], 2, "{document:#}");
    }
}

const PYTEST_STORE: &str =
    "def opened(stores):\n    return stores - 1\n\n\ndef name():\n    return 'shop'\n";

/// Two tests, and what is taken down behind them.
fn pytest_suite(fixture: &str, method: &str) -> String {
    format!(
        "import pytest\nimport store\n\n\n{fixture}class TestStore:\n{method}    def test_name(self):\n        assert store.name() == 'shop'\n\n    def test_exists(self):\n        assert store\n"
    )
}

#[cfg(feature = "slow-tests")]
#[test]
fn a_repaired_teardown_of_a_scope_of_pytest_ends_green() {
    let check = "assert store.opened(1) == 2, store.opened(1)\n";
    let fixture = |scope: &str| {
        format!(
            "@pytest.fixture(scope='{scope}', autouse=True)\ndef opened():\n    yield\n    {check}\n\n"
        )
    };
    let method = format!("    @classmethod\n    def teardown_class(cls):\n        {check}\n");
    let rows = [
        (pytest_suite(&fixture("session"), ""), "teardown of opened"),
        (pytest_suite(&fixture("module"), ""), "test_store.py::teardown of opened"),
        (
            pytest_suite("", &method),
            "test_store.py::TestStore::teardown of xunit_setup_class_fixture",
        ),
    ];
    for (tests, id) in rows {
        let repo = TestRepo::new(&[("store.py", PYTEST_STORE), ("test_store.py", &tests)]);
        let document = look(&repo);
        assert_eq!(counts(&document), (2, 1), "as pytest counts: {document:#}");
        assert_eq!(failing(&document), [id]);
        let fixed = repo.regreen(&["fix", "--json"]);
        let document = fixed.document();
        assert_eq!(fixed.code, Some(0), "{document:#}\n{}", fixed.err);
        assert_eq!(document["last"]["passed"], 2, "{document:#}");
    }
}

#[test]
fn a_bug_beside_a_teardown_of_the_session_that_nothing_repairs_is_repaired() {
    let fixture = "@pytest.fixture(scope='session', autouse=True)\ndef at_the_end():\n    yield\n    pytest.fail('something was left open')\n\n\n";
    let method = "    def test_opened(self):\n        assert store.opened(1) == 2\n\n";
    let repo = TestRepo::new(&[
        ("store.py", PYTEST_STORE),
        ("test_store.py", &pytest_suite(fixture, method)),
        ("pytest.ini", "[pytest]\naddopts = --maxfail=1\n"),
    ]);
    let fixed =
        repo.regreen(&["fix", "--json", "--providers", "embedded", "--max-iterations", "1"]);
    let document = fixed.document();
    assert_eq!(counts(&document), (2, 2), "{document:#}");
    assert_eq!(fixed.code, Some(1), "{document:#}\n{}", fixed.err);
    assert_eq!(failing(&document), ["teardown of at_the_end"]);
    let patch = document["patch"].as_str().unwrap();
    assert!(patch.contains("+    return stores + 1"), "{patch}");
}

const RUBY: &str = "class Store\n  def self.opened(stores)\n    stores - 1\n  end\nend\n";

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs Ruby with RSpec"]
fn a_repaired_hook_of_rspec_ends_green() {
    let hook = "{ raise 'not open' unless Store.opened(1) == 2 }";
    let table = [
        (
            format!("RSpec.configure {{ |one| one.before(:suite) {hook} }}"),
            String::new(),
            (0, 1),
            "before(:suite) hook",
        ),
        (
            format!("RSpec.configure {{ |one| one.after(:suite) {hook} }}"),
            String::new(),
            (2, 1),
            "after(:suite) hook",
        ),
        (
            String::new(),
            format!("before(:context) {hook}"),
            (0, 2),
            "spec/store_spec.rb::Store > exists",
        ),
        (
            String::new(),
            format!("after(:context) {hook}"),
            (2, 1),
            "spec/store_spec.rb::Store > after(:context) hook",
        ),
    ];
    for (outside, inside, expected, id) in table {
        let spec = format!(
            "require_relative '../lib/store'\n{outside}\nRSpec.describe Store do\n  {inside}\n  it('exists') {{ expect(Store).to be_truthy }}\n  it('is a class') {{ expect(Store).to be_a(Class) }}\nend\n"
        );
        let model = FakeModel::serve(vec![(
            "one",
            vec![
                analysis("lib/store.rb:opened:2-4", 0.9),
                edit("lib/store.rb", "    stores - 1\n", "    stores + 1\n"),
            ],
        )]);
        let repo =
            TestRepo::new(&[(".rspec", ""), ("lib/store.rb", RUBY), ("spec/store_spec.rb", &spec)]);
        let document = look(&repo);
        assert_eq!(counts(&document), expected, "{document:#}");
        assert!(failing(&document).contains(&id), "{document:#}");
        let provider = model.provider("one", "");
        repo.write(&[(".github/regreen.yml", &format!("providers: [one]\nprovider:\n{provider}"))]);
        let mut command = repo.command();
        command.env("ONE_KEY", "key-of-the-test-0123456789").args(["fix", "--json"]);
        let ran: Ran = command.output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{id}: {}\n{}", ran.out, ran.err);
        assert_eq!(ran.document()["last"]["passed"], 2, "{id}: {}", ran.out);
    }
}

#[test]
fn an_edit_that_makes_a_hook_fail_is_taken_back() {
    let tests = "import unittest\nimport store\n\n\nclass T(unittest.TestCase):\n    @classmethod\n    def tearDownClass(cls):\n        assert store.opened(1) == 2\n\n    def test_name(self):\n        self.assertEqual(store.name(), 'shop')\n\n    def test_exists(self):\n        self.assertTrue(store)\n";
    let source = "def opened(stores):\n    return stores + 1\n\n\ndef name():\n    return 'shop' + str(opened(0))\n";
    let repo = TestRepo::new(&[("store.py", source), ("test_store.py", tests)]);
    let model = FakeModel::serve(vec![(
        "one",
        vec![
            analysis("store.py:name:5-6", 0.9),
            edit("store.py", "    return stores + 1\n", "    return ''\n"),
            analysis("store.py:name:5-6", 0.9),
            edit("store.py", "    return 'shop' + str(opened(0))\n", "    return 'shop'\n"),
        ],
    )]);
    let provider = model.provider("one", "");
    repo.write(&[(".github/regreen.yml", &format!("providers: [one]\nprovider:\n{provider}"))]);
    let mut command = repo.command();
    command.env("ONE_KEY", "key-of-the-test-0123456789").args(["fix", "--json"]);
    let ran: Ran = command.output().unwrap().into();
    let document = ran.document();
    assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    assert!(ran.err.contains("no better: 66.7 %, taken back; still 50.0 %"), "{}", ran.err);
    let patch = document["patch"].as_str().unwrap();
    assert!(!patch.contains("return ''") && patch.contains("+    return 'shop'"), "{patch}");
}
