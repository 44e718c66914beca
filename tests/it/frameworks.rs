//! Suites of every framework that this machine can run: detection, whole and partial runs, results.

use serde_json::Value;

use super::support::{Ran, Regreen, TestRepo};

/// Makes a dry run, which runs the suite once and its failures twice more, and returns the JSON
/// document.
pub fn look(repo: &impl Regreen) -> Value {
    let ran: Ran = repo
        .command()
        .args(["fix", "--dry-run", "--json"])
        .output()
        .expect("regreen starts")
        .into();
    let document = ran.document();
    assert_eq!(document["result"], "planned", "{}", ran.err);
    document
}

pub fn failing(document: &Value) -> Vec<&str> {
    let tests = document["failing-tests"].as_array().unwrap();
    tests.iter().map(|test| test["test"].as_str().unwrap()).collect()
}

/// Passed and failed tests of the baseline.
pub fn counts(document: &Value) -> (u64, u64) {
    let initial = &document["initial"];
    (initial["passed"].as_u64().unwrap(), initial["failed"].as_u64().unwrap())
}

#[test]
fn unittest_with_sub_tests_skips_and_a_module_that_does_not_load() {
    let repo = TestRepo::new(&[
        ("tests/__init__.py", ""),
        (
            "tests/test_a.py",
            r"import unittest
class A(unittest.TestCase):
    def test_ok(self):
        pass
    def test_sub(self):
        for n in (1, 2):
            with self.subTest(n=n):
                self.assertEqual(n, 1)
    @unittest.skip('later')
    def test_skip(self):
        pass
    @unittest.expectedFailure
    def test_expected(self):
        self.fail()
",
        ),
        ("tests/test_b.py", "import no_such_module\n"),
    ]);
    let document = look(&repo);
    assert_eq!(counts(&document), (2, 2), "{document}");
    assert_eq!(failing(&document), ["tests.test_a.A.test_sub", "tests.test_b"]);
}

#[test]
fn cargo_test_with_two_binaries() {
    let repo = TestRepo::new(&[
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\n"),
        (".gitignore", "target\n"),
        (
            "src/lib.rs",
            r"pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

#[cfg(test)]
mod tests {
    #[test]
    fn same() {
        assert_eq!(super::add(2, 0), 2);
    }
    #[test]
    #[ignore]
    fn slow() {}
}
",
        ),
        ("tests/api.rs", "#[test]\nfn same() {\n    assert_eq!(x::add(2, 1), 3);\n}\n"),
    ]);
    let document = look(&repo);
    assert_eq!(counts(&document), (1, 1), "{document}");
    assert_eq!(failing(&document), ["tests/api.rs::same"]);
}

#[test]
fn a_command_with_a_junit_report() {
    let script = "mkdir -p out && printf '<testsuite><testcase classname=\"a\" name=\"ok\"/><testcase classname=\"a\" name=\"bad\"><failure message=\"no\"/></testcase></testsuite>' > out/r.xml";
    let repo = TestRepo::new(&[("run.sh", script)]);
    let ran = repo.regreen(&[
        "fix",
        "--dry-run",
        "--json",
        "--test-command",
        "sh run.sh",
        "--report",
        "out/*.xml",
    ]);
    let document = ran.document();
    assert_eq!(counts(&document), (1, 1), "{}", ran.err);
    assert_eq!(failing(&document), ["a::bad"]);
}

