//! What is detected in a repository, and what is said where its suite cannot start.

#![expect(clippy::disallowed_methods, reason = "programs of a test are real files")]

use super::support::{Ran, TestRepo, plugin_python, write_program};

const TEST: (&str, &str) = ("test_a.py", "def test_a():\n    assert True\n");

const CASE: &str =
    "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n";

/// A program in the checkout that runs a text of the shell.
fn program(repo: &TestRepo, path: &str, text: &str) {
    let file = repo.root().join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    write_program(&file, &format!("#!/bin/sh\n{text}\n"));
}

/// Runs with a Python that has no packages.
fn without_packages(repo: &TestRepo, arguments: &[&str]) -> Ran {
    let made = repo.shell("python3 -m venv --without-pip ../bare").output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let bin = repo.around().join("bare/bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    repo.command().env("PATH", path).args(arguments).output().unwrap().into()
}

#[test]
fn a_project_configured_for_pytest_is_not_run_by_unittest() {
    for file in [("pytest.ini", "[pytest]\n"), ("conftest.py", "")] {
        let ran = without_packages(&TestRepo::new(&[file, TEST]), &["doctor"]);
        assert_eq!(ran.code, Some(3), "{file:?}: {}", ran.out);
        assert!(ran.out.contains("pip install pytest"), "{file:?}: {}", ran.out);
    }
    // A word in a list of packages is a hint only.
    let hinted = TestRepo::new(&[("requirements-dev.txt", "pytest\n"), ("test_a.py", CASE)]);
    let ran = without_packages(&hinted, &["doctor"]);
    assert!(ran.out.contains("framework     unittest"), "{}", ran.out);
}

#[test]
fn tests_of_pytest_are_not_run_by_unittest_though_nothing_else_names_it() {
    let imported = ("tests/price_test.py", "import os\nimport pytest\n");
    for (test, sign) in [
        (TEST, "a test function in test_a.py"),
        (imported, "`import pytest` in tests/price_test.py"),
    ] {
        let repo = TestRepo::new(&[("price.py", "ONE = 1\n"), test]);
        let doctor = without_packages(&repo, &["doctor"]);
        assert_eq!(doctor.code, Some(3), "{}", doctor.out);
        assert!(doctor.out.contains(sign) && !doctor.out.contains("ready"), "{}", doctor.out);
        let said = "pytest does not start: install Python 3.8 or later, then `pip install pytest`; or name the command that starts it elsewhere, such as `--test-command";
        assert!(doctor.out.contains(said), "{}", doctor.out);
        let fix = without_packages(&repo, &["fix"]);
        assert_eq!(fix.code, Some(3), "{}", fix.err);
        assert!(fix.err.contains(said), "{}", fix.err);
    }
}

#[test]
fn the_root_of_a_monorepo_without_tests_names_the_folders_that_have_some() {
    let repo = TestRepo::new(&[
        ("README.md", "# Shop\n"),
        ("services/api/requirements.txt", "flask\n"),
        ("services/api/tests/test_api.py", CASE),
        ("services/jobs/test_jobs.py", CASE),
        ("services/web/package.json", r#"{"scripts": {"test": "jest"}}"#),
    ]);
    let named = "no tests stand in";
    let folders = "but in services/api (unittest), services/jobs (unittest), services/web (Jest)";
    let run = "run the tests of one folder: `regreen fix services/api`, `regreen fix services/jobs`, `regreen fix services/web`";
    let doctor = repo.regreen(&["doctor"]);
    assert_eq!(doctor.code, Some(3), "{}", doctor.out);
    let fix = repo.regreen(&["fix"]);
    assert_eq!(fix.code, Some(3), "{}", fix.err);
    for text in [&doctor.out, &fix.err] {
        assert!(text.contains(named) && text.contains(folders) && text.contains(run), "{text}");
    }
    let one = repo.regreen(&["fix", "services/api", "--json"]);
    assert_eq!(one.document()["initial"]["total"], 1, "{}", one.err);
}

#[test]
fn what_was_looked_for_is_shown_to_its_end() {
    let doctor = TestRepo::new(&[("README.md", "# Nothing\n")]).regreen(&["doctor"]).out;
    let missing = doctor.lines().find(|line| line.starts_with("missing")).unwrap();
    assert!(missing.contains("build.gradle") && missing.ends_with(')'), "{missing}");
}

#[test]
fn a_script_of_npm_that_is_not_known_is_named() {
    let package = r#"{"scripts": {"test": "gulp check"}}"#;
    let repo = TestRepo::new(&[("package.json", package), ("tools/test_all.py", CASE)]);
    let doctor = repo.regreen(&["doctor"]).out;
    assert!(doctor.contains("the test script `gulp check` of package.json runs none"), "{doctor}");
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs the plugins of pytest"]
fn a_test_that_hangs_in_a_worker_of_xdist_fails_alone() {
    let repo = TestRepo::new(&[
        ("pytest.ini", "[pytest]\n"),
        (
            "test_a.py",
            "import time\n\n\ndef test_hangs():\n    try:\n        time.sleep(600)\n    except BaseException:\n        time.sleep(600)\n",
        ),
        ("test_b.py", "def test_b():\n    pass\n\n\ndef test_c():\n    pass\n"),
    ]);
    let flags = ["fix", "--json", "--dry-run", "--test-timeout", "15s"];
    let typed = format!("{} -m pytest -p no:randomly -n 2", plugin_python());
    let ran = repo.regreen(&[&flags[..], &["--test-command", &typed]].concat());
    let document = ran.document();
    assert_eq!(document["initial"]["total"], 3, "{document:#}\n{}", ran.err);
    assert_eq!(document["initial"]["failed"], 1, "{document:#}\n{}", ran.err);
    assert!(ran.out.contains("test_a.py::test_hangs"), "{document:#}");
}

#[test]
fn a_pytest_that_prints_its_version_to_standard_error_is_installed() {
    let repo = TestRepo::new(&[("conftest.py", ""), TEST]);
    // As version 6 does.
    let answers = "case \"$*\" in *--version) echo pytest 6.2.5 >&2;; *import*) echo 6.2.5;; esac";
    program(&repo, ".venv/bin/python", answers);
    let ran = repo.regreen(&["doctor"]);
    assert!(ran.out.contains("framework     pytest 6.2.5\n"), "{}", ran.out);
    assert!(ran.out.contains("ready"), "{}", ran.out);
}

#[test]
fn a_wrapper_of_gradle_that_fails_is_not_called_missing() {
    let repo = TestRepo::new(&[("build.gradle", "")]);
    program(&repo, "gradlew", "echo no route to services.gradle.org >&2; exit 1");
    let ran = repo.regreen(&["doctor"]);
    assert_eq!(ran.code, Some(3), "{}", ran.out);
    assert!(ran.out.contains("./gradlew --version"), "{}", ran.out);
    assert!(!ran.out.contains("add the Gradle wrapper"), "{}", ran.out);
}

#[test]
fn the_root_of_a_monorepo_names_the_packages_whose_tests_it_does_not_run() {
    let repo = TestRepo::new(&[
        (
            "test_root.py",
            "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n",
        ),
        ("packages/web/package.json", r#"{"scripts": {"test": "node --test"}}"#),
        ("packages/api/go.mod", "module api\n"),
        ("packages/own/setup.py", ""),
        ("packages/own/test_own.py", ""),
        ("tests/fixtures/sample/package.json", r#"{"scripts": {"test": "node --test"}}"#),
    ]);
    let doctor = repo.regreen(&["doctor"]).out;
    let named = "go test in packages/api (go.mod), node --test in packages/web";
    assert!(doctor.contains(named) && !doctor.contains("sample"), "{doctor}");
    assert!(!doctor.contains("packages/own"), "its tests are found from the root: {doctor}");
    let ran = repo.regreen(&["fix", "--dry-run"]);
    let said = "the tests of other packages are not run here: go test in packages/api, node --test in packages/web; `regreen fix packages/api` runs those of the first";
    assert!(ran.err.contains(said), "{}", ran.err);
}

const NODE_PACKAGE: &str = r#"{"scripts": {"test": "node --test"}}"#;

#[test]
fn a_suite_of_another_language_that_does_not_run_is_named_and_green_is_not_plain() {
    let passing = ("a.test.js", "require('node:test')('a', () => {});\n");
    let go = ("a_test.go", "package a\n");
    let lists = ("package.json", r#"{"devDependencies": {"prettier": "3"}}"#);
    let unit = (
        "test_a.py",
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n",
    );
    let run = |files: &[(&str, &str)], more: &[&str]| {
        let ran = TestRepo::new(files).regreen(&[&["fix", "--json"], more].concat());
        assert_eq!(ran.code, Some(0), "{}\n{}", ran.out, ran.err);
        ran
    };
    let both = [("package.json", NODE_PACKAGE), passing, ("go.mod", "module a\n"), go];
    let ran = run(&both, &[]);
    let document = ran.document();
    assert_eq!(document["result"], "partial_success", "{document:#}");
    let said = "not run: go test (go.mod, 1 test file; `--test-command 'go test ./...'` runs it)";
    assert!(document["reason"].as_str().unwrap().contains(said), "{document:#}");
    assert!(ran.err.contains(said), "{}", ran.err);
    // Whoever names a command has chosen.
    let ran = run(&both, &["--test-command", "node --test"]);
    assert_eq!(ran.document()["result"], "success", "{}", ran.out);
    assert!(ran.err.contains("also found: go test (go.mod, 1 test file"), "{}", ran.err);
    // Packages of its own framework that it leaves out count too.
    let tested = "#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n";
    let root =
        "[package]\nname = \"a\"\nversion = \"0.1.0\"\n\n[workspace]\nmembers = [\"core\"]\n";
    let member = ("core/Cargo.toml", "[package]\nname = \"core\"\nversion = \"0.1.0\"\n");
    let sources = [("src/lib.rs", tested), member, ("core/src/lib.rs", tested)];
    let ignored = (".gitignore", "target\nCargo.lock\n");
    let ran = run(&[&[("Cargo.toml", root), ignored], &sources[..]].concat(), &[]);
    assert_eq!(ran.document()["result"], "partial_success", "{}", ran.out);
    let said = "not run: cargo test in core (Cargo.toml, 1 test file; `regreen fix core` runs it)";
    assert!(ran.err.contains(said) && !ran.err.contains("other packages"), "{}", ran.err);
    let all = [("Cargo.toml", "[workspace]\nmembers = [\"core\"]\n"), ignored, member, sources[2]];
    let ran = run(&all, &[]);
    assert_eq!(ran.document()["result"], "success", "{}", ran.out);
    let [tools, hidden] = ["tools/go.mod", "_tools/go.mod"].map(|file| (file, "module tools\n"));
    let modules = [("go.mod", "module a\n"), go, tools, hidden];
    let doctor = TestRepo::new(&modules).regreen(&["doctor"]).out;
    assert!(doctor.contains("go test in tools (go.mod)") && !doctor.contains("_tools"), "{doctor}");
    // Tools that a project only uses are no suite.
    let ran = run(&[unit, lists], &[]);
    assert_eq!(ran.document()["result"], "success", "{}", ran.out);
    assert!(!ran.err.contains("not run"), "{}", ran.err);
}

#[test]
fn a_budget_may_be_a_part_of_a_minute() {
    let test =
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n";
    let repo = TestRepo::new(&[("test_a.py", test)]);
    let ran = repo.regreen(&["fix", "--dry-run", "--budget-minutes", "0.5"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for wrong in ["0", "-1", "NaN", "10001", "x"] {
        let ran = repo.regreen(&["fix", &format!("--budget-minutes={wrong}")]);
        assert_eq!(ran.code, Some(2), "{wrong}");
        assert!(ran.err.contains("such as 0.5 or 30"), "{wrong}: {}", ran.err);
    }
}

#[test]
#[ignore = "needs pytest"]
fn a_usage_error_of_pytest_is_told_at_once() {
    let repo = TestRepo::new(&[("pytest.ini", "[pytest]\naddopts = --no-such-option\n"), TEST]);
    let ran = repo.regreen(&["fix"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("unrecognized arguments: --no-such-option"), "{}", ran.err);
    assert!(!ran.err.contains("once more"), "{}", ran.err);
}

#[cfg(feature = "slow-tests")]
#[test]
#[ignore = "needs Django"]
fn tests_of_django_run_through_its_own_runner() {
    let repo = TestRepo::new(&[
        (
            "manage.py",
            "import os\nimport sys\n\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site_settings')\nfrom django.core.management import execute_from_command_line\n\nexecute_from_command_line(sys.argv)\n",
        ),
        (
            "site_settings.py",
            "SECRET_KEY = 'x'\nINSTALLED_APPS = ['shop']\nDATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': ':memory:'}}\nUSE_TZ = True\n",
        ),
        ("shop/__init__.py", ""),
        (
            "shop/models.py",
            "from django.db import models\n\n\nclass Item(models.Model):\n    price = models.IntegerField()\n\n    def doubled(self):\n        return self.price + 1\n",
        ),
        (
            "shop/tests.py",
            "from django.test import TestCase\n\nfrom shop.models import Item\n\n\nclass ItemTest(TestCase):\n    def test_is_stored(self):\n        Item.objects.create(price=3)\n        self.assertEqual(Item.objects.get().price, 3)\n\n    def test_double(self):\n        self.assertEqual(Item(price=3).doubled(), 6)\n\n    def test_double_of_more(self):\n        self.assertEqual(Item(price=5).doubled(), 10)\n",
        ),
    ]);
    let doctor = repo.regreen(&["doctor"]).out;
    assert!(doctor.contains("python3 manage.py test"), "{doctor}");
    for arguments in [
        &["fix", "--json"][..],
        &["fix", "--json", "--dry-run", "--test-command", "python3 -Wa manage.py test -v 0 shop"],
    ] {
        let ran = repo.regreen(arguments);
        let document = ran.document();
        assert_eq!(document["initial"]["passed"], 1, "{document:#}\n{}", ran.err);
        assert_eq!(document["initial"]["failed"], 2, "{document:#}\n{}", ran.err);
        assert_eq!(ran.code, Some(0), "{document:#}\n{}", ran.err);
    }
}

#[test]
fn a_report_without_a_command_is_told_with_what_is_recognised() {
    let repo = TestRepo::new(&[("pytest.ini", "[pytest]\n"), TEST]);
    for verb in ["fix", "doctor"] {
        let ran = repo.regreen(&[verb, "--report", "report.xml"]);
        if verb == "doctor" && ran.code == Some(2) {
            continue;
        }
        assert_eq!(ran.code, Some(3), "{verb}: {}{}", ran.out, ran.err);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains("a report is named, but no command that writes it"), "{said}");
        assert!(said.contains("pytest is recognised and read without one"), "{said}");
    }
}

/// A package of a workspace, with a test of this runner.
fn package(name: &str, script: &str, test: &str) -> [(String, String); 2] {
    let manifest = format!("{{\"name\": \"@x/{name}\", \"scripts\": {{\"test\": \"{script}\"}}}}");
    [
        (format!("packages/{name}/package.json"), manifest),
        (format!("packages/{name}/{name}.test.js"), test.to_owned()),
    ]
}

const NODE: &str = "require('node:test').test('adds', () => {});\n";

fn workspace(root: &str, packages: &[[(String, String); 2]]) -> TestRepo {
    let own =
        format!("{{\"private\": true, \"workspaces\": [\"packages/*\"], \"scripts\": {{{root}}}}}");
    let mut files = vec![("package.json", own.as_str())];
    files.extend(packages.iter().flatten().map(|(path, text)| (path.as_str(), text.as_str())));
    TestRepo::new(&files)
}

#[test]
fn the_root_of_a_workspace_runs_what_one_runner_can_and_names_the_folders_of_others() {
    let fans = [
        "\"test\": \"npm test --workspaces\"",
        "\"test\": \"pnpm -r test\"",
        "\"test\": \"yarn workspaces run test\"",
        "\"test\": \"yarn workspaces foreach -A run test\"",
        "\"test\": \"bun run --filter '*' test\"",
        "",
    ];
    for root in fans {
        let same = [package("a", "node --test", NODE), package("b", "node --test", NODE)];
        let doctor = workspace(root, &same).regreen(&["doctor"]).out;
        assert!(doctor.contains("command       node --test"), "{root}: {doctor}");
        let mixed =
            [package("a", "node --test", NODE), package("b", "jest", "test('b', () => {});\n")];
        let repo = workspace(root, &mixed);
        let doctor = repo.regreen(&["doctor"]);
        assert_eq!(doctor.code, Some(3), "{root}: {}", doctor.out);
        let named = "but in packages/a (node --test), packages/b (Jest)";
        let run = "`regreen fix packages/a`, `regreen fix packages/b`";
        assert!(doctor.out.contains(named) && doctor.out.contains(run), "{root}: {}", doctor.out);
        let one = repo.regreen(&["fix", "packages/a", "--json"]);
        assert_eq!(one.document()["initial"]["total"], 1, "{root}: {}", one.err);
    }
}

#[test]
fn the_test_runner_of_bun_is_named_with_the_line_that_runs_it() {
    let repo = TestRepo::new(&[
        ("package.json", r#"{"scripts": {"test": "bun test"}}"#),
        ("cart.test.ts", "import { test } from 'bun:test';\ntest('adds', () => {});\n"),
        ("cart.test.js", "import { test } from 'bun:test';\ntest('adds', () => {});\n"),
    ]);
    let doctor = repo.regreen(&["doctor"]);
    assert_eq!(doctor.code, Some(3), "{}", doctor.out);
    assert!(doctor.out.contains("bun test --reporter=junit"), "{}", doctor.out);
}