#[test]
fn a_command_that_prints_tap() {
    let repo =
        TestRepo::new(&[("run.sh", "echo '1..2'; echo 'ok 1 - one'; echo 'not ok 2 - two'")]);
    let ran = repo.regreen(&["fix", "--dry-run", "--json", "--test-command", "sh run.sh"]);
    assert_eq!(failing(&ran.document()), ["two"], "{}", ran.err);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs pytest"]
fn pytest_with_parameters_and_a_file_that_does_not_load_is_repaired() {
    let repo = TestRepo::new(&[
        ("pytest.ini", "[pytest]\n"),
        ("calc.py", "def double(n):\n    return n * 3\n"),
        (
            "tests/test_a.py",
            r"import pytest
from calc import double

@pytest.mark.parametrize('n', [0, 1, 2])
def test_double(n):
    assert double(n) == n + n

class TestGroup:
    @pytest.mark.skip
    def test_skip(self):
        pass
",
        ),
    ]);
    let document = look(&repo);
    assert_eq!(counts(&document), (1, 2), "{document}");
    assert_eq!(
        failing(&document),
        ["tests/test_a.py::test_double[1]", "tests/test_a.py::test_double[2]"]
    );
    let fixed = repo.regreen(&["fix", "--json"]).document();
    assert_eq!(fixed["result"], "success", "{fixed}");
    let broken = TestRepo::new(&[
        ("pytest.ini", "[pytest]\n"),
        ("test_b.py", "import no_such_module\n"),
        ("test_a.py", "def test_a():\n    pass\n"),
    ]);
    // No edit installs a package, so nothing is searched.
    let named = broken.regreen(&["fix", "--json"]).document();
    assert_eq!((&named["result"], failing(&named)), (&"failure".into(), vec!["test_b.py"]));
    let reason = named["reason"].as_str().unwrap();
    assert!(reason.starts_with("`no_such_module` is not installed; add it to"), "{reason}");
    assert_eq!(named["iterations"].as_array().map(Vec::len), Some(0), "{named}");
    // What the base misses too can be ignored, and a module that the change renamed is no package.
    broken.write(&[
        ("helpers.py", "ONE = 1\n"),
        ("test_c.py", "import helpers\n\ndef test_c():\n    assert helpers.ONE\n"),
    ]);
    broken.git(&["add", "."]);
    broken.git(&["commit", "-qm", "base"]);
    broken.git(&["branch", "base"]);
    broken.git(&["commit", "-q", "--allow-empty", "-m", "head"]);
    let flags =
        ["fix", "--json", "--base", "base", "--ignore-preexisting", "--max-iterations", "1"];
    let ignored = broken.regreen(&flags);
    assert_eq!(ignored.code, Some(0), "{}", ignored.document());
    broken.git(&["mv", "helpers.py", "tools.py"]);
    broken.git(&["commit", "-qm", "rename"]);
    let renamed = broken.regreen(&flags).document();
    assert_eq!(failing(&renamed), ["test_c.py"]);
    assert!(!renamed["reason"].as_str().unwrap().contains("not installed"), "{renamed}");
}

#[test]
#[ignore = "needs node"]
fn node_test_with_suites_skips_and_a_file_that_does_not_load_is_repaired() {
    let repo = TestRepo::new(&[
        ("package.json", "{\"type\": \"module\", \"scripts\": {\"test\": \"node --test\"}}\n"),
        (
            "src/cart.js",
            "export const total = (items) => items.reduce((sum, item) => sum + item.price - item.count, 0);\n",
        ),
        (
            "test/cart.test.js",
            r"import { describe, it, test } from 'node:test';
import assert from 'node:assert';
import { total } from '../src/cart.js';

describe('cart', () => {
  it('sums', () => assert.equal(total([{ price: 3, count: 2 }]), 6));
  it('is empty', () => assert.equal(total([]), 0));
});
test('later', { skip: true }, () => {});
",
        ),
    ]);
    let document = look(&repo);
    assert_eq!(counts(&document), (1, 1), "{document}");
    assert_eq!(failing(&document), ["test/cart.test.js::cart > sums"]);
    let fixed = repo.regreen(&["fix", "--json"]).document();
    assert_eq!(fixed["result"], "success", "{fixed}");
    // It ends the process of the reporter too.
    repo.write(&[(
        "package.json",
        "{\"type\": \"module\", \"scripts\": {\"test\": \"node --test --test-force-exit\"}}\n",
    )]);
    let ends = "import { after, test } from 'node:test';\ntest('ends', () => process.exit(0));\ntest('is hidden', () => { throw new Error('no'); });\n";
    let closes = "import { after, test } from 'node:test';\nafter(() => process.exit(0));\ntest('closes', () => {});\n";
    repo.write(&[
        ("test/broken.test.js", "import '../src/none.js';\n"),
        ("test/ends.test.js", ends),
        ("test/closes.test.js", closes),
        ("test/plain.test.js", "if (1 > 2) throw new Error('no');\n"),
    ]);
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "broken"]);
    let ran = repo.regreen(&["fix", "--json", "--dry-run"]);
    let document = ran.document();
    let expected = ["test/broken.test.js", "test/cart.test.js::cart > sums", "test/ends.test.js"];
    assert_eq!(failing(&document), expected, "{document}\n{}", ran.err);
    let said = "`process.exit` ended the process before all tests of this file had run";
    assert!(ran.out.contains(said), "{document}\n{}", ran.err);
    // Files without tests count, as they do for Node.js.
    assert_eq!(counts(&document), (3, 3), "{document}");
}

#[test]
#[ignore = "needs go"]
fn go_test_with_subtests_and_a_package_that_does_not_build() {
    let repo = TestRepo::new(&[
        ("go.mod", "module example.com/m\n\ngo 1.19\n"),
        ("a/a.go", "package a\n\nfunc Add(x, y int) int { return x - y }\n"),
        (
            "a/a_test.go",
            r#"package a

import "testing"

func TestAdd(t *testing.T) {
	t.Run("two", func(t *testing.T) {
		if Add(1, 1) != 2 {
			t.Error("no")
		}
	})
}

func TestZero(t *testing.T) {
	if Add(0, 0) != 0 {
		t.Error("no")
	}
}
"#,
        ),
        ("b/b.go", "package b\n\nfunc F() int { return missing }\n"),
        ("b/b_test.go", "package b\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { F() }\n"),
    ]);
    let document = look(&repo);
    assert_eq!(counts(&document), (1, 3), "{document}");
    assert_eq!(
        failing(&document),
        ["example.com/m/a.TestAdd", "example.com/m/a.TestAdd/two", "example.com/m/b"]
    );
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs Maven"]
fn maven_surefire() {
    let pom = "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>m</groupId><artifactId>m</artifactId><version>1</version><properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties><dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies></project>";
    let repo = TestRepo::new(&[
        ("pom.xml", pom),
        (".gitignore", "target\n"),
        (
            "src/main/java/m/A.java",
            "package m;\npublic class A { public static int add(int a, int b) { return a - b; } }\n",
        ),
        (
            "src/test/java/m/ATest.java",
            r"package m;
import static org.junit.Assert.*;
import org.junit.*;
public class ATest {
  @Test public void adds() { assertEquals(2, A.add(1, 1)); }
  @Test public void zero() { assertEquals(0, A.add(0, 0)); }
  @Ignore @Test public void later() {}
}
",
        ),
    ]);
    let document = look(&repo);
    assert_eq!(counts(&document), (1, 1), "{document}");
    assert_eq!(failing(&document), ["m.ATest::adds"]);
}

/// A Jest or Vitest project with one passing and one failing test.
fn script_project(package: &str, head: &str) -> TestRepo {
    let repo = TestRepo::new(&[
        ("package.json", package),
        (".gitignore", "node_modules\npackage-lock.json\n"),
        ("add.js", "module.exports = (a, b) => a - b;\n"),
        (
            "add.test.js",
            &format!(
                r"{head}
describe('add', () => {{
  it('zero', () => expect(add(0, 0)).toBe(0));
  it('two', () => expect(add(1, 1)).toBe(2));
}});
"
            ),
        ),
    ]);
    npm_install(&repo);
    repo
}

pub fn npm_install(repo: &TestRepo) {
    let install = std::process::Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--silent"])
        .current_dir(repo.root())
        .output()
        .unwrap();
    assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
}

/// A package, the test script, its tests, passed and failed ones, and the ids of the latter.
type RunnerCase<'a> = (&'a str, &'a str, String, (u64, u64), &'a [&'a str]);

/// Passed and failed tests as each runner counts them itself, and the ids of the failing ones.
#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn mocha_ava_tap_and_tape() {
    let mocha = "const assert = require('node:assert');\nconst add = require('../add');\ndescribe('add', () => {\n  it('zero', () => assert.equal(add(0, 0), 0));\n  it('same', () => assert.equal(add(1, 1), 2));\n  it('same', () => assert.equal(add(2, 1), 3));\n});\n";
    let t = |head: &str, end: &str| {
        format!(
            "const test = {head};\nconst add = require('../add');\ntest('zero', t => {{ t.{end}(add(0, 0), 0); END }});\ntest('more', t => {{ t.{end}(add(1, 1), 2); t.{end}(add(2, 1), 3); END }});\n"
        )
    };
    let ended = |text: String, end: &str| text.replace("END", end);
    let (ava, equal) = ("require('ava').default ?? require('ava')", "require('NAME').test");
    let table: [RunnerCase<'_>; 4] = [
        (
            "mocha",
            "npm run unit",
            mocha.to_owned(),
            (1, 2),
            &["test/add.test.js::add > same", "test/add.test.js::add > same (2)"],
        ),
        ("ava", "ava", ended(t(ava, "is"), ""), (1, 1), &["more"]),
        (
            "tap",
            "tap --disable-coverage test/*.js",
            ended(t(&equal.replace("NAME", "tap"), "equal"), "t.end();"),
            (1, 2),
            &[
                "test/add.test.js > more > should be equal",
                "test/add.test.js > more > should be equal (2)",
            ],
        ),
        (
            "tape",
            "tape 'test/*.js' | tap-spec",
            ended(t(&equal.replace("NAME", "tape"), "equal"), "t.end();"),
            (1, 2),
            &["more > should be strictly equal", "more > should be strictly equal (2)"],
        ),
    ];
    for (name, script, test, expected, ids) in table {
        let package = serde_json::json!({
            "scripts": { "test": script, "unit": "mocha --bail test" },
            "devDependencies": { name: "*" },
        });
        let repo = TestRepo::new(&[
            ("package.json", &package.to_string()),
            (".gitignore", "node_modules\npackage-lock.json\n.tap\n"),
            ("add.js", "module.exports = (a, b) => a - b;\n"),
            ("test/add.test.js", &test),
        ]);
        npm_install(&repo);
        let document = look(&repo);
        assert_eq!(counts(&document), expected, "{name}: {document}");
        assert_eq!(failing(&document), ids, "{name}");
        // The TAP of AVA names no place in the project for an assertion that fails.
        if name == "ava" {
            continue;
        }
        let fixed = repo.regreen(&["fix", "--json"]);
        assert_eq!(fixed.code, Some(0), "{name}: {}\n{}", fixed.out, fixed.err);
    }
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the npm registry"]
fn jest_and_vitest() {
    let jest = script_project(
        "{\"scripts\": {\"test\": \"jest\"}, \"devDependencies\": {\"jest\": \"^29\"}}\n",
        "const add = require('./add');",
    );
    let document = look(&jest);
    assert_eq!(counts(&document), (1, 1), "{document}");
    assert_eq!(failing(&document), ["add.test.js::add > two"]);
    let vitest = script_project(
        "{\"scripts\": {\"test\": \"vitest run\"}, \"devDependencies\": {\"vitest\": \"^2\"}}\n",
        "import { describe, it, expect } from 'vitest';\nimport add from './add.js';",
    );
    let document = look(&vitest);
    assert_eq!(counts(&document), (1, 1), "{document}");
    assert_eq!(failing(&document), ["add.test.js::add > two"]);
}

#[test]
#[cfg(feature = "nextest-tests")]
#[ignore = "needs cargo-nextest"]
fn nextest_with_tests_of_one_name_in_two_binaries() {
    let repo = TestRepo::new(&[
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\n"),
        (".gitignore", "target\n"),
        (".config/nextest.toml", ""),
        (
            "src/lib.rs",
            r"pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

#[cfg(test)]
mod tests {
    #[test]
    fn same() {
        assert_eq!(super::add(2, 0), 2);
    }
}
",
        ),
        ("tests/api.rs", "#[test]\nfn same() {\n    assert_eq!(x::add(2, 1), 3);\n}\n"),
    ]);
    let document = look(&repo);
    assert_eq!(counts(&document), (1, 1), "{document}");
    assert_eq!(failing(&document), ["x::api::same"]);
}

#[test]
#[cfg(feature = "nextest-tests")]
#[ignore = "needs cargo-nextest"]
fn nextest_with_a_profile_of_the_project() {
    let own = "[profile.ci]\nretries = 1\nfail-fast = true\n";
    let reports = "[profile.ci.junit]\npath = 'results/tests.xml'\n";
    for (settings, profile) in
        [(own.to_owned(), "--profile ci"), (format!("{own}{reports}"), "-P ci")]
    {
        let repo = TestRepo::new(&[
            ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("Cargo.lock", "version = 4\n\n[[package]]\nname = \"x\"\nversion = \"0.1.0\"\n"),
            (".gitignore", "target\n"),
            (".config/nextest.toml", &settings),
            ("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"),
            (
                "tests/api.rs",
                "#[test]\nfn a_sum() {\n    assert_eq!(x::add(2, 1), 3);\n}\n\n#[test]\nfn zero() {\n    assert_eq!(x::add(2, 0), 2);\n}\n\n#[test]\nfn again() {\n    let seen = std::path::Path::new(\"target/seen\");\n    let is_second = seen.exists();\n    std::fs::write(seen, \"\").unwrap();\n    assert!(is_second);\n}\n",
            ),
        ]);
        let command = format!("cargo nextest run {profile}");
        let ran = repo.regreen(&["fix", "--dry-run", "--json", "--test-command", &command]);
        let document = ran.document();
        assert_eq!(counts(&document), (2, 1), "{profile}: {document}\n{}", ran.err);
        assert_eq!(failing(&document), ["x::api::a_sum"], "{profile}");
    }
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs Gradle"]
fn gradle_with_two_modules_of_which_one_does_not_compile() {
    // Gradle 7 and later know `testImplementation` only, Gradle before 3.4 `testCompile` only.
    let build = r"subprojects {
  apply plugin: 'java'
  repositories { mavenCentral() }
  def scope = configurations.findByName('testImplementation') ? 'testImplementation' : 'testCompile'
  dependencies.add(scope, 'junit:junit:4.13.2')
}
";
    let test = r"package m;
import static org.junit.Assert.*;
import org.junit.*;
public class ATest {
  @Test public void adds() { assertEquals(2, A.add(1, 1)); }
  @Test public void zero() { assertEquals(0, A.add(0, 0)); }
  @Ignore @Test public void later() {}
}
";
    let repo = TestRepo::new(&[
        ("settings.gradle", "include 'good', 'broken'\n"),
        ("build.gradle", build),
        (".gitignore", ".gradle\nbuild\n"),
        (
            "good/src/main/java/m/A.java",
            "package m;\npublic class A { public static int add(int a, int b) { return a - b; } }\n",
        ),
        ("good/src/test/java/m/ATest.java", test),
        ("broken/src/test/java/m/BTest.java", "package m;\npublic class BTest { int n = \"\"; }\n"),
    ]);
    let document = look(&repo);
    assert_eq!(counts(&document), (1, 2), "{document}");
    assert_eq!(failing(&document), [":broken:compileTestJava", "m.ATest::adds"]);
}
